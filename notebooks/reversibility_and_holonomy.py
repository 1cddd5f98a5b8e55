# %% [markdown]
# # Reversibility and holonomy
#
# Two questions about an attention layer are questions about walks on its graph. Does attention
# circulate, does more flow from one token to another than back? Then the layer is no connection
# Laplacian. And does a vector that is carried around a cycle of tokens come back turned? If it
# never does, the layer is nothing but its attention, seen in frames that differ from token to
# token. The first is a property of the attention weights alone, *reversibility*; the second, of the
# transports alone, *holonomy*. This notebook draws both, says when they are absent, how to measure
# them when they are not, and what the layer tends to when tokens fill a curved space.
#
# | here | in a transformer |
# |---|---|
# | $S_{ij}$, $P = \mathrm{softmax}(S)$ | logits and attention of one head, query $i$, key $j$ |
# | flow $F_{ij} = \pi_i P_{ij}$, $\pi P = \pi$ | how often a walker goes from $i$ to $j$ |
# | $M$ with $S_{ij} = x_i^\top M x_j$ | $W_Q W_K^\top$, scaled |
# | transport $T_{ij}$ | matrix on the edge; for one head $(W_V W_O)^\top$ |
# | $W$, blocks $P_{ij} T_{ij}$ | the layer without biases |
#
# What a connection Laplacian is, and what reversibility does for it, is the subject of the notebook
# `laplacian_reduction`.

# %%
from itertools import combinations, pairwise

import matplotlib.pyplot as plt
import numpy as np
from flint import fmpq, fmpq_mat
from numpy.linalg import eigvalsh
from reading import closing
from reading import pictures as draw
from reading.statements import clauses, number, owners, show, table
from reading.twins import exact_check, step_of, values

from numerics.laplacians import continuum, holonomy
from numerics.laplacians import laplacian as laplacians
from numerics.walks import Walk, chains, multi_head_walk, softmax_walk
from paper_checks.run import verify
from theorems import catalogue
from theorems.connection_walks.steps import cycle_basis as wheel

IDS = ("CW8", "CW9", "CW10", "CW14")
CLAIMS = ("role-of-reversibility", "operator-tools", "classical-operators")
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}


def rotation(degrees: float) -> np.ndarray:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[c, -s], [s, c]])


def flow_of(P: np.ndarray) -> np.ndarray:
    return laplacians.stationary_distribution(P)[:, None] * P


# %% [markdown]
# ## 1. What the theorems say
#
# CW8 says when softmax attention is reversible, CW9 what to measure when it is not, CW10 what
# holonomy does, CW14 what the layer tends to when tokens fill a curve or a surface.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# ## 2. The flow of attention
#
# Let a walker jump from query to key with the probabilities of attention, for a long time. The flow
# $F_{ij} = \pi_i P_{ij}$ is how often the edge $i \to j$ is used. In the figure a grey edge is what
# flows both ways, a red arrow is the surplus of one direction over the other. The walk is
# reversible iff there are no red arrows; a film of the walker then looks the same when it is run
# backwards.

# %%
N = 6
rng = np.random.default_rng(4)
SPOTS = draw.on_circle(N)
NAMES = [str(k + 1) for k in range(N)]
LOGITS = 1.2 * rng.standard_normal((N, N))
RANDOM = softmax_walk(LOGITS)
BALANCED = softmax_walk((LOGITS + LOGITS.T) / 2)
CYCLE = np.roll(np.eye(3), 1, axis=1)


def defect(P: np.ndarray) -> str:
    return f"defect {number(laplacians.reversibility_defect(P).defect)}"


figure, panels = plt.subplots(1, 3, figsize=(13, 4.6))
draw.flow_graph(panels[0], flow_of(BALANCED), SPOTS, NAMES, 60)
draw.bare(panels[0], (-1.3, 1.3), (-1.3, 1.3), f"symmetric logits: {defect(BALANCED)}")
draw.flow_graph(panels[1], flow_of(CYCLE), draw.on_circle(3), NAMES[:3], 15)
draw.bare(panels[1], (-1.3, 1.3), (-1.3, 1.3), f"3-cycle: {defect(CYCLE)}")
draw.flow_graph(panels[2], flow_of(RANDOM), SPOTS, NAMES, 60)
draw.bare(panels[2], (-1.3, 1.3), (-1.3, 1.3), f"random logits: {defect(RANDOM)}")
plt.show()

# %% [markdown]
# ## 3. When softmax attention is reversible
#
# ### Around triangles
#
# With full support no $\pi$ is needed to decide it: the walk is reversible iff the products of
# weights around each triangle agree in both directions (CW8.kolmogorov). For a softmax this is a
# statement on logits. Row terms cancel in the softmax, and what remains is the skew part
# $B = (S - S^\top)/2$: the sum of $B$ around each triangle must vanish, that is, $B$ must be a
# difference of potentials, $B_{ij} = u_i - u_j$ (CW8.potential). Symmetric logits are one way to
# get this, but not the only one. In the first example $e^S$ has three equal rows and is not
# symmetric; the second changes one entry:


