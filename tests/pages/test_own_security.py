"""Attacks on the data owner's page: other sessions, hostile names, cells that want to be seen, files beyond limits."""

import csv
import io
import json
import logging
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.audit import claims
from pages.common import hosted, show, study_results
from pages.your_data.answers import entries
from pages.your_data.release import owner_view
from privcov.bundle.read import bundle_of, open_stored
from privcov.ledger import Ledger
from privcov.tables.declaration import csv_file
from privcov.tables.declaration.declaration import Column, Declaration, read_private
from tests.pages.sent import everything, plain
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
CANARY = "8765432199"  # nothing that an escape would break up
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "|pipe",
    "%0A",
    "'; DROP TABLE transactions; --",
    '"quoted, with comma"',
    "`code` **bold** [link](javascript:alert(1))",
    "$x^2$ :smile: :red[red]",
    "\u202egnp.exe",
    "plain",
    "pla\u200bin",
    "\uff1dwide",
    "{{template}} ${x} %s {0}",
    "\u0661\u0662 \u05d0\u05d1",
    "../../etc/passwd",
    "a" * 5000,
)


def table(names=("age", "weight"), rows: int = 120, canary: str = CANARY) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([[f"{(7 * i + 3 * j) % 50}.5" for j in range(len(names))] for i in range(rows)])
    writer.writerow([canary] * len(names))
    return out.getvalue().encode()


def declaration(names=("age", "weight"), **more) -> Declaration:
    columns = tuple(Column(name, 0.0, 100.0, None, "known before") for name in names)
    return Declaration(**({"name": "trial", "row_stands_for": "one patient", "columns": columns} | more))


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path / "ledger.sqlite"


def session(raw: bytes | None = None) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page("pages/5_Your_data.py").run()
    if raw is not None:
        at.file_uploader[0].set_value(("ward17.csv", raw, "text/csv")).run()
    return calm(at)


def calm(at: AppTest) -> AppTest:
    assert not at.exception, [e.value for e in at.exception]
    return at


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click().run()
    return calm(at)


def go(at: AppTest, step: str) -> AppTest:
    at.segmented_control(key="own-step").set_value(step).run()
    return calm(at)


def declared(raw: bytes, what: Declaration) -> AppTest:
    at = session(raw)
    saved = next(u for u in at.file_uploader if u.label == "Declaration")
    saved.set_value(("d.json", what.to_json().encode(), "application/json")).run()
    at = press(press(at, "Fill the form from it"), "Declare")
    assert at.session_state["own"].declared == what, [e.value for e in at.error]
    return at


def limited(at: AppTest) -> AppTest:
    go(go(at, "plan"), "release")
    mine = at.session_state["own"]
    at.number_input(key=f"own-limit-rho-{mine.file_id}-{mine.turn}").set_value(5.0).run()
    return press(at, "Set the limit")


def released(raw: bytes, what: Declaration) -> AppTest:
    at = press(press(limited(declared(raw, what)), "Release ..."), "Confirm and release")
    assert at.segmented_control(key="own-step").value == "answers", [e.value for e in at.error]
    return at


# --- sessions -----------------------------------------------------------------------------------------------


def test_two_sessions_never_see_each_others_rows_or_names():
    one = declared(table(("alpha_one", "alpha_two")), declaration(("alpha_one", "alpha_two")))
    two = declared(table(("beta_one", "beta_two")), declaration(("beta_one", "beta_two"), name="other"))
    for at, mine, theirs in ((one, "alpha", "beta"), (two, "beta", "alpha")):
        go(at, "plan")
        go(at, "view")
        at.checkbox[0].check().run()
        press(at, "Show me")
        assert mine in everything(at)
        assert theirs not in everything(at)
        assert theirs not in repr([at.session_state[key] for key in at.session_state])
        assert theirs.encode() not in at.session_state["own"].raw
    press(one, "Forget this file")
    assert two.session_state["own"].raw
    assert not one.session_state["own"].raw


def test_nothing_of_a_file_reaches_what_all_sessions_share():
    from streamlit.runtime import caching

    claims._table(1.0, 1e-6, 1000, 5)
    at = go(declared(table(), declaration()), "plan")
    at = press(press(limited(at), "Release ..."), "Confirm and release")
    shared = [caching.get_data_cache_stats_provider(), caching.get_resource_cache_stats_provider()]
    kept = repr([provider.get_stats() for provider in shared]) + repr(study_results.SHARED)
    assert "claims._table" in kept  # the list is not empty for want of asking rightly
    assert "parts.own_" not in kept
    assert "5_Your_data" not in kept
    assert not at.query_params


