"""A run: nothing that happens to a worker is lost, and a theorem is as sound as what it uses."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paper_checks import run
from paper_checks.report import NOT_RUN, StressRecord, TheoremRecord
from paper_checks.run import lowest_level, verify
from paper_checks.terminal import level_text
from paper_checks.uses import settle_uses
from paper_checks.workers import Crash, run_all
from theorems import catalogue
from theorems.checker.records import CitedRecord

# A module of its own: worker processes import what they run by name.
CHECKS = """
import os, time
def check(task):
    if task == "dies":
        os._exit(3)
    if task == "raises":
        raise ValueError("planted")
    if task == "sleeps":
        time.sleep(600)
    if task == "unpicklable":
        return lambda: 0
    return task, os.getpid(), os.environ["OMP_NUM_THREADS"]
def dies(theorem_id, seed, stress):
    os._exit(7)
"""


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "planted_checks.py").write_text(CHECKS)
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("planted_checks")
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_every_task_is_answered_once_by_a_process_of_its_own(checks: Any, jobs: int) -> None:
    tasks = [f"t{k}" for k in range(5)]
    results = dict(run_all(tasks, checks.check, jobs=jobs))
    assert sorted(results) == tasks
    assert {result[0] for result in results.values()} == set(tasks)
    assert len({os.getpid(), *(result[1] for result in results.values())}) == len(tasks) + 1


def test_workers_use_one_blas_thread_and_leave_the_parent_alone(
    checks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    ((_, result),) = run_all(["t"], checks.check, jobs=2)
    assert result[2] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_a_death_is_laid_to_the_task_that_died_and_the_others_go_on(checks: Any) -> None:
    results = dict(run_all(["t0", "dies", "t1", "dies too", "t2"], checks.check, jobs=1))
    assert results["dies"] == Crash("the worker process died (exit code 3)")
    assert [results[t][0] for t in ("t0", "t1", "t2")] == ["t0", "t1", "t2"]


def test_the_last_task_may_die(checks: Any) -> None:
    assert dict(run_all(["dies"], checks.check, jobs=2)) == {
        "dies": Crash("the worker process died (exit code 3)")
    }


def test_an_exception_is_a_result_with_its_place(checks: Any) -> None:
    results = dict(run_all(["raises", "unpicklable", "t"], checks.check, jobs=1))
    assert results["raises"].reason.startswith("ValueError: planted (planted_checks.py:")
    assert isinstance(results["unpicklable"], Crash)
    assert results["t"][0] == "t"


def test_an_interrupted_run_ends_its_workers(checks: Any) -> None:
    running = run_all(["t", "sleeps"], checks.check, jobs=2)
    assert next(running)[0] == "t"
    running.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_crash_is_a_failure_that_names_the_theorem(checks: Any) -> None:
    report = verify(["CW1"], jobs=2, check=checks.dies)
    (record,) = report.theorems
    assert not report.ok
    assert record.failures == ("CW1: the worker process died (exit code 7)",)
    claims = {claim.id: claim for claim in report.claims}
    assert claims["attention-geometry/single-head"].verdict.startswith("FAILED: CW1.")
    assert report.suite.not_selected == tuple(i for i in catalogue.CATALOGUE if i != "CW1")


@pytest.mark.slow
def test_a_theorem_is_measured_alike_whatever_else_is_verified() -> None:
    alone, among = (
        next(record for record in verify(ids, jobs=1, stress=False).theorems
             if record.id == "AP9")
        for ids in (["AP9"], ["AP2", "AP9"])
    )  # fmt: skip
    assert replace(alone, seconds=0.0, warnings=()) == replace(among, seconds=0.0, warnings=())
    assert alone.property_examples == 200


@pytest.mark.slow
def test_a_theorem_that_does_not_load_is_named(
    checks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalogue.CATALOGUE, "CW1", "connection_walks.no_such_file")
    report = verify(["CW1"], check=checks.dies)
    (failure,) = report.theorems[0].failures
    assert failure.startswith("CW1: does not load: CW1: theorems")
    assert any("CW1 does not import" in error for error in report.errors)


def record(theorem_id: str, *uses: str, ok: bool = True) -> TheoremRecord:
    return replace(NOT_RUN, id=theorem_id, uses=uses, ok=ok)


@pytest.mark.parametrize(
    ("records", "failure"),
    [
        ([record("A", "B"), record("B", ok=False)], "A: uses B, which failed"),
        ([record("A", "B"), record("B", "C"), record("C", ok=False)], "A: uses C, which failed"),
        ([record("A", "B")], "A: uses B, which was not verified"),
        ([record("A", "B"), record("B", "A")], "A: uses itself: A -> B -> A"),
    ],
)
def test_a_theorem_is_no_sounder_than_what_it_uses(
    records: list[TheoremRecord], failure: str
) -> None:
    settled = settle_uses(records)
    assert settled[0].failures == (failure,)
    assert not settled[0].ok


def test_what_a_used_theorem_cites_is_named_with_it() -> None:
    axioms = tuple(CitedRecord(name, statement=name, source="") for name in ("p", "q"))
    records = settle_uses([
        replace(record("A", "B", "D"), cited=axioms[:1], level="G"),
        record("B", "C"),
        replace(record("C"), cited=axioms),
        replace(record("D"), cited=axioms[1:]),
    ])  # fmt: skip
    assert [r.inherited for r in records] == [
        {"q": ("D", "C"), "p": ("C",)}, {"p": ("C",), "q": ("C",)}, {}, {},
    ]  # fmt: skip
    assert level_text(records[0]) == "G | p, q (D, C)"
    assert level_text(records[1]) == "none | p (C), q (C)"


def test_sound_uses_change_nothing() -> None:
    records = settle_uses(
        [record("A", "B", "C"), record("B", "C"), record("C"), record("D", ok=False)]
    )
    assert [r.ok for r in records] == [True, True, True, False]
    assert not any(r.failures for r in records)


@pytest.mark.parametrize(
    ("levels", "expected"), [("GSN", "N"), ("KG", "G"), ("GSK", "S"), ("K", "K"), ("", None)]
)
def test_the_level_of_a_theorem_is_its_lowest(levels: str, expected: str | None) -> None:
    assert lowest_level(levels) == expected


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="substring not found"):
        lowest_level(["X", "G"])


def test_slowness_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run._slowness("CW1", 4.9) == ()
    assert run._slowness("CW1", 5.1) == ("CW1: took 5.1 s, over 5 s",)
    assert run._slowness("CW1", 16) == ("CW1: took 16.0 s, over 15 s",)


@pytest.mark.slow
def test_a_theorem_is_checked_in_all_ways(record_of: Callable[..., TheoremRecord]) -> None:
    found = run.check_theorem("CW1")
    assert found.ok, found.failures
    assert found.digest == record_of("CW1").digest
    assert found.stress[0].status == "ok"


def test_a_cell_of_a_stress_run_loses_nothing_in_the_report() -> None:
    from numerics import stress

    for cell in (
        stress.run_cell("CW1", None, d=8, heads=1, seed=0, **{**run.SMALL_CELL, "n": 16}),
        stress.run_cell("CW1", None, d=8, heads=1, seed=0, n=16, dtype="float32", device="cuda:9"),
    ):
        record = msgspec.convert(cell, StressRecord)
        assert json.loads(msgspec.json.encode(record)) == json.loads(json.dumps(cell))


@pytest.mark.slow
def test_a_stress_bound_fifty_times_too_loose_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    case = import_module("numerics.evidence.comparison")
    sound = case.compare

    def loose(name: str, left: Any, right: Any, bound: Any, k: int, first_row: int = 0) -> Any:
        return sound(name, left, right, 50 * bound, k, first_row)

    for module in ("theorems.constant_transport", "evaluation"):
        monkeypatch.setattr(f"numerics.stress.{module}.compare", loose)
    found = run.check_theorem("CW1")
    assert not found.ok
    assert found.failures == ("CW1.stress: kronecker: bound too loose to show anything",)
