"""Both sides of a cell are what its formula says, and a fault in one of them is rejected.

test_<name>.py beside this file holds what is particular to a theorem. Of it the tests here read

    FAULTS    a list of Faults
    FORMULAS  sides to draw, dtypes, and cell -> a side in float64 by the formula, of the inputs
"""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from numerics import stress
from tests.numerics.properties.plant import Plant
from tests.numerics.stress.theorems.sides import Faults, Sides, Spoil

TABLES: list[Any] = [
    import_module(f"tests.numerics.stress.theorems.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    if path != Path(__file__)
]
ALL: list[Faults] = [faults for table in TABLES for faults in getattr(table, "FAULTS", ())]
CASES = [
    pytest.param(faults, *case, id="-".join((faults.draw.args[0], *case)))
    for faults in ALL
    for case in faults.cases()
]
FORMULAS = [
    pytest.param(
        draw, cell, formula, dtype, id=f"{draw.args[0]}-{cell}-{draw.keywords['n']}-{dtype}"
    )
    for table in TABLES
    for draw, dtypes, formulas in getattr(table, "FORMULAS", ())
    for cell, formula in formulas.items()
    for dtype in dtypes
]


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "cell", "name", "dtype"), CASES)
def test_a_fault_in_one_side_is_rejected(
    faults: Faults, cell: str, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides, fault = faults.draw(cell, dtype=dtype), faults.of[name]
    sound = sides.judged()
    assert all(item.ok for item in sound.values())
    blames = faults.blames or next(iter(sound))
    if isinstance(fault, Plant):
        fault.put(monkeypatch, sides.module)
        found, blames = [sides.judged()], fault.clauses
    else:
        found = [faults.judged(sides, side, fault) for side in faults.sides.split()]
    blamed = set() if (cell, name) in faults.holds else set(blames.split(", "))
    assert blamed <= sound.keys()
    for comparisons in found:
        wrong = {key for key, item in comparisons.items() if not item.ok}
        assert blamed <= wrong, comparisons
        assert all(comparisons[key].finite for key in blamed)
        assert not (faults.alone or not blamed) or wrong == blamed, comparisons


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "cell", "formula", "dtype"), FORMULAS)
def test_either_side_is_what_the_formula_says(
    draw: partial[Sides], cell: str, formula: Spoil, dtype: str
) -> None:
    sides = draw(cell, dtype=dtype)
    true = formula(sides.inputs)
    assert sides.equal(sides.left(), true)
    assert sides.equal(true, sides.right())


def test_every_theorem_with_inputs_of_its_own_has_faults() -> None:
    """Chunked recurrences and frames draw what both sides share."""
    assert {faults.draw.args[0] for faults in ALL} == set(stress.cases()) - {"RA2", "RA10", "AP5"}
