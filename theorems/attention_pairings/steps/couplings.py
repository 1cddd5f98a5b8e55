"""AP10, two worlds in a coupling: readouts of probability measures, and pairs of their members.

A coupling gives mass gamma_jl to the pair of (k_j, v_j) and (k'_l, v'_l); its marginals mu and nu
are the worlds. Slacks of the hypotheses are defined by their names and assumed nonnegative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import fmpq
from sympy import IndexedBase, Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, Generators, SmallIntegers, Value
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

m, m2, d = symbols_of("m m' d")
j, l, g, e = symbols_of("j l g e")
FIRST, SECOND, OTHERS, FEATURES = (j, 1, m), (l, 1, m2), (g, 1, m2), (e, 1, d)


def real(name: str) -> Symbol:
    """A real number."""
    return Symbol(name, real=True)


def named(
    name: str, text: str, *signs: tuple[IndexedBase, str],
    choose: Callable[[Draw], None] | None = None,
) -> Local:
    """Signs under a name of their own; searches of small integers aim at them by `choose`."""

    def aimed(draw: Draw) -> None:
        if choose and type(draw.source) is SmallIntegers:
            choose(draw)

    return Local(name, text, (), aimed if choose else None, signs)


def least_root(value: Value) -> fmpq:
    """The least whole number whose square is at least the value."""
    root = 0
    while fmpq(root) ** 2 < value:
        root += 1
    return fmpq(root)


def squared(draw: Draw, one: IndexedBase, row: int, other: IndexedBase | None = None, at: int = 0
            ) -> Value:
    """|x_row|^2, or |x_row - y_at|^2, on an instance."""
    parts = (draw.get(one.name, (row, c)) - (draw.get(other.name, (at, c)) if other else 0)
             for c in range(1, draw.shape(one)[1] + 1))
    return sum(part**2 for part in parts)


def spare(draw: Draw) -> int:
    """Nothing, mostly: how far an aim lies beyond what is needed."""
    return draw.source.rng.choice((0, 0, 0, 1))


def put(draw: Draw, number: Symbol, value: Value) -> None:
    """Choose a number."""
    draw.put(array(number.name), (), value)


gamma, mu, nu = array("gamma", m, m2), array("mu", m), array("nu", m2)
v, v2, n = array("v", m, d), array("v'", m2, d), array("n", d)
low, high, Z, Z2, r, r2 = (real(name) for name in ("a", "b", "Z", "Z'", "r", "r'"))
kappa, kappa2, over, over2, under = (
    array("kappa", m), array("kappa'", m2), array("alpha", m), array("alpha'", m2),
    array("beta", m),
)
p, p2, R, R2 = array("p", m), array("p'", m2), array("R", d), array("R'", d)


def of_one(draw: Draw, values: Sequence[Value]) -> list[Value]:
    """The entries divided by their total, or the last one chosen so that they sum to 1."""
    if type(draw.source) is not Generators:
        return [value * draw.source.inverse(sum(values)) for value in values]
    return [*values[:-1], 1 - sum(values[:-1])]


def _couple(draw: Draw) -> None:
    cells = list(draw.cells(gamma))
    small = type(draw.source) is SmallIntegers
    # Searches often pair each token with its own copy, and also try total masses that only
    # `probability` rules out.
    own = small and draw.source.rng.randrange(4) > 0
    drawn = [0 if own and row != other else draw.source.fresh(draw.signs.get(gamma.name))
             for row, other in cells]
    free = small and draw.source.rng.randrange(8) == 0
    masses = dict(zip(cells, drawn if free else of_one(draw, drawn), strict=True))
    for cell, mass in masses.items():
        draw.put(gamma, cell, mass)
    for axis, marginal in enumerate((mu, nu)):
        for (place,) in draw.cells(marginal):
            own_masses = (mass for cell, mass in masses.items() if cell[axis] == place)
            draw.put(marginal, (place,), sum(own_masses))


def _unit(draw: Draw) -> None:
    for place, value in enumerate(unit_vector(draw, draw.size(d)), start=1):
        draw.put(n, (place,), value)


coupling = Local(
    "gamma couples mu and nu", r"$\gamma$ has the marginals $\mu$ and $\nu$",
    ((Sum(gamma[j, l], SECOND), mu[j]), (Sum(gamma[j, l], FIRST), nu[l])), _couple)
probability = Local(
    "mu and nu sum to 1", r"$\mu$ and $\nu$ have total mass $1$",
    ((Sum(mu[j], FIRST), Integer(1)), (Sum(nu[l], SECOND), Integer(1))))
unit_direction = Local("n is a unit vector", "$|n| = 1$", ((Sum(n[e] ** 2, FEATURES), Integer(1)),),
                       _unit)
masses = named("gamma is nonnegative", r"$\gamma \ge 0$", (gamma, ">=0"))
positive_low = signed(array(low.name), ">0")
at_least = named("kappa is at least a", r"$\kappa_j \ge a$", (over, ">=0"))
at_least2 = named("the other kappa is at least a", r"$\kappa'_l \ge a$", (over2, ">=0"))


def _top(draw: Draw) -> None:
    put(draw, high, max(draw.get(kappa.name, cell) for cell in draw.cells(kappa)) + spare(draw))


at_most = named("kappa is at most b", r"$\kappa_j \le b$", (under, ">=0"), choose=_top)

kernel, kernel2 = Definition(kappa[j], low + over[j]), Definition(kappa2[l], low + over2[l])
headroom = Definition(under[j], high - kappa[j])
mass, mass2 = (Definition(Z, low + Sum(mu[j] * over[j], FIRST)),
               Definition(Z2, low + Sum(nu[l] * over2[l], SECOND)))
inverse, inverse2 = Definition(r, Integer(1), over=Z), Definition(r2, Integer(1), over=Z2)
weight, weight2 = (Definition(p[j], mu[j] * kappa[j] * r),
                   Definition(p2[l], nu[l] * kappa2[l] * r2))
readout, readout2 = (Definition(R[e], Sum(p[j] * v[j, e], FIRST)),
                     Definition(R2[e], Sum(p2[l] * v2[l, e], SECOND)))

positive_mu = Bound(
    id="positive_mu", small=Integer(0), large=mu[j], certificate=Sum(gamma[j, l], SECOND),
    by=(coupling, masses), because="A marginal of masses.")
positive_nu = Bound(
    id="positive_nu", small=Integer(0), large=nu[l], certificate=Sum(gamma[j, l], FIRST),
    by=(coupling, masses), because="A marginal of masses.")
normaliser = Step(
    id="normaliser", lhs=Sum(mu[j] * kappa[j], FIRST), rhs=Z,
    by=(mass, kernel, probability, coupling),
    because=r"$Z = \int \kappa \, d\mu = a + \int (\kappa - a) \, d\mu$.")
normaliser2 = Step(
    id="normaliser_other", lhs=Sum(nu[l] * kappa2[l], SECOND), rhs=Z2,
    by=(mass2, kernel2, probability, coupling), because=r"The same for $\nu$.")
