"""AP9. Equivariance of readouts, and the convex hull of the values."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Sum, Symbol

from theorems.assumptions.readouts import Readout, d, e, i, n, one_each
from theorems.checker.exact import Draw, SmallIntegers
from theorems.statement import (
    Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

m, m_p, n_a, d_o = symbols_of("m m' n' d_o")
j, p, a, f = symbols_of("j p a f")
world = Readout("", m, j)

A = array("A", n_a, n)
kappa_a, mu_a, N_a = array(r"\kappa_A", n_a, m), array(r"\mu_A", n_a, m), array("N_A", n_a)
select = one_each(A)
selected = (
    Definition(kappa_a[a, j], Sum(A[a, i] * world.kappa[i, j], (i, 1, n))),
    Definition(mu_a[a, j], Sum(A[a, i] * world.mu[i, j], (i, 1, n))),
    Definition(N_a[a], Sum(kappa_a[a, j] * mu_a[a, j], (j, 1, m))),
)
selected_mass = Step(
    id="selected_mass", lhs=N_a[a], rhs=Sum(A[a, i] * world.N[i], (i, 1, n)),
    by=(*selected, select, world.normaliser),
    because="A row of $A$ picks one query with its world.",
)
selected_pairs = Step(
    id="selected_pairs", lhs=N_a[a] * Sum(A[a, i] * world.R[i, e], (i, 1, n)),
    rhs=Sum(kappa_a[a, j] * mu_a[a, j] * world.v[j, e], (j, 1, m)),
    by=(selected_mass, selected[0], selected[1], select, *world.values),
    because="Its readout times its normaliser is its sum of pairs.",
)

B = array("B", m_p, m)
listed = Readout("'", m_p, p)
places = one_each(B)
at_places = (
    Definition(listed.kappa[i, p], Sum(B[p, j] * world.kappa[i, j], (j, 1, m))),
    Definition(listed.v[p, e], Sum(B[p, j] * world.v[j, e], (j, 1, m))),
    Definition(world.mu[i, j], Sum(listed.mu[i, p] * B[p, j], (p, 1, m_p))),
)
same_mass = Step(
    id="same_mass", lhs=world.N[i], rhs=listed.N[i],
    by=(world.normaliser, listed.normaliser, *at_places),
    because="The masses of the places of a token add up to that of the token.",
)
positive_mass = Bound(
    id="positive_mass", small=Integer(0), large=listed.N[i], certificate=world.N[i], strict=True,
    by=(listed.normaliser, world.normaliser, *at_places, world.positive),
    because="The list has the mass of the world.",
)
unit_mass = Step(
    id="unit_mass", lhs=world.N[i] * listed.r[i], rhs=Integer(1),
    by=(same_mass, listed.reciprocal, positive_mass), because="Both are divided by it.",
)
same_reciprocal = Iff(
    id="same_reciprocal", left=(world.N[i] * listed.r[i], Integer(1)),
    right=(listed.r[i], world.r[i]), factor=world.N[i], by=(world.reciprocal, world.positive),
    because="The reciprocal of a positive mass is unique.",
)
same_readout = Step(
    id="same_readout", lhs=listed.R[i, e], rhs=world.R[i, e],
    by=(places, listed.readout, listed.weight, unit_mass, same_reciprocal, *at_places,
        world.readout, world.weight),
    because="A row of $B$ picks one token with its key and its value.",
)

T, c, v_o, R_o = array("T", d_o, d), array("c", d_o), array("v_T", m, d_o), array("R_T", n, d_o)
mapped = Definition(v_o[j, f], Sum(T[f, e] * world.v[j, e], (e, 1, d)) + c[f])
of_mapped = Definition(R_o[i, f], Sum(world.w[i, j] * v_o[j, f], (j, 1, m)))
rows = Step(
    id="rows", lhs=Sum(world.w[i, j], (j, 1, m)), rhs=Integer(1),
    by=(world.weight, world.total, *world.weights[1:]), because="Divided by their sum.",
)
image = Sum(T[f, e] * world.R[i, e], (e, 1, d)) + c[f]
affine = Step(
    id="affine", lhs=R_o[i, f], rhs=image, by=(of_mapped, mapped, rows, world.readout),
    because="The readout is linear in the values, and the constant meets weights of sum 1.",
)

g, h, below = array("g", d), Symbol("h", real=True), array("b", m)
functional = Sum(g[e] * world.R[i, e], (e, 1, d))


def values(token: Symbol) -> Expr:
    """The functional of the value of a token."""
    return Sum(g[e] * world.v[token, e], (e, 1, d))


def _largest(draw: Draw) -> None:
    if type(draw.source) is SmallIntegers:
        features = range(1, draw.size(d) + 1)
        found = (sum(draw.get("g", (x,)) * draw.get("v", (y, x)) for x in features)
                 for y in range(1, draw.size(m) + 1))
        draw.put(array("h"), (), max(found) + draw.source.rng.choice((0, 0, 1)))


gap = Definition(below[j], h - values(j))
at_most_h = Local("the functional is at most h", r"$g \cdot v_j \le h$ for every token", (),
                  _largest, ((below, ">=0"),))
weights_sign = Bound(
    id="weights_sign", small=Integer(0), large=world.w[i, j],
    certificate=world.kappa[i, j] * world.mu[i, j] * world.r[i],
    by=(world.weight, world.reciprocal, *world.nonnegative, world.positive),
    because="Nonnegative pairs over a positive mass.",
)
hull = Bound(
    id="hull", small=functional, large=h, certificate=Sum(world.w[i, j] * below[j], (j, 1, m)),
    by=(gap, weights_sign, rows, world.readout, at_most_h),
    because="A mean of numbers that are at most $h$.",
)
two = Integer(2)
phi, psi, pairing, v_2, mass, answer = (
    Symbol("phi", real=True), array("psi", two), array(r"\kappa_2", two), array("v_2", two),
    Symbol("N_2", real=True), Symbol("R_2", real=True))
outside = Witness(
    id="outside", values={array("phi"): 1, psi: [2, -1], v_2: [0, 1]},
    by=(Definition(pairing[j], phi * psi[j]), Definition(mass, Sum(pairing[j], (j, 1, two))),
        Definition(answer, Sum(pairing[j] * v_2[j], (j, 1, two)), over=mass)),
    holds=((mass, Integer(1)), (answer, Integer(-1))),
    because="The pairings 2 and -1 have the mass 1.",
)

THEOREM = Theorem(
    id="AP9",
    title="Equivariance of readouts, and the convex hull of the values",
    clauses=(
        Clause("queries", r"Let every row of $A$ have one entry 1 and otherwise 0 (a permutation, "
               r"or any selection of queries), and $\kappa_A = A \kappa$, $\mu_A = A \mu$. If "
               r"every $N_i > 0$, then the normalisers are $N_A = A N$ and $N_{A,a} (A R)_a = "
               r"\sum_j \kappa_{A,aj} \mu_{A,aj} v_j$: the readouts of the selected queries are "
               r"the selected readouts.", (selected_mass, selected_pairs)),
        Clause("world", r"Let the places $p$ of a list hold tokens $j$ of the world: every row of "
               r"$B$ has one entry 1 and otherwise 0, $\kappa'_{ip} = \sum_j B_{pj} \kappa_{ij}$, "
               r"$v'_p = \sum_j B_{pj} v_j$ and $\mu_{ij} = \sum_p \mu'_{ip} B_{pj}$. If $N_i > "
               r"0$, then $N' = N$ and $R' = R$: the readout is a function of the measure. With a "
               r"permutation $B$ it does not see the order; with any $B$ it does not see whether "
               r"equal tokens are listed apart.",
               (same_mass, positive_mass, unit_mass, same_reciprocal, same_readout)),
        Clause("affine", r"If $N_i > 0$, then $\sum_j w_{ij} = 1$ and the readout of the values $T "
               r"v_j + c$ is $T R_i + c$.", (world.total, rows, affine)),
        Clause("hull", r"If $\kappa, \mu \ge 0$ and $N_i > 0$, then $w_{ij} \ge 0$, so with sums 1 "
               r"the readout is a convex combination of the values; and $g \cdot v_j \le h$ for "
               r"all tokens gives $g \cdot R_i \le h$, for every $g$ and $h$.",
               (weights_sign, hull)),
        Clause("signed", r"The pairing $\kappa_j = \phi \psi_j$ of rank 1 with $\phi = 1$, $\psi "
               r"= (2, -1)$ has the normaliser $1 > 0$, and on the values $0, 1$ the readout $-1$.",
               (outside,)),
    ),
    mutants=(
        Mutant("signed_pairing", hull, "pairings of any sign", drop=world.nonnegative),
        Mutant("signed_world", hull, "worlds of any sign", drop=(world.nonnegative[1],)),
        Mutant("squares_pass", Step(
            id="affine", lhs=Sum(world.w[i, j] * world.v[j, e] ** 2, (j, 1, m)),
            rhs=world.R[i, e] ** 2, by=(world.readout, *world.weights), because="claimed"),
            "squaring the values passes"),
        Mutant("without_normaliser", Step(
            id="affine", lhs=Sum(world.kappa[i, j] * world.mu[i, j] * v_o[j, f], (j, 1, m)),
            rhs=Sum(T[f, e] * world.kappa[i, j] * world.mu[i, j] * world.v[j, e],
                    (j, 1, m), (e, 1, d)) + c[f], by=(mapped, *world.nonnegative),
            because="claimed"), "sums of pairs, not divided, take affine maps"),
        Mutant("values_alone", replace(
            same_readout, by=(
                places, listed.readout, listed.weight, at_places[1], listed.reciprocal,
                world.readout, world.weight, world.reciprocal, *world.nonnegative,
                *listed.nonnegative, world.positive, listed.positive)),
            "values may be reordered without their keys"),
        Mutant("any_mixture", same_readout, "places may hold mixtures of tokens", drop=(places,)),
        Mutant("masses_squared", same_readout, "masses are squared before they are added",
               add=(*listed.nonnegative, listed.positive), redefine=(
                   Definition(world.mu[i, j], Sum(
                       listed.mu[i, p] ** 2 * B[p, j], (p, 1, m_p))),)),
        Mutant("mixed_queries", selected_pairs, "queries may be mixed", drop=(select,)),
        Mutant("one_world", selected_mass, "all queries keep the same world", redefine=(
            Definition(mu_a[a, j], Sum(world.mu[i, j], (i, 1, n))),)),
        Mutant("hull_of_the_others", replace(hull, large=h - 1, certificate=Sum(
            world.w[i, j] * below[j], (j, 1, m)) - 1), "strictly inside by a fixed distance"),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
)
