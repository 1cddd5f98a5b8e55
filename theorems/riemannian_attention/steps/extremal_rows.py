"""RA11, where its bounds are attained: rows on two groups of keys, and two clusters of tokens."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import signed, sums_to_one
from theorems.checker.exact import Draw
from theorems.statement import Bound, Definition, Local, Step, Witness, array, symbols_of

n, m, d = symbols_of("n m d")
m_1, m_2 = symbols_of("m_1 m_2")
i, k, j, l, a, f, e, h = symbols_of("i k j l a f e h")
half, two = Rational(1, 2), Integer(2)
FIRST, SECOND, FEATURES = (j, 1, m_1), (l, 1, m_2), (a, 1, d)

al, be = array("alpha", m_1), array("beta", m_2)
p, q = ((array(f"{name}_1", m_1), array(f"{name}_2", m_2)) for name in "pq")
s, y, r, theta = (Symbol(name, real=True) for name in ("s", "y", "r", "theta"))
t = 1 + s**2
scale, reciprocal = Definition(y, 2 + s**2), Definition(r, Integer(1), over=y)
square = Step(id="square", lhs=s**2, rhs=y - 2, by=(scale,), because="$y = t + 1$, $t = 1 + s^2$.")
numbers = (reciprocal, square, Definition(theta, s**2 * r))
weights, signs = (sums_to_one(al), sums_to_one(be)), (signed(al, ">=0"), signed(be, ">=0"))
two_rows = (
    Definition(p[0][j], t * r * al[j]), Definition(p[1][l], r * be[l]),
    Definition(q[0][j], r * al[j]), Definition(q[1][l], t * r * be[l]),
)
defined = (*two_rows, *numbers)


def total(row: tuple[IndexedBase, IndexedBase]) -> Expr:
    """The sum of a row over both groups of keys."""
    return Sum(row[0][j], FIRST) + Sum(row[1][l], SECOND)


row_p, row_q = (
    Step(id=f"row_{name}", lhs=total(row), rhs=Integer(1), by=(*defined, *weights),
         because="$(t + 1) r = 1$.") for name, row in (("p", p), ("q", q)))
larger_first, larger_second = (
    Bound(id=f"larger_{name}", small=small, large=large, certificate=theta * group,
          by=(*defined, sign), because=r"So $|p_j - q_j|$ is $\theta$ times a weight.")
    for name, small, large, group, sign in (
        ("first", q[0][j], p[0][j], al[j], signs[0]),
        ("second", p[1][l], q[1][l], be[l], signs[1]),
    )
)
attained = Step(
    id="attained", rhs=theta, by=(*defined, *weights),
    lhs=half * (Sum(p[0][j] - q[0][j], FIRST) + Sum(q[1][l] - p[1][l], SECOND)),
    because=r"$\alpha$ and $\beta$ sum to 1.",
)
across = Step(
    id="across", lhs=p[0][j] * q[1][l], rhs=t**2 * q[0][j] * p[1][l], by=two_rows,
    because="The odds grow by $t^2$ from a key of the first group to one of the other,",
)
other_way = Bound(
    id="other_way", small=p[1][l] * q[0][j], large=t**2 * q[1][l] * p[0][j], by=(*defined, *signs),
    certificate=r**2 * s**2 * (s**2 + 2) * (t**2 + 1) * al[j] * be[l],
    because="by no more the other way, and not at all inside a group.",
)

inside_first, inside_second = (
    Step(id=f"inside_{name}", lhs=row[0][one] * row[1][other], rhs=row[1][one] * row[0][other],
         by=two_rows, because="Inside a group the rows are proportional.")
    for name, row, one, other in (("first", (p[0], q[0]), j, k), ("second", (p[1], q[1]), l, i)))

c, x, o, w = array("c", two), array("x", two, n, d), array("o", d), array("w", d)
W, S, Y = array("A", two, n, two, n), array("S", two, n, two, n), array("Y", two, n, d)
mean, gamma, u, y_c, r_c, theta_c = (
    Symbol(name, real=True) for name in ("r_n", "g", "u", "y_c", "r_c", "theta_c")
)
TOKENS = ((e, 1, two), (k, 1, n))


def _two_signs(draw: Draw) -> None:
    for cluster, sign in enumerate((1, -1), start=1):
        draw.put(c, (cluster,), sign)


clusters = Local(
    "two clusters of n tokens",
    r"$x_i = o \pm w$, with $+$ for $n$ tokens and $-$ for the other $n$",
    ((c[f] ** 2, Integer(1)), (Sum(c[f], (f, 1, two)), Integer(0))), _two_signs,
)
placed = Definition(x[f, i, a], o[a] + c[f] * w[a])
count = Definition(mean, Integer(1), over=n)
cluster_square = Step(id="cluster_square", lhs=u**2, rhs=y_c - 1, by=(Definition(y_c, 1 + u**2),),
                      because="$y = 1 + t$, $t = u^2$.")
cluster_tanh = Definition(theta_c, 1 - 2 * r_c)
walk = Definition(W[f, i, e, k], half * mean * (1 + theta_c * c[f] * c[e]))
means = Definition(Y[f, i, a], Sum(W[f, i, e, k] * x[e, k, a], *TOKENS))
squared = Definition(S[f, i, e, k], -half * gamma * Sum(
    (x[f, i, a] - x[e, k, a]) ** 2, FEATURES))
cluster_scores = Step(
    id="cluster_scores", lhs=S[f, i, e, k],
    rhs=-gamma * Sum(w[a] ** 2, FEATURES) * (1 - c[f] * c[e]), by=(squared, placed, clusters),
    because=r"0 inside a cluster, $-\frac12 g \mathrm{osc}^2$ across, as $\mathrm{osc} = 2 |w|$.",
)
cluster_weights = Step(
    id="cluster_weights", lhs=2 * n * y_c * W[f, i, e, k], rhs=1 + u**2 + (u**2 - 1) * c[f] * c[e],
    by=(count, Definition(r_c, Integer(1), over=y_c), cluster_square, cluster_tanh, walk),
    because="Softmax has weights in the ratio $t$ to 1: $2 t$ inside a cluster, 2 across.",
)
cluster_rows = Step(
    id="cluster_rows", lhs=Sum(W[f, i, e, k], *TOKENS), rhs=Integer(1), by=(count, walk, clusters),
    because="They are divided by their sum.",
)
cluster_layer = Step(
    id="cluster_layer", lhs=Y[f, i, a] - Y[e, k, a], rhs=theta_c * (x[f, i, a] - x[e, k, a]),
    by=(means, count, walk, placed, clusters),
    because=r"Every difference shrinks by exactly $\theta = (t - 1)/(t + 1)$.",
)

E_2, A_2, Z_2 = array("E_2", two, two, two), array("A_2", two, two, two), array("Z_2", two, two)
x_2 = array("x_2", two)


def averaged(head: Expr) -> Expr:
    """Entry i of A^h x."""
    return Sum(A_2[head, i, j] * x_2[j], (j, 1, two))


total_2 = Definition(Z_2[h, i], Sum(E_2[h, i, j], (j, 1, two)))
softmax_2 = Definition(A_2[h, i, j], E_2[h, i, j], over=Z_2[h, i])
frozen = Witness(
    id="frozen", by=(softmax_2, total_2, signed(E_2, ">0")),
    values={E_2: 2 * [[[3, 1], [1, 3]]], x_2: [1, -1]},
    holds=((2 * averaged(h), x_2[i]), (Sum(averaged(h), (h, 1, two)), x_2[i])),
    because="$t = 3$: one head with $W = 2$, or two heads with $W^h = 1$, map $x = (1, -1)$ and "
    "its multiples to themselves.",
)
