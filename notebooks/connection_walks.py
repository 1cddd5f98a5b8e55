# %% [markdown]
# # Attention as a connection walk
#
# A reader of transformers knows attention as three matrix products. This notebook reads the same
# layer as a *walk*: tokens are nodes, the attention matrix says how often a query visits a key, and
# a matrix on each edge says what happens to the vector that is fetched there. Graphs whose edges
# carry matrices have a theory of their own, that of connection Laplacians. Three theorems say
# exactly how attention fits into it.
#
# | here | in a transformer |
# |---|---|
# | $x_j$, column vector of width $d$ | token $j$, row $j$ of $X$ |
# | walk matrix $P$, entries $P_{ij} \ge 0$ | attention of query $i$ to key $j$ |
# | edge | a pair with $P_{ij} > 0$ |
# | transport $T$, or $T_{ij}$ on one edge | $(W_V W_O)^\top$, value and output projection |
# | walk $(W x)_i = \sum_j P_{ij} T_{ij} x_j$ | output of the layer without biases |
# | generator $I - W$ | the candidate for a Laplacian |
#
# Rows of $X$ are tokens, so the row form $X W_V W_O$ becomes the column form $T x_j$ with the
# transpose. Everything shown below as a statement, a formula or a verdict comes from the theorem
# objects and from checks that run here.

# %%
from random import Random

import matplotlib.pyplot as plt
import numpy as np
from flint import fmpq
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Wedge
from reading import closing
from reading.statements import clauses, outcome, prose, show
from reading.twins import exact_check, instance, rational, real, values

from numerics.properties import gated_mixture as gates_property
from numerics.walks import multi_head_walk, softmax_walk
from numerics.walks.transports import head_transports
from paper_checks import formulas
from paper_checks.run import check_theorem
from paper_checks.uses import settle_uses
from theorems import catalogue
from theorems.connection_walks import constant_transport as cw1
from theorems.connection_walks import edge_gauge as cw3
from theorems.connection_walks import gated_mixture as cw2

IDS = ("CW1", "CW2", "CW3")
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}

# %% [markdown]
# ## 1. What the theorems say
#
# CW1 is about one head, CW2 about several, CW3 about the freedom that remains: the operator of a
# layer does not determine which part of a block $P_{ij} T_{ij}$ is weight and which is transport.
# Each theorem is a list of clauses with permanent names.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# ## 2. A picture
#
# Seven words, three heads, width 2, a causal mask. The logits are small integers times $\log 2$, so
# every attention weight is a power of two over a sum of powers of two, a rational number: the layer
# of the picture is known exactly. Head 1 prefers the previous word, head 2 the first word, head 3
# the word itself.
#
# The transports are chosen to be told apart by eye. $3 T^1$ turns the plane, $3 T^2$ squeezes it
# along one axis, $3 T^3$ swaps the axes.

# %%
WORDS = ["rain", "fell", "on", "the", "old", "stone", "bridge"]
N, H = len(WORDS), 3
rng = Random(1)


def head(preferred) -> list[list[fmpq]]:
    """One causal head: softmax of integer logits times log 2, three more on the preferred key."""
    rows = []
    for i in range(N):
        powers = [2 ** (rng.randrange(3) + 3 * (j == preferred(i))) for j in range(i + 1)]
        rows.append([fmpq(p, sum(powers)) for p in powers] + [fmpq(0)] * (N - i - 1))
    return rows


ATTENTION = np.array([head(lambda i: i - 1), head(lambda i: 0), head(lambda i: i)])
third, fifth = fmpq(1, 3), fmpq(1, 5)
TURN = np.array([[3 * fifth, -4 * fifth], [4 * fifth, 3 * fifth]])
SQUEEZE = np.array([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1, 2)]])
SWAP = np.array([[fmpq(0), fmpq(1)], [fmpq(1), fmpq(0)]])
W_V = np.array([TURN.T, SQUEEZE.T, SWAP.T])
W_O = np.array([[[third, fmpq(0)], [fmpq(0), third]]] * H)
TRANSPORTS = np.array([(v @ o).T for v, o in zip(W_V, W_O, strict=True)])
HEAD_WEIGHTS = np.array([third] * H)
TOKENS = np.array([[fmpq(rng.randrange(-4, 5)) for _ in range(2)] for _ in WORDS])


