"""CW11, the numbering of paths and how many there are: terms of a block, causal node paths."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.assumptions.levels import (
    STAGES, count_words, equality, induction_hypothesis, level, no_spare_number, number,
    own_numbers, size,
)
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Step, Witness, array, symbols_of

n, H = symbols_of("n H")
i, j, k, h, p, q = symbols_of("i j k h p q")
HEAD, NODE = (h, 1, H), (k, 1, n)

# A word is what a path chooses but for its end: a head of each layer used, and the nodes between.
m, mr = ({label: size(name, label) for label in STAGES} for name in ("m", "m'"))
first_head = level(r"\beta", "1", m["1"], H)[q, h]
next_word = level(r"\beta", "l+1", m["l+1"], H, n, m["l"])[q, h, k, p]
FIRST, WORDS = "heads of the first layer", "triples of a head, a node and a word of one layer less"
first_own, next_own = own_numbers(FIRST, first_head), own_numbers(WORDS, next_word)
first_spare, next_spare = no_spare_number(FIRST, first_head), no_spare_number(WORDS, next_word)
first_words = count_words("first_words", first_own, first_spare, first_head)
next_words = count_words("next_words", next_own, next_spare, next_word)

first_used = level(r"\phi", "1", mr["1"], H)[q, h]
skipping = level(r"\sigma", "l+1", mr["l+1"], mr["l"])[q, p]
starting = level(r"\phi", "l+1", mr["l+1"], H)[q, h]
going_on = level(r"\gamma", "l+1", mr["l+1"], H, n, mr["l"])[q, h, k, p]
kinds = skipping, starting, going_on
USED = "heads that a residual path uses in the first layer"
LATER = "residual words of one layer less, heads, and triples of a head, a node and such a word"
first_residual_own, next_residual_own = own_numbers(USED, first_used), own_numbers(LATER, *kinds)
first_residual_words = count_words(
    "first_residual_words", first_residual_own, no_spare_number(USED, first_used), first_used)
next_residual_words = count_words(
    "next_residual_words", next_residual_own, no_spare_number(LATER, *kinds), *kinds)


def count_claim(label: str) -> Equation:
    """n times the terms of a block are (nH)^L."""
    return n * size("m", label), number("q", label)


def residual_count_claim(label: str) -> Equation:
    """n times the terms of a block beside the identity are (1 + nH)^L - 1."""
    return n * size("m'", label), number("s", label) - 1


power, residual_power = ({label: number(name, label) for label in STAGES}
                         for name in ("q", "s"))
counts_l = induction_hypothesis("the count", count_claim("l"), power["l"], n * m["l"])
residual_counts_l = induction_hypothesis("the count with residuals", residual_count_claim("l"),
                                         residual_power["l"], n * mr["l"] + 1)
first_power = Definition(power["1"], n * H)
next_power = Definition(power["l+1"], n * H * power["l"])
first_residual_power = Definition(residual_power["1"], 1 + n * H)
next_residual_power = Definition(residual_power["l+1"], (1 + n * H) * residual_power["l"])
first_count = Step(
    id="first_count", lhs=count_claim("1")[0], rhs=count_claim("1")[1],
    by=(first_words, first_power), because="One layer has H terms a block.",
)
next_count = Step(
    id="next_count", lhs=count_claim("l+1")[0], rhs=count_claim("l+1")[1],
    by=(next_words, next_power, counts_l),
    because="Every further layer multiplies the terms by n H.",
)
counts = Induction(
    id="counts", claim=count_claim, hypothesis=counts_l, by=(first_count, next_count),
    because="$(nH)^L / n = H^L n^{L-1}$.",
)
first_residual_count = Step(
    id="first_residual_count", lhs=residual_count_claim("1")[0], rhs=residual_count_claim("1")[1],
    by=(first_residual_words, first_residual_power),
    because="One layer has H terms beside the identity.",
)
next_residual_count = Step(
    id="next_residual_count", lhs=residual_count_claim("l+1")[0],
    rhs=residual_count_claim("l+1")[1],
    by=(next_residual_words, next_residual_power, residual_counts_l),
    because="The last layer is skipped, is the first that is used, or goes on from a word: "
    "$n (m' + H + nHm') + 1 = (1 + nH)(nm' + 1)$.",
)
residual_counts = Induction(
    id="residual_counts", claim=residual_count_claim, hypothesis=residual_counts_l,
    by=(first_residual_count, next_residual_count), because="So $n m'_L + 1 = (1 + nH)^L$.",
)
all_terms = Step(
    id="all_terms", lhs=Sum(mr["l"] + KroneckerDelta(i, j), (i, 1, n), (j, 1, n)),
    rhs=n * residual_power["l"], by=(residual_counts_l,),
    because="Over the n^2 blocks n (1 + nH)^L terms in all.",
)

U, D = array("U", n, n), array("D", n, n)
V, C = ({label: level(name, label, n, n) for label in STAGES} for name in ("V", "C"))


def causal_claim(label: str) -> Equation:
    """The power of U is C."""
    return level("V", label, n, n)[i, j], level("C", label, n, n)[i, j]


differences = Sum(D[i, k] * C["l+1"][k, j], NODE)
rule_of_pascal = equality("D C_{l+1} = C_l", "$D C_{l+1} = C_l$",
                          (C["l"][i, j], differences), C["l"], differences)
causal_l = induction_hypothesis("the claim on powers", causal_claim("l"), V["l"], C["l"][i, j])
next_V = Definition(V["l+1"][i, j], Sum(U[i, k] * V["l"][k, j], NODE))
first_causal = Step(
    id="first_causal", lhs=causal_claim("1")[0], rhs=causal_claim("1")[1],
    by=(Definition(V["1"][i, j], U[i, j]), Definition(C["1"][i, j], U[i, j])),
    because="$U^1 = U = C_1$.",
)
next_causal = Step(
    id="next_causal", lhs=causal_claim("l+1")[0], rhs=causal_claim("l+1")[1],
    by=(right_inverse(U, D), rule_of_pascal, next_V, causal_l),
    because="$U^{l+1} = U C_l = U D C_{l+1} = C_{l+1}$.",
)
causal_counts = Induction(
    id="causal_counts", claim=causal_claim, hypothesis=causal_l, by=(first_causal, next_causal),
    because="So $U^L = C_L$ at every depth.",
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
)
U_3, D_3, C_2, C_3 = (array(name, 3, 3) for name in ("U_3", "D_3", "C_2", "C_3"))


def product(left: IndexedBase, right: IndexedBase) -> Expr:
    """Entry (i, j) of a product of 3 x 3 matrices."""
    return Sum(left[i, k] * right[k, j], (k, 1, 3))


three_tokens = Witness(
    id="three_tokens",
    values={U_3: [[1, 0, 0], [1, 1, 0], [1, 1, 1]], D_3: [[1, 0, 0], [-1, 1, 0], [0, -1, 1]],
            C_2: [[1, 0, 0], [2, 1, 0], [3, 2, 1]], C_3: [[1, 0, 0], [3, 1, 0], [6, 3, 1]]},
    holds=((product(U_3, D_3), KroneckerDelta(i, j)), (product(D_3, U_3), KroneckerDelta(i, j)),
           (product(U_3, U_3), C_2[i, j]), (product(D_3, C_2), U_3[i, j]),
           (product(U_3, C_2), C_3[i, j]), (product(D_3, C_3), C_2[i, j])),
    because="C(2 + 1, 1) = 3 and C(2 + 2, 2) = 6 paths from the first token to the third.",
)
