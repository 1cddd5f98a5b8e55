# %% [markdown]
# # What Riemannian scores can and cannot factor, and what they cost
#
# Standard attention scores a query against a key by an inner product. The second paper replaces it
# by a distance, and gives every token a metric of its own: token $i$ measures the way to token $j$
# with a matrix $G_i$. Two things are claimed for such scores. They cannot be written as
# $Q K^\top$ with a width of order $d$, so they are out of reach of the usual head. And with
# metrics of low rank they cost next to nothing. Both can be decided exactly, and this notebook does
# so.
#
# | here | in a transformer |
# |---|---|
# | $x_i$, column vector of width $d$ | token $i$, row $i$ of $X$ |
# | metric $G_i$, positive definite | how lengths are measured at token $i$ |
# | score $S_{ij} = -\frac12 (x_i - x_j)^\top G_i (x_i - x_j)$ | logit of query $i$ and key $j$ |
# | $Q K^\top$ with inner width $w$ | logits of one head with queries and keys of width $w$ |
# | $\mathrm{rank}\, S$ | the least such $w$ |
# | $S C$, $C = I - \frac1n \mathbf{1} \mathbf{1}^\top$ | what softmax sees: rows up to a constant |
# | $D_i + U_i U_i^\top$, $U_i$ of $r$ columns | a metric that a layer can afford |
# | $N = \binom{d+2}{2} = (d+1)(d+2)/2$ | number of quadratic features of a token |
#
# Everything shown below as a statement, a formula or a verdict comes from the theorem objects and
# from checks that run here.

# %%
from fractions import Fraction
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import sympy
from flint import fmpq, fmpq_mat, fmpz_mat
from reading import closing
from reading import pictures as draw
from reading.statements import (
    claims,
    clauses,
    computed,
    number,
    outcome,
    prose,
    results,
    show,
    table,
)
from reading.twins import step_of, values

from numerics.metrics import LowRankMetric, pair_distances2
from numerics.properties.woodbury import Sample, exact_solution
from numerics.scores import costs
from numerics.scores.integer_scores import integer_scores, score_rank_exact
from numerics.scores.tables import STATED
from paper_checks import formulas
from paper_checks.claims import owner
from paper_checks.papers import riemannian_attention as paper
from paper_checks.run import check_theorem
from paper_checks.uses import settle_uses, with_uses
from theorems import catalogue

WANTED = ("RA1", "RA2", "RA3", "RA4", "RA5", "RA6", "RA7", "RA15", "RA18")
IDS = tuple(identifier for identifier in WANTED if identifier in catalogue.CATALOGUE)
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}

# %% [markdown]
# ## 1. Tokens with metrics of their own
#
# Ten tokens in the plane. The curve around a token is the unit circle of its metric: the points at
# distance 1, as this token sees it. In the first panel all tokens agree. In the second each has its
# own unit of length, in the third its own unit along each axis, in the fourth anything. The last
# three are all heterogeneous. The rank of the scores, computed exactly, tells them apart:
# $d + 2 = 4$ for one metric, and still 4 for different units of length.

# %%
GRID = np.array([[0, 0], [2, 1], [4, 0], [1, 3], [3, 3], [5, 2], [0, 5], [2, 5], [4, 5], [6, 4]])
UNITS, AXES = np.arange(1, 11), np.array([[k % 4 + 1, (3 * k) % 7 + 1] for k in range(10)])
SPIKES = np.array(
    [[1, 0], [0, 2], [1, 1], [2, -1], [1, 2], [-1, 2], [2, 1], [0, 1], [2, 2], [-2, 1]]
)
EYE = np.eye(2, dtype=np.int64)
FIELDS = {
    "one metric $G$": np.repeat([[[3, 1], [1, 2]]], 10, axis=0),
    r"conformal, $\lambda_i I$": UNITS[:, None, None] * EYE,
    r"diagonal, $\mathrm{diag}(D_i)$": AXES[:, :, None] * EYE,
    r"$I + u_i u_i^\top$": EYE + SPIKES[:, :, None] * SPIKES[:, None, :],
}


