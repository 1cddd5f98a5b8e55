"""The law suite, for the tests that call its laws with spaces that break them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def laws() -> ModuleType:
    """test_space_laws.py, loaded by its path: the tests are no package."""
    path = Path(__file__).with_name("test_space_laws.py")
    spec = importlib.util.spec_from_file_location("laws_of_spaces", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
