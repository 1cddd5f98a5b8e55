"""Refused inputs, generated from what a function takes: every argument, spoiled in every way.

A `Call` states the arguments in the order in which the function reads them. Axes of one symbol
are of one size, in every array; entries are what the docstring asks of them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Row = tuple[Callable[[], Any], type[BaseException], str]
"""A call, the error that it must raise, and a pattern of the message."""
Fault = tuple[Any, type[Exception], str]
"""A value that is refused, the error, and the pattern that follows the argument's name."""

NAN, INF = float("nan"), float("inf")
ENTRIES: dict[str, tuple[float, ...]] = {
    "any": (),
    "finite or -inf": (NAN, INF),
    "finite": (NAN, INF, -INF),
    "nonnegative": (NAN, INF, -INF, -1.0),
    "positive": (NAN, INF, -INF, 0.0, -1.0),
    "at most 0": (NAN, INF, -INF, 1.0),
}
"""What is asked of entries, and the numbers that break it."""


def _symbols(form: str, sizes: dict[str, int]) -> list[str]:
    """Symbols of the named axes; sizes that the form gives, as n=3 or as a plain 3, are bound."""
    parts = [part.split("=") for part in form.removeprefix("~").split() if part != "..."]
    sizes |= {name[0]: int(name[-1]) for name in parts if name[-1].isdigit()}
    return [name[0] for name in parts]


def _shapes(array: np.ndarray, axes: str, sizes: dict[str, int]) -> Iterator[Fault]:
    """Arrays of a wrong number of axes, or of an axis that is empty or not of its symbol's size."""
    forms = axes.split(" | ")
    written = [", ".join(_symbols(form, sizes)) for form in forms]
    symbols, batch = _symbols(forms[0], sizes), "..." in axes
    lead = array.ndim - len(symbols)
    stated = r"\((\S+, )*" if batch else r"\("
    stated = rf"must have shape {stated}({'|'.join(written)})\)"
    counts = {len(_symbols(form, sizes)) for form in forms}
    wrong = [(np.take(array, [], lead), "")]
    if len(symbols) - 1 not in counts:
        wrong.append((array[(0,) * (lead + 1) + (...,)], ""))
    if len(symbols) + 1 not in counts and not batch:
        wrong.append((array[None], ""))
    for k, symbol in enumerate(symbols):
        if symbol not in sizes and symbols.count(symbol) == 1:
            continue
        known = rf".*\b{symbol} = {sizes[symbol]}\b" if symbol in sizes else ""
        axis = lead + k
        wrong.append((np.repeat(array, 2, axis), known))
        if array.shape[axis] > 1:  # an axis of 1 would broadcast
            wrong.append((np.take(array, [0], axis), known))
    for value, known in wrong:
        says = "must have " if axes.startswith("~") else f"{stated}{known}"
        yield value, ValueError, f"{says}.*, got {re.escape(str(value.shape))}"


@dataclass(frozen=True)
class Floats:
    """A real floating array; beside names an array of its kind and dtype that is not in the call.

    axes as "n d", "n=3 d" with a size that is not in the call, "... n m" with any batch, "d d |
    n d d" for either form; "~n d" where the message states the shape in other words, and "" where
    faults of shape have rows of their own.
    """

    value: np.ndarray
    axes: str = ""
    entries: str = "finite"
    beside: str = ""
    float64: bool = False

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Of a wrong kind, dtype, shape, or with one entry that is refused."""
        array, first = self.value, self.beside or first
        yield array.tolist(), TypeError, "must be a NumPy array or a torch tensor, got list"
        for dtype in ("int64", "complex128"):
            yield array.astype(dtype), TypeError, rf"must be real floating \(.*\), got {dtype}"
        single, tensor = array.astype("float32"), torch.tensor(array)
        if first:
            yield single, TypeError, f"must have the dtype of {first}, float64, got float32"
            yield tensor, TypeError, f"must be of the kind of {first}, ndarray, got Tensor"
        elif self.float64 and alone:
            yield single, TypeError, "must be a float64 NumPy array, got ndarray, float32"
            yield tensor, TypeError, "must be a float64 NumPy array, got Tensor, torch.float64"
        if self.axes:
            yield from _shapes(array, self.axes, sizes)
        place = tuple(size - 1 for size in array.shape)
        for entry in ENTRIES[self.entries]:
            bad = array.copy()
            bad[place] = entry
            must = self.entries if np.isfinite(entry) or "-inf" in self.entries else "finite"
            yield bad, ValueError, f"must be {must}.*, got {entry} at {re.escape(str(place))}"


@dataclass(frozen=True)
class Mask:
    """A boolean array, of the kind of the arrays before it."""

    value: np.ndarray
    axes: str = "~n m"

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Of a wrong kind, dtype or shape."""
        yield self.value.tolist(), TypeError, "must be a boolean ndarray, got list"
        yield torch.tensor(self.value), TypeError, "must be a boolean ndarray, got Tensor"
        for dtype in ("int64", "float64"):
            yield self.value.astype(dtype), TypeError, f"must be boolean .*, got {dtype}"
        yield from _shapes(self.value, self.axes, sizes)