def unit_circle(axes: plt.Axes, spot: np.ndarray, metric: np.ndarray, size: float = 0.8) -> None:
    """The points at distance `size` in a metric."""
    turn = np.linspace(0, 2 * np.pi, 60)
    frame = np.linalg.cholesky(np.asarray(metric, float))
    ring = spot + size * np.linalg.solve(frame.T, [np.cos(turn), np.sin(turn)]).T
    axes.add_patch(plt.Polygon(draw.tidy(ring), facecolor=draw.PALE, edgecolor=draw.BLUE, lw=1))
    axes.plot(*spot, "o", color="black", ms=3)


figure, panels = plt.subplots(1, 4, figsize=(14, 3.6))
for axes, (name, metrics) in zip(panels, FIELDS.items(), strict=True):
    for spot, metric in zip(GRID, metrics, strict=True):
        unit_circle(axes, spot, metric)
    rank = score_rank_exact(GRID, metrics).rank
    draw.bare(axes, (-1, 7), (-1, 6), f"{name}\nrank of 10 x 10 scores: {rank}")
plt.show()

# %% [markdown]
# ## 2. What the theorems say
#
# RA1 bounds the rank of scores by the number of matrices that span the metrics, and says when the
# bound is attained. RA2 gives tokens and metrics that reach the largest rank, for every $d$. RA3
# goes through families of metrics. RA4 says what softmax leaves of all this, RA5 treats distances
# that are not squared, RA6 and RA7 count. RA15 and RA18 ask two more questions about such scores:
# when attention is reversible, and when $\exp S$ is a kernel. Each theorem is a list of clauses
# with permanent names.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# The run whose results are read from here on: each theorem and all that it uses, with derivations,
# exact instances, false twins, and comparisons in floating point.

# %%
records = [check_theorem(identifier, stress=False) for identifier in with_uses(IDS)[0]]
RECORDS = {record.id: record for record in settle_uses(records)}
results(RECORDS)

# %% [markdown]
# ## 3. The rank spectrum
#
# Expand the square: $S_{ij}$ is a row term, plus $d$ terms linear in the key, plus one term for
# each matrix that is needed to span the metrics. So $S = Q K^\top$ with width $1 + d + g$, where
# $g$ is the dimension of the span of the metrics (RA1.upper_bound), and for any positive definite
# metrics with this span the width is needed by almost all tokens (RA1.attained). "Not of the form
# $Q K^\top$" can only mean: not with a small width. What counts is $g$, not whether the metrics
# differ. Different units of length have $g = 1$, as one metric has. Only metrics that fill a space
# of dimension of order $d^2$ give a rank of order $d^2$.
#
# The whole table, recomputed by the run: exact ranks of drawn integer scores at every $d$ from 1 to
# 12, each beside the formula that the theorem states.

# %%
computed(RECORDS["RA3"])

# %% [markdown]
# Drawn against $d$. Lines are the formulas, markers the exact ranks of the table. Grey: rank $n$ of
# $n = N + 1$ tokens, which distances that are not squared have even for one flat metric (section
# 6). With $n$ tokens no rank exceeds $n$: while $n$ is of order $d$, everything factors.

# %%
ROWS = {tuple(row[:4]): row for found in RECORDS["RA3"].tables for row in found.rows}
CURVES = (  # family, r, colour, marker, points by which the label is moved
    ("D + U U^T, symmetrised", "", draw.RED, "s", 0),
    ("D + U U^T, query", "", draw.RED, "o", 0),
    ("shared core, query", "3", "#CC79A7", "o", -5),
    ("diagonal, symmetrised", "", draw.GREEN, "s", 0),
    ("diagonal, query", "", draw.GREEN, "o", -1),
    ("conformal, symmetrised", "", draw.BLUE, "s", 5),
    ("conformal, query", "", draw.BLUE, "o", 3),
    ("bilinear, bilinear", "", draw.ORANGE, "o", -3),
)
FINE, d_, r_ = np.linspace(1, 12, 89), *sympy.symbols("d r")
figure, axes = plt.subplots(figsize=(11, 6.4))
for key, r, colour, marker, shift in CURVES:
    stated = STATED[key]
    row = ROWS[stated.metrics, stated.scores, r, "$S$"]
    widths, ranks = zip(*((d, int(v)) for d, v in enumerate(row[5:], 1) if v), strict=True)
    formula = sympy.lambdify((d_, r_), sympy.sympify(stated.rank))
    along = FINE[widths[0] <= FINE]
    axes.plot(along, draw.tidy(formula(along, int(r or 0))), color=colour, lw=1.3,
              ls="--" if marker == "s" else "-")  # fmt: skip
    axes.plot(widths, ranks, marker, color=colour, ms=5)
    text = f"{stated.metrics}, {stated.scores}{', $r = ' + r + '$' if r else ''}: {row[4]}"
    axes.annotate(text, (12, ranks[-1]), (8, shift), textcoords="offset points", color=colour,
                  va="center", fontsize=10)  # fmt: skip
