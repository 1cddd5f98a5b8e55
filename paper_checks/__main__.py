"""Command line of the suite: `attention-geometry`, the same as `python -m paper_checks`.

Exit status: 0; 1 something selected failed; 2 bad usage or unusable input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from numerics.runs.provenance import SUITE, suite_version
from paper_checks import commands
from paper_checks.papers.list import PAPERS
from paper_checks.report import Unusable

BORROWED = {
    "stress": ("numerics.stress", "a theorem over sizes, dtypes and devices"),
    "analyze": ("numerics.trained.analyze", "measure the attention of a checkpoint"),
}


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected an integer that is not negative, got {text!r}")
    return int(text)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=_positive, default=2, metavar="N",
                        help="worker processes (default 2)")  # fmt: skip
    parser.add_argument("--seed", type=_natural, default=0, metavar="N",
                        help="seed of the run (default 0)")  # fmt: skip


def _add_verify(commands_: argparse._SubParsersAction) -> None:
    parser = commands_.add_parser("verify", help="verify theorems and judge the papers' claims")
    parser.add_argument("ids", nargs="*", metavar="ID", help="theorems or families (default: all)")
    parser.add_argument(
        "--paper", choices=sorted(PAPERS), help="only this paper's family and claims"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the page")
    parser.add_argument("--report", type=Path, metavar="DIR",
                        help="write report.json, report.html and appendix.tex")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="what is still to come fails too")
    parser.add_argument("--no-formal", action="store_true",
                        help="leave out kernel-checked proofs")  # fmt: skip
    _add_run_options(parser)
    parser.set_defaults(run=commands.run_verify)


def _parser(command: str | None) -> argparse.ArgumentParser:
    """The parser; of the commands that live elsewhere it knows only the arguments of `command`."""
    parser = argparse.ArgumentParser(
        prog=SUITE, description="Verify theorems about self-attention."
    )
    parser.add_argument("--version", action="version", version=f"{SUITE} {suite_version()}")
    known = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_verify(known)
    listing = known.add_parser("list", help="theorems built and planned, and the claims")
    listing.set_defaults(run=commands.run_list)
    show = known.add_parser("show", help="a theorem or a claim")
    show.add_argument("id", metavar="ID")
    show.add_argument("--bibtex", action="store_true", help="how to cite it")
    show.set_defaults(run=commands.run_show)
    appendix = known.add_parser("appendix", help="the LaTeX appendix")
    appendix.add_argument("--out", type=Path, required=True, metavar="FILE")
    appendix.add_argument(
        "--json", type=Path, metavar="FILE", help="a report, instead of a new run"
    )
    _add_run_options(appendix)
    appendix.set_defaults(run=commands.run_appendix, paper=None, no_formal=False)
    for name, (module, text) in BORROWED.items():
        borrowed = known.add_parser(name, help=text)
        if name == command:
            # Imported only when asked for: these bring torch and more.
            home = import_module(module)
            home.add_arguments(borrowed)
            run = partial(commands.run_stress, home) if name == "stress" else home.run
            borrowed.set_defaults(run=run)
    prove = known.add_parser(
        "prove",
        help="check the formal proofs with a prover's kernel",
        epilog="Exit status: 0 all closed; 1 a proof or its source is refused; 2 no prover found.",
    )
    prove.add_argument("ids", nargs="*", metavar="ID", help="theorems or families (default: all)")
    prove.add_argument("--jobs", type=_positive, default=2, metavar="N",
                       help="sources compiled at a time (default 2)")  # fmt: skip
    prove.set_defaults(run=commands.run_prove)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Raises: SystemExit(2) from argparse, after one line that names the argument.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parsed = _parser(words[0] if words else None).parse_args(words)
    try:
        return parsed.run(parsed)
    except Unusable as error:
        print(f"{SUITE} {parsed.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; nothing may be flushed at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"{SUITE} {parsed.command}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
