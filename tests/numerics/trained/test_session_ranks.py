"""Layers shared out over two processes: the same results, and a clear end when one dies."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from numerics.runs.ranks import Ranks, over
from numerics.trained import analyze, plots, session
from numerics.trained.formats.checkpoint import Refused
from numerics.trained.measurements import Settings
from numerics.trained.measures import identity

ROOT = Path(__file__).resolve().parents[3]
# Started once: what it imports is shared by the ranks that it forks. The gate's reference model
# would take most of the time, and has its own tests.
SCRIPT = """
import json, os, sys
from pathlib import Path
from numerics.trained import analyze, measurements, plots
from numerics.trained.formats.checkpoint import optional_module
from numerics.trained.measurements import Settings
from numerics.trained.measures import identity
for package in analyze.EXTRA:
    optional_module(package)
identity.parity = lambda x, layer: identity.Parity(0.0, 0.0)
identity.measure = lambda x, layer, rows: identity.Identity(0.0, 0.0, 0.5, len(rows), 0.0)
plots.figures = lambda name, rows, numbers: {}
right = measurements.record
model, text, out = map(Path, sys.argv[1:4])
def rank(number, port, dies):
    os.environ |= {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": "2",
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    def record(view, *rest):
        if dies and view.index == 1:
            os._exit(9)
        return right(view, *rest)
    measurements.record = record
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    analyze.analyze(model, text, out, Settings(draws=20))
    os._exit(0)
for port, dies in zip(sys.argv[4:6], (True, False)):
    started = [os.fork() or rank(number, port, dies) for number in (0, 1)]
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in started]))
    print(json.dumps(sorted(file.name for file in out.iterdir())))
    print(json.dumps(len((out / "measurements.jsonl").read_text().splitlines())), flush=True)
"""


def free_ports() -> list[str]:
    with socket.socket() as one, socket.socket() as two:
        for found in (one, two):
            found.bind(("127.0.0.1", 0))
        return [str(found.getsockname()[1]) for found in (one, two)]


@pytest.mark.slow
def test_a_dead_rank_ends_the_run_and_resuming_gives_what_one_process_gives(
    tiny: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "shared"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, (tiny, text, out)), *free_ports()],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        check=True, timeout=300,
    )  # fmt: skip
    dead, left, lines, whole, files, complete = map(json.loads, done.stdout.splitlines())
    assert dead == [3, 9], f"rank 1 should have died and rank 0 said so: {done.stderr}"
    assert "attention-geometry analyze: rank 0 of 2: lost another rank: " in done.stderr
    assert "what was under way is not recorded; run again to continue" in done.stderr
    assert (left, lines) == (["measurements.jsonl"], 1), "a round is written whole or not at all"
    assert whole == [0, 0], done.stderr
    assert "summary.json" in files
    assert complete == 3

    monkeypatch.setattr(identity, "parity", lambda x, layer: identity.Parity(0.0, 0.0))
    found = identity.Identity(0.0, 0.0, 0.5, 10, 0.0)
    monkeypatch.setattr(identity, "measure", lambda x, layer, rows: found)
    monkeypatch.setattr(plots, "figures", lambda name, rows, numbers: {})
    alone = tmp_path / "alone"
    analyze.analyze(tiny, text, alone, Settings(draws=20))
    for name in ("measurements.jsonl", "summary.json", "statements.md"):
        assert (out / name).read_text() == (alone / name).read_text(), name


def test_all_ranks_refuse_what_one_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    session.agree(None)
    with pytest.raises(Refused, match=r"^the reason$"):
        session.agree("the reason")
    monkeypatch.setattr(session, "from_every_rank", lambda refusal: [None, refusal])
    with over(Ranks(0, 2)), pytest.raises(Refused, match=r"^rank 1: the reason$"):
        session.agree("the reason")


def test_ranks_that_do_not_meet_are_status_2(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    parser = argparse.ArgumentParser()
    analyze.add_arguments(parser)
    out = tiny / "out"
    words = [str(tiny), "--text", str(text), "--out", str(out)]
    assert analyze.run(parser.parse_args(words)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("attention-geometry analyze: rank ")
    assert "of 2: the ranks do not meet: LOCAL_RANK is not set" in line
    assert not out.exists()


@pytest.mark.slow
def test_a_killed_run_resumes_where_it_was(
    tiny: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "figures", lambda name, rows, numbers: {})
    whole, out = tmp_path / "whole", tmp_path / "out"
    settings = Settings(draws=20)
    analyze.analyze(tiny, text, whole, settings)
    lines = (whole / "measurements.jsonl").read_bytes().splitlines(keepends=True)
    out.mkdir()
    (out / "measurements.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:50])
    analyze.analyze(tiny, text, out, settings)
    for name in ("measurements.jsonl", "summary.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    with pytest.raises(Refused, match="different arguments"):
        analyze.analyze(tiny, text, out, Settings(draws=20, seed=1))
    monkeypatch.setattr(analyze, "commit", lambda: "another")
    with pytest.raises(Refused, match="different commit"):
        analyze.analyze(tiny, text, out, settings)
    monkeypatch.undo()
    for part in ("config.json", "tokenizer.json"):
        # The weights are the same, and what they compute is not.
        before = (tiny / part).read_text()
        (tiny / part).write_text(before + " ")
        with pytest.raises(Refused, match="different sha256"):
            analyze.analyze(tiny, text, out, settings)
        (tiny / part).write_text(before)
