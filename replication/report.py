"""The replication report as one HTML file: a paragraph per paper, then claims, verdicts, what is left, what is missing.

It is made from the files of the archive, so both say the same.
"""

from __future__ import annotations

import datetime
from html import escape

import pandas as pd

from privcov.bundle.paper import grid, listed, section, text
from privcov.bundle.report import build
from privcov.papers import AUTHORS
from replication import claims
from replication.archive import NOT_RUN, SURVIVAL, Archive
from replication.paragraphs import paragraph
from replication.shown import CLAIMS, CURVES, READINGS, VERDICTS

_NOTES = (
    "As published: what is printed, computed by us as it is described. Sound: the same with a calibration that is "
    "proved, and without a look at the raw rows.",
    "A sentence holds where nine tenths of its comparisons do, and is weaker than claimed where six tenths do.",
    "A bound O(...) holds where error over bound does not grow along the grid; it is not proved by that.",
    "Guarantees are decided by exact curves at one level, not by simulation.",
)


def html(made: Archive, table: list[claims.Row], date: datetime.date | None = None) -> str:
    """Return the report."""
    counts = claims.counted(table)
    papers = "".join(f"<p><b>{escape(name)}.</b> {text(paragraph(k, table))}</p>" for k, name in AUTHORS.items())
    return build(
        "Replication report",
        "Simulated and public",
        f"version {made.version}; {len(table)} claims of five papers: {counts}",
        section("In plain English", papers),
        section("What is new", _news(made)),
        section("Claims", _claims(table)),
        section("Verdicts on the printed tables", _frame(made.table(VERDICTS), _VERDICT)),
        section("Printed estimators under a sound calibration", _frame(made.table(SURVIVAL), _SURVIVAL)),
        section("Curves under a sound calibration", _frame(made.table(CURVES), _CURVES)),
        section("Other readings of the printed tables", _frame(made.table(READINGS), _READINGS)),
        section("Not run", _not_run(made.table(NOT_RUN))),
        section("How to read this", listed(_NOTES)),
        date=date,
    )


_VERDICT = ["table", "title", "headline", "cells", "within", "worst"]
_SURVIVAL = ["table", "method", "metric", "ratio", "level", "trivial", "survives"]
_CURVES = ["table", "curve", "ratio", "published", "sound", "trivial", "survives", "times", "times_low", "times_high"]
_READINGS = ["table", "reading", "basis", "method", "metric", "cells", "within", "close", "described"]


def _claims(table: list[claims.Row]) -> str:
    lines = [
        (
            f"{AUTHORS[one.claim.paper]}, {one.claim.place}: {one.claim.printed}.",
            one.printed,
            one.ours,
            one.sound,
            one.verdict,
            " ".join(filter(None, (one.evidence, one.claim.note, f"claim {one.claim.key}"))),
        )
        for one in table
    ]
    return grid(("Claim", "Printed", "As published", "Sound", "Verdict", "Evidence and command"), lines)


def _news(made: Archive) -> str:
    if not made.before:
        return "<p>This is the first version, or none was given to compare with.</p>"
    if made.changes.empty:
        return f"<p>Nothing differs from version {made.before}.</p>"
    shown = made.changes[made.changes["file"].isin([CLAIMS, VERDICTS])]
    shown = shown[~shown["what"].isin(["evidence", "command"])]
    files = made.changes.groupby("file").size()
    words = f"<p>{len(made.changes):,} values differ from version {made.before}: "
    words += ", ".join(f"{escape(name)} ({count:,})" for name, count in files.items()) + ".</p>"
    return words + (grid([str(name) for name in shown], shown.to_numpy().tolist()) if len(shown) else "")


def _not_run(table: pd.DataFrame) -> str:
    if table.empty:
        return "<p>Every step of the overnight preset was run.</p>"
    return (
        "<p>Too large for the preset that was run, or without their data, which can be brought (data/README.md):</p>"
        + grid([str(name) for name in table], table.to_numpy().tolist())
    )


def _frame(table: pd.DataFrame, columns: list[str]) -> str:
    """Return some columns of a table, numbers with three digits."""

    def short(value: str) -> str:
        try:
            return f"{float(value):.3g}"
        except ValueError:
            return value

    return grid(columns, [[short(value) for value in line] for line in table[columns].to_numpy().tolist()])
