"""One printed table: its cells in three versions, the verdict, the checks behind it, and what is left when sound."""

from __future__ import annotations

import math
from html import escape
from string import Template

import numpy as np
import pandas as pd
import streamlit as st

from pages.published import again as published_again
from pages.published import needed, summary
from pages.published import readings as published_readings
from pages.shell import address, show
from pages.shell.papers import place_in
from privcov.figures import published as pictures
from privcov.figures.palette import FAINT, ROW, Palette, wash
from privcov.figures.words import percent, plain
from privcov.papers.base import DEVIATIONS, Table, beside, printed
from privcov.papers.readings import Result
from privcov.papers.verdicts import NAMES, NOTHING, Survival, Verdict, cell_name

MARKS = {"within error": "●", "same order": "◐", "different": "○", "no number": "–"}
MEANING = {
    "within error": "inside a 95 % interval of the difference",
    "same order": "within a factor of three (√10)",
    "different": "further apart",
    "no number": "one of the two has no number",
}
_STYLE = Template("""
<style>
.pc-cells {width: 100%; border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums;}
.pc-cells th {font-weight: 600; text-align: left; padding: .25rem .5rem; border-bottom: 1px solid $row;}
.pc-cells td {padding: .22rem .5rem; border-bottom: 1px solid $faint; vertical-align: top;}
.pc-cells td.pc-cell {white-space: nowrap;}
.pc-cells small {opacity: .75;}
.pc-cells b {font-weight: 650;}
.pc-scroll {overflow-x: auto; max-height: 620px; overflow-y: auto;}
</style>
""").substitute(row=ROW, faint=FAINT)


def section(table: Table, palette: Palette) -> None:
    """Show everything about one table."""
    verdict = summary.verdicts()[table.key]
    st.header(f"{place_in(table.paper, table.where)}: {table.title}")
    other = summary.readings(table.key)
    _verdict(verdict, other)
    cells, why, sound, again, readings = address.tabs(
        ["Cells", "Why", "What is left when sound", "Compute again", "Readings"],
        name="tab",
        key="published.tab",
    )
    with cells:
        _cells(table, verdict, palette)
    with why:
        _checks(table, verdict)
    with sound:
        _survival(table, summary.survival(table.key))
        needed.section(summary.needed(table.key))
    with again, show.problems():
        published_again.section(table)
    with readings:
        published_readings.section(table, other)


def _verdict(verdict: Verdict, other: list[Result]) -> None:
    """Show the verdict of a table and its reasons, and the reading under which most of it comes out."""
    st.markdown(f"{summary.headline(verdict)} {show.as_text(verdict.sentence)}")
    if verdict.word == NOTHING:
        return
    if verdict.headline != verdict.word:
        st.markdown(
            f"As described: {summary.chip(verdict.word)}. The corrections are under *Do the two suspicions together "
            "explain the table?*"
        )
    if len(verdict.methods) > 1:
        st.markdown(
            "By estimator: "
            + " ".join(
                f"`{name}` {summary.chip(word)} ({percent(round(within, 2))} within error"
                + (f", median ratio {ratio:.2f})" if math.isfinite(ratio) else ")")
                for name, word, within, ratio in verdict.methods
            )
        )
    for reason in verdict.reasons:
        st.markdown(f"- {show.as_text(reason[:1].upper() + reason[1:])}.")
    if line := published_readings.best(other):
        st.markdown(line)
    if verdict.worst:
        st.caption(show.as_text(f"Farthest apart: {verdict.worst}."))


def _cells(table: Table, verdict: Verdict, palette: Palette) -> None:
    """Show the printed cells beside ours, and the scatter of both."""
    both = beside(table)
    metrics = list(dict.fromkeys(both["metric"]))
    metric = metrics[0]
    if len(metrics) > 1:
        start = "frobenius" if "frobenius" in metrics else metrics[0]
        metric = address.bound(
            st.segmented_control, "Norm", metrics, name="norm", default=start, required=True,
            key=f"published.{table.key}.metric", help="Norms that the paper prints.",
        )  # fmt: skip
    tones = {name: wash(colour, 0.2) for name, colour in pictures.colours(palette).items()}
    key = " &nbsp; ".join(
        f'<span style="background:{tones.get(name, "transparent")};padding:0 .3rem;border-radius:.2rem">{MARKS[name]} '
        f"{name}</span> <small>{MEANING[name]}</small>"
        for name in dict.fromkeys(both["agreement"])
    )
    left, right = st.columns([3, 1.6], gap="large")
    with left:
        st.html(f'{_STYLE}<div style="font-size:.84rem;line-height:1.7">{key}</div>')
        printed_as = "read as a standard deviation" if verdict.errors == DEVIATIONS else "a standard error"
        st.caption(
            f"{table.error[:1].upper() + table.error[1:]}; ± is as printed ({printed_as}), ours a standard error."
        )
        cells_of = grid(table, both[both["metric"] == metric], tones)
        st.html(f'<div class="pc-scroll" tabindex="0" role="region" aria-label="Cells of the table">{cells_of}</div>')
    with right:
        part = both[both["metric"] == metric]
        show.picture(
            pictures.scatter(part, [cell_name(row) for _, row in part.iterrows()], palette), key="published-scatter"
        )
        st.caption("Dotted line: printed equals ours.")
    show.download("Cells (CSV)", lambda: both.to_csv(index=False), f"{table.key}.csv", key=f"published-csv-{table.key}")


