"""RA11, tanh u <= u for u >= 0, on the partial sums e_L of the series of exp(2 u).

With n = L!, p = (2 u)^L and f = L! e_L: (1 - u) f + u p + Q^2 = (1 + u) n at every L, where Q is
real. So (1 - u) e_L <= 1 + u, and in the limit (1 - u) exp(2 u) <= 1 + u, which is tanh u <= u.
"""

from __future__ import annotations

from sympy import Integer, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, number
from theorems.checker.exact import Draw, evaluate
from theorems.rules import Induction
from theorems.statement import Bound, Definition, Equation, Local, Step, array

u, s = Symbol("u", real=True), Symbol("s", real=True)
K, n, p, f, Q = ({stage: number(name, stage) for stage in STAGES} for name in "KnpfQ")


def claim(label: str) -> Equation:
    """u n = (1 - u) f + u p + Q^2 - n at a level."""
    n, p, f, Q = (number(name, label) for name in "npfQ")
    return u * n, (1 - u) * f + u * p + Q**2 - n


def _open(draw: Draw, chosen: Symbol) -> bool:
    """Whether no start of a search has chosen it."""
    return (chosen.name, ()) not in draw.entries


def _root(draw: Draw) -> None:
    if not _open(draw, p["l"]):
        return
    terms, scale, before, after = (
        draw.get(symbol.name, ()) for symbol in (K["l"], u, Q["l"], Q["l+1"])
    )
    rest = after**2 - (terms + 1) * before**2
    draw.put(array(p["l"].name), (), rest * draw.source.inverse((terms - 1) * scale))


def _factorial(draw: Draw) -> None:
    if not _open(draw, n["l"]):
        return
    scale, power, total, root_of_gap = (draw.get(x.name, ()) for x in (u, p["l"], f["l"], Q["l"]))
    value = (1 - scale) * total + scale * power + root_of_gap**2
    draw.put(array(n["l"].name), (), value * draw.source.inverse(1 + scale))


gap = (K["l"] + 1) * Q["l"] ** 2 + (K["l"] - 1) * u * p["l"]
root_of_gap = Local("root of the gap", "$Q_{l+1}$ is a root of the gap at level $l + 1$",
                    ((Q["l+1"] ** 2, gap),), _root)
partial_sum_l = Local("the partial sum at level l", "the equation at level $l$", (claim("l"),),
                      _factorial)
positive_u, positive_p = signed(array("u"), ">=0"), signed(array(p["l"].name), ">=0")
first = Step(
    id="series_first", lhs=claim("1")[0], rhs=claim("1")[1],
    by=(Definition(n["1"], Integer(1)), Definition(p["1"], 2 * u), Definition(f["1"], 1 + 2 * u),
        Definition(Q["1"], Integer(0))), because="$(1 - u)(1 + 2 u) + 2 u^2 = 1 + u$.",
)
next_p = Definition(p["l+1"], 2 * u * p["l"])
following = Step(
    id="series_next", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
    by=(Definition(n["l+1"], K["l+1"] * n["l"]), Definition(f["l+1"], K["l+1"] * f["l"] + p["l+1"]),
        next_p, Definition(K["l+1"], K["l"] + 1), root_of_gap, partial_sum_l),
    because="One term more: the gap grows to $(L + 1) Q^2 + (L - 1) u p$.",
)
real_root = Bound(
    id="series_root", small=Integer(0), large=gap,
    certificate=(2 + s) * Q["l"] ** 2 + s * u * p["l"],
    by=(Definition(K["l"], 1 + s), signed(array("s"), ">=0"), positive_u, positive_p),
    because="It is nonnegative for $L \\ge 1$ terms, $L = 1 + s$, so it has a root.",
)
below = Bound(
    id="series_below", small=(1 - u) * f["l+1"], large=(1 + u) * n["l+1"],
    certificate=u * p["l+1"] + Q["l+1"] ** 2, by=(following, next_p, positive_u, positive_p),
    because="What is left is nonnegative.",
)
one_term = tuple((symbol, value) for symbol, value in (
    (K["l"], Integer(1)), (n["l"], Integer(1)), (p["l"], 2 * u), (f["l"], 1 + 2 * u),
    (Q["l"], Integer(0))))


def _start(draw: Draw) -> None:
    for symbol, value in one_term:
        draw.put(array(symbol.name), (), evaluate(value, draw, {}))
    draw.put(array(Q["l+1"].name), (), 0)


start = Local("level l is level 1", "the sum has one term at level $l$", one_term, _start)
everywhere = Induction(id="series_everywhere", claim=claim, hypothesis=partial_sum_l,
                       by=(first, following),
                       because="So it is for every partial sum.")
steps = (first, following, real_root, below, everywhere)
