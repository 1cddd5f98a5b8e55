"""Set-up shared by all tests: one thread, fixed seeds, Hypothesis profiles, absent tools."""

import importlib.util
import os
import random
import shutil
import tempfile
from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis.configuration import set_hypothesis_home_dir

# No deadline: a slow machine is not a counterexample. No database: a run depends on nothing
# that an earlier run left behind. A failure prints the blob that reproduces it.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=False, print_blob=True, database=None
)
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings.get_profile("suite"), max_examples=2000
)
hypothesis.settings.load_profile("suite")

# Sums in a fixed order, and worker processes that do not contend for the cores.
torch.set_num_threads(1)


def pytest_configure(config: pytest.Config) -> None:
    """Keep Hypothesis's own files out of the checkout."""
    home = tempfile.TemporaryDirectory(prefix="hypothesis-")
    config.add_cleanup(home.cleanup)
    set_hypothesis_home_dir(home.name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where torch finds none, under CI too: it has none to install."""
    if torch.cuda.is_available():
        return
    skip = pytest.mark.skip(reason="needs a CUDA device; runs by itself where torch finds one")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Start every test from the same global generators, whatever ran before it."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - for libraries that draw from the global generator
    torch.manual_seed(0)


def find_tool(name: str) -> str | None:
    """The path of a program, or of the module of that name."""
    if program := shutil.which(name):
        return program
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    return spec.origin if spec else None


@pytest.fixture(scope="session")
def require_tool() -> Callable[..., str]:
    """A function `require_tool(name, why, how, also=())` to call at the head of a test.

    It returns the path of the program or module `name`, or of the first found in `also`. Where
    all are absent the test is skipped on a desk and fails where CI=true; the reason says why
    the tool is needed and how it comes, which is when the skip goes away.
    """

    def require(name: str, why: str, how: str, also: tuple[str, ...] = ()) -> str:
        for candidate in (name, *also):
            if path := find_tool(candidate):
                return path
        reason = f"{name} is absent: {why}. This skip goes away with {how}."
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)

    return require
