"""RA18. The kernel sense of Gram: exp(S / tau) for every tau."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import signed
from theorems.assumptions.spectra import sum_zero
from theorems.statement import (
    Bound, Cited, Clause, Definition, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, d = symbols_of("n d")
i, j, k, o, a, b, p = symbols_of("i j k o a b p")
half = Rational(1, 2)

schoenberg = Cited(
    id="Schoenberg",
    statement="For a real symmetric matrix S: the matrix of the exp(t S_ij) is positive "
    "semidefinite for every t > 0 iff sum_ij c_i c_j S_ij >= 0 for all real c_1, ..., c_n that "
    "sum to 0.",
    source="I. J. Schoenberg, Metric spaces and positive definite functions, Trans. Amer. Math. "
    "Soc. 44, 1938; C. Berg, J. P. R. Christensen, P. Ressel, Harmonic Analysis on Semigroups, "
    "Springer 1984, Theorem 3.2.2",
    because="It turns the question about exp(S / tau) into one about S.",
)

S, S2, c = array("S", n, n), array("S'", n, n), array("c", n)
row, column, z, x = array("r", n), array("r'", n), array("z", n), array("x", n, d)
balanced = sum_zero(c)


def form(entry: Expr) -> Expr:
    """Sum of c_i c_j times the entry (i, j)."""
    return Sum(c[i] * entry * c[j], (i, 1, n), (j, 1, n))


with_terms = Definition(S2[i, j], S[i, j] + row[i] + column[j])
terms_vanish = Step(
    id="terms_vanish", lhs=form(S2[i, j]), rhs=form(S[i, j]), by=(with_terms, balanced),
    because="A row term meets the sum of c over columns, which is 0, and a column term that over "
    "rows.",
)
K, total = array("K", n, n, n), array("c'", n, n)
based = Definition(K[o, i, j], S[i, j] - S[i, o] - S[o, j] + S[o, o])
balanced_at = Definition(total[o, i], z[i] - KroneckerDelta(i, o) * Sum(z[k], (k, 1, n)))
no_sum = Step(
    id="no_sum", lhs=Sum(total[o, i], (i, 1, n)), rhs=Integer(0), by=(balanced_at,),
    because="Any z becomes a vector of sum 0 by its entry at o.",
)
base_kernel = Step(
    id="base_kernel", rhs=Sum(z[i] * K[o, i, j] * z[j], (i, 1, n), (j, 1, n)),
    lhs=Sum(total[o, i] * S[i, j] * total[o, j], (i, 1, n), (j, 1, n)), by=(balanced_at, based),
    because="z^T K z = c^T S c: K is positive semidefinite iff S is conditionally.",
)

F, G, H = array("F", d, d), array("G", d, d), array("H", n, d, d)
frame = Definition(G[a, b], Sum(F[p, a] * F[p, b], (p, 1, d)))


def square(metric: Expr) -> Expr:
    """(x_i - x_j)^T M (x_i - x_j) for the entry (a, b) of a metric."""
    return Sum((x[i, a] - x[j, a]) * metric * (x[i, b] - x[j, b]), (a, 1, d), (b, 1, d))


scores = Definition(S[i, j], -half * square(G[a, b]))
moment = Sum(Sum(c[i] * F[p, a] * x[i, a], (i, 1, n), (a, 1, d)) ** 2, (p, 1, d))
homogeneous = Bound(
    id="homogeneous", small=Integer(0), large=form(S[i, j]), certificate=moment,
    by=(scores, frame, balanced),
    because="The squares are row and column terms; the products x_i^T G x_j are a Gram matrix.",
)
inner = Step(
    id="inner", lhs=K[o, i, j], by=(based, scores, frame),
    rhs=Sum((x[i, a] - x[o, a]) * G[a, b] * (x[j, b] - x[o, b]), (a, 1, d), (b, 1, d)),
    because="The kernel of a base token is the inner product at it.",
)

three = Integer(3)
y, lam, c_3, D_3, S_3 = (array("x_3", three), array("lambda_3", three), array("c_3", three),
                         array("D_3", three, three), array("S_3", three, three))
E_3, near, far = array("E_3", three, three), array("N", three, three), array("F_3", three, three)
q, loss = array("q", Integer(1)), array("w", Integer(1))
averaged = Definition(D_3[i, j], half * (lam[i] + lam[j]) * (y[i] - y[j]) ** 2)
negative = Definition(S_3[i, j], -half * D_3[i, j])


def three_form(entry: Expr) -> Expr:
    """Sum of c_i c_j times the entry (i, j), of three tokens."""
    return Sum(c_3[i] * entry * c_3[j], (i, 1, three), (j, 1, three))


TOKENS = {y: [0, 1, 2], lam: [1, fmpq(1, 2), 1], c_3: [1, -2, 1]}
not_conditional = Witness(
    id="not_conditional", values=TOKENS, by=(averaged, negative),
    holds=((Sum(c_3[i], (i, 1, three)), Integer(0)), (three_form(D_3[i, j]), Integer(2)),
           (three_form(S_3[i, j]), Integer(-1))),
    because="D_12 = D_23 = 3/4 and D_13 = 4.",
)
base = fmpq(97, 100)
power = Definition(E_3[i, j], sum(
    indicator[i, j] * Sum(q[k], (k, 1, Integer(1))) ** exponent
    for indicator, exponent in ((near, 3), (far, 16))) + KroneckerDelta(i, j))
not_positive = Witness(
    id="not_positive", by=(averaged, negative, power, signed(loss, ">0")),
    values={
        **TOKENS, q: [base], near: [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
        far: [[0, 0, 1], [0, 0, 0], [1, 0, 0]], loss: [-6 + 8 * base**3 - 2 * base**16],
    },
    holds=((-8 * S_3[i, j], 3 * near[i, j] + 16 * far[i, j]),
           (three_form(E_3[i, j]), -Sum(loss[k], (k, 1, Integer(1))))),
    because="With q = exp(-1 / (8 tau)) = 97/100 the entries of exp(S / tau) are 1, q^3 and q^16, "
    "and c^T exp(S / tau) c = 6 - 8 q^3 + 2 q^16 = -w < 0.",
)

row_pair, factor = array("M", n, n), array("lambda", n)
symmetrised = Definition(S[i, j], -half * half * (square(H[i, a, b]) + square(H[j, a, b])))
tokens_metrics = Definition(H[i, a, b], factor[i] ** 2 * Sum(F[p, a] * F[p, b], (p, 1, d)))
apart = array("D", n, n)
distinct = (
    Definition(apart[i, j], KroneckerDelta(i, j) - 2 * S[i, j]), signed(apart, ">0"),
    signed(c, "!=0"),
)

THEOREM = Theorem(
    id="RA18",
    title="The kernel sense of Gram: exp(S / tau) for every tau",
    clauses=(
        Clause("schoenberg", r"For symmetric $S$: the entrywise exponential $\exp(S / \tau)$ is "
               r"positive semidefinite for every $\tau > 0$ iff $c^\top S c \ge 0$ whenever "
               r"$\sum_i c_i = 0$ (Schoenberg).", (schoenberg,)),
        Clause("conditional", r"If $\sum_i c_i = 0$, then $c^\top S c$ does not see row and column "
               r"terms. For every $z$ the vector $c = z - (\sum_k z_k) e_o$ sums to $0$ and "
               r"$c^\top S c = z^\top K z$ with $K_{ij} = S_{ij} - S_{io} - S_{oj} + S_{oo}$: the "
               r"condition on $S$ is that $K$ is positive semidefinite.",
               (terms_vanish, no_sum, base_kernel)),
        Clause("homogeneous", r"$S_{ij} = -\frac12 (x_i - x_j)^\top G (x_i - x_j)$ with one $G = "
               r"F^\top F$ and $\sum_i c_i = 0$: $c^\top S c = |\sum_i c_i F x_i|^2 \ge 0$, and "
               r"$K_{ij} = (x_i - x_o)^\top G (x_j - x_o)$, the Gram matrix of $F (x_i - x_o)$.",
               (homogeneous, inner)),
        Clause("heterogeneous", r"Symmetrised scores of the tokens $0, 1, 2$ with $\lambda = (1, "
               r"\frac12, 1)$ and $c = (1, -2, 1)$: $c^\top D c = 2$, $c^\top S c = -1$, and "
               r"$c^\top \exp(S / \tau) c < 0$ at $\exp(-1/(8 \tau)) = \frac{97}{100}$.",
               (not_conditional, not_positive)),
    ),
    mutants=(
        Mutant("heterogeneous_too", Bound(
            id="homogeneous", small=Integer(0), large=form(S[i, j]), because="claimed",
            certificate=moment, by=(symmetrised, tokens_metrics, balanced)),
            "symmetrised scores with any metrics pass"),
        Mutant("every_symmetric", replace(homogeneous, by=(
            Definition(S[i, j], row_pair[i, j] + row_pair[j, i]), balanced)), "every symmetric S"),
        Mutant("any_c", homogeneous, "c need not sum to 0", drop=(balanced,)),
        Mutant("strictly", replace(homogeneous, strict=True, by=(*homogeneous.by, *distinct)),
               "c^T S c > 0 for distinct tokens and nonzero c"),
        Mutant("base_without_diagonal", base_kernel, "K_ij = S_ij - S_io - S_oj",
               redefine=(Definition(K[o, i, j], S[i, j] - S[i, o] - S[o, j]),)),
        Mutant("terms_for_any_c", terms_vanish, "row terms vanish for every c", drop=(balanced,)),
        Mutant("indefinite_metric", homogeneous, "any symmetric G",
               redefine=(Definition(G[a, b], F[a, b] + F[b, a]),)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "A. Feragen, F. Lauze, S. Hauberg, Geodesic exponential kernels: when curvature and "
        "linearity conflict, CVPR 2015",
    ),
)
