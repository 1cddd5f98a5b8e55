"""Cells shared by two and three real processes: the result of one, and what follows a lost rank."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import distributed as processes

from numerics import blockwise, stress
from numerics.evidence.comparison import Comparison, merged
from numerics.runs import ranks
from numerics.runs.ranks import RankLost, Ranks, from_every_rank, over
from numerics.stress import __main__ as command_line
from numerics.stress import sharding
from numerics.stress.cases import checked_cell
from numerics.stress.cell import Cell
from numerics.stress.evaluation import Part
from numerics.stress.rounding import precision

ROOT = Path(__file__).resolve().parents[3]
CPU = torch.device("cpu")
SIZES = {"float64": 41, "float32": 7, "bfloat16": 41}
CELLS = [(theorem, cell) for theorem in sharding.SHARDED
         for cell in stress.cases()[theorem].cells]  # fmt: skip
SURVIVED = r"stress: rank \d of 2: (lost another rank|told to end)"


def compared(theorem: str, name: str, dtype: str, n: int, ranks: Ranks) -> list[Comparison]:
    """The sides over the ranks against each other, and each against the other of one process."""
    module = stress.cases()[theorem].module
    heads = 1 if stress.cases()[theorem].single_head else 3
    cell = Cell(theorem, name, n, 6, heads, dtype, "cpu", n)
    inputs, _ = module.draw(cell, CPU)
    model = precision(cell.stored, CPU)
    with blockwise.exact_products():
        one = module.left_side(inputs, cell), module.right_side(inputs, cell)
        with over(ranks):
            two = module.left_side(inputs, cell), module.right_side(inputs, cell)
            own = list(module.comparisons(inputs, cell, *two, model))
            found = [item for part in from_every_rank(own) for item in part]
        found += module.comparisons(inputs, cell, one[0], two[1], model)
        found += module.comparisons(inputs, cell, two[0], one[1], model)
    return merged(found)


@contextmanager
def fault(name: str, spoil: Callable[..., Any]) -> Iterator[None]:
    honest = getattr(sharding, name)
    setattr(sharding, name, lambda *arguments: spoil(honest, *arguments))
    try:
        yield
    finally:
        setattr(sharding, name, honest)


def misplaced(honest: Callable[..., torch.Tensor], array: torch.Tensor, dim: int = 0) -> Any:
    """This rank's rows in another order than its tokens."""
    rows = sharding.own_rows(array.shape[dim])
    own = array.narrow(dim, rows.start, rows.stop - rows.start)
    own.copy_(own.roll(1, dim))
    return honest(array, dim)


def rank_process() -> None:
    """One of three processes; prints the groups, cells and faults that it found as expected."""
    processes.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = processes.get_rank()
    pair = processes.new_group([0, 1])
    for count, group in ((3, None), (2, pair)):
        if rank >= count:
            continue
        ranks, judged = Ranks(rank, count, group), []
        for theorem, cell in CELLS:
            for dtype, n in SIZES.items():
                found = compared(theorem, cell, dtype, n, ranks)
                assert all(item.ok for item in found), (theorem, cell, dtype, count, found)
            with fault("completed", misplaced):
                found = compared(theorem, cell, "float32", 13, ranks)
            judged.append(not all(item.ok for item in found))
        with fault("received", lambda honest, state: 2 * honest(state)):
            found = compared("AP5", "undamped", "float32", 13, ranks)
        judged.append(not all(item.ok for item in found))
        print(json.dumps([count, len(CELLS), judged]), flush=True)
    processes.barrier()
    processes.destroy_process_group()


