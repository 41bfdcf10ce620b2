"""The same from a shell: ``methods`` lists, ``run`` runs a study, ``release`` and ``ledger`` are for private tables."""

from __future__ import annotations

import argparse
import functools
import math
import sys
from pathlib import Path

import privcov
from privcov import places
from privcov.cli import advice, app, check, declare, edges, generate, ledger, release, site, verify
from privcov.cli.progress import counted


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line (``sys.argv`` where none is given) and return its exit code."""
    parser = argparse.ArgumentParser(prog="privcov", description=__doc__)
    parser.add_argument("--version", action="version", version=f"privcov {privcov.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("methods", help="list the methods with their guarantees and standing").set_defaults(
        act=_methods
    )
    runner = commands.add_parser("run", help="run a saved study (Plan JSON, one or a list) and write its table as CSV")
    runner.add_argument("plan", type=Path)
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out, unless there is a report")
    runner.add_argument("--report", type=Path, help="write a report with figures, as one HTML file")
    runner.add_argument("--fresh", action="store_true", help="compute everything again, whatever is kept")
    runner.set_defaults(act=_run)
    fetcher = commands.add_parser("fetch", help="download one of the papers' data sets into the data folder")
    fetcher.add_argument("source", help="its key, such as ionosphere")
    fetcher.set_defaults(act=_fetch)
    again = commands.add_parser("reproduce", help="compute the papers' tables again, as published and sound")
    again.add_argument("tables", nargs="*", help="keys such as 2-table-2; all when left out")
    again.add_argument("--preset", choices=("small", "full"), default="small", help="small: minutes; full: overnight")
    again.set_defaults(act=_reproduce)
    for one in (runner, again):
        one.add_argument("--workers", type=int, help="processes; PRIVCOV_WORKERS or every core when left out")
    advice.add_advice(commands)
    release.add_release(commands)
    ledger.add_ledger(commands)
    verify.add_verify(commands)
    generate.add_generate(commands)
    declare.add_declare(commands)
    check.add_check(commands)
    app.add_app(commands)
    site.add_site(commands)
    return edges.guarded(functools.partial(_carry_out, parser, argv))


def _carry_out(parser: argparse.ArgumentParser, argv: list[str] | None) -> None:
    options = parser.parse_args(argv)
    options.act(options)


def _run(options: argparse.Namespace) -> None:
    from privcov.sweeps import studies
    from privcov.sweeps.cells import Cell
    from privcov.sweeps.store import Store

    _check_workers(options)
    edges.check_apart({"--out": options.out, "--report": options.report}, [options.plan])
    if options.out or not options.report:
        edges.check_place(options.out)
    if options.report:
        edges.check_place(options.report, "--report")
    plans, store, kept = studies.read(options.plan.read_bytes()), None if options.fresh else Store(), 0

    def tell(done: int, total: int, cell: list[dict]) -> None:
        nonlocal kept
        assert isinstance(cell, Cell)
        kept += cell.reused
        counted(done, total, cell)

    table = studies.run(plans, tell, store, workers=options.workers)
    if kept:
        assert store is not None, "only a store has runs from before"
        print(f"{kept:,} of these runs were computed before and came from {store.path}.", file=sys.stderr)
    if options.out or not options.report:
        edges.answer(table.to_csv(index=False), options.out)
    if options.report:
        from privcov.bundle import report

        edges.answer(report.of_study(plans, table), options.report)
        print(f"Report: {options.report}", file=sys.stderr)


def _check_workers(options: argparse.Namespace) -> None:
    from privcov import checks

    if options.workers is not None:
        checks.whole("--workers", options.workers, 1, 1024)


def _fetch(options: argparse.Namespace) -> None:
    from privcov.data_sources.fetch import download

    print(download(options.source))


def _reproduce(options: argparse.Namespace) -> None:
    from privcov.papers.reproduce import Step, reproduce

    _check_workers(options)
    edges.check_folder(places.results("reproduced"))

    def tell(done: int, total: int, step: Step, seconds: float) -> None:
        took = "its data set is not there; left as it was" if math.isnan(seconds) else f"{seconds:.1f} s"
        print(f"{done}/{total} {step.table.key}, {step.point.name}, {step.variant}: {took}", file=sys.stderr)

    for path in reproduce(options.tables, options.preset, progress=tell, workers=options.workers):
        print(path)


def _methods(options: argparse.Namespace) -> None:
    for card in privcov.methods():
        kinds = ", ".join(g.name for g in card.guarantees)
        print(f"{card.key:<18} {card.target:<11} {card.trust:<8} {card.standing:<11} {kinds}")
        print(f"{'':<18} {card.summary}")
