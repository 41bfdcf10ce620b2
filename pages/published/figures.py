"""Figures without printed numbers: computed curves beside what the texts say of them, and what is left when sound."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from pages.published import again, summary
from pages.published.needed import MEANS, words
from pages.shell import address, show
from pages.shell.papers import place_in
from privcov import places
from privcov.estimators.base import METHODS
from privcov.figures import published as pictures
from privcov.figures.palette import Palette
from privcov.figures.words import plain
from privcov.papers.base import VARIANTS, Table, told
from privcov.papers.catalogue import FIGURES, TABLES, TITLES, checks_of
from privcov.papers.checks import HOLDS, WEAKER, Check
from privcov.papers.curves import WORDS, Kept, curves, kept, panels, view

COLOURS = {HOLDS[True]: "green", HOLDS[False]: "red", WEAKER: "orange"}  # of what is said of a finding; else gray
LOGARITHMIC = ("n", "d", "bins", "rho", "epsilon")
FIRST = "5-figure-4"
OURS = "Our question"  # how a question begins that the text does not put


@st.cache_data(show_spinner=False, max_entries=4)
def _checks(stamp: tuple) -> dict[str, list[Check]]:
    """Return the checks of every figure, cached until a stored number changes."""
    return {key: checks_of(key) for key in FIGURES}


@st.cache_data(show_spinner=False, max_entries=4)
def _kept(stamp: tuple) -> dict[str, list[Kept]]:
    """Return which curves of every figure survive, cached until a stored number changes."""
    return {key: kept(TABLES[key]) for key in FIGURES}


def section(palette: Palette) -> None:
    """Show all figures at a glance, and one of them opened."""
    stamp = summary.stored_at()
    checks, left = _checks(stamp), _kept(stamp)
    _overview(checks, left)
    names = {saved_name(TABLES[key]): key for key in FIGURES}
    chosen = address.bound(
        st.selectbox, "Figure", list(names), name="figure", default=saved_name(TABLES[FIRST]),
        key="published.figure", clears=("panel", "shown"), format_func=lambda name: _name(TABLES[names[name]]),
    )  # fmt: skip
    key = names[chosen]
    table = TABLES[key]
    st.subheader(f"{_name(table)}: {table.title}")
    picture, words = st.columns([3, 2.2], gap="large")
    with picture:
        _picture(table, palette)
    with words:
        _says(table, checks[key])
    _left(table, left[key])
    st.code(f"{places.command()} reproduce --preset full {key}", language="bash")
    again.to_trade_offs(table, "Open the curves in Trade-offs")
    with st.expander("How to read"):
        st.markdown(
            "The figures print no numbers. We test what the texts say on curves computed again, as published and "
            "sound; questions marked ours are not the text's."
        )
        for choice in (*table.choices, *table.left_out):
            st.caption(show.as_text(choice))
        missing = [p.name for p in table.points if p.ready is not None and p.name not in panels(table)]
        if missing:
            st.caption(show.as_text(f"Skipped, without their rows: {', '.join(missing)}."))


def saved_name(table: Table) -> str:
    """Return the option of a figure in the select box. Saved links have it, so it keeps the paper's number."""
    return f"Paper {table.paper}, {table.where}"


def _name(table: Table) -> str:
    """Return the name of a figure, by author and year."""
    return place_in(table.paper, table.where)


def _overview(checks: dict[str, list[Check]], left: dict[str, list[Kept]]) -> None:
    """Show one row per figure."""
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Figure": _name(TABLES[key]),
                    "What": TABLES[key].title,
                    "Findings hold": _held(checks[key], ours=False),
                    "Ours: yes": _held(checks[key], ours=True),
                    "Curves survive": f"{sum(one.survives for one in left[key])} of {len(left[key])}",
                }
                for key in FIGURES
            ]
        ),
        hide_index=True,
        width="stretch",
        height="content",
    )


def badge(check: Check) -> str:
    """Return what is said of a finding as a coloured badge."""
    return f":{COLOURS.get(check.headline, 'gray')}-badge[{check.headline}]"


