"""Tokens of RA1 at which quadratic features are independent, by reading their coefficients off."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.assumptions.widths import independent_symmetric
from theorems.statement import Bound, Definition, Step, array, symbols_of

m, d, g = symbols_of("m d g")
a, b, c, e, h, k, o, p, q = symbols_of("a b c e h k o p q")
half = Rational(1, 2)

# Query features of 1 + d + g tokens: x_0 = s z, x_a = G_a^{-1} e_a, and g tokens at 0.
c_0, ell, kappa = Symbol("c_0", real=True), array("ell", d), array("kappa", g)
G_0, z = array("G_0", d, d), array("z", m, d)
G_d, H_d = array("G_d", d, d, d), array("H_d", d, d, d)
g_0, g_d, g_g = array("g_0", g), array("g_d", d, g), array("g_g", g, g)
g_inv, f_d, f_g = array("g_g^{-1}", g, g), array("f_d", d), array("f_g", g)
s, t, V, r, f_0 = (array(name, m) for name in ("s", "t", "V", "r", "f_0"))


def combination(
    token: Callable[[Expr], Expr], metric: Callable[[Expr, Expr], Expr],
    share: Callable[[Expr], Expr],
) -> Expr:
    """c_0 x^T G x + l^T G x + kappa^T gamma, for a token, a metric and its coordinates."""
    moved = Sum(metric(b, c) * token(c), (c, 1, d))
    return (
        c_0 * Sum(token(b) * moved, (b, 1, d))
        + Sum(ell[b] * moved, (b, 1, d))
        + Sum(share(q) * kappa[q], (q, 1, g))
    )


inverses, span_rows = right_inverse(G_d, H_d), right_inverse(g_g, g_inv)
at_token_0 = Definition(f_0[o], combination(
    lambda c: s[o] * z[o, c], lambda b, c: G_0[b, c], lambda q: g_0[q]))
at_token_a = Definition(f_d[a], combination(
    lambda c: H_d[a, c, a], lambda b, c: G_d[a, b, c], lambda q: g_d[a, q]))
at_zero = Definition(f_g[p], combination(
    lambda c: Integer(0), lambda b, c: G_0[b, c], lambda q: g_g[p, q]))
size = Definition(V[o], Sum(z[o, a] * G_0[a, b] * z[o, b], (a, 1, d), (b, 1, d)))
trace = Definition(t[o], Sum(G_0[a, b] * z[o, b] * H_d[a, a, a], (a, 1, d), (b, 1, d)))
positive_V = signed(V, ">0")
reciprocal = Definition(r[o], Integer(1), over=V[o])
scale = Definition(s[o], r[o] * ((t[o] + half) ** 2 + Rational(3, 4)))
rest = array("f'", d)
remainder = Definition(rest[a], f_d[a] - Sum(g_d[a, q] * kappa[q], (q, 1, g)))
read_gamma = Step(
    id="read_gamma", lhs=Sum(g_inv[h, p] * f_g[p], (p, 1, g)), rhs=kappa[h],
    by=(at_zero, span_rows),
    because="At g tokens 0 only the coordinates of the metrics remain, and they are invertible.",
)
read_linear = Step(
    id="read_linear", lhs=rest[a], rhs=c_0 * H_d[a, a, a] + ell[a],
    by=(remainder, at_token_a, inverses),
    because="At x_a = G_a^{-1} e_a the linear features are e_a, and x_a^T G_a x_a is the entry aa "
    "of the inverse.",
)
read_square = Step(
    id="read_square",
    lhs=f_0[o] - Sum(g_0[q] * kappa[q], (q, 1, g))
    - s[o] * Sum(G_0[a, b] * z[o, b] * rest[a], (a, 1, d), (b, 1, d)),
    rhs=c_0 * (s[o] ** 2 * V[o] - s[o] * t[o]),
    by=(read_linear, at_token_0, size, trace),
    because="At x_0 = s z the linear part is cancelled by the d tokens before.",
)
determined = Bound(
    id="determined", small=Integer(0), large=s[o] ** 2 * V[o] - s[o] * t[o], strict=True,
    certificate=r[o] * ((t[o] + half) ** 2 + Rational(3, 4)) * (1 + t[o] ** 2),
    by=(scale, reciprocal, positive_V),
    because="s V = 1 + t + t^2, so s (s V - t) = s (1 + t^2) > 0.",
)

# Key features at the points 0, e_a, e_a + e_b.
C, dual, Y = array("C", g, d, d), array("C^+", g, d, d), array("Y", g)
F_0, F_1, F_2 = Symbol("F_0", real=True), array("F_1", d), array("F_2", d, d)


def function(point: Callable[[Expr], Expr]) -> Expr:
    """c_0 + l^T y + sum_q kappa_q y^T C_q y at a point."""
    value = Sum(point(b) * C[q, b, c] * point(c), (b, 1, d), (c, 1, d))
    return c_0 + Sum(ell[b] * point(b), (b, 1, d)) + Sum(kappa[q] * value, (q, 1, g))


origin = Definition(F_0, function(lambda c: Integer(0)))
unit = Definition(F_1[k], function(lambda c: KroneckerDelta(c, k)))
pair = Definition(F_2[k, e], function(lambda c: KroneckerDelta(c, k) + KroneckerDelta(c, e)))
mixed = F_2[a, b] - F_1[a] - F_1[b] + F_0
lattice = (origin, unit, pair)
symmetric = independent_symmetric(C, dual)
key_constant = Step(
    id="key_constant", lhs=F_0, rhs=c_0, by=(origin,), because="The value at 0.",
)
key_quadratic = Step(
    id="key_quadratic", lhs=Sum(dual[h, a, b] * mixed, (a, 1, d), (b, 1, d)), rhs=2 * kappa[h],
    by=(*lattice, symmetric),
    because="Second differences on the lattice are the entries of the quadratic form, and its "
    "matrices are independent.",
)
key_linear = Step(
    id="key_linear", lhs=F_1[k] - half * (F_2[k, k] - 2 * F_1[k] + F_0) - F_0, rhs=ell[k],
    by=lattice, because="The second difference removes the quadratic part of e_k.",
)

# Query features have degree 1 in the metric, key features degree 0: G and 2 G tell them apart.
x_s, G_s, g_s = array("x_s", d), array("G_s", d, d), array("g_s", g)
single, double, key_value = (Symbol(name, real=True) for name in ("h_1", "h_2", "k_0"))
query_value = combination(lambda c: x_s[c], lambda b, c: G_s[b, c], lambda q: g_s[q])
twice = combination(lambda c: x_s[c], lambda b, c: 2 * G_s[b, c], lambda q: 2 * g_s[q])
both_values = (Definition(single, query_value + key_value), Definition(double, twice + key_value))
query_apart = Step(
    id="query_apart", lhs=double - single, rhs=query_value, by=both_values,
    because="Doubling the metric doubles the combination of query features.",
)
key_apart = Step(
    id="key_apart", lhs=2 * single - double, rhs=key_value, by=both_values,
    because="It leaves that of key features, whatever it is.",
)
