"""AP4. Linear attention is a pairing of finite rank."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.attention_pairings.steps import softmax_states as softmax
from theorems.attention_pairings.steps import statistics as needed
from theorems.attention_pairings.steps import vandermonde as powers
from theorems.attention_pairings.steps import worlds
from theorems.checker.exact import Draw
from theorems.statement import (
    Bound, Clause, Definition, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, p, m, w, d = symbols_of("n p m w d")
i, j, a, b, c, e, f = symbols_of("i j a b c e f")
QUERY, KEY, FEATURE, COORDINATE = (i, 1, n), (j, 1, p), (a, 1, m), (c, 1, w)
of_q, of_k, v = array("phi", n, m), array("psi", p, m), array("v", p, w)
mu, kappa = array("mu", p), array("kappa", n, p)
pairing = Definition(kappa[i, j], Sum(of_q[i, a] * of_k[j, a], FEATURE))
M, z = array("M", m, w), array("z", m)
moments = (Definition(M[a, c], Sum(mu[j] * of_k[j, a] * v[j, c], KEY)),
           Definition(z[a], Sum(mu[j] * of_k[j, a], KEY)))
Z, total = array("Z", n), array("T", n, w)
masses = (Definition(Z[i], Sum(mu[j] * kappa[i, j], KEY)),
          Definition(total[i, c], Sum(mu[j] * kappa[i, j] * v[j, c], KEY)))

reassociate = Step(
    id="reassociate", lhs=Sum(Sum(of_q[i, a] * of_k[j, a], FEATURE) * v[j, c], KEY),
    rhs=Sum(of_q[i, a] * Sum(of_k[j, a] * v[j, c], KEY), FEATURE),
    because="Finite sums may be taken in either order.",
)
through_moments = Step(
    id="through_moments", lhs=total[i, c], rhs=Sum(of_q[i, a] * M[a, c], FEATURE),
    by=(pairing, *masses, *moments), because="The numerator of the readout is linear in $M$.",
)
normaliser = Step(
    id="normaliser", lhs=Z[i], rhs=Sum(of_q[i, a] * z[a], FEATURE),
    by=(pairing, *masses, *moments), because="The same for values $1$.",
)

nu, of_k2, v2 = array("nu", p), array("psi'", p, m), array("v'", p, w)


def _scaled(draw: Draw) -> None:
    """Other keys with multiples of the features, and masses that make up for it."""
    for (key,) in draw.cells(mu):
        scale = draw.source.fresh(">0")
        draw.put(nu, (key,), draw.get("mu", (key,)) * draw.source.inverse(scale))
        for feature in range(1, draw.size(m) + 1):
            entry = draw.get("psi", (key, feature))
            draw.put(of_k2, (key, feature), scale * entry)


def _same_values(draw: Draw) -> None:
    for cell in draw.cells(v2):
        draw.put(v2, cell, draw.get("v", cell))


same_z = Local(
    "equal z", "$z$ is the same for both worlds",
    ((Sum(nu[j] * of_k2[j, a], KEY), Sum(mu[j] * of_k[j, a], KEY)),), _scaled,
)
same_M = Local(
    "equal M", "$M$ is the same for both worlds",
    ((Sum(nu[j] * of_k2[j, a] * v2[j, c], KEY), Sum(mu[j] * of_k[j, a] * v[j, c], KEY)),),
    _same_values,
)


def paired(features: IndexedBase, *factors: Expr) -> Expr:
    """The sum over keys of the pairing with the query, times other factors."""
    term = Sum(of_q[i, a] * features[j, a], FEATURE)
    for factor in factors:
        term *= factor
    return Sum(term, KEY)


same_mass = Step(
    id="same_mass", lhs=paired(of_k2, nu[j]), rhs=paired(of_k, mu[j]), by=(same_z,),
    because="The normaliser is $\\langle \\phi, z \\rangle$.",
)
same_total = Step(
    id="same_total", lhs=paired(of_k2, nu[j], v2[j, c]), rhs=paired(of_k, mu[j], v[j, c]),
    by=(same_z, same_M), because="The numerator is $M^\\top \\phi$.",
)

linear = (n + p) * m * w + n * m
quadratic = n * p * (m + w)
linear_count = Step(
    id="linear_count", rhs=linear,
    lhs=Sum(1, KEY, FEATURE, COORDINATE) + Sum(1, QUERY, FEATURE, COORDINATE)
    + Sum(1, QUERY, FEATURE), because="$\\phi(K)^\\top V$, then $\\phi(Q)$ times it and times $z$.",
)
quadratic_count = Step(
    id="quadratic_count", lhs=Sum(1, QUERY, KEY, FEATURE) + Sum(1, QUERY, KEY, COORDINATE),
    rhs=quadratic, because="$\\phi(Q) \\phi(K)^\\top$, then times $V$.",
)
saved = Symbol("s", real=True)
cheaper = Step(
    id="cheaper", lhs=n**2 * (m + w), rhs=2 * n * m * w + n * m + n * saved,
    by=(Definition(saved, n * (m + w) - 2 * m * w - m),), because="For $p = n$.",
)

positive = tuple(signed(each, ">0") for each in (of_q, of_k, mu))
positive_mass = Bound(
    id="positive_mass", small=Integer(0), large=Z[i], strict=True,
    certificate=paired(of_k, mu[j]),
    by=(masses[0], pairing, *positive), because="A sum of positive terms.",
)
readout, share = array("R", n, w), array("zeta", m)
reads = Definition(readout[i, c], total[i, c], over=Z[i])
readout_exists = Step(
    id="readout_exists", lhs=Z[i] * readout[i, c], rhs=Sum(of_q[i, a] * M[a, c], FEATURE),
    by=(reads, masses[1], pairing, moments[0], positive_mass, *positive),
    because="So the readout is the quotient.",
)
vanishing = Witness(
    id="vanishing", values={of_q: [[1, 0]], of_k: [[1, 0], [-1, 1]], mu: [1, 1], v: [[1], [0]]},
    holds=((Z[i], Integer(0)),), fails=((total[i, c], Integer(0)),), by=(pairing, *masses),
    because="$q = (1, 0)$, $k = (1, 0), (-1, 1)$ with $\\phi$ the identity: $1 - 1 = 0$.",
)

x, s, alpha, beta, form = (
    array("x", n), array("s", p), array("a", d), array("b", d), array("M", d, d)
)


def _form(draw: Draw) -> None:
    """M with a^T M b = 1, by its first entry."""
    size = draw.size(d)
    rest = 0
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            if (row, column) != (1, 1):
                entry = draw.source.fresh(None)
                draw.put(form, (row, column), entry)
                rest += draw.get("a", (row,)) * entry * draw.get("b", (column,))
    scale = draw.get("a", (1,)) * draw.get("b", (1,))
    draw.put(form, (1, 1), draw.source.inverse(scale) * (1 - rest))


nonzero = Local(
    "a^T M b = 1", "$a^\\top M b = 1$ for some $a$, $b$, that is $M \\ne 0$",
    ((Sum(alpha[e] * form[e, f] * beta[f], (e, 1, d), (f, 1, d)), Integer(1)),), _form,
)
on_lines = Step(
    id="on_lines", rhs=x[i] * s[j], by=(nonzero,),
    lhs=Sum(x[i] * alpha[e] * form[e, f] * s[j] * beta[f], (e, 1, d), (f, 1, d)),
    because="Queries $x_i a$ and keys $s_j b$ have the scores $x_i s_j$ of $d = 1$.",
)

THEOREM = Theorem(
    id="AP4",
    title="Linear attention is a pairing of finite rank",
    clauses=(
        Clause("reassociation", r"$(\phi(Q) \psi(K)^\top) V = \phi(Q) (\psi(K)^\top V)$. For the "
               r"world $\sum_j \mu_j \delta_{(k_j, v_j)}$ and $\kappa = \langle \phi, \psi "
               r"\rangle$ with $m$ features the numerators of the readouts are $\phi(Q) M$ and the "
               r"normalisers $\phi(Q) z$, with $M = \sum_j \mu_j \psi_j v_j^\top$ and $z = \sum_j "
               r"\mu_j \psi_j$.", (reassociate, through_moments, normaliser)),
        Clause("moments", r"$(M, z)$ is sufficient: worlds with the same $z$ have the same "
               r"normalisers, and with the same $z$ and $M$ the same numerators too.",
               (same_mass, same_total)),
        Clause("counts", r"For $n$ queries and $p$ keys this takes $(n + p) m w + n m$ products, "
               r"against $n p (m + w)$ by the matrix of weights (divisions apart). For $p = n$ "
               r"it saves $n s$, $s = n (m + w) - 2 m w - m$.",
               (linear_count, quadratic_count, cheaper)),
        Clause("positivity", r"If all features and masses are positive, so are the normalisers, "
               r"and the readouts exist. With signed features a normaliser may vanish where its "
               r"numerator does not: $q = (1, 0)$, $k = (1, 0), (-1, 1)$ and $\phi$ the identity.",
               (positive_mass, readout_exists, vanishing)),
        Clause("converse", r"Let $v_1, \ldots, v_{w+1}$ be affinely independent values in $R^w$, "
               r"$A \kappa B = I_r$ on some queries and keys, and $t$ any $N$ linear statistics of "
               r"worlds on these keys and values, $t g t = t$ (every matrix $t$ has such a $g$). "
               r"With $E = I - g t$ the worlds $\mu + E_{kf}$ have the statistics of $\mu$, and "
               r"are worlds if the masses $\mu_{jl}$ are at least $1 + \sum_{kf} E_{jl,kf}^2$. "
               r"Let readouts factor through $t$, so that $\mu$ and all $\mu + E_{kf}$ read the "
               r"same, as $\mu'$ and all $\mu' + E_{kf}$ do, and let each query tell two such "
               r"worlds $\mu$, $\mu'$ apart: a token of mass $1$ more at the key $k$ and the "
               r"value $v_f$ or $v_h$ gives both the normaliser $X_{ik} = Z_i + \kappa_{ik}$, and "
               r"where it is positive $X_{ik} (R_f - R_h) = \kappa_{ik} (v_f - v_h)$, so every "
               r"query does for which $\kappa_{ik} \ne 0$ at one key (others have nothing to "
               r"read). Then $\kappa \nu = \kappa \nu g t$ for $\nu = (v, 1)$, and the identity "
               r"of size $r (w + 1)$ has at most the rank of the $N$ rows of $t$: $(w + 1)\, "
               r"\mathrm{rank}\, \kappa \le N$. The rank is the least inner width of a "
               r"factorisation; with as many features the $(w + 1)\, \mathrm{rank}\, \kappa$ "
               r"numbers $(M, z)$ suffice, by the clause moments.", needed.STEPS),
        Clause("infinite_rank", r"If $M \ne 0$, queries $x_i a$ and keys $s_j b$ with $a^\top M b "
               r"= 1$ have scores $x_i s_j$. With equal steps of $s_j$ their exponentials are row "
               r"scales times powers of nodes, and by induction on the nodes a matrix of powers "
               r"of $r$ pairwise distinct nodes has an inverse. If such a matrix times row scales "
               r"$\rho_i \ne 0$ is a product through $m$ features, then $I_r$ has rank at most "
               r"that of $m$ rows: $\exp(q^\top M k)$ has no finite rank.",
               (on_lines, softmax.equal_steps, *powers.STEPS, softmax.equally_spaced)),
    ),
    mutants=(
        Mutant("values_apart", replace(reassociate, rhs=Sum(of_q[i, a] * Sum(of_k[j, a], KEY)
               * Sum(v[j, c], KEY), FEATURE)), "features and values are summed apart"),
        Mutant("features_summed_first", replace(reassociate, rhs=Sum(of_q[i, a], FEATURE) * Sum(
            of_k[j, b] * v[j, c], KEY, (b, 1, m))), "features of queries are summed first"),
        Mutant("without_z", same_mass, "$M$ alone is sufficient", drop=(same_z,), add=(same_M,)),
        Mutant("without_M", same_total, "$z$ alone is sufficient", drop=(same_M,)),
        Mutant("no_cost_for_z", replace(linear_count, rhs=(n + p) * m * w),
               "$(n + p) m w$ products with the normaliser"),
        Mutant("saves_always", replace(cheaper, rhs=2 * n * m * w + n * m + n**2 * saved),
               "saves $n^2 s$"),
        Mutant("nonnegative_features", positive_mass, "features $\\ge 0$ suffice",
               drop=(positive[0],), add=(signed(of_q, ">=0"),)),
        Mutant("signed_features", readout_exists, "features of any sign have readouts",
               drop=(positive[1],)),
        Mutant("normaliser_inside", replace(readout_exists, by=(
            *readout_exists.by, moments[1], Definition(share[a], Integer(1), over=z[a]))),
            "each moment is divided by its own total", add=(signed(z, ">0"),),
            redefine=(Definition(readout[i, c], Sum(of_q[i, a] * M[a, c] * share[a], FEATURE)),)),
        Mutant("map_between", through_moments, "a map such as the square stands between",
               redefine=(Definition(kappa[i, j], Sum(of_q[i, a] * of_k[j, a], FEATURE) ** 2),)),
        Mutant("any_pairing_tells", replace(needed.told_apart, rhs=needed.v[f, c]
               - needed.v[needed.h, c]), "readouts differ by the values, whatever the pairing is"),
        Mutant("same_readouts", needed.by_difference, "two worlds with the same readout suffice",
               drop=(worlds.differ,)),
        Mutant("any_statistics", needed.no_gap, "any statistics will do", drop=(worlds.same,)),
        Mutant("any_pairing", needed.enough, "pairings of less rank need as many",
               drop=(needed.rank_of_kappa,)),
        Mutant("no_inverse", needed.same_statistics, "any $g$ will do", drop=(worlds.inner,)),
        Mutant("zero_form", on_lines, "$M = 0$ too", drop=(nonzero,)),
        Mutant("repeated_node", powers.next_inverse, "nodes may repeat", drop=(powers.other_node,)),
        Mutant("repeated_query", softmax.equally_spaced, "queries may repeat",
               drop=(right_inverse(softmax.V, softmax.W),)),
    ),
    sources=(
        "A. Katharopoulos et al., Transformers are RNNs, ICML 2020",
        "K. Choromanski et al., Rethinking attention with Performers, ICLR 2021",
    ),
)
