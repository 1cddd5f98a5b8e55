"""RA11, what a layer of H heads does to two of its tokens, and to a ball around 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol, latex

from theorems.assumptions.entries import signed
from theorems.checker.exact import Draw
from theorems.riemannian_attention.steps import total_variation as tv
from theorems.riemannian_attention.steps.score_spreads import norm_up_to_sign
from theorems.riemannian_attention.steps.total_variation import (
    H, P, Q, T, Y, d, least_root, m, mostly, x,
)
from theorems.statement import Bound, Definition, Local, array, symbols_of

h, f, j, l, a, b, c = symbols_of("h f j l a b c")
half = Rational(1, 2)
HEADS, FEATURES, INNER, ROWS = (h, 1, H), (a, 1, d), (b, 1, d), (c, 1, d)
W, K, bias = array("W", H, d, d), array("K", H, d, d), array("beta", d)
X, X_q = array("x'", d), array("x''", d)
omega, tau, D, radius = array("omega", H), array("tau", H), tv.D, Symbol("rho", real=True)
positive_omega, norms = signed(omega, ">=0"), norm_up_to_sign(W, K, omega[h], h)


def together(name: str, single: Bound, size: Callable[[Expr], Expr], reach: Expr, z: IndexedBase,
             by: tuple[Any, ...] = ()) -> tuple[Bound, Definition, Expr]:
    """Vectors z_h of length at most size(h) reach: their inner products are at most the products
    of these; what is left of them, and its sum over all pairs of heads."""
    short, free = array(f"s_{name}", H), array(f"w_{name}", H, H)
    minors = z[h, a] * z[f, b] - z[f, a] * z[h, b]
    products = Bound(
        id=f"{name}_products", small=Sum(z[h, a] * z[f, a], FEATURES), power=2,
        large=size(h) * size(f) * reach**2,
        certificate=half * Sum(minors**2, FEATURES, INNER) + single.large * short[f]
        + short[h] * Sum(z[f, a] ** 2, FEATURES),
        by=(Definition(short[h], single.large - single.small), single, positive_omega, *by),
        because="Cauchy-Schwarz, by Lagrange's identity.",
    )
    left = Definition(free[h, f], products.large - products.small)
    return products, left, Sum(free[h, f], HEADS, (f, 1, H))


sig, gap, z = array("sigma", H), array("o", H), array("z", H, d)


def _variations(draw: Draw) -> None:
    for cell in draw.cells(tau):
        if mostly(draw):
            draw.put(tau, cell, draw.get(T.name, cell))


bounded_variation = Local("tau bounds T", r"$T_h \le \tau_h$", (), _variations,
                          ((sig, ">=0"),))
rows = (*tv.rows, tv.marks, tv.variation, *tv.parts)
moved = Definition(z[h, a], Sum(W[h, a, b] * Y[h, b], INNER))
averages_gap = Definition(gap[h], tv.dobrushin.large - tv.dobrushin.small)


def output(token: IndexedBase, row: IndexedBase) -> Definition:
    """The token that H heads with a bias make of a row of weights each."""
    heads = Sum(W[h, a, b] * row[h, j] * x[j, b], HEADS, INNER, tv.KEYS)
    return Definition(token[a], bias[a] + heads)


def heads_add(name: str, tau: IndexedBase, sign: Bound, below: tuple[Any, ...]
              ) -> tuple[Bound, Bound]:
    """|x' - x''| <= sum_h omega_h tau_h D, where tau >= 0 bounds the variations: `below` holds
    sigma = tau - T and why it is >= 0. One head, and all of them."""
    one = Bound(
        id=f"{name}_head", small=Sum(z[h, a] ** 2, FEATURES), large=(omega[h] * tau[h] * D) ** 2,
        certificate=Sum(Sum(K[h, c, b] * Y[h, b], INNER) ** 2, ROWS) + omega[h] ** 2 * (
            gap[h] + D**2 * sig[h] * (sig[h] + 2 * T[h])),
        by=(moved, averages_gap, norms, tv.dobrushin, tv.marks, *below),
        because=f"$|W v| \\le \\omega |v|$, and $|v| \\le T D \\le {latex(tau.label)} D$.",
    )
    products, left, all_left = together(
        name, one, lambda head: omega[head] * tau[head], D, z, by=(sign,))
    return one, Bound(
        id=name, small=Sum((X[a] - X_q[a]) ** 2, FEATURES),
        large=Sum(omega[h] * tau[h], HEADS) ** 2 * D**2, certificate=all_left,
        by=(left, output(X, P), output(X_q, Q), moved, tv.averages, products),
        because="The bias cancels, and the heads' differences add.",
    )


spare = Definition(sig[h], tau[h] - T[h])
nonnegative_tau = Bound(
    id="nonnegative_tau", small=Integer(0), large=tau[h], certificate=T[h] + sig[h],
    by=(spare, *rows, bounded_variation), because="A total variation is nonnegative.",
)
one_head, layer = heads_add("layer", tau, nonnegative_tau, (spare, bounded_variation))
softmax_head, softmax_layer = heads_add(
    "softmax_layer", tv.theta, tv.nonnegative_theta,
    (Definition(sig[h], tv.theta[h] - T[h]), tv.tanh_bound))

within, G, u, y = array("s'", m), array("o'", H), array("u", H, d), array("y_p", H, d)
inside_slack = Definition(within[j], radius**2 - Sum(x[j, a] ** 2, FEATURES))


def _radius(draw: Draw) -> None:
    if mostly(draw):
        rows, width = (range(1, size + 1) for size in draw.shape(x))
        most = max(sum(draw.get(x.name, (row, column)) ** 2 for column in width) for row in rows)
        draw.put(array(radius.name), (), least_root(most))


inside = Local("tokens in a ball", r"$|x_j| \le |\rho|$ for all tokens", (), _radius,
               ((within, ">=0"),))
mean = Definition(y[h, a], Sum(P[h, j] * x[j, a], tv.KEYS))
average = Bound(
    id="average", small=Sum(y[h, a] ** 2, FEATURES), large=radius**2,
    certificate=Sum(P[h, j] * within[j], tv.KEYS)
    + half * Sum(P[h, j] * P[h, l] * tv.distance(j, l), *tv.PAIRS),
    by=(mean, inside_slack, tv.rows[0], tv.nonnegative[0], inside),
    because="The square of a mean is the mean of the squares less the variance.",
)
moved_mean = Definition(u[h, a], Sum(W[h, a, b] * y[h, b], INNER))
mean_gap = Definition(G[h], average.large - average.small)
one_mean = Bound(
    id="one_mean", small=Sum(u[h, a] ** 2, FEATURES), large=(omega[h] * radius) ** 2,
    certificate=Sum(Sum(K[h, c, b] * y[h, b], INNER) ** 2, ROWS) + omega[h] ** 2 * G[h],
    by=(moved_mean, mean_gap, norms, average), because=r"$|W v| \le \omega |v|$.",
)
mean_products, mean_left, all_mean_left = together(
    "ball", one_mean, lambda head: omega[head], radius, u)
norm_slack = Symbol("epsilon", real=True)
norm_left = Definition(norm_slack, 1 - Sum(omega[h], HEADS))
total_norm = Local("norms of sum at most 1", r"$\sum_h \omega_h \le 1$",
                   signs=((array(norm_slack.name), ">=0"),))
ball = Bound(
    id="ball", small=Sum(Sum(u[h, a], HEADS) ** 2, FEATURES), large=radius**2,
    certificate=all_mean_left + radius**2 * norm_slack * (norm_slack + 2 * Sum(omega[h], HEADS)),
    by=(mean_left, norm_left, mean_products, total_norm, positive_omega),
    because="So the tokens stay in the ball.",
)
