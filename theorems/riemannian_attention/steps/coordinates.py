"""RA9, how gradients, metrics and steps change with the coordinates: y = phi(x), Jacobian J.

The gradient is a covector, the direction -G^-1 p of steepest descent a vector; the metric diag +
low rank keeps its low-rank part, and the diagonal one if each row of J^-1 has one entry.
"""

from __future__ import annotations

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.checker.exact import Draw
from theorems.statement import Definition, Iff, Local, Step, Witness, array, symbols_of

d, r, m = symbols_of("d r m")
a, b, c, e, i, j, g, k = symbols_of("a b c e i j g k")
F, inverse_F = array("F", d, d), array("F'", d, d)
J, inverse_J = array("J", d, d), array("J'", d, d)
G, H, p = array("G", d, d), array("H", d, d), array("p", d)
G_y, H_y, p_y = array("G_y", d, d), array("H_y", d, d), array("p_y", d)
frame, jacobian = right_inverse(F, inverse_F), right_inverse(J, inverse_J)
metric = Definition(G[a, b], Sum(F[c, a] * F[c, b], (c, 1, d)))
inverse = Definition(H[a, b], Sum(inverse_F[a, c] * inverse_F[b, c], (c, 1, d)))
metric_y = Definition(
    G_y[i, j], Sum(inverse_J[a, i] * G[a, b] * inverse_J[b, j], (a, 1, d), (b, 1, d))
)
inverse_y = Definition(H_y[i, j], Sum(J[i, a] * H[a, b] * J[j, b], (a, 1, d), (b, 1, d)))
gradient_y = Definition(p_y[i], Sum(inverse_J[a, i] * p[a], (a, 1, d)))
x, y, eta = array("x", d), array("y", d), Symbol("eta", real=True)


def descent(inverse_metric: IndexedBase, gradient: IndexedBase, at: Expr) -> Expr:
    """Entry `at` of G^-1 p."""
    return Sum(inverse_metric[at, e] * gradient[e], (e, 1, d))


def moved(vector: Expr) -> Expr:
    """J on a vector with the index a."""
    return Sum(J[i, a] * vector, (a, 1, d))


inverse_metric = Step(
    id="inverse_metric", lhs=Sum(G[a, e] * H[e, b], (e, 1, d)), rhs=KroneckerDelta(a, b),
    by=(metric, inverse, frame), because=r"$G^{-1} = F^{-1} F^{-\top}$.",
)
inverse_metric_y = Step(
    id="inverse_metric_y", lhs=Sum(G_y[i, g] * H_y[g, j], (g, 1, d)), rhs=KroneckerDelta(i, j),
    by=(metric_y, inverse_y, metric, inverse, frame, jacobian),
    because=r"$J^{-\top} G J^{-1} J G^{-1} J^\top = I$.",
)
direction = Step(
    id="direction", lhs=descent(H_y, p_y, i), rhs=moved(descent(H, p, a)),
    by=(inverse_y, gradient_y, jacobian), because=r"$J G^{-1} J^\top J^{-\top} p = J G^{-1} p$.",
)
lengths = Step(
    id="lengths", lhs=Sum(G_y[i, j] * moved(x[a]) * Sum(J[j, b] * x[b], (b, 1, d)),
                          (i, 1, d), (j, 1, d)),
    rhs=Sum(G[a, b] * x[a] * x[b], (a, 1, d), (b, 1, d)), by=(metric_y, jacobian),
    because=r"$|J x|$ in the new metric is $|x|$ in the old one.",
)

