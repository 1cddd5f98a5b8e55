# %% [markdown]
# # When attention is a connection Laplacian
#
# A graph Laplacian compares the value at a node with the mean of its neighbours' values. When the
# values are vectors and each node has a frame of its own, a neighbour's vector must first be
# carried along the edge, by a matrix. That gives a *connection Laplacian*. An attention layer also
# carries the vectors of its keys by matrices and averages them, so one may ask: is the difference
# between a token and what attention returns for it a connection Laplacian? The paper says yes,
# under conditions. Five theorems say exactly which conditions, what each of them buys, what a
# single head and several heads can do, and what is left when a condition fails.
#
# | here | in a transformer |
# |---|---|
# | $u_i$, column vector of width $d$ | token $i$ |
# | walk matrix $P$, entries $P_{ij} \ge 0$ | attention of query $i$ to key $j$ |
# | transport $T_{ij}$ | the matrix that key $j$'s vector meets on its way to query $i$ |
# | $(W u)_i = \sum_j P_{ij} T_{ij} u_j$ | output of the layer without biases |
# | generator $L = I - W$ | a token minus what attention returns for it |
# | metric $G_i$, $\lVert v \rVert^2_{G_i} = v^\top G_i v$ | how lengths are measured at token $i$ |
#
# One head has the same $T = (W_V W_O)^\top$ on all edges; several heads together are again one
# walk, whose $T_{ij}$ mix the matrices of the heads (see the notebook `connection_walks`).
# Everything shown below as a statement, a formula or a verdict comes from the theorem objects and
# from checks that run here.

# %%
import matplotlib.pyplot as plt
import numpy as np
from flint import fmpq
from numpy.linalg import eigvals, eigvalsh, norm, svd
from reading import closing
from reading import pictures as draw
from reading.statements import clauses, outcome, owners, prose, show, table
from reading.twins import exact_check, real, step_of, values

from numerics.laplacians import laplacian as laplacians
from numerics.walks import Walk, multi_head_walk, softmax_walk
from paper_checks import formulas
from paper_checks.run import verify
from theorems import catalogue

IDS = ("CW5", "CW6", "CW7", "CW12", "CW13")
CLAIMS = ("laplacian-conditions", "single-head-laplacian", "multi-head-laplacian")
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}

# %% [markdown]
# ## 1. Carry, compare, average
#
# Left: a query and three keys, each with a vector. Right, at the query: the keys' vectors after
# they were carried there (orange), their mean weighted by attention (green), the query's own vector
# (black), and the difference, which is $(L u)_i$ (red). If the red arrow vanishes everywhere, every
# token agrees with what its neighbours send. If it does not, the layer moves the token.


# %%
def rotation(degrees: float) -> np.ndarray:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[c, -s], [s, c]])


KEYS = np.array([[-1.3, 0.75], [1.3, 0.9], [0.0, -1.3]])
LOOK = np.array([0.5, 0.3, 0.2])  # attention of the query to the three keys
OWN = np.array([-0.5, 0.75])
SENT = np.array([[0.8, 0.1], [0.2, 0.85], [-0.4, 0.6]])
DEGREES = (15, 20, -145)
TURNS = np.array([rotation(degrees) for degrees in DEGREES])
CARRIED = np.einsum("jab,jb->ja", TURNS, SENT)
MEAN = LOOK @ CARRIED

figure, (graph, query) = plt.subplots(1, 2, figsize=(11, 5))
for spot, weight, vector, degrees in zip(KEYS, LOOK, SENT, DEGREES, strict=True):
    draw.arrow(graph, spot, (0, 0), draw.PALE, 22 * weight, gap=12, layer=1, head=1.6)
    draw.arrow(graph, spot, spot + 0.6 * vector, draw.BLUE, 2.2, layer=6)
    graph.plot(*spot, "o", color="black", ms=5, zorder=7)
    label = f"$P_{{ij}} = {weight}$\n$T_{{ij}}$ turns by {degrees}°"
    graph.text(spot[0], spot[1] - 0.12, label, ha="center", va="top", fontsize=10)
draw.arrow(graph, (0, 0), 0.6 * OWN, "black", 2.2, layer=6)
graph.plot(0, 0, "o", color="black", ms=5, zorder=7)
graph.text(-0.1, -0.08, "query $i$", ha="right", va="top", fontsize=11)
draw.bare(graph, (-2.1, 2.1), (-2.0, 1.7), "Vectors at a query and at three keys")
for vector in CARRIED:
    draw.arrow(query, (0, 0), vector, draw.ORANGE, 1.6)