def test_no_word_of_a_private_table_leaves_its_session_on_any_step(tmp_path, monkeypatch, caplog, capfd):
    """Table, file and column names, a bound and a cell: in no address, link, log, cached value or stored cell, on every
    step and on the pages visited afterwards."""
    from streamlit.runtime.caching import cache_data_api, cache_resource_api

    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PRIVCOV_CACHE_DIR", str(tmp_path / "cells"))
    words = ("kohort77", "grosse77", "studie77", "ward17", "98.765", CANARY)
    columns = tuple(Column(name, 0.0, 98.765, 12.5, "known before") for name in words[:2])
    at = limited(declared(table(words[:2]), declaration(words[:2], name=words[2], columns=columns)))
    sent = []

    def look() -> None:
        sent.extend(link.proto.query_string for link in at.get("page_link"))
        sent.extend([str(dict(at.query_params)), str(at.session_state["address"])])

    for step in ("declare", "plan", "view", "release"):
        go(at, step)
        look()
    press(press(at, "Release ..."), "Confirm and release")
    look()
    assert words[0] in everything(at)  # the walk did reach the answers
    for page in ("1_Estimate", "2_Trade_offs"):
        at.switch_page(f"pages/{page}.py").run()
        calm(at)
        look()
        assert not any(word in everything(at) for word in words)
    out = capfd.readouterr()
    kept = [repr(study_results.SHARED._kept)]
    for shared in (cache_data_api._data_caches, cache_resource_api._resource_caches):
        for caches in shared._function_caches.values():
            for cache in caches.values():
                kept += map(repr, getattr(cache, "storage", cache)._mem_cache.values())
    files = [
        path.read_bytes().decode("latin-1") + str(path) for path in (tmp_path / "cells").rglob("*") if path.is_file()
    ]
    assert len(sent) > 20
    assert kept
    for word in words:
        assert not any(word in text for text in (*sent, caplog.text, out.out, out.err, *kept, *files)), word


# --- names --------------------------------------------------------------------------------------------------


def test_hostile_names_are_shown_as_text_and_nothing_else():
    at = declared(table(HOSTILE), declaration(HOSTILE))
    for step in ("plan", "declare"):
        go(at, step)
        no_markup(at)
    released_at = press(press(limited(at), "Release ..."), "Confirm and release")
    for view in (*(v for v in entries.VIEWS if v != "classes"), "home"):
        key = f"{released_at.session_state['own-opened'][1].key}-answer"
        released_at.segmented_control(key=key).set_value(view).run()
        calm(released_at)
        assert not released_at.error, (view, [e.value for e in released_at.error])
        no_markup(released_at)


def no_markup(at: AppTest) -> None:
    """Markdown and raw HTML are where a name could become markup; everything else is text by itself."""
    for node in at.get("html"):
        assert not any(m in node.proto.body for m in ("<script>alert", "<img src=x"))
    for node in (*at.markdown, *at.caption, *at.error, *at.warning, *at.info, *at.success):
        assert not getattr(node.proto, "allow_html", False)
        for raw in ("**bold**", "[link](", "`code`", "$x^2$", ":red[red]", ":smile:", "<script>", "<img"):
            assert raw not in node.value, (raw, node.value)
    for chart in at.get("plotly_chart"):
        assert not any(m in chart.proto.spec for m in ("<script>", "<img"))


def test_hostile_names_leave_in_files_as_text(ledger):
    released(table(HOSTILE), declaration(HOSTILE))
    (entry,) = Ledger(ledger).entries()
    opened = open_stored(Ledger(ledger).stored(entry.token))
    raw = bundle_of(opened, entry.to_dict(), None)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, content in files.items():
        if name.endswith(".csv"):
            lines = list(csv.reader(io.StringIO(content.decode(), newline="")))
            assert len(set(lines[0])) == len(lines[0])
            texts = [*lines[0], *(line[0] for line in lines)]
            assert not [t for t in texts if t.startswith(("=", "+", "-", "@", "|", "%", "\uff1d"))]
        if name.endswith(".html"):
            assert b"<script>alert" not in content
            assert b"<img src=x" not in content
        assert ".." not in name
        assert name[0] != "/"


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_sees_no_hostile_name(name):
    shown = show.as_text(f"Column {name!r} has no bounds.")
    assert all(
        shown[at - 1] == "\\" for at, letter in enumerate(shown) if letter in "`*[]<>$" and shown[at - 1] != "\\"
    )


