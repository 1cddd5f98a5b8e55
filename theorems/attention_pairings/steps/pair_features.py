"""AP6, pairings of pairs of finite rank, what they cost, prefixes of the world, and reorderings."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum

from theorems.attention_pairings.steps.pair_kernels import (
    E, FEATURES, ONE, S, TWO, Z, a, b, d, d_v, i, j, k, k2, l, m, m2, mu, mu2, n, numerator, q,
    scores, total, v, v2,
)
from theorems.assumptions.entries import signed
from theorems.assumptions.matrices import permutation
from theorems.checker.exact import Draw
from theorems.statement import Definition, Local, Step, array, symbols_of

w = symbols_of("w")[0]
g, t, c1, c2, i2 = symbols_of("g t c1 c2 i'")
RANK = (g, 1, w)
phi, psi, chi = array("phi", n, w), array("psi", m, w), array("chi", m2, w)
M, M2 = array("M", n, w, d_v), array("M'", n, w, d_v)
N, N2 = array("N_0", n, w), array("N_0'", n, w)
finite = Definition(E[i, j, l], Sum(phi[i, g] * psi[j, g] * chi[l, g], RANK))
moments = (
    Definition(M[i, g, b], Sum(mu[i, j] * psi[j, g] * v[j, b], ONE)),
    Definition(M2[i, g, b], Sum(mu2[i, l] * chi[l, g] * v2[l, b], TWO)),
)
masses = (Definition(N[i, g], Sum(mu[i, j] * psi[j, g], ONE)),
          Definition(N2[i, g], Sum(mu2[i, l] * chi[l, g], TWO)))
finite_rank = Step(
    id="finite_rank", lhs=numerator, rhs=Sum(phi[i, g] * M[i, g, b] * M2[i, g, b], RANK),
    by=(finite, *moments), because="Each term of the pairing is a product of one-sided sums.")
finite_total = Step(
    id="finite_total", lhs=Z[i], rhs=Sum(phi[i, g] * N[i, g] * N2[i, g], RANK),
    by=(total, finite, *masses), because="The same without values.")
U = array("U", m)
state = array("h", w, d_v)
held = Definition(state[g, b], Sum(U[j] * psi[j, g] * v[j, b], ONE))
next_state = Step(
    id="next_state", lhs=Sum((U[j] + KroneckerDelta(j, t)) * psi[j, g] * v[j, b], ONE),
    rhs=state[g, b] + psi[t, g] * v[t, b], by=(held,),
    because="One token more in the prefix adds one product to each one-sided sum.")

direct = Step(
    id="direct_count", lhs=Sum(1, ONE, TWO, FEATURES) + Sum(1, (i, 1, n), ONE, TWO, FEATURES)
    + Sum(1, (i, 1, n), ONE, TWO) + Sum(1, ONE, TWO, (b, 1, d_v))
    + Sum(1, (i, 1, n), ONE, TWO, (b, 1, d_v)),
    rhs=m * m2 * ((n + 1) * (d + d_v) + n),
    because="Products of keys, scores, weights, products of values, outputs.")
factored = Step(
    id="factored_count", lhs=Sum(1, ONE, RANK, (b, 1, d_v)) + Sum(1, TWO, RANK, (b, 1, d_v))
    + Sum(1, RANK, (b, 1, d_v)) + Sum(1, RANK) + Sum(1, (i, 1, n), RANK, (b, 1, d_v))
    + Sum(1, (i, 1, n), RANK) + Sum(1, (i, 1, n), (b, 1, d_v)),
    rhs=w * ((m + m2 + n + 1) * d_v + n + 1) + n * d_v,
    because="Moments of both worlds, their products with values and without, outputs and totals, "
    "divisions.")

u, u2, e, e2 = array("u", m), array("u'", m2), array("e", m, m2), array("e'", m, m2)
v3, v4 = array("v_3", m, d_v), array("v_4", m2, d_v)


def seen(name: str, text: str, mass: Expr, one: Expr, other: Expr) -> Local:
    """Two arrays agree where the mass is not zero."""
    base = one.base  # type: ignore[attr-defined]
    places = one.indices  # type: ignore[attr-defined]
    weights = [(part.base, [places.index(x) for x in part.indices])  # type: ignore[attr-defined]
               for part in mass.as_ordered_factors()]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(base):
            if all(draw.get(array.name, tuple(cell[at] for at in axes)) != 0
                   for array, axes in weights):
                draw.put(base, cell, draw.get(other.base.name, cell))  # type: ignore[attr-defined]

    return Local(name, text, ((mass * one, mass * other),), impose)


same = (
    seen("kernels agree on the prefix", r"$u_j u'_l e'_{jl} = u_j u'_l e_{jl}$", u[j] * u2[l],
         e2[j, l], e[j, l]),
    seen("values agree on the prefix", r"$u_j v_{3,j} = u_j v_j$", u[j], v3[j, b], v[j, b]),
    seen("other values agree on the prefix", r"$u'_l v_{4,l} = u'_l v'_l$", u2[l], v4[l, b],
         v2[l, b]),
)
prefix = Step(
    id="prefix", lhs=Sum(u[j] * u2[l] * e2[j, l] * v3[j, b] * v4[l, b], ONE, TWO),
    rhs=Sum(u[j] * u2[l] * e[j, l] * v[j, b] * v2[l, b], ONE, TWO), by=same,
    because="A token without mass does not count, in whichever world.")
prefix_total = Step(
    id="prefix_total", lhs=Sum(u[j] * u2[l] * e2[j, l], ONE, TWO),
    rhs=Sum(u[j] * u2[l] * e[j, l], ONE, TWO), by=same[:1], because="The same for the normaliser.")


s, p, p2 = array(r"\Sigma", n, n), array(r"\Pi", m, m), array(r"\Pi'", m2, m2)
orders = tuple(map(permutation, (s, p, p2)))
j2, l2 = symbols_of("j' l'")
OTHERS = ((i2, 1, n), (j2, 1, m), (l2, 1, m2))


def reordered(array_: IndexedBase, name: str) -> Definition:
    """Tokens, or a kernel, at the places of the reordered tokens."""
    kinds = {n: (s, i, i2), m: (p, j, j2), m2: (p2, l, l2)}
    places, inner, weights, limits = [], [], Integer(1), []
    for size in array_.shape:
        if size in kinds:
            order, outer, other = kinds[size]
            places, inner = [*places, outer], [*inner, other]
            weights, limits = weights * order[outer, other], [*limits, (other, 1, size)]
        else:
            column = a if size == d else b
            places, inner = [*places, column], [*inner, column]
    value = Sum(weights * array_[tuple(inner)], *limits)
    return Definition(array(name, *array_.shape)[tuple(places)], value)


new_q, new_k, new_k2 = (reordered(x, name) for x, name in
                        ((q, "q_p"), (k, "k_p"), (k2, "k_p'")))
new_v, new_v2, new_E = (reordered(x, name) for x, name in
                        ((v, "v_p"), (v2, "v_p'"), (E, "E_p")))
new_S = array("S_p", n, m, m2)
new_scores = Definition(
    new_S[i, j, l], Sum(new_q.entry * new_k.entry * new_k2.entry, FEATURES))
reordered_scores = Step(
    id="reordered_scores", lhs=new_S[i, j, l],
    rhs=Sum(s[i, i2] * p[j, j2] * p2[l, l2] * S[i2, j2, l2], *OTHERS),
    by=(new_scores, new_q, new_k, new_k2, scores),
    because="A score of reordered tokens is the score at their old places.")
whole, r, y = array("Z_1", n), array("r_1", n), array("y_1", n, d_v)
X, x, y_p = array("Z_p", n), array("r_p", n), array("y_p", n, d_v)
outputs = Sum(E[i, j, l] * v[j, b] * v2[l, b], ONE, TWO)
new_outputs = Sum(new_E.entry * new_v.entry * new_v2.entry, ONE, TWO)
whole_is = Definition(whole[i], Sum(E[i, j, l], ONE, TWO))
new_whole = Definition(X[i], Sum(new_E.entry, ONE, TWO))
positive = signed(whole, ">0")
readout, new_readout = (Definition(y[i, b], outputs * r[i]),
                        Definition(y_p[i, b], new_outputs * x[i]))
inverse, new_inverse = (Definition(r[i], Integer(1), over=whole[i]),
                        Definition(x[i], Sum(s[i, i2] * r[i2], (i2, 1, n))))
reordered_outputs = Step(
    id="reordered_outputs", lhs=new_outputs,
    rhs=Sum(s[i, i2] * E[i2, j, l] * v[j, b] * v2[l, b], (i2, 1, n), ONE, TWO),
    by=(new_E, new_v, new_v2, *orders[1:]), because="A sum does not see the order of its terms.")
reordered_total = Step(
    id="reordered_total", lhs=X[i], rhs=Sum(s[i, i2] * whole[i2], (i2, 1, n)),
    by=(new_whole, whole_is, new_E, *orders[1:]), because="The same without values.")
reordered_inverse = Step(
    id="reordered_inverse", lhs=X[i] * x[i], rhs=Integer(1),
    by=(new_inverse, reordered_total, inverse, orders[0], positive),
    because="So the new normaliser has the reciprocal of the old one, at its new place.")
equivariant = Step(
    id="equivariant", lhs=y_p[i, b], rhs=Sum(s[i, i2] * y[i2, b], (i2, 1, n)),
    by=(new_readout, readout, new_inverse, reordered_outputs, orders[0], inverse, positive),
    because="Each output is the old one of its query.")
