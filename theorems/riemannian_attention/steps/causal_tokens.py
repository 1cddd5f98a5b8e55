"""RA17, differences from the first token of a causal stack: copies, token k, and later tokens.

The first m = k - 1 tokens are u, token k is v, later tokens are x_i; rows of weights sum to 1.
"""

from __future__ import annotations

from sympy import Expr, Indexed, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed, sums_to_one
from theorems.assumptions.levels import STAGES, induction_hypothesis, level, number
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, evaluate
from theorems.rules import Induction
from theorems.statement import (
    Bound, Definition, Equation, Local, Step, array, symbols_of,
)

n, m, N, d = symbols_of("n m N d")
i, j, p, q, e = symbols_of("i j p q e")
half = Rational(1, 2)

# All tokens after the first: A_ij with w_i = A_i1 on the first, y_i = x_i - x_1, |y_i| <= r.
A, w, y, T, s, kappa = (array("A", n, n), array("w", n), array("y", n, d), array("T", n),
                        array("s", n), array("kappa", n, n))
r, w_0 = Symbol("r", real=True), Symbol("w_0", real=True)
nonnegative_A = signed(A, ">=0")


def moved(i: Symbol) -> Expr:
    """Entry (i, e) of sum_j A_ij y_j."""
    return Sum(A[i, j] * y[j, e], (j, 1, n))


def _in_the_ball(draw: Draw) -> None:
    for (token,) in draw.cells(s):
        radius, share = draw.get("r", ()), draw.source.rng.choice((1, 1, 0, -1))
        for place, value in enumerate(unit_vector(draw, draw.size(d)), start=1):
            draw.put(y, (token, place), radius * share * value)


within = Definition(s[j], r**2 - Sum(y[j, e] ** 2, (e, 1, d)))
in_the_ball = Local("s>=0", r"$|y_j| \le r$ for every token", (), _in_the_ball,
                    ((s, ">=0"),))
products = Bound(
    id="products", small=Sum(y[i, e] * y[j, e], (e, 1, d)), large=r**2,
    certificate=half * s[i] + half * s[j] + half * Sum((y[i, e] - y[j, e]) ** 2, (e, 1, d)),
    by=(within, in_the_ball), because="The mean of two squares less half that of the difference.")
apart = Bound(
    id="apart", small=Sum((y[i, e] - y[j, e]) ** 2, (e, 1, d)), large=4 * r**2,
    certificate=2 * s[i] + 2 * s[j] + Sum((y[i, e] + y[j, e]) ** 2, (e, 1, d)),
    by=(within, in_the_ball), because="The parallelogram law.")
product_gap = Definition(kappa[i, j], products.large - products.small)
row_rest = Definition(T[i], Sum(A[i, j], (j, 1, n)))
shrinks = Bound(
    id="shrinks", small=Sum(moved(i) ** 2, (e, 1, d)), large=T[i] ** 2 * r**2,
    certificate=Sum(A[i, j] * A[i, q] * kappa[j, q], (j, 1, n), (q, 1, n)),
    by=(product_gap, row_rest, products, nonnegative_A),
    because="|sum_j A_ij y_j| <= sum_j A_ij r.")
shrink_gap, first_gap = array("sigma", n), array("epsilon", n)
of_first = Definition(w[i], 1 - Sum(A[i, j], (j, 1, n)))
least_first = Definition(first_gap[i], w[i] - w_0)
at_least = Local("epsilon>=0", r"$A_{i1} \ge w_0$ for every token after the first",
                 signs=((first_gap, ">=0"),))
shrunk = Definition(shrink_gap[i], shrinks.large - shrinks.small)
contraction = Bound(
    id="contraction", small=Sum(moved(i) ** 2, (e, 1, d)), large=(1 - w_0) ** 2 * r**2,
    certificate=shrink_gap[i] + r**2 * first_gap[i] * (2 * T[i] + first_gap[i]),
    by=(shrunk, least_first, of_first, row_rest, shrinks, at_least, nonnegative_A),
    because="The weights on the others sum to 1 - A_i1.")

# The copies u of the first token, token k with weights V_p and a, later tokens.
u, v, x, V, C, b, B, c = (
    array("u", d), array("v", d), array("x", N, d), array("V", m), array("C", N, m), array("b", N),
    array("B", N, N), array("c", N, N),
)
A_u, A_x = array("A_u", m, m), array("A_x", N, N)
a = Symbol("a", real=True)


