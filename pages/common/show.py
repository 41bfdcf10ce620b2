"""Functions that show a release, a table, a figure or an error on the page."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from privcov.bundle.safe import cells
from privcov.core import words
from privcov.core.words import plain, to_powers
from privcov.metrics.errors import to_working_units
from privcov.plots.look import Picture
from privcov.plots.matrices import Still, marks
from privcov.plots.palette import Palette, wash
from privcov.releases.display import matrix_of

if TYPE_CHECKING:
    import pandas as pd

    from privcov.releases.release import Release
    from privcov.tables.dataset import Dataset

chance, percent = words.chance, words.percent  # for the pages, beside the meters

_CHART: dict[str, Any] = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


@contextmanager
def problems() -> Iterator[None]:
    """Show an error that a person can correct as one sentence, and keep the rest of the page."""
    try:
        yield
    except (ValueError, TypeError) as problem:
        st.error(as_text(str(problem)))


def picture(chart: Picture, key: str) -> None:
    """Show a chart with its text alternative. Fonts and colours are the figure's own."""
    config = _CHART | {"toImageButtonOptions": {"format": "svg", "filename": f"privcov-{key}"}}
    height: Literal["content", "stretch"] = "content" if chart.figure.layout.height else "stretch"
    st.plotly_chart(chart.figure, key=key, theme=None, width="stretch", height=height, config=config, alt=chart.alt)


def still(image: Still, key: str, palette: Palette) -> None:
    """Show a matrix at once as a plain image with its colour bar."""
    with st.container(key=key):
        source = f"data:image/png;base64,{base64.b64encode(image.png).decode()}"
        words = "".join(
            f'<span style="bottom: {50 * (value / image.limit + 1):.1f}%">{plain(value)}</span>'
            for value in marks(image.limit)
        )
        stops = ", ".join(f"{colour} {100 * at:g}%" for at, colour in palette.diverging)
        st.html(
            f'<div class="pc-stillrow"><img class="pc-still" src="{source}" alt="{escape(image.alt)}" '
            f'aria-label="{escape(image.alt)}"><div class="pc-bar" style="background: linear-gradient(0deg, {stops})">'
            f'</div><div class="pc-barmarks" aria-hidden="true">{words}</div></div>'
        )


def tag(provenance: str, text: str = "") -> None:
    """Show where the numbers below come from: Simulated, Public, Owner's view or Released."""
    st.html(f'<div><span class="pc-tag">{escape(provenance)}</span>{escape(text)}</div>')


def made_from(data: Dataset, rel: Release, label: str, mark: str = "") -> None:
    """Show rows, method and guarantee of the release below, with a warning where its published claim is false."""
    with st.container(key="made-from"):
        tag(
            data.provenance.capitalize(),
            f"{data.n:,} row{'s' * (data.n > 1)}, {data.d} column{'s' * (data.d > 1)}; {label}, {guarantee_text(rel)}"
            + f"; {mark}" * bool(mark),
        )
    if rel.claim_is_false:
        st.warning(as_text(f"Guarantee: {rel.statement['Guarantee']}."))


def guarantee_text(rel: Release) -> str:
    """Return what a release gave, as words: its guarantee, with small numbers as powers of ten."""
    return to_powers(str(rel.actual_guarantee)) if rel.actual_guarantee else "nothing measured"


def lines(titled: Iterable[tuple[str, str]]) -> None:
    """Show titles and sentences as one list: separate elements would each be a message to the browser at every run."""
    rows = "".join(f"<dt><strong>{escape(title)}</strong></dt><dd>{escape(text)}</dd>" for title, text in titled)
    st.html(f'<dl class="pc-lines">{rows}</dl>')


def colour_note(unit: str, saturated: str) -> None:
    """Show what the colours of the heatmaps above mean: their unit, and what has the colour of an end."""
    with st.container(key="colours"):
        st.caption(as_text(f"Colours: {unit}. {saturated}".strip()))


def cards(values: Iterable[tuple[str, str, str]], key: str) -> None:
    """Show (label, number, explanation) side by side."""
    row = st.container(key=f"cards-{key}", horizontal=True)  # columns would send six more messages at every run
    for label, value, about in values:
        row.metric(label, value, border=True, height="stretch", help=about or None)


CORRELATIONS, COVARIANCES = "Correlations", "Covariances"


def released_matrix(rel: Release, how: str) -> np.ndarray:
    """Return the matrix of a release as correlations, in its own units or, by default, in working units."""
    if how == CORRELATIONS:
        return matrix_of(rel, "correlation")
    return rel.matrix if how == COVARIANCES else to_working_units(rel.matrix, rel.scale, rel.target)


