"""The command ``advice``: which method for n, d and a guarantee, from measured cells."""

from __future__ import annotations

import argparse
import dataclasses

from privcov import places
from privcov.cli import streams
from privcov.cli.options import add_guarantee, add_json, guarantee_of, print_json
from privcov.cli.progress import counted


def add_advice(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``advice`` to the commands of the parser."""
    advice = commands.add_parser("advice", help="which method for my n, d and guarantee? From measured cells, no rows")
    advice.add_argument("--n", type=int, help="number of rows; where it is not public, a guess")
    advice.add_argument("--d", type=int, help="number of columns")
    add_guarantee(advice)
    advice.add_argument(
        "--target", choices=("covariance", "precision", "graph"), default="covariance", help="what is estimated"
    )
    advice.add_argument(
        "--structure",
        default="unknown",
        help="what you suspect: independent, banded (sparse), fading, dense, low-rank or skewed; data/advice/README.md "
        "has all",
    )
    advice.add_argument("--mean-known", action="store_true", help="the mean is publicly zero and need not be measured")
    advice.add_argument("--add-remove", action="store_true", help="the number of rows is not public")
    advice.add_argument("--private", action="store_true", help="only methods that private rows are offered")
    advice.add_argument("--length-ratio", type=float, help="row bound over the usual length of a row about the mean")
    advice.add_argument("--rows-per-person", type=int, default=1, help="most rows that one person has")
    advice.add_argument("--error", type=float, help="also the least epsilon or rho that gives this error, as in 0.1")
    advice.add_argument("--recompute", action="store_true", help="measure the evidence again (minutes; can be resumed)")
    add_json(advice)
    advice.set_defaults(act=_advice)


def _advice(options: argparse.Namespace) -> None:
    from privcov import checks
    from privcov.advice.advise import advise
    from privcov.advice.answer import if_known, table
    from privcov.advice.ask import by_structure, notes, sentence, which_level
    from privcov.privacy import to_dict

    if options.recompute:
        _measure_again()
        return
    if options.n is None or options.d is None:
        raise ValueError("advice needs --n and --d, the numbers of rows and columns.")
    names = ("mean_known", "add_remove", "private", "length_ratio", "rows_per_person")
    given = {name: getattr(options, name) for name in names}
    result = advise(options.n, options.d, guarantee_of(options), options.target, options.structure, **given)
    if options.error is not None:  # one level, as on the page: that of the answer, not the one that was typed
        reply = which_level(result.question, checks.in_range("--error", options.error, 1e-6, 1e6))
        result, known = reply.advice, by_structure(reply)
        verdict = [sentence(reply), *notes(reply), *result.verdict[1:]]
    else:
        verdict, known = list(result.verdict), if_known(result)
    if options.json:
        print_json(
            {"question": dataclasses.asdict(result.question) | {"guarantee": to_dict(result.question.guarantee)}}
            | {"pick": result.pick, "ties": result.ties, "verdict": verdict}
            | {"ranking": result.ranking, "if_known": known, "what_would_change": result.what_would_change}
        )
        return
    print(*verdict, sep="\n")
    print("", *table(result), sep="\n")
    if known:
        print("\nIf you knew the structure:", *known, sep="\n  ")
    print("\nWhat would change it:", *(result.what_would_change or ["nothing that was measured"]), sep="\n  ")
    if options.target == "covariance" and not options.mean_known:
        print("  A mean that is publicly known (--mean-known), as that of simulated rows on the pages.")


def _measure_again() -> None:
    from threadpoolctl import threadpool_limits

    from privcov.advice.grid import TARGETS, measure, write, write_about
    from privcov.sweeps.store import Store

    streams.check_folder(places.results("advice"))
    folder = places.own_results("advice")
    store = Store()
    with threadpool_limits(1, user_api="blas"):  # at these sizes a second thread only waits for the first
        for target in TARGETS:
            print(write(target, measure(target, store, lambda done, total: counted(done, total, [])), folder))
        write_about(folder)
