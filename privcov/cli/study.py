"""``privcov study run``: the table of a saved plan."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from privcov.cli import streams
from privcov.cli.progress import print_progress
from privcov.core import checks


def add_study(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``study`` to the commands of the parser."""
    study = commands.add_parser("study", help="sweeps over simulated and public tables, saved as JSON")
    parts = study.add_subparsers(dest="part", required=True)
    runner = parts.add_parser("run", help="run a saved plan and write its table as CSV")
    runner.add_argument("plan", type=Path, help="the file of the plan, as Plan.to_json wrote it")
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out")
    runner.add_argument("--fresh", action="store_true", help="compute everything again, whatever is kept")
    runner.add_argument("--workers", type=int, help="processes; PRIVCOV_WORKERS or every core when left out")
    runner.add_argument("--cluster", metavar="ADDRESS", help="scheduler of dask, such as tcp://HOST:8786")
    runner.set_defaults(act=_run)


def _run(options: argparse.Namespace) -> None:
    from privcov.studies import cluster
    from privcov.studies.cells import Cell
    from privcov.studies.plan import Plan, run
    from privcov.studies.store import Store

    if options.workers is not None:
        checks.integer("--workers", options.workers, 1, 1024)
    streams.check_place(options.out, required_files=[options.plan])
    plan, store, n_reused = Plan.from_json(options.plan.read_bytes()), None if options.fresh else Store(), 0

    def tell(done: int, total: int, cell: list[dict]) -> None:
        nonlocal n_reused
        assert isinstance(cell, Cell)
        n_reused += cell.reused
        print_progress(done, total, cell)

    with cluster.dask_scheduler(options.cluster) if options.cluster else contextlib.nullcontext():
        table = run(plan, tell, store, workers=options.workers)
    if n_reused:
        assert store is not None, "only a store has runs from before"
        print(f"{n_reused:,} of these runs were computed before and came from {store.path}.", file=sys.stderr)
    streams.answer(table.to_csv(index=False), options.out)
