"""What each notebook on theorems closes with: derivations, false twins, hypotheses, verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paper_checks import formulas
from paper_checks.papers import attention_geometry
from paper_checks.report import TheoremRecord
from reading import statements
from reading.statements import derivation, show
from reading.twins import SEEDS, false_twins
from theorems.statement import Theorem

Theorems = Mapping[str, Theorem]
Records = Mapping[str, TheoremRecord]

DECIDED = {
    "Step": "both sides, rewritten by what the step uses, are the same finite sum",
    "Bound": "the larger side is the smaller plus a visibly nonnegative term",
    "Vanishing": "a sum of nonnegative terms is 0 iff each of them is",
    "Iff": "difference on the left = positive factor × difference on the right",
    "Logarithm": "products of $e^{S_{ij}}$ are equal iff the sums of $S_{ij}$ are",
    "Induction": "the first case, and each case from the one before",
    "RankBound": "one matrix is the other times given factors",
    "Determinant": "a block matrix is a product of block triangular ones",
    "Witness": "explicit rational arrays satisfy all that is claimed, evaluated exactly",
    "Cited": "a result of the literature, with its source",
}


def derivations(theorems: Theorems) -> None:
    """Every derivation, each step checked on the spot; before them, what is decided of a step."""
    steps = [s for t in theorems.values() for clause in t.clauses for s in clause.steps]
    kinds = {type(step).__name__ for step in steps}
    show(
        "Each step below is an object with two sides, a reason and the list of what it uses. It is "
        "shown from that object, and the same object is handed to the checker on the spot. Sizes "
        "are symbols: a step that is *checked* holds for every size, not only for those that were "
        "tried."
    )
    statements.table(
        "kind of step | what the checker decides",
        (f"{formulas.KINDS[name]} | {DECIDED[name]}" for name in DECIDED if name in kinds),
    )
    for theorem in theorems.values():
        derivation(theorem)


def in_floating_point(records: Records) -> None:
    """The numeric property of each theorem."""
    show(
        "Each theorem also has a property that is tried on random inputs in two number formats: "
        "two ways to compute one quantity, whose difference must stay below a bound that follows "
        "from the operations and the data, entry by entry, while a planted error of eight bounds "
        "must be noticed."
    )
    statements.properties(records)


def twins(theorems: Theorems, records: Records, seeds: int = SEEDS) -> None:
    """The false twins of each theorem; `seeds` searches look for a small counterexample."""
    show(
        "A check that cannot fail shows nothing. Each theorem therefore carries near misses: a "
        "hypothesis dropped, an index swapped, a factor forgotten. For each, two things must "
        "happen: its derivation fails, and a search over small integers finds an exact instance "
        "that has all the hypotheses left and on which the claim is false. A dot is an entry on "
        "which nothing depends."
    )
    for identifier, theorem in theorems.items():
        false_twins(theorem, records[identifier], seeds)


def hypotheses(theorems: Theorems, records: Records) -> None:
    """Which clause needs which hypothesis."""
    show(
        "Every hypothesis is dropped against every clause that uses it, and a counterexample is "
        "searched. A hypothesis that no clause needs would fail the theorem."
    )
    for identifier, theorem in theorems.items():
        statements.needs(theorem, records[identifier])


def verdicts(records: Records, names: Sequence[str] = (), paper: Any = attention_geometry) -> None:
    """What the run found of each theorem, and the verdicts on the claims of these names."""
    show(
        "The claims are restated in our own words from the abstract of the paper, read into "
        "precise statements, and judged by the run above and by nothing else. A theorem counts "
        "only if all its checks passed."
    )
    statements.results(records)
    statements.claims(records, names, paper)
