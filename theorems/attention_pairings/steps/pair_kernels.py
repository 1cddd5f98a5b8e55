"""AP6, readouts of a world of pairs: weights on pairs of tokens, and when they factor.

A query i meets the pair of key j and key l with the kernel E_ijl and the masses mu_ij and mu'_il
of its two worlds: P_ijl = mu_ij mu'_il E_ijl / Z_i. Filtrations and masks are masses.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, Sum

from theorems.assumptions.entries import exponential, signed
from theorems.checker.exact import Draw, SmallIntegers
from theorems.rules import Logarithm
from theorems.statement import Bound, Definition, Iff, Local, Step, array, symbols_of

n, m, m2, d, d_v = symbols_of("n m m' d d_v")
i, j, l, j2, l2, a, b = symbols_of("i j l j' l' a b")
ONE, TWO, FEATURES = (j, 1, m), (l, 1, m2), (a, 1, d)

q, k, k2 = array("q", n, d), array("k", m, d), array("k'", m2, d)
v, v2 = array("v", m, d_v), array("v'", m2, d_v)
mu, mu2, E = array("mu", n, m), array("mu'", n, m2), array("E", n, m, m2)
Z, r, P, y = array("Z", n), array("r", n), array("P", n, m, m2), array("y", n, d_v)
S, K, V = array("S", n, m, m2), array("K", m, m2, d), array("V", m, m2, d_v)

masses = mu[i, j] * mu2[i, l]
pairs = Sum(masses * E[i, j, l], ONE, TWO)
numerator = Sum(masses * E[i, j, l] * v[j, b] * v2[l, b], ONE, TWO)
total = Definition(Z[i], pairs)
positive = signed(Z, ">0")
inverse = Definition(r[i], Integer(1), over=Z[i])
weight = Definition(P[i, j, l], masses * E[i, j, l] * r[i])
readout = Definition(y[i, b], Sum(P[i, j, l] * v[j, b] * v2[l, b], ONE, TWO))
scores = Definition(S[i, j, l], Sum(q[i, a] * k[j, a] * k2[l, a], FEATURES))
key_pairs = Definition(K[j, l, a], k[j, a] * k2[l, a])
value_pairs = Definition(V[j, l, b], v[j, b] * v2[l, b])

khatri_rao = Step(
    id="khatri_rao", lhs=S[i, j, l], rhs=Sum(q[i, a] * K[j, l, a], FEATURES),
    by=(scores, key_pairs), because="A trilinear score is the score of $q_i$ and the key of a "
    "pair, a row of the column-wise Khatri-Rao product.")
product_values = Step(
    id="product_values", lhs=y[i, b], rhs=Sum(P[i, j, l] * V[j, l, b], ONE, TWO),
    by=(readout, value_pairs), because="The values of pairs are such rows too.")
normaliser = Step(id="normaliser", lhs=pairs, rhs=Z[i], by=(total,),
                  because="The definition of $Z_i$.")
means = (weight, normaliser, inverse, positive)
row_sums = Step(
    id="row_sums", lhs=Sum(P[i, j, l], ONE, TWO), rhs=Integer(1), by=means,
    because="$Z_i / Z_i = 1$.")
nonnegative = Bound(
    id="nonnegative", small=Integer(0), large=P[i, j, l], certificate=masses * E[i, j, l] * r[i],
    by=(*means, signed(mu, ">=0"), signed(mu2, ">=0"), signed(E, ">=0")),
    because="A product of nonnegatives.")
world = Step(
    id="world", lhs=Z[i] * y[i, b], rhs=numerator, by=(readout, *means),
    because=r"The readout of the product world: $\iint \kappa v v' \, d\mu \, d\mu'$ over its "
    "normaliser.")


class Side:
    """A readout of one of the two worlds: weights A_ij = mu_ij F_ij / X_i."""

    def __init__(self, mark: str, size: Expr, token: Expr, mu: IndexedBase, v: IndexedBase) -> None:
        self.kernel, self.X, self.r = array(f"F{mark}", n, size), array(f"X{mark}", n), array(
            f"x{mark}", n)
        self.A, self.y = array(f"A{mark}", n, size), array(f"y{mark}", n, d_v)
        self.limits = (token, 1, size)
        self.part = mu[i, token] * self.kernel[i, token]
        self.positive = signed(self.X, ">0")
        self.total = Step(
            id=f"total{mark}", lhs=Sum(self.part, self.limits), rhs=self.X[i],
            by=(Definition(self.X[i], Sum(self.part, self.limits)),),
            because="The definition of its normaliser.")
        self.numerator = Sum(self.part * v[token, b], self.limits)
        self.weight = Definition(self.A[i, token], self.part * self.r[i])
        self.inverse = Definition(self.r[i], Integer(1), over=self.X[i])
        self.readout = Definition(self.y[i, b], Sum(self.A[i, token] * v[token, b], self.limits))
        self.given = (self.readout, self.weight, self.total, self.inverse, self.positive)


first, second = Side("_1", m, j, mu, v), Side("_2", m2, l, mu2, v2)


def _product(draw: Draw) -> None:
    """Searches often take positive factors and masses, whose totals are positive."""
    if type(draw.source) is SmallIntegers and draw.source.rng.randrange(2):
        for part in (first.kernel, second.kernel, mu, mu2):
            for cell in draw.cells(part):
                draw.put(part, cell, draw.source.fresh(">0"))
    for row, one, two in draw.cells(E):
        parts = draw.get(first.kernel.name, (row, one)), draw.get(second.kernel.name, (row, two))
        draw.put(E, (row, one, two), parts[0] * parts[1])


rank_one = Local(
    "E has rank one in the pair", "$E_{ijl} = F_{1,ij} F_{2,il}$",
    ((E[i, j, l], first.kernel[i, j] * second.kernel[i, l]),), _product)
parted = Step(
    id="parted", lhs=numerator, rhs=first.numerator * second.numerator, by=(rank_one,),
    because="A double sum of products is a product of sums.")
parted_total = Step(
    id="parted_total", lhs=Z[i], rhs=first.X[i] * second.X[i],
    by=(total, rank_one, first.total, second.total), because="The same without values.")
parted_positive = Bound(
    id="parted_positive", small=Integer(0), large=Z[i], certificate=first.X[i] * second.X[i],
    strict=True, by=(parted_total, first.positive, second.positive),
    because="A product of positives.")
factor = Iff(
    id="factor", left=(numerator, first.numerator * second.numerator),
    right=(y[i, b], first.y[i, b] * second.y[i, b]), factor=Z[i],
    by=(inverse, readout, weight, parted_total, *first.given, *second.given, parted_positive),
    because="Both sides of the left are $Z_i$ times those of the right.")

c, w, T = array("c", d), array("w", d_v), array("T", n, m)
F = first.kernel
constant_key, constant_value = Definition(k2[l, a], c[a]), Definition(v2[l, b], w[b])
rescaled = Definition(T[i, j], Sum(q[i, a] * c[a] * k[j, a], FEATURES))
constant_scores = Step(
    id="constant_scores", lhs=S[i, j, l], rhs=T[i, j], by=(scores, constant_key, rescaled),
    because="A constant second key rescales the queries.")
constant_kernel = Logarithm(
    id="constant_kernel", left=(E[i, j, l], F[i, j]), logs=((E, S), (F, T)),
    by=(exponential(E, S), exponential(F, T)),
    because="So the kernel does not see the second key: $F_1 = \\exp T$, $F_2 = 1$.")
constant_mean = Step(
    id="constant_mean", lhs=second.y[i, b], rhs=w[b], by=(*second.given, constant_value),
    because="The mean of a constant.")

minor = array("M", n, m, m2, m, m2)
minors = Definition(
    minor[i, j, l, j2, l2], P[i, j, l] * P[i, j2, l2] - P[i, j, l2] * P[i, j2, l])
p, p2 = array("p", n, m), array("p'", n, m2)
marginals = (Definition(p[i, j], Sum(P[i, j, l], TWO)), Definition(p2[i, l], Sum(P[i, j, l], ONE)))
deviation = Step(
    id="deviation", lhs=P[i, j, l],
    rhs=p[i, j] * p2[i, l] + Sum(minor[i, j, l, j2, l2], (j2, 1, m), (l2, 1, m2)),
    by=(*marginals, minors, row_sums),
    because="$\\sum_{j'l'} P_{ijl} P_{ij'l'} = P_{ijl}$.")
product_minors = Step(
    id="product_minors", lhs=P[i, j, l] * P[i, j2, l2], rhs=P[i, j, l2] * P[i, j2, l],
    by=(Definition(P[i, j, l], p[i, j] * p2[i, l]),), because="A product has no minors.")
positive_masses = (signed(mu, ">0"), signed(mu2, ">0"))
weight_minors = Iff(
    id="weight_minors", left=(P[i, j, l] * P[i, j2, l2], P[i, j, l2] * P[i, j2, l]),
    right=(E[i, j, l] * E[i, j2, l2], E[i, j, l2] * E[i, j2, l]),
    factor=masses * mu[i, j2] * mu2[i, l2] * r[i] ** 2,
    by=(weight, inverse, positive, *positive_masses),
    because="Masses and normaliser are common factors.")
score_minors = Logarithm(
    id="score_minors", left=weight_minors.right, logs=((E, S),), by=(exponential(E, S),),
    because="The logarithm of a minor that vanishes.")
trilinear = Step(
    id="trilinear", lhs=S[i, j, l] + S[i, j2, l2] - S[i, j, l2] - S[i, j2, l],
    rhs=Sum(q[i, a] * (k[j, a] - k[j2, a]) * (k2[l, a] - k2[l2, a]), FEATURES), by=(scores,),
    because="The mixed second difference of a trilinear form.")
