"""RA11, two rows p and q of a walk, in each of H heads: how far the averages over them lie apart,
and how far softmax lets the rows lie apart.

The keys that p weighs more than q are marked by I, so T = sum_j I_j (p_j - q_j) is the total
variation of the two rows.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, indicator, signed, sums_to_one
from theorems.checker.exact import Draw, Generators, SmallIntegers, Value
from theorems.rules import Logarithm
from theorems.statement import Assumption, Bound, Definition, Iff, Local, Step, array, symbols_of

H, m, d = symbols_of("H m d")
h, j, l, a = symbols_of("h j l a")
half = Rational(1, 2)
KEYS, PAIRS, FEATURES = (j, 1, m), ((j, 1, m), (l, 1, m)), (a, 1, d)

P, Q, x, Y = array("p", H, m), array("q", H, m), array("x", m, d), array("y", H, d)
I, J, U, V = (array(name, H, m) for name in ("I", "J", "U", "V"))
T, D, apart = array("T", H), Symbol("D", real=True), array("s", m, m)


def mostly(draw: Draw) -> bool:
    """Three times in four while small integers are searched: a hypothesis that is aimed at."""
    return type(draw.source) is SmallIntegers and draw.source.rng.randrange(4) > 0


def least_root(value: Value, parts: int = 1) -> fmpq:
    """The least multiple of 1/parts whose square is at least the value."""
    root = 0
    while fmpq(root, parts) ** 2 < value:
        root += 1
    return fmpq(root, parts)


def walk_rows(weights: IndexedBase) -> Assumption:
    """Rows sum to 1; in searches they are mostly those of a positive walk."""
    plain = sums_to_one(weights)

    def impose(draw: Draw) -> None:
        if not mostly(draw):
            return plain.impose(draw) if plain.impose else None
        for cell in draw.cells(weights, len(weights.shape) - 1):
            row = [1 << draw.source.rng.randrange(5) for _ in range(draw.shape(weights)[-1])]
            for place, value in enumerate(row, start=1):
                draw.put(weights, (*cell, place), fmpq(value, sum(row)))
        return None

    return replace(plain, impose=impose)


def tokens_within(D: Symbol, apart: IndexedBase, x: IndexedBase) -> Local:
    """No two tokens are farther apart than D; instances choose D."""

    def impose(draw: Draw) -> None:
        if mostly(draw):
            rows, width = (range(1, size + 1) for size in draw.shape(x))
            most = max(sum((draw.get(x.name, (r, c)) - draw.get(x.name, (s, c))) ** 2
                           for c in width) for r in rows for s in rows)
            draw.put(array(D.name), (), least_root(most, 4) + draw.source.rng.randrange(2))

    text = f"$|{x}_j - {x}_l| \\le |{D}|$ for all tokens"
    return Local(f"{x.shape[0]} tokens within {D}", text, (), impose, ((apart, ">=0"),))


def distance(one: Expr, other: Expr) -> Expr:
    """|x_j - x_l|^2."""
    return Sum((x[one, a] - x[other, a]) ** 2, FEATURES)


def _mark(draw: Draw) -> None:
    if (I.name, (1, 1)) in draw.entries:
        return
    by_sign = marks.id in {item.id for item in draw.assumptions}
    for cell in draw.cells(I):
        value = draw.source.rng.randrange(2)
        if by_sign and not isinstance(draw.source, Generators):
            gap = draw.get(P.name, cell) - draw.get(Q.name, cell)
            value = value if gap == 0 else int(gap > 0)
        draw.put(I, cell, value)


rows = (walk_rows(P), walk_rows(Q))
zero_or_one = replace(
    indicator(I), id="I is an indicator", text=r"$I_j \in \{0, 1\}$", impose=_mark)
marks = Local("I marks p > q", r"$I_j (p_j - q_j) \ge 0 \ge (1 - I_j) (p_j - q_j)$", (), _mark,
              ((U, ">=0"), (V, ">=0")))
parts = (Definition(U[h, j], I[h, j] * (P[h, j] - Q[h, j])),
         Definition(V[h, j], (I[h, j] - 1) * (P[h, j] - Q[h, j])))
variation = Definition(T[h], Sum(U[h, j], KEYS))
complement = Definition(J[h, j], 1 - I[h, j])
averages = Definition(Y[h, a], Sum((P[h, j] - Q[h, j]) * x[j, a], KEYS))
slack = Definition(apart[j, l], D**2 - distance(j, l))
diameter = tokens_within(D, apart, x)

absolute = Step(
    id="absolute", lhs=(U[h, j] + V[h, j]) ** 2, rhs=(P[h, j] - Q[h, j]) ** 2,
    by=(*parts, zero_or_one), because="$U + V$ is $|p_j - q_j|$.",
)
disjoint = Step(
    id="disjoint", lhs=U[h, j] * V[h, j], rhs=Integer(0), by=(*parts, zero_or_one),
    because="A key is marked or not.",
)
half_distance = Step(
    id="half_distance", lhs=half * Sum(U[h, j] + V[h, j], KEYS), rhs=T[h],
    by=(variation, *parts, *rows), because="Both parts have the same sum, as both rows sum to 1.",
)
dobrushin = Bound(
    id="dobrushin", small=Sum(Y[h, a] ** 2, FEATURES), large=T[h] ** 2 * D**2,
    by=(averages, variation, *parts, slack, *rows, marks, diameter),
    certificate=Sum(U[h, j] * V[h, l] * apart[j, l], *PAIRS) + half * Sum(
        (U[h, j] * U[h, l] + V[h, j] * V[h, l]) * distance(j, l), *PAIRS),
    because=r"For weights $c = U - V$ of sum 0: $|\sum_j c_j x_j|^2 = -\frac12 \sum_{jl} c_j c_l "
    r"|x_j - x_l|^2$.",
)
lower = Bound(id="lower", small=Integer(0), large=I[h, j], certificate=I[h, j] ** 2,
              by=(zero_or_one,), because="An indicator is its own square.")
upper = Bound(id="upper", small=I[h, j], large=Integer(1), by=(zero_or_one,),
              certificate=(1 - I[h, j]) ** 2, because="So is its complement.")
nonnegative = (signed(P, ">=0"), signed(Q, ">=0"))
at_most_one = Bound(
    id="at_most_one", small=T[h], large=Integer(1),
    by=(variation, parts[0], complement, *rows, *nonnegative, zero_or_one, lower, upper),
    certificate=Sum(J[h, j] * P[h, j] + I[h, j] * Q[h, j], KEYS),
    because="The part of p that is not marked, and that of q that is.",
)

v, t, y, r, theta = (array(name, H) for name in ("v", "t", "y'", "r", "theta"))
O, g, N, e = array("O", H, m, m), array("g", H), array("N", H), array("e", H)
scale = Definition(y[h], 1 + t[h])
reciprocal = Definition(r[h], Integer(1), over=y[h])
less_one = Step(id="less_one", lhs=t[h], rhs=y[h] - 1, by=(scale,),
                because="$y' = 1 + t$.")
hyperbolic = (reciprocal, less_one, Definition(t[h], v[h] ** 2),
              Definition(theta[h], 1 - 2 * r[h]))
tanh_quotient = Step(
    id="tanh_quotient", lhs=theta[h] * y[h], rhs=t[h] - 1, by=hyperbolic,
    because=r"$\tanh u = (e^{2u} - 1)/(e^{2u} + 1)$ at $u = \frac14 \Delta$, $v = e^u$.",
)


def _odds(draw: Draw) -> None:
    """The least v, up to quarters, or any that is not far from 1."""
    for head in range(1, draw.size(H) + 1):
        if type(draw.source) is SmallIntegers and not mostly(draw):
            draw.put(v, (head,), fmpq(draw.source.rng.randrange(4, 10), 4))
        elif type(draw.source) is SmallIntegers:
            most = fmpq(1)
            for _, key, other in (cell for cell in draw.cells(O) if cell[0] == head):
                first = draw.get(P.name, (head, key)) * draw.get(Q.name, (head, other))
                second = draw.get(Q.name, (head, key)) * draw.get(P.name, (head, other))
                most = max(most, first * draw.source.inverse(second)) if second != 0 else most
            draw.put(v, (head,), least_root(least_root(most, 4), 4))


odds = Definition(O[h, j, l], t[h] ** 2 * Q[h, j] * P[h, l] - P[h, j] * Q[h, l])
near_odds = Local(
    "odds within exp(Delta)", r"$p_j q_l \le e^\Delta q_j p_l$ for all keys $j$, $l$, with "
    r"$e^\Delta = t^2$, $t = v^2$", (), _odds, ((O, ">=0"),),
)
marked = Sum(I[h, j] * Q[h, j], KEYS)
growth = Definition(g[h], t[h] ** 2 + 1 + Sum(
    I[h, j] * (t[h] ** 2 * O[h, j, l] + O[h, l, j]), *PAIRS))
left_over = Definition(N[h], (t[h] ** 2 + 1) * (theta[h] * (1 - y[h] * marked) ** 2 + Sum(
    I[h, j] * J[h, l] * O[h, j, l], *PAIRS)))
excess = Definition(e[h], N[h], over=g[h])
nonnegative_theta = Bound(
    id="nonnegative_theta", small=Integer(0), large=theta[h],
    certificate=r[h] ** 2 * Sum(O[h, j, l], *PAIRS), by=(*hyperbolic, odds, *rows, near_odds),
    because=r"Summed over all keys, $1 \le t^2$.",
)
growth_signs = (near_odds, zero_or_one, lower, growth, hyperbolic[2])
odds_sum = Step(
    id="odds_sum", lhs=g[h] * T[h], rhs=g[h] * theta[h] - N[h],
    by=(*hyperbolic, growth, left_over, complement, variation, parts[0], odds, *rows),
    because=r"With $b = \sum_j I_j q_j$: $g = (t^2 + 1)(1 + (t^2 - 1) b)$. The odds of the marked "
    r"keys grow at most by $t^2$: $g T \le (t^4 - 1) b (1 - b)$, and $\theta (1 + (t^2 - 1) b) - "
    r"(t^2 - 1) b (1 - b) = \theta (1 - (t + 1) b)^2$.",
)
divided = Iff(
    id="divided", left=(odds_sum.lhs, odds_sum.rhs), right=(T[h], theta[h] - e[h]),
    factor=g[h], by=(excess, *growth_signs), because="$g > 0$.",
)
tanh_bound = Bound(
    id="tanh_bound", small=T[h], large=theta[h], certificate=e[h],
    by=(odds_sum, divided, excess, left_over, complement, *growth_signs, upper, nonnegative_theta),
    because="What is left over is nonnegative.",
)

v_more = array("v'", H)
apart_odds = (Definition(v_more[h], v[h] - 1), Local(
    "v>1", r"$\Delta > 0$", signs=((v_more, ">0"),)))

E, F, Z, Z_q = array("E", H, m), array("F", H, m), array("Z", H), array("Z'", H)
S, S_q, R, sigma = array("S", H, m), array("S'", H, m), array("R", H, m, m), array("sigma", H, m, m)
L, spread = array("L", H), array("Delta", H)
positive_weights = (signed(E, ">0"), signed(F, ">0"))
softmax = (
    Definition(P[h, j], E[h, j], over=Z[h]), Definition(Q[h, j], F[h, j], over=Z_q[h]),
    Definition(Z[h], Sum(E[h, j], KEYS)), Definition(Z_q[h], Sum(F[h, j], KEYS)),
)


def compared(first: IndexedBase, second: IndexedBase) -> tuple[Expr, Expr]:
    """The odds of two rows at two keys, with R between them and exp(Delta)."""
    return first[h, j] * second[h, l] * R[h, j, l], L[h] * second[h, j] * first[h, l]


softmax_odds = Iff(
    id="softmax_odds", left=compared(E, F), right=compared(P, Q), factor=Z[h] * Z_q[h],
    by=(*softmax, *positive_weights), because="The totals of the two rows cancel.",
)
score_odds = Logarithm(
    id="score_odds", left=compared(E, F), logs=((E, S), (F, S_q), (R, sigma), (L, spread)),
    by=tuple(exponential(*pair) for pair in ((E, S), (F, S_q), (R, sigma), (L, spread))),
    because=r"$R = e^\sigma \ge 1$ for all keys iff $\sigma \ge 0$ for all keys, that is, iff the "
    r"spread of $s - s'$ is at most $\Delta$.",
)
