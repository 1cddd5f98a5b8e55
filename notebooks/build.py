"""Execute the notebooks from their percent sources, or check that what is stored is current.

    python notebooks/build.py [--check] [--only NAME] [FOLDER]

Each FOLDER/<name>.py becomes FOLDER/<name>.ipynb, run from its first cell in a kernel of its own.
With --check nothing is written: stored sources and outputs must equal a fresh run exactly.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
SECONDS_A_CELL = 300
# The block of an SVG file in which matplotlib writes its version and the date.
SVG_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class NotebookError(Exception):
    """A source that cannot become a notebook, or a stored notebook that is not its source's."""


@contextmanager
def fixed_environment() -> Iterator[None]:
    """What a kernel inherits: fixed hashing, one thread, SVG figures, no personal settings."""
    saved = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="ipython-") as folder:
        profile = Path(folder) / "profile_default"
        profile.mkdir()
        config = 'get_config().InlineBackend.figure_formats = {"svg"}\n'
        (profile / "ipython_kernel_config.py").write_text(config, encoding="utf-8")
        os.environ |= {
            "IPYTHONDIR": folder,
            "MATPLOTLIBRC": str(HERE / "matplotlibrc"),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            # The packages beside the notebooks are documented, not an installed version.
            "PYTHONPATH": str(HERE.parent),
        }
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(saved)


def sources(folder: Path) -> list[Path]:
    """The percent sources of a folder: all its modules but this tool."""
    return sorted(path for path in folder.glob("*.py") if path.resolve() != Path(__file__))


def without_noise(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs without execution counts, versions and dates."""
    for output in outputs:
        if "execution_count" in output:
            output["execution_count"] = None
        data = output.get("data", {})
        if "image/svg+xml" in data:
            data["image/svg+xml"] = SVG_METADATA.sub("", data["image/svg+xml"])
    return outputs


def built(source: Path) -> NotebookNode:
    """The executed notebook of one source, with nothing in it that a second run would change."""
    notebook = jupytext.read(source, fmt="py:percent")
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        raise NotebookError(f"{source.name}: no code cell; cells begin with '# %%'")
    try:
        NotebookClient(
            notebook,
            timeout=SECONDS_A_CELL,
            kernel_name=KERNEL["name"],
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": str(source.parent)}},
        ).execute()
    except CellExecutionError as error:
        raise NotebookError(f"{source.name}: {error}") from error
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number}"
        cell.metadata = NotebookNode()
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = without_noise(cell.outputs)
            # Warnings carry paths of this machine, and a reader should meet none.
            if any(output.get("name") == "stderr" for output in cell.outputs):
                raise NotebookError(f"{source.name}: cell {number} writes to stderr")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return notebook


def text_of(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, indent=1, sort_keys=True) + "\n"


def first_difference(stored: NotebookNode, fresh: NotebookNode) -> str | None:
    """Where two notebooks differ first, in words; None where they are equal."""
    for number, (old, new) in enumerate(zip(stored.cells, fresh.cells, strict=False), start=1):
        for part in ("cell_type", "source", "outputs"):
            if old.get(part) != new.get(part):
                return (
                    f"cell {number} has another {part}\n"
                    f"  stored: {old.get(part)!r:.500}\n  fresh:  {new.get(part)!r:.500}"
                )
    if len(stored.cells) != len(fresh.cells):
        return f"{len(stored.cells)} cells are stored, the source has {len(fresh.cells)}"
    return None


def check(source: Path) -> None:
    """Raise NotebookError unless the stored notebook is exactly what its source gives."""
    path = source.with_suffix(".ipynb")
    if not path.exists():
        raise NotebookError(f"{path.name} is missing: run 'make notebooks'")
    fresh = built(source)
    text = path.read_text(encoding="utf-8")
    if text != text_of(fresh):
        where = first_difference(nbformat.reads(text, as_version=4), fresh)
        raise NotebookError(
            f"{path.name} is stale: {where or 'its metadata or layout'}\nrun 'make notebooks'"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="Execute the notebooks from their sources.")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--check", action="store_true", help="compare with what is stored")
    parser.add_argument("--only", metavar="NAME", help="one notebook, by its name without ending")
    arguments = parser.parse_args()

    found = sources(arguments.folder)
    orphans = set(arguments.folder.glob("*.ipynb")) - {s.with_suffix(".ipynb") for s in found}
    problems = [f"{path.name} has no source beside it" for path in sorted(orphans)]
    if arguments.only:
        found = [source for source in found if source.stem == arguments.only]
        problems += [] if found else [f"{arguments.only}: no such notebook"]
    with fixed_environment():
        for source in found:
            try:
                if arguments.check:
                    check(source)
                else:
                    source.with_suffix(".ipynb").write_text(text_of(built(source)), "utf-8")
            except NotebookError as error:
                problems.append(str(error))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"notebooks {'checked' if arguments.check else 'built'}: {len(found)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
