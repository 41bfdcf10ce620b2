"""Speed under the hand, in real Chromium, of every page's lever: section "latency" of the bench.

Times of one machine at one moment say little, so everything is a multiple of a page that echoes its slider, pressed in
the same minute.
"""

from __future__ import annotations

import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.serving import ROOT, serving

PRESSES = 10
QUIET_MS = 300
GOALS = {
    "first": "<= 5",
    "settled": "<= 13",
}  # floors: at an echo of 75 ms, 0.4 s to the first change and 1 s to the last
CHART = "[data-testid=stMain] .js-plotly-plot"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
FLAGS += ("--disable-component-update", "--disable-sync")
SETTINGS = "[browser]\ngatherUsageStats = false\n[server]\nheadless = true\naddress = '127.0.0.1'\n"

ECHO = """
import streamlit as st
st.set_page_config(layout="wide")
value = st.select_slider("Echo", list(range(100)), value=50)
with st.container(key="echo"):
    st.write(f"value {value}")
"""
CSV = "age,weight\n" + "".join(f"{20 + k % 60},{50 + k % 45}\n" for k in range(200))

# From the key to every change inside what is watched; the page is settled when its script has ended and nothing moves.
WATCH = """
(() => {
  const seen = window.bench = {what: null, from: null, armed: false, changes: [], any: 0};
  document.addEventListener('keydown', () => {
    if (seen.armed) { seen.from = performance.now(); seen.armed = false; }
  }, true);
  new MutationObserver(records => {
    seen.any = performance.now();
    if (seen.what === null || seen.from === null) return;
    const hit = node => node && node.closest && node.closest(seen.what);
    if (records.some(r => hit(r.target.nodeType === 1 ? r.target : r.target.parentElement)
        || [...r.addedNodes].some(n => n.nodeType === 1 && (n.matches(seen.what) || n.querySelector(seen.what)))))
      seen.changes.push(seen.any);
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  seen.idle = quiet => document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
      && performance.now() - seen.any > quiet;
})();
"""


class MissingBrowser(RuntimeError):
    """There is no Chromium; the sentence says how to get one."""


@contextlib.contextmanager
def chromium() -> Iterator[Callable]:
    """`launch()` starts a browser that knows nothing yet. Raises MissingBrowser where there is none."""
    found = subprocess.run([sys.executable, str(ROOT / ".ci" / "chromium.py")], capture_output=True, text=True)
    if found.returncode:
        raise MissingBrowser(found.stderr.strip())
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield lambda: playwright.chromium.launch(executable_path=found.stdout.strip(), args=list(FLAGS))


# --- levers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lever:
    """One page's lever: the beginning of its name ("" for the page's first slider), and what it changes.

    ready: what it takes to come to it.
    """

    page: str
    address: str
    name: str
    watched: str = CHART
    ready: Callable | None = None
    role: str = "slider"


def tab(name: str) -> Callable:
    return lambda page: page.get_by_role("tab", name=name).click()


def plan(page) -> None:
    """A declared table, and the step that plans its release."""
    from privcov.tables.declaration.declaration import Column, Declaration

    limits = (("age", 0.0, 120.0), ("weight", 30.0, 200.0))
    columns = tuple(Column(name, low, high, None, "known before") for name, low, high in limits)
    declaration = Declaration(name="bench", row_stands_for="one person", columns=columns).to_json()
    for name, text in (("rows.csv", CSV), ("declaration.json", declaration)):
        if name.endswith("json"):
            page.get_by_text("Use a saved declaration").click()
            still(page)
        given = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        page.locator("input[type=file]").first.set_input_files(given)
        still(page)
    for button in ("Fill the form from it", "Declare"):
        page.get_by_role("button", name=button, exact=True).click()
        still(page)
    page.get_by_role("radio", name="2 Plan", exact=True).click()
    page.get_by_text("Advanced: the invented table").click()


