"""Home: the demonstration, three doors, the list of all pages; and the practice table."""

from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest

from pages.common import frame
from pages.home import doors
from pages.your_data.declare import practice
from privcov.core.guarantees import ZCDP
from privcov.ledger import Ledger, LedgerError
from privcov.releases.private import release_private
from privcov.tables.declaration.declaration import read_private
from tests.pages.test_pages import open_page, settle


def links(node) -> dict[str, dict[str, str]]:
    """Query of every page link by its label."""
    return {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in node.get("page_link")}


@pytest.fixture(scope="module")
def home():
    return open_page("app.py")


def test_the_demonstration_comes_first_and_the_doors_below(home):
    shown = [block.proto.body for block in home.get("html") if "<img class" in block.proto.body]
    assert ["Heatmap of the sample" in shown[0], "Heatmap of the released" in shown[1], len(shown)] == [True, True, 2]
    headings = [h.value for h in home.header]
    assert headings == ["Where do you want to go?", "Every page"]
    for door in doors.DOORS:
        assert any(m.value.startswith(f"### {door.title}") for m in home.markdown)
    assert doors.ELSEWHERE not in {c.value for c in home.caption}, "on the owner's machine every door is open"


@pytest.mark.parametrize("door", doors.DOORS, ids=lambda door: door.key)
def test_each_door_opens_a_page_that_is_set_up(home, door):
    if door.key == "explore":
        return  # it has a button, below
    query = links(home.main)[door.label]
    assert all(query[name] == value for name, value in door.own.items())
    page = open_page(frame.file_of(door.page), **query)
    assert not page.error
    assert not page.warning
    assert door.study is None or page.session_state["study"] == door.study


def test_explore_asks_trade_offs_about_any_size():
    at = open_page("app.py")
    at.select_slider(key="w.data.ar1-covariance.n").set_value(5_000)
    at.number_input(key="w.data.ar1-covariance.d").set_value(12)
    page = at.button(key="home-ask").click().run()
    settle(page)
    page.run()
    assert page.number_input(key="ask.n").value == 5_000
    assert page.number_input(key="ask.d").value == 12
    assert next(box for box in page.selectbox if box.label == "Question").value == "error"
    told = [h.proto.body for h in page.main.get("html") if "<p data-says" in h.proto.body]
    assert "epsilon = 1, expect an error of" in told[0]


# --- the practice table -------------------------------------------------------------------------------------


def test_the_practice_table_goes_through_every_step(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    at = open_page("pages/5_Your_data.py")
    at.button(key="own-practice").click().run()
    mine = at.session_state["own"]
    at.button(key=f"own-declare-{mine.file_id}").click().run()
    assert not at.error
    at.button(key="own-to-plan").click().run()
    lines = [e.proto.body for e in at.main.get("html") if 'role="meter"' in e.proto.body]
    assert len(lines) == 3, "each of the three candidates has its attacker"
    at.button(key="own-to-release").click().run()
    turn = f"{mine.file_id}-{mine.turn}"
    at.number_input(key=f"own-limit-rho-{turn}").set_value(0.1).run()
    assert any('role="meter"' in e.proto.body for e in at.main.get("html"))
    at.button(key="own-limit").click().run()
    at.button(key="own-ask").click().run()
    assert any('role="meter"' in e.proto.body for e in at.get("html"))
    at.button(key="own-confirm").click().run()
    assert at.session_state["own-step"] == "answers"
    assert any("Released" in e.proto.body and "practice table" in e.proto.body for e in at.main.get("html"))


def test_each_practice_has_a_limit_of_its_own():
    names = set()
    for _ in range(2):
        at = open_page("pages/5_Your_data.py")
        at.button(key="own-practice").click().run()
        names.add(at.session_state["own"].widget_values["name"])
    assert len(names) == 2


def test_the_practice_may_be_walked_again_on_one_ledger(tmp_path, monkeypatch):
    """The page's own button twice; and the rows of the first practice under the second name are still refused."""
    taken = []
    monkeypatch.setattr(practice.state, "keep_file", lambda name, file, given, **more: taken.append(given.raw))
    monkeypatch.setattr(practice.state, "owner_session", lambda: SimpleNamespace(widget_values={}))
    declared = []
    for _ in range(2):
        practice._take(declared.append)
    book = Ledger(tmp_path / "ledger.sqlite")
    for made in declared:
        book.set_limit(made.name, ZCDP(0.1))

    def release(raw: bytes, made) -> None:
        release_private(read_private(raw, made), ZCDP(0.05), "gaussian-cov", ledger=book)

    release(taken[0], declared[0])
    with pytest.raises(LedgerError, match="has these very rows as 'practice table"):
        release(taken[0], declared[1])
    release(taken[1], declared[1])
    assert [entry.name for entry in book.entries()] == [made.name for made in declared]
