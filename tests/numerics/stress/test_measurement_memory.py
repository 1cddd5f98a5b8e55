"""The memory of a cell is what its process comes to hold while it runs."""

import os
import subprocess
import sys

import pytest

CODE = """
import torch
from numerics.stress.measurement import peak_memory

for mebibytes in (300, 20, 100):
    with peak_memory(torch.device("cpu")) as peak:
        held = torch.ones(mebibytes * 2**20, dtype=torch.uint8)
        del held
        print(peak() / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK),
    reason="needs a Linux that lets a process forget its largest memory; runs by itself on one",
)
def test_a_smaller_cell_after_a_larger_one_shows_its_own_memory() -> None:
    larger = bytearray(600 * 2**20)
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    del larger
    first, second, third = map(float, ended.stdout.split())
    assert 298 <= first <= 330
    assert 18 <= second <= 30
    assert 98 <= third <= 120
