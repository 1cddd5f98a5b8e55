"""CW1. Single-head attention is a connection walk with constant transport."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.statement import (
    Bound,
    Clause,
    Definition,
    Iff,
    Mutant,
    RankBound,
    Step,
    Theorem,
    array,
    symbols_of,
)

n, m, d, d_k, d_v, d_o, w = symbols_of("n m d d_k d_v d_o w")
i, k, j, l, a, b, c, q = symbols_of("i k j l a b c q")

P, x, y, rho = array("P", n, m), array("x", m, d), array("y", n, d_o), array("rho", n)
W_V, W_O, b_V, b_O = (
    array("W_V", d, d_v), array("W_O", d_v, d_o), array("b_V", d_v), array("b_O", d_o),
)
T, s, F = array("T", d_o, d), array("s", d_o), array("F", n, d_o)


def attention(weights: IndexedBase) -> Expr:
    """Entry (i, a) of P (X W_V + 1 b_V^T) W_O + 1 b_O^T, as the module computes it."""
    value = Sum(x[j, b] * W_V[b, c], (b, 1, d)) + b_V[c]
    return Sum(Sum(weights[i, j] * value, (j, 1, m)) * W_O[c, a], (c, 1, d_v)) + b_O[a]


def walk(weights: IndexedBase) -> Expr:
    """Entry (i, a) of sum_j P_ij T x_j."""
    return Sum(weights[i, j] * T[a, b] * x[j, b], (j, 1, m), (b, 1, d))


output = Definition(y[i, a], attention(P))
transport = Definition(T[a, b], Sum(W_V[b, c] * W_O[c, a], (c, 1, d_v)))
row_sum = Definition(rho[i], Sum(P[i, j], (j, 1, m)))
value_shift = Definition(s[a], Sum(W_O[c, a] * b_V[c], (c, 1, d_v)))
shift = Definition(F[i, a], rho[i] * s[a] + b_O[a])
stochastic = sums_to_one(P)

constant = Step(
    id="constant", lhs=y[i, a], rhs=walk(P) + rho[i] * s[a] + b_O[a],
    because="Both sums are finite, so the sum over keys passes through the two linear maps.",
    by=(output, transport, row_sum, value_shift),
)
block = Step(
    id="block", rhs=P[i, j] * T[a, b],
    lhs=Sum(P[i, k] * T[a, c] * KroneckerDelta(k, j) * KroneckerDelta(c, b), (k, 1, m), (c, 1, d)),
    because="Apply the walk to the token that is e_b at key j and zero elsewhere: entry (i a, j b) "
    "of the operator is the entry of the Kronecker product, tokens first.",
)
same_shift = Iff(
    id="same_shift", left=(F[i, a], F[k, a]), right=(rho[i] * s[a], rho[k] * s[a]), by=(shift,),
    because="b_O is never scaled by the row sums, so it drops out of the difference of two rows.",
)
stochastic_shift = Step(
    id="stochastic_shift", lhs=y[i, a], rhs=walk(P) + s[a] + b_O[a],
    because="With row sums 1 the two biases add one constant vector.",
    by=(output, transport, value_shift, stochastic),
)

P2, M, Q = array("P'", n, m), array("M", n), array("Q", n, m)
E, Z, o, sink = array("E", n, m), array("Z", n), array("o", n), array("q", n)
P_s = array("P_s", n, m)
positive_E, positive_o = signed(E, ">0"), signed(o, ">0")
total = Definition(Z[i], Sum(E[i, j], (j, 1, m)) + o[i])
sink_row = Definition(P_s[i, j], E[i, j], over=Z[i])
sink_share = Definition(sink[i], o[i], over=Z[i])
gated_row = Definition(P[i, j], M[i] * Q[i, j])

other_weights = Step(
    id="other_weights", lhs=attention(P2),
    rhs=attention(P)
    + Sum((P2[i, j] - P[i, j]) * (Sum(T[a, b] * x[j, b], (b, 1, d)) + s[a]), (j, 1, m)),
    because="Masks, windows, ALiBi and rotary embeddings act on the logits: other weights average "
    "the same transported tokens.",
    by=(transport, value_shift),
)
killed = Step(
    id="killed", lhs=Z[i] * (Sum(P_s[i, j], (j, 1, m)) + sink[i]), rhs=Z[i],
    because="With E = exp(S), a sink of weight o > 0 takes what the keys leave: a cemetery state "
    "of value 0 completes every row to 1.",
    by=(sink_row, sink_share, total, positive_E, positive_o),
)
leak = Bound(
    id="leak", small=Z[i] * Sum(P_s[i, j], (j, 1, m)), large=Z[i], certificate=o[i], strict=True,
    because="The keys alone keep less than 1.",
    by=(sink_row, total, positive_E, positive_o),
)
masked_row = Step(
    id="masked_row", lhs=y[i, a],
    rhs=b_O[a] + M[i] * Sum(Q[i, j] * (Sum(T[a, b] * x[j, b], (b, 1, d)) + s[a]), (j, 1, m)),
    because="A row gate M_i = 0 leaves the zero row, whose output is b_O.",
    by=(output, gated_row, transport, value_shift),
)

scale, logit_E = array("c", n), array("E'", n, m)
positive_P, positive_scale = signed(P, ">0"), signed(scale, ">0")
softmax_total = Definition(Z[i], Sum(E[i, j], (j, 1, m)))
softmax = Definition(P[i, j], E[i, j], over=Z[i], support=positive_E)
rescaled = Definition(logit_E[i, j], scale[i] * P[i, j])
logits_exist = Bound(
    id="logits_exist", small=Integer(0), large=logit_E[i, j], certificate=scale[i] * P[i, j],
    strict=True, because="S = log P + log c 1^T is finite: its exponential is positive.",
    by=(rescaled, positive_P, positive_scale),
)
logits_give = Step(
    id="logits_give", lhs=P[i, j] * Sum(logit_E[i, l], (l, 1, m)), rhs=logit_E[i, j],
    because="Rows of P sum to 1, so the row total of exp(S) is c_i and the softmax of S is P.",
    by=(rescaled, stochastic),
)
logits_unique = Step(
    id="logits_unique", lhs=E[i, j], rhs=Z[i] * P[i, j], by=(softmax, softmax_total, positive_E),
    because="Conversely softmax(S) = P gives S = log P + u 1^T with u_i = log Z_i.",
)

L, LC, u, mu, r = array("L", n, m), array("L_C", n, m), array("u", n), array("mu", n), Symbol("r")
Qk, Kk, LQ, QC = array("Q_k", n, w), array("K_k", m, w), array("L_Q", n, m), array("Q_C", n, m)
reciprocal = Definition(r, Integer(1), over=m)
C = KroneckerDelta(j, l) - r
centred = Definition(LC[i, l], Sum(L[i, j] * C, (j, 1, m)))
row_mean = Definition(mu[i], r * Sum(L[i, j], (j, 1, m)))
factored = Definition(LQ[i, j], Sum(Qk[i, q] * Kk[j, q], (q, 1, w)) - u[i])
factored_centred = Definition(QC[i, l], Sum(LQ[i, j] * C, (j, 1, m)))
shifts = RankBound(
    id="shifts", small=(LC[i, l], (i, n), (l, m)), large=(L[i, j] + u[i], (i, n), (j, m)),
    after=(C, (j, m), (l, m)), by=(centred, reciprocal),
    because="1^T C = 0: centring removes every u 1^T, and a product has at most the rank of a "
    "factor.",
)
attained = Step(
    id="attained", lhs=L[i, l] - mu[i], rhs=LC[i, l], by=(centred, row_mean),
    because="At u = minus the row means the shifted matrix is the centred one; a matrix of rank r "
    "is a product with inner width r, so the bound is met.",
)
width = RankBound(
    id="width", small=(QC[i, l], (i, n), (l, m)), large=(Qk[i, q], (i, n), (q, w)),
    after=(Sum(Kk[j, q] * C, (j, 1, m)), (q, w), (l, m)),
    by=(factored_centred, factored, reciprocal),
    because="If log P + u 1^T = Q K^T with inner width w, then (log P) C = Q (C K)^T, of rank at "
    "most w.",
)
uniform = Iff(
    id="uniform", left=(m * L[i, j], Sum(L[i, l], (l, 1, m))), right=(LC[i, j], Integer(0)),
    factor=m, by=(centred, reciprocal),
    because="Width 0 means that every entry of log P is its row mean.",
)
uniform_weights = Iff(
    id="uniform_weights", left=(m * E[i, j], Z[i]), right=(m * P[i, j], Integer(1)), factor=Z[i],
    by=(softmax, softmax_total, positive_E),
    because="Logits are constant along a row iff E = exp(S) is, that is iff P_ij = 1/m.",
)

X, X2, S, W = array("X", n, d), array("X'", m, d_k), array("S", n, m), array("M_S", d, d_k)
R, R2 = array("R", d, n), array("R'", d_k, m)
logits = Sum(X[i, b] * W[b, c] * X2[j, c], (b, 1, d), (c, 1, d_k))
solved = Definition(W[b, c], Sum(R[b, k] * S[k, l] * R2[c, l], (k, 1, n), (l, 1, m)))
independent, independent2 = right_inverse(X, R), right_inverse(X2, R2)
solve_logits = Step(
    id="solve_logits", lhs=logits, rhs=S[i, j], by=(solved, independent, independent2),
    because="With right inverses X R = I and X' R' = I, M = R S R'^T solves X M X'^T = S.",
)
solve_width = RankBound(
    id="solve_width", small=(W[b, c], (b, d), (c, d_k)), large=(S[k, l], (k, n), (l, m)),
    before=(R[b, k], (b, d), (k, n)), after=(R2[c, l], (l, m), (c, d_k)), by=(solved,),
    because="M has at most the rank of S, so no extra width is needed.",
)
equal_tokens = Step(
    id="equal_tokens",
    lhs=Sum((X[i, b] - X[k, b]) * W[b, c] * X2[j, c], (b, 1, d), (c, 1, d_k)),
    rhs=logits - Sum(X[k, q] * W[q, c] * X2[j, c], (q, 1, d), (c, 1, d_k)),
    because="Rows of logits differ by a linear image of x_i - x_k: equal tokens force equal rows.",
)

T_rank, F1, G1 = array("T'", d_o, d), array("F_T", d_o, d_v), array("G_T", d_v, d)
head_width = RankBound(
    id="head_width", small=(T[a, b], (a, d_o), (b, d)), large=(W_V[b, c], (c, d_v), (b, d)),
    before=(W_O[c, a], (a, d_o), (c, d_v)), by=(transport,),
    because="T = W_O^T W_V^T factors through the head width.",
)
head_attained = Step(
    id="head_attained", lhs=Sum(W_V[b, c] * W_O[c, a], (c, 1, d_v)), rhs=T_rank[a, b],
    by=(Definition(T_rank[a, b], Sum(F1[a, c] * G1[c, b], (c, 1, d_v))),
        Definition(W_V[b, c], G1[c, b]), Definition(W_O[c, a], F1[a, c])),
    because="A rank factorisation T = F G is realised by W_V = G^T and W_O = F^T.",
)

W_S, P_S, T_S = array("W_S", d_v, d), array("P_S", n, n), array("T_S", n, n)


def square(term: Expr) -> Expr:
    """A walk whose outputs have the width of its inputs."""
    return Sum(P[i, j] * term, (j, 1, m), (b, 1, d), (c, 1, d_v))


THEOREM = Theorem(
    id="CW1",
    title="Single-head attention is a connection walk with constant transport",
    clauses=(
        Clause("constant_transport", r"For any weights $P$ with row sums $\rho_i$: "
               r"$y_i = \sum_j P_{ij} T x_j + \rho_i W_O^\top b_V + b_O$ with "
               r"$T = (W_V W_O)^\top$ on every edge.", (constant,)),
        Clause("kronecker", r"The block matrix of the walk is $P \otimes T$.", (block,)),
        Clause("biases", r"The shift $\rho_i W_O^\top b_V + b_O$ is the same for all $i$ iff "
               r"$\rho_i W_O^\top b_V$ is; for row-stochastic $P$ it is $W_O^\top b_V + b_O$.",
               (same_shift, stochastic_shift)),
        Clause("masks_and_sinks", r"Masks, windows and positional terms change $P$ and never $T$; "
               r"an attention sink leaves a killed walk, completed by a cemetery state of value "
               r"$0$; a fully masked row reads $b_O$.",
               (other_weights, killed, leak, masked_row)),
        Clause("logits_of_a_walk", r"For row-stochastic $P > 0$: $\mathrm{softmax}(S) = P$ iff "
               r"$S = \log P + u \mathbf{1}^\top$.", (logits_exist, logits_give, logits_unique)),
        Clause("inner_width", r"The least inner width of $S = Q K^\top$ with "
               r"$\mathrm{softmax}(S) = P$ is $\min_u \mathrm{rank}(\log P + u \mathbf{1}^\top) = "
               r"\mathrm{rank}((\log P) C_m)$, attained at minus the row means; it is $0$ iff "
               r"$P_{ij} = 1/m$ throughout. Here and below the rank of a matrix is the least inner "
               r"width of its factorisations.",
               (shifts, attained, width, uniform, uniform_weights)),
        Clause("token_logits", r"Logits $X M X'^\top$ reach every $S$ without extra width if the "
               r"rows of $X$ and of $X'$ are independent; equal tokens force equal rows.",
               (solve_logits, solve_width, equal_tokens)),
        Clause("value_width", r"The least value width of a head with transport $T$ is "
               r"$\mathrm{rank}\, T$.", (head_width, head_attained)),
    ),
    mutants=(
        Mutant("constant_shift_always", stochastic_shift, "one shift without row sums 1",
               drop=(stochastic,), add=(signed(P, ">=0"),)),
        Mutant("no_transpose", Step(
            id="constant", because="claimed", lhs=square(x[j, b] * W_V[b, c] * W_S[c, a]),
            rhs=square(x[j, b] * W_V[a, c] * W_S[c, b])), "T = W_V W_O"),
        Mutant("any_tokens", solve_logits, "every S from dependent tokens", drop=(independent,)),
        Mutant("width_is_rank_log_P", replace(shifts, small=(L[i, l], (i, n), (l, m)),
               large=(LC[i, l], (i, n), (l, m)), after=None), "width rank(log P) is needed"),
        Mutant("transport_tensor_weights", Step(
            id="block", because="claimed", rhs=T_S[i, j] * P_S[a, b],
            lhs=Sum(P_S[i, k] * T_S[a, c] * KroneckerDelta(k, j) * KroneckerDelta(c, b),
                    (k, 1, n), (c, 1, n))), "block matrix T (x) P"),
        Mutant("nonnegative_suffices", logits_exist, "P >= 0 has finite logits",
               drop=(positive_P,), add=(signed(P, ">=0"),)),
        Mutant("width_zero_iff_equal_rows", replace(uniform, left=(LC[i, j], LC[k, j])),
               "width 0 iff all rows of P are equal"),
        Mutant("output_bias_scaled", replace(constant, rhs=walk(P) + rho[i] * (s[a] + b_O[a])),
               "b_O is scaled by the row sums"),
        Mutant("sink_keeps_rows", replace(killed, rhs=Z[i] * (1 + sink[i])),
               "a sink leaves row sums 1"),
        Mutant("width_of_values_is_d_v", replace(head_width, small=(W_V[b, c], (c, d_v), (b, d)),
               large=(T[a, b], (a, d_o), (b, d)), before=(W_O[c, a], (c, d_v), (a, d_o))),
               "rank W_V is needed"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "A. Singer, H.-T. Wu, Vector diffusion maps and the connection Laplacian, CPAM 2012",
    ),
)