# %%
def exact(rows) -> np.ndarray:
    return np.vectorize(fmpq, otypes=[object])(np.array(rows, dtype=object))


def stochastic(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(axis=1)[:, None]


def triangles(P: np.ndarray) -> str:
    """Products around all triangles, one way and the other."""
    pairs = [(P[i, j] * P[j, k] * P[k, i], P[i, k] * P[k, j] * P[j, i])
             for i, j, k in combinations(range(len(P)), 3)]  # fmt: skip
    kind = "reversible" if all(a == b for a, b in pairs) else "not reversible"
    return ", ".join(f"{a} and {b}" for a, b in pairs) + f": {kind}"


same_rows = stochastic(exact(3 * [[1, 2, 3]]))
turned = stochastic(exact([[1, 2, 3], [1, 2, 4], [1, 2, 3]]))
show("$$" + r",\quad ".join(values(P=same_rows, **{"P'": turned})) + "$$")
print("P: ", triangles(same_rows))
print("P':", triangles(turned))

# %% [markdown]
# The potential even gives the stationary law in closed form: $\pi_i$ is proportional to
# $Z_i e^{-2 u_i}$ with $Z_i = \sum_j e^{S_{ij}}$ (CW8.law). Logits with a column term and a
# symmetric part, the law by this formula and by a direct solution of $\pi P = \pi$:

# %%
column = np.array([0.8, -0.4, 0.1, 0.9, -1.1, 0.3])
S = (LOGITS + LOGITS.T) / 2 + column[None, :]
u = ((S - S.T) / 2).mean(axis=1)
law = np.exp(S).sum(axis=1) * np.exp(-2 * u)
solved = laplacians.stationary_distribution(softmax_walk(S))
table(
    "token | " + " | ".join(NAMES),
    (
        name + " | " + " | ".join(number(value, 4) for value in numbers)
        for name, numbers in (
            ("$u_i$", u),
            ("$Z_i e^{-2 u_i}$, scaled", law / law.sum()),
            (r"$\pi_i$", solved),
        )
    ),
)

# %% [markdown]
# ### Areas
#
# For logits $S_{ij} = x_i^\top M x_j$ only the skew part $K = (M - M^\top)/2$ matters, and the sum
# of $B$ around a triangle of tokens is $K(x_j - x_i, x_k - x_i)$ (CW8.tokens). In the plane $K$ is
# a multiple of the area form, so the cycle sum is an area: with $K_{12} = 1$, twice the signed area
# of the triangle. Blue areas are positive, orange ones negative. Tokens in the plane are reversible
# iff all these areas vanish: iff the tokens lie on a line (CW8.lines) or $M$ is symmetric
# (CW8.all_tokens).

# %%
SKEW = exact([[1, 2], [0, 1]])
CONFIGURATIONS = (
    ("any tokens", exact([[0, 0], [3, 1], [2, 3], [-1, 2], [1, 1]]), SKEW),
    ("tokens on a line", exact([[0, 0], [2, 2], [3, 3], [-1, -1], [1, 1]]), SKEW),
    ("symmetric $M$", exact([[0, 0], [3, 1], [2, 3], [-1, 2], [1, 1]]), exact([[1, 1], [1, 1]])),
)


def cycle_sum(S: np.ndarray, i: int, j: int, k: int) -> fmpq:
    B = (S - S.T) / fmpq(2)
    return B[i, j] + B[j, k] + B[k, i]


def area(one: np.ndarray, other: np.ndarray) -> fmpq:
    """Twice the signed area of the triangle with these two sides."""
    return one[0] * other[1] - one[1] * other[0]


def signed_triangle(axes, corners: np.ndarray, amount: fmpq) -> None:
    colour = draw.BLUE if amount > 0 else draw.ORANGE if amount < 0 else draw.GREY
    spots = corners.astype(float)
    axes.fill(*spots.T, facecolor=colour, alpha=0.35, edgecolor=colour, lw=1.2)
    flat = area(corners[1] - corners[0], corners[2] - corners[0]) == 0
    place = spots.mean(axis=0) + (np.array([0.4, -0.4]) if flat else 0)
    axes.text(*place, str(amount), ha="center", va="center", fontsize=13)


figure, panels = plt.subplots(1, 3, figsize=(13, 4.6))
for axes, (title, x, M) in zip(panels, CONFIGURATIONS, strict=True):
    scores = x @ M @ x.T
    for triangle in ((0, 1, 4), (4, 1, 2), (0, 3, 4)):
        signed_triangle(axes, x[list(triangle)], cycle_sum(scores, *triangle))
    for k, spot in enumerate(x.astype(float), start=1):
        axes.plot(*spot, "o", color="black", ms=5)
        axes.annotate(str(k), spot, (5, 5), textcoords="offset points", fontsize=11)
    reversible = all(cycle_sum(scores, *t) == 0 for t in combinations(range(5), 3))
    draw.bare(axes, (-1.6, 3.6), (-1.5, 3.6),
              f"{title}: {'reversible' if reversible else 'not reversible'}")  # fmt: skip
plt.show()

# %% [markdown]
# ### A plane that $K$ does not see
#
# In four dimensions tokens need not be collinear to be reversible. Take
# $K(x, y) = (x_1 y_2 - x_2 y_1) + (x_3 y_4 - x_4 y_3)$: the cycle sum is twice the signed area of
# the triangle's shadow in the first two coordinates, plus that of its shadow in the last two. On a
# *Lagrangian* plane the shadows are mirror images and cancel; on another plane they add up. Both
# rows show one configuration of tokens that spans a plane in $\mathbb{R}^4$.

# %%
FORM = exact([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1], [0, 0, -1, 0]])
PLACES = exact([[0, 0], [3, 0], [1, 2]])
PLANES = (
    ("Lagrangian plane", exact([[1, 0, 1, 0], [0, 1, 0, -1]])),
    ("another plane", exact([[1, 0, 1, 0], [0, 1, 0, 1]])),
)
figure, panels = plt.subplots(2, 2, figsize=(9, 5.6))
for row, (name, plane) in zip(panels, PLANES, strict=True):
    x = PLACES @ plane
    total = cycle_sum(x @ FORM @ x.T, 0, 1, 2)
    for axes, first in zip(row, (0, 2), strict=True):
        shadow = x[:, first : first + 2]
        signed_triangle(axes, shadow, area(shadow[1] - shadow[0], shadow[2] - shadow[0]))
        for k, spot in enumerate(shadow.astype(float), start=1):
            axes.plot(*spot, "o", color="black", ms=5)
            axes.annotate(str(k), spot, (5, 4), textcoords="offset points", fontsize=11)
        draw.bare(axes, (-0.6, 3.6), (-2.4, 2.4), f"coordinates {first + 1} and {first + 2}")
    walk = softmax_walk(x.astype(float) @ FORM.astype(float) @ x.astype(float).T / 6)
    row[0].text(-1.0, 0, f"{name}\ncycle sum {total}\n{defect(walk)}", ha="right", va="center",
                fontsize=11)  # fmt: skip
