"""A connection walk with metrics: its arrays, the hypotheses of CW5 and <u, v>_{pi,G}."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Sum

from theorems.assumptions.entries import signed
from theorems.assumptions.eigenvectors import self_adjoint, skew_form
from theorems.assumptions.metrics import (
    balanced, flow_gap, frames, inverse_pairs, isometric, metric, row_stochastic, stationary,
)
from theorems.statement import array, symbols_of

n, d = symbols_of("n d")
i, j, k, l, a, b, c, e, f = symbols_of("i j k l a b c e f")

P, pi, T = array("P", n, n), array("pi", n), array("T", n, n, d, d)
u, v = array("u", n, d), array("v", n, d)
F, F_inv, G = array("F", n, d, d), array("F^{-1}", n, d, d), array("G", n, d, d)
w, gap, Z = array("w", n, n), array("g", n, n), array("Z", n, n, d, d)

nonnegative, positive = signed(P, ">=0"), signed(pi, ">0")
rows, law, isometry = row_stochastic(P), stationary(pi, P), isometric(P, T, F)
invertible, gram = frames(F, F_inv), metric(G, F)
imbalance, balance, pairs = flow_gap(pi, P, gap), balanced(pi, P, gap), inverse_pairs(P, T)
skew, adjoint = skew_form(pi, P, T, G, Z), self_adjoint(pi, P, T, F, Z)
WALK, POSITIVE = (law, rows, isometry, gram), (nonnegative, positive)


def inner(left: IndexedBase, right: Expr) -> Expr:
    """<left, right>_{pi,G}, right by its entry (i, b)."""
    return Sum(pi[i] * left[i, a] * G[i, a, b] * right, (i, 1, n), (a, 1, d), (b, 1, d))


def generator(u: IndexedBase) -> Expr:
    """Entry (i, b) of L u."""
    return u[i, b] - Sum(P[i, j] * T[i, j, b, c] * u[j, c], (j, 1, n), (c, 1, d))
