"""Two clusters of equal tokens, scores 0 inside and -B across: what one layer does to them."""

from __future__ import annotations

from flint import fmpq
from sympy import Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, level, number
from theorems.checker.exact import Draw, evaluate
from theorems.rules import Induction
from theorems.statement import Bound, Definition, Equation, Local, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, a = symbols_of("i j a")
KEYS = (j, 1, n)

g = array("g", n)
p, q, E, s, Z_1, Z_2, z_1, z_2, tau = (
    Symbol(name, real=True)
    for name in ("p", "q", "E", "s", "Z_1", "Z_2", r"\zeta_1", r"\zeta_2", r"\tau")
)


def _members(draw: Draw) -> None:
    chosen = [draw.source.rng.randrange(2) for _ in range(draw.size(n))]
    for place, value in enumerate(chosen, start=1):
        draw.put(g, (place,), value)
    draw.put(array(p.name), (), fmpq(sum(chosen)))


split = Local(
    "g is the indicator of p tokens", "$g_i = 1$ for $p$ of the $n$ tokens, $g_i = 0$ for the rest",
    ((g[i] ** 2, g[i]), (Sum(g[i], (i, 1, n)), p)), _members)
others = Definition(q, n - p)
both = (signed(array("p"), ">0"), signed(array("q"), ">0"))
positive_E = signed(array("E"), ">0")
total = Step(id="total", lhs=n, rhs=p + q, by=(others,), because="The rest are $q = n - p$.")

totals = Definition(Z_1, p * E + q), Definition(Z_2, q * E + p)
inverses = Definition(z_1, Integer(1), over=Z_1), Definition(z_2, Integer(1), over=Z_2)
known = (*inverses, *totals, *both, positive_E)
inner_1 = Step(id="inner_1", lhs=p * E, rhs=Z_1 - q, by=(totals[0],), because="$Z_1 = p E + q$.")
inner_2 = Step(id="inner_2", lhs=q * E, rhs=Z_2 - p, by=(totals[1],), because="$Z_2 = q E + p$.")
share_1 = Step(
    id="share_1", lhs=p * E * z_1, rhs=1 - q * z_1, by=(inner_1, inverses[0], *both, positive_E),
    because="A token of the first cluster gives its own $p E / Z_1$ and the other $q / Z_1$.",
)
share_2 = Step(
    id="share_2", lhs=q * E * z_2, rhs=1 - p * z_2, by=(inner_2, inverses[1], *both, positive_E),
    because="One of the second gives its own $q E / Z_2$ and the other $p / Z_2$.",
)

e, A = array("e", n, n), array("A", n, n)
above = Definition(s, E - 1)
weight = Definition(e[i, j], 1 + s * (1 - g[i] - g[j] + 2 * g[i] * g[j]))
walk = Definition(A[i, j], e[i, j] * (g[i] * z_1 + (1 - g[i]) * z_2))
shares = (share_1, share_2)
layer = (walk, weight, above, split, total, *shares)
contraction = Definition(tau, 1 - q * z_1 - p * z_2)
row_sum = Step(
    id="row_sum", lhs=Sum(A[i, j], KEYS), rhs=Integer(1), by=layer,
    because="$A_{ij}$ is $e_{ij}$, which is E inside a cluster and 1 across, over $Z_1$ or $Z_2$: "
    "these are the totals.",
)
kept = Step(
    id="kept", lhs=Sum(A[i, j] * g[j], KEYS), rhs=p * z_2 + tau * g[i], by=(contraction, *layer),
    because=r"From 1 the first cluster keeps $1 - q / Z_1$, and the second gets $p / Z_2$.",
)

x, y, v = array("x", d), array("y", d), array("v", d)
X, C = ({label: level(name, label, *shape) for label in STAGES}
        for name, shape in (("X", (n, d)), ("c", (d,))))
h = {label: number("h", label) for label in STAGES}


def claim(label: str) -> Equation:
    """Tokens of a level: a common part, and for the first cluster h v besides."""
    return (level("X", label, n, d)[i, a],
            level("c", label, d)[a] + number("h", label) * g[i] * v[a])


def _clusters(draw: Draw) -> None:
    for cell in draw.cells(X["l"]):
        value = evaluate(claim("l")[1], draw, dict(zip((i, a), cell, strict=True)))
        draw.put(X["l"], cell, value)


