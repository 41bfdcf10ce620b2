"""The lessons as files: a folder of HTML that opens from the disk, without a server.

The player (`pages.lessons.player`) shows the place at which the control stands.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import zipfile
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from pages.common import glossary, show
from pages.lessons import demos, player, sheets
from pages.lessons.catalogue import NUMBERS
from pages.lessons.lesson import Control, Screen
from pages.lessons.run_sheets import title
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

_STYLE = Template(Path(__file__).with_suffix(".css").read_text(encoding="utf-8")).substitute(
    ground=LIGHT.ground, ink=LIGHT.ink, quiet=LIGHT.quiet
)


def files() -> Iterator[tuple[str, str]]:
    """Yield (name, HTML) of every file: lessons and demonstrations in their order, the index, the words."""
    titles = {number: title(number) for number in NUMBERS}
    for number, beside in _beside(titles):
        yield name(number), _page(titles[number], _played(player.lesson_content(number, False, player.DRAWS)) + beside)
    titles = {key: one.title for key, one in demos.BY_KEY.items()}
    game = "".join(f"<li>{sheets.words(sentence)}</li>" for sentence in demos.GAME)
    for key, beside in _beside(titles):
        played = _played(demos.demonstration_content(key, False, SEED))
        yield name(key), _page(titles[key], f"{played}<h2>The game</h2><ul>{game}</ul>{beside}")
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
    return False


def name(of: int | str) -> str:
    """Return the name of the file of a lesson, by its number, or of a demonstration."""
    return f"lesson-{of}.html" if isinstance(of, int) else f"{of}.html"


def _beside(titles: Mapping[Any, str]) -> Iterator[tuple[Any, str]]:
    """Yield each key with the links to the previous and the next file."""
    keys = list(titles)
    for k, key in enumerate(keys):
        sides = [("prev", "Previous", other) for other in keys[max(k - 1, 0) : k]]
        sides += [("next", "Next", other) for other in keys[k + 1 : k + 2]]
        links = (f'<a rel="{rel}" href="{name(of)}">{word}: {escape(titles[of])}</a>' for rel, word, of in sides)
        yield key, f"<nav>{' '.join(links)}</nav>"


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
    script = re.sub(r"\n\s+", "\n", player.SCRIPT).replace("export default function", "const mount = function")
    payload = json.dumps(data).replace("</", "<\\/")
    return (
        f'{player.HTML}<script type="module">{script}mount({{data: {payload}, parentElement: document.body}});</script>'
    )


def _menu() -> str:
    links = [f'<a href="{INDEX}">Home</a>']
    for number in NUMBERS:
        short, dot, rest = escape(title(number)).partition(". ")
        links.append(f'<a href="{name(number)}" aria-label="{short}{dot}{rest}">{short}<span>{dot}{rest}</span></a>')
    attacks = f'<a href="{name(next(iter(demos.BY_KEY)))}">Demonstrations</a>'
    return f'<nav class="menu">{" ".join(links)} {attacks} <a href="{WORDS}">Words</a></nav>'


def _home() -> dict[str, Any]:
    control = Control("Epsilon", EPSILONS, 1.0, "stronger privacy", "more accuracy")
    aim = "<p>Differential privacy adds noise, which limits what anyone can learn about one row. Choose epsilon.</p>"
    frames = player.frames([[at_home(epsilon) for epsilon in EPSILONS]], LIGHT)
    texts = {"key": "home", "number": 0, "aim": aim, "question": "", "choices": []}
    return player.control_content(control) | frames | texts
