"""Hypotheses on single matrices: orthogonal, of an operator norm, with an eigenvector."""

from __future__ import annotations

from sympy import Expr, Indexed, IndexedBase, Integer, KroneckerDelta, Sum, Symbol, latex

from theorems.assumptions.constructions import reflection, unit_vector
from theorems.assumptions.frames import put_rows, turn
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Generators, Rejected, Rows, evaluate, times
from theorems.statement import Assumption, array, symbols_of

i, j, a, b, c, e, d, n = symbols_of("i j a b c e d n")


@hypothesis(array("T", n, n, d, d))
def orthogonal(T: IndexedBase, both: bool = False) -> Assumption:
    """T^T T = I over the last two axes, and T T^T = I where both are used."""
    lead, size = (i, j)[: len(T.shape) - 2], T.shape[-1]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(T, len(lead)):
            put_rows(draw, T, cell, reflection(draw, draw.shape(T)[-1]))

    sides = (T[*lead, a, b] * T[*lead, a, c], T[*lead, b, a] * T[*lead, c, a])[: 1 + both]
    rules = tuple((Sum(side, (a, 1, size)), KroneckerDelta(b, c)) for side in sides)
    name = latex(T.label) + (f"_{{{'ij'[: len(lead)]}}}" if lead else "")
    text = f"${name}^\\top {name} = I" + (f" = {name} {name}^\\top$" if both else "$")
    return Assumption(f"{T} is orthogonal", text, rules, impose)


@hypothesis(array("u", d), array("w", d))
def orthonormal_pair(u: IndexedBase, w: IndexedBase) -> Assumption:
    """|u| = |w| = 1 and u . w = 0; instances are of the plane, other features are a flat factor."""
    d = u.shape[0]

    def impose(draw: Draw) -> None:
        draw.sizes.setdefault(d.name, 2)
        if draw.size(d) != 2:
            raise Rejected("the pair does not span the features")
        for vector, entries in zip((u, w), turn(draw, 2), strict=True):
            for place, value in enumerate(entries, start=1):
                draw.put(vector, (place,), value)

    rules = (
        (Sum(u[e] ** 2, (e, 1, d)), Integer(1)), (Sum(w[e] ** 2, (e, 1, d)), Integer(1)),
        (Sum(u[e] * w[e], (e, 1, d)), Integer(0)),
    )
    one, other = latex(u.label), latex(w.label)
    text = f"$|{one}| = |{other}| = 1$, ${one} \\cdot {other} = 0$"
    return Assumption(f"{u} and {w} are orthonormal", text, rules, impose)


@hypothesis(array("W", d, d), array("K", d, d))
def norm_at_most(W: IndexedBase, K: IndexedBase, norm: Symbol | Indexed | None = None, *lead: Symbol
                 ) -> Assumption:
    """|W v| <= |norm| |v| for every v (norm 1 without one): W^T W + K^T K = norm^2 I with some K;
    a norm that depends on the matrix has the indices `lead`."""
    lead, size = lead or symbols_of("k1 k2 k3")[: len(W.shape) - 2], W.shape[-1]
    square = Integer(1) if norm is None else norm**2

    def gram(matrix: IndexedBase) -> Expr:
        return Sum(matrix[*lead, b, a] * matrix[*lead, b, c], (b, 1, size))

    def impose(draw: Draw) -> None:
        scale = evaluate(norm, draw, {}) if isinstance(norm, Symbol) else 1
        for cell in draw.cells(W, len(lead)):
            if isinstance(norm, Indexed):
                scale = evaluate(norm, draw, dict(zip(lead, cell, strict=True)))
            width = draw.size(size)
            columns = _orthonormal(draw, width)
            for place, part in ((0, W), (width, K)):
                for row in range(width):
                    for column in range(width):
                        value = scale * columns[place + row][column]
                        draw.put(part, (*cell, row + 1, column + 1), value)

    name, indices = latex(W.label), "_i" * len(lead)
    limit = "1" if norm is None else latex(norm)
    rule = (gram(W), square * KroneckerDelta(a, c) - gram(K))
    return Assumption(f"{W} is bounded", rf"$\lVert {name}{indices} \rVert \le {limit}$",
                      (rule,), impose)


def _orthonormal(draw: Draw, size: int) -> Rows:
    """Twice as many rows as columns, with orthonormal columns; where symbolic, of one angle."""
    if isinstance(draw.source, Generators):
        angle = unit_vector(draw, 2)
        return [[part * int(row == column) for column in range(size)]
                for part in angle for row in range(size)]
    columns = [row[:size] for row in reflection(draw, 2 * size)]
    return times(columns, reflection(draw, size))


@hypothesis(array("B", n, n))
def permutation(B: IndexedBase) -> Assumption:
    """B is a permutation matrix: one 1 in every row and column, and 0 beside it."""
    size = B.shape[0]

    def impose(draw: Draw) -> None:
        images = draw.source.rng.sample(range(1, draw.size(size) + 1), draw.size(size))
        for row, column in draw.cells(B):
            draw.put(B, (row, column), int(images[row - 1] == column))

    rules = (
        (B[a, b] * B[a, c], KroneckerDelta(b, c) * B[a, b]),
        (B[a, c] * B[b, c], KroneckerDelta(a, b) * B[a, c]),
        (Sum(B[a, b], (b, 1, size)), Integer(1)), (Sum(B[a, b], (a, 1, size)), Integer(1)),
    )
    text = f"${latex(B.label)}$ is a permutation matrix"
    return Assumption(f"{B} is a permutation", text, rules, impose)


@hypothesis(array("A", n, n), array("v", n), Symbol("lambda", real=True))
def eigenvector(A: IndexedBase, v: IndexedBase, value: Symbol) -> Assumption:
    """A v = value v; instances solve each row for its last entry."""
    n = A.shape[0]

    def impose(draw: Draw) -> None:
        size = draw.size(n)
        draw.put(v, (size,), draw.source.fresh("!=0"))
        last = draw.source.inverse(draw.get(v.name, (size,)))
        for r in range(1, size + 1):
            read = sum(draw.get(A.name, (r, s)) * draw.get(v.name, (s,)) for s in range(1, size))
            rest = draw.get(value.name, ()) * draw.get(v.name, (r,)) - read
            draw.put(A, (r, size), rest * last)

    rule = (Sum(A[i, j] * v[j], (j, 1, n)), value * v[i])
    text = f"${A} {v} = {latex(value)} {v}$"
    return Assumption(f"{v} is an eigenvector of {A}", text, (rule,), impose)
