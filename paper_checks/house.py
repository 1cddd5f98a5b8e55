"""The house in one picture: rooms, what each holds, and which way imports go.

`python -m paper_checks.house` writes the picture into CONTRIBUTING.md. Rooms are the packages and
the modules at the top of theorems, numerics and paper_checks; what a room holds is the first
sentence of its docstring, and an arrow leads from a room to one that it imports. Arrows that
follow from others are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from numerics.runs import imports
from numerics.runs.files import write_whole

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- house -->", "<!-- end of house -->"
STOREYS = ("theorems", "numerics", "paper_checks")
Graph = dict[str, set[str]]


def room(module: str) -> str:
    """The room of a module: its package, or the module itself at the top of a storey."""
    return ".".join(module.split(".")[:2])


def rooms() -> Graph:
    """Each room with the rooms that it imports."""
    found: Graph = {}
    for module in imports.modules():
        if module.partition(".")[0] not in STOREYS or "." not in module:
            continue
        own = found.setdefault(room(module), set())
        own |= {room(used) for used in imports.imports_of(module) if "." in used}
    named = imports.modules().keys() - {"paper_checks.__main__"}
    return {name: (used - {name}) & named for name, used in found.items() if name in named}


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """The graph without the arrows that follow from longer ways; it must have no circle."""

    def reached(start: str) -> Iterator[str]:
        for following in graph[start]:
            yield following
            yield from reached(following)

    return {
        name: used - {far for near in used for far in reached(near)} for name, used in graph.items()
    }


def sentence(name: str) -> str:
    """The first sentence of a room's docstring."""
    text = ast.get_docstring(ast.parse(imports.modules()[name].read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def picture() -> str:
    """The rooms of theorems and numerics with their arrows as a Mermaid chart; what each holds."""
    graph = rooms()
    drawn = {name: used for name, used in graph.items() if _storey(name) in STOREYS[:2]}
    lines = ["```mermaid", "flowchart BT"]
    for storey in STOREYS[:2]:
        lines.append(f"  subgraph {storey}")
        lines += [f"    {n}[{n.partition('.')[2]}]" for n in sorted(drawn) if _storey(n) == storey]
        lines.append("  end")
    lines += [f"  {a} --> {b}" for a, used in sorted(reduced(drawn).items()) for b in sorted(used)]
    lines += ["```", "", "| room | holds |", "|---|---|"]
    for name in sorted(graph, key=lambda name: (STOREYS.index(_storey(name)), name)):
        lines.append(f"| `{name.replace('.', '/')}` | {sentence(name)} |")
    return "\n".join(lines)


def _storey(name: str) -> str:
    return name.partition(".")[0]


def drawn(page: str) -> str:
    """The page with the picture between its marks; ValueError where it has none."""
    head, start, rest = page.partition(START)
    _, end, tail = rest.partition(END)
    if not start or not end:
        raise ValueError(f"page must have the marks {START} and {END}")
    return f"{head}{START}\n{picture()}\n{END}{tail}"


if __name__ == "__main__":
    write_whole(PAGE, drawn(PAGE.read_text(encoding="utf-8")))
