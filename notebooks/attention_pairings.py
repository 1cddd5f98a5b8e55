# %% [markdown]
# # Five architectures from one definition
#
# Attention, causal attention, linear attention, tensor attention and recurrent networks are usually
# presented as five inventions. The third paper derives them from one framework of *knowledge
# worlds* and *attention pairings*. Only its abstract is at hand, so this suite fixes the
# definitions itself, and then asks of each architecture: is it an instance of the definition,
# exactly? And what does the definition add: what does it explain, and where does it end?
#
# | here | in a transformer |
# |---|---|
# | world: masses $\mu_j \ge 0$ on pairs $(k_j, v_j)$ | the tokens that a query may see |
# | empirical world: all $\mu_j = 1$ | the whole sequence, without a mask |
# | filtration: worlds $\mu_1 \le \mu_2 \le \ldots$ | a causal mask |
# | pairing $\kappa(q, k) \ge 0$ | attention weight before the row is normalised |
# | readout $R = \sum_j \kappa(q, k_j) \mu_j v_j / \sum_j \kappa(q, k_j) \mu_j$ | output of a head |
# | $\kappa = \exp(q^\top M k)$, $M = W_Q W_K^\top$ | softmax attention |
# | $\kappa = \langle \phi(q), \psi(k) \rangle$ with $m$ features | linear attention, $m$ features |
#
# Everything shown below as a statement, a formula or a verdict comes from the theorem objects and
# from checks that run here.

# %%
import math
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import torch
from flint import fmpz_mat
from matplotlib.axes import Axes
from reading import closing
from reading import pictures as draw
from reading.statements import clauses, number, outcome, prose, results, show, table
from reading.twins import rational, step_of
from scipy.optimize import linear_sum_assignment
from scipy.spatial import ConvexHull
from torch.nn.functional import scaled_dot_product_attention

from numerics.pairings import features, recurrences, semiseparable
from numerics.pairings import readouts as pairings
from numerics.pairings import tensor_attention as tensors
from numerics.properties.gibbs_weights import rounded_weights
from numerics.rounding import roundoff
from paper_checks import formulas
from paper_checks.papers import attention_pairings as paper
from paper_checks.run import check_theorem
from paper_checks.uses import settle_uses
from theorems import catalogue

IDS = ("AP1", "AP2", "AP3", "AP4", "AP5", "AP6", "AP7", "AP9", "AP10")
THEOREMS = {identifier: catalogue.load(identifier) for identifier in IDS}

# %% [markdown]
# ## 1. A world and its readouts
#
# Seven tokens with keys and values on the line, all of mass 1. Left: the tokens, and what each
# query $q$ reads, for four pairings. Right: how the weight of the query $q = 1$ is spread. A
# constant pairing reads the mean of all values. $\exp(q k)$ turns to the largest keys as $q$ grows,
# and $\exp(-(q - k)^2)$ to the nearest ones. A pairing of rank 2, here with the features
# $(1, e^{q/2})$ of the query and $(1, e^{k/2})$ of the key, can do neither sharply. All readouts
# stay between the least and the largest value, since they are weighted means.

# %%
KEYS = np.array([-2.0, -1.3, -0.7, 0.1, 0.8, 1.4, 2.0])
HEIGHTS = np.array([0.4, 1.7, 1.1, -0.8, 0.3, -1.4, 1.2])
FINE = np.linspace(-2.4, 2.4, 121)
PAIRINGS = {
    "constant": (lambda q, k: 1 + 0 * q * k, draw.GREY),
    r"$\exp(q k)$": (lambda q, k: np.exp(q * k), draw.BLUE),
    r"$\exp(-(q - k)^2)$": (lambda q, k: np.exp(-((q - k) ** 2)), draw.GREEN),
    r"rank 2": (lambda q, k: 1 + np.exp((q + k) / 2), draw.ORANGE),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.4))
for place, (name, (kappa, colour)) in enumerate(PAIRINGS.items()):
    values = pairings.readout(kappa(FINE[:, None], KEYS), HEIGHTS[:, None])[:, 0]
    left.plot(FINE, draw.tidy(values), color=colour, lw=1.6, label=name)
    weights = pairings.readout_weights(kappa(np.array([[1.0]]), KEYS))[0]
    right.bar(KEYS + 0.1 * (place - 1.5), draw.tidy(weights), 0.1, color=colour)
left.plot(KEYS, HEIGHTS, "o", color="black", ms=7, label="tokens")
left.axhspan(HEIGHTS.min(), HEIGHTS.max(), color="0.95", zorder=0)
left.set(xlabel="key $k$, query $q$", ylabel="value, readout", ylim=(-2, 2.2))
left.legend(fontsize=9, loc="lower left", ncols=2)
right.set(xlabel="key", ylabel="weight for $q = 1$")
plt.show()

# %% [markdown]
# ## 2. What the theorems say
#
# AP1 and AP2 are about standard attention: why weights are softmax, and why the pairing is an
# exponential. AP3 is about causal attention, AP4 about linear attention, AP5 about recurrent
# networks, AP6 about tensor attention. AP7 approximates the exponential by features. AP9 and AP10
# hold for all of them: symmetry, convexity, and that a readout is a stable function of the world.
# Each theorem is a list of clauses with permanent names.

# %%
for theorem in THEOREMS.values():
    clauses(theorem)

# %% [markdown]
# The run whose results are read from here on: derivations, exact instances, false twins, and
# comparisons in floating point.

# %%
records = [check_theorem(identifier, stress=False) for identifier in IDS]
RECORDS = {record.id: record for record in settle_uses(records)}
results(RECORDS)

