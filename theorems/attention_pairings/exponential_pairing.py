"""AP2. Why exp: multiplicative continuous pairings are exponentials of bilinear forms."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.assumptions.readouts import Readout, e, i, n
from theorems.assumptions.levels import induction_hypothesis, level
from theorems.checker.exact import Draw
from theorems.rules import Induction, Logarithm
from theorems.statement import (
    Bound, Cited, Clause, Definition, Equation, Iff, Local, Mutant, Step, Theorem, Witness,
    array, symbols_of,
)

m, d_q, d_k, w = symbols_of("m d_q d_k w")
j, k, a, b, c = symbols_of("j k a b c")
query_axes, key_axes = (a, 1, d_q), (b, 1, d_k)

cauchy = Cited(
    id="Cauchy",
    statement="If f: R -> R is continuous and f(x + y) = f(x) + f(y) for all x and y, then "
    "f(x) = f(1) x for all x.",
    source="J. Aczel, Lectures on Functional Equations and Their Applications, Academic Press "
    "1966, section 2.1",
    because="It turns additive and continuous into linear, coordinate by coordinate.",
)

kappa, halves = array(r"\kappa", n, m), array("h", n, m)
halved = Definition(kappa[i, j], halves[i, j] ** 2)
square = Bound(
    id="square", small=Integer(0), large=kappa[i, j], certificate=halves[i, j] ** 2, by=(halved,),
    because=r"$q = \frac12 q + \frac12 q$.",
)
z, step_q, row, step_k = Symbol("z", real=True), array("f", n), array("g", n), array("f'", n, m)


def _zero(draw: Draw) -> None:
    draw.put(array("z"), (), 0)


one_zero = Local("a zero", r"$\kappa(q_0, k_0) = z = 0$", ((z, Integer(0)),), _zero)
zeros = Step(
    id="zeros", lhs=kappa[i, j], rhs=Integer(0),
    by=(Definition(kappa[i, j], row[i] * step_k[i, j]), Definition(row[i], z * step_q[i]),
        one_zero),
    because="$q_i = q_0 + (q_i - q_0)$ and $k_j = k_0 + (k_j - k_0)$.",
)
at_zero, positive_at_zero = array("o", m), signed(array("o", m), ">0")
twice_zero = array("p", m)
unit_at_zero = Iff(
    id="unit_at_zero", left=(at_zero[j], twice_zero[j]), right=(Integer(1), at_zero[j]),
    factor=at_zero[j], by=(Definition(twice_zero[j], at_zero[j] ** 2), positive_at_zero),
    because="$0 = 0 + 0$, and a positive number that is its own square is 1.",
)


def additive(name: str, because: str) -> Logarithm:
    """The pairing of a sum is the product iff the logarithms add up."""
    (first, s_1), (second, s_2), (both, s_3) = (
        (array(rf"\kappa{mark}_{name}", n, m), array(f"S{mark}_{name}", n, m))
        for mark in ("", "'", "''"))
    logs = ((first, s_1), (second, s_2), (both, s_3))
    return Logarithm(
        id=f"additive_{name}", left=(both[i, j], first[i, j] * second[i, j]), logs=logs,
        by=tuple(exponential(*pair) for pair in logs), because=because,
    )


in_queries = additive("q", "At $q$, $q'$ and $q + q'$, for one key.")
in_keys = additive("k", "At $k$, $k'$ and $k + k'$, for one query.")


def claim(label: str) -> Equation:
    """The value at the sum of the first l coordinates is the sum of their values."""
    return level("f", label, n, m)[i, j], level("P", label, n, m)[i, j]


value_l, partial_l = claim("l")
next_value = array("s_{l+1}", n, m)[i, j]
at_l = induction_hypothesis("the sum over coordinates", claim("l"), value_l.base, partial_l)
first_value = array("s_{1}", n, m)[i, j]
first_coordinate = Step(
    id="first_coordinate", lhs=claim("1")[0], rhs=claim("1")[1],
    by=(Definition(claim("1")[0], first_value), Definition(claim("1")[1], first_value)),
    because="One coordinate.",
)
next_coordinate = Step(
    id="next_coordinate", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
    by=(Definition(claim("l+1")[0], value_l + next_value),
        Definition(claim("l+1")[1], partial_l + next_value), at_l),
    because="The next coordinate is added to the point, so its value to the value.",
)
coordinates = Induction(
    id="coordinates", claim=claim, hypothesis=at_l, by=(first_coordinate, next_coordinate),
    because="So it is for any number of coordinates.",
)

x, origin, moved_x, moved_origin = (array(name, n) for name in ("f_x", "f_o", "f_x'", "f_o'"))
move = array("f_h", n)
spread = Step(
    id="spread", lhs=moved_x[i] - x[i], rhs=moved_origin[i] - origin[i],
    by=(Definition(moved_x[i], x[i] + move[i]), Definition(moved_origin[i], origin[i] + move[i])),
    because="$f(x + h) - f(x) = f(h) = f(x_0 + h) - f(x_0)$.",
)

S, M, C = array("S", n, m), array("M", d_q, d_k), array("C", d_q, m)
q, q2, key, key2 = (array("q", n, d_q), array("q'", n, d_q), array("k'", m, d_k),
                    array("k''", m, d_k))
by_query = Definition(S[i, j], Sum(q[i, a] * C[a, j], query_axes))
by_key = Definition(C[a, j], Sum(M[a, b] * key[j, b], key_axes))


def form(query: Expr, token: Expr) -> Expr:
    """q^T M k."""
    return Sum(query * M[a, b] * token, query_axes, key_axes)


bilinear = Step(
    id="bilinear", lhs=S[i, j], rhs=form(q[i, a], key[j, b]), by=(by_query, by_key),
    because="Linear in the coordinates of $q$, with coefficients linear in those of $k$.",
)
F = array("F", n, m)
in_q, in_k = (
    Step(
        id=f"form_in_{name}", lhs=F[i, j], rhs=form(*first) + form(*second),
        by=(Definition(F[i, j], form(*both)),), because="The form is linear in it.",
    )
    for name, both, first, second in (
        ("q", (q[i, a] + q2[i, a], key[j, b]), (q[i, a], key[j, b]), (q2[i, a], key[j, b])),
        ("k", (q[i, a], key[j, b] + key2[j, b]), (q[i, a], key[j, b]), (q[i, a], key2[j, b])))
)

W_Q, W_K = array("W_Q", d_q, w), array("W_K", d_k, w)
product = Definition(M[a, b], Sum(W_Q[a, c] * W_K[b, c], (c, 1, w)))
logits = Step(
    id="logits", rhs=form(q[i, a], key[j, b]), by=(product,),
    lhs=Sum(Sum(q[i, a] * W_Q[a, c], query_axes) * Sum(key[j, b] * W_K[b, c], key_axes),
            (c, 1, w)), because="$M = W_Q W_K^\\top$.",
)
world = Readout("", m, j)
empirical, positive_pairing = Definition(world.mu[i, j], Integer(1)), signed(world.kappa, ">0")
mass = Step(
    id="mass", lhs=Sum(world.kappa[i, k], (k, 1, m)), rhs=world.N[i],
    by=(world.normaliser, empirical), because="Every token has weight 1.",
)
by_softmax = (world.weight, empirical, mass, world.reciprocal, world.normaliser, positive_pairing)
softmax = Step(
    id="softmax", lhs=world.w[i, j] * Sum(world.kappa[i, k], (k, 1, m)), rhs=world.kappa[i, j],
    by=by_softmax, because="The weights are shares of the row of pairings.",
)
attention = Step(
    id="attention", lhs=Sum(world.kappa[i, k], (k, 1, m)) * world.R[i, e],
    rhs=Sum(world.kappa[i, j] * world.v[j, e], (j, 1, m)), by=(world.readout, *by_softmax),
    because="So the readout is softmax attention.",
)

one, two = Integer(1), Integer(2)
K, K2, K3, table = (array("K", one), array("K'", one), array("K''", one), array("K_2", two, two))
nothing = Witness(
    id="nothing", values={K: [0], K2: [0], K3: [0]}, holds=((K3[i], K[i] * K2[i]),),
    fails=((K[i], Integer(1)),), because="It is 0 at $q = 0$ too, where exp is 1.",
)
first, second = array("u_1", two), array("u_2", two)
rows = [Sum(u[a] * table[a, b], (a, 1, two)) for u in (first, second)]
columns = [Sum(u[b] * table[a, b], (b, 1, two)) for u in (first, second)]
cubic = Witness(
    id="cubic", values={table: [[2, 2**8], [2**2, 2**16]], first: [1, 0], second: [0, 1]},
    holds=((rows[1], rows[0] ** 2),), fails=((columns[1], columns[0] ** 2),),
    because="$2^{q k^3}$ at $q, k = 1, 2$.",
)
place, place2, unit_2 = array("x", n, two), array("y", n, two), array("v_2", two)
slope, t, f_1, f_t = (Symbol(name, real=True) for name in ("s", "t", "f_1", "f_t"))
over_rationals = Step(
    id="over_rationals", lhs=Sum(unit_2[c] * (place[i, c] + place2[i, c]), (c, 1, two)),
    rhs=Sum(unit_2[c] * place[i, c], (c, 1, two)) + Sum(unit_2[c] * place2[i, c], (c, 1, two)),
    by=(), because="Coordinates over the rationals add up.",
)
if_linear = Step(
    id="if_linear", lhs=f_t**2, rhs=t**2 * f_1**2,
    by=(Definition(f_t, slope * t), Definition(f_1, slope)), because="$f(t) = s t$, $f(1) = s$.",
)
coordinate = Witness(
    id="coordinate", values={array("f_1"): 0, array("f_t"): 1}, fails=((f_t**2, 2 * f_1**2),),
    because="$f(1) = 0$, $f(\\sqrt 2) = 1$, and $t^2 = 2$.",
)

THEOREM = Theorem(
    id="AP2",
    title="Why exp: multiplicative continuous pairings are exponentials of bilinear forms",
    clauses=(
        Clause("positive", r"Let $\kappa(q + q', k) = \kappa(q, k) \kappa(q', k)$ and $\kappa(q, k "
               r"+ k') = \kappa(q, k) \kappa(q, k')$ for real vectors. With $h = \kappa(\frac12 q, "
               r"k)$: $\kappa(q, k) = h^2 \ge 0$. If $\kappa(q_0, k_0) = 0$ at one point, then "
               r"$\kappa(q, k_0) = \kappa(q_0, k_0) \kappa(q - q_0, k_0)$ and $\kappa(q, k) = "
               r"\kappa(q, k_0) \kappa(q, k - k_0)$ are 0: a pairing that is not identically 0 is "
               r"positive everywhere, and then $\kappa(0, k) = 1$, the one positive solution of "
               r"$\kappa = \kappa^2$.", (square, zeros, unit_at_zero)),
        Clause("additive", r"For $\kappa = \exp S$: $\kappa(q + q', k) = \kappa(q, k) \kappa(q', "
               r"k)$ iff $S(q + q', k) = S(q, k) + S(q', k)$, and the same in $k$.",
               (in_queries, in_keys)),
        Clause("coordinates", r"If $S$ is additive, then its value at a sum of $l$ vectors, such "
               r"as $q = \sum_a q_a e_a$, is the sum of its values, for every $l$.",
               (first_coordinate, next_coordinate, coordinates)),
        Clause("linear", r"If $f$ is additive, then $f(x + h) - f(x) = f(x_0 + h) - f(x_0)$: "
               r"continuous at one point $x_0$, it is continuous. Then $f(x) = f(1) x$ (Cauchy).",
               (spread, cauchy)),
        Clause("bilinear", r"So if $\kappa$ is continuous in each variable, at one point is "
               r"enough, $S(q, k) = \sum_a q_a C_a(k)$ with $C_a(k) = S(e_a, k)$ and $C_a(k) = "
               r"\sum_b M_{ab} k_b$ with $M_{ab} = S(e_a, e_b)$; these give $S(q, k) = q^\top M "
               r"k$. Conversely $q^\top M k$ is additive in $q$ and in $k$, so its exponential is "
               r"multiplicative.", (bilinear, in_q, in_k)),
        Clause("attention", r"$\langle W_Q^\top q, W_K^\top k \rangle = q^\top M k$ with $M = W_Q "
               r"W_K^\top$. On the empirical world, all $\mu = 1$, a pairing $\kappa > 0$ has the "
               r"weights $w_{ij} \sum_k \kappa_{ik} = \kappa_{ij}$ and the readout $\sum_k "
               r"\kappa_{ik} R_i = \sum_j \kappa_{ij} v_j$: for $\kappa = \exp(q^\top M k)$ that "
               r"is softmax attention.", (logits, mass, softmax, attention)),
        Clause("needed", r"$\kappa = 0$ is multiplicative, and not 1 at $q = 0$. $2^{q k^3}$ is "
               r"multiplicative in $q$ and not in $k$: at $q = 1$ it is $2$ and $2^8 \ne 2^2$ for "
               r"$k = 1, 2$. On $\mathbb{Q}(\sqrt 2)$ the coordinate $f(a + b \sqrt 2) = b$ is "
               r"additive; a linear $f$ has $f(t)^2 = t^2 f(1)^2$, but here $f(\sqrt 2)^2 = 1$ and "
               r"$2 f(1)^2 = 0$: so $\exp(f(q) k)$ is multiplicative there: continuity is needed.",
               (nothing, cubic, over_rationals, if_linear, coordinate)),
    ),
    mutants=(
        Mutant("zero_pairing", unit_at_zero, "the pairing may vanish", drop=(positive_at_zero,),
               add=(signed(at_zero, ">=0"),)),
        Mutant("squares_are_positive", replace(square, strict=True), "a square is positive"),
        Mutant("zeros_for_free", zeros, "kappa = 0 without a zero", drop=(one_zero,)),
        Mutant("queries_only", bilinear, "multiplicative in the query only, such as 2 to the "
               "power q k^3", redefine=(
                   Definition(C[a, j], Sum(M[a, b] * key[j, b] ** 3, key_axes)),)),
        Mutant("key_bias", in_q, "a key bias keeps the pairing multiplicative", redefine=(
            Definition(F[i, j], form(q[i, a] + q2[i, a], key[j, b]) + Sum(key[j, b], key_axes)),)),
        Mutant("transposed_product", logits, "M = W_Q W_K^T with one factor twice", redefine=(
            Definition(M[a, b], Sum(W_Q[a, c], (c, 1, w)) * Sum(W_K[b, c], (c, 1, w))),)),
        Mutant("unnormalised", replace(softmax, lhs=world.w[i, j]), "the weights are the pairings"),
        Mutant("weighted_world", attention, "softmax whatever the world", redefine=(
            Definition(world.mu[i, j], world.kappa[i, j]),)),
        Mutant("linear_in_the_square", replace(if_linear, rhs=t * f_1**2), "f(t)^2 = t f(1)^2"),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
)
