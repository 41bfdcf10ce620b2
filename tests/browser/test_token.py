"""The token as a person meets it: printed once on the terminal, typed into the page, and nowhere else."""

import os
import pty
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.patience import patient
from tests.serving import serving

LINE = re.compile(r'PrivCov: the token for "Your data" is ([0-9a-f]{40}) \(enter it on that page\)')


@contextmanager
def terminal() -> Iterator[tuple[int, list[bytes]]]:
    """A terminal for a server, and what is printed on it."""
    ours, theirs = pty.openpty()
    printed: list[bytes] = []

    def read() -> None:
        while True:
            try:
                printed.append(os.read(ours, 4096))
            except OSError:  # the other end is closed
                return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield theirs, printed
    finally:
        os.close(theirs)
        reader.join(patient(10))
        os.close(ours)


def enter(page, settle, text: str) -> None:
    page.get_by_label("Token", exact=True).click()
    page.keyboard.type(text, delay=10)
    page.get_by_role("button", name="Open", exact=True).click()
    settle(page)


def test_the_printed_token_opens_the_page_for_one_visit(visit, settle, tmp_path):
    with terminal() as (theirs, printed), serving(tmp_path, terminal=theirs, PRIVCOV_TOKEN="") as server:
        page = visit("/Your_data", base=server.address)
        received: list[str] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame))))
        page.reload()  # so that the listener hears the visit from its first message
        settle(page)
        other = visit("/Estimate", base=server.address)
        (token,) = LINE.findall(b"".join(printed).decode())
        field = page.get_by_label("Token", exact=True)
        assert field.get_attribute("type") == "password"
        assert page.get_by_text(
            "Enter the token that PrivCov printed in its terminal or log when it started."
        ).is_visible()
        assert page.locator("input[type=file]").count() == 0

        enter(page, settle, token[::-1])
        assert page.get_by_text("This is not the token of this server.").is_visible()
        assert field.input_value() == ""
        assert page.locator("input[type=file]").count() == 0

        enter(page, settle, token)
        assert page.get_by_text("Use the practice table").is_visible()
        assert field.count() == 0
        page.get_by_role("button", name="Use the practice table").click()
        settle(page)

        assert received
        shown = "".join([*received, page.content(), page.url, page.evaluate("JSON.stringify(history.state)") or ""])
        assert token not in shown
        assert page.evaluate("t => !JSON.stringify({...localStorage, ...sessionStorage}).includes(t)", token)
        other.goto(f"{server.address}/Your_data")  # another visit gets in by itself
        settle(other)
        assert other.get_by_label("Token", exact=True).is_visible()
        for seen in (page, other):
            seen.close()
        assert LINE.findall(b"".join(printed).decode()) == [token]  # however many visits came
    assert token not in (tmp_path / "log").read_text()


def test_without_a_terminal_the_kept_token_opens_the_page_and_practice_needs_none(visit, settle, tmp_path):
    with serving(tmp_path, PRIVCOV_TOKEN="") as server:
        page = visit("/Your_data", base=server.address)
        page.get_by_role("button", name="Use the practice table").click()
        settle(page)
        assert page.get_by_text("Unread").first.is_visible()
        page.get_by_role("button", name="Forget this file").click()
        settle(page)
        (token,) = LINE.findall((tmp_path / "log").read_text())
        assert (tmp_path / "server" / "token").read_text() == token
        enter(page, settle, token)
        assert page.locator("input[type=file]").count() == 1
        page.close()
