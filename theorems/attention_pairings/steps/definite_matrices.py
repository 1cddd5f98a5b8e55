"""AP8 on positive definite matrices: the affine-invariant distance, and the arithmetic mean.

Two of them are Q = B^T B and K = B^T diag(lambda) B with one invertible B; lambda are the
eigenvalues of Q^{-1} K, and the squared distance is the sum of the squares of their logarithms.
"""

from __future__ import annotations

from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import exponential, right_inverse, signed
from theorems.rules import Logarithm, Vanishing
from theorems.statement import Definition, Step, array, symbols_of

m, d = symbols_of("m d")
j, a, b, c, e, f, p = symbols_of("j a b c e f p")
B, V, g, h = (array(name, d, d) for name in ("B", "V", "g", "h"))
Q, K, Q2, K2, V2 = (array("Q", d, d), array("K", d, d), array("Q'", d, d), array("K'", d, d),
                    array("V'", d, d))
lam, mu, log_lam, log_mu = (array(name, d) for name in ("lambda", "mu", r"\ell", r"\ell'"))


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(entry, *((index, 1, d) for index in indices))


frame, group = right_inverse(B, V), right_inverse(g, h)
pair = (Definition(Q[a, b], total(B[c, a] * B[c, b], c)),
        Definition(K[a, b], total(B[c, a] * lam[c] * B[c, b], c)))
moved_pair = (Definition(Q2[a, b], total(g[a, c] * Q[c, e] * g[b, e], c, e)),
              Definition(K2[a, b], total(g[a, c] * K[c, e] * g[b, e], c, e)))
moved_frame = Definition(V2[a, b], total(h[c, a] * V[c, b], c))
eigenvalues = Step(
    id="eigenvalues", lhs=total(K[a, b] * V[b, c], b), rhs=total(Q[a, b] * V[b, c] * lam[c], b),
    by=(*pair, frame), because=r"With $V = B^{-1}$: $K V = B^\top \Lambda = Q V \Lambda$.",
)
congruence = Step(
    id="congruence", lhs=total(K2[a, b] * V2[b, c], b),
    rhs=total(Q2[a, b] * V2[b, c] * lam[c], b), by=(*moved_pair, moved_frame, *pair, group, frame),
    because=r"$g K g^\top g^{-\top} V = g Q g^\top g^{-\top} V \Lambda$.",
)
inverse_Q, inverse_K = array("Q_i", d, d), array("K_i", d, d)
inverses = (Definition(inverse_Q[a, b], total(V[a, c] * V[b, c], c)),
            Definition(inverse_K[a, b], total(V[a, c] * mu[c] * V[b, c], c)))
reciprocal, positive = Definition(mu[c], Integer(1), over=lam[c]), signed(lam, ">0")
inverse_of_Q = Step(
    id="inverse_of_Q", lhs=total(Q[a, b] * inverse_Q[b, c], b), rhs=KroneckerDelta(a, c),
    by=(pair[0], inverses[0], frame), because=r"$B^\top B V V^\top = I$.",
)
inverse_of_K = Step(
    id="inverse_of_K", lhs=total(K[a, b] * inverse_K[b, c], b), rhs=KroneckerDelta(a, c),
    by=(pair[1], inverses[1], frame, reciprocal, positive),
    because=r"$B^\top \Lambda B V \Lambda^{-1} V^\top = I$.",
)
inversion = Step(
    id="inversion", lhs=total(inverse_K[a, b] * B[c, b], b),
    rhs=total(inverse_Q[a, b] * B[c, b] * mu[c], b), by=(*inverses, frame),
    because=r"$K^{-1} B^\top = V \Lambda^{-1} = Q^{-1} B^\top \Lambda^{-1}$.",
)
log_inverse = Logarithm(
    id="log_inverse", left=(lam[c] * mu[c], Integer(1)), logs=((lam, log_lam), (mu, log_mu)),
    by=(exponential(lam, log_lam), exponential(mu, log_mu)),
    because=r"$\log \frac{1}{\lambda} = - \log \lambda$: the squares agree.",
)

# The arithmetic mean.
w, Y, Y2, F, G = (array("w", m), array("Y", m, d, d), array("Y'", m, d, d), array("F", m, d, d),
                  array("G", m, d, d))
M, x, z = array("M", d, d), array("x", d), array("z", m, d)
positive_w = signed(w, ">0")
mean_is = Definition(M[a, b], Sum(w[j] * Y[j, a, b], (j, 1, m)))
moved_values = Definition(Y2[j, a, b], total(g[a, c] * Y[j, c, e] * g[b, e], c, e))
values_are = Definition(Y[j, a, b], total(F[j, c, a] * F[j, c, b], c))
invertible_values = right_inverse(F, G)
seen = Definition(z[j, a], total(F[j, a, b] * x[b], b))
arithmetic = Step(
    id="arithmetic", lhs=Sum(w[j] * Y2[j, a, b], (j, 1, m)),
    rhs=total(g[a, c] * M[c, e] * g[b, e], c, e), by=(moved_values, mean_is),
    because="A congruence is linear in the matrix.",
)
definite = Vanishing(
    id="definite", total=total(x[a] * M[a, b] * x[b], a, b), part=z[j, a], weight=w[j],
    over=((j, m), (a, d)), strict=True, by=(seen, mean_is, values_are, positive_w),
    because=r"$x^\top M x = \sum_j w_j |F_j x|^2$.",
)
no_kernel = Step(
    id="no_kernel", lhs=x[a], rhs=total(G[j, a, b] * z[j, b], b), by=(seen, invertible_values),
    because=r"$x = F_j^{-1} F_j x$.",
)

# The tangent readout at Q = B^T B is B^T T B with T = exp sum_j w_j log (V^T Y_j V).
T, B2 = array("T", d, d), array("B'", d, d)
moved_root = Definition(B2[a, b], total(B[a, c] * g[b, c], c))
root_of_image = Step(
    id="root_of_image", lhs=total(B2[c, a] * B2[c, b], c), rhs=Q2[a, b],
    by=(moved_root, moved_pair[0], pair[0]), because=r"$(B g^\top)^\top B g^\top = g Q g^\top$.",
)
inverse_of_image = Step(
    id="inverse_of_image", lhs=total(B2[a, c] * V2[c, b], c), rhs=KroneckerDelta(a, b),
    by=(moved_root, moved_frame, group, frame), because=r"$B g^\top g^{-\top} V = I$.",
)
whitened = Step(
    id="whitened", lhs=total(V2[c, a] * Y2[j, c, e] * V2[e, b], c, e),
    rhs=total(V[c, a] * Y[j, c, e] * V[e, b], c, e), by=(moved_frame, moved_values, group),
    because=r"$V^\top g^{-1} g Y_j g^\top g^{-\top} V$.",
)
coloured = Step(
    id="coloured", lhs=total(B2[c, a] * T[c, e] * B2[e, b], c, e), by=(moved_root,),
    rhs=total(g[a, c] * total(B[e, c] * T[e, p] * B[p, f], e, p) * g[b, f], c, f),
    because=r"$(B g^\top)^\top T B g^\top = g B^\top T B g^\top$.",
)

# Mutant: the mean of the inverses.
inverse_Y = array("Y_i", m, d, d)
inverse_values = Definition(inverse_Y[j, a, b], total(G[j, a, c] * G[j, b, c], c))
mean_of_inverses = Sum(w[j] * inverse_Y[j, b, f], (j, 1, m))