plt.show()

# %% [markdown]
# This is as far as it goes: a totally isotropic space has dimension at most
# $d - \mathrm{rank}(K)/2$ (CW8.dimension), so tokens that span more are never reversible, whatever
# their number. And all this needs full support. With a mask there may be no triangles at all, and
# the walk around a square of CW8.masks shows that they do not suffice.
#
# ## 4. Causal attention
#
# A causal walker moves only backwards and ends at the first token. The stationary law is
# $\delta_1$, every flow but that of the loop at token 1 is zero, and detailed balance holds, for
# nothing is left to balance. Reporting this as reversible would be a mistake: there is no
# $\pi > 0$, which the reduction needs. The defect is therefore 1 *by definition* wherever a state
# is transient, and the reason is reported with it (CW8.closed_sets, CW8.absorbing_laws).

# %%
CAUSAL = softmax_walk(np.where(np.tril(np.ones((N, N))) > 0, LOGITS, -np.inf))
NAIVE = flow_of(CAUSAL)
rows = []
for name, P in (("symmetric logits", BALANCED), ("random logits", RANDOM), ("3-cycle", CYCLE),
                ("causal", CAUSAL), ("every token sees itself only", np.eye(N))):  # fmt: skip
    found = laplacians.reversibility_defect(P)
    states = ", ".join(str(s + 1) for s in found.transient) or "none"
    asymmetry = "-" if found.edge_asymmetry is None else number(found.edge_asymmetry)
    rows.append(f"{name} | {number(found.defect)} | {found.reason} | {states} | "
                f"{'yes' if found.reducible else 'no'} | {asymmetry}")  # fmt: skip
table("walk | defect | because of | transient | reducible | largest asymmetry of an edge", rows)
print(f"flow defect of the causal walk with the law delta_1: {np.abs(NAIVE - NAIVE.T).sum() / 2:g}")

# %% [markdown]
# The definition makes the defect jump. Let a share $t$ of causal attention leak to all tokens
# alike: then every state is recurrent, and the flow defect is small, since nearly all flow is in
# the loop at token 1. The largest asymmetry of an edge, $|F_{ij} - F_{ji}| / (F_{ij} + F_{ji})$,
# does not hide behind that loop: it tends to 1. Both are reported.

