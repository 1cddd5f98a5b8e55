"""Readable LaTeX of the SymPy sides of statements: entries, finite sums, Kronecker deltas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from sympy import Add, Expr, Symbol

from paper_checks.block_matrices import LINE, determinant_formulas
from paper_checks.expressions import broken_rows, equation, latex, relation, subscript, width
from theorems.checker.determinants import Determinant
from theorems.checker.wellformed import axes
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import Bound, Cited, Definition, Iff, Matrix, RankBound, Rule, Step, Witness

WITNESS = 120  # the same for matrices, whose columns stand under one another
CDOT, BREAK = r" \cdot ", r" \\ "


def _side_rows(sides: tuple[Expr, Expr], opening: str) -> list[str]:
    """An equation after an opening sign, in as few lines as its terms allow."""
    if width(whole := equation(sides)) <= LINE:
        return [f"{opening} {whole}"]
    left, right = broken_rows(sides[0]), broken_rows(sides[1])
    right[0] = f"= {right[0]}"
    rows = [f"{left[-1]} {right[0]}", *right[1:]] if len(left) == 1 else [*left, *right]
    return [f"{opening} {rows[0]}", *(rf"&\quad {row}" for row in rows[1:])]


def _matrix(matrix: Matrix) -> str:
    """The matrix of an entry, the indices of its rows and columns below and its shape on top."""
    entry, *sides = matrix
    below = subscript([latex(index) for side in sides for index, _ in axes(side)])
    products = ([latex(size) for _, size in axes(side)] for side in sides)
    sizes = [s[0] if len(s) < 2 else rf"({CDOT.join(s)})" for s in products]
    shape = r" \times ".join(sizes)
    return rf"\left[ {latex(entry)} \right]_{below}^{{{shape}}}"


def definition(item: Definition) -> str:
    """over * entry = value; the quotient is never written, as `over` may vanish."""
    return relation(item.over * item.entry, "=", item.value)


@singledispatch
def rule_formulas(rule: Rule) -> list[str]:
    """The display formulas of one link of a derivation.

    Raises: TypeError for a kind of rule that nobody has given a form.
    """
    raise TypeError(f"{rule.id}: no formula is known for a rule of kind {type(rule).__name__}")


@rule_formulas.register
def _(rule: Step) -> list[str]:
    return [relation(rule.lhs, "=", rule.rhs)]


@rule_formulas.register
def _(rule: Bound) -> list[str]:
    sign = "<" if rule.strict else r"\le"
    found = [relation(rule.small, sign, rule.large)]
    if rule.power > 1 or rule.small + rule.certificate != rule.large:
        power = rule.power
        found.append(relation(rule.large**power, "=", rule.small**power + rule.certificate))
    return found


@rule_formulas.register
def _(rule: Iff) -> list[str]:
    left, right = equation(rule.left), equation(rule.right)
    join = r"\;\Longleftrightarrow\; "
    if width(left + right) > LINE:
        rows = [*_side_rows(rule.left, "&"), *_side_rows(rule.right, rf"&{join}")]
        found = [rf"\begin{{aligned}} {BREAK.join(rows)} \end{{aligned}}"]
    else:
        found = [left + join + right]
    if rule.factor != 1:
        factor = latex(rule.factor)
        scale = rf"\left({factor}\right)" if isinstance(rule.factor, Add) else factor
        sides = rf"\text{{difference on the left}} = {scale} \cdot \text{{difference on the right}}"
        found.append(rf"{sides}, \quad {factor} > 0")
    return found


@rule_formulas.register
def _(rule: Vanishing) -> list[str]:
    join = r"\;\Longrightarrow\;" if rule.one_way else r"\;\Longleftrightarrow\;"
    found = [rf"{equation(rule.left)} {join} {equation(rule.right)}"]
    if width(found[0]) > LINE:
        found = [rf"\begin{{aligned}} & {equation(rule.left)} \\ &{join} {equation(rule.right)} "
                 r"\end{aligned}"]  # fmt: skip
    return found + (
        [relation(rule.total, "=", rule.identity[1])] if len({*rule.identity}) > 1 else []
    )


@rule_formulas.register
def _(rule: Logarithm) -> list[str]:
    return [rf"{equation(rule.left)} \;\Longleftrightarrow\; {equation(rule.right)}"]


@rule_formulas.register
def _(rule: Induction) -> list[str]:
    left, right = rule.claim("l")
    return [relation(left, "=", right), r"l = 1, 2, \dots"]


@rule_formulas.register
def _(rule: Determinant) -> list[str]:
    return determinant_formulas(rule, latex, width)


@rule_formulas.register
def _(rule: RankBound) -> list[str]:
    rank = r"\operatorname{rank}"
    found = [rf"{rank} {_matrix(rule.small)} \le {rank} {_matrix(rule.large)}"]
    factors = [_matrix(m) for m in (rule.before, rule.large, rule.after) if m is not None]
    if len(factors) > 1:
        rows = [rf"{_matrix(rule.small)} = {' '.join(factors)}"]
        if width(rows[0]) > LINE + 2 * len("^n x m"):  # shapes stand on top
            rows = [f"& {_matrix(rule.small)}", f"&= {factors[0]}"]
            rows += [rf"&\quad {factor}" for factor in factors[1:]]
        found.append(rows[0] if len(rows) == 1 else
                     rf"\begin{{aligned}} {BREAK.join(rows)} \end{{aligned}}")  # fmt: skip
    return found


@rule_formulas.register
def _(rule: Witness) -> list[str]:
    found = [_named(latex(Symbol(str(name))), value)
             for name, value in rule.values.items()]  # fmt: skip
    found += [equation(sides) for sides in rule.holds]
    return found + [rf"{latex(left)} \ne {latex(right)}" for left, right in rule.fails]


@rule_formulas.register
def _(rule: Cited) -> list[str]:
    return []


def _named(name: str, value: Any) -> str:
    """name = value, with the matrices of a long list in lines of their own."""
    whole = f"{name} = {_value(value)}"
    if not (_nested(value) and _nested(value[0])) or width(whole) <= WITNESS:
        return whole
    rows = [f"&{',' if at else rf'{name} = '} {_value(part)}" for at, part in enumerate(value)]
    return rf"\begin{{aligned}} {BREAK.join(rows)} \end{{aligned}}"


def _value(value: Any) -> str:
    """A number, or nested sequences as matrices (deeper ones as a list of matrices)."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return latex(value)
    if not value or not _nested(value):
        return "(" + ", ".join(_value(v) for v in value) + ")"
    value = [_numbers(row) for row in value]
    if not _nested(value):
        return _value(value)
    if any(_nested(row) for row in value):
        return r"\left(" + r",\; ".join(_value(v) for v in value) + r"\right)"
    rows = (" & ".join(_value(v) for v in row) for row in value)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def _numbers(value: Any) -> Any:
    """A value within an array of matrices, with its matrices of one entry as numbers."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not _nested(value):
        return value
    if len(value) == 1 and len(value[0]) == 1 and not _nested(value[0]):
        return value[0][0]
    return [_numbers(row) for row in value]


def _nested(value: Any) -> bool:
    return isinstance(value, Sequence) and any(
        isinstance(v, Sequence) and not isinstance(v, str) for v in value
    )


KINDS = {
    "Step": "sum identity",
    "Bound": "sum of nonnegatives",
    "Iff": "two directions of an iff",
    "Vanishing": "vanishing sum of nonnegatives",
    "Logarithm": "logarithm of products",
    "Induction": "induction",
    "RankBound": "rank of a product",
    "Determinant": "determinant of a product",
    "Witness": "exact witness",
    "Cited": "cited, not checked",
}


def kind(rule: Rule) -> str:
    """What sort of rule of inference a link of a derivation is, in words."""
    return KINDS.get(type(rule).__name__, type(rule).__name__)
