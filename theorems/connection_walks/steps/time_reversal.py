"""Steps of CW9 on the time reversal of a walk, its reversibilisations and the adjoint of W."""

from __future__ import annotations

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import right_inverse, signed
from theorems.assumptions import stationarity as on
from theorems.statement import Bound, Cited, Definition, Iff, Step, Witness, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c, e, p, q, o = symbols_of("i j k a b c e p q o")
half = Rational(1, 2)

P, pi, r, Pr = array("P", n, n), array("pi", n), array("r", n), array("P^*", n, n)
A, N, x, y = array("A", n, n), array("N", n, n), array("x", n), array("y", n)
positive_pi, nonnegative_P = signed(pi, ">0"), signed(P, ">=0")
stationary = on.stationary_chain(P, pi)
reciprocal = Definition(r[i], Integer(1), over=pi[i])
reversal = Definition(Pr[i, j], r[i] * pi[j] * P[j, i])
additive = Definition(A[i, j], half * (P[i, j] + Pr[i, j]))
multiplicative = Definition(N[i, j], Sum(P[i, k] * Pr[k, j], (k, 1, n)))
time_reversal = (reversal, reciprocal, positive_pi)

perron = Cited(
    id="Perron-Frobenius",
    statement="An irreducible nonnegative row-stochastic n x n matrix P has exactly one row vector "
    "pi with pi P = pi and sum_i pi_i = 1, and all entries of pi are positive.",
    source="E. Seneta, Non-negative Matrices and Markov Chains, 2nd ed., Springer 2006, "
    "Theorem 1.5",
    because="It supplies the law that time reversal needs.",
)
reversed_rows = Step(
    id="reversed_rows", lhs=Sum(Pr[i, j], (j, 1, n)), rhs=Integer(1),
    by=(reversal, stationary, reciprocal, positive_pi), because="pi P = pi, divided by pi_i.",
)
reversed_law = Step(
    id="reversed_law", lhs=Sum(pi[i] * Pr[i, j], (i, 1, n)), rhs=pi[j],
    by=(*time_reversal, stationary), because="Rows of P sum to 1.",
)
reversed_weights = Bound(
    id="reversed_weights", small=Integer(0), large=Pr[i, j], certificate=r[i] * pi[j] * P[j, i],
    by=(*time_reversal, nonnegative_P), because="So P* is a walk matrix.",
)
reversed_twice = Step(
    id="reversed_twice", lhs=r[i] * pi[j] * Pr[j, i], rhs=P[i, j], by=time_reversal,
    because="Reversing twice gives P back.",
)
same_walk = Iff(
    id="same_walk", left=(pi[i] * P[i, j], pi[j] * P[j, i]), right=(P[i, j], Pr[i, j]),
    factor=pi[i], by=time_reversal, because="Detailed balance says that P = P*.",
)
additive_flow = Step(
    id="additive_flow", lhs=pi[i] * A[i, j], rhs=pi[j] * A[j, i], by=(additive, *time_reversal),
    because="Its flow is the mean of the flow of P and of its reverse.",
)
additive_law = Step(
    id="additive_law", lhs=Sum(pi[i] * A[i, j], (i, 1, n)), rhs=pi[j],
    by=(additive, *time_reversal, stationary), because="Both walks have the law pi.",
)


def bilinear(walk: IndexedBase, left: IndexedBase = x, right: IndexedBase = x) -> Expr:
    """sum_ij pi_i left_i walk_ij right_j."""
    return Sum(pi[i] * left[i] * walk[i, j] * right[j], (i, 1, n), (j, 1, n))


quadratic = Step(
    id="quadratic", lhs=bilinear(A), rhs=bilinear(P), by=(additive, *time_reversal),
    because="Exchanging i and j turns the form of P* on (x, x) into that of P.",
)
dirichlet = Step(
    id="dirichlet", lhs=Sum(pi[i] * x[i] ** 2, (i, 1, n)) - bilinear(P), by=(stationary,),
    rhs=half * Sum(pi[i] * P[i, j] * (x[i] - x[j]) ** 2, (i, 1, n), (j, 1, n)),
    because="Open the square: both marginals of the flow are pi.",
)
multiplicative_flow = Step(
    id="multiplicative_flow", lhs=pi[i] * N[i, j], rhs=pi[j] * N[j, i],
    by=(multiplicative, *time_reversal),
    because="pi_i (P P*)_ij = sum_k pi_i P_ik pi_j P_jk / pi_k is symmetric.",
)
t, s, C = array("t", n), array("s", n), array("C", n, n)
root, root_law = Definition(s[i], Integer(1), over=t[i]), Definition(pi[i], t[i] ** 2)
positive_t, root_reciprocal = signed(t, ">0"), Definition(r[i], s[i] ** 2)
chung = Step(
    id="chung", lhs=s[i] * C[i, j] * t[j], rhs=KroneckerDelta(i, j) - A[i, j],
    by=(Definition(C[i, j], KroneckerDelta(i, j)
                   - half * (t[i] * P[i, j] * s[j] + s[i] * P[j, i] * t[j])),
        additive, reversal, root_law, root_reciprocal, root, positive_t),
    because="Conjugation by $\\Pi^{1/2}$ turns Chung's directed Laplacian into $I - (P + P^*)/2$.",
)