(unsquared,) = (row for row in ROWS.values() if row[0].startswith("$n ="))
axes.plot(range(1, 13), [int(v) for v in unsquared[3:]], "x", color=draw.GREY, ms=6)
axes.set(xlabel="width $d$", ylabel="rank of the scores", yscale="log", xlim=(0.7, 12.12))
axes.set_xticks(range(1, 13))
axes.set_title("Ranks of scores: one-sided (solid) and symmetrised (dashed)", fontsize=12)
plt.show()

# %% [markdown]
# The claim is true of the red families and of no other. Tokens with metrics $\lambda_i I$ or
# $\mathrm{diag}(D_i)$, or with metrics that differ only within a shared subspace of few dimensions,
# have scores of width of order $d$, and a head with somewhat wider queries and keys computes them
# exactly. Every bilinear score $x_i^\top G_i x_j$ has width $d$ whatever the metrics.
#
# ## 4. The certificate
#
# A formula for the generic rank needs one example at every $d$ where it is attained. The tokens are
# the *principal lattice* $0, e_a, 2 e_a, e_a + e_b$, as many as there are quadratic features, with
# metrics $I$, $I$, $I + e_a e_a^\top$, $I + (e_a + e_b)(e_a + e_b)^\top$. At $d = 2$:


# %%
def lattice(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens (N, d) and the vectors v (N, d) of the metrics I + v v^T."""
    unit = np.eye(d, dtype=np.int64)
    sums = np.array([unit[a] + unit[b] for a, b in combinations(range(d), 2)]).reshape(-1, d)
    tokens = np.concatenate([0 * unit[:1], unit, 2 * unit, sums])
    return tokens, np.concatenate([0 * unit[:1], 0 * unit, unit, sums])


def lattice_scores(d: int) -> np.ndarray:
    """Q = -2 S of the lattice, in integers."""
    tokens, v = lattice(d)
    return integer_scores(tokens, np.eye(d, dtype=np.int64) + v[:, :, None] * v[:, None, :])


def determinant(rows: np.ndarray) -> int:
    return int(fmpz_mat([[int(value) for value in row] for row in rows]).det())


spots, spikes = lattice(2)
figure, axes = plt.subplots(figsize=(4.4, 4.2))
for spot, v in zip(spots, spikes, strict=True):
    unit_circle(axes, spot, EYE + np.outer(v, v), 0.4)
draw.bare(axes, (-0.6, 2.6), (-0.6, 2.6), "The principal lattice at $d = 2$")
plt.show()

# %%
Q = lattice_scores(2)
show("$$" + values(Q=[[fmpq(int(value)) for value in row] for row in Q])[0] + "$$")
print("det Q =", determinant(Q), "= (-1)^3 * 2 * 2^7:", determinant(Q) == (-1) ** 3 * 2 * 2**7)

# %% [markdown]
# The determinant is not 0, so these $6 \times 6$ scores factor through no width below 6. For every
# $d$ it is $(-1)^{d+1}\, d\, 2^{N+1}$, a product of two determinants: that of the key features,
# $2^d$, since Newton's basis $1, y_a, y_a (y_a - 1), y_a y_b$ has a triangular matrix on the
# lattice, and that of the query features. Checked here against exact determinants:

# %%
table(
    r"$d$ | $N$ | $\det Q$ | $(-1)^{d+1}\, d\, 2^{N+1}$",
    (f"{d} | {(N := (d + 1) * (d + 2) // 2)} | {(found := determinant(lattice_scores(d)))} | "
     f"{'equal' if found == (-1) ** (d + 1) * d * 2 ** (N + 1) else 'DIFFERS'}"
     for d in range(1, 13)),
)  # fmt: skip

# %% [markdown]
# ## 5. What softmax leaves
#
# Softmax does not see a constant added to a row of scores. So a head need not reproduce $S$; any
# $S + u \mathbf{1}^\top$ will do, and the least rank among these is that of the centred scores
# $S C$ (RA4.centred). One width is saved, and never more: on the lattice $N - 1$ are needed and
# suffice (RA4.invertible). At $d = 2$, exactly: subtract the row means and factor.

# %%
centred = fmpq_mat([[fmpq(-int(v), 2) for v in row] for row in Q])
means = [sum((centred[i, j] for j in range(6)), fmpq(0)) / 6 for i in range(6)]
centred = fmpq_mat([[centred[i, j] - means[i] for j in range(6)] for i in range(6)])
reduced, width = centred.rref()
pivots = [next(j for j in range(6) if reduced[row, j]) for row in range(width)]
queries = fmpq_mat([[centred[i, j] for j in pivots] for i in range(6)])
keys = fmpq_mat([[reduced[row, j] for j in range(6)] for row in range(width)])
print("rank S =", fmpz_mat(Q.tolist()).rank(), " rank S C =", width)
print(f"S - (row means) = Q K^T with width {width}, exactly:", queries * keys == centred)

# %% [markdown]
# A causal mask does not help the head either. Put $N$ keys first and $N$ queries after them: every
# query sees every key, and the width of this block is needed (RA4.causal). Biases that depend on
# the key alone, such as key norms or causal ALiBi, save at most one width more (RA4.column_terms).
# A bias $|i - j|$ that looks both ways is a matrix of full rank itself (RA4.bidirectional).
#
# ## 6. Distances that are not squared
#
# The scores above are squares. Without the square no metric is needed at all: for $n \ge 2$
# distinct points, in the flat plane, the matrix of distances has one positive eigenvalue and
# $n - 1$ negative ones (RA5.signs), so its rank is $n$ for every $n$. Such scores are not of the
# form $Q K^\top$ with a fixed width, but it is the root that does it, not the geometry. Eigenvalues
# for the ten tokens of section 1, in one flat metric:

# %%
steps = np.linalg.norm(GRID[:, None] - GRID[None], axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(11, 3.4))
for axes, matrix, title in zip(panels, (steps, steps**2), ("distances", "squared distances"),
                               strict=True):  # fmt: skip
    spectrum = draw.tidy(np.linalg.eigvalsh(matrix))
    colours = [draw.BLUE if v > 1e-6 else draw.RED if v < -1e-6 else draw.GREY for v in spectrum]
    axes.scatter(range(1, 11), spectrum, c=colours, zorder=3)
    axes.axhline(0, color="black", lw=0.8)
    axes.set(yscale="symlog", xticks=range(1, 11), ylabel="eigenvalue")
    axes.margins(y=0.1)
    axes.set_title(f"{title}: {sum(v != draw.GREY for v in colours)} are not 0", fontsize=12)
plt.show()

# %% [markdown]
# ## 7. Two more questions about such scores
#
# **Is the attention reversible?** The reversible walks are those that can become connection
# Laplacians (see the notebook `laplacian_reduction`). Scores that are symmetric give
# $\pi_i \propto Z_i$, the softmax denominators: homogeneous distances do, and symmetrised ones
# (RA15.law). One-sided scores with different metrics are reversible iff a sum over each triangle
# vanishes (RA15.query_side). For tokens $0, 1, 3$ on a line and conformal factors:

# %%
for name in ("not_reversible", "reversible"):
    witness = step_of(THEOREMS["RA15"], name)
    shown = formulas.rule_formulas(witness)[: len(witness.values)]
    show(f"{prose(witness.because)} **{outcome(witness)}**", "$$" + r",\quad ".join(shown) + "$$")

# %% [markdown]
# **Is $\exp S$ a kernel?** "Gram" may also be read in the sense of kernel methods: is the matrix of
# $\exp(S_{ij} / \tau)$ positive semidefinite for every temperature $\tau$? It is iff $S$ is
# conditionally so (RA18.schoenberg, cited). For one metric it always is; for symmetrised scores
# with several metrics it need not be (RA18.heterogeneous). For the tokens $0, 1, 2$:

# %%
TAU, LINE = np.geomspace(0.05, 20, 60), np.array([0.0, 1.0, 2.0])
figure, axes = plt.subplots(figsize=(8, 3.6))
FACTORS = ((1, 1, 1, draw.BLUE, "1"), (1, 0.5, 1, draw.RED, r"\frac{1}{2}"))
for *factors, colour, middle in FACTORS:
    text, factors = rf"$\lambda = (1, {middle}, 1)$", np.array(factors)
    S = -((factors[:, None] + factors[None]) / 4) * (LINE[:, None] - LINE[None]) ** 2
    least = [tau * np.linalg.eigvalsh(np.exp(S / tau))[0] for tau in TAU]
    axes.plot(TAU, draw.tidy(least), color=colour, label=text)
axes.axhline(0, color="black", lw=0.8)
axes.set(xscale="log", xlabel=r"temperature $\tau$",
         ylabel=r"$\tau$ times the least eigenvalue")  # fmt: skip
axes.legend()
plt.show()

# %% [markdown]
# ## 8. Inverting a metric of low rank
#
# A metric $G = D + U U^\top$ with $D > 0$ diagonal is applied in $2 d r + d$ multiplications. The
# Woodbury identity solves with it through a matrix of size $r \times r$, the capacitance
# $I + U^\top D^{-1} U$, which is always invertible (RA6.capacitance). Counted exactly
# (RA6.counts), beside the entries of the inverse, which nobody should form:

# %%
rows = []
for d, r in ((64, 4), (768, 8), (4096, 64), (4096, 4096)):
    found = costs.solve_counts(d, r)
    rows.append(f"{d} | {r} | {found.preparation} | {found.application} | {found.explicit} | "
                f"{number(found.preparation / (d * r * r))}")  # fmt: skip
table(r"$d$ | $r$ | before the first vector | each vector | the entries of $G^{-1}$ "
      r"| first count over $d r^2$", rows)  # fmt: skip

# %% [markdown]
# The first count is at most $4 d r^2$ for $r \le d$ and at least $r^3 / 6$ always; with one
# application both together are at most $(8 + k) d r^2$ for $r \le k d$, and beyond every multiple
# of $d r^2$ once $r / d$ is large enough (RA6.order).
#
# The identity as it stands in textbooks is dangerous in floating point: it subtracts two nearly
# equal vectors wherever $U$ is large beside $D$. Below, a thousand systems with $d = 64$, $r = 4$,
# $D = 10^{-6}$ in single precision. Each $v$ lies in the range of $U$ and is chosen so that
# $v^\top G^{-1} v$ is 1. All sums are taken in a fixed order, so the numbers are the same on every
# machine.

# %%
SYSTEMS, WIDTH, RANK, SINGLE = 1000, 64, 4, np.float32
rng = np.random.default_rng(0)
U = rng.standard_normal((SYSTEMS, WIDTH, RANK)).astype(SINGLE)
mix = rng.standard_normal((SYSTEMS, RANK))
mix = (mix / np.sqrt(np.sum(mix**2, axis=1, keepdims=True))).astype(SINGLE)
DIAGONAL = SINGLE(1e-6)


def total(terms) -> np.ndarray:
    """A sum from left to right."""
    terms = iter(terms)
    found = next(terms)
    for term in terms:
        found = found + term
    return found


def solve(rows: list, right: list) -> list:
    """Gaussian elimination, each operation for all systems at once."""
    count, system = len(rows), [[*row, b] for row, b in zip(rows, right, strict=True)]
    for k in range(count):
        for i in range(k + 1, count):
            share = system[i][k] / system[k][k]
            system[i] = [p - share * q for p, q in zip(system[i], system[k], strict=True)]
    found: list = [None] * count
    for k in reversed(range(count)):
        known = [system[k][j] * found[j] for j in range(k + 1, count)]
        found[k] = (system[k][count] - total(known) if known else system[k][count]) / system[k][k]
    return found


COLUMNS, FEATURES = range(RANK), range(WIDTH)
v = total(U[:, :, k] * mix[:, k, None] for k in COLUMNS)
scaled = U / DIAGONAL
capacitance = [[total(U[:, a, k] * scaled[:, a, m] for a in FEATURES) + SINGLE(k == m)
                for m in COLUMNS] for k in COLUMNS]  # fmt: skip
inner = solve(capacitance, [total(scaled[:, a, k] * v[:, a] for a in FEATURES) for k in COLUMNS])
x = v / DIAGONAL - total(scaled[:, :, k] * inner[k][:, None] for k in COLUMNS)
textbook = total(x[:, a] * v[:, a] for a in FEATURES)

metric = LowRankMetric(np.full((SYSTEMS, WIDTH), DIAGONAL), U)
stable = metric.dual_norm2(v)
figure, axes = plt.subplots(figsize=(9, 3.6))
heights, edges = np.histogram(textbook, bins=np.arange(-30, 31))
axes.bar(edges[:-1], heights, 0.9, align="edge",
         color=[draw.RED if left < 0 else draw.BLUE for left in edges[:-1]])  # fmt: skip
axes.axvline(1, color=draw.GREEN, lw=2)
axes.annotate("all thousand by LowRankMetric", (1, 1.1 * heights.max()), (6, 0),
              textcoords="offset points", color=draw.GREEN, va="center")  # fmt: skip
axes.set(xlabel=r"$v^\top G^{-1} v$ by the textbook form, float32", ylabel="systems",
         ylim=(0, 1.2 * heights.max()))  # fmt: skip
plt.show()
print(
    "textbook form, least value:", number(textbook.min()), " negative:", int((textbook < 0).sum())
)
print("LowRankMetric within 0.001 of 1:", int((abs(stable - 1) < 1e-3).sum()), "of", SYSTEMS)

# %% [markdown]
# A negative value of a positive form is no rounding error that a layer survives. `LowRankMetric`
# solves a larger system that does not cancel, returns a bound on its error from the residuals
# (RA6.residuals), and gives the form as a sum of squares; where every digit may be lost it raises
# `NoDigits`. Against exact rational solutions, beside a dense solve of the formed matrix in the
# same precision. The first column of answers must say yes; the second may say no.

# %%
rows = []
for precision in (np.float64, np.float32):
    for condition in (1e0, 1e6, 1e12):
        rng = np.random.default_rng(1)
        D = np.geomspace(1, 1 / condition, WIDTH).astype(precision)
        low = rng.standard_normal((WIDTH, RANK)).astype(precision)
        right = rng.standard_normal(WIDTH).astype(precision)
        exact = exact_solution(Sample("inverse", D, low, right[None]))[0]
        found, bound = LowRankMetric(D, low).solve_with_bound(right)
        dense = np.linalg.solve(np.diag(D) + low @ low.T, right)
        answers = ("yes" if (abs(answer - exact) <= bound).all() else "no"
                   for answer in (found, dense))  # fmt: skip
        rows.append(f"{precision.__name__} | $10^{{{int(np.log10(condition))}}}$ | "
                    + " | ".join(answers))  # fmt: skip
table("precision | condition of $D$ | `LowRankMetric` within its bound "
      "| the dense solve within the same bound", rows)  # fmt: skip

# %% [markdown]
# ## 9. What distances cost
#
# Over all pairs a distance in low-rank metrics is $r + 2$ products of the size of $Q K^\top$
# (RA7.products): $(D \circ X) X^\top$, $D (X \circ X)^\top$ and one for each column. So $r + 1$
# more than standard scores need. The product form cancels for near tokens far from the origin,
# since it subtracts squares of their norms. Two tokens of norm about $10^4$ at distance $2^{-10}$,
# in single precision:

# %%
far = np.random.default_rng(2).uniform(1200, 1300, WIDTH).astype(SINGLE)
near = far.copy()
near[0] += SINGLE(2.0**-10)
pair = LowRankMetric(np.ones((2, WIDTH), SINGLE), np.ones((2, WIDTH, 1), SINGLE))
tokens = np.stack([far, near])
truth = 2 * (Fraction(float(near[0])) - Fraction(float(far[0]))) ** 2
forms = {
    "explicit difference": float(pair.distance2(tokens, tokens[::-1].copy())[0]),
    "products, origin 0": float(pair_distances2(pair, tokens, origin=0 * far)[0, 1]),
    "products, origin a token": float(pair_distances2(pair, tokens, origin=far)[0, 1]),
}
table(
    "form | exact to the last bit | off by more than half of the truth",
    (f"{name} | {'yes' if value == truth else 'no'} | "
     f"{'yes' if abs(Fraction(value) / truth - 1) > Fraction(1, 2) else 'no'}"
     for name, value in forms.items()),
)  # fmt: skip
print("distance of a token to itself:", float(pair.distance2(tokens, tokens)[0]))

# %% [markdown]
# For whole layers: the multiplications that distances add, over those of the layer itself, from the
# published shapes of three models. The share is a function of $n / d$ alone.

# %%
computed(RECORDS["RA7"])

# %%
LENGTHS = np.geomspace(64, 2**17, 120)
figure, panels = plt.subplots(1, 3, figsize=(14, 4.2), sharey=True)
for axes, layer in zip(panels, costs.SHAPES, strict=True):
    for r, colour in zip(costs.RANKS, (draw.BLUE, draw.ORANGE, draw.RED), strict=True):
        shares = [costs.overhead(layer, r, round(n)) for n in LENGTHS]
        axes.plot(LENGTHS, draw.tidy([100 * float(s.scores) for s in shares]), color=colour,
                  label=f"$r = {r}$")  # fmt: skip
        axes.plot(LENGTHS, draw.tidy([100 * float(s.total) for s in shares]), color=colour, ls="--")
    axes.axvline(layer.length, color=draw.GREY, lw=1)
    axes.axhline(1, color=draw.GREEN, lw=1)
    axes.set(xscale="log", yscale="log", xlabel="length $n$", ylim=(0.3, 1000))
    axes.set_title(f"{layer.name}, $d = {layer.d}$", fontsize=12)
panels[0].set_ylabel("percent of a layer's multiplications")
panels[0].legend()
plt.show()

# %% [markdown]
# Solid: scores alone; dashed: with a linear metric head, $(r + 1) d^2$ a token. Grey: the published
# length. Green: one percent. A head that predicts the metric costs as much as other projections do,
# at every length. So the overhead is small only for $n$ far below $d$ and with metrics that need no
# head of this kind; at the published lengths it is above a tenth already for $r = 1$
# (RA7.overhead), and it does not fall with the number of parameters: it depends on $n / d$.
#
# ## 10. The derivations

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ### In floating point, with a bound

# %%
closing.in_floating_point(RECORDS)

# %% [markdown]
# ## 11. False twins

# %%
closing.twins(THEOREMS, RECORDS, 0)

# %% [markdown]
# ### Which hypothesis is needed where

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 12. What the paper claims, and what is true
#
# First the claim that scores with one metric a token are not of Gram form, in both senses of the
# word; then the claims about cost.

# %%
FORM = ("non-gram", "kernel-sense")
COST = ("distance-cost", "inversion-cost", "below-cubic", "overhead")
closing.verdicts(RECORDS, FORM, paper)

# %% [markdown]
# The counterexamples to the first, by name:


# %%
def against(name: str) -> None:
    """What refutes a claim as stated: the clauses and the false twins, with their texts."""
    for reference in paper.EVIDENCE[f"riemannian-attention/{name}"].refuted_by:
        theorem, part = catalogue.load(owner(reference)), reference.replace(":", ".").split(".")[1]
        texts = {c.name: c.statement for c in theorem.clauses}
        texts |= {m.id: f"False: {m.text}." for m in theorem.mutants}
        show(f"- **{reference}** {prose(texts[part])}")


against("non-gram")

# %%
claims(RECORDS, COST, paper)

# %% [markdown]
# What stands: scores with metrics that fill a space of dimension of order $d^2$, and as many
# tokens, are out of reach of any head of width of order $d$, before and after softmax, with and
# without a causal mask. What does not: that heterogeneous metrics as such do this. And what the
# price is: $r + 1$ further products of the size of $Q K^\top$ and a metric head, which at the
# lengths that models are published with is no small part of a layer.
