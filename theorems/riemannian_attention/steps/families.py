"""Hypotheses of RA3: bases of the symmetric matrices, tokens on spheres."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, latex

from flint import fmpq
from theorems.assumptions.constructions import invertible, unit_vector
from theorems.checker.exact import Draw, Rejected
from theorems.statement import Local, symbols_of

i, a, b, c, e, f, p, q = symbols_of("i a b c e f p q")


def symmetric_basis(E: IndexedBase, dual: IndexedBase) -> tuple[Local, Local]:
    """E_1, ..., E_s is a basis of the symmetric matrices, with dual family; duality and
    completeness apart, since each alone rewrites."""
    s, r, _ = E.shape

    def impose(draw: Draw) -> None:
        size = draw.size(r)
        pairs = [(x, y) for x in range(1, size + 1) for y in range(x, size + 1)]
        if draw.sizes.setdefault(str(s), len(pairs)) != len(pairs):
            raise Rejected(f"symmetric matrices of size {size} have dimension {len(pairs)}")
        scales = [draw.source.fresh(">0") for _ in pairs]
        for position, row, column in draw.cells(E):
            scale, pair = scales[position - 1], pairs[position - 1]
            inside = int(pair in ((row, column), (column, row)))
            share = fmpq(inside, 1 if row == column else 2)
            draw.put(E, (position, row, column), scale * inside)
            draw.put(dual, (position, row, column), share * draw.source.inverse(scale))

    one = (Sum(E[p, a, b] * dual[q, a, b], (a, 1, r), (b, 1, r)), KroneckerDelta(p, q))
    swapped = KroneckerDelta(a, f) * KroneckerDelta(b, e)
    symmetriser = Rational(1, 2) * (KroneckerDelta(a, e) * KroneckerDelta(b, f) + swapped)
    all_of_it = (Sum(E[p, a, b] * dual[p, e, f], (p, 1, s)), symmetriser)
    text = f"${latex(E.label)}_p$ is a basis of the symmetric matrices of size ${latex(r)}$"
    return (
        Local(f"{E} and {dual} are dual", text, (one,), impose),
        Local(f"{E} spans the symmetric matrices", text, (all_of_it,), impose),
    )


def on_sphere(x: IndexedBase, radius: Expr) -> Local:
    """|x_i|^2 = radius^2 for every token."""
    n, d = x.shape

    def impose(draw: Draw) -> None:
        length = draw.get(str(radius), ())
        for row in range(1, draw.size(n) + 1):
            for place, entry in enumerate(unit_vector(draw, draw.size(d)), start=1):
                draw.put(x, (row, place), length * entry)

    rule = (Sum(x[i, a] ** 2, (a, 1, d)), radius**2)
    text = f"$|{latex(x.label)}_i|^2 = {latex(radius)}^2$ for every token"
    return Local(f"{x} lies on a sphere", text, (rule,), impose)


def short_of_all(U: IndexedBase, W: IndexedBase, v: IndexedBase) -> Local:
    """The columns of U (d, r) are independent, W U = I, and v is orthogonal to them: r < d."""
    d, r = U.shape

    def impose(draw: Draw) -> None:
        columns = draw.size(r)
        size = draw.sizes.setdefault(str(d), columns + draw.source.rng.choice((1, 1, 2)))
        if size <= columns:
            raise Rejected(f"{columns} independent columns of length {size} leave no vector")
        rows, inverse = invertible(draw, size)
        for row, column in draw.cells(U):
            draw.put(U, (row, column), inverse[row - 1][column - 1])
            draw.put(W, (column, row), rows[column - 1][row - 1])
        for row in range(1, size + 1):
            draw.put(v, (row,), rows[columns][row - 1])

    rules = ((Sum(W[c, a] * U[a, e], (a, 1, d)), KroneckerDelta(c, e)),
             (Sum(v[a] * U[a, c], (a, 1, d)), Integer(0)))
    text = f"${W} {U} = I$ and ${U}^\\top {v} = 0$"
    return Local(f"{W} inverts {U} beside {v}", text, rules, impose)