# %% [markdown]
# ## 3. Five architectures, one function
#
# The definition is one line of code. Below it is evaluated in rational numbers, without rounding,
# for six tokens with integer queries, keys and values. The pairing $2^{q \cdot k}$ is
# $\exp(q^\top M k)$ with $M = \ln 2 \cdot I$, and rational at integers. Each architecture is
# computed as transformers compute it, in float64, and compared with the readout that it should be:
# with equality where the arithmetic is exact, and else within a bound on the roundings.


# %%
def readout(kappa, v, mu=1):
    """sum_j kappa_ij mu_ij v_j / sum_j kappa_ij mu_ij for arrays of rational numbers."""
    mass = kappa * mu
    return (mass @ v) / mass.sum(axis=1, keepdims=True)


TOKENS, LN2 = 6, math.log(2)
rng = np.random.default_rng(7)
Q, K, K2 = rng.integers(-2, 3, size=(3, TOKENS, 2)).astype(float)
V, V2 = rng.integers(-4, 5, size=(2, TOKENS, 3)).astype(float)
PREFIX = np.tri(TOKENS, dtype=bool)
PHI, PSI = np.insert(Q + 3, 0, 1, axis=1), np.insert(K + 3, 0, 1, axis=1)  # positive features


def powers(exponents: np.ndarray) -> np.ndarray:
    """2 to integer exponents, exactly."""
    return rational(np.ldexp(np.ones(exponents.shape), exponents.astype(int)))


def within(found, truth, bound) -> bool:
    """Whether numbers are within an error bound of exact ones."""
    return bool((abs(rational(found) - truth) <= rational(bound)).all())


def bound(scores: np.ndarray, values: np.ndarray, seen: np.ndarray | None = None) -> np.ndarray:
    """Error of softmax of scores times ln 2, which is itself rounded, on exact values."""
    weights = rounded_weights(scores, 1 / LN2, seen, error=float(2.0**-50 * abs(scores).max()))
    return (weights @ roundoff.exact(values)).error


def sdpa(**options) -> np.ndarray:
    """torch's attention with the scale ln 2."""
    arrays = (torch.from_numpy(a)[None, None] for a in (Q, K, V))
    return scaled_dot_product_attention(*arrays, scale=LN2, **options)[0, 0].numpy()


SCORES = Q @ K.T
EXP, LINEAR = powers(SCORES), rational(PHI @ PSI.T)
standard, causal = readout(EXP, rational(V)), readout(EXP, rational(V), PREFIX)
linear, recurrent = readout(LINEAR, rational(V)), readout(LINEAR, rational(V), PREFIX)
CUBIC = tensors.pair_scores(Q, K, K2).reshape(TOKENS, -1)
PAIRS = tensors.khatri_rao(V, V2)
tensor = readout(powers(CUBIC), rational(PAIRS))

# Moments of the world, and the state of a linear network; values with a 1 give the normaliser too.
WITH_ONE = np.insert(V, 3, 1.0, axis=1)
moments = PHI @ (PSI.T @ WITH_ONE)
states = recurrences.recurrent(PHI, PSI, WITH_ONE).outputs
ours = pairings.attention(Q, K, V, tau=1 / LN2)
ours_causal = pairings.causal_attention(Q, K, V, align="last", tau=1 / LN2)
ours_tensor = tensors.tensor_attention(Q * LN2, K, K2, V, V2)
whole, prefix = bound(SCORES, V), bound(SCORES, V, PREFIX)
AGREES = {
    "standard | all tokens | $2^{q k}$ | `pairings.attention`": within(ours, standard, whole),
    "standard | all tokens | $2^{q k}$ | torch": within(sdpa(), standard, 2 * whole),
    "causal | prefixes | $2^{q k}$ | `pairings.causal_attention`": within(
        ours_causal, causal, prefix
    ),
    "causal | prefixes | $2^{q k}$ | torch, `is_causal`": within(
        sdpa(is_causal=True), causal, 2 * prefix
    ),
    r"linear | all tokens | $\langle \phi(q), \psi(k) \rangle$ | two moments, exactly": bool(
        (rational(moments[:, :3]) / rational(moments[:, 3:]) == linear).all()
    ),
    r"recurrent | prefixes | $\langle \phi(q), \psi(k) \rangle$ | a state, exactly": bool(
        (rational(states[:, :3]) / rational(states[:, 3:]) == recurrent).all()
    ),
    "tensor | pairs of tokens | $2^{\\sum_a q_a k_a k'_a}$ | `tensor_attention`": within(
        ours_tensor, tensor, bound(CUBIC, PAIRS)
    ),
    "causal | all tokens | $2^{q k}$ | torch, `is_causal`": within(
        sdpa(is_causal=True), standard, 2 * prefix
    ),
}
table(
    "architecture | its world | its pairing | computed by | is the readout",
    (f"{name} | {'yes' if agrees else 'no'}" for name, agrees in AGREES.items()),
)
assert list(AGREES.values()) == [True] * 7 + [False]

# %% [markdown]
# The last row is a control: a causal mask against the world of all tokens must not agree.
#
# ## 4. Standard attention: why softmax, why exp
#
# *Why softmax.* Among all weights $p$ on the keys the softmax weights are the only ones at which
# $\langle p, s \rangle + \tau H(p)$, score plus entropy, is largest (AP1.gibbs, AP1.unique). The
# triangle is the set of all weights on three keys with scores $1, 0.6, 0$; curves are levels of
# score plus entropy, the dot is softmax. A low temperature drives it to the best key, a high one to
# the middle.