# The finite step from x, with u the displacement -eta G^-1 p, under maps of degree two.
shift, bend = array("s", d), array("Q", d, d, d)
step_x, after = array("x'", d), array("y'", d)
affine = Definition(y[i], moved(x[a]) + shift[i])
stepped = Definition(step_x[a], x[a] - eta * descent(H, p, a))
affine_step = Step(
    id="affine_step", lhs=moved(step_x[a]) + shift[i], rhs=y[i] - eta * descent(H_y, p_y, i),
    by=(affine, stepped, inverse_y, gradient_y, jacobian),
    because=r"An affine map takes the displacement by J, wherever it starts.",
)
displacement = array("u", d)
displaced = Definition(displacement[a], -eta * descent(H, p, a))
image = Definition(after[i], y[i] + moved(displacement[a]) + Rational(1, 2) * Sum(
    bend[i, a, b] * displacement[a] * displacement[b], (a, 1, d), (b, 1, d)))
defect = Step(
    id="defect", lhs=after[i] - (y[i] - eta * descent(H_y, p_y, i)),
    rhs=Rational(1, 2) * eta**2 * Sum(
        bend[i, a, b] * descent(H, p, a) * Sum(H[b, g] * p[g], (g, 1, d)), (a, 1, d), (b, 1, d)),
    by=(image, displaced, inverse_y, gradient_y, jacobian),
    because=r"The map to second order around x; the first-order term is the step in y.",
)

# One x, m displacements, each the step of some gradient: what commutes with all of them is affine.
given_u, images = array("u_k", m, d), array("y_k", m, d)
gradients, gradients_y = array("p_k", m, d), array("q_k", m, d)
rate = Symbol("r_eta", real=True)
positive_eta = signed(array("eta"), ">0")
reciprocal = Definition(rate, Integer(1), over=eta)
chosen = Definition(gradients[k, a], -rate * Sum(G[a, b] * given_u[k, b], (b, 1, d)))
chosen_y = Definition(gradients_y[k, i], Sum(inverse_J[a, i] * gradients[k, a], (a, 1, d)))
STEP_Y = y[i] - eta * Sum(H_y[i, j] * gradients_y[k, j], (j, 1, d))
own_step = Step(
    id="own_step", lhs=-eta * Sum(H[a, b] * gradients[k, b], (b, 1, d)), rhs=given_u[k, a],
    by=(reciprocal, chosen, metric, inverse, frame, positive_eta),
    because=r"$p = -G u / \eta$ makes the step u.",
)
only_affine = Iff(
    id="only_affine", left=(images[k, i], STEP_Y),
    right=(images[k, i], y[i] + Sum(J[i, a] * given_u[k, a], (a, 1, d))),
    by=(reciprocal, chosen_y, chosen, inverse_y, metric, inverse, frame, jacobian, positive_eta),
    because=r"The step in y is $J u$.",
)

scale, point, root_y, squared = (
    Symbol(name, real=True) for name in ("eta_w", "x_w", "y_w", "g_w")
)
one, eta_1, y_1, grad_1, metric_1, inverse_1, old_1 = (
    array(name, Integer(1)) for name in ("x_1", "eta_1", "y_1", "p_1", "G_1", "H_1", "J_1")
)
STEP_1 = one[i] - eta_1[i]
square_root = Witness(
    id="square_root",
    values={one: [1], eta_1: [fmpq(1, 2)], y_1: [1], old_1: [2], grad_1: [fmpq(1, 2)],
            metric_1: [fmpq(1, 4)], inverse_1: [4]},
    holds=((y_1[i], one[i] ** 2), (old_1[i], 2 * one[i]), (old_1[i] * grad_1[i], Integer(1)),
           (old_1[i] ** 2 * metric_1[i], Integer(1)), (metric_1[i] * inverse_1[i], Integer(1)),
           (STEP_1**2, Rational(1, 4)),
           (y_1[i] - eta_1[i] * inverse_1[i] * grad_1[i], Integer(0))),
    fails=((STEP_1**2, y_1[i] - eta_1[i] * inverse_1[i] * grad_1[i]),),
    because=r"$f = x$, $G = 1$, $\phi(x) = x^2$, so $J = 2 x$: $(1 - \frac12)^2$ against "
    r"$1 - \frac12 \cdot 4 \cdot \frac12$.",
)

