"""The LaTeX of SymPy sides, and the one subset of LaTeX with its two renderings."""

from collections.abc import Callable

import pytest
from sympy import Expr, Integer, KroneckerDelta, Rational, Sum

from paper_checks import latex
from paper_checks.block_matrices import LINE
from paper_checks.expressions import latex as printed
from paper_checks.expressions import one_line, relation, width
from paper_checks.formulas import definition, rule_formulas
from theorems.checker.determinants import Blocks, Determinant
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import (
    Assumption,
    Bound,
    Cited,
    Definition,
    Iff,
    RankBound,
    Rule,
    Step,
    Witness,
    array,
    symbols_of,
)

n, m, d, H = symbols_of("n m d H")
i, j, k, a, b, h = symbols_of("i j k a b h")
P, A, w, x, rho = (
    array("P", n, m),
    array("A", H, n, m),
    array("w", H),
    array("x", m, d),
    array("rho", n),
)
T, W_V, T_h, P2 = array("T", n, m, d, d), array("W_V", d, d), array("T", H, d, d), array("P'", n, m)
T_l = array("T^l", H, d, d)
W_kv = array("W_V", n, d, d)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (P[i, j], "P_{ij}"),
        (P2[i, j], "P'_{ij}"),
        (A[h, i, j], "A^{h}_{ij}"),
        (w[h], "w_{h}"),
        (T[i, j, a, b], "[T_{ij}]_{ab}"),
        (T_h[h, a, b], "T^{h}_{ab}"),
        (T_l[h, a, b], "[(T^{l})^{h}]_{ab}"),
        (W_V[a, b], "[W_{V}]_{ab}"),
        (W_kv[i, a, b], "[(W_{V})_{i}]_{ab}"),
        (rho[i], r"\rho_{i}"),
        (A[h, i, j] ** 2, "(A^{h}_{ij})^{2}"),
        (KroneckerDelta(i, j), r"\delta_{i j}"),
        (Sum(P[i, j], (j, 1, m)), r"\sum_{j=1}^{m} P_{ij}"),
        (Sum(w[h] * x[j, b], (b, 1, d), (j, 1, m)),
         r"\sum_{j=1}^{m} \sum_{b=1}^{d} w_{h} x_{jb}"),
        (Sum(P[i, j] + 1, (j, 1, m)), r"\sum_{j=1}^{m} \left(P_{ij} + 1\right)"),
        (Rational(1, 2) * w[h], r"\frac{w_{h}}{2}"),
    ],
)  # fmt: skip
def test_printed_expression(expression: object, expected: str) -> None:
    assert printed(expression) == expected  # pyright: ignore[reportArgumentType]
    assert latex.mathml(expected).startswith("<math>")


def test_long_relations_are_broken_into_lines_that_fit() -> None:
    terms = [Sum(A[h, i, j] * T_h[h, a, b] * x[j, b] * w[k], (j, 1, m)) for k in (h, i, j)]
    broken = relation(P[i, j], "=", sum(terms, start=terms[0] * rho[i]))
    rows = broken.removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}").split(r"\\")
    assert len(rows) > 2
    assert all(width(row) <= LINE + 2 for row in rows)  # two for the sign in front
    assert latex.mathml(broken, True).count("<mtr>") == len(rows)
    assert "aligned" not in one_line(broken)


@pytest.mark.parametrize("outside", [
    lambda inner: rho[i] * inner, lambda inner: -inner * w[h] / 2,
    lambda inner: Sum(P[i, j] * inner, (j, 1, m)), lambda inner: Sum(inner, (j, 1, m)) * rho[k],
    lambda inner: (1 + rho[k]) * inner + rho[i] * inner,
], ids=("factor", "quotient", "sum", "factor of a sum", "two terms"))  # fmt: skip
def test_a_term_too_long_for_a_line_is_broken_inside_its_bracket(
    outside: Callable[[Expr], Expr],
) -> None:
    inner = sum((P[i, j] * w[h] ** power * rho[j] for power in range(3, 12)), start=rho[j])
    broken = relation(w[k], "=", outside(inner))
    rows = broken.removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}").split(r"\\")
    assert len(rows) > 2
    assert all(width(row) <= LINE + 12 for row in rows)  # twelve for what stands before a bracket
    assert broken.count(r"\Bigl(") == broken.count(r"\Bigr)") >= 1
    whole = printed(outside(inner))
    for part in (rho[i], rho[j], rho[k], w[h], P[i, j], *(w[h] ** p for p in range(3, 12))):
        text = printed(part)  # nothing is lost on the way, inside a bracket or before it
        assert broken.count(text) == whole.count(text)
    assert latex.mathml(broken, True).count("<mtr>") == len(rows)


