"""Random sums with rules that random exact arrays satisfy, judged by the checker and by value.

A valid rearrangement must be accepted; a perturbed one must be judged as its values on the arrays
say. The checker is reached through its trusted entry point, `theorems.derive.derive`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, reduce
from itertools import count
from operator import add
from random import Random

import numpy as np
import pytest
from flint import nmod_mat
from sympy import Add, Expr, Indexed, IndexedBase, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.checker import derive as checker
from theorems.checker.sums import Refused, Undecided
from theorems.statement import Assumption, Definition, Step, array, symbols_of

n, m = symbols_of("n m")
i, j, k, l = symbols_of("i j k l")
P, A, x, u, v = array("P", n, m), array("A", n, m), array("x", m), array("u", n), array("v", n)
w, q, y, z = array("w", n), array("q", n), array("y", n), array("z", n)
X, R = array("X", n, n), array("R", n, n)
B, T, B2, T2 = (array(name, n, m) for name in ("B", "T", "B'", "T'"))
blocks = Assumption("blocks", "B' T' = B T", ((B2[i, j] * T2[i, j], B[i, j] * T[i, j]),))
output = Definition(y[i], Sum(A[i, j] * x[j], (j, 1, m)))
mixture = Definition(z[i], 2 * u[i] - v[i] / 3)
positive = signed(w, ">0")
RULES = (
    Definition(q[i], u[i], over=w[i], support=positive), output, mixture, blocks, positive,
    sums_to_one(P), right_inverse(X, R),
)  # fmt: skip
ARRAYS = (P, A, x, u, v, w, q, y, z, X, R, B, T, B2, T2)
FREE = {i: n, j: m, k: n}
ANCHOR = u[i] * x[j] * v[k]  # every free index occurs, so every delta has a range
SIZES = ({n: 2, m: 3}, {n: 3, m: 2})
PRIME = 2**31 - 1
Scope = dict[Symbol, Expr]
fresh = (Symbol(f"f{number}", integer=True, positive=True) for number in count())


@cache
def arrays(number: int) -> dict[IndexedBase, np.ndarray]:
    """Arrays over F_p of sizes SIZES[number], random but for satisfying every rule."""
    rng, sizes = np.random.default_rng(number), SIZES[number]
    of = {base: rng.integers(1, PRIME, [sizes[size] for size in base.shape]) for base in ARRAYS}
    of[P][:, 0] = (1 - of[P][:, 1:].sum(axis=1)) % PRIME
    of[q] = of[u] * inverse(of[w]) % PRIME
    of[y] = (of[A] * of[x] % PRIME).sum(axis=1) % PRIME
    of[z] = (2 * of[u] - of[v] * pow(3, -1, PRIME)) % PRIME
    of[T2] = of[B] * of[T] % PRIME * inverse(of[B2]) % PRIME
    exact = nmod_mat(sizes[n], sizes[n], of[X].ravel().tolist(), PRIME).inv()
    of[R] = np.array([[int(element) for element in row] for row in exact.tolist()])
    return of


def inverse(entries: np.ndarray) -> np.ndarray:
    """The reciprocals in F_p."""
    return np.vectorize(lambda element: pow(int(element), -1, PRIME))(entries)


def value(expr: Expr, number: int, axes: tuple[tuple[Symbol, Expr], ...]) -> np.ndarray:
    """The expression by the book, over F_p, one axis an index in scope, innermost last."""

    def at(index: Symbol) -> np.ndarray:
        place = max(axis for axis, (name, _) in enumerate(axes) if name == index)
        return np.arange(SIZES[number][axes[place][1]]).reshape(
            [-1 if axis == place else 1 for axis in range(len(axes))])  # fmt: skip

    match expr:
        case Rational(p=over, q=under):
            return np.full([1] * len(axes), int(over) * pow(int(under), -1, PRIME) % PRIME)
        case Symbol():
            return np.full([1] * len(axes), SIZES[number][expr])
        case Indexed(base=base, indices=indices):
            return arrays(number)[base][tuple(at(index) for index in indices)]
        case KroneckerDelta(args=(a, b)):
            return (at(a) == at(b)).astype(np.int64)
        case Pow(base=base, exp=exponent):
            root = value(base, number, axes)
            return reduce(lambda a, b: a * b % PRIME, [root] * int(exponent))
        case Sum(function=function, limits=limits):
            body = value(function, number, axes + tuple((s, size) for s, _, size in limits[::-1]))
            for _, _, size in limits:
                body = body.sum(axis=-1) * (SIZES[number][size] if body.shape[-1] == 1 else 1)
            return body % PRIME
        case Add(args=args):
            return reduce(add, [value(part, number, axes) for part in args]) % PRIME
        case Mul(args=args):
            return reduce(lambda a, b: a * b % PRIME, [value(f, number, axes) for f in args])
    raise TypeError(f"{expr} is no sum of products")


def values(expr: Expr) -> list[np.ndarray]:
    """The expression over F_p at all values of its free indices, at all SIZES."""
    return [value(expr, number, tuple(FREE.items())) for number in range(len(SIZES))]


def disagreement(lhs: Expr, rhs: Expr) -> str:
    """Where two expressions differ on the exact arrays, or nothing."""
    for sizes, left, right in zip(SIZES, values(lhs), values(rhs), strict=True):
        if (gap := (left - right) % PRIME).any():
            return f"the sides differ by {gap[gap != 0][0]} at sizes {sizes} in F_{PRIME}"
    return ""


def entry(base: IndexedBase, scope: Scope, rng: Random) -> Expr:
    """An entry of the array at random indices in scope."""
    return base[tuple(rng.choice([s for s in scope if scope[s] == size]) for size in base.shape)]


def expression(depth: int, scope: Scope, rng: Random) -> Expr:
    """A random sum of products; names of bound indices repeat and shadow free ones."""
    kind = rng.choice(("add", "mul", "sum", "sum", "pow") if depth else ("entry", "entry", "delta"))
    if kind in ("add", "mul"):
        one, two = (expression(depth - 1, scope, rng) for _ in range(2))
        return one * two if kind == "mul" else one + rng.choice((1, -1, 2, Rational(-1, 2))) * two
    if kind == "sum":
        index, size = rng.choice(((i, n), (j, m), (l, n), (l, m)))
        return Sum(expression(depth - 1, {**scope, index: size}, rng), (index, 1, size))
    if kind == "pow":
        return expression(depth - 1, scope, rng) ** rng.choice((1, 2))
    if kind == "delta":
        size = rng.choice((n, m))
        a, b = (rng.choice([s for s in scope if scope[s] == size]) for _ in range(2))
        return KroneckerDelta(a, b) * entry(rng.choice(ARRAYS), scope, rng)
    return entry(rng.choice(ARRAYS), scope, rng)


def cycles(rng: Random) -> Expr:
    """A sum over three or four indices of products of entries of X: a graph with named nodes."""
    bound = [next(fresh) for _ in range(rng.choice((3, 4)))]
    edges = [X[rng.choice(bound), rng.choice([*bound, i])] for _ in range(4)]
    return rng.choice((1, -2)) * Sum(Mul(*edges), *((index, 1, n) for index in bound))


def rebuilt(expr: Expr, scope: Scope, change: Callable[[Expr, Scope], Expr]) -> Expr:
    """The expression with every part changed, innermost first."""
    if isinstance(expr, Sum):
        inner = {**scope, **{index: size for index, _, size in reversed(expr.limits)}}
        expr = Sum(rebuilt(expr.function, inner, change), *expr.limits)
    elif isinstance(expr, Add | Mul):
        expr = expr.func(*(rebuilt(part, scope, change) for part in expr.args))
    elif isinstance(expr, Pow):
        expr = rebuilt(expr.base, scope, change) ** expr.exp
    return change(expr, scope)


def renamed(expr: Expr, old: Symbol, new: Symbol) -> Expr:
    """The expression with a free index renamed to one that occurs nowhere."""
    if isinstance(expr, Sum):
        if old in [limit[0] for limit in expr.limits]:
            return expr
        return Sum(renamed(expr.function, old, new), *expr.limits)
    if isinstance(expr, Indexed):
        return expr.base[tuple(new if index == old else index for index in expr.indices)]
    if expr == old or not expr.args:
        return new if expr == old else expr
    return expr.func(*(renamed(part, old, new) for part in expr.args))


def apart(expr: Sum) -> tuple[Expr, list]:
    """Body and limits with all bound indices renamed to new ones."""
    body, limits = expr.function, []
    for index, low, size in expr.limits:
        limits.append((new := next(fresh), low, size))
        body = renamed(body, index, new)
    return body, limits


def equal(rng: Random) -> Callable[[Expr, Scope], Expr]:
    """A change of one part that keeps its value on all arrays that satisfy the rules."""

    def change(expr: Expr, scope: Scope) -> Expr:
        a, b, c = next(fresh), next(fresh), next(fresh)
        rows = [index for index in scope if scope[index] == n]
        if isinstance(expr, Sum):
            body, limits = apart(expr)
            rng.shuffle(limits)
            if rng.random() < 0.3:
                share, (twin, twins) = Rational(rng.choice((-1, 1)), 3), apart(expr)
                return share * Sum(body, *limits) + (1 - share) * Sum(twin, *twins)
            parts = Add.make_args(body) if rng.random() < 0.5 else (body,)
            return Add(*(Sum(part, *limits) for part in parts))
        if isinstance(expr, Mul) and rng.random() < 0.5:
            factors = list(expr.args)
            for factor in [f for f in factors if isinstance(f, Add | Sum)][:1]:
                factors.remove(factor)
                if isinstance(factor, Add):
                    return Add(*(Mul(*factors, part) for part in factor.args))
                body, limits = apart(factor)
                return Sum(Mul(*factors, body), *limits)
        if isinstance(expr, Indexed) and rng.random() < 0.4:
            base, indices = expr.base, list(expr.indices)
            if base == u and rng.random() < 0.5:
                return w[indices[0]] * q[indices[0]]
            if base == z:
                return 2 * u[indices[0]] - v[indices[0]] / 3
            if base == y:
                return Sum(A[indices[0], a] * x[a], (a, 1, m))
            at = rng.randrange(len(indices))
            old, size, indices[at] = indices[at], base.shape[at], a
            moved = base[tuple(indices)]
            if size == n and rng.random() < 0.5:
                left, right = rng.choice(((X, R), (R, X)))
                return Sum(left[old, c] * right[c, a] * moved, (c, 1, n), (a, 1, n))
            return Sum(KroneckerDelta(old, a) * moved, (a, 1, size))
        if isinstance(expr, Mul) and rng.random() < 0.2:
            return expr * Sum(P[rng.choice(rows), b], (b, 1, m))
        if isinstance(expr, Mul) and (pair := [f for f in expr.args if getattr(f, "base", 0) == T]):
            used = (pair[0], B[pair[0].indices])
            if used[1] in expr.args:
                rest = [f for f in expr.args if f not in used]
                return Mul(B2[pair[0].indices], T2[pair[0].indices], *rest)
        return expr

    return change


def other(rng: Random, target: int) -> Callable[[Expr, Scope], Expr]:
    """A change of the target-th part that usually changes the value: the errors people make."""
    seen = count()

    def change(expr: Expr, scope: Scope) -> Expr:
        if next(seen) != target:
            return expr
        if isinstance(expr, Add):
            kept = list(expr.args)
            dropped = kept.pop(rng.randrange(len(kept)))
            return Add(*kept) if rng.random() < 0.5 else Add(*kept, -dropped)
        if isinstance(expr, KroneckerDelta) or (isinstance(expr, Rational) and expr):
            return Rational(1) if isinstance(expr, KroneckerDelta) else expr + 1
        if isinstance(expr, Indexed) and rng.random() < 0.8:
            if expr.base in (X, R) and rng.random() < 0.5:
                return expr.base[expr.indices[::-1]]
            return entry(expr.base, scope, rng)
        return rng.choice((-expr, 2 * expr, expr**2, expr + entry(rng.choice(ARRAYS), scope, rng)))

    return change


def verdict(lhs: Expr, rhs: Expr) -> str:
    """What the checker says about lhs = rhs."""
    try:
        checker.derive(Step(id="random", lhs=lhs + ANCHOR, rhs=rhs + ANCHOR, because="", by=RULES))
    except (checker.Failed, Refused, Undecided) as error:
        return type(error).__name__
    except Exception as error:
        raise AssertionError(f"crash: {type(error).__name__}: {error} on {lhs} = {rhs}") from error
    return "Accepted"


def fuzz(cases: int, seed: int = 0) -> Counter[str]:
    """Counts of what was decided; AssertionError at the first wrong decision."""
    rng, decided = Random(seed), Counter[str]()
    for foreign in (KroneckerDelta(i, j), Sum(KroneckerDelta(i, k), (k, 1, m)), u[j], A[i, i]):
        said = verdict(foreign, 2 * ANCHOR)
        assert said == "Refused", f"unsound: {foreign} has an index with two ranges, yet: {said}"
    for _ in range(cases):
        lhs = expression(rng.choice((2, 3)), FREE, rng) if rng.random() < 0.7 else cycles(rng)
        rhs = rebuilt(rebuilt(lhs, FREE, equal(rng)), FREE, equal(rng))
        wrong = rebuilt(rhs, FREE, other(rng, rng.randrange(6)))
        assert not (gap := disagreement(lhs, rhs)), f"the fuzz is wrong: {lhs} | {rhs}: {gap}"
        for side in (rhs, wrong):
            if side == lhs:
                continue
            gap = disagreement(lhs, side) if side == wrong else ""
            decided[said := verdict(lhs, side)] += 1
            assert not gap or said != "Accepted", f"unsound: derived {lhs} = {side}, but {gap}"
            wanted = {"Failed", "Undecided"} if gap else {"Accepted", "Undecided"}
            assert said in wanted, f"incomplete: {lhs} = {side}: {said}"
    return decided


@pytest.fixture(name="fuzz")
def fuzz_fixture() -> Callable[..., Counter[str]]:
    return fuzz


@pytest.fixture
def random_sum() -> Callable[[Random], Expr]:
    return lambda rng: expression(rng.choice((2, 3)), FREE, rng)


@pytest.fixture
def value_of() -> Callable[[Expr, int], np.ndarray]:
    return lambda expr, number: value(expr, number, tuple(FREE.items()))


@pytest.fixture
def arrays_of() -> Callable[[int], dict[IndexedBase, np.ndarray]]:
    return arrays
