"""No planted fault is lost: what is planted today, against the counts in plants.json.

Planted are falsehoods of properties, false twins (mutants) of theorems, bugs in copies of the
suite, refused inputs by public name, and elsewhere, by folder, whatever a test's name says that it
rejects. Counted are the cases that pytest collects, and the refused calls that tables give rise to,
not their text. More are welcome: `python -m tests.test_plants` makes the counts of today the least
from then on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.numerics.refusals.faults import listed
from tests.numerics.refusals.test_refusals import BAD

ROOT = Path(__file__).resolve().parents[1]
LEAST = Path(__file__).with_name("plants.json")
SHARED = r"tests/numerics/properties/test_properties\.py::"
KINDS = {
    "falsehoods": rf"{SHARED}test_a_falsehood_is_rejected\[(\w+)-",
    "corners": rf"{SHARED}test_a_corner_(?:is_drawn_and_)?holds\[(\w+)-",
    "mutants": r"tests/test_theorems\.py::test_mutant\[(\w+?)-",
    "bugs": r"tests/(test_planted_bugs)\.py::test_the_planted_bug_is_caught_and_named\[",
    "elsewhere": (
        r"(tests/(?!numerics/refusals/)(?:\w+/)*)\w+\.py::"
        r"\w*(?:fault|plant|refus|refut|reject|caught|wrong|fals)"
    ),
}
"""How the cases of a kind are called, with its owner as group; the first kind that fits counts."""
Counts = dict[str, dict[str, int]]


@cache
def collected() -> tuple[str, ...]:
    """The ids of all tests."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return tuple(line for line in done.stdout.splitlines() if line.startswith("tests/"))


@cache
def kind_of(name: str) -> tuple[str, str] | None:
    """The kind of plant that a test's case is, and whose."""
    for kind, pattern in KINDS.items():
        if found := re.match(pattern, name):
            return kind, found[1].rstrip("/")
    return None


def refusals() -> dict[str, int]:
    """Refused calls of each public name: one test makes all those of a name."""
    return {key: len(listed(*rows.BAD[key])) for rows, key in BAD}


def counts(names: Iterable[str]) -> Counts:
    """Plants by kind and owner."""
    found = Counter(plant for name in names if (plant := kind_of(name)) is not None)
    owned = sorted((kind, owner, count) for (kind, owner), count in found.items())
    return {kind: {owner: count for k, owner, count in owned if k == kind} for kind in KINDS}


def lost(now: Counts, least: Counts) -> list[str]:
    """Where there are fewer plants than there must be."""
    return [
        f"{kind} of {owner}: {now.get(kind, {}).get(owner, 0)}, at least {count} needed"
        for kind, owners in least.items()
        for owner, count in owners.items()
        if now.get(kind, {}).get(owner, 0) < count
    ]


def least() -> Counts:
    """The counts below which a plant is lost."""
    return json.loads(LEAST.read_text(encoding="utf-8"))


def planted() -> list[str]:
    """The ids of all tests that are plants."""
    return [name for name in collected() if kind_of(name)]


@pytest.mark.slow
def test_no_plant_is_lost() -> None:
    assert not lost(counts(planted()) | {"refusals": refusals()}, least())


@pytest.mark.slow
def test_each_lost_plant_would_be_seen() -> None:
    names = planted()
    for kind in KINDS:
        for owner, count in least()[kind].items():
            own = [name for name in names if kind_of(name) == (kind, owner)]
            fewer = set(own[count - 1 :])
            (line,) = lost(counts(n for n in own if n not in fewer), {kind: {owner: count}})
            assert line == f"{kind} of {owner}: {count - 1}, at least {count} needed"
    there = refusals()
    for owner, count in least()["refusals"].items():
        (line,) = lost({"refusals": there | {owner: count - 1}}, {"refusals": least()["refusals"]})
        assert line == f"refusals of {owner}: {count - 1}, at least {count} needed"


if __name__ == "__main__":
    today = counts(planted()) | {"refusals": refusals()}
    LEAST.write_text(json.dumps(today, indent=1) + "\n", encoding="utf-8")