@dataclass(frozen=True)
class Real:
    """A real number; out maps what is out of its range to what the message asks for."""

    value: float
    must: str = "finite"
    out: tuple[tuple[float, str], ...] = ()

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Of a wrong type, not finite, or out of range."""
        for value in ("1", 1j, True):
            kind = type(value).__name__
            yield value, TypeError, f"must be a real number, got {kind}"
        for value in (NAN, INF, -INF):
            yield value, ValueError, f"must be {self.must}, got {value}"
        for value, must in self.out:
            yield value, ValueError, f"must {must}.*, got {re.escape(str(value))}"


@dataclass(frozen=True)
class Integer:
    """An integer between bounds."""

    value: int
    least: int
    most: int | None = None
    kind: str = "an integer"

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Of a wrong type, or beyond a bound."""
        for value in (float(self.value), str(self.value), True):
            yield value, TypeError, f"must be {self.kind}, got {type(value).__name__}"
        yield self.least - 1, ValueError, f"must be at least {self.least}, got {self.least - 1}"
        if self.most is not None:
            yield self.most + 1, ValueError, f"must be at most {self.most}, got {self.most + 1}"


@dataclass(frozen=True)
class Choice:
    """A word of some."""

    value: str
    words: str

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Another word, none, a word in capitals."""
        for value in ("", None, self.value.upper()):
            yield value, ValueError, f"must be one of {self.words}, got {value!r}"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    value: bool

    def faults(self, first: str, sizes: dict[str, int], alone: bool) -> Iterator[Fault]:
        """Numbers that count as one."""
        yield int(self.value), TypeError, "must be a bool, got int"
        yield None, TypeError, "must be a bool, got NoneType"


Argument = Floats | Mask | Real | Integer | Choice | Flag


class Call:
    """A function with sound arguments, each stated or, as any other object, taken as it is."""

    def __init__(self, function: Callable[..., Any], /, **arguments: Any) -> None:
        self.function, self.arguments = function, arguments
        self.values: dict[str, Any] = {
            name: argument.value if isinstance(argument, Argument) else argument
            for name, argument in arguments.items()
        }

    def sound(self) -> Any:
        """What the function returns where no argument is spoiled."""
        return self.function(**self.values)

    def rows(self) -> Iterator[Row]:
        """The call with one argument spoiled, for every argument and fault."""
        first, sizes = "", {}
        alone = sum(isinstance(argument, Floats) for argument in self.arguments.values()) == 1
        for name, argument in self.arguments.items():
            if not isinstance(argument, Argument):
                continue
            for value, error, says in argument.faults(first, sizes, alone):
                yield self._with(self.values | {name: value}), error, f"^{name} {says}"
            if isinstance(argument, (Floats, Mask)) and first in self.arguments:
                yield self._elsewhere(name), ValueError, f"^{name} must be on (the )?device .*meta"
            if isinstance(argument, Floats):
                first = argument.beside or first or name
                symbols = _symbols(argument.axes.split(" | ")[0], sizes)
                shape = argument.value.shape[argument.value.ndim - len(symbols) :]
                sizes |= dict(zip(symbols, shape, strict=True))

    def _with(self, values: dict[str, Any]) -> Callable[[], Any]:
        return lambda: self.function(**values)

    def _elsewhere(self, name: str) -> Callable[[], Any]:
        """The call on tensors, the one of that name on a device without entries."""
        values: dict[str, Any] = {
            key: torch.tensor(value) if isinstance(value, np.ndarray) else value
            for key, value in self.values.items()
        }
        return self._with(values | {name: values[name].to("meta")})


Refused = dict[str, Sequence[Call | Row]]
"""Names as module.name, with what they refuse."""


def listed(*stated: Call | Row) -> list[Row]:
    """All rows, those of calls written out."""
    return [row for item in stated for row in (item.rows() if isinstance(item, Call) else (item,))]