# %%
S3 = np.array([[1.0, 0.6, 0.0]])
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
STEPS = 60
MESH = np.array([(i, j, STEPS - i - j) for i in range(STEPS + 1) for j in range(STEPS + 1 - i)])
PLACE = {(i, j): place for place, (i, j, _) in enumerate(MESH.tolist())}
CELLS = [[PLACE[i, j], PLACE[i + 1, j], PLACE[i, j + 1]] for i, j, rest in MESH.tolist() if rest]
CELLS += [[PLACE[i + 1, j], PLACE[i + 1, j + 1], PLACE[i, j + 1]]
          for i, j, rest in MESH.tolist() if rest > 1]  # fmt: skip
figure, panels = plt.subplots(1, 3, figsize=(12.5, 3.8))
best = []
for axes, tau in zip(panels, (0.15, 0.6, 4.0), strict=True):
    p = MESH / STEPS
    value = draw.tidy(pairings.free_energy(p, np.repeat(S3, len(p), axis=0), tau))
    places = draw.tidy(p @ CORNERS)
    low, high = value.min(), value.max()
    levels = draw.tidy(high - (high - low) * np.array([0.6, 0.4, 0.25, 0.13, 0.05, 0.01]))
    axes.tricontour(*places.T, CELLS, value, levels=levels, colors=draw.BLUE, linewidths=0.9)
    axes.add_patch(plt.Polygon(CORNERS, fill=False, edgecolor="black", lw=1))
    weights = pairings.gibbs_weights(S3, tau)
    axes.plot(*draw.tidy(weights @ CORNERS)[0], "o", color=draw.RED, ms=7)
    draw.bare(axes, (-0.12, 1.12), (-0.12, 1.0), rf"$\tau = {tau}$")
    for corner, score, away in zip(CORNERS, S3[0], ((-8, -12), (8, -12), (0, 6)), strict=True):
        axes.annotate(f"$s = {score:g}$", corner, away, textcoords="offset points", ha="center",
                      fontsize=10)  # fmt: skip
    best.append(bool(high <= pairings.log_partition(S3, tau)[0]))
plt.show()
print("no point of the mesh is above tau log Z:", all(best))
assert all(best)

# %% [markdown]
# *Why exp.* Suppose that a pairing is multiplicative in the query and in the key:
# $\kappa(q + q', k) = \kappa(q, k) \kappa(q', k)$, and the same in $k$. Then adding to a query what
# another query asks multiplies what both give. If such a pairing is continuous and not identically
# 0, it is $\exp(q^\top M k)$, and nothing else is (AP2.bilinear). Near misses, evaluated exactly at
# integers between $-2$ and $2$:


# %%
def laws(kappa) -> list[bool]:
    """Positive; multiplicative in the query; multiplicative in the key; exact at integers."""
    grid = range(-2, 3)
    triples = [(a, b, c) for a in grid for b in grid for c in grid]
    return [
        all(kappa(a, b) > 0 for a in grid for b in grid),
        all(kappa(a + b, c) == kappa(a, c) * kappa(b, c) for a, b, c in triples),
        all(kappa(c, a + b) == kappa(c, a) * kappa(c, b) for a, b, c in triples),
    ]


TWO = Fraction(2)
MISSES = {
    r"$2^{q k}$, that is $M = \ln 2$": lambda q, k: TWO ** (q * k),
    r"$2^{q k^3}$": lambda q, k: TWO ** (q * k**3),
    r"$2^{q k + k}$, a key bias": lambda q, k: TWO ** (q * k + k),
    r"$2^{-(q - k)^2}$": lambda q, k: TWO ** -((q - k) ** 2),
    r"$1 + q^2 k^2$, of rank 2": lambda q, k: Fraction(1 + q * q * k * k),
    r"$0$": lambda q, k: Fraction(0),
}
table(
    "pairing | positive | multiplicative in $q$ | multiplicative in $k$",
    (" | ".join([name, *("yes" if holds else "no" for holds in laws(kappa))])
     for name, kappa in MISSES.items()),
)  # fmt: skip
assert [all(laws(kappa)) for kappa in MISSES.values()] == [True] + [False] * 5

# %% [markdown]
# Continuity is needed too: over the numbers $a + b \sqrt 2$ with rational $a, b$ there are additive
# functions that are not linear. The theorem holds this, and the two other counterexamples, as
# witnesses:


# %%
def witness(identifier: str, name: str) -> None:
    """A counterexample of a theorem, checked on the spot."""
    found = step_of(THEOREMS[identifier], name)
    shown = r",\quad ".join(formulas.rule_formulas(found))
    show(f"*{name}* {prose(found.because)} **{outcome(found)}**", f"$${shown}$$")


for name in ("nothing", "cubic", "coordinate"):
    witness("AP2", name)

# %% [markdown]
# What AP2 does not say: that attention *should* be multiplicative. A bias for the key, distances,
# features and everything in AP7 and AP8 are pairings that are not, and readouts all the same.
#
# ## 5. Causal attention: readout along a filtration
#
# Token $t$ reads the world $\mu_t$ of the tokens up to $t$, and these worlds only grow. So nothing
# that comes later can change what was read (AP3.prefix): not a convention of the implementation but
# a property of the family of worlds. In code a mask is often a large negative number $-M$ added to
# hidden scores. That is a limit: with any hidden token of finite $M$ the readout is off by a
# multiple of $e^{-M}$ (AP3.mask_limit), left. And if *all* tokens of a row are hidden this way,
# nothing is hidden: the row is the softmax of its scores for every $M$ (AP3.all_masked), right. An
# empty world has no readout, and here it reads 0 by convention, never NaN.

