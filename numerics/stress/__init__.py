"""Theorems on a torch device at sizes that do not fit naively, against rigorous rounding bounds."""

from numerics.stress.cases import cases, run_cell
from numerics.stress.cell import Case, Cell
from numerics.stress.command import add_arguments, run

__all__ = ["Case", "Cell", "add_arguments", "cases", "run", "run_cell"]
