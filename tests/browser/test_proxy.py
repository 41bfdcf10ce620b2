"""Behind nginx with TLS and a base path, as docs/deployment.md describes it, in a real Chromium."""

import contextlib
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import FLAGS, IS_STILL, PROBE, QUIET_MS, WATCH_CHANGES
from tests.patience import patient
from tests.serving import ROOT, free_port, running, serving

NAME, BASE = "workbench.example", "privcov"
NGINX = shutil.which("nginx", path=f"{os.defpath}:/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")
SECONDS = 60

pytestmark = pytest.mark.skipif(not (NGINX and OPENSSL), reason="nginx or openssl is not installed")


def configuration(folder: Path, outside: int, inside: int) -> str:
    """The lines of docs/deployment.md, with ports and files of this test."""
    (told,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs" / "deployment.md").read_text(), re.DOTALL)
    for text, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{outside} ssl"),
        ("127.0.0.1:8501", f"127.0.0.1:{inside}"),
        ("/etc/ssl/", f"{folder}/"),
    ):
        assert text in told
        told = told.replace(text, here)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    # As root nginx would start its workers as a user who cannot enter this test's folder.
    user = "user root;" if os.geteuid() == 0 else ""
    top = f"daemon off; {user} pid {folder}/pid; error_log {folder}/log warn; events {{}}"
    return f"{top}\nhttp {{ access_log off; {temporary}\n{told}}}\n"


def health(port: int) -> bool:
    """Whether the whole way through the proxy is open."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the test's own certificate
    request = f"GET /{BASE}/_stcore/health HTTP/1.0\r\nHost: {NAME}:{port}\r\n\r\n".encode()
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain, context.wrap_socket(plain) as secure:
            secure.sendall(request)
            return b" 200 " in secure.recv(200).split(b"\n")[0] + b" "
    except OSError:
        return False


@pytest.fixture(scope="module")
def proxied(chromium) -> Iterator[str]:
    """The address of a workbench on loopback behind nginx; nobody told it that others reach it."""
    inside, outside = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="privcov-proxy-") as name:
        folder = Path(name)
        certificate = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
        files = ["-keyout", folder / "workbench.key", "-out", folder / "workbench.pem"]
        subprocess.run([*certificate, *files], check=True, capture_output=True, stdin=subprocess.DEVNULL)
        (folder / "nginx.conf").write_text(configuration(folder, outside, inside))
        settings = {"STREAMLIT_SERVER_BASE_URL_PATH": BASE, "STREAMLIT_SERVER_ALLOWED_HOSTS": f"other.example {NAME}"}
        with (
            running([NGINX, "-p", folder, "-c", folder / "nginx.conf"], lambda: True, folder / "nginx.log"),
            serving(folder, port=inside, ready=lambda: health(outside), **settings),
        ):
            yield f"https://{NAME}:{outside}/{BASE}/"
        assert not (folder / "ledger.sqlite").exists()


@pytest.fixture(scope="module")
def visitor(chromium) -> Iterator[Browser]:
    """A browser for which the proxy's name is this machine."""
    ours = f"MAP {NAME} 127.0.0.1, MAP stranger.example 127.0.0.1, MAP * ~NOTFOUND"
    found = [*FLAGS[:-1], f"--host-resolver-rules={ours}"]
    browser = chromium.browser_type.launch(executable_path=_path(), args=found)
    yield browser
    browser.close()


def _path() -> str:
    return subprocess.check_output([sys.executable, ROOT / ".ci" / "chromium.py"], text=True).strip()


@pytest.fixture
def page(visitor, proxied):
    """A page that fails the test for an error in the console or a request that leaves the base path."""
    context = visitor.new_context(ignore_https_errors=True, viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH_CHANGES)
    context.set_default_timeout(patient(SECONDS) * 1000)
    opened, wrong = context.new_page(), []
    start = urlsplit(proxied)

    def inside(url: str) -> None:
        parts = urlsplit(url)
        if parts.netloc and (parts.netloc != start.netloc or not parts.path.startswith(start.path)):
            wrong.append(f"outside the base path: {url}")

    opened.on("request", lambda request: inside(request.url) if request.url.startswith("http") else None)
    opened.on("websocket", lambda found: inside(found.url))
    opened.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if _bad(answer) else None)
    yield opened
    found = list(wrong)
    context.close()
    assert not found, "\n".join(found)