# %%
SIZES = np.arange(0, 17, 2)
scores = np.array([[0.5, -0.2, 0.9, 1.6, 0.4]])
values = np.array([[1.0], [-1.0], [0.5], [2.0], [-3.0]])
visible = np.array([[True, True, True, False, False]])
truth = pairings.gibbs_weights(scores, allowed=visible) @ values
hidden_mass, visible_mass = (np.exp(scores)[0, part].sum() for part in (~visible[0], visible[0]))
gap = max(abs(values[3:] - truth))[0]
errors = [
    abs(pairings.gibbs_weights(np.where(visible, scores, scores - M)) @ values - truth)[0, 0]
    for M in SIZES
]
limits = [math.exp(-M) * hidden_mass * gap / (visible_mass + math.exp(-M) * hidden_mass)
          for M in SIZES]  # fmt: skip
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 3.8))
left.plot(SIZES, draw.tidy(np.log10(errors), 4), "o", color=draw.BLUE, label="masked by $-M$")
left.plot(SIZES, draw.tidy(np.log10(limits), 4), color="black", lw=1, label="bound of AP3")
left.set(xlabel="$M$", ylabel=r"$\log_{10}$ of the error")
left.legend(fontsize=10)
plain = pairings.gibbs_weights(scores)
rows = {"no mask": plain, "all by $-M$": pairings.gibbs_weights(scores - 1e4),
        "all by a mask": pairings.gibbs_weights(scores, allowed=~(scores < 9))}  # fmt: skip
for place, ((name, row), colour) in enumerate(
    zip(rows.items(), (draw.PALE, draw.BLUE, draw.RED), strict=True)
):
    spots = np.arange(1, 6) + 0.27 * (place - 1)
    right.bar(spots, draw.tidy(row[0]), 0.25, color=colour, label=name)
right.set(xlabel="token", ylabel="weight")
right.legend(fontsize=10)
plt.show()
print("every error is below the bound:", all(e <= b for e, b in zip(errors, limits, strict=True)))
print("an empty world reads:", pairings.readout(np.zeros((1, 5)), values)[0, 0])

# %% [markdown]
# Where there are fewer queries than keys, as with a cache, a mask needs to be told which tokens the
# queries are; both alignments are in use, and they differ (AP3.alignment):

# %%
witness("AP3", "alignment")
for align in pairings.ALIGNMENTS:
    print(f"{align:6}", pairings.causal_mask(2, 4, align=align).astype(int).tolist())

# %% [markdown]
# ## 6. Linear attention: a pairing of finite rank
#
# If $\kappa(q, k) = \langle \phi(q), \psi(k) \rangle$ with $m$ features, the world enters every
# readout through $\sum_j \mu_j \psi_j v_j^\top$ and $\sum_j \mu_j \psi_j$ alone (AP4.moments): the
# sums may be taken in the other order. The products that this takes for $d_v = 64$ values and
# $m = 64$ features (AP4.counts):

# %%
WIDTH = 64
table(
    "$n$ | by the matrix of weights | by two moments",
    (f"{n} | {n * n * 2 * WIDTH} | {2 * n * WIDTH * WIDTH + n * WIDTH}" for n in (64, 1024, 16384)),
)

# %% [markdown]
# And conversely: readouts that need only $N$ linear statistics of the world have a pairing of rank
# at most $N / (d_v + 1)$, where the values span the space (AP4.converse). The rank of
# $[\kappa(q_i, k_j)]$ decides, and $\exp$ has every rank (AP4.infinite_rank). Exact ranks for the
# queries and keys $1, \ldots, n$:

# %%
COUNTS = range(1, 11)
FAMILIES = {
    "$2^{q k}$": (lambda q, k: 2 ** (q * k), draw.RED, "o"),
    "$(1 + q k)^4$, degree 4": (lambda q, k: (1 + q * k) ** 4, draw.ORANGE, "s"),
    r"$\phi = (1, q + 3)$": (lambda q, k: 1 + (q + 3) * (k + 3), draw.BLUE, "^"),
}
figure, axes = plt.subplots(figsize=(7.5, 3.8))
for name, (kappa, colour, marker) in FAMILIES.items():
    ranks = [
        fmpz_mat([[kappa(q, k) for k in range(1, n + 1)] for q in range(1, n + 1)]).rank()
        for n in COUNTS
    ]
    axes.plot(COUNTS, ranks, marker + "-", color=colour, ms=5, lw=1, label=name)
axes.set(xlabel="number of tokens $n$", ylabel="rank of the pairing", xticks=COUNTS)
axes.legend(fontsize=10)
plt.show()

# %% [markdown]
# *Positivity is not decoration.* With features of any sign the normaliser can vanish where there is
# something to read (AP4.positivity), and no convention helps: near this query the readout is
# unbounded.

# %%
witness("AP4", "vanishing")
keys = np.array([[1.0, 0.0], [-1.0, 1.0]])
table(
    "query | normaliser | readout of the values $1, 0$",
    (f"$(1, {e:g})$ | {(np.array([1, e]) @ keys.T).sum():g} | {1 / e:g}"
     for e in (1.0, 2.0**-5, 2.0**-10, 2.0**-20)),
)  # fmt: skip

# %% [markdown]
# ## 7. Recurrent networks
#
# Add causality to finite rank and the moments of the worlds $\mu_1 \le \mu_2 \le \ldots$ become the
# state of a linear recurrent network, $M_t = M_{t-1} + \phi(k_t) v_t^\top$. Decays make old tokens
# lighter (retention, gated linear attention, state space models); the delta rule makes a world that
# overwrites. One identity says that parallel, recurrent and chunked evaluation agree, wherever the
# sequence is split (AP5.handover). With integers and decays by powers of two no rounding occurs,
# and equality can be asked for:

