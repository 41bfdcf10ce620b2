"""The real workbench in a real Chromium.

`visit("/")` opens a page of a server shared by all tests and waits until it is still; `settle(page)` waits
again after a click. Whatever a test looks at, its end also fails it for an error on the page, an error in the
console or a request to another host.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from tests.patience import patient
from tests.serving import ROOT, serving

SETTLE_SECONDS = 60
ACTION_SECONDS = 30  # for a click to find its button, or a word to appear
QUIET_MS = 300  # charts are drawn a moment after the script has ended

FLAGS = [
    "--no-sandbox",  # root in a container has no user namespace to build a sandbox in
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # a tab finds the front end compiled by the tabs before it
    # Nothing outside can be reached, so a test never depends on what is out there.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]

PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)")

# Streamlit says what its script is doing; the observer knows when the picture last changed. A busy server begins late:
# what was sent to it counts as at work until anything comes back, for a while (some messages have no answer). Of two
# messages soon after each other, such as a field that is left by a click on a button, the first answer may be to the
# first one alone, so a second passes before it counts.
WATCH_CHANGES = """
window.lastChange = performance.now();
window.unanswered = window.sent = -Infinity;
window.WebSocket = class extends WebSocket {
    constructor(...all) {
        super(...all);
        this.addEventListener("message", () => { window.unanswered = window.twice ? window.sent - 4000 : -Infinity; });
    }
    send(data) {
        const now = performance.now();
        window.twice = now - window.sent < 1000;
        window.unanswered = window.sent = now;
        super.send(data);
    }
};
new MutationObserver(() => { window.lastChange = performance.now(); })
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""
IS_STILL = """quiet =>
    document.querySelector(
        '[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]')
    && !document.querySelector('[data-testid=stSkeleton], [data-testid=stAppSkeleton], [data-stale=true]')
    && performance.now() - window.lastChange > quiet
    && performance.now() - window.unanswered > 5000
"""


def without_browser(reason: str) -> None:
    """Skip for `reason`, or fail for it where a browser is required."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def server(chromium, tmp_path_factory) -> Iterator[str]:
    """The address of one running workbench; without a browser none is started."""
    with serving(tmp_path_factory.mktemp("server")) as found:
        yield found.address


@pytest.fixture
def cold_server(chromium, tmp_path_factory) -> Iterator[Callable[[], str]]:
    """A function that starts a server nobody has visited, as a deep link from outside finds it."""
    with contextlib.ExitStack() as servers:
        yield lambda: servers.enter_context(serving(tmp_path_factory.mktemp("cold"))).address


@pytest.fixture(scope="session")
def chromium():
    """The machine's own Chromium, driven by Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without_browser("playwright is not installed (make test installs it)")
    finder = [sys.executable, str(ROOT / ".ci" / "chromium.py")]
    found = subprocess.run(finder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if found.returncode:
        without_browser(found.stderr.strip())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def profile(chromium, server):
    """One profile, for all tabs: the front end is fetched and compiled once, which costs more than to show a page.

    One tab stays open, because Chromium ends a site's process with its last tab.
    """
    context = chromium.new_context()
    context.add_init_script(WATCH_CHANGES)
    context.new_page().goto(urljoin(server, "/_stcore/health"))
    yield context
    context.close()


@pytest.fixture
def tab(profile) -> Iterator[Callable]:
    """`tab(width=1280, height=900)` opens an empty tab; no test finds cookies or stored settings of another."""
    profile.set_storage_state({"cookies": [], "origins": []})
    pages = []

    def new(width: int = 1280, height: int = 900, dark: bool = False):
        page = profile.new_page()
        pages.append(page)
        page.set_default_timeout(patient(ACTION_SECONDS) * 1000)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        return page

    yield new
    for page in pages:
        page.close()


def wait_until_still(page) -> None:
    """Wait until the script has ended and nothing on the page has changed for a moment."""
    page.wait_for_function(IS_STILL, arg=QUIET_MS, timeout=patient(SETTLE_SECONDS) * 1000)


@pytest.fixture
def settle() -> Callable:
    """`settle(page)` after a click or a key, before looking."""

    def wait(page) -> None:
        page.wait_for_timeout(100)  # the frame that carries a click to the server has left by then,
        page.evaluate("() => new Promise(done => requestIdleCallback(done, {timeout: 1000}))")  # or once there is time
        wait_until_still(page)

    return wait


class Complaints(list):
    """What a test's pages did that no page may do, gathered while the test runs."""

    def watch(self, page) -> None:
        page.on("console", self.read)
        page.on("pageerror", lambda error: self.append(f"uncaught in the page: {error}"))
        page.on("request", lambda request: self.host(request.url))
        page.on("websocket", lambda socket: self.host(socket.url))

    def read(self, line) -> None:
        if line.type != "error":
            return
        # At a page's own address Streamlit's front end first looks for the server beneath that page.
        if "404" in line.text and PROBE.fullmatch(urlsplit(line.location["url"]).path):
            return
        self.append(f"console error: {line.text} ({line.location['url']})")

    def host(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.hostname and parts.hostname not in {"127.0.0.1", "localhost"}:  # data: and blob: have none
            self.append(f"request to another host: {url}")

    def look_at(self, page) -> None:
        # An exception's details are kept off the page, so all there is to show is where it stands.
        if not page.is_closed() and page.locator("[data-testid=stException]").count():
            self.append(f"an exception is shown at {page.url}")


@pytest.fixture
def visit(server, cold_server, tab) -> Iterator[Callable]:
    """Open a page and wait until it is still: `visit("/Estimate", dark=True)`; `base=` is another server."""
    complaints = Complaints()  # cold_server is asked for so that no server stops before its pages are closed
    pages = []

    def open_page(path: str = "/", dark: bool = False, width: int = 1280, height: int = 900, base: str | None = None):
        page = tab(width, height, dark)
        complaints.watch(page)
        pages.append(page)
        page.goto(urljoin(base or server, path))
        wait_until_still(page)
        return page

    yield open_page
    for page in pages:
        complaints.look_at(page)
    if complaints:  # seen before `tab` closes the pages: a socket cut off by that is no complaint
        pytest.fail("\n".join(complaints), pytrace=False)
