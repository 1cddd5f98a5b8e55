"""Causal softmax attention has no state of fixed size: blocks of [exp(q_i k_j)] have an inverse.

With keys in equal steps the columns are powers of nodes exp(q_i eta), so that the inverse is that
of a Vandermonde matrix; 2^{ij} is such a matrix.
"""

from __future__ import annotations

from sympy import IndexedBase, KroneckerDelta, Symbol

from theorems.assumptions.entries import exponential, right_inverse
from theorems.assumptions.low_rank import factors_through, nonzero_scales
from theorems.rules import Logarithm
from theorems.statement import Cited, Definition, RankBound, Step, array, symbols_of

r, m, n = symbols_of("r m n")
i, j, k, l, a = symbols_of("i j k l a")
E, E2, X = array("E", r, r), array("E'", r, r), array("X", r)
S, S2, Y = array("S", r, r), array("S'", r, r), array("Y", r)
equal_steps = Logarithm(
    id="equal_steps", left=(E2[i, j], X[i] * E[i, j]), logs=((E, S), (E2, S2), (X, Y)),
    by=(exponential(E, S), exponential(E2, S2), exponential(X, Y)),
    because="Scores that grow by $q_i \\eta$ from one key to the next are powers of the node "
    "$x_i = \\exp(q_i \\eta)$, times $\\exp(q_i k_1)$.",
)

V, W = array("V", r, r), array("W", r, r)
rho, sigma = array("rho", r), array("sigma", r)
O, C = array("O", r, m), array("C", m, r)


row_scales = nonzero_scales(rho, sigma)


def no_small_state(name: str, matrix: IndexedBase, because: str, *rests: Cited) -> RankBound:
    """The identity of size r is cut out of the states."""
    return RankBound(
        id=name, small=(KroneckerDelta(i, l), (i, r), (l, r)), large=(C[a, j], (a, m), (j, r)),
        before=(sigma[i] * O[i, a], (i, r), (a, m)), after=(W[j, l], (j, r), (l, r)),
        by=(right_inverse(matrix, W), row_scales, factors_through(matrix, rho, O, C), *rests),
        because=because,
    )


equally_spaced = no_small_state(
    "equally_spaced", V, "$\\rho V = O C$ gives $I_r = (\\sigma O) C W$, so the $m$ rows of $C$ "
    "have rank at least $r$.",
)
positivity = Cited(
    id="total-positivity", statement=r"For pairwise distinct real $q_1, \ldots, q_r$ and pairwise "
    r"distinct real $k_1, \ldots, k_r$: $\det [\exp(q_i k_j)] \ne 0$.",
    source="S. Karlin, Total Positivity, Stanford University Press, 1968",
    because="The exponential kernel is strictly totally positive.",
)
distinct = no_small_state(
    "distinct", E, "A matrix whose determinant is not $0$ has an inverse; the rest is as before.",
    positivity,
)
odd, even, at = (Symbol(name, real=True) for name in ("n_o", "n_e", "t"))
size = Symbol("s", real=True)
middle = (Definition(odd, 2 * size - 1), Definition(even, 2 * size))
middle_after = Step(
    id="middle_after", lhs=odd - at + 1, rhs=at, by=(*middle, Definition(at, size)),
    because="$n = 2 s - 1$, $t = s$: rows $t, \\ldots, n$ and columns up to $t$ are $s$ each.",
)
middle_before = Step(
    id="middle_before", lhs=even - at + 1, rhs=at - 1, by=(*middle, Definition(at, size + 1)),
    because="$n = 2 s$, $t = s + 1$: rows $t, \\ldots, n$ and columns before $t$ are $s$ each.",
)
STEPS = (equal_steps, equally_spaced, middle_after, middle_before, distinct)
