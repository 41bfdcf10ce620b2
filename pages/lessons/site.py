"""The lessons as files: a folder of HTML that opens from the disk, without a server.

The player (`pages.lessons.player`) shows the place at which the control stands.
"""

from __future__ import annotations

import functools
import json
import logging
import zipfile
from collections.abc import Iterator
from html import escape
from typing import Any

from pages.common import glossary, show
from pages.lessons import player
from pages.lessons.catalogue import NUMBERS
from pages.lessons.lesson import Control, Screen
from pages.lessons.plan import title
from pages.lessons.simulated import AT_DELTA, DELTA, SEED
from privcov import source
from privcov.bundle.derived import zipped
from privcov.core.guarantees import ApproxDP
from privcov.metrics.errors import error, reference_matrix
from privcov.plots.lessons import panels
from privcov.plots.matrices import colour_limit
from privcov.plots.palette import DARK, LIGHT
from privcov.releases.public import release

INDEX, WORDS = "index.html", "words.html"
HOME = {"n": 2_000}  # the rows of the demonstration on Home
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

_STYLE = (
    """
html {color-scheme: light dark; background: var(--ground); color: var(--ink)}
body {font: 17px/1.5 "Source Sans 3", "Segoe UI", sans-serif; max-width: 80rem; margin: 1rem auto; padding: 0 1rem}
h1 {font: 600 1.7rem/1.2 Georgia, serif; margin: .5rem 0}
a {color: var(--accent)} nav {display: flex; flex-wrap: wrap; justify-content: space-between}
nav a {display: flex; align-items: center; justify-content: center; min-height: 44px; margin-right: .6rem}
@media (max-width: 40rem) {.menu span {display: none} .menu a {min-width: 44px; margin: 0}}
dt {font-weight: 600; margin-top: .8rem}
/* Pictures are drawn for a light ground. */
@media (prefers-color-scheme: dark) {
  :is(.pl-show, img.idea) {--quiet: $quiet; background: $ground; color: $ink; border-radius: .4rem; padding: .4rem}
}
""".replace("$ground", LIGHT.ground)
    .replace("$ink", LIGHT.ink)
    .replace("$quiet", LIGHT.quiet)
)


def files() -> Iterator[tuple[str, str]]:
    """Yield (name, HTML) of every file: the lessons in their order, and the index with the demonstration of Home."""
    for before, number, after in zip((None, *NUMBERS), NUMBERS, (*NUMBERS[1:], None), strict=False):
        beside = [(k, rel, word) for k, rel, word in ((before, "prev", "Previous"), (after, "next", "Next")) if k]
        links = " ".join(f'<a rel="{rel}" href="{name(k)}">{word}: {escape(title(k))}</a>' for k, rel, word in beside)
        lesson = player.of_lesson(number, False, player.DRAWS) | {"standing": True}
        yield name(number), _page(title(number), f"{_played(lesson)}<nav>{links}</nav>")
    yield INDEX, _page("What does privacy cost a covariance matrix?", _played(_home()))
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


def at_home(epsilon: float) -> Screen:
    """Return the demonstration of Home at an epsilon: the sample covariance beside its release."""
    data = source("ar1-covariance", random_state=0, **HOME)
    rel = release(data, ApproxDP(epsilon, DELTA), "gaussian-cov", random_state=SEED)
    sample = reference_matrix(data, "covariance", "sample")
    pair = [("without privacy", sample), (f"released with epsilon = {epsilon:g}", rel.covariance)]
    return Screen(
        tags=[f"Simulated: {data.n:,} rows, {data.d} columns; Gaussian mechanism, {AT_DELTA}"],
        pictures=[("two-home", "", panels(pair, colour_limit(sample), LIGHT))],
        sentence=f"Error of the release: **{show.percent(error(rel, data, relative=True))}**. {show.ATTACKER}: "
        f"**{show.chance(rel.attacker_success)}**.",
    )


def _page(heading: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(heading)}</title><style>{player.colours(LIGHT)}'
        f"@media (prefers-color-scheme: dark) {{{player.colours(DARK)}}}{_STYLE}{player.STYLE}</style></head><body>"
        f"{_menu()}<main><h1>{escape(heading)}</h1>{body}</main></body></html>\n"
    )


def _played(data: dict[str, Any]) -> str:
    """Return the player with what it plays."""
    script = player.SCRIPT.replace("export default function", "const mount = function")
    given = json.dumps(data).replace("</", "<\\/")
    return (
        f'{player.HTML}<script type="module">{script}mount({{data: {given}, parentElement: document.body}});</script>'
    )


def _menu() -> str:
    links = [f'<a href="{INDEX}">Home</a>']
    for number in NUMBERS:
        short, dot, rest = escape(title(number)).partition(". ")
        links.append(f'<a href="{name(number)}" aria-label="{short}{dot}{rest}">{short}<span>{dot}{rest}</span></a>')
    return f'<nav class="menu">{" ".join(links)} <a href="{WORDS}">Words</a></nav>'


def _home() -> dict[str, Any]:
    """Return the demonstration of Home."""
    control = Control("Epsilon", EPSILONS, 1.0, "stronger privacy", "more accuracy")
    aim = "<p>Differential privacy adds noise, which limits what anyone can learn about one row. Choose epsilon.</p>"
    frames = player.frames([[at_home(epsilon) for epsilon in EPSILONS]], LIGHT)
    shown = {"key": "home", "number": 0, "aim": aim, "question": "", "choices": []}
    return player.of_control(control) | frames | shown | {"standing": True}