def _bad(answer) -> bool:
    """At a page's own address Streamlit's front end first looks for the server beneath that page."""
    return answer.status >= 400 and not PROBE.fullmatch(urlsplit(answer.url).path.removeprefix(f"/{BASE}"))


def still(page) -> None:
    page.wait_for_timeout(100)
    page.wait_for_function(IS_STILL, arg=QUIET_MS, timeout=patient(SECONDS) * 1000)


def test_links_shared_addresses_and_images_work_under_the_base_path(page, proxied):
    page.goto(proxied)
    still(page)
    assert page.locator(".st-key-released img").evaluate("image => image.naturalWidth") > 0
    page.get_by_test_id("stSidebar").get_by_role("link", name="Estimate", exact=True).click()
    page.wait_for_url(f"{proxied}Estimate*")
    still(page)
    # A shared address, opened afresh, shows what it says.
    page.goto(f"{proxied}Estimate?kind=approx&epsilon=0.5")
    still(page)
    assert {k: v[0] for k, v in parse_qs(urlsplit(page.evaluate("location.href")).query).items()} == {
        "kind": "approx",
        "epsilon": "0.5",
    }
    # A word of the text leads to its entry, in a tab of its own.
    href = page.get_by_role("link", name="covariance", exact=True).first.evaluate("link => link.href")
    assert href == f"{proxied}Words?word=covariance"


def test_a_public_file_travels_with_the_protection_against_other_sites_on(page, proxied):
    page.goto(f"{proxied}Estimate")
    still(page)
    page.locator(".st-key-strip-data button").first.click()
    page.get_by_role("combobox", name="Data set").click()
    page.get_by_role("option", name="Your own table").click()
    still(page)
    page.get_by_text("Yes, anyone may see its rows").click()
    still(page)
    rows = "".join(f"{age},{age * 2}\n" for age in range(20, 60))
    file = {"name": "ages.csv", "mimeType": "text/csv", "buffer": f"age,dose\n{rows}".encode()}
    page.locator("input[type=file]").first.set_input_files(file)
    still(page)
    expect(page.get_by_text("ages.csv: 2 columns")).to_be_visible(timeout=patient(SECONDS) * 1000)
    page.get_by_role("button", name="Start with the file's own range").click()
    expect(page.locator(".st-key-square-released")).to_be_visible(timeout=patient(SECONDS) * 1000)


def test_the_private_path_is_shut_though_the_server_listens_on_loopback(page, proxied):
    page.goto(f"{proxied}Your_data")
    still(page)
    expect(page.get_by_text("takes no confidential file and keeps no ledger")).to_be_visible()
    assert not page.locator("[data-testid=stFileUploader]").count()


@pytest.mark.parametrize("path", ["", "Estimate", "_stcore/health", "_stcore/metrics", "no-such-file"])
def test_every_answer_carries_the_headers_against_frames_and_guessed_kinds(visitor, proxied, path):
    context = visitor.new_context(ignore_https_errors=True)
    opened = context.new_page()
    headers = opened.goto(proxied + path).headers
    context.close()
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize("path", ["_stcore/metrics", "/_stcore/metrics", "_stcore%2Fmetrics", "x/../_stcore/metrics"])
def test_the_numbers_of_sessions_and_memory_are_not_public(proxied, path):
    start = urlsplit(proxied)
    unchecked = ssl._create_unverified_context()  # the test's own certificate
    connection = http.client.HTTPSConnection("127.0.0.1", start.port, timeout=patient(5), context=unchecked)
    with contextlib.closing(connection):
        connection.request("GET", start.path + path, headers={"Host": start.netloc})
        answer = connection.getresponse()
        assert answer.status == 404
        assert b"session" not in answer.read()


def test_another_name_gets_no_content(visitor, proxied):
    """Somebody who points a name of their own at the proxy: the page's frame comes, and no session."""
    context = visitor.new_context(ignore_https_errors=True)
    opened = context.new_page()
    refused = []
    opened.on("websocket", lambda found: found.on("close", lambda *_: refused.append(found.url)))
    opened.goto(proxied.replace(NAME, "stranger.example"))
    end = time.monotonic() + patient(SECONDS)
    while not refused and time.monotonic() < end:
        opened.wait_for_timeout(200)  # hands the browser's events over, as no other sleep does
    assert refused
    assert not opened.get_by_text("What does privacy cost").count()
    context.close()
