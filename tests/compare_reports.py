"""Whether two report.json say the same: `python tests/compare_reports.py OLD NEW`.

Prints "equal", or each path at which they differ, and exits with 0 or 1. Not compared are times,
the commit, versions, and what reports of other versions of the suite do not hold; they are listed
in IGNORED. `--common` compares the theorems that stand in both and nothing else, `--no-formal`
leaves out what only a prover says.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TIMES = (
    "suite.started", "suite.seconds", "theorems[].seconds", "theorems[].stress[].seconds",
    "theorems[].warnings",  # they say that a theorem was slow
    "theorems[].stress[].peak_memory_bytes",  # of a process, like its times
)  # fmt: skip
VERSIONS = (
    "suite.version", "suite.commit", "suite.modified", "suite.python", "suite.packages",
    "theorems[].stress[].version",
)  # fmt: skip
ADDED = ("suite.trusted_lines", "theorems[].digest", "claims[].digest")
IGNORED = (*TIMES, *VERSIONS, *ADDED)
FORMAL = (
    "suite.kernel", "theorems[].kernel", "theorems[].level", "theorems[].clauses[].level",
    "theorems[].formal",
)  # fmt: skip
NAMES = ("id", "name", "title")  # what an entry of a list is called by


def named(entries: Sequence[Any]) -> dict[str, Any]:
    """The entries of a list by name where each has one of its own, by position otherwise."""
    for key in NAMES:
        names = [entry.get(key) for entry in entries if isinstance(entry, dict)]
        if None not in names and len({*names}) == len(entries):
            return dict(zip(map(str, names), entries, strict=True))
    return {str(position): entry for position, entry in enumerate(entries)}


def differences(old: Any, new: Any, ignored: Sequence[str], path: str = "") -> Iterator[str]:
    """Each path at which two JSON values differ, with both values.

    An ignored path is written without what stands between its brackets, such as
    "theorems[].seconds", and stands for all that lies below it.
    """
    if re.sub(r"\[[^]]*\]", "[]", path) in ignored:
        return
    if isinstance(old, list) and isinstance(new, list):
        before, after = named(old), named(new)
        if before.keys() == after.keys() and [*before] != [*after]:
            yield f"{path}: another order"
        form = "{path}[{key}]"
    elif isinstance(old, dict) and isinstance(new, dict):
        before, after, form = old, new, "{path}.{key}" if path else "{key}"
    else:
        if type(old) is not type(new) or old != new:  # 1, 1.0 and true are three values
            yield f"{path}: {_shown(old)} against {_shown(new)}"
        return
    for key in dict.fromkeys([*before, *after]):
        # A bracket in a name would end the brackets of the path.
        inner = form.format(path=path, key=key.replace("[", "(").replace("]", ")"))
        if key in before and key in after:
            yield from differences(before[key], after[key], ignored, inner)
        elif re.sub(r"\[[^]]*\]", "[]", inner) not in ignored:
            yield f"{inner}: only in the {'old' if key in before else 'new'}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def common(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of two reports the theorems that both hold.

    Raises: ValueError when there are none.
    """
    ids = {t["id"] for t in old["theorems"]} & {t["id"] for t in new["theorems"]}
    if not ids:
        raise ValueError("expected reports with a theorem in common, found none")
    first, second = ({"theorems": [t for t in report["theorems"] if t["id"] in ids]}
                     for report in (old, new))  # fmt: skip
    return first, second


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two files; 0 where they say the same, 1 where they do not."""
    parser = argparse.ArgumentParser(description="Compare two reports.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--common", action="store_true", help="only theorems that both hold")
    parser.add_argument("--no-formal", action="store_true", help="not what only a prover says")
    parsed = parser.parse_args(arguments)
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (parsed.old, parsed.new))
    if parsed.common:
        old, new = common(old, new)
    ignored = (*IGNORED, *FORMAL) if parsed.no_formal else IGNORED
    found = list(differences(old, new, ignored))
    print("\n".join(found) or "equal")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
