"""CW6. Single-head attention as a connection Laplacian."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.connection_walks.steps import kronecker as kron
from theorems.connection_walks.steps.involutions import (
    common_isometry, commutes, equal_on_edges, not_zero, one_frame, orthogonal_frames,
    orthogonal_transport, put_self_adjoint, squares_to_identity, symmetric_transport,
)
from theorems.assumptions.metrics import balanced, flow_gap, row_stochastic, stationary
from theorems.checker.exact import Draw
from theorems.statement import (
    Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, d = symbols_of("n d")
i, j, k, l, a, b, c, e, f = symbols_of("i j k l a b c e f")

P, pi, T, gap = array("P", n, n), array("pi", n), array("T", d, d), array("g", n, n)
G, F, F_inv, u = array("G", d, d), array("F", d, d), array("F^{-1}", d, d), array("u", d)
rows, law, positive = row_stochastic(P), stationary(pi, P), signed(pi, ">0")
imbalance, balance = flow_gap(pi, P, gap), balanced(pi, P, gap)
square = squares_to_identity(T)

X, Y = array("X", d, d), array("Y", d, d)
row_sums = [Sum(P[i, j] * side[a, b], (j, 1, n)) for side in (X, Y)]
in_rows = Step(
    id="in_rows", lhs=row_sums[0], rhs=row_sums[1], by=(equal_on_edges(P, X, Y),),
    because="Let P_ij X = P_ij Y for all i and j: with X = T^2 and Y = I that is (d), with "
    "X = T^T G T and Y = G it is (c) for one metric.",
)
on_edges = Iff(
    id="on_edges", left=(row_sums[0], row_sums[1]), right=(X[a, b], Y[a, b]), by=(rows,),
    because="Rows sum to 1, so X = Y; the converse is plain.",
)
own_metric = Definition(G[a, b], KroneckerDelta(a, b) + Sum(T[c, a] * T[c, b], (c, 1, d)))


def pulled_back(G: IndexedBase) -> Expr:
    """Entry (a, b) of T^T G T."""
    return Sum(T[c, a] * Sum(G[c, e] * T[e, b], (e, 1, d)), (c, 1, d))


invariant = Step(
    id="invariant", lhs=pulled_back(G), rhs=G[a, b], by=(own_metric, square),
    because="T^T (I + T^T T) T = T^T T + (T^2)^T T^2 = T^T T + I.",
)
definite = Bound(
    id="definite", small=Sum(u[a] ** 2, (a, 1, d)), by=(own_metric,),
    large=Sum(u[a] * G[a, b] * u[b], (a, 1, d), (b, 1, d)),
    certificate=Sum(Sum(T[c, a] * u[a], (a, 1, d)) ** 2, (c, 1, d)),
    because=r"$u^\top G u = |u|^2 + |T u|^2$, so G is positive definite.",
)

K = array("K", d, d)
difference = Definition(K[a, b], T[a, b] - T[b, a])
rigid, even = orthogonal_transport(T), symmetric_transport(T, K)
cube = Sum(Sum(T[c, a] * T[c, e], (c, 1, d)) * T[e, b], (e, 1, d))
one_way = Step(id="one_way", lhs=cube, rhs=T[a, b], by=(rigid,), because="(T^T T) T = T,")
other_way = Iff(
    id="other_way", left=(cube, T[a, b]), right=(T[b, a], T[a, b]), by=(square,),
    because="and T^T (T T) = T^T: if T^T T = T^2 = I, then T^T = T.",
)
without_skew = Step(
    id="without_skew", lhs=Sum(T[c, a] * T[c, b], (c, 1, d)), by=(difference, square),
    rhs=KroneckerDelta(a, b) - Sum(K[a, c] * T[c, b], (c, 1, d)),
    because="T^T T = T^2 - (T - T^T) T.",
)
orthogonal_back = Step(
    id="orthogonal_back", lhs=without_skew.lhs, rhs=KroneckerDelta(a, b), by=(even, without_skew),
    because="Conversely T = T^T = T^{-1} gives T^T T = I.",
)

squared = (Sum(T[a, c] * T[c, b], (c, 1, d)), KroneckerDelta(a, b))
gram = (Sum(T[c, a] * T[c, b], (c, 1, d)), KroneckerDelta(a, b))
rotation = Witness(
    id="rotation", values={T: [[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]]},
    holds=(gram,), fails=(squared,), because="A rotation by arccos 3/5.",
)
reflection = Witness(
    id="reflection", values={T: [[fmpq(3, 5), fmpq(4, 5)], [fmpq(4, 5), fmpq(-3, 5)]]},
    holds=(gram, squared), fails=((T[a, b], KroneckerDelta(a, b)),), because="A reflection.",
)
R, T_g = array("R", n, d, d), array("T", n, n, d, d)
turned = Definition(T_g[i, j, a, b], Sum(R[i, a, c] * R[j, b, c], (c, 1, d)))
gauge_inverse = Step(
    id="gauge_inverse", lhs=Sum(T_g[i, j, a, c] * T_g[j, i, c, b], (c, 1, d)),
    rhs=KroneckerDelta(a, b), by=(turned, orthogonal_frames(R)),
    because="R_i R_j^T R_j R_i^T = I.",
)
gauge_isometric = Step(
    id="gauge_isometric", lhs=Sum(T_g[i, j, c, a] * T_g[i, j, c, b], (c, 1, d)),
    rhs=KroneckerDelta(a, b), by=(turned, orthogonal_frames(R)),
    because="R_j R_i^T R_i R_j^T = I.",
)

gauge_varies = Witness(
    id="gauge_varies", by=(turned, orthogonal_frames(R)),
    values={R: [[[1, 0], [0, 1]], [[0, -1], [1, 0]]]},
    fails=((T_g[i, j, a, b], T_g[i, i, a, b]),
           (Sum(T_g[i, j, a, c] * T_g[i, j, c, b], (c, 1, d)), KroneckerDelta(a, b))),
    because="R_1 = I and a quarter turn R_2: T_12 is a quarter turn too, T_11 = I.",
)

H, Z, N, r = array("H", d, d), array("Z", n, n, d, d), array("N", d, d), array("r", d, d)
metric = Definition(G[a, b], Sum(F[e, a] * F[e, b], (e, 1, d)))
product = Definition(H[a, b], Sum(G[a, c] * T[c, b], (c, 1, d)))
asymmetry = Definition(N[a, b], H[a, b] - H[b, a])
skew = Definition(Z[i, j, a, b], pi[i] * P[i, j] * H[a, b] - pi[j] * P[j, i] * H[b, a])
commuting, invertible, nonzero = commutes(T, F, N), one_frame(F, F_inv), not_zero(T, r)


def _self_adjoint(draw: Draw) -> None:
    if balance.impose:
        balance.impose(draw)
    put_self_adjoint(draw, T, F)


self_adjoint_walk = Local("W is self-adjoint", r"$W$ is self-adjoint",
                          ((Z[i, j, a, b], Integer(0)),), _self_adjoint)
transposed_product = Step(
    id="transposed_product", lhs=Sum(T[c, a] * G[c, b], (c, 1, d)), rhs=H[b, a],
    by=(product, metric),
    because="T^T G = (G T)^T: W is self-adjoint iff Z_ij = pi_i P_ij G T - pi_j P_ji T^T G = 0.",
)
skew_split = Step(
    id="skew_split", lhs=Z[i, j, a, b], by=(skew, asymmetry, imbalance),
    rhs=gap[i, j] * H[a, b] + pi[j] * P[j, i] * N[a, b],
    because="Z_ij = (pi_i P_ij - pi_j P_ji) G T + pi_j P_ji (G T - T^T G).",
)
adjoint_back = Step(
    id="adjoint_back", lhs=Z[i, j, a, b], rhs=Integer(0),
    by=(balance, commuting, skew_split, transposed_product),
    because="If both gaps vanish, so does Z_ij.",
)
no_row = Step(
    id="no_row", lhs=Sum(Z[i, j, a, b], (j, 1, n)), rhs=Integer(0),
    by=(self_adjoint_walk, skew_split, transposed_product),
    because="Conversely let every Z_ij be 0. So is their sum over j,",
)
commuting_needed = Iff(
    id="commuting_needed", left=(no_row.lhs, Integer(0)), right=(N[a, b], Integer(0)),
    factor=pi[i], by=(skew, asymmetry, rows, law, positive),
    because="which is pi_i (G T - T^T G) by the row sums and pi P = pi.",
)
flow_times_product = Step(
    id="flow_times_product", lhs=gap[i, j] * H[a, b], by=(skew, asymmetry, imbalance),
    rhs=Z[i, j, a, b] - pi[j] * P[j, i] * N[a, b], because="The split, read for the other term.",
)
leave_metric = Step(
    id="leave_metric", lhs=T[a, b], by=(product, metric, invertible),
    rhs=Sum(F_inv[a, e] * Sum(F_inv[c, e] * H[c, b], (c, 1, d)), (e, 1, d)),
    because="T = G^{-1} (G T).",
)
no_flow = Step(
    id="no_flow", lhs=Sum(r[a, b] * gap[i, j] * T[a, b], (a, 1, d), (b, 1, d)), rhs=Integer(0),
    by=(self_adjoint_walk, no_row, commuting_needed, leave_metric, flow_times_product),
    because="So (pi_i P_ij - pi_j P_ji) T = 0,",
)
balance_needed = Iff(
    id="balance_needed", left=(no_flow.lhs, Integer(0)), right=(gap[i, j], Integer(0)),
    by=(nonzero,), because="and T is not 0.",
)

Phi = array("Phi", n, d, d)
isometric = common_isometry(P, T, Phi)


def node_metric(node: Symbol) -> Expr:
    """Entry (a, b) of G_node."""
    return Sum(Phi[node, e, a] * Phi[node, e, b], (e, 1, d))


path, twice = P[i, j] * P[j, k], array("Psi", n, d, d)
pulled_twice = Definition(
    twice[i, e, a], Sum(Phi[i, e, c] * Sum(T[c, f] * T[f, a], (f, 1, d)), (c, 1, d)))
two_steps = Step(
    id="two_steps", lhs=path * Sum(twice[i, e, a] * twice[i, e, b], (e, 1, d)),
    rhs=path * node_metric(i), by=(pulled_twice, square), because="T^2 = I leaves G_i,",
)
equal_metrics = Iff(
    id="equal_metrics", left=(two_steps.lhs, two_steps.rhs), by=(pulled_twice, isometric),
    right=(path * node_metric(k), path * node_metric(i)),
    because="and two edges i, j, k turn it into G_k; where i has a self-loop, j = i will do.",
)
turns = [[1, 1], [0, -1]]
bipartite = Witness(
    id="bipartite", by=(isometric, square), fails=((node_metric(i), node_metric(j)),),
    holds=((Sum(P[i, j], (j, 1, n)), Integer(1)),),
    values={P: [[0, 1], [1, 0]], T: turns, Phi: [[[1, 0], [0, 1]], turns]},
    because="On two nodes that only see each other G_1 = I and G_2 = T^T T differ.",
)

THEOREM = Theorem(
    id="CW6",
    title="Single-head attention as a connection Laplacian",
    clauses=(
        Clause("involution", r"For row-stochastic $P$: $P_{ij} X = P_{ij} Y$ for all $i, j$ iff "
               r"$X = Y$. So with $T_{ij} = T$: $T_{ji} = T_{ij}^{-1}$ on edges iff $T^2 = I$, and "
               r"for one prescribed $G$ also $T^\top G T = G$. Some $G$ always is: $T^2 = I$ gives "
               r"$T^\top G T = G$ for $G = I + T^\top T$; $u^\top G u \ge \lVert u \rVert^2$.",
               (in_rows, on_edges, invariant, definite)),
        Clause("orthogonal", r"$T^2 = I$ and $T^\top T = I$ iff $T = T^\top$ and $T^2 = I$.",
               (one_way, other_way, without_skew, orthogonal_back)),
        Clause("examples", r"A rotation has $T^\top T = I$ and $T^2 \ne I$; a reflection has both; "
               r"$T_{ij} = R_i R_j^\top$ with $R_i^\top R_i = R_i R_i^\top = I$ is isometric and "
               r"has $T_{ij} T_{ji} = I$, and need not be constant or have $T_{ij}^2 = I$.",
               (rotation, reflection, gauge_inverse, gauge_isometric, gauge_varies)),
        Clause("self_adjoint", r"Let $P 1 = 1$, $\pi P = \pi > 0$, $G = F^\top F$ with $F$ "
               r"invertible and $T \ne 0$: $W$ is self-adjoint iff $\pi_i P_{ij} = \pi_j P_{ji}$ "
               r"and $T^\top G = G T$.",
               (transposed_product, skew_split, adjoint_back, no_row, commuting_needed,
                flow_times_product, leave_metric, no_flow, balance_needed)),
        Clause("metrics", r"If $T^2 = I$ and $T^\top G_i T = G_j$ where $P_{ij} \ne 0$, "
               r"$G_i = F_i^\top F_i$: $G_k = G_i$ where $P_{ij} P_{jk} \ne 0$, for $j = i$ too; "
               r"on a bipartite graph they may differ.", (two_steps, equal_metrics, bipartite)),
        Clause("spectrum", r"If $P x = \lambda x$ and $T y = \mu y$, then "
               r"$(P \otimes T)(x \otimes y) = \lambda \mu \, x \otimes y$; "
               r"$(P \otimes T)^l = P^l \otimes T^l$ and $\mathrm{tr} (P \otimes T)^l = "
               r"\mathrm{tr} P^l \, \mathrm{tr} T^l$ for every $l$ (the claim on powers at level "
               r"$l$).", (kron.products, kron.first_power, kron.next_power, kron.powers,
                kron.traces)),
    ),
    mutants=(
        Mutant("isometric_is_enough", Step(
            id="on_edges", lhs=squared[0], rhs=squared[1], by=(rigid,), because="claimed"),
            "every orthogonal T gives a CW5 Laplacian, rotations too"),
        Mutant("every_involution_is_orthogonal", Step(
            id="orthogonal_back", lhs=gram[0], rhs=gram[1], by=(square,), because="claimed"),
            "T^2 = I is enough for G = I"),
        Mutant("own_metric_without_identity", invariant, "G = T^T T works", redefine=(
            Definition(G[a, b], Sum(T[c, a] * T[c, b], (c, 1, d))),)),
        Mutant("self_adjoint_is_bounded", Bound(
            id="adjoint_back", small=-Sum(pi[i] * P[i, j] * u[a] * H[a, b] * u[b], (i, 1, n),
                                          (j, 1, n), (a, 1, d), (b, 1, d)),
            large=Sum(pi[i] * u[a] * G[a, b] * u[b], (i, 1, n), (a, 1, d), (b, 1, d)),
            certificate=Sum(pi[i] * H[a, b] ** 2, (i, 1, n), (a, 1, d), (b, 1, d)),
            by=(balance, commuting, product, asymmetry, metric, imbalance, rows, positive,
                signed(P, ">=0")),
            because="claimed"), "self-adjoint gives a spectrum in [0, 2]"),
        Mutant("reversible_is_enough", adjoint_back, "without T^T G = G T", drop=(commuting,)),
        Mutant("commuting_is_enough", adjoint_back, "without reversibility", drop=(balance,)),
        Mutant("one_metric", Step(
            id="equal_metrics", lhs=P[i, j] * node_metric(j), rhs=P[i, j] * node_metric(i),
            by=(isometric, square), because="claimed"), "all metrics are equal"),
        Mutant("zero_transport", balance_needed, "T = 0 too", drop=(nonzero,)),
        Mutant("traces_add", replace(kron.traces, rhs=Sum(
            kron.P_l[i, i], (i, 1, n)) + Sum(kron.T_l[a, a], (a, 1, d))),
            "eigenvalues add"),
        Mutant("gauge_is_an_involution", replace(
            gauge_inverse, lhs=Sum(T_g[i, j, a, c] * T_g[i, j, c, b], (c, 1, d))),
            "every R_i R_j^T is an involution"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
    uses=("CW5",),
)
