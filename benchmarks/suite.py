"""Rows of the performance table about exact ranks and about the suite's own durations."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.rank import TARGET, peer
from benchmarks.rows import Row, spread
from benchmarks.times import timed
from numerics.scores.exact_rank import RankCertificate, rank_of
from numerics.scores.principal_lattice import PrincipalLattice

ROOT = Path(__file__).resolve().parents[1]
QUICK_WIDTH, QUICK_LARGEST = 3, 4
RUNS = 20
RANK_SECONDS = 5
VERIFY_SECONDS, THEOREM_SECONDS, TEST_SECONDS = 120, 15, 120


def ranks(width: int, largest: int, repeats: int) -> Iterator[Row]:
    """The certificate beside SymPy's rank at one width, and alone at the largest.

    Raises ArithmeticError unless every rank is the number of tokens, ours as one over Q.
    """
    lattice = PrincipalLattice.whole(width)
    rows = lattice.scores().tolist()
    _full(rank_of(rows), width, lattice.size)
    if peer(rows) != lattice.size:
        raise ArithmeticError(f"SymPy's rank at d = {width} must be {lattice.size}")
    times = timed([lambda: rank_of(rows), lambda: peer(rows)], repeats)
    notes = spread(("certificate", "DomainMatrix.rank over QQ"), times)
    name = f"exact rank RA2, SymPy over ours, d = {width}, {lattice.size} x {lattice.size}"
    yield Row(name, times[1].least / times[0].least, "x", ">=", TARGET, notes)

    lattice = PrincipalLattice.whole(largest)

    def certified() -> None:
        _full(rank_of(lattice.scores()), largest, lattice.size)

    times = timed([certified], max(1, repeats // 10))
    name = f"exact rank RA2, d = {largest}, {lattice.size} x {lattice.size}"
    notes = spread(("scores and certificate",), times)
    yield Row(name, times[0].least, "s", "<", RANK_SECONDS, notes)


def _full(found: RankCertificate, d: int, size: int) -> None:
    if (found.rank, found.exact) != (size, True):
        raise ArithmeticError(f"the rank at d = {d} must be {size} over Q, got {found.rank}")


def durations(run: bool) -> Iterator[Row]:
    """One `verify` of everything without formal proofs, its slowest theorem, the quick tests.

    Without `run` the rows say that nothing was measured.
    """
    if not run:
        skipped = ("left out",)
        yield Row(VERIFY, None, "s", "<", VERIFY_SECONDS, skipped)
        yield Row(SLOWEST, None, "s", "<=", THEOREM_SECONDS, skipped)
        yield Row(TESTS, None, "s", "<", TEST_SECONDS, skipped)
        return
    yield from verified()
    jobs = ("-n", "2", "--dist", "loadgroup")
    seconds, tail = _timed_command(["-m", "pytest", "-q", "-m", "not slow", *jobs])
    yield Row(TESTS, seconds, "s", "<", TEST_SECONDS, (tail,), failed=seconds is None)


VERIFY = "verify of everything, two worker processes"
SLOWEST = "its slowest theorem"
TESTS = "the quick tests, two worker processes"


def verified() -> Iterator[Row]:
    """The duration of one `verify`, and the longest of a theorem from its report."""
    with tempfile.TemporaryDirectory(prefix="verify-") as folder:
        report = Path(folder) / "report.json"
        command = ["-m", "paper_checks", "verify", "--no-formal", "--jobs", "2"]
        seconds, tail = _timed_command([*command, "--json", str(report)])
        text = report.read_text(encoding="utf-8") if report.exists() else "{}"
    yield Row(VERIFY, seconds, "s", "<", VERIFY_SECONDS, (tail,), failed=seconds is None)
    yield slowest(json.loads(text).get("theorems", []))


def slowest(theorems: Sequence[dict]) -> Row:
    """The theorem of a report that took longest."""
    if not theorems:
        note = ("verify wrote no report",)
        return Row(SLOWEST, None, "s", "<=", THEOREM_SECONDS, note, failed=True)
    longest = max(theorems, key=lambda theorem: theorem["seconds"])
    note = f"{longest['id']}, of {len(theorems)} theorems"
    return Row(SLOWEST, longest["seconds"], "s", "<=", THEOREM_SECONDS, (note,))


def _timed_command(arguments: Sequence[str]) -> tuple[float | None, str]:
    """Seconds of a Python command in the checkout, None if it failed, and its last line."""
    start = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    last = (ended.stdout.strip() or ended.stderr.strip() or "no output").splitlines()[-1]
    if ended.returncode:
        return None, f"failed with status {ended.returncode}: {last}"
    return seconds, last
