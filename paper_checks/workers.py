"""Worker processes that verify theorems: which one was at work when a process died is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

Check = Callable[[str], Any]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Crash:
    """Instead of a result: why there is none."""

    reason: str


def _work(check: Check, pipe: Connection) -> None:
    """Answer ids with results until told to stop."""
    # The parent alone reacts to Ctrl-C, and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (task := pipe.recv()) is not None:
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


class _Worker:
    """One process and the id that it is at work on."""

    def __init__(self, check: Check) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(check, theirs), daemon=True)
        self.task: str | None = None
        with _one_thread_each():
            self.process.start()
        theirs.close()

    def give(self, task: str) -> None:
        self.task = task
        with suppress(OSError):  # it died while idle: result() will say so
            self.pipe.send(task)

    def result(self) -> Any:
        """The answer, or a Crash when the process is gone."""
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
    workers: list[_Worker] = []
    try:
        workers += [_Worker(check) for _ in range(min(jobs, len(tasks)))]
        while True:
            for worker in workers:
                if worker.task is None and waiting:
                    worker.give(waiting.pop())
            busy = {w.pipe: w for w in workers if w.task is not None}
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # pyright: ignore[reportArgumentType]
                task, result = worker.task, worker.result()
                worker.task = None
                if not worker.process.is_alive():
                    worker.stop()
                    workers.remove(worker)
                    if waiting:
                        workers.append(_Worker(check))
                assert task is not None
                yield task, result
    finally:
        for worker in workers:
            worker.stop()
