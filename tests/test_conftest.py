"""The shared set-up does what the other tests rely on."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

ABSENT = "no-such-program"


def test_absent_tool_skips_on_a_desk(
    require_tool: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"it draws\. .* goes away with apt"):
        require_tool(ABSENT, why="it draws", how="apt")


def test_absent_tool_fails_under_ci(
    require_tool: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=f"{ABSENT} is absent: it draws"):
        require_tool(ABSENT, why="it draws", how="apt")


def test_present_program_module_and_alternative_are_found(require_tool: Callable[..., str]) -> None:
    assert require_tool("sh", why="a program", how="POSIX").endswith("/sh")
    assert "numpy" in require_tool("numpy", why="a module", how="pip")
    assert require_tool(ABSENT, why="another name", how="POSIX", also=("sh",)).endswith("/sh")


@pytest.mark.parametrize("_run", ["first", "second"])
def test_global_generators_start_the_same(_run: str) -> None:
    legacy = np.random.RandomState(0)  # the kind of the global generator
    assert random.getstate() == random.Random(0).getstate()
    assert str(np.random.get_state()) == str(legacy.get_state())  # noqa: NPY002
    assert torch.initial_seed() == 0
    # Whichever of the two runs comes second finds this undone.
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)


def test_one_thread_and_no_example_database() -> None:
    assert torch.get_num_threads() == 1
    assert hypothesis.settings().database is None
    assert hypothesis.settings().deadline is None
    assert hypothesis.settings.get_profile("thorough").max_examples == 2000


@given(st.integers())
def test_autouse_seeds_do_not_disturb_given(value: int) -> None:
    assert value == int(str(value))


@pytest.mark.slow
def test_tests_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "test_groups.py").write_text(
        """
import os
import pytest

@pytest.mark.parametrize("name", [
    pytest.param(i, marks=pytest.mark.xdist_group("even" if i % 2 == 0 else "odd"))
    for i in range(12)
])
def test_process(name):
    kind = "even" if name % 2 == 0 else "odd"
    with open(f"{os.path.dirname(__file__)}/pids", "a") as out:
        out.write(f"{kind}{os.getpid()} ")
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"]
    subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", tmp_path, tmp_path],
        check=True, capture_output=True, timeout=300,
        env={k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"},
    )  # fmt: skip
    pids = (tmp_path / "pids").read_text(encoding="utf-8")
    assert len(pids.split()) == 12
    even, odd = (set(re.findall(rf"{kind}(\d+)", pids)) for kind in ("even", "odd"))
    assert len(even) == len(odd) == 1
    assert even != odd