# %%
LONG = 13
rng = np.random.default_rng(8)
q, k = rng.integers(-2, 3, size=(2, LONG, 3)).astype(float)
v = rng.integers(-3, 4, size=(LONG, 2)).astype(float)
reset = np.arange(LONG) == 6
orthogonal = np.eye(3)[rng.integers(0, 3, size=LONG)]
# Keys of one entry are orthogonal or equal: the delta rule then needs no rounding.
beta = np.array([1.0, 0.5])[rng.integers(0, 2, size=LONG)]
one_by_one = recurrences.recurrent(q, k, v, reset=reset).outputs
delta = recurrences.delta_recurrent(q, orthogonal, v, beta).outputs
first = recurrences.recurrent(q[:5], k[:5], v[:5])
rest = recurrences.recurrent(q[5:], k[5:], v[5:], reset=reset[5:], state=first.state)
ROWS = {
    "parallel": recurrences.parallel(q, k, v, reset=reset).outputs,
    **{f"chunks of {size}": recurrences.chunked(q, k, v, size, reset=reset).outputs
       for size in (1, 2, 3, LONG)},
    "split after token 5": np.concatenate([first.outputs, rest.outputs]),
}  # fmt: skip
SAME = {f"a reset at token 7 | {name}": bool((y == one_by_one).all()) for name, y in ROWS.items()}
SAME |= {
    f"delta rule | chunks of {size}": bool(
        (recurrences.delta_chunked(q, orthogonal, v, beta, size).outputs == delta).all()
    )
    for size in (1, 2, 3, LONG)
}
SAME["a reset at token 7 | without the reset"] = bool(
    (recurrences.recurrent(q, k, v).outputs == one_by_one).all()
)
table(
    "network | evaluated by | equal to one token after another",
    (f"{name} | {'yes' if same else 'no'}" for name, same in SAME.items()),
)
assert list(SAME.values()) == [True] * (len(SAME) - 1) + [False]

# %% [markdown]
# What a network remembers is a picture. Row $t$, column $j$: the weight of the value $v_j$ in what
# token $t$ reads. Twelve tokens with three orthogonal keys in turns, each asking for one of them.
# The sum keeps everything with this key; a decay forgets with time; a reset forgets at once; the
# delta rule with $\beta |k|^2 = 1$ forgets exactly the value that the same key had before
# (AP5.overwriting).

# %%
TURNS = np.eye(3)[[0, 1, 2, 0, 1, 0, 2, 2, 0, 1, 1, 2]]
ASKED = np.eye(3)[[0, 0, 1, 2, 0, 1, 0, 1, 2, 0, 2, 1]]
UNIT = np.eye(12)
DECAY = np.full(12, math.log(0.75))
SEEN = {
    "sum": recurrences.recurrent(ASKED, TURNS, UNIT),
    "decay 3/4": recurrences.recurrent(ASKED, TURNS, UNIT, DECAY),
    "reset at token 7": recurrences.recurrent(ASKED, TURNS, UNIT, reset=np.arange(12) == 6),
    r"delta rule, $\beta = 1$": recurrences.delta_recurrent(ASKED, TURNS, UNIT, np.ones(12)),
}


def heat(axes: Axes, matrix: np.ndarray, title: str, colours: str, low: float, high: float) -> None:
    """A matrix as coloured squares, first row on top."""
    axes.pcolormesh(draw.tidy(matrix, 4), cmap=colours, vmin=low, vmax=high,
                    edgecolors="0.9", lw=0.4)  # fmt: skip
    axes.invert_yaxis()
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.set_title(title, fontsize=11)


figure, panels = plt.subplots(1, 4, figsize=(13, 3.5))
for axes, (title, read) in zip(panels, SEEN.items(), strict=True):
    heat(axes, read.outputs, title, "Blues", 0, 1)
    axes.set_xlabel("value of token $j$")
panels[0].set_ylabel("query of token $t$")
plt.show()
last = [max(j for j in range(t + 1) if (TURNS[j] == ASKED[t]).all()) for t in range(12)]
print("the delta rule reads the last value of the key, exactly:",
      bool((SEEN[r"delta rule, $\beta = 1$"].outputs == UNIT[last]).all()))  # fmt: skip

# %% [markdown]
# *Which causal maps are networks?* Let $L$ be the lower-triangular matrix of a causal map. It is
# $y_t = c_t^\top h_t$, $h_t = A_t h_{t-1} + b_t x_t$ with $m$ numbers $h_t$ iff every block of rows
# $\ge t$ and columns $\le t$ has rank at most $m$ (AP5.blocks, AP5.realisation). If the state is
# read before the update, the blocks are those of columns $< t$. Two matrices that tell the versions
# apart, with the least number of states of each, and a network of this size built from the factors
# of the blocks:

# %%
EXAMPLES = {
    "separates": [[1, 0, 0], [1, 1, 0], [1, 0, 1]],
    "strict blocks mislead": [[1, 0, 0], [1, 1, 0], [0, 1, 1]],
    "identity": [[1, 0], [0, 1]],
}
rows = []
for name, L in EXAMPLES.items():
    entries = r" \\ ".join(" & ".join(map(str, row)) for row in L)
    least = [semiseparable.least_states(L, version) for version in semiseparable.VERSIONS]
    nets = [semiseparable.realise(L, version) for version in semiseparable.VERSIONS]
    works = all(net.matrix() == L and net.states == m for net, m in zip(nets, least, strict=True))
    rows.append(rf"{name} | $\begin{{pmatrix}} {entries} \end{{pmatrix}}$ | "
                f"{' | '.join(map(str, least))} | {'yes' if works else 'no'}")  # fmt: skip