draw.arrow(query, (0, 0), MEAN, draw.GREEN, 2.6)
draw.arrow(query, (0, 0), OWN, "black", 2.2)
draw.arrow(query, MEAN, OWN, draw.RED, 2.2)
marks = (
    *((1.06 * CARRIED[j], f"$T_{{i{j + 1}}} u_{j + 1}$", draw.ORANGE, "left") for j in range(3)),
    (OWN + np.array([-0.04, 0.03]), "$u_i$", "black", "right"),
    (MEAN + np.array([0.02, 0.08]), "$(Wu)_i$", draw.GREEN, "left"),
    (0.75 * OWN + 0.25 * MEAN + np.array([0, 0.09]), "$(Lu)_i$", draw.RED, "center"),
)
for spot, text, colour, side in marks:
    query.text(*spot, text, color=colour, ha=side, va="center", fontsize=12)
draw.bare(query, (-0.7, 1.0), (-0.4, 1.1), "At the query")
plt.show()

# %% [markdown]
# A **random-walk connection Laplacian** is more than such a difference. It is $L = I - D^{-1} S$
# with symmetric weights $w_{ij} = w_{ji} \ge 0$, $D_i = \sum_j w_{ij}$, and blocks
# $S_{ij} = w_{ij} O_{ij}$, where $O_{ij}$ is an isometry from the metric at $j$ to the metric at
# $i$ and the way back undoes the way there, $O_{ji} = O_{ij}^{-1}$. Such operators are
# self-adjoint, have spectra in $[0, 2]$, and are energies: $\langle u, L u \rangle$ sums the
# squared differences $\lVert u_i - O_{ij} u_j \rVert^2$ over the edges. This is what makes them
# useful, and an attention layer is none of it by itself: softmax rows sum to 1, but queries and
# keys play different parts, so $P$ is in no sense symmetric, and $T$ is whatever training made of
# it.
#
# ## 2. What the theorems say
#
# CW5 lists the conditions, CW6 asks what a single head can do, CW7 what several can. CW12 and CW13
# say what is left when the conditions hold only in part. Each theorem is a list of clauses with
# permanent names.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# ## 3. Four conditions and where the spectrum lies
#
# The conditions of CW5, on all edges, with some $\pi > 0$ and some metrics $G_i$:
#
# | | condition | for attention |
# |---|---|---|
# | (a) | $\sum_j P_{ij} = 1$ | softmax gives it; a sink or a killed walk breaks it |
# | (b) | $\pi_i P_{ij} = \pi_j P_{ji}$ | the walk is reversible; softmax alone does not give it |
# | (c) | $T_{ij}^\top G_i T_{ij} = G_j$ | lengths are preserved; training does not ask for it |
# | (d) | $T_{ji} = T_{ij}^{-1}$ | there and back is the identity; one head: $T^2 = I$ |
#
# They do not buy the same thing. (a) and (c), with a stationary $\pi$ in place of (b), already give
# the energy identity (CW5.energy) and a contraction $\lVert W u \rVert \le \lVert u \rVert$, hence
# a spectrum in the disc $|z - 1| \le 1$ (CW5.contraction). Reversibility (b) and inverse pairs (d)
# together turn the disc into the segment $[0, 2]$, because they make $L$ self-adjoint, and nothing
# less does (CW5.self_adjoint, CW5.spectrum).
#
# Six spectra of $L$. The disc is grey, the segment green. The first two belong to layers of 16
# tokens and width 2. The other four are the exact counterexamples of the theorem: each has three of
# the four conditions (CW5.each_is_needed).

# %%
rng = np.random.default_rng(3)
N = 16
TOKENS = draw.on_circle(N) + 0.1 * rng.standard_normal((N, 2))
LOGITS = TOKENS @ np.array([[9.0, 5.0], [-5.0, 9.0]]) @ TOKENS.T
SYMMETRIC = (LOGITS + LOGITS.T) / 2
ANGLES = rng.uniform(-180, 180, (N, N))
MIRROR = np.array([[1.0, 0.0], [0.0, -1.0]])