@pytest.mark.slow
def test_cells_of_two_and_three_ranks_are_those_of_one_process() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": "3", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    started = [
        subprocess.Popen(
            [sys.executable, __file__], env={**shared, "RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(3)
    ]  # fmt: skip
    ended = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], ended
    rejected = [True] * (len(CELLS) + 1)
    for rank, (output, _) in enumerate(ended):
        expected = [[3, len(CELLS), rejected], [2, len(CELLS), rejected]]
        assert [json.loads(line) for line in output.splitlines()] == expected[: 2 - rank // 2]


def torchrun(out: Path, sizes: list[int]) -> list[str]:
    grid = ["CW2", "--n", *map(str, sizes), "--d", "8", "--heads", "4", "--out", str(out)]
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return [*run, "-m", "--", "numerics.stress", *grid]


def children(parent: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    return sorted(child for child, of in pairs if of == parent)


@pytest.mark.slow
def test_a_killed_rank_ends_the_run_and_another_run_continues_it(tmp_path: Path) -> None:
    sizes, path = list(range(40, 2000)), tmp_path / "CW2.jsonl"
    shared = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen(torchrun(tmp_path, sizes), cwd=ROOT, env=shared, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    assert run.stderr is not None
    with run.stderr:
        for line in run.stderr:
            if "n=41 " in line:
                break
        os.kill(children(run.pid)[-1], signal.SIGKILL)
        killed = time.monotonic()
        told = run.stderr.read()
    assert run.wait(timeout=60) != 0
    assert time.monotonic() - killed < 60
    assert re.search(SURVIVED, told), told
    before = path.read_bytes()
    assert before.endswith(b"\n")
    lines = before.splitlines()
    assert 2 <= len(lines) < len(sizes)
    found = [(record["n"], record["ranks"], record["status"]) for record in map(json.loads, lines)]
    assert found == [(n, 2, "ok") for n in range(40, 40 + len(lines))]
    longer = list(range(40, 40 + len(lines) + 2))
    again = subprocess.run(torchrun(tmp_path, longer), cwd=ROOT, env=shared, text=True,
                           capture_output=True, check=False)  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("(finished earlier)") == len(lines)
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == len(longer)


def test_shards_cover_all_rows_once_and_differ_by_one() -> None:
    for n, count in ((1, 1), (7, 2), (7, 3), (131, 3)):
        with over(Ranks(0, count)):
            shards = [sharding.rows_of(rank, n) for rank in range(count)]
        assert [row for rows in shards for row in range(n)[rows]] == list(range(n))
        lengths = {rows.stop - rows.start for rows in shards}
        assert max(lengths) - min(lengths) <= 1
        with over(Ranks(count - 1, count)):
            blocks = list(sharding.row_blocks(n, 2**21, CPU))
        assert [row for rows in blocks for row in range(n)[rows]] == list(range(n)[shards[-1]])


@pytest.mark.parametrize(
    ("theorem", "device", "n", "message"),
    [
        ("CW7", "cpu", 9, "CW7 is not shared by ranks: only CW2, CW5, RA7, RA11, AP5 are"),
        ("CW2", "cuda:0", 9, "ranks share cpu or cuda, one device each, got 'cuda:0'"),
        ("CW2", "mps", 9, "ranks share cpu or cuda, one device each, got 'mps'"),
        ("CW2", "cpu", 1, "n must be at least the number of ranks, got n = 1 for 2"),
    ],
)
def test_ranks_refuse_what_they_cannot_share(
    theorem: str, device: str, n: int, message: str
) -> None:
    with over(Ranks(0, 2)), pytest.raises(ValueError, match=re.escape(message)):
        checked_cell(theorem, None, n, 8, None, "float32", device, 0)
    single = checked_cell("CW2", None, 9, 8, None, "float32", "cpu", 0)
    with over(Ranks(0, 2)):
        shared = checked_cell("CW2", None, 9, 8, None, "float32", "cpu", 0)
    assert (single.ranks, shared.ranks) == (1, 2)


def test_every_rank_has_the_cuda_device_of_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert sharding.own_device("cuda") == "cuda"
    with over(Ranks(1, 2)):
        assert [sharding.own_device(name) for name in ("cuda", "cpu")] == ["cuda:1", "cpu"]


def test_an_answer_that_does_not_come_is_a_lost_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*arguments: Any) -> None:
        raise RuntimeError("Connection closed by peer\nand a trace")

    monkeypatch.setattr(processes, "broadcast", closed)
    expected = "rank 1 of 2: lost another rank: Connection closed by peer$"
    with over(Ranks(1, 2)), pytest.raises(RankLost, match=expected):
        sharding.completed(torch.zeros(4))


def test_a_refusal_on_any_rank_is_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank whose rows have no bound fails the cell, whatever the first rank finds."""
    gathered: list[Part] = []

    def with_a_refusal(part: Part) -> list[Part]:
        gathered.append(part)
        return [part, Part([], {}, {}, "no rounding bound")]

    monkeypatch.setattr(ranks, "from_every_rank", with_a_refusal)
    record = stress.run_cell("CW2", None, 9, 8, 2, "float32", "cpu", 0)
    assert gathered[0].refusal is None
    assert (record["status"], record["reason"]) == ("failed", "no rounding bound")


def test_ranks_that_do_not_meet_are_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert command_line.main(["CW2", "--n", "5", "--d", "8", "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stress: rank ")
    assert "of 2: the ranks do not meet: LOCAL_RANK is not set" in line
    assert not list(tmp_path.iterdir())


def test_a_run_alone_is_no_rank(tmp_path: Path) -> None:
    assert command_line.main(["CW2", "--n", "5", "--d", "8", "--out", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "CW2.jsonl").read_text())
    assert (record["ranks"], record["status"]) == (1, "ok")


if __name__ == "__main__":
    rank_process()
