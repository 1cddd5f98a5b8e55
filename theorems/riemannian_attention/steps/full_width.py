"""The rank of scores with any metrics is at most n, and at most N = C(d+2, 2).

C(d+1, 2) matrices B_q with dual matrices C_q span the symmetric matrices: the sum of <C_q, M> B_q
is the symmetric part of M.
"""

from __future__ import annotations

from itertools import product

from flint import fmpq
from sympy import IndexedBase, Integer, KroneckerDelta, Rational, Sum

from theorems.checker.exact import Draw, Rejected
from theorems.assumptions.widths import side_by_side, total_width
from theorems.statement import Definition, Local, RankBound, Step, array, symbols_of

n, d, g, w = symbols_of("n d g w")
i, j, k, a, b, h, l, p, q, t = symbols_of("i j k a b h l p q t")
half = Rational(1, 2)

x, G, S = array("x", n, d), array("G", n, d, d), array("S", n, n)
B, C = array("B", g, d, d), array("C", g, d, d)


def _fill(draw: Draw, basis: IndexedBase, dual: IndexedBase) -> None:
    """e_a e_a^T and e_a e_b^T + e_b e_a^T for a < b; g is their number."""
    size, number = draw.size(basis.shape[1]), str(basis.shape[0])
    pairs = [(r, s) for r in range(1, size + 1) for s in range(r, size + 1)]
    if draw.sizes.setdefault(number, len(pairs)) != len(pairs):
        raise Rejected(f"{number} is not the number of pairs")
    for (place, (r, s)), row, column in product(
        enumerate(pairs, start=1), range(1, size + 1), range(1, size + 1)
    ):
        inside = int((row, column) in ((r, s), (s, r)))
        draw.put(basis, (place, row, column), inside)
        draw.put(dual, (place, row, column), inside if r == s else inside * fmpq(1, 2))


symmetric_part = half * (KroneckerDelta(a, h) * KroneckerDelta(b, l)
                         + KroneckerDelta(a, l) * KroneckerDelta(b, h))
spans_symmetric = Local(
    "B spans", r"$\sum_q (C_q)_{hl} B_q$ is the symmetric part of $e_h e_l^\top$: the matrices "
    "$B_q$ span the symmetric ones",
    ((Sum(B[q, a, b] * C[q, h, l], (q, 1, g)), symmetric_part),), lambda draw: _fill(draw, B, C),
)
independent_basis = Local(
    "B independent", r"$\langle B_q, C_p \rangle = \delta_{qp}$: the matrices $B_q$ are "
    "independent",
    ((Sum(B[q, a, b] * C[p, a, b], (a, 1, d), (b, 1, d)), KroneckerDelta(q, p)),),
    lambda draw: _fill(draw, B, C),
)

scores = Definition(S[i, j], -half * Sum(
    (x[i, a] - x[j, a]) * G[i, a, b] * (x[i, b] - x[j, b]), (a, 1, d), (b, 1, d)))
J_1, J_d, J_g = array("J_1", w), array("J_d", w, d), array("J_g", w, g)
Phi, Psi = array("Phi", n, w), array("Psi", n, w)
alpha, beta = array("alpha", n), array("beta", n, d)
gamma, y = array("gamma", n, g), array("y", n, g)
features = (
    Definition(alpha[i], Sum(x[i, a] * G[i, a, b] * x[i, b], (a, 1, d), (b, 1, d))),
    Definition(beta[i, a], half * Sum((G[i, a, b] + G[i, b, a]) * x[i, b], (b, 1, d))),
    Definition(gamma[i, q], Sum(C[q, a, b] * G[i, a, b], (a, 1, d), (b, 1, d))),
    Definition(y[j, q], Sum(x[j, a] * B[q, a, b] * x[j, b], (a, 1, d), (b, 1, d))),
    Definition(Phi[i, p], Sum(J_d[p, a] * beta[i, a], (a, 1, d)) - half * J_1[p] * alpha[i]
               - half * Sum(J_g[p, q] * gamma[i, q], (q, 1, g))),
    Definition(Psi[j, p], J_1[p] + Sum(J_d[p, a] * x[j, a], (a, 1, d))
               + Sum(J_g[p, q] * y[j, q], (q, 1, g))),
)
width = RankBound(
    id="width", small=(S[i, j], (i, n), (j, n)), large=(Phi[i, p], (i, n), (p, w)),
    after=(Psi[j, p], (p, w), (j, n)),
    by=(scores, *features, side_by_side(J_1, J_d, J_g), spans_symmetric),
    because=r"Side by side $1$, the $x_{ja}$ and the $x_j^\top B_q x_j$ are the key features.",
)
whole, parted = total_width("width", J_1, J_d, J_g)
trace = Sum(B[q, a, b] * C[q, a, b], (q, 1, g), (a, 1, d), (b, 1, d))
trace_of_projection = Step(
    id="trace_of_projection", lhs=trace, rhs=half * (d**2 + d), by=(spans_symmetric,),
    because="The trace of the map from matrices to their symmetric parts.",
)
number_of_matrices = Step(
    id="number_of_matrices", lhs=trace, rhs=g, by=(independent_basis,),
    because="Each of the g matrices counts 1, so $g = d (d + 1) / 2$.",
)
tokens = RankBound(
    id="tokens", small=(S[i, j], (i, n), (j, n)), large=(KroneckerDelta(i, k), (i, n), (k, n)),
    after=(S[k, j], (k, n), (j, n)), because="The identity of size n stands before every S.",
)
one_token = Step(
    id="one_token", lhs=S[i, i], rhs=Integer(0), by=(scores,),
    because="A token is at distance 0 from itself.",
)
