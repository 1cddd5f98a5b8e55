"""AP7, estimates from features: their expectations as exponentials, and means of samples."""

from __future__ import annotations

from itertools import product
from math import prod

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.attention_pairings.steps.gaussian_moments import C, N, X, fk, fq, gk, gq, o
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw
from theorems.rules import Logarithm
from theorems.statement import Bound, Definition, Local, Step, Witness, array, symbols_of

m, d = symbols_of("m d")
r, r2, a = symbols_of("r r' a")
FEATURES = (a, 1, d)
half = Rational(1, 2)

A, B, A2, B2, phi, psi = (
    array(name, N) for name in ("A", "B", "A'", "B'", "phi", "psi"))
positive_features = (Definition(phi[o], fq * A[o]), Definition(psi[o], fk * B[o]))
product_features = Step(
    id="product_features", lhs=phi[o] * psi[o], rhs=fq * fk * X[o],
    by=(*positive_features, Definition(X[o], A[o] * B[o])),
    because=r"$e^{\omega \cdot q} e^{\omega \cdot k} = e^{\omega \cdot x}$.")
positive_estimate = Bound(
    id="positive_estimate", small=Integer(0), large=phi[o] * psi[o], strict=True,
    certificate=fq * A[o] * fk * B[o], because="A product of exponentials.",
    by=(*positive_features, *(signed(part, ">0") for part in (
        array(fq.name), array(fk.name), A, B))))
cosine, sine, cosine2, sine2 = (array(name, N) for name in ("c", "s", "c'", "s'"))
trig_features = (
    Definition(phi[o], gq * cosine[o]), Definition(psi[o], gk * cosine2[o]),
    Definition(A2[o], gq * sine[o]), Definition(B2[o], gk * sine2[o]),
)
addition = Definition(C[o], cosine[o] * cosine2[o] + sine[o] * sine2[o])
trig_estimate = phi[o] * psi[o] + A2[o] * B2[o]
trig_product = Step(
    id="trig_product", lhs=trig_estimate, rhs=gq * gk * C[o], by=(*trig_features, addition),
    because=r"$\cos \omega \cdot q \cos \omega \cdot k + \sin \omega \cdot q \sin \omega \cdot k = "
    r"\cos \omega \cdot y$.")


def _on_circles(draw: Draw) -> None:
    for (place,) in draw.cells(cosine):
        for pair in ((cosine, sine), (cosine2, sine2)):
            for part, value in zip(pair, unit_vector(draw, 2), strict=True):
                draw.put(part, (place,), value)


one = Integer(1)
on_circles = Local(
    "points of the circle", "$c_o^2 + s_o^2 = c_o'^2 + s_o'^2 = 1$",
    ((cosine[o] ** 2, 1 - sine[o] ** 2), (cosine2[o] ** 2, 1 - sine2[o] ** 2)), _on_circles)
c_1, s_1, c_2, s_2 = (array(name, one) for name in ("c_1", "s_1", "c_2", "s_2"))
b = symbols_of("b")[0]
negative_cosine = Witness(
    id="negative_cosine",
    values={c_1: [1], s_1: [0], c_2: [fmpq(-3, 5)], s_2: [fmpq(4, 5)]},
    holds=((c_1[b] ** 2 + s_1[b] ** 2, one), (c_2[b] ** 2 + s_2[b] ** 2, one),
           (c_1[b] * c_2[b] + s_1[b] * s_2[b], Rational(-3, 5))),
    because="Two points of the circle at an angle above a right one.")

n = symbols_of("n")[0]
i, j = symbols_of("i j")
q, k = array("q", n, d), array("k", m, d)
F_q, F_k, G_q, G_k = array("F_q", n), array("F_k", m), array("G_q", n), array("G_k", m)
M_x, D_y, K_e = array("M_x", n, m), array("D_y", n, m), array("K_e", n, m)
entries = {F_q: F_q[i], F_k: F_k[j], G_q: G_q[i], G_k: G_k[j], M_x: M_x[i, j], D_y: D_y[i, j],
           K_e: K_e[i, j]}