turn = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
third = 3 * [fmpq(1, 3)]
other_form = Witness(
    id="other_form", values={P: turn, pi: third, x: [1, 0, 0], y: [0, 1, 0]},
    by=(additive, *time_reversal), fails=((bilinear(A, x, y), bilinear(P, x, y)),),
    because="The cyclic shift of three states: 1/6 against 1/3.",
)
falls_apart = Witness(
    id="falls_apart", values={P: turn, pi: third}, by=(multiplicative, *time_reversal),
    holds=((N[i, j], KroneckerDelta(i, j)),
           (KroneckerDelta(i, j) + P[i, j] + Sum(P[i, k] * P[k, j], (k, 1, n)), Integer(1))),
    fails=((P[i, j], KroneckerDelta(i, j)),),
    because="The cyclic shift reaches every state within two steps, and P P* = I.",
)

T, F, Fi = array("T", n, n, d, d), array("F", n, d, d), array("F^{-1}", n, d, d)
G, Gi, Wr = array("G", n, d, d), array("G^{-1}", n, d, d), array("W^*", n, n, d, d)
V, u = array("V", n, n, d, d), array("u", n, d)
frames = right_inverse(F, Fi)
metric = Definition(G[i, a, b], Sum(F[i, e, a] * F[i, e, b], (e, 1, d)))
inverse_metric = Definition(Gi[i, a, b], Sum(Fi[i, a, e] * Fi[i, b, e], (e, 1, d)))


def starred(ratio: Expr, block: Expr) -> Definition:
    """W*_ij = ratio P_ji G_i^{-1} block G_j, with the block's entry (p, q)."""
    turned = Gi[i, a, p] * block * G[j, q, b]
    return Definition(Wr[i, j, a, b], ratio * P[j, i] * Sum(turned, (p, 1, d), (q, 1, d)))


lifted = array("M", n, n, d, d)
moved = Definition(lifted[i, j, p, b], Sum(T[j, i, q, p] * G[j, q, b], (q, 1, d)))
star = Definition(Wr[i, j, a, b], r[i] * pi[j] * P[j, i]
                  * Sum(Gi[i, a, p] * lifted[i, j, p, b], (p, 1, d)))
mean_block = Definition(V[i, j, a, b], half * (P[i, j] * T[i, j, a, b] + Wr[i, j, a, b]))
adjoint_pair = (star, moved, *time_reversal[1:], metric, inverse_metric, frames)


def lowered(block: Expr) -> Expr:
    """Entry (a, c) of pi_i G_i block, the matrix of <v_i, block u_j>, with its entry (b, c)."""
    return pi[i] * Sum(G[i, a, b] * block, (b, 1, d))


def form(block: Expr) -> Expr:
    """<u, W u> for W with these blocks."""
    return Sum(u[i, a] * lowered(block) * u[j, c], (i, 1, n), (j, 1, n), (a, 1, d), (c, 1, d))


def raised(blocks: IndexedBase) -> Expr:
    """Entry (a, c) of pi_j block_ji^T G_j, the matrix of <block v_i, u_j>."""
    return pi[j] * Sum(blocks[j, i, b, a] * G[j, b, c], (b, 1, d))


walk_block = P[i, j] * T[i, j, b, c]
adjoint = Step(
    id="adjoint", lhs=lowered(walk_block), rhs=raised(Wr), by=adjoint_pair,
    because="<v, W u> = <W* v, u> edge by edge: the metrics cancel and the weights are those of "
    "the reversal.",
)
mean_adjoint = Step(
    id="mean_adjoint", lhs=lowered(V[i, j, b, c]), rhs=raised(V), by=(mean_block, *adjoint_pair),
    because="So (W + W*)/2 is self-adjoint.",
)
mean_form = Step(
    id="mean_form", lhs=form(V[i, j, b, c]), rhs=form(walk_block), by=(mean_block, *adjoint_pair),
    because="And has the quadratic form of W.",
)
mean_contracts = Witness(
    id="mean_contracts", by=(mean_block, additive, reversal, *adjoint_pair),
    values={P: [[0, 1], [1, 0]], pi: 2 * [fmpq(1, 2)], F: 2 * [[[1]]], Fi: 2 * [[[1]]],
            T: [[[[1]], [[1]]], [[[-1]], [[1]]]]},
    holds=((Sum(T[i, j, p, a] * T[i, j, p, b], (p, 1, d)), KroneckerDelta(a, b)),
           (P[i, j], A[i, j])),
    fails=((Sum(V[i, j, a, b] ** 2, (a, 1, d), (b, 1, d)), d * A[i, j] ** 2),),
    because="One edge with T_12 = 1, T_21 = -1: the mean transport is 0, no isometry.",
)
