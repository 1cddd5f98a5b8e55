# %% [markdown]
# # Rank collapse
#
# A layer of attention replaces each token by an average over tokens. Averages are nearer to each
# other than what they average, so a stack of such layers draws its tokens together: the output has
# rank one. How fast, for which scores, and what prevents it? In particular: does it help to measure
# the distance between tokens in a metric of their own, as Riemannian attention does?
#
# | here | in a transformer |
# |---|---|
# | $\mathrm{osc}(X) = \max_{ij} \lvert x_i - x_j \rvert$ | how far apart the tokens are |
# | $s_{ij}$, $A = \mathrm{softmax}(s)$ | scores and attention of a head, query $i$, key $j$ |
# | $W$, or $T$ in code | $W_V W_O$: what is done to values |
# | $G_i$ with $s_{ij} = -\frac12 (x_i - x_j)^\top G_i (x_i - x_j)$ | the metric of token $i$ |
# | pure stack | layers without a residual stream, without a feed-forward part |
# | $B$, $\Delta$ | spread of a row of scores over keys, and of the difference of two rows |

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
from flint import arb
from reading import closing
from reading import pictures as draw
from reading.statements import clauses, number, table

from numerics.collapse import oscillation as collapse
from numerics.collapse import rates as collapse_rates
from numerics.collapse.balls import DotProduct, Geodesic
from numerics.collapse.rates import FIXED, METRICS, TOKENS, a_priori, families, spread_product
from numerics.collapse.stacks import Head, Layer, Run, simulate
from numerics.scores import geodesic_scores
from numerics.walks import softmax_walk
from paper_checks.papers import riemannian_attention as paper
from paper_checks.run import verify
from theorems import catalogue

IDS = ("RA11", "RA12", "RA13", "RA16", "RA17")
CLAIMS = (
    "flat-collapse", "row-stochastic-collapse", "structural-only", "heterogeneity-and-collapse"
)  # fmt: skip
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}

# %% [markdown]
# ## 1. What the theorems say
#
# RA11 bounds what one layer leaves of the spread of its tokens, for every family of scores; RA12
# says exactly how fast score spreads must grow with depth to prevent collapse; RA17 is about causal
# masks, RA16 about residual streams; RA13 is about a norm that is none.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# ## 2. Twelve tokens
#
# Twelve tokens in the plane, each with a metric of its own, under three kinds of stacks with
# $W = I$. Without a mask they meet after a few layers, all at once. Under a causal mask they are
# drawn to the first token, red, which sees only itself, in the end only by half at each layer. A
# residual stream, here $\frac12 x + \frac12 A x$, keeps half of every token as it was, and so at
# least about half of the spread once attention is nearly uniform.

# %%
rng = np.random.default_rng(3)
PLANE = rng.uniform(-1, 1, size=(12, 2))
WEIGHTS, DIRECTIONS = rng.uniform(0.5, 3, size=(12, 2)), rng.uniform(-1, 1, size=(12, 2, 1))
COLOURS = [draw.RED, *[draw.BLUE] * 11]


def moved(x: np.ndarray, kind: str) -> np.ndarray:
    scores = geodesic_scores(x, WEIGHTS, DIRECTIONS)
    mask = np.tri(12, dtype=bool) if kind == "causal" else None
    out = collapse.attention_step(x, scores[None], FIXED[None], mask).x
    return (x + out) / 2 if kind == "residual" else out


figure, panels = plt.subplots(3, 4, figsize=(12, 9), gridspec_kw={"hspace": 0.15, "wspace": 0.05})
for row, kind in zip(panels, ("pure", "causal", "residual"), strict=True):
    x = PLANE
    for layer, axes in enumerate(row):
        for point, colour in zip(draw.tidy(x), COLOURS, strict=True):
            axes.plot(*point, "o", color=colour, ms=5)
        width = number(float(collapse.osc(x)))
        draw.bare(axes, (-1.1, 1.1), (-1.1, 1.1), f"{kind}, layer {layer}: osc {width}")
        x = moved(x, kind)
plt.show()