layer = {cw2.A: ATTENTION, cw2.T: TRANSPORTS, cw2.w: HEAD_WEIGHTS, cw2.x: TOKENS}
mixed = instance(cw2.one_walk, layer)
EDGES = [(i, j) for i in range(N) for j in range(i + 1)]


def entry(name: str, *index: int) -> fmpq:
    """An entry of the mixed walk, with indices from 0."""
    return mixed.get(name, tuple(k + 1 for k in index))


WEIGHT = {(i, j): entry("P", i, j) for i, j in EDGES}
GATES = {(i, j): [entry("g", h, i, j) for h in range(H)] for i, j in EDGES}
TRANSPORT = {
    (i, j): np.array([[entry("M", i, j, a, b) for b in range(2)] for a in range(2)])
    for i, j in EDGES
}


# %% [markdown]
# The three heads become one walk. Its weights are the head mean, $w_h = 1/3$. On an edge the gate
# $g^h_{ij}$ is the share of head $h$ in the weight of that edge, and the transport of the edge is
# the mixture of the matrices $T^h / w_h = 3 T^h$ with these gates (CW2.gates,
# CW2.gates_are_weights). One edge worked out:

# %%
i, j = 2, 1
show(
    f"Query *{WORDS[i]}*, key *{WORDS[j]}*:",
    "$$" + r",\quad ".join(values(P=WEIGHT[i, j], g=GATES[i, j], T=TRANSPORT[i, j])) + "$$",
    f"The gates sum to {sum(GATES[i, j])}. Every row of $P$ sums to 1: "
    f"{all(sum(WEIGHT[i, j] for j in range(i + 1)) == 1 for i in range(N))}.",
)

# %% [markdown]
# In the first figure messages run from left to right along the arcs, from key to query; a loop
# under a word is its attention to itself.

# %%
COLOURS = ("#0072B2", "#E69F00", "#009E73")  # a colour-blind safe palette
PREFERENCES = ("previous word", "first word", "the word itself")
STEP, DROP, THICK = 0.82, 0.72, 13.0


def place(i: int, j: int) -> tuple[float, float]:
    """Where the edge from key j to query i is drawn: each pair has a place of its own."""
    return ((i + j) / 2, STEP * (i - j)) if i != j else (i, -DROP)


def words(axes, below: float, top: float) -> None:
    for k, word in enumerate(WORDS):
        axes.text(k, below, word, ha="center", va="top", fontsize=12)
    axes.set(xlim=(-0.6, N - 0.4), ylim=(below - 0.4, top), aspect="equal")
    axes.axis("off")


figure, axes = plt.subplots(figsize=(10, 8.8))
for i, j in EDGES:
    (x, y), width = place(i, j), THICK * float(WEIGHT[i, j])
    if i == j:
        axes.plot([i, i], [0, y], color="0.72", lw=width, solid_capstyle="butt", zorder=1)
    else:
        turn = np.linspace(0, np.pi, 60)
        across, up = x + (i - j) / 2 * np.cos(turn), y * np.sin(turn)
        axes.plot(across, up, color="0.72", lw=width, solid_capstyle="butt", zorder=1)
    start = 90.0
    for share, colour in zip(GATES[i, j], COLOURS, strict=True):
        end = start - 360 * float(share)
        wedge = Wedge((x, y), 0.22, end, start, facecolor=colour, edgecolor="white", lw=0.8)
        wedge.set_zorder(2)
        axes.add_patch(wedge)
        start = end
for k in range(N):
    axes.add_patch(Circle((k, 0), 0.07, color="black", zorder=3))
