"""CW11. Depth: frozen attention layers are a sum over heads and node paths."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, KroneckerDelta, Sum

from theorems.assumptions.levels import STAGES, induction_hypothesis, level, size
from theorems.connection_walks.steps.path_counts import (
    HEAD, NODE, U, V, Z, all_terms, causal_counts, counts, first_causal, first_count, first_head,
    first_own, first_residual_count, first_residual_own, first_residual_words, first_used,
    first_words, going_on, m, mr, next_V, next_causal, next_count, next_own, next_residual_count,
    next_residual_own, next_residual_words, next_word, next_words, pascal, residual_counts,
    skipping, starting, three_tokens,
)
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

n, d, H = symbols_of("n d H")
i, j, k, a, b, c, g, h, p, q = symbols_of("i j k a b c g h p q")
FEATURE = (c, 1, d)
IDENTITY = KroneckerDelta(i, j) * KroneckerDelta(a, b)

A, T = ({label: level(name, label, H, *shape) for label in ("1", "2", "l+1")}
        for name, shape in (("A", (n, n)), ("T", (d, d))))
W = {label: level("W", label, n, n, d, d) for label in A}
layers = {label: Definition(W[label][i, j, a, b],
                            Sum(A[label][h, i, j] * T[label][h, a, b], HEAD))
          for label in W}
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
}


def path_sum(count: str, weights: str, transports: str, label: str) -> Expr:
    """Weight times transport, summed over the numbered words of a level."""
    words = size(count, label)
    weight, transport = level(weights, label, words, n, n), level(transports, label, words, d, d)
    return Sum(weight[p, i, j] * transport[p, a, b], (p, 1, words))


def path_claim(label: str) -> Equation:
    """The block of the first layers is the sum of weight times transport over their words."""
    return (level("B", label, n, n, d, d)[i, j, a, b],
            path_sum("m", r"\alpha", r"\tau", label))


al, tau = ({label: level(name, label, m[label], *shape) for label in m}
           for name, shape in ((r"\alpha", (n, n)), (r"\tau", (d, d))))
first_weight = Definition(al["1"][q, i, j], Sum(first_head * A["1"][h, i, j], HEAD))
first_transport = Definition(tau["1"][q, a, b], Sum(first_head * T["1"][h, a, b], HEAD))
weight = Definition(al["l+1"][q, i, j], Sum(
    next_word * A["l+1"][h, i, k] * al["l"][p, k, j], HEAD, NODE, (p, 1, m["l"])))
transport = Definition(tau["l+1"][q, a, b], Sum(
    next_word * T["l+1"][h, a, c] * tau["l"][p, c, b], HEAD, NODE, (p, 1, m["l"]), FEATURE))
paths_l = induction_hypothesis("the sum over paths", path_claim("l"), B["l"], path_claim("l")[1])
first_paths = Step(
    id="first_paths", lhs=path_claim("1")[0], rhs=path_claim("1")[1],
    by=(B_is["1"], layers["1"], first_weight, first_transport, first_own),
    because="One layer: a path is a head and the edge from j to i.",
)
longer_paths = Step(
    id="longer_paths", lhs=path_claim("l+1")[0], rhs=path_claim("l+1")[1],
    by=(B_is["l+1"], layers["l+1"], weight, transport, next_own, paths_l),
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
)
R = {label: level("R", label, n, n, d, d) for label in STAGES}
R_is = {
    "1": Definition(R["1"][i, j, a, b], IDENTITY + W["1"][i, j, a, b]),
    "l+1": Definition(R["l+1"][i, j, a, b], R["l"][i, j, a, b] + Sum(
        W["l+1"][i, k, a, c] * R["l"][k, j, c, b], NODE, FEATURE)),
}


def residual_claim(label: str) -> Equation:
    """The block of the residual stack is the identity's and a sum over paths through layers."""
    return (level("R", label, n, n, d, d)[i, j, a, b],
            IDENTITY + path_sum("m'", r"\omega", r"\theta", label))


om, theta = ({label: level(name, label, mr[label], *shape) for label in mr}
             for name, shape in ((r"\omega", (n, n)), (r"\theta", (d, d))))
used_weight = Definition(om["1"][q, i, j], Sum(first_used * A["1"][h, i, j], HEAD))
used_transport = Definition(theta["1"][q, a, b], Sum(first_used * T["1"][h, a, b], HEAD))
residual_weight = Definition(
    om["l+1"][q, i, j], Sum(skipping * om["l"][p, i, j], (p, 1, mr["l"]))
    + Sum(starting * A["l+1"][h, i, j], HEAD)
    + Sum(going_on * A["l+1"][h, i, k] * om["l"][p, k, j], HEAD, NODE, (p, 1, mr["l"])))
