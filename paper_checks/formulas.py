"""Readable LaTeX of the SymPy sides of statements: entries, finite sums, Kronecker deltas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from sympy import Add, Expr, Indexed, IndexedBase, Pow, Sum, Symbol
from sympy.printing.latex import LatexPrinter

from paper_checks.block_matrices import LINE, determinant_formulas
from theorems.determinants import Determinant
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import Bound, Cited, Definition, Iff, Matrix, RankBound, Rule, Step, Witness
from theorems.wellformed import axes

WITNESS = 120  # the same for matrices, whose columns stand under one another
CDOT, BREAK = r" \cdot ", r" \\ "
HEADS = "H"  # an axis of this size counts heads; its index stands on top


class _Printer(LatexPrinter):
    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        bare = expr.name.rstrip("'")  # SymPy knows pi as Greek, and pi' not
        return super()._print_Symbol(Symbol(bare), style) + "'" * (len(expr.name) - len(bare))

    def _print_Indexed(self, expr: Indexed) -> str:
        name = self._print(Symbol(str(expr.base.label)))
        indices = [self._print(index) for index in expr.indices]
        shape = expr.base.shape
        top = f"^{{{indices.pop(0)}}}" if len(indices) > 1 and shape and str(shape[0]) == HEADS \
            else ""  # fmt: skip
        if top and "^" in name:  # no symbol has two superscripts
            name = f"({name})"
        if len(indices) > 2:  # an array of matrices: T[i, j, a, b] is the entry (a, b) of T_ij
            outer, indices = indices[:-2], indices[-2:]
            name = f"({name})" if "_" in name else name
            return f"[{name}_{_row(outer)}{top}]_{_row(indices)}"
        if "_" in name or "^" in name or width(name.rstrip("'")) > 1:
            return f"[{name}{top}]_{_row(indices)}"
        return f"{name}{top}_{_row(indices)}"

    def _print_IndexedBase(self, expr: IndexedBase) -> str:
        return self._print(Symbol(str(expr.label)))

    def _print_Sum(self, expr: Sum) -> str:
        signs = [
            rf"\sum_{{{self._print(index)}={self._print(low)}}}^{{{self._print(high)}}}"
            for index, low, high in reversed(expr.limits)
        ]
        body = self._print(expr.function)
        if isinstance(expr.function, Add):
            body = rf"\left({body}\right)"
        return " ".join([*signs, body])

    def _print_Pow(self, expr: Pow) -> str:
        if isinstance(expr.base, Indexed) and expr.exp.is_positive:
            return f"({self._print(expr.base)})^{{{self._print(expr.exp)}}}"
        return super()._print_Pow(expr)


def _row(indices: Sequence[str]) -> str:
    separator = "" if all(len(index.lstrip("\\")) == 1 for index in indices) else ","
    return f"{{{separator.join(indices)}}}"


_PRINTER = _Printer()


def latex(expr: Expr) -> str:
    """One expression."""
    return _PRINTER.doprint(expr)


def width(formula: str) -> int:
    """About how many characters a formula is wide on paper, limits of sums counted once."""
    bare = re.sub(r"\\sum_\{[^{}]*\}\^\{[^{}]*\}", "SSS", formula)
    bare = re.sub(r"\\(left|right|text|operatorname|mathrm)\b|\\[,;!]", "", bare)
    return len(re.sub(r"[{}^_\s]", "", re.sub(r"\\[a-zA-Z]+", "x", bare)))


def one_line(formula: str) -> str:
    """A display formula for a terminal, without its line breaks and spaces of its own."""
    if r"\begin{aligned}" in formula:  # the rows of a matrix keep their marks
        formula = re.sub(r"\\(begin|end)\{aligned\}|\\\\|&", " ", formula)
    return " ".join(re.sub(r"\\(quad\b|[,;!])", " ", formula).split())


def relation(left: Expr, sign: str, right: Expr) -> str:
    """left sign right, broken at the sign and at sums of terms where a line would be too long."""
    one_line = f"{latex(left)} {sign} {latex(right)}"
    if width(one_line) <= LINE:
        return one_line
    rows = [f"& {row}" for row in _rows(left)]
    rows += [f"&{sign} {row}" if i == 0 else rf"&\quad {row}" for i, row in enumerate(_rows(right))]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _rows(expr: Expr) -> list[str]:
    """An expression in as few lines as its top-level terms allow."""
    whole = latex(expr)
    if width(whole) <= LINE or not isinstance(expr, Add):
        return [whole]
    rows: list[str] = []
    for term in expr.as_ordered_terms():
        text = latex(term)
        signed = text if text.startswith("-") or not rows else f"+ {text}"
        if rows and width(rows[-1]) + width(signed) <= LINE:
            rows[-1] += f" {signed}"
        else:
            rows.append(signed)
    return rows


def _side_rows(sides: tuple[Expr, Expr], opening: str) -> list[str]:
    """An equation after an opening sign, in as few lines as its terms allow."""
    if width(whole := equation(sides)) <= LINE:
        return [f"{opening} {whole}"]
    left, right = _rows(sides[0]), _rows(sides[1])
    right[0] = f"= {right[0]}"
    rows = [f"{left[-1]} {right[0]}", *right[1:]] if len(left) == 1 else [*left, *right]
    return [f"{opening} {rows[0]}", *(rf"&\quad {row}" for row in rows[1:])]


def equation(sides: tuple[Expr, Expr]) -> str:
    """left = right, on one line."""
    return f"{latex(sides[0])} = {latex(sides[1])}"


def _matrix(matrix: Matrix) -> str:
    """The matrix of an entry, the indices of its rows and columns below and its shape on top."""
    entry, *sides = matrix
    below = _row([latex(index) for side in sides for index, _ in axes(side)])
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
        found.append(rf"{_matrix(rule.small)} = {' '.join(factors)}")
    return found


@rule_formulas.register
def _(rule: Witness) -> list[str]:
    found = [_named(_PRINTER.doprint(Symbol(str(name))), value)
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
        return _PRINTER.doprint(value)
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