words(axes, -DROP - 0.34, STEP * (N - 1) + 0.35)
axes.set_ylim(bottom=-2.5)
keys = [
    Patch(color=colour, label=f"gate of head {h}: {text}")
    for h, (colour, text) in enumerate(zip(COLOURS, PREFERENCES, strict=True), start=1)
]
first = axes.legend(handles=keys, loc="lower left", frameon=False, fontsize=11)
axes.add_artist(first)
widths = [plt.Line2D([], [], color="0.72", lw=THICK * p, label=f"$P_{{ij}} = {p}$")
          for p in (0.1, 0.3, 1.0)]  # fmt: skip
axes.legend(handles=widths, loc="lower right", frameon=False, fontsize=11, handlelength=2.5)
axes.set_title("The head mean as a graph: weights as widths, gates as pies", fontsize=13)
plt.show()

# %% [markdown]
# The second figure draws the transport of each edge as what it does to the unit circle. Rows of
# the triangle are distances between query and key; follow the grey lines from an edge down to its
# key on the left and its query on the right, the lowest row is attention to the word itself.
#
# A single head carries one matrix, so every edge shows the same image (CW1.constant_transport).
# With three heads the image changes from edge to edge with the gates (CW2.constancy). Each image of
# the mixture stays inside the circle here, because the three matrices map the circle into the disc
# and gates are weights of a mean.

# %%
ARROWS = ("#0072B2", "#D55E00")


def image_of_circle(axes, matrix, centre: tuple[float, float], size: float) -> None:
    """The unit circle, its image under the matrix, and the images of both basis vectors."""
    matrix, centre = real(matrix), np.array(centre)
    turn = np.linspace(0, 2 * np.pi, 60)
    outline = size * matrix @ [np.cos(turn), np.sin(turn)] + centre[:, None]
    axes.add_patch(Circle(centre, size, facecolor="white", edgecolor="0.6", lw=0.7, zorder=2))
    axes.fill(*outline, facecolor="0.85", edgecolor="0.25", lw=0.9, zorder=3)
    for column, colour in zip(matrix.T, ARROWS, strict=True):
        axes.add_patch(
            FancyArrowPatch(
                centre, centre + size * column, color=colour, lw=1.5, shrinkA=0, shrinkB=0,
                arrowstyle="-|>,head_length=3.5,head_width=1.8", zorder=4,
            )
        )  # fmt: skip


def lattice(axes, transports: dict, title: str) -> None:
    """The transports of all edges, each at the place of its edge."""
    for k in range(N):
        for i, j in ((N - 1, k), (k, 0)):
            axes.plot(*zip((k, 0), place(i, j), strict=True) if i != j else ([k], [0]),
                      color="0.85", lw=0.8, zorder=1)  # fmt: skip
    for (i, j), matrix in transports.items():
        x, y = place(i, j)
        image_of_circle(axes, matrix, (x, y if i != j else 0.0), 0.36)
    words(axes, -0.5, STEP * (N - 1) + 0.5)
    axes.set_title(title, fontsize=13)


figure, (one, three) = plt.subplots(2, 1, figsize=(8.4, 13.2), gridspec_kw={"hspace": 0.06})
lattice(one, dict.fromkeys(EDGES, 3 * TRANSPORTS[0]), "One head, $T = 3\\,T^1$: one transport")
lattice(three, TRANSPORT, "Three heads: the gated mixture of $3\\,T^1$, $3\\,T^2$, $3\\,T^3$")
for h in range(H):
    centre = (5.3 + 0.88 * (h - 1), 4.4)
    image_of_circle(three, 3 * TRANSPORTS[h], centre, 0.36)
    three.text(centre[0], 4.85, f"$3\\,T^{h + 1}$", ha="center", va="bottom", fontsize=12)
lines = [plt.Line2D([], [], color=colour, lw=2, label=f"image of $e_{a}$")
         for a, colour in enumerate(ARROWS, start=1)]  # fmt: skip
for axes in (one, three):
    axes.legend(handles=lines, loc="upper left", frameon=False, fontsize=11)
plt.show()

