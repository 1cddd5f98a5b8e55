# %% [markdown]
# # The Fiber Bundle Transformer
#
# The second paper describes a transformer in the words of geometry: tokens carry metrics, values
# are transported along a bundle, the layer has curvature and torsion. It does not run it. This
# notebook runs the reference implementation, `numerics.fiber_bundle`, and says of each word what
# it means here, which number it stands for, and when that number is zero.
#
# | word | here | in a transformer |
# |---|---|---|
# | metric | $G_i = \mathrm{diag}(D_i) + U_i U_i^\top$, $D_i > 0$ | linear in the token, a head |
# | geodesic score | $-\frac12 (p_i - p_j)^\top G_i (p_i - p_j)$ | instead of $q_i^\top k_j$ |
# | frame | $E_i$ with $E_i^\top E_i = G_i$ | a root of the metric |
# | transport | $T_{ij} = E_i^{-1} R_{ij} E_j$, $R_{ij}$ a rotation | what becomes of value $j$ |
# | curvature | $T_{ij} T_{jk} T_{ki} - I$ | what three steps around a triangle change |
# | torsion | $a + T_{ji} b - b - T_{ki} a$ | by how much a parallelogram does not close |
# | preconditioned step | $-G_i^{-1} f(x_i)$ | the feed-forward part $f$, seen as a gradient |
#
# Points $p$ are queries and keys at once, $a = p_j - p_i$ and $b = p_k - p_i$ their differences.
# $U_i$ has rank $r$, and $E_i = (I + V K V^\top) D_i^{1/2}$ with $V = D_i^{-1/2} U_i$ is applied in
# $O(d r)$.
# No $d \times d$ matrix is formed, and attention needs memory linear in the number of tokens.

# %%
import math
from collections.abc import Callable
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import torch
from reading import pictures as draw
from reading.statements import number, show, table
from torch.nn import functional

from numerics.collapse import contraction, osc, spectral_norm
from numerics.fiber_bundle import (
    Connection,
    GeodesicAttention,
    MetricField,
    MetricHead,
    Phases,
    curves,
    geodesic_attention,
    rounding,
)
from numerics.laplacians.reversibility import reversibility_defect
from numerics.metrics import connections
from numerics.scores.costs import distances_count

torch.set_grad_enabled(False)


def normal(seed: int, *shape: int) -> torch.Tensor:
    """Seeded numbers, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# %% [markdown]
# ## 1. A metric at every token
#
# Nine tokens in the plane and the unit balls of their metrics: a long axis is a direction in which
# the token hardly sees a distance. The second panel is the attention of the token drawn in red
# with its own metric, the third with the mean of its own and the other token's (*symmetrised*).
# The fourth is that of dot products with the key norms, which is the metric $I$.

# %%
PLANE = normal(5, 9, 2) * 1.2
ROOTS, COLUMNS = (normal(6, 9, 2) * 0.9).exp(), normal(7, 9, 2, 1)
FIELD = MetricField(ROOTS, COLUMNS)
QUERY = 3


def weights(field: MetricField, kind: str = "query") -> torch.Tensor:
    """Attention (n, n) of the plane's tokens, by the tiled code with unit vectors as values."""
    batch = MetricField(field.D[None, None], field.U[None, None])
    unit = torch.eye(len(PLANE), dtype=torch.float64)[None, None]
    return geodesic_attention(PLANE[None, None], batch, unit, kind=kind)[0, 0]


FLAT = MetricField(torch.ones_like(ROOTS), torch.zeros_like(COLUMNS))
shown = {
    "metrics": None,
    "query-side": weights(FIELD)[QUERY],
    "symmetrised": weights(FIELD, "symmetrised")[QUERY],
    "G = I": weights(FLAT)[QUERY],
}
figure, panels = plt.subplots(1, 4, figsize=(13, 2.6))
TURN = torch.linspace(0, 2 * math.pi, 60, dtype=torch.float64)
CIRCLE = torch.stack([TURN.cos(), TURN.sin()], -1)
for axes, (title, row) in zip(panels, shown.items(), strict=True):
    draw.bare(axes, (-2.6, 2.6), (-1.3, 2.2), title)
    for place, point in enumerate(draw.tidy(PLANE.numpy())):
        colour = draw.RED if place == QUERY else draw.BLUE
        axes.plot(*point, "o", color=colour, ms=5 if row is None else 2)
        if row is None:
            one = MetricField(ROOTS[place].expand(60, 2), COLUMNS[place].expand(60, 2, 1))
            ball = draw.tidy((PLANE[place] + 0.35 * one.unframe(CIRCLE)).numpy())
            axes.plot(*ball.T, color=colour, lw=1)
        else:
            axes.scatter(*point, s=900 * float(torch.round(row[place], decimals=4)), color=colour,
                         alpha=0.5, lw=0)  # fmt: skip
