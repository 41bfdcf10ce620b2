"""The lessons as files: a folder of HTML that opens from the disk, without a server.

The control is a row of radio buttons, along which a short script lets one drag; the style sheet shows the chosen part.
"""

from __future__ import annotations

import functools
import logging
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from string import Template

from pages.lessons import guess, sheets, vote
from pages.lessons.book import LESSONS, NUMBERS
from pages.lessons.lesson import Control, Lesson
from pages.lessons.paper import Content, content
from pages.lessons.plan import title
from pages.lessons.simulated import AT_DELTA, DELTA, SEED, made
from pages.shell import show
from privcov.bundle.derived import zipped
from privcov.figures.lessons import panels
from privcov.figures.matrices import colour_limit
from privcov.figures.palette import LIGHT, PAPER_CAPTION, PAPER_RULE
from privcov.metrics.errors import error, reference_matrix
from privcov.privacy import ApproxDP
from privcov.releasing.run import release

INDEX = "index.html"
HOME = {"n": 2_000}  # the rows of the demonstration on Home
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
MOST = 20  # places of a control that the style sheet knows

_STYLE = Template("""
html {color-scheme: light; background: $ground; color: $ink}
body {font: 17px/1.5 "Source Sans 3", "Segoe UI", sans-serif; max-width: 56rem; margin: 1.5rem auto; padding: 0 1rem}
h1 {font: 600 1.9rem/1.2 Georgia, serif; margin: .6rem 0} h2 {font-size: 1.1rem; margin-top: 1.6rem}
nav a {margin-right: .8rem} a {color: $accent}
.control {border: 0; padding: 0; margin: 1rem 0} .control > p {margin: 0}
.control {touch-action: pan-y} .control > label {margin-right: .9rem; white-space: nowrap; user-select: none}
.control > input {position: absolute; opacity: 0} .control > label::before {content: "\u25cb\u00a0" / ""}
.control > input:checked + label::before {content: "\u25cf\u00a0" / ""; color: $accent}
.control > input:focus-visible + label, summary:focus-visible, a:focus-visible {
  outline: 2px solid $ink; outline-offset: 2px}
@media (max-width: 40rem) {.menu span {display: none}}
.ends {display: flex; justify-content: space-between; font-size: .85rem; color: $quiet}
.at {display: none} $rules {display: block}
.row {display: flex; flex-wrap: wrap; gap: 1rem} figure {flex: 1 1 18rem; margin: .6rem 0; min-width: 0}
.idea {max-width: 100%; height: auto} .vote td {width: 4rem; height: 3rem; text-align: center}
.vote button {min-height: 44px; font: inherit; padding: 0 1rem}
svg {width: 100%; max-width: 44rem; height: auto} .tag {font-size: .85rem; color: $quiet}
details {border-top: 1px solid $rule; padding: .4rem 0} summary {cursor: pointer} details p {margin: .3rem 1.1rem}
@media print {.vote, .control > input, .control > label {display: none}
  .control > input:checked + label {display: inline}}
""").substitute(
    ink=LIGHT.ink,
    ground=LIGHT.ground,
    accent=LIGHT.good,
    quiet=PAPER_CAPTION,
    rule=PAPER_RULE,
    rules=", ".join(
        f".control > input:nth-of-type({k}):checked ~ .shown > .at:nth-child({k})" for k in range(1, MOST + 1)
    ),
)

_DRAG = """
for (const control of document.querySelectorAll(".control")) {
  const places = [...control.querySelectorAll(":scope > input")];
  const far = (place, to) => {
    const box = place.nextElementSibling.getBoundingClientRect();
    return Math.hypot(box.x + box.width / 2 - to.clientX, 3 * (box.y + box.height / 2 - to.clientY));
  };
  control.addEventListener("pointermove", (move) => {
    if (!move.buttons || move.target.closest(".shown")) return;
    places.reduce((near, place) => (far(place, move) < far(near, move) ? place : near)).checked = true;
  });
}
"""


def files() -> Iterator[tuple[str, str]]:
    """Yield (name, HTML) of every file: the lessons in their order, and the index with the demonstration of Home."""
    for before, number, after in zip((None, *NUMBERS), NUMBERS, (*NUMBERS[1:], None), strict=False):
        beside = [(k, word) for k, word in ((before, "Previous"), (after, "Next")) if k is not None]
        links = " ".join(f'<a href="{name(k)}">{word}: {escape(title(k))}</a>' for k, word in beside)
        yield name(number), _page(title(number), f"{_lesson(number)}<nav>{links}</nav>")
    yield INDEX, _page("What does privacy cost a covariance matrix?", _home())


