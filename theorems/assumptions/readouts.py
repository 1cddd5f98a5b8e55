"""Knowledge worlds, attention pairings and their readouts, by entries.

A world is a finite measure: weights mu_j >= 0 on tokens with a key and a value v_j. A pairing has
the entries kappa_ij >= 0 for the query i and the key of token j. The readout of the query i is
R_i = sum_j kappa_ij mu_ij v_j / N_i with N_i = sum_j kappa_ij mu_ij > 0: each query may have a
world of its own, as along a filtration.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.entries import signed
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, SmallIntegers
from theorems.statement import Assumption, Definition, Step, array, symbols_of

n, d = symbols_of("n d")
m = symbols_of("m")[0]
i, e, c1, c2 = symbols_of("i e c1 c2")


class Readout:
    """The readouts of n queries, each in its world on the tokens of one axis.

    `kappa`, `mu` and `v` may be given as arrays of other readouts; `mark` tells the names apart.
    """

    def __init__(
        self, mark: str, size: Expr, token: Expr, kappa: IndexedBase | None = None,
        mu: IndexedBase | None = None, v: IndexedBase | None = None,
    ) -> None:
        self.size, self.token = size, token
        self.kappa = array(rf"\kappa{mark}", n, size) if kappa is None else kappa
        self.mu = array(rf"\mu{mark}", n, size) if mu is None else mu
        self.v = array(f"v{mark}", size, d) if v is None else v
        self.N, self.r = array(f"N{mark}", n), array(f"r{mark}", n)
        self.w, self.R = array(f"w{mark}", n, size), array(f"R{mark}", n, d)
        j = token
        pairs = Sum(self.kappa[i, j] * self.mu[i, j], (j, 1, size))
        self.normaliser = Definition(self.N[i], pairs)
        self.reciprocal = Definition(self.r[i], Integer(1), over=self.N[i])
        self.weight = Definition(self.w[i, j], self.kappa[i, j] * self.mu[i, j] * self.r[i])
        self.readout = Definition(self.R[i, e], Sum(self.w[i, j] * self.v[j, e], (j, 1, size)))
        self.positive = self._positive_mass()
        self.nonnegative = (signed(self.kappa, ">=0"), signed(self.mu, ">=0"))
        self.total = Step(
            id=f"total{mark}", lhs=pairs, rhs=self.N[i], by=(self.normaliser,),
            because="The definition of the normaliser.",
        )

    def _positive_mass(self) -> Assumption:
        """N > 0; searches turn most pairs to the positive side, so that rows have such a mass."""

        def impose(draw: Draw) -> None:
            name = str(self.kappa.label)
            if type(draw.source) is not SmallIntegers or name in draw.signs:
                return
            for cell in draw.cells(self.kappa):
                if (name, cell) not in draw.entries:
                    value, mass = draw.source.fresh(None), draw.get(str(self.mu.label), cell)
                    flip = value * mass < 0 and draw.source.rng.randrange(4) > 0
                    draw.put(self.kappa, cell, -value if flip else value)

        return replace(signed(self.N, ">0"), impose=impose)

    @property
    def weights(self) -> tuple:
        """What makes the weights: their definition, with a positive normaliser."""
        return (self.weight, self.reciprocal, self.normaliser, self.positive)

    @property
    def values(self) -> tuple:
        """What makes the readout."""
        return (self.readout, *self.weights)

    def pairs(self, query: Expr) -> Expr:
        """sum_j kappa_ij mu_ij v_je, what the readout times its normaliser is."""
        j = self.token
        return Sum(self.kappa[query, j] * self.mu[query, j] * self.v[j, e], (j, 1, self.size))


@hypothesis(array("C", n, m))
def one_each(choice: IndexedBase) -> Assumption:
    """Each row has one entry 1 and otherwise 0: the matrix of a map."""

    def impose(draw: Draw) -> None:
        rows, columns = draw.shape(choice)
        images = [draw.source.rng.randint(1, columns) for _ in range(rows)]
        for row, column in product(range(1, rows + 1), range(1, columns + 1)):
            draw.put(choice, (row, column), int(images[row - 1] == column))

    size = choice.shape[1]
    rules = (
        (choice[i, c1] * choice[i, c2], KroneckerDelta(c1, c2) * choice[i, c1]),
        (Sum(choice[i, c1], (c1, 1, size)), Integer(1)),
    )
    text = f"each row of ${latex(choice.label)}$ has one entry $1$ and otherwise $0$"
    return Assumption(f"{choice} is a map", text, rules, impose)


@hypothesis(array("E", n, d), "$E = 0$")
def nothing(entries: IndexedBase, text: str) -> Assumption:
    """All entries are 0."""
    places = symbols_of("i j e")[: len(entries.shape)]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(entries):
            draw.put(entries, cell, 0)

    return Assumption(f"{entries} is 0", text, ((entries[places], Integer(0)),), impose)
