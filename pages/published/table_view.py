"""One printed table or figure: its numbers printed, as published and sound; why they differ; other readings."""

from __future__ import annotations

from html import escape
from string import Template

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import address, show
from pages.published.front import read_results, show_survival
from privcov.core.references import place_in
from privcov.core.words import percent, plain
from privcov.plots import published as pictures
from privcov.plots.palette import FAINT, ROW, Palette, wash

FIRST = "2-table-2"
MARKS = {"within error": "●", "same order": "◐", "different": "○", "no number": "–"}
MEANING = {
    "within error": "inside a 95 % interval of the difference",
    "same order": "within a factor of three (√10)",
    "different": "further apart",
    "no number": "one of the two has no number",
}
NAMES = {"model": "Model", "epsilon": "epsilon", "delta": "delta", "n": "n", "d": "p", "r": "r"}
VERSIONS = ("both", "as published", "sound")
# By the first word of a verdict or of an answer to a question.
COLOURS = {
    "reproduced": "green", "same": "orange", "not": "red", "holds": "green", "does": "red", "weaker": "orange",
    "borne": "orange", "unfounded": "green",
}  # fmt: skip
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


def badge(words: str) -> str:
    """Return a verdict as a coloured badge."""
    plainly = "gray" if words.startswith("not computed") else COLOURS.get(words.split(maxsplit=1)[0], "gray")
    return f":{plainly}-badge[{words}]"


def section(palette: Palette) -> None:
    """Show the choice of a table or figure, and what is chosen."""
    every = read_results("tables.csv").set_index("table", drop=False)
    table = address.bind_widget(
        st.selectbox, "Table or figure", list(every.index), name="table", default=FIRST, key="published.table",
        clears=("tab", "norm", "panel", "shown"), format_func=lambda key: _name(every.loc[key]),
    )  # fmt: skip
    one = every.loc[table]
    first, *findings = one["found"].split("\n")
    st.markdown(show.as_text(f"{one['title']}."))
    st.markdown(f"{badge(one['headline'])} {show.as_text(first)}")
    numbers, why, sound, other = address.tabs(
        ["Numbers", "Why", "What is left when sound", "Readings"], name="tab", key="published.tab"
    )
    with numbers:
        (_curves if one["statements"] else _cells)(one, palette)
    with why:
        _why(one, findings)
    with sound:
        show_survival(read_results("curves_kept.csv", table))
    with other:
        _readings(read_results("readings.csv", table))
    st.code(f"python -m replication reproduce --preset full {one['table']}", language="bash")


def _name(one: pd.Series) -> str:
    return place_in(int(one["paper"]), one["place"])


def _cells(one: pd.Series, palette: Palette) -> None:
    both = read_results(f"tables/{one['table']}.csv")
    metrics = list(dict.fromkeys(both["metric"]))
    metric = metrics[0]
    if len(metrics) > 1:
        start = "frobenius" if "frobenius" in metrics else metrics[0]
        metric = address.bind_widget(
            st.segmented_control, "Norm", metrics, name="norm", default=start, required=True,
            key=f"published.{one['table']}.metric", help="Norms that the paper prints.",
        )  # fmt: skip
    part = both[both["metric"] == metric]
    tones = {name: wash(colour, 0.2) for name, colour in pictures.colours(palette).items()}
    key = " &nbsp; ".join(
        f'<span style="background:{tones.get(name, "transparent")};padding:0 .3rem;border-radius:.2rem">{MARKS[name]} '
        f"{name}</span> <small>{MEANING[name]}</small>"
        for name in dict.fromkeys(both["agreement"])
    )
    left, right = st.columns([3, 1.6], gap="large")
    with left:
        st.html(f'{_STYLE}<div style="font-size:.84rem;line-height:1.7">{key}</div>')
        error = one["error"][:1].upper() + one["error"][1:]
        st.caption(f"{error}; ± is as printed ({one['errors']}), ours a standard error.")
        cells = grid(part, one["rows"].split(), one["columns"].split(), tones)
        st.html(f'<div class="pc-scroll" tabindex="0" role="region" aria-label="Cells of the table">{cells}</div>')
    with right:
        show.picture(pictures.scatter(part, list(part["name"]), palette), key="published-scatter")
        st.caption("Dotted line: printed equals ours.")
        if one["worst"]:
            st.caption(show.as_text(f"Farthest apart: {one['worst']}."))
    _download(both, one)


def grid(printed: pd.DataFrame, rows: list[str], columns: list[str], tones: dict[str, str]) -> str:
    """Return the printed table as HTML: in each cell printed, ours as published, and sound."""
    heads = list(printed[columns].drop_duplicates().itertuples(index=False, name=None))
    lines: dict[tuple, dict] = {}
    for row in printed.to_dict("records"):
        lines.setdefault(tuple(row[k] for k in rows), {})[tuple(row[k] for k in columns)] = row
    head = "".join(f"<th>{escape(NAMES.get(k, k))}</th>" for k in rows)
    head += "<th>Value</th>" + "".join(f"<th>{escape(_title(columns, column))}</th>" for column in heads)
    body = []
    for line, cells in lines.items():
        names = "".join(f"<td><b>{escape(word)}</b></td>" for word in line)
        body.append(
            f"<tr>{names}<td><small>printed<br>as published<br>sound</small></td>"
            + "".join(_cell(cells.get(column), tones) for column in heads)
            + "</tr>"
        )
    return f'<table class="pc-cells"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _title(keys: list[str], column: tuple) -> str:
    words = [f"{NAMES[k]} {v}" if k in NAMES else v for k, v in zip(keys, column, strict=True) if v]
    return ", ".join(word for word in words if word != "synthetic")


