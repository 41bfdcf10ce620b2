"""The same from a shell: ``methods`` lists, ``run`` runs a study, ``release`` and ``ledger`` are for private tables."""

from __future__ import annotations

import sys

from privcov import _shell_edges

if __name__ == "__main__":
    _shell_edges.begin()  # before the other imports, which take time: an interruption meets it

import argparse
import functools
import math
from pathlib import Path

import privcov
from privcov import _shell_check, _shell_generate, _shell_release


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m privcov", description=__doc__)
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
    _add_advice(commands)
    _shell_release.add_commands(commands)
    _shell_generate.add_generate(commands)
    _shell_check.add_check(commands)
    return _shell_edges.guarded(functools.partial(_carry_out, parser, argv))


def _carry_out(parser: argparse.ArgumentParser, argv: list[str] | None) -> None:
    options = parser.parse_args(argv)
    options.act(options)


def _run(options) -> None:
    from privcov.sweeps import studies
    from privcov.sweeps.store import Store

    _check_workers(options)
    _shell_edges.check_apart({"--out": options.out, "--report": options.report}, [options.plan])
    if options.out or not options.report:
        _shell_edges.check_place(options.out)
    if options.report:
        _shell_edges.check_place(options.report, "--report")
    plans, store, kept = studies.read(options.plan.read_bytes()), None if options.fresh else Store(), 0

    def tell(done: int, total: int, cell) -> None:
        nonlocal kept
        kept += cell.reused
        _progress(done, total, cell)

    table = studies.run(plans, tell, store, workers=options.workers)
    if kept:
        print(f"{kept:,} of these runs were computed before and came from {store.path}.", file=sys.stderr)
    if options.out or not options.report:
        _shell_edges.answer(table.to_csv(index=False), options.out)
    if options.report:
        from privcov.bundle import report

        _shell_edges.answer(report.of_study(plans, table), options.report)
        print(f"Report: {options.report}", file=sys.stderr)


def _check_workers(options) -> None:
    from privcov import checks

    if options.workers is not None:
        checks.whole("--workers", options.workers, 1, 1024)


def _progress(done: int, total: int, rows: list[dict]) -> None:
    if sys.stderr.isatty():
        print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)
    elif done == total or done * 10 // total > (done - 1) * 10 // total:  # a log file gets a line per tenth
        print(f"{done}/{total}", file=sys.stderr)


def _fetch(options) -> None:
    from privcov.data_sources.fetch import download

    print(download(options.source))


def _reproduce(options) -> None:
    from privcov.papers.reproduce import REPRODUCED, reproduce

    _check_workers(options)
    _shell_edges.check_folder(REPRODUCED)

    def tell(done: int, total: int, step, seconds: float) -> None:
        took = "its data set is not there; left as it was" if math.isnan(seconds) else f"{seconds:.1f} s"
        print(f"{done}/{total} {step.table.key}, {step.point.name}, {step.variant}: {took}", file=sys.stderr)

    for path in reproduce(options.tables, options.preset, progress=tell, workers=options.workers):
        print(path)


def _methods(options) -> None:
    for card in privcov.methods():
        kinds = ", ".join(g.name for g in card.guarantees)
        print(f"{card.key:<18} {card.target:<11} {card.trust:<8} {card.standing:<11} {kinds}")
        print(f"{'':<18} {card.summary}")


# --- advice -------------------------------------------------------------------------------------------------


def _add_advice(commands) -> None:
    advice = commands.add_parser("advice", help="which method for my n, d and guarantee? From measured cells, no rows")
    advice.add_argument("--n", type=int, help="number of rows; where it is not public, a guess")
    advice.add_argument("--d", type=int, help="number of columns")
    _shell_release.add_guarantee(advice)
    advice.add_argument("--target", choices=("covariance", "precision", "graph"), default="covariance")
    advice.add_argument(
        "--structure",
        default="unknown",
        help="what you suspect: independent, banded (sparse), dense, low-rank or skewed; data/advice/README.md has all",
    )
    advice.add_argument("--mean-known", action="store_true", help="the mean is publicly zero and need not be measured")
    advice.add_argument("--add-remove", action="store_true", help="the number of rows is not public")
    advice.add_argument("--private", action="store_true", help="only methods that private rows are offered")
    advice.add_argument("--length-ratio", type=float, help="row bound over the usual length of a row about the mean")
    advice.add_argument("--rows-per-person", type=int, default=1)
    advice.add_argument("--recompute", action="store_true", help="measure the evidence again (minutes; can be resumed)")
    advice.set_defaults(act=_advice)


def _advice(options) -> None:
    from privcov.advice.advise import advise
    from privcov.advice.words import if_known, table

    if options.recompute:
        _measure_again()
        return
    if options.n is None or options.d is None:
        raise ValueError("advice needs --n and --d, the numbers of rows and columns.")
    names = ("mean_known", "add_remove", "private", "length_ratio", "rows_per_person")
    told = {name: getattr(options, name) for name in names}
    found = advise(
        options.n, options.d, _shell_release.guarantee_of(options), options.target, options.structure, **told
    )
    print(*found.verdict, sep="\n")
    print("", *table(found), sep="\n")
    if known := if_known(found):
        print("\nIf you knew the structure:", *known, sep="\n  ")
    print("\nWhat would change it:", *(found.what_would_change or ["nothing that was measured"]), sep="\n  ")


def _measure_again() -> None:
    from threadpoolctl import threadpool_limits

    from privcov.advice.grid import FOLDER, TARGETS, measure, write, write_about
    from privcov.sweeps.store import Store

    _shell_edges.check_folder(FOLDER)
    store = Store()
    with threadpool_limits(1, user_api="blas"):  # at these sizes a second thread only waits for the first
        for target in TARGETS:
            print(write(target, measure(target, store, lambda done, total: _progress(done, total, []))))
        write_about()


if __name__ == "__main__":
    sys.exit(main())
