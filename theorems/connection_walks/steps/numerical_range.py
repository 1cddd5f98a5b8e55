"""Eigenvalues of a real matrix A: |Im| is bounded by A - A^T, Re by A + A^T."""

from __future__ import annotations


from flint import fmpq
from sympy import Expr, IndexedBase, Sum, Symbol

from theorems.assumptions.frames import assumed, fixed, put_number
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, Value, evaluate
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

(m,) = symbols_of("m")
i, j, k = symbols_of("i j k")
A, p, q, s = array("A", m, m), array("p", m), array("q", m), array("s", m)
alpha, beta, kappa, top, bottom = (
    Symbol(name, real=True) for name in ("alpha", "beta", "kappa", "mu", "nu")
)


def norm(v: IndexedBase) -> Expr:
    """|v|^2."""
    return Sum(v[i] ** 2, (i, 1, m))


UNIT = "p + iq has norm 1"


def _vector(draw: Draw) -> tuple[list[Value], list[Value]]:
    """p and q, of norm 1 together where that is assumed, and 0 otherwise."""
    size = draw.shape(p)[0]
    vector = unit_vector(draw, 2 * size) if assumed(draw, UNIT) else 2 * size * [0]
    for v, values in ((p, vector[:size]), (q, vector[size:])):
        for row, value in enumerate(values, start=1):
            draw.put(v, (row,), value)
    return vector[:size], vector[size:]


def _only_vector(draw: Draw) -> None:
    if not fixed(draw, p):
        _vector(draw)


def _eigenvector(draw: Draw) -> None:
    """A with the eigenvector p + iq."""
    size = draw.shape(A)[0]
    first, second = _vector(draw)
    real, imaginary = draw.source.fresh(None), draw.source.fresh(None) if size > 1 else 0
    if first + second == 2 * size * [0]:
        put_number(draw, alpha, real)
        put_number(draw, beta, draw.source.fresh(None))
        return
    targets = [
        (real * x - imaginary * y, imaginary * x + real * y)
        for x, y in zip(first, second, strict=True)
    ]
    for row, (left, right) in enumerate(targets, start=1):
        rest = [draw.source.fresh(None) for _ in range(size - 2)]
        left -= sum(x * y for x, y in zip(rest, first[2:], strict=True))
        right -= sum(x * y for x, y in zip(rest, second[2:], strict=True))
        entries: list[Value] = [real] if size == 1 else []
        if size > 1:
            scale = draw.source.inverse(first[0] * second[1] - first[1] * second[0])
            entries = [scale * (left * second[1] - right * first[1]),
                       scale * (right * first[0] - left * second[0]), *rest]
        for column, value in enumerate(entries, start=1):
            draw.put(A, (row, column), value)
    put_number(draw, alpha, real)
    put_number(draw, beta, imaginary)


eigen = Local(
    "p + iq is an eigenvector of A", r"$A (p + i q) = (\alpha + i \beta)(p + i q)$",
    ((Sum(A[i, j] * p[j], (j, 1, m)), alpha * p[i] - beta * q[i]),
     (Sum(A[i, j] * q[j], (j, 1, m)), beta * p[i] + alpha * q[i])), _eigenvector,
)
unit_pair = Local(
    UNIT, r"$\lVert p \rVert^2 + \lVert q \rVert^2 = 1$", ((norm(p), 1 - norm(q)),), _only_vector,
)


def form_within(
    name: str, text: str, form: Expr, limit: Expr, gap: IndexedBase, sign: int
) -> Local:
    """form = limit - sign * sum of gap, whose entries are equal in the instances."""

    def impose(draw: Draw) -> None:
        total = sign * (evaluate(limit, draw, {}) - evaluate(form, draw, {}))
        size = draw.shape(gap)[0]
        for cell in draw.cells(gap):
            draw.put(gap, cell, total * fmpq(1, size))

    rule = (form, limit - sign * Sum(gap[k], (k, 1, m)))
    return Local(name, text, (rule,), impose, ((gap, ">=0"),))


skew = Definition(s[i], Sum((A[i, j] - A[j, i]) * q[j], (j, 1, m)))
skew_square = norm(s)
spread, above_p, above_q, below_p, below_q = (
    array(name, m) for name in ("rho", "sigma", "tau", "sigma'", "tau'")
)
operator_norm = form_within(
    "kappa bounds A - A^T", r"$\lVert (A - A^\top) q \rVert \le \kappa \lVert q \rVert$",
    skew_square, kappa**2 * norm(q), spread, 1,
)
pairing = Step(
    id="pairing", lhs=Sum(p[i] * s[i], (i, 1, m)), rhs=beta, by=(eigen, unit_pair, skew),
    because=r"$\langle p, A q \rangle - \langle q, A p \rangle = \beta (|p|^2 + |q|^2) = \beta$.",
)
crossed = Sum((p[i] * s[j] - p[j] * s[i]) ** 2, (i, 1, m), (j, 1, m))
imaginary = Bound(
    id="imaginary", small=4 * beta**2, large=kappa**2,
    by=(eigen, pairing, operator_norm, unit_pair),
    certificate=2 * crossed + 4 * norm(p) * Sum(spread[k], (k, 1, m))
    + kappa**2 * (norm(p) - norm(q)) ** 2,
    because=r"$\beta^2 \le |p|^2 |(A - A^\top) q|^2 \le \kappa^2 |p|^2 |q|^2$, and $4 |p|^2 |q|^2 "
    r"\le 1$ where $|p|^2 + |q|^2 = 1$; each step's loss is a square.",
)

form_p, form_q = Symbol("a_p", real=True), Symbol("a_q", real=True)
forms = [Definition(form, Sum(v[i] * A[i, j] * v[j], (i, 1, m), (j, 1, m)))
         for form, v in ((form_p, p), (form_q, q))]
upper = [form_within(f"mu bounds A at {v}",
                     rf"$\langle {v}, A {v} \rangle \le \mu \lVert {v} \rVert^2$",
                     form, top * norm(v), gap, 1)
         for form, v, gap in ((form_p, p, above_p), (form_q, q, above_q))]
lower = [form_within(f"nu bounds A at {v}",
                     rf"$\langle {v}, A {v} \rangle \ge \nu \lVert {v} \rVert^2$",
                     form, bottom * norm(v), gap, -1)
         for form, v, gap in ((form_p, p, below_p), (form_q, q, below_q))]
mean = Step(
    id="mean", lhs=alpha, rhs=form_p + form_q, by=(*forms, eigen, unit_pair),
    because="alpha = <p, Ap> + <q, Aq>: A and (A + A^T)/2 have the same quadratic form.",
)
real_above = Bound(
    id="real_above", small=alpha, large=top, by=(mean, *upper, unit_pair),
    certificate=Sum(above_p[k] + above_q[k], (k, 1, m)),
    because="Both forms are at most the largest eigenvalue of (A + A^T)/2 times the square norm.",
)
real_below = Bound(
    id="real_below", small=bottom, large=alpha, by=(mean, *lower, unit_pair),
    certificate=Sum(below_p[k] + below_q[k], (k, 1, m)), because="And at least the smallest.",
)
