"""A theorem's hypotheses on arrays: a checker, a Hypothesis strategy, and a way to break each.

A hypothesis is the `Assumption` of a theorem: equations, signs, and a construction of exact
instances. All three functions read these and nothing else, so that what "orthogonal" means stands
in one place. Arrays are NumPy or torch, under the names of the symbols they stand for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import product
from random import Random
from typing import Any

import array_api_compat
import numpy as np
from hypothesis import strategies as st
from sympy import Add, Expr, Indexed, IndexedBase, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from numerics import arrays as boundary
from numerics.arrays import Array
from numerics.rounding.roundoff import Rounded
from numerics.rounding.units import gamma, units
from theorems import catalogue
from theorems.checker import instances
from theorems.checker.exact import Draw, Rejected, SmallIntegers
from theorems.checker.sums import free_indices
from theorems.checker.world import TRUE
from theorems.statement import Assumption, Definition, Equation

TRIES = 4000
"""Exact draws before `instance` gives up: some constructions fit few sizes."""

_SIGNS: dict[str, Callable[[Array], Array]] = {
    ">0": lambda x: x > 0,
    ">=0": lambda x: x >= 0,
    "!=0": lambda x: x != 0,
}
_EXPONENTIAL = re.compile(r"(.+) = exp\((.+)\)")
_FLOAT64 = units("float64")
# What a stored entry stands for was rounded to float64 first where it is float32 now.
_TWICE = 1 + 2.0**-20

_units = cache(units)


@dataclass(frozen=True)
class Held:
    """A hypothesis, by its id, that the arrays of a sample have; arguments as for `violation`.

    clause is where the theorem assumes it, if not in the clause that the sample is of.
    """

    id: str
    arrays: Mapping[str, Array]
    errors: Mapping[str, Array] = field(default_factory=dict)
    clause: str | None = None


@cache
def assumption(theorem: str, clause: str, identifier: str) -> Assumption:
    """The hypothesis of this id that a clause rests on; ValueError where it rests on none."""
    steps = [c.steps for c in catalogue.load(theorem).clauses if c.name == clause]
    rests = [item for step in sum(steps, ()) for item in TRUE.closure(step)]
    found = [item for item in rests if isinstance(item, Assumption)]
    for item in found:
        if item.id == identifier:
            return item
    known = ", ".join(sorted({item.id for item in found})) or "nothing"
    raise ValueError(f"{theorem} {clause} must assume {identifier!r}, but it assumes {known}")


@cache
def names(hypothesis: Assumption) -> dict[str, tuple[str, ...]]:
    """The arrays that a hypothesis speaks of, with the symbols of their shapes.

    A whole number that is the size of no array is one of them, of shape ().
    """
    found: dict[str, tuple[str, ...]] = {}
    numbers: set[str] = set()
    for side in (side for rule in hypothesis.rules for side in rule):
        for part in _entries(side):
            if isinstance(part, Symbol):
                numbers.add(part.name)
            else:
                found[str(part)] = tuple(map(str, part.shape))
    found |= {str(array): tuple(map(str, array.shape)) for array, _ in hypothesis.signs}
    if logs := _logarithm(hypothesis):
        found[logs[1]] = found[logs[0]]
    sizes = {size for shape in found.values() for size in shape}
    return found | dict.fromkeys(sorted(numbers - sizes), ())


def _entries(expr: Expr) -> Iterator[Symbol | IndexedBase]:
    """The arrays and numbers of an expression, without its indices."""
    match expr:
        case Symbol():
            yield expr
        case Indexed(base=base):
            yield base
        case Sum(function=function):
            yield from _entries(function)
        case KroneckerDelta():
            return
        case _:
            for part in expr.args:
                yield from _entries(part)


def _logarithm(hypothesis: Assumption) -> tuple[str, str] | None:
    """The names (E, S) of E = exp(S), which no equation between sums says: it is known by its id,
    as in theorems.rules.Logarithm."""
    found = _EXPONENTIAL.fullmatch(hypothesis.id)
    return (found[1], found[2]) if found and not hypothesis.rules else None


def rounded(array: np.ndarray, roundings: int) -> np.ndarray:
    """What so many roundings leave of each entry, and as many underflows: float64, the same shape.

    Source: Higham 2002, 3.1.
    """
    model = _units(array.dtype)
    size = np.abs(array.astype(np.float64))
    return gamma(roundings, model.store) * size + roundings * model.eta


def rotation_error(d: int) -> float:
    """What Householder QR leaves of each entry of a d x d rotation (Higham 2002, 19.4)."""
    return gamma(8 * d * d, _FLOAT64.store)


def inverse_error(matrix: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """What elimination leaves of the entries of inverses (..., d, d) of matrices (..., d, d).

    gamma_8d |X| |A| |X| in the norm of the largest entry, (..., 1, 1), for condition numbers far
    below 1/u. Source: Higham 2002, 14.1.
    """
    size, known = np.abs(matrix.astype(np.float64)), np.abs(inverse.astype(np.float64))
    largest = (known @ size @ known).max(axis=(-2, -1), keepdims=True)
    return gamma(8 * matrix.shape[-1], _FLOAT64.store) * largest


def holds(
    hypothesis: Assumption, arrays: Mapping[str, Array], errors: Mapping[str, Array] | None = None
) -> bool:
    """Whether arrays have the hypothesis up to rounding; arguments and errors as `violation`."""
    return violation(hypothesis, arrays, errors) is None


def violation(
    hypothesis: Assumption, arrays: Mapping[str, Array], errors: Mapping[str, Array] | None = None
) -> str | None:
    """How arrays break a hypothesis, or None where exact ones within their rounding may have it.

    arrays holds by name what `names` lists, each axis of the size that its symbol stands for; more
    arrays are ignored. Each entry may be off by one rounding, and by errors[name] (nonnegative, of
    the array's shape or broadcast to it) where its computation left more. An equation fails where
    its sides differ by more than that and the evaluation in float64 explain; signs are those of the
    stored entries. Raises ValueError for an array that is missing, of another shape, or so large
    that a side overflows, TypeError for arrays of several kinds or dtypes.
    Source: Higham 2002, 3.1.
    """
    entered = _Entered(hypothesis, arrays, errors or {})
    try:
        boundary.finite(**entered.arrays)
    except ValueError as error:
        return f"{hypothesis.id}: {error}"
    for array, sign in hypothesis.signs:
        value = entered.arrays[str(array)]
        wrong = _host(~_SIGNS[sign](value))
        if wrong.any():
            place = _first(wrong)
            return f"{hypothesis.id}: {array}{_at(place)} is {float(value[place])!r}, not {sign}"
    faults = (_difference(rule, entered) for rule in hypothesis.rules)
    found = next((fault for fault in faults if fault), None)
    if (logs := _logarithm(hypothesis)) and not found:
        found = _no_exponential(*logs, entered)
    return f"{hypothesis.id}: {found}" if found else None


@dataclass(frozen=True)
class _Side:
    """A value with one axis for each index of its rule, of size 1 where it does not depend on it,
    and what it may be off."""

    value: Array
    bound: Rounded

    def __add__(self, other: _Side) -> _Side:
        return _Side(self.value + other.value, self.bound + other.bound)

    def __mul__(self, other: _Side) -> _Side:
        return _Side(self.value * other.value, self.bound * other.bound)

    def sum(self, axis: int) -> _Side:
        """The sum over an axis, kept with size 1."""
        total = self.bound.sum(axis)
        shape = (1 if k == axis else size for k, size in enumerate(self.value.shape))
        xp = array_api_compat.array_namespace(self.value)
        return _Side(xp.sum(self.value, axis=axis, keepdims=True), total.reshape(*shape))


class _Entered:
    """The arrays that a hypothesis speaks of, in float64 and with what they may be off."""

    def __init__(
        self, hypothesis: Assumption, arrays: Mapping[str, Array], errors: Mapping[str, Array]
    ) -> None:
        shapes = names(hypothesis)
        if missing := [name for name in shapes if name not in arrays]:
            raise ValueError(
                f"arrays must have {', '.join(missing)} of {hypothesis.id!r}, got "
                f"{', '.join(sorted(arrays)) or 'none'}"
            )
        if strange := [name for name in errors if name not in arrays]:
            raise ValueError(f"errors must be of given arrays, got {', '.join(strange)}")
        self.arrays = {name: arrays[name] for name in shapes}
        boundary.namespace(**self.arrays)
        self.sizes = {s: int(s) for axes in shapes.values() for s in axes if s.isdigit()}
        for name, axes in shapes.items():
            boundary.shape(self.sizes, name, self.arrays[name], *axes)
        self.errors = errors
        self._sides: dict[str, _Side] = {}
        first = next(iter(self.arrays.values()))
        self.xp = array_api_compat.array_namespace(first)
        self.units = _units(first.dtype)

    def number(self, value: float, rank: int) -> _Side:
        """A number, off by a rounding where it is no whole one."""
        size = self.xp.full((1,) * rank, abs(value), dtype=self.xp.float64)
        off = 0.0 if value.is_integer() else _FLOAT64.store
        return _Side(size if value >= 0 else -size, _bound(size, size * off, self.xp))

    def __getitem__(self, name: str) -> _Side:
        """A stored array and what it may be off."""
        if name not in self._sides:
            value = _float64(self.arrays[name])
            size = abs(value)
            error = size * (self.units.store * _TWICE) + 2 * self.units.eta
            if name in self.errors:
                more = self.xp.asarray(self.errors[name], dtype=self.xp.float64)
                error = error + more * _TWICE
            self._sides[name] = _Side(value, _bound(size + error, error, self.xp))
        return self._sides[name]


def _bound(size: Array, error: Array, xp: Any) -> Rounded:
    size, error = xp.asarray(size), xp.asarray(error)
    return Rounded(size * (1 + 2.0**-50), error * (1 + 2.0**-50), _FLOAT64)


def _float64(array: Array) -> Array:
    if isinstance(array, np.ndarray):
        return array.astype(np.float64)
    return array.detach().cpu().double()


Evaluation = Callable[[_Entered], _Side]


def _difference(rule: Equation, entered: _Entered) -> str | None:
    """The entry at which the sides of an equation differ beyond the bound, and both values."""
    indices, free, left, right = _compiled(rule)
    with np.errstate(over="ignore", invalid="ignore"):
        one, other = left(entered), right(entered)
        gap = _host(abs(one.value - other.value))
        bound = _host((one.bound - other.bound).error)
    if not np.isfinite(bound).all():
        raise ValueError(f"arrays must let {rule[0]} = {rule[1]} be evaluated, but it overflows")
    wrong = ~(gap <= bound)
    if not wrong.any():
        return None
    place = _first(wrong)
    values = (np.broadcast_to(_host(side), gap.shape)[place] for side in (one.value, other.value))
    where = ", ".join(f"{i} = {p + 1}" for i, p in zip(indices, place, strict=True) if i in free)
    return (
        f"{rule[0]} = {rule[1]} fails{' at ' + where if where else ''}: "
        f"{' against '.join(repr(float(value)) for value in values)}, bound {bound[place]:.3g}"
    )


@cache
def _compiled(rule: Equation) -> tuple[list[Symbol], set[Symbol], Evaluation, Evaluation]:
    """The indices of a rule, those that are free, and its sides as functions of arrays."""
    free = free_indices(*rule)
    bound = {i for side in rule for total in side.atoms(Sum) for i, *_ in total.limits}
    indices = [*free, *sorted(bound - free.keys(), key=str)]
    ranges = {index: str(size) for index, size in free.items()}
    left, right = (_evaluation(side, indices, ranges) for side in rule)
    return indices, set(free), left, right


def _evaluation(expr: Expr, indices: list[Symbol], ranges: dict[Symbol, str]) -> Evaluation:
    rank = len(indices)
    match expr:
        case Rational():
            return lambda entered: entered.number(float(expr), rank)
        case Symbol(name=name):
            return lambda entered: _named(name, rank, entered)
        case Indexed(base=base, indices=cell):
            return _entry(str(base), [indices.index(index) for index in cell], rank)
        case KroneckerDelta(args=(a, b)):
            return _delta(indices.index(a), indices.index(b), ranges[a], rank)
        case Pow(base=base, exp=exponent) if exponent.is_Integer and exponent > 0:
            part, times = _evaluation(base, indices, ranges), int(exponent)
            return lambda entered: reduce(_Side.__mul__, times * [part(entered)])
        case Add() | Mul():
            parts = [_evaluation(part, indices, ranges) for part in expr.args]
            combine = _Side.__add__ if isinstance(expr, Add) else _Side.__mul__
            return lambda entered: reduce(combine, [part(entered) for part in parts])
        case Sum(function=function, limits=limits):
            inner = ranges | {index: str(top) for index, _, top in limits}
            summand = _evaluation(function, indices, inner)
            axes = [(indices.index(index), str(top)) for index, _, top in limits]
            return lambda entered: _total(summand(entered), axes, entered)
    raise TypeError(f"cannot evaluate {type(expr).__name__} {expr} on arrays")


def _named(name: str, rank: int, entered: _Entered) -> _Side:
    """A number among the arrays, or the size of an axis."""
    if name not in entered.arrays:
        return entered.number(float(entered.sizes[name]), rank)
    side, shape = entered[name], (1,) * rank
    return _Side(entered.xp.reshape(side.value, shape), side.bound.reshape(*shape))


def _total(side: _Side, axes: list[tuple[int, str]], entered: _Entered) -> _Side:
    for axis, top in axes:
        if side.value.shape[axis] == entered.sizes[top]:
            side = side.sum(axis)
        else:  # the summand does not depend on the index
            side = side * entered.number(float(entered.sizes[top]), side.value.ndim)
    return side


def _entry(name: str, places: list[int], rank: int) -> Evaluation:
    """The array with its axes at the places of its indices; an index that is there twice takes the
    diagonal."""
    distinct = sorted(set(places))
    order = tuple(places.index(place) for place in distinct)

    def entry(entered: _Entered) -> _Side:
        side, xp = entered[name], entered.xp
        sizes = dict(zip(places, side.value.shape, strict=True))
        shape = tuple(sizes.get(place, 1) for place in range(rank))

        def moved(part: Array) -> Array:
            if len(distinct) == len(places):
                return xp.reshape(xp.permute_dims(part, order), shape)
            cells = (
                xp.reshape(xp.arange(sizes[p]), tuple(-1 if p == q else 1 for q in distinct))
                for p in places
            )
            return xp.reshape(part[tuple(cells)], shape)

        bound = Rounded(moved(side.bound.magnitude), moved(side.bound.error), _FLOAT64)
        return _Side(moved(side.value), bound)

    return entry


def _delta(a: int, b: int, size: str, rank: int) -> Evaluation:
    def delta(entered: _Entered) -> _Side:
        n, xp = entered.sizes[size], entered.xp
        shape = tuple(n if place in (a, b) else 1 for place in range(rank))
        value = xp.reshape(xp.eye(n, dtype=xp.float64), shape)
        return _Side(value, Rounded(value, xp.zeros_like(value), _FLOAT64, False))

    return delta


def _no_exponential(name: str, log_name: str, entered: _Entered) -> str | None:
    """How array = exp(logs) fails, with 2 for e as exact instances have it, or None."""
    power, log, xp = entered[name], entered[log_name], entered.xp
    fault = None
    for base in (math.log(2.0), 1.0):
        exact = xp.exp(log.value * base)
        # Rounding the base and the product moves the exponent, and exp is within 4 units.
        slip = (log.bound.error + 4 * abs(log.value) * _FLOAT64.store) * base
        carried = xp.expm1(xp.clip(slip, 0.0, 700.0)) + 8 * _FLOAT64.store
        wrong = _host(~(abs(power.value - exact) <= power.bound.error + exact * carried))
        if not wrong.any():
            return None
        place = _first(wrong)
        got, expected = float(power.value[place]), float(exact[place])
        fault = f"{name}{_at(place)} is {got!r}, not exp({log_name}) = {expected!r}"
    return fault


def _host(array: Array) -> np.ndarray:
    return np.asarray(array.cpu() if array_api_compat.is_torch_array(array) else array)


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def _at(place: tuple[int, ...]) -> str:
    return str([p + 1 for p in place]) if place else ""


def broken(hypothesis: Assumption, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays with one entry changed, so that `violation` names the hypothesis; copies.

    Entries are tried in the order of `names`: one more, a negative number, zero. Raises ValueError
    where the arrays lack the hypothesis before, or where no change of one entry breaks it.
    """
    if fault := violation(hypothesis, arrays):
        raise ValueError(f"arrays must have the hypothesis that is to be broken, got {fault}")
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda x: x + 1,
        lambda x: -1 - abs(x),
        lambda x: 0 * x,
    )
    for name in names(hypothesis):
        array = arrays[name]
        for place in product(*(range(size) for size in array.shape)):
            for change in changes:
                wrong = array.copy() if isinstance(array, np.ndarray) else array.detach().clone()
                wrong[place] = change(wrong[place])
                if violation(hypothesis, changed := {**arrays, name: wrong}):
                    return changed
    raise ValueError(f"no change of one entry breaks {hypothesis.id!r} of these arrays")