def test_a_long_product_of_matrices_has_a_line_for_each_factor() -> None:
    wide = sum((rho[i] * w[j] ** power for power in range(2, 9)), start=rho[i])
    bound = RankBound(id="r", because="", small=(P[i, a], (i, n), (a, d)),
                      large=(x[j, a], (j, m), (a, d)), before=(wide, (i, n), (j, m)))  # fmt: skip
    claim, product = rule_formulas(bound)
    assert "aligned" not in claim
    assert product.startswith(r"\begin{aligned} & ")
    assert latex.mathml(product, True).count("<mtr>") == 3


def test_on_one_line_a_matrix_keeps_its_rows_and_no_space_is_a_macro() -> None:
    matrix = r"P = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}"
    assert one_line(matrix) == matrix
    assert one_line(r"\begin{aligned} & a \\ &\;\iff\; b \end{aligned}") == r"a \iff b"
    assert one_line(r"a, \quad b > 0") == "a, b > 0"


def test_a_quotient_is_never_written() -> None:
    assert definition(Definition(P[i, j], w[h], over=rho[i])) == r"P_{ij} \rho_{i} = w_{h}"


ENTRY = (P[i, j], (i, n), (j, m))
BLOCK = (T[i, j, a, b], ((i, n), (j, m)), ((a, d), (b, d)))


def levels(label: str) -> tuple[Expr, Expr]:
    return array(f"v^{label}", H)[h], w[h]


INDUCTION = Induction(id="s", because="", claim=levels,
                      hypothesis=Assumption("", "", (levels("l"),)))  # fmt: skip


PART = Blocks(((h, H),), ((k, H),), ((w[h] * KroneckerDelta(h, k),),))
TRIANGLE = Blocks(((i, Integer(1)), (h, H)), ((j, Integer(1)), (k, H)), (
    (Integer(-2), Integer(0)), (w[h], w[h] * KroneckerDelta(h, k))))  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Step(id="s", because="", lhs=P[i, j], rhs=w[h]), ["P_{ij} = w_{h}"]),
        (
            Bound(id="s", because="", small=P[i, j], large=w[h], certificate=w[h] - P[i, j]),
            [r"P_{ij} \le w_{h}"],
        ),
        (
            Bound(id="s", because="", small=P[i, j], large=w[h], certificate=rho[i], strict=True),
            ["P_{ij} < w_{h}", r"w_{h} = P_{ij} + \rho_{i}"],
        ),
        (
            Iff(id="s", because="", left=(P[i, j], w[h]), right=(w[h], Integer(0))),
            [r"P_{ij} = w_{h}\;\Longleftrightarrow\; w_{h} = 0"],
        ),
        (
            Iff(id="s", because="", left=(P[i, j], w[h]), right=(w[h], w[k]),
                factor=w[h] + w[k]),
            [r"P_{ij} = w_{h}\;\Longleftrightarrow\; w_{h} = w_{k}",
             r"\text{difference on the left} = \left(w_{h} + w_{k}\right) \cdot "
             r"\text{difference on the right}, \quad w_{h} + w_{k} > 0"],
        ),
        (
            RankBound(id="s", because="", small=ENTRY, large=ENTRY),
            [r"\operatorname{rank} \left[ P_{ij} \right]_{ij}^{n \times m} \le "
             r"\operatorname{rank} \left[ P_{ij} \right]_{ij}^{n \times m}"],
        ),
        (
            Witness(id="s", because="", values={"P": [[1, 0], [0, Rational(1, 2)]], "c": 2},
                    fails=((w[h], w[k]),)),
            [r"P = \begin{pmatrix} 1 & 0 \\ 0 & \frac{1}{2} \end{pmatrix}", "c = 2",
             r"w_{h} \ne w_{k}"],
        ),
        (Cited(id="s", because="", statement="t", source="u"), []),
        (
            Bound(id="s", because="", small=w[h], large=w[k], certificate=rho[i], power=2),
            [r"w_{h} \le w_{k}", r"(w_{k})^{2} = \rho_{i} + (w_{h})^{2}"],
        ),
        (
            RankBound(id="s", because="", small=BLOCK, large=BLOCK),
            [r"\operatorname{rank} \left[ [T_{ij}]_{ab} \right]_{ijab}^{(n \cdot m) \times "
             r"(d \cdot d)} \le \operatorname{rank} \left[ [T_{ij}]_{ab} "
             r"\right]_{ijab}^{(n \cdot m) \times (d \cdot d)}"],
        ),
        (
            Vanishing(id="s", because="", total=rho[i], part=P[i, j], over=((j, m),)),
            [r"\rho_{i} = 0 \;\Longleftrightarrow\; P_{ij} = 0",
             r"\rho_{i} = \sum_{j=1}^{m} (P_{ij})^{2}"],
        ),
        (
            Vanishing(id="s", because="", total=rho[i], part=w[h], rest=w[k], weight=w[k]),
            [r"\rho_{i} = 0 \;\Longrightarrow\; w_{h} w_{k} = 0",
             r"\rho_{i} = (w_{h})^{2} w_{k} + w_{k}"],
        ),
        (
            Logarithm(id="s", because="", left=(w[h] * w[k], w[h] ** 2), logs=((w, rho),)),
            [r"w_{h} w_{k} = (w_{h})^{2} \;\Longleftrightarrow\; "
             r"\rho_{h} + \rho_{k} = 2 \rho_{h}"],
        ),
        (
            Determinant(id="s", because="", matrix=TRIANGLE, factors=(TRIANGLE,),
                        value=Integer(-2), parts=(PART,)),
            [r"\det Q = -2 \det \begin{pmatrix} \delta_{h k} w_{h} \end{pmatrix}",
             r"Q = \begin{pmatrix} -2 & 0 \\ w_{h} & \delta_{h k} w_{h} \end{pmatrix}",
             "Q = T_{1}",
             r"T_{1} = \begin{pmatrix} -2 & 0 \\ w_{h} & \delta_{h k} w_{h} \end{pmatrix}",
             r"\text{blocks of sizes } 1,\; H"],
        ),
        (INDUCTION, [r"[v^{l}]_{h} = w_{h}", r"l = 1, 2, \dots"]),
    ],
)  # fmt: skip
def test_formulas_of_each_rule(rule: Rule, expected: list[str]) -> None:
    assert rule_formulas(rule) == expected
    assert all(latex.mathml(formula) for formula in expected)


