"""``privcov study``: what researchers need, from the lists of methods and sources to a saved study."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import privcov
from privcov.cli import streams
from privcov.cli.options import add_json, print_json
from privcov.cli.progress import counted

if TYPE_CHECKING:
    from privcov.core.parameters import Spec


def add_study(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``study`` to the commands of the parser."""
    study = commands.add_parser("study", help="methods, sources, and studies saved by a page")
    parts = study.add_subparsers(dest="part", required=True)
    add_listing(parts)
    runner = parts.add_parser("run", help="run a saved study (Plan JSON, one or a list) and write its table as CSV")
    runner.add_argument("plan", type=Path, help="the file of the study, as a page or Plan.to_json wrote it")
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out")
    runner.add_argument("--fresh", action="store_true", help="compute everything again, whatever is kept")
    runner.add_argument("--workers", type=int, help="processes; PRIVCOV_WORKERS or every core when left out")
    runner.add_argument("--cluster", metavar="ADDRESS", help="scheduler of dask, such as tcp://HOST:8786")
    runner.set_defaults(act=_run)


def _run(options: argparse.Namespace) -> None:
    from privcov.studies import cluster, saved
    from privcov.studies.cells import Cell
    from privcov.studies.store import Store

    _check_workers(options)
    streams.check_place(options.out, needed=[options.plan])
    plans, store, kept = saved.read(options.plan.read_bytes()), None if options.fresh else Store(), 0

    def tell(done: int, total: int, cell: list[dict]) -> None:
        nonlocal kept
        assert isinstance(cell, Cell)
        kept += cell.reused
        counted(done, total, cell)

    with cluster.on(options.cluster) if options.cluster else contextlib.nullcontext():
        table = saved.run(plans, tell, store, workers=options.workers)
    if kept:
        assert store is not None, "only a store has runs from before"
        print(f"{kept:,} of these runs were computed before and came from {store.path}.", file=sys.stderr)
    streams.answer(table.to_csv(index=False), options.out)


def _check_workers(options: argparse.Namespace) -> None:
    from privcov.core import checks

    if options.workers is not None:
        checks.whole("--workers", options.workers, 1, 1024)


def add_listing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``methods`` and ``sources`` to the commands of the parser."""
    methods = commands.add_parser("methods", help="list the methods with their guarantees and standing")
    sources = commands.add_parser("sources", help="list the data sources, simulated and public")
    for parser, act in ((methods, _methods), (sources, _sources)):
        add_json(parser)
        parser.set_defaults(act=act)


def _methods(options: argparse.Namespace) -> None:
    cards = privcov.methods()
    if options.json:
        plain = ("key", "label", "target", "family", "trust", "standing", "summary", "avoid", "reference", "version")
        more = ("relations", "centres", "tunings", "missing_cells")
        print_json(
            [
                {name: getattr(card, name) for name in plain + more}
                | {"guarantees": [kind.name for kind in card.guarantees], "calibrations": dict(card.calibrations)}
                | {"parameters": [_parameter(spec) for spec in card.parameters]}
                for card in cards
            ]
        )
        return
    for card in cards:
        kinds = ", ".join(g.name for g in card.guarantees)
        print(f"{card.key:<18} {card.target:<11} {card.trust:<8} {card.standing:<11} {kinds}")
        print(f"{'':<18} {card.summary}")


def _sources(options: argparse.Namespace) -> None:
    cards = privcov.sources()
    if options.json:
        plain = ("key", "label", "group", "summary", "reference")
        print_json(
            [
                {name: getattr(card, name) for name in plain}
                | {"parameters": [_parameter(spec) for spec in card.parameters]}
                for card in cards
            ]
        )
        return
    for card in cards:
        print(f"{card.key:<18} {card.group:<18} {card.label}")
        print(f"{'':<18} {card.summary}")


def _parameter(spec: Spec) -> dict[str, Any]:
    names = ("name", "default", "label", "help", "low", "high", "choices", "unit")
    return {name: getattr(spec, name) for name in names}
