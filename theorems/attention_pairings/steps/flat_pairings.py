"""AP8: what pairings, objectives and products inherit, and the limit of zero curvature.

Near zero curvature kappa, points x and y of a stereographic chart have a chord of the square
4 s = |x - y|^2/((1 + kappa |x|^2/4)(1 + kappa |y|^2/4)), and kappa s = sin^2(sqrt(kappa) delta/2)
at the distance delta: hyperbolic for kappa < 0.
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.attention_pairings.steps.quadrics import keeps
from theorems.checker.exact import Draw
from theorems.rules import Logarithm
from theorems.statement import Definition, Iff, Local, Step, array, symbols_of

n, m, d, H = symbols_of("n m d H")
i, j, a, b, c, h = symbols_of("i j a b c h")
HALF, ONE = Rational(1, 2), Integer(1)


def total(entry: Expr) -> Expr:
    """The sum over the features a."""
    return Sum(entry, (a, 1, d))


# Invariant scores give invariant pairings, and so do invariant squared distances.
S, S2, E, E2 = array("S", n, m), array("S'", n, m), array("E", n, m), array("E'", n, m)
pairing = Logarithm(
    id="pairing", left=(E2[i, j], E[i, j]), logs=((E, S), (E2, S2)),
    by=(exponential(E, S), exponential(E2, S2)), because="exp is one to one.",
)
D, D2, w = array("D", n, m), array("D'", n, m), array("w", m)


def _same(draw: Draw) -> None:
    for cell in draw.cells(D2):
        draw.put(D2, cell, draw.get("D", cell))


same_distances = Local("D' = D", "$D'_{ij} = D_{ij}$", ((D2[i, j], D[i, j]),), _same)
objective = Step(
    id="objective", lhs=Sum(w[j] * (D2[i, j] - D2[b, j]), (j, 1, m)),
    rhs=Sum(w[j] * D[i, j], (j, 1, m)) - Sum(w[j] * D[b, j], (j, 1, m)), by=(same_distances,),
    because="Images are as far apart as the points.",
)

# Products.
q, k, O, eta = (array("q", H, d), array("k", H, d), array(r"\Omega", H, d, d), array("eta", H, d))
q2, k2 = array("q'", H, d), array("k'", H, d)
factors = (Definition(q2[h, a], Sum(O[h, a, b] * q[h, b], (b, 1, d))),
           Definition(k2[h, a], Sum(O[h, a, b] * k[h, b], (b, 1, d))))
product_form = Step(
    id="product_form", lhs=Sum(eta[h, a] * q2[h, a] * k2[h, a], (h, 1, H), (a, 1, d)),
    rhs=Sum(eta[h, a] * q[h, a] * k[h, a], (h, 1, H), (a, 1, d)), by=(*factors, keeps(O, eta)),
    because="Each factor keeps its form.",
)
first, second, S_1, S_2 = (array(name, n, m) for name in ("E_1", "E_2", "S_1", "S_2"))
product_pairing = Logarithm(
    id="product_pairing", left=(E[i, j], first[i, j] * second[i, j]),
    logs=((E, S), (first, S_1), (second, S_2)),
    by=(exponential(E, S), exponential(first, S_1), exponential(second, S_2)),
    because="The exponential of a sum.",
)

# Flat space.
tau, r_tau = Symbol("tau", real=True), Symbol("r_tau", real=True)
query, key = array("q", n, d), array("k", m, d)
T, F, u, X, Z, Z2 = (array("T", n, m), array("F", n, m), array("u", n), array("X", n),
                     array("Z", n), array("Z'", n))
p, p2 = array("p", n, m), array("p'", n, m)
temperature = Definition(r_tau, ONE, over=tau), signed(array("tau"), ">0")
flat = (
    Definition(S[i, j], -HALF * r_tau * total((query[i, a] - key[j, a]) ** 2)),
    Definition(T[i, j], r_tau * total(query[i, a] * key[j, a]) - HALF * r_tau * total(
        key[j, a] ** 2)),
    Definition(u[i], HALF * r_tau * total(query[i, a] ** 2)),
)
flat_scores = Step(
    id="flat_scores", lhs=2 * tau * (S[i, j] + u[i]), by=(*flat, *temperature),
    rhs=2 * total(query[i, a] * key[j, a]) - total(key[j, a] ** 2),
    because="$-|q - k|^2 + |q|^2 = 2 q \\cdot k - |k|^2$.",
)
tied_scores = Step(
    id="tied_scores", lhs=S[i, j] + u[i], rhs=T[i, j], by=flat, because="The same over $2 \\tau$.",
)
flat_pairing = Logarithm(
    id="flat_pairing", left=(E[i, j] * X[i], F[i, j]), logs=((E, S), (X, u), (F, T)),
    by=(exponential(E, S), exponential(X, u), exponential(F, T)),
    because="Take logarithms.",
)
rows = Definition(F[i, j], E[i, j] * X[i])
totals = (Definition(Z[i], Sum(E[i, j], (j, 1, m))), Definition(Z2[i], Sum(F[i, j], (j, 1, m))))
weights = Definition(p[i, j], E[i, j], over=Z[i]), Definition(p2[i, j], F[i, j], over=Z2[i])
positive = signed(E, ">0"), signed(X, ">0")
scaled_total = Step(
    id="scaled_total", lhs=X[i] * Z[i], rhs=Z2[i], by=(*totals, rows),
    because="A factor of the whole row.",
)
scaled_weights = Step(
    id="scaled_weights", lhs=X[i] * Z[i] * p2[i, j], rhs=X[i] * E[i, j],
    by=(weights[1], scaled_total, rows, *totals, *positive), because="$Z'_i p'_{ij} = F_{ij}$.",
)
flat_weights = Iff(
    id="flat_weights", left=(X[i] * Z[i] * p2[i, j], X[i] * E[i, j]),
    right=(p2[i, j], p[i, j]), factor=X[i] * Z[i], by=(weights[0], totals[0], *positive),
    because="$E_{ij} = Z_i p_{ij}$: divide by $X_i Z_i > 0$.",
)

# Curvature tending to zero.
x, y = array("x", d), array("y", d)
kappa, s, P, P2, r_P, r_P2, delta, rho = (
    Symbol(name, real=True) for name in ("kappa", "s", "P", "P'", "r_P", "r_P'", "delta", "rho"))
QUARTER = Rational(1, 4)
FAR = total((x[a] - y[a]) ** 2)
chart = (
    Definition(s, QUARTER * FAR * r_P * r_P2),
    Definition(r_P, ONE, over=P), Definition(r_P2, ONE, over=P2),
    signed(array("P"), ">0"), signed(array("P'"), ">0"),
)
conformal = (Definition(P, 1 + QUARTER * kappa * total(x[a] ** 2)),
             Definition(P2, 1 + QUARTER * kappa * total(y[a] ** 2)))
SIZE = total(x[a] ** 2) + total(y[a] ** 2) + QUARTER * kappa * total(x[a] ** 2) * total(y[a] ** 2)
chart_product = Step(
    id="chart_product", lhs=4 * P * P2 * s, rhs=FAR, by=chart, because="As $s$ is defined.",
)
opened = Step(
    id="opened", lhs=4 * P * P2 * s, rhs=4 * s + kappa * s * SIZE, by=conformal,
    because="The product of both factors.",
)
arc = Definition(s, QUARTER * delta**2 - Rational(1, 48) * kappa * delta**4 + kappa**2 * rho)
distance = Step(
    id="distance", lhs=delta**2 - 4 * s, by=(arc,), because="The series of $\\sin^2$.",
    rhs=kappa * (Rational(1, 12) * delta**4 - 4 * kappa * rho),
)
