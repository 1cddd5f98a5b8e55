"""`python -m numerics.stress`: the same as `attention-geometry stress`.

`torchrun --standalone --nproc-per-node K -m -- numerics.stress CW2 ...` shares the rows of every
cell among K ranks; without the two dashes torchrun takes `--n` for an option of its own.
"""

import argparse
import sys

from numerics.stress.command import add_arguments, run


def main(arguments: list[str] | None = None) -> int:
    """Runs the command on the given arguments, those of the process by default."""
    parser = argparse.ArgumentParser(prog="python -m numerics.stress", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
