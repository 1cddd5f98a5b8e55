"""CW12. Scaled isometries: an isometric walk's generator plus a potential."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.blocks import isometry
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, SmallIntegers
from theorems.statement import (
    Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, array, symbols_of,
)

n, d = symbols_of("n d")
i, j, k, a, b, f, g = symbols_of("i j k a b f g")
P, P2, c = array("P", n, n), array("P'", n, n), array("c", n, n)
G, u = array("G", n, d, d), array("u", n, d)
O, T, E = array("O", n, n, d, d), array("T", n, n, d, d), array("E", n, n, d, d)
rho, r, pi, sigma = array("rho", n), array("r", n), array("pi", n), array("sigma", n)

row_total = Definition(rho[i], Sum(P[i, j] * c[i, j], (j, 1, n)))
positive_rho, nonnegative_P, positive_c = signed(rho, ">0"), signed(P, ">=0"), signed(c, ">0")
reciprocal = Definition(r[i], Integer(1), over=rho[i], support=positive_rho)
scaled_weight = Definition(P2[i, j], P[i, j] * c[i, j] * r[i])
scaled = Definition(T[i, j, a, b], c[i, j] * O[i, j, a, b])
perturbed = Definition(T[i, j, a, b], c[i, j] * O[i, j, a, b] + E[i, j, a, b])
pulled = Sum(O[i, j, a, b] * G[i, a, f] * O[i, j, f, g], (a, 1, d), (f, 1, d))
isometric = replace(isometry(O, G), rules=((pulled, G[j, b, g]),))
weights = (scaled_weight, reciprocal, row_total, positive_rho)


def moved(weight: IndexedBase, transport: IndexedBase) -> Expr:
    """Entry (i, a) of sum_j P_ij T_ij u_j."""
    return Sum(weight[i, j] * transport[i, j, a, b] * u[j, b], (j, 1, n), (b, 1, d))


split = (1 - rho[i]) * u[i, a] + rho[i] * (u[i, a] - moved(P2, O))
generator = Step(
    id="generator", lhs=u[i, a] - moved(P, T), rhs=split, by=(scaled, *weights),
    because="rho_i P'_ij = P_ij c_ij, so W = diag(rho) W'; add and subtract diag(rho).")
total = Step(
    id="total", lhs=Sum(P[i, j] * c[i, j], (j, 1, n)), rhs=rho[i], by=(row_total,),
    because="The definition of rho_i.")
stochastic = Step(
    id="stochastic", lhs=Sum(P2[i, j], (j, 1, n)), rhs=Integer(1),
    by=(scaled_weight, total, reciprocal, positive_rho), because="(a): rho_i / rho_i = 1.")
nonnegative = Bound(
    id="nonnegative", small=Integer(0), large=P2[i, j], certificate=P[i, j] * c[i, j] * r[i],
    by=(scaled_weight, reciprocal, positive_rho, nonnegative_P, positive_c),
    because="A product of nonnegatives.")
scaled_isometry = Step(
    id="scaled_isometry", rhs=c[i, j] ** 2 * G[j, b, g], by=(scaled, isometric),
    lhs=Sum(T[i, j, a, b] * G[i, a, f] * T[i, j, f, g], (a, 1, d), (f, 1, d)),
    because="(c) for O_ij: |T_ij v| in G_i is c_ij times |v| in G_j.")
law = Definition(sigma[i], pi[i] * r[i])
reversible = Iff(
    id="reversible", left=(pi[i] * P2[i, j], pi[j] * P2[j, i]), by=(law, scaled_weight),
    right=(sigma[i] * P[i, j] * c[i, j], sigma[j] * P[j, i] * c[j, i]),
    because="pi_i P'_ij = sigma_i P_ij c_ij with sigma_i = pi_i / rho_i.")
round_trip, round_trip_O = (
    Sum(X[i, j, a, f] * X[j, i, f, b], (f, 1, d)) for X in (T, O))
inverse_pairs = Iff(
    id="inverse_pairs", factor=rho[i] * c[j, i],
    by=(scaled, scaled_weight, reciprocal, positive_rho, positive_c),
    left=(P[i, j] * round_trip, P[i, j] * c[i, j] * c[j, i] * KroneckerDelta(a, b)),
    right=(P2[i, j] * round_trip_O, P2[i, j] * KroneckerDelta(a, b)),
    because="T_ij T_ji = c_ij c_ji O_ij O_ji, and P_ij c_ij = rho_i P'_ij.")

remainder = Step(
    id="remainder", lhs=u[i, a] - moved(P, T), rhs=split - moved(P, E), by=(perturbed, *weights),
    because="W is linear in the transports.")

F, X, N, U = array("F", n, d, d), array("X", n, n, d), array("N", n, n), array("U", n)
e, B, slack, rest, gap, excess = (
    array("e", n), array("B", n), array("alpha", n, n), array("beta", n), array("kappa", n, n, n),
    array("lambda", n),
)
largest = Symbol("u_max", real=True)
seen = Definition(X[i, j, a], Sum(F[i, a, b] * E[i, j, b, f] * u[j, f], (b, 1, d), (f, 1, d)))
seen_remainder = Step(
    id="seen_remainder", lhs=Sum(F[i, b, a] * moved(P, E), (a, 1, d)),
    rhs=Sum(P[i, j] * X[i, j, b], (j, 1, n)), by=(seen,),
    because="|(R u)_i| in G_i = F_i^T F_i is the length of F_i (R u)_i.")


def _unit_multiples(draw: Draw) -> None:
    for cell in draw.cells(N):
        for place, value in enumerate(unit_vector(draw, draw.size(d)), start=1):
            draw.put(X, (*cell, place), draw.get(N.name, cell) * value)


def _shares(draw: Draw) -> None:
    """N_ij a share of e_i c_ij U_j: whole, half or none."""
    if type(draw.source) is SmallIntegers:
        for cell in draw.cells(N):
            most = draw.get(e.name, cell[:1]) * draw.get(c.name, cell) * draw.get(U.name, cell[1:])
            draw.put(N, cell, most * fmpq(draw.source.rng.randrange(3), 2))


norm_of_error = Local(
    "N is the norm of X", r"$N_{ij} = |E_{ij} u_j|_{G_i}$, that is $N_{ij}^2 = |X_{ij}|^2$",
    ((N[i, j] ** 2, Sum(X[i, j, a] ** 2, (a, 1, d))),), _unit_multiples)
nonnegative_N, nonnegative_e = signed(N, ">=0"), signed(e, ">=0")
small_error = Local("alpha>=0", r"$N_{ij} \le e_i c_{ij} U_j$, $U_j = |u_j|_{G_j}$", (),
                    _shares, ((slack, ">=0"),))
bounded = Local("beta>=0", r"$U_j \le u_{max}$", signs=((rest, ">=0"),))
products = Bound(
    id="products", small=Sum(X[i, j, a] * X[i, k, a], (a, 1, d)), large=N[i, j] * N[i, k], power=2,
    certificate=Rational(1, 2) * Sum(
        (X[i, j, a] * X[i, k, b] - X[i, j, b] * X[i, k, a]) ** 2, (a, 1, d), (b, 1, d)),
    by=(norm_of_error, nonnegative_N), because="Cauchy-Schwarz, by Lagrange's identity.")
product_gap = Definition(gap[i, j, k], N[i, j] * N[i, k] - Sum(X[i, j, a] * X[i, k, a], (a, 1, d)))
error_slack = Definition(slack[i, j], e[i] * c[i, j] * U[j] - N[i, j])
token_slack = Definition(rest[j], largest - U[j])
row_norm = Definition(B[i], Sum(P[i, j] * N[i, j], (j, 1, n)))
row = Bound(
    id="row", small=B[i], large=e[i] * rho[i] * largest, certificate=Sum(
        P[i, j] * (slack[i, j] + e[i] * c[i, j] * rest[j]), (j, 1, n)),
    by=(row_norm, row_total, error_slack, token_slack, small_error, bounded, nonnegative_P,
        nonnegative_e, positive_c), because="Both slacks are nonnegative.")
row_excess = Definition(excess[i], e[i] * rho[i] * largest - B[i])
of_size = (row, row_excess, row_norm, product_gap, norm_of_error, products, nonnegative_P,
           nonnegative_N)
remainder_size = Bound(
    id="remainder_size", small=Sum(Sum(P[i, j] * X[i, j, a], (j, 1, n)) ** 2, (a, 1, d)),
    large=(e[i] * rho[i] * largest) ** 2, by=of_size,
    certificate=excess[i] * (excess[i] + 2 * B[i])
    + Sum(P[i, j] * P[i, k] * gap[i, j, k], (j, 1, n), (k, 1, n)),
    because="|sum_j P_ij X_ij| <= sum_j P_ij N_ij <= e_i rho_i u_max.")

THEOREM = Theorem(
    id="CW12",
    title="Scaled isometries: an isometric walk's generator plus a potential",
    clauses=(
        Clause("generator", r"For $T_{ij} = c_{ij} O_{ij}$, $\rho_i = \sum_j P_{ij} c_{ij} > 0$ "
               r"and $P'_{ij} = P_{ij} c_{ij} / \rho_i$: $I - W = \mathrm{diag}(1 - \rho) + "
               r"\mathrm{diag}(\rho)(I - W')$ with $W' = (P', O)$.", (generator,)),
        Clause("isometric_walk", r"If moreover $P \ge 0$, $c > 0$, $O_{ij}^\top G_i O_{ij} = G_j$, "
               r"$W'$ satisfies CW5 (a) and (c): rows of $P' \ge 0$ sum to 1, and $O_{ij}$ is an "
               r"isometry, $T_{ij}^\top G_i T_{ij} = c_{ij}^2 G_j$.",
               (total, stochastic, nonnegative, scaled_isometry)),
        Clause("laplacian", r"So $I - W'$ is a CW5 Laplacian iff (b) $P'$ is reversible, that is "
               r"$P_{ij} c_{ij}$ for $\sigma_i = \pi_i / \rho_i$, and (d) $O_{ij} O_{ji} = I$ "
               r"where $P'_{ij} \ne 0$, that is, for $c > 0$ and $\rho > 0$, $T_{ij} T_{ji} = "
               r"c_{ij} c_{ji} I$ where $P_{ij} \ne 0$.",
               (reversible, inverse_pairs)),
        Clause("remainder", r"For $T_{ij} = c_{ij} O_{ij} + E_{ij}$ and $\rho > 0$: $I - W = "
               r"\mathrm{diag}(1 - \rho) + \mathrm{diag}(\rho)(I - W') - R$, $(R u)_i = \sum_j "
               r"P_{ij} E_{ij} u_j$.", (remainder,)),
        Clause("remainder_size", r"For $P \ge 0$, $c > 0$, $G_i = F_i^\top F_i$, $N_{ij} = |E_{ij} "
               r"u_j|_{G_i} \le e_i c_{ij} |u_j|_{G_j}$ with $e, N \ge 0$, and all $|u_j|_{G_j} "
               r"\le u_{max}$: $|(R u)_i|_{G_i} \le e_i \rho_i u_{max}$. So in the max-norm $R$ is "
               r"at most $e \max_i \rho_i$ for $e_i = e$.",
               (seen_remainder, products, row, remainder_size)),
    ),
    mutants=(
        Mutant("no_potential", replace(
            generator, rhs=(1 - rho[i]) * u[i, a] + u[i, a] - moved(P2, O)),
            "I - W' without diag(rho)"),
        Mutant("weights_not_divided", generator, "P'_ij = P_ij c_ij, not divided by rho_i",
               redefine=(Definition(P2[i, j], P[i, j] * c[i, j]),)),
        Mutant("scales_of_any_sign", nonnegative, "c of any sign gives a walk matrix P'",
               drop=(positive_c,)),
        Mutant("isometric", replace(scaled_isometry, rhs=G[j, b, g]), "T_ij itself is an isometry"),
        Mutant("reversible_P", replace(reversible, right=(pi[i] * P[i, j], pi[j] * P[j, i])),
               "P' is reversible iff P is, for the same law"),
        Mutant("inverse_transports", replace(
            inverse_pairs, left=(P[i, j] * round_trip, P[i, j] * KroneckerDelta(a, b))),
            "T_ij T_ji = I"),
        Mutant("remainder_without_rho", replace(remainder_size, large=(e[i] * largest) ** 2),
               "the remainder is at most e"),
        Mutant("errors_of_any_size", remainder_size, "E need not be small", drop=(small_error,)),
        Mutant("remainder_added", replace(remainder, rhs=split + moved(P, E)), "+ R for - R"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
    uses=("CW5",),
)