residual_transport = Definition(
    theta["l+1"][q, a, b], Sum(skipping * theta["l"][p, a, b], (p, 1, mr["l"]))
    + Sum(starting * T["l+1"][h, a, b], HEAD)
    + Sum(going_on * T["l+1"][h, a, c] * theta["l"][p, c, b],
          HEAD, NODE, (p, 1, mr["l"]), FEATURE))
residual_l = induction_hypothesis("the sum over paths with residuals", residual_claim("l"), R["l"],
                                  residual_claim("l")[1])
first_residual = Step(
    id="first_residual", lhs=residual_claim("1")[0], rhs=residual_claim("1")[1],
    by=(R_is["1"], layers["1"], used_weight, used_transport, first_residual_own),
    because="One layer is skipped or used.",
)
longer_residual = Step(
    id="longer_residual", lhs=residual_claim("l+1")[0], rhs=residual_claim("l+1")[1],
    by=(R_is["l+1"], layers["l+1"], residual_weight, residual_transport, next_residual_own,
        residual_l),
    because="The last layer is skipped, or it is the first that is used, or it goes on from a "
    "path p.",
)
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
               r"$i = i_L, \ldots, i_0 = j$: over words, each with its own number, which are heads "
               r"at $L = 1$, then triples of a head, a node and a word of one layer less.",
               (first_paths, longer_paths, paths)),
        Clause("residual_paths", r"Block $(i, j)$ of $\prod_l (I + W_l)$ is $\delta_{ij} I$ and "
               r"such a sum over the paths through one layer or more: each with its own number, "
               r"they skip the last layer, use no other, or use it after others.",
               (residual_pair, first_residual, longer_residual, residual_paths)),
        Clause("counts", r"A block of $W_L \cdots W_1$ has $H^L n^{L-1} = (nH)^L / n$ terms, if "
               r"each word has its own number and each number a word.",
               (first_words, next_words, first_count, next_count, counts)),
        Clause("residual_counts", r"A block of $\prod_l (I + W_l)$ has $((1 + nH)^L - 1)/n + "
               r"\delta_{ij}$ terms, all blocks together $n (1 + nH)^L$, with such numbers.",
               (first_residual_words, next_residual_words, first_residual_count,
                next_residual_count, residual_counts, all_terms)),
        Clause("causal_counts", r"If $D U = U D = I$, $C_1 = U$ and $D C_{L+1} = C_L$ for every "
               r"$L$, then $U^L = C_L$ for every $L$. With $U_{ij} = 1$ for $j \le i$ and $0$ "
               r"otherwise, $U^L$ counts the causal node paths $i = i_L \ge \cdots \ge i_0 = j$, "
               r"and $D$ takes differences along $i$, so that $C_L = \binom{i - j + L - 1}{L - 1}$ "
               r"by Pascal's rule $\binom{s}{L} - \binom{s - 1}{L} = \binom{s - 1}{L - 1}$ at "
               r"$s = i - j + L > 0$.",
               (first_causal, next_causal, causal_counts, pascal, three_tokens)),
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
               redefine=(Definition(weight.entry, Sum(
                   next_word * A["l+1"][h, i, k] * al["l"][p, i, j],
                   HEAD, NODE, (p, 1, m["l"]))),)),
        Mutant("transports_from_the_right", longer_paths, "longer paths multiply from the right",
               redefine=(Definition(transport.entry, Sum(
                   next_word * tau["l"][p, a, c] * T["l+1"][h, c, b],
                   HEAD, NODE, (p, 1, m["l"]), FEATURE)),)),
        Mutant("layers_only_add", replace(
            residual_pair, rhs=IDENTITY + W["1"][i, j, a, b] + W["2"][i, j, a, b]),
            "prod (I + W_l) = I + sum W_l"),
        Mutant("identity_is_lost", replace(longer_residual, rhs=longer_residual.rhs - IDENTITY),
               "every path uses a layer"),
        Mutant("node_at_every_layer", replace(first_count, lhs=first_count.lhs * n),
               "(nH)^L terms: a node summed over for every layer"),
        Mutant("no_path_starts_late", replace(
            next_residual_count, lhs=n * (mr["l"] + n * H * mr["l"])),
            "every path uses the first layer"),
        Mutant("one_identity_a_block", replace(all_terms, lhs=Sum(
            mr["l"] + 1, (i, 1, n), (j, 1, n))), "every block has an identity term"),
        Mutant("every_path_is_causal", replace(next_causal, lhs=Sum(V["l"][k, j], NODE)),
               "every node may follow"),
        Mutant("strictly_causal", next_causal, "a path may not stay at a node",
               redefine=(Definition(next_V.entry, Sum(
                   (U[i, k] - KroneckerDelta(i, k)) * V["l"][k, j], NODE)),)),
        Mutant("pascal_without_its_neighbour", replace(pascal, lhs=Z), "C(s - 1, L - 1) = C(s, L)"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
)
