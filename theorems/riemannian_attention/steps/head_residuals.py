"""RA13, the repair of the multi-head bound: heads with residuals Z^h and value maps W^h.

|Z^h|_1 <= kappa_h c and |Z^h|_inf <= kappa_h c', kappa_h <= q, |W^h|_1 <= w, |W^h|_inf <= v.
"""

from __future__ import annotations

from sympy import Expr, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.checker.exact import Draw, Rejected, SmallIntegers
from theorems.riemannian_attention.steps.absolute_sums import (
    Sums, at_most, product_bounds, sizes_of, sums_of,
)
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

n, m, p, H = symbols_of("n m p H")
i, j, k, l, h = symbols_of("i j k l h")
Z, W, Y, U, C_H = (array("Z", H, n, m), array("W", H, m, p), array("Y", H, n, m),
                   array("U", H, m, p), array("C_H", n, p))
kappa, theta, columns_0, rows_0 = (array("kappa", H), array("theta", H), array("s_0", H, m),
                                   array("t_0", H, n))
a, a_row, w, v, q, c, c_row = (
    Symbol(name, real=True) for name in ("a", "a'", "w", "v", "q", "c", "c'")
)

is_size = sizes_of(Z, Y)
largest, kappa_at_most = at_most(theta[h], kappa[h], q, r"$\kappa_h \le q$")
positive_c, positive_c_row = (signed(array(str(part)), ">=0") for part in (c, c_row))


def _share_of_heads(draw: Draw) -> None:
    """kappa_h is the least that serves for columns and rows, or more."""
    if type(draw.source) is not SmallIntegers:
        return
    factors = [draw.get(str(part), ()) for part in (c, c_row)]
    heads, rows, columns = draw.shape(Y)
    for head in range(1, heads + 1):
        entry = [[draw.get(str(Y), (head, row, column)) for column in range(1, columns + 1)]
                 for row in range(1, rows + 1)]
        sums = max(map(sum, zip(*entry, strict=True))), max(map(sum, entry))
        if any(factor <= 0 < total for factor, total in zip(factors, sums, strict=True)):
            raise Rejected("no multiple of 0 bounds a residual")
        least = [total * draw.source.inverse(factor) if total else 0
                 for factor, total in zip(factors, sums, strict=True)]
        draw.put(kappa, (head,), max(least) + draw.source.rng.choice((0, 0, 1)))


column_shares = Definition(columns_0[h, j], kappa[h] * c - Sum(Y[h, i, j], (i, 1, n)))
row_shares = Definition(rows_0[h, i], kappa[h] * c_row - Sum(Y[h, i, j], (j, 1, m)))
share_of_heads = Local(
    "s_0>=0, t_0>=0", r"$\lVert Z^h \rVert_1 \le \kappa_h c$ and $\lVert Z^h \rVert_\infty \le "
    r"\kappa_h c'$", (), _share_of_heads, ((columns_0, ">=0"), (rows_0, ">=0")))
of_columns, of_rows = Definition(a, q * c), Definition(a_row, q * c_row)
residual_columns = Bound(
    id="residual_columns", small=Sum(Y[h, i, j], (i, 1, n)), large=a,
    certificate=columns_0[h, j] + theta[h] * c,
    by=(is_size, of_columns, column_shares, largest, positive_c, positive_c_row, share_of_heads,
        kappa_at_most), because="kappa_h <= q.")
residual_rows = Bound(
    id="residual_rows", small=Sum(Y[h, i, j], (j, 1, m)), large=a_row,
    certificate=rows_0[h, i] + theta[h] * c_row,
    by=(is_size, of_rows, row_shares, largest, positive_c, positive_c_row, share_of_heads,
        kappa_at_most), because="kappa_h <= q.")

s, t = array("s_Z", H, m), array("t_Z", H, n)
residuals = Sums(
    Z, Y, is_size, a, a_row, s, t,
    (is_size, Definition(s[h, j], a - Sum(Y[h, i, j], (i, 1, n))), residual_columns),
    (is_size, Definition(t[h, i], a_row - Sum(Y[h, i, j], (j, 1, m))), residual_rows))
multi_head = product_bounds("heads", residuals, sums_of(W, U, w, v), C_H,
                            (H * q) ** 2 * w * v * c * c_row, (of_columns, of_rows))

A, x, z, shift = array("A", H, n, n), array("x", n, m), array("z", H, m), array("zeta", p)
residual_of_head = Definition(Z[h, i, j], Sum(A[h, i, l] * x[l, j], (l, 1, n)) - z[h, j])
common = Definition(shift[k], Sum(z[h, j] * W[h, j, k], (h, 1, H), (j, 1, m)))


def layer(head: Expr) -> Expr:
    """Entry (i, k) of sum_h X^h W^h, for the entry (i, j) of X^h."""
    return Sum(head * W[h, j, k], (h, 1, H), (j, 1, m))


one_row = Step(
    id="one_row", lhs=layer(Z[h, i, j]), by=(residual_of_head, common),
    rhs=layer(Sum(A[h, i, l] * x[l, j], (l, 1, n))) - shift[k],
    because="Each head less a row less the same row for all tokens: a residual of the layer.")
