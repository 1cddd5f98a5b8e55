"""Steps of CW10 on what a connection walk keeps: its kernel, its periods, its least eigenvalue."""

from __future__ import annotations

from sympy import Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.connection_walks.steps.harmonic import (
    harmonic_sections, isometric_in_frames, orthonormal_sections, recurrent, unit_sections,
)
from theorems.connection_walks.steps.flat_connections import (
    B, P, T, d, g, g_inv, gauge, h, holonomy, inverse, n, u,
)
from theorems.assumptions.sections import (
    equals, fixed, gauged, identity_product, parallel_sections,
)
from theorems.rules import Induction, Vanishing
from theorems.statement import Bound, Definition, Equation, Iff, Step, array, symbols_of

i, j, k, a, b, c, e, q = symbols_of("i j k a b c e q")

pi, Phi, D = array("pi", n), array("Phi", n, n), array("D", n, n, d, d)
F, F_inv = frames = array("F", n, d, d), array("F^{-1}", n, d, d)
metric, chain = right_inverse(F, F_inv), recurrent(P, pi)
image = Sum(T[i, j, b, e] * u[j, e, c], (e, 1, d))
difference = Definition(D[i, j, a, c], Sum(F[i, a, b] * (u[i, b, c] - image), (b, 1, d)))
flow = Definition(Phi[i, j], pi[i] * P[i, j])
energy = Sum(Phi[i, j] * D[i, j, a, c] ** 2, (i, 1, n), (j, 1, n), (a, 1, d))
no_energy = Step(
    id="no_energy", lhs=energy, rhs=Integer(0),
    by=(flow, difference, chain, harmonic_sections(P, T, u, frames),
        isometric_in_frames(P, T, frames)),
    because="With $|v|_{G_i} = |F_i v|$ the energy is $2 \\langle u, (I - W) u \\rangle$, that "
    "is 0.",
)
each_edge = Vanishing(
    id="each_edge", total=energy, part=D[i, j, a, c], weight=Phi[i, j],
    over=((i, n), (j, n), (a, d)), by=(flow, chain),
    because="A sum of nonnegative terms is 0 only if each is.",
)
weighted = Step(
    id="weighted", lhs=Phi[i, j] * D[i, j, a, c], rhs=Integer(0), by=(no_energy, each_edge),
    because="Every edge has energy 0.",
)
unweighted = Iff(
    id="unweighted", left=(weighted.lhs, Integer(0)), right=(P[i, j] * D[i, j, a, c], Integer(0)),
    factor=pi[i], by=(flow, chain), because="pi_i > 0.",
)
unframed_edge = Step(
    id="unframed_edge", lhs=P[i, j] * u[i, a, c], by=(difference, metric),
    rhs=P[i, j] * Sum(T[i, j, a, b] * u[j, b, c], (b, 1, d))
    + Sum(F_inv[i, a, b] * P[i, j] * D[i, j, b, c], (b, 1, d)),
    because="Take the frame off again.",
)
kernel = Step(
    id="kernel", lhs=P[i, j] * u[i, a, c], rhs=P[i, j] * Sum(T[i, j, a, b] * u[j, b, c], (b, 1, d)),
    by=(unframed_edge, weighted, unweighted), because="So u_i = T_ij u_j on edges.",
)

w, w_inv = array("w", d, d), array("w^{-1}", d, d)
section = Definition(u[i, a, c], Sum(g[i, a, b] * w[b, c], (b, 1, d)))
stochastic, fixed_w = sums_to_one(P), fixed(P, h, w, T, gauge)
pulled_back = Step(
    id="pulled_back", lhs=Sum(T[i, j, a, b] * g[j, b, c], (b, 1, d)),
    rhs=Sum(g[i, a, b] * h[i, j, b, c], (b, 1, d)), by=(holonomy, inverse),
    because="T_ij g_j = g_i h_ij.",
)
fixed_sections = Step(
    id="fixed_sections", lhs=P[i, j] * Sum(T[i, j, a, b] * u[j, b, c], (b, 1, d)),
    rhs=P[i, j] * u[i, a, c], by=(section, pulled_back, fixed_w),
    because="T_ij g_j w = g_i h_ij w = g_i w.",
)
in_kernel = Step(
    id="in_kernel", lhs=Sum(P[i, j] * T[i, j, a, b] * u[j, b, c], (j, 1, n), (b, 1, d)),
    rhs=u[i, a, c], by=(stochastic, fixed_sections), because="Rows of P sum to 1.",
)
coordinates = Step(
    id="coordinates", lhs=Sum(g_inv[i, a, b] * u[i, b, c], (b, 1, d)), rhs=w[a, c],
    by=(section, inverse),
    because="w is read off u at any node, so no w != 0 is lost.",
)
along_tree = Step(
    id="along_tree", lhs=B[i, j] * Sum(g_inv[i, a, b] * image, (b, 1, d)),
    rhs=B[i, j] * Sum(g_inv[i, a, b] * u[i, b, c], (b, 1, d)),
    by=(parallel_sections(B[i, j], T, u),),
    because="On a tree edge T_ij u_j = u_i for a parallel u,",
)
same_coordinates = Iff(
    id="same_coordinates", left=(along_tree.lhs, along_tree.rhs),
    right=(B[i, j] * Sum(g_inv[j, a, b] * u[j, b, c], (b, 1, d)), along_tree.rhs),
    by=(inverse, gauged(B, T, gauge)),
    because="and T_ij = g_i g_j^{-1}, so g_i^{-1} u_i is the same at both ends, and on all of a "
    "spanning tree: every parallel u is g w.",
)
named = Step(
    id="named", lhs=Sum(g[i, a, b] * w[b, c], (b, 1, d)), rhs=u[i, a, c], by=(section,),
    because="The name of the left side.",
)
fixed_by_cycles = Step(
    id="fixed_by_cycles", lhs=P[i, j] * Sum(h[i, j, a, b] * w[b, c], (b, 1, d)),
    rhs=P[i, j] * w[a, c],
    by=(inverse, named, parallel_sections(P[i, j], T, u, gauge), coordinates, holonomy),
    because="h_ij w = g_i^{-1} T_ij u_j = g_i^{-1} u_i = w.",
)
M = array("M", n, n, d, d)
image_w = Definition(M[i, j, a, c], Sum(h[i, j, a, b] * w[b, c], (b, 1, d)))
independent = right_inverse(w, w_inv)
spanned = Step(
    id="spanned", lhs=h[i, j, a, b], rhs=Sum(M[i, j, a, c] * w_inv[c, b], (c, 1, d)),
    by=(independent, image_w), because="h_ij is known on d independent vectors.",
)
kept = Step(
    id="kept", lhs=P[i, j] * M[i, j, a, c], rhs=P[i, j] * w[a, c],
    by=(image_w, fixed(P, h, w)), because="They are fixed.",
)
all_fixed = Step(
    id="all_fixed", lhs=P[i, j] * h[i, j, a, b], rhs=P[i, j] * KroneckerDelta(a, b),
    by=(independent, spanned, kept), because="A map that fixes d independent vectors is I.",
)