clusters_l = Local("two clusters at level l", "two clusters at level $l$", (claim("l"),), _clusters)
first_clusters = Step(
    id="first_clusters", lhs=claim("1")[0], rhs=claim("1")[1],
    by=(Definition(X["1"][i, a], g[i] * x[a] + (1 - g[i]) * y[a]), Definition(C["1"][a], y[a]),
        Definition(h["1"], Integer(1)), Definition(v[a], x[a] - y[a])),
    because="Tokens x and y: v = x - y.",
)
next_tokens = Definition(X["l+1"][i, a], Sum(A[i, j] * X["l"][j, a], KEYS))
next_clusters = Step(
    id="next_clusters", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
    by=(split, next_tokens, clusters_l,
        Definition(C["l+1"][a], C["l"][a] + p * z_2 * h["l"] * v[a]),
        Definition(h["l+1"], tau * h["l"]), row_sum, kept),
    because=r"Rows sum to 1, and of $h_l v$ the first cluster has $\tau h_l v$ more.",
)
clusters = Induction(
    id="clusters", claim=claim, hypothesis=clusters_l, by=(first_clusters, next_clusters),
    because=r"So $h_{l+1} = \tau_{l+1} h_l$: the product of the factors.",
)

numerator = (p**2 + q**2) * E + 2 * p * q
lost = Step(
    id="lost", lhs=(1 - tau) * Z_1 * Z_2, rhs=numerator, by=(contraction, *known),
    because=r"$1 - \tau = q / Z_1 + p / Z_2$.",
)
left = Step(
    id="left", lhs=tau * Z_1 * Z_2, rhs=p * q * s * (2 + s), by=(contraction, *known, above),
    because="$Z_1 Z_2 - q Z_2 - p Z_1 = p q (E^2 - 1)$.",
)
nonnegative_s, positive_s = signed(array("s"), ">=0"), signed(array("s"), ">0")
some_left = Bound(
    id="some_left", small=Integer(0), large=tau * Z_1 * Z_2, certificate=p * q * s * (2 + s),
    strict=True, by=(left, *both, positive_s), because=r"So $\tau > 0$ for $E > 1$.",
)
product = (p * E + q) * (q * E + p)
at_least = Bound(
    id="at_least", small=product, large=numerator * E, by=(above, *both, nonnegative_s),
    certificate=((p - q) ** 2 + p * q) * s**2 + (p**2 + q**2) * s,
    because=r"So $1 - \tau \ge 1 / E$ for $E \ge 1$.",
)
at_most = Bound(
    id="at_most", small=p * q * numerator * E, large=(p**2 + q**2) * product,
    by=(*both, positive_E), certificate=(p**4 + q**4) * E + (p**2 + q**2) * p * q,
    because=r"So $1 - \tau \le (p / q + q / p) / E$.",
)

w, u = (Symbol(name, real=True) for name in ("w", "u"))


def _half_powers(draw: Draw) -> None:
    value = draw.source.fresh("!=0")
    draw.put(array(w.name), (), value)
    draw.put(array(u.name), (), draw.source.inverse(value))


half_powers = Local("w u = 1", r"$w = e^{B/2}$, $u = e^{-B/2}$, so that $w u = 1$",
                    ((w * u, Integer(1)),), _half_powers)
equal = Definition(q, p)
inner_equal = Step(id="inner_equal", lhs=p * E, rhs=Z_2 - p, by=(totals[1], equal),
                   because="$Z_2 = p E + p$ for $q = p$.")
share_equal = Step(
    id="share_equal", lhs=p * E * z_2, rhs=1 - p * z_2,
    by=(inner_equal, inverses[1], *both, positive_E, equal), because="As in the first cluster.",
)
balanced = Step(
    id="balanced", lhs=tau * (E + 1), rhs=E - 1, by=(contraction, equal, share_1, share_equal),
    because="Two equal clusters: $p E z = 1 - p z$ for both inverse totals $z$.",
)
tanh = Step(
    id="tanh", lhs=(w - u) * (E + 1), rhs=(w + u) * (E - 1), by=(Definition(E, w**2), half_powers),
    because=r"$\tanh(B / 2) = (w - u) / (w + u)$, and $E = w^2$.",
)
