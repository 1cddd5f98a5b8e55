"""RA2. The rank of geodesic scores is min(n, C(d+2, 2)) in every dimension d."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sympy import Expr, Integer, KroneckerDelta, Rational, Sum

from theorems.checker.determinants import Determinant
from theorems.riemannian_attention.steps import full_width as bound
from theorems.riemannian_attention.steps import principal_lattice as lattice
from theorems.riemannian_attention.score_rank import generic as nonvanishing
from theorems.statement import (
    Assumption, Clause, Definition, Local, Mutant, RankBound, Step, Theorem, array, symbols_of,
)

d, r, m, F = lattice.d, lattice.r, lattice.m, lattice.F
i, j, p, q, a, b = symbols_of("i j p q a b")
v, z = array("v", d), array("z", d)
minus, two = Integer(-1), Integer(2)
graph, part_graph = lattice.simple_graph(lattice.e), lattice.simple_graph(lattice.e_r)
other = lattice.unit_coordinates(lattice.u)

metric = Step(
    id="metric",
    lhs=Sum(z[a] * (KroneckerDelta(a, b) + v[a] * v[b]) * z[b], (a, 1, d), (b, 1, d)),
    rhs=Sum(z[a] ** 2, (a, 1, d)) + Sum(v[a] * z[a], (a, 1, d)) ** 2,
    because=r"$z^\top (I + v v^\top) z = |z|^2 + (v^\top z)^2$, with $z = x_i - x_j$.",
)
c, f, g = symbols_of("c f g")
half = Rational(1, 2)
e, y, product = lattice.e, array("y", d), array("y'", F)
square, seen = Sum(y[c] ** 2, (c, 1, d)), Sum(e[f, c] * y[c], (c, 1, d))


def pair_product(point: Expr) -> Expr:
    """y_a y_b for the edge ab, at the point with this entry c."""
    linear, diagonal = (Sum(e[f, c] * part, (c, 1, d)) for part in (point, point**2))
    return half * (linear**2 - diagonal)


def asked(name: str, x: Expr, v: Expr, value: Expr, *by: Any) -> Step:
    """|y - x|^2 + (v . (y - x))^2 as a function of y."""
    return Step(id=name, lhs=lattice.squared([x], [y[c]], [v], [(c, d)]), rhs=value, by=by,
                because="Expand the squares.")


row_unit = asked("row_unit", KroneckerDelta(a, c), Integer(0), square - 2 * y[a] + 1)
row_double = asked("row_double", 2 * KroneckerDelta(a, c), KroneckerDelta(a, c),
                   square + y[a] ** 2 - 8 * y[a] + 8)
row_edge = asked(
    "row_edge", e[f, c], e[f, c], square + Sum(e[f, c] * y[c] ** 2, (c, 1, d)) + 2 * product[f]
    - 6 * seen + 6, graph, Definition(product[f], pair_product(y[c])),
)
at_unit, at_double, at_edge = (
    Step(id=f"at_{name}", lhs=pair_product(point), rhs=value, by=(graph,),
         because=r"Only at the edge $f$ itself is the function $y_a y_b$ of $f$ not $0$.")
    for name, point, value in (
        ("unit", KroneckerDelta(a, c), Integer(0)),
        ("double", 2 * KroneckerDelta(a, c), Integer(0)),
        ("edge", e[g, c], KroneckerDelta(f, g)))
)
factors = lattice.whole_factors("oabf")
queries, keys = lattice.features()
query_features = Determinant(
    id="query_features", matrix=queries, factors=tuple(factors[:3]),
    value=minus ** (d + 1) * d * two ** (d + 2 + F),
    because=r"$|y|^2$, $|y|^2 - 2 y_a + 1$ and $|y|^2 + y_a^2 - 8 y_a + 8$ are sums of $-4 d$, $1 "
    r"- 2 y_a$ and $y_a^2 + 4$; $|y|^2 + (y_a + y_b)^2 - 6 (y_a + y_b) + 6$ has $2 y_a y_b$.",
)
key_features = Determinant(
    id="key_features", matrix=keys, factors=tuple(factors[3:]), value=two**d,
    because=r"In Newton's basis $1$, $y_a$, $y_a (y_a - 1)$, $y_a y_b$ the values at the lattice "
    r"are triangular, with $1$, $1$, $2$, $1$ on the diagonal.",
)
certificate = Determinant(
    id="certificate", matrix=lattice.whole_scores("oabf"), factors=tuple(factors), by=(graph,),
    value=minus ** (d + 1) * d * two ** (2 * d + 2 + F),
    because="The first three factors are the query features, the last two the key features.",
)
every_pair = Local(
    "every pair", r"every pair $a < b$ is an edge: $F = d (d - 1) / 2$",
    ((F, (d**2 - d) / 2),), lattice.every_pair,
)
size = Step(
    id="size", lhs=1 + 2 * d + F, rhs=(d + 1) * (d + 2) / 2, by=(every_pair,),
    because="With all pairs there are N tokens.",
)

without_pairs = Determinant(
    id="without_pairs", matrix=lattice.whole_scores("oab"),
    factors=tuple(lattice.whole_factors("oab")), value=minus ** (d + 1) * d * two ** (2 * d + 2),
    because="The same without edges.",
)


def part(name: str, letters: str, value: Expr, *by: Assumption, because: str) -> Determinant:
    """The determinant of some blocks of tokens of which r coordinates have 2 e_a."""
    matrix, factors = lattice.part_scores(letters), tuple(lattice.part_factors(letters))
    return Determinant(id=name, matrix=matrix, factors=factors, value=value, by=by,
                       because=because)


part_with_pairs = part(
    "part_with_pairs", "ophabf", minus ** (r + m + 1) * two ** (2 * r + m + 2 + F), part_graph,
    other, because=r"Now $|y|^2$ is a function of its own, and the token $2 u$ leaves the row $2$.",
)
part_without_pairs = part(
    "part_without_pairs", "ophab", minus ** (r + m + 1) * two ** (2 * r + m + 2), other,
    because="The same without edges.",
)
no_doubles = part(
    "no_doubles", "oph", minus ** (m + 1) * two ** (m + 2), other,
    because="The same for $r = 0$: every metric is $I$.",
)

frame = array("X", r, d)
orthonormal = lattice.orthonormal_rows(frame)
few_scores, few_factors = lattice.euclidean_points(frame)
few_tokens = Determinant(
    id="few_tokens", matrix=few_scores, factors=tuple(few_factors), by=(orthonormal,),
    value=minus**r * r * two ** (r - 1),
    because=r"All distances are $0$, $1$ and $2$; the first row less half of the others is $r / "
    "2$.",
)
generic = replace(
    nonvanishing, because="Minors of S are polynomials in the tokens and the metrics; each that is "
    "not 0 at a certificate is not 0 generically.",
)

# False twins.
three, four, five, six = map(Integer, (3, 4, 5, 6))


def scores_of(number: Integer, width: Integer) -> tuple[Expr, Definition]:
    """The scores of so many tokens of this width, with any metrics."""
    names = (f"{name}_{number}" for name in "xGS")
    shapes = (number, width), (number, width, width), (number, number)
    x, G, S = (array(one, *shape) for one, shape in zip(names, shapes, strict=True))
    gaps = [x[i, at] - x[j, at] for at in (a, b)]
    value = Sum(gaps[0] * G[i, a, b] * gaps[1], (a, 1, width), (b, 1, width))
    return S[i, j], Definition(S[i, j], -value / 2)


def ranked(number: Integer, width: Integer, rank: Integer, least: bool = False) -> RankBound:
    """The claim that the scores of so many tokens have at most, or at least, a rank."""
    entry, definition = scores_of(number, width)
    small, large = (entry, (i, number), (j, number)), (KroneckerDelta(p, q), (p, rank), (q, rank))
    left, right = array("L", number, rank), array("R", rank, number)
    before, after = (left[i, p], (i, number), (p, rank)), (right[q, j], (q, rank), (j, number))
    if least:
        small, large = (KroneckerDelta(p, q), (p, rank), (q, rank)), small
        before, after = (right[p, i], (p, rank), (i, number)), (left[j, q], (j, number), (q, rank))
    return RankBound(id="width", small=small, large=large, before=before, after=after,
                     by=(definition,), because="claimed")


several = lattice.multigraph(lattice.e)
w = array("w", d)

THEOREM = Theorem(
    id="RA2",
    title="The rank of geodesic scores is min(n, C(d+2, 2)) in every dimension d",
    clauses=(
        Clause("one_token", r"$S_{ii} = 0$: the score of one token alone has rank $0$.",
               (bound.one_token,)),
        Clause("upper_bound", r"For any matrices $G_i$ and $S_{ij} = -\frac12 (x_i - x_j)^\top "
               r"G_i (x_i - x_j)$: $S = I S$, and $S = \Phi \Psi^\top$ with inner width $w = 1 + "
               r"d + g$, the coordinates of three parts ($J_1$, $J_d$, $J_g$, orthonormal and "
               r"complete) side by side, for $g$ matrices $B_q$ that span the symmetric ones; if "
               r"they are independent, $g = d (d + 1) / 2$. So $\mathrm{rank}\, S \le \min(n, "
               r"N)$ with $N = 1 + d + d (d + 1) / 2 = \binom{d + 2}{2}$.",
               (bound.tokens, bound.width, bound.whole, bound.parted, bound.trace_of_projection,
                bound.number_of_matrices)),
        Clause("query_features", r"The tokens $x = 0$, $e_a$, $2 e_a$ and, for the $F \ge 1$ edges "
               r"of a simple graph, $e_a + e_b$, with metrics $G = I + v v^\top$, $v = 0$, $0$, "
               r"$e_a$, $e_a + e_b$: the coefficients of $(y - x)^\top G (y - x) = |y - x|^2 + "
               r"(v^\top (y - x))^2$ in $1$, $y_a$, $y_a^2$ and, for the edges, $y_a y_b$ have the "
               r"determinant $(-1)^{d+1} d\, 2^{d+2+F}$.",
               (metric, row_unit, row_double, row_edge, query_features)),
        Clause("key_features", r"The values of $1$, $y_a$, $y_a^2$ and, for the edges, $y_a y_b$ "
               r"at these tokens have the determinant $2^d$.",
               (at_unit, at_double, at_edge, key_features)),
        Clause("certificate", r"For these $1 + 2 d + F$ tokens and metrics $\det(-2 S) = "
               r"(-1)^{d+1} d\, 2^{2 d + 2 + F}$, not $0$. With every pair an edge there are $N$ "
               r"tokens, and it is $(-1)^{d+1} d\, 2^{N+1}$.", (certificate, size)),
        Clause("without_pairs", r"For $0$, $e_a$, $2 e_a$ alone, $\det(-2 S) = (-1)^{d+1} d\, "
               r"2^{2 d + 2}$; for $d = 1$ these are $N$ tokens.", (without_pairs,)),
        Clause("part", r"Let $d = r + m$ and $\sum_a u_a = \sum_a u_a^2 = 1$ in the last $m \ge "
               r"1$ coordinates, such as $u = e_{r+1}$. The tokens $0$, $2 u$, all $e_a$, and, for "
               r"$r \ge 1$, $2 e_a$ for $a \le r$ and $e_a + e_b$ for the $F$ edges of a simple "
               r"graph on the first $r$ coordinates, with $v = e_a$ for $2 e_a$, $v = e_a + e_b$ "
               r"for $e_a + e_b$ and $v = 0$ for the others: $\det(-2 S) = (-1)^{d+1} 2^{d + r + 2 "
               r"+ F}$, also without edges ($F = 0$), and $(-1)^{d+1} 2^{d+2}$ for $r = 0$.",
               (part_with_pairs, part_without_pairs, no_doubles)),
        Clause("few_tokens", r"For $G = I$ the token $0$ and $r \ge 1$ orthonormal tokens, the "
               r"rows of $X$, have $\det(-2 S) = (-1)^r r\, 2^{r-1}$.", (few_tokens,)),
        Clause("generic", r"So for every $n$ from $2$ to $N$ some tokens and metrics have a "
               r"determinant that is not $0$: few tokens up to $n = d + 1$, parts without edges up "
               r"to $2 d$, then the lattice without pairs and with $n - 2 d - 1$ edges. For $n \ge "
               r"2$ the largest rank is $\min(n, N)$, and $S$ has it for all tokens and metrics, "
               r"symmetric or $I + v_i v_i^\top$, outside a proper algebraic subset.", (generic,)),
    ),
    mutants=(
        Mutant("one_power_less", replace(
            certificate, value=minus ** (d + 1) * d * two ** (2 * d + 1 + F)),
            r"the exponent of $2$ is $\binom{d + 2}{2}$"),
        Mutant("sign", replace(certificate, value=minus**d * d * two ** (2 * d + 2 + F)),
               "the sign is $(-1)^d$"),
        Mutant("without_d", replace(certificate, value=minus ** (d + 1) * two ** (2 * d + 2 + F)),
               "no factor d"),
        Mutant("one_direction", replace(
            certificate, matrix=lattice.whole_scores("oabf", shared=w)),
            "all metrics other than I have one direction w"),
        Mutant("double_edge", certificate, "an edge may occur twice", drop=(graph,),
               add=(several,)),
        Mutant("no_doubles_tokens", replace(
            without_pairs, matrix=lattice.whole_scores("oab", double=1)), "e_a in place of 2 e_a"),
        Mutant("edge_metric", replace(row_edge, lhs=lattice.squared(
            [e[f, c]], [y[c]], [0], [(c, d)])), "the metric I for e_a + e_b"),
        Mutant("monomials", replace(key_features, value=Integer(1)),
               r"the monomials at the lattice have determinant $1$", add=(graph,)),
        Mutant("no_second_row", replace(query_features, value=minus**d * two ** (d + F)),
               r"the row of $0$ leaves $1$", add=(graph,)),
        Mutant("part_like_whole", replace(
            part_without_pairs, value=minus ** (r + m + 1) * r * two ** (2 * r + m + 2)),
            "a factor r for a part"),
        Mutant("special_token", replace(no_doubles, matrix=lattice.part_scores("oph", special=1)),
               "u in place of 2 u"),
        Mutant("skew_tokens", few_tokens, "any r tokens", drop=(orthonormal,)),
        Mutant("rank_n", ranked(four, Integer(1), four, least=True),
               "the rank grows with n: $4$ tokens for $d = 1$"),
        Mutant("diagonal_width", ranked(six, two, five), "rank at most $1 + 2 d$"),
        Mutant("any_family", replace(bound.width, by=bound.width.by[:-1]),
               "any g matrices span the metrics"),
        Mutant("all_matrices", replace(bound.trace_of_projection, rhs=d**2),
               r"$N = 1 + d + d^2$ is the number of features"),
        Mutant("some_pairs", size, "there are always N tokens", drop=(every_pair,)),
    ),
    sources=("Riemannian Attention and the Fiber Bundle Transformer",),
)