def grid(table: Table, printed_cells: pd.DataFrame, tones: dict[str, str]) -> str:
    """Return the printed table as HTML: in each cell printed, ours as published, and sound."""
    sides = printed_cells.drop_duplicates(list(table.columns))
    columns = [tuple(row) for row in sides[list(table.columns)].itertuples(index=False)]
    lines: dict[tuple, dict] = {}
    for _, row in printed_cells.iterrows():
        lines.setdefault(tuple(row[k] for k in table.rows), {})[tuple(row[k] for k in table.columns)] = row
    head = "".join(f"<th>{escape(NAMES.get(k, k))}</th>" for k in table.rows)
    head += "<th>Value</th>" + "".join(f"<th>{escape(_title(table, column))}</th>" for column in columns)
    body = []
    for line, cells in lines.items():
        names = "".join(f"<td><b>{escape(word)}</b></td>" for word in line)
        body.append(
            f"<tr>{names}<td><small>printed<br>as published<br>sound</small></td>"
            + "".join(_cell(cells.get(column), tones) for column in columns)
            + "</tr>"
        )
    return f'<table class="pc-cells"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _title(table: Table, column: tuple) -> str:
    """Return the heading of a column."""
    words = [f"{NAMES[k]} {v}" if k in NAMES else v for k, v in zip(table.columns, column, strict=True) if v]
    return ", ".join(word for word in words if word != "synthetic")


def _cell(row, tones: dict[str, str]) -> str:
    """Return one cell as HTML."""
    if row is None:
        return "<td></td>"
    error = f" <small>± {plain(row['printed_se'])}</small>" if np.isfinite(row["printed_se"]) else ""
    doubt = f' title="{escape(row["doubt"], quote=True)}"' if row["doubt"] else ""
    star = "*" if row["doubt"] else ""
    tone = tones.get(row["agreement"], "transparent")
    head = f"<b>{row['printed_value']}{star}</b>{error} {MARKS[row['agreement']]}"
    return (
        f'<td class="pc-cell" style="background:{tone}"{doubt}>{head}<br>{_number(row, "ours")}<br>'
        f"{_number(row, 'sound')}</td>"
    )


def _number(row, name: str) -> str:
    """Return one of our numbers as HTML, or why there is none."""
    if not np.isfinite(row[name]):
        problem = row[f"{name}_problem"]
        return (
            f'<small title="{escape(problem, quote=True)}">no number</small>'
            if isinstance(problem, str) and problem
            else "–"
        )
    error = row[f"{name}_se"]
    return plain(row[name]) + (f" <small>± {plain(error)}</small>" if np.isfinite(error) else "")


def _checks(table: Table, verdict: Verdict) -> None:
    """Show the checks of a table, and what its paper leaves open."""
    words = {True: ":orange-badge[borne out]", False: ":green-badge[not borne out]", None: ":gray-badge[not computed]"}
    for check in verdict.checks:
        with st.container(border=True):
            st.markdown(f"**{show.as_text(check.question)}** {words[check.holds]}")
            st.markdown(show.as_text(check.verdict))
            if check.numbers:
                st.caption(show.as_text("; ".join(f"{k} {plain(v)}" for k, v in check.numbers.items())))
            st.caption(f"`privcov.papers.catalogue.run_check({check.key!r})`")
    st.markdown("**Left open by the paper, and our choice**")
    for choice in (*table.choices, *table.left_out):
        st.markdown(f"- {show.as_text(choice)}")
    doubts = printed(table)
    doubts = doubts[doubts["doubt"] != ""]
    if len(doubts):
        listed = "; ".join(f"{text} ({count} cells)" for text, count in doubts["doubt"].value_counts().items())
        st.caption(show.as_text(f"Marked * in the table: {listed}."))
    if table.needs:
        st.caption(f"Needs the data set `{table.needs}`; see data/README.md.")


def _survival(table: Table, judged: list[Survival]) -> None:
    """Show which printed curves survive a sound calibration."""
    if not judged:
        st.info("No sound numbers are stored for this table yet.")
        return
    kept = sum(one.survives for one in judged)
    st.markdown(
        f"**{kept} of {len(judged)} printed curves survive a sound calibration**: error at most a tenth above the "
        "published one (geometric mean), and a tenth below an answer without data."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Estimator": one.method,
                    "Norm": one.metric,
                    "Sound error / as published": plain(one.ratio),
                    "Sound error": plain(one.level),
                    "Survives": "yes" if one.survives else "no",
                }
                for one in judged
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    if math.isfinite(table.trivial):
        what = "always answering lean" if table.trivial > 1 else "the zero matrix"
        st.caption(f"Without data, {what} has error {plain(table.trivial)}: an error near it is worth nothing.")
    st.caption(
        "As published: our run, or the printed number where ours has none. Relative errors: against the same "
        "version without noise."
    )