plt.show()

# %% [markdown]
# ## 2. What it is when the metrics are trivial
#
# A distance uses one map from tokens to points, so there are no separate queries and keys. With
# $G = I$ the score is $p_i^\top p_j - \frac12 \lvert p_j \rvert^2$ up to a row term that softmax
# does not see: a standard head with *tied* queries and keys and a column term of key norms. The
# table compares the tiled code with torch's `scaled_dot_product_attention` given that column term,
# within the bound on both roundings; without the key norms, or with other queries, it is another
# layer. Tied keys make the walk reversible, whatever the column term; metrics that differ from
# query to query do not keep that; symmetrised ones do.

# %%
N, WIDTH = 24, 8
POINTS, VALUES = normal(1, 1, 1, N, WIDTH), normal(2, 1, 1, N, WIDTH)
ONE = MetricField(torch.ones_like(POINTS), torch.zeros(1, 1, N, WIDTH, 1, dtype=torch.float64))
OTHER = MetricField(normal(3, 1, 1, N, WIDTH).exp(), normal(4, 1, 1, N, WIDTH, 2))
SCALE = WIDTH**-0.5
norms = -0.5 * SCALE * POINTS.square().sum(-1)[..., None, :]
ours = geodesic_attention(POINTS, ONE, VALUES)
steps = POINTS[..., None, :, :] - POINTS[..., :, None, :]
bound = 2 * rounding.attention_error(
    POINTS, ONE, VALUES, steps.square().sum(-1) * (-SCALE / 2), SCALE
)
attention = functional.scaled_dot_product_attention
torch_says = {
    "tied, with key norms": attention(POINTS, POINTS, VALUES, attn_mask=norms),
    "tied, without key norms": attention(POINTS, POINTS, VALUES),
    "other queries": attention(POINTS.flip(-1), POINTS, VALUES, attn_mask=norms),
}
table(
    "torch attention | equal to geodesic attention with $G = I$, within rounding",
    (f"{name} | {'yes' if bool(((ours - found).abs() <= bound).all()) else 'no'}"
     for name, found in torch_says.items()),
)  # fmt: skip

# %%
unit = torch.eye(N, dtype=torch.float64)[None, None]
rows = []
for name, field in (("all $I$", ONE), ("of each token", OTHER)):
    for kind in ("query", "symmetrised"):
        walk = geodesic_attention(POINTS, field, unit, kind=kind)[0, 0]
        rows.append(f"{name} | {kind} | {number(reversibility_defect(walk).defect, 4)}")
table("metrics | scores | how far from reversible", rows)

# %% [markdown]
# ## 3. Transport and curvature
#
# $T_{ij}$ takes a vector at $j$ to one at $i$ of the same length, each measured in its own metric.
# Around a triangle the frames cancel: $T_{ij} T_{jk} T_{ki} = E_i^{-1} R_{ij} R_{jk} R_{ki} E_i$.
# So **the metrics alone never curve anything**. With $R_{ij} = I$ every triangle has curvature 0,
# constant metrics or not; that is the teleparallel connection. The implementation has one family
# of rotations that do curve, a phase for each pair, $t_{ij} = a_i \cdot b_j - b_i \cdot a_j$ with
# $a$, $b$ linear in the token: antisymmetric, so that $T_{ji} = T_{ij}^{-1}$, and cheap, since a
# head only sums its values twice, with $\cos t_{ij}$ and $\sin t_{ij}$. In the frame of token $i$
# the triangle then turns by $t_{ij} + t_{jk} + t_{ki}$. Below, a vector is carried around a
# triangle, in the metric of its token at every stop; red: as it comes back.

