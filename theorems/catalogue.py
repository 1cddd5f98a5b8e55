"""Which theorem lives where: a row names `theorems/<row>.py` and the property of the same slug."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from theorems.statement import Theorem

CATALOGUE = {
    "CW1": "connection_walks.constant_transport",
    "CW2": "connection_walks.gated_mixture",
    "CW3": "connection_walks.edge_gauge",
}
PLANNED = frozenset(
    ["CW4", "CW5", "CW6", "CW7", "CW8", "CW9", "CW10", "CW11", "CW12", "CW13", "CW14", "RA1", "RA2", "RA3", "RA4", "RA5", "RA6", "RA7", "RA8", "RA9", "RA10", "RA11", "RA12", "RA13", "RA14", "RA15", "RA16", "RA17", "RA18", "AP1", "AP2", "AP3", "AP4", "AP5", "AP6", "AP7", "AP8", "AP9", "AP10"]
)


def load(identifier: str) -> Theorem:
    """The theorem of an id; ValueError names the missing half or the unknown id."""
    if identifier not in CATALOGUE:
        known = "planned, not built yet" if identifier in PLANNED else "unknown"
        raise ValueError(f"theorem {identifier} is {known}; built: {', '.join(CATALOGUE)}")
    row = CATALOGUE[identifier]
    for half in (f"theorems.{row}", property_module(identifier)):
        if find_spec(half) is None:
            raise ValueError(f"{identifier}: {half.replace('.', '/')}.py is missing")
    theorem = import_module(f"theorems.{row}").THEOREM
    if theorem.id != identifier:
        raise ValueError(f"{identifier}: theorems/{row.replace('.', '/')}.py defines {theorem.id}")
    return theorem


def property_module(identifier: str) -> str:
    """The name of the module with the theorem's numeric property."""
    return f"numerics.properties.{CATALOGUE[identifier].rpartition('.')[2]}"