ATTACKER = "Attacker's best chance"
_GUESS = "Best guess at one row by somebody who knows all others; a coin toss has 50 %."


def attacker_meter(success: float, palette: Palette) -> None:
    """Show the best possible guess whether a given person's row is in the data, on a scale from 50 to 100 %."""
    st.html(
        f'<div role="meter" {_meter_values(success)} aria-label="{ATTACKER}: {chance(success)}">'
        f"{_bar(success, palette)}"
        '<div class="pc-keytext"><span>50 % a coin toss</span><span>100 % certain</span></div></div>'
    )


def attacker_line(success: float, palette: Palette, label: str = ATTACKER, *, most: bool = False) -> None:
    """Show the attacker's best chance, 0.5 to 1, in one line; ``most``: the chance is a bound for any method."""
    st.html(_line(success, palette, label, chance(success, most=most), _GUESS))


def error_and_attacker(
    level: str, relative_error: float | None, against: str, success: float, palette: Palette, hint: str, label: str
) -> None:
    """Show what a release at this level costs and leaves: its error, and the attacker's best chance, in one line.

    ``relative_error`` is that to ``against``, None where the page has another. ``hint`` is added to what is under
    the pointer of the attacker's line, named ``label``. `follow.js` replaces the numbers while the level is dragged.
    """
    cost, says = "", f"{label}: {chance(success)}."
    if relative_error is not None:
        says = f"Error to {against}: {percent(relative_error)}. {says}"
        cost = (
            '<span title="Relative Frobenius error, one draw of the noise; 100 % is as bad as the zero matrix.">'
            f"Error to {against}: <b>{_number('error', percent(relative_error))}</b></span>"
        )
    line = _line(success, palette, label, chance(success), f"{_GUESS} {hint}")
    st.html(f'<div class="pc-answers" data-level="{level}" data-says="{escape(says)}">{cost}{line}</div>')


def say(text: str) -> None:
    """Let a screen reader say a text once it is on the page; ``hands.js`` reads it."""
    st.html(f'<div data-says="{escape(text)}"></div>')


def _number(name: str, text: str) -> str:
    """Return a number as markup, with an empty place for its value while the level is dragged."""
    return f'<span data-number="{name}">{text}</span><span data-moving="{name}" aria-hidden="true"></span>'


def _line(success: float, palette: Palette, label: str, text: str, about: str) -> str:
    return (
        f'<div class="pc-line" role="meter" {_meter_values(success)} aria-label="{escape(label)}: {text}" '
        f'title="{escape(about)}"><span>{escape(label)}</span><small>50 %</small>{_bar(success, palette)}'
        "<small>100 %</small>"
        f'<span class="pc-chance">{_number("attacker", text)}</span></div>'
    )


def suspicion(rel: Release) -> str:
    """Return what the release can make of a suspicion, as markdown."""
    from privcov.attacks import disclosure

    return as_text(disclosure.suspicion(rel.trade_off, neighbours=rel.neighbours.key))


def _meter_values(success: float) -> str:
    return f'aria-valuemin="0.5" aria-valuemax="1" aria-valuenow="{success:.4f}"'


def _bar(success: float, palette: Palette) -> str:
    return (
        f'<div class="pc-meter" style="background: linear-gradient(90deg, {palette.good}, {palette.bad})">'
        f'<i data-needle="attacker" style="left: {(success - 0.5) * 200:.2f}%; background: {palette.ink}"></i></div>'
    )


def verdict(sentence: str, caught: bool, palette: Palette) -> None:
    """Show the verdict of an audit, in the colour of bad news where a fault was caught."""
    colour = palette.bad if caught else palette.good
    st.html(
        f'<div role="status" style="border-left: .3rem solid {colour}; background: {wash(colour, 0.1)}; '
        f'padding: .7rem 1rem; border-radius: .3rem; font-weight: 600">{escape(sentence)}</div>'
    )


def matrix_table(matrix: np.ndarray, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a d x d matrix with the names of its columns on both sides, as a spreadsheet may read them."""
    import pandas as pd

    names = cells(columns)
    return pd.DataFrame(matrix, index=names, columns=names)


def download(label: str, make: Callable[[], str | bytes], file_name: str, key: str, mime: str = "text/csv") -> None:
    """Show a download whose content is made on click, without a rerun."""
    st.download_button(label, data=make, file_name=file_name, mime=mime, on_click="ignore", key=key)


def as_text(sentence: str) -> str:
    """Return markdown that shows the sentence letter by letter; it may quote a column's name."""
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$&^=:])", r"\\\1", sentence.replace("\n", " "))
    # A word joiner, which has no width: emoji codes are looked for after the escapes are gone.
    return re.sub(r"\\:(?=\S)", "\\\\:\u2060", escaped)
