"""What AP1 uses of exp and log: exp u >= 1 + u, on the powers whose limit exp is.

With u = t / 2^L: (1 + u)^(2^L) = 1 + 2^L u + c_L with c_L >= 0, at every L and for every real u.
Its limit exp t is at least 1 + t. At t = log q - log p, times p: q >= p (1 + log q - log p), which
for p = 0 says q >= 0 whatever number stands for log p.
"""

from __future__ import annotations

from sympy import Expr, Indexed, IndexedBase, Integer, Rational, Sum, Symbol, latex

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, Generators, evaluate
from theorems.rules import Induction
from theorems.statement import Bound, Definition, Equation, Local, Step, array, symbols_of

i, j = symbols_of("i j")
u = Symbol("u", real=True)
power, doubled, rest = ({stage: number(name, stage) for stage in STAGES} for name in "fpc")


def claim(label: str) -> Equation:
    """(1 + u)^(2^L) = 1 + 2^L u + c_L."""
    f, p, c = (number(name, label) for name in "fpc")
    return f, 1 + p * u + c


at_l = induction_hypothesis("the powers of two", claim("l"), power["l"], claim("l")[1])
next_rest = Definition(rest["l+1"], 2 * rest["l"] + (doubled["l"] * u + rest["l"]) ** 2)
first = Step(
    id="power_first", lhs=claim("1")[0], rhs=claim("1")[1],
    by=(Definition(power["1"], (1 + u) ** 2), Definition(doubled["1"], Integer(2)),
        Definition(rest["1"], u**2)), because="$(1 + u)^2 = 1 + 2 u + u^2$.",
)
following = Step(
    id="power_next", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
    by=(Definition(power["l+1"], power["l"] ** 2), Definition(doubled["l+1"], 2 * doubled["l"]),
        next_rest, at_l), because="Square $1 + 2^L u + c_L$.",
)
everywhere = Induction(id="power_everywhere", claim=claim, hypothesis=at_l, by=(first, following),
                       because="So it is for every power of two.")
first_rest = Bound(
    id="rest_first", small=Integer(0), large=rest["1"], certificate=u**2,
    by=(Definition(rest["1"], u**2),), because="$c_1 = u^2$.")
rest_stays = Bound(
    id="rest_next", small=Integer(0), large=rest["l+1"],
    certificate=2 * rest["l"] + (doubled["l"] * u + rest["l"]) ** 2,
    by=(next_rest, signed(array(rest["l"].name), ">=0")),
    because="If $c_L \\ge 0$, then so is $2 c_L$ plus a square.")
steps = (first, following, everywhere, first_rest, rest_stays)


def logarithm_tangent(
    p: Indexed, q: Expr, log_p: Indexed, log_q: Expr, slack: Indexed, root: bool = False
) -> Local:
    """q = p (1 + log q - log p) + slack with slack >= 0; with `root`, p and q are square roots of
    what the logarithms belong to, so that theirs are half of these."""
    c = 2 if root else 1
    value = c * p + p * log_q - c * q + c * slack

    def impose(draw: Draw) -> None:
        for cell in draw.cells(p.base):
            place = dict(zip(p.indices, cell, strict=True))
            own = evaluate(p, draw, place)
            if draw.source.is_zero(own):
                draw.put(slack.base, cell, evaluate(q, draw, place))
            else:
                chosen = evaluate(value, draw, place) * draw.source.inverse(own)
                draw.put(log_p.base, cell, chosen)

    half = Rational(1, 2) if root else Integer(1)
    shown = latex(half * (log_q - log_p))
    text = (f"${latex(q)} = {latex(p)} (1 + {shown}) + {latex(slack)}$ with "
            f"${latex(slack)} \\ge 0$: $\\exp t \\ge 1 + t$")
    return Local(f"exp lies above its tangent at {p}", text, ((p * log_p, value),), impose,
                 ((slack.base, ">=0"),))


def roots_of_weights(a: IndexedBase) -> Local:
    """The squares of each row sum to 1: the entries are square roots of a distribution."""

    def impose(draw: Draw) -> None:
        rows, columns = draw.shape(a)
        for row in range(1, rows + 1):
            for column, entry in enumerate(unit_vector(draw, columns), start=1):
                plain = isinstance(draw.source, Generators) or a.name not in draw.signs
                draw.put(a, (row, column), entry if plain else abs(entry))

    rule = (Sum(a[i, j] ** 2, (j, 1, a.shape[1])), Integer(1))
    text = f"$\\sum_j {a}_{{ij}}^2 = 1$"
    return Local(f"rows of {a} are unit vectors", text, (rule,), impose)