@st.composite
def arrays_of(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    given: Sequence[Assumption | Definition],
    sizes: Mapping[str, int] | None = None,
    dtype: Any = np.float64,
) -> dict[str, np.ndarray]:
    """Arrays that have the hypotheses among given, by their own constructions, rounded once.

    Hypothesis draws and shrinks one seed; `sizes` fixes some of the sizes and the seed the others.
    Definitions among given compute what the hypotheses do not choose. Errors as `instance`.
    """
    return instance(given, Random(draw(st.integers(0, 2**32 - 1))), sizes, dtype)


def instance(
    given: Iterable[Assumption | Definition],
    rng: Random,
    sizes: Mapping[str, int] | None = None,
    dtype: Any = np.float64,
) -> dict[str, np.ndarray]:
    """One draw of `arrays_of`; ValueError where TRIES exact draws had no instance."""
    given = list(given)
    for _ in range(TRIES):
        try:
            exact = Draw(SmallIntegers(rng), given, sizes)
            held = [item for item in exact.assumptions if not instances.broken(item, exact)]
            if len(held) < len(exact.assumptions) or exact.notes:
                continue
            shapes = {name: s for item in held for name, s in names(item).items()}
            return {name: _filled(exact, name, shape, dtype) for name, shape in shapes.items()}
        except Rejected:
            continue
    asked = ", ".join(item.id for item in given if isinstance(item, Assumption))
    raise ValueError(f"given must have an instance, got none in {TRIES} draws of: {asked}")


def _filled(exact: Draw, name: str, shape: tuple[str, ...], dtype: Any) -> np.ndarray:
    found = np.zeros([exact.size(size) for size in shape], dtype)
    for place in np.ndindex(found.shape):
        whole = not shape and name in exact.sizes
        value = exact.sizes[name] if whole else exact.get(name, tuple(p + 1 for p in place))
        found[place] = value if isinstance(value, int) else int(value.p) / int(value.q)
    return found