A_T, B_T, C_T = array("T^{p}", d, d), array("T^{q}", d, d), array("T^{p-q}", d, d)
identity_q = equals(B_T[a, b], KroneckerDelta(a, b), text="$T^q = I$")
lengths = Definition(A_T[a, b], Sum(C_T[a, c] * B_T[c, b], (c, 1, d)))
shortened = Step(
    id="shortened", lhs=C_T[a, b], rhs=A_T[a, b], by=(identity_q, lengths),
    because="T^p = T^{p-q} T^q.",
)
gcd = Step(
    id="gcd", lhs=C_T[a, b], rhs=KroneckerDelta(a, b),
    by=(identity_q, shortened, identity_product(A_T, C_T, B_T)),
    because="Lengths are subtracted until the greatest common divisor is left.",
)
period = array("T^{k}", d, d)
one_period = equals(period[a, b], KroneckerDelta(a, b), text="$T^k = I$")


def multiple(label: str) -> Equation:
    """T^{kl} = I."""
    return array(f"T^{{k({label})}}", d, d)[a, b], KroneckerDelta(a, b)


T_l, T_next = array("T^{k(l)}", d, d), array("T^{k(l+1)}", d, d)
multiple_l = equals(*multiple("l"), text="$T^{kl} = I$")
first_multiple = Step(
    id="first_multiple", lhs=multiple("1")[0], rhs=multiple("1")[1], because="k times 1.",
    by=(Definition(array("T^{k(1)}", d, d)[a, b], period[a, b]), one_period),
)
next_multiple = Step(
    id="next_multiple", lhs=multiple("l+1")[0], rhs=multiple("l+1")[1],
    by=(Definition(T_next[a, b], Sum(T_l[a, c] * period[c, b], (c, 1, d))), one_period, multiple_l),
    because="T^{kl + k} = T^{kl} T^k.",
)
multiples = Induction(
    id="multiples", claim=multiple, hypothesis=multiple_l, by=(first_multiple, next_multiple),
    because="Every closed walk has a length that k divides.",
)

phi, psi, gamma = array("phi", n, d, n, d), array("psi", n, d, n, d), array("gamma", n, d)
z, Lz, G = array("z", n, d), array("Lz", n, d), array("G", n, d, d)
rate, gap, least = array("lambda", n, d), array("delta", n, d), Symbol("lambda_1", real=True)
dual = Definition(psi[k, q, i, a], pi[i] * Sum(G[i, a, b] * phi[k, q, i, b], (b, 1, d)))
expansion = Definition(gamma[k, q], Sum(psi[k, q, i, a] * z[i, a], (i, 1, n), (a, 1, d)))
operator = Definition(
    Lz[i, a], Sum(rate[k, q] * gamma[k, q] * phi[k, q, i, a], (k, 1, n), (q, 1, d))
)
above_least = Definition(rate[k, q], least + gap[k, q])
smallest = signed(gap, ">=0")
square = Sum(pi[i] * z[i, a] * G[i, a, b] * z[i, b], (i, 1, n), (a, 1, d), (b, 1, d))
rayleigh = Sum(pi[i] * z[i, a] * G[i, a, b] * Lz[i, b], (i, 1, n), (a, 1, d), (b, 1, d))
parseval = Step(
    id="parseval", lhs=Sum(gamma[k, q] ** 2, (k, 1, n), (q, 1, d)), rhs=square,
    by=(expansion, orthonormal_sections(psi, phi, pi, G), dual),
    because="The coefficients in an orthonormal basis have the square norm as their sum of "
    "squares.",
)
diagonal = Step(
    id="diagonal", lhs=rayleigh, by=(operator, expansion, dual),
    rhs=Sum(rate[k, q] * gamma[k, q] ** 2, (k, 1, n), (q, 1, d)),
    because="L is diagonal in the basis.",
)
cheeger = Bound(
    id="cheeger", small=least * square, large=rayleigh,
    by=(diagonal, parseval, above_least, smallest),
    certificate=Sum(gap[k, q] * gamma[k, q] ** 2, (k, 1, n), (q, 1, d)),
    because="No coefficient is weighed by less than the smallest eigenvalue.",
)
law = sums_to_one(pi)
length_one = Step(
    id="length_one", lhs=square, rhs=Integer(1), by=(unit_sections(z, G), law),
    because="Every node counts pi_i.",
)
