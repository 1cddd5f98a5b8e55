"""RA6, what factored metrics cost: multiplications and divisions, counted exactly.

A symmetric product, a triangular solve and a Cholesky factorisation grow by one row at a time, so
their counts are inductions on the rank; the level's rank is the number m.
"""

from __future__ import annotations

from sympy import Expr, Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.rules import Induction
from theorems.statement import Bound, Definition, Equation, Step, array, symbols_of

d, r = symbols_of("d r")
a, c = symbols_of("a c")
FEATURE, RANK = (a, 1, d), (c, 1, r)
m, gram, factor = ({label: number(name, label) for label in STAGES} for name in ("m", "g", "f"))
first_rank = Definition(m["1"], Integer(1))
next_rank = Definition(m["l+1"], m["l"] + 1)
some_rank = signed(array(m["l"].name), ">0")


def triangle(rows: Expr) -> Expr:
    """Entries on and below the diagonal of a square matrix."""
    return rows * (rows + 1) / 2


def cholesky(rows: Expr) -> Expr:
    """Multiplications and divisions of a Cholesky factorisation; it takes `rows` roots besides."""
    return rows * (rows - 1) * (rows + 4) / 6


def gram_claim(label: str) -> Equation:
    """U^T (D^{-1} U) takes d multiplications for each entry of its lower triangle."""
    return number("g", label), d * triangle(number("m", label))


def factor_claim(label: str) -> Equation:
    """The Cholesky factor of m rows takes m (m - 1) (m + 4) / 6."""
    return number("f", label), cholesky(number("m", label))


gram_l = induction_hypothesis(
    "the count of the capacitance", gram_claim("l"), gram["l"], gram_claim("l")[1])
factor_l = induction_hypothesis(
    "the count of Cholesky", factor_claim("l"), factor["l"], factor_claim("l")[1]
)
first_gram = Step(
    id="first_gram", lhs=gram_claim("1")[0], rhs=gram_claim("1")[1],
    by=(Definition(gram["1"], Sum(1, FEATURE)), first_rank),
    because="One inner product of length d.",
)
next_gram_count = Definition(gram["l+1"], gram["l"] + m["l+1"] * Sum(1, FEATURE))
next_gram = Step(
    id="next_gram", lhs=gram_claim("l+1")[0], rhs=gram_claim("l+1")[1],
    by=(next_gram_count, gram_l, next_rank),
    because="Column l + 1 meets itself and the l before it.",
)
gram_count = Induction(
    id="gram_count", claim=gram_claim, hypothesis=gram_l, by=(first_gram, next_gram),
    because="At d = 1 it is the count of a triangular solve: row l takes l - 1 multiplications and "
    "one division.",
)
first_factor = Step(
    id="first_factor", lhs=factor_claim("1")[0], rhs=factor_claim("1")[1],
    by=(Definition(factor["1"], Integer(0)), first_rank), because="One row is one root.",
)
next_factor_count = Definition(
    factor["l+1"], factor["l"] + triangle(m["l"]) + m["l"]
)
next_factor = Step(
    id="next_factor", lhs=factor_claim("l+1")[0], rhs=factor_claim("l+1")[1],
    by=(next_factor_count, factor_l, next_rank),
    because="Row l + 1 is a triangular solve with the l rows before it, then its l squares leave "
    "the diagonal.",
)
factor_count = Induction(
    id="factor_count", claim=factor_claim, hypothesis=factor_l, by=(first_factor, next_factor),
    because="$r^3 / 6 + r^2 / 2 - 2 r / 3$ at rank $r$.",
)

solve, gram_r, factor_r = (Symbol(name, real=True) for name in ("t", "g", "f"))
counted = (Definition(gram_r, d * triangle(r)), Definition(factor_r, cholesky(r)))


def setup(width: Expr, rank: Expr) -> Expr:
    """Multiplications and divisions before the first application."""
    return width + width * rank + width * triangle(rank) + cholesky(rank)


def applied(width: Expr, rank: Expr) -> Expr:
    """Multiplications and divisions of one application."""
    return 2 * width * rank + rank**2 + rank + 2 * width


preparation = Step(
    id="preparation", lhs=Sum(1, FEATURE) + Sum(1, FEATURE, RANK) + gram_r + factor_r,
    rhs=setup(d, r), by=counted, because="$D^{-1}$, $D^{-1} U$, the capacitance, its factor.",
)
application = Step(
    id="application", lhs=2 * Sum(1, FEATURE) + 2 * Sum(1, FEATURE, RANK) + 2 * solve,
    rhs=applied(d, r), by=(Definition(solve, triangle(r)),),
    because=r"$x = D^{-1} (v - U y)$ with $C y = U^\top D^{-1} v$: two triangular solves.",
)
explicit = Step(
    id="explicit", lhs=r * gram_r, rhs=r * triangle(d), by=(Definition(gram_r, triangle(d)),),
    because="$d (d + 1) / 2$ inner products of length $r$ make the lower triangle.",
)

# Numbers beside the dimensions: a rank rho = 1 + p, and a width delta that is rho + s or 1 + s.
rho, delta, wide = (Symbol(name, real=True) for name in (r"\rho", r"\delta", "w"))
p, s, t, u, k = (Symbol(name, real=True) for name in ("p", "s", "t", "u", "k"))
ranks, widths = Definition(rho, 1 + p), Definition(delta, 1 + s)
wide_enough = Definition(wide, rho + s)
whole = tuple(signed(array(name), ">=0") for name in ("p", "s"))
quadratic = Bound(
    id="quadratic", small=setup(wide, rho), large=4 * wide * rho**2,
    by=(ranks, wide_enough, *whole),
    certificate=p * (p * (10 * p / 3 + 8) + Integer(17) / 3)
    + s * (p * (7 * p / 2 + Integer(11) / 2) + 1) + 1,
    because=r"For $1 \le r \le d$ every term is at most a multiple of $d r^2$.",
)
cubic = Bound(
    id="cubic", small=rho**3, large=6 * setup(delta, rho), by=(ranks, widths, *whole),
    certificate=3 * p**2 * s + 6 * p**2 + 15 * p * s + 17 * p + 18 * s + 17,
    because=r"No term is negative, and $r^3 / 6$ is that of the Cholesky factor.",
)
less_rank, more_rank = (signed(array(name), ">=0") for name in ("t", "u"))
any_ratio = Bound(
    id="any_ratio", small=setup(delta, rho) + applied(delta, rho), large=(8 + k) * delta * rho**2,
    by=(Definition(k, rho + t, over=delta), ranks, widths, *whole, less_rank),
    certificate=p * (p * (5 * p / 6 + Integer(17) / 2) + Integer(32) / 3)
    + s * (p * (15 * p / 2 + Integer(23) / 2) + 1) + t * rho**2,
    because=r"With $k d = r + t$, $t \ge 0$: the $r^3$ of the Cholesky factor is at most $k d "
    "r^2$.",
)
# By the factor 18 small u tell that it must not be negative.
beyond = Bound(
    id="beyond", small=k * delta * rho**2, large=setup(delta, rho), strict=True,
    by=(Definition(k, (rho - 18 * u) / 6, over=delta), ranks, widths, *whole, more_rank),
    certificate=3 * u * rho**2 + cubic.certificate / 6,
    because=r"With $6 k d = r - 18 u$, $u \ge 0$: then $k d r^2$ is at most $r^3 / 6$.",
)
