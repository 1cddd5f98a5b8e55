"""AP8 on spheres and hyperboloids: the quadrics <x, x> = epsilon of the form sum_a eta_a x_a y_a.

The unit sphere is eta = 1, epsilon = 1; the hyperboloid has one eta of -1, the others 1, and
epsilon = -1. The isometries are the linear maps O that keep the form.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol, latex, symbols

from theorems.assumptions.entries import signed
from theorems.checker.exact import Draw, Rejected, Rows, SmallIntegers, Value
from theorems.rules import Vanishing
from theorems.statement import Definition, Iff, Local, Step, array, symbols_of

m, d = symbols_of("m d")
j, a, b = symbols_of("j a b")
eta, O, q, k, v, w = (array("eta", d), array("O", d, d), array("q", d), array("k", d),
                      array("v", m, d), array("w", m))
epsilon, ONE = Symbol("epsilon", real=True), Integer(1)


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(entry, *((index, 1, d) for index in indices))


def form(x: Callable[[Symbol], Expr], y: Callable[[Symbol], Expr]) -> Expr:
    """<x, y> = sum_a eta_a x_a y_a."""
    return total(eta[a] * x(a) * y(a), a)


def moved(x: Callable[[Symbol], Expr], row: Symbol) -> Expr:
    """Entry of O x."""
    return total(O[row, b] * x(b), b)


def _mirror(draw: Draw, metric: IndexedBase, lead: tuple[int, ...]) -> Rows:
    """The reflection I - 2 x x^T diag(eta) / <x, x>, which keeps the form."""
    size = draw.shape(metric)[-1]
    weights = [draw.get(str(metric.label), (*lead, place + 1)) for place in range(size)]
    x = [draw.source.fresh(None) for _ in range(size)]
    square = sum(weight * one**2 for weight, one in zip(weights, x, strict=True))
    scale = 2 * draw.source.inverse(square)
    return [[int(r == s) - x[r] * weights[s] * x[s] * scale for s in range(size)]
            for r in range(size)]


def keeps(turn: IndexedBase, metric: IndexedBase) -> Local:
    """O^T diag(eta) O = diag(eta), over the last axes."""
    *lead, p, r, s = symbols(f"k1:{len(turn.shape) + 2}", integer=True, positive=True)

    def impose(draw: Draw) -> None:
        for cell in draw.cells(turn, len(lead)):
            for row, line in enumerate(_mirror(draw, metric, cell), start=1):
                for column, value in enumerate(line, start=1):
                    draw.put(turn, (*cell, row, column), value)

    kept = Sum(metric[*lead, p] * turn[*lead, p, r] * turn[*lead, p, s], (p, 1, turn.shape[-1]))
    text = rf"${latex(turn.label)}^\top \mathrm{{diag}}(\eta) {latex(turn.label)} = " \
        rf"\mathrm{{diag}}(\eta)$"
    rule = (kept, KroneckerDelta(r, s) * metric[*lead, r])
    return Local(f"{turn} keeps the form", text, (rule,), impose)


def _choose_sign(draw: Draw) -> None:
    sign = draw.source.rng.choice((1, -1))
    draw.put(array("epsilon"), (), sign)
    draw.put(eta, (1,), sign)


def _choose_level(draw: Draw) -> None:
    if ("epsilon", ()) not in draw.entries:
        draw.put(array("epsilon"), (), draw.get("eta", (1,)))


def on_quadric(points: IndexedBase) -> Local:
    """<x, x> = epsilon for every point."""
    *lead, p = symbols(f"k1:{len(points.shape) + 1}", integer=True, positive=True)

    def impose(draw: Draw) -> None:
        _choose_level(draw)
        for cell in draw.cells(points, len(lead)):
            for place, row in enumerate(_mirror(draw, eta, ()), start=1):
                draw.put(points, (*cell, place), row[0])

    name = latex(points.label)
    rule = (Sum(eta[p] * points[*lead, p] ** 2, (p, 1, d)), epsilon)
    text = rf"$\langle {name}, {name} \rangle = \epsilon$"
    return Local(f"{points} on the quadric", text, (rule,), impose)


sign = Local("epsilon is a sign", r"$\epsilon^2 = 1$", ((epsilon**2, ONE),), _choose_sign)
isometry = keeps(O, eta)

# The pairing.
q2, k2, v2 = array("q'", d), array("k'", d), array("v'", m, d)
moved_q = Definition(q2[a], moved(lambda f: q[f], a))
moved_k = Definition(k2[a], moved(lambda f: k[f], a))
moved_v = Definition(v2[j, a], moved(lambda f: v[j, f], a))
pairing_form = Step(
    id="pairing_form", lhs=form(lambda f: q2[f], lambda f: k2[f]),
    rhs=form(lambda f: q[f], lambda f: k[f]), by=(moved_q, moved_k, isometry),
    because=r"$(O q)^\top \mathrm{diag}(\eta) O k = q^\top \mathrm{diag}(\eta) k$.",
)
stays = Step(
    id="stays", lhs=form(lambda f: q2[f], lambda f: q2[f]), rhs=epsilon,
    by=(moved_q, isometry, on_quadric(q)), because="The same with $k = q$.",
)

# Geodesics: from q along the unit tangent u.
u, y, theta, r_s, cosine, sine = (
    array("u", d), array("y", d),
    *(Symbol(name, real=True) for name in ("theta", "r_s", "c", "s")))


def _frame(draw: Draw) -> None:
    if draw.sizes.setdefault(str(d), draw.source.rng.choice((2, 3))) < 2:
        raise Rejected("no tangent on a quadric of one dimension")
    _choose_level(draw)
    draw.put(eta, (2,), 1)
    for place, row in enumerate(_mirror(draw, eta, ()), start=1):
        draw.put(q, (place,), row[0])
        draw.put(u, (place,), row[1])


def _angle(draw: Draw) -> None:
    t, level = draw.source.fresh(">0"), draw.get("epsilon", ())
    scale = draw.source.inverse(1 + level * t**2)
    draw.put(array("c"), (), (1 - level * t**2) * scale)
    draw.put(array("s"), (), 2 * t * scale)


unit_tangent = Local(
    "u is a unit tangent at q", r"$\langle q, q \rangle = \epsilon$, $\langle q, u \rangle = 0$, "
    r"$\langle u, u \rangle = 1$", (
        (total(eta[a] * q[a] ** 2, a), epsilon), (total(eta[a] * q[a] * u[a], a), Integer(0)),
        (total(eta[a] * u[a] ** 2, a), ONE)), _frame)
cosine_and_sine = Local(
    "c and s are cosine and sine", r"$c^2 + \epsilon s^2 = 1$",
    ((cosine**2, 1 - epsilon * sine**2),), _angle)
on_geodesic = Definition(y[a], cosine * q[a] + sine * u[a])
positive_sine = signed(array("s"), ">0")
reciprocal = Definition(r_s, ONE, over=sine)
geodesic_stays = Step(
    id="geodesic_stays", lhs=form(lambda f: y[f], lambda f: y[f]), rhs=epsilon,
    by=(sign, on_geodesic, unit_tangent, cosine_and_sine),
    because=r"$c^2 \epsilon + s^2 = \epsilon (c^2 + \epsilon s^2)$.",
)
geodesic_cosine = Step(
    id="geodesic_cosine", lhs=epsilon * form(lambda f: q[f], lambda f: y[f]), rhs=cosine,
    by=(sign, on_geodesic, unit_tangent), because=r"$\langle q, c q + s u \rangle = c \epsilon$.",
)
logarithm = Step(
    id="logarithm", rhs=theta * u[a], by=(geodesic_cosine, on_geodesic, reciprocal, positive_sine),
    lhs=theta * r_s * (y[a] - epsilon * form(lambda f: q[f], lambda f: y[f]) * q[a]),
    because=r"$y - c q = s u$.",
)

# The tangent readout at q, and the same after O.
A, C, S = array("alpha", m), Symbol("C", real=True), Symbol("S", real=True)
cosines, cosines2 = array("c", m), array("c'", m)
g, g2, R, R2 = (array(name, d) for name in ("g", "g'", "R", "R'"))


def direction(cosine: IndexedBase, points: IndexedBase, base: IndexedBase) -> Expr:
    """sum_j w_j a_j (v_j - c_j q), the mean of the logarithms at q."""
    return Sum(w[j] * A[j] * (points[j, a] - cosine[j] * base[a]), (j, 1, m))


cosines_are = Definition(cosines[j], epsilon * form(lambda f: q[f], lambda f: v[j, f]))
cosines2_are = Definition(cosines2[j], epsilon * form(lambda f: q2[f], lambda f: v2[j, f]))
direction_is = Definition(g[a], direction(cosines, v, q))
direction2_is = Definition(g2[a], direction(cosines2, v2, q2))
tangent_is = Definition(R[a], C * q[a] + S * g[a])
tangent2_is = Definition(R2[a], C * q2[a] + S * g2[a])
same_cosines = Step(
    id="same_cosines", lhs=cosines2[j], rhs=cosines[j],
    by=(cosines_are, cosines2_are, moved_q, moved_v, isometry), because="The pairing is invariant.",
)
moved_direction = Step(
    id="moved_direction", lhs=g2[a], rhs=moved(lambda f: g[f], a),
    by=(same_cosines, direction_is, direction2_is, moved_q, moved_v),
    because="With the same coefficients, the sum of the images is the image of the sum.",
)
tangent_readout = Step(
    id="tangent_readout", lhs=R2[a], rhs=moved(lambda f: R[f], a),
    by=(tangent2_is, tangent_is, moved_direction, moved_q),
    because="$C$ and $S$ are those of the same length.",
)

# The normalised mean.
M, M2, N, N2 = array("M", d), array("M'", d), array("N", d), array("N'", d)
rho, rho2 = Symbol("rho", real=True), Symbol("rho'", real=True)
mean_is = Definition(M[a], Sum(w[j] * v[j, a], (j, 1, m)))
mean2_is = Definition(M2[a], Sum(w[j] * v2[j, a], (j, 1, m)))


def _root(draw: Draw, mean: IndexedBase) -> Value:
    """A root of epsilon <mean, mean>, of either sign in searches; rho where symbolic."""
    if type(draw.source) is not SmallIntegers:
        return draw.get("rho", ())
    square = fmpq(draw.get("epsilon", ()) * sum(
        draw.get("eta", cell) * draw.get(str(mean), cell) ** 2 for cell in draw.cells(mean)))
    if square < 0 or (root := fmpq(isqrt(int(square.p)), isqrt(int(square.q)))) ** 2 != square:
        raise Rejected(f"{square} has no rational root")
    return root * draw.source.rng.choice((1, 1, -1))


def norm_of(size: Symbol, mean: IndexedBase) -> Local:
    """size^2 = epsilon <mean, mean>."""

    def impose(draw: Draw) -> None:
        if size == rho2 and str(mean) in draw.definitions:
            return draw.put(array("rho'"), (), _root(draw, mean))
        _choose_level(draw)
        length = draw.get(size.name, ()) * draw.source.inverse(draw.get("epsilon", ()))
        goal = [length * row[0] for row in _mirror(draw, eta, ())]
        count = draw.size(m)
        for place, aim in enumerate(goal, start=1):
            if str(mean) not in draw.definitions:
                draw.put(mean, (place,), aim)
                continue
            others = sum(draw.get("w", (t,)) * draw.get("v", (t, place)) for t in range(1, count))
            weight = draw.source.inverse(draw.get("w", (count,)))
            draw.put(v, (count, place), weight * (aim - others))
        return None

    text = rf"${latex(size)}$ has the square $\epsilon \langle {mean}, {mean} \rangle$"
    rule = (size**2, epsilon * total(eta[a] * mean[a] ** 2, a))
    return Local(f"{size} is the norm of {mean}", text, (rule,), impose)


norm, norm2 = norm_of(rho, M), norm_of(rho2, M2)
positive_norms = signed(array("rho"), ">0"), signed(array("rho'"), ">0")
normalised = Definition(N[a], M[a], over=rho)
normalised2 = Definition(N2[a], M2[a], over=rho2)
moved_mean = Step(
    id="moved_mean", lhs=M2[a], rhs=moved(lambda f: M[f], a), by=(mean_is, mean2_is, moved_v),
    because="The mean is linear.",
)
mean_square = Step(
    id="mean_square", lhs=total(eta[a] * M[a] ** 2, a), rhs=epsilon * rho**2, by=(sign, norm),
    because=r"$\epsilon^2 = 1$.",
)
same_square = Step(
    id="same_square", lhs=rho**2, rhs=rho2**2, by=(norm, isometry, norm2, moved_mean),
    because=r"$\langle O M, O M \rangle = \langle M, M \rangle$.",
)
same_norm = Iff(
    id="same_norm", left=(rho**2, rho2**2), right=(rho, rho2), factor=rho + rho2,
    by=positive_norms, because="A positive root is unique.",
)
on_the_quadric = Step(
    id="on_the_quadric", lhs=rho**2 * form(lambda f: N[f], lambda f: N[f]), rhs=epsilon * rho**2,
    by=(normalised, mean_square, positive_norms[0]), because=r"$\rho N = M$.",
)
scaled_image = Step(
    id="scaled_image", lhs=rho * N2[a], rhs=moved(lambda f: rho * N[f], a),
    by=(normalised, normalised2, same_square, same_norm, moved_mean, *positive_norms),
    because=r"$\rho N' = \rho' N' = M' = O M = \rho O N$.",
)
mean_readout = Iff(
    id="mean_readout", left=(rho * N2[a], moved(lambda f: rho * N[f], a)),
    right=(N2[a], moved(lambda f: N[f], a)), factor=rho, by=positive_norms[:1],
    because=r"Divide by $\rho > 0$.",
)

# It minimises the mean squared chord.
x, W, t = array("x", d), Symbol("W", real=True), array("t", d)
weight_is = Definition(W, Sum(w[j], (j, 1, m)))
chords = Step(
    id="chords", by=(on_quadric(x), on_quadric(v), mean_is, weight_is),
    lhs=Sum(w[j] * form(lambda f: x[f] - v[j, f], lambda f: x[f] - v[j, f]), (j, 1, m)),
    rhs=2 * epsilon * W - 2 * form(lambda f: M[f], lambda f: x[f]),
    because=r"$\langle x - v_j, x - v_j \rangle = 2 \epsilon - 2 \langle v_j, x \rangle$.",
)
chord_to_mean = Step(
    id="chord_to_mean", by=(on_quadric(x), on_quadric(N)),
    lhs=rho * form(lambda f: x[f] - N[f], lambda f: x[f] - N[f]),
    rhs=2 * epsilon * rho - 2 * form(lambda f: rho * N[f], lambda f: x[f]),
    because=r"The same for the one point $N$ of weight $\rho$.",
)
positive_form = signed(eta, ">0")
only_mean = Vanishing(
    id="only_mean", total=rho * form(lambda f: x[f] - N[f], lambda f: x[f] - N[f]), part=t[a],
    weight=rho * eta[a], over=((a, d),), strict=True,
    by=(Definition(t[a], x[a] - N[a]), positive_norms[0], positive_form),
    because=r"Where $\eta > 0$ this is a sum of squares.",
)
