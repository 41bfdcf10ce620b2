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
    runner = commands.add_parser("run", help="run a saved study (Plan JSON) and write its table as CSV")
    runner.add_argument("plan", type=Path)
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out")
    runner.set_defaults(act=_run)
    fetcher = commands.add_parser("fetch", help="download one of the papers' data sets into the data folder")
    fetcher.add_argument("source", help="its key, such as ionosphere")
    fetcher.set_defaults(act=_fetch)
    again = commands.add_parser("reproduce", help="compute the papers' tables again, as published and sound")
    again.add_argument("tables", nargs="*", help="keys such as 2-table-2; all when left out")
    again.add_argument("--preset", choices=("small", "full"), default="small", help="small: minutes; full: overnight")
    again.set_defaults(act=_reproduce)
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
    plan = privcov.Plan.from_json(options.plan.read_text(encoding="utf-8"))
    table = privcov.run(plan, _progress)
    table.to_csv(options.out or sys.stdout, index=False)


def _progress(done: int, total: int, rows: list[dict]) -> None:
    print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)


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
