"""AP7, Taylor features: the powers of q . k as inner products of monomials, and how many there are.

A word is a list of coordinates; its monomial is their product. Words of one monomial are collected.
"""

from __future__ import annotations

from math import prod

from sympy import KroneckerDelta, Sum, Symbol

from theorems.assumptions.levels import (
    STAGES, count_words, induction_hypothesis, level, no_spare_number, number, own_numbers, size,
)
from theorems.checker.exact import Draw
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Local, Step, array, symbols_of

d, D = symbols_of("d D")
a, p, w, h, h2 = symbols_of("a p w h h'")
COORDINATES = (a, 1, d)
q, k = array("q", d), array("k", d)

words = {stage: size("m", stage) for stage in STAGES}
phi, psi = ({stage: level(name, stage, words[stage]) for stage in STAGES}
            for name in (r"\phi", r"\psi"))
power = {stage: number("s", stage) for stage in STAGES}
first_word = level(r"\beta", "1", words["1"], d)[w, a]
next_word = level(r"\beta", "l+1", words["l+1"], d, words["l"])[w, a, p]
FIRST, LATER = "coordinates", "pairs of a coordinate and a shorter word"
first_own, next_own = own_numbers(FIRST, first_word), own_numbers(LATER, next_word)
first_words = count_words("first_words", first_own, no_spare_number(FIRST, first_word), first_word)
next_words = count_words("next_words", next_own, no_spare_number(LATER, next_word), next_word)


def words_claim(label: str) -> Equation:
    """(q . k)^r is the inner product of the products of r coordinates."""
    count = size("m", label)
    one, other = (level(name, label, count) for name in (r"\phi", r"\psi"))
    return number("s", label), Sum(one[w] * other[w], (w, 1, count))


words_l = induction_hypothesis("a power", words_claim("l"), power["l"], words_claim("l")[1])
inner = Sum(q[a] * k[a], COORDINATES)


def products(label: str, below: str | None) -> tuple[Definition, ...]:
    """The product of the coordinates of each word."""
    pairs = ((phi, q), (psi, k))
    if below is None:
        return tuple(Definition(part[label][w], Sum(first_word * x[a], COORDINATES))
                     for part, x in pairs)
    return tuple(
        Definition(part[label][w], Sum(
            next_word * x[a] * part[below][p], COORDINATES, (p, 1, words[below])))
        for part, x in pairs)


first_power = Step(
    id="first_power", lhs=words_claim("1")[0], rhs=words_claim("1")[1],
    by=(Definition(power["1"], inner), *products("1", None), first_own),
    because="A word of one coordinate.")
next_power = Step(
    id="next_power", lhs=words_claim("l+1")[0], rhs=words_claim("l+1")[1],
    by=(Definition(power["l+1"], inner * power["l"]), *products("l+1", "l"), next_own, words_l),
    because="A word is a coordinate and a shorter word.")
powers = Induction(id="powers", claim=words_claim, hypothesis=words_l,
                   by=(first_power, next_power), because="So it is for every power.")

n = symbols_of("n")[0]
of, count, root, rho = array("z", n, D), array("c", D), array("r", D), array("rho", n)
one, other, mono, mono2 = array("phi", n), array("psi", n), array("x", D), array("y", D)
feature, feature2 = array("F", D), array("F'", D)
MONOMIALS, WORDS = (h, 1, D), (w, 1, n)


def _one_each(draw: Draw) -> None:
    rows, columns = draw.shape(of)
    for row in range(1, rows + 1):
        own = draw.source.rng.randint(1, columns)
        for column in range(1, columns + 1):
            draw.put(of, (row, column), int(column == own))


def _squares(draw: Draw) -> None:
    for cell in draw.cells(count):
        draw.put(count, cell, draw.get(root.name, cell) ** 2)


one_monomial = Local(
    "each word has one monomial", "each word $w$ has one monomial $h$, where $z_{wh} = 1$",
    ((of[w, h] * of[w, h2], KroneckerDelta(h, h2) * of[w, h]),), _one_each)
collected = Step(
    id="collected", lhs=Sum(rho[w] * one[w] * other[w], WORDS),
    rhs=Sum(count[h] * mono[h] * mono2[h], MONOMIALS),
    by=(Definition(one[w], Sum(of[w, h] * mono[h], MONOMIALS)),
        Definition(other[w], Sum(of[w, h] * mono2[h], MONOMIALS)),
        Definition(count[h], Sum(of[w, h] * rho[w], WORDS)), one_monomial),
    because="Words of one monomial have one product.")
square_roots = Local("r is the root of c", "$r_h^2 = c_h$", ((root[h] ** 2, count[h]),),
                     _squares)
weighted = Step(
    id="weighted", lhs=Sum(feature[h] * feature2[h], MONOMIALS),
    rhs=Sum(count[h] * mono[h] * mono2[h], MONOMIALS),
    by=(Definition(feature[h], root[h] * mono[h]), Definition(feature2[h], root[h] * mono2[h]),
        square_roots), because="A feature is a monomial times the root of its weight.")

# Monomials of degree at most p + 1 in d + 1 variables: without the last one, or divisible by it.
all_of, without, divisible = symbols_of("m_1 m_2 m_3")
g, u, v = symbols_of("g u v")
kinds = (array("zeta", all_of, without)[g, u], array("eta", all_of, divisible)[g, v])
BOTH = "monomials in d variables, and those of one degree less in d + 1"
both_own, both_spare = own_numbers(BOTH, *kinds), no_spare_number(BOTH, *kinds)
dimension = count_words("dimension", both_own, both_spare, *kinds)
b_1, b_2, F, P_0, P_1, D_0, D_1, p_is, d_is = (
    Symbol(name, real=True)
    for name in ("b_1", "b_2", "f", "p_0", "p_1", "d_0", "d_1", "p", "delta"))


def _binomials(draw: Draw) -> None:
    for chosen, parts in ((b_1, (P_1, D_0)), (b_2, (P_0, D_1))):
        below = prod(draw.get(part.name, ()) for part in parts)
        draw.put(array(chosen.name), (), draw.get(F.name, ()) * draw.source.inverse(below))


binomials = Local(
    "two binomial coefficients", r"$b_1 = \binom{d+p+1}{p+1}$ and $b_2 = \binom{d+p+1}{p}$, that "
    r"is $b_1 (p+1)! d! = b_2 p! (d+1)! = (d+p+1)!$",
    ((b_1 * P_1 * D_0, F), (b_2 * P_0 * D_1, F)), _binomials)
next_P, next_D = Definition(P_1, (p_is + 1) * P_0), Definition(D_1, (d_is + 1) * D_0)
first_share = Step(id="first_share", lhs=b_1 * P_1 * D_1, rhs=(d_is + 1) * F,
                   by=(next_D, binomials), because="$(d + 1)! = (d + 1) d!$.")
second_share = Step(id="second_share", lhs=b_2 * P_1 * D_1, rhs=(p_is + 1) * F,
                    by=(next_P, binomials), because="$(p + 1)! = (p + 1) p!$.")
pascal = Step(
    id="pascal", lhs=(b_1 + b_2) * P_1 * D_1, rhs=(d_is + p_is + 2) * F,
    by=(first_share, second_share),
    because=r"$b_1 + b_2 = (d+p+2)! / ((p+1)! (d+1)!) = \binom{d+p+2}{p+1}$.")
