"""The streamed decoder: its memory is that of the process, and a wrong layer is no measurement."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEBIBYTE = 2**20
pytestmark = pytest.mark.slow


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.streaming")


def test_the_peak_is_in_bytes_and_that_of_this_process(streaming: ModuleType) -> None:
    """A process started by a larger one counts its own memory alone."""
    code = """
from numerics.stress.measurement import largest_resident
before = largest_resident()
held = bytearray(400 * 2**20)
print(largest_resident() - before)
"""
    larger = bytearray(1200 * MEBIBYTE)
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                           check=True)  # fmt: skip
    del larger
    assert 395 <= int(ended.stdout) / MEBIBYTE <= 420


@pytest.mark.parametrize("gate", ["parity", "measure"])
def test_a_layer_that_misses_the_gate_or_the_identity_is_no_measurement(
    streaming: ModuleType, gate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("safetensors", reason="needs the extra `models`")
    shape = {k: v if "heads" in k else v // 32 for k, v in streaming.SHAPE.items()}
    stored = streaming.write_checkpoint(tmp_path, shape, 2)
    assert stored == sum(path.stat().st_size for path in tmp_path.glob("*.safetensors"))
    peaks = streaming.stream(tmp_path, 4)
    assert len(peaks) == 3
    assert peaks == sorted(peaks)
    identity = importlib.import_module("numerics.trained.measures.identity")
    monkeypatch.setattr(identity, gate, lambda *_: SimpleNamespace(ok=False))
    with pytest.raises(ArithmeticError, match=re.escape("layer 0: ") + ".*ok=False"):
        streaming.stream(tmp_path, 4)


def test_a_measured_process_that_fails_is_named(streaming: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the measured process failed: "):
        streaming.measured(tmp_path, 4)