def turns(angles: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
    """Rotations, some of them after a reflection: orthogonal matrices (n, n, 2, 2)."""
    blocks = np.array([[rotation(a) for a in row] for row in angles])
    return np.where(mirrored[..., None, None], blocks @ MIRROR, blocks)


FLIPS = rng.random((N, N)) < 0.5
FLIPS = np.triu(FLIPS, 1) | np.triu(FLIPS, 1).T
anything = turns(ANGLES, FLIPS)
# A reflection is its own inverse; a rotation is undone by the opposite angle.
skew = np.triu(ANGLES, 1) - np.triu(ANGLES, 1).T
paired = turns(np.where(FLIPS, np.triu(ANGLES, 1) + np.triu(ANGLES, 1).T, skew), FLIPS)

laplacian = laplacians.connection_laplacian(np.exp(SYMMETRIC), paired)
contraction = Walk(softmax_walk(LOGITS), anything).generator()


def of_witness(identifier: str) -> np.ndarray:
    """The generator of an exact counterexample of CW5."""
    entries = {str(k): v for k, v in step_of(THEOREMS["CW5"], identifier).values.items()}
    return Walk(real(entries["P"]), real(entries["T"])).generator()


PANELS = (
    ("(a) to (d): symmetric logits, paired turns", laplacian),
    ("(a) and (c): any logits, any turns", contraction),
    ("without (a): $P = 2$ on one token", of_witness("no_rows")),
    ("without (b): the 3-cycle", of_witness("no_balance")),
    ("without (c): triangle with holonomy 8", of_witness("no_isometry")),
    ("without (d): a quarter turn", of_witness("no_inverse")),
)
figure, panels = plt.subplots(2, 3, figsize=(12.5, 6), gridspec_kw={"hspace": 0.3})
for axes, (title, generator) in zip(panels.flat, PANELS, strict=True):
    draw.disc(axes, title)
    draw.spectrum(axes, eigvals(generator))
    axes.set(xlim=(-1.5, 2.5), ylim=(-1.3, 1.3))
plt.show()

# %% [markdown]
# Red dots lie outside the disc. Without (a) or (c) the eigenvalues $-1$ and $-1/4$ are negative:
# $L$ is no energy. Without (b) or (d) they stay in the disc, as (a), (c) and a stationary law
# demand, but leave the segment. Two consequences of the disc deserve a sentence. Every eigenvalue
# of $W$ has modulus at most 1: no isometric attention layer amplifies. And $L u = 0$ only for
# tokens that agree along all edges, $u_i = T_{ij} u_j$; how many such $u$ there are is a question
# about holonomy: see the notebook `reversibility_and_holonomy`.
#
# A self-loop is an edge too, from a token to itself. There (d) reads $T_{ii}^2 = I$, not
# $T_{ii} = I$: one token with $T_{11} = -1$ has $L = 2$, so the end of the segment is attained
# (CW5.self_loops).
#
# The four counterexamples as the theorem holds them, evaluated exactly:

# %%
for name in ("no_rows", "no_balance", "no_isometry", "no_inverse"):
    witness = step_of(THEOREMS["CW5"], name)
    shown = formulas.rule_formulas(witness)[: len(witness.values)]
    show(f"{prose(witness.because)} **{outcome(witness)}**", "$$" + r",\quad ".join(shown) + "$$")

# %% [markdown]
# ## 4. A single head
#
# One head has one $T$, so (d) is $T^2 = I$. That settles the matter: with reversible attention the
# head's generator is a connection Laplacian for *some* metrics iff $T^2 = I$ (CW6.involution).
# Isometry is not enough and is not even a separate condition. A rotation preserves lengths and
# fails, unless it is a half turn. An oblique involution changes lengths and passes, since every
# involution is an isometry for the metric $G = I + T^\top T$. In the pictures the outlined curve is
# the unit circle of the metric, the grey shape is its image; for the oblique involution the metric
# is $I + T^\top T$, and its unit circle is an ellipse that is mapped onto itself.

# %%
OBLIQUE = np.array([[1.0, 1.0], [0.0, -1.0]])
HEADS = {
    "identity": np.eye(2),
    "reflection": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "oblique involution": OBLIQUE,
    "rotation by 60°": rotation(60),
}
P = softmax_walk(SYMMETRIC[:8, :8])
GAUGE = np.array([rotation(a) for a in ANGLES[0, :8]])
figure, panels = plt.subplots(2, 5, figsize=(15, 5.8), gridspec_kw={"wspace": 0.3, "hspace": 0.1})
for (name, T), (above, below) in zip(HEADS.items(), panels.T, strict=False):
    metric = np.eye(2) + T.T @ T if name.startswith("oblique") else None
    draw.image_of_circle(above, T, (0, 0), 1.0, metric)
    draw.bare(above, (-1.5, 1.5), (-1.5, 1.5), name)
    draw.disc(below)
    draw.spectrum(below, eigvals(Walk(P, T).generator()))
    below.set(xlim=(-0.3, 2.3), ylim=(-1.3, 1.3))
above, below = panels[:, 4]
spots = draw.on_circle(8, radius=1.1)
for spot, frame in zip(spots, GAUGE, strict=True):
    for column, colour in zip(frame.T, (draw.BLUE, draw.RED), strict=True):
        draw.arrow(above, spot, spot + 0.4 * column, colour, head=0.7)
draw.bare(above, (-1.6, 1.6), (-1.6, 1.6), "not one $T$: $T_{ij} = R_i R_j^{-1}$")
draw.disc(below)
edges = GAUGE[:, None] @ np.swapaxes(GAUGE, -1, -2)[None, :]
draw.spectrum(below, eigvals(Walk(P, edges).generator()))
below.set(xlim=(-0.3, 2.3), ylim=(-1.3, 1.3))
plt.show()

# %% [markdown]
# The eigenvalues of $P \otimes T$ are the products of those of $P$ and of $T$ (CW6.spectrum): the
# identity doubles those of $P$, a reflection gives each of them both signs, a rotation turns them
# out of the real line. The last column is no single head: frames $R_i$ that differ from token to
# token give the transports $R_i R_j^{-1}$, which are not constant, satisfy (c) and (d), and have
# the spectrum of the identity (CW6.examples).
#
# The same as a table. The defects are those of CW9: numbers between 0 and 1 that vanish iff the
# property holds, here for $G = I$; $T^2 = I$ is decided on the entries.

# %%
rows = []
for name, T in HEADS.items():
    isometric, paired_up = laplacians.metric_defect(P, T), laplacians.inverse_symmetry_defect(P, T)
    square = bool((np.round(T @ T, 9) == np.eye(2)).all())
    imaginary = np.abs(eigvals(Walk(P, T).generator()).imag).max()
    rows.append(f"{name} | {'yes' if square else 'no'} | {isometric:.3f} | {paired_up:.3f} | "
                f"{imaginary:.3f} | {'yes' if square else 'no'}")  # fmt: skip
table(
    "head | $T^2 = I$ | metric defect, $G = I$ | inverse-symmetry defect "
    "| largest imaginary part | Laplacian for some $G$",
    rows,
)

# %% [markdown]
# ## 5. Several heads are rigid
#
# Suppose every head is a perfect isometry, all for one metric. The walk of the layer mixes them:
# $T_{ij} = \sum_h g^h_{ij} O_h$ with $O_h = H T^h$ and gates that depend on the edge. A mean of
# isometries is shorter than its parts unless they agree. CW7 gives the loss exactly: for two heads
# at an angle $\theta$ the singular value is $\sigma^2 = 1 - 2 g (1-g)(1 - \cos\theta)$. The curves
# are this formula (CW7.two_heads), the dots are singular values of the mixed matrices.

# %%
FINE, COARSE = np.linspace(0, 1, 101), np.linspace(0, 1, 11)
figure, axes = plt.subplots(figsize=(8.6, 5))
for theta, colour in zip((30, 60, 90, 120, 150, 180), plt.cm.viridis(np.linspace(0, 0.85, 6)),
                         strict=True):  # fmt: skip
    curve = np.sqrt(np.maximum(0, 1 - 2 * FINE * (1 - FINE) * (1 - np.cos(np.deg2rad(theta)))))
    axes.plot(FINE, draw.tidy(curve), color=colour, lw=1.5)
    mixed = [svd(g * np.eye(2) + (1 - g) * rotation(theta), compute_uv=False)[1] for g in COARSE]
    axes.plot(COARSE, draw.tidy(mixed), "o", color=colour, ms=4)
    # The last curve comes to a point: its label goes beside it.
    where, shift, side = (0.56, (4, 8), "left") if theta == 180 else (0.5, (0, 4), "center")
    axes.annotate(f"$\\theta = {theta}°$", (where, curve[50]), shift, color=colour, ha=side,
                  textcoords="offset points", fontsize=10.5)  # fmt: skip
axes.set(xlabel="gate $g$ of head 1 on the edge", ylabel=r"singular value $\sigma$ of $T_{ij}$",
         xlim=(0, 1), ylim=(0, 1.06))  # fmt: skip
axes.set_title("What is left of lengths when two isometries are mixed", fontsize=12)
plt.show()

# %% [markdown]
# Only opposite heads ($\theta = 180°$) with equal gates erase a vector (CW7.singular). The images
# of the unit circle, for gates from 1 to 0: the identity mixed with a rotation by 120°, which
# shrinks every vector, and with a reflection, which keeps the vectors that both heads treat alike.

# %%
figure, panels = plt.subplots(2, 5, figsize=(12.5, 5.4))
for row, second in zip(panels, (rotation(120), MIRROR), strict=True):
    for axes, g in zip(row, (1, 0.75, 0.5, 0.25, 0), strict=True):
        draw.image_of_circle(axes, g * np.eye(2) + (1 - g) * second, (0, 0), 1.0)
        draw.bare(axes, (-1.1, 1.1), (-1.1, 1.1), f"$g = {g:g}$")
for row, text in zip(panels, ("rotation", "reflection"), strict=True):
    row[0].text(-1.3, 0, f"identity and {text}", rotation=90, ha="right", va="center", fontsize=11)
plt.show()

# %% [markdown]
# In a whole layer the loss shows in the spectrum. Heads are random rotations and reflections,
# attention is a softmax of random logits: with one head the eigenvalues of $L$ may reach the edge
# of the disc $|z - 1| \le 1$, with more heads they crowd around 1. The metric defect (CW9) tells
# the same.

# %%
figure, panels = plt.subplots(1, 4, figsize=(14, 3.9))
source = np.random.default_rng(8)
attention = softmax_walk(1.5 * source.standard_normal((8, N, N)))
matrices = turns(source.uniform(-180, 180, (1, 8)), source.random((1, 8)) < 0.5)[0]
for axes, heads in zip(panels, (1, 2, 4, 8), strict=True):
    layer = multi_head_walk(attention[:heads], matrices[:heads] / heads)
    draw.disc(axes, f"{heads} head{'s' * (heads > 1)}, metric defect "
              f"{laplacians.metric_defect(layer.weights, layer.transports):.2f}")  # fmt: skip
    draw.spectrum(axes, eigvals(layer.generator()))
    axes.set(xlim=(-0.3, 2.3), ylim=(-1.3, 1.3))
plt.show()

# %% [markdown]
# Weight and transport of an edge may trade a factor without changing the layer, and the metrics may
# be chosen freely. One could hope that another choice repairs the loss. It does not: if $P$ is
# irreducible and some pair of heads that are active on one edge differs, *no* $P'$, $T'$ and
# metrics with the same blocks satisfy (a) and (c) (CW7.any_gauge). With full support, isometric
# heads give a connection Laplacian iff they are one and the same $O$, $O^2 = I$, and $P$ is
# reversible (CW7.laplacian): several heads in name, one in substance.
#
# One hypothesis of this is easy to overlook: the heads are isometric for *one* metric. The theorem
# holds an exact counterexample otherwise (CW7.one_metric). Two oblique involutions, each an
# isometry for an ellipse of its own, have the mean $\mathrm{diag}(1, -1)$, an honest reflection.

# %%
one_metric = step_of(THEOREMS["CW7"], "one_metric")
first, second = (real(O) for O in next(v for k, v in one_metric.values.items() if str(k) == "O"))
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6))
titles = ("$O_1$ with $G_1 = I + O_1^\\top O_1$", "$O_2$ with $G_2 = I + O_2^\\top O_2$",
          "their mean, with $G = I$")  # fmt: skip
