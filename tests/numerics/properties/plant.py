"""A falsehood planted in what a property compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings

SEARCH = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@dataclass(frozen=True)
class Plant:
    """`attribute` of `owner`, if not of the property's module, replaced by `wrong`.

    The failure must blame one of `clauses` and match the pattern `says`. `wrong` is called as the
    sound function is, with the sound function itself before the other arguments.
    """

    clauses: str
    attribute: str
    wrong: Callable[..., Any]
    owner: Any = None
    says: str = "residual / bound = "
    examples: int | None = None
    also: tuple[Plant, ...] = ()

    def put(self, monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
        """Plant it until the test ends."""
        owner = module if self.owner is None else self.owner
        sound = getattr(owner, self.attribute, None)

        def planted(*given: Any, **named: Any) -> Any:
            return self.wrong(sound, *given, **named)

        # Not raising, for a built-in function that the module does not define itself.
        monkeypatch.setattr(owner, self.attribute, planted, raising=False)
        for plant in self.also:
            plant.put(monkeypatch, module)
