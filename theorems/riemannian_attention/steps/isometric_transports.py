"""Steps of RA10 on the transports T_ij = E_i^{-1} R_ij E_j: isometries, inverses, coboundaries."""

from __future__ import annotations

from sympy import Integer, KroneckerDelta

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.turned_frames import (
    E, G, R, T, W, a, b, c, coframe, d, e, f, flat_triangles, framed, gap, gauge,
    turns_from_gauge, i, isometric_everywhere, j, k, metrics, n, transposed_back, paired,
    reversed_turn, total, triangles, turned, turns_orthogonal, unit_turn,
)
from theorems.statement import Definition, Step, array, symbols_of

l, h = symbols_of("l h")
F, F_all = array("F", n, n, n, d, d), array("F'", n, n, n, d, d)
R2 = array("R_2", n, n, n, d, d)
delta = KroneckerDelta
two_turns = Definition(R2[i, j, k, a, b], total(R[i, j, a, c] * R[j, k, c, b], c))

isometry = Step(
    id="isometry", lhs=total(T[i, j, a, b] * G[i, a, c] * T[i, j, c, f], a, c), rhs=G[j, b, f],
    by=(turned, metrics, framed, turns_orthogonal),
    because=r"$T_{ij}^\top G_i T_{ij} = E_j^\top R_{ij}^\top R_{ij} E_j$.",
)
turn_of = Definition(
    R[i, j, a, b], total(E[i, a, c] * T[i, j, c, e] * coframe[j, e, b], c, e)
)
turn_orthogonal = Step(
    id="turn_orthogonal", lhs=total(R[i, j, c, a] * R[i, j, c, b], c), rhs=delta(a, b),
    by=(turn_of, framed, isometric_everywhere),
    because=r"$R_{ij}^\top R_{ij} = E_j^{-\top} T_{ij}^\top G_i T_{ij} E_j^{-1} = E_j^{-\top} G_j "
    r"E_j^{-1}$.",
)
isometry_form = Step(
    id="isometry_form", lhs=T[i, j, a, b], by=(turn_of, framed),
    rhs=total(coframe[i, a, c] * R[i, j, c, e] * E[j, e, b], c, e),
    because="The frames can be taken off again.",
)

turns_back = Step(
    id="turns_back", lhs=total(R[j, i, a, c] * R[i, j, c, b], c),
    by=(reversed_turn, turns_orthogonal),
    rhs=delta(a, b) + total(gap[i, j, a, c] * R[i, j, c, b], c),
    because=r"With $r_{ij} = R_{ji} - R_{ij}^\top$.",
)
transports_back = Step(
    id="transports_back", lhs=total(T[j, i, a, c] * T[i, j, c, b], c), rhs=delta(a, b),
    by=(turned, framed, turns_back, transposed_back),
    because=r"$T_{ji} T_{ij} = E_j^{-1} R_{ij}^\top R_{ij} E_j$.",
)
turns_seen = Step(
    id="turns_seen", lhs=total(R[i, j, a, c] * R[j, i, c, b], c), by=(turned, framed),
    rhs=total(E[i, a, c] * T[i, j, c, h] * T[j, i, h, e] * coframe[i, e, b], c, e, h),
    because=r"$R_{ij} R_{ji} = E_i T_{ij} T_{ji} E_i^{-1}$.",
)
gap_from_product = Step(
    id="gap_from_product", lhs=gap[i, j, a, b], by=(reversed_turn, turns_orthogonal),
    rhs=total(R[i, j, c, a] * (total(R[i, j, c, e] * R[j, i, e, b], e) - delta(c, b)), c),
    because=r"$R_{ji} - R_{ij}^\top = R_{ij}^\top (R_{ij} R_{ji} - I)$.",
)
turns_transposed = Step(
    id="turns_transposed", lhs=gap[i, j, a, b], rhs=Integer(0),
    by=(gap_from_product, turns_seen, paired, framed),
    because=r"$T_{ij} T_{ji} = I$ gives $R_{ij} R_{ji} = I$.",
)

SIDES = ("ij", "jk", "ki")
E_3, coframe_3 = ({node: array(f"E{mark}_{{{node}}}", d, d) for node in "ijk"}
                  for mark in ("", "^{-1}"))
