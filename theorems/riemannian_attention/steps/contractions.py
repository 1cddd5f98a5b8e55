"""Matrices that lengthen no vector by more than a factor, and iterated one-layer bounds."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol, latex

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, hypothesis, number
from theorems.assumptions.constructions import reflection, unit_vector
from theorems.checker.exact import Draw, Generators, Rows, times
from theorems.rules import Induction
from theorems.statement import (
    Assumption, Bound, Cited, Definition, Equation, Rule, Step, array, symbols_of,
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


def bounded(W: IndexedBase, K: IndexedBase, norm: Symbol | None = None) -> Assumption:
    """|W v| <= norm |v| for every v (norm 1 without one): W^T W + K^T K = norm^2 I with some K."""
    lead, d = symbols_of("k1 k2 k3")[: len(W.shape) - 2], W.shape[-1]
    square = Integer(1) if norm is None else norm**2

    def gram(matrix: IndexedBase) -> Expr:
        return Sum(matrix[*lead, b, a] * matrix[*lead, b, c], (b, 1, d))

    def impose(draw: Draw) -> None:
        scale = 1 if norm is None else draw.get(norm.name, ())
        for cell in draw.cells(W, len(lead)):
            size = draw.size(d)
            columns = _orthonormal(draw, size)
            for (place, part) in ((0, W), (size, K)):
                for row in range(size):
                    for column in range(size):
                        value = scale * columns[place + row][column]
                        draw.put(part, (*cell, row + 1, column + 1), value)

    name, indices = latex(W.label), "_i" * len(lead)
    limit = "1" if norm is None else latex(norm)
    rule = (gram(W), square * KroneckerDelta(a, c) - gram(K))
    return Assumption(f"{W} is bounded", rf"$\lVert {name}{indices} \rVert \le {limit}$",
                      (rule,), impose)


def _orthonormal(draw: Draw, size: int) -> Rows:
    """Twice as many rows as columns, with orthonormal columns; where symbolic, of one angle."""
    if isinstance(draw.source, Generators):
        angle = unit_vector(draw, 2)
        return [[part * int(row == column) for column in range(size)]
                for part in angle for row in range(size)]
    columns = [row[:size] for row in reflection(draw, 2 * size)]
    return times(columns, reflection(draw, size))


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

    at_l = hypothesis("the bound of all layers", claim("l"), o["l"], claim("l")[1])
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
