"""Steps of RA10 on R_ij = I: the teleparallel connection of a field of frames, flat but twisted."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.frames import frame as chosen_frame
from theorems.assumptions.frames import inverse_of, put_rows
from theorems.assumptions.sections import equals
from theorems.checker.exact import Draw, SmallIntegers
from theorems.riemannian_attention.steps.connection_jets import (
    D_Gamma, Gamma, a, b, d, delta, e, f, first, g, h, k, l, of, total, v,
)
from theorems.riemannian_attention.steps.curvature_proxy import MATRICES, R_ab, curvature
from theorems.riemannian_attention.steps.torsion_proxy import torsion, torsion_of
from theorems.assumptions.turned_frames import E, T, coframe, framed, i, j, n
from theorems.statement import Definition, Step, array, symbols_of

(m,) = symbols_of("m")
x, gap = array("x", n, d), array("p", n, n, n, d)
untwisted = Definition(T[i, j, e, f], total(coframe[i, e, g] * E[j, g, f], g))
flat = Step(
    id="flat", lhs=total(T[i, j, e, g] * T[j, m, g, h] * T[m, i, h, f], g, h), rhs=delta(e, f),
    by=(untwisted, framed), because=r"$E_i^{-1} E_j E_j^{-1} E_k E_k^{-1} E_i = I$.",
)


def step(to, vector_index) -> Expr:
    """x_to - x_i."""
    return x[to, vector_index] - x[i, vector_index]


pentagon = Definition(
    gap[i, j, m, e],
    step(j, e) - step(m, e) + total(T[j, i, e, f] * step(m, f) - T[m, i, e, f] * step(j, f), f),
)
frame_gap = Step(
    id="frame_gap", lhs=gap[i, j, m, e], by=(pentagon, untwisted, framed),
    rhs=total(coframe[m, e, g] * (E[m, g, f] - E[i, g, f]) * step(j, f)
              - coframe[j, e, g] * (E[j, g, f] - E[i, g, f]) * step(m, f), f, g),
    because=r"$T_{ji} b - b = E_j^{-1} (E_i - E_j) b$, and $T_{ki} a - a$ alike.",
)

F, inverse_F = array("F", d, d), array("F^{-1}", d, d)
dF, ddF = array(r"\partial F", d, d, d), array(r"\partial^2 F", d, d, d, d)
half = array("H", d, d, d, d)


def _frame(draw: Draw) -> None:
    """Any frame, of a search small ones; of symbols a bidiagonal one."""
    if type(draw.source) is SmallIntegers:
        draw.sizes.setdefault(d.name, draw.source.rng.choice((1, 2, 2)))
    rows = chosen_frame(draw, draw.size(d))
    put_rows(draw, F, (), rows)
    put_rows(draw, inverse_F, (), inverse_of(draw, rows))


framed_x = replace(right_inverse(F, inverse_F), impose=_frame)
connection = Definition(Gamma[e, k, f], total(inverse_F[e, g] * dF[k, g, f], g))
y, speed = array("y", d), array("y'", d)
constant = Step(
    id="constant", by=(connection, framed_x),
    lhs=total(dF[k, e, f] * v[k] * y[f], f, k) + total(F[e, f] * speed[f], f),
    rhs=total(F[e, g] * (speed[g] + total(first(of(v), g, f) * y[f], f)), g),
    because=r"$(F y)' = F (y' + \Gamma(v, y))$ along $v$: $y$ is parallel iff $F y$ is constant, "
    r"so the transport from $p$ to $p'$ is $F(p')^{-1} F(p)$.",
)
constant_back = Step(
    id="constant_back", by=(connection, framed_x),
    lhs=speed[e] + total(first(of(v), e, f) * y[f], f),
    rhs=total(inverse_F[e, g] * (total(dF[k, g, f] * v[k] * y[f], f, k)
                                 + total(F[g, f] * speed[f], f)), g),
    because="The same read backwards.",
)
frame_torsion = Step(
    id="frame_torsion", lhs=torsion[e], by=(torsion_of, connection),
    rhs=total(inverse_F[e, g] * dF[k, g, f] * (a[k] * b[f] - b[k] * a[f]), f, g, k),
    because=r"$\tau = F^{-1} (\partial_a F\, b - \partial_b F\, a)$.",
)
second = Definition(ddF[k, l, e, f], half[k, l, e, f] + half[l, k, e, f])
connection_slope = Definition(
    D_Gamma[l, e, k, f],
    total(inverse_F[e, g] * (ddF[l, k, g, f] - total(dF[l, g, h] * Gamma[h, k, f], h)), g),
)
product_rule = Step(
    id="product_rule", lhs=ddF[l, k, e, f], by=(connection_slope, framed_x),
    rhs=total(dF[l, e, g] * Gamma[g, k, f] + F[e, g] * D_Gamma[l, g, k, f], g),
    because=r"$F \Gamma(v, \cdot) = \partial_v F$, differentiated.",
)
no_curvature = Step(
    id="no_curvature", lhs=R_ab[e, f], rhs=Integer(0),
    by=(curvature, *MATRICES, connection_slope, connection, second, framed_x),
    because=r"$\partial_a \partial_b F = \partial_b \partial_a F$.",
)
hessian = array("h", d, d, d)
jacobian = Definition(dF[k, e, f], hessian[e, k, f] + hessian[e, f, k])
flat_chart = Step(
    id="flat_chart", lhs=torsion[e], rhs=Integer(0), by=(torsion_of, connection, jacobian),
    because=r"If $F$ is the Jacobian matrix of a map to flat space, $\partial_a F\, b$ is its "
    "second derivative, which is symmetric.",
)

A, G, dG = array("A", d, d), array("G", d, d), array("G'", d, d)
Y, Z, dY, dZ = array("Y", d), array("Z", d), array("Y'", d), array("Z'", d)
compatible = equals(
    dG[e, f], total(A[g, e] * G[g, f] + G[e, g] * A[g, f], g),
    r"$G' = A^\top G + G A$ for $A = \Gamma(v, \cdot)$",
)
PRODUCT = total(dY[e] * G[e, f] * Z[f] + Y[e] * dG[e, f] * Z[f] + Y[e] * G[e, f] * dZ[f], e, f)
preserved = Step(
    id="preserved", lhs=PRODUCT, rhs=Integer(0),
    by=(Definition(dY[e], -total(A[e, g] * Y[g], g)), Definition(dZ[e], -total(A[e, g] * Z[g], g)),
        compatible),
    because=r"$(Y^\top G Z)' = Y^\top (G' - A^\top G - G A) Z$.",
)
