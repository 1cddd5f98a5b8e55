"""Self-adjointness of a connection walk with isometric transports: detailed balance and inverses.

In the frames F_i, with B_ij = F_i T_ij F_j^{-1}, the form <v, Wu> - <Wv, u> has the blocks
S_ij = pi_i P_ij B_ij - pi_j P_ji B_ji^T; B_ij is orthogonal on edges, so |S_ij|_F^2 is a sum of two
squares, one for each condition.
"""

from __future__ import annotations

from sympy import Expr, Integer, KroneckerDelta, Sum

from theorems.assumptions.metric_walk import (
    POSITIVE, F, F_inv, G, P, T, Z, a, adjoint, b, balance, c, d, e, f, gap, gram, i, imbalance,
    inner, invertible, isometry, j, k, n, pairs, pi, skew, u, v,
)
from theorems.assumptions.metrics import applied
from theorems.rules import Vanishing
from theorems.statement import Definition, Iff, Step, array


def column_of(row: Expr, entry: Expr, token: Expr, place: Expr) -> Expr:
    """Entry (row, entry) of W e_(token, place)."""
    one = KroneckerDelta(k, token) * KroneckerDelta(f, place)
    return Sum(P[row, k] * T[row, k, entry, f] * one, (k, 1, n), (f, 1, d))


bilinear = Step(
    id="bilinear", by=(skew, gram),
    lhs=inner(v, applied(P, T, u, i, b)) - inner(u, applied(P, T, v, i, b)),
    rhs=Sum(v[i, a] * Z[i, j, a, b] * u[j, b], (i, 1, n), (j, 1, n), (a, 1, d), (b, 1, d)),
    because="<v, Wu> - <Wv, u> is the form with blocks Z_ij,",
)
entries = Iff(
    id="entries", right=(Z[i, j, a, b], Integer(0)), by=(skew, gram),
    left=(Sum(pi[i] * G[i, a, c] * column_of(i, c, j, b), (c, 1, d)),
          Sum(pi[j] * column_of(j, c, i, a) * G[j, c, b], (c, 1, d))),
    because="so it vanishes iff <e_ia, W e_jb> = <W e_ia, e_jb> for all basis vectors, iff Z = 0.",
)
B, S, E = array("B", n, n, d, d), array("S", n, n, d, d), array("E", n, n, d, d)
Y = array("Y", n, n, d, d)
framed = Definition(
    B[i, j, a, b], Sum(F[i, a, c] * Sum(T[i, j, c, e] * F_inv[j, e, b], (e, 1, d)), (c, 1, d))
)
framed_skew = Definition(
    S[i, j, a, b], pi[i] * P[i, j] * B[i, j, a, b] - pi[j] * P[j, i] * B[j, i, b, a]
)
untransposed = Definition(E[i, j, a, b], B[j, i, b, a] - B[i, j, a, b])
half_framed = Definition(Y[i, j, a, b], Sum(Z[i, j, a, e] * F_inv[j, e, b], (e, 1, d)))
skew_in_frames = Step(
    id="skew_in_frames", lhs=S[i, j, a, b], rhs=Sum(F_inv[i, c, a] * Y[i, j, c, b], (c, 1, d)),
    by=(framed_skew, half_framed, framed, skew, gram, invertible),
    because="In the frames F_i, with B_ij = F_i T_ij F_j^{-1}, the form has blocks S_ij = "
    "$F_i^{-\\top} Z_{ij} F_j^{-1}$.",
)
total_skew = Sum(S[i, j, a, b] ** 2, (a, 1, d), (b, 1, d))
no_skew = Step(
    id="no_skew", lhs=total_skew, rhs=Integer(0), by=(adjoint, skew_in_frames, half_framed),
    because="If W is self-adjoint, every S_ij is 0.",
)
turns = Step(
    id="turns", lhs=P[i, j] * Sum(B[i, j, a, b] * B[i, j, a, c], (a, 1, d)),
    rhs=P[i, j] * KroneckerDelta(b, c), by=(framed, isometry, invertible),
    because="Isometric on an edge means B_ij orthogonal.",
)
both = pi[i] * P[i, j] * pi[j] * P[j, i]
balance_needed = Vanishing(
    id="balance_needed", total=total_skew, part=gap[i, j], weight=d, strict=True,
    rest=both * Sum((B[j, i, b, a] - B[i, j, a, b]) ** 2, (a, 1, d), (b, 1, d)),
    by=(framed_skew, imbalance, turns, *POSITIVE),
    because=r"$\lVert S_{ij} \rVert_F^2 = d (\pi_i P_{ij} - \pi_j P_{ji})^2 + \pi_i P_{ij} \pi_j "
    r"P_{ji} \lVert B_{ij} - B_{ji}^\top \rVert_F^2$.",
)
reversible = Step(
    id="reversible", lhs=gap[i, j], rhs=Integer(0), by=(no_skew, balance_needed),
    because="So (b) holds.",
)
transposes = Vanishing(
    id="transposes", total=total_skew, part=E[i, j, a, b], weight=both, over=((a, d), (b, d)),
    rest=d * gap[i, j] ** 2, by=(framed_skew, untransposed, imbalance, turns, *POSITIVE),
    because="The other term: B_ij = B_ji^T where both P_ij and P_ji are positive.",
)
there_and_back = P[i, j] * P[j, i] * Sum(T[j, i, c, a] * T[i, j, a, b], (a, 1, d))
leave_turns = Step(
    id="leave_turns", lhs=there_and_back, by=(untransposed, framed, isometry, invertible),
    rhs=P[i, j] * P[j, i] * (KroneckerDelta(c, b) + Sum(
        Sum(F_inv[j, c, f] * E[i, j, a, f], (f, 1, d))
        * Sum(B[i, j, a, e] * F[j, e, b], (e, 1, d)), (a, 1, d))),
    because="B_ji B_ij = B_ij^T B_ij + E_ij^T B_ij, and B_ij^T B_ij = I.",
)
inverses = Step(
    id="inverses", lhs=pi[i] * pi[j] * there_and_back, rhs=both * KroneckerDelta(c, b),
    by=(no_skew, transposes, leave_turns),
    because="So T_ji T_ij = I where P_ij and P_ji are positive.",
)

