"""All printed tables at a glance, a verdict each; a click opens one."""

from __future__ import annotations

import streamlit as st

from pages.shell import frame, show
from privcov.figures.palette import Palette
from privcov.papers import verdicts as papers_verdicts
from privcov.papers.base import PUBLISHED, REPRODUCED, Table
from privcov.papers.catalogue import TABLES
from privcov.papers.verdicts import NOT, NOTHING, REPRODUCED_WELL, SHAPE, Survival, Verdict

CHIPS = {REPRODUCED_WELL: "green", SHAPE: "orange", NOT: "red", NOTHING: "gray"}
TABLE_KEEPS = ("table", "tab", "norm", "cell", "point", "variant", "runs")
KEEPS = (*TABLE_KEEPS, "figure", "panel", "shown")
FIRST = "2-table-2"
WIDTHS = [1.5, 2.9, 3.1, 0.9, 4.6]


def shown() -> dict[str, Table]:
    """The printed tables (not the probes)."""
    return {key: table for key, table in TABLES.items() if table.file}


def stored_at() -> tuple:
    """Changes whenever a stored number may have."""
    folders = (PUBLISHED, REPRODUCED)
    return tuple(sorted((p.name, p.stat().st_mtime_ns) for folder in folders for p in folder.glob("*.csv")))


@st.cache_data(show_spinner="Comparing every printed table ...", max_entries=4)
def _verdicts(stamp: tuple) -> dict[str, Verdict]:
    return {key: papers_verdicts.verdict(table) for key, table in shown().items()}


@st.cache_data(show_spinner=False, max_entries=40)
def _survival(key: str, stamp: tuple) -> list[Survival]:
    return papers_verdicts.survival(TABLES[key])


def verdicts() -> dict[str, Verdict]:
    """The verdict of every published table, as the stored numbers stand now."""
    return _verdicts(stored_at())


def survival(key: str) -> list[Survival]:
    """Which curves of a table survive a sound calibration, as the stored numbers stand now."""
    return _survival(key, stored_at())


def chip(word: str) -> str:
    """A verdict as a coloured badge."""
    return f":{CHIPS[word]}-badge[{word}]"


def section(palette: Palette) -> Table:
    """The list of tables. Returns the chosen one."""
    found = verdicts()
    words = [v.word for v in found.values()]
    told = ", ".join(f"{words.count(word)} {word}" for word in CHIPS if word in words)
    st.caption(
        "A table is no better than its worst estimator in its worst norm. *Reproduced*: three quarters of the cells "
        "agree within Monte-Carlo error or 10 %. *Same shape, other level*: the cells in the same order, ours over "
        "printed nearly constant. These thresholds, and the choices that a paper leaves open, were set by us with the "
        "printed numbers in view; each choice stands with its table."
    )
    st.markdown(f"**{len(found)} tables, {sum(v.cells for v in found.values())} printed numbers compared:** {told}.")
    if more := papers_verdicts.beyond_the_word(list(found.values())):
        st.markdown(show.as_text(more[:1].upper() + more[1:]))
    head = st.columns(WIDTHS)
    for column, name in zip(head, ("Paper, table", "What", "Verdict", "Agree", "Reason found"), strict=True):
        column.caption(name)
    chosen = frame.own("table", FIRST)
    if chosen not in shown():
        frame.leave_out("table", "There is no printed table of that name.")
        chosen = FIRST
    for key, table in shown().items():
        _row(table, found[key], key == chosen)
    return shown()[chosen]


def _row(table: Table, verdict: Verdict, chosen: bool) -> None:
    name, what, word, within, reason = st.columns(WIDTHS, vertical_alignment="center")
    name.button(
        f"{table.paper}, {table.where}",
        key=f"published-{table.key}",
        type="primary" if chosen else "secondary",
        width="stretch",
        on_click=_choose,
        args=(table.key,),
    )
    what.markdown(table.title)
    word.markdown(chip(verdict.word) + _better(verdict))
    within.markdown(f"{verdict.within:.0%}" if verdict.word != NOTHING else "-")
    reason.markdown(_reasons(verdict))


def _reasons(verdict: Verdict) -> str:
    """The first two, as one sentence."""
    if not verdict.reasons:
        return ""
    told = "; ".join(verdict.reasons[:2])
    told = show.as_text(told[:1].upper() + told[1:] + ".")
    return f":small[{told}]"


def _better(verdict: Verdict) -> str:
    """The better word of a part: of some estimators, or of the table once the reasons are put into our numbers."""
    if verdict.explained and verdict.explained != verdict.word:
        return f" with the reasons put in {chip(verdict.explained)}"
    told = []
    for word in (REPRODUCED_WELL, SHAPE):
        names = [name for name, own, *_ in verdict.methods if own == word != verdict.word]
        if names:
            told.append(f" {', '.join(names)} {chip(word)}")
    return "".join(told)


def _choose(key: str) -> None:
    frame.put(**dict.fromkeys(TABLE_KEEPS, "") | {"table": "" if key == FIRST else key})
