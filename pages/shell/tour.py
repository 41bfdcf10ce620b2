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
ELSEWHERE = f"Shut on this server (**{_PRIVATE}** says why); it works on your own machine."
_LAST = Step("Home", "Two questions about what you saw.", check=True)
_LECTURE = Step(
    "Home",
    "Two questions. In **Lessons**, F fills the screen, left and right change the lesson, up and down its control.",
    check=True,
)

TOURS = (
    Tour(
        "teach",
        "Teach",
        "A class tomorrow",
        "Four lessons and a game against the best possible attacker.",
        (
            Step(
                _LESSONS,
                "A release must look nearly the same for **neighbours**, which differ in one person. Answer the "
                "question.",
                _SMALL,
                {"lesson": "1"},
            ),
            Step(
                _LESSONS,
                "More people: one row weighs less, so noise falls.",
                _SMALL,
                {"lesson": "3"},
            ),
            Step(
                _LESSONS,
                "Every new release of the same people costs again; computing from a released matrix is free.",
                _SMALL,
                {"lesson": "9"},
            ),
            Step(
                _LESSONS,
                "Play a few rounds. In the long run nobody beats the best attacker.",
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
        "What privacy costs at your size.",
        (
            Step(
                "Estimate",
                "First card: the error at epsilon = 1. Last: the attacker's best chance.",
                _TABLE,
            ),
            Step(
                "Estimate",
                "Epsilon is 0.1 now: the attacker is near a coin toss, the error larger. Drag **Epsilon** in the "
                "sidebar.",
                _NOISY,
            ),
            Step(
                "Estimate",
                "Ten times the rows: a row weighs a tenth, and so does the noise per entry.",
                _MORE,
            ),
            Step(
                "Trade-offs",
                "Compare **Auto** with the end of the **private diagonal**, 0.72, which variances alone reach. "
                "Auto beats it from between epsilon 0.1 and 0.2 on.",
                _TABLE,
            ),
            _LAST,
        ),
    ),
    Tour(
        "release",
        "Release",
        "A confidential table",
        "A practice table, from declaration to the file.",
        (
            Step(
                _PRIVATE,
                "Press **Use the practice table**, then **Declare** below, and go on to Plan.",
            ),
            Step(
                _PRIVATE,
                "On **Plan**, compare three strengths, pick one, and press **Go on to Release**.",
            ),
            Step(
                _PRIVATE,
                "On **Release**, type that strength as the limit. Press **Release ...** and confirm.",
            ),
            Step(
                _PRIVATE,
                "**Answers** come from that one noisy matrix, for free. Its file may be handed on; the table may not.",
            ),
            _LAST,
        ),
    ),
)

QUESTIONS = (
    Question(
        "You lower epsilon from 1 to 0.1. What changes?",
        (
            (
                "More noise: harder to tell whether one person is in the table",
                "Right. A smaller bound takes more noise.",
            ),
            (
                "It is more accurate",
                "No: epsilon bounds what one row may change.",
            ),
            (
                "A tenth of the people are taken out",
                "No: everybody stays; noise is added.",
            ),
        ),
        (1, 0, 2),
    ),
    Question(
        "The matrix was released. What may it be used for?",
        (
            (
                "Anything, by anybody, as often as they like",
                "Right. It reveals no more about a person; small entries may be noise.",
            ),
            (
                "Only what was planned: each analysis spends more epsilon",
                "No: only reading the rows again spends.",
            ),
            (
                "To look up what one person answered",
                "No: the noise prevents that.",
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
        st.markdown("Both right. The path ends here.")
