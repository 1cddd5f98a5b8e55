"""Matrices that lengthen no vector by more than a factor, and iterated one-layer bounds."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Integer, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.rules import Induction
from theorems.statement import (
    Bound, Cited, Definition, Equation, Rule, Step, array, symbols_of,
)

a, b, c = symbols_of("a b c")

infinite_product = Cited(
    id="infinite-product",
    statement="For 0 <= a_l < 1 the products of 1 - a_l over l <= L tend to a positive limit iff "
    "the sum of a_l over all l is finite; otherwise they tend to 0.",
    source="K. Knopp, Theory and Application of Infinite Series, Blackie 1951, section 28; T. "
    "Apostol, Mathematical Analysis, Addison-Wesley 1974, section 8.26",
    because="It turns products of factors over all layers into sums.",
)


@dataclass(frozen=True)
class Iterated:
    """What a bound of one layer says of l layers: the steps, and the factor of the next layer."""

    first: Step
    following: Step
    every: Induction
    rest: Bound
    factor: Symbol

    @property
    def steps(self) -> tuple[Rule, ...]:
        """In the order of the derivation."""
        return self.first, self.following, self.every, self.rest


def iterated(below: bool) -> Iterated:
    """From o_{l+1} = f o_l + eps (below) or f o_l - eps, f, eps >= 0: o_l = Pi_l o + R_l or
    Pi_l o - R_l with R_l >= 0, where Pi_l is the product of the factors f."""
    o, P, R = ({label: number(name, label) for label in STAGES} for name in ("o", r"\Pi", "R"))
    start, factor, excess = (Symbol(name, real=True) for name in ("o", "f", r"\epsilon"))
    sign = 1 if below else -1

    def claim(label: str) -> Equation:
        return (number("o", label), number(r"\Pi", label) * start + sign * number("R", label))

    at_l = induction_hypothesis("the bound of all layers", claim("l"), o["l"], claim("l")[1])
    next_rest = Definition(R["l+1"], factor * R["l"] + excess)
    first = Step(
        id="first_level", lhs=claim("1")[0], rhs=claim("1")[1],
        by=(Definition(o["1"], start), Definition(P["1"], Integer(1)),
            Definition(R["1"], Integer(0))), because="No layer, no factor.",
    )
    following = Step(
        id="next_level", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
        by=(Definition(o["l+1"], factor * o["l"] + sign * excess), next_rest,
            Definition(P["l+1"], factor * P["l"]), at_l),
        because="One more layer multiplies both terms by its factor.",
    )
    every = Induction(id="every_level", claim=claim, hypothesis=at_l, by=(first, following),
                      because="So it is at every depth.")
    signs = tuple(signed(array(name), ">=0") for name in (factor.name, excess.name, R["l"].name))
    rest = Bound(
        id="rest_of_a_sign", small=Integer(0), large=R["l+1"], certificate=factor * R["l"] + excess,
        by=(next_rest, *signs), because=r"$R_1 = 0$, and no later $R_l$ is negative.",
    )
    return Iterated(first, following, every, rest, factor)
