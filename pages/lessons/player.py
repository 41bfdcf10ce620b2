"""The player of a lesson in the browser, on the page and in the folder, and what it plays."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from pages.common import frame, show
from pages.common.jobs import ANSWERS, Job, Jobs, Steps
from pages.lessons import lesson_10_guess, sheets
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.lesson import Control, Screen, compute_once, content
from pages.lessons.simulated import SEED
from privcov.plots.palette import DARK, LIGHT, Palette

WIDTH = 380  # pixels of a picture, so that its words are as large as they are drawn on a telephone
DRAWS = 6  # of the noise at each place
_HERE = Path(__file__)
SCRIPT, STYLE = (_HERE.with_suffix(kind).read_text(encoding="utf-8") for kind in (".js", ".css"))
HTML = '<div class="pl"></div>'
_PLAYER = st.components.v2.component("privcov_lesson", html=HTML, css=STYLE, js=SCRIPT, isolate_styles=False)


_JOBS = Jobs("lesson-draws", ANSWERS)


def put(number: int, palette: Palette) -> None:
    """Show the player of a lesson: the first draw of the noise at once, the others as soon as they are computed."""
    lesson, control = LESSONS[number], LESSONS[number].control
    pressed = play(
        _key(number, palette.dark), lambda: compute_once(lesson_content, number, palette.dark), palette, "lever"
    )
    if pressed.onward is not None:
        file, _, make = lesson.onward
        st.switch_page(file, query_params=frame.query_for(file, make(control.options[pressed.onward]), {}))
    key = (number, palette.dark)
    if lesson.draws:
        if _JOBS.find(key) is None:
            _JOBS.start(key, lambda stop: _further(key, stop), DRAWS)
        _JOBS.watch(key, _put_further, every=1.0)


def play(key: str, make: Callable[[], dict[str, Any]], palette: Palette, setting: str, *, slow: bool = False) -> Any:
    """Show the player with what ``make`` returns, empty before where that is slow.

    ``setting`` of the page names the place of the control.
    """
    st.html(f"<style>{colours(palette)}</style>")
    fresh = slow and st.session_state.get("played") != key
    place = st.empty() if fresh else st.container()  # of a container the player outlasts the run
    if fresh:
        place.caption("Computing ...")  # the former picture would have the wrong title
    data = make()
    st.session_state["played"] = key
    values, start = data["values"], data["start"]
    heard = st.session_state.get("player", {}).get("at") or [0]

    def on_move() -> None:
        _, at, of = st.session_state["player"]["at"]
        if of == key:  # else another lesson was chosen in the same moment
            frame.set_query(**{setting: "" if at == start else values[at]})

    def turned() -> None:
        number = st.session_state["player"]["lesson"][1]
        frame.set_query(lesson="" if number == NUMBERS[0] else str(number), lever="")

    at = values.index(frame.page_setting(setting, values[start]))
    state = data | {"at": at, "heard": heard[0]}
    with place.container() if fresh else place:
        return _PLAYER(
            data=state, key="player", on_at_change=on_move, on_lesson_change=turned, on_onward_change=lambda: None
        )


def _further(key: tuple[int, bool], stop: threading.Event) -> Steps:
    """Compute the other draws, one by one, for all visitors."""
    number, dark = key
    draws = []
    for draw in range(1, DRAWS):
        yield None
        draws.append(compute_once(at_places, number, dark, draw))
    yield {"draws": {"more": True, "key": _key(number, dark), **frames(draws, DARK if dark else LIGHT)}}


def _put_further(job: Job) -> None:
    """Hand the other draws to the player once they are there."""
    for row in job.progress.rows:
        _PLAYER(data=row["draws"], key="further")


def colours(palette: Palette) -> str:
    """Return the style with the colours of the player."""
    variables = {"ink": palette.ink, "quiet": palette.quiet, "rule": palette.grid, "ground": palette.ground}
    variables |= {"accent": palette.good, "bad": palette.bad}
    return f":root {{{'; '.join(f'--{name}: {colour}' for name, colour in variables.items())}}}"


def lesson_content(number: int, dark: bool, draws: int = 1) -> dict[str, Any]:
    """Return what the player shows of a lesson, with the first draws of its noise."""
    lesson, palette = LESSONS[number], DARK if dark else LIGHT
    voted = lesson is lesson_10_guess.LESSON
    return {
        **control_content(lesson.control),
        **frames([at_places(number, dark, draw) for draw in range(draws if lesson.draws else 1)], palette, voted),
        "key": _key(number, dark),
        "number": number,
        "order": NUMBERS,
        "aim": f"<p>{sheets.words(lesson.aim)}</p>",
        "question": sheets.words(lesson.question),
        "choices": [
            {"text": one.text, "reason": sheets.words(one.reason), "right": one.right} for one in lesson.choices
        ],
        "remember": sheets.words(lesson.remember),
        "onward": lesson.onward[1],
        "game": ballot(lesson.control.options, palette) if voted else None,
    }


def control_content(control: Control) -> dict[str, Any]:
    """Return what the player needs of a control."""
    return {
        "label": control.label,
        "left": control.left,
        "right": control.right,
        "help": control.help,
        "places": [control.to_text(option) for option in control.options],
        "values": [str(option) for option in control.options],
        "start": control.options.index(control.start),
    }


def frames(draws: Iterable[Sequence[Screen]], palette: Palette, in_vote: bool = False) -> dict[str, Any]:
    """Return what stands at each place for each draw, each element of a picture and each picture once.

    ``shows`` has (picture, sentence) by draw and place, as indices of ``parts``, which are lists of indices of
    ``pieces``. The first picture is left out where it is ``in_vote``.
    """
    pieces: dict[str, int] = {}
    parts: dict[tuple[int, ...], int] = {}

    def index(markup: str) -> int:
        cut = tuple(pieces.setdefault(piece, len(pieces)) for piece in re.split(r"(?<=>)(?=<)", markup))
        return parts.setdefault(cut, len(parts))

    shows = [
        [(index(pictures(one, palette, begin=int(in_vote))), index(paragraphs(one.sentence))) for one in places]
        for places in draws
    ]
    return {"pieces": list(pieces), "parts": list(parts), "shows": shows}


def paragraphs(text: str) -> str:
    """Return sentences as HTML; a blank line begins a paragraph."""
    return "".join(f"<p>{sheets.words(part)}</p>" for part in text.split("\n\n"))


def pictures(screen: Screen, palette: Palette, *, begin: int = 0) -> str:
    """Return the pictures of a place of the control under their lines of provenance."""
    tags = "".join(f'<p class="tag">{sheets.words(tag)}</p>' for tag in screen.tags)
    return tags + sheets.pictures_as_html(screen.pictures[begin:], WIDTH, palette)


def ballot(levels: Sequence[float], palette: Palette) -> dict[str, Any]:
    """Return what the browser needs for the vote of the last lesson, at each level of rho."""
    upper, pair = np.triu_indices(lesson_10_guess.D), lesson_10_guess.exact_moments()
    entry = np.zeros((lesson_10_guess.D, lesson_10_guess.D), dtype=int)
    entry[upper] = np.arange(len(upper[0]))
    return {
        "names": lesson_10_guess.NAMES,
        "tables": [table[upper].tolist() for table in pair],
        "entry": np.maximum(entry, entry.T).ravel().tolist(),
        "sigmas": [lesson_10_guess.play(rho, SEED, 1).sigma for rho in levels],
        "limits": [show.chance(lesson_10_guess.limit(rho), exact=True) for rho in levels],
        "most": float(abs(pair[0]).max()),
        "above": palette.good,
        "below": palette.bad,
    }


def _key(number: int, dark: bool) -> str:
    return f"{number}-{dark}"


def at_places(number: int, dark: bool, draw: int) -> list[Screen]:
    """Return what a lesson shows at each place of its control, with one of the draws of its noise."""
    lesson, palette = LESSONS[number], DARK if dark else LIGHT
    return [content(lesson, option, palette, draw) for option in lesson.control.options]