logs = {part: array(f"s_{{{part}}}", *part.shape) for part in entries}
squares = {
    F_q: -half * Sum(q[i, a] ** 2, FEATURES), F_k: -half * Sum(k[j, a] ** 2, FEATURES),
    G_q: half * Sum(q[i, a] ** 2, FEATURES), G_k: half * Sum(k[j, a] ** 2, FEATURES),
    M_x: half * Sum((q[i, a] + k[j, a]) ** 2, FEATURES),
    D_y: -half * Sum((q[i, a] - k[j, a]) ** 2, FEATURES), K_e: Sum(q[i, a] * k[j, a], FEATURES),
}


def log(part: IndexedBase) -> Expr:
    """The logarithm of an entry."""
    return logs[part][entries[part].indices]


def exponents(name: str, *parts: IndexedBase) -> tuple[Step, Logarithm]:
    """The exponents of the factors of an expectation sum to q_i . k_j."""
    used = (*parts, K_e)
    product_of = prod((entries[part] for part in parts), start=Integer(1))
    return (
        Step(id=f"{name}_exponent", lhs=sum(map(log, parts), start=Integer(0)), rhs=log(K_e),
             by=tuple(Definition(log(part), squares[part]) for part in used),
             because="Expand the squares."),
        Logarithm(id=f"{name}_expectation", left=(product_of, entries[K_e]),
                  logs=tuple((part, logs[part]) for part in used),
                  by=tuple(exponential(part, logs[part]) for part in used),
                  because=r"So the expectation is $e^{q_i \cdot k_j}$."),
    )


positive_exponent, positive_expectation = exponents("positive", F_q, F_k, M_x)
trig_exponent, trig_expectation = exponents("trig", G_q, G_k, D_y)

S = symbols_of("S")[0]
e = symbols_of("e")[0]
JOINT = (e, 1, S)
Q, Y, sigma = array("Q", S), array("Y", S, m), Symbol("v", real=True)
kappa, share = Symbol("kappa", real=True), Symbol("u", real=True)
SAMPLES = (r, 1, m)


def _independent(draw: Draw) -> None:
    """Each sample is kappa + s or kappa - s, all choices alike."""
    count = draw.size(m)
    centre, spread = draw.source.fresh(None), draw.source.fresh(None)
    draw.sizes[S.name] = 2**count
    draw.put(array(kappa.name), (), centre)
    draw.put(array(sigma.name), (), spread**2)
    for place, signs in enumerate(product((1, -1), repeat=count), start=1):
        draw.put(Q, (place,), draw.source.inverse(2**count))
        for sample, sign in enumerate(signs, start=1):
            draw.put(Y, (place, sample), centre + sign * spread)


independent_samples = Local(
    "samples are independent", r"$E Y_r = \kappa$, $E Y_r Y_{r'} = \kappa^2$ for $r \ne r'$, and "
    r"$E Y_r^2 = \kappa^2 + v$", (
        (Sum(Q[e], JOINT), Integer(1)), (Sum(Q[e] * Y[e, r], JOINT), kappa),
        (Sum(Q[e] * Y[e, r] * Y[e, r2], JOINT), kappa**2 + KroneckerDelta(r, r2) * sigma)),
    _independent)


def _repeated(draw: Draw) -> None:
    _independent(draw)
    for place, sample in draw.cells(Y):
        if sample > 1:
            draw.entries[Y.name, (place, sample)] = draw.get(Y.name, (place, 1))


repeated = Local(
    "one sample, repeated", r"$E Y_r = \kappa$ and $E Y_r Y_{r'} = \kappa^2 + v$ for all $r$, "
    "$r'$", (
        (Sum(Q[e], JOINT), Integer(1)), (Sum(Q[e] * Y[e, r], JOINT), kappa),
        (Sum(Q[e] * Y[e, r] * Y[e, r2], JOINT), kappa**2 + sigma)), _repeated)
share_of_one = Definition(share, Integer(1), over=m)
average = share * Sum(Y[e, r], SAMPLES)
average_mean = Step(
    id="average_mean", lhs=Sum(Q[e] * average, JOINT), rhs=kappa,
    by=(independent_samples, share_of_one),
    because="The expectation is linear.")
average_variance = Step(
    id="average_variance", lhs=Sum(Q[e] * (average - kappa) ** 2, JOINT), rhs=sigma * share,
    by=(independent_samples, share_of_one),
    because=r"Of the $m^2$ covariances $m$ are $v$, the others 0.")