# %% [markdown]
# ## 3. One layer
#
# Two tokens become two averages of the same tokens. They differ by at most $\mathrm{osc}(X)$ times
# the total variation between their two rows of attention (RA11.dobrushin). And two softmax rows
# differ little if their scores do, up to a constant: by at most $\tanh(\Delta / 4)$, where $\Delta$
# is the spread of the difference of scores over the keys (RA11.tanh). The dots are random pairs of
# rows with eight keys; the rings attain the bound, as there is a pair that does for every number of
# keys (RA11.sharp).

# %%
figure, axes = plt.subplots(figsize=(8.6, 4.6))
FINE = np.linspace(0, 12, 121)
axes.plot(FINE, draw.tidy(np.tanh(FINE / 4)), color="black", lw=1.5, label=r"$\tanh(\Delta/4)$")
PAIRS = rng.standard_normal((400, 2, 8)) * rng.uniform(0.1, 2.5, size=(400, 1, 1))
spread = collapse.score_spread(PAIRS).difference
axes.plot(draw.tidy(spread, 4), draw.tidy(collapse.dobrushin(softmax_walk(PAIRS)), 4), ".",
          color=draw.BLUE, ms=4, label="random pairs of rows")  # fmt: skip
RISING = np.array([1.0, 2.0, 4.0, 6.0, 8.0, 10.0])
extreme = np.zeros((len(RISING), 2, 8))
extreme[:, 0, 0] = math.log(7) - RISING / 2
extreme[:, 1, 0] = math.log(7) + RISING / 2
found = collapse.dobrushin(softmax_walk(extreme))
axes.plot(RISING, draw.tidy(found, 4), "o", mfc="none", color=draw.RED, label="extremal pairs")
axes.set(xlabel=r"$\Delta$", ylabel="total variation of the two rows", xlim=(0, 12), ylim=(0, 1.03))
axes.legend(fontsize=10, loc="lower right")
plt.show()

# %% [markdown]
# So a layer leaves at most $\sum_h \lVert W^h \rVert \tanh(\Delta_h / 4)$ of the spread
# (RA11.layer). What is special about a family of scores is only how $\Delta$ depends on the tokens.
# For dot products $\Delta \le \lVert M \rVert \, \mathrm{osc}^2$, and for squared distances in
# *any* metrics of norm at most $g$, different from token to token or not, $\Delta \le g \,
# \mathrm{osc}^2$. Hence $\mathrm{osc}' \le c \, \mathrm{osc}^3$: near tokens have nearly equal
# scores, attention becomes nearly uniform, and the next spread is a cube. Distances that are not
# squared have $\Delta \le 2 \sqrt g \, \mathrm{osc}$, and the square.
#
# ## 4. Ten layers
#
# After ten layers $\mathrm{osc}$ is about $e^{-59049 a}$ with some $a$, since $3^{10} = 59049$; no
# floating-point number is as small. The runs below keep the differences of tokens in ball
# arithmetic: every number comes with a certified interval. The axis shows $-\ln \mathrm{osc}$ on a
# logarithmic scale, so that doubly exponential collapse is a straight line, of slope $\ln 3$ a
# layer for cubic and $\ln 2$ for quadratic collapse. Dashed: the bound, computed before the run
# from norms and the first spread alone. *Normalised* tokens are put back on a sphere after every
# layer.


# %%
def layers_of(score, depth: int, **options) -> list[Layer]:
    return [Layer((Head(score, FIXED),), **options)] * depth


def exponents(values) -> tuple[list[int], list[float]]:
    """Layers and -ln of the values that are well below 1."""
    logs = [(l, -float(value.log())) for l, value in enumerate(values) if value < 0.8]
    return [l for l, _ in logs], [float(f"{v:.6g}") for _, v in logs]


DEPTH = 10
CAP = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.96, 0.28]])
STACKS = {
    name: (TOKENS, layers_of(families()[name][0], DEPTH))
    for name in ("dot product", "homogeneous", "heterogeneous", "unsquared")
}
STACKS["normalised"] = (CAP, layers_of(Geodesic(FIXED), DEPTH, radius=1.0))
RUNS: dict[str, Run] = {name: simulate(*stack) for name, stack in STACKS.items()}
SHADES = (draw.BLUE, draw.GREEN, draw.RED, draw.ORANGE, "black")

figure, axes = plt.subplots(figsize=(9.6, 5.6))
for (name, run), colour in zip(RUNS.items(), SHADES, strict=True):
    axes.semilogy(*exponents(run.osc), "o-", color=colour, ms=4, lw=1.3, label=name)
    axes.semilogy(*exponents(a_priori(run.osc[0], STACKS[name][1])), "--", color=colour, lw=1)
