"""The command ``advice``: the error of a private release for n, d and a guarantee, simulated now."""

from __future__ import annotations

import argparse
import dataclasses

from privcov.cli.options import add_guarantee, add_json, guarantee_of, print_json


def add_advice(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``advice`` to the commands of the parser."""
    advice = commands.add_parser("advice", help="what would a release be worth for my n, d and guarantee? No rows")
    advice.add_argument("--n", type=int, help="number of rows, from 2; not with --rows")
    advice.add_argument("--d", type=int, required=True, help="number of columns, from 1 to 200")
    add_guarantee(advice)
    advice.add_argument(
        "--spread",
        type=float,
        help="standard deviation of a column over its half-range, as in 0.3; without it, for tables that declare where "
        "nine in ten values lie",
    )
    advice.add_argument(
        "--structure",
        default="blocks",
        help="what moves together: blocks (groups of four columns), factor (all), neighbours or independent",
    )
    advice.add_argument("--strength", type=float, default=0.5, help="the largest correlation; 0.5 by default")
    advice.add_argument("--skew", type=float, default=0.0, help="0 for normal columns, 1 for columns such as incomes")
    advice.add_argument(
        "--row-bound-fraction", type=float, help="row bound over the longest row; by default as the declaration implies"
    )
    advice.add_argument(
        "--error",
        type=float,
        help="the least epsilon or rho for this error, as in 0.1; the given one names the kind alone",
    )
    advice.add_argument("--rows", action="store_true", help="with --error: the least number of rows that gives it")
    add_json(advice)
    advice.set_defaults(act=_advice)


def _advice(options: argparse.Namespace) -> None:
    from privcov.core import checks
    from privcov.core.guarantees import to_dict
    from privcov.steward.expect import expect, least_level, least_rows

    guarantee, d = guarantee_of(options), options.d
    supposed = {
        name: getattr(options, name) for name in ("spread", "structure", "strength", "skew", "row_bound_fraction")
    }
    supposed["random_state"] = 0
    if options.rows and options.error is None:
        raise ValueError("--rows needs --error, the error that the rows shall give.")
    if options.rows and options.n is not None:
        raise ValueError("--rows asks for the number of rows. Leave --n out.")
    if options.n is None and not options.rows:
        raise ValueError("advice needs --n, the number of rows.")
    if options.error is None:
        expectation = expect(options.n, d, guarantee, **supposed)
    else:
        target_error = checks.in_range(
            "--error", options.error, 1e-4, 0.99, "The zero matrix has an error of 1; 5 % is 0.05."
        )
        if options.rows:
            expectation = least_rows(target_error, d, guarantee, **supposed)
        else:
            expectation = least_level(target_error, options.n, d, guarantee, **supposed)
    if options.json:
        fields = {
            field.name: getattr(expectation, field.name) for field in dataclasses.fields(expectation) if field.repr
        }
        reached = options.error is None or expectation.error <= options.error
        print_json(fields | {"guarantee": to_dict(expectation.guarantee), "reached": reached})
        return
    if options.error is not None and expectation.error > options.error:
        print(
            f"No {'number of rows' if options.rows else 'level'} that is searched gives {options.error:.1%}. The last:"
        )
    print(expectation)