# %% [markdown]
# ## 3. The derivations
#
# A quotient is never written. A gate is given by $P_{ij} g^h_{ij} = w_h A^h_{ij}$ together with
# the bound $0 \le w_h A^h_{ij} \le P_{ij}$, so that $0/0$ cannot slip through off the edges.

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ## 4. A numeric look
#
# ### The layer of the picture, exactly
#
# The statements are sums, so they can be evaluated at the layer of section 2 in rational
# arithmetic. The mask matters: off the edges a gate is not determined, the instance below fills it
# with arbitrary numbers, and the identity does not notice (CW2.off_support).


# %%
biases = {cw1.b_V: [fmpq(2), fmpq(-1)], cw1.b_O: [fmpq(1), fmpq(5)]}
head_1 = {cw1.P: ATTENTION[0], cw1.x: TOKENS, cw1.W_V: W_V[0], cw1.W_O: W_O[0], **biases}
exact_check("CW1.constant_transport, head 1", cw1.constant, head_1)
exact_check("CW1.biases, head 1", cw1.stochastic_shift, head_1)
exact_check("CW2.gates", cw2.one_walk, layer)
exact_check("CW2.gates_are_weights", cw2.gates_total, layer)
exact_check("CW2.off_support", cw2.share, layer)
exact_check("CW2.row_sums", cw2.row_sums, layer)

# %% [markdown]
# ### In floating point, with a bound
#
# A program computes the heads one after the other; the walk mixes the transports first and applies
# them edge by edge. The two orders of operations round differently, so their results differ. How
# much they may differ is not a matter of taste: the bound follows from the operations that were
# carried out and from the data, entry by entry, for the given number format. Two questions then
# have yes-or-no answers. Is the difference below the bound in every entry? Would a real error of
# eight bounds in a single entry be noticed?
#
# Each float is a rational number. So the layer can also be computed without any rounding from the
# very floats that the program was given, and both orders of operations compared with the truth.


# %%
def module(attention, x, w_v, w_o):
    """The layer as a program computes it, head by head."""
    return sum((a @ (x @ v)) @ o for a, v, o in zip(attention, w_v, w_o, strict=True))


def small_layer(dtype):
    allowed = np.tril(np.ones((N, N), bool))
    logits = np.log2(np.where(allowed, real(ATTENTION), 1)) * np.log(2)
    return gates_property.Sample(
        logits.astype(dtype), allowed, 1.0, real(TOKENS).astype(dtype),
        real(W_V).astype(dtype), real(W_O).astype(dtype), None,
    )  # fmt: skip


def large_layer(dtype):
    """100 queries and 101 keys, width 63, five heads of width 8, drawn from a seed."""
    source = np.random.default_rng(0)
    draw = lambda *shape: source.standard_normal(shape).astype(dtype)  # noqa: E731
    return gates_property.Sample(
        draw(5, 100, 101), None, 1.0, draw(101, 63), draw(5, 63, 8), draw(5, 8, 63), None
    )


answers = ["| layer | format | below the bound | 8 bounds noticed |", "|---|---|---|---|"]
for name, make in (("7 words", small_layer), ("100 × 101", large_layer)):
    for dtype in (np.float64, np.float32):
        sample = make(dtype)
        found = gates_property.residual(sample)
        parts = (sample.attention(), sample.x, sample.w_v, sample.w_o)
        walk = multi_head_walk(parts[0], head_transports(*parts[2:]))
        difference = np.abs(module(*parts) - walk.apply(sample.x))
        below, noticed = bool((difference <= found.bound).all()), found.compared().planted_rejected
        answers.append(f"| {name} | {np.dtype(dtype)} | {'yes' if below else 'NO'} "
                       f"| {'yes' if noticed else 'NO'} |")  # fmt: skip
show("\n".join(answers))

# %%
sample = small_layer(np.float32)
found = gates_property.residual(sample)
a, x, v, o = (rational(part) for part in (sample.attention(), sample.x, sample.w_v, sample.w_o))
truth = module(a, x, v, o)
bound = rational(found.bound)
for order, result in (("head by head", found.lhs), ("as one walk ", found.rhs)):
    near = (abs(rational(result) - truth) <= bound).all()
    print(f"{order} within the bound of the truth: {near}")