SQUARE = ".st-key-square-released .js-plotly-plot"
FLOOR = Lever("echo", "/", "Echo", ".st-key-echo")
LEVERS = (
    Lever("Home", "/", "Epsilon", ".st-key-released"),
    Lever("Estimate, d = 100", "/Estimate?kind=zcdp&data.d=100&data.n=20000", "Rho", SQUARE),
    Lever("Estimate, d = 200", "/Estimate?kind=zcdp&data.d=200&data.n=20000", "Rho", SQUARE),
    Lever("Graph recovery, epsilon", "/Graph_recovery", "Epsilon"),
    Lever("Graph recovery, lambda", "/Graph_recovery", "Penalty lambda"),
    Lever("Spectra, d = 100", "/Spectra?kind=zcdp&data.d=100&data.n=20000", "Rho"),
    Lever("Trade-offs, epsilon", "/Trade_offs", "Epsilon"),
    Lever("Your data, plan", "/Your_data", "Usual deviation", CHART, plan),
    Lever("Lessons", "/Lessons?lesson=3", "", ".pl-box"),
    Lever("Privacy audit, disclosure", "/Privacy_audit", "Belief before", CHART, tab("What an attacker learns")),
)


def still(page) -> None:
    page.wait_for_timeout(100)
    page.wait_for_function("quiet => bench.idle(quiet)", arg=QUIET_MS, timeout=60_000)


def pressed(page, lever: Lever, presses: int) -> list[tuple[float, float]]:
    """(first change, last change) inside what is watched, ms from the key; the key goes there and back again."""
    found = []
    if lever.name:
        handle = page.get_by_role(lever.role, name=re.compile(lever.name))
    else:
        handle = page.get_by_test_id("stMain").locator("input[type=range]")
    for turn in range(presses):
        handle.first.focus()
        still(page)
        page.evaluate("what => Object.assign(bench, {what, from: null, armed: true, changes: []})", lever.watched)
        page.keyboard.press("ArrowRight" if turn % 2 == 0 else "ArrowLeft")
        page.wait_for_function("quiet => bench.changes.length && bench.idle(quiet)", arg=QUIET_MS, timeout=60_000)
        first, last = page.evaluate("() => [bench.changes[0] - bench.from, bench.changes.at(-1) - bench.from]")
        found.append((first, last))
    return found[2:]  # the first way there and back fills the caches


@contextlib.contextmanager
def stage(**pages: str) -> Iterator[tuple[Callable, Path]]:
    """(launch, folder): a browser, and a folder that holds these one-file pages.

    Raises MissingBrowser where there is no Chromium.
    """
    with chromium() as launch, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for page, source in pages.items():
            (folder / f"{page}.py").write_text(source)
        (folder / ".streamlit").mkdir()
        (folder / ".streamlit" / "config.toml").write_text(SETTINGS)
        yield launch, folder


class Pages:
    """The workbench and the echo page in one browser, opened when the first lever is pressed."""

    def __init__(self) -> None:
        self._stack, self._found = contextlib.ExitStack(), {}

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *problem) -> None:
        self._stack.close()

    @cached_property
    def _browser(self) -> tuple[object, str, object]:
        """(browser, address of the workbench, the echo page)."""
        launch, folder = self._stack.enter_context(stage(echo=ECHO))
        floor = self._stack.enter_context(serving(folder, folder / "echo.py")).address
        app = self._stack.enter_context(serving(folder)).address
        browser = launch()
        self._stack.callback(browser.close)
        return browser, app, _opened(browser, floor)

    def pressed(self, lever: Lever) -> tuple[float, float, float]:
        """Medians in ms: first change, last change, and the echo page's last, pressed just before and just after."""
        if lever.page not in self._found:
            browser, app, echo = self._browser
            page = _opened(browser, app + lever.address)
            if lever.ready:
                lever.ready(page)
                still(page)
            base = pressed(echo, FLOOR, PRESSES // 2 + 2)
            found = pressed(page, lever, PRESSES + 2)
            base += pressed(echo, FLOOR, PRESSES // 2 + 2)
            page.context.close()
            first, last = (statistics.median(column) for column in zip(*found, strict=True))
            self._found[lever.page] = first, last, statistics.median(last for _, last in base)
        return self._found[lever.page]

    def told(self, lever: Lever, which: int) -> str:
        try:
            *found, unit = self.pressed(lever)
        except MissingBrowser as missing:
            return f"not measured: {missing}"
        return f"{found[which] / unit:.1f} x the echo page ({found[which]:.0f} / {unit:.0f} ms)"


def _opened(browser, address: str):
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    still(page)
    return page


def latency() -> Iterator[tuple[str, Callable[[], str], str]]:
    """Every lever beside the echo page, from the key to the first change and until nothing moves any more."""
    with Pages() as pages:
        for lever in LEVERS:
            for which, (what, goal) in enumerate(GOALS.items()):
                yield f"{lever.page}: {what}", lambda one=lever, k=which: pages.told(one, k), goal
