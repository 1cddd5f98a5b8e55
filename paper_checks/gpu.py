"""What a run on a GPU has shown: read from the file that `benchmarks/gpu_lease.sh` leaves."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "gpu_results.json"
NOT_RUN = "NOT RUN"
STATUSES = ("ok", "failed", "not run")


def stated(path: Path = RESULTS) -> str:
    """The GPU and how its cells came out; NOT RUN without results, or where no cell ran on a GPU.

    Raises: ValueError naming the file when it is no such file.
    """
    if not path.exists():
        return NOT_RUN
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        gpu = content["machine"]["gpu"]
        found = [cell["status"] for cell in content["cells"] if cell["device"].startswith("cuda")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name}: not the results of a GPU run ({error!r})") from error
    if unknown := set(found) - set(STATUSES):
        raise ValueError(f"{path.name}: status must be one of {STATUSES}, got {sorted(unknown)}")
    if not gpu or not set(found) - {"not run"}:
        return NOT_RUN
    return f"{gpu}, " + ", ".join(f"{found.count(status)} {status}" for status in STATUSES)