for axes, O, title in zip(panels, (first, second, (first + second) / 2), titles, strict=True):
    metric = np.eye(2) if O is not first and O is not second else np.eye(2) + O.T @ O
    draw.image_of_circle(axes, O, (0, 0), 1.0, metric)
    draw.bare(axes, (-1.5, 1.5), (-1.5, 1.5), title)
plt.show()
show(prose(one_metric.because) + f" The checker evaluates the witness exactly: "
     f"**{outcome(one_metric)}**.")  # fmt: skip

# %% [markdown]
# ## 6. What is left: scaled isometries
#
# Nothing in training asks for isometries. The next best hope is that each is an isometry times a
# number, $T_{ij} = c_{ij} O_{ij}$ with $c_{ij} > 0$. CW12 says what that buys, exactly: put
# $\rho_i = \sum_j P_{ij} c_{ij}$ and $P'_{ij} = P_{ij} c_{ij} / \rho_i$; then
# $I - W = \mathrm{diag}(1 - \rho_i) + \mathrm{diag}(\rho_i)(I - W')$, where $W'$ walks with $P'$
# and the isometries. The layer is an isometric walk plus a *potential*: a token with $\rho_i < 1$
# loses length at every step, one with $\rho_i > 1$ gains. Whether $W'$ is a connection Laplacian is
# then the question of (b) and (d) again, for $P'$.

