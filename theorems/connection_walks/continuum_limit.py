"""CW14. The continuum limit of attention is a connection Laplacian with a drift.

Sections are given by their jets at x_i: value u, gradient U, Hessian V, in parallel frames.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Indexed, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.constructions import reflection, unit_vector
from theorems.checker.exact import Draw, Generators, Rejected
from theorems.statement import (
    Cited, Clause, Definition, Local, Mutant, Step, Theorem, array, symbols_of,
)

n, m, d, F = symbols_of("n m d F")
i, k, a, b, f, p = symbols_of("i k a b f p")
HALF = Rational(1, 2)

w, y, eps = array("w", m), array("y", m, d), Symbol("sigma", real=True) ** 2
u, U, V = array("u", n, F), array("U", n, F, d), array("V", n, F, d, d)
rho, slope, bend = array("rho", n), array("rho'", n, d), array("rho''", n, d, d)


def isotropic_offsets() -> Local:
    """Offsets +-y_k, of weight w_k/2 each, have total weight 1, covariance eps I = sigma^2 I."""

    def impose(draw: Draw) -> None:
        size, width = draw.shape(y)
        if size < width:
            raise Rejected(f"{size} pairs of offsets do not span {width} dimensions")
        roots, axes = unit_vector(draw, size), [[int(r == s) for s in range(width)]
                                                for r in range(width)]
        if not isinstance(draw.source, Generators):  # whose polynomials grow long
            axes = reflection(draw, width)
        for r, root in enumerate(roots, start=1):
            draw.put(w, (r,), root * root)
            scale = draw.get("sigma", ()) * draw.source.inverse(root) if r <= width else 0
            for s in range(1, width + 1):
                draw.put(y, (r, s), scale * axes[s - 1][r - 1] if r <= width else 0)

    covariance = Sum(w[k] * y[k, a] * y[k, b], (k, 1, m))
    rules = ((covariance, eps * KroneckerDelta(a, b)), (Sum(w[k], (k, 1, m)), Integer(1)))
    text = r"$\sum_k w_k = 1$, $\sum_k w_k y_k y_k^\top = \varepsilon I$, $\varepsilon = \sigma^2$"
    return Local("offsets are isotropic", text, rules, impose)


def taylor(value: Expr, *terms: Expr) -> dict[int, Expr]:
    """The polynomial with these terms of degree 0, 1, ... at +y_k and at -y_k."""
    return {sign: sum((sign**degree * term for degree, term in enumerate(terms, start=1)), value)
            for sign in (1, -1)}


def along(name: str, jet: IndexedBase, order: int, *fibre: Expr) -> tuple[Indexed, Definition]:
    """The derivative of this order at x_i, all along y_k, and its definition."""
    axes, sizes = (a, b)[:order], jet.shape[1 : len(fibre) + 1]
    total = jet[i, *fibre, *axes]
    for axis in axes:
        total = total * y[k, axis]
    entry = array(name, n, m, *sizes)[i, k, *fibre]
    return entry, Definition(entry, Sum(total, *((axis, 1, d) for axis in axes)))


def mean(term: dict[int, Expr]) -> Expr:
    """The mean over the offsets of a function given at +y_k and at -y_k."""
    ahead, behind = (Sum(HALF * w[k] * term[sign], (k, 1, m)) for sign in (1, -1))
    return ahead + behind


def product(*factors: dict[int, Expr]) -> dict[int, Expr]:
    """The product of functions given at +y_k and at -y_k."""
    found = factors[0]
    for factor in factors[1:]:
        found = {sign: found[sign] * factor[sign] for sign in (1, -1)}
    return found


offsets, positive = isotropic_offsets(), signed(rho, ">0")
r = array("r", n)
reciprocal = Definition(r[i], Integer(1), over=rho[i])
rise, first_rho = along("rho_y", slope, 1)
bow, second_rho = along("rho_yy", bend, 2)
du, first_u = along("u_y", U, 1, f)
ddu, second_u = along("u_yy", V, 2, f)
affine, near = taylor(rho[i], rise), taylor(u[i, f], du, HALF * ddu)
shares = {sign: r[i] * value for sign, value in affine.items()}
laplacian = Sum(V[i, f, a, a], (a, 1, d))
drift = r[i] * Sum(slope[i, a] * U[i, f, a], (a, 1, d))
flat = (reciprocal, positive, first_rho, first_u, second_u, offsets)

row = Step(
    id="row", lhs=mean(shares), rhs=Integer(1), by=(reciprocal, positive, first_rho, offsets),
    because="The slope of the density cancels between y and -y: the mean density is rho_i.",
)
generator = Step(
    id="generator", lhs=mean(product(shares, near)) - u[i, f],
    rhs=eps * (HALF * laplacian + drift), by=flat,
    because="Only products of two offsets survive: half the Hessian, and slope times gradient.",
)

curved = taylor(rho[i], rise, HALF * bow)
change = {sign: value - u[i, f] for sign, value in near.items()}
bending = Sum(bend[i, a, a], (a, 1, d))
fourth = HALF * HALF * Sum(w[k] * bow * ddu, (k, 1, m))
dense = rho[i] + HALF * eps * bending
mean_density = Step(
    id="mean_density", lhs=mean(curved), rhs=dense,
    by=(first_rho, second_rho, offsets),
    because="Half the Laplacian of the density, times eps.",
)
expansion = Step(
    id="expansion", lhs=mean(product(curved, change)) - dense * eps * (HALF * laplacian + drift),
    rhs=fourth - HALF * eps**2 * bending * (HALF * laplacian + drift),
    by=(*flat, second_rho),
    because=r"Against the mean density the error is of order $\varepsilon^2$: $\varepsilon^2$ "
    "times derivatives, and fourth moments.",
)

q, odd = array("q", n, F, F, d, d), array("E", n, m, F, F)
error = array("q_yy", n, m, F, F)[i, k, f, p]
second_T = Definition(error, Sum(q[i, f, p, a, b] * y[k, a] * y[k, b], (a, 1, d), (b, 1, d)))
trace = Sum(q[i, f, p, a, a] * u[i, p], (a, 1, d), (p, 1, F))
du_p, ddu_p = array("u_y", n, m, F)[i, k, p], array("u_yy", n, m, F)[i, k, p]
near_p = taylor(u[i, p], du_p, HALF * ddu_p)


def moved(change: dict[int, Expr]) -> Expr:
    """What a change of the transports adds to the row of W u."""
    term = product(shares, change, near_p)
    return mean({sign: Sum(value, (p, 1, F)) for sign, value in term.items()})


zeroth_order = Step(
    id="zeroth_order", lhs=moved({1: error, -1: error}), by=(*flat, second_T),
    rhs=eps * trace + Sum(w[k] * error * (HALF * ddu_p + r[i] * rise * du_p), (k, 1, m), (p, 1, F)),
    because="q(y, y) has the mean eps tr q; what it multiplies beside u_i is of second order.",
)
odd_order = Step(
    id="odd_order", lhs=moved({1: odd[i, k, f, p], -1: -odd[i, k, f, p]}),
    rhs=Sum(w[k] * odd[i, k, f, p] * (du_p + r[i] * rise * (u[i, p] + HALF * ddu_p)),
            (k, 1, m), (p, 1, F)),
    by=flat[:-1], because="An odd error meets odd terms only, so a cubic one four offsets or more.",
)

singer_wu = Cited(
    id="Singer-Wu",
    because="Normal coordinates reduce the sums to the flat ones; curvature enters at O(eps).",
    statement=r"On a compact Riemannian manifold without boundary, with smooth density $\rho > 0$ "
    r"and a smooth section $u$, tokens sampled from $\rho$, weights the row-softmax of "
    r"$-|x - y|^2 / (2 \varepsilon)$ and transports parallel along minimising geodesics up to "
    r"$O(|x - y|^3)$: if first $n \to \infty$, then $\varepsilon \to 0$, $(W - I) u / "
    r"\varepsilon = \frac12 \mathrm{tr}\, \nabla^2 u + \nabla_{\mathrm{grad} \log \rho} u + "
    r"O(\varepsilon)$.",
    source="A. Singer, H.-T. Wu, Vector diffusion maps and the connection Laplacian, "
    "Comm. Pure Appl. Math. 65 (2012)",
)

THEOREM = Theorem(
    id="CW14",
    title="The continuum limit of attention is a connection Laplacian with a drift",
    clauses=(
        Clause("rows", r"For offsets $\pm y_k$ of weight $w_k / 2$ with $\sum_k w_k = 1$ and "
               r"$\sum_k w_k y_k y_k^\top = \varepsilon I$, and an affine density $\rho$ with "
               r"$\rho_i > 0$ at $x_i$, the weights $w_k \rho(x_i \pm y_k) / (2 \rho_i)$ sum to 1.",
               (row,)),
        Clause("affine_density", r"For these weights, $T = I$ and quadratic $u$: $(W - I) u = "
               r"\varepsilon (\frac12 \Delta u + \mathrm{grad} \log \rho \cdot \mathrm{grad}\, u)$ "
               r"at $x_i$, exactly.", (generator,)),
        Clause("density", r"For quadratic $\rho$ with $\rho_i > 0$ the mean density is $\rho + "
               r"\frac{\varepsilon}{2} \Delta \rho$, and $(W - I) u - \varepsilon (\frac12 \Delta "
               r"u + \mathrm{grad} \log \rho \cdot \mathrm{grad}\, u)$, times the mean density, is "
               r"$\frac14 \sum_k w_k \rho''(y_k, y_k)\, u''(y_k, y_k) - \frac{\varepsilon^2}{2} "
               r"\Delta \rho\, (\frac12 \Delta u + \mathrm{grad} \log \rho \cdot \mathrm{grad}\, "
               r"u)$.", (mean_density, expansion)),
        Clause("transport_error", r"For affine $\rho$ with $\rho_i > 0$ and quadratic $u$, an "
               r"error $q(y, y)$ of $T$ adds $\varepsilon\, \mathrm{tr}\, q\, u$ and terms of four "
               r"offsets to $W u$; an error $\pm E_k$ at $\pm y_k$ adds products of $E_k$ and "
               r"$y_k$ only, so terms of four offsets or more if it is cubic.",
               (zeroth_order, odd_order)),
        Clause("manifold", r"On a compact manifold without boundary, with smooth $\rho > 0$ and "
               r"$u$, row-softmax weights of $-|x - y|^2 / (2 \varepsilon)$, transports parallel "
               r"along minimising geodesics up to $O(|x - y|^3)$, and $n \to \infty$ before "
               r"$\varepsilon \to 0$: $(W - I) u / \varepsilon = \frac12 \mathrm{tr}\, \nabla^2 u "
               r"+ \nabla_{\mathrm{grad} \log \rho} u + O(\varepsilon)$.", (singer_wu,)),
    ),
    mutants=(
        Mutant("curved_rows", replace(row, lhs=mean({
            sign: r[i] * value for sign, value in curved.items()}), by=(*row.by, second_rho)),
            "the same weights sum to 1 for quadratic densities too"),
        Mutant("coefficient_one", replace(generator, rhs=eps * (laplacian + drift)),
               "the whole Laplacian"),
        Mutant("half_drift", replace(generator, rhs=eps * (HALF * laplacian + HALF * drift)),
               "half the drift"),
        Mutant("no_drift", replace(generator, rhs=eps * HALF * laplacian),
               "the density does not matter"),
        Mutant("any_covariance", generator, "kernels that are not isotropic", drop=(offsets,)),
        Mutant("no_potential", replace(zeroth_order, rhs=zeroth_order.rhs - eps * trace),
               "a second-order error of the transports does not matter"),
        Mutant("plain_mean", replace(mean_density, rhs=rho[i]),
               "the mean density is the density"),
        Mutant("affine_formula", replace(
            expansion, lhs=mean(product(curved, change)),
            rhs=eps * rho[i] * (HALF * laplacian + drift)),
            "exact for quadratic densities too"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "A. Singer, H.-T. Wu, Vector diffusion maps and the connection Laplacian, "
        "Comm. Pure Appl. Math. 65 (2012)",
    ),
)
