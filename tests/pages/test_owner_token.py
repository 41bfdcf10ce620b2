"""The guard before the data owner's page: what a visit without the token gets, which is nothing, and how it enters."""

import hmac
import io
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from pages.common import hosted, owner_token
from pages.your_data import state
from pages.your_data.declare.file_format import UploadedTable
from privcov.cli.entry import main
from privcov.core.guarantees import ZCDP
from privcov.ledger import Ledger
from privcov.steward import token_file
from tests.pages.sent import everything, plain
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
APP = str(ROOT / "app.py")
PAGE = "pages/5_Your_data.py"
SECRET = "a heron in the reeds"
CANARY = "kohort77"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch) -> Path:
    """Also a secret of the owner's own, and a line without anybody in it."""
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv(owner_token.SETTING, SECRET)
    monkeypatch.setattr(owner_token, "_line", owner_token._Line())
    monkeypatch.setattr(owner_token, "PACE", 0.0)
    return tmp_path / "ledger.sqlite"


def test_the_answers_of_a_class_are_behind_the_token_and_your_data_stays_shut(monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, hosted.CLASS)
    at = AppTest.from_file(APP, default_timeout=patient(60)).run()
    at.switch_page("pages/6_Lessons.py")
    at.query_params["part"] = "teach"
    at.run()
    assert "Right answer" not in everything(at)
    assert [field.label for field in at.text_input] == ["Token"]
    at.text_input[0].set_value("a wrong one")
    at.button[0].click().run()
    assert "not the token" in at.error[0].value
    at.text_input[0].set_value(SECRET)
    at.button[0].click().run()
    assert "Right answer" in everything(at)
    with pytest.raises(hosted.HostedError):
        owner_token.guard()


def test_a_class_is_told_the_token_of_teach(announced, monkeypatch):
    monkeypatch.delenv(owner_token.SETTING)
    monkeypatch.setenv(hosted.HOSTED, "1")
    assert announced(Terminal()) == ("", "")
    monkeypatch.setenv(hosted.HOSTED, hosted.CLASS)
    assert "the token for Teach" in announced(Terminal())[0]


@pytest.fixture
def announced(monkeypatch):
    """`announced(terminal)`: what a server prints that starts now, to its terminal and to standard error."""

    def start(terminal: io.StringIO | None) -> tuple[str, str]:
        errors = io.StringIO()
        monkeypatch.setattr(sys, "stdout", terminal or io.StringIO())
        monkeypatch.setattr(sys, "stderr", errors)
        monkeypatch.setattr(owner_token, "_announced", threading.Event())
        owner_token.announce()
        return sys.stdout.getvalue(), errors.getvalue()

    return start


@pytest.fixture
def kept(monkeypatch, ledger) -> Path:
    """The file of the token, of a server whose owner has chosen none."""
    monkeypatch.delenv(owner_token.SETTING)
    return ledger.parent / "server" / "token"


