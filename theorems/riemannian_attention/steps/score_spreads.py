"""RA11, spreads of scores: how far s_ij - s_kj can vary with the key j, for tokens within D."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isqrt

from flint import fmpq
from sympy import Expr, Indexed, IndexedBase, Rational, Sum, Symbol, latex

from theorems.assumptions.entries import signed
from theorems.assumptions.constructions import reflection, unit_vector
from theorems.assumptions.matrices import norm_at_most
from theorems.checker.exact import Draw, Generators, Rows, times
from theorems.riemannian_attention.steps.total_variation import mostly, tokens_within
from theorems.statement import Assumption, Bound, Definition, Local, array, symbols_of

n, d = symbols_of("n d")
i, k, j, l, a, b, c, p = symbols_of("i k j l a b c p")
half = Rational(1, 2)
FEATURES, ROWS = (a, 1, d), (p, 1, d)
S, x = array("S", n, n), array("x", n, d)
D, B, mu, rho, kappa = (Symbol(name, real=True) for name in ("D", "B", "mu", "rho", "kappa"))


def norm_up_to_sign(
    W: IndexedBase, rest: IndexedBase, size: Symbol | Indexed, *lead: Symbol
) -> Assumption:
    """|W v| <= |size| |v| for every v; in searches W^T W is mostly diagonal."""

    def impose(draw: Draw) -> None:
        width = draw.shape(W)[-1]
        for cell in draw.cells(W, len(lead)):
            length = draw.get(getattr(size, "base", size).name, cell[: _axes(size)])
            turned: Rows = [[int(r == s) for s in range(width)] for r in range(width)]
            if not isinstance(draw.source, Generators) and draw.source.rng.randrange(2):
                turned = reflection(draw, width)
            shares = [unit_vector(draw, 2) for _ in range(width)]
            kept = [[turned[r][s] * shares[s][0] for s in range(width)] for r in range(width)]
            lost = [[int(r == s) * shares[s][1] for s in range(width)] for r in range(width)]
            if mostly(draw):  # W^T W need not be diagonal
                basis = reflection(draw, width)
                kept, lost = times(kept, basis), times(lost, basis)
            for row, column in product(range(width), repeat=2):
                place = (*cell, row + 1, column + 1)
                draw.put(W, place, length * kept[row][column])
                draw.put(rest, place, length * lost[row][column])

    below = f"_{lead[0]}" if lead else ""
    text = f"$\\lVert {latex(W.label)}{below} \\rVert \\le |{latex(size)}|$"
    plain = norm_at_most(W, rest, size, *lead)
    return replace(plain, id=f"norm of {W}", text=text, impose=impose)


def _axes(size: Expr) -> int:
    return len(getattr(size, "indices", ()))


def step(one: Expr, other: Expr, entry: Expr) -> Expr:
    """Entry of x_one - x_other."""
    return x[one, entry] - x[other, entry]


def length(one: Expr, other: Expr) -> Expr:
    """|x_one - x_other|^2."""
    return Sum(step(one, other, a) ** 2, FEATURES)


apart = array("s", n, n)
slack = Definition(apart[i, j], D**2 - length(i, j))
diameter = tokens_within(D, apart, x)
double_difference = S[i, j] - S[k, j] - S[i, l] + S[k, l]

below = array("b", n, n, n)
row_slack = Definition(below[i, j, l], B - (S[i, j] - S[i, l]))
row_spread = Local("rows of spread B", "$s_{ij} - s_{il} \\le B$ for all $i$, $j$, $l$",
                   signs=((below, ">=0"),))
from_rows = Bound(
    id="from_rows", small=double_difference, large=2 * B, by=(row_slack, row_spread),
    certificate=below[i, j, l] + below[k, l, j],
    because="Each of the two rows contributes at most $B$.",
)

M, M_rest, row, column = array("M", d, d), array("K", d, d), array("r", n), array("c", n)
z, o = array("z", n, n, d), array("o", n, n)
bounded_M = norm_up_to_sign(M, M_rest, mu)
bilinear = Definition(S[i, j], kappa * Sum(x[i, a] * M[a, b] * x[j, b], FEATURES, (b, 1, d))
                      + row[i] + column[j])
image = Definition(z[j, l, a], Sum(M[a, b] * step(j, l, b), (b, 1, d)))
positive_mu, positive_kappa = (signed(array(name), ">=0") for name in ("mu", "kappa"))
product_form = kappa * Sum(step(i, k, a) * z[j, l, a], FEATURES)
image_slack = Definition(o[j, l], mu**2 * D**2 - Sum(z[j, l, a] ** 2, FEATURES))
shorter = Bound(
    id="shorter", small=Sum(z[j, l, a] ** 2, FEATURES), large=mu**2 * D**2,
    certificate=mu**2 * apart[j, l] + Sum(
        Sum(M_rest[p, b] * step(j, l, b), (b, 1, d)) ** 2, ROWS),
    by=(image, slack, bounded_M, diameter), because="$|M v| \\le \\mu |v|$.",
)
minors = step(i, k, a) * z[j, l, b] - step(i, k, b) * z[j, l, a]
dot_products = Bound(
    id="dot_products", small=double_difference, large=kappa * mu * D**2, power=2,
    certificate=kappa**2 * (mu**2 * D**2 * apart[i, k] + length(i, k) * o[j, l]
                            + half * Sum(minors**2, FEATURES, (b, 1, d))),
    by=(bilinear, image_slack, image, slack, shorter, diameter, positive_mu, positive_kappa),
    because=r"It is $\kappa (x_i - x_k)^\top M (x_j - x_l)$: Cauchy-Schwarz, by Lagrange's "
    "identity.",
)

F, F_rest, q = array("F", n, d, d), array("K", n, d, d), array("q", n, n)
metrics = norm_up_to_sign(F, F_rest, rho, i)


def seen(frame: IndexedBase, one: Expr, other: Expr) -> Expr:
    """|X_one (x_one - x_other)|^2, for the frame or its rest at token one."""
    return Sum(Sum(frame[one, p, a] * step(one, other, a), FEATURES) ** 2, ROWS)


squared = Definition(q[i, j], seen(F, i, j))
metric_distance = Bound(
    id="metric_distance", small=q[i, j], large=rho**2 * length(i, j), by=(squared, metrics),
    certificate=seen(F_rest, i, j),
    because=r"$v^\top G_i v = |F_i v|^2 \le g |v|^2$, $g = \rho^2$.",
)
gap = Definition(o[i, j], metric_distance.large - metric_distance.small)
metric_gaps = (gap, metric_distance, squared, slack, diameter)
query_side = Bound(
    id="query_side", small=double_difference, large=rho**2 * D**2,
    certificate=half * (q[i, j] + q[k, l] + o[k, j] + o[i, l]
                        + rho**2 * (apart[k, j] + apart[i, l])),
    by=(Definition(S[i, j], -half * q[i, j]), *metric_gaps),
    because="Only the squared distances at $(k, j)$ and $(i, l)$ count for it.",
)
symmetrised = Bound(
    id="symmetrised", small=double_difference, large=rho**2 * D**2,
    certificate=half * (half * (q[i, j] + q[j, i] + q[k, l] + q[l, k] + o[k, j] + o[j, k]
                                + o[i, l] + o[l, i]) + rho**2 * (apart[k, j] + apart[i, l])),
    by=(Definition(S[i, j], -half * half * (q[i, j] + q[j, i])), *metric_gaps),
    because="So for the average of the scores of both sides.",
)

far, rest, excess = array("delta", n, n), array("e", n, n), array("f", n, n)
positive_D, positive_rho, nonnegative_far = (
    signed(base, ">=0") for base in (array("D"), array("rho"), far)
)


def _distances(draw: Draw) -> None:
    """Nearly rho |x_i - x_j|, of either sign where none is assumed."""
    for cell in draw.cells(far):
        if mostly(draw):
            one, other = ([draw.get(x.name, (token, place)) for place in
                           range(1, draw.size(d) + 1)] for token in cell)
            square = sum((u - v) ** 2 for u, v in zip(one, other, strict=True))
            turned = 1 if far.name in draw.signs else draw.source.rng.choice((1, -1))
            draw.put(far, cell, turned * draw.get(rho.name, ()) * fmpq(isqrt(int(16 * square)), 4))


near = Local("distances in metrics of norm g", r"$\delta_{ij}^2 \le g |x_i - x_j|^2$, "
             r"$g = \rho^2$", (), _distances, ((rest, ">=0"),))
far_rest = Definition(rest[i, j], rho**2 * length(i, j) - far[i, j] ** 2)
at_most = Bound(
    id="at_most", small=far[i, j], large=rho * D, power=2,
    certificate=rest[i, j] + rho**2 * apart[i, j],
    by=(far_rest, near, slack, diameter, positive_D, positive_rho),
    because=r"So no distance exceeds $\rho D$.",
)
far_excess = Definition(excess[i, j], rho * D - far[i, j])
unsquared = Bound(
    id="unsquared", small=double_difference, large=2 * rho * D,
    certificate=far[i, j] + far[k, l] + excess[k, j] + excess[i, l],
    by=(Definition(S[i, j], -far[i, j]), far_excess, at_most, nonnegative_far),
    because="Only two distances count for it.",
)
