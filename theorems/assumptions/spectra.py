"""Hypotheses on eigenvectors of symmetric matrices, on vectors of sum 0, and on bits."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.constructions import reflection
from theorems.assumptions.entries import indicator
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rejected
from theorems.statement import Assumption, array, symbols_of

i, j, k, l, p, n, m = symbols_of("i j k l p n m")


@hypothesis(array("D", n, n), array("V", n, m), array("mu", m))
def orthonormal_eigenvectors(D: IndexedBase, V: IndexedBase, mu: IndexedBase) -> Assumption:
    """The columns of V (n, t) are orthonormal eigenvectors of the symmetric D (n, n)."""
    n, t = V.shape

    def impose(draw: Draw) -> None:
        count = draw.size(t)
        if str(n) not in draw.sizes:
            draw.sizes[str(n)] = count + draw.source.rng.choice((0, 1))
        if (size := draw.size(n)) < count:
            raise Rejected(f"no {count} orthonormal vectors of length {size}")
        basis = reflection(draw, size)
        values = [draw.get(str(mu), (column,)) for column in range(1, count + 1)]
        values += [draw.source.fresh(None) for _ in range(size - count)]
        for row, column in draw.cells(V):
            draw.put(V, (row, column), basis[row - 1][column - 1])
        for row, column in draw.cells(D):
            left, right = basis[row - 1], basis[column - 1]
            products = zip(left, values, right, strict=True)
            draw.put(D, (row, column), sum(x * value * y for x, value, y in products))

    rules = (
        (Sum(D[i, j] * V[j, k], (j, 1, n)), mu[k] * V[i, k]),
        (Sum(V[i, k] * V[i, l], (i, 1, n)), KroneckerDelta(k, l)),
    )
    text = (f"the columns of ${V}$ are orthonormal eigenvectors of ${D}$ with eigenvalues "
            f"${latex(mu.label)}$")
    return Assumption(f"{V} are eigenvectors of {D}", text, rules, impose)


@hypothesis(array("c", n))
def sum_zero(c: IndexedBase) -> Assumption:
    """The entries of c sum to 0."""
    (n,) = c.shape

    def impose(draw: Draw) -> None:
        size = draw.size(n)
        others = [draw.get(str(c), (place,)) for place in range(1, size)]
        draw.put(c, (size,), -sum(others))

    text = f"$\\sum_i {latex(c.label)}_i = 0$"
    return Assumption(f"{c} sums to 0", text, ((Sum(c[i], (i, 1, n)), Integer(0)),), impose)


def bits(theta: IndexedBase) -> Assumption:
    """Every entry is 0 or 1, each alike in searches and in symbolic instances."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(theta):
            draw.put(theta, cell, fmpq(draw.source.rng.randrange(2)))

    text = f"every ${latex(theta.label)}$ is $0$ or $1$"
    return replace(indicator(theta), text=text, impose=impose)


@hypothesis(array("b", m), array("c", m))
def nested_bits(near: IndexedBase, far: IndexedBase) -> Assumption:
    """Bits of which those of near are among those of far."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(near):
            ones = draw.source.rng.randrange(3)
            draw.put(near, cell, fmpq(int(ones == 2)))
            draw.put(far, cell, fmpq(int(ones > 0)))

    rules = ((near[p] ** 2, near[p]), (far[p] ** 2, far[p]), (near[p] * far[p], near[p]))
    text = f"${near}_p$ and ${far}_p$ are $0$ or $1$, and ${near}_p {far}_p = {near}_p$"
    return Assumption(f"bits of {near} among those of {far}", text, rules, impose)