def visit(**query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    for name, value in query.items():
        at.query_params[name] = value
    return calm(at.switch_page(PAGE).run())


def calm(at: AppTest) -> AppTest:
    assert not at.exception, [e.value for e in at.exception]
    return at


def enter(at: AppTest, text: str) -> AppTest:
    at.text_input(key="token-entry").set_value(text)
    next(b for b in at.button if b.label == "Open").click()
    return calm(at.run())


def shut(at: AppTest) -> bool:
    """Whether the page shows the field, the way to read a bundle, and nothing of what lies behind the field."""
    if at.file_uploader or [bar.key for bar in at.segmented_control] != ["door"] or at.get("page_link")[0] is None:
        return False
    fields = [(field.label, field.proto.type) for field in at.text_input]
    return fields == [("Token", 1)] and "own" not in at.session_state


# --- entering -----------------------------------------------------------------------------------------------


def test_one_sentence_one_field_one_button(ledger):
    at = visit()
    assert shut(at)
    assert [b.label for b in at.main.button] == ["Open", "Use the practice table"]
    assert [plain(m.value) for m in at.main.markdown] == ["Enter the token that `PRIVCOV_TOKEN` was set to."]
    assert not ledger.exists()


def test_a_wrong_entry_is_told_and_the_right_one_opens_this_visit_alone():
    at, other = visit(), visit()
    for wrong in ("", "x", SECRET[:-1], SECRET + "x", SECRET.upper(), "\u2603" * 300, "off"):
        assert shut(enter(at, wrong)), wrong
        assert [e.value for e in at.error] == ["This is not the token of this server."]
        assert at.text_input(key="token-entry").value == ""
    assert not calm(at.run()).error  # told once
    enter(at, f"  {SECRET}\n")  # as copied from a terminal
    assert at.file_uploader
    assert not at.error
    assert shut(calm(other.run()))
    at.switch_page("pages/1_Estimate.py").run()
    at.switch_page(PAGE).run()
    assert calm(at).file_uploader  # once per visit


def test_forget_this_file_is_no_way_out_and_no_way_in():
    at = enter(visit(), SECRET)
    next(b for b in at.button if b.label == "Use the practice table").click().run()
    next(b for b in at.button if b.label == "Forget this file").click().run()
    assert calm(at).file_uploader


def test_the_token_is_in_no_message_address_or_state():
    at = visit()
    for text in ("wrong", SECRET):
        enter(at, text)
        kept = repr([at.session_state[key] for key in at.session_state])
        assert SECRET not in everything(at) + str(dict(at.query_params)) + kept + str(at.session_state["address"])
    assert at.file_uploader


def test_other_pages_ask_for_none():
    at = AppTest.from_file(APP, default_timeout=patient(60))
    for page in ("pages/1_Estimate.py", "pages/7_Methods.py"):
        at.switch_page(page).run()
        assert "Token" not in [field.label for field in calm(at).text_input]


# --- going past it ------------------------------------------------------------------------------------------


def test_no_state_that_a_visit_could_carry_opens_it(ledger):
    at = visit()
    for step in ("declare", "plan", "view", "release", "answers"):
        for claim in (True, SECRET, object()):
            at.session_state["token-opened"] = claim
            at.session_state["own-agreed"] = ("gaussian-cov", None, 1, ())
            at.session_state["own-next"] = at.session_state["own-step"] = step
            assert shut(calm(at.run())), (step, claim)
    assert not ledger.exists()


def test_no_address_opens_it():
    words = {"token": SECRET, "token-entry": SECRET, "PRIVCOV_TOKEN": "off"}
    assert shut(visit(**words, **{"token-opened": "1", "own-step": "answers"}))


def test_no_widget_event_reaches_what_lies_behind(ledger):
    """The ids of every widget of an open visit, sent from one that is shut; but those that need none."""
    inside = enter(visit(), SECRET)
    bars = [bar for bar in inside.segmented_control if bar.key != "door"]
    ids = {e.proto.id for e in (*inside.button, *inside.file_uploader, *bars) if e.key != "own-practice"}
    assert bars
    ids |= {b.proto.id for b in enter(visit(), SECRET).main.button if b.key != "own-practice"}
    assert any("own-practice" in button.proto.id for button in inside.button)
    at = visit()
    states = [WidgetState(id=name, trigger_value=True) for name in ids]
    calm(at._run(WidgetStates(widgets=states)))
    assert shut(at)
    # An id that is the key itself fails the run of the visit that sent it.
    at._run(WidgetStates(widgets=[WidgetState(id="token-opened", bool_value=True)]))
    assert at.exception
    assert not at.file_uploader
    assert not ledger.exists()


@pytest.mark.parametrize(
    "touch",
    [state.open_ledger, state.rows, lambda: state.keep_file("f", "table.csv", UploadedTable(b"a\n1\n"))],
    ids=["ledger", "rows", "hold"],
)
def test_the_functions_refuse_and_not_only_the_page(touch, ledger):
    with pytest.raises(owner_token.TokenRequiredError, match="has not entered the token"):
        touch()
    assert not ledger.exists()


def test_nothing_of_the_ledger_is_shown_to_a_visit_without_the_token(ledger):
    book = Ledger(ledger)
    book.set_limit(CANARY, ZCDP(1.0))
    at = visit()
    for key in ("own-next", "own-step"):
        at.session_state[key] = "answers"
    assert CANARY not in everything(calm(at.run()))
    assert CANARY not in everything(enter(at, "wrong"))
    at.session_state["own-next"] = "answers"
    enter(at, SECRET)
    assert state.STEPS["answers"] in everything(at)


def test_practice_needs_no_token_and_touches_nothing_of_the_owner_s(ledger):
    Ledger(ledger).set_limit(CANARY, ZCDP(1.0))
    before = ledger.read_bytes()
    at = visit()
    next(b for b in at.button if b.label == "Use the practice table").click().run()
    book = at.session_state["own"].book
    assert stat.S_IMODE(book.parent.stat().st_mode) == 0o700
    for step in ("plan", "view", "release", "answers"):
        at.session_state["own-next"] = step
        assert CANARY not in everything(calm(at.run())), step
        assert not at.error
    assert book.exists()
    assert ledger.read_bytes() == before
    for refused in (lambda: state.keep_file("f", "t.csv", UploadedTable(b"a\n1\n")), lambda: state.take(None)):
        with pytest.raises(owner_token.TokenRequiredError):
            refused()
    next(b for b in at.button if b.label == "Forget this file").click().run()
    calm(at.run())
    assert [field.label for field in at.text_input] == ["Token"]
    assert not at.file_uploader


# --- how it is compared -------------------------------------------------------------------------------------


def test_the_comparison_takes_as_long_for_every_entry(monkeypatch):
    """Two digests of one length, by the function that reads both to their ends."""
    asked = []

    def compare(one: bytes, other: bytes) -> bool:
        asked.append((type(one), len(one), type(other), len(other)))
        return real(one, other)

    real = hmac.compare_digest
    monkeypatch.setattr(owner_token.hmac, "compare_digest", compare)
    at = visit()
    for text in ("x", SECRET[:-1], SECRET):
        enter(at, text)
    assert asked == [(bytes, 32, bytes, 32)] * 3
    monkeypatch.setattr(owner_token.hmac, "compare_digest", lambda *_: False)
    assert shut(enter(visit(), SECRET))


def test_entries_wait_in_one_line_that_ends(monkeypatch):
    clock, slept = [100.0], []
    monkeypatch.setattr(owner_token.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(owner_token.time, "sleep", slept.append)
    monkeypatch.setattr(owner_token, "PACE", 0.25)
    line = owner_token._Line()
    served = [line.wait() for _ in range(1000)]
    assert sum(served) == 21  # one at once, and four a second for five seconds
    assert served == sorted(served, reverse=True)
    assert slept == [0.25 * k for k in range(21)]
    clock[0] += owner_token.LINE + 2 * 0.25  # whatever was tried before, the owner waits no longer than this
    assert line.wait()
    assert slept[-1] == 0.0


def test_too_many_entries_are_not_even_compared(monkeypatch):
    monkeypatch.setattr(owner_token, "LINE", -1.0)
    at = visit()
    assert shut(enter(at, SECRET))
    assert "Try again" in at.error[0].value


# --- the setting and the terminal ---------------------------------------------------------------------------


def test_off_is_the_one_way_to_ask_for_none(monkeypatch):
    for word in ("off", " OFF "):
        monkeypatch.setenv(owner_token.SETTING, word)
        assert visit().file_uploader


@pytest.mark.parametrize("word", ["no", "0", "false", "none", "fifteen letters"])
def test_a_setting_that_is_too_short_opens_nothing(word, monkeypatch, announced):
    monkeypatch.setenv(owner_token.SETTING, word)
    at = visit()
    assert not at.text_input
    assert not at.file_uploader
    assert f"at least 16 characters, got {len(word)}" in plain(at.error[0].value)
    out, errors = announced(Terminal())
    assert out == ""
    assert f"PRIVCOV_TOKEN must be off or have at least 16 characters, got {len(word)}" in errors
    assert word not in errors


def test_a_made_token_is_printed_once_and_opens(monkeypatch, announced):
    monkeypatch.delenv(owner_token.SETTING)
    out, errors = announced(Terminal())
    (line,) = out.splitlines()
    token = line.partition(" is ")[2].partition(" ")[0]
    assert line == f'PrivCov: the token for "Your data" is {token} (enter it on that page)'
    assert len(bytes.fromhex(token)) * 8 >= 128
    assert errors == ""
    st.cache_resource.clear()  # as any visitor can
    at = visit()
    assert sys.stdout.getvalue() == out
    assert "printed in its terminal or log" in at.main.markdown[0].value
    assert token not in everything(at)
    assert enter(at, token).file_uploader
    assert token not in everything(at)
    assert sys.stdout.getvalue() == out


def test_without_a_terminal_the_token_is_in_the_log_and_in_a_file_that_a_command_prints(announced, kept, capsys):
    out, errors = announced(None)  # a pipe or a file
    (line,) = out.splitlines()
    token = owner_token._MADE
    assert line == f'PrivCov: the token for "Your data" is {token} (enter it on that page)'
    assert errors == ""
    assert kept.read_text() == token
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)] == [0o600, 0o700]
    assert [file.name for file in kept.parent.iterdir()] == ["token"]
    assert main(["app", "token"]) == 0
    assert sys.stdout.getvalue() == f"{out}{token}\n"
    at = visit()
    assert "token` prints it again" in plain(at.main.markdown[0].value)
    assert token not in everything(at)
    assert enter(at, token).file_uploader


