"""AP7, expectations of exponentials, hyperbolic and circular cosines under the Gaussian law.

An expectation is written as a sum over outcomes with weights: only its linearity and the values
stated for it are used. At one query q and key k with x = q + k and y = q - k: X = e^{w.x},
M = E X = e^{|x|^2/2}, C = cos w.y, D = E C = e^{-|y|^2/2}.
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential
from theorems.checker.exact import Draw
from theorems.rules import Logarithm
from theorems.statement import Definition, Local, Step, array, symbols_of

N, m, d = symbols_of("N m d")
o, p, a = symbols_of("o p a")
OUTCOMES, FEATURES = (o, 1, N), (a, 1, d)
half = Rational(1, 2)

omega, x = array("omega", N, d), array("x", m, d)
W, f, h, X_p, e = (array("W", N), array("f", N), array("h", N, m), array("X_p", N, m),
                   array("e", m))
f_log, h_log, X_log, e_log = (
    array("s_f", N), array("s_h", N, m), array("s_X", N, m), array("s_e", m))
logs = (
    Definition(f_log[o], -half * Sum(omega[o, a] ** 2, FEATURES)),
    Definition(h_log[o, p], -half * Sum((omega[o, a] - x[p, a]) ** 2, FEATURES)),
    Definition(X_log[o, p], Sum(omega[o, a] * x[p, a], FEATURES)),
    Definition(e_log[p], half * Sum(x[p, a] ** 2, FEATURES)),
)
square_completed = Step(
    id="square_completed", lhs=f_log[o] + X_log[o, p], rhs=e_log[p] + h_log[o, p], by=logs,
    because=r"$-\frac12 |\omega|^2 + \omega \cdot x = \frac12 |x|^2 - \frac12 |\omega - x|^2$.")
shifted_density = Logarithm(
    id="shifted_density", left=(f[o] * X_p[o, p], e[p] * h[o, p]),
    logs=((f, f_log), (X_p, X_log), (e, e_log), (h, h_log)),
    by=(exponential(f, f_log), exponential(X_p, X_log), exponential(e, e_log),
        exponential(h, h_log)),
    because="So the density times the exponential is the shifted density times a constant.")


def _unit_integrals(draw: Draw) -> None:
    """The last outcome makes each shifted density integrate to 1."""
    size, points = draw.shape(h)
    scale = draw.source.inverse(draw.get(W.name, (size,)))
    for point in range(1, points + 1):
        rest = sum(draw.get(W.name, (place,)) * draw.get(h.name, (place, point))
                   for place in range(1, size))
        draw.put(h, (size, point), (1 - rest) * scale)


def _tilted(draw: Draw) -> None:
    for place, point in draw.cells(X_p):
        value = draw.get(e.name, (point,)) * draw.get(h.name, (place, point))
        draw.put(X_p, (place, point), value * draw.source.inverse(draw.get(f.name, (place,))))


shifted_densities = Local(
    "shifted densities integrate to 1", r"$\sum_o W_o h_{op} = 1$ for the density shifted by each "
    "point used", ((Sum(W[o] * h[o, p], OUTCOMES), Integer(1)),), _unit_integrals)
tilted = Local("f X = e h", r"$f_o X_{op} = e_p h_{op}$",
               ((f[o] * X_p[o, p], e[p] * h[o, p]),), _tilted)
generating = Step(
    id="generating", lhs=Sum(W[o] * f[o] * X_p[o, p], OUTCOMES), rhs=e[p],
    by=(shifted_densities, tilted),
    because=r"$E e^{\omega \cdot x} = e^{|x|^2/2}$.")

P, X, X2, T = array("P", N), array("X", N), array("X'", N), array("T", N)
C, C2 = array("C", N), array("C_2", N)
M, D, fq, fk, gq, gk = (Symbol(name, real=True) for name in ("M", "D", "f_q", "f_k", "g_q", "g_k"))
K, V, V2 = (Symbol(name, real=True) for name in ("kappa", "V", "V'"))


def mean(value: Expr) -> Expr:
    """The expectation of what has the value at outcome o."""
    return Sum(P[o] * value, OUTCOMES)


def _five(draw: Draw) -> None:
    """Outcomes with X at x, 1/x, y, 1/y and 1; the weights solve two equations."""
    draw.sizes[N.name] = 5
    one, other, root = (draw.source.fresh("!=0") for _ in range(3))
    inverses = [draw.source.inverse(value) for value in (one, other)]
    points = [one, inverses[0], other, inverses[1], 1]
    u, v = ((value + inverse) * draw.source.inverse(2) - 1
            for value, inverse in zip((one, other), inverses, strict=True))
    first, second = root - 1, root**4 - 1
    scale = draw.source.inverse(4 * u * v * (v - u))
    # cosh - 1 and cosh 2 - 1 = 2 (cosh - 1)(cosh + 1) at two points
    weights = [(first * 2 * v * (v + 2) - second * v) * scale,
               (second * u - first * 2 * u * (u + 2)) * scale]
    chances = [weights[0], weights[0], weights[1], weights[1], 1 - 2 * weights[0] - 2 * weights[1]]
    draw.put(array(M.name), (), root)
    for place, (point, chance) in enumerate(zip(points, chances, strict=True), start=1):
        draw.put(X, (place,), point)
        draw.put(X2, (place,), points[[1, 0, 3, 2, 4][place - 1]])
        draw.put(P, (place,), chance)


gaussian = Local(
    "the Gaussian law at x and 2 x",
    r"$E 1 = 1$, $E e^{\pm \omega \cdot x} = M$, $E e^{\pm 2 \omega \cdot x} = M^4$ with $M = "
    r"e^{|x|^2/2}$", (
        (mean(Integer(1)), Integer(1)), (mean(X[o]), M), (mean(X2[o]), M),
        (mean(X[o] ** 2), M**4), (mean(X2[o] ** 2), M**4), (X[o] * X2[o], Integer(1))),
    _five)
target = Definition(K, fq * fk * M)
positive_mean = Step(
    id="positive_mean", lhs=mean(fq * fk * X[o]), rhs=K, by=(target, gaussian),
    because="The factors $e^{-|q|^2/2}$ and $e^{-|k|^2/2}$ come out.")
positive_variance = Step(
    id="positive_variance", lhs=mean((fq * fk * X[o] - K) ** 2), rhs=K**2 * (M**2 - 1),
    by=(target, gaussian), because=r"$E X^2 - (E X)^2 = M^4 - M^2$.")
paired = Definition(T[o], half * (X[o] + X2[o]))
antithetic_mean = Step(
    id="antithetic_mean", lhs=mean(fq * fk * T[o]), rhs=K, by=(paired, target, gaussian),
    because=r"$\omega$ and $-\omega$ have one law.")
antithetic_variance = Step(
    id="antithetic_variance", lhs=mean((fq * fk * T[o] - K) ** 2),
    rhs=half * fq**2 * fk**2 * (M**2 - 1) ** 2, by=(paired, target, gaussian),
    because=r"$E \cosh^2 = (1 + M^4)/2$.")
saving = Step(
    id="saving", lhs=2 * M**2 * V2, rhs=(M**2 - 1) * V,
    by=(Definition(V, K**2 * (M**2 - 1)), target,
        Definition(V2, half * fq**2 * fk**2 * (M**2 - 1) ** 2)),
    because=r"$(M^2 - 1) / (2 M^2) = (1 - e^{-|x|^2})/2$.")


def _three(draw: Draw) -> None:
    """Outcomes with any three cosines; the weights solve three equations."""
    draw.sizes[N.name] = 3
    points, root = [draw.source.fresh(None) for _ in range(3)], draw.source.fresh(None)
    second = (1 + root**4) * draw.source.inverse(2)
    draw.put(array(D.name), (), root)
    for place, point in enumerate(points):
        s, t = (points[(place + k) % 3] for k in (1, 2))
        scale = draw.source.inverse((point - s) * (point - t))
        draw.put(C, (place + 1,), point)
        draw.put(P, (place + 1,), (second - (s + t) * root + s * t) * scale)


circular = Local(
    "the Gaussian law at y and 2 y",
    r"$E 1 = 1$, $E \cos(\omega \cdot y) = D$, $E \cos(2 \omega \cdot y) = D^4$ with $D = "
    r"e^{-|y|^2/2}$", (
        (mean(Integer(1)), Integer(1)), (mean(C[o]), D), (mean(C2[o]), D**4)), _three)
double_angle = Definition(C2[o], 2 * C[o] ** 2 - 1)
total = Step(id="total", lhs=mean(C[o] ** 2), rhs=half + half * mean(C2[o]),
             by=(double_angle, circular), because=r"$\cos^2 = (1 + \cos 2)/2$.")
Q = symbols_of("Q")[0]
c = symbols_of("c")[0]
term, moment, alternate = array("z", N, Q), array("g", Q), array("epsilon", Q)


def _moments(draw: Draw) -> None:
    for (place,) in draw.cells(moment):
        value = sum(draw.get(P.name, cell) * draw.get(term.name, (*cell, place))
                    for cell in draw.cells(P))
        draw.put(moment, (place,), value)


even_moments = Local(
    "even moments", r"$E (\omega \cdot y)^{2c} / (2c)! = g_c$", ((mean(term[o, c]), moment[c]),),
    _moments)
alternating_moments = Step(
    id="alternating_moments", lhs=mean(Sum(alternate[c] * term[o, c], (c, 1, Q))),
    rhs=Sum(alternate[c] * moment[c], (c, 1, Q)), by=(even_moments,),
    because="The expectation is linear, term by term.")
trig_target = Definition(K, gq * gk * D)
trig_mean = Step(
    id="trig_mean", lhs=mean(gq * gk * C[o]), rhs=K, by=(trig_target, circular, double_angle),
    because="The factors $e^{|q|^2/2}$ and $e^{|k|^2/2}$ come out.")
trig_variance = Step(
    id="trig_variance", lhs=mean((gq * gk * C[o] - K) ** 2),
    rhs=half * gq**2 * gk**2 * (1 - D**2) ** 2, by=(trig_target, total, circular),
    because=r"$(1 + D^4)/2 - D^2 = (1 - D^2)^2/2$.")