# %%
LEAKS = 10.0 ** -np.arange(0, 5.25, 0.25)
found = [laplacians.reversibility_defect((1 - t) * CAUSAL + t / N) for t in LEAKS]
figure, axes = plt.subplots(figsize=(8.2, 4.2))
axes.semilogx(LEAKS, draw.tidy([f.defect for f in found]), "o-", color=draw.BLUE, ms=4,
              label="flow defect")  # fmt: skip
axes.semilogx(LEAKS, draw.tidy([f.edge_asymmetry or 0 for f in found]), "o-", color=draw.RED, ms=4,
              label="largest asymmetry of an edge")  # fmt: skip
axes.plot(1e-6, 1, "s", color=draw.BLUE, ms=8, label="defect at $t = 0$, by definition")
axes.set(xlabel="share $t$ of attention that leaks to all tokens", ylim=(-0.05, 1.08))
axes.set_xticks([1e-6, 1e-4, 1e-2, 1], ["0", "$10^{-4}$", "$10^{-2}$", "1"])
axes.minorticks_off()
axes.legend(fontsize=10)
axes.set_title("A causal walk with a leak", fontsize=12)
plt.show()

# %% [markdown]
# ## 5. What to measure when a walk is not reversible
#
# The time reversal $P^*_{ij} = \pi_j P_{ji} / \pi_i$ is the walk seen backwards. The mean of both,
# $(P + P^*)/2$, is reversible with the same $\pi$ and the same energy (CW9.reversibilisations). The
# random walk of the first figure, its reversal and their mean:

# %%
figure, panels = plt.subplots(1, 3, figsize=(13, 4.6))
for axes, P, title in zip(
    panels,
    (RANDOM, chains.time_reversal(RANDOM), chains.additive_reversibilisation(RANDOM)),
    ("$P$", "$P^*$", "$(P + P^*)/2$"),
    strict=True,
):
    draw.flow_graph(axes, flow_of(P), SPOTS, NAMES, 60)
    draw.bare(axes, (-1.3, 1.3), (-1.3, 1.3), f"{title}: {defect(P)}")
plt.show()

# %% [markdown]
# The product $P P^*$ is reversible too, but it may fall apart: for the 3-cycle it is the identity,
# three states that no longer see each other.