axes.set(xlabel="layer", ylabel=r"$-\ln \, \mathrm{osc}$", xlim=(0, DEPTH + 0.3))
axes.legend(fontsize=10, loc="upper left")
axes.set_title("Collapse of pure stacks; dashed, what the bound leaves", fontsize=12)
plt.show()
below = True
for name, run in RUNS.items():
    bounds = a_priori(run.osc[0], STACKS[name][1])
    below &= all(osc <= bound for osc, bound in zip(run.osc, bounds, strict=True))
print("every spread of every run lies below its bound:", below)

# %% [markdown]
# The order of collapse is read off the runs: $\ln \mathrm{osc}_{l+1} / \ln \mathrm{osc}_l$, which
# tends to the order in proportion to $1 / \lvert \ln \mathrm{osc}_l \rvert$. The slope of that
# approach, with the range of its local slopes, is measured too. Symmetrised scores average the
# metrics of query and key.


# %%
def rates_table(found) -> None:
    table(
        "what is measured | limit | last | slope of the approach | expected",
        (
            f"{rate.name} | {rate.target:.4g} | {rate.values[-1]:.5f} | "
            + ("attained" if rate.slope is None
               else f"{rate.slope:.2f} in [{rate.low:.2f}, {rate.high:.2f}]")
            + f" | {rate.expected:g}"
            for rate in found
        ),
    )  # fmt: skip
    print("all as expected:", all(rate.ok for rate in found))


rates_table(collapse_rates.unmasked_rates())

# %% [markdown]
# ## 5. What the bound does not say
#
# Collapse follows for $\sum_h \lVert W^h \rVert \le 1$, and otherwise only within a basin. With
# $\lVert W \rVert = 2$ and weights in the ratio 3 to 1, two tokens come no nearer, ever
# (RA11.frozen): $\tanh(\frac12 \ln 3) = \frac12$. In the metric $G = 1$ this happens at
# $\mathrm{osc}^2 = 2 \ln 3$. Nearer tokens collapse, cubically; those farther apart are driven
# apart.

# %%
CRITICAL = math.sqrt(2 * math.log(3))
figure, axes = plt.subplots(figsize=(8.6, 4.4))
for width, colour in ((1.3, draw.BLUE), (CRITICAL, "black"), (1.6, draw.RED)):
    double = [Layer((Head(Geodesic(np.eye(1)), 2 * np.eye(1)),))] * 6
    run = simulate(np.array([[0.0], [width]]), double)
    axes.semilogy(range(7), [float(f"{float(v):.6g}") for v in run.osc], "o-", color=colour, ms=4,
                  label=rf"$\mathrm{{osc}}_0 = {width:.3f}$")  # fmt: skip
axes.set(xlabel="layer", ylabel="osc", ylim=(1e-3, 200))
axes.legend(fontsize=10, loc="upper left")
axes.set_title(r"$\Vert W \Vert = 2$, one metric $G = 1$", fontsize=12)
plt.show()
half, x = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.0], [1.0]])
widths = []
for _ in range(50):
    x = 2 * half @ x
    widths.append(float(x[1, 0] - x[0, 0]))
print("A = [[3/4, 1/4], [1/4, 3/4]], W = 2, osc over 50 layers, exactly:", set(widths))

# %% [markdown]
# ## 6. The logarithmic law
#
# With $\lVert W \rVert \le 1$ the only way out, in a pure stack, is to let scores grow with the
# depth. If layer $l$ has row spreads up to $B_l$, every such stack collapses iff $\sum_l e^{-B_l} =
# \infty$, or some $B_l = 0$ (RA12.criterion). The threshold is $B_l = \ln l$. Two tokens at spreads
# $B_l = c \ln l$ keep the share $\prod_l \tanh(B_l / 2) = \prod_l (l^c - 1)/(l^c + 1)$, in closed
# form for $c = 1, 2, 3$ (RA12.products). Lines are the products; dots are runs of a stack with the
# one metric $G = \lambda_l I$, $\lambda_l = 2 c \ln l / \mathrm{osc}_l^2$.

