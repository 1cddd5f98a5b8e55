"""RA13. The composite of two norms in the analysis of rank collapse."""

from __future__ import annotations

from dataclasses import replace

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import absolute_value, signed
from theorems.checker.exact import Draw
from theorems.riemannian_attention.steps.absolute_sums import (
    at_most, product_bounds, sums_of,
)
from theorems.riemannian_attention.steps.head_residuals import (
    c, c_row, multi_head, one_row, positive_c, q, residual_columns, residual_rows, v, w,
)
from theorems.statement import (
    Bound, Clause, Definition, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, m, p, H = symbols_of("n m p H")
i, j, k, o, h, g = symbols_of("i j k o h g")
one, four = Integer(1), Integer(4)

X, x, total = array("X", H, n, m), array("x", H, n, m), array("T", n, m)
alpha, alpha_row, gaps, excess = (
    array("alpha", H), array("alpha'", H), array("gamma", n, m, H, H), array("d", n, m))
sizes = absolute_value(x[h, i, j], X[h, i, j], "X")
size_of_sum = absolute_value(total[i, j], Sum(X[h, i, j], (h, 1, H)), r"\sum_h X^h")
column_sums = at_most(array("s", H, m)[h, j], Sum(x[h, i, j], (i, 1, n)), alpha[h],
                      r"$\lVert X^h \rVert_1 \le \alpha_h$")
row_sums = at_most(array("t", H, n)[h, i], Sum(x[h, i, j], (j, 1, m)), alpha_row[h],
                   r"$\lVert X^h \rVert_\infty \le \alpha'_h$")
pairs = Bound(
    id="pairs", small=X[h, i, j] * X[g, i, j], large=x[h, i, j] * x[g, i, j], power=2,
    certificate=Integer(0), by=(sizes,), because="The squares agree, and |x||y| is >= 0.")
gap = Definition(gaps[i, j, h, g], pairs.large - pairs.small)
entries = Bound(
    id="entries", small=total[i, j], large=Sum(x[h, i, j], (h, 1, H)), power=2,
    certificate=Sum(gaps[i, j, h, g], (h, 1, H), (g, 1, H)),
    by=(gap, pairs, size_of_sum, sizes), because="|x + y| <= |x| + |y|, squared.")
slack = Definition(excess[i, j], entries.large - entries.small)
sum_columns = Bound(
    id="sum_columns", small=Sum(total[i, j], (i, 1, n)), large=Sum(alpha[h], (h, 1, H)),
    certificate=Sum(excess[i, j], (i, 1, n)) + Sum(column_sums[0].entry, (h, 1, H)),
    by=(slack, entries, *column_sums), because="Every column sum obeys it, and so the largest.")
sum_rows = Bound(
    id="sum_rows", small=Sum(total[i, j], (j, 1, m)), large=Sum(alpha_row[h], (h, 1, H)),
    certificate=Sum(excess[i, j], (j, 1, m)) + Sum(row_sums[0].entry, (h, 1, H)),
    by=(slack, entries, *row_sums), because="Row sums likewise.")

b, b_row = (Symbol(name, real=True) for name in ("b", "b'"))
a_E, a_E_row = (Symbol(name, real=True) for name in ("a_E", "a'_E"))
factors = (sums_of(array("E", n, m), array("A", n, m), a_E, a_E_row),
           sums_of(array("F", m, p), array("B", m, p), b, b_row))
product = product_bounds("product", *factors, array("C", n, p))

s = Symbol("s", real=True)
E_1, F_1, S_1, e_1 = (array("E_1", n, n, n), array("F_1", n, n, n), array("S_1", n, n, n),
                      array("e_1", n, n))


def _square_size(draw: Draw) -> None:
    root_of_n = draw.size(n)
    draw.sizes[str(n)] = root_of_n**2
    draw.put(array("s"), (), root_of_n)


root_of_n = Local(r"s = \sqrt{n}", r"$s = \sqrt{n}$", ((s**2, n),), _square_size,
                  ((array("s"), ">=0"),))
more_than_one = (Definition(Symbol("n_1", real=True), n - 1), Local(
    "n>1", "$n > 1$", signs=((array("n_1"), ">0"),)))
n_1 = more_than_one[0].entry
row_of_ones = Definition(E_1[o, i, j], KroneckerDelta(o, i))
column_of_ones = Definition(F_1[o, i, j], KroneckerDelta(o, j))
both = Definition(S_1[o, i, j], E_1[o, i, j] + F_1[o, i, j])
unit = Definition(e_1[o, i], KroneckerDelta(o, i))


def largest(name: str, M: IndexedBase, along: Symbol, by: tuple, rest: int) -> tuple[Bound, Step]:
    """The sums of |M| along an axis are at most n + rest, and reach it at o."""
    across = j if along == i else i
    return Bound(
        id=f"{name}_at_most", small=Sum(M[o, i, j], (along, 1, n)), large=n + rest,
        certificate=n * (1 - KroneckerDelta(o, across)), by=by,
        because="The entries are >= 0, and only the line o has n ones.",
    ), Step(
        id=f"{name}_reached", rhs=n + rest, by=by, because="The line o has them.",
        lhs=Sum(M[o, i, o] if along == i else M[o, o, j], (along, 1, n)),
    )


signs = tuple(
    Bound(id=f"sign_{name}", small=Integer(0), large=M[o, i, j], certificate=certificate, by=by,
          because="All entries are their absolute values.")
    for name, M, certificate, by in (
        ("E", E_1, KroneckerDelta(o, i), (row_of_ones,)),
        ("F", F_1, KroneckerDelta(o, j), (column_of_ones,)),
        ("sum", S_1, KroneckerDelta(o, i) + KroneckerDelta(o, j), (both, row_of_ones,
                                                                 column_of_ones)),
    ))
columns_E = Step(id="columns_E", lhs=Sum(E_1[o, i, j], (i, 1, n)), rhs=one, by=(row_of_ones,),
                 because="One 1 in each column.")
rows_F = Step(id="rows_F", lhs=Sum(F_1[o, i, j], (j, 1, n)), rhs=one, by=(column_of_ones,),
              because="One 1 in each row.")
rows_E = largest("rows_E", E_1, j, (row_of_ones,), 0)
columns_F = largest("columns_F", F_1, i, (column_of_ones,), 0)
columns_S = largest("columns_S", S_1, i, (both, row_of_ones, column_of_ones), 1)
rows_S = largest("rows_S", S_1, j, (both, row_of_ones, column_of_ones), 1)
no_triangle = Bound(
    id="no_triangle", small=2 * s, large=n + 1, certificate=n_1**2, strict=True, power=2,
    by=(root_of_n, *more_than_one), because="The difference is the square of sqrt n - 1, not 0.")
averaged = Step(
    id="averaged", lhs=Sum(F_1[o, i, j] * e_1[o, j], (j, 1, n)), rhs=one,
    by=(column_of_ones, unit), because="Every token becomes token o.")
unit_column = Step(id="unit_column", lhs=Sum(e_1[o, i], (i, 1, n)), rhs=one, by=(unit,),
                   because="The column has one 1.")
unit_rows = Bound(
    id="unit_rows", small=e_1[o, i], large=one, certificate=1 - KroneckerDelta(o, i), by=(unit,),
    because="Rows of one entry, 0 or 1.")
averaged_column = Step(
    id="averaged_column", lhs=Sum(F_1[o, i, j] * e_1[o, j], (i, 1, n), (j, 1, n)), rhs=n,
    by=(column_of_ones, unit), because="n ones.")
larger_average = Bound(
    id="larger_average", small=one, large=s, certificate=n_1, strict=True, power=2,
    by=(root_of_n, *more_than_one), because="n > 1.")
larger_beta = Bound(
    id="larger_beta", small=s, large=n, certificate=n * n_1, strict=True, power=2,
    by=(root_of_n, *more_than_one), because="n^2 > n.")

E_4, F_4, first, r_4, u_4 = (array("E_4", four, four), array("F_4", four, four), array("f", four),
                             array("r_4", four), array("u_4", four))
c_E, c_F, c_S = (Symbol(name, real=True) for name in ("c_E", "c_F", "c_S"))
four_tokens = Witness(
    id="four_tokens",
    values={
        E_4: [4 * [1], *3 * [4 * [0]]], F_4: 4 * [[1, 0, 0, 0]], first: [1, 0, 0, 0],
        r_4: [0, 4, 4, 4], u_4: [0, 4, 4, 4],
        array("c_E"): 2, array("c_F"): 2, array("c_S"): 5,
    },
    by=(signed(r_4, ">=0"), signed(u_4, ">=0"), signed(array("c_E"), ">=0"),
        signed(array("c_F"), ">=0"), signed(array("c_S"), ">=0")),
    holds=(
        (Sum(E_4[i, j], (i, 1, four)), one), (Sum(E_4[i, j], (j, 1, four)), 4 - r_4[i]),
        (Sum(F_4[i, j], (i, 1, four)), 4 - r_4[j]), (Sum(F_4[i, j], (j, 1, four)), one),
        (Sum(E_4[i, j] + F_4[i, j], (i, 1, four)), 5 - u_4[j]),
        (Sum(E_4[i, j] + F_4[i, j], (j, 1, four)), 5 - u_4[i]),
        (Sum(first[i], (i, 1, four)), one), (first[i] * r_4[i], Integer(0)),
        (first[i] * u_4[i], Integer(0)), (c_E**2, four), (c_F**2, four),
        (c_S**2, Integer(25)), (c_S, c_E + c_F + 1),
    ),
    because=r"$c_E = \sqrt{1 \cdot 4}$, $c_F = \sqrt{4 \cdot 1}$, $c_S = \sqrt{5 \cdot 5}$: the "
    "largest sums are reached where the slacks $r$ and $u$ vanish.",
)

THEOREM = Theorem(
    id="RA13",
    title="The composite of two norms in the analysis of rank collapse",
    clauses=(
        Clause("two_norms", r"Column sums of $|\sum_h X^h|$ are at most $\sum_h \alpha_h$ and row "
               r"sums at most $\sum_h \alpha'_h$, where $\alpha_h \ge \lVert X^h \rVert_1$ bounds "
               r"the column sums of $|X^h|$ and $\alpha'_h \ge \lVert X^h \rVert_\infty$ the row "
               r"sums: each norm by itself obeys the triangle inequality.",
               (pairs, entries, sum_columns, sum_rows)),
        Clause("submultiplicative", r"Each column sum of $|EF|$ times each row sum of it is at "
               r"most $a b a' b'$, where $\lVert E \rVert_1 \le a$, $\lVert E \rVert_\infty \le "
               r"a'$, $\lVert F \rVert_1 \le b$ and $\lVert F \rVert_\infty \le b'$: the composite "
               r"$\sqrt{\lVert X \rVert_1 \lVert X \rVert_\infty}$ is submultiplicative.",
               product.steps),
        Clause("not_a_norm", r"Let $E$ be the $n \times n$ matrix with one row $o$ of ones and $F "
               r"= E^\top$, both nonnegative. $\lVert E \rVert_1 = 1$, $\lVert E \rVert_\infty = "
               r"n$, $\lVert F \rVert_1 = n$, $\lVert F \rVert_\infty = 1$ and $\lVert E + F "
               r"\rVert_1 = \lVert E + F \rVert_\infty = n + 1$: composites $s = \sqrt{n}$ twice "
               r"and $n + 1$ of the sum, and $2 s < n + 1$ for $n > 1$, such as $2 \sqrt{2} < 3$: "
               r"the composite is no norm.",
               (*signs, columns_E, *rows_E, *columns_F, rows_F, *columns_S, *rows_S, no_triangle)),
        Clause("four_tokens", r"At $n = 4$ the composites are $2$, $2$ and $5 = 2 + 2 + 1$.",
               (four_tokens,)),
        Clause("averaging", r"The row-stochastic $A = F$ turns $e_o$, whose column has the sum $1$ "
               r"and whose rows are at most $1$, into $A e_o = \mathbf{1}$, whose column has the "
               r"sum $n$ and whose rows are $1$: composites $1$ and $s = \sqrt{n}$, and $1 < s$ "
               r"for $n > 1$.",
               (unit_column, unit_rows, averaged, averaged_column, larger_average)),
        Clause("multi_head", r"Let $\lVert W^h \rVert_1 \le w$ and $\lVert W^h \rVert_\infty \le "
               r"v$ for every $h$, and let $Z^h = A^h X$ less a row $\mathbf{1} z_h^\top$ have "
               r"$\lVert Z^h \rVert_1 \le \kappa_h c$, $\lVert Z^h \rVert_\infty \le \kappa_h c'$ "
               r"with $c, c' \ge 0$ and $\kappa_h \le q$. Then $M = \sum_h Z^h W^h$ is $\sum_h A^h "
               r"X W^h$ less a row $\mathbf{1} \zeta^\top$, and each column sum of $|M|$ times "
               r"each row sum of it is at most $(H q)^2 w v c c'$: the composite of $M$ is at most "
               r"$H \beta \sqrt{c c'}$ with $\beta = q \sqrt{w v}$, which for $\kappa_h = \lVert "
               r"W_{QK}^h \rVert_1$ and the least $q, w, v$ is $\max_h \lVert W_{QK}^h \rVert_1 "
               r"\sqrt{\max_h \lVert W^h \rVert_1 \max_h \lVert W^h \rVert_\infty}$.",
               (one_row, residual_columns, residual_rows, *multi_head.steps)),
        Clause("beta", r"For $W^1 = E$ and $W^2 = F$ above $\sqrt{w v} = \sqrt{n \cdot n} = n$, "
               r"while the larger composite of the two is $s = \sqrt{n} < n$ for $n > 1$.",
               (larger_beta,)),
    ),
    mutants=(
        Mutant("triangle", replace(no_triangle, small=n + 1, large=2 * s, strict=False),
               "the composite obeys the triangle inequality"),
        Mutant("contracted_by_averaging", replace(larger_average, small=s, large=one, strict=False),
               "a stochastic matrix does not increase the composite"),
        Mutant("without_H", replace(multi_head.both, large=q**2 * w * v * c * c_row),
               "the multi-head bound without H"),
        Mutant("beta_of_composites", replace(larger_beta, small=n, large=s, strict=False),
               "beta is at most the largest composite of the heads"),
        Mutant("one_token", no_triangle, "2 s < n + 1 for n = 1 too", drop=(more_than_one[1],)),
        Mutant("crossed_norms", replace(
            product.columns, large=a_E_row * b, by=(*product.columns.by, *factors[0].by_row)),
               "column sums of EF by row sums of E"),
        Mutant("signed_sums", replace(sum_columns, large=Sum(X[h, i, j], (h, 1, H), (i, 1, n))),
               "column sums of X^h without absolute values"),
        Mutant("negative_share", residual_columns, "c of any sign", drop=(positive_c,)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "Y. Dong, J.-B. Cordonnier, A. Loukas, Attention is not all you need: pure attention loses "
        "rank doubly exponentially with depth, ICML 2021",
    ),
)
