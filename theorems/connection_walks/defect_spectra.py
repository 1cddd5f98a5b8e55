"""CW13. Spectra from the defects of reversibility and of inverse symmetry."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, Rational, Sum

from theorems.assumptions.entries import signed
from theorems.connection_walks.steps import numerical_range as rng
from theorems.assumptions.metric_walk import (
    POSITIVE, WALK, F, P, T, a, b, c, d, generator, gram, i, inner, invertible, isometry, j, n, pi,
    u, v,
)
from theorems.assumptions.metrics import applied
from theorems.connection_walks.steps.self_adjointness import B, framed, turns
from theorems.statement import Bound, Clause, Definition, Mutant, Step, Theorem, array

t, s, A, x, y = (array("t", n), array("s", n), array("A", n, n, d, d), array("x", n, d),
                 array("y", n, d))
flow = array("h", n, n)
positive_t = signed(t, ">0")
root, reciprocal = Definition(pi[i], t[i] ** 2), Definition(s[i], Integer(1), over=t[i])
normalised_flow = Definition(flow[i, j], t[i] * P[i, j] * s[j])
matrix = Definition(A[i, j, a, b], flow[i, j] * B[i, j, a, b])


def coordinates(z: IndexedBase, w: IndexedBase) -> Definition:
    """z_i = sqrt(pi_i) F_i w_i."""
    return Definition(z[i, a], t[i] * Sum(F[i, a, c] * w[i, c], (c, 1, d)))


isometric_coordinates = Step(
    id="isometric_coordinates", lhs=inner(v, u[i, b]),
    rhs=Sum(x[i, a] * y[i, a], (i, 1, n), (a, 1, d)),
    by=(gram, root, coordinates(x, v), coordinates(y, u)),
    because="<v, u> is the dot product of the coordinates sqrt(pi_i) F_i v_i and "
    "sqrt(pi_i) F_i u_i.",
)
same_operator = Step(
    id="same_operator", lhs=Sum(A[i, j, a, b] * y[j, b], (j, 1, n), (b, 1, d)),
    rhs=t[i] * Sum(F[i, a, c] * applied(P, T, u, i, c), (c, 1, d)),
    by=(matrix, normalised_flow, framed, coordinates(y, u), reciprocal, invertible, positive_t),
    because="A with the blocks h_ij B_ij takes the coordinates of u to those of W u.",
)
adjoint_matrix = Step(
    id="adjoint_matrix", lhs=inner(v, applied(P, T, u, i, b)),
    rhs=Sum(y[j, b] * A[i, j, a, b] * x[i, a], (i, 1, n), (j, 1, n), (a, 1, d), (b, 1, d)),
    by=(matrix, normalised_flow, framed, gram, root, coordinates(x, v), coordinates(y, u),
        reciprocal, invertible, positive_t),
    because=r"$\langle v, W u \rangle = \langle A^\top x, y \rangle$: the adjoint of W is A^T, and "
    r"$\lVert W - W^* \rVert_{HS} = \lVert A - A^\top \rVert_F$.",
)


def energy(sign: int) -> Expr:
    """sum_ij pi_i P_ij |u_i + sign T_ij u_j|^2_{G_i}."""
    moved = sign * Sum(T[i, j, a, b] * u[j, b], (b, 1, d))
    part = Sum(F[i, c, a] * (u[i, a] + moved), (a, 1, d))
    return Sum(pi[i] * P[i, j] * part**2, (i, 1, n), (j, 1, n), (c, 1, d))


half = Rational(1, 2)
form_nonnegative = Bound(
    id="form_nonnegative", small=Integer(0), large=inner(u, generator(u)),
    certificate=half * energy(-1), by=(*WALK, *POSITIVE), because="The energy of CW5.",
)
form_below_two = Bound(
    id="form_below_two", small=inner(u, generator(u)), large=2 * inner(u, u[i, b]),
    certificate=half * energy(1), by=(*WALK, *POSITIVE),
    because="<u, (2 - L) u> is the energy with u_i + T_ij u_j: the extreme eigenvalues of "
    "I - (W + W*)/2 lie in [0, 2].",
)

defect = Sum((A[i, j, a, b] - A[j, i, b, a]) ** 2, (i, 1, n), (j, 1, n), (a, 1, d), (b, 1, d))
unbalanced = d * (flow[i, j] - flow[j, i]) ** 2
untransposed = Sum((B[i, j, a, b] - B[j, i, b, a]) ** 2, (a, 1, d), (b, 1, d))
hilbert_schmidt = Step(
    id="hilbert_schmidt", lhs=defect, by=(matrix, normalised_flow, turns),
    rhs=Sum(unbalanced + flow[i, j] * flow[j, i] * untransposed, (i, 1, n), (j, 1, n)),
    because=r"$\lVert B_{ij} \rVert_F^2 = d$ on edges, and the mixed terms agree: the defects of "
    "(b) and (d).",
)

THEOREM = Theorem(
    id="CW13",
    title="Spectra from the defects of reversibility and of inverse symmetry",
    clauses=(
        Clause("coordinates", r"With $\pi_i = t_i^2$, $t > 0$ and $G_i = F_i^\top F_i$, $F_i$ "
               r"invertible: $x_i = t_i F_i v_i$ are orthonormal coordinates for "
               r"$\langle u, v \rangle_{\pi, G}$, in which $W$ is the matrix $A$ with blocks "
               r"$h_{ij} B_{ij}$, $h_{ij} = t_i P_{ij} / t_j$, $B_{ij} = F_i T_{ij} F_j^{-1}$, and "
               r"its adjoint is $A^\top$.",
               (isometric_coordinates, same_operator, adjoint_matrix)),
        Clause("imaginary", r"If $A (p + i q) = (\alpha + i \beta)(p + i q)$, "
               r"$\lVert p \rVert^2 + \lVert q \rVert^2 = 1$ and "
               r"$\lVert (A - A^\top) q \rVert \le \kappa \lVert q \rVert$, then "
               r"$4 \beta^2 \le \kappa^2$.", (rng.pairing, rng.imaginary)),
        Clause("real", r"If $A (p + i q) = (\alpha + i \beta)(p + i q)$, "
               r"$\lVert p \rVert^2 + \lVert q \rVert^2 = 1$ and $\nu \lVert v \rVert^2 \le "
               r"\langle v, A v \rangle \le \mu \lVert v \rVert^2$ for $v = p, q$, then "
               r"$\nu \le \alpha \le \mu$.", (rng.mean, rng.real_above, rng.real_below)),
        Clause("range", r"If $P 1 = 1$, $\pi P = \pi$, $T_{ij}^\top G_i T_{ij} = G_j$ where "
               r"$P_{ij} \ne 0$, $P \ge 0$ and $\pi > 0$: $0 \le \langle u, L u \rangle_{\pi, G} "
               r"\le 2 \langle u, u \rangle_{\pi, G}$.", (form_nonnegative, form_below_two)),
        Clause("defects", r"If $T_{ij}^\top G_i T_{ij} = G_j$ where $P_{ij} \ne 0$, "
               r"$G_i = F_i^\top F_i$ with $F_i$ invertible: $\lVert A - A^\top \rVert_F^2 = "
               r"\sum_{ij} d (h_{ij} - h_{ji})^2 + h_{ij} h_{ji} "
               r"\lVert B_{ij} - B_{ji}^\top \rVert_F^2$.", (hilbert_schmidt,)),
    ),
    mutants=(
        Mutant("quarter", replace(rng.imaginary, small=16 * rng.beta**2),
               "|Im lambda| <= |W - W*| / 4"),
        Mutant("zero_vector", rng.imaginary, "p + iq = 0 is an eigenvector too",
               drop=(rng.unit_pair,)),
        Mutant("any_slope", rng.real_above, "Re lambda <= mu for any mu", drop=(rng.upper[0],)),
        Mutant("without_isometry", form_nonnegative, "Re lambda(L) >= 0 for any transports",
               drop=(isometry,)),
        Mutant("without_stationarity", form_below_two, "Re lambda(L) <= 2 for any weights",
               drop=(WALK[0],)),
        Mutant("only_imbalance", replace(
            hilbert_schmidt, rhs=Sum(unbalanced, (i, 1, n), (j, 1, n))),
            "the defect of reversibility is all"),
        Mutant("no_dimension", replace(hilbert_schmidt, rhs=Sum(
            (flow[i, j] - flow[j, i]) ** 2 + flow[i, j] * flow[j, i] * untransposed,
            (i, 1, n), (j, 1, n))), "without the factor d"),
        Mutant("not_orthogonal", hilbert_schmidt, "for any transports", drop=(isometry,)),
        Mutant("not_transposed", replace(hilbert_schmidt, rhs=Sum(
            unbalanced + flow[i, j] * flow[j, i] * Sum(
                (B[i, j, a, b] - B[j, i, a, b]) ** 2, (a, 1, d), (b, 1, d)),
            (i, 1, n), (j, 1, n))), "B_ij - B_ji for B_ij - B_ji^T"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "I. Bendixson, Sur les racines d'une equation fondamentale, Acta Mathematica 25, 1902",
    ),
    uses=("CW5",),
)