# %%
LENGTHS = sorted({round(10 ** (k / 8)) for k in range(3, 33)})
RUN_LENGTH = 100
PAIR = np.array([[0.0], [1.0]])
CURVES = {}
figure, axes = plt.subplots(figsize=(9.6, 5.4))
for c, colour in zip((0.5, 1, 2, 3), (draw.RED, draw.ORANGE, draw.BLUE, draw.GREEN), strict=True):
    shares = [float(f"{float(spread_product(c, L)):.6g}") for L in LENGTHS]
    axes.loglog(LENGTHS, shares, color=colour, lw=1.5, label=f"$c = {c:g}$")
    CURVES[c] = simulate(PAIR, collapse_rates.sharpened_layers(c, RUN_LENGTH))
    marks = [2, 3, 5, 9, 16, 30, 55, RUN_LENGTH]
    dots = [float(f"{float(CURVES[c].osc[L - 1]):.6g}") for L in marks]
    axes.loglog(marks, dots, "o", color=colour, ms=4)
axes.set(xlabel="layers $L$", ylabel="share of osc that is left", ylim=(1e-9, 2), xlim=(2, 1e4))
axes.legend(fontsize=10, loc="lower left")
axes.set_title(r"Row spreads $B_l = c \ln l$: collapse up to $c = 1$, none above", fontsize=12)
plt.show()
inside = all(
    run.osc[L - 1].overlaps(spread_product(c, L)) for c, run in CURVES.items()
    for L in range(1, RUN_LENGTH + 1)
)  # fmt: skip
print("product inside the certified interval of the run, at every layer and c:", inside)

# %% [markdown]
# The products against their closed forms, to the digits shown. For $c = 2$ the limit is
# $\pi / \sinh \pi$; what is left at $L$ lies above it by a share of about $2 / L$.

# %%
rows = []
for L in (10, 100, 1000, 10000):
    one, two, three = (spread_product(c, L) for c in (1, 2, 3))
    limit = arb.pi() / arb.pi().sinh()
    closed = arb(2 * (L * L + L + 1)) / (3 * L * (L + 1))
    cells = [f"{float(one * L * (L + 1)):.12f}", f"{float(two):.8f}",
             f"{float((two / limit - 1) * L):.4f}", f"{float(three):.12f}",
             f"{float(closed):.12f}"]  # fmt: skip
    rows.append(f"{L} | " + " | ".join(cells))
table(
    r"$L$ | $c = 1$: product $\times L (L + 1)$ | $c = 2$: product | $(\text{product} / "
    r"(\pi / \sinh \pi) - 1) L$ | $c = 3$: product | $2 (L^2 + L + 1) / (3 L (L + 1))$",
    rows,
)
print(f"pi / sinh(pi) = {float(arb.pi() / arb.pi().sinh()):.8f}, 2/3 = {2 / 3:.8f}")
rates_table(collapse_rates.product_rates())

# %% [markdown]
# The threshold is finer than the constant of the logarithm. At $B_l = \ln l + \ln \ln l$ the sum
# $\sum 1/(l \ln l)$ still diverges, and tokens collapse, very slowly: like $1 / \ln^2 L$.

# %%
PLACES = (100, 10_000, 1_000_000)
terms = np.arange(3, PLACES[-1] + 1) * np.log(np.arange(3, PLACES[-1] + 1))
logs = np.cumsum(np.log1p(-2 / (terms + 1)))
table(
    r"$L$ | share left at $B_l = \ln l + \ln \ln l$ | times $\ln^2 L$",
    (f"{L} | {math.exp(logs[L - 3]):.4f} | {math.exp(logs[L - 3]) * math.log(L) ** 2:.3f}"
     for L in PLACES),
)  # fmt: skip

# %% [markdown]
# ## 7. Do metrics of their own help?
#
# The open problem of the paper asks whether metrics that differ from token to token prevent rank
# collapse. Of metrics bounded uniformly in depth, none do: section 4 shows them collapse cubically,
# and RA11.geodesic does not ask whether metrics differ. What prevents collapse is growth: the
# metric of the runs of section 6 is the same for all tokens, and for $c > 1$ it grows just fast
# enough. So to differ is neither sufficient nor necessary.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6))
FORTY = layers_of(families()["heterogeneous"][0], 6)
for x, layers, name, colour in (
    (TOKENS, FORTY, "metrics differ, bounded", draw.RED),
    (PAIR, collapse_rates.sharpened_layers(2, RUN_LENGTH), "one metric, $c = 2$", draw.BLUE),
    (PAIR, collapse_rates.sharpened_layers(3, RUN_LENGTH), "one metric, $c = 3$", draw.GREEN),
):
    run = simulate(x, layers)
    shares = [float(f"{float(v / run.osc[0]):.6g}") for v in run.osc]
    shown = [(l, v) for l, v in enumerate(shares) if v > 1e-9]
    left.semilogy(*zip(*shown, strict=True), color=colour, lw=1.5, label=name)