def _cell(row: dict | None, tones: dict[str, str]) -> str:
    if row is None:
        return "<td></td>"
    error = f" <small>± {plain(row['printed_se'])}</small>" if np.isfinite(row["printed_se"]) else ""
    doubt = f' title="{escape(row["doubt"], quote=True)}"' if row["doubt"] else ""
    star = "*" if row["doubt"] else ""
    tone = tones.get(row["agreement"], "transparent")
    head = f"<b>{escape(row['printed_value'])}{star}</b>{error} {MARKS[row['agreement']]}"
    numbers = "<br>".join(_number(row, name) for name in ("ours", "sound"))
    return f'<td class="pc-cell" style="background:{tone}"{doubt}>{head}<br>{numbers}</td>'


def _number(row: dict, name: str) -> str:
    """Return one of our numbers as HTML, or why there is none."""
    if not np.isfinite(row[name]):
        problem = row[f"{name}_problem"]
        return f'<small title="{escape(problem, quote=True)}">no number</small>' if problem else "–"
    error = row[f"{name}_se"]
    return plain(row[name]) + (f" <small>± {plain(error)}</small>" if np.isfinite(error) else "")


def _curves(one: pd.Series, palette: Palette) -> None:
    every = read_results(f"curves/{one['table']}.csv")
    titles = dict(zip(every["panel"], every["title"], strict=True))
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    panel = next(iter(titles))
    if len(titles) > 1:
        panel = address.bind_widget(
            left.selectbox, "Panel", list(titles), name="panel", default=panel,
            key=f"published.{one['table']}.panel", format_func=lambda name: titles[name],
        )  # fmt: skip
    version = address.bind_widget(
        right.selectbox, "Versions", VERSIONS, name="shown", default="both", key=f"published.{one['table']}.shown"
    )
    lines = every[(every["panel"] == panel) & ((every["variant"] == version) | (version == "both"))]
    if lines.empty:
        st.info("No numbers in that version.")
        return
    along, share = lines["along"].iloc[0], lines["share"].iloc[0] == "True"
    y = "Share of edges found" if along.startswith("share") else one["error"][:1].upper() + one["error"][1:]
    show.picture(
        pictures.panel(
            lines, palette, x=along[:1].upper() + along[1:], y=y, log=not share,
            log_x=lines["log_x"].iloc[0] == "True", methods=one["paper"] == 5,
        ),
        key=f"published-curves-{one['table']}",
    )  # fmt: skip
    st.caption("Dashed, open marks: as published. Solid: sound. Bars: standard error.")
    _download(every, one)


def _download(numbers: pd.DataFrame, one: pd.Series) -> None:
    show.download(
        "Numbers (CSV)", lambda: numbers.to_csv(index=False), f"{one['table']}.csv", key="published-numbers-csv"
    )


def _why(one: pd.Series, findings: list[str]) -> None:
    """Show what was found, the questions that were asked, and what the paper leaves open."""
    for sentence in findings:
        st.markdown(f"- {show.as_text(sentence)}")
    for check in read_results("checks.csv", one["table"]).to_dict("records"):
        with st.container(border=True):
            st.markdown(f"**{show.as_text(check['question'])}** {badge(check['headline'])}")
            st.markdown(show.as_text(check["verdict"]))
            if check["numbers"]:
                st.caption(show.as_text(check["numbers"]))
    for sentence in filter(None, one["statements"].split("\n")):
        st.caption(show.as_text(sentence))
    st.markdown("**Left open by the paper, and our choice**")
    for choice in filter(None, one["choices"].split("\n")):
        st.markdown(f"- {show.as_text(choice)}")


def _readings(every: pd.DataFrame) -> None:
    """Show what each other reading assumes, what was fitted, and how many cells come out."""
    if every.empty:
        st.info("No other reading was computed.")
        return
    for _, lines in every.groupby("reading", sort=False):
        first = lines.iloc[0]
        with st.container(border=True):
            st.markdown(f":gray-badge[{first['basis']}] {show.as_text(first['assumes'])}")
            for sentence in filter(None, first["found"].split("\n")):
                st.markdown(show.as_text(sentence))
            if first["method"]:
                shares = {
                    "Within error": "within", "Within 10 %": "close", "One or the other": "met",
                    "As described": "described",
                }  # fmt: skip
                st.dataframe(
                    pd.DataFrame(
                        {"Estimator": lines["method"], "Norm": lines["metric"], "Cells": lines["cells"].astype(int)}
                        | {title: [percent(round(x, 2)) for x in lines[name]] for title, name in shares.items()}
                        | {"Ours / printed (median)": lines["ratio"].map(plain)}
                    ),
                    hide_index=True,
                    width="stretch",
                    height="content",
                )
            st.caption(f"`python -m replication reproduce {first['made']}`")
    st.caption(
        "A fit was made with the printed numbers in view, so its agreement is weaker evidence than the agreement of a "
        "stated reading. A family shows its best member, or the best member for every pair of cells."
    )
