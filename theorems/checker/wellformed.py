"""What the objects of a derivation must be before it is worth checking: the lint of their form."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from sympy import Expr, Indexed, IndexedBase, Sum, Symbol

from theorems.checker.determinants import Blocks
from theorems.statement import Assumption, Definition, RankBound
from theorems.checker.sums import NormalForm, Reader, Refused, contract, is_size, normal_form


def is_general(entry: Expr) -> bool:
    """Whether an entry stands for the whole of its array, or is an unknown number."""
    if isinstance(entry, Indexed):
        indices = {*entry.indices}
        return len(indices) == len(entry.indices) and not indices & {*entry.base.shape}
    return isinstance(entry, Symbol) and entry.is_positive is None


def given_fault(given: Iterable[Assumption | Definition]) -> str | None:
    """Why assumptions and definitions are none: two of one name, a definition that is not of an
    entry, or definitions that rest on themselves."""
    assumed: dict[str, tuple] = {}
    defined: dict[str, Definition] = {}
    for item in given:
        if isinstance(item, Assumption):
            content = (item.rules, item.signs)
            if item.impose and not any(content):
                return f"{item.id} constructs what it does not state"
            if assumed.setdefault(item.id, content) != content:
                return f"two assumptions are called {item.id}"
        elif not is_general(item.entry):
            return f"{item.entry} does not define {item.id} throughout"
        elif defined.setdefault(item.id, item) != item:
            return f"{item.id} has two definitions"
    waiting = dict(defined)
    while ready := [name for name, item in waiting.items() if not _mentions(item) & {*waiting}]:
        waiting = {name: item for name, item in waiting.items() if name not in ready}
    return f"{', '.join(sorted(waiting))} rest on their own definition" if waiting else None


def name_fault(items: Iterable[Any]) -> str | None:
    """Which name stands for two arrays, or for an array and a number."""
    shapes: dict[str, tuple] = {}
    for name, shape in (pair for item in items for pair in _named(item)):
        if shapes.setdefault(name, shape) != shape:
            return f"two objects are called {name}"
    return None


def _named(item: Any) -> Iterator[tuple[str, tuple]]:
    for value in vars(item).values():
        yield from _bases(value)
    if isinstance(item, Definition) and isinstance(item.entry, Symbol):
        yield item.id, ()


def _bases(value: Any) -> Iterator[tuple[str, tuple]]:
    if isinstance(value, IndexedBase):
        yield str(value.label), tuple(value.shape)
    elif isinstance(value, Expr):
        yield from ((str(base.label), tuple(base.shape)) for base in value.atoms(IndexedBase))
    elif isinstance(value, tuple):
        for part in value:
            yield from _bases(part)


def _mentions(definition: Definition) -> set[str]:
    sides = (definition.value, definition.over)
    return {str(symbol) for side in sides for symbol in side.free_symbols}


def axes(axis: tuple) -> tuple[tuple[Symbol, Expr], ...]:
    """The indices with their sizes that make one axis of a matrix."""
    return axis if isinstance(axis[0], tuple) else (axis,)


def rank_fault(rule: RankBound, ranges: dict[Symbol, str]) -> str | None:
    """Why the matrices of a rank bound do not multiply, or are no matrices."""
    factors = [m for m in (rule.before, rule.large, rule.after) if m is not None]
    sides = [rule.small[1], *(axis for _, *pair in factors for axis in pair), rule.small[2]]
    if any(axes(left) != axes(right) for left, right in zip(sides[::2], sides[1::2], strict=True)):
        return f"the shapes along {[str(i) for axis in sides for i, _ in axes(axis)]} do not fit"
    indices = {*ranges, *(index for axis in sides for index, _ in axes(axis))}
    for entry, row, column in (rule.small, *factors):
        own = [index for index, _ in (*axes(row), *axes(column))]
        if len({*own}) != len(own) or not entry.free_symbols & indices <= {*own}:
            return f"{entry} is not the entry ({', '.join(map(str, own))}) of one matrix"
    shared = [rule.small[1], *(m[k] for m, k in ((rule.before, 2), (rule.after, 1)) if m),
              rule.small[2]]
    names = [index for axis in shared for index, _ in axes(axis)]
    if len({*names}) != len(names):
        return f"the axes {[str(index) for index in names]} share an index"
    for index, size in (*axes(rule.small[1]), *axes(rule.small[2])):
        if ranges.get(index) != str(size):
            return f"index {index} has range {ranges.get(index)}, not {size}"
    return None


def block_fault(matrix: Blocks, factors: tuple[Blocks, ...], value: Expr) -> str | None:
    """Why a matrix and the factors of a product are no block matrices, or do not multiply, or
    which name stands for two things in them or in the value."""
    axes_ = [matrix.rows, *(factor.columns for factor in factors)]
    if [factor.rows for factor in factors] != axes_[:-1] or axes_[-1] != matrix.columns:
        return "the blocks of the factors do not fit"
    sizes = [[size for _, size in axis] for axis in axes_]
    if sizes != len(sizes) * sizes[:1] or not sizes[0] or not all(map(is_size, sizes[0])):
        return "the blocks have not the same positive sizes along rows and columns"
    indices = [index for axis in axes_ for index, _ in axis]
    if len({str(name) for name in (*indices, *sizes[0])}) < len(indices) + len({*sizes[0]}):
        return "an index stands for two blocks, or for a size"
    entries = [entry for one in (matrix, *factors) for row in one.entries for entry in row]
    symbols = {*indices, *(s for part in (value, *sizes[0], *entries) for s in part.atoms(Symbol))}
    if twice := [n for n, times in Counter(s.name for s in symbols).items() if times > 1]:
        return f"two objects are called {min(twice)}"
    faults = (_block_faults(one, {*indices}) for one in (matrix, *factors))
    return next((fault for found in faults for fault in found), None)


def _block_faults(matrix: Blocks, indices: set[Symbol]) -> Iterator[str]:
    if [len(row) for row in matrix.entries] != len(matrix.rows) * [len(matrix.columns)]:
        yield "the entries are no square array of blocks"
        return
    for (i, height), row in zip(matrix.rows, matrix.entries, strict=True):
        for (j, width), entry in zip(matrix.columns, row, strict=True):
            reader = Reader()
            reader.ranges |= {i.name: str(height), j.name: str(width)}
            try:
                for term in reader.read(entry):
                    contract(term, reader)
            except Refused as error:
                yield str(error)
            if not entry.free_symbols & indices == {*reader.free.values()} <= {i, j}:
                yield f"{entry} is not the entry ({i}, {j}) of one block"


def is_own_part(matrix: Blocks, parts: tuple[Blocks, ...]) -> bool:
    """Whether a matrix of one block is among the parts, whatever its indices are called."""
    return len(matrix.rows) == 1 and _bilinear(matrix) in map(_bilinear, parts)


def _bilinear(matrix: Blocks) -> NormalForm:
    ((i, height),), ((j, width),), ((entry,),) = matrix
    left, right = (IndexedBase(name, shape=(size,)) for name, size in (("<", height), (">", width)))
    return normal_form(Sum(left[i] * entry * right[j], (i, 1, height), (j, 1, width)))


def cells(entries: Any, cell: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The entries of nested lists with their 1-based indices."""
    if not isinstance(entries, list):
        yield cell, entries
        return
    for position, inner in enumerate(entries, start=1):
        yield from cells(inner, (*cell, position))


def witness_sizes(values: Mapping[IndexedBase, Any]) -> tuple[dict[str, int], str | None]:
    """The sizes of the dimensions that arrays show, and which array does not have its shape."""
    sizes: dict[str, int] = {}
    for array, entries in values.items():
        for cell, _ in cells(entries):
            for size, k in zip(array.shape, cell, strict=True):
                sizes[str(size)] = max(k, sizes.get(str(size), 0))
    for array, entries in values.items():
        shape = [sizes[str(s)] if isinstance(s, Symbol) else int(s) for s in array.shape]
        if [cell for cell, _ in cells(entries)] != [*product(*(range(1, k + 1) for k in shape))]:
            return sizes, f"{array} does not have the shape {array.shape}"
    return sizes, None