def unit_row(copies: Indexed, rest: Expr, name: str, text: str) -> Local:
    """A row sums to 1; instances choose its weight on the first copy."""
    base, lead = copies.base, copies.indices[:-1]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(base, len(lead)):
            others = [draw.get(str(base), (*cell, place)) for place in range(2, draw.size(m) + 1)]
            taken = evaluate(rest, draw, dict(zip(lead, cell, strict=True)))
            draw.put(base, (*cell, 1), 1 - taken - sum(others))

    return Local(name, text, ((Sum(copies, (p, 1, m)), 1 - rest),), impose)


row_k = unit_row(V[p], a, "row k sums to 1", r"$\sum_p V_p + a = 1$")
later_rows = unit_row(C[i, p], b[i] + Sum(A_x[i, j], (j, 1, N)), "later rows sum to 1",
                      r"$\sum_p C_{ip} + b_i + \sum_j A_{ij} = 1$")
copies = Step(
    id="copies", lhs=Sum(A_u[q, p] * u[e], (p, 1, m)), rhs=u[e], by=(sums_to_one(A_u),),
    because="The first k - 1 tokens see only one another.")
token_k = Step(
    id="token_k", lhs=Sum(V[p] * u[e], (p, 1, m)) + a * v[e] - u[e], rhs=a * (v[e] - u[e]),
    by=(row_k,), because="Token k sees copies of the first token, and itself.")
later_tokens = Step(
    id="later_tokens", by=(later_rows,),
    lhs=Sum(C[i, p] * u[e], (p, 1, m)) + b[i] * v[e] + Sum(A_x[i, j] * x[j, e], (j, 1, N)) - u[e],
    rhs=b[i] * (v[e] - u[e]) + Sum(A_x[i, j] * (x[j, e] - u[e]), (j, 1, N)),
    because="The weights sum to 1, so u comes off every token.")

y_k, y_x, z_k, z, z_k_next, z_next = (
    array("y_k", d), array("Y", N, d), array("z_k", d), array("z", N, d), array("z_k'", d),
    array("z'", N, d))
length, length_inv, a_inv = (Symbol(name, real=True) for name in ("N_k", "N_k^{-1}", "a^{-1}"))


def _of_length(draw: Draw) -> None:
    for place, value in enumerate(unit_vector(draw, draw.size(d)), start=1):
        draw.put(y_k, (place,), draw.get("N_k", ()) * value)


is_length = Local(
    "N_k = |y_k|", "$N_k = |y_k| > 0$", ((Sum(y_k[e] ** 2, (e, 1, d)), length**2),), _of_length,
    ((array("N_k"), ">0"),))
positive_a = signed(array("a"), ">0")
reciprocals = (Definition(length_inv, Integer(1), over=length),
               Definition(a_inv, Integer(1), over=a))
divided = (*reciprocals, is_length, positive_a)


def _fill_order(draw: Draw) -> None:
    for row, column in draw.cells(c):
        draw.put(c, (row, column), int(column <= row))


order = Local(
    "c is the causal mask", r"$c_{ij} = 1$ for $j \le i$ and $0$ elsewhere",
    ((c[i, j] ** 2, c[i, j]), (c[i, i], Integer(1))), _fill_order)
masked = Definition(A_x[i, j], c[i, j] * B[i, j])
update_k = a * y_k[e]
update = b[i] * y_k[e] + Sum(A_x[i, j] * y_x[j, e], (j, 1, N))
now = (Definition(z_k[e], y_k[e] * length_inv), Definition(z[i, e], y_x[i, e] * length_inv))
after = (Definition(z_k_next[e], update_k * a_inv * length_inv),
         Definition(z_next[i, e], update * a_inv * length_inv))
length_next = Step(
    id="length_next", lhs=Sum(update_k**2, (e, 1, d)), rhs=(a * length) ** 2, by=(is_length,),
    because="So |y_k| is multiplied by A_kk > 0.")
direction = Step(
    id="direction", lhs=z_k_next[e], rhs=z_k[e],
    by=(after[0], now[0], *divided), because="A_kk cancels.")
