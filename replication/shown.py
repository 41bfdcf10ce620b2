"""What the page Published results shows, as the CSV files of data/replication: decided here, only read there.

`tables.csv` has a line per table and figure, `checks.csv` one per question, `readings.csv` one per column under another
reading, and `curves_kept.csv` one per curve with what a sound calibration leaves of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privcov.core.references import AUTHORS
from privcov.core.words import percent, plain
from privcov.estimators.base import METHODS
from replication import claims
from replication.base import DEVIATIONS, Table, join_printed, text_claims
from replication.catalogue import FIGURES, TABLES, TITLES, checks_of, results_of
from replication.checks import Check
from replication.curves import WORDS, curves, every_curve, panels, view
from replication.paragraphs import paragraph
from replication.readings import SEARCHED, Result
from replication.verdicts import NOTHING, Verdict, cell_name, verdict

CLAIMS, PARAGRAPHS, VERDICTS, CHECKS = "claims.csv", "paragraphs.csv", "tables.csv", "checks.csv"
READINGS, CURVES = "readings.csv", "curves_kept.csv"
SUSPICION = {True: "borne out", False: "unfounded", None: "not computed"}  # of a question about printed cells
OURS = "Our question"  # how a question begins that the text does not put
_LOGARITHMIC = ("n", "d", "bins", "rho", "epsilon")
_SHARES = ("within", "close", "met", "described")


def files(folder: Path, table: Sequence[claims.Row]) -> dict[str, str]:
    """Return every file by its name; ``table`` has the claims as they were decided."""
    printed = [one for one in TABLES.values() if one.file]
    made = {
        CLAIMS: claims.frame(list(table)),
        PARAGRAPHS: pd.DataFrame([{"paper": paper, "paragraph": paragraph(paper, table)} for paper in AUTHORS]),
        VERDICTS: pd.DataFrame([*(_table(one, folder) for one in printed), *(_figure(key, folder) for key in FIGURES)]),
        CHECKS: pd.DataFrame(
            [_check(one.key, check) for one in TABLES.values() for check in checks_of(one.key, folder)]
        ),
        READINGS: pd.DataFrame([line for key in TABLES for one in results_of(key, folder) for line in _reading(one)]),
        CURVES: every_curve(folder),
    }
    for one in printed:
        cells = join_printed(one, folder)
        made[f"tables/{one.key}.csv"] = cells.assign(name=[cell_name(row) for _, row in cells.iterrows()])
    made |= {f"curves/{key}.csv": _curves(TABLES[key], folder) for key in FIGURES}
    return {name: text(one) for name, one in made.items()}


def text(table: pd.DataFrame) -> str:
    """Return a table as the text of a CSV file."""
    return table.to_csv(index=False, lineterminator="\n", float_format="%.9g")


def _lines(sentences: Sequence[str]) -> str:
    return "\n".join(sentences)


def _table(one: Table, folder: Path) -> dict[str, Any]:
    found = verdict(one, folder)
    reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in found.reasons]
    said = [found.sentence, *_in_part(found), *reasons, *best(results_of(one.key, folder))]
    return _about(one) | {
        "headline": found.headline,
        "within": found.within,
        "cells": found.cells,
        "found": _lines(said),
        "reason": "; ".join(found.reasons[:2]),
        "worst": found.worst,
        "errors": "read as a standard deviation" if found.errors == DEVIATIONS else "a standard error",
    }


def _figure(key: str, folder: Path) -> dict[str, Any]:
    """Return the line of a figure: what its text says that our curves bear out."""
    table = TABLES[key]
    checks = checks_of(key, folder)
    of_text = [check for check in checks if not check.question.startswith(OURS)]
    read = text_claims(table)
    statements = [
        f"{row['what'].capitalize()}, {row['where']}: {row['text']}."
        + (f" Doubtful: {row['doubt']}." if row["doubt"] else "")
        for row in read[read["what"] != "question"].to_dict("records")
    ]
    missing = [p.name for p in table.points if p.ready is not None and p.name not in panels(table, folder)]
    left = [f"Skipped, without their rows: {', '.join(missing)}."] if missing else []
    return _about(table) | {
        "headline": f"{sum(check.holds is True for check in of_text)} of {len(of_text)} findings hold",
        "statements": _lines(statements),
        "choices": _lines([*table.choices, *table.left_out, *left]),
    }


def _about(table: Table) -> dict[str, Any]:
    doubts = join_printed(table)["doubt"].value_counts() if table.file else pd.Series(dtype=int)
    marked = [f"Marked * in the table: {word} ({count} cells)." for word, count in doubts.items() if word]
    needs = [f"Needs the data set {table.needs}; see data/README.md."] if table.needs else []
    return {
        "table": table.key,
        "paper": table.paper,
        "place": table.where,
        "title": table.title,
        "error": table.error,
        "rows": " ".join(table.rows),
        "columns": " ".join(table.columns),
        "choices": _lines([*table.choices, *table.left_out, *marked, *needs]),
    }


def _in_part(found: Verdict) -> list[str]:
    """Return the verdict before corrections, and by estimator, where they say more than the headline."""
    if found.word == NOTHING:
        return []
    before = [f"As described: {found.word}."] if found.headline != found.word else []
    if len(found.methods) < 2:
        return before
    parts = [
        f"{name} {word} ({_percent(within)} within error"
        + (f", median ratio {ratio:.2f})" if math.isfinite(ratio) else ")")
        for name, word, within, ratio in found.methods
    ]
    return [*before, f"By estimator: {'; '.join(parts)}."]


def best(results: Sequence[Result]) -> list[str]:
    """Return a sentence on the reading that gives most cells, if more than described; searches are passed over."""
    single = [one for one in results if one.columns and one.reading.basis != SEARCHED]
    first = max(single, key=lambda one: one.share("met"), default=None)
    if first is None or first.share("met") <= first.share("described"):
        return []
    cells = sum(column.cells for column in first.columns)
    return [
        f"Under another reading ({_basis(first)}) {_percent(first.share('met'))} of {cells} cells agree within error "
        f"or 10 %, as described {_percent(first.share('described'))}."
    ]


def _basis(one: Result) -> str:
    """Return the basis of a reading with the number of its fitted constants."""
    free = one.reading.free
    return one.reading.basis + (f", {free} free constant{'s' if free > 1 else ''}" if free else "")


def _percent(share: float) -> str:
    return percent(round(share, 2))


def _check(table: str, check: Check) -> dict[str, Any]:
    return {
        "table": table,
        "check": check.key,
        "question": check.question,
        "headline": SUSPICION[check.holds] if TABLES[table].file else check.headline,
        "verdict": check.verdict,
        "numbers": "; ".join(f"{name} {plain(value)}" for name, value in check.numbers.items()),
    }


def _reading(one: Result) -> list[dict[str, Any]]:
    """Return a line per column of a reading; one without numbers where it has none."""
    shares = ""
    if one.columns:
        cells = sum(column.cells for column in one.columns)
        within, close, met, described = (_percent(one.share(name)) for name in _SHARES)
        shares = (
            f"Of {cells} cells {within} are within error, {close} within 10 % and {met} within one or the other, where "
            f"as described {described} are."
        )
    fitted = "; ".join(f"{name} = {plain(value)}" for name, value in one.constants.items())
    about = {
        "table": one.table,
        "reading": one.reading.key,
        "basis": _basis(one),
        "assumes": one.reading.assumes,
        "found": _lines([s for s in (shares, one.words, one.sentence, f"Fitted: {fitted}." if fitted else "") if s]),
        "made": " ".join(one.reading.made),
    }
    names = ("method", "metric", "cells", *_SHARES, "ratio")
    return [about | {name: getattr(column, name) for name in names} for column in one.columns] or [about]


def _curves(table: Table, folder: Path) -> pd.DataFrame:
    """Return the points of a figure with the titles of its panels and their axes."""
    points = curves(table, folder).replace({"line": {card.key: card.label for card in METHODS.all()}})
    along = {panel: view(table.key, panel).x for panel in dict.fromkeys(points["panel"])}
    return points.assign(
        title=points["panel"].map(lambda panel: TITLES.get(panel, panel)),
        along=points["panel"].map(lambda panel: WORDS[along[panel]]),
        log_x=points["panel"].map(lambda panel: along[panel] in _LOGARITHMIC),
        share=points["panel"].map(lambda panel: along[panel] == "drawn" or table.paper == 2),
    )
