"""The data owner's whole way in a real browser: declare, plan, release once, take home; and what must not happen."""

import io
import json
import re
import signal
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from privcov.core.guarantees import ZCDP
from privcov.ledger import Ledger, LedgerError
from privcov.releases.private import release_private
from privcov.tables.declaration.declaration import Column, Declaration, read_private
from tests.patience import patient, until
from tests.serving import ROOT, serving

CANARY = "41.8231967"  # stands in the rows, and must stand nowhere else
NAMES = ("age", "weight", "marrow_quotient")
FILE = "ward-seventeen.csv"


def rows_of(n: int = 14_000) -> bytes:
    """More than 1 MB, from which on a web server likes to use a temporary file."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=n)
    cells = np.column_stack([50 + 12 * common, 75 + 9 * common + 4 * rng.normal(size=n), rng.uniform(0, 10, n)])
    lines = [f"person-{i:06d}-of-the-ward,{a:.12f},{b:.12f},{c:.12f}" for i, (a, b, c) in enumerate(cells)]
    lines[40] = f"person-{CANARY},{CANARY},80,{CANARY}"
    return ("patient_id," + ",".join(NAMES) + "\n" + "\n".join(lines) + "\n").encode()


def declared(name: str = "ward", columns: tuple[Column, ...] | None = None) -> Declaration:
    limits = ((0.0, 120.0), (30.0, 200.0), (0.0, 10.0))
    known = tuple(Column(c, low, high, None, "known before") for c, (low, high) in zip(NAMES, limits, strict=True))
    return Declaration(name=name, row_stands_for="one patient", columns=columns or known)


# --- what a person does -------------------------------------------------------------------------------------


def press(page, settle, label: str) -> None:
    page.get_by_role("button", name=label, exact=True).click()
    settle(page)


def step(page, settle, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()
    settle(page)


def bring(page, settle, raw: bytes, what: Declaration) -> None:
    """The file, and the form filled from a saved declaration."""
    file = {"name": FILE, "mimeType": "text/csv", "buffer": raw}
    page.locator("input[type=file]").first.set_input_files(file)
    settle(page)
    page.get_by_text("Use a saved declaration").click()
    settle(page)
    saved = {"name": "d.json", "mimeType": "application/json", "buffer": what.to_json().encode()}
    page.locator("input[type=file]").first.set_input_files(saved)
    settle(page)
    press(page, settle, "Fill the form from it")
    first = what.columns[0]  # on a busy machine the page can be still before the form is filled
    expect(page.get_by_role("textbox", name=f"Highest of {first.name}", exact=True)).to_have_value(
        f"{first.high:g}", timeout=patient(30) * 1000
    )


def type_highest(page, settle, name: str, number: str) -> None:
    """As fast as a person types."""
    field = page.get_by_role("textbox", name=f"Highest of {name}", exact=True)
    field.click(click_count=3)
    page.keyboard.type(number, delay=90)
    page.keyboard.press("Enter")
    settle(page)
    expect(field).to_have_value(number)


def plan_and_ask(page, settle, limit: str = "") -> None:
    """From a declared table to the open dialogue; a limit is set where there is none."""
    press(page, settle, "Go on to Plan")
    press(page, settle, "Go on to Release")
    if limit:
        page.get_by_role("textbox", name="Most rho in all").or_(
            page.get_by_role("spinbutton", name="Most rho in all")
        ).fill(limit)
        page.keyboard.press("Tab")
        settle(page)
        press(page, settle, "Set the limit")
    press(page, settle, "Release ...")


def said(page) -> str:
    return " ".join(e.inner_text() for e in page.get_by_test_id("stAlert").all())


def chart_words(page, key: str) -> str:
    return page.locator(f".st-key-{key} [aria-label]").first.get_attribute("aria-label")


def bundle(page, settle) -> dict[str, bytes]:
    step(page, settle, "Take home")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the bundle").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def shell(folder: Path, *words: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "privcov", *map(str, words), "--ledger", str(folder / "ledger.sqlite")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(60))


def holds(raw: bytes) -> bool:
    return CANARY.encode() in raw or b"of-the-ward" in raw


# --- the journey --------------------------------------------------------------------------------------------


def test_from_a_file_to_a_checked_bundle_and_no_further(visit, settle, tmp_path):
    raw, book = rows_of(), lambda: Ledger(tmp_path / "ledger.sqlite").entries()
    with serving(tmp_path) as server:
        page = visit("/Your_data", base=server.address, height=1500)
        bring(page, settle, raw, declared())
        type_highest(page, settle, "age", "110")
        press(page, settle, "Declare")
        page.get_by_text("Declared: 3 columns of 'ward'").wait_for()
        plan_and_ask(page, settle, limit="0.15")
        assert "there remains rho 0.05 in zCDP" in page.get_by_role("dialog").inner_text()
        assert book() == ()

        # a second tab asks for another guarantee while the first one has not confirmed yet: both would fit
        other = visit("/Your_data", base=server.address, height=1500)
        bring(other, settle, raw, declared())
        type_highest(other, settle, "age", "110")
        press(other, settle, "Declare")
        press(other, settle, "Go on to Plan")
        other.get_by_role("textbox", name="rho 2").or_(other.get_by_role("spinbutton", name="rho 2")).fill("0.11")
        other.keyboard.press("Tab")
        settle(other)
        press(other, settle, "Go on to Release")
        press(other, settle, "Release ...")
        assert "there remains rho 0.04 in zCDP" in other.get_by_role("dialog").inner_text()

        page.get_by_role("button", name="Confirm and release").dblclick()
        page.get_by_text("one noisy measurement. Looking at it").wait_for()
        settle(page)
        (entry,) = book()
        assert (entry.state, entry.request["facts"]["bounds"][0]) == ("stored", [0.0, 110.0])
        press(other, settle, "Confirm and release")
        other.get_by_text("more than is left").first.wait_for()
        assert "more than is left" in said(other)
        assert book() == (entry,)

        # the shell shares the ledger
        (tmp_path / "rows.csv").write_bytes(raw)
        typed = (Column("age", 0.0, 110.0, None, "known before"), *declared().columns[1:])
        (tmp_path / "d.json").write_text(declared(columns=typed).to_json(), encoding="utf-8")
        asked = ("release", tmp_path / "rows.csv", "--declaration", tmp_path / "d.json", "--rho", 0.1, "--draw", 3)
        refused = shell(tmp_path, *asked)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "more than is left" in refused.stderr

        # the same answer after a reload, and in what is taken home
        words, home = chart_words(page, "square-own-correlation"), bundle(page, settle)
        page.reload()
        settle(page)
        step(page, settle, "4 Answers")
        assert chart_words(page, "square-own-correlation") == words
        again = bundle(page, settle)
        for name in ("matrices.npz", "measurement.json", "ledger_entry.json", "statement.txt"):
            assert home[name] == again[name]
        assert book() == (entry,)

        for name, content in home.items():
            (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "home" / name).write_bytes(content)
            assert not holds(content), name
        done = subprocess.run([sys.executable, "verify.py"], cwd=tmp_path / "home", capture_output=True, text=True)
        assert (done.returncode, done.stdout.count("NOT CHECKED HERE")) == (0, 0), done.stderr
        assert json.loads(home["declaration.json"])["columns"][0]["high"] == 110.0

        # nothing of the file is where others could find it
        for seen in (page, other):
            assert not re.search("ward|age=|marrow|patient", seen.url)
        left = [f for kind in ("tmp", "cache") for f in (tmp_path / kind).rglob("*") if f.is_file()]
        assert not [f for f in [*left, tmp_path / "log", *tmp_path.glob("ledger*")] if holds(f.read_bytes())]
        assert not [f for f in left if kind_of_upload(f.read_bytes())]
        assert not kind_of_upload((tmp_path / "log").read_bytes())
        for seen in (page, other):  # before the server ends: a page that cannot reach it complains
            assert not seen.locator("[data-testid=stException]").count()
            seen.close()


def kind_of_upload(raw: bytes) -> bool:
    """A column's name or the file's: what even the log of a server for one person need not know."""
    return any(word.encode() in raw for word in ("marrow_quotient", FILE, "ward-seventeen"))


# --- killed in the middle -----------------------------------------------------------------------------------


def wide(d: int, n: int) -> tuple[bytes, Declaration]:
    """A table whose measurement takes long enough to be killed in."""
    out = io.StringIO()
    np.savetxt(out, np.random.default_rng(1).uniform(0, 1, (n, d)), fmt="%.3f", delimiter=",")
    names = [f"x{j}" for j in range(d)]
    columns = tuple(Column(name, 0.0, 1.0, None, "shares") for name in names)
    return (",".join(names) + "\n" + out.getvalue()).encode(), declared("wide", columns)


def wait_for_state(path: Path, state: str) -> None:
    with closing(sqlite3.connect(path, timeout=patient(10))) as link:
        query = "SELECT count(*) FROM transactions WHERE state = ?"
        until(lambda: link.execute(query, (state,)).fetchone() != (0,), 60, every=0.002, what=state)


@pytest.mark.deep  # tests/test_ledger_chain.py kills at every line
def test_killed_in_mid_release_it_is_spent_and_never_drawn_again(tab, settle, tmp_path):
    from tests.browser.conftest import wait_until_still

    raw, what = wide(45, 1500)
    path, hosts = tmp_path / "ledger.sqlite", set()

    with serving(tmp_path) as server:
        page = tab(height=1500)
        page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
        page.goto(f"{server.address}/Your_data")
        wait_until_still(page)
        bring(page, settle, raw, what)
        press(page, settle, "Declare")
        plan_and_ask(page, settle, limit="0.15")
        page.get_by_role("button", name="Confirm and release").click()
        wait_for_state(path, "committed")
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        page.close()

    (entry,) = Ledger(path).entries()
    assert entry.state == "committed"
    assert float(Ledger(path).account("wide").spent_rho) == 0.1
    assert Ledger(path).stored(entry.token) is None

    shown = shell(tmp_path, "ledger", "show", "wide").stdout  # another process, after the crash
    assert re.search(r"1 release so far.* 0\.05 in zCDP", shown)
    assert "committed" in shown
    for draw, reason in ((1, "begun and did not finish"), (2, "more than is left")):  # the same again, and another
        with pytest.raises(LedgerError, match=reason):
            release_private(read_private(raw, what), ZCDP(0.1), "gaussian-cov", ledger=Ledger(path), draw=draw)
    assert Ledger(path).entries() == (entry,)
    assert hosts <= {"127.0.0.1", None}


# --- on a phone -----------------------------------------------------------------------------------------------


# --- at the door --------------------------------------------------------------------------------------------