@functools.cache
def folder() -> bytes:
    """Return the files in a zip; they are the same for every class."""
    log = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
    log.addFilter(_nothing)  # it warns that every lesson is drawn without a page
    try:
        return zipped({f"lessons/{name}": text.encode() for name, text in files()}, zipfile.ZIP_DEFLATED)
    finally:
        log.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    """Let no line of a log through."""
    return False


def name(number: int) -> str:
    """Return the name of a lesson's file."""
    return f"lesson-{number}.html"


def at_home(epsilon: float) -> Content:
    """Return the demonstration of Home at an epsilon: the sample covariance beside its release."""
    data = made("ar1-covariance", **HOME)
    rel = release("gaussian-cov", data, ApproxDP(epsilon, DELTA), seed=SEED)
    sample = reference_matrix(data, "covariance", "sample")
    pair = [("without privacy", sample), (f"released with epsilon = {epsilon:g}", rel.covariance)]
    return Content(
        tags=[f"Simulated: {data.n:,} rows, {data.d} columns; Gaussian mechanism, {AT_DELTA}"],
        pictures=[("two-home", "", panels(pair, colour_limit(sample), LIGHT))],
        numbers=[
            ("Error of the release", show.percent(error(rel, data, relative=True))),
            (show.ATTACKER, show.chance(rel.attacker_success)),
        ],
    )


def _page(heading: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{_STYLE}</style></head><body>{_menu()}<main><h1>{escape(heading)}</h1>"
        f"{body}</main><script>{_DRAG}{vote.SCRIPT}</script></body></html>\n"
    )


def _menu() -> str:
    """Return the links to every file."""
    links = [f'<a href="{INDEX}">Home</a>']
    for number in NUMBERS:
        short, dot, rest = escape(title(number)).partition(". ")
        links.append(f'<a href="{name(number)}" aria-label="{short}{dot}{rest}">{short}<span>{dot}{rest}</span></a>')
    return f'<nav class="menu">{" ".join(links)}</nav>'


def _home() -> str:
    control = Control("Epsilon", EPSILONS, 1.0, "stronger privacy", "more accuracy")
    return (
        "<p>Differential privacy adds noise, which limits what anyone can learn about one row. Choose epsilon.</p>"
        + _controlled(control, [at_home(epsilon) for epsilon in EPSILONS])
    )


def _lesson(number: int) -> str:
    lesson = LESSONS[number]
    found = [content(lesson, value) for value in lesson.control.options]
    idea = "" if lesson.idea is None else lesson.idea(LIGHT)
    voted = vote.ballot(lesson.control.options) if lesson is guess.LESSON else ""
    return f"{idea}<p>{sheets.words(lesson.aim)}</p>{_controlled(lesson.control, found)}{voted}{_question(lesson)}"


def _controlled(control: Control, found: Sequence[Content]) -> str:
    """Return the radio buttons of a control, and what is shown at each of its places."""
    assert len(found) <= MOST, "the style sheet has a rule for every place"
    buttons = []
    for at, option in enumerate(control.options):
        checked = " checked" if option == control.start else ""
        buttons.append(
            f'<input type="radio" name="control" id="at-{at}"{checked}><label for="at-{at}">'
            f"{escape(control.shown(option))}</label>"
        )
    shown = "".join(f'<div class="at">{_shown(one)}</div>' for one in found)
    return (
        f'<fieldset class="control"><legend><b>{escape(control.label)}</b></legend>{" ".join(buttons)}'
        f'<p class="ends"><span>{escape(control.left)}</span><span>{escape(control.right)}</span></p>'
        f'<div class="shown">{shown}</div></fieldset>'
    )


def _shown(found: Content) -> str:
    tags = "".join(f'<p class="tag">{escape(tag)}</p>' for tag in found.tags)
    said = sheets.words(found.sentence + sheets.in_words(found))
    return f"{tags}{sheets.in_rows(found)}<p>{said}</p>"


def _question(lesson: Lesson) -> str:
    """Return the question; every answer opens to its reason."""
    answers = "".join(
        f"<details><summary>{sheets.words(choice.text)}</summary><p><b>{'Right.' if choice.right else 'Not this one.'}"
        f"</b> {sheets.words(choice.reason)}</p></details>"
        for choice in lesson.choices
    )
    return (
        f"<h2>{sheets.words(lesson.question)}</h2>{answers}"
        f"<details><summary>To remember</summary><p>{sheets.words(lesson.remember)}</p></details>"
    )