# %%
triple = torch.tensor([[0, 1, 2]])
I, J, K = triple.unbind(1)
PHASES = Phases(0.8 * normal(12, 9, 1), 0.8 * normal(13, 9, 1))
figure, panels = plt.subplots(1, 2, figsize=(9, 4.2))
CORNERS = draw.on_circle(3, 90.0, 1.3)
for axes, (title, phases) in zip(panels, (("$R = I$", None), ("phases", PHASES)), strict=True):
    connection = Connection(FIELD, phases)
    v = torch.tensor([[0.45, 0.1]], dtype=torch.float64)
    stops = [(0, v)]
    for here, there in ((K, I), (J, K), (I, J)):
        v = connection.transport(here, there, v)
        stops.append((int(here), v))
    draw.bare(axes, (-2.5, 2.9), (-1.6, 2.1), title)
    for a, b in ((0, 2), (2, 1), (1, 0)):
        draw.arrow(axes, CORNERS[a], CORNERS[b], draw.GREY, gap=14)
    for count, (place, vector) in enumerate(stops):
        colour = draw.RED if count == 3 else draw.BLUE
        one = MetricField(ROOTS[place].expand(60, 2), COLUMNS[place].expand(60, 2, 1))
        length = FIELD.at(torch.tensor([place])).norm2(vector).sqrt()
        ball = draw.tidy(CORNERS[place] + (length * one.unframe(CIRCLE)).numpy())
        axes.plot(*ball.T, color=draw.PALE, lw=1)
        tip = draw.tidy(CORNERS[place] + vector[0].numpy())
        draw.arrow(axes, CORNERS[place], tip, colour, 1.8 if count < 3 else 1.2, layer=4)
plt.show()

rows = []
for name, field in (("all $I$", FLAT), ("one for all", FIELD.at(torch.zeros(9).long())),
                    ("of each token", FIELD)):  # fmt: skip
    for kind, phases in (("$I$", None), ("phases", PHASES)):
        connection = Connection(field, phases)
        v = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        sizes = (
            connection.metric.at(I).norm2(found).sqrt()
            for found in (connection.curvature(triple, v), connection.torsion(PLANE, triple))
        )
        cells = [number(size, 4) for size in sizes]
        angle = number(connection.holonomy_angle(triple), 4)
        rows.append(f"{name} | {kind} | {cells[0]} | {angle} | {cells[1]}")
table("metrics | $R_{ij}$ | curvature of $e_1$ | angle | torsion gap", rows)

# %% [markdown]
# ## 4. Torsion
#
# From $x_i$ go $a$, then $b$ as it arrives at $x_j$; or first $b$, then $a$ as it arrives at
# $x_k$. The two ends differ by the torsion gap. With $R = I$ the transports are those between
# frames, and frames that vary leave a gap although nothing is curved. On the line with frames
# $1, 2, 3$ at $0, 1, 2$ the gap is $1 + 2 \cdot \frac12 - 2 - 1 \cdot \frac13 = -\frac13$. It is 0
# where the metric is constant and $R = I$.

# %%
line = torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
frames = MetricField((line + 1) ** 2, torch.zeros(3, 1, 1, dtype=torch.float64))
print("gap on the line:", number(Connection(frames).torsion(line, triple), 6))

figure, panels = plt.subplots(1, 2, figsize=(9, 3.6))
GRID = torch.tensor([[0.0, 0.0], [1.0, 0.25], [0.2, 1.0]], dtype=torch.float64)
diagonals = torch.tensor([[1.0, 1.0], [1.8, 0.7], [0.6, 1.9]], dtype=torch.float64)
columns = torch.tensor([[0.0, 0.0], [0.6, 0.3], [0.2, 0.9]], dtype=torch.float64)[..., None]
varying = MetricField(diagonals, columns)
constant = varying.at(torch.zeros(3).long())
for axes, (title, field) in zip(
    panels, (("constant metric", constant), ("metrics that vary", varying)), strict=True
):
    connection = Connection(field)
    a, b = GRID[1:2] - GRID[:1], GRID[2:] - GRID[:1]
    ends = a + connection.transport(J, I, b), b + connection.transport(K, I, a)
    draw.bare(axes, (-0.2, 2), (-0.2, 1.8), title)
    for start, end, colour in ((a, ends[0], draw.BLUE), (b, ends[1], draw.ORANGE)):
        draw.arrow(axes, (0, 0), draw.tidy(start[0].numpy()), colour)
        draw.arrow(axes, draw.tidy(start[0].numpy()), draw.tidy(end[0].numpy()), colour)
    gap = [draw.tidy(end[0].numpy()) for end in ends]
    axes.plot(*zip(*gap, strict=True), color=draw.RED, lw=2, zorder=5)
