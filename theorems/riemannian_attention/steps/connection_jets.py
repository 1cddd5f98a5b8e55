"""Steps of RA10 on a smooth connection near x, to third order in eps, in any chart.

(nabla_h Y)_e = (d_h Y)_e + Gamma(h, Y)_e with the jet Gamma, d Gamma at x. Tokens x, x + eps a and
x + eps b; a transport along a chart segment is I + eps X + eps^2 Y + eps^3 Z, where X and Y are the
Taylor coefficients of the equation of parallel transport and Z is whatever remains.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, IndexedBase, KroneckerDelta, Rational, Sum, Symbol

from theorems.statement import Definition, Step, array, symbols_of

(d,) = symbols_of("d")
e, f, g, h, k, l, o = symbols_of("e f g h k l o")
HALF, THIRD, SIXTH = (Rational(1, size) for size in (2, 3, 6))
eps, s = (Symbol(name, real=True) for name in (r"\varepsilon", "s"))
Vector = Callable[[Symbol], Expr]
delta = KroneckerDelta

Gamma, D_Gamma = array(r"\Gamma", d, d, d), array(r"\partial\Gamma", d, d, d, d)
u, v, a, b = array("u", d), array("v", d), array("a", d), array("b", d)
alpha, beta, rho = array("A_0", d, d), array("A_1", d, d), array("A_2", d, d)
c_1, c_2 = array("C_1", d, d), array("C_2", d, d)
z, dz = array("Z_s", d, d), array("Z'_s", d, d)
rho_0, rho_1, Z = array("P_0", d, d), array("P_1", d, d), array("Z", d, d)


def total(term: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(term, *((index, 1, d) for index in indices))


def of(vector: IndexedBase) -> Vector:
    """The entries of a vector."""
    return lambda index: vector[index]


def origin(index: Symbol) -> Expr:
    """The vector 0."""
    return 0 * a[index]


def backwards(index: Symbol) -> Expr:
    """The vector -a."""
    return -a[index]


def side(index: Symbol) -> Expr:
    """The vector a - b, from x + eps b to x + eps a."""
    return a[index] - b[index]


def first(along: Vector, row: Symbol, column: Symbol) -> Expr:
    """Gamma(along, .), as a matrix."""
    return total(Gamma[row, k, column] * along(k), k)


def derivative(direction: Vector, along: Vector, row: Symbol, column: Symbol) -> Expr:
    """d_direction Gamma(along, .), as a matrix."""
    return total(D_Gamma[l, row, k, column] * direction(l) * along(k), k, l)


def applied(matrix: Callable[[Symbol, Symbol], Expr], vector: Vector) -> Expr:
    """Entry e of the matrix on the vector."""
    return total(matrix(e, f) * vector(f), f)


# The transport from p along p + s v: Y' = -A Y with A(s) = Gamma at p + s v, along v.
along_segment = alpha[e, f] + s * beta[e, f] + s**2 * rho[e, f]
slope = Definition(c_1[e, f], -alpha[e, f])
bend = Definition(c_2[e, f], HALF * (total(alpha[e, g] * alpha[g, f], g) - beta[e, f]))
solution = delta(e, f) + s * c_1[e, f] + s**2 * c_2[e, f] + s**3 * z[e, f]
speed = c_1[e, f] + 2 * s * c_2[e, f] + 3 * s**2 * z[e, f] + s**3 * dz[e, f]
A, Y_s = array("A", d, d), array("Y_s", d, d)
field_of = Definition(A[e, f], along_segment)
solution_of = Definition(Y_s[e, f], solution)
tail = 3 * z[e, f] + s * dz[e, f] + rho[e, f] + total(
    beta[e, g] * c_1[g, f] + alpha[e, g] * c_2[g, f] + s * alpha[e, g] * z[g, f]
    + beta[e, g] * (s * c_2[g, f] + s**2 * z[g, f])
    + rho[e, g] * (s * c_1[g, f] + s**2 * c_2[g, f] + s**3 * z[g, f]), g,
)
solves = Step(
    id="solves", lhs=speed + total(A[e, g] * Y_s[g, f], g), rhs=s**2 * tail,
    by=(field_of, solution_of, slope, bend),
    because=r"The coefficients of $1$ and $s$ in $Y' + A Y$ vanish.",
)

T, X, Y = array("T", d, d), array("X", d, d), array("Y", d, d)
at_p = Definition(
    alpha[e, f],
    first(of(v), e, f) + eps * derivative(of(u), of(v), e, f) + eps**2 * rho_0[e, f],
)
slope_at_p = Definition(beta[e, f], derivative(of(v), of(v), e, f) + eps * rho_1[e, f])
moved = Definition(
    T[e, f], delta(e, f) + eps * c_1[e, f] + eps**2 * c_2[e, f] + eps**3 * Z[e, f]
)
B = array("B", d, d)
change = Definition(B[e, f], derivative(of(u), of(v), e, f) + eps * rho_0[e, f])


def linear(along: Vector, row: Symbol = e, column: Symbol = f) -> Expr:
    """X = -Gamma(v, .)."""
    return -first(along, row, column)


def quadratic(from_: Vector, along: Vector, row: Symbol = e, column: Symbol = f) -> Expr:
    """Y = Gamma(v, .)^2 / 2 - d_{u + v/2} Gamma(v, .), for the segment from u to u + v."""
    square = total(first(along, row, g) * first(along, g, column), g)
    bend = derivative(from_, along, row, column) + HALF * derivative(along, along, row, column)
    return HALF * square - bend


REST = eps**3 * (
    Z[e, f] - rho_0[e, f] - HALF * rho_1[e, f] + HALF * total(
        first(of(v), e, g) * B[g, f] + B[e, g] * first(of(v), g, f) + eps * B[e, g] * B[g, f], g)
)
FIRST = delta(e, f) + eps * linear(of(v))
segment = Step(
    id="segment", lhs=T[e, f], by=(moved, slope, bend, at_p, slope_at_p, change),
    rhs=FIRST + eps**2 * quadratic(of(u), of(v)) + REST,
    because=r"$A_0 = \Gamma_p(v, \cdot)$ and $A_1 = \partial_v \Gamma_p(v, \cdot)$ at $p = x + "
    r"\varepsilon u$, expanded in $\varepsilon$.",
)
