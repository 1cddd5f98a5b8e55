"""Worker processes that verify theorems: which one was at work when a process died is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from typing import Any, cast

Check = Callable[[str], Any]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# Libraries alone: a module of the suite that does not import must fail its own theorem, not all.
PRELOADED = ["flint", "hypothesis.extra.numpy", "scipy.linalg", "sympy", "torch"]


@dataclass(frozen=True)
class Crash:
    """Instead of a result: why there is none."""

    reason: str


def _work(check: Check, task: str, pipe: Connection) -> None:
    """Answer the parent with what the check of one task gives."""
    # The parent alone reacts to Ctrl-C, and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(check(task))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno}"
        pipe.send(Crash(f"{type(error).__name__}: {error} ({place})"))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile use one BLAS thread: the workers are the parallelism."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _context() -> BaseContext:
    """Processes that start alike, whatever ran before, with the slow imports already made."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


class _Worker:
    """One process, which checks one task and ends.

    Hypothesis mixes constants of the modules that are imported into its draws: in a process of
    its own a task draws the same, whatever else is verified.
    """

    def __init__(self, check: Check, task: str) -> None:
        context = _context()
        self.task = task
        self.pipe, theirs = context.Pipe()
        self.process: Any = context.Process(  # pyright: ignore[reportAttributeAccessIssue]
            target=_work, args=(check, task, theirs), daemon=True
        )
        with _one_thread_each():
            self.process.start()
        theirs.close()

    def result(self) -> Any:
        """The answer, or a Crash when the process died without one."""
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            return Crash(f"the worker process died (exit code {self.process.exitcode})")

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.pipe.close()


def run_all(tasks: Sequence[str], check: Check, jobs: int) -> Iterator[tuple[str, Any]]:
    """Yield (id, result or Crash) as they come; `check` must be importable by a new process.

    Raises: whatever interrupts it, after all worker processes have ended.
    """
    waiting = list(reversed(tasks))
    workers: dict[Connection, _Worker] = {}
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                worker = _Worker(check, waiting.pop())
                workers[worker.pipe] = worker
            for pipe in wait(list(workers)):
                worker = workers[cast(Connection, pipe)]
                result = worker.result()
                del workers[worker.pipe]
                worker.stop()
                yield worker.task, result
    finally:
        for worker in workers.values():
            worker.stop()