plt.show()

# %% [markdown]
# ### Which words pass the test
#
# On a surface that everybody knows the two numbers must come out right. RA10 derives them exactly
# for metrics $dr^2 + \varphi(r)^2 d\theta^2$: $R(a, b)$ is $-\varphi'' / \varphi$ times the area
# of $a$ and $b$, so 0 for the plane, although its Christoffel symbols are not. Below, the
# transports of that connection around a triangle of side $h$: the angle by which the triangle turns
# a vector, divided by its area, tends to the curvature. The last row is the plane again, but with
# $R_{ij} = I$ between the frames of the two coordinate directions, of lengths $1$ and $r$: no
# curvature either, and a gap of minus the torsion $\frac1r (a_r b_\theta - a_\theta b_r)$. So
# "curvature" deserves its name whenever the transports are those of a connection; "torsion" is a
# property of the chosen frames, not of the surface.

# %%
CORNER, A, B = np.array([0.2, 0.1]), np.array([1.0, 0.3]), np.array([-0.2, 0.9])
AREA = A[0] * B[1] - A[1] * B[0]
ROUND = np.array([[0, 1, 2]])


def around(transport: Callable[..., np.ndarray], corner: np.ndarray, h: float) -> np.ndarray:
    """T_ij T_jk T_ki - I at a triangle of side about h."""
    x = np.stack([corner, corner + h * A, corner + h * B])
    return connections.curvature_proxy(connections.pairwise(transport, x), ROUND)[0]


rows = []
for name, phi, kappa in (
    ("plane", "r", 0.0), ("sphere", r"\sin r", 1.0), ("hyperbolic plane", r"\sinh r", -1.0),
):  # fmt: skip
    transport = partial(connections.conformal_transport, kappa)
    scale = (2 / (1 + kappa * CORNER @ CORNER)) ** 2
    found = [
        float(around(transport, CORNER, h)[0, 1]) / (scale * h * h * AREA / 2)
        for h in (2.0**-2, 2.0**-10)
    ]
    rows.append(f"{name} | ${phi}$ | {number(kappa, 0)} | {number(found[0])} | {number(found[1])}")
start, h = np.array([1.2, 0.3]), 2.0**-10
places = np.stack([start, start + h * A, start + h * B])
step = connections.pairwise(lambda x, y: np.diag([1.0, x[0] / y[0]]), places)
flat = float(np.abs(connections.curvature_proxy(step, ROUND)).max())
gap = connections.torsion_gap(step, places, ROUND)[0] / (h * h * AREA / start[0])
rows.append(f"plane, polar frame | $r$ | 0 | | {number(flat / (h * h * AREA))}")
table("surface | $\\varphi$ | curvature | angle / area, large | small", rows)
print("gap of the polar frame, in units of the torsion:", number(gap[0]), number(gap[1]))

# %% [markdown]
# ## 5. Rank collapse
#
# A stack of attention layers without residual streams draws its tokens together, and RA11 says how
# fast at least: with values that are not transported, $\mathrm{osc}' \le \sum_h \lVert W^h \rVert
# \tanh(\Delta_h / 4) \, \mathrm{osc}$, and here $\Delta_h \le g \, \mathrm{osc}(p^h)^2 / \sqrt d$.
# The metric head keeps $\lvert G_i \rvert \le g = e^{3/2} + 4$ whatever its input is, so
# heterogeneity does not prevent collapse. Transported values are **outside** that theorem:
# $E_i^{-1}$ differs from token to token to first order in their distance, so what was a cube is
# only a multiple. Equal tokens stay equal all the same.

# %%
HEADS, DEPTH = 2, 3
torch.manual_seed(3)
head = MetricHead(16, HEADS, 2).double()
layer = GeodesicAttention(16, HEADS, transport="plain").double()
framed = GeodesicAttention(16, HEADS, transport="frames").double()
output = layer.output.weight.unflatten(1, (HEADS, -1)).transpose(0, 1)
value_norms = spectral_norm(output @ layer.values.weight.unflatten(0, (HEADS, -1)))
layer.output.weight.div_(value_norms.sum())
value_norms = value_norms / value_norms.sum()
framed.load_state_dict(layer.state_dict())