table("| $L$ | $c_t^\\top h_t$ | $c_t^\\top h_{t-1} + D_t x_t$ | $c_t^\\top h_t + D_t x_t$ "
      "| realised exactly", rows)  # fmt: skip

# %% [markdown]
# Causal *softmax* attention is no network of fixed size. With pairwise distinct queries and keys of
# dimension 1 all blocks have full rank, so $n$ tokens need $n / 2$ numbers, rounded up, or down if
# the state is read before the update (AP5.softmax). Exact ranks for $2^{ij}$, with linear attention
# and a convolution of three taps beside it:


# %%
def taps(n: int) -> list[list[int]]:
    """y_t = x_t + 2 x_{t-1} + 3 x_{t-2}."""
    return [[(1, 2, 3)[i - j] if 0 <= i - j < 3 else 0 for j in range(n)] for i in range(n)]


def masked_features(n: int) -> list[list[int]]:
    """The mask on Q K^T for two positive features."""
    return [[1 + (i + 1) * (j + 2) if j <= i else 0 for j in range(n)] for i in range(n)]


LENGTHS = range(1, 15)
figure, axes = plt.subplots(figsize=(8.4, 4))
for name, maker, colour, marker in (
    ("softmax, $2^{ij}$", semiseparable.power_matrix, draw.RED, "o"),
    ("three taps", taps, draw.GREEN, "s"),
    ("linear attention, two features", masked_features, draw.BLUE, "^"),
):
    least = [semiseparable.least_states(maker(n), "after") for n in LENGTHS]
    axes.plot(LENGTHS, least, marker, color=colour, ms=6, label=name)
    if maker is semiseparable.power_matrix:
        assert least == [(n + 1) // 2 for n in LENGTHS]
        before = [semiseparable.least_states(maker(n), "before") for n in LENGTHS]
        assert before == [n // 2 for n in LENGTHS]
axes.plot(LENGTHS, [n / 2 for n in LENGTHS], color="black", lw=1, label="$n/2$")
axes.set(xlabel="number of tokens $n$", ylabel="least number of states", xticks=LENGTHS)
axes.legend(fontsize=10)
plt.show()
rng = np.random.default_rng(9)
minors = semiseparable.exponential_minors(rng.normal(size=10), rng.normal(size=10))
print("exp of ten random queries and keys: blocks of certified full rank:",
      sum(not ball.contains(0) for ball in minors), "of", len(minors))  # fmt: skip

# %% [markdown]
# So "recurrent networks come out of the framework" is true of linear recurrences and pairings of
# finite rank, and false of anything else: an exponential pairing has no finite state, and a network
# with a nonlinearity in its state is no readout of this kind.
#
# ## 8. Tensor attention: a world of pairs
#
# Let a query read *pairs* of tokens: the world is $\mu \times \mu$, the score of a pair
# $\sum_a q_a k_{ja} k'_{la}$, its value $v_j * v'_l$, entry by entry (AP6.product_world). If the
# second keys and values are all ones, this is standard attention (AP6.constant). If the pairing is
# a product of one for each token, so is the readout (AP6.factor). But a trilinear score is not:
# below, weights over pairs, the product of their two marginals, and the difference. The query asks
# for *tokens that agree*: keys are signs, and the score of a pair is large where signs are equal.
# No product of two one-token readouts does this (AP6.trilinear).

# %%
SIGNS = np.array([[1.0], [1.0], [-1.0], [1.0], [-1.0], [-1.0]]) * [[1.0, 0.4]]
trilinear = tensors.pair_scores(np.array([[1.2, 0.5]]), SIGNS, SIGNS)[0]
joint = np.exp(trilinear) / np.exp(trilinear).sum()
split = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.8))
heat(panels[0], joint, "weights over pairs", "Blues", 0, 0.06)
heat(panels[1], split, "product of the marginals", "Blues", 0, 0.06)
heat(panels[2], joint - split, "difference", "RdBu_r", -0.03, 0.03)
for axes in panels:
    axes.set_xlabel("second token")
    axes.set_xticks(np.arange(6) + 0.5, ["+", "+", "−", "+", "−", "−"])
    axes.set_yticks(np.arange(6) + 0.5, ["+", "+", "−", "+", "−", "−"])
panels[0].set_ylabel("first token")
plt.show()

# %%
ones = np.ones((TOKENS, 2))
reduced = tensors.tensor_attention(Q * LN2, K, ones, V, np.ones((TOKENS, 3)))
constant = np.repeat(SCORES, TOKENS, axis=1)
print("second keys and values all ones: standard attention, within rounding:",
      within(reduced, standard, bound(constant, np.repeat(V, TOKENS, axis=0))))  # fmt: skip
phi, psi, chi = (rng.integers(1, 4, size=(TOKENS, 4)).astype(float) for _ in range(3))
finite = np.einsum("ig,jg,lg->ijl", phi, psi, chi).reshape(TOKENS, -1)
short = tensors.finite_rank_attention(phi, psi, chi, V, V2)
direct = readout(rational(finite), rational(PAIRS))
print("four features: one-sided sums give the readout of all pairs, within a rounding:",
      within(short, direct, 2.0**-53 * abs(short)))  # fmt: skip
table(
    "$n$ | all pairs | one-sided sums of 64 features",
    (f"{n} | {n * n * ((n + 1) * (WIDTH + WIDTH) + n)} | "
     f"{WIDTH * ((3 * n + 1) * WIDTH + n + 1) + n * WIDTH}" for n in (64, 256, 1024)),
)  # fmt: skip

