"""Softmax rows whose weights differ at most by the factor E share a part: what a layer contracts.

Without a mask any two rows share 1/E of their weight, so differences of tokens shrink by 1 - 1/E.
Under a causal mask every row gives the first token at least 1/(n E), and the second token sees
only the first and itself.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

from flint import fmpq
from sympy import Expr, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.matrices import norm_at_most
from theorems.checker.exact import Draw, SmallIntegers
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

n, m, d = symbols_of("n m d")
i, j, k, l, a, b, c = symbols_of("i j k l a b c")
KEYS, FEATURE = (j, 1, n), (a, 1, d)
half = Rational(1, 2)

e, Z, z, A = array("e", n, n), array("Z", n), array("zeta", n), array("A", n, n)
E, s, inverse, r, D = (Symbol(name, real=True) for name in ("E", "s", r"\eta", "r", "D"))
more, R, apart = array("mu", n, n, n), array("R", n, n), array("nu", n, n)
W, K, X, X2 = array("W", d, d), array("K", d, d), array("X", n, d), array("X'", n, d)

positive_e = signed(e, ">0")
row_total = Definition(Z[i], Sum(e[i, j], KEYS))
reciprocal = Definition(z[i], Integer(1), over=Z[i])
walk = Definition(A[i, j], e[i, j] * z[i])
excess, nonnegative_s = Definition(s, E - 1), signed(array("s"), ">=0")
positive_E = Bound(
    id="positive_E", small=Integer(0), large=E, certificate=1 + s, strict=True,
    by=(excess, nonnegative_s), because="$E = 1 + s$.",
)
e_inverse = Definition(inverse, Integer(1), over=E)
one_over = array("epsilon", n, n)
spread = Definition(more[i, j, k], E * e[i, j] - e[i, k])


def _wide_enough(draw: Draw) -> None:
    """In half of the searches E is the largest quotient of two weights."""
    if type(draw.source) is SmallIntegers and draw.source.rng.randrange(2):
        weights = [draw.get(str(e), cell) for cell in draw.cells(e)]
        if min(weights) > 0:
            draw.put(array(E.name), (), max(weights) * draw.source.inverse(min(weights)))


def _far_enough(draw: Draw) -> None:
    """In half of the searches D bounds all distances."""
    if type(draw.source) is SmallIntegers and draw.source.rng.randrange(2):
        rows = [[draw.get(str(X), (row, column)) for column in range(1, draw.size(d) + 1)]
                for row in range(1, draw.size(n) + 1)]
        squares = [sum((u - v) ** 2 for u, v in zip(one, other, strict=True))
                   for one in rows for other in rows]
        draw.put(array(D.name), (), fmpq(1 + isqrt(int(max(squares)))))


weights_within = Local("mu>=0", r"$e_{ik} \le E e_{ij}$", (), _wide_enough, ((more, ">=0"),))
at_least_one = Bound(
    id="at_least_one", small=Integer(0), large=E, strict=True,
    certificate=1 + one_over[i, j] * more[i, j, j],
    by=(Definition(one_over[i, j], Integer(1), over=e[i, j]), spread, weights_within, positive_e),
    because=r"$e_{ij} \le E e_{ij}$, so $E \ge 1$.",
)
mean = Definition(r, Integer(1), over=n)
folded = Step(id="folded", lhs=Sum(e[i, j], KEYS), rhs=Z[i], by=(row_total,), because="The total.")
ONE_ROW = (walk, spread, e_inverse, mean, folded, reciprocal)
lower = Bound(
    id="lower", small=inverse * r, large=A[i, j],
    certificate=r * inverse * z[i] * Sum(more[i, j, k], (k, 1, n)),
    by=(*ONE_ROW, at_least_one, weights_within, positive_e),
    because=r"$1 = \sum_k A_{ik} \le n E A_{ij}$.",
)
beyond = Definition(R[i, j], A[i, j] - inverse * r)
parted = Step(id="parted", lhs=A[i, j], rhs=R[i, j] + inverse * r, by=(beyond,),
              because="$R$ is what a row has beyond the common part.")
beyond_sum = Step(
    id="beyond_sum", lhs=Sum(R[i, j], KEYS), rhs=1 - inverse,
    by=(beyond, walk, folded, reciprocal, mean, positive_e), because="Rows of A sum to 1.",
)
short = norm_at_most(W, K)
near = Definition(apart[j, l], D**2 - Sum((X[j, a] - X[l, a]) ** 2, FEATURE))
diameter = replace(signed(apart, ">=0"), text=r"$|x_j - x_l| \le D$", impose=_far_enough)
layer = Definition(X2[i, b], Sum(A[i, j] * W[b, a] * X[j, a], KEYS, FEATURE))
step = array("Delta", n, n, d)
stepped = Definition(step[i, k, b], X2[i, b] - X2[k, b])
common_drops_out = Step(
    id="common_drops_out", lhs=step[i, k, b], by=(stepped, layer, parted),
    rhs=Sum((R[i, j] - R[k, j]) * W[b, a] * X[j, a], KEYS, FEATURE),
    because="Two rows of A differ by those of R.",
)


def differences(one: Expr, other: Expr, slack: Expr, norm: Expr) -> Expr:
    """What (norm * total * D)^2 exceeds |W sum_j (p_j - q_j) x_j|^2 by, for weights p = one[j] and
    q = other[l] of equal totals; slack[j, l] = D^2 - |x_j - x_l|^2."""
    square = Sum((X[j, a] - X[l, a]) ** 2, FEATURE)
    pairs = [(one(j) * one(l), square), (other(j) * other(l), square)]
    inner = sum(Sum(pair * what, KEYS, (l, 1, n)) for pair, what in pairs)
    across = Sum(one(j) * other(l) * slack, KEYS, (l, 1, n))
    seen = Sum((one(j) - other(j)) * K[c, a] * X[j, a], KEYS, FEATURE)
    return norm**2 * (across + half * inner) + Sum(seen**2, (c, 1, d))


def squared(token: Expr, other: Expr) -> Expr:
    """|token - other|^2, given by entries b."""
    return Sum((token - other) ** 2, (b, 1, d))


contracts = Bound(
    id="contracts", small=Sum(step[i, k, b] ** 2, (b, 1, d)), large=((1 - inverse) * D) ** 2,
    certificate=differences(lambda t: R[i, t], lambda t: R[k, t], apart[j, l], Integer(1)),
    by=(common_drops_out, beyond_sum, short, near, diameter, beyond, lower),
    because=r"For weights p, q of equal totals t: $|\sum_j (p_j - q_j) x_j|^2 = \sum_{jl} p_j q_l "
    r"|x_j - x_l|^2 - \frac12 \sum_{jl} (p_j p_l + q_j q_l) |x_j - x_l|^2 \le t^2 D^2$.",
)

o, o2, o_e = array("o", d), array("o'", d), array("e_o", n)
c_o, far, off = array("A_o", n), array("nu_o", n), array("mu_o", n, n)
nonnegative_e, positive_first = signed(e, ">=0"), signed(o_e, ">0")
causal_total = Definition(Z[i], o_e[i] + Sum(e[i, j], KEYS))
first_weight = Definition(c_o[i], o_e[i] * z[i])
causal_spread = Definition(off[i, j], E * o_e[i] - e[i, j])
causal_within = Local("mu_o>=0", r"$e_{ij} \le E e_{io}$", signs=((off, ">=0"),))
other_part = Step(id="other_part", lhs=o_e[i], rhs=Z[i] - Sum(e[i, j], KEYS), by=(causal_total,),
                  because="The total.")
first_share = Step(
    id="first_share", lhs=o_e[i] * z[i], rhs=1 - Sum(e[i, j] * z[i], KEYS),
    by=(other_part, reciprocal, positive_first, nonnegative_e), because="The row sums to 1.",
)
first_gets = Bound(
    id="first_gets", small=Integer(1), large=(n + 1) * E * c_o[i],
    certificate=z[i] * (Sum(off[i, j], KEYS) + s * o_e[i]),
    by=(first_weight, causal_spread, first_share, excess, nonnegative_s, causal_within,
        reciprocal, causal_total, positive_first, nonnegative_e),
    because="The row sums to 1, and none of its weights exceeds E times that of the first token.",
)
of_first = Step(
    id="of_first", lhs=c_o[i], rhs=1 - Sum(A[i, j], KEYS), by=(first_weight, walk, first_share),
    because="What is left goes to the others.",
)
moved_first = Definition(o2[b], Sum(W[b, a] * o[a], FEATURE))
moved_rest = Definition(X2[i, b], Sum(W[b, a] * c_o[i] * o[a], FEATURE)
                        + Sum(A[i, j] * W[b, a] * X[j, a], KEYS, FEATURE))
radius = Definition(far[j], D**2 - Sum((X[j, a] - o[a]) ** 2, FEATURE))
near_first = Local("nu_o>=0", r"$|x_j - x_1| \le D$", signs=((far, ">=0"),))
from_first = Bound(
    id="from_first", small=Sum((X[j, a] - X[l, a]) ** 2, FEATURE), large=(2 * D) ** 2,
    certificate=2 * far[j] + 2 * far[l] + Sum((X[j, a] + X[l, a] - 2 * o[a]) ** 2, FEATURE),
    by=(radius, near_first), because="The parallelogram law.",
)
nonnegative_A = Bound(
    id="nonnegative_A", small=Integer(0), large=A[i, j], certificate=e[i, j] * z[i],
    by=(walk, reciprocal, causal_total, positive_first, nonnegative_e), because="Weights.",
)
causal = Bound(
    id="causal", small=squared(X2[i, b], o2[b]), large=((1 - c_o[i]) * D) ** 2,
    certificate=Sum(A[i, j], KEYS) * Sum(A[i, j] * far[j], KEYS)
    + half * Sum(A[i, j] * A[i, l] * Sum((X[j, a] - X[l, a]) ** 2, FEATURE), KEYS, (l, 1, n))
    + Sum(Sum(A[i, j] * K[c, a] * (X[j, a] - o[a]), KEYS, FEATURE) ** 2, (c, 1, d)),
    by=(moved_first, moved_rest, radius, of_first, short, near_first, nonnegative_A),
    because="The first token drops out of the difference from it, and Cauchy-Schwarz does the "
    "rest.",
)

both, share = Symbol("Z_2", real=True), Symbol(r"\zeta_2", real=True)
second_total = Definition(both, 1 + E)
second_share = Definition(share, Integer(1), over=both)
own = Step(id="own", lhs=E, rhs=both - 1, by=(second_total,), because="The total.")
own_share = Step(
    id="own_share", lhs=E * share, rhs=1 - share, by=(own, second_share, positive_E),
    because="Scores 0 for itself and -B for the first token: weights E and 1.",
)
y = array("y", d)
second = Step(
    id="second", lhs=share * (o[a] + E * y[a]) - o[a], rhs=(1 - share) * (y[a] - o[a]),
    by=(own_share,), because=r"$A_{22} = E / (E + 1) = 1 - 1 / (E + 1)$.",
)
comparable = Bound(
    id="comparable", small=E, large=both, certificate=Integer(1), strict=True, by=(second_total,),
    because="$1 / (E + 1) < 1 / E$.",
)
