"""All printed tables at a glance, with a verdict each; a click opens one."""

from __future__ import annotations

import streamlit as st

from pages.shell import frame, show
from privcov.figures.words import percent
from privcov.papers import needed as papers_needed
from privcov.papers import verdicts as papers_verdicts
from privcov.papers.base import PUBLISHED, REPRODUCED, Table
from privcov.papers.catalogue import TABLES, results_of
from privcov.papers.names import AUTHORS
from privcov.papers.needed import Needed
from privcov.papers.readings import Result
from privcov.papers.verdicts import NOT, NOTHING, REPRODUCED_WELL, SHAPE, Survival, Verdict

CHIPS = {REPRODUCED_WELL: "green", SHAPE: "orange", NOT: "red", NOTHING: "gray"}
TABLE_KEEPS = ("table", "tab", "norm", "cell", "point", "variant", "runs")
KEEPS = (*TABLE_KEEPS, "figure", "panel", "shown", "needed")
FIRST = "2-table-2"
WIDTHS = [1.2, 3.0, 3.1, 0.9, 4.6]


def shown() -> dict[str, Table]:
    """Return the printed tables (not the probes)."""
    return {key: table for key, table in TABLES.items() if table.file}


def stored_at() -> tuple:
    """Return a value that changes whenever a stored number may have changed."""
    folders = (PUBLISHED, REPRODUCED)
    return tuple(sorted((p.name, p.stat().st_mtime_ns) for folder in folders for p in folder.glob("*.csv")))


@st.cache_data(show_spinner="Comparing every printed table ...", max_entries=4)
def _verdicts(stamp: tuple) -> dict[str, Verdict]:
    """Return every verdict, cached until a stored number changes."""
    return {key: papers_verdicts.verdict(table) for key, table in shown().items()}


@st.cache_data(show_spinner=False, max_entries=40)
def _survival(key: str, stamp: tuple) -> list[Survival]:
    """Return the survival of a table's curves, cached until a stored number changes."""
    return papers_verdicts.survival(TABLES[key])


def verdicts() -> dict[str, Verdict]:
    """Return the verdict of every published table, as the stored numbers stand now."""
    return _verdicts(stored_at())


def survival(key: str) -> list[Survival]:
    """Return which curves of a table survive a sound calibration, as the stored numbers stand now."""
    return _survival(key, stored_at())


@st.cache_data(show_spinner=False, max_entries=40)
def _readings(key: str, stamp: tuple) -> list[Result]:
    """Return what every reading of a table gives, cached until a stored number changes."""
    return results_of(key)


@st.cache_data(show_spinner=False, max_entries=40)
def _needed(key: str, stamp: tuple) -> list[Needed]:
    """Return what n a table's errors need, cached until a stored number changes."""
    return papers_needed.needed(TABLES[key])


def readings(key: str) -> list[Result]:
    """Return the readings of a table or a figure, as the stored numbers stand now."""
    return _readings(key, stored_at())


def needed(key: str) -> list[Needed]:
    """Return what n the errors of a table need, as the stored numbers stand now."""
    return _needed(key, stored_at())


def chip(word: str) -> str:
    """Return a verdict as a coloured badge."""
    return f":{CHIPS[word]}-badge[{word}]"


def headline(verdict: Verdict) -> str:
    """Return the headline of a verdict as a badge: of the word, or of the better one after corrections."""
    word = verdict.word if verdict.headline == verdict.word else verdict.explained
    return f":{CHIPS[word]}-badge[{verdict.headline}]"


def section(opens: str) -> Table:
    """Show the list of tables and return the chosen one.

    ``opens`` is the address of the tab that shows a table.
    """
    by_key = verdicts()
    words = [v.headline.partition(" (")[0] for v in by_key.values()]
    counts = ", ".join(f"{words.count(word)} {word}" for word in papers_verdicts.HEADLINES if word in words)
    st.markdown(
        f"**{len(by_key)} tables, {sum(v.cells for v in by_key.values())} printed numbers compared:** {counts}."
    )
    if more := papers_verdicts.beyond_the_word([v for v in by_key.values() if v.headline == v.word]):
        st.markdown(show.as_text(more[:1].upper() + more[1:]))
    with st.container(key="published-head"):
        head = st.columns(WIDTHS)
    for column, name in zip(head, ("Table", "What", "Verdict", "Agree", "Reason found"), strict=True):
        column.caption(name)
    chosen = frame.own("table", FIRST)
    if chosen not in shown():
        frame.leave_out("table", "There is no such table.")
        chosen = FIRST
    paper, reasons = None, ""
    for key, table in shown().items():
        if table.paper != paper:
            paper, reasons = table.paper, ""
            st.markdown(f"**{AUTHORS[paper]}**")
        above, reasons = reasons, _reasons(by_key[key])
        _row(
            table,
            by_key[key],
            opens,
            reasons="As above." if reasons and reasons == above else reasons,
            chosen=key == chosen,
        )
    with st.expander("How to read"):
        st.markdown(
            "Judged by the worst estimator in its worst norm. *Reproduced*: three quarters of the cells agree "
            "within Monte-Carlo error or 10 %. *Same shape, other level*: same order, and ours over printed nearly "
            "constant. We chose thresholds and open settings with the printed numbers in view."
        )
    return shown()[chosen]


def _row(table: Table, verdict: Verdict, opens: str, *, reasons: str, chosen: bool) -> None:
    """Show one table with its verdict and the reasons found for it."""
    name, what, word, within, reason = st.columns(WIDTHS, vertical_alignment="center")
    name.button(
        table.where,
        key=f"published-{table.key}",
        type="primary" if chosen else "secondary",
        width="stretch",
        on_click=_choose,
        args=(table.key, opens),
    )
    what.markdown(table.title)
    word.markdown(headline(verdict) + _better(verdict))
    within.container(key=f"published-agree-{table.key}").markdown(
        percent(round(verdict.within, 2)) if verdict.word != NOTHING else "-"
    )
    reason.markdown(f":small[{reasons}]" if reasons else "")


def _reasons(verdict: Verdict) -> str:
    """Return the first two reasons, as one sentence."""
    if not verdict.reasons:
        return ""
    text = "; ".join(verdict.reasons[:2])
    return show.as_text(text[:1].upper() + text[1:] + ".")


def _better(verdict: Verdict) -> str:
    """Return the better verdict of some estimators, or nothing."""
    if verdict.headline != verdict.word:
        return ""
    parts = []
    for word in (REPRODUCED_WELL, SHAPE):
        names = [name for name, own, *_ in verdict.methods if own == word != verdict.word]
        if names:
            parts.append(f" {', '.join(names)} {chip(word)}")
    return "".join(parts)


def _choose(key: str, opens: str) -> None:
    """Open a table; for its button."""
    frame.put(**dict.fromkeys(TABLE_KEEPS, "") | {"table": "" if key == FIRST else key, "part": opens})
