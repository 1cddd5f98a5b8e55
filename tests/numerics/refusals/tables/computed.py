"""Refused inputs of computed tables."""

from typing import Any

from numerics.evidence.tables import Table
from numerics.scores.tables import rank_tables
from tests.numerics.refusals.faults import Refused


def table(**parts: Any) -> Table:
    sound = {"title": "t", "clauses": ("c",), "head": ("a", "b"), "rows": (("x", (1, 1)),)}
    return Table(**(sound | parts))


BAD: Refused = {
    "evidence.tables.Table": [
        (lambda: table(title=1), TypeError, "^title must be text, got int"),
        (lambda: table(note=None), TypeError, "^note must be text, got NoneType"),
        (lambda: table(clauses="c"), TypeError, "^clauses must be a tuple, got str"),
        (lambda: table(clauses=()), ValueError, "^clauses must not be empty"),
        (lambda: table(clauses=(1,)), TypeError, "^clauses must be text, got int"),
        (lambda: table(head=["a", "b"]), TypeError, "^head must be a tuple, got list"),
        (lambda: table(head=("a", 2)), TypeError, "^head must be text, got int"),
        (lambda: table(rows=()), ValueError, "^rows must not be empty"),
        (lambda: table(rows=(["x", (1, 1)],)), TypeError, "^rows must be tuples, got list"),
        (lambda: table(rows=((("x"), (1, 1), "y"),)), ValueError, "^rows must have 2 cells"),
        (lambda: table(rows=(("x", 1),)), TypeError, "^rows must be text, got int"),
        (lambda: table(rows=(("x", (1, 1, 1)),)), TypeError, r"two ints or.*1, 1, 1"),
        (lambda: table(rows=(("x", (1, 1.0)),)), TypeError, r"^rows must pair two.*\(1, 1.0\)"),
        (lambda: table(rows=(("x", (1, True)),)), TypeError, "^rows must pair two.*True"),
        (lambda: table(rows=(("x", (1, "1")),)), TypeError, r"^rows must pair two.*\(1, '1'\)"),
        (lambda: table(rows=(("x", "y"),)), ValueError, r"^rows must hold a pair \(computed, sta"),
    ],
    "scores.tables.rank_tables": [
        (lambda: rank_tables(()), ValueError, "^dims must not be empty"),
        (lambda: rank_tables((0,)), ValueError, "^dims must be at least 1, got 0"),
        (lambda: rank_tables((2.0,)), TypeError, "^dims must be an integer, got float"),  # type: ignore
    ],
}  # fmt: skip
PLAIN = {"scores.tables.Stated", "scores.tables.overhead_tables"}  # a record, and no arguments
