"""AP3. Causal attention is the readout along a filtration of worlds."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Sum

from theorems.assumptions.entries import signed
from theorems.attention_pairings.steps import masks as on
from theorems.attention_pairings.steps.masks import j, l, later, m, m_1, m_2, seen, world
from theorems.assumptions.readouts import Readout, d, e, i, n, nothing
from theorems.statement import (
    Bound, Clause, Definition, Iff, Mutant, Step, Theorem, Witness, array,
)

grown = Readout("'", m, j, kappa=world.kappa, v=world.v)
nu, nonnegative_nu = array(r"\nu", n, m), signed(array(r"\nu", n, m), ">=0")
added = Definition(grown.mu[i, j], world.mu[i, j] + nu[i, j])
larger = Bound(
    id="larger", small=world.mu[i, j], large=grown.mu[i, j], certificate=nu[i, j],
    by=(added, nonnegative_nu), because="The world of a later query has every token of an earlier.",
)
growth = Step(
    id="growth", lhs=grown.N[i] * grown.R[i, e],
    rhs=world.N[i] * world.R[i, e]
    + Sum(world.kappa[i, j] * nu[i, j] * world.v[j, e], (j, 1, m)),
    by=(*world.values, *grown.values, added),
    because="The pairs of both worlds add up.",
)

N, r, R = array("N", n), array("r", n), array("R", n, d)
early, late = array("w", n, m_1), array("w'", n, m_2)
unseen = nothing(later.mu, r"later tokens have no weight, $\mu_2 = 0$")
total = Definition(N[i], Sum(seen.kappa[i, j] * seen.mu[i, j], (j, 1, m_1))
                   + Sum(later.kappa[i, l] * later.mu[i, l], (l, 1, m_2)))
reciprocal = Definition(r[i], Integer(1), over=N[i])
positive = Bound(
    id="positive_mass", small=Integer(0), large=N[i], certificate=seen.N[i], strict=True,
    by=(total, seen.normaliser, unseen, seen.positive), because="The prefix has positive mass.",
)
late_weight = Definition(late[i, l], later.kappa[i, l] * later.mu[i, l] * r[i])
whole = (
    Definition(R[i, e], Sum(early[i, j] * seen.v[j, e], (j, 1, m_1))
               + Sum(late[i, l] * later.v[l, e], (l, 1, m_2))),
    Definition(early[i, j], seen.kappa[i, j] * seen.mu[i, j] * r[i]), late_weight,
)
no_late_weight = Step(
    id="no_late_weight", lhs=late[i, l], rhs=Integer(0),
    by=(late_weight, reciprocal, unseen, positive),
    because="A token outside the world of the query has weight 0.",
)
same_mass = Step(
    id="same_mass", lhs=seen.N[i], rhs=N[i], by=(seen.normaliser, total, unseen),
    because="Nor does it count in the normaliser.",
)
unit_mass = Step(
    id="unit_mass", lhs=seen.N[i] * r[i], rhs=Integer(1), by=(same_mass, reciprocal, positive),
    because="The row is divided by that mass.",
)
same_reciprocal = Iff(
    id="same_reciprocal", left=(seen.N[i] * r[i], Integer(1)), right=(r[i], seen.r[i]),
    factor=seen.N[i], by=(seen.reciprocal, seen.positive),
    because="The reciprocal of a positive mass is unique.",
)
prefix = Step(
    id="prefix", lhs=R[i, e], rhs=seen.R[i, e],
    by=(*whole, unit_mass, same_reciprocal, seen.readout, seen.weight, unseen),
    because="So the readout is that of the prefix, whatever the later tokens are.",
)

no_world, Y = nothing(world.mu, r"the worlds are empty, $\mu = 0$"), array("Y", n, d)
empty = Step(
    id="empty", lhs=world.N[i] * Y[i, e], rhs=world.pairs(i), by=(world.normaliser, no_world),
    because="Both sides are 0 for every $Y$.",
)

one, two = Integer(1), Integer(2)
end, start, v = array("V_+", one, two), array("V_0", one, two), array("v_0", two)
alignment = Witness(
    id="alignment", values={end: [[1, 1]], start: [[1, 0]], v: [0, 1]},
    holds=((Sum(end[i, j] * v[j], (j, 1, two)), one), (Sum(end[i, j], (j, 1, two)), two),
           (Sum(start[i, j] * v[j], (j, 1, two)), Integer(0)),
           (Sum(start[i, j], (j, 1, two)), one)),
    because="One query, two keys with values 0 and 1 and equal scores.",
)

THEOREM = Theorem(
    id="AP3",
    title="Causal attention is the readout along a filtration of worlds",
    clauses=(
        Clause("growth", r"Let $\mu' = \mu + \nu$ with $\nu \ge 0$: then $\mu \le \mu'$. For any "
               r"$\nu$ with positive normalisers $N_i = \sum_j \kappa_{ij} \mu_{ij}$ and $N'_i$: "
               r"$N'_i R'_i = N_i R_i + \sum_j \kappa_{ij} \nu_{ij} v_j$. A causal mask $V_{ij} = "
               r"1$ for $j \le i + o$ is the filtration that adds one token a query.",
               (larger, growth)),
        Clause("prefix", r"Let the world of query $i$ give later tokens the weight $\mu_{2,il} = "
               r"0$, and positive mass to the prefix. Then their weight in the row is 0, the "
               r"normaliser is that of the prefix, and so is the readout: it does not depend on "
               r"the keys and values of later tokens.",
               (positive, no_late_weight, same_mass, unit_mass, same_reciprocal, prefix)),
        Clause("mask_limit", r"Let a row have the visible mass $N_{1,i} > 0$, and hidden tokens "
               r"with $\kappa_2, \mu_2 \ge 0$, mass $B_i$, and the pairing $\epsilon \kappa_2$, "
               r"$\epsilon = e^{-M} > 0$: a mask $-M$ on their scores. With $S_i = N_{1,i} + "
               r"\epsilon B_i$: $S_i (T_i - R_{1,i}) = \epsilon \sum_l \kappa_{2,il} \mu_{2,il} "
               r"(v_{2,l} - R_{1,i})$, so if $|v_{2,le} - R_{1,ie}| \le \Delta_i$ then $S_i "
               r"|T_{ie} - R_{1,ie}| \le \epsilon B_i \Delta_i$; and $N_{1,i} p'_{il} \le \epsilon "
               r"\kappa_{2,il} \mu_{2,il}$ for the weights $p'$ of hidden tokens. As $M \to "
               r"\infty$ the readout $T$ tends to the readout $R_1$ of the visible tokens.",
               (on.moved, on.moved_up, on.moved_down, on.visible_part, on.hidden_weight)),
        Clause("all_masked", r"If all tokens of a row are masked by $-M$, $N_{2,i} > 0$ and "
               r"$\epsilon > 0$, then its weights are those without a mask, $\kappa_{2,il} "
               r"\mu_{2,il} / N_{2,i}$, for every $M$: the limit is the softmax of the scores, not "
               r"0.", (on.scaled, on.all_mass, on.same_scale, on.all_masked)),
        Clause("empty", r"If $\mu = 0$, every $Y$ satisfies $N_i Y_i = \sum_j \kappa_{ij} \mu_{ij} "
               r"v_j$: the empty world determines no readout, and that it reads 0 is a "
               r"convention.", (empty,)),
        Clause("renormalised", r"With positive normalisers, $w$ the weights in the worlds $\mu$ "
               r"and $w'$ those in the worlds $V \mu$: $w'_{ij} \sum_k V_{ik} w_{ik} = V_{ij} "
               r"w_{ij}$, and $\sum_j V_{ij} w_{ij} = 1 - \sum_j (1 - V_{ij}) w_{ij}$: a mask "
               r"after softmax gives the readout in the visible world only when the row is "
               r"divided by what is left of it.", (on.mass_left, on.renormalised, on.left_over)),
        Clause("alignment", r"For $n_q$ queries and $n_k$ keys the mask $j \le i + o$ needs its "
               r"offset: $o = n_k - n_q$ if the queries are the last tokens, and $o = 0$ if they "
               r"are the first. One query on two keys with values $0, 1$ and equal scores: pairs "
               r"1 of mass 2, readout $\frac12$, against pairs 0 of mass 1, readout 0.",
               (alignment,)),
    ),
    mutants=(
        Mutant("bidirectional", prefix, "later tokens have weight in the world of the query",
               drop=(unseen,)),
        Mutant("later_mass_counts", same_mass, "later tokens have weight in the normaliser",
               drop=(unseen,)),
        Mutant("all_masked_reads_zero", replace(on.all_masked, rhs=Integer(0)),
               "a row masked by -M everywhere tends to 0"),
        Mutant("row_sum_one", replace(on.left_over, rhs=Integer(1)),
               "a mask after softmax keeps the row sum"),
        Mutant("masked_afterwards", replace(on.renormalised, lhs=on.kept.w[i, j]),
               "a mask after softmax is a mask before it"),
        Mutant("mass_not_added", replace(growth, lhs=world.N[i] * grown.R[i, e]),
               "a new token leaves the normaliser"),
        Mutant("overwritten", replace(growth, rhs=Sum(
            world.kappa[i, j] * nu[i, j] * world.v[j, e], (j, 1, m))),
            "a new token overwrites the readout"),
        Mutant("no_larger", larger, "worlds may lose mass", drop=(nonnegative_nu,)),
        Mutant("hidden_without_mass", replace(
            on.moved, lhs=on.soft[i, e] - seen.R[i, e]), "the readout moves by the hidden pairs"),
        Mutant("signed_hidden", on.moved_up, "hidden pairings of any sign",
               drop=later.nonnegative, add=(signed(on.S, ">0"),)),
        Mutant("far_values", on.moved_up, "hidden values at any distance",
               drop=(on.hidden_within[0],)),
        Mutant("half_the_weight", replace(
            on.hidden_weight, small=2 * seen.N[i] * on.soft_late[i, l]), "hidden weights halve"),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
    uses=("AP9",),
)