# %%
turning = exact([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
back = turning.T  # its stationary law is uniform
show("$$" + r",\quad ".join(values(P=turning, **{"P^*": back, "P P^*": turning @ back})) + "$$")
print("closed classes of P, P P*:", len(chains.closed_classes(CYCLE)),
      len(chains.closed_classes(chains.multiplicative_reversibilisation(CYCLE))))  # fmt: skip

# %% [markdown]
# Five defects tell how far a layer is from each property of a connection Laplacian. Each lies in
# $[0, 1]$ and vanishes iff the property holds; CW9 has the proofs. Examples with eight tokens and
# width 2, metrics $G_i = I$:

# %%
n = 8
source = np.random.default_rng(11)
scores = 1.2 * source.standard_normal((n, n))
even = softmax_walk((scores + scores.T) / 2)
uneven = softmax_walk(scores)
causal = softmax_walk(np.where(np.tril(np.ones((n, n))) > 0, scores, -np.inf))
angles = source.uniform(-180, 180, (n, n))
skew = np.triu(angles, 1) - np.triu(angles, 1).T
paired = np.array([[rotation(a) for a in row] for row in skew])
heads = softmax_walk(1.2 * source.standard_normal((2, n, n)))
mixed = multi_head_walk(heads, np.array([rotation(25), rotation(-70)]) / 2)
scales = np.exp(0.4 * source.standard_normal((n, n)))
EXAMPLES = {
    "connection Laplacian": (even, paired),
    "any logits, paired turns": (uneven, paired),
    "one head, a rotation": (even, rotation(60)),
    "one head, a reflection": (even, np.array([[0.0, 1.0], [1.0, 0.0]])),
    "two rotations as heads": (mixed.weights, mixed.transports),
    "scaled turns": (uneven, scales[..., None, None] * paired),
    "causal, a rotation": (causal, rotation(60)),
    "half of each row goes to a sink": (even / 2, paired),
}
rows = []
for name, (P, T) in EXAMPLES.items():
    measured = [laplacians.stochasticity_defect(P)]
    if measured[0] < 0.1:  # the other four are defined for row-stochastic P
        measured += [
            laplacians.reversibility_defect(P).defect,
            laplacians.metric_defect(P, T),
            laplacians.inverse_symmetry_defect(P, T),
            laplacians.operator_defect(P, T),
        ]
    cells = [number(value) for value in measured] + (5 - len(measured)) * ["-"]
    rows.append(f"{name} | " + " | ".join(cells))
table("walk | stochasticity | reversibility | metric | inverse symmetry | operator", rows)

# %% [markdown]
# ## 6. Holonomy
#
# Now the transports. Carry a vector along an edge, along the next one, and on until it is back
# where it started. Left, five tokens whose turns add up to 72°: the vector returns turned (orange).
# Right, turns that add up to 0: it returns as it left. What a closed walk does to vectors is its
# *holonomy*; the connection is *flat* if every closed walk does nothing.

# %%
RING = draw.on_circle(5, radius=1.25)
STEPS = (np.array([30.0, -20.0, 40.0, 10.0, 12.0]), np.array([30.0, -20.0, 40.0, -60.0, 10.0]))
figure, panels = plt.subplots(1, 2, figsize=(11, 5.2))
for axes, turns in zip(panels, STEPS, strict=True):
    total = float(turns.sum())
    direction = 20.0
    for k in range(5):
        draw.dial(axes, RING[k], np.deg2rad(direction), 0.36, draw.BLUE)
        if k == 0 and total:
            draw.arrow(axes, RING[0], RING[0] + 0.36 * rotation(direction + total)[:, 0],
                       draw.ORANGE, 2.2, layer=5, head=0.8)  # fmt: skip
        end = RING[(k + 1) % 5]
        draw.arrow(axes, RING[k], end, draw.GREY, 1.4, bend=0.25, gap=30, layer=1)
        axes.text(*draw.beside(end, RING[k], 0.34), f"{turns[k]:+g}°", ha="center", va="center",
                  fontsize=11, color="0.3")  # fmt: skip
        direction += turns[k]
    draw.bare(axes, (-2, 2), (-1.8, 1.9), f"holonomy {total:g}°")
plt.show()

# %% [markdown]
# There are infinitely many closed walks, but few need to be tried. Choose a spanning tree. Along
# the tree frames can be chosen so that nothing turns; each edge off the tree closes one cycle with
# it, its *fundamental cycle*, and the connection is flat iff these few holonomies are the identity
# (CW10.fundamental_cycles). Tree edges are black, the edge that closes the cycle is orange; the
# angles are the holonomies at token 1.

# %%
LINKS = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4), (0, 3))
LINKED = np.zeros((N, N))
TURNED = np.zeros((N, N, 2, 2))
for (i, j), angle in zip(LINKS, (40, 10, -30, 20, 60, -20, 90, 25), strict=True):
    LINKED[i, j] = LINKED[j, i] = 1
    TURNED[i, j], TURNED[j, i] = rotation(angle), rotation(-angle)
tree = holonomy.spanning_tree(LINKED)
found = holonomy.holonomies(LINKED, TURNED)


def to_root(node: int) -> list[int]:
    path = [node]
    while path[-1] != tree.root:
        path.append(tree.parents[path[-1]])
    return path


figure, panels = plt.subplots(1, 1 + len(found), figsize=(15.5, 3.9), gridspec_kw={"wspace": 0.05})
for axes, chord in zip(panels, (None, *found), strict=True):
    paths = [to_root(end) for end in chord or ()]
    inside = {frozenset(hop) for path in paths for hop in pairwise(path)}
    for i, j in LINKS:
        in_tree = tree.parents[i] == j or tree.parents[j] == i
        look = {"colour": "black", "width": 2.2} if in_tree else {"dashed": True, "colour": "0.6"}
        if chord is not None and in_tree and frozenset((i, j)) not in inside:
            look = {"colour": draw.PALE, "width": 2.2}
        draw.line(axes, SPOTS[i], SPOTS[j], **look)
    title = "tree and other edges"
    if chord is not None:
        i, j = chord
        draw.line(axes, SPOTS[i], SPOTS[j], draw.ORANGE, 3, layer=2)
        h = found[chord]
        title = f"edge {i + 1}, {j + 1}: {np.rad2deg(np.arctan2(h[1, 0], h[0, 0])):.0f}°"
    draw.nodes(axes, SPOTS, NAMES, 0.15)
    draw.bare(axes, (-1.3, 1.3), (-1.3, 1.3), title)
plt.show()

# %% [markdown]
# It is tempting to take any cycle basis instead, for instance the triangles of a graph, or a
# minimum cycle basis. Holonomies do not commute, and then a basis may deceive. The theorem holds an
# exact counterexample, the wheel with four spokes. Every rim edge carries a matrix $C$ with
# $C^3 = I$, the spokes carry $I$. Four cycles through all tokens, independent modulo 2 and over the
# rationals, use three rim edges each and close up. A triangle with the hub does not
# (CW10.cycle_bases).

