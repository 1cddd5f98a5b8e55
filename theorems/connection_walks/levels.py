"""Arrays, numbers and hypotheses at the levels 1, l and l + 1 of an induction on depth."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Symbol

from theorems.exact import Draw, evaluate
from theorems.statement import Assumption, Equation, array, symbols_of

i, j, a, b = symbols_of("i j a b")
STAGES = ("1", "l", "l+1")


def level(name: str, label: str, *shape: Expr) -> IndexedBase:
    """The array of this name at a level of an induction."""
    return array(f"{name}_{{{label}}}", *shape)


def number(name: str, label: str) -> Symbol:
    """The number of this name at a level of an induction."""
    return Symbol(f"{name}_{{{label}}}", real=True)


def hypothesis(name: str, equation: Equation, chosen: IndexedBase | Symbol, value: Expr
               ) -> Assumption:  # fmt: skip
    """The claim at level l; instances choose one of its arrays or numbers."""
    base = chosen if isinstance(chosen, IndexedBase) else array(chosen.name)
    entry = (i, j, a, b)[: len(base.shape)]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(base):
            draw.put(base, cell, evaluate(value, draw, dict(zip(entry, cell, strict=True))))

    return Assumption(f"{name} at level l", f"{name} at level $l$", (equation,), impose)
