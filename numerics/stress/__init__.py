"""Theorems on a torch device at sizes that do not fit naively, against rigorous rounding bounds."""

from numerics.stress.cases import Case, cases
from numerics.stress.cell import run_cell
from numerics.stress.command import add_arguments, run

__all__ = ["Case", "add_arguments", "cases", "run", "run_cell"]