print("a fully masked row:", softmax_walk(np.full((1, 3), -np.inf)).tolist())

# %% [markdown]
# ## 5. Counterexamples
#
# ### Three heads can hide their gates
#
# With two heads, transports are the same on all edges only if the gates are, or if both heads
# transport alike (CW2.two_heads). It is tempting to say the same of every number of heads. The
# theorem holds a witness against it (CW2.three_heads): two tokens, width 1, three heads.

# %%
witness = cw2.three_heads
show(*(f"$${f}$$" for f in formulas.rule_formulas(witness)), prose(witness.because))
show(f"The checker evaluates it exactly: **{outcome(witness)}**.")

flat = instance(witness, witness.values)
gate_of = {(i, j): [flat.get("g", (h, i, j)) for h in (1, 2, 3)] for i in (1, 2) for j in (1, 2)}
rows = ["| query | key | gates | $T_{ij}$ |", "|---|---|---|---|"]
for (i, j), gates in gate_of.items():
    rows.append(f"| {i} | {j} | {', '.join(map(str, gates))} | {flat.get('M', (i, j, 1, 1))} |")
show("\n".join(rows))

# %% [markdown]
# Gates are points of a triangle, and the transport of an edge is a linear function on it. Along a
# level line gates move and transports do not. For two heads the triangle is a segment: there a
# linear function either is constant or takes each value at a single point.

# %%
corners = np.array([[0, 0], [1, 0], [0.5, 3**0.5 / 2]])
figure, axes = plt.subplots(figsize=(8.2, 7))
axes.add_patch(plt.Polygon(corners, closed=True, facecolor="none", edgecolor="0.3", lw=1.2))
ends = [float(flat.get("T", (h, 1, 1)) / flat.get("w", (h,))) for h in (1, 2, 3)]


def level(value: float) -> np.ndarray:
    """The two points where the level line meets the sides of the triangle."""
    points = []
    for p, q in ((0, 1), (1, 2), (2, 0)):
        t = (value - ends[p]) / (ends[q] - ends[p])
        if 0 <= t <= 1:
            points.append(corners[p] + t * (corners[q] - corners[p]))
    return np.array(sorted({tuple(np.round(point, 9)) for point in points}))


for value in (1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75):
    strong, line = value == 2, level(value)
    colour = COLOURS[0] if strong else "0.55"
    axes.plot(*line.T, color=colour, lw=2.2 if strong else 0.8, zorder=2 if strong else 1)
    text = f"$T_{{ij}} = {value:g}$" if strong else f"{value:g}"
    axes.text(*(line[-1] + (0.025, 0.01)), text, color=colour, va="center", fontsize=11)
for h, (corner, shift) in enumerate(zip(corners, (-0.04, -0.04, 0.03), strict=True), start=1):
    text = f"head {h} alone: $T^{h}/w_{h} = {ends[h - 1]:g}$"
    align = "top" if shift < 0 else "bottom"
    axes.text(corner[0], corner[1] + shift, text, ha="center", va=align, fontsize=11)
points: dict[tuple[float, float], list[str]] = {}
for edge, gates in gate_of.items():
    points.setdefault(tuple(real(gates) @ corners), []).append(str(edge))
