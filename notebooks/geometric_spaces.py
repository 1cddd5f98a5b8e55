# %% [markdown]
# # Attention on curved spaces
#
# A readout is a weighted mean of values. On a sphere, in hyperbolic space, among rotations or
# positive definite matrices a weighted mean of points is not a point, and an inner product of
# queries and keys depends on how the points are written down. The third paper proposes new
# geometric spaces for attention. This notebook asks what such an attention must satisfy, and which
# of the usual constructions do: **an isometry that moves queries, keys and values must move the
# outputs with them, and do nothing else.** Rotating the sphere, or choosing another centre of the
# Poincaré disc, is only another way to write the same tokens.
#
# | here | in a transformer |
# |---|---|
# | point $x$ of a space | token, query, key or value |
# | isometry $g$ | a change of description that keeps all distances |
# | $d(q, k)$, the length of the shortest path | $\lvert q - k \rvert$ |
# | weights $\mathrm{softmax}_j (-d(q, k_j)^2 / 2 \tau)$ | attention of the query |
# | $\mathrm{Log}_q v$, the velocity at $q$ of the path to $v$ | $v - q$ |
# | $\mathrm{Exp}_q(u)$, where the path with velocity $u$ ends | $q + u$ |
# | *tangent* readout $\mathrm{Exp}_q(\sum_j w_j \mathrm{Log}_q v_j)$ | $q + \sum_j w_j (v_j - q)$ |
# | *Fréchet* readout, the point of least $\sum_j w_j d(c, v_j)^2$ | $\sum_j w_j v_j$, AP10 |
# | *ambient* readout: a mean of coordinates, put back | $\sum_j w_j v_j$, normalised |
#
# In flat space the three readouts are one. Everything shown below as a statement, a formula or a
# verdict comes from the theorem object and from checks that run here.

# %%
import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from reading import closing
from reading import pictures as draw
from reading.statements import clauses, number, table

from numerics import spaces
from numerics.evidence.rates import Rate
from numerics.pairings import readouts as pairings
from numerics.properties.gibbs_weights import rounded_weights
from paper_checks.papers import attention_pairings as paper
from paper_checks.run import check_theorem
from paper_checks.uses import settle_uses, with_uses
from theorems import catalogue

THEOREMS = {"AP8": catalogue.load("AP8")}
records = [check_theorem(identifier, stress=False) for identifier in with_uses(["AP8"])[0]]
RECORDS = {record.id: record for record in settle_uses(records)}

# %% [markdown]
# ## 1. The sphere
#
# Eight tokens on the sphere, seen from the front; the query is red. In the first two panels the
# area of a key is its weight: a high temperature looks at the whole hemisphere, a low one at the
# nearest keys. Third panel: the three readouts of five values with equal weights. The thin lines
# are the shortest paths from the Fréchet mean to the values. The ambient readout, the mean of the
# vectors put back on the sphere, is another point: it minimises squared *chords*, through the ball,
# and counts far values less (AP8.chordal_mean). The tangent readout takes the mean in the flat
# picture that the query has of the sphere, and depends on the query.

# %%
SPHERE = spaces.Sphere(3)


def on_sphere(*degrees: tuple[float, float]) -> np.ndarray:
    """Unit vectors from longitudes and latitudes in the picture, seen from the front."""
    lon, lat = np.deg2rad(np.array(degrees)).T
    return np.stack([np.sin(lon) * np.cos(lat), np.sin(lat), np.cos(lon) * np.cos(lat)], axis=1)


def path(space: spaces.Space, start: np.ndarray, end: np.ndarray, steps: int = 30) -> np.ndarray:
    """Points of the shortest path."""
    velocity = space.log(start[None], end[None])
    share = np.linspace(0, 1, steps + 1).reshape(-1, *[1] * (velocity.ndim - 1))
    return space.exp(np.repeat(start[None], steps + 1, axis=0), share * velocity)


def globe(axes: Axes, title: str = "") -> None:
    """The front of the sphere with circles of latitude and of longitude."""
    axes.add_patch(plt.Circle((0, 0), 1, facecolor="0.97", edgecolor="0.4", lw=1, zorder=0))
    turn = np.linspace(-90, 90, 61)
    for angle in (-60, -30, 0, 30, 60):
        for line in ([(t, angle) for t in turn], [(angle, t) for t in turn]):
            axes.plot(*draw.tidy(on_sphere(*line))[:, :2].T, color=draw.PALE, lw=0.7, zorder=1)
    draw.bare(axes, (-1.05, 1.05), (-1.05, 1.05), title)


