"""Steps of CW10 on flat connections: fundamental cycles, closed walks, complete graphs, spectra."""

from __future__ import annotations

from sympy import Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.matrices import eigenvector
from theorems.assumptions.sections import (
    carries, equals, flat, gauged, mutual, node, parallel_sections, triangles_from,
)
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c, e, f = symbols_of("i j k a b c e f")

E, B, T, h = array("E", n, n), array("B", n, n), array("T", n, n, d, d), array("h", n, n, d, d)
g, g_inv = gauge = array("g", n, d, d), array("g^{-1}", n, d, d)
inverse = right_inverse(g, g_inv)
holonomy = Definition(
    h[i, j, a, b], Sum(g_inv[i, a, c] * T[i, j, c, e] * g[j, e, b], (c, 1, d), (e, 1, d))
)
mutual_edges = mutual(E[i, j], T)
tree_edges = Step(
    id="tree_edges", lhs=B[i, j] * h[i, j, a, b], rhs=B[i, j] * KroneckerDelta(a, b),
    by=(holonomy, inverse, parallel_sections(B[i, j], T, g)),
    because="On a tree edge T_ij g_j = g_i, so its holonomy is I by construction.",
)
backwards = Step(
    id="backwards", lhs=E[i, j] * Sum(h[i, j, a, b] * h[j, i, b, c], (b, 1, d)),
    rhs=E[i, j] * KroneckerDelta(a, c), by=(holonomy, inverse, mutual_edges),
    because="The cycle of an edge run backwards has the inverse holonomy, so one direction of "
    "each edge is enough.",
)
restored = Step(
    id="restored", lhs=T[i, j, a, b], by=(holonomy, inverse),
    rhs=Sum(g[i, a, c] * h[i, j, c, e] * g_inv[j, e, b], (c, 1, d), (e, 1, d)),
    because="The holonomy is the transport seen in the frames g.",
)
pure_gauge = Sum(g[i, a, c] * g_inv[j, c, b], (c, 1, d))
gauge_exists = Step(
    id="gauge_exists", lhs=E[i, j] * T[i, j, a, b], rhs=E[i, j] * pure_gauge,
    by=(restored, flat(E, h, T, gauge)), because="Put h_ij = I into T_ij = g_i h_ij g_j^{-1}.",
)
frames_parallel = Step(
    id="frames_parallel", by=(inverse, gauged(E, T, gauge)), rhs=E[i, j] * g[i, a, c],
    lhs=E[i, j] * Sum(T[i, j, a, b] * g[j, b, c], (b, 1, d)),
    because="T_ij = g_i g_j^{-1} says that the columns of g are parallel on every edge.",
)
no_holonomy = Step(
    id="no_holonomy", lhs=E[i, j] * h[i, j, a, b], rhs=E[i, j] * KroneckerDelta(a, b),
    by=(holonomy, inverse, gauged(E, T, gauge)),
    because="Conversely T_ij = g_i g_j^{-1} gives h_ij = g_i^{-1} g_i g_j^{-1} g_j = I.",
)

u, u_inv, origin = array("u", n, d, d), array("u^{-1}", n, d, d), array("s^0", n)


def at(label: str) -> tuple:
    """Indicator of the l-th node of a walk, transport up to it, and the walk's next transport."""
    return array(f"s^{{{label}}}", n), array(f"X^{{{label}}}", d, d), array(f"Y^{{{label}}}", d, d)


def carried(label: str) -> Equation:
    """X^l u at the l-th node of a walk = u at its start."""
    s, X, _ = at(label)
    moved = Sum(X[a, b] * s[j] * u[j, b, c], (b, 1, d), (j, 1, n))
    return moved, Sum(origin[i] * u[i, a, c], (i, 1, n))


def along(first, second, name) -> Definition:
    """The transport of the edge between two nodes."""
    hop = first[i] * second[j] * T[i, j, a, b]
    return Definition(name[a, b], Sum(hop, (i, 1, n), (j, 1, n)))


