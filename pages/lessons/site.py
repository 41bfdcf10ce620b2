"""The lessons as files: a folder of HTML that opens from the disk, without a server.

A short script shows the pictures and the words of the place at which the control stands.
"""

from __future__ import annotations

import functools
import json
import logging
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from string import Template

from pages.common import glossary, show
from pages.lessons import guess, sheets, vote
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.lesson import Control, Lesson
from pages.lessons.offline import Content, content
from pages.lessons.plan import title
from pages.lessons.simulated import AT_DELTA, DELTA, SEED
from privcov import source
from privcov.bundle.derived import zipped
from privcov.core.guarantees import ApproxDP
from privcov.metrics.errors import error, reference_matrix
from privcov.plots.lessons import panels
from privcov.plots.matrices import colour_limit
from privcov.plots.palette import LIGHT, PAPER_CAPTION, PAPER_RULE
from privcov.releases.public import release

INDEX, WORDS = "index.html", "words.html"
HOME = {"n": 2_000}  # the rows of the demonstration on Home
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
WIDTH = 380  # pixels of a picture, so that its words are as large as they are drawn on a telephone

_STYLE = Template("""
html {color-scheme: light; background: $ground; color: $ink}
body {font: 17px/1.5 "Source Sans 3", "Segoe UI", sans-serif; max-width: 44rem; margin: 1rem auto; padding: 0 1rem}
h1 {font: 600 1.7rem/1.2 Georgia, serif; margin: .5rem 0} h2 {font-size: 1.1rem; margin-top: 1.2rem}
a {color: $accent} nav {display: flex; flex-wrap: wrap; justify-content: space-between}
nav a {display: flex; align-items: center; justify-content: center; min-height: 44px; margin-right: .6rem}
@media (max-width: 40rem) {.menu span {display: none} .menu a {min-width: 44px; margin: 0}}
.control output {color: $accent; font-weight: 600}
.control input {width: 100%; height: 44px; margin: 0; accent-color: $accent}
.ends {display: flex; justify-content: space-between; font-size: .85rem; color: $quiet; margin: 0}
:is(a, input, summary, button):focus-visible {outline: 2px solid $ink; outline-offset: 2px}
[hidden] {display: none !important}
.row {display: flex; flex-wrap: wrap; gap: 0 1rem} figure {flex: 1 1 10rem; margin: .4rem 0; min-width: 0}
.idea {max-width: 100%; height: auto} .vote td {width: 2.1rem; height: 2.1rem; padding: 0; text-align: center}
.vote table {border-spacing: 1px; font-size: .75rem} .vote .row {gap: .4rem}
.vote button {min-height: 44px; font: inherit; padding: 0 .8rem}
svg {width: 100%; max-width: 36rem; height: auto} .tag {font-size: .85rem; color: $quiet; margin: .4rem 0}
details {border-top: 1px solid $rule} details p {margin: .3rem 1.1rem} dt {font-weight: 600; margin-top: .8rem}
summary {cursor: pointer; min-height: 44px; align-content: center}
@media print {.vote, .control input {display: none}}
""").substitute(ink=LIGHT.ink, ground=LIGHT.ground, accent=LIGHT.good, quiet=PAPER_CAPTION, rule=PAPER_RULE)

_SCRIPT = """
const control = document.querySelector(".control input");
if (control) {
  const places = JSON.parse(control.dataset.places);
  const show = () => {
    document.querySelectorAll("[data-at]").forEach((part) => { part.hidden = part.dataset.at !== control.value; });
    control.ariaValueText = document.querySelector(".control output").textContent = places[control.value];
  };
  control.addEventListener("input", show);
  show();
}
"""