def test_a_new_start_replaces_the_file_as_a_whole(announced, kept, monkeypatch):
    announced(None)
    earlier = kept.read_text()
    monkeypatch.setattr(owner_token, "_MADE", "b" * 40)
    with kept.open() as begun:  # whoever reads the earlier file while it is replaced reads all of it
        announced(None)
        assert begun.read() == earlier
    assert kept.read_text() == "b" * 40


@pytest.mark.parametrize("what", ["file", "folder", "link", "owner"])
def test_a_file_or_folder_that_others_may_read_is_refused(what, announced, kept, monkeypatch, capsys):
    announced(None)
    earlier = kept.read_text()
    monkeypatch.setattr(owner_token, "_MADE", "c" * 40)
    if what == "link":
        kept.rename(kept.with_name("elsewhere"))
        kept.symlink_to(kept.with_name("elsewhere"))
    elif what == "owner":
        uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    else:
        (kept if what == "file" else kept.parent).chmod(0o644 if what == "file" else 0o755)
    out, errors = announced(None)
    assert "c" * 40 in out  # the log has it all the same
    said = {"file": "must have mode 0600, and has 0644", "folder": "must have mode 0700, and has 0755"}
    assert said.get(what, "of the user who runs PrivCov, and is none") in errors
    assert kept.read_text() == earlier
    assert main(["app", "token"]) == 1
    assert "c" * 40 not in errors + sys.stderr.getvalue()
    assert earlier not in sys.stdout.getvalue()
    assert said.get(what, "of the user who runs PrivCov, and is none") in sys.stderr.getvalue()


def test_without_a_server_the_command_says_so(kept, capsys):
    assert main(["app", "token"]) == 1
    assert "no server has started here" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["own secret", "off", "hosted"])
def test_nothing_is_printed_where_there_is_nothing_to_print(name, monkeypatch, announced):
    if name == "off":
        monkeypatch.setenv(owner_token.SETTING, "off")
    if name == "hosted":
        monkeypatch.delenv(owner_token.SETTING)
        monkeypatch.setenv(hosted.HOSTED, "1")
    assert announced(Terminal()) == ("", "")
    assert not token_file.token_path().exists()


def test_a_hosted_server_says_so_and_asks_for_no_token(monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, "1")
    at = visit()
    assert not at.text_input
    assert "other machines" in at.info[0].value
    with pytest.raises(hosted.HostedError):
        state.open_ledger()
