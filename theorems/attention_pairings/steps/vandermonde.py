"""Vandermonde matrices x_p^s of any size: by induction on the nodes they have an inverse.

V_l has l nodes x and the exponents 0, ..., l - 1: f_s is 1 at the exponent 0 and Sigma shifts, so
that V[p, s] = f_s + x_p (V Sigma)[p, s]. One more node y makes V_{l+1}: its rows are y and the
x_p, its columns 0 and all s + 1, with embeddings o and J.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, KroneckerDelta, Sum, Symbol

from theorems.assumptions.levels import STAGES, level, size
from theorems.assumptions.vandermonde import (
    lagrange_inverse, new_node, places_apart, product_is_identity, row_of_powers, shift_of_powers,
    vandermonde,
)
from theorems.checker.exact import Draw, Rejected, SmallIntegers
from theorems.assumptions.widths import complete, side_by_side, total_width
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Step, Witness, array, symbols_of

p, q, s, t, P, Q = symbols_of("p q s t P Q")
N = {label: size("n", label) for label in STAGES}
V, W, S = (
    {label: level(name, label, N[label], N[label]) for label in STAGES}
    for name in ("V", "W", "Sigma")
)
x, f = ({label: level(name, label, N[label]) for label in STAGES} for name in "xf")
J, new = level("J", "l+1", N["l+1"], N["l"]), level("o", "l+1", N["l+1"])
v, d, g = (level(name, "l", N["l"]) for name in "vdg")
H = level("H", "l", N["l"], N["l"])
y = Symbol("y", real=True)


def shape_claim(label: str) -> Equation:
    """Columns to the right are multiplied by the node."""
    n = size("n", label)
    V, Sigma = (level(name, label, n, n) for name in ("V", "Sigma"))
    return shift_of_powers(V, Sigma, level("x", label, n), level("f", label, n))


def inverse_claim(label: str) -> Equation:
    """V W = I."""
    n = size("n", label)
    return product_is_identity(level("V", label, n, n), level("W", label, n, n))


shape_1, shape_l = (
    vandermonde(V[label], S[label], x[label], f[label], label) for label in STAGES[:2]
)
inverse_1, inverse_l = (
    lagrange_inverse(V[label], W[label], x[label], label) for label in STAGES[:2]
)
row_of_y, other_node = row_of_powers(v, S["l"], f["l"], y), new_node(d, x["l"], y)


def _places(draw: Draw) -> None:
    """The columns of the identity; searches also try other signs, which only 0 and 1 exclude."""
    old_places = draw.size(N["l"])
    if draw.sizes.setdefault(str(N["l+1"]), old_places + 1) != old_places + 1:
        raise Rejected("there is one new place")
    small = type(draw.source) is SmallIntegers
    for row in range(1, old_places + 2):
        sign = -1 if small and draw.source.rng.randrange(6) == 0 else 1
        draw.put(new, (row,), sign * int(row == old_places + 1))
        for column in range(1, old_places + 1):
            draw.put(J, (row, column), sign * int(row == column))


orthonormal = replace(side_by_side(J, new), impose=_places)
all_places = replace(complete(J, new), impose=None)  # it holds where `orthonormal` constructs
apart = places_apart(J, new)


def old(place: Expr, entry: Expr, index: Symbol) -> Expr:
    """A vector over the old nodes or exponents as one over all."""
    return Sum(J[place, index] * entry, (index, 1, N["l"]))


next_f = Definition(f["l+1"][Q], new[Q])
next_x = Definition(x["l+1"][P], new[P] * y + old(P, x["l"][p], p))
next_S = Definition(S["l+1"][P, Q], new[P] * old(Q, f["l"][s], s)
                    + Sum(J[P, t] * S["l"][t, s] * J[Q, s], (t, 1, N["l"]), (s, 1, N["l"])))
next_V = Definition(V["l+1"][P, Q], new[P] * (new[Q] + old(Q, y * v[s], s))
                    + old(P, new[Q] + old(Q, x["l"][p] * V["l"][p, s], s), p))
shift_W = Definition(H[s, p], d[p] * (W["l"][s, p] - y * Sum(
    S["l"][s, t] * W["l"][t, p], (t, 1, N["l"]))))
first_row = Definition(g[p], d[p] * Sum(f["l"][s] * W["l"][s, p], (s, 1, N["l"])))
next_W = Definition(
    W["l+1"][Q, P], new[Q] * new[P] + new[Q] * y * Sum(
        g[p] * (new[P] - J[P, p]), (p, 1, N["l"]))
    + Sum(J[Q, s] * H[s, p] * (J[P, p] - new[P]), (s, 1, N["l"]), (p, 1, N["l"])))

first_shape = Step(
    id="first_shape", lhs=shape_claim("1")[0], rhs=shape_claim("1")[1], by=(shape_1,),
    because="The first nodes: $V = 1$, $\\Sigma = 0$, $f = 1$ for one of them.",
)
next_shape = Step(
    id="next_shape", lhs=shape_claim("l+1")[0], rhs=shape_claim("l+1")[1],
    by=(next_V, next_x, next_S, next_f, orthonormal, apart, row_of_y, shape_l),
    because="Column $0$ is all ones; column $s + 1$ is the node times its power $s$.",
)
shape = Induction(id="shape", claim=shape_claim, hypothesis=shape_l, by=(first_shape, next_shape),
                  because="So $V_l$ is the matrix of the powers of its nodes.")
first_inverse = Step(
    id="first_inverse", lhs=inverse_claim("1")[0], rhs=inverse_claim("1")[1],
    by=(inverse_1, shape_1), because="It has an inverse, such as $W = 1$ for one node.",
)
next_inverse = Step(
    id="next_inverse", lhs=inverse_claim("l+1")[0], rhs=inverse_claim("l+1")[1],
    by=(next_V, next_W, shift_W, first_row, orthonormal, shape_l, row_of_y, inverse_l, other_node,
        all_places),
    because="Subtract from every column $y$ times the one before it: the row of $y$ becomes "
    "$(1, 0)$, and $x_p^{s + 1} - y x_p^s = (x_p - y) x_p^s$ leaves $(x_p - y) V_l$ below.",
)
inverse = Induction(
    id="inverse", claim=inverse_claim, hypothesis=inverse_l, by=(first_inverse, next_inverse),
    because="So the powers of pairwise distinct nodes have an inverse, whatever their number.",
)
one, W_0, S_0 = (array(name, 1, 1) for name in ("V_0", "W_0", "S_0"))
x_0, f_0 = array("x_0", 1), array("f_0", 1)
one_node = Witness(
    id="one_node", values={one: [[1]], W_0: [[1]], S_0: [[0]], x_0: [2], f_0: [1]},
    holds=((x_0[p] * Sum(one[p, t] * S_0[t, s], (t, 1, 1)), one[p, s] - f_0[s]),
           (Sum(one[p, s] * W_0[s, q], (s, 1, 1)), KroneckerDelta(p, q))),
    because="The power $0$ of one node.",
)
nodes = total_width("nodes", J, new)
STEPS = (one_node, first_shape, next_shape, shape, first_inverse, next_inverse, inverse, *nodes)