# %%
HUB_AND_RIM = np.concatenate([[[0.0, 0.0]], draw.on_circle(4, 135)])
figure, panels = plt.subplots(1, 5, figsize=(15, 3.4), gridspec_kw={"wspace": 0.05})
for axes, cycle in zip(panels, (*wheel.CYCLES, (1, 2, 3)), strict=True):
    hops = list(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    product = exact([[1, 0], [0, 1]])
    for r, v in hops:
        product = product @ exact(wheel.transport(r, v))
    known = {"I": wheel.ONE, "C": wheel.TURN, "C^{-1}": wheel.BACK}
    name = next(name for name, rows in known.items() if (product == exact(rows)).all())
    for r, v in combinations(range(1, 6), 2):
        if wheel.joined(r, v):
            draw.line(axes, HUB_AND_RIM[r - 1], HUB_AND_RIM[v - 1], layer=0)
    for r, v in hops:
        # A product T_rv ... carries what is at v to r.
        on_rim = 1 not in (r, v)
        draw.arrow(axes, HUB_AND_RIM[v - 1], HUB_AND_RIM[r - 1],
                   draw.BLUE if on_rim else "black", 2.4 if on_rim else 1.4, gap=13)  # fmt: skip
    draw.nodes(axes, HUB_AND_RIM, [str(k) for k in range(1, 6)], 0.15)
    draw.bare(axes, (-1, 1), (-1, 1), f"holonomy ${name}$")
plt.show()

# %% [markdown]
# Blue edges carry $C$ or its inverse. For the metric
# $\begin{pmatrix} 2 & -1 \\ -1 & 2 \end{pmatrix}$ all transports are isometries, so nothing is
# wrong with the example but its holonomy.
#
# ## 7. What holonomy does to the layer
#
# If the connection is flat, the frames $g_i$ straighten it out: $T_{ij} = g_i g_j^{-1}$, and
# $W = g (P \otimes I) g^{-1}$. The layer then is $d$ copies of the bare attention walk, seen in
# frames that differ from token to token; its spectrum is that of $P$, each eigenvalue $d$ times
# (CW10.spectrum). Holonomy splits the copies.
#
# A ring of eight tokens, each looking at both neighbours alike, with turns of the plane that add up
# to $\theta$. The eigenvalues of $L$ are $1 - \cos((2 \pi k + \theta)/8)$, $k = 0, \dots, 7$, each
# twice. Lines are this formula, dots are computed from the block matrix. At 0° the pairs $k$ and
# $8 - k$ coincide, as they do for $P$ itself.

# %%
EIGHT = np.roll(np.eye(8), 1, axis=1)
BOTH = (EIGHT + EIGHT.T) / 2


def ring_turns(theta: float, even: bool = True) -> np.ndarray:
    """Turns that add up to theta degrees: evenly spread, or all on the last edge."""
    steps = np.full(8, theta / 8) if even else np.array([0.0] * 7 + [theta])
    blocks = np.zeros((8, 8, 2, 2))
    for k, step in enumerate(steps):
        blocks[k, (k + 1) % 8], blocks[(k + 1) % 8, k] = rotation(step), rotation(-step)
    return blocks


def lowest(theta: float) -> np.ndarray:
    L = Walk(BOTH, ring_turns(theta, even=False)).generator()
    return eigvalsh((L + L.T) / 2)


figure, axes = plt.subplots(figsize=(8.6, 4.8))
FINE = np.linspace(0, 360, 181)
for k in range(8):
    axes.plot(FINE, draw.tidy(1 - np.cos((2 * np.pi * k + np.deg2rad(FINE)) / 8)),
              color=draw.BLUE, lw=1)  # fmt: skip
for theta in range(0, 361, 30):
    axes.plot(np.full(16, theta), draw.tidy(lowest(theta)), "o", color="black", ms=3)
axes.set(xlabel=r"holonomy $\theta$ of the ring, in degrees", ylabel="eigenvalues of $L$",
         xlim=(-6, 366), ylim=(-0.08, 2.08))  # fmt: skip
axes.set_xticks(range(0, 361, 60))
axes.set_title("Holonomy splits the eigenvalues; flat at 0° and 360°", fontsize=12)
plt.show()

# %% [markdown]
# The lowest eigenvalue feels the holonomy. It is 0 iff some vector comes back from every closed
# walk unchanged, and any section of unit vectors bounds it from above (CW10.cheeger): the section
# carried along the tree pays for the holonomy on a single edge, the section that turns evenly pays
# a little on each edge, and is here the best one.

# %%
rows = []
for theta in (0, 45, 90, 180):
    edges, uniform = ring_turns(theta, even=False), np.full(8, 1 / 8)
    along_tree = np.tile([1.0, 0.0], (8, 1))
    turning_evenly = np.array([rotation(theta * k / 8)[:, 0] for k in range(8)])
    energies = [float(laplacians.dirichlet_energy(BOTH, edges, None, uniform, section))
                for section in (along_tree, turning_evenly)]  # fmt: skip
    cells = [number(value, 4) for value in (lowest(theta)[0], *energies)]
    rows.append(f"{theta}° | " + " | ".join(cells))
table(
    "holonomy | lowest eigenvalue | energy, carried along the tree | energy, turning evenly", rows
)

# %% [markdown]
# How many dimensions of tokens survive the layer unchanged, $W u = u$? As many as the holonomies
# fix (CW10.kernel): all $d$ dimensions iff the connection is flat, on each connected part. Ranks
# are computed exactly; the turns are rational.

# %%
PYTHAGOREAN = exact([[3, -4], [4, 3]]) / fmpq(5)
IDENTITY, MIRROR = exact([[1, 0], [0, 1]]), exact([[1, 0], [0, -1]])


def ring(size: int, last: np.ndarray) -> fmpq_mat:
    """I - W of a ring with the identity on all edges but one."""
    d = len(last)
    rows = [[fmpq(int(r == c)) for c in range(size * d)] for r in range(size * d)]
    back = {str(MIRROR): MIRROR, str(PYTHAGOREAN): PYTHAGOREAN.T}.get(str(last), last)
    one = exact(np.eye(d, dtype=int))
    for k in range(size):
        nxt = (k + 1) % size
        for i, j, T in ((k, nxt, last if nxt == 0 else one), (nxt, k, back if nxt == 0 else one)):
            for a in range(d):
                for b in range(d):
                    rows[i * d + a][j * d + b] -= T[a, b] / 2
    return fmpq_mat(rows)


def kernel(*parts: fmpq_mat) -> int:
    return sum(part.ncols() - part.rank() for part in parts)


MINUS = exact([[-1]])
rows = (
    ("ring of 5, flat, $d = 2$", kernel(ring(5, IDENTITY)), "all of the plane"),
    ("ring of 5, the holonomy is a rotation", kernel(ring(5, PYTHAGOREAN)), "nothing"),
    ("ring of 5, the holonomy is a reflection", kernel(ring(5, MIRROR)), "a line"),
    ("two flat rings", kernel(ring(5, IDENTITY), ring(4, IDENTITY)), "the plane, on each ring"),
    ("ring of 4, one edge with $-1$, $d = 1$", kernel(ring(4, MINUS)), "nothing"),
)
table("graph and transports | $\\dim \\ker (I - W)$ | fixed by all holonomies",
      (f"{name} | {size} | {fixed}" for name, size, fixed in rows))  # fmt: skip

# %% [markdown]
# A single head has one $T$ on every edge, and a closed walk of length $l$ has the holonomy $T^l$.
# It is flat iff $T^k = I$ for the greatest common divisor $k$ of all lengths
# (CW10.constant_transport). With self-loops, as in attention without a strict mask, $k = 1$: only
# $T = I$ is flat.
#
# ## 8. Many tokens
#
# Let tokens fill a curve or a surface, let attention be a softmax of
# $-|x - y|^2 / (2 \varepsilon)$, and let transports be parallel transport. With infinitely many
# tokens and small $\varepsilon$, $(W - I)/\varepsilon$ tends to half the connection Laplacian of
# geometry, plus a drift along the gradient of the log density (CW14). On a circle with holonomy
# $\theta$ the eigenvalues of $2 L / \varepsilon$ tend to $(k + \theta/2\pi)^2$: the curves of
# section 7 near 0, for a ring with more and more tokens. On vector fields of the sphere, which has
# no flat frame at all, they tend to $l(l+1) - 1$: 1 six times, 5 ten times, 11 fourteen times.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.8))
TURN = np.linspace(0, 2 * np.pi, 121)
for k, colour in zip(range(-2, 2), (draw.RED, draw.ORANGE, draw.BLUE, draw.GREEN), strict=True):
    left.plot(TURN / (2 * np.pi), draw.tidy((k + TURN / (2 * np.pi)) ** 2), color=colour, lw=1.2)
    angles = np.linspace(0, 2 * np.pi, 9)
    dots = [continuum.circle_eigenvalue(k, float(theta), 0.02)[0] for theta in angles]
    left.plot(angles / (2 * np.pi), draw.tidy(dots), "o", color=colour, ms=4)
    place, side = ((1.03, (k + 1) ** 2), "left") if k >= 0 else ((-0.03, k**2), "right")
    left.text(*place, f"$k = {k}$", color=colour, ha=side, va="center", fontsize=10)
left.set(xlabel=r"holonomy $\theta / 2\pi$", ylabel=r"eigenvalues of $2 L / \varepsilon$",
         xlim=(-0.2, 1.2), ylim=(-0.2, 4.5))  # fmt: skip
left.set_title(r"Circle: $(k + \theta/2\pi)^2$, and dots at $\varepsilon = 0.02$", fontsize=12)
for level, copies in ((1, 6), (5, 10), (11, 14)):
    right.axhline(level, color=draw.PALE, lw=1.5, zorder=0)
    right.text(31, level, f"{level} (×{copies})", va="center", fontsize=11)
for eps, colour in ((0.08, draw.ORANGE), (0.02, draw.BLUE)):
    spectrum = continuum.sphere_spectrum(continuum.SPHERE_TOKENS, eps)
    right.plot(range(1, 31), draw.tidy(spectrum, 4), "o", color=colour, ms=4,
               label=rf"$\varepsilon = {eps:g}$")  # fmt: skip
right.set(xlabel="number of the eigenvalue", xlim=(0, 37), ylim=(0, 12))
right.legend(fontsize=10, loc="upper left")
right.set_title(f"Sphere, vector fields, {continuum.SPHERE_TOKENS} tokens", fontsize=12)
plt.show()

# %% [markdown]
# How fast the limit is approached is part of the statement: the error is proportional to
# $\varepsilon$. The orders below are slopes of the error in $\varepsilon$ on a double logarithmic
# scale, with the range of the local slopes. Where the limit is attained to rounding there is no
# slope to measure. With a density that is not uniform the drift is tested too.

# %%
RATES = continuum.rates()
figure, axes = plt.subplots(figsize=(8.6, 5))
kinds = (("circle, holonomy", draw.BLUE), ("circle, density", draw.GREEN), ("sphere", draw.ORANGE))
for kind, colour in kinds:
    axes.plot([], [], "o-", color=colour, ms=4, lw=1, label=kind)
    for rate in RATES:
        if rate.name.startswith(kind) and not rate.attained:
            axes.loglog(rate.epsilons, np.round(rate.errors, 9), "o-", color=colour, ms=4, lw=1)
axes.legend(fontsize=10, loc="lower right")
scale = np.array([1.2e-3, 8e-2])
axes.loglog(scale, 30 * scale, "--", color="black", lw=1)
axes.text(0.02, 0.9, "slope 1", fontsize=11, ha="right")
axes.set(xlabel=r"$\varepsilon$", ylabel="distance from the limit")
axes.set_title("All measured errors fall like $\\varepsilon$", fontsize=12)
plt.show()
table(
    "what is measured | limit | at the finest | order",
    (
        f"{rate.name} | {rate.target:.4g} | {rate.values[-1]:.5g} | "
        + ("limit attained" if rate.slope is None
           else f"{rate.slope:.3f} in [{rate.low:.3f}, {rate.high:.3f}]")
        for rate in RATES
    ),
)  # fmt: skip
print("all of them as expected:", all(rate.ok for rate in RATES))

# %% [markdown]
# ## 9. The derivations

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ## 10. A numeric look
#
# ### The tokens of the areas, exactly
#
# The cycle sums of section 3 for all triples of tokens, and the hypotheses of the steps that give
# them, in rational arithmetic.

# %%
for title, x, M in CONFIGURATIONS:
    arrays = {"x": x, "M": M, "r": exact([3, 0, -1, 2, 5]), "c": exact([1, 4, -2, 0, 1])}
    for identifier in ("token_cycle", "token_potential"):
        exact_check(f"{identifier}, {title}", step_of(THEOREMS["CW8"], identifier), arrays, 34)
third = exact([fmpq(1, 3)] * 3)
for identifier in ("reversed_law", "additive_flow", "quadratic", "multiplicative_flow"):
    arrays = {"P": turning, "pi": third, "x": exact([2, -1, 5])}
    exact_check(f"{identifier}, 3-cycle", step_of(THEOREMS["CW9"], identifier), arrays, 34)

# %% [markdown]
# ### In floating point, with a bound

# %%
REPORT = verify((*IDS, *owners(CLAIMS)), stress=False)
RECORDS = {record.id: record for record in REPORT.theorems}
closing.in_floating_point(RECORDS)

# %% [markdown]
# ## 11. False twins

# %%
closing.twins(THEOREMS, RECORDS, 5)

# %% [markdown]
# ### Which hypothesis is needed where

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 12. What the paper claims, and what is true

# %%
closing.verdicts(RECORDS, CLAIMS)

# %% [markdown]
# Reversibility is a property that softmax attention has only on special terms: a skew part of the
# logits that sees no area between the tokens. Causal attention that looks back at all never has it.
# Flatness asks that no closed walk does anything; a single head with self-loops has it only for
# $T = I$. The classical operators appear where a layer satisfies their conditions, and in the limit
# of many tokens with parallel transports. For all other layers the defects say how far they are
# from it.
