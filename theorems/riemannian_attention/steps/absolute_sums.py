"""RA13, sums of absolute values: hypotheses on them, and what they give for sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Indexed, IndexedBase, Integer, Sum, Symbol, latex

from theorems.assumptions.entries import absolute_value
from theorems.checker.exact import Draw, SmallIntegers, evaluate
from theorems.statement import Assumption, Bound, Definition, Local, array, symbols_of

i, j, k, l, r, h, g = symbols_of("i j k l r h g")
Axis = tuple[Symbol, Expr]


def at_most(slack: Indexed, total: Expr, bound: Expr, text: str) -> tuple[Definition, Local]:
    """total <= bound for all indices of the slack, with the slack that this leaves."""
    base = getattr(bound, "base", array(str(bound)))

    def impose(draw: Draw) -> None:
        if type(draw.source) is not SmallIntegers:
            return
        least: dict[tuple, Any] = {}
        for cell in draw.cells(slack.base):
            environment = dict(zip(slack.indices, cell, strict=True))
            place = tuple(environment[index] for index in getattr(bound, "indices", ()))
            found = evaluate(total, draw, environment)
            least[place] = max(found, least.get(place, found))
        for place, value in least.items():
            draw.put(base, place, value + draw.source.fresh(">=0"))

    leaves = Definition(slack, bound - total)
    return leaves, Local(f"{slack.base}>=0", text, (), impose, ((slack.base, ">=0"),))


@dataclass(frozen=True)
class Sums:
    """Bounds on the column and row sums of |X^h|, with all that makes their slacks nonnegative."""

    X: IndexedBase
    sizes: IndexedBase
    is_size: Assumption
    column: Symbol
    row: Symbol
    column_slack: IndexedBase
    row_slack: IndexedBase
    by_column: tuple[Any, ...]
    by_row: tuple[Any, ...]


def sizes_of(X: IndexedBase, sizes: IndexedBase) -> Assumption:
    """sizes = |X| entry by entry."""
    place = (h, i, j)[3 - len(X.shape) :]
    return absolute_value(sizes[place], X[place], latex(X.label))


def sums_of(X: IndexedBase, sizes: IndexedBase, column: Symbol, row: Symbol) -> Sums:
    """Column sums of |X^h| at most `column` and row sums at most `row`, for every h."""
    *lead, rows, columns = X.shape
    first = (h,)[: len(lead)]
    of_columns = array(f"s_{X}", *lead, columns)
    of_rows = array(f"t_{X}", *lead, rows)
    is_size, power = sizes_of(X, sizes), "^h" * len(lead)
    by_column = at_most(of_columns[*first, j], Sum(sizes[*first, i, j], (i, 1, rows)), column,
                        f"$\\lVert {X}{power} \\rVert_1 \\le {latex(column)}$")
    by_row = at_most(of_rows[*first, i], Sum(sizes[*first, i, j], (j, 1, columns)), row,
                     f"$\\lVert {X}{power} \\rVert_\\infty \\le {latex(row)}$")
    return Sums(X, sizes, is_size, column, row, of_columns, of_rows,
                (is_size, *by_column), (is_size, *by_row))


@dataclass(frozen=True)
class ProductBounds:
    """The bounds of C = |sum_h E^h F^h|: products, entries, signs, columns, rows, both norms."""

    is_size: Assumption
    pairs: Bound
    entries: Bound
    sign_column: Bound
    sign_row: Bound
    columns: Bound
    rows: Bound
    both: Bound

    @property
    def steps(self) -> tuple[Bound, ...]:
        """All of them, in the order of the argument."""
        return (self.pairs, self.entries, self.sign_column, self.sign_row, self.columns, self.rows,
                self.both)


def product_bounds(
    name: str, E: Sums, F: Sums, C: IndexedBase, product: Expr | None = None,
    by: Sequence[Any] = (),
) -> ProductBounds:
    """Column and row sums of |sum_h E^h F^h|, and their product in the form `product`."""
    *lead, n, m = E.X.shape
    p = F.X.shape[-1]
    one, two = (h,)[: len(lead)], (g,)[: len(lead)]
    heads, others = ([(index, 1, size) for index, size in zip(of, lead, strict=True)]
                     for of in (one, two))
    H = lead[0] if lead else Integer(1)

    def term(X: IndexedBase, Y: IndexedBase, of: tuple, inner: Symbol) -> Expr:
        return X[*of, i, inner] * Y[*of, inner, k]

    signed, sized = ((X, Y) for X, Y in ((E.X, F.X), (E.sizes, F.sizes)))
    small, large = (term(*pair, one, j) * term(*pair, two, l) for pair in (signed, sized))
    over = [*heads, (j, 1, m)]
    total, entry = (Sum(term(*pair, one, j), *over) for pair in (sized, signed))
    names = r"\sum_h {}^h {}^h" if lead else "{} {}"
    is_size = absolute_value(C[i, k], entry, names.format(E.X, F.X))
    sizes = (E.is_size, F.is_size)
    pairs = Bound(
        id=f"{name}_pairs", small=small, large=large, certificate=Integer(0), power=2, by=sizes,
        because="A product is at most that of the absolute values: the squares agree.",
    )
    gaps = array(f"g_{C}", n, p, *lead, m, *lead, m)
    gap = Definition(gaps[i, k, *one, j, *two, l], large - small)
    entries = Bound(
        id=f"{name}_entries", small=C[i, k], large=total, power=2, by=(gap, pairs, is_size, *sizes),
        certificate=Sum(gap.entry, *over, *others, (l, 1, m)),
        because="Squared, both sides are double sums over such products.",
    )
    sign_column = Bound(
        id=f"{name}_sign_column", small=Integer(0), large=E.column, by=E.by_column,
        certificate=Sum(E.sizes[*one, i, j], (i, 1, n)) + E.column_slack[*one, j],
        because="It bounds a sum of absolute values.",
    )
    sign_row = Bound(
        id=f"{name}_sign_row", small=Integer(0), large=F.row, by=F.by_row,
        certificate=Sum(F.sizes[*one, j, k], (k, 1, p)) + F.row_slack[*one, j],
        because="It bounds a sum of absolute values.",
    )
    slacks = array(f"d_{C}", n, p)
    slack = Definition(slacks[i, k], total - C[i, k])
    columns = Bound(
        id=f"{name}_columns", small=Sum(C[i, k], (i, 1, n)), large=H * E.column * F.column,
        certificate=Sum(slacks[i, k], (i, 1, n))
        + Sum(E.column_slack[*one, j] * F.sizes[*one, j, k], *over)
        + _over(E.column * F.column_slack[*one, k], heads),
        by=(slack, entries, sign_column, *E.by_column, *F.by_column),
        because="The column sums of the first factor times those of the second, head by head.",
    )
    rows = Bound(
        id=f"{name}_rows", small=Sum(C[i, k], (k, 1, p)), large=H * E.row * F.row,
        certificate=Sum(slacks[i, k], (k, 1, p))
        + Sum(E.sizes[*one, i, j] * F.row_slack[*one, j], *over)
        + _over(F.row * E.row_slack[*one, i], heads),
        by=(slack, entries, sign_row, *E.by_row, *F.by_row),
        because="The row sums likewise.",
    )
    return ProductBounds(is_size, pairs, entries, sign_column, sign_row, columns, rows,
                         _both(name, C, is_size, columns, rows, product, by))


def _over(entry: Expr, heads: Sequence[tuple]) -> Expr:
    return Sum(entry, *heads) if heads else entry


def _both(
    name: str, C: IndexedBase, is_size: Assumption, columns: Bound, rows: Bound,
    product: Expr | None, by: Sequence[Any],
) -> Bound:
    """A column sum times a row sum, at most the product of their bounds."""
    n, p = C.shape
    column_excess, row_excess = array(f"e_{C}", p), array(f"f_{C}", n)
    column, row = Sum(C[i, k], (i, 1, n)), Sum(C[r, l], (l, 1, p))
    of_column = Definition(column_excess[k], columns.large - columns.small)
    of_row = Definition(row_excess[i], rows.large - rows.small)
    return Bound(
        id=f"{name}_both", small=column * row,
        large=columns.large * rows.large if product is None else product,
        certificate=column_excess[k] * (row + row_excess[r]) + column * row_excess[r],
        by=(of_column, of_row, columns, rows, is_size, *by),
        because="The largest column sum times the largest row sum is the square of the composite.",
    )