def _held(checks: list[Check], *, ours: bool) -> str:
    """Return how many of the checks hold, and what is said of the others where it is another word, as text."""
    asked = [check for check in checks if check.question.startswith(OURS) == ours]
    words = [check.word for check in asked if check.word]
    other = "".join(f", {words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"{sum(check.holds is True for check in asked)} of {len(asked)}{other}" if asked else "-"


def _picture(table: Table, palette: Palette) -> None:
    """Show one panel of the figure."""
    known = panels(table)
    if not known:
        st.info(f"Nothing of {_name(table)} is stored yet. Run {places.command()} reproduce {table.key}.")
        return
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    panel = known[0]
    if len(known) > 1:
        panel = address.bound(
            left.selectbox, "Panel", known, name="panel", default=known[0], key=f"published.{table.key}.panel",
            format_func=lambda name: TITLES.get(name, name),
        )  # fmt: skip
    versions = ("both", *VARIANTS)
    version = address.bound(
        right.selectbox, "Versions", versions, name="shown", default="both", key=f"published.{table.key}.shown"
    )
    lines = curves(table)
    lines = lines[lines["panel"] == panel]
    if version != "both":
        lines = lines[lines["variant"] == version]
    if lines.empty:
        st.info("No numbers in that version.")
        return
    lines = lines.replace({"line": {card.key: card.label for card in METHODS.all()}})
    own = view(table.key, panel)
    shows_edges = own.x == "drawn"
    shares = shows_edges or table.paper == 2
    show.picture(
        pictures.panel(
            lines, palette, x=WORDS[own.x][:1].upper() + WORDS[own.x][1:],
            y="Share of edges found" if shows_edges else table.error[:1].upper() + table.error[1:],
            log=not shares, log_x=own.x in LOGARITHMIC, methods=table.paper == 5,
        ),
        key=f"published-curves-{table.key}",
    )  # fmt: skip
    st.caption("Dashed, open marks: as published. Solid: sound. Bars: standard error.")
    show.download(
        "Curves (CSV)", lambda: curves(table).to_csv(index=False), f"{table.key}.csv", key=f"published-csv-{table.key}"
    )


def _says(table: Table, checks: list[Check]) -> None:
    """Show what the paper says and what our curves say."""
    st.markdown("**The paper's statements on our curves**")
    for check in checks:
        st.markdown(f"{badge(check)} **{show.as_text(check.question)}** {show.as_text(check.verdict)}")
        st.caption(f"`privcov.papers.catalogue.run_check({check.key!r})`")
    for one in summary.readings(table.key):
        st.markdown(f"**Another reading ({one.reading.basis}).** {show.as_text(one.reading.assumes)}")
        st.markdown(show.as_text(one.sentence))
        st.caption(f"`{places.command()} reproduce {' '.join(one.reading.made)}`")
    read = told(table)
    for row in read[read["what"] != "question"].to_dict("records"):
        doubt = f" Doubtful: {row['doubt']}." if row["doubt"] else ""
        st.caption(show.as_text(f"{row['what'].capitalize()}, {row['where']}: {row['text']}.{doubt}"))


def _left(table: Table, judged: list[Kept]) -> None:
    """Show which curves survive a sound calibration, and what n the same accuracy needs."""
    if not judged:
        st.info("No sound numbers are stored for this figure yet.")
        return
    many = sum(one.survives for one in judged)
    st.markdown(
        f"**{many} of {len(judged)} curves survive a sound calibration**: error at most a tenth above the "
        "published one (geometric mean), and a tenth below an answer without data."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Panel": TITLES.get(one.panel, one.panel),
                    "Curve": one.line,
                    "Sound / as published": plain(one.ratio),
                    "Read at": f"{one.along} = {one.at:g}",
                    "Error as published": plain(one.ours),
                    "Sound": plain(one.sound),
                    "Without data": plain(one.trivial) if math.isfinite(one.trivial) else "-",
                    "Survives": "yes" if one.survives else "no",
                    "Times n for the published error": words(one.times, one.least),
                    "Times n for half the error without data": words(one.half, one.least),
                }
                for one in judged
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        "Times n, along n: rows drawn. Along epsilon or rho: noise falls like 1/n on a fixed sample matrix, "
        "without sampling error. Curves of edges found are judged by the area lost, one minus AUC; guessing loses "
        f"half. {MEANS}"
    )
