"""Determinants of block matrices: true ones follow, and every false twin is refused by name."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Expr, Integer, KroneckerDelta, Pow, Sum, Symbol, sympify

from tests.theorems.planted import plant
from theorems.assumptions.entries import signed
from theorems.checker import derive as derivations
from theorems.checker import determinants, wellformed
from theorems.checker.derive import Failed, derive
from theorems.checker.determinants import Blocks, Determinant
from theorems.checker.instances import instances, search
from theorems.checker.sums import Refused
from theorems.checker.world import TRUE, World
from theorems.statement import Definition, array, symbols_of

n, m = symbols_of("n m")
i, j, k, o, p, q, a, b, c = symbols_of("i j k o p q a b c")
x, y, A, B = array("x", n), array("y", m), array("A", n, n), array("B", m, m)
one, two, real = Integer(1), Integer(2), Symbol("t", real=True)
delta = KroneckerDelta
ROWS, INNER, COLUMNS = ((o, one), (i, n)), ((p, one), (k, n)), ((q, one), (j, n))


def blocks(rows: Any, columns: Any, *entries: Any) -> Blocks:
    return Blocks(rows, columns, tuple(tuple(map(sympify, row)) for row in entries))


def det(matrix: Blocks, *factors: Blocks, value: Expr | int = 1, **more: Any) -> Determinant:
    return Determinant(id="det", because="", matrix=matrix, factors=factors or (matrix,),
                       value=sympify(value), **more)  # fmt: skip


lower = blocks(ROWS, INNER, [1, 0], [x[i], delta(i, k)])
upper = blocks(INNER, COLUMNS, [n, x[j]], [0, -2 * delta(k, j)])
whole = blocks(ROWS, COLUMNS, [n, x[j]], [n * x[i], x[i] * x[j] - 2 * delta(i, j)])
product = det(whole, lower, upper, value=n * (-2) ** n)
triangle = blocks(ROWS, COLUMNS, [3, 0], [x[i], -2 * delta(i, j)])
scaled = blocks(ROWS, COLUMNS, [3, 0], [1, x[i] * delta(i, j)])
square = blocks(((i, n),), ((j, n),), [x[i] * delta(i, j)])
full = blocks(((i, n),), ((j, n),), [A[i, j]])
swapped = blocks(((o, one), (a, n), (i, n)), ((q, one), (b, n), (j, n)),
                 [1, 0, 0], [0, 0, delta(a, j)], [0, delta(i, b), 0])  # fmt: skip
cycle = blocks(((i, one), (a, one), (o, one)), ((j, one), (b, one), (q, one)),
               [0, 1, 0], [0, 0, 1], [1, 0, 0])  # fmt: skip
HOLD: dict[str, Determinant] = {
    "a product": product,
    "a triangle": det(triangle, value=3 * (-2) ** n),
    "the sign of an even number": det(triangle, value=(-1) ** (n + 2) * 3 * two**n),
    "an exponent with a quotient": det(
        blocks(ROWS, COLUMNS, [1, 0], [0, delta(i, j) / 2]), value=Pow(4, -n * (n + 1) / 2)
        * Pow(2, n**2)),
    "a part": det(scaled, value=3, parts=(square,)),
    "parts that are the same": det(
        blocks(((i, n), (a, m)), ((j, n), (b, m)), [A[i, j], 0], [0, B[a, b]]),
        parts=(full, blocks(((a, m),), ((b, m),), [B[a, b]]))),
    "exchanged blocks": det(swapped, value=(-1) ** (n**2)),
    "a cycle": det(cycle),
    "an exchange": det(blocks(cycle.rows[:2], cycle.columns[:2], [0, 2], [3, 5]), value=-6),
    "a bound index of the same name": replace(product, factors=(
        blocks(ROWS, INNER, [1, 0], [Sum(x[k] * delta(k, i), (k, 1, n)), delta(i, k)]), upper)),
    "by a definition": det(
        blocks(ROWS, COLUMNS, [1, A[j, j]], [A[i, i], 3 * delta(i, j) + x[i] * A[j, j]]),
        blocks(ROWS, INNER, [1, 0], [x[i], delta(i, k)]),
        blocks(INNER, COLUMNS, [1, x[j]], [0, 3 * delta(k, j)]),
        value=3**n, by=(Definition(A[i, j], x[i]),)),
}  # fmt: skip
VALUES: dict[str, tuple[Determinant, str]] = {
    "another exponent": (replace(product, value=n * Pow(-2, n + 1)), "differs by the power"),
    "another sign": (replace(product, value=n * two**n), "of -1"),
    "another base": (replace(product, value=n * Pow(-3, n)), "differs by the power"),
    "no size": (replace(product, value=Pow(-2, n)), "the power 1 of n"),
    "a singular triangle": (replace(product, value=Integer(0)), "differs by the power"),
    "a cycle of the other sign": (replace(HOLD["a cycle"], value=-one), "of -1"),
    "exchanged blocks of no sign": (replace(HOLD["exchanged blocks"], value=one), "of -1"),
    "another product": (
        replace(product, matrix=blocks(ROWS, COLUMNS, [n, x[j]], [n * x[i], -2 * delta(i, j)])),
        "the sides differ by"),
    "a number that depends on the index": (det(scaled, value=3), "1 blocks are no multiples"),
    "a block that is not diagonal": (
        det(blocks(ROWS, COLUMNS, [1, 0], [x[i], 3]), value=3**n), "1 blocks are no multiples"),
    "one part claimed twice": (
        replace(HOLD["a part"], parts=(square, square)), "1 blocks are no multiples"),
    "another part": (replace(HOLD["a part"], parts=(full,)), "1 blocks are no multiples"),
    "both sides of the diagonal": (
        det(blocks(ROWS, COLUMNS, [1, 1], [x[i], delta(i, j)])), "not block triangular"),
    "a row of zeros": (
        det(blocks(ROWS, COLUMNS, [0, 0], [x[i], delta(i, j)])), "not block triangular"),
    "a definition changed": (
        replace(HOLD["by a definition"], by=(Definition(A[i, j], 2 * x[i]),)), "the sides differ"),
}  # fmt: skip
one_row, one_column = (
    blocks((ROWS[r],), (COLUMNS[1 - r],), [entry]) for r, entry in enumerate((x[j], x[i]))
)
renamed = blocks(((k, n),), ((j, n),), [A[k, j]])
corner = blocks(ROWS[:1], COLUMNS[:1], [n])
FORMS: dict[str, tuple[Determinant, str]] = {
    "blocks that are not square": (
        det(blocks(ROWS, COLUMNS, [0, x[j]], [x[i], 0]), value=(-1) ** (n + 1),
            parts=(one_row, one_column)), "not block triangular"),
    "its own determinant": (det(full, parts=(full,)), "it says nothing"),
    "its own determinant by other names": (
        det(full, blocks(((i, n),), ((k, n),), [delta(i, k)]), renamed, parts=(renamed,)),
        "it says nothing"),
    "factors in the other order": (
        det(whole, blocks(ROWS, INNER, [n, x[k]], [0, -2 * delta(i, k)]),
            blocks(INNER, COLUMNS, [1, 0], [x[k], delta(k, j)]), value=product.value),
        "the sides differ by"),
    "an index of two blocks": (
        det(blocks(((i, n), (i, n)), ((j, n), (k, n)), [delta(i, j), 0], [0, delta(i, k)])),
        "an index stands for two blocks"),
    "an index of two axes": (
        det(whole, blocks(ROWS, ROWS, [1, 0], [x[i], 1]), blocks(ROWS, COLUMNS, [n, 0], [0, 2])),
        "an index stands for two blocks"),
    "an index that is a size": (
        det(blocks(((n, n),), ((j, n),), [delta(n, j)])), "or for a size"),
    "an index of the name of a size": (
        det(blocks(((Symbol("n"), n),), ((j, n),), [2])), "or for a size"),
    "sizes in another order": (
        det(blocks(ROWS, COLUMNS[::-1], [0, 1], [delta(i, j), 0])), "not the same positive sizes"),
    "a matrix that is not square": (
        det(blocks(ROWS, COLUMNS[:1], [1, 0], [x[i], delta(i, j)])), "not the same positive sizes"),
    "an empty block": (
        det(blocks(((i, Integer(0)),), ((j, Integer(0)),), [2])), "not the same positive sizes"),
    "a block that may be empty": (
        det(blocks(*(((at, Symbol("z", integer=True, nonnegative=True)),) for at in (i, j)),
                   [2 * delta(i, j)])), "not the same positive sizes"),
    "no block": (det(Blocks((), (), ())), "not the same positive sizes"),
    "factors that do not fit": (replace(product, factors=(lower, lower)), "do not fit"),
    "a factor too few": (replace(product, factors=(lower,)), "do not fit"),
    "no factor": (replace(product, factors=()), "do not fit"),
    "a block too few": (
        det(blocks(ROWS, COLUMNS, [1, 0], [delta(i, j)])), "no square array"),
    "an entry of another index": (
        det(blocks(ROWS, COLUMNS, [1, 0], [x[a], delta(i, j)])), "is not the entry"),
    "an entry of the column in the row": (
        det(blocks(ROWS, COLUMNS, [1, x[i]], [0, delta(i, j)])), "is not the entry"),
    "an index as a number": (
        det(blocks(ROWS, COLUMNS, [o, 0], [x[i], delta(i, j)])), "is not the entry"),
    "an index as a number beside itself": (
        det(blocks(ROWS, COLUMNS, [1, 0], [0, i * delta(i, j)])), "used as a number"),
    "an identity between two sizes": (
        det(blocks(((i, n), (a, m)), ((j, n), (b, m)), [delta(i, j), delta(i, b)],
                   [0, delta(a, b)])), "ranges must be known and equal"),
    "an index beyond its size": (
        det(blocks(ROWS, COLUMNS, [1, 0], [y[i], delta(i, j)])), "has range n, expected m"),
    "an array of two shapes": (
        det(blocks(ROWS, COLUMNS, [1, array("x", n, n)[j, j]], [0, x[i] * delta(i, j)])),
        "two objects are called x"),
    "an array of the name of an index": (
        det(blocks(ROWS, COLUMNS, [1, 0], [array("i", n)[i], delta(i, j)])),
        "two objects are called i"),
    "a number of the name of a size": (
        det(blocks(*corner[:2], [Symbol("n", real=True)]), corner, value=n),
        "two objects are called n"),
    "an array of the name of the delta": (
        det(blocks(((i, n),), ((j, n),), [array("KroneckerDelta()", n, n)[i, j]]),
            blocks(((i, n),), ((j, n),), [delta(i, j)])), "two objects are called Kronecker"),
    "a sign to the power of any number": (
        det(corner, value=n * Pow(-1, 2 * real)), "no product of powers"),
    "a sign to the power of an entry": (
        det(corner, value=n * Pow(-1, 2 * x[i])), "no product of powers"),
    "a quotient": (
        det(blocks(ROWS, COLUMNS, [1, 0], [0, delta(i, j) / real])), "no polynomial"),
    "a quotient that cancels": (
        replace(product, factors=(
            blocks(ROWS, INNER, [1 / real, 0], [x[i] / real, delta(i, k)]),
            blocks(INNER, COLUMNS, [n * real, real * x[j]], [0, -2 * delta(k, j)]))),
        "no polynomial"),
    "an unknown number": (
        det(blocks(ROWS, COLUMNS, [real, 0], [0, delta(i, j)]), value=real), "no product of"),
    "a sum on the diagonal": (
        det(blocks(ROWS, COLUMNS, [1, 0], [0, (n + 1) * delta(i, j)]), value=Pow(n + 1, n)),
        "no product of powers"),
    "a value that is a sum": (replace(product, value=n + 1), "no product of powers"),
    "an exponent that is no polynomial": (
        replace(HOLD["a cycle"], value=Pow(2, two**n)), "no polynomial"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLD)
def test_a_true_determinant_follows_and_no_search_refutes_it(name: str) -> None:
    derive(HOLD[name])
    found = search(HOLD[name], TRUE, Random(1), 200)
    assert found.valid
    assert found.draw is None, found
    symbolic, _, difference = instances(HOLD[name])
    assert symbolic
    assert difference is None


@pytest.mark.parametrize("name", VALUES)
def test_a_false_value_fails_and_is_refuted_by_search(name: str) -> None:
    rule, message = VALUES[name]
    with pytest.raises(Failed, match=message):
        derive(rule)
    found = search(rule, TRUE, Random(2), 2_000)
    assert found.draw is not None
    assert found.message.startswith("determinant ")


@pytest.mark.parametrize("name", FORMS)
def test_what_is_no_product_of_square_block_matrices_is_refused(name: str) -> None:
    rule, message = FORMS[name]
    with pytest.raises((Failed, Refused), match=message):
        derive(rule)


def test_an_instance_shows_where_a_product_fails() -> None:
    wrong, _ = VALUES["another product"]
    assert instances(wrong)[2] == "at sizes {'n': 1} in the product of the factors"


def test_what_the_factors_rest_on_counts() -> None:
    derive(HOLD["by a definition"], World(add=(signed(x, ">0"),)))
    with pytest.raises(Failed, match="the sides differ"):
        derive(HOLD["by a definition"], World(redefine=(Definition(A[i, j], 2 * x[j]),)))


# What the bug is: where it is, the sound text, the text with the bug.
PLANTED = {
    "no sign of an exchange": (determinants, "expansion", "rows[p][1] * places_before + ", ""),
    "half of an exchange": (determinants, "expansion", "rows[:p] + columns[:q]))", "rows[:p]))"),
    "blocks that are not square": (
        determinants, "expansion", "rows[p][1] == columns[(q := places[0])][1]",
        "(q := places[0]) == q"),
    "more than one block in a row": (determinants, "expansion", "len(places) == 1", "places"),
    "any block is a multiple of the identity": (
        Determinant, "fault", "size != 1 and identity not in inside", "size != size"),
    "a number counts once": (
        Determinant, "fault", "total.update(powers(number, size))",
        "total.update(powers(number, Integer(1)))"),
    "a part may be left out": (
        Determinant, "fault", "Counter(parts) != Counter(self.parts)", "not parts and self.parts"),
    "signs are free": (Determinant, "fault", "base != -1 or c % 2", "base != -1"),
    "a matrix is its own part": (
        derivations, "_determinant", "is_own_part(rule.matrix, rule.parts)", "not rule.factors"),
    "a matrix is its own part by other names": (
        wellformed, "is_own_part", "_bilinear(matrix) in map(_bilinear, parts)", "matrix in parts"),
    "two things of one name": (wellformed, "block_fault", "if times > 1]", "if times > 9]"),
    "any exponents": (determinants, "powers", "power.free_symbols | (", "set() | ("),
    "only the first factor": (
        Determinant, "identities", "_entry(self.factors, p, q)", "_entry(self.factors[:1], p, q)"),
    "sizes of rows are not those of columns": (
        wellformed, "block_fault", "sizes != len(sizes) * sizes[:1] or ", ""),
    "empty blocks": (
        wellformed, "block_fault", "not all(map(is_size, sizes[0]))", "False"),
    "an index for two blocks": (wellformed, "block_fault", "< len(indices)", "< 0 * len(indices)"),
    "entries of any index": (wellformed, "_block_faults", " <= {i, j}", ""),
    "numbers of any index": (
        wellformed, "_block_faults", "entry.free_symbols & indices == {*reader.free.values()}",
        "{*reader.free.values()}"),
}  # fmt: skip


def passing() -> list[str]:
    """The true determinants that are refused, and the false ones that are not as they should."""
    found = []
    for name, (rule, message) in {
        **{n: (r, "") for n, r in HOLD.items()},
        **VALUES,
        **FORMS,
    }.items():
        try:
            derivations.derive(rule)
            fault = ""
        except (Failed, Refused) as error:
            fault = str(error)
        if bool(message) != bool(fault) or not re.search(message, fault):
            found.append(name)
    return found


def test_without_a_planted_bug_all_are_told_apart() -> None:
    assert passing() == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_noticed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, *PLANTED[bug], places=(derivations,))
    assert passing(), bug
