"""The same from a shell: ``methods`` lists, ``run`` runs a study, ``release`` and ``ledger`` are for private tables."""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

import privcov
from privcov.cli import (
    advice,
    answers,
    app,
    bundle,
    check,
    completion,
    declare,
    edges,
    examples,
    generate,
    ledger,
    listing,
    release,
    site,
    verify,
)
from privcov.cli.progress import counted


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line (``sys.argv`` where none is given) and return its exit code."""
    return edges.guarded(functools.partial(_carry_out, whole_parser(), argv))


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="privcov",
        description=__doc__,
        epilog=examples.CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"privcov {privcov.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    listing.add_listing(commands)
    runner = commands.add_parser("run", help="run a saved study (Plan JSON, one or a list) and write its table as CSV")
    runner.add_argument("plan", type=Path, help="the file of the study, as a page or Plan.to_json wrote it")
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out, unless there is a report")
    runner.add_argument("--report", type=Path, help="write a report with figures, as one HTML file")
    runner.add_argument("--fresh", action="store_true", help="compute everything again, whatever is kept")
    runner.set_defaults(act=_run)
    fetcher = commands.add_parser("fetch", help="download one of the papers' data sets into the data folder")
    fetcher.add_argument("source", help="its key, such as ionosphere")
    fetcher.set_defaults(act=_fetch)
    runner.add_argument("--workers", type=int, help="processes; PRIVCOV_WORKERS or every core when left out")
    advice.add_advice(commands)
    release.add_release(commands)
    ledger.add_ledger(commands)
    verify.add_verify(commands)
    answers.add_answers(commands)
    generate.add_generate(commands)
    declare.add_declare(commands)
    check.add_check(commands)
    app.add_app(commands)
    app.add_token(commands)
    site.add_site(commands)
    bundle.add_bundle(commands)
    completion.add_completion(commands, parser)
    examples.add_examples(commands)
    return parser


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
