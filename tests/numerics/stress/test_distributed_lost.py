"""Three ranks of which one ends or stops answering: the others end with a clear error in time.

The ranks are started without torchrun, which would tell the survivors to end: they must notice by
themselves, the first rank's end included, whose process holds the store they met at.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from torch import distributed as processes

from numerics import stress
from numerics.stress import sharding
from numerics.stress.sharding import Ranks

ROOT = Path(__file__).resolve().parents[3]
SIZES = list(range(40, 2000))
PATIENCE = 20


@contextmanager
def three_ranks(out: Path) -> Iterator[list[subprocess.Popen[str]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": "3", "OMP_NUM_THREADS": "1", "TORCHELASTIC_RUN_ID": "x",
              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    grid = ["CW2", "--n", *map(str, SIZES), "--d", "8", "--heads", "4", "--out", str(out)]
    command = [sys.executable, "-m", "numerics.stress", *grid, "--patience", str(PATIENCE)]
    with ExitStack() as stack:
        started = []
        for rank in range(3):
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            run = subprocess.Popen(command, cwd=ROOT, env={**shared, **place}, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
            stack.enter_context(run)
            stack.callback(run.kill)
            started.append(run)
        yield started


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lost", "by"), [(0, signal.SIGKILL), (2, signal.SIGKILL), (1, signal.SIGSTOP)]
)
def test_a_lost_rank_ends_all_others_and_tears_no_line(
    lost: int, by: signal.Signals, tmp_path: Path
) -> None:
    with three_ranks(tmp_path) as ranks:
        assert ranks[0].stderr is not None
        for line in ranks[0].stderr:
            if "n=41 " in line:
                break
        ranks[lost].send_signal(by)
        since = time.monotonic()
        for rank, run in enumerate(ranks):
            if rank != lost:
                _, told = run.communicate(timeout=60)
                assert run.returncode == 3
                expected = rf"stress: rank {rank} of 3: lost another rank: .+; this cell is not"
                assert re.search(expected, told), told
        assert time.monotonic() - since < 60
    whole = (tmp_path / "CW2.jsonl").read_bytes()
    assert whole.endswith(b"\n")
    records = [json.loads(line) for line in whole.splitlines()]
    found = [(record["n"], record["ranks"], record["status"]) for record in records]
    assert found == [(n, 3, "ok") for n in SIZES[: len(found)]]
    assert 2 <= len(found) < len(SIZES)


def test_the_first_rank_alone_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broadcast(found: list[Any], source: int, group: Any) -> None:
        assert (found, source) == ([None], 0)
        found[0] = "of the first"

    monkeypatch.setattr(processes, "broadcast_object_list", broadcast)
    looked: list[int] = []
    with sharding.over(Ranks(1, 2)):
        assert sharding.from_first_rank(lambda: looked.append(1)) == "of the first"
    assert looked == []
    assert sharding.from_first_rank(lambda: "own") == "own"


def test_an_error_without_a_message_is_named_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*arguments: Any) -> None:
        raise processes.DistBackendError

    monkeypatch.setattr(processes, "all_gather_object", closed)
    expected = "rank 1 of 2: lost another rank: DistBackendError$"
    with sharding.over(Ranks(1, 2)), pytest.raises(sharding.RankLost, match=expected):
        sharding.from_every_rank(1)


def test_a_refusal_on_any_rank_is_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank whose rows have no bound fails the cell, whatever the first rank finds."""
    cell = sys.modules["numerics.stress.cell"]
    gathered: list[Any] = []

    def with_a_refusal(part: Any) -> list[Any]:
        gathered.append(part)
        return [part, cell.Part([], {}, {}, "no rounding bound")]

    monkeypatch.setattr(cell.sharding, "from_every_rank", with_a_refusal)
    record = stress.run_cell("CW2", None, 9, 8, 2, "float32", "cpu", 0)
    assert gathered[0].refusal is None
    assert (record["status"], record["reason"]) == ("failed", "no rounding bound")
