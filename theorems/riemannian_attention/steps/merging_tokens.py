"""RA17, the weights of a row whose scores differ by at most log D, and where they lead as D -> 1.

Token i sees i tokens, with weights E = exp of the scores, times positional factors g where given.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.checker.exact import Draw, SmallIntegers
from theorems.rules import Induction
from theorems.statement import (
    Bound, Definition, Equation, Local, Step, array, symbols_of,
)

i, k = symbols_of("i k")  # sizes: how many tokens the tokens i and k see
j, p, q = symbols_of("j p q")
D, Z, Z_inv, Z_k, Z_k_inv, Z_g, Z_g_inv = (Symbol(name, real=True) for name in (
    "D", "Z", "Z^{-1}", "Z_k", "Z_k^{-1}", "Z_g", "Z_g^{-1}"))


def spread_of_row(slack: IndexedBase, E: IndexedBase) -> tuple[Definition, Local]:
    """E_j <= D E_p for all tokens j, p of the row: scores differ by at most log D."""

    def impose(draw: Draw) -> None:
        if type(draw.source) is SmallIntegers and ("D", ()) not in draw.entries:
            values = [draw.get(str(E), cell) for cell in draw.cells(E)]
            ratio = max(values) * draw.source.inverse(min(values))
            draw.put(array("D"), (), ratio + draw.source.rng.choice((0, 0, 1)))

    text = f"${E}_j \\le D {E}_p$ for all tokens $j, p$ of the row"
    leaves = Definition(slack[j, p], D * E[p] - E[j])
    return leaves, Local(f"{slack}>=0", text, (), impose, ((slack, ">=0"),))


class Row:
    """A row of weights E_j g_j / Z over `size` tokens, Z > 0 with its reciprocal."""

    def __init__(self, E: str, A: str, size: Symbol, names: tuple[Symbol, Symbol], g: str = ""
                 ) -> None:
        self.E, self.A, self.size = array(E, size), array(A, size), size
        self.factors = array(g, size) if g else None
        self.slack = array(f"s_{E}", size, size)
        self.Z, self.Z_inv = names
        self.positive = (signed(self.E, ">0"),) + ((signed(self.factors, ">0"),) if g else ())
        self.normaliser = Definition(self.Z, Sum(self.g(j) * self.E[j], (j, 1, size)))
        self.total = Step(
            id=f"total_{A}", lhs=Sum(self.g(j) * self.E[j], (j, 1, size)), rhs=self.Z,
            by=(self.normaliser,), because="The definition of Z.")
        self.weight = Definition(self.A[j], self.g(j) * self.E[j] * self.Z_inv)
        self.reciprocal = Definition(self.Z_inv, Integer(1), over=self.Z)
        self.spread = spread_of_row(self.slack, self.E)
        self.by = (self.weight, self.spread[0], self.total, self.reciprocal, self.normaliser,
                   *self.positive, self.spread[1])

    def g(self, index: Symbol) -> Expr:
        """The positional factor of a token, 1 where there is none."""
        return self.factors[index] if self.factors is not None else Integer(1)


row, own = Row("E", "A", i, (Z, Z_inv)), Row("F", "B", k, (Z_k, Z_k_inv))
placed = Row("M", "L", k, (Z_g, Z_g_inv), "g")
normalised = Step(
    id="normalised", lhs=Sum(row.A[j], (j, 1, i)), rhs=Integer(1),
    by=(row.weight, row.total, row.reciprocal, row.normaliser, *row.positive),
    because="Softmax weights.")
upper = Bound(
    id="upper", small=i * row.A[j], large=D, by=row.by,
    certificate=Sum(row.slack[j, p] * Z_inv, (p, 1, i)), because="i E_j <= D sum_p E_p.")
lower = Bound(
    id="lower", small=Integer(1), large=(1 + (i - 1) * D) * row.A[j], by=row.by,
    certificate=Sum((1 - KroneckerDelta(j, p)) * row.slack[p, j] * Z_inv, (p, 1, i)),
    because="sum_p E_p <= E_j + (i - 1) D E_j.")
own_upper = Bound(
    id="own_upper", small=k * own.A[q], large=D, by=own.by,
    certificate=Sum(own.slack[q, p] * Z_k_inv, (p, 1, k)), because="The same for token k.")
own_lower = Bound(
    id="own_lower", small=Integer(1), large=k * D * own.A[q], by=own.by,
    certificate=Sum(own.slack[p, q] * Z_k_inv, (p, 1, k)), because="sum_p E_p <= k D E_q.")
row_lower = Bound(
    id="row_lower", small=Integer(1), large=i * D * row.A[j], by=row.by,
    certificate=Sum(row.slack[p, j] * Z_inv, (p, 1, i)), because="The same for token i.")
positive_D = Bound(
    id="positive_D", small=Integer(0), large=D, strict=True, by=row.by,
    certificate=Sum((row.slack[j, p] + row.E[j]) * Z_inv, (p, 1, i)),
    because="It bounds quotients of positive numbers.")
e_1, e_2, f_1, f_2 = array("e_1", i), array("e_2", k), array("f_1", k), array("f_2", i)
excesses = (
    Definition(e_1[j], upper.large - upper.small),
    Definition(f_1[q], own_lower.large - own_lower.small),
    Definition(e_2[q], own_upper.large - own_upper.small),
    Definition(f_2[j], row_lower.large - row_lower.small),
)
quotient_above = Bound(
    id="quotient_above", small=i * row.A[j], large=k * D**2 * own.A[q],
    certificate=e_1[j] + D * f_1[q], by=(*excesses[:2], upper, own_lower, positive_D),
    because="i A_ij <= D <= k D^2 A_kk.")
quotient_below = Bound(
    id="quotient_below", small=k * own.A[q], large=i * D**2 * row.A[j],
    certificate=e_2[q] + D * f_2[j], by=(*excesses[2:], own_upper, row_lower, positive_D),
    because="k A_kk <= D <= i D^2 A_ij.")

others = Sum((1 - KroneckerDelta(q, p)) * placed.g(p), (p, 1, k))
placed_upper = Bound(
    id="placed_upper", small=(D * placed.g(q) + others) * placed.A[q], large=D * placed.g(q),
    by=placed.by, because="Compare each token with token q.", certificate=Sum(
        (1 - KroneckerDelta(q, p)) * placed.g(q) * placed.g(p) * placed.slack[q, p] * Z_g_inv,
        (p, 1, k)))
placed_lower = Bound(
    id="placed_lower", small=placed.g(q), large=(placed.g(q) + D * others) * placed.A[q],
    by=placed.by, because="Likewise.", certificate=Sum(
        (1 - KroneckerDelta(q, p)) * placed.g(q) * placed.g(p) * placed.slack[p, q] * Z_g_inv,
        (p, 1, k)))

lam = Symbol("lambda", real=True)
power, series = ({stage: number(name, stage) for stage in STAGES} for name in ("P", r"\Lambda"))


def geometric_claim(label: str) -> Equation:
    """lambda^k is 1 less (1 - lambda) times the sum of the first k powers."""
    return number("P", label), 1 - (1 - lam) * number(r"\Lambda", label)


geometric_l = induction_hypothesis("the geometric sum", geometric_claim("l"), power["l"],
                                   geometric_claim("l")[1])
next_series = Definition(series["l+1"], 1 + lam * series["l"])
first_sum = Step(
    id="first_sum", lhs=geometric_claim("1")[0], rhs=geometric_claim("1")[1],
    by=(Definition(power["1"], lam), Definition(series["1"], Integer(1))),
    because="One token: the sum is 1.")
next_sum = Step(
    id="next_sum", lhs=geometric_claim("l+1")[0], rhs=geometric_claim("l+1")[1],
    by=(Definition(power["l+1"], lam * power["l"]), next_series, geometric_l),
    because=r"One token more multiplies the others by $\lambda$: $\Lambda_{k+1} = 1 + \lambda "
    r"\Lambda_k$.")
geometric = Induction(
    id="geometric", claim=geometric_claim, hypothesis=geometric_l, by=(first_sum, next_sum),
    because="So it is for every k.")
growing = Step(
    id="growing", lhs=series["l+1"], rhs=series["l"] + power["l"], by=(next_series, geometric_l),
    because="Each token adds a power of lambda.")

t, gap, gap_inv = (number(name, "l+1") for name in ("t", "h", "h^{-1}"))
limits, sums, binomials = ({stage: number(name, stage) for stage in STAGES}
                           for name in ("c", "S'", "C"))


def binomial_claim(label: str) -> Equation:
    """The sum of the limits up to a token is its binomial coefficient."""
    return number("S'", label), number("C", label)


binomial_l = induction_hypothesis(
    "the binomial sum", binomial_claim("l"), sums["l"], binomials["l"])
position = Definition(t, k + gap)
positive_gap = signed(array(str(gap)), ">0")
gap_reciprocal = Definition(gap_inv, Integer(1), over=gap)
fixed_point = Definition(limits["l+1"], k * sums["l"] * gap_inv)
next_binomial = Definition(binomials["l+1"], t * binomials["l"] * gap_inv)
first_binomial = Step(
    id="first_binomial", lhs=binomial_claim("1")[0], rhs=binomial_claim("1")[1],
    by=(Definition(sums["1"], Integer(1)), Definition(binomials["1"], Integer(1))),
    because="Token k itself: the limit is 1.")
later_binomial = Step(
    id="later_binomial", lhs=binomial_claim("l+1")[0], rhs=binomial_claim("l+1")[1],
    by=(Definition(sums["l+1"], sums["l"] + limits["l+1"]), fixed_point, next_binomial, position,
        binomial_l, gap_reciprocal, positive_gap),
    because="$S + k S / (t - k) = t S / (t - k)$, the rule of $\\binom{t}{k}$.")
hockey_stick = Induction(
    id="hockey_stick", claim=binomial_claim, hypothesis=binomial_l,
    by=(first_binomial, later_binomial), because="So the sums are binomial at every token.")
stationary = Step(
    id="stationary", lhs=t * limits["l+1"], rhs=k * (limits["l+1"] + sums["l"]),
    by=(fixed_point, position, gap_reciprocal, positive_gap),
    because="The limit $c$ of $c' = (k/t) c + (k/t) S$ solves $(1 - k/t) c = (k/t) S$.")
limit_value = Step(
    id="limit_value", lhs=t * limits["l+1"], rhs=k * binomials["l+1"],
    by=(fixed_point, next_binomial, position, binomial_l, gap_reciprocal, positive_gap),
    because="$t \\binom{t-1}{k-1} = k \\binom{t}{k}$.")