def test_a_long_equivalence_is_broken_at_its_terms() -> None:
    terms = [Sum(A[h, i, j] * T_h[h, a, b] * x[j, b] * w[k] * rho[q], (j, 1, m))
             for k in (h, i, j) for q in (i, k)]  # fmt: skip
    long = sum(terms, start=Integer(0))
    (formula,) = rule_formulas(Iff(id="s", because="", left=(w[h], w[k]), right=(w[h], long)))
    rows = formula.removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}").split(r"\\")
    assert len(rows) > 2
    assert all(width(row) <= LINE + 8 for row in rows)  # eight for the arrow in front
    assert latex.mathml(formula, True).count("<mtr>") == len(rows)


def test_a_long_witness_has_a_line_for_each_matrix() -> None:
    blocks = [[[[r, c], [0, 1]] for c in range(5)] for r in range(5)]
    (formula,) = rule_formulas(Witness(id="s", because="", values={"T": blocks}))
    rows = formula.removeprefix(r"\begin{aligned}").split(r"\\ &,")
    assert len(rows) == 5
    assert latex.mathml(formula, True).count("<mtable") == 1 + 25


def test_the_blocks_of_a_wide_matrix_are_listed_and_numbered() -> None:
    long = Sum(A[h, i, j] * x[j, b] * T_h[h, a, b], (j, 1, m), (b, 1, d))
    long += Sum(P[i, j] * w[k] * x[j, a], (j, 1, m)) + w[h] * rho[k] * rho[i]
    rows = tuple((index, n) for index in (i, k))
    wide = Blocks(rows, rows, ((long, Integer(0)), (rho[i], long)))
    rule = Determinant(id="s", because="", matrix=wide, factors=(wide,), value=Integer(1))
    determinant, *blocks = rule_formulas(rule)
    assert determinant == r"\det Q = 1"
    first = rf"Q_{{11}} = {printed(long)}, \quad Q_{{21}} = {printed(rho[i])}"
    assert blocks[:2] == [first, f"Q_{{22}} = {printed(long)}"]
    assert all(width(block) <= LINE for block in blocks[:2])
    assert "Q_{12}" not in " ".join(blocks)
    assert all(latex.mathml(formula, True) for formula in (determinant, *blocks))


def test_a_rule_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="s: no formula is known for a rule of kind Rule"):
        rule_formulas(Rule(id="s", because=""))
