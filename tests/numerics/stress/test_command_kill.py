"""A sweep killed inside a cell, and inside the line of one, continues: none repeated, none lost."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from numerics.stress import Case, Cell, command
from numerics.stress import __main__ as command_line

ROOT = Path(__file__).resolve().parents[3]
SIZES = [5, 6, 7, 8]
INSIDE_A_SIDE = """
from numerics.stress.theorems import gated_mixture
honest = gated_mixture.right_side
def right_side(layer, cell):
    if layer.keys == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return honest(layer, cell)
gated_mixture.right_side = right_side
"""
INSIDE_A_LINE = """
from pathlib import Path
honest = os.fsync
def fsync(number):
    path = Path(sys.argv[-1]) / "CW2.jsonl"
    whole = path.read_bytes()
    if whole.count(b"\\n") == 3:
        os.truncate(path, len(whole) - 40)
        os.kill(os.getpid(), signal.SIGKILL)
    honest(number)
os.fsync = fsync
"""
RUN = "import os, signal, sys\n{}\nfrom numerics.stress.__main__ import main\nmain(sys.argv[1:])"


def lines(out: Path) -> list[bytes]:
    return (out / "CW2.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.slow
@pytest.mark.parametrize("moment", [INSIDE_A_SIDE, INSIDE_A_LINE])
def test_a_sweep_killed_inside_a_cell_repeats_none_and_loses_none(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = ["CW2", "--n", *map(str, SIZES), "--d", "8", "--heads", "2", "--out", str(tmp_path)]
    killed = subprocess.run(
        [sys.executable, "-c", RUN.format(moment), *grid],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    before = lines(tmp_path)
    whole = [line for line in before if line.endswith(b"\n")]
    assert [json.loads(line)["n"] for line in whole] == [5, 6]
    assert len(before) == len(whole) + (moment == INSIDE_A_LINE)

    evaluated: list[int] = []
    honest = command.evaluate

    def counted(case: Case, cell: Cell, rate: bool) -> dict[str, Any]:
        evaluated.append(cell.n)
        return honest(case, cell, rate)

    monkeypatch.setattr(command, "evaluate", counted)
    assert command_line.main(grid) == 0
    assert evaluated == [7, 8]
    after = lines(tmp_path)
    assert after[:2] == whole
    assert [json.loads(line)["n"] for line in after] == SIZES
