"""Digests of what is stated: a report and the code it is read with speak of one statement or not.

A digest is taken of the objects themselves: their texts, ids and formulas, whatever the process,
its hash seed and the order of imports. The functions that fill exact instances (`impose`) are left
out: they change what is tried, not what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from flint import fmpq, fmpz
from sympy import Add, Basic, Mul, Symbol, srepr

from theorems.rules import LABELS, Induction
from theorems.statement import Assumption

STATED = ("id", "text", "rules", "signs")  # of an assumption
SHOWN = 12  # digits of a digest in a message


def digest(value: Any) -> str:
    """SHA-256 in hexadecimal of a theorem, a claim with its evidence, or a part of one.

    Equal values have equal digests. Raises: TypeError for what has no canonical form.
    """
    return sha256(_form(value, {}).encode("utf-8")).hexdigest()


def _form(value: Any, known: dict[int, str]) -> str:
    if value is None or isinstance(value, bool | int | str | fmpq | fmpz):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, Basic):
        return _expression(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(_form(part, known) for part in value)})"
    if isinstance(value, Mapping):
        return f"map {_form(tuple(value.items()), known)}"
    if not is_dataclass(value):
        raise TypeError(f"expected what is stated, got {type(value).__name__} {value!r}")
    if id(value) not in known:  # a lemma stands under many steps
        names = STATED if isinstance(value, Assumption) else [f.name for f in fields(value)]
        parts = {name: getattr(value, name) for name in names}
        if isinstance(value, Induction):
            parts["claim"] = [_at(value.claim, label) for label in LABELS]
        kind = "Assumption" if isinstance(value, Assumption) else type(value).__name__
        text = f"{kind} {_form(parts, known)}"
        known[id(value)] = sha256(text.encode("utf-8")).hexdigest()
    return known[id(value)]


def _at(claim: Callable[[str], Any], label: str) -> Any:
    """The claim of an induction at a level, None where it is not stated there."""
    try:
        return claim(label)
    except KeyError:
        return None


@cache
def _expression(expr: Basic) -> str:
    """A text that equal expressions share: SymPy orders sums and products by what it met before."""
    if isinstance(expr, Symbol):
        return f"{type(expr).__name__}({expr.name!r}, {sorted(expr.assumptions0.items())})"
    if not expr.args:
        return srepr(expr)
    parts = [_expression(part) for part in expr.args]
    ordered = sorted(parts) if isinstance(expr, Add | Mul) else parts
    return f"{type(expr).__name__}({', '.join(ordered)})"
