"""Hypotheses on Vandermonde matrices x_p^s and on what one more node adds to them.

Exponents are 0, ..., n - 1: f_s is 1 at the exponent 0, and Sigma shifts exponents by one.
"""

from __future__ import annotations

from itertools import product

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Value
from theorems.statement import Assumption, Equation, array, symbols_of

p, q, s, t, P, n, m = symbols_of("p q s t P n m")
NODES = array("V", n, n), array("Sigma", n, n), array("x", n), array("f", n)


def shift_of_powers(V: IndexedBase, Sigma: IndexedBase, x: IndexedBase, f: IndexedBase) -> Equation:
    """Columns to the right are multiplied by the node: x V Sigma = V - 1 f^T."""
    shifted = Sum(V[p, t] * Sigma[t, s], (t, 1, V.shape[0]))
    return x[p] * shifted, V[p, s] - f[s]


@hypothesis(*NODES, "1")
def vandermonde(
    V: IndexedBase, Sigma: IndexedBase, x: IndexedBase, f: IndexedBase, label: str
) -> Assumption:
    """V_ps = x_p^s: x_p (V Sigma)_ps = V_ps - f_s at a level."""

    def impose(draw: Draw) -> None:
        last = draw.size(V.shape[0])
        for row, column in product(range(1, last + 1), repeat=2):
            draw.put(Sigma, (row, column), int(column == row + 1))
            draw.put(V, (row, column), draw.get(str(x), (row,)) ** (column - 1))
        for column in range(1, last + 1):
            draw.put(f, (column,), int(column == 1))

    text = f"$x_p (V \\Sigma)_{{ps}} = V_{{ps}} - f_s$ at level ${label}$"
    rule = shift_of_powers(V, Sigma, x, f)
    return Assumption(f"V_{label} is Vandermonde", text, (rule,), impose)


def product_is_identity(V: IndexedBase, W: IndexedBase) -> Equation:
    """V W = I."""
    return Sum(V[p, s] * W[s, q], (s, 1, V.shape[0])), KroneckerDelta(p, q)


@hypothesis(array("V", n, n), array("W", n, n), array("x", n), "1")
def lagrange_inverse(V: IndexedBase, W: IndexedBase, x: IndexedBase, label: str) -> Assumption:
    """V W = I at a level: column p of W has the coefficients of the polynomial that is 1 at x_p and
    0 at the other nodes."""

    def impose(draw: Draw) -> None:
        nodes = [draw.get(str(x), (k,)) for k in range(1, draw.size(V.shape[0]) + 1)]
        for column, node in enumerate(nodes, start=1):
            coefficients: list[Value] = [1]
            for other in nodes[: column - 1] + nodes[column:]:
                scale = draw.source.inverse(node - other)
                pairs = zip([0, *coefficients], [*coefficients, 0], strict=True)
                coefficients = [scale * (low - other * high) for low, high in pairs]
            for row, entry in enumerate(coefficients, start=1):
                draw.put(W, (row, column), entry)

    return Assumption(f"W_{label} inverts V_{label}", f"$V W = I$ at level ${label}$",
                      (product_is_identity(V, W),), impose)


@hypothesis(array("v", n), array("Sigma", n, n), array("f", n), Symbol("y", real=True))
def row_of_powers(v: IndexedBase, Sigma: IndexedBase, f: IndexedBase, y: Symbol) -> Assumption:
    """v_s = y^s: y (v Sigma)_s = v_s - f_s."""
    n = v.shape[0]

    def impose(draw: Draw) -> None:
        for column in range(1, draw.size(n) + 1):
            draw.put(v, (column,), draw.get(y.name, ()) ** (column - 1))

    rule = (y * Sum(v[t] * Sigma[t, s], (t, 1, n)), v[s] - f[s])
    text = f"${y}\\, v \\Sigma = v - f$: the row $v$ of powers of ${y}$"
    return Assumption(f"v = powers of {y}", text, (rule,), impose)


@hypothesis(array("d", n), array("x", n), Symbol("y", real=True))
def new_node(d: IndexedBase, x: IndexedBase, y: Symbol) -> Assumption:
    """y is none of the nodes x_p: d_p (x_p - y) = 1."""

    def impose(draw: Draw) -> None:
        for row in range(1, draw.size(x.shape[0]) + 1):
            gap = draw.get(str(x), (row,)) - draw.get(y.name, ())
            draw.put(d, (row,), draw.source.inverse(gap))

    text = f"the new node ${y}$ is none of the $x_p$: $d_p (x_p - {y}) = 1$"
    return Assumption(f"{y} is new", text, ((x[p] * d[p], 1 + y * d[p]),), impose)


@hypothesis(array("J", m, n), array("o", m))
def places_apart(J: IndexedBase, o: IndexedBase) -> Assumption:
    """Each place is new, o_P = 1, or that of one old node, J_Pp = 1."""
    rules = (
        (J[P, p] * J[P, q], KroneckerDelta(p, q) * J[P, p]), (J[P, p] * o[P], Integer(0)),
        (o[P] ** 2, o[P]), (Sum(J[P, p], (p, 1, J.shape[1])), 1 - o[P]),
    )
    return Assumption("a place is new or old", "each place is new or that of one old node", rules)
