"""CW11. Depth: a stack of attention layers, frozen at the input, is a sum over paths.

two_layers          block (i, j) of W_2 W_1 sums over two heads and a node, last layer leftmost
paths               block (i, j) of W_L ... W_1 is a sum over heads and node paths, for every L
residual_pair       (I + W_2)(I + W_1) = I + W_1 + W_2 + W_2 W_1
residual_paths      block (i, j) of prod (I + W_l) is delta_ij I plus paths through some layers
counts              H^L n^(L-1) terms a block; ((1 + nH)^L - 1)/n + delta_ij with residuals
causal_counts       C(i - j + L - 1, L - 1) causal node paths from j to i
"""

from __future__ import annotations

from dataclasses import replace

from sympy import KroneckerDelta, Sum

from theorems.connection_walks.levels import STAGES, hypothesis, level
from theorems.connection_walks.path_counts import (
    HEAD, K, NODE, U, WORD, Z, all_terms, causal_counts, counts, first_causal, first_count,
    first_residual_count, next_K, next_causal, next_count, next_residual_count, pascal,
    residual_counts, three_tokens,
)  # fmt: skip
from theorems.rules import Induction
from theorems.statement import (
    Clause,
    Definition,
    Equation,
    Mutant,
    Step,
    Theorem,
    array,
    symbols_of,
)

n, d, H, N = symbols_of("n d H N")
i, j, k, a, b, c, g, h, p = symbols_of("i j k a b c g h p")
FEATURE = (c, 1, d)
IDENTITY = KroneckerDelta(i, j) * KroneckerDelta(a, b)

A, T = ({label: level(name, label, H, *shape) for label in ("1", "2", "l+1")}
        for name, shape in (("A", (n, n)), ("T", (d, d))))  # fmt: skip
W = {label: level("W", label, n, n, d, d) for label in A}
layers = {label: Definition(W[label][i, j, a, b],
                            Sum(A[label][h, i, j] * T[label][h, a, b], HEAD))
          for label in W}  # fmt: skip
pair = array("T_{2,1}", H, H, d, d)
pair_transport = Definition(pair[h, g, a, b], Sum(T["2"][h, a, c] * T["1"][g, c, b], FEATURE))
two_layers = Step(
    id="two_layers", by=(layers["2"], layers["1"], pair_transport),
    lhs=Sum(W["2"][i, k, a, c] * W["1"][k, j, c, b], NODE, FEATURE),
    rhs=Sum(A["2"][h, i, k] * A["1"][g, k, j] * pair[h, g, a, b], HEAD, (g, 1, H), NODE),
    because="Blocks multiply like the layers: one node and two heads are summed over, and the "
    "transport of the last layer is the leftmost.",
)

B = {label: level("B", label, n, n, d, d) for label in STAGES}
B_is = {
    "1": Definition(B["1"][i, j, a, b], W["1"][i, j, a, b]),
    "l+1": Definition(B["l+1"][i, j, a, b], Sum(
        W["l+1"][i, k, a, c] * B["l"][k, j, c, b], NODE, FEATURE)),
}  # fmt: skip
al = {"1": level(r"\alpha", "1", H, n, n), "l": level(r"\alpha", "l", N, n, n),
      "l+1": level(r"\alpha", "l+1", H, n, N, n, n)}  # fmt: skip
tau = {"1": level(r"\tau", "1", H, d, d), "l": level(r"\tau", "l", N, d, d),
       "l+1": level(r"\tau", "l+1", H, N, d, d)}  # fmt: skip
path_sums = {
    "1": Sum(al["1"][h, i, j] * tau["1"][h, a, b], HEAD),
    "l": Sum(al["l"][p, i, j] * tau["l"][p, a, b], WORD),
    "l+1": Sum(al["l+1"][h, k, p, i, j] * tau["l+1"][h, p, a, b], HEAD, NODE, WORD),
}


def path_claim(label: str) -> Equation:
    """The block of the first layers is the sum of weight times transport over their paths."""
    return B[label][i, j, a, b], path_sums[label]


