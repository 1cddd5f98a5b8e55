"""AP8, log-Euclidean: positive definite matrices X = U diag(x) U^T as log X = U diag(log x) U^T.

Distances and means are those of the logarithms, so that the space is flat. It has the isometries
that are affine maps of the logarithms: rotations, scaling and inversion, and no other congruences.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import exponential, signed, sums_to_one
from theorems.attention_pairings.steps.rotations import orthogonal_matrix
from theorems.rules import Logarithm, Vanishing
from theorems.statement import Definition, Local, Step, array, symbols_of

m, d = symbols_of("m d")
j, a, b, c, e, f = symbols_of("j a b c e f")
U, O, X, A = (array(name, d, d) for name in ("U", "O", "X", "A"))
x, ell, y, log_y = (array(name, d) for name in ("x", r"\ell", "y", r"\ell'"))


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over rows or columns."""
    return Sum(entry, *((index, 1, d) for index in indices))


def spectral(basis: IndexedBase, values: IndexedBase) -> Expr:
    """Entry (a, b) of basis diag(values) basis^T."""
    return total(basis[a, c] * values[c] * basis[b, c], c)


basis, turn = orthogonal_matrix(U), orthogonal_matrix(O)
point, log_of = Definition(X[a, b], spectral(U, x)), Definition(A[a, b], spectral(U, ell))
U2 = array("U'", d, d)
moved_basis = Definition(U2[a, b], total(O[a, c] * U[c, b], c))
turned_basis = Step(
    id="turned_basis", lhs=total(U2[a, b] * U2[a, c], a), rhs=KroneckerDelta(b, c),
    by=(moved_basis, basis, turn), because=r"$(O U)^\top O U = I$.",
)
turned_point = Step(
    id="turned_point", lhs=total(O[a, c] * X[c, e] * O[b, e], c, e), rhs=spectral(U2, x),
    by=(point, moved_basis), because=r"$O X O^\top = O U \mathrm{diag}(x) (O U)^\top$.",
)
turned_log = Step(
    id="turned_log", lhs=spectral(U2, ell), rhs=total(O[a, c] * A[c, e] * O[b, e], c, e),
    by=(log_of, moved_basis), because=r"So $\log O X O^\top = O (\log X) O^\top$.",
)
log_scale, scale, log_scales = Symbol("g", real=True), array("gamma", d), array("g'", d)
scaled = Logarithm(
    id="scaled", left=(scale[a] * x[a], y[a]), logs=((scale, log_scales), (x, ell), (y, log_y)),
    by=(exponential(scale, log_scales), exponential(x, ell), exponential(y, log_y)),
    because="The logarithm of a product.",
)
scaled_log = Step(
    id="scaled_log", lhs=total(U[a, c] * (ell[c] + log_scale) * U[b, c], c),
    rhs=A[a, b] + log_scale * KroneckerDelta(a, b), by=(log_of, basis),
    because=r"$\log e^g X = \log X + g I$, as $U U^\top = I$.",
)
inverted = Logarithm(
    id="inverted", left=(x[a] * y[a], Integer(1)), logs=((x, ell), (y, log_y)),
    by=(exponential(x, ell), exponential(y, log_y)), because=r"$\log X^{-1} = - \log X$.",
)

# Distances and means of logarithms.
L, L2, w = array("L", m, d, d), array("L'", m, d, d), array("w", m)
B, B2, A2, M, C, t = (array(name, d, d) for name in ("B", "B'", "A'", "M", "C", "t"))
sigma = Symbol("sigma", real=True)
flip = Local("sigma is a sign", r"$\sigma^2 = 1$", ((sigma**2, Integer(1)),),
             lambda draw: draw.put(array("sigma"), (), draw.source.rng.choice((1, -1))))


def moved(log: Expr) -> Expr:
    """sigma O log O^T + g I."""
    return sigma * total(O[a, c] * log * O[b, e], c, e) + log_scale * KroneckerDelta(a, b)


images = Definition(A2[a, b], moved(A[c, e])), Definition(B2[a, b], moved(B[c, e]))
log_distance = Step(
    id="log_distance", lhs=total((A2[a, b] - B2[a, b]) ** 2, a, b),
    rhs=total((A[a, b] - B[a, b]) ** 2, a, b), by=(*images, turn, flip),
    because=r"$|\sigma O (A - B) O^\top|^2 = |A - B|^2$.",
)
log_mean_is, unit = Definition(M[a, b], Sum(w[j] * L[j, a, b], (j, 1, m))), sums_to_one(w)
log_mean = Step(
    id="log_mean", lhs=Sum(w[j] * L2[j, a, b], (j, 1, m)), rhs=moved(M[c, e]),
    by=(Definition(L2[j, a, b], moved(L[j, c, e])), log_mean_is, unit),
    because="An affine map passes through a mean.",
)


def spread(centre: IndexedBase) -> Expr:
    """sum_j w_j |centre - L_j|^2."""
    return Sum(w[j] * (centre[a, b] - L[j, a, b]) ** 2, (j, 1, m), (a, 1, d), (b, 1, d))


log_unique = Vanishing(
    id="log_unique", total=spread(C) - spread(M), part=t[a, b], over=((a, d), (b, d)), strict=True,
    by=(Definition(t[a, b], C[a, b] - M[a, b]), log_mean_is, unit),
    because=r"$\sum_j w_j |C - L_j|^2 = |C - M|^2 + \sum_j w_j |M - L_j|^2$.",
)

# The metric: log changes by f_ab (U^T H U)_ab, with the divided differences f_ab of log at x.
slopes, change, change2 = array("f", d, d), array("H", d, d), array("H'", d, d)


def seen(frame: IndexedBase, moving: IndexedBase) -> Expr:
    """Entry (a, b) of frame^T moving frame."""
    return total(frame[c, a] * moving[c, e] * frame[e, b], c, e)


moved_change = Definition(change2[a, b], total(O[a, c] * change[c, e] * O[b, e], c, e))
log_metric = Step(
    id="log_metric", lhs=slopes[a, b] * seen(U2, change2), rhs=slopes[a, b] * seen(U, change),
    by=(moved_basis, moved_change, turn),
    because=r"$(O U)^\top O H O^\top O U = U^\top H U$.",
)

# Mutant: g = diag(p, q) takes diag(x, y) to diag(p^2 x, q^2 y), and H_12 to p q H_12.
n = symbols_of("n")[0]
gap, gap2, slope, slope2 = (array(name, n) for name in ("h", "h'", "f", "f'"))
values = [array(name, n) for name in ("x", "y", "p", "q")]
logs = [array(name, n) for name in ("x_l", "y_l", "p_l", "q_l")]
X1, Y1, P1, Q1 = (one[j] for one in values)
x1, y1, p1, q1 = (one[j] for one in logs)
any_congruence = Step(
    id="log_metric", lhs=slope2[j] * P1 * Q1, rhs=slope[j], because="claimed",
    by=(*map(exponential, values, logs), Definition(gap[j], X1 - Y1),
        Definition(gap2[j], P1**2 * X1 - Q1**2 * Y1), signed(gap, ">0"), signed(gap2, ">0"),
        Definition(slope[j], x1 - y1, over=gap[j]),
        Definition(slope2[j], x1 + 2 * p1 - y1 - 2 * q1, over=gap2[j])),
)
