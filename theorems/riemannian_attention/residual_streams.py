"""RA16. Residual streams escape collapse if their updates have a finite sum."""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import signed, sums_to_one
from theorems.assumptions.matrices import norm_at_most
from theorems.checker.exact import Draw, Generators, Rejected, SmallIntegers, Value
from theorems.riemannian_attention.steps.contractions import infinite_product, iterated
from theorems.riemannian_attention.steps.shared_weights import (
    D, K, W, X, X2, apart, diameter, differences, near,
)
from theorems.statement import (
    Bound, Clause, Definition, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, d = symbols_of("n d")
i, j, k, l, a, b, c = symbols_of("i j k l a b c")
KEYS, FEATURE = (j, 1, n), (a, 1, d)
half = Rational(1, 2)

A, m, t = array("A", n, n), array("m", n, n, n), array("t", n, n)
p, q, Z, Y, M = (array(name, n, n, n if name in "pq" else d) for name in "pqZYM")
O, N = array("O", n, n), array("N", n, n)
rho, gap, turn, back = (array(name, n, n) for name in ("rho", "phi", "psi", "chi"))
keep, add, w = (Symbol(name, real=True) for name in (r"\alpha", r"\beta", "w"))


def _least(draw: Draw) -> None:
    """The lesser of two weights; in searches now and then less, or more."""
    if type(draw.source) is not SmallIntegers:
        return
    beside = draw.source.rng.choice(((0,), (0,), (0,), (0,), (-1, 0), (0, 1)))
    for row, other, key in draw.cells(m):
        value = min(draw.get(str(A), (place, key)) for place in (row, other))
        draw.put(m, (row, other, key), value + draw.source.rng.choice(beside))


def _root(square: Value) -> Value:
    root = fmpq(isqrt(int(square.p)), isqrt(int(square.q)))
    if root**2 != square:
        raise Rejected(f"{square} has no rational root")
    return root


def length(norm: IndexedBase, vector: IndexedBase, text: str) -> Local:
    """norm_ik^2 = |vector_ik|^2, of either sign."""

    def impose(draw: Draw) -> None:
        searched = type(draw.source) is SmallIntegers
        sign = -1 if searched and draw.source.rng.randrange(8) == 0 else 1
        for cell in draw.cells(norm):
            parts = [draw.get(str(vector), (*cell, place + 1)) for place in range(draw.size(d))]
            if isinstance(draw.source, Generators):
                if len(parts) > 1 and cell[0] != cell[1]:
                    raise Rejected("no root of a sum of squares")
                draw.put(norm, cell, parts[0])
            else:
                square = sum((part**2 for part in parts), start=fmpq(0))
                draw.put(norm, cell, sign * _root(square))

    rule = (norm[i, k] ** 2, Sum(vector[i, k, a] ** 2, FEATURE))
    return Local(f"{norm} is the norm of {vector}", text, (rule,), impose)


rows = sums_to_one(A)
over = Definition(p[i, k, j], A[i, j] - m[i, k, j])
under = Definition(q[i, k, j], A[k, j] - m[i, k, j])
shared_mass = Local("p>=0, q>=0", r"$m_{ikj} \le A_{ij}$ and $m_{ikj} \le A_{kj}$", (), _least,
                    ((p, ">=0"), (q, ">=0")))
walks = signed(A, ">=0")
lesser = Local("p q = 0", r"$m_{ikj} = \min(A_{ij}, A_{kj})$",
               ((p[i, k, j] * q[i, k, j], Integer(0)),))
variation = Definition(t[i, k], 1 - Sum(m[i, k, j], KEYS))
over_sum = Step(id="over_sum", lhs=Sum(p[i, k, j], KEYS), rhs=t[i, k], by=(over, variation, rows),
                because="What row i has beyond the shared weights.")
under_sum = Step(id="under_sum", lhs=Sum(q[i, k, j], KEYS), rhs=t[i, k],
                 by=(under, variation, rows), because="And row k.")
halved = Step(
    id="halved", lhs=half * Sum(p[i, k, j] + q[i, k, j], KEYS), rhs=t[i, k],
    by=(over_sum, under_sum), because=r"$p + q = |A_{ij} - A_{kj}|$ for the lesser weight $m$.",
)
not_negative = Bound(
    id="not_negative", small=Integer(0), large=t[i, k], certificate=Sum(p[i, k, j], KEYS),
    by=(over, variation, rows, shared_mass), because="A sum of nonnegatives.",
)

norm_W = norm_at_most(W, K, w)
signs = tuple(signed(array(s.name), ">=0") for s in (keep, add, w, D))
nonnegative_keep, nonnegative_add, nonnegative_w, nonnegative_D = signs
update = Definition(
    Y[i, k, b], add * Sum((A[i, j] - A[k, j]) * W[b, a] * X[j, a], KEYS, FEATURE))
limit = Definition(rho[i, k], add * w * t[i, k] * D)
beyond = Step(
    id="beyond", lhs=Y[i, k, b], by=(update, over, under), because="The shared weights drop out.",
    rhs=add * Sum((p[i, k, j] - q[i, k, j]) * W[b, a] * X[j, a], KEYS, FEATURE),
)
overlap = Bound(
    id="overlap", small=Sum(Y[i, k, b] ** 2, (b, 1, d)), large=rho[i, k] ** 2,
    certificate=add**2 * differences(lambda s: p[i, k, s], lambda s: q[i, k, s], apart[j, l], w),
    by=(beyond, limit, over_sum, under_sum, norm_W, near, diameter, shared_mass),
    because=r"Of equal totals t: $|\sum_j (p_j - q_j) x_j|^2 = \sum_{jl} p_j q_l |x_j - x_l|^2 - "
    r"\frac12 \sum_{jl} (p_j p_l + q_j q_l) |x_j - x_l|^2 \le t^2 D^2$.",
)

moved = Definition(X2[i, b], keep * X[i, b] + add * Sum(A[i, j] * W[b, a] * X[j, a], KEYS, FEATURE))
before, after = Definition(Z[i, k, a], X[i, a] - X[k, a]), Definition(M[i, k, b], X2[i, b]
                                                                      - X2[k, b])
parted = Step(
    id="parted", lhs=M[i, k, b], rhs=keep * Z[i, k, b] + Y[i, k, b],
    by=(after, moved, before, update), because="The layer is linear in the tokens.",
)
distance = length(O, Z, "$O_{ik} = |x_i - x_k|$")
new_distance = length(N, M, "$N_{ik} = |x'_i - x'_k|$")
nonnegative_O, nonnegative_N = signed(O, ">=0"), signed(N, ">=0")
of_gap = Definition(gap[i, k], rho[i, k] ** 2 - Sum(Y[i, k, b] ** 2, (b, 1, d)))
limit_sign = (limit, not_negative, nonnegative_add, nonnegative_w, nonnegative_D)


def inner(one: IndexedBase, other: IndexedBase) -> Expr:
    """Inner product of two vectors of the pair (i, k)."""
    return Sum(one[i, k, b] * other[i, k, b], (b, 1, d))


def lagrange(one: IndexedBase, other: IndexedBase) -> Expr:
    """|u|^2 |v|^2 - <u, v>^2."""
    minor = one[i, k, a] * other[i, k, b] - one[i, k, b] * other[i, k, a]
    return half * Sum(minor**2, FEATURE, (b, 1, d))


cauchy_new = Bound(
    id="cauchy_new", small=-inner(M, Y), large=N[i, k] * rho[i, k], power=2,
    certificate=N[i, k] ** 2 * gap[i, k] + lagrange(M, Y),
    by=(rows, norm_W, new_distance, of_gap, overlap, nonnegative_N, *limit_sign),
    because="Cauchy-Schwarz, by Lagrange's identity.",
)
cauchy_old = Bound(
    id="cauchy_old", small=inner(Z, Y), large=O[i, k] * rho[i, k], power=2,
    certificate=O[i, k] ** 2 * gap[i, k] + lagrange(Z, Y),
    by=(distance, of_gap, overlap, nonnegative_O, *limit_sign),
    because="The same for the tokens before the layer.",
)
lower = Bound(
    id="lower", small=keep * O[i, k], large=N[i, k] + rho[i, k], power=2,
    certificate=2 * turn[i, k] + gap[i, k],
    by=(rows, norm_W, distance, new_distance, parted, of_gap, overlap, cauchy_new, nonnegative_N,
        *limit_sign, Definition(turn[i, k], N[i, k] * rho[i, k] + inner(M, Y))),
    because="The triangle inequality.",
)
upper = Bound(
    id="upper", small=N[i, k], large=keep * O[i, k] + rho[i, k], power=2,
    certificate=2 * keep * back[i, k] + gap[i, k],
    by=(rows, norm_W, distance, new_distance, parted, of_gap, overlap, cauchy_old, nonnegative_O,
        nonnegative_keep, *limit_sign,
        Definition(back[i, k], O[i, k] * rho[i, k] - inner(Z, Y))),
    because="And the other way.",
)

two, one_half = Integer(2), fmpq(1, 2)
A_2, x_2, y_2 = array("A_2", two, two), array("x_2", two), array("x'_2", two)
w_2, r_2, s_2, of_x, of_y = (Symbol(name, real=True) for name in ("w_2", "r_2", "s_2", "u", "v"))
near_own, near_other = ([[fmpq(part, 4) for part in row] for row in rows_2]
                        for rows_2 in (((3, 1), (1, 3)), ((1, 3), (3, 1))))
two_tokens = Definition(
    y_2[i], keep * x_2[i] + add * w_2 * Sum(A_2[i, j] * x_2[j], (j, 1, two)))


def attained(name: str, weights: list, mixed: tuple, factor: Rational, because: str) -> Witness:
    """Two tokens 0, 1 whose difference a layer multiplies by the factor; its rows differ by 1/2."""
    return Witness(
        id=name, because=because, by=(two_tokens,),
        values=dict(zip((A_2, x_2, *map(array, (keep.name, add.name, w_2.name))),
                        (weights, [0, 1], *mixed), strict=True)),
        holds=((y_2[i] - y_2[j], factor * (x_2[i] - x_2[j])),
               (Sum(A_2[i, j], (j, 1, two)), Integer(1)),
               (2 * (A_2[i, k] - A_2[j, k]) ** 2, half * (x_2[i] - x_2[j]) ** 2)),
    )


slowest = (
    attained("least", near_own, (1, 1, -1), half, r"$\tau = 1/2$, $W = -1$: $1 - 1/2$."),
    attained("least_average", near_other, (one_half, one_half, 1), Rational(1, 4),
             r"$a = \tau = 1/2$: $a - (1 - a) \tau = 1/4$."),
    attained("largest_average", near_own, (one_half, one_half, 1), Rational(3, 4),
             r"$a = \tau = 1/2$: $a + (1 - a) \tau = 3/4$."),
)


def about(token: IndexedBase, centre: Expr) -> Expr:
    """Sum of squared distances from a point."""
    return Sum((token[i] - centre) ** 2, (i, 1, two))


growing = Witness(
    id="growing", by=(two_tokens,), fails=((r_2, s_2),),
    values={A_2: 2 * [2 * [one_half]], x_2: [0, 2], array("r_2"): one_half,
            array("s_2"): fmpq(1, 5), array("u"): 1, array("v"): 2}
    | {array(symbol.name): 1 for symbol in (keep, add, w_2)},
    holds=((Sum(x_2[i], (i, 1, two)), 2 * of_x), (Sum(y_2[i], (i, 1, two)), 2 * of_y),
           (about(x_2, of_x), r_2 * about(x_2, Integer(0))),
           (about(y_2, of_y), s_2 * about(y_2, Integer(0))),
           (y_2[i] - y_2[j], x_2[i] - x_2[j])),
    because="Tokens 0, 2 become 1, 3: the same difference, but of the square norm 1/5 for 1/2.",
)

layers = iterated(below=True)
product = replace(infinite_product, by=(lower, layers.every, layers.rest))

THEOREM = Theorem(
    id="RA16",
    title="Residual streams escape collapse if their updates have a finite sum",
    clauses=(
        Clause("overlap", r"Let the rows of $A$ sum to 1, $m_{ikj} \le A_{ij}$, $m_{ikj} \le "
               r"A_{kj}$ and $t_{ik} = 1 - \sum_j m_{ikj}$; then $t_{ik} = \frac12 \sum_j "
               r"((A_{ij} - m_{ikj}) + (A_{kj} - m_{ikj})) \ge 0$, the total variation of rows $i$ "
               r"and $k$ if $m_{ikj} = \min(A_{ij}, A_{kj})$. If $\lVert W \rVert \le w$ and $|x_j "
               r"- x_l| \le D$ for all tokens, $|\beta \sum_j (A_{ij} - A_{kj}) W x_j|^2 \le "
               r"(\beta w t_{ik} D)^2$.",
               (over_sum, under_sum, halved, not_negative, beyond, overlap)),
        Clause("layer", r"So $x'_i = \alpha x_i + \beta \sum_j A_{ij} W x_j$, $\alpha, \beta, w, D "
               r"\ge 0$ ($W$ in column form), has $\alpha |x_i - x_k| \le "
               r"|x'_i - x'_k| + \beta w t_{ik} D$ and $|x'_i - x'_k| \le \alpha |x_i - x_k| + "
               r"\beta w t_{ik} D$. With $D = \mathrm{osc}$ and $\tau = \max t_{ik}$: "
               r"$\mathrm{osc}' \ge (1 - \lVert W \rVert \tau) \, \mathrm{osc}$ for $\alpha = "
               r"\beta = 1$, and $(a - (1 - a) \tau) \, \mathrm{osc} \le \mathrm{osc}' \le (a + "
               r"(1 - a) \tau) \, \mathrm{osc}$ for $0 \le a \le 1$, $\alpha = a$, $\beta = 1 - "
               r"a$, $W = I$.",
               (parted, cauchy_new, cauchy_old, lower, upper)),
        Clause("attained", r"Two tokens with $\tau = \frac12$ attain $1 - \lVert W \rVert \tau$ "
               r"for $W = -1$, and both $a - (1 - a) \tau$ and $a + (1 - a) \tau$ for $a = "
               r"\frac12$.", slowest),
        Clause("all_layers", r"If $o_{l+1} = f o_l + \epsilon$, $f, \epsilon \ge 0$ of the layer, "
               r"then $o_l = \Pi_l o + R_l$, where $o_1 = o$, $\Pi_l$ is the product of the "
               r"factors $f$, and $R_1 = 0$, $R_{l+1} \ge 0$ if $R_l \ge 0$: bounds of layers "
               r"multiply.", layers.steps),
        Clause("no_collapse", r"So $\sum_l \lVert W_l \rVert \tau_l < \infty$, each term less than "
               r"1, excludes $\mathrm{osc} \to 0$ for layers $X' = X + A_l X W_l^\top$, rows of "
               r"$A_l$ summing to 1, from $\mathrm{osc}_0 > 0$: layer, with $a_l = \lVert W_l "
               r"\rVert \tau_l$.",
               (product,)),
        Clause("relative", r"The relative residual may fall nevertheless: $x' = x + \sum_j A_{ij} "
               r"x_j$ with all $A_{ij} = \frac12$ takes tokens 0, 2 to 1, 3, and $|X - \mathbf{1} "
               r"m|^2 / |X|^2$, $m$ the mean, from $\frac12$ to $\frac15$.", (growing,)),
    ),
    mutants=(
        Mutant("no_norm", overlap, r"at most $\beta t_{ik} D$, whatever $W$", add=(walks,),
               redefine=(Definition(rho[i, k], add * t[i, k] * D),)),
        Mutant("never_less", replace(lower, large=N[i, k]),
               r"$|x'_i - x'_k| \ge \alpha |x_i - x_k|$", add=(walks,)),
        Mutant("never_more", replace(upper, large=keep * O[i, k]),
               r"$|x'_i - x'_k| \le \alpha |x_i - x_k|$", add=(walks,)),
        Mutant("any_W", overlap, r"$W$ of any norm", drop=(norm_W,), add=(walks,)),
        Mutant("any_rows", overlap, "rows of any sum", drop=(rows,), add=(walks,)),
        Mutant("no_shared_weights", overlap, r"$m_{ikj}$ need not be shared", drop=(shared_mass,),
               add=(walks,)),
        Mutant("half_the_variation", replace(overlap, large=rho[i, k] ** 2 / 4),
               r"$|\beta \sum_j (A_{ij} - A_{kj}) W x_j| \le \frac12 \beta w t_{ik} D$",
               add=(walks,)),
        Mutant("unhalved", replace(halved, lhs=2 * halved.lhs),
               r"the sum of $|A_{ij} - A_{kj}|$ without the half", add=(shared_mass, lesser)),
        Mutant("rest_of_any_sign", layers.rest, r"$\epsilon$ of any sign",
               drop=(layers.rest.by[2],)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "R. Dobrushin, Central limit theorem for nonstationary Markov chains, Theory Probab. Appl. "
        "1, 1956",
    ),
)
