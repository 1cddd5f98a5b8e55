"""The checker fuzzed, and bugs planted in it that the same fuzz must notice."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable

import pytest

from tests.theorems.planted import plant

Fuzz = Callable[..., Counter[str]]
CASES = 180
MODULES = tuple(
    importlib.import_module(f"theorems.checker.{name}") for name in ("sums", "derive", "world")
)

# What the bug is: the function, the sound text in it, the text with the bug.
PLANTED = {
    "differences lose negative coefficients": (
        "subtract", "if (c := left.get(k, Integer(0)) - right.get(k, Integer(0)))",
        "if (c := left.get(k, Integer(0)) - right.get(k, Integer(0))) > 0"),
    "differences read the left side only": (
        "subtract", "left | right", "left"),
    "repeated terms count once": (
        "normal_form", "form.get(key, Integer(0)) + term.coefficient", "term.coefficient"),
    "a delta between free indices is dropped": (
        "contract", "kept += [] if b in bound else [(DELTA, (a, b))]", "kept += []"),
    "a delta renames only the entries after it": (
        "contract", "_substitute(atoms, b, a), _substitute(kept, b, a)", "atoms, kept"),
    "a delta across ranges is contracted": (
        "contract", "if known is None or", "if known is None and"),
    "an unused bound index is not counted": ("contract", "atoms.append((size, ()))", "pass"),
    "bound indices are forgotten in the least naming": (
        "canonical", "(1, rank[i]) if i in rank", "(1, 0) if i in rank"),
    "the first naming is taken, not the least": ("canonical", "min(keys)", "keys[0]"),
    "no bound indices are taken as interchangeable": (
        "canonical", "return reader.ranges[b], sorted(uses)", "return reader.ranges[b], b"),
    "a rule sums an index that occurs outside": ("apply", "and not summed & outside", ""),
    "a rule sums a free index": ("apply", "and summed <= term.bound", ""),
    "a rule forgets the term's coefficient": ("apply", "factor * t.coefficient", "t.coefficient"),
    "a rule forgets its own coefficient": ("apply", "factor * t.coefficient", "factor"),
    "a rule drops the other factors": ("apply", "rest + t.atoms", "t.atoms"),
    "a rule leaves its summed index behind": (
        "apply", "term.bound - summed, term.coefficient", "term.bound, term.coefficient"),
    "pattern variables match inconsistently": (
        "_matches", "extended.setdefault(i, t) == t", "extended.setdefault(i, t) is not None"),
    "other arrays match too": (
        "_matches", "other == name and", "other in (name, chr(65)) and"),
    "a rule's bound indices are not made fresh": (
        "Reader.instantiate", "{old: next(self._fresh) for old", "{old: old for old"),
    "a rule's indices are not instantiated": (
        "Reader.instantiate", "{**images, **fresh}", "{**{i: i for i in images}, **fresh}"),
    "a power repeats one reading of its base": (
        "Reader.read", "[self.read(expr.base, scope) for _ in range(int(expr.exp))]",
        "[self.read(expr.base, scope)] * int(expr.exp)"),
    "a power is its base": ("Reader.read", "range(int(expr.exp))", "range(1)"),
    "an outer index shadows the inner one": (
        "Reader._sum", "inner[variable] = fresh = next(self._fresh)",
        "fresh = next(self._fresh); inner.setdefault(variable, fresh)"),
    "the outermost limit is read innermost": (
        "Reader._sum", "reversed(expr.limits)", "expr.limits"),
    "an index may have two ranges": ("Reader._entry", "!= size:", "is None:"),
    "products lose coefficients": (
        "_times", "prod((term.coefficient for term in choice), start=Integer(1))",
        "choice[0].coefficient"),
    "products lose bound indices": (
        "_times", "for term in choice for index in term.bound", "for index in choice[0].bound"),
    "different normal forms are accepted": (
        "_derive", "if difference := subtract(form(lhs), form(rhs)):",
        "if len(difference := subtract(form(lhs), form(rhs))) > 1:"),
}  # fmt: skip


@pytest.mark.slow
def test_random_sums_are_judged_as_their_values_say(fuzz: Fuzz) -> None:
    counts = fuzz(CASES)
    assert counts["Accepted"] >= 160, counts
    assert counts["Failed"] >= 120, counts
    assert counts["Uncounts"] <= 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_noticed(fuzz: Fuzz, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, sound, changed = PLANTED[bug]
    owner, _, name = function.rpartition(".")
    home = next(module for module in MODULES if hasattr(module, owner or name))
    plant(monkeypatch, getattr(home, owner) if owner else home, name, sound, changed, MODULES)
    with pytest.raises(AssertionError, match=r"^(unsound|incomplete|crash): "):
        fuzz(CASES)
