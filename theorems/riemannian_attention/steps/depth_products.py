"""Products over depth: two tokens with B_l = c log l at l = 2, ..., L for c = 1, 2, 3, and series.

Numerators and denominators are multiplied apart, so that every claim is an identity of polynomials
in the depth L; their common factor cancels in the quotient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.rules import Induction, Logarithm, Rule
from theorems.statement import Bound, Definition, Equation, Local, Step, array, symbols_of

At = Callable[[Expr], Expr]
depth = {label: number("L", label) for label in STAGES}
first_depth, next_depth = (Definition(depth["1"], Integer(2)),
                           Definition(depth["l+1"], depth["l"] + 1))


@dataclass(frozen=True)
class Product:
    """The product of a factor over the layers l = 2, ..., L in closed form."""

    first: Step
    following: Step
    every: Induction

    @property
    def steps(self) -> tuple[Rule, ...]:
        """In the order of the derivation."""
        return self.first, self.following, self.every


def product(
    letters: str, factor: At, closed: At, common: tuple[Expr, At], because: str
) -> Product:
    """With letters P and w: P_L = closed(L) w_L, w_2 is given and w_{L+1} = common(L+1) w_L."""
    name, kind = letters
    P, w = ({label: number(letter, label) for label in STAGES} for letter in letters)
    start, grows = common

    def claim(label: str) -> Equation:
        return number(name, label), closed(number("L", label)) * number(kind, label)

    at_l = induction_hypothesis(f"the product {name}", claim("l"), P["l"], claim("l")[1])
    first = Step(
        id=f"first_{name}", lhs=claim("1")[0], rhs=claim("1")[1], because="One layer, at $l = 2$.",
        by=(Definition(P["1"], factor(depth["1"])), Definition(w["1"], start), first_depth),
    )
    following = Step(
        id=f"next_{name}", lhs=claim("l+1")[0], rhs=claim("l+1")[1], because=because,
        by=(Definition(P["l+1"], factor(depth["l+1"]) * P["l"]), at_l,
            Definition(w["l+1"], grows(depth["l+1"]) * w["l"]), next_depth),
    )
    every = Induction(id=f"every_{name}", claim=claim, hypothesis=at_l, by=(first, following),
                      because="So it is at every depth.")
    return Product(first, following, every)


half = Rational(1, 2)
ONE = half, lambda k: k - 1
TWO = Integer(1), lambda k: (k - 1) * k
THREE = half, lambda k: (k - 1) * (k**2 - k + 1)
less_1 = product("Pu", lambda k: k - 1, lambda k: Integer(2), ONE, "$2 w (k - 1)$.")
more_1 = product("Qu", lambda k: k + 1, lambda k: k * (k + 1), ONE,
                 "$(k - 1) k w (k + 1)$.")
less_2 = product("Rv", lambda k: k**2 - 1, lambda k: k + 1, TWO, "$k^2 - 1 = (k - 1)(k + 1)$.")
square_2 = product("Sv", lambda k: k**2, lambda k: 2 * k, TWO, "$2 (k - 1) w k^2$.")
less_3 = product("Tw", lambda k: k**3 - 1, lambda k: 2 * (k**2 + k + 1), THREE,
                 "$k^3 - 1 = (k - 1)(k^2 + k + 1)$, and $L^2 + L + 1 = k^2 - k + 1$ at $L = k - "
                 "1$.")
more_3 = product("Vw", lambda k: k**3 + 1, lambda k: 3 * k * (k + 1), THREE,
                 "$k^3 + 1 = (k + 1)(k^2 - k + 1)$.")

t, l = symbols_of("t")[0], Symbol("l", real=True)
at_least_2 = Definition(l, 1 + t)
square_below = Bound(
    id="square_below", small=(l**2 - 1) * (l**2 + 1), large=l**4, certificate=Integer(1),
    by=(at_least_2,), because=r"So $(l^2 - 1) / (l^2 + 1) \ge (1 - 1 / l^2)^2$.",
)
above = Bound(
    id="above", small=(l**2 - 1) * l**2, large=(l**2 - 1) * (l**2 + 1), certificate=t * (t + 2),
    by=(at_least_2,), because=r"So $(l^2 - 1) / (l^2 + 1) \le 1 - 1 / l^2$.",
)
two_thirds = Bound(
    id="two_thirds", small=l * (l + 1), large=l**2 + l + 1, certificate=Integer(1),
    by=(at_least_2,),
    because="The quotient of the closed forms exceeds 2/3 by 2/3 of $1 / (L (L + 1))$.",
)

n = symbols_of("n")[0]
k = symbols_of("k")[0]
lam, eta, powers, logs = array("lambda", n), array("eta", n), array("E", n), array("B", n)
of_depth, of_spread = exponential(lam, eta), exponential(powers, logs)
power = tuple(
    Logarithm(
        id=f"power_{c}", left=(powers[k], lam[k] ** c), logs=((powers, logs), (lam, eta)),
        by=(of_spread, of_depth), because=f"$B = {c} \\log l$ iff $e^B = l^{c}$.",
    )
    for c in (1, 2, 3)
)

terms, fall, drop = array("b", n), array("beta", n), array("gamma", n)
last, top = Symbol("b_*", real=True), Symbol("b^*", real=True)
not_less = Local("beta>=0", r"$b_l \ge b_*$", signs=((fall, ">=0"),))
not_more = Local("gamma>=0", r"$b_l \le b^*$", signs=((drop, ">=0"),))
positive_terms = signed(terms, ">0")
block_below = Bound(
    id="block_below", small=n * last, large=Sum(terms[k], (k, 1, n)),
    certificate=Sum(fall[k], (k, 1, n)), by=(Definition(fall[k], terms[k] - last), not_less),
    because="No term is less than the last.",
)
block_above = Bound(
    id="block_above", small=Sum(terms[k], (k, 1, n)), large=n * top,
    certificate=Sum(drop[k], (k, 1, n)), by=(Definition(drop[k], top - terms[k]), not_more),
    because="None exceeds the first.",
)
term, total = ({label: number(name, label) for label in STAGES} for name in ("t", "g"))
ratio = Symbol(r"\rho", real=True)


def geometric_claim(label: str) -> Equation:
    """The next term is what the sum leaves of 1."""
    return number("t", label), 1 - (1 - ratio) * number("g", label)


geometric_l = induction_hypothesis("the geometric sum", geometric_claim("l"), term["l"],
                                   geometric_claim("l")[1])
first_geometric = Step(
    id="first_geometric", lhs=geometric_claim("1")[0], rhs=geometric_claim("1")[1],
    by=(Definition(term["1"], ratio), Definition(total["1"], Integer(1))), because="One term, 1.",
)
next_geometric = Step(
    id="next_geometric", lhs=geometric_claim("l+1")[0], rhs=geometric_claim("l+1")[1],
    by=(Definition(term["l+1"], ratio * term["l"]), geometric_l,
        Definition(total["l+1"], total["l"] + term["l"])),
    because=r"$\rho t_l = t_l - (1 - \rho) t_l$.",
)
geometric = Induction(
    id="geometric", claim=geometric_claim, hypothesis=geometric_l,
    by=(first_geometric, next_geometric),
    because=r"$(1 - \rho)(1 + \rho + \cdots + \rho^{l-1}) = 1 - \rho^l$.",
)
