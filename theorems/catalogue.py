"""Which theorem lives where: one row a theorem, `theorems/<row>.py` and its property of one slug."""

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
    [f"CW{k}" for k in range(4, 15)] + [f"RA{k}" for k in range(1, 19)] + [f"AP{k}" for k in range(1, 11)]
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
