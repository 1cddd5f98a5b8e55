"""CW11, how many paths there are: terms of a block, with residuals, and causal node paths."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions import right_inverse, signed
from theorems.connection_walks.levels import STAGES, hypothesis, level, number
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Step, Witness, array, symbols_of

n, H, N = symbols_of("n H N")
i, j, k, h, p = symbols_of("i j k h p")
HEAD, NODE, WORD = (h, 1, H), (k, 1, n), (p, 1, N)

words = {"1": Sum(1, HEAD), "l": Sum(1, WORD), "l+1": Sum(1, HEAD, NODE, WORD)}
residual_words = {**words, "l+1": Sum(1, WORD) + Sum(1, HEAD) + words["l+1"]}
power, residual_power = ({label: number(name, label) for label in STAGES}
                         for name in ("q", "s"))  # fmt: skip


def count_claim(label: str) -> Equation:
    """n times the terms of a block are (nH)^L."""
    return n * words[label], power[label]


def residual_count_claim(label: str) -> Equation:
    """n times the terms of a block beside the identity are (1 + nH)^L - 1."""
    return n * residual_words[label], residual_power[label] - 1


counts_l = hypothesis("the count", count_claim("l"), power["l"], n * words["l"])
residual_counts_l = hypothesis("the count with residuals", residual_count_claim("l"),
                               residual_power["l"], n * words["l"] + 1)  # fmt: skip
first_power = Definition(power["1"], n * H)
next_power = Definition(power["l+1"], n * H * power["l"])
first_residual_power = Definition(residual_power["1"], 1 + n * H)
next_residual_power = Definition(residual_power["l+1"], (1 + n * H) * residual_power["l"])
first_count = Step(
    id="first_count", lhs=count_claim("1")[0], rhs=count_claim("1")[1], by=(first_power,),
    because="One layer has H terms a block.",
)
next_count = Step(
    id="next_count", lhs=count_claim("l+1")[0], rhs=count_claim("l+1")[1],
    by=(next_power, counts_l), because="Every further layer multiplies the terms by n H.",
)
counts = Induction(
    id="counts", claim=count_claim, hypothesis=counts_l, by=(first_count, next_count),
    because="$(nH)^L / n = H^L n^{L-1}$.",
)
first_residual_count = Step(
    id="first_residual_count", lhs=residual_count_claim("1")[0], rhs=residual_count_claim("1")[1],
    by=(first_residual_power,), because="One layer has H terms beside the identity.",
)
next_residual_count = Step(
    id="next_residual_count", lhs=residual_count_claim("l+1")[0],
    rhs=residual_count_claim("l+1")[1], by=(next_residual_power, residual_counts_l),
    because="With q = n a + 1 the recursion a -> (1 + nH) a + H is q -> (1 + nH) q.",
)
residual_counts = Induction(
    id="residual_counts", claim=residual_count_claim, hypothesis=residual_counts_l,
    by=(first_residual_count, next_residual_count), because="So q = (1 + nH)^L.",
)
all_terms = Step(
    id="all_terms", lhs=Sum(Sum(1, WORD) + KroneckerDelta(i, j), (i, 1, n), (j, 1, n)),
    rhs=n * residual_power["l"], by=(residual_counts_l,),
    because="Over the n^2 blocks n (1 + nH)^L terms in all.",
)

U, D = array("U", n, n), array("D", n, n)
K, C = ({label: level(name, label, n, n) for label in STAGES} for name in ("M", "C"))


def causal_claim(label: str) -> Equation:
    """The causal node paths from j to i are as many as the binomial coefficient says."""
    return K[label][i, j], C[label][i, j]


causal_l = hypothesis("the causal count", causal_claim("l"), K["l"], C["l"][i, j])
next_K = Definition(K["l+1"][i, j], Sum(U[i, k] * K["l"][k, j], NODE))
rule_of_pascal = Definition(C["l"][i, j], Sum(D[i, k] * C["l+1"][k, j], NODE))
first_causal = Step(
    id="first_causal", lhs=causal_claim("1")[0], rhs=causal_claim("1")[1],
    by=(Definition(K["1"][i, j], U[i, j]), Definition(C["1"][i, j], U[i, j])),
    because="One edge from j to i if j <= i: C(i - j, 0) = 1 on and below the diagonal.",
)
next_causal = Step(
    id="next_causal", lhs=causal_claim("l+1")[0], rhs=causal_claim("l+1")[1],
    by=(right_inverse(U, D), next_K, causal_l, rule_of_pascal),
    because="U sums over k <= i and D takes differences along i: $D C_{l+1} = C_l$ is Pascal's rule.",
)
causal_counts = Induction(
    id="causal_counts", claim=causal_claim, hypothesis=causal_l, by=(first_causal, next_causal),
    because="So (U^L)_ij = C(i - j + L - 1, L - 1).",
)
X, Y, Z, s, s_inv, t, L = (
    Symbol(name, real=True) for name in ("X", "Y", "Z", "s", "s^{-1}", "t", "L")
)
pascal = Step(
    id="pascal", lhs=Y + Z, rhs=X,
    by=(Definition(Y, t * s_inv * X), Definition(Z, L * s_inv * X), Definition(L, s - t),
        Definition(s_inv, Integer(1), over=s), signed(array("s"), ">0")),
    because="With t = i - j, s = t + L, X = C(s, L), Y = C(s - 1, L) = X t/s, Z = C(s - 1, L - 1) "
    "= X L/s: the difference of X along i is Z.",
)  # fmt: skip
U_3, D_3, C_2, C_3 = (array(name, 3, 3) for name in ("U_3", "D_3", "C_2", "C_3"))


def product(left: IndexedBase, right: IndexedBase) -> Expr:
    """Entry (i, j) of a product of 3 x 3 matrices."""
    return Sum(left[i, k] * right[k, j], (k, 1, 3))


three_tokens = Witness(
    id="three_tokens",
    values={U_3: [[1, 0, 0], [1, 1, 0], [1, 1, 1]], D_3: [[1, 0, 0], [-1, 1, 0], [0, -1, 1]],
            C_2: [[1, 0, 0], [2, 1, 0], [3, 2, 1]], C_3: [[1, 0, 0], [3, 1, 0], [6, 3, 1]]},
    holds=((product(U_3, D_3), KroneckerDelta(i, j)), (product(U_3, U_3), C_2[i, j]),
           (product(D_3, C_2), U_3[i, j]), (product(U_3, C_2), C_3[i, j]),
           (product(D_3, C_3), C_2[i, j])),
    because="C(2 + 1, 1) = 3 and C(2 + 2, 2) = 6 paths from the first token to the third.",
)  # fmt: skip
