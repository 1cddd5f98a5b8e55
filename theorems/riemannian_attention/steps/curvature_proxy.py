"""Steps of RA10 on T_ij T_jk T_ki - I = eps^2 R(a, b)/2 + eps^3 rest, and on R itself."""

from __future__ import annotations

from sympy import Expr, IndexedBase

from theorems.riemannian_attention.steps.connection_jets import (
    HALF, a, b, backwards, d, delta, derivative, e, eps, f, first, g, h, linear, of, origin,
    quadratic, side, total,
)
from theorems.statement import Definition, Step, array

EDGES = ("ij", "jk", "ki")
T, X, Y, Z, W = ([array(f"{name}_{{{edge}}}", d, d) for edge in EDGES] for name in "TXYZW")
R, R_ab, rest = array("R_{abc}", d, d), array("R_{ab}", d, d), array("S", d, d)


def times(*matrices: IndexedBase) -> Expr:
    """Entry (e, f) of a product of two or three matrices."""
    if len(matrices) == 2:
        return total(matrices[0][e, g] * matrices[1][g, f], g)
    return total(matrices[0][e, g] * matrices[1][g, h] * matrices[2][h, f], g, h)


transports = [
    Definition(t[e, f], delta(e, f) + eps * x[e, f] + eps**2 * w[e, f])
    for t, x, w in zip(T, X, W, strict=True)
]
remainders = [
    Definition(w[e, f], y[e, f] + eps * z[e, f]) for w, y, z in zip(W, Y, Z, strict=True)
]
(X1, X2, X3), (Y1, Y2, Y3), (W1, W2, W3) = X, Y, W
SECOND = Y1[e, f] + Y2[e, f] + Y3[e, f] + times(X1, X2) + times(X1, X3) + times(X2, X3)
REST = (
    Z[0][e, f] + Z[1][e, f] + Z[2][e, f] + times(X1, X2, X3)
    + times(X1, W2) + times(W1, X2) + times(X1, W3) + times(W1, X3) + times(X2, W3)
    + times(W2, X3)
    + eps * (times(W1, W2) + times(W1, W3) + times(W2, W3) + times(X1, X2, W3)
             + times(X1, W2, X3) + times(W1, X2, X3))
    + eps**2 * (times(X1, W2, W3) + times(W1, X2, W3) + times(W1, W2, X3))
    + eps**3 * times(W1, W2, W3)
)
remaining = Definition(rest[e, f], REST)
expansion = Step(
    id="expansion", lhs=times(*T), by=(*transports, remaining, *remainders),
    rhs=delta(e, f) + eps * (X1[e, f] + X2[e, f] + X3[e, f]) + eps**2 * SECOND
    + eps**3 * rest[e, f],
    because=r"The product of three matrices $I + \varepsilon X + \varepsilon^2 Y + \varepsilon^3 "
    r"Z$.",
)
A, B = array("A", d, d), array("B", d, d)
A_a, A_b, B_a, B_b = (
    array(rf"\partial_{vector} {name}", d, d) for name in "AB" for vector in "ab"
)
MATRICES = (
    Definition(A[e, f], first(of(a), e, f)), Definition(B[e, f], first(of(b), e, f)),
    Definition(A_a[e, f], derivative(of(a), of(a), e, f)),
    Definition(A_b[e, f], derivative(of(b), of(a), e, f)),
    Definition(B_a[e, f], derivative(of(a), of(b), e, f)),
    Definition(B_b[e, f], derivative(of(b), of(b), e, f)),
)
SQUARE_A, SQUARE_B, AB, BA = times(A, A), times(B, B), times(A, B), times(B, A)
linear_parts = (
    Definition(X1[e, f], A[e, f]), Definition(X2[e, f], B[e, f] - A[e, f]),
    Definition(X3[e, f], -B[e, f]),
)
quadratic_parts = (
    Definition(Y1[e, f], HALF * (SQUARE_A + A_a[e, f])),
    Definition(Y2[e, f], HALF * (SQUARE_A - AB - BA + SQUARE_B
                                 - A_a[e, f] - A_b[e, f] + B_a[e, f] + B_b[e, f])),
    Definition(Y3[e, f], HALF * (SQUARE_B - B_b[e, f])),
)
STARTS = {
    "from_j_to_i": (of(a), backwards), "from_k_to_j": (of(b), side), "from_i_to_k": (origin, of(b))
}
"""Where a transport starts and how far it goes, both over eps: T_ij leads from x_j to x_i."""
edges = tuple(
    Step(
        id=name, lhs=eps * linear(v) + eps**2 * quadratic(u, v),
        rhs=eps * x.value + eps**2 * y.value, by=MATRICES,
        because=r"$\Gamma$ and $\partial\Gamma$ are linear in the two vectors.",
    )
    for (name, (u, v)), x, y in zip(STARTS.items(), linear_parts, quadratic_parts, strict=True)
)
curvature = Definition(R_ab[e, f], B_a[e, f] - A_b[e, f] + AB - BA)
curvature_proxy = Step(
    id="curvature_proxy", lhs=times(*T),
    rhs=delta(e, f) + HALF * eps**2 * R_ab[e, f] + eps**3 * rest[e, f],
    by=(expansion, *linear_parts, *quadratic_parts, curvature),
    because=r"$X_{ij} + X_{jk} + X_{ki} = 0$, and of the second order half of $\partial_a B - "
    r"\partial_b A + A B - B A$ remains.",
)

y, dy, ddy, half_ddy = (
    array(name, *shape) for name, shape in (
        ("y", (d,)), (r"\partial y", (d, d)), (r"\partial^2 y", (d, d, d)), ("H", (d, d, d)))
)
symmetric = Definition(ddy[g, h, e], half_ddy[g, h, e] + half_ddy[h, g, e])


def second_derivative(
    outer: IndexedBase, inner: IndexedBase, of_outer: IndexedBase, of_inner: IndexedBase,
    slope: IndexedBase,
) -> Expr:
    """Entry e of nabla_outer nabla_inner y for constant fields: d(d y + Gamma y) + Gamma(...); of
    Gamma(outer, .), Gamma(inner, .) and d_outer Gamma(inner, .)."""
    along = total(ddy[g, h, e] * outer[g] * inner[h], g, h)
    turned = total(slope[e, f] * y[f], f)
    carried = total(of_inner[e, f] * dy[g, f] * outer[g], f, g)
    again = total(of_outer[e, f] * dy[h, f] * inner[h], f, h)
    twice = total(of_outer[e, g] * of_inner[g, f] * y[f], f, g)
    return along + turned + carried + again + twice


derivatives_commute = Step(
    id="derivatives_commute",
    lhs=second_derivative(a, b, A, B, B_a) - second_derivative(b, a, B, A, A_b),
    rhs=total(R_ab[e, f] * y[f], f), by=(symmetric, curvature, *MATRICES),
    because=r"$\nabla_a \nabla_b y = \partial_a (\partial_b y + \Gamma(b, y)) + \Gamma(a, "
    r"\partial_b y + \Gamma(b, y))$, and second derivatives commute.",
)
