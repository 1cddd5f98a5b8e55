"""Eigenvalues and powers of P (x) T: those of P times those of T."""

from __future__ import annotations

from dataclasses import replace

from sympy import IndexedBase, Sum, Symbol

from theorems.assumptions.levels import induction_hypothesis, level
from theorems.assumptions.matrices import eigenvector
from theorems.checker.exact import Draw
from theorems.rules import Induction
from theorems.statement import Assumption, Definition, Equation, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c = symbols_of("i j k a b c")
P, T = array("P", n, n), array("T", d, d)
x, y, lam, mu = array("x", n), array("y", d), Symbol("lambda", real=True), Symbol("mu", real=True)


def eigenpair(A: IndexedBase, v: IndexedBase, value: Symbol) -> Assumption:
    """A v = value v, solved for the first column of A."""

    def impose(draw: Draw) -> None:
        size = draw.shape(A)[0]
        draw.put(v, (1,), draw.source.fresh("!=0"))
        scale = draw.source.inverse(draw.get(v.name, (1,)))
        for row in range(1, size + 1):
            rest = sum(draw.get(A.name, (row, s)) * draw.get(v.name, (s,))
                       for s in range(2, size + 1))
            own = draw.get(value.name, ()) * draw.get(v.name, (row,))
            draw.put(A, (row, 1), (own - rest) * scale)

    return replace(eigenvector(A, v, value), impose=impose)


products = Step(
    id="products", lhs=Sum(P[i, j] * T[a, b] * x[j] * y[b], (j, 1, n), (b, 1, d)),
    rhs=lam * mu * x[i] * y[a], by=(eigenpair(P, x, lam), eigenpair(T, y, mu)),
    because="(P (x) T)(x (x) y) = P x (x) T y, for real numbers and for complex ones.",
)


def at(label: str) -> tuple[IndexedBase, IndexedBase, IndexedBase]:
    """W^label, P^label and T^label."""
    return level("W", label, n, n, d, d), level("P", label, n, n), level("T", label, d, d)


def power(label: str) -> Equation:
    """W^label has the blocks (P^label)_ij T^label."""
    W, weights, transport = at(label)
    return W[i, j, a, b], weights[i, j] * transport[a, b]


W_1, P_1, T_1 = at("1")
W_l, P_l, T_l = at("l")
W_next, P_next, T_next = at("l+1")
power_l = induction_hypothesis("the claim on powers", power("l"), W_l, power("l")[1])
first_power = Step(
    id="first_power", lhs=power("1")[0], rhs=power("1")[1],
    by=(Definition(W_1[i, j, a, b], P[i, j] * T[a, b]), Definition(P_1[i, j], P[i, j]),
        Definition(T_1[a, b], T[a, b])),
    because="The blocks of W are P_ij T.",
)
next_power = Step(
    id="next_power", lhs=power("l+1")[0], rhs=power("l+1")[1],
    by=(power_l, Definition(W_next[i, j, a, b], Sum(
            W_l[i, k, a, c] * P[k, j] * T[c, b], (k, 1, n), (c, 1, d))),
        Definition(P_next[i, j], Sum(P_l[i, k] * P[k, j], (k, 1, n))),
        Definition(T_next[a, b], Sum(T_l[a, c] * T[c, b], (c, 1, d)))),
    because="Kronecker products multiply factor by factor.",
)
powers = Induction(
    id="powers", claim=power, hypothesis=power_l, by=(first_power, next_power),
    because="So W^l = P^l (x) T^l for every l.",
)
traces = Step(
    id="traces", lhs=Sum(W_l[i, i, a, a], (i, 1, n), (a, 1, d)), by=(power_l,),
    rhs=Sum(P_l[i, i], (i, 1, n)) * Sum(T_l[a, a], (a, 1, d)),
    because="So the power sums of the eigenvalues of W are those of all products, and power sums "
    "determine the eigenvalues with their multiplicities.",
)
