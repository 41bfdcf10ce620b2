"""The same from a shell: ``python -m privcov methods`` lists, ``python -m privcov run plan.json`` runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import privcov


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m privcov", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("methods", help="list the methods with their guarantees and standing")
    runner = commands.add_parser("run", help="run a saved study (Plan JSON) and write its table as CSV")
    runner.add_argument("plan", type=Path)
    runner.add_argument("--out", type=Path, help="CSV file; standard output when left out")
    options = parser.parse_args(argv)
    if options.command == "methods":
        _print_methods()
        return 0
    try:
        plan = privcov.Plan.from_json(options.plan.read_text(encoding="utf-8"))
        table = privcov.run(plan, _progress)
        table.to_csv(options.out or sys.stdout, index=False)
    except (OSError, ValueError, TypeError) as problem:
        print(f"privcov: {problem}", file=sys.stderr)
        return 2
    return 0


def _progress(done: int, total: int, rows: list[dict]) -> None:
    print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)


def _print_methods() -> None:
    for card in privcov.methods():
        kinds = ", ".join(g.name for g in card.guarantees)
        print(f"{card.key:<18} {card.target:<11} {card.trust:<8} {card.standing:<11} {kinds}")
        print(f"{'':<18} {card.summary}")


if __name__ == "__main__":
    sys.exit(main())