# %%
scales = np.exp(0.5 * rng.standard_normal((N, N)))
weights = softmax_walk(LOGITS)
rho = (weights * scales).sum(axis=1)
tilted = weights * scales / rho[:, None]
scaled = Walk(weights, scales[..., None, None] * anything).generator()
isometric = Walk(tilted, anything).generator()
figure, (bars, axes) = plt.subplots(1, 2, figsize=(12, 4.4), width_ratios=[1.2, 1])
potential = draw.tidy(1 - rho)
bars.bar(range(1, N + 1), potential, color=[draw.RED if v < 0 else draw.BLUE for v in potential])
bars.axhline(0, color="black", lw=0.8)
bars.set(xlabel="token $i$", ylabel=r"potential $1 - \rho_i$")
bars.set_title("The potential: gains (red) and losses (blue)", fontsize=12)
draw.disc(axes, "Spectra of $I - W$ (blue) and of $I - W'$ (orange)")
axes.add_patch(plt.Circle((1, 0), draw.tidy([rho.max()])[0], fill=False, ls="--", ec="0.4"))
draw.spectrum(axes, eigvals(isometric), draw.ORANGE)
draw.spectrum(axes, eigvals(scaled))
reach = 0.2 + rho.max()
axes.set(xlim=(1 - reach, 1 + reach), ylim=(-reach, reach))
plt.show()

