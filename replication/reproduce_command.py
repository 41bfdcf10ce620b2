"""``python -m replication reproduce``: the papers' tables again, and whether what is stored comes out again."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from privcov.cli import streams
from privcov.core import paths

if TYPE_CHECKING:
    from replication.again import Again
    from replication.reproduce import Step


def add_reproduce(commands: argparse._SubParsersAction) -> None:
    """Add ``reproduce`` with its options to the command line."""
    parser = commands.add_parser("reproduce", help="compute the papers' tables again, as published and sound")
    parser.add_argument("tables", nargs="*", help="keys such as 2-table-2; all when left out")
    parser.add_argument(
        "--preset",
        choices=("small", "overnight", "full"),
        help="small (the default): minutes; overnight: hours; full: days",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the tables, instead of data/reproduced")
    parser.add_argument("--fresh", action="store_true", help="compute everything again, whatever is stored")
    parser.add_argument("--check", action="store_true", help="recompute random stored cells, compare, write nothing")
    parser.add_argument("--cells", type=int, help="how many cells --check recomputes (12)")
    parser.add_argument("--seed", type=int, help="seed of the numbers; with --check, of the choice of cells")
    parser.add_argument("--workers", type=int, help="processes; PRIVCOV_WORKERS or every core when left out")
    parser.set_defaults(act=_reproduce)


def _reproduce(options: argparse.Namespace) -> None:
    from privcov.core import checks
    from replication import reproduce

    if options.workers is not None:
        checks.integer("--workers", options.workers, 1, 1024)
    if options.seed is not None:
        checks.integer("--seed", options.seed, 0, 2**63 - 1)
    if options.check:
        _check(options)
        return
    if options.cells is not None:
        raise ValueError("--cells says how many cells --check recomputes. Give --check too, or leave --cells out.")
    reproduce.steps(options.tables)  # an unknown table is told before a folder is made
    if options.out is not None:
        if options.out.exists() and not options.out.is_dir():
            raise ValueError(f"--out must be a folder, and {options.out} is a file. Give another place.")
        options.out.mkdir(parents=True, exist_ok=True)
    streams.check_folder(options.out or paths.results("reproduced"))
    seed = reproduce.SEED if options.seed is None else options.seed
    told = _Told()
    for path in reproduce.reproduce(
        options.tables, options.preset or "small", seed=seed, folder=options.out, fresh=options.fresh,
        progress=told.step, remaining=told.remaining, workers=options.workers,
    ):  # fmt: skip
        print(path)


class _Told:
    """A line for each step that is over, with how much is left."""

    left = math.nan

    def remaining(self, seconds: float) -> None:
        """Keep the forecast for the next line; the first one is told at once, before hours or days of computing."""
        if math.isnan(self.left) and seconds > 0:
            print(f"About {_time(seconds)} of computing left.", file=sys.stderr)
        self.left = seconds

    def step(self, done: int, total: int, step: Step, seconds: float) -> None:
        """Print the line."""
        took = "its data set is not there; left as it was" if math.isnan(seconds) else f"{seconds:.1f} s"
        left = f"; about {_time(self.left)} left" if self.left > 0 else ""
        print(f"{done}/{total} {step.table.key}, {step.point.name}, {step.variant}: {took}{left}", file=sys.stderr)


def _time(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _check(options: argparse.Namespace) -> None:
    """Recompute stored cells; fail where one differs, is out of date, or where none could be compared."""
    from replication import again

    for name in ("preset", "fresh"):
        if getattr(options, name):
            raise ValueError(f"--check recomputes what is stored, so --{name} cannot be given with it. Leave one out.")

    def tell(cell: Again, done: int, total: int) -> None:
        now = "" if math.isnan(cell.now) else f", now {cell.now:.6g}"
        print(f"{done}/{total} {cell.table}, {cell.cell}: {cell.word} (stored {cell.kept:.6g}{now})")

    cells = again.CELLS if options.cells is None else options.cells
    found = again.check(
        options.tables, cells, seed=options.seed, folder=options.out, progress=tell, workers=options.workers
    )
    counted = {word: sum(cell.word == word for cell in found) for word in dict.fromkeys(c.word for c in found)}
    print("; ".join(f"{count} {word}" for word, count in counted.items()) + ".")
    if counted.get(again.DIFFERS) or counted.get(again.OLDER):
        raise streams.Failed("Stored cells do not come out again. Compute their tables again: reproduce TABLE --fresh.")
    if not counted.get(again.SAME):
        raise streams.Failed("No cell could be compared: the data sets of all of them are not there.")