# %% [markdown]
# The counts are those of AP6.cost, with $d = d_v = 64$. All pairs cost of the order $n^3$; a
# polynomial pairing of finite rank costs of the order $n$, and has a causal form with a state.
#
# ## 9. Features of the exponential
#
# If $\exp$ has no finite rank, it may be approximated by features. Left: Taylor features of degree
# $p$ give the polynomial $T_p(q \cdot k)$. Odd degrees become negative (AP7.parity), so they are no
# pairings; even ones never do. Right: random features. All kinds have the mean $e^{q \cdot k}$; the
# curves are the exact standard deviations of one estimate over $e^{q \cdot k}$ (AP7.positive,
# AP7.antithetic, AP7.trigonometric), dots are measured with 20000 frequencies. Where a deviation is
# large a few rare frequencies make most of it, and a sample shows less. Trigonometric features are
# best where $q$ is near $k$, and positive ones where $q$ is near $-k$: where attention is small, a
# small error counts.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.4))
S = np.linspace(-4, 2.2, 94)
left.plot(S, draw.tidy(np.exp(S)), color="black", lw=2, label=r"$e^s$")
for degree, colour in ((1, draw.ORANGE), (2, draw.BLUE), (3, draw.RED), (4, draw.GREEN)):
    line, key = S[:, None], np.ones((1, 1))
    rise = features.taylor_features(line, degree) @ features.taylor_features(key, degree).T
    left.plot(S, draw.tidy(rise[:, 0]), color=colour, lw=1.3, label=f"$T_{degree}$")
left.axhline(0, color=draw.GREY, lw=0.8)
left.set(xlabel="$s = q k$", ylim=(-6, 8))
left.legend(fontsize=10, loc="lower right")

ANGLES = np.linspace(0, math.pi, 61)
NORM = 0.7
QUERY = np.array([[NORM, 0.0]])
around = NORM * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
MARKS = around[5::10]
OMEGA = features.frequencies(20000, 2, 3, QUERY)
KINDS = {
    "positive": (features.positive_features, draw.BLUE, 1),
    "antithetic": (features.antithetic_features, draw.GREEN, 2),
    "trigonometric": (features.trigonometric_features, draw.RED, 2),
}
near = []
for kind, (maker, colour, copies) in KINDS.items():
    deviation = np.sqrt(features.estimate_variance(kind, QUERY, around, 1))[0]
    relative = draw.tidy(deviation / np.exp(QUERY @ around.T)[0])
    right.plot(ANGLES, relative, color=colour, lw=1.5, label=kind)
    # One frequency after another: products of features, of all copies of a frequency together.
    terms = maker(QUERY, OMEGA) * maker(MARKS, OMEGA) * len(OMEGA)
    single = terms.reshape(len(MARKS), copies, -1).sum(axis=1)
    true = np.exp(QUERY @ MARKS.T)[0]
    error = np.sqrt(features.estimate_variance(kind, QUERY, MARKS, len(OMEGA)))[0]
    near += [bool((abs(single.mean(axis=1) - true) <= 5 * error).all())]
    right.plot(ANGLES[5::10], draw.tidy(single.std(axis=1) / true, 4), "o", color=colour, ms=5)
right.set(xlabel="angle between $q$ and $k$, of norm 0.7", ylabel="relative standard deviation")
right.legend(fontsize=10)
plt.show()
print("means of 20000 estimates within five standard errors of exp(q . k):", all(near))

# %% [markdown]
# The error of Taylor features for $s \ge 0$ is the chance that a Poisson variable of mean $s$
# exceeds $p$ (AP7.error_right). The features of degree $p$ in $d$ variables are
# $\binom{d + p}{p}$ (AP7.dimension): few for $p = 2$, many soon after.

# %%
rows = []
for degree in (1, 2, 4, 6):
    s = 1.5
    tail = 1 - math.exp(-s) * sum(s**r / math.factorial(r) for r in range(degree + 1))
    rows.append(f"{degree} | {features.taylor_dimension(64, degree)} | {number(tail, 4)} | "
                f"{number(s ** (degree + 1) / math.factorial(degree + 1), 4)}")  # fmt: skip
table("degree $p$ | features for $d = 64$ | relative error at $s = 1.5$ | bound", rows)

# %% [markdown]
# ## 10. What holds for every pairing
#
# A readout is a function of the world, not of the list that describes it: the order of tokens does
# not matter, and a token listed twice is a token of mass 2 (AP9.world). Linear maps of the values
# pass through (AP9.affine). And with a pairing $\ge 0$ readouts stay in the convex hull of the
# values (AP9.hull); a signed pairing of finite rank need not (AP9.signed), red.

# %%
rng = np.random.default_rng(11)
cloud = rng.normal(size=(9, 2))
ask, keys = rng.normal(size=(40, 2)), rng.normal(size=(9, 2))
inside = pairings.readout(np.exp(2 * ask @ keys.T), cloud)
signed = 1 + 2 * ask @ keys.T  # a signed pairing of rank 3
kept = signed.sum(axis=1) > 2
outside = (signed @ cloud)[kept] / signed.sum(axis=1)[kept, None]
hull = ConvexHull(cloud)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2))
for axes, points, colour, title in (
    (panels[0], inside, draw.BLUE, r"$\exp(2 q \cdot k)$"),
    (panels[1], outside, draw.RED, r"$1 + 2 q \cdot k$, where its sum is positive"),
):
    axes.add_patch(plt.Polygon(draw.tidy(cloud[hull.vertices]), facecolor="0.93", edgecolor="0.4"))
    axes.plot(*draw.tidy(cloud).T, "o", color="black", ms=5)
    axes.plot(*draw.tidy(points).T, ".", color=colour, ms=7)
    draw.bare(axes, (-2.4, 2), (-2.6, 1.8), title)
