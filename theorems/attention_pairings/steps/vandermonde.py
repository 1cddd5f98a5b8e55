"""Vandermonde matrices x_p^s of any size: by induction on the nodes they have an inverse.

V_l has l nodes x and the exponents 0, ..., l - 1: f_s is 1 at the exponent 0 and Sigma shifts, so
that V[p, s] = f_s + x_p (V Sigma)[p, s]. One more node y makes V_{l+1}: its rows are y and the
x_p, its columns 0 and all s + 1, with embeddings o and J.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.levels import STAGES, level, size
from theorems.checker.exact import Draw, Rejected, SmallIntegers, Value
from theorems.assumptions.widths import complete, side_by_side, total_width
from theorems.rules import Induction
from theorems.statement import Assumption, Definition, Equation, Step, Witness, array, symbols_of

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
    """Columns to the right are multiplied by the node: x V Sigma = V - 1 f^T."""
    n, own = size("n", label), level("V", label, size("n", label), size("n", label))
    shifted = Sum(own[p, t] * level("Sigma", label, n, n)[t, s], (t, 1, n))
    return level("x", label, n)[p] * shifted, own[p, s] - level("f", label, n)[s]


def inverse_claim(label: str) -> Equation:
    """V W = I."""
    n = size("n", label)
    entry = level("V", label, n, n)[p, s] * level("W", label, n, n)[s, q]
    return Sum(entry, (s, 1, n)), KroneckerDelta(p, q)


def _powers(draw: Draw, label: str) -> None:
    """Nodes, their powers, and the shift of exponents."""
    last = draw.size(N[label])
    for row, column in product(range(1, last + 1), repeat=2):
        draw.put(S[label], (row, column), int(column == row + 1))
        draw.put(V[label], (row, column), draw.get(str(x[label]), (row,)) ** (column - 1))
    for column in range(1, last + 1):
        draw.put(f[label], (column,), int(column == 1))


def _lagrange(draw: Draw, label: str) -> None:
    """Column p of the inverse: the coefficients of the polynomial that is 1 at x_p, else 0."""
    nodes = [draw.get(str(x[label]), (k,)) for k in range(1, draw.size(N[label]) + 1)]
    for column, node in enumerate(nodes, start=1):
        coefficients: list[Value] = [1]
        for other in nodes[: column - 1] + nodes[column:]:
            scale = draw.source.inverse(node - other)
            pairs = zip([0, *coefficients], [*coefficients, 0], strict=True)
            coefficients = [scale * (low - other * high) for low, high in pairs]
        for row, entry in enumerate(coefficients, start=1):
            draw.put(W[label], (row, column), entry)


def _powers_of_y(draw: Draw) -> None:
    for column in range(1, draw.size(N["l"]) + 1):
        draw.put(v, (column,), draw.get("y", ()) ** (column - 1))


def _differences(draw: Draw) -> None:
    for row in range(1, draw.size(N["l"]) + 1):
        gap = draw.get(str(x["l"]), (row,)) - draw.get("y", ())
        draw.put(d, (row,), draw.source.inverse(gap))


shape_1, shape_l = (
    Assumption(f"V_{label} is Vandermonde", f"$x_p (V \\Sigma)_{{ps}} = V_{{ps}} - f_s$ at level "
               f"${label}$", (shape_claim(label),), partial(_powers, label=label))
    for label in STAGES[:2]
)
inverse_1, inverse_l = (
    Assumption(f"W_{label} inverts V_{label}", f"$V W = I$ at level ${label}$",
               (inverse_claim(label),), partial(_lagrange, label=label)) for label in STAGES[:2]
)
row_of_y = Assumption("v = powers of y", r"$y\, v \Sigma = v - f$: the row $v$ of powers of $y$",
                      ((y * Sum(v[t] * S["l"][t, s], (t, 1, N["l"])), v[s] - f["l"][s]),),
                      _powers_of_y)
new_node = Assumption("y is new", "the new node $y$ is none of the $x_p$: $d_p (x_p - y) = 1$",
                      ((x["l"][p] * d[p], 1 + y * d[p]),), _differences)


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
places_apart = Assumption(
    "a place is new or old", "each place is new or that of one old node",
    ((J[P, p] * J[P, q], KroneckerDelta(p, q) * J[P, p]), (J[P, p] * new[P], Integer(0)),
     (new[P] ** 2, new[P]), (Sum(J[P, p], (p, 1, N["l"])), 1 - new[P])),
)


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
    by=(next_V, next_x, next_S, next_f, orthonormal, places_apart, row_of_y, shape_l),
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
    by=(next_V, next_W, shift_W, first_row, orthonormal, shape_l, row_of_y, inverse_l, new_node,
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
