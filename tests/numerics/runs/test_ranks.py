"""Ranks of one run: what they tell one another, and that a lost one ends all others in time.

Three real ranks are started without torchrun, which would tell the survivors to end: they must
notice by themselves, the first rank's end included, whose process holds the store they met at.
"""

from __future__ import annotations

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
import torch
from torch import distributed as processes

from numerics.runs import ranks
from numerics.runs.ranks import NotJoined, RankLost, Ranks, over

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 20
PROGRAM = f"""
import itertools, sys
from pathlib import Path
from numerics.runs.journal import Journal
from numerics.runs.ranks import current, from_every_rank, joined
with joined("count", {PATIENCE}):
    journal = Journal(Path(sys.argv[1]))
    for number in itertools.count():
        found = from_every_rank(number + current().rank)
        if current().first:
            journal.append({{"number": number, "found": found}})
            print(number, flush=True)
"""


@contextmanager
def three_ranks(path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": "3", "OMP_NUM_THREADS": "1",
              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    with ExitStack() as stack:
        started = []
        for rank in range(3):
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            output = subprocess.PIPE if rank == 0 else subprocess.DEVNULL
            run = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], cwd=ROOT, text=True,
                                   env={**shared, **place}, stdout=output,
                                   stderr=subprocess.PIPE)  # fmt: skip
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
    path = tmp_path / "records.jsonl"
    with three_ranks(path) as started:
        assert started[0].stdout is not None
        assert [started[0].stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
        started[lost].send_signal(by)
        since = time.monotonic()
        for rank, run in enumerate(started):
            if rank != lost:
                _, told = run.communicate(timeout=60)
                assert run.returncode == 3, told
                expected = rf"count: rank {rank} of 3: lost another rank: .+; what was under way is"
                assert re.search(expected, told), told
        assert time.monotonic() - since < 60
    whole = path.read_bytes()
    assert whole.endswith(b"\n")
    records = [json.loads(line) for line in whole.splitlines()]
    assert len(records) >= 2
    assert records == [{"number": n, "found": [n, n + 1, n + 2]} for n in range(len(records))]


@pytest.mark.slow
def test_a_rank_told_to_end_says_so_with_the_same_status(tmp_path: Path) -> None:
    with three_ranks(tmp_path / "records.jsonl") as started:
        assert started[0].stdout is not None
        started[0].stdout.readline()
        started[1].send_signal(signal.SIGTERM)
        _, told = started[1].communicate(timeout=60)
        assert started[1].returncode == 3
        assert "count: rank 1 of 3: told to end, as when another rank has ended; what" in told
        _, told = started[2].communicate(timeout=60)
        assert started[2].returncode == 3, told


@pytest.mark.slow
def test_a_rank_that_waits_for_the_others_in_vain_is_lost(tmp_path: Path) -> None:
    program = PROGRAM.replace(f'"count", {PATIENCE}', '"count", 1')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    alone = {**os.environ, "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2",
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "records.jsonl")],
        cwd=ROOT, env=alone, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    assert "count: rank 0 of 2: the ranks do not meet: " in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["LOCAL_RANK", "RANK", "MASTER_ADDR", "MASTER_PORT"])
def test_ranks_that_do_not_know_where_they_meet_are_refused(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": "1"}  # fmt: skip
    for name, value in whole.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(missing)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(NotJoined, match=f"of 2: the ranks do not meet: .*{missing}"):  # noqa: SIM117
        with ranks.joined("count", 1):
            raise AssertionError("entered alone")
    assert signal.getsignal(signal.SIGTERM) is before
    assert not processes.is_initialized()


@pytest.mark.parametrize(
    ("devices", "here", "expected"),
    [
        (0, "2", ["gloo"]),
        (1, "2", ["gloo"]),  # one backend for all ranks, those without a device too
        (2, "2", [1, "cpu:gloo,cuda:nccl"]),
        (2, None, ["gloo"]),
        (4, None, [1, "cpu:gloo,cuda:nccl"]),
    ],
)
def test_ranks_speak_nccl_where_each_has_a_device(
    devices: int, here: str | None, expected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []

    def init(backend: str, timeout: object) -> None:
        found.append(backend)
        raise ValueError("far enough")

    for name, value in {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    if here:
        monkeypatch.setenv("LOCAL_WORLD_SIZE", here)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: devices)
    monkeypatch.setattr(torch.cuda, "set_device", found.append)
    monkeypatch.setattr(processes, "init_process_group", init)
    with pytest.raises(NotJoined, match="rank 1 of 4: the ranks do not meet: far enough"):  # noqa: SIM117
        with ranks.joined("count", 1):
            raise AssertionError("entered")
    assert found == expected


@pytest.mark.parametrize("count", [None, "1"])
def test_a_process_alone_is_the_first_of_one(
    count: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if count:
        monkeypatch.setenv("WORLD_SIZE", count)
    else:
        monkeypatch.delenv("WORLD_SIZE", raising=False)
    with ranks.joined("count", 1):
        alone = ranks.current()
        assert (alone.rank, alone.count, alone.first) == (0, 1, True)
        assert all(alone.owns(number) for number in range(5))
        assert ranks.from_every_rank(3) == [3]
        assert ranks.from_first_rank(lambda: "own") == "own"


def test_ranks_own_each_item_once() -> None:
    owners = [[Ranks(rank, 3).owns(number) for rank in range(3)] for number in range(7)]
    assert all(sum(row) == 1 for row in owners)


def test_the_first_rank_alone_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broadcast(found: list[Any], source: int, group: Any) -> None:
        assert (found, source) == ([None], 0)
        found[0] = "of the first"

    monkeypatch.setattr(processes, "broadcast_object_list", broadcast)
    looked: list[int] = []
    with over(Ranks(1, 2)):
        assert not ranks.current().first
        assert ranks.from_first_rank(lambda: looked.append(1)) == "of the first"
    assert looked == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("Connection closed by peer\nand a trace"), "Connection closed by peer"),
        (processes.DistBackendError(), "DistBackendError"),
    ],
)
def test_an_answer_that_does_not_come_is_a_lost_rank(
    error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*arguments: Any) -> None:
        raise error

    monkeypatch.setattr(processes, "all_gather_object", closed)
    monkeypatch.setattr(processes, "broadcast_object_list", closed)
    expected = f"^rank 1 of 2: lost another rank: {reason}$"
    with over(Ranks(1, 2)), pytest.raises(RankLost, match=expected):
        ranks.from_every_rank(1)
    with over(Ranks(1, 2)), pytest.raises(RankLost, match=expected):
        ranks.from_first_rank(lambda: 1)
    assert ranks.current() == Ranks()