plt.show()


def escapes(points: np.ndarray) -> int:
    """How many points are outside the hull by more than a thousandth."""
    sides = points @ hull.equations[:, :2].T + hull.equations[:, 2]
    return int((sides.max(axis=1) > 1e-3).sum())


print("readouts outside the hull:", escapes(inside), "of 40, and signed:",
      escapes(outside), "of", len(outside))  # fmt: skip
turned, twice, mass = [5, 4, 3, 2, 1, 0], [0, 1, 2, 2, 3, 4, 5], np.ones(TOKENS, dtype=int)
mass[2] = 2
assert not escapes(inside)
assert escapes(outside)
backwards, doubled = (readout(EXP[:, places], rational(V)[places]) for places in (turned, twice))
heavy = readout(EXP, rational(V), mass)
print("listed in reverse, the same readouts:", bool((backwards == standard).all()))
print("a token listed twice is a token of mass 2:", bool((doubled == heavy).all()))
print("and not one of mass 1:", bool((doubled != standard).any()))

# %% [markdown]
# A readout is also the point nearest to the values in the mean: the only minimiser of
# $t \mapsto \sum_j \mu_j \kappa_j |t - v_j|^2$ (AP10.least), left. This is the definition that
# survives on curved spaces, where values cannot be added; see the notebook `geometric_spaces`. And
# readouts are stable: if $a \le \kappa \le b$ with slope at most $\ell$ in the key, and the values
# have diameter $D$, then two worlds of mass 1 read differently by at most
# $\max(b, \ell D) / a$ times their Wasserstein distance (AP10.stability), right. Each dot is a
# world of six tokens on the line and a nearby one, whose tokens are listed in any order: the
# distance is that of the best matching.

# %%
weight = np.exp(KEYS)  # the pairing of q = 1
mean = float(weight @ HEIGHTS / weight.sum())
T = np.linspace(-1.6, 2, 73)
figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.2))
for power, colour, name in ((2, draw.BLUE, "squares"), (1, draw.ORANGE, "distances")):
    cost = (abs(T[:, None] - HEIGHTS) ** power * weight).sum(axis=1) / weight.sum()
    left.plot(T, draw.tidy(cost), color=colour, lw=1.6, label=f"mean of {name}")
left.axvline(round(mean, 6), color=draw.RED, lw=1.2, label="readout")
left.set(xlabel="$t$")
left.legend(fontsize=10)

rng = np.random.default_rng(12)
REACH, SLOPE = 0.7, 1.0  # keys in [-0.7, 0.7], the query 1
low, high = math.exp(-REACH), math.exp(REACH)
moves, gaps = [], []
for size in np.geomspace(0.003, 0.6, 150):
    k1 = rng.uniform(-REACH, REACH, size=6)
    v1 = rng.uniform(-1, 1, size=6)
    k2 = np.clip(k1 + size * rng.normal(size=6), -REACH, REACH)[rng.permutation(6)]
    v2 = np.clip(v1 + size * rng.normal(size=6), -1, 1)
    costs = abs(k1[:, None] - k2) + abs(v1[:, None] - v2)
    moves.append(costs[linear_sum_assignment(costs)].mean())
    one, two = (np.exp(k) @ v / np.exp(k).sum() for k, v in ((k1, v1), (k2, v2)))
    gaps.append(abs(one - two))
# exp has at most the slope of its scores times b, and the values have diameter 2.
CONSTANT = max(high, SLOPE * high * 2) / low
gaps, caps = np.array(gaps), CONSTANT * np.array(moves)
right.loglog(draw.tidy(moves), draw.tidy(gaps), ".", color=draw.BLUE, ms=5, label="two worlds")
ends = [int(np.argmin(moves)), int(np.argmax(moves))]
right.loglog(draw.tidy(moves)[ends], draw.tidy(caps)[ends], color="black", lw=1,
             label="bound of AP10")  # fmt: skip
right.set(xlabel="Wasserstein distance of the worlds", ylabel="distance of the readouts",
          ylim=(1e-4, 10))  # fmt: skip
right.legend(fontsize=10)
plt.show()
print("all pairs of worlds below the bound:", bool((gaps <= caps).all()))

# %% [markdown]
# ## 11. The derivations

# %%
closing.derivations(THEOREMS)

# %% [markdown]
# ### In floating point, with a bound

# %%
closing.in_floating_point(RECORDS)

# %% [markdown]
# ## 12. False twins

# %%
closing.twins(THEOREMS, RECORDS, 0)

# %% [markdown]
# ### Which hypothesis is needed where

# %%
closing.hypotheses(THEOREMS, RECORDS)

# %% [markdown]
# ## 13. What the paper claims, and what is true
#
# The claims about new geometric spaces are judged in `geometric_spaces`.

# %%
CLAIMS = (
    "definitions", "standard-attention", "why-exponential", "causal-attention",
    "linear-attention", "tensor-attention", "recurrent-networks",
)  # fmt: skip
closing.verdicts(RECORDS, CLAIMS, paper)

# %% [markdown]
# What stands: with these definitions all five are readouts, exactly, and the table of section 3 is
# the whole derivation. The pairing $\exp(q^\top M k)$ is forced by two multiplicative laws and
# continuity. What needs a hypothesis: linear attention needs a pairing that stays nonnegative, or
# its normaliser can vanish; recurrent networks come out where the recurrence is linear in its state
# and the pairing has finite rank. What does not follow: that softmax attention has a recurrent form
# of fixed size. It has none.