unscaled = b[i] * z_k[e] + Sum(A_x[i, j] * z[j, e], (j, 1, N))
normalised_update = Step(
    id="normalised_update", lhs=z_next[i, e], by=(after[1], *now, masked, *divided),
    rhs=a_inv * unscaled,
    because="Divide by A_kk |y_k|.")
alpha, beta = array("alpha", N), array("beta", N, d)
factor = Definition(alpha[i], A_x[i, i] * a_inv)
forcing = Definition(beta[i, e], a_inv * b[i] * z_k[e] + Sum(
    (c[i, j] - KroneckerDelta(i, j)) * a_inv * A_x[i, j] * z[j, e], (j, 1, N)))
linear = Step(
    id="linear", lhs=z_next[i, e], rhs=alpha[i] * z[i, e] + beta[i, e],
    by=(factor, forcing, after[1], *now, masked, order, *divided),
    because="Token i itself, and the tokens from k to i - 1.")

spread, spread_next, size, size_next = (Symbol(name, real=True)
                                        for name in ("rho", "rho'", "r", "r'"))
ratio = Step(
    id="ratio", lhs=size_next * spread, rhs=a * size * spread_next,
    by=(Definition(size, length * spread), Definition(size_next, a * length * spread_next)),
    because=r"$r = |y_k| \rho$ with $\rho = \max_i |z_i|$, and $|y_k'| = A_{kk} |y_k|$.")


y_0 = array("y_0", d)
steps, factors = ({stage: level("y", stage, d) for stage in STAGES},
                  {stage: number("P", stage) for stage in STAGES})


def depth_claim(label: str) -> Equation:
    """The difference of token k after some layers is the product of its own weights times y_0."""
    return level("y", label, d)[i], number("P", label) * y_0[i]


depth_l = induction_hypothesis("the product", depth_claim("l"), steps["l"], depth_claim("l")[1])


def layer_row(label: str, before: Expr) -> tuple[Definition, Local]:
    """The difference after a layer of u + before, for token k, with its row of weights."""
    row, weight = level("V", label, m), number("a", label)
    value = Sum(row[p] * u[i], (p, 1, m)) + weight * (u[i] + before) - u[i]
    return Definition(steps[label][i], value), unit_row(
        row[p], weight, f"row k sums to 1 in layer {label}",
        f"$\\sum_p V_p + a = 1$ in layer ${label}$")


first_layer = Step(
    id="first_layer", lhs=depth_claim("1")[0], rhs=depth_claim("1")[1],
    by=(*layer_row("1", y_0[i]), Definition(factors["1"], number("a", "1"))),
    because="One layer multiplies by A_kk.")
next_layer = Step(
    id="next_layer", lhs=depth_claim("l+1")[0], rhs=depth_claim("l+1")[1],
    by=(*layer_row("l+1", steps["l"][i]),
        Definition(factors["l+1"], number("a", "l+1") * factors["l"]), depth_l),
    because="So does the next.")
depth = Induction(id="depth", claim=depth_claim, hypothesis=depth_l, by=(first_layer, next_layer),
                  because="So it is at every depth.")

share = Symbol("kappa_k", real=True)
y_1, y_2 = array("y'", d), array("y''", d)


def _equal_shares(draw: Draw) -> None:
    draw.put(array("kappa_k"), (), draw.source.inverse(draw.size(m) + 1))


equal_shares = Local(
    "equal weights of sum 1", r"token $k$ gives equal weights $\kappa_k$ of sum 1",
    ((m * share, 1 - share),), _equal_shares)


def averaged(before: Expr) -> Expr:
    """The difference of token k after a layer with equal weights."""
    return Sum(share * u[e], (p, 1, m)) + share * (u[e] + before) - u[e]


once, twice = Definition(y_1[e], averaged(y_0[e])), Definition(y_2[e], averaged(y_1[e]))
kth_part = Step(
    id="kth_part", lhs=(m + 1) * y_1[e], rhs=y_0[e], by=(once, equal_shares),
    because="k - 1 copies of the first token and token k itself.")
constant_ratio = Step(
    id="constant_ratio", lhs=y_2[e] * y_0[e], rhs=y_1[e] ** 2, by=(twice, once, equal_shares),
    because="Every layer divides by k.")