def widths(module: GeodesicAttention) -> tuple[list[float], list[float]]:
    """osc after each layer, and what RA11 leaves of it from what came in."""
    x = 1e-2 * normal(11, 1, 12, 16) + normal(12, 1, 1, 16)
    found, allowed = [float(osc(x[0]))], [float(osc(x[0]))]
    for _ in range(DEPTH):
        points = module.points(x).unflatten(-1, (HEADS, -1))[0].transpose(0, 1)
        spread = head.bound * points.shape[-1] ** -0.5 * osc(points).square()
        allowed.append(float(contraction(value_norms, spread)) * found[-1])
        x = module(x, head(x))
        found.append(float(osc(x[0])))
    return found, allowed


figure, axes = plt.subplots(figsize=(7, 4))
for name, module, colour in (("plain values", layer, draw.BLUE), ("transported", framed, draw.RED)):
    found, allowed = widths(module)
    # Below 1e-13 the tokens differ by roundings only.
    logs = draw.tidy(np.log10(np.maximum(found, 1e-13)), 2)
    axes.plot(range(DEPTH + 1), logs, "o-", color=colour, ms=4, label=name)
    if module is layer:
        limits = draw.tidy(np.log10(np.maximum(allowed, 1e-13)), 2)
        axes.plot(range(DEPTH + 1), limits, "s--", color=draw.GREY, ms=4, label="bound of RA11")
axes.set(xlabel="layer", ylabel=r"$\log_{10}$ osc", xticks=range(DEPTH + 1))
axes.legend(fontsize=10)
plt.show()

# %% [markdown]
# ## 6. What it costs
#
# Distances of rank $r$ are $r + 2$ products of the size of $Q K^\top$: $[G_i y_i \mid -\frac12
# D_i]$ times $[y_j \mid y_j \circ y_j]$, of twice the width, and $r$ products $u_{ic} \cdot y_j$
# whose squares are subtracted. With the product with the values that is $(r + 3) / 2$ times the
# arithmetic of standard attention. Scores are at most 0, and 0 for the token itself, so that a
# softmax over tiles of keys needs no running maximum where every token sees itself. The products
# cancel where tokens are near each other beside the spread of all: errors are absolute, of the size
# of a rounding of $g \, \mathrm{osc}^2$, and where they reach a sixteenth the code refuses.

# %%
table(
    "$r$ | multiplications of the scores, over those of $Q K^\\top$ | with values: $(r + 3) / 2$",
    (f"{r} | {number(distances_count(4096, 4096, 64, r) / (4096**2 * 64), 3)} | {(r + 3) / 2}"
     for r in (1, 2, 4, 8)),
)  # fmt: skip

# %% [markdown]
# ## 7. Does it learn?
#
# A Fiber Bundle model and a standard one of equal size, the second with a wider feed-forward part,
# trained for three seeds on sentences of a small grammar, letter by letter, with the same batches
# and the same step sizes. Each must end below the entropy of single letters, the least loss of a
# guess that does not look back. The record is that of `python -m numerics.fiber_bundle.train`.

# %%
RECORD = curves.load()
figure, axes = plt.subplots(figsize=(7.5, 4.6))
curves.plot(RECORD, axes)
plt.show()
print("\n".join(curves.lines(RECORD)))

# %%
show(*curves.outcome(RECORD))

# %% [markdown]
# After training, over random triples of tokens: the mean angle by which a triangle turns a value,
# and the mean torsion gap beside the sides of its parallelogram.

# %%
table(
    "seed | block | angle of a triangle (radians) | torsion gap over the two sides",
    (f"{seed} | {block} | {number(angle, 3)} | {number(gap, 3)}"
     for seed, entry in enumerate(RECORD["geometry"])
     for block, (angle, gap) in enumerate(zip(entry["holonomy"], entry["torsion"], strict=True))),
)  # fmt: skip

# %% [markdown]
# Both are far from zero, so the trained connection is neither flat nor without torsion. But these
# triangles are large: the words *curvature* and *torsion* have their meaning as limits for small
# triangles in a smooth field, and tokens are few and far apart. What the numbers say is how much
# the order of transports matters to this model. That it helps the task is not shown by the curves.