M, R, N = array("M", n, n, d, d), array("R", n, n, d, d), array("N", n, n, d, d)
two_way = Definition(M[i, j, a, b], Sum(T[i, j, a, c] * T[j, i, c, b], (c, 1, d)))
return_gap = Definition(R[i, j, a, b], M[i, j, a, b] - KroneckerDelta(a, b))
on_edge = Definition(N[i, j, a, b], pi[i] * P[i, j] * R[i, j, a, b])
square_gap = Sum(R[i, j, a, b] ** 2, (a, 1, d), (b, 1, d))
no_return_gap = Step(
    id="no_return_gap", lhs=(both + pi[i] * P[i, j] * gap[i, j]) * square_gap, rhs=Integer(0),
    by=(reversible, inverses, return_gap, two_way),
    because="R_ij = T_ij T_ji - I is 0 there, and by (b) the edges are those of P:",
)
return_parts = Vanishing(
    id="return_parts", total=no_return_gap.lhs, part=N[i, j, a, b], over=((a, d), (b, d)),
    strict=True, by=(on_edge, imbalance),
    because=r"The left side is $(\pi_i P_{ij})^2 \lVert R_{ij} \rVert_F^2$.",
)
no_edge_gap = Step(
    id="no_edge_gap", lhs=N[i, j, a, b], rhs=Integer(0), by=(no_return_gap, return_parts),
    because="A sum of squares that is 0.",
)
pairs_needed = Iff(
    id="pairs_needed", left=(N[i, j, a, b], Integer(0)), factor=pi[i],
    right=(P[i, j] * M[i, j, a, b], P[i, j] * KroneckerDelta(a, b)),
    by=(on_edge, return_gap, POSITIVE[1]), because="As pi_i > 0, (d) holds where P_ij > 0.",
)

H, C = array("H", n, n, d, d), array("C", n, n, d, d)
pushed = Definition(H[i, j, a, b], Sum(G[i, a, c] * T[i, j, c, b], (c, 1, d)))
pulled = Definition(C[i, j, a, b], Sum(T[j, i, c, a] * G[j, c, b], (c, 1, d)))
round_trip = Step(
    id="round_trip", lhs=P[i, j] * Sum(M[i, j, e, a] * H[i, j, e, b], (e, 1, d)),
    rhs=P[i, j] * H[i, j, a, b], by=(pairs, two_way),
    because="(T_ij T_ji)^T G_i T_ij = G_i T_ij = H_ij on edges by (d),",
)
transposed = Iff(
    id="transposed", left=(round_trip.lhs, round_trip.rhs),
    by=(isometry, two_way, pushed, pulled, gram),
    right=(P[i, j] * C[i, j, a, b], P[i, j] * H[i, j, a, b]),
    because="and T_ji^T (T_ij^T G_i T_ij) = T_ji^T G_j = C_ij by (c).",
)
skew_split = Step(
    id="skew_split", lhs=Z[i, j, a, b], by=(skew, pushed, pulled),
    rhs=pi[i] * P[i, j] * H[i, j, a, b] - pi[j] * P[j, i] * C[i, j, a, b],
    because="In these names Z_ij = pi_i P_ij H_ij - pi_j P_ji C_ij.",
)
skew_of_flow = Step(
    id="skew_of_flow", lhs=Z[i, j, a, b], rhs=gap[i, j] * C[i, j, a, b],
    by=(round_trip, transposed, skew_split, imbalance),
    because="Given (c) and (d), what is left of Z_ij is the imbalance of the flow.",
)
adjoint_back = Step(
    id="adjoint_back", lhs=Z[i, j, a, b], rhs=Integer(0), by=(balance, skew_of_flow),
    because="With (b) nothing is left.",
)