# %% [markdown]
# The dashed circle has radius $\max_i \rho_i$ and contains the spectrum of $I - W$. If the
# transports are scaled isometries only up to errors, $T_{ij} = c_{ij} O_{ij} + E_{ij}$ with
# $\lVert E_{ij} \rVert \le e \, c_{ij}$, the identity holds up to a remainder of norm at most
# $e \max_i \rho_i$, the norm being the largest over tokens. Measured on random errors of three
# sizes:


# %%
def largest_image(blocks: np.ndarray, tries: np.ndarray) -> float:
    """max_i |(X u)_i| over some u with |u_j| = 1 for all j: a lower bound of the max-norm."""
    images = np.einsum("ijab,tjb->tia", blocks, tries)
    return float(norm(images, axis=-1).max())


noise, probes = rng.standard_normal((N, N, 2, 2)), rng.standard_normal((400, N, 2))
probes /= norm(probes, axis=-1, keepdims=True)
rows = []
for size in (0.01, 0.1, 0.3):
    errors = size * scales[..., None, None] * noise / norm(noise, 2, axis=(-2, -1))[..., None, None]
    remainder = largest_image(weights[..., None, None] * errors, probes)
    bound = size * rho.max()
    rows.append(f"{size} | {remainder:.3f} | {bound:.3f} | {'yes' if remainder <= bound else 'NO'}")
table(r"$e$ | remainder, largest found | $e \max_i \rho_i$ | within", rows)

# %% [markdown]
# ## 7. What is left: from defects to spectra
#
# Now let (b) and (d) fail a little. Then $L$ is no longer self-adjoint, but its spectrum cannot run
# away. CW13 bounds it: with $W^*$ the adjoint of $W$ for $\langle u, v \rangle_{\pi, G}$, real
# parts lie between the extreme eigenvalues of $I - (W + W^*)/2$ (CW13.real), and imaginary parts
# are at most $\frac12 \lVert W - W^* \rVert$ (CW13.imaginary). The second is what (b) and (d) leave
# to be desired: CW13.defects writes $\lVert W - W^* \rVert$, in the Hilbert-Schmidt norm, as a sum
# of the two failures over the edges.
#
# The family below starts as a connection Laplacian. With the parameter $t$ a flow around a circle
# of tokens is added, so that (b) fails, and the turns of an edge and of its reverse drift apart, so
# that (d) fails. As much flows into a token as out of it, so $\pi$ stays stationary; (a) and (c)
# stay too. The shaded region is the numerical range of $L$, all values
# $\langle u, L u \rangle_{\pi, G}$ at unit vectors; the box is the bound.

# %%
FLOW = np.exp(SYMMETRIC[:10, :10])
FLOW /= FLOW.sum()
AROUND = np.roll(np.eye(10), 1, axis=1)
LEAST = FLOW.sum(axis=1).min()


