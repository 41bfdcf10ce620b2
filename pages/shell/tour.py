"""The two-minute tours: three cards on Home, each a few numbered steps over pages that are already set up.

The tour and its step are one word of the address, "teach-2", so every link keeps it, and leaving the tour removes it.
Nothing changes for a visitor without a tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from pages.shell import hosted
from pages.shell.study import Study

KEY = "path"


@dataclass(frozen=True)
class Step:
    """One step of a tour.

    ``page`` is its label in the menu. ``study`` is how the page is set up, None for as the visitor has it. ``own`` are
    settings of that page alone. ``check`` says whether the questions are asked here.
    """

    page: str
    do: str
    study: Study | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    check: bool = False


@dataclass(frozen=True)
class Tour:
    """One tour: for whom it is, what it leads to, and its steps."""

    key: str
    title: str
    whom: str
    summary: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Question:
    """One question with its answers: the text of each, and the reply to it.

    The first answer is right; ``order`` is that on the screen.
    """

    asked: str
    answers: tuple[tuple[str, str], ...]
    order: tuple[int, ...]


_SMALL = Study(kind="approx", epsilon=1.0)
_TABLE = Study(source="ar1-covariance", data=(("d", 40), ("n", 5_000)), kind="approx", epsilon=1.0)
_NOISY = Study(source="ar1-covariance", data=(("d", 40), ("n", 5_000)), kind="approx", epsilon=0.1)
_MORE = Study(source="ar1-covariance", data=(("d", 40),), kind="approx", epsilon=0.1)
_LESSONS = "Lessons"
_PRIVATE = "Your data"
ELSEWHERE = (
    f"On this server the private path is shut, practice table included (**{_PRIVATE}** says why): it is walked on your "
    "own machine."
)
_LAST = Step("Home", "Two questions, to see whether the path did its work.", check=True)
_LECTURE = Step(
    "Home",
    "Two questions, to see whether the path did its work. A lecture of twenty minutes: all ten screens "
    "of **Lessons**. F fills the screen, left and right change the lesson, up and down move its lever.",
    check=True,
)

TOURS = (
    Tour(
        "teach",
        "Teach",
        "A class tomorrow",
        "From the melting matrix to a game the class can play against the best possible attacker.",
        (
            Step(
                _LESSONS,
                "Two tables that differ in one person are **neighbours**. What is released must look nearly the same "
                "for both, whoever that person is. Answer the question on this screen.",
                _SMALL,
                {"lesson": "1"},
            ),
            Step(
                _LESSONS,
                "More people, the same guarantee: move the lever and watch the noise per entry fall, because one row "
                "weighs less.",
                _SMALL,
                {"lesson": "3"},
            ),
            Step(
                _LESSONS,
                "Every new release about the same people costs again. Move the lever: averaging re-runs bares the "
                "table. What is computed from a matrix that is out costs nothing more.",
                _SMALL,
                {"lesson": "9"},
            ),
            Step(
                _LESSONS,
                "Play a few rounds: in the long run nobody beats the best possible attacker. How far that attacker "
                "gets is what epsilon sets.",
                _SMALL,
                {"lesson": "10"},
            ),
            _LECTURE,
        ),
    ),
    Tour(
        "explore",
        "Explore",
        "5,000 rows, 40 columns, one question",
        "What a private covariance costs at your size, and what to do when it costs too much.",
        (
            Step(
                "Estimate",
                "The first card is the error of the released matrix at epsilon = 1: 100 % would be as bad as "
                "answering zero. The last card is what an attacker gets.",
                _TABLE,
            ),
            Step(
                "Estimate",
                "Epsilon is 0.1 now: an attacker who can do little but toss a coin, and a larger error. The line "
                "below the cards says what trivial answers would do. Drag **Epsilon**, in the sidebar, to see.",
                _NOISY,
            ),
            Step(
                "Estimate",
                "The same epsilon with ten times the rows: the noise per entry falls to a tenth, because one row "
                "weighs a tenth. More rows buy what a larger epsilon would.",
                _MORE,
            ),
            Step(
                "Trade-offs",
                "Each line is a method. Where it lies above the line of the **zero matrix** the release says nothing; "
                "the last point to the left below it is the least epsilon worth having.",
                _TABLE,
            ),
            _LAST,
        ),
    ),
    Tour(
        "release",
        "Release",
        "A table that may not leave the house",
        "One release of a practice table, from the declaration to the file that may be handed on.",
        (
            Step(
                _PRIVATE,
                "Press **Use the practice table**: invented people, with what is publicly known about the columns "
                "filled in. Read the limits, then press **Declare** at the end of the page and go on to Plan.",
            ),
            Step(
                _PRIVATE,
                "On **Plan**, compare three strengths: for each, what an attacker gets and which error to expect. Pick "
                "one, then press **Go on to Release**.",
            ),
            Step(
                _PRIVATE,
                "On **Release**, type what you picked as the limit: all releases about these people together stay "
                "within it. Press **Release ...** and confirm: the spending is written down before any noise is drawn.",
            ),
            Step(
                _PRIVATE,
                "On **Answers**, every picture comes from that one noisy matrix and spends nothing more. Take the "
                "file home: it may be handed on, the table may not.",
            ),
            _LAST,
        ),
    ),
)

QUESTIONS = (
    Question(
        "You lower epsilon from 1 to 0.1 and release the matrix. What changes?",
        (
            (
                "There is more noise in it, and it is harder to tell whether one given person is in the table",
                "Right. Epsilon bounds how much one row may change what comes out; less epsilon takes more noise.",
            ),
            (
                "It is more accurate, because a smaller number is a smaller error",
                "No: epsilon is not an error. It bounds what one row may change, and a smaller bound takes more noise.",
            ),
            (
                "A tenth of the people are taken out of the table",
                "No: everybody stays in. What is added is noise, as much as it takes to hide any one of them.",
            ),
        ),
        (1, 0, 2),
    ),
    Question(
        "The matrix was released. What may it be used for?",
        (
            (
                "Anything, by anybody, as often as they like, as long as conclusions allow for the noise",
                "Right. Whatever is computed from it reveals no more about a person; but small entries may be noise.",
            ),
            (
                "Only what was planned: each further analysis of it spends more epsilon",
                "No: only touching the rows again spends. What is computed from the released matrix is free.",
            ),
            (
                "To look up what one person answered, since it was made from their row",
                "No: that is what the noise prevents. It says what holds among many people, and of one nearly nothing.",
            ),
        ),
        (2, 1, 0),
    ),
)


def parse(text: str) -> tuple[Tour, int] | None:
    """Return (tour, index of its step) of "teach-2"; None for anything else. The text comes from outside."""
    name, _, number = text.partition("-")
    tour = next((p for p in TOURS if p.key == name), None)
    if tour is None or not (number.isascii() and number.isdigit() and len(number) < 3):
        return None
    return (tour, int(number) - 1) if 1 <= int(number) <= len(tour.steps) else None


def word(tour: Tour, at: int) -> str:
    """Return the address of a step."""
    return f"{tour.key}-{at + 1}"


def elsewhere(step: Step) -> str:
    """Return why this server does not permit a step, in one sentence, or ""."""
    return ELSEWHERE if step.page == _PRIVATE and hosted.refusal() else ""


def bar(text: str, page: str, link: Callable[..., None], leave: Callable[[], None]) -> None:
    """Show the slim bar on top of every page during a tour.

    ``page`` is the label of the page on the screen. ``link(step, label, word, **look)`` shows a link to a step's page,
    set up.
    """
    place = parse(text)
    if place is None:
        return
    tour, at = place
    step = tour.steps[at]
    with st.container(border=True, key="path-bar"):
        left, right = st.columns([7, 3], vertical_alignment="center", gap="medium")
        here = step.do if step.page == page else f"This step is on **{step.page}**. {step.do}"
        if shut := elsewhere(step):
            here = f"{shut} There: {here}"
        left.markdown(f"**{tour.title}, step {at + 1} of {len(tour.steps)}.** {here}")
        with right, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            if step.page != page:
                link(step, f"To {step.page}", text)
            if at:
                link(tour.steps[at - 1], "Back", word(tour, at - 1))
            if at + 1 < len(tour.steps):
                link(tour.steps[at + 1], "Next step", word(tour, at + 1))
            st.button("Leave", key="path-leave", on_click=leave, type="tertiary", help="Ends the path, changes nothing")
        if step.check and step.page == page:
            check()


def _words(question: Question) -> Callable[[int], str]:
    """Return a function that gives the text of an answer."""
    return lambda which: question.answers[which][0]


def check() -> None:
    """Show both questions side by side; each answer gets its sentence."""
    right = 0
    for k, (place, question) in enumerate(zip(st.columns(2, gap="large"), QUESTIONS, strict=True)):
        with place:
            picked = st.radio(
                question.asked,
                question.order,
                index=None,
                format_func=_words(question),
                key=f"path-question-{k}",
            )
            if picked is not None:
                right += picked == 0
                (st.success if picked == 0 else st.warning)(question.answers[picked][1])
    if right == len(QUESTIONS):
        st.markdown("That is what there is to know before the first release. Every page is open; the path ends here.")
