"""Row spreads of geodesic scores, how they are realised by one metric, and what keeps the mean."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, signed, sums_to_one
from theorems.assumptions.matrices import norm_at_most
from theorems.riemannian_attention.steps.shared_weights import (
    D, E, X, apart, diameter, near, own_share, share,
)
from theorems.riemannian_attention.steps.token_clusters import g, split
from theorems.rules import Logarithm
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c = symbols_of("i j k a b c")
half = Rational(1, 2)

F, H, S = array("F", n, d, d), array("H", n, d, d), array("S", n, n)
root = Symbol(r"\gamma", real=True)


def along(token: Expr, other: Expr, matrix: IndexedBase) -> Expr:
    """|M_i (x_i - x_j)|^2."""
    step = X[token, a] - X[other, a]
    return Sum(Sum(matrix[token, c, a] * step, (a, 1, d)) ** 2, (c, 1, d))


own, other = (Symbol(name, real=True) for name in (r"\alpha", r"\beta"))
remaining = Definition(other, 1 - own)
mixed = tuple(signed(array(symbol.name), ">=0") for symbol in (own, other))


def scored(token: Expr, key: Expr, matrix: IndexedBase) -> Expr:
    """alpha |M_i (x_i - x_j)|^2 + beta |M_j (x_i - x_j)|^2."""
    return own * along(token, key, matrix) + other * along(key, token, matrix)


score = Definition(S[i, j], -half * scored(i, j, F))
limited = norm_at_most(F, H, root)
spread = Bound(
    id="spread", small=S[i, k] - S[i, j], large=half * root**2 * D**2,
    certificate=half * (scored(i, k, F) + scored(i, j, H) + root**2 * apart[i, j]),
    by=(limited, score, near, remaining, diameter, *mixed),
    because=r"Scores are at most 0, and at least $-\frac12 \gamma^2 D^2$.",
)

lam, B, o, h = (Symbol(name, real=True) for name in (r"\lambda", "B", "o^2", "h"))
v, common = array("v", d), array("c", d)
separate = signed(array("o^2"), ">0")
between = Definition(o, h**2 * Sum(v[a] ** 2, (a, 1, d)))
scale = Definition(lam, 2 * B, over=o)
clusters = Definition(X[i, a], common[a] + h * g[i] * v[a])
width = Step(id="width", lhs=h**2 * Sum(v[a] ** 2, (a, 1, d)), rhs=o, by=(between,),
             because="The squared distance of the clusters.")
realised = Step(
    id="realised", lhs=-half * lam * Sum((X[i, a] - X[j, a]) ** 2, (a, 1, d)),
    rhs=-B * (g[i] + g[j] - 2 * g[i] * g[j]), by=(clusters, split, width, scale, separate),
    because=r"Scores of the metric $\lambda I$: 0 inside a cluster, $-\frac12 \lambda |h v|^2 = "
    "-B$ across.",
)

below, rise, most = (array(name, n) for name in ("lambda", "zeta", "E"))
levels, gap, top = (array(name, n) for name in ("eta", "theta", "B"))
excess = Logarithm(
    id="excess", left=(rise[k] * below[k], most[k]),
    logs=((rise, gap), (below, levels), (most, top)),
    by=(exponential(rise, gap), exponential(below, levels), exponential(most, top)),
    because=r"$\zeta l = e^B$ iff $\log \zeta = B - \log l$.",
)

A, X2 = array("A^T", n, n), array("X'", n, d)
columns = sums_to_one(A)
rows = Local("rows of A sum to 1", "the rows of $A$ sum to 1",
             ((Sum(A[j, i], (j, 1, n)), Integer(1)),))
moved = Definition(X2[i, a], Sum(A[j, i] * X[j, a], (j, 1, n)))
mean_kept = Step(
    id="mean_kept", lhs=Sum(X2[i, a], (i, 1, n)), rhs=Sum(X[j, a], (j, 1, n)), by=(moved, columns),
    because="Each token is handed out in full.",
)
opposite = Step(
    id="opposite", lhs=share * (E * v[a] - v[a]), rhs=(1 - 2 * share) * v[a], by=(own_share,),
    because=r"Weights $E$ and 1 over $E + 1$: from $v, -v$ to $\tau v, -\tau v$.",
)
