"""Every assumption of the vocabulary: what it constructs has it, varies, and can be broken."""

from __future__ import annotations

from random import Random

import pytest
from sympy import IndexedBase

from theorems.assumptions import blocks, matrices
from theorems.assumptions import entries as assumptions
from theorems.checker.exact import Draw, Generators, LargeRationals, Rejected, SmallIntegers
from theorems.checker.instances import broken
from theorems.statement import Assumption, Definition, array, symbols_of

n, m, d, e = symbols_of("n m d e")
i, j, a, b = symbols_of("i j a b")
P, P2, R, c, t = (
    array("P", n, m),
    array("P2", n, m),
    array("R", m, n),
    array("c", n, m),
    array("t", n),
)
T, T2, B = array("T", n, m, e, d), array("T2", n, m, e, d), array("B", n, m, e, d)
S, G, F, H = array("S", n, n, d, d), array("G", n, d, d), array("F", d, d), array("H", d, d)

# An assumption, and the array one of whose entries is then spoiled.
VOCABULARY: dict[str, tuple[tuple[Assumption, ...], IndexedBase]] = {
    "positive": ((assumptions.signed(P, ">0"),), P),
    "nonnegative": ((assumptions.signed(P, ">=0"),), P),
    "nonzero": ((assumptions.signed(P, "!=0"),), P),
    "sums to one": ((assumptions.sums_to_one(P),), P),
    "exponential": ((assumptions.exponential(P, P2),), P),
    "row-stochastic": ((assumptions.signed(P, ">=0"), assumptions.sums_to_one(P)), P),
    "right inverse": ((assumptions.right_inverse(P, R),), R),
    "two-sided inverse": ((assumptions.right_inverse(F, H),), H),
    "same blocks": ((blocks.same_blocks(P, T, P2, T2),), T2),
    "Frobenius norm": ((blocks.frobenius_norm(c, B),), B),
    "one norm along a row": ((blocks.frobenius_norm(t, B),), B),
    "square of a norm": (
        (blocks.frobenius_norm(t, B), blocks.square_of_norm(c, B, P, t)), c),
    "isometry": ((blocks.isometry(S, G),), S),
    "orthogonal": ((matrices.orthogonal(S),), S),
}  # fmt: skip


def draws(given: tuple[Assumption, ...], count: int = 60) -> list[Draw]:
    """Small instances that the assumptions construct."""
    found, rng = [], Random(7)
    for _ in range(4 * count):
        try:
            draw = Draw(SmallIntegers(rng), given)
            spoiled = [broken(assumption, draw) for assumption in given]
        except Rejected:
            continue
        found += [draw] if not any(spoiled) else []
    return found[:count]


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARY)
def test_what_is_constructed_has_the_property_and_varies(name: str) -> None:
    given, spoiled = VOCABULARY[name]
    found = draws(given)
    assert len(found) >= 20, f"only {len(found)} instances of {name}"
    label = str(spoiled.label)
    seen = {value for draw in found for (a, _), value in draw.entries.items() if a == label}
    assert len(seen) >= 3, f"{name}: {label} takes the values {seen} only"
    assert {draw.size(n if n in spoiled.shape else d) for draw in found} >= {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARY)
def test_a_spoiled_entry_breaks_it(name: str) -> None:
    given, spoiled = VOCABULARY[name]
    caught = 0
    for draw in draws(given):
        cell = next(iter(draw.cells(spoiled)))
        draw.entries[str(spoiled.label), cell] = -7 * draw.get(str(spoiled.label), cell) - 7
        draw.entries[str(spoiled.label), cell] *= 0 if name == "nonzero" else 1
        caught += any(broken(assumption, draw) for assumption in given)
    assert caught >= 15, f"{name}: a spoiled entry is seen in {caught} of {len(draws(given))} draws"


# exp has no polynomial instance: test_rules.py shows that these are refused.
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VOCABULARY if name != "exponential"])
def test_it_is_constructed_from_free_symbols_too(name: str) -> None:
    given, _ = VOCABULARY[name]
    if name == "square of a norm":  # its root is known where the blocks are P_ij T_ij
        product = Definition(B[i, j, a, b], P[i, j] * T[i, j, a, b])
        given = (blocks.frobenius_norm(t, T), product, blocks.square_of_norm(c, B, P, t))
    for source in (LargeRationals(Random(1)), Generators(200)):
        draw = Draw(source, given, {"n": 1, "m": 2, "d": 2, "e": 1})
        stated = [Assumption("", "", item.rules) for item in given if isinstance(item, Assumption)]
        wrong = [fault for item in stated if (fault := broken(item, draw))]
        assert not wrong, f"{name}: {wrong}"
