"""Expressions and relations of SymPy as LaTeX, in lines that fit on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from sympy import Add, Expr, Indexed, IndexedBase, Mul, Pow, Sum, Symbol
from sympy.printing.latex import LatexPrinter

from paper_checks.block_matrices import LINE

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
            return f"[{name}_{subscript(outer)}{top}]_{subscript(indices)}"
        if "_" in name or "^" in name or width(name.rstrip("'")) > 1:
            return f"[{name}{top}]_{subscript(indices)}"
        return f"{name}{top}_{subscript(indices)}"

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


def subscript(indices: Sequence[str]) -> str:
    separator = "" if all(len(index.lstrip("\\")) == 1 for index in indices) else ","
    return f"{{{separator.join(indices)}}}"


_PRINTER = _Printer()


@cache  # page, appendix and bibliography print the same formulas
def latex(expr: Expr) -> str:
    """One expression."""
    return _PRINTER.doprint(expr)


def width(formula: str) -> int:
    """About how many characters a formula is wide on paper, limits of sums counted once."""
    bare = re.sub(r"\\sum_\{[^{}]*\}\^\{[^{}]*\}", "SSS", formula)
    bare = re.sub(r"\\(left|right|Bigl|Bigr|text|operatorname|mathrm)\b|\\[,;!]", "", bare)
    return len(re.sub(r"[{}^_\s]", "", re.sub(r"\\[a-zA-Z]+", "x", bare)))


def one_line(formula: str) -> str:
    """A display formula for a terminal, without its line breaks and spaces of its own."""
    if r"\begin{aligned}" in formula:  # the rows of a matrix keep their marks
        formula = re.sub(r"\\(begin|end)\{aligned\}|\\\\|&", " ", formula)
    return " ".join(re.sub(r"\\(quad\b|[,;!])", " ", formula).split())


@cache
def relation(left: Expr, sign: str, right: Expr) -> str:
    """left sign right, broken at the sign and at sums of terms where a line would be too long."""
    one_line = f"{latex(left)} {sign} {latex(right)}"
    if width(one_line) <= LINE:
        return one_line
    rows = [f"& {row}" for row in broken_rows(left)]
    rows += [
        f"&{sign} {row}" if i == 0 else rf"&\quad {row}" for i, row in enumerate(broken_rows(right))
    ]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def broken_rows(expr: Expr) -> list[str]:
    """An expression in as few lines as its top-level terms allow."""
    whole = latex(expr)
    if width(whole) <= LINE:
        return [whole]
    if not isinstance(expr, Add):
        return _broken(expr)
    rows: list[str] = []
    full = True  # whether the last row takes no further term
    for term in expr.as_ordered_terms():
        text = latex(term)
        signed = text if text.startswith("-") or not rows else f"+ {text}"
        if width(signed) > LINE:
            first, *others = _broken(term)
            sign = "" if first.startswith("-") or not rows else "+ "
            rows += [sign + first, *others]
            full = True
        elif full or width(rows[-1]) + width(signed) > LINE:
            rows.append(signed)
            full = False
        else:
            rows[-1] += f" {signed}"
    return rows


def _broken(expr: Expr) -> list[str]:
    """A product or a sum over indices in as few lines as the terms in its widest bracket allow."""
    if isinstance(expr, Sum):
        signs = latex(Sum(Symbol("x"), *expr.limits)).removesuffix("x")
        if isinstance(expr.function, Add):
            return _bracketed(signs, expr.function)
        first, *others = _broken(expr.function)
        return [signs + first, *others]
    coefficient, rest = expr.as_coeff_Mul()
    factors = list(Mul.make_args(rest))
    open_ = [f for f in factors if isinstance(f, Add) or (isinstance(f, Sum) and f.has(Add))]
    if not open_ or (len(factors) == 1 and coefficient == 1 and not isinstance(rest, Sum)):
        return [latex(expr)]
    widest = max(open_, key=lambda factor: width(latex(factor)))
    factors.remove(widest)
    before = "-" if coefficient == -1 else latex(coefficient) if coefficient != 1 else ""
    before += " ".join(
        rf" \left({latex(f)}\right)" if isinstance(f, Add | Sum) else f" {latex(f)}"
        for f in factors
    )
    if isinstance(widest, Add):
        return _bracketed(before, widest)
    first, *others = _broken(widest)
    return [f"{before} {first}", *others]


def _bracketed(before: str, terms: Add) -> list[str]:
    rows = broken_rows(terms)
    rows[0] = rf"{before} \Bigl({rows[0]}"
    return [*rows[:-1], rf"{rows[-1]}\Bigr)"] if len(rows) > 1 else [rf"{rows[0]}\Bigr)"]


def equation(sides: tuple[Expr, Expr]) -> str:
    """left = right, on one line."""
    return f"{latex(sides[0])} = {latex(sides[1])}"
