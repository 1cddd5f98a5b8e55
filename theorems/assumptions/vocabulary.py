"""The one vocabulary of hypotheses: what a factory makes is an instance of the entry of its name.

A hypothesis that one theorem alone has is a `Local` of its own module; every other is an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import getdoc
from typing import Any, Generic, ParamSpec

from theorems.statement import Assumption

P = ParamSpec("P")


class Hypothesis(Generic[P]):
    """An entry of the vocabulary; called on arrays, it gives what is assumed of them.

    `name` is that of its factory, `sentence` the first paragraph of the factory's docstring,
    `module` where the factory stands, and `arguments` are symbolic arrays to show it with.
    """

    def __init__(self, make: Callable[P, Assumption], arguments: tuple[Any, ...]) -> None:
        self.make: Callable[..., Assumption] = make
        self.arguments = arguments
        self.name, self.module, self.__doc__ = make.__name__, make.__module__, getdoc(make)
        self.sentence = " ".join((self.__doc__ or "").partition("\n\n")[0].split())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Assumption:
        return replace(self.make(*args, **kwargs), hypothesis=self.name)

    def __repr__(self) -> str:
        return f"Hypothesis({self.module}.{self.name})"

    def example(self) -> Assumption:
        """What it assumes of the arrays it is shown with."""
        return replace(self.make(*self.arguments), hypothesis=self.name)


VOCABULARY: dict[str, Hypothesis] = {}


def hypothesis(*arguments: Any) -> Callable[[Callable[P, Assumption]], Hypothesis[P]]:
    """Enter a factory into the vocabulary, with symbolic arguments to show it with.

    Raises: ValueError for a name that the vocabulary has, or a factory without a docstring.
    """

    def enter(make: Callable[P, Assumption]) -> Hypothesis[P]:
        entry = Hypothesis(make, arguments)
        if not entry.sentence:
            raise ValueError(f"hypothesis {entry.name}: a docstring is expected, there is none")
        if entry.name in VOCABULARY:
            raise ValueError(f"hypothesis {entry.name} of {entry.module}: a new name is expected, "
                             f"{VOCABULARY[entry.name].module} has it")
        VOCABULARY[entry.name] = entry
        return entry

    return enter
