"""The same from a shell: ``methods`` lists, ``run`` runs a study, ``release`` and ``ledger`` are for private tables."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import privcov


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
    runner.set_defaults(act=_run)
    fetcher = commands.add_parser("fetch", help="download one of the papers' data sets into the data folder")
    fetcher.add_argument("source", help="its key, such as ionosphere")
    fetcher.set_defaults(act=_fetch)
    again = commands.add_parser("reproduce", help="compute the papers' tables again, as published and sound")
    again.add_argument("tables", nargs="*", help="keys such as 2-table-2; all when left out")
    again.add_argument("--preset", choices=("small", "full"), default="small", help="small: minutes; full: overnight")
    again.set_defaults(act=_reproduce)
    _add_advice(commands)
    _add_release(commands)
    _add_ledger(commands)
    options = parser.parse_args(argv)
    try:
        options.act(options)
    except (OSError, ValueError, TypeError, RuntimeError) as problem:
        print(f"privcov: {problem}", file=sys.stderr)
        return 2
    return 0


def _run(options) -> None:
    from privcov.experiments import studies

    plans = studies.read(options.plan.read_bytes())
    table = studies.run(plans, _progress)
    if options.out or not options.report:
        table.to_csv(options.out or sys.stdout, index=False)
    if options.report:
        from privcov.bundle import report

        options.report.write_text(report.of_study(plans, table), encoding="utf-8")
        print(f"Report: {options.report}", file=sys.stderr)


def _progress(done: int, total: int, rows: list[dict]) -> None:
    if sys.stderr.isatty():
        print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)
    elif done == total or done * 10 // total > (done - 1) * 10 // total:  # a log file gets a line per tenth
        print(f"{done}/{total}", file=sys.stderr)


def _fetch(options) -> None:
    from privcov.data_sources.fetch import download

    print(download(options.source))


def _reproduce(options) -> None:
    from privcov.experiments.reproduce import reproduce

    def tell(done: int, total: int, step, seconds: float) -> None:
        took = "its data set is not there; left as it was" if math.isnan(seconds) else f"{seconds:.1f} s"
        print(f"{done}/{total} {step.table.key}, {step.point.name}, {step.variant}: {took}", file=sys.stderr)

    for path in reproduce(options.tables, options.preset, progress=tell):
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
    _add_guarantee(advice)
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
    from privcov.experiments.advice import advise
    from privcov.experiments.advice_words import if_known, table

    if options.recompute:
        _measure_again()
        return
    if options.n is None or options.d is None:
        raise ValueError("advice needs --n and --d, the numbers of rows and columns.")
    names = ("mean_known", "add_remove", "private", "length_ratio", "rows_per_person")
    told = {name: getattr(options, name) for name in names}
    found = advise(options.n, options.d, _guarantee(options), options.target, options.structure, **told)
    print(*found.verdict, sep="\n")
    print("", *table(found), sep="\n")
    if known := if_known(found):
        print("\nIf you knew the structure:", *known, sep="\n  ")
    print("\nWhat would change it:", *(found.what_would_change or ["nothing that was measured"]), sep="\n  ")


def _measure_again() -> None:
    from threadpoolctl import threadpool_limits

    from privcov.experiments.advice_grid import TARGETS, measure, write, write_about
    from privcov.experiments.store import Store

    store = Store()
    with threadpool_limits(1, user_api="blas"):  # at these sizes a second thread only waits for the first
        for target in TARGETS:
            print(write(target, measure(target, store, lambda done, total: _progress(done, total, []))))
        write_about()


# --- private tables -----------------------------------------------------------------------------------------


def _add_release(commands) -> None:
    release = commands.add_parser("release", help="release once from a private CSV, on the record of the ledger")
    release.add_argument("data", type=Path, help="CSV file")
    release.add_argument("--declaration", type=Path, required=True, help="declaration JSON: columns, bounds, persons")
    release.add_argument("--method", default="auto-cov")
    _add_guarantee(release)
    release.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    release.add_argument("--draw", type=int, default=1, help="2, 3, ... for another draw, which is paid again")
    release.add_argument(
        "--different-from", action="append", default=[], metavar="NAME", help="a table of other people"
    )
    release.add_argument("--out", type=Path, help="JSON file; standard output when left out")
    release.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    release.set_defaults(act=_release)


def _add_ledger(commands) -> None:
    ledger = commands.add_parser("ledger", help="what has been spent on private tables, and their limits")
    ledger.add_argument("what", nargs="?", choices=("list", "show", "limit"), default="list")
    ledger.add_argument("name", nargs="?", help="the declared name of a table")
    _add_guarantee(ledger)
    ledger.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    ledger.set_defaults(act=_ledger)


def _add_guarantee(parser) -> None:
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float)
    parser.add_argument("--rho", type=float)


def _guarantee(options) -> privcov.PureDP | privcov.ApproxDP | privcov.ZCDP:
    given = (options.epsilon is not None, options.delta is not None, options.rho is not None)
    if given == (False, False, True):
        return privcov.ZCDP(options.rho)
    if given == (True, True, False):
        return privcov.ApproxDP(options.epsilon, options.delta)
    if given == (True, False, False):
        return privcov.PureDP(options.epsilon)
    raise ValueError("Give --rho, or --epsilon, or --epsilon and --delta.")


def _release(options) -> None:
    from privcov.data_sources.private_file import Declaration, read_private

    guarantee = _guarantee(options)
    declaration = Declaration.from_json(options.declaration.read_text(encoding="utf-8"))
    ledger = privcov.Ledger(options.ledger)
    made = privcov.release_private(
        options.method,
        read_private(options.data.read_bytes(), declaration),
        guarantee,
        ledger=ledger,
        draw=options.draw,
        different_from=tuple(options.different_from),
        **_parameters(options),
    )
    if options.out:
        options.out.write_text(made.to_json() + "\n", encoding="utf-8")
    else:
        print(made.to_json())
    print(made.statement, file=sys.stderr)
    print(ledger.account(declaration.name.strip()).sentence, file=sys.stderr)


def _parameters(options) -> dict:
    """NAME=VALUE pairs; a value is a number where it reads as one."""
    found = {}
    for pair in options.set:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, got {pair!r}.")
        for read in (int, float, str):
            try:
                found[name] = read(value)
                break
            except ValueError:
                continue
    return found


def _ledger(options) -> None:
    ledger = privcov.Ledger(options.ledger)
    if options.what != "list" and not options.name:
        raise ValueError(f"ledger {options.what} needs the name of a table.")
    if options.what == "limit":
        print(f"{options.name}: {ledger.limit(options.name, _guarantee(options)).sentence}")
        return
    for name in [options.name] if options.name else ledger.names():
        print(f"{name}: {ledger.account(name).sentence}")
        if options.what == "show":
            for entry in ledger.entries(name):
                unit = "epsilon" if entry.cost.kind == "pure" else "rho"
                what = entry.request.get("method", "")
                print(
                    f"  {entry.number} {entry.reserved_at} {entry.state} {what} {unit} {float(entry.cost.amount):.9g}"
                )


if __name__ == "__main__":
    sys.exit(main())