left.set(xlabel="layer", ylabel="share of osc that is left", ylim=(1e-6, 2))
left.legend(fontsize=10, loc="center right")
left.set_title("What is left", fontsize=12)
for c, colour in ((2, draw.BLUE), (3, draw.GREEN)):
    sizes = [2 * c * math.log(l) / float(CURVES[c].osc[l - 2]) ** 2
             for l in range(2, RUN_LENGTH + 1)]  # fmt: skip
    right.plot(range(2, RUN_LENGTH + 1), draw.tidy(sizes, 3), color=colour, label=f"$c = {c}$")
right.plot(range(2, RUN_LENGTH + 1), draw.tidy(2 * np.log(np.arange(2, RUN_LENGTH + 1)), 3), "--",
           color="black", lw=1, label=r"$2 \ln l$")  # fmt: skip
right.set(xlabel="layer $l$", ylabel=r"$\lambda_l$", xlim=(0, RUN_LENGTH))
right.legend(fontsize=10, loc="upper left")
right.set_title(r"The one metric $\lambda_l I$ that prevents it", fontsize=12)
plt.show()

# %% [markdown]
# If $\mathrm{osc}_l$ stays away from 0 and the largest norm $g_l$ of the metrics does not fall,
# then $g_l - (2 / \mathrm{osc}_0^2) \ln l \to \infty$ (RA12.growth): the dashed curve, for
# $\mathrm{osc}_0 = 1$, must be left behind by every such stack. It is necessary, not sufficient.
#
# ## 8. Causal masks and residual streams
#
# Under a causal mask the second token sees two tokens, and when all are near each other it gives
# half of its weight to each. So its distance from the first token halves at every layer, no faster
# and no slower (RA17): exponential, never doubly exponential, whatever the scores. If the second
# token equals the first, the third decides, and the ratio is $1/3$. With a bias of slope $m$
# against distance (ALiBi) the ratio is $1 / (1 + e^{-m})$.

# %%
SLOPE = 0.75
TWICE = [0, 0, 1, 2, 3]
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.8))
for x, metrics, slope, base, name, colour in (
    (TOKENS, METRICS, SLOPE, 1 / (1 + math.exp(-SLOPE)), r"ALiBi, $m = 0.75$", draw.GREEN),
    (TOKENS, METRICS, 0.0, 1 / 2, r"$x_2 \neq x_1$", draw.BLUE),
    (TOKENS[TWICE], METRICS[TWICE], 0.0, 1 / 3, r"$x_2 = x_1 \neq x_3$", draw.RED),
):
    stack = [Layer((Head(Geodesic(metrics), FIXED, slope),), causal=True)] * 24
    logs = simulate(x, stack).first_logs / math.log(10)
    left.plot(range(25), draw.tidy(logs, 5), "o", color=colour, ms=3.5, label=name)
    line = logs[-1] + (np.arange(25) - 24) * math.log10(base)
    left.plot(range(25), draw.tidy(line, 5), color=colour, lw=1)
left.set(xlabel="layer", ylabel=r"$\log_{10} \max_i |x_i - x_1|$", xlim=(0, 24.5))
left.legend(fontsize=10, loc="lower left")
left.set_title("Causal: one ratio a layer; lines have the slopes 1/2, 1/3, ALiBi's", fontsize=12)


def stream(values) -> list[Layer]:
    score = DotProduct(4 * FIXED)
    return [Layer((Head(score, value * FIXED),), residual=1.0) for value in values]