def family(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walk matrix, transports, and I - W in an orthonormal basis for the inner product."""
    flow = FLOW + 4 * t * LEAST * AROUND
    law = flow.sum(axis=1)
    apart = skew[:10, :10] / 3 + t * np.abs(skew[:10, :10]) / 3
    walk = flow / law[:, None]
    edges = turns(apart, np.zeros((10, 10), bool))
    root = np.repeat(np.sqrt(law), 2)
    block = Walk(walk, edges).generator() * root[:, None] / root[None, :]
    return walk, edges, block


def numerical_range(block: np.ndarray, count: int = 180) -> np.ndarray:
    """Corners of the polygon of `count` lines that touch the numerical range."""
    turn = 2 * np.pi * (np.arange(count) + 0.5) / count
    sides = []
    for angle in turn:
        rotated = np.exp(-1j * angle) * block
        sides.append(eigvalsh((rotated + rotated.conj().T) / 2)[-1])
    this, after = np.array(sides), np.roll(sides, -1)
    # Where the lines x cos a + y sin a = h of two neighbouring angles meet.
    width = np.sin(2 * np.pi / count)
    across = (this * np.sin(turn + 2 * np.pi / count) - after * np.sin(turn)) / width
    up = (after * np.cos(turn) - this * np.cos(turn + 2 * np.pi / count)) / width
    return draw.tidy(np.stack([across, up], axis=1))


figure, panels = plt.subplots(1, 3, figsize=(13.5, 4.6))
rows = []
for axes, t in zip(panels, (0, 0.25, 1), strict=True):
    walk, edges, block = family(t)
    even, odd = eigvalsh((block + block.T) / 2), norm(block - block.T, 2) / 2
    found = eigvals(block)
    draw.disc(axes, f"$t = {t:g}$")
    corners = numerical_range(block)
    axes.fill(*corners.T, facecolor=draw.ORANGE, alpha=0.3, edgecolor=draw.ORANGE, lw=1)
    box = draw.tidy([even[0], -odd, even[-1] - even[0], 2 * odd])
    axes.add_patch(plt.Rectangle(box[:2], *box[2:], fill=False, ls="--", ec="0.3", zorder=3))
    draw.spectrum(axes, found)
    axes.set(xlim=(-0.3, 2.3), ylim=(-1.2, 1.2))
    # Computed eigenvalues are those of a matrix this close, and the box moves by no more.
    slack = len(block) ** 2 * np.finfo(float).eps * norm(block)
    inside = bool((np.abs(found.imag) <= odd + slack).all()
                  and (found.real >= even[0] - slack).all()
                  and (found.real <= even[-1] + slack).all())  # fmt: skip
    rows.append(f"{t:g} | {laplacians.reversibility_defect(walk).defect:.3f} | "
                f"{laplacians.inverse_symmetry_defect(walk, edges):.3f} | "
                f"{laplacians.operator_defect(walk, edges):.3f} | {np.abs(found.imag).max():.3f} | "
                f"{odd:.3f} | {'yes' if inside else 'NO'}")  # fmt: skip
plt.show()
table(
    "$t$ | reversibility defect | inverse-symmetry defect | operator defect "
    r"| largest imaginary part | $\frac12 \lVert W - W^* \rVert$ | spectrum in the box",
    rows,
)

# %% [markdown]
# At $t = 0$ region and box are the segment. For larger $t$ the region fattens, and the eigenvalues
# use only part of it: the bound is what the defects allow, not what happens.
#
# ## 8. The derivations
#
# A metric is written $G_i = F_i^\top F_i$ with an invertible frame $F_i$, as every positive
# definite matrix can be. Eigenvectors are split into real and imaginary part, so that all arrays
# are real.

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ## 9. A numeric look
#
# ### A small walk, exactly
#
# Three tokens, width 2, a metric at each token, all numbers rational. The weights are symmetric, so
# the walk is reversible with $\pi_i = D_i$; the transports are $T_{ij} = F_i^{-1} Q_{ij} F_j$ with
# rational rotations and reflections $Q_{ij}$, $Q_{ji} = Q_{ij}^{-1}$. A second walk shares $\pi$,
# but its flow goes around and its turns are not paired.


# %%
def exact(rows) -> np.ndarray:
    return np.vectorize(fmpq, otypes=[object])(np.array(rows, dtype=object))


def inverse(F: np.ndarray) -> np.ndarray:
    return exact([[F[1, 1], -F[0, 1]], [-F[1, 0], F[0, 0]]]) / (
        F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
    )


def turn(p: int, q: int, r: int) -> np.ndarray:
    """The rotation with cosine p/r and sine q/r."""
    return exact([[p, -q], [q, p]]) / fmpq(r)


FRAMES = [exact([[1, 0], [0, 1]]), exact([[2, 1], [0, 1]]), exact([[1, 0], [1, 3]])]
FLIP, SWAP = exact([[1, 0], [0, -1]]), exact([[0, 1], [1, 0]])
PAIRED = [[FLIP, turn(3, 4, 5), SWAP], [turn(3, -4, 5), FRAMES[0], turn(5, 12, 13)],
          [SWAP, turn(5, -12, 13), SWAP]]  # fmt: skip
LOOSE = [[turn(3, 4, 5), turn(3, 4, 5), SWAP], [turn(5, 12, 13), FLIP, turn(5, 12, 13)],
         [FLIP, turn(3, 4, 5), SWAP]]  # fmt: skip
SYMMETRIC_FLOW = exact([[1, 2, 1], [2, 2, 5], [1, 5, 3]])
CIRCLING_FLOW = SYMMETRIC_FLOW + exact([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
U = exact([[1, -2], [3, 1], [0, 2]])


def walk(flow: np.ndarray, turned: list) -> dict:
    """The walk with this flow pi_i P_ij and these turns, seen in the frames, with tokens u."""
    law = flow.sum(axis=1)
    edges = [[inverse(FRAMES[i]) @ turned[i][j] @ FRAMES[j] for j in range(3)] for i in range(3)]
    return {"P": flow / law[:, None], "pi": law, "T": np.array(edges), "F": np.array(FRAMES),
            "F^{-1}": np.array([inverse(F) for F in FRAMES]), "u": U, "v": U[::-1]}  # fmt: skip


def energies(w: dict) -> tuple[fmpq, fmpq]:
    """2 <u, Lu> and the sum of squared differences over the edges."""
    moved = np.array([[w["T"][i, j] @ U[j] for j in range(3)] for i in range(3)])
    L_u = U - (w["P"][..., None] * moved).sum(axis=1)
    inner = sum(w["pi"][i] * (w["F"][i] @ U[i]) @ (w["F"][i] @ L_u[i]) for i in range(3))
    gaps = [[w["F"][i] @ (U[i] - moved[i, j]) for j in range(3)] for i in range(3)]
    flow = w["pi"][:, None] * w["P"]
    return 2 * inner, sum(flow[i, j] * gaps[i][j] @ gaps[i][j] for i in range(3) for j in range(3))


all_four, three = walk(SYMMETRIC_FLOW, PAIRED), walk(CIRCLING_FLOW, LOOSE)
show("$$" + r",\quad ".join(values(P=all_four["P"], **{"P'": three["P"]})) + "$$")
for name, found in (("(a) to (d)       ", all_four), ("(a), law, and (c)", three)):
    form, squares = energies(found)
    print(f"{name}: 2 <u, Lu> = {form}, sum over edges = {squares}")

# %% [markdown]
# Steps of CW5 and their hypotheses, evaluated at both walks for every index. The energy identity
# and the contraction hold at both. The step from (b) and (d) to self-adjointness needs hypotheses
# that the second walk lacks, and fails there.

# %%
for name, found in (("(a) to (d)", all_four), ("(a), law, (c)", three)):
    for identifier in ("energy", "contraction", "adjoint_back"):
        exact_check(f"{identifier} at {name}", step_of(THEOREMS["CW5"], identifier), found, 38)

# %% [markdown]
# The scaled walk of section 6 and the defects of section 7, on the same tokens: CW12 with
# $c_{ij} = 1 + ij/2$ on the transports of the second walk, CW13 at both walks, where $\pi_i$ is a
# square, so that $\sqrt{\pi_i}$ is rational too.

# %%
C = exact([[1 + fmpq(i * j, 2) for j in (1, 2, 3)] for i in (1, 2, 3)])
metrics = np.array([F.T @ F for F in FRAMES])
turned = {"P": three["P"], "c": C, "O": three["T"], "G": metrics, "u": U}
for identifier in ("generator", "stochastic", "scaled_isometry"):
    exact_check(f"{identifier}, CW12", step_of(THEOREMS["CW12"], identifier), turned, 38)
for name, found in (("(a) to (d)", all_four), ("(a), law, (c)", three)):
    arrays = {key: found[key] for key in ("P", "T", "F", "F^{-1}", "u", "v")} | {
        "t": exact([2, 3, 3])
    }
    for identifier in ("isometric_coordinates", "hilbert_schmidt"):
        step = step_of(THEOREMS["CW13"], identifier)
        exact_check(f"{identifier} at {name}", step, arrays, 38)

# %% [markdown]
# ### In floating point, with a bound

# %%
REPORT = verify((*IDS, *owners(CLAIMS)), stress=False)
RECORDS = {record.id: record for record in REPORT.theorems}
closing.in_floating_point(RECORDS)

# %% [markdown]
# ## 10. False twins

# %%
closing.twins(THEOREMS, RECORDS, 5)

# %% [markdown]
# ### Which hypothesis is needed where

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 11. What the paper claims, and what is true

# %%
closing.verdicts(RECORDS, CLAIMS)

# %% [markdown]
# The reduction is right where its conditions hold, and the conditions are more than stochastic
# rows, reversible attention and transports that respect a metric: the way back along an edge must
# undo the way there. For one head this forces an involution, and several heads that satisfy it are
# one head. What survives for layers that do not satisfy it is an isometric walk plus a potential,
# and bounds on the spectrum by the defects.