def spots(axes: Axes, points: np.ndarray, colour: str, sizes=40, marker="o", label="") -> None:
    """Points of the plane."""
    axes.scatter(*draw.tidy(points)[:, :2].T, s=draw.tidy(np.broadcast_to(sizes, len(points)), 3),
                 color=colour, marker=marker, zorder=5, lw=0, label=label or None)  # fmt: skip


READOUTS: dict[str, tuple[str, str]] = {
    "ambient": (draw.ORANGE, "s"),
    "tangent": (draw.GREEN, "^"),
    "Fréchet": (draw.BLUE, "D"),
}


def read(space: spaces.Space, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
    """The three readouts of the queries."""
    return {"ambient": spaces.ambient_readout(space, v, w),
            "tangent": spaces.tangent_readout(space, q, v, w),
            "Fréchet": spaces.frechet_readout(space, v, w)}  # fmt: skip


KEYS = on_sphere(
    (-60, 40), (-25, 60), (10, 20), (50, 45), (62, -5), (25, -45), (-30, -50), (-65, -15)
)
ASK = on_sphere((-12, 8))
VALUES = on_sphere((-62, 40), (-50, 62), (-72, 12), (66, 10), (52, -30))
QUERY = on_sphere((5, -48))
figure, panels = plt.subplots(1, 3, figsize=(13, 4.4))
for axes, tau in zip(panels, (1.0, 0.1), strict=False):
    globe(axes, rf"$\tau = {tau}$")
    weights = spaces.heat_weights(SPHERE, ASK, KEYS, tau)[0]
    spots(axes, KEYS, draw.BLUE, 900 * weights)
    spots(axes, ASK, draw.RED)
globe(panels[2], "three readouts")
equal = np.full((1, len(VALUES)), 1 / len(VALUES))
found = read(SPHERE, QUERY, VALUES, equal)
for value in VALUES:
    panels[2].plot(*draw.tidy(path(SPHERE, found["Fréchet"][0], value))[:, :2].T,
                   color=draw.BLUE, lw=0.9)  # fmt: skip
spots(panels[2], VALUES, "black", 30)
spots(panels[2], QUERY, draw.RED, label="query")
for name, (colour, marker) in READOUTS.items():
    spots(panels[2], found[name], colour, 60, marker, name)
panels[2].legend(fontsize=9, loc="lower left", bbox_to_anchor=(0.95, 0.0))
plt.show()


def mean_square(space: spaces.Space, c: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
    """The mean squared distance of a point from the values."""
    return float((w * space.distance2(np.repeat(c, len(v), axis=0), v)).sum())


def mean_chord(c: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
    return float((w * ((c - v) ** 2).sum(axis=1)).sum())


assert min(found, key=lambda name: mean_square(SPHERE, found[name], VALUES, equal[0])) == "Fréchet"
assert min(found, key=lambda name: mean_chord(found[name], VALUES, equal[0])) == "ambient"
table(
    "readout | mean squared distance | mean squared chord",
    (f"{name} | {number(mean_square(SPHERE, c, VALUES, equal[0]), 4)} | "
     f"{number(mean_chord(c, VALUES, equal[0]), 4)}" for name, c in found.items()),
)  # fmt: skip

# %% [markdown]
# The first is best by chords, the last by distances. Both are equivariant: neither is *the* right
# one.
#
# ## 2. The hyperbolic plane
#
# In the Poincaré disc the whole hyperbolic plane is drawn inside the unit circle. Left: the circles
# all have the same radius, $\frac12$, and the lines are shortest paths. Space grows exponentially
# towards the rim, which is infinitely far: there is room for trees. Middle: weights of a query near
# the rim. Right: readouts of four values with equal weights. Red: what one gets by adding the
# coordinates of the disc, as if it were flat. It is another point, and not one that means anything,
# as the next section shows. The ambient readout is the mean in the Lorentz model, on a sheet of a
# hyperboloid in $\mathbb{R}^3$, put back on the sheet; that is always possible (AP8.hyperboloid).

# %%
PLANE = spaces.Lorentz(2)


def in_disc(*places: tuple[float, float]) -> np.ndarray:
    """Points of the hyperbolic plane from places in the disc."""
    return spaces.from_ball(np.array(places, dtype=float))


def rim(axes: Axes, title: str = "") -> None:
    axes.add_patch(plt.Circle((0, 0), 1, facecolor="0.97", edgecolor="0.4", lw=1, zorder=0))
    draw.bare(axes, (-1.05, 1.05), (-1.05, 1.05), title)


def circle(centre: np.ndarray, radius: float) -> np.ndarray:
    """The points of the hyperbolic plane at this distance, in the disc."""
    turn = np.linspace(0, 2 * math.pi, 61)
    flat = np.stack([0 * turn, np.cos(turn), np.sin(turn)], axis=1)
    base = np.repeat(np.array([[1.0, 0, 0]]), len(turn), axis=0)
    return spaces.to_ball(PLANE.act(spaces.boost(centre), PLANE.exp(base, radius * flat)))


def flat_mean(v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Euclidean in disguise: the mean of disc coordinates."""
    return spaces.from_ball(w @ spaces.to_ball(v))


HUBS = in_disc((0, 0), (0.55, 0.2), (-0.3, 0.6), (-0.62, -0.35), (0.2, -0.75), (0.82, -0.3),
               (0.5, 0.76), (-0.88, 0.2))  # fmt: skip
FOUR, FAR = in_disc((0.86, 0.2), (0.8, -0.42), (-0.1, 0.78), (-0.35, 0.2)), in_disc((0.1, -0.7))
QUARTER = np.full((1, 4), 0.25)
figure, panels = plt.subplots(1, 3, figsize=(13, 4.4))
rim(panels[0], "circles of one radius, shortest paths")
for hub in HUBS:
    panels[0].plot(*draw.tidy(circle(hub, 0.5)).T, color=draw.BLUE, lw=1)
for a, b in ((5, 6), (6, 2), (7, 3), (3, 4), (0, 1), (4, 5), (2, 7)):
    panels[0].plot(*draw.tidy(spaces.to_ball(path(PLANE, HUBS[a], HUBS[b]))).T, color="0.3", lw=0.9)
rim(panels[1], r"$\tau = 1$")
query = in_disc((0.6, -0.55))
weights = spaces.heat_weights(PLANE, query, HUBS, 1.0)[0]
spots(panels[1], spaces.to_ball(HUBS), draw.BLUE, 900 * weights)
spots(panels[1], spaces.to_ball(query), "0.4")
rim(panels[2], "readouts")
found = read(PLANE, FAR, FOUR, QUARTER)
for value in FOUR:
    arc = spaces.to_ball(path(PLANE, found["Fréchet"][0], value))
    panels[2].plot(*draw.tidy(arc).T, color=draw.BLUE, lw=0.9)
spots(panels[2], spaces.to_ball(FOUR), "black", 30)
spots(panels[2], spaces.to_ball(FAR), "0.4", 40, label="query")
for name, (colour, marker) in READOUTS.items():
    spots(panels[2], spaces.to_ball(found[name]), colour, 60, marker, name)
spots(panels[2], spaces.to_ball(flat_mean(FOUR, QUARTER)), draw.RED, 70, "X", "flat in disguise")
panels[2].legend(fontsize=9, loc="lower left", bbox_to_anchor=(0.95, 0.0))
plt.show()

# %% [markdown]
# ## 3. Euclidean in disguise
#
# Move the whole picture by an isometry, such that another place is at the centre. Nothing has
# changed but the point of view: all distances are the same. The readouts must move along. Rings:
# the readouts of before, moved. Marks: the readouts of the moved tokens. Blue ones agree. The mean
# of disc coordinates does not: it knows where the centre of the disc is, which is no property of
# the tokens.

# %%
SHIFT = spaces.boost(in_disc((0.0, -0.6))[0])
moved_query, moved = PLANE.act(SHIFT, FAR), PLANE.act(SHIFT, FOUR)
figure, panels = plt.subplots(1, 2, figsize=(9.4, 4.6))
means: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Fréchet": lambda v: spaces.frechet_readout(PLANE, v, QUARTER),
    "flat in disguise": lambda v: flat_mean(v, QUARTER),
}
for axes, values, ask, title in (
    (panels[0], FOUR, FAR, "as it was"), (panels[1], moved, moved_query, "the same, from elsewhere")
):  # fmt: skip
    rim(axes, title)
    spots(axes, spaces.to_ball(values), "black", 30)
    spots(axes, spaces.to_ball(ask), "0.4", 40)
    for (name, mean), colour, marker in zip(
        means.items(), (draw.BLUE, draw.RED), ("D", "X"), strict=True
    ):
        spots(axes, spaces.to_ball(mean(values)), colour, 60, marker, name)
        if values is moved:
            before = draw.tidy(spaces.to_ball(PLANE.act(SHIFT, mean(FOUR))))[0]
            axes.plot(*before, "o", mfc="none", color=colour, ms=15, mew=1.4)
panels[1].legend(fontsize=9, loc="lower left", bbox_to_anchor=(0.95, 0.0))
plt.show()
for name, mean in means.items():
    apart = float(PLANE.distance(PLANE.act(SHIFT, mean(FOUR)), mean(moved))[0])
    print(f"{name}: moved after and before the readout, distance {number(apart, 4)}")

# %% [markdown]
# The same test for every space here and every readout, by random isometries. Weights must be the
# same before and after, readouts must move along; *yes* means within 64 times the distance at which
# a point is known in this precision (spread by negative curvature), *no* gives the gap. The second
# table holds constructions that one meets, and that are Euclidean in disguise. All must say no:
# dot products of Lorentz coordinates, angles averaged as numbers, traces of products of positive
# definite matrices, the mean of inverses, and a tangent space at a fixed point.

# %%
SPACES: dict[str, spaces.Space] = {
    "sphere": SPHERE,
    "hyperbolic plane": PLANE,
    "torus": spaces.Torus(3),
    "positive definite, affine-invariant": spaces.AffineInvariantSPD(3),
    "positive definite, log-Euclidean": spaces.LogEuclideanSPD(3),
    "Grassmannian": spaces.Grassmann(5, 2),
    "rotations": spaces.Rotations(),
    "sphere $\\times$ hyperbolic plane": spaces.Product(SPHERE, PLANE),
}


def near(space: spaces.Space, generator: np.random.Generator, count: int) -> np.ndarray:
    """Points within half of the radius in which means are unique, and within 1."""
    spread = min(1.0, space.convex_radius / 2)
    points = space.random_points(generator, count)
    base = np.repeat(space.random_points(np.random.default_rng(1), 1), count, axis=0)
    velocity = space.log(base, points)
    length = np.sqrt(space.inner(base, velocity, velocity))
    share = np.minimum(1, spread / length).reshape(-1, *[1] * len(space.point_shape))
    return space.exp(base, share * velocity)


def known(space: spaces.Space, *stacks: np.ndarray) -> float:
    """How well points are known, spread along a path of length 2."""
    growth = math.cosh(2 * math.sqrt(-space.lowest_curvature))
    return 64 * growth * max(float(space.resolution(np, x).max()) for x in stacks)


rows = []
for name, space in SPACES.items():
    rng = np.random.default_rng(5)
    q, v, w = near(space, rng, 4), near(space, rng, 6), rng.dirichlet(np.ones(6), size=4)
    w = w / w.sum(axis=1, keepdims=True)
    g = space.random_isometry(rng)
    Q, W = space.act(g, q), space.act(g, v)
    allowed = known(space, q, v, Q, W)
    before = spaces.heat_weights(space, q, v, 0.5)
    # A score moves by at most 2 d / (2 tau) of what a distance does, and distances are at most 4.
    same = [abs(spaces.heat_weights(space, Q, W, 0.5) - before).max() <= 16 * allowed]
    same += [(space.distance(space.act(g, here), there) <= allowed).all() for here, there in zip(
        read(space, q, v, w).values(), read(space, Q, W, w).values(), strict=True)]  # fmt: skip
    assert all(same), name
    rows.append(f"{name} | " + " | ".join("yes" if one else "no" for one in same))
table("space | weights | " + " | ".join(READOUTS), rows)


# %%
def moves_along(space, g, q, v, rule: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    """The largest gap between a rule of moved tokens and the moved rule."""
    here, there = rule(q, v), rule(space.act(g, q), space.act(g, v))
    return float(space.distance(space.act(g, here), there).max())


def changed(space, g, q, v, rule: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    """The largest change of weights."""
    return float(abs(rule(space.act(g, q), space.act(g, v)) - rule(q, v)).max())


def at_identity(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """exp of the mean of logarithms: the tangent readout at I, whatever the query."""
    return spaces.frechet_readout(spaces.LogEuclideanSPD(3), v, SIX)


def softmax(scores: np.ndarray) -> np.ndarray:
    return pairings.gibbs_weights(scores, 0.5)


rng = np.random.default_rng(6)
SIX = np.full((1, 6), 1 / 6)
SPD, TURN = spaces.AffineInvariantSPD(3), spaces.Torus(1)
half_turn = np.array([[1.0], [2.5]])  # angles, then all of them shifted by 2.5
disguises = []
for name, kind, space, g, rule in (
    ("dot product of Lorentz coordinates", changed, PLANE, SHIFT, lambda q, v: softmax(q @ v.T)),
    ("dot product in the disc", changed, PLANE, SHIFT,
     lambda q, v: softmax(spaces.to_ball(q) @ spaces.to_ball(v).T)),
    ("mean in the disc", moves_along, PLANE, SHIFT, lambda q, v: flat_mean(v, SIX)),
    ("mean of angles as numbers", moves_along, TURN, half_turn, lambda q, v: SIX @ v),
    (r"$\mathrm{tr}(A B)$ of positive definite matrices", changed, SPD,
     SPD.random_isometry(rng), lambda q, v: softmax(np.einsum("iab,jab->ij", q, v))),
    ("arithmetic mean under inversion", moves_along, SPD, spaces.AfterInversion(np.eye(3)),
     lambda q, v: spaces.ambient_readout(SPD, v, SIX)),
    ("mean of logarithms under congruence", moves_along, SPD, SPD.random_isometry(rng),
     at_identity),
):  # fmt: skip
    q, v = space.random_points(rng, 4), space.random_points(rng, 6)
    gap = kind(space, g, q, v, rule)
    assert gap > 1e-3, name  # far above rounding
    disguises.append(f"{name} | {'weights' if kind is changed else 'readout'} | "
                     f"no, off by {number(gap, 3)}")  # fmt: skip
table("construction | what should not change, or move along | does it", disguises)

# %% [markdown]
# ## 4. Positive definite matrices
#
# A covariance as a token: an ellipse. Left: $A = I$ and $B = \mathrm{diag}(1, 16)$, drawn in black,
# with three means of the two. The arithmetic mean swells: its determinant is 8.5, where the
# geometric mean of 1 and 16 is 4. The other two are equal here, as $A$ and $B$ commute. Middle: the
# same after a change of coordinates $g = (1, 1; 0, 1)$ of the plane, $X \mapsto g X g^\top$. Right:
# a part of it, enlarged; dashed, the means of before, moved. The affine-invariant mean and the
# arithmetic one move along; the mean of logarithms does not.

# %%
A, B = np.eye(2), np.diag([1.0, 16.0])
G = np.array([[1.0, 1.0], [0.0, 1.0]])
HALF = np.array([[0.5, 0.5]])
AFFINE, LOGS = spaces.AffineInvariantSPD(2), spaces.LogEuclideanSPD(2)
MEANS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "arithmetic": (lambda v: spaces.ambient_readout(AFFINE, v, HALF)[0], draw.ORANGE),
    "log-Euclidean": (lambda v: spaces.frechet_readout(LOGS, v, HALF)[0], draw.RED),
    "affine-invariant": (lambda v: spaces.frechet_readout(AFFINE, v, HALF)[0], draw.BLUE),
}


def ellipse(axes: Axes, matrix: np.ndarray, colour: str, style: str = "-", label: str = "") -> None:
    """The points x with x^T matrix^-1 x = 1."""
    turn = np.linspace(0, 2 * math.pi, 91)
    ring = np.linalg.cholesky(matrix) @ np.array([np.cos(turn), np.sin(turn)])
    axes.plot(*draw.tidy(ring), color=colour, ls=style, lw=1.6, label=label or None)


figure, panels = plt.subplots(1, 3, figsize=(13, 4.4))
given = np.stack([A, B])
sheared = G @ given @ G.T
for axes, matrices, title in zip(
    panels, (given, sheared, sheared), ("as they were", "sheared", "enlarged"), strict=True
):
    for matrix in matrices:
        ellipse(axes, matrix, "black")
    for name, (mean, colour) in MEANS.items():
        ellipse(axes, mean(matrices), colour, label=name)
        if title == "enlarged":
            ellipse(axes, G @ mean(given) @ G.T, "black", "--")
    draw.bare(axes, (-4.6, 4.6), (-4.3, 4.3), title)
panels[0].legend(fontsize=9, loc="lower left", bbox_to_anchor=(-0.1, 0.0))
draw.bare(panels[2], (1.2, 3.4), (0.9, 3.1), "enlarged")
plt.show()
rows, allowed = [], known(AFFINE, given, sheared)
for name, (mean, _) in MEANS.items():
    first, then = np.trace(G @ mean(given) @ G.T), np.trace(mean(sheared))
    along = "yes" if abs(first - then) <= allowed * first else "no"
    size = number(np.linalg.det(mean(given)), 3)
    rows.append(f"{name} | {size} | {number(first, 3)} | {number(then, 3)} | {along}")
assert [row.split(" | ", 1)[1] for row in rows] == [
    "8.500 | 18.000 | 18.000 | yes",
    "4.000 | 9.000 | 9.394 | no",
    "4.000 | 9.000 | 9.000 | yes",
]
table("mean of $I$ and $\\mathrm{diag}(1, 16)$ | determinant | trace of the moved mean "
      "| trace of the mean of the moved | equivariant", rows)  # fmt: skip

# %% [markdown]
# The log-Euclidean metric is cheap and flat, and equivariant under rotations, scaling and inversion
# (AP8.log_euclidean): enough where axes have a meaning, and not where any basis will do. The
# arithmetic mean is equivariant under congruence (AP8.arithmetic_mean), and not under inversion:
# covariances and precisions would not be treated alike. And no product $\langle Q, K \rangle$ is
# invariant here, so that softmax of inner products is not available at all.
#
# ## 5. Lines and subspaces
#
# A subspace is a point of the Grassmannian. A line through 0 in the plane is spanned by $x$ and by
# $-x$, so means of vectors are meaningless: in the first panel the sum of the three vectors is
# far from all three lines. The projector $P = x x^\top$ does not see the sign; the readout is the
# leading eigenvector of $\sum_j w_j P_j$ (AP8.eigenprojector), blue; the mean of the vectors, red.
# It needs a gap between eigenvalues: two orthogonal lines with weights $w$ and $1 - w$ have none at
# $w = \frac12$, where the readout jumps from one line to the other, second panel.

# %%
LINES = spaces.Grassmann(2, 1)
ANGLES = np.deg2rad([10.0, 55.0, 95.0])
SIDES = np.array([1.0, -1.0, 1.0])
VECTORS = SIDES[:, None] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def direction(projector: np.ndarray) -> float:
    """The angle of a line in degrees, in [0, 180)."""
    return (
        float(np.rad2deg(np.arctan2(2 * projector[0, 1], projector[0, 0] - projector[1, 1])))
        / 2
        % 180
    )


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
third = np.full((1, 3), 1 / 3)
read_line = direction(spaces.ambient_readout(LINES, LINES.span(VECTORS[:, :, None]), third)[0])
for vector in VECTORS:
    left.plot(*draw.tidy(np.stack([-vector, vector])).T, color=draw.GREY, lw=1)
    draw.arrow(left, (0, 0), draw.tidy(vector), "black")
turn = math.radians(read_line)
tip = 1.1 * np.array([math.cos(turn), math.sin(turn)])
left.plot(*draw.tidy(np.stack([-tip, tip])).T, color=draw.BLUE, lw=2)
draw.arrow(left, (0, 0), draw.tidy(VECTORS.mean(axis=0)), draw.RED, 2)
draw.bare(left, (-1.2, 1.2), (-1.2, 1.2), f"the line at {read_line:.1f} degrees")
SHARES = np.array([0.05, 0.15, 0.25, 0.35, 0.45, 0.49, 0.51, 0.55, 0.65, 0.75, 0.85, 0.95])
for apart, colour in ((50, draw.GREEN), (80, draw.BLUE), (90, draw.RED)):
    pair = np.deg2rad([0.0, apart])
    ends = LINES.span(np.stack([np.cos(pair), np.sin(pair)], axis=1)[:, :, None])
    turned = [direction(spaces.ambient_readout(LINES, ends, np.array([[1 - w, w]]))[0])
              for w in SHARES]  # fmt: skip
    right.plot(SHARES, draw.tidy(turned, 4), "o-", color=colour, ms=4, lw=1,
               label=f"{apart} degrees apart")  # fmt: skip
right.set(xlabel="weight of the second line", ylabel="readout, degrees")
right.legend(fontsize=10)
plt.show()

# %% [markdown]
# ## 6. Where means are not unique
#
# In spaces without positive curvature the mean squared distance has one minimum, always
# (AP8.frechet, cited). On spheres, among rotations and subspaces it may have several. Below, the
# mean squared distance of two values of equal weight from the points of the circle through them.
# At 120 degrees there is one lowest point; antipodal values have two here, and on the sphere the
# whole equator (AP8.antipodal). The code then refuses, rather than return one of them.

# %%
CIRCLE = np.linspace(-180, 180, 145)
figure, axes = plt.subplots(figsize=(8.4, 4))
for apart, colour in ((120, draw.BLUE), (160, draw.GREEN), (180, draw.RED)):
    ends = on_sphere((-apart / 2, 0), (apart / 2, 0))
    around = on_sphere(*[(angle, 0.0) for angle in CIRCLE])
    cost = sum(SPHERE.distance2(around, np.repeat(end[None], len(around), axis=0)) for end in ends)
    axes.plot(CIRCLE, draw.tidy(cost / 2), color=colour, lw=1.6, label=f"{apart} degrees apart")
    lowest = CIRCLE[draw.tidy(cost) == draw.tidy(cost).min()]
    assert lowest.tolist() == ([0.0] if apart < 180 else [-180.0, 0.0, 180.0])  # -180 is 180
axes.set(xlabel="point of the circle, degrees", ylabel="mean squared distance",
         xticks=range(-180, 181, 60))  # fmt: skip
axes.legend(fontsize=10, loc="lower left")
plt.show()

# %% [markdown]
# What happens at such places, and at others where a formula would divide by 0 or lose all its
# digits: an error that says so, never NaN.


# %%
def refusal(call: Callable[[], object]) -> str:
    """What the error says, without the numbers that it ends with."""
    try:
        call()
    except (ValueError, TypeError) as error:
        return str(error).split(", got")[0].replace("|", r"\|")
    return "NOT REFUSED"


POLES = np.array([[0.0, 0, 1], [0, 0, -1]])
ACROSS = LINES.span(np.array([[[1.0], [0.0]], [[0.0], [1.0]]]))
ROTATIONS = spaces.Rotations()
FLIPS = np.stack([np.eye(3), np.diag([1.0, -1.0, -1.0])])
REFUSED = {
    "shortest path to the antipode": lambda: SPHERE.log(POLES[:1], POLES[1:]),
    "Fréchet mean of antipodes": lambda: spaces.frechet_readout(SPHERE, POLES, HALF),
    "ambient mean of antipodes": lambda: spaces.ambient_readout(SPHERE, POLES, HALF),
    "mean of orthogonal lines": lambda: spaces.ambient_readout(LINES, ACROSS, HALF),
    "mean of rotations half a turn apart": lambda: spaces.ambient_readout(ROTATIONS, FLIPS, HALF),
    "a point at the distance 30, hyperbolic plane": lambda: PLANE.exp(
        np.array([[1.0, 0, 0]]), np.array([[0.0, 30, 0]])
    ),
    "inner products in the affine-invariant space": lambda: spaces.product_weights(
        AFFINE, given, given, 1.0
    ),
}
rows = [f"{name} | {refusal(call)}" for name, call in REFUSED.items()]
assert not any("NOT REFUSED" in row for row in rows)
table("asked for | what the error says", rows)

# %% [markdown]
# ## 7. The flat limit
#
# Small pieces of all spaces look flat. So at small distances, with the temperature scaled along,
# attention on each of them must become attention in flat space. And in flat space
# $-\frac{1}{2 \tau} \lvert q - k \rvert^2$ is $\frac{1}{\tau} q \cdot k - \frac{1}{2 \tau} \lvert k
# \rvert^2$ up to a row term that softmax does not see (AP8.flat): dot-product attention with *tied*
# queries and keys and a column term. Not the usual layer, whose $W_Q$ and $W_K$ differ. First the
# flat identity, within a bound on the roundings, and without the column term:

# %%
rng = np.random.default_rng(8)
q, k = (rng.integers(-8, 9, size=(5, 3)) / 8 for _ in range(2))  # all scores are exact
scores = q @ k.T - (k**2).sum(axis=1) / 2
distances = -((q[:, None] - k) ** 2).sum(axis=2) / 2
heat = spaces.heat_weights(spaces.Euclidean(3), q, k, 1.0)
allowed = rounded_weights(scores).error + rounded_weights(distances).error
for name, weights in (("with", softmax(scores / 2)), ("without", softmax(q @ k.T / 2))):
    agree = bool((abs(heat - weights) <= allowed).all())
    print(f"heat weights are those of dot products {name} the column term: {agree}")
    assert agree == (name == "with")

# %% [markdown]
# Then the limit. Queries and keys are the ends of paths of length $\epsilon u$ from one point, at
# the temperature $\epsilon^2$. The difference from the flat weights falls like $\epsilon^2$, in
# every curved space and from both signs of curvature (AP8.zero_curvature); dashed, a line of this
# slope. The torus and the log-Euclidean space are flat already.

# %%
EPSILONS = tuple(2.0**-i for i in range(1, 8))
CURVED = {
    name: SPACES[name]
    for name in ("sphere", "hyperbolic plane", "positive definite, affine-invariant",
                 "Grassmannian", "rotations")
}  # fmt: skip
SHADES = (draw.RED, draw.BLUE, draw.GREEN, draw.ORANGE, "black")
figure, axes = plt.subplots(figsize=(8.6, 4.4))
rows = []
for (name, space), colour in zip(CURVED.items(), SHADES, strict=True):
    rng = np.random.default_rng(3)
    base, a, b = (near(space, rng, count) for count in (1, 4, 5))
    at = [np.repeat(base, len(points), axis=0) for points in (a, b)]
    u, v = space.log(at[0], a), space.log(at[1], b)
    wide = (4, 5, *space.point_shape)
    here, lines, columns = (np.broadcast_to(p, wide) for p in (base, u[:, None], v))
    flat = pairings.gibbs_weights(
        space.inner(here, lines, columns) - space.inner(here, columns, columns) / 2
    )
    errors = tuple(
        float(abs(spaces.heat_weights(space, space.exp(at[0], eps * u), space.exp(at[1], eps * v),
                                      eps**2) - flat).max())
        for eps in EPSILONS
    )  # fmt: skip
    # Known to rho, distances of size eps give scores with an error of 4 rho / eps.
    rounding = math.expm1(8 * float(space.resolution(np, base).max()) / EPSILONS[-1])
    rate = Rate(name, 0.0, EPSILONS, errors, 2.0, rounding)
    rows.append(f"{name} | {rate.slope:.2f} in [{rate.low:.2f}, {rate.high:.2f}] | "
                f"{'yes' if rate.ok else 'no'}")  # fmt: skip
    axes.loglog(EPSILONS, draw.tidy(errors, 9), "o-", color=colour, ms=4, lw=1.2, label=name)
axes.loglog(EPSILONS, [0.02 * eps**2 for eps in EPSILONS], "--", color=draw.GREY, lw=1)
axes.set(xlabel=r"$\epsilon$", ylabel="largest difference of weights")
axes.legend(fontsize=9, loc="upper left")
plt.show()
table("space | order of the difference | 2, as expected", rows)

# %% [markdown]
# ## 8. Products
#
# Spaces can be combined: a token may have a part on a sphere and a part in the hyperbolic plane.
# Squared distances add, so pairings multiply: the weights are the normalised products of the parts'
# weights, and the readout is made of the parts' readouts (AP8.products).

# %%
both = SPACES["sphere $\\times$ hyperbolic plane"]
assert isinstance(both, spaces.Product)
rng = np.random.default_rng(4)
q, k = both.random_points(rng, 3), both.random_points(rng, 5)
split = zip(both.factors, both.split(q), both.split(k), strict=True)
parts = [spaces.heat_weights(space, a, b, 0.7) for space, a, b in split]
joint = parts[0] * parts[1]
joint = joint / joint.sum(axis=1, keepdims=True)
gap = float(abs(spaces.heat_weights(both, q, k, 0.7) - joint).max())
print("weights of the product against the product of weights, largest difference:", number(gap, 9))

# %% [markdown]
# ## 9. What the theorem says
#
# AP8 proves the invariances and equivariances that the pictures show, for every dimension and every
# number of tokens, and names what is cited: that Fréchet means are unique where curvature is not
# positive, and in small balls elsewhere.

# %%
clauses(THEOREMS["AP8"])

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ### In floating point, with a bound

# %%
closing.in_floating_point(RECORDS)

# %% [markdown]
# ## 10. False twins

# %%
closing.twins(THEOREMS, RECORDS, 0)

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 11. What the paper claims, and what is true

# %%
closing.verdicts(RECORDS, ("new-spaces", "new-architectures"), paper)

# %% [markdown]
# What stands: on all these spaces there is an attention that respects the isometries, with weights
# from distances and at least one readout. What needs a hypothesis: Fréchet means on spheres,
# rotations and Grassmannians are unique only where values are close, and eigenprojectors need a
# gap. What does not hold: that usual operations on coordinates will do, or that one metric on
# positive definite matrices has all the symmetries. Whether an architecture on such a space is of
# use is no theorem, and is not decided here.