# --- cells --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        table() + f"{CANARY},1,2\n".encode(),
        table() + f'"{CANARY},1\n'.encode(),
        table() + f"{CANARY},\xff\n".encode("latin-1"),
        table() + f"{CANARY}\0,1\n".encode(),
    ],
    ids=["too many cells", "open quotation mark", "not UTF-8", "zero byte"],
)
def test_an_error_on_private_rows_holds_an_identifier_and_no_cell(broken, ledger, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    at = limited(declared(broken, declaration()))
    press(at, "Release ...")  # the owner's check reads the file first, so nothing is asked for
    assert not [b for b in at.button if b.label == "Confirm and release"]
    assert any("(id " in plain(e.value) for e in at.error)
    assert CANARY not in everything(at)
    go(at, "view")
    at.checkbox[0].check().run()
    press(at, "Show me")
    assert any("(id " in plain(e.value) for e in at.error)
    out = capfd.readouterr()
    assert not any(CANARY in text for text in (everything(at), caplog.text, out.out, out.err))
    assert Ledger(ledger).entries() == ()
    with pytest.raises(ValueError, match=r"id [0-9a-f]{8}") as caught:
        read_private(broken, declaration())
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("canary", [CANARY, "nan", "inf", "-1e308", "1e400", f"text {CANARY}"])
def test_a_strange_cell_is_clipped_or_missing_and_never_told(canary, ledger, caplog):
    caplog.set_level(logging.DEBUG)
    at = released(table(canary=canary), declaration())
    assert CANARY not in everything(at) + caplog.text
    (entry,) = Ledger(ledger).entries()
    assert entry.state == "stored"
    assert CANARY not in Ledger(ledger).stored(entry.token) + json.dumps(entry.to_dict())


def test_a_failing_measurement_or_view_is_generic_and_spent(ledger, monkeypatch, caplog):
    def burst(*_, **__):
        raise ZeroDivisionError(f"row 17 holds {CANARY}")

    at = limited(declared(table(), declaration()))
    monkeypatch.setattr("privcov.releases.private.measure_exactly", burst)
    press(press(at, "Release ..."), "Confirm and release")
    assert any("The private measurement failed (id " in plain(e.value) for e in at.error)
    monkeypatch.setattr(owner_view, "compute_owner_view", burst)
    shown = everything(at)
    go(at, "view")
    at.checkbox[0].check().run()
    press(at, "Show me")
    assert any("view failed (id " in plain(e.value) for e in at.error)
    assert CANARY not in shown + everything(at) + caplog.text
    (entry,) = Ledger(ledger).entries()
    assert entry.state == "failed"
    assert Ledger(ledger).account("trial").spent_rho > 0


# --- the door -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "", None, "workbench.example"])
def test_there_are_no_private_uploads_beyond_loopback(address, monkeypatch):
    monkeypatch.setattr(hosted.st, "get_option", lambda name: address)
    assert "your own machine" in hosted.refusal()


def test_a_refusing_server_shows_no_uploader(monkeypatch):
    monkeypatch.setattr(hosted, "loopback", lambda address: False)
    at = session()
    assert not at.file_uploader
    assert "own machine" in plain(at.info[0].value)


def test_every_limit_has_its_sentence(monkeypatch):
    wide = session((",".join(f"c{j}" for j in range(201)) + "\n").encode())
    assert "201 columns and the limit is 200" in plain(wide.error[0].value)
    long = session(b"a" * 70_000 + b"\n1\n")
    assert "65,536 bytes" in plain(long.error[0].value)
    monkeypatch.setattr("pages.your_data.state.MAX_BYTES", 1000)
    big = session(table())
    assert "the limit is" in plain(big.error[0].value)
    for at in (wide, long, big):
        assert not at.session_state["own"].raw


def test_too_many_rows_are_refused_without_being_counted_out(ledger, monkeypatch):
    monkeypatch.setattr("privcov.tables.private_dataset.MAX_ROWS", 100)
    at = limited(declared(table(), declaration()))
    press(press(at, "Release ..."), "Confirm and release")
    said = plain(at.error[0].value)
    assert "rows" in said
    assert "121" not in said
    assert Ledger(ledger).entries() == ()


def test_the_page_shows_the_security_text_and_its_limits_are_the_codes():
    text = (Path(APP).parent / "SECURITY.md").read_text(encoding="utf-8")
    assert text.partition("\n")[2].strip() in [
        m.value.strip() for m in press(session(), "Security and limits").markdown
    ]
    from privcov.tables import private_dataset, public_facts

    for limit in (csv_file.MAX_COLUMNS, private_dataset.MAX_ROWS, csv_file.MAX_HEADER_BYTES, public_facts.MAX_CLASSES):
        assert f"{limit:,}" in text
    assert f"{csv_file.MAX_BYTES / 1e6:.0f} MB" in text
    assert hosted.HOSTED in text