R_3, T_3 = ([array(f"{name}_{{{side}}}", d, d) for side in SIDES] for name in "RT")
framed_3 = [right_inverse(E_3[node], coframe_3[node]) for node in "ijk"]
turned_3 = [
    Definition(T[a, b], total(coframe_3[start][a, c] * R[c, e] * E_3[end][e, b], c, e))
    for (start, end), R, T in zip(SIDES, R_3, T_3, strict=True)
]
AROUND_R, AROUND_T = (
    total(one[a, c] * two[c, e] * three[e, b], c, e) for one, two, three in (R_3, T_3)
)
around_R, around_T = array("R_{ijk}", d, d), array("T_{ijk}", d, d)
CURVATURES = (Definition(around_T[a, b], AROUND_T), Definition(around_R[a, b], AROUND_R))
curvature_seen = Step(
    id="curvature_seen", lhs=around_T[a, b], by=(*CURVATURES, *turned_3, *framed_3),
    rhs=total(coframe_3["i"][a, c] * around_R[c, e] * E_3["i"][e, b], c, e),
    because=r"$T_{ij} T_{jk} T_{ki} = E_i^{-1} R_{ij} R_{jk} R_{ki} E_i$.",
)
curvature_back = Step(
    id="curvature_back", lhs=around_R[a, b], by=(*CURVATURES, *turned_3, *framed_3),
    rhs=total(E_3["i"][a, c] * around_T[c, e] * coframe_3["i"][e, b], c, e),
    because="And back: one is I iff the other is.",
)

inverse_turns = Step(
    id="inverse_turns", lhs=total(R[j, i, a, c] * R[i, j, c, b], c), rhs=delta(a, b),
    by=(turns_back, transposed_back), because=r"$R_{ji} R_{ij} = R_{ij}^\top R_{ij} = I$.",
)
TWO_TURNS = total(R[i, k, a, c] * R[k, j, c, b], c)
closed_up = Step(
    id="closed_up", lhs=W[i, k, j] * TWO_TURNS, by=(two_turns, inverse_turns),
    rhs=W[i, k, j] * total(R2[i, k, j, a, e] * R[j, i, e, f] * R[i, j, f, b], e, f),
    because=r"$R_{ji} R_{ij} = I$ behind $R_{ik} R_{kj}$.",
)
opened = Step(
    id="opened", lhs=W[i, k, j] * TWO_TURNS, rhs=W[i, k, j] * R[i, j, a, b],
    by=(two_turns, flat_triangles, closed_up),
    because=r"$R_{ik} R_{kj} R_{ji} = I$ leaves $R_{ij}$.",
)
defect = Definition(F[i, k, j, a, b], R[i, j, a, b] - TWO_TURNS)
whole = Definition(
    F_all[i, k, j, a, b],
    (W[i, k, j] + 1 - (1 - delta(i, k)) * (1 - delta(k, j)) * (1 - delta(i, j)))
    * F[i, k, j, a, b],
)
all_cases = Step(
    id="all_cases", lhs=TWO_TURNS, rhs=R[i, j, a, b] - F_all[i, k, j, a, b],
    by=(whole, defect, triangles),
    because=r"On the complete graph $w_{ikj} = 1$ unless two nodes agree.",
)
no_case = Step(
    id="no_case", lhs=F_all[i, k, j, a, b], rhs=Integer(0),
    by=(whole, defect, opened, inverse_turns, unit_turn),
    because=r"$R_{ij} = R_{ik} R_{kj}$: of distinct nodes as the triangle is flat, and $R_{ij} = "
    r"R_{ii} R_{ij} = R_{ij} R_{jj}$, $R_{ii} = R_{ik} R_{ki}$.",
)
coboundary = Step(
    id="coboundary", lhs=TWO_TURNS, rhs=R[i, j, a, b], by=(all_cases, no_case),
    because=r"With $k = 1$: $R_{ij} = g_i g_j^{-1}$ for $g_i = R_{i1}$ and $g_j^{-1} = R_{1j}$.",
)
four_turns = Step(
    id="four_turns", rhs=delta(a, b), by=(two_turns, coboundary, unit_turn),
    lhs=total(R2[i, j, k, a, c] * R2[k, l, i, c, b], c),
    because=r"$R_{ij} R_{jk} R_{kl} R_{li} = R_{ik} R_{ki} = R_{ii}$.",
)
flat_back = Step(
    id="flat_back", lhs=total(R[i, j, a, c] * R[j, k, c, e] * R[k, i, e, b], c, e),
    rhs=delta(a, b), by=(turns_from_gauge, gauge),
    because=r"$g_i g_j^{-1} g_j g_k^{-1} g_k g_i^{-1} = I$.",
)
unit_back = Step(
    id="unit_back", lhs=R[i, i, a, b], rhs=delta(a, b), by=(turns_from_gauge, gauge),
    because="$g_i g_i^{-1} = I$.",
)
transposed_back = Step(
    id="transposed_back", lhs=gap[i, j, a, b], rhs=Integer(0),
    by=(gap_from_product, turns_from_gauge, gauge),
    because=r"$R_{ij} R_{ji} = g_i g_j^{-1} g_j g_i^{-1} = I$ and $R_{ij}^\top R_{ij} = I$.",
)