# The form diag + low rank.
D, U, U_y = array("D", d), array("U", d, r), array("U_y", d, r)
RANK = (c, 1, r)
low_rank = Definition(G[a, b], D[a] * KroneckerDelta(a, b) + Sum(U[a, c] * U[b, c], RANK))
columns = Definition(U_y[i, c], Sum(inverse_J[a, i] * U[a, c], (a, 1, d)))
DIAGONAL = Sum(D[a] * inverse_J[a, i] * inverse_J[a, j], (a, 1, d))
transformed = Step(
    id="transformed", lhs=G_y[i, j], rhs=DIAGONAL + Sum(U_y[i, c] * U_y[j, c], RANK),
    by=(metric_y, low_rank, columns), because=r"$U$ becomes $J^{-\top} U$.",
)
squares = array("w", d, d)


def _monomial(draw: Draw) -> None:
    """One entry in each row of J^-1, in a random column."""
    size, source = draw.size(d), draw.source
    chosen = [source.rng.randint(1, size) for _ in range(size)]
    for row, column in draw.cells(inverse_J):
        entry = source.fresh(None) if chosen[row - 1] == column else fmpq(0)
        draw.put(inverse_J, (row, column), entry)
        draw.put(squares, (row, column), entry * entry)


monomial = Local(
    "one entry a row",
    r"each row of $J^{-1}$ has one entry at most: $J'_{ai} J'_{aj} = w_{ai} \delta_{ij}$",
    ((inverse_J[a, i] * inverse_J[a, j], squares[a, i] * KroneckerDelta(i, j)),), _monomial,
)
stays_diagonal = Step(
    id="stays_diagonal", lhs=DIAGONAL, by=(monomial,),
    rhs=KroneckerDelta(i, j) * Sum(D[a] * squares[a, i], (a, 1, d)),
    because="Two entries of a row never meet.",
)
others, raised = array("D_1", d, d), array("W", d, d, d)
heavier = Definition(others[g, a], 1 + KroneckerDelta(a, g))
part = Definition(raised[g, i, j], Sum(
    others[g, a] * inverse_J[a, i] * inverse_J[a, j], (a, 1, d)))
must_be_monomial = Step(
    id="must_be_monomial", by=(part, heavier),
    lhs=raised[g, i, j] - Sum(inverse_J[a, i] * inverse_J[a, j], (a, 1, d)),
    rhs=inverse_J[g, i] * inverse_J[g, j],
    because=r"Off the diagonal both terms vanish if $D = I$ and $D = I + e_g e_g^\top$ stay so.",
)
u, O = array("u_1", d), array("O", d, d)
outer = Definition(O[a, b], u[a] * u[b])
triples = Step(
    id="triples", lhs=O[a, b] * O[a, e], rhs=u[a] ** 2 * O[b, e], by=(outer,),
    because=r"Off the diagonal these are entries of $D + u u^\top$.",
)
J_3, G_3 = array("J_3", 3, 3), array("G_3", 3, 3)
one_3, two_3, three_3 = (array(f"e_{n}", 3) for n in (1, 2, 3))


def entry(left: IndexedBase, right: IndexedBase) -> Expr:
    """An entry of the metric G_3, by unit vectors."""
    return Sum(left[a] * G_3[a, b] * right[b], (a, 1, 3), (b, 1, 3))


not_of_the_form = Witness(
    id="not_of_the_form",
    values={J_3: [[1, 0, 0], [1, 1, 0], [1, 0, 1]], G_3: [[3, 1, 1], [1, 1, 0], [1, 0, 1]],
            one_3: [1, 0, 0], two_3: [0, 1, 0], three_3: [0, 0, 1]},
    holds=((Sum(J_3[a, i] * J_3[a, j], (a, 1, 3)), G_3[i, j]),
           (entry(one_3, two_3) * entry(one_3, three_3), Integer(1)),
           (entry(two_3, three_3), Integer(0))),
    because=r"$D = I$, $U = 0$, $J^{-1}$ with rows $e_1$, $e_1 + e_2$, $e_1 + e_3$.",
)