for (x, y), edges in points.items():
    axes.plot(x, y, "o", color="black", ms=7, zorder=3)
    several = len(edges) > 1
    axes.annotate(
        ", ".join(edges),
        (x, y), (-8, 5) if several else (7, -6), textcoords="offset points", fontsize=10.5,
        ha="right" if several else "left", va="bottom" if several else "top",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip
axes.set(xlim=(-0.3, 1.3), ylim=(-0.12, 0.98), aspect="equal")
axes.axis("off")
axes.set_title("Gates of the four edges (query, key) in the triangle of three heads", fontsize=13)
plt.show()

# %% [markdown]
# ### One operator, two walks
#
# Weight and transport of an edge can trade a factor: $P_{ij} T_{ij}$ stays, and with it the whole
# operator (CW3.same_operator). What is said about $P$ alone is then a matter of choice
# (CW3.what_changes). Both walks below are row-stochastic on three nodes with width 1. A walk with
# positive weights is reversible iff the products of weights around each triangle agree in both
# directions (Kolmogorov's criterion). The first walk passes, the second does not, and they are one
# operator. In the figure an arrow runs from key to query, its width is the weight, and its label
# weight times transport. Blue edges turn one way around the triangle, orange ones the other; loops
# are left out.

# %%
turn = cw3.reversibility
pair = instance(turn, turn.values)
NODES = range(3)
first, second = (
    np.array([[(pair.get(p, (i + 1, j + 1)), pair.get(t, (i + 1, j + 1, 1, 1))) for j in NODES]
              for i in NODES])
    for p, t in (("p", "s"), ("p'", "s'"))
)  # fmt: skip
show(prose(turn.because), f"The checker evaluates the witness exactly: **{outcome(turn)}**.")
show("$$" + r",\quad ".join(values(P=first[..., 0], T=first[..., 1])) + "$$")
show("$$" + r",\quad ".join(values(**{"P'": second[..., 0], "T'": second[..., 1]})) + "$$")
print("equal blocks P T:   ", (first.prod(axis=2) == second.prod(axis=2)).all())
for name, walk in (("P ", first), ("P'", second)):
    around = walk[0, 1, 0] * walk[1, 2, 0] * walk[2, 0, 0]
    back = walk[0, 2, 0] * walk[2, 1, 0] * walk[1, 0, 0]
    verdict = "reversible" if around == back else "not reversible"
    print(f"triangle with {name}:   {around} one way, {back} the other: {verdict}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(12, 5.4), gridspec_kw={"wspace": 0.02})
angles = np.pi / 2 - 2 * np.pi * np.arange(3) / 3
spots = np.stack([np.cos(angles), np.sin(angles)], axis=1)
titles = ("$(P, T)$: reversible", "$(P', T')$: not reversible")
for axes, walk, title in zip(panels, (first, second), titles, strict=True):
    for i in NODES:
        axes.add_patch(Circle(spots[i], 0.13, facecolor="white", edgecolor="black", zorder=3))
        axes.text(*spots[i], str(i + 1), ha="center", va="center", fontsize=12, zorder=4)
        for j in NODES:
            if i == j:
                continue
            weight, transport = walk[i, j]
            onward = (j - i) % 3 == 1
            # From key to query, as messages run.
            axes.add_patch(
                FancyArrowPatch(
                    spots[j], spots[i], connectionstyle="arc3,rad=0.12", shrinkA=20, shrinkB=20,
                    arrowstyle="-|>,head_length=7,head_width=4", lw=9 * float(weight),
                    color=COLOURS[0] if onward else COLOURS[1],
                )
            )  # fmt: skip
            along = spots[i] - spots[j]
            side = np.array([along[1], -along[0]]) / np.hypot(*along)
            spot = (spots[i] + spots[j]) / 2 + (0.22 if onward else 0.31) * side
            # Outside, labels grow away from the arrow; inside there is room to centre them.
            slant = np.sign(np.round(side[0], 9)) if onward else 0.0
            align = {-1.0: "right", 0.0: "center", 1.0: "left"}[slant]
            axes.text(*spot, rf"${weight} \cdot {transport}$", ha=align, va="center", fontsize=11)
    axes.set(xlim=(-1.3, 1.3), ylim=(-0.85, 1.2), aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=13)
plt.show()

# %% [markdown]
# ### Every false twin

# %%
records = [check_theorem(identifier, stress=False) for identifier in IDS]
RECORDS = {record.id: record for record in settle_uses(records)}
closing.twins(THEOREMS, RECORDS)

# %% [markdown]
# ### Which hypothesis is needed where

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 6. What the paper claims, and what is true

# %%
closing.verdicts(RECORDS)

# %% [markdown]
# None of this makes the generator $I - W$ of a layer a connection Laplacian. That takes more of $P$
# and of the transports, and CW3.what_changes says that both depend on how weight and transport are
# told apart.