first_weight = Definition(al["1"][h, i, j], A["1"][h, i, j])
first_transport = Definition(tau["1"][h, a, b], T["1"][h, a, b])
weight = Definition(al["l+1"][h, k, p, i, j], A["l+1"][h, i, k] * al["l"][p, k, j])
transport = Definition(
    tau["l+1"][h, p, a, b], Sum(T["l+1"][h, a, c] * tau["l"][p, c, b], FEATURE)
)
paths_l = hypothesis("the sum over paths", path_claim("l"), B["l"], path_sums["l"])
first_paths = Step(
    id="first_paths", lhs=path_claim("1")[0], rhs=path_claim("1")[1],
    by=(B_is["1"], layers["1"], first_weight, first_transport),
    because="One layer: a path is a head and the edge from j to i.",
)
longer_paths = Step(
    id="longer_paths", lhs=path_claim("l+1")[0], rhs=path_claim("l+1")[1],
    by=(B_is["l+1"], layers["l+1"], weight, transport, paths_l),
    because="A path of l + 1 layers is a head h of the last, its edge from k to i, and a path p "
    "from j to k: weights multiply as numbers, transports as matrices from the left.",
)
paths = Induction(
    id="paths", claim=path_claim, hypothesis=paths_l, by=(first_paths, longer_paths),
    because="So it is at every depth.",
)

residual_pair = Step(
    id="residual_pair",
    lhs=Sum((KroneckerDelta(i, k) * KroneckerDelta(a, c) + W["2"][i, k, a, c])
            * (KroneckerDelta(k, j) * KroneckerDelta(c, b) + W["1"][k, j, c, b]), NODE, FEATURE),
    rhs=IDENTITY + W["1"][i, j, a, b] + W["2"][i, j, a, b] + two_layers.lhs,
    because="Each layer is used or skipped.",
)  # fmt: skip
R = {label: level("R", label, n, n, d, d) for label in STAGES}
R_is = {
    "1": Definition(R["1"][i, j, a, b], IDENTITY + W["1"][i, j, a, b]),
    "l+1": Definition(R["l+1"][i, j, a, b], R["l"][i, j, a, b] + Sum(
        W["l+1"][i, k, a, c] * R["l"][k, j, c, b], NODE, FEATURE)),
}  # fmt: skip
skip, skip_tau = level(r"\beta", "l+1", N, n, n), level(r"\theta", "l+1", N, d, d)
new, new_tau = level(r"\gamma", "l+1", H, n, n), level(r"\eta", "l+1", H, d, d)
residual_sums = {
    "1": IDENTITY + path_sums["1"],
    "l": IDENTITY + path_sums["l"],
    "l+1": IDENTITY + Sum(skip[p, i, j] * skip_tau[p, a, b], WORD)
    + Sum(new[h, i, j] * new_tau[h, a, b], HEAD) + path_sums["l+1"],
}  # fmt: skip


def residual_claim(label: str) -> Equation:
    """The block of the residual stack is the identity's and a sum over paths through layers."""
    return R[label][i, j, a, b], residual_sums[label]


residual_l = hypothesis(
    "the sum over paths with residuals", residual_claim("l"), R["l"], residual_sums["l"]
)
first_residual = Step(
    id="first_residual", lhs=residual_claim("1")[0], rhs=residual_claim("1")[1],
    by=(R_is["1"], layers["1"], first_weight, first_transport),
    because="One layer is skipped or used.",
)
longer_residual = Step(
    id="longer_residual", lhs=residual_claim("l+1")[0], rhs=residual_claim("l+1")[1],
    by=(R_is["l+1"], layers["l+1"], residual_l, weight, transport,
        Definition(skip[p, i, j], al["l"][p, i, j]),
        Definition(skip_tau[p, a, b], tau["l"][p, a, b]),
        Definition(new[h, i, j], A["l+1"][h, i, j]),
        Definition(new_tau[h, a, b], T["l+1"][h, a, b])),
    because="The last layer is skipped, or it is the first that is used, or it goes on from a "
    "path p.",
)  # fmt: skip
residual_paths = Induction(
    id="residual_paths", claim=residual_claim, hypothesis=residual_l,
    by=(first_residual, longer_residual), because="So it is at every depth.",
)