def files() -> Iterator[tuple[str, str]]:
    """Yield (name, HTML) of every file: the lessons in their order, and the index with the demonstration of Home."""
    for before, number, after in zip((None, *NUMBERS), NUMBERS, (*NUMBERS[1:], None), strict=False):
        beside = [(k, word) for k, word in ((before, "Previous"), (after, "Next")) if k is not None]
        links = " ".join(f'<a href="{name(k)}">{word}: {escape(title(k))}</a>' for k, word in beside)
        yield name(number), _page(title(number), f"{_lesson(number)}<nav>{links}</nav>")
    yield INDEX, _page("What does privacy cost a covariance matrix?", _home())
    entries = "".join(f"<dt>{escape(one.term)}</dt><dd>{escape(one.means)}</dd>" for one in glossary.words().values())
    yield WORDS, _page("Words", f"<dl>{entries}</dl>")


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
    data = source("ar1-covariance", random_state=0, **HOME)
    rel = release(data, ApproxDP(epsilon, DELTA), "gaussian-cov", random_state=SEED)
    sample = reference_matrix(data, "covariance", "sample")
    pair = [("without privacy", sample), (f"released with epsilon = {epsilon:g}", rel.covariance)]
    return Content(
        tags=[f"Simulated: {data.n:,} rows, {data.d} columns; Gaussian mechanism, {AT_DELTA}"],
        pictures=[("two-home", "", panels(pair, colour_limit(sample), LIGHT))],
        sentence=f"Error of the release: **{show.percent(error(rel, data, relative=True))}**. {show.ATTACKER}: "
        f"**{show.chance(rel.attacker_success)}**.",
    )


def _page(heading: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(heading)}</title><style>{_STYLE}</style></head><body>'
        f"{_menu()}<main><h1>{escape(heading)}</h1>"
        f"{body}</main><script>{_SCRIPT}{vote.SCRIPT}</script></body></html>\n"
    )


def _menu() -> str:
    links = [f'<a href="{INDEX}">Home</a>']
    for number in NUMBERS:
        short, dot, rest = escape(title(number)).partition(". ")
        links.append(f'<a href="{name(number)}" aria-label="{short}{dot}{rest}">{short}<span>{dot}{rest}</span></a>')
    return f'<nav class="menu">{" ".join(links)} <a href="{WORDS}">Words</a></nav>'


def _home() -> str:
    control = Control("Epsilon", EPSILONS, 1.0, "stronger privacy", "more accuracy")
    return (
        "<p>Differential privacy adds noise, which limits what anyone can learn about one row. Choose epsilon.</p>"
        + _controlled(control, [at_home(epsilon) for epsilon in EPSILONS])
    )


def _lesson(number: int) -> str:
    lesson = LESSONS[number]
    found = [content(lesson, value) for value in lesson.control.options]
    first = "" if lesson.idea is None else lesson.idea(LIGHT)
    if lesson is guess.LESSON:  # the vote has the first picture
        first += vote.ballot(lesson.control.options)
        found = [replace(one, pictures=one.pictures[1:]) for one in found]
    return f"<p>{sheets.words(lesson.aim)}</p>{first}{_controlled(lesson.control, found)}{_question(lesson)}"


def _controlled(control: Control, found: Sequence[Content]) -> str:
    """Return the pictures at every place of a control, the control, and what is said at every place."""
    start, places = control.options.index(control.start), [control.shown(option) for option in control.options]

    def at(parts: Iterable[str]) -> str:
        hidden = ["" if k == start else " hidden" for k in range(len(found))]
        return "".join(f'<div data-at="{k}"{hidden[k]}>{part}</div>' for k, part in enumerate(parts))

    tags = ["".join(f'<p class="tag">{escape(tag)}</p>' for tag in one.tags) for one in found]
    pictures = at(tag + sheets.in_rows(one, WIDTH) for tag, one in zip(tags, found, strict=True))
    said = at(f"<p>{sheets.words(one.sentence)}</p>" for one in found)
    return (
        f'{pictures}<div class="control"><label for="control"><b>{escape(control.label)}</b></label> <output></output>'
        f'<input type="range" id="control" max="{len(places) - 1}" value="{start}" '
        f'data-places="{escape(json.dumps(places))}">'
        f'<p class="ends"><span>{escape(control.left)}</span><span>{escape(control.right)}</span></p></div>{said}'
    )


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
