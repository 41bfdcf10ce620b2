"""The command ``answers``: what a bundle says about its population, without a ledger and without the data."""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privcov.cli import streams

if TYPE_CHECKING:
    import pandas as pd

    from privcov.bundle.read import OpenedBundle
    from privcov.inference.answers import ReleaseAnswers

_PLAIN = ("means", "variances", "covariances", "eigenvalues")
_TESTED = ("correlations", "partial-correlations", "edges")
_WHAT = {name: f"the {name.replace('-', ' ')} with their intervals" for name in (*_PLAIN, *_TESTED)} | {
    "components": "the first principal axes with their intervals",
    "contrast": "the difference of two classes with its interval",
    "regress": "the coefficients of a linear regression with their intervals",
    "group-means": "the means in groups that a column of two values or a category makes, with their intervals",
    "alpha": "Cronbach's alpha of the items of a scale with its interval",
    "factors": "the loadings of a factor analysis, without intervals",
}


def add_answers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``answers`` to the commands of the parser."""
    answers = commands.add_parser("answers", help="estimates with intervals from a bundle; spends nothing")
    answers.add_argument("bundle", type=Path, help="the zip, or the folder that it was unpacked to")
    which = answers.add_subparsers(dest="answer", required=True)
    for name, what in _WHAT.items():
        one = which.add_parser(name, help=what)
        one.add_argument("--level", type=float, default=0.95, help="nominal coverage (0.95)")
        one.add_argument("--kurtosis", type=float, default=0.0, help="excess kurtosis of the rows (0: Gaussian)")
        one.add_argument(
            "--score",
            action="append",
            default=[],
            metavar="NAME=ITEMS",
            help="a score in place of its items, as in mood=q1,q2,-q3: their mean, of -q3 with a minus sign",
        )
        one.add_argument("--json", action="store_true", help="JSON with the attributes, in place of a table")
        one.add_argument("--out", type=Path, help="a file; standard output when left out")
        if name in _TESTED:
            one.add_argument("--rate", type=float, default=0.05, help="rate of false discoveries (0.05)")
        if name == "components":
            one.add_argument("--n-components", type=int, help="how many axes (3)")
        if name == "contrast":
            one.add_argument("--a", required=True, help="a class")
            one.add_argument("--b", required=True, help="the class that is subtracted")
        if name == "group-means":
            one.add_argument("--by", required=True, help="a column of two values, or a category")
        if name == "alpha":
            one.add_argument("--items", required=True, help="as in --items=q1,-q2; a minus sign reverses an item")
        if name == "factors":
            one.add_argument("--n-factors", type=int, required=True, help="how many factors")
            one.add_argument("--columns", help="with commas between them; all when left out")
        if name == "regress":
            one.add_argument("--y", required=True, help="the response")
            one.add_argument(
                "--on",
                help="regressors with commas between them, one with a comma in double quotes; all others when left out",
            )
            one.add_argument(
                "--ridge",
                type=float,
                default=0.0,
                help="added to variances, with the way from typical value to farther bound as 1 (0)",
            )
        one.set_defaults(act=_answers)


def _asked(options: argparse.Namespace) -> Callable[[ReleaseAnswers], pd.DataFrame]:
    """Return the answer that was asked for, as a function of the answers."""
    if options.answer in _PLAIN:
        return lambda found: getattr(found, options.answer)()
    if options.answer in _TESTED:
        return lambda found: getattr(found, options.answer.replace("-", "_"))(options.rate)
    if options.answer == "components":
        return lambda found: found.components(options.n_components)
    if options.answer == "contrast":
        return lambda found: found.contrast(options.a, options.b)
    if options.answer == "group-means":
        return lambda found: found.group_means(options.by)
    if options.answer == "alpha":
        return lambda found: found.alpha(*_items(options.items, found.columns))
    if options.answer == "factors":
        return lambda found: found.factors(options.n_factors, _names(options.columns, found.columns))
    return lambda found: found.regress(options.y, _names(options.on, found.columns), options.ridge)


def _names(text: str | None, columns: tuple[str, ...]) -> list[str] | None:
    """Return the names; one with a comma stands in double quotes, unless it is the only one."""
    if text is None:
        return None
    if text in columns or not text:
        return [text]
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def _items(text: str, columns: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the items, and those of them that are reversed: with a minus sign, unless a column is called so."""
    named = _names(text, columns) or []
    reverse = [name[1:] for name in named if name not in columns and name.startswith("-")]
    return [name if name in columns else name.removeprefix("-") for name in named], reverse


def _answers(options: argparse.Namespace) -> None:
    import privcov

    streams.check_place(options.out)
    asked = _asked(options)
    try:
        opened = privcov.open_bundle(options.bundle)
    except ValueError as problem:
        raise streams.Failed(str(problem)) from None
    found = privcov.answers(opened, level=options.level, kurtosis=options.kurtosis)
    for score in options.score:
        name, _, items = score.partition("=")
        found = found.with_score(name, *_items(items, found.columns))
    table = asked(found)
    streams.answer(_as_json(table) if options.json else _as_text(table, _dates(options.answer, opened)), options.out)


def _dates(answer: str, opened: OpenedBundle) -> set[str]:
    """Return the columns whose answers are days since 1970-01-01, and not numbers of days."""
    from privcov.tables.readers.kinds import DATE

    if answer != "means":
        return set()
    return {name for name, kind in opened.measurement.facts.kinds if kind.kind == DATE}


def _day(x: float) -> str:
    """Return days since 1970-01-01 as a date, also beyond the years that Python has."""
    import numpy as np

    return str(np.datetime64(round(x), "D")) if x == x else "-"


def _as_json(table: pd.DataFrame) -> str:
    """Return the rows and the attributes; what is not identified is null."""
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    return json.dumps({"attributes": _said(table.attrs), "rows": rows}, indent=1, allow_nan=False, default=str) + "\n"


def _said(value: Any) -> Any:
    """Return attributes in which a number that is not identified is null."""
    if isinstance(value, dict):
        return {name: _said(inside) for name, inside in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def _as_text(table: pd.DataFrame, dates: set[str]) -> str:
    """Return the table, and below it what it means; the days of some columns as dates."""
    if dates:
        table, attrs = table.copy(), table.attrs
        days = table["column"].isin(dates)
        for name in ("estimate", "ci_low", "ci_high"):
            found = zip(table[name], days, strict=True)
            table[name] = [_day(x) if day else f"{x:.5g}" if x == x else "-" for x, day in found]
        table.attrs = attrs
    lines = [table.to_string(index=False, float_format=lambda v: f"{v:.5g}", na_rep="-"), ""]
    if (r := table.attrs.get("r_squared")) is not None and r["identified"]:
        lines.append(f"R squared {r['estimate']:.4g}, from {r['ci_low']:.4g} to {r['ci_high']:.4g}.")
    if (a := table.attrs.get("intercept")) is not None and a["identified"]:
        lines.append(f"Intercept {a['estimate']:.5g}, from {a['ci_low']:.5g} to {a['ci_high']:.5g}.")
    if table.attrs.get("warning"):
        lines.append(table.attrs["warning"])
    lines.append(
        f"About {table.attrs['population']}; assumed: {table.attrs['assumes']}; level {table.attrs['level']:g}."
    )
    lines.append(table.attrs["coverage"])
    return streams.printable("\n".join(lines)) + "\n"