s_1, X_1, _ = at("1")
s_l, X_l, Y_l = at("l")
s_next, X_next, _ = at("l+1")
at_origin = node(origin)
so_far = carries(carried("l"), X_l, origin, s_l, u)
first_edge = Step(
    id="first_edge", lhs=carried("1")[0], rhs=carried("1")[1],
    by=(along(origin, s_1, X_1), node(s_1), parallel_sections(origin[i] * s_1[j], T, u)),
    because="u_i = T_ij u_j is the claim for a walk of one edge.",
)
next_edge = Step(
    id="next_edge", lhs=carried("l+1")[0], rhs=carried("l+1")[1],
    by=(Definition(X_next[a, b], Sum(X_l[a, c] * Y_l[c, b], (c, 1, d))),
        along(s_l, s_next, Y_l), so_far, node(s_next),
        parallel_sections(s_l[i] * s_next[j], T, u)),
    because="X^{l+1} u_{l+1} = X^l T u_{l+1} = X^l u_l.",
)
walks_carry = Induction(
    id="walks_carry", claim=carried, hypothesis=so_far, by=(first_edge, next_edge),
    because="Edge by edge: the product of the transports along a walk carries u from its end.",
)
m = array("m", d, d)
closes = Definition(s_l[i], origin[i])
start = Sum(origin[i] * u[i, a, c], (i, 1, n))
around = Definition(m[a, c], Sum(X_l[a, b] * origin[j] * u[j, b, c], (b, 1, d), (j, 1, n)))
returns = Step(
    id="returns", lhs=around.value, rhs=carried("l")[0], by=(closes,),
    because="A closed walk ends where it starts.",
)
closed_fixes = Step(
    id="closed_fixes", lhs=around.value, rhs=start, by=(returns, so_far),
    because="So the holonomy of a closed walk fixes the value of every parallel section.",
)
invertible_u = right_inverse(u, u_inv)
unframed = Step(
    id="unframed", lhs=X_l[a, e], by=(around, at_origin, invertible_u),
    rhs=Sum(m[a, c] * origin[k] * u_inv[k, c, e], (c, 1, d), (k, 1, n)),
    because="Invertible frames u can be taken off again.",
)
around_again = Step(
    id="around_again", lhs=m[a, c], rhs=start, by=(around, closed_fixes),
    because="The name of the left side.",
)
closed_flat = Step(
    id="closed_flat", lhs=X_l[a, e], rhs=KroneckerDelta(a, e),
    by=(at_origin, invertible_u, unframed, around_again),
    because="If the columns of invertible frames u = g are parallel, every closed walk has the "
    "holonomy I.",
)


to, back = root = array("T_{o}", n, d, d), array("T^{o}", n, d, d)
R = array("R", n, n, d, d)
triangle = Definition(
    R[i, j, a, b],
    Sum(to[i, a, c] * back[j, c, e] * T[j, i, e, b], (c, 1, d), (e, 1, d)),
)
detour = Sum(to[i, a, c] * back[j, c, b], (c, 1, d))
mutual_all = mutual(Integer(1), T)
closed_up = Step(
    id="closed_up", lhs=detour, rhs=Sum(R[i, j, a, c] * T[i, j, c, b], (c, 1, d)),
    by=(triangle, mutual_all), because="T_ji T_ij = I behind T_io T_oj.",
)
through_root = Step(
    id="through_root", lhs=detour, rhs=T[i, j, a, b],
    by=(triangles_from(root, T, R), closed_up),
    because="With flat triangles T_ij = T_io T_oj: the gauge is g_i = T_io.",
)

P, y, v, x = array("P", n, n), array("y", n, d), array("v", n), array("x", d)
lam = Symbol("lambda", real=True)
flat_P = gauged(P, T, gauge)
conjugate = Step(
    id="conjugate", rhs=Sum(g[i, a, f] * P[i, j] * y[j, f], (j, 1, n), (f, 1, d)),
    lhs=Sum(P[i, j] * T[i, j, a, b] * g[j, b, f] * y[j, f], (j, 1, n), (b, 1, d), (f, 1, d)),
    by=(inverse, flat_P), because="W g y = g (P (x) I) y: the gauge conjugates W to d copies of P.",
)


def power(label: str) -> Equation:
    """W^l = g (P^l (x) I) g^{-1}."""
    W, weights = array(f"W^{{{label}}}", n, n, d, d), array(f"P^{{{label}}}", n, n)
    return W[i, j, a, b], weights[i, j] * pure_gauge


W_1, W_l, W_next = (array(f"W^{{{label}}}", n, n, d, d) for label in ("1", "l", "l+1"))
P_1, P_l, P_next = (array(f"P^{{{label}}}", n, n) for label in ("1", "l", "l+1"))
power_l = equals(*power("l"), text=r"$W^l = g (P^l \otimes I) g^{-1}$")
first_power = Step(
    id="first_power", lhs=power("1")[0], rhs=power("1")[1],
    by=(inverse, Definition(W_1[i, j, a, b], P[i, j] * T[i, j, a, b]),
        Definition(P_1[i, j], P[i, j]), flat_P),
    because="W has the blocks P_ij T_ij.",
)
next_power = Step(
    id="next_power", lhs=power("l+1")[0], rhs=power("l+1")[1],
    by=(inverse, Definition(W_next[i, j, a, b], Sum(
            W_l[i, k, a, c] * P[k, j] * T[k, j, c, b], (k, 1, n), (c, 1, d))),
        Definition(P_next[i, j], Sum(P_l[i, k] * P[k, j], (k, 1, n))), flat_P, power_l),
    because="The inner gauges cancel.",
)
powers = Induction(
    id="powers", claim=power, hypothesis=power_l, by=(first_power, next_power),
    because="W^{l+1} = W^l W.",
)
traces = Step(
    id="traces", lhs=Sum(W_l[i, i, a, a], (i, 1, n), (a, 1, d)), rhs=d * Sum(P_l[i, i], (i, 1, n)),
    by=(inverse, power_l), because="g_i g_i^{-1} = I has the trace d.",
)
lifted = Definition(y[i, a], Sum(v[i] * g[i, a, b] * x[b], (b, 1, d)))
eigenvectors = Step(
    id="eigenvectors", lhs=Sum(P[i, j] * T[i, j, a, b] * y[j, b], (j, 1, n), (b, 1, d)),
    rhs=lam * y[i, a], by=(lifted, inverse, eigenvector(P, v, lam), flat_P),
    because="An eigenvector v of P gives one of W for every x in R^d.",
)