DEEP = np.arange(1, 121)
for values, name, colour in (
    (np.full(120, -0.9), r"$W_l = -0.9 I$", draw.RED),
    (-0.9 / DEEP**2, r"$W_l = -0.9 I / l^2$", draw.BLUE),
):
    run = simulate(TOKENS, stream(values))
    right.loglog(DEEP, draw.tidy(np.exp(run.logs[1:]), 5), color=colour, lw=1.5, label=name)
    kept = np.cumprod([max(0.0, float(1 - factor)) for factor in run.factors])
    if kept[-1] > 0.01:
        right.loglog(DEEP, draw.tidy(math.exp(run.logs[0]) * kept, 5), "--", color=colour, lw=1,
                     label="what RA16 guarantees")  # fmt: skip
right.loglog(DEEP, draw.tidy(1.2 / np.sqrt(DEEP), 5), ":", color="black", lw=1, label="slope −1/2")
right.set(xlabel="layer", ylabel="osc")
right.legend(fontsize=10, loc="lower left")
right.set_title("Residual streams", fontsize=12)
plt.show()
rates_table(collapse_rates.causal_rates())

# %% [markdown]
# In a residual stream $X' = X + A X W$ a layer takes at most the share $\lVert W \rVert \tau(A)$ of
# the spread, so collapse is excluded if these have a finite sum (RA16). It is not excluded
# otherwise: with $W = -0.9 I$ tokens still approach each other, but since $\tau$ is about
# $\mathrm{osc}^2$, the spread falls only like $l^{-1/2}$.
#
# ## 9. A norm that is none
#
# The known analysis of rank collapse (Dong, Cordonnier and Loukas) measures distance from rank one
# by $\sqrt{\lVert X \rVert_1 \lVert X \rVert_\infty}$, the geometric mean of the largest column and
# row sums of $\lvert X \rvert$ (ICML 2021). The composite is submultiplicative.
# The argument for a single head needs no triangle inequality, and no more than that is said of it
# here. To add up heads one is needed, and there is none (RA13.not_a_norm). Nor is the composite
# contracted by averaging, as $\mathrm{osc}$ is (RA13.averaging).


# %%
def composite(x: np.ndarray) -> str:
    square = int(np.abs(x).sum(0).max() * np.abs(x).sum(1).max())
    root = math.isqrt(square)
    return str(root) if root**2 == square else rf"$\sqrt{{{square}}}$"


rows = []
for n in (2, 3, 4, 9):
    E = np.zeros((n, n), int)
    E[0] = 1
    first = np.eye(n, dtype=int)[:, :1]
    averaged = np.repeat(first[:1], n, axis=0)  # A = 1 e_1^T applied to e_1
    cells = map(composite, (E, E.T, E + E.T, first, averaged))
    rows.append(f"{n} | " + " | ".join(cells))
table(r"$n$ | $E$, a row of ones | $E^\top$ | $E + E^\top$ | $e_1$ | $A e_1$, $A = 1 e_1^\top$",
      rows)  # fmt: skip

# %% [markdown]
# The repair keeps the number of heads $H$ and a constant $\beta$ made of the two norms apart
# (RA13.multi_head); or one works with $\mathrm{osc}$ and adds norms of heads, as RA11.layer does.
#
# ## 10. The derivations

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ## 11. In floating point, with a bound, and false twins

# %%
REPORT = verify(IDS, stress=False)
RECORDS = {record.id: record for record in REPORT.theorems}
closing.in_floating_point(RECORDS)

# %%
closing.twins(THEOREMS, RECORDS, 0)

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 12. What the paper claims, and what is true

# %%
closing.verdicts(RECORDS, CLAIMS, paper)

# %% [markdown]
# The open problem, with its hypotheses. **Pure stacks, without mask, softmax over all keys, value
# maps with $\sum_h \lVert W^h \rVert \le 1$, metrics bounded uniformly in depth** (as arrays, or as
# fields on the ball that the tokens do not leave): they collapse, doubly exponentially, whether
# metrics differ from token to token or not; likewise for larger value maps inside the basin. With
# metrics that grow, collapse is prevented exactly when score spreads beat $\ln l$ in the sense of
# $\sum_l e^{-B_l} < \infty$, and one metric for all tokens can do that. Outside these hypotheses
# collapse can fail or slow down for reasons that have nothing to do with metrics: larger value
# maps, residual streams, causal masks.
#
# The premise, that dot products make the rank collapse doubly exponentially: true of row-stochastic
# averaging, without a mask, and not of dot products in particular. The published sum over heads
# uses a triangle inequality that fails; the bound above does without.