THEOREM = Theorem(
    id="CW11",
    title="Depth: frozen attention layers are a sum over heads and node paths",
    clauses=(
        Clause("two_layers", r"With $W_l = \sum_h A^{l,h} \otimes T^{l,h}$ block $(i, j)$ of "
               r"$W_2 W_1$ is $\sum_{h,g,k} A^{2,h}_{ik} A^{1,g}_{kj} T^{2,h} T^{1,g}$.",
               (two_layers,)),
        Clause("paths", r"For every $L$, block $(i, j)$ of $W_L \cdots W_1$ is $\sum \prod_l "
               r"A^{l,h_l}_{i_l i_{l-1}} T^{L,h_L} \cdots T^{1,h_1}$ over heads $h$ and node paths "
               r"$i = i_L, \ldots, i_0 = j$.", (first_paths, longer_paths, paths)),
        Clause("residual_paths", r"Block $(i, j)$ of $\prod_l (I + W_l)$ is $\delta_{ij} I$ and "
               r"such a sum over the paths through one layer or more.",
               (residual_pair, first_residual, longer_residual, residual_paths)),
        Clause("counts", r"A block of $W_L \cdots W_1$ has $H^L n^{L-1} = (nH)^L / n$ terms.",
               (first_count, next_count, counts)),
        Clause("residual_counts", r"A block of $\prod_l (I + W_l)$ has $((1 + nH)^L - 1)/n + "
               r"\delta_{ij}$ terms, all blocks together $n (1 + nH)^L$.",
               (first_residual_count, next_residual_count, residual_counts, all_terms)),
        Clause("causal_counts", r"Causal node paths $i = i_L \ge \cdots \ge i_0 = j$ number "
               r"$(U^L)_{ij} = \binom{i - j + L - 1}{L - 1}$, where $U_{ij} = 1$ for $j \le i$ and "
               r"$0$ otherwise.",
               (pascal, first_causal, next_causal, causal_counts, three_tokens)),
    ),
    mutants=(
        Mutant("first_layer_leftmost", two_layers, "transports in the order of the layers",
               redefine=(Definition(pair_transport.entry, Sum(
                   T["1"][g, a, c] * T["2"][h, c, b], FEATURE)),)),
        Mutant("weights_in_reverse", replace(two_layers, rhs=Sum(
            A["1"][g, i, k] * A["2"][h, k, j] * pair[h, g, a, b], HEAD, (g, 1, H), NODE)),
            "the first layer's edge ends the path"),
        Mutant("one_head_throughout", replace(two_layers, rhs=Sum(
            A["2"][h, i, k] * A["1"][h, k, j] * pair[h, h, a, b], HEAD, NODE)),
            "the same head in both layers"),
        Mutant("path_that_stays", longer_paths, "the path before the last edge ends at i",
               redefine=(Definition(weight.entry, A["l+1"][h, i, k] * al["l"][p, i, j]),)),
        Mutant("transports_from_the_right", longer_paths, "longer paths multiply from the right",
               redefine=(Definition(transport.entry, Sum(
                   tau["l"][p, a, c] * T["l+1"][h, c, b], FEATURE)),)),
        Mutant("layers_only_add", replace(
            residual_pair, rhs=IDENTITY + W["1"][i, j, a, b] + W["2"][i, j, a, b]),
            "prod (I + W_l) = I + sum W_l"),
        Mutant("identity_is_lost", replace(longer_residual, rhs=residual_sums["l+1"] - IDENTITY),
               "every path uses a layer"),
        Mutant("node_at_every_layer", replace(first_count, lhs=first_count.lhs * n),
               "(nH)^L terms: a node summed over for every layer"),
        Mutant("no_path_starts_late", replace(
            next_residual_count, lhs=n * (Sum(1, WORD) + Sum(1, HEAD, NODE, WORD))),
            "every path uses the first layer"),
        Mutant("one_identity_a_block", replace(all_terms, lhs=Sum(
            Sum(1, WORD) + 1, (i, 1, n), (j, 1, n))), "every block has an identity term"),
        Mutant("every_path_is_causal", replace(next_causal, lhs=Sum(K["l"][k, j], NODE)),
               "every node may follow"),
        Mutant("strictly_causal", next_causal, "a path may not stay at a node",
               redefine=(Definition(next_K.entry, Sum(
                   (U[i, k] - KroneckerDelta(i, k)) * K["l"][k, j], NODE)),)),
        Mutant("pascal_without_its_neighbour", replace(pascal, lhs=Z), "C(s - 1, L - 1) = C(s, L)"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
)
