"""Three visitors without a browser, of a real server, for ten seconds: see tests/load.py."""

import asyncio
import contextlib
import http.client
import itertools
import json
import random
import shutil
import time
from urllib.parse import parse_qs

import pytest

from tests.load import AnswerHistogram, Visitor, changing, run, together
from tests.patience import patient
from tests.serving import ROOT, serving

CHANGES = 10
pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="memory is read with ps")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("load")) as found:
        yield found


def test_three_visits_change_something_every_second_and_see_every_change(server):
    seeds = (11, 12, 13)
    seen = together(changing(server.port, "Estimate", f"kind=zcdp&seed={s}", CHANGES, random.Random(s)) for s in seeds)
    assert seen.errors == []
    assert len(seen.took) == len(seeds) * CHANGES
    assert seen.pictures == len(seeds) * CHANGES - seen.overtaken
    assert all(0 < took < 60 for took in seen.took)
    assert 50 < server.memory() < 2000


def test_ten_visits_that_change_something_faster_than_it_is_drawn_end_with_their_last_change(server):
    """Also while they go from page to page. What this can detect: a visit that ends in an error or in nothing."""

    async def hurried(seed: int) -> AnswerHistogram:
        draw = random.Random(seed)
        async with Visitor(server.port) as visitor:
            for page in draw.sample(["Estimate", "Spectra"], 2):
                await visitor.open(page, f"kind=zcdp&seed={seed}&data.n=2000&data.d=8")
                for _ in range(8):
                    await visitor.press(draw.choice(visitor.values()))
                    await asyncio.sleep(0.15)
                await visitor.done()
            return visitor.seen

    seen = together(hurried(seed) for seed in range(10))
    assert seen.errors == []
    assert len(seen.took) == 10 * 2 * 8


def test_no_page_of_another_site_may_send_messages_to_the_workbench(server):
    """By default Streamlit's own hosts may stop, run again and redirect what they show in a frame."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=patient(5))
    with contextlib.closing(connection):
        connection.request("GET", "/_stcore/host-config")
        assert json.load(connection.getresponse())["allowedOrigins"] == []


SLOW = """
import json, time
import streamlit as st

st.select_slider("Rho", [str(k) for k in range(30)], st.session_state.get("rho", "0"), key="rho")
begun = time.monotonic()
try:
    time.sleep(0.4)  # computes, and says nothing to the browser
finally:
    with open("runs", "a") as runs:
        print(json.dumps([begun, time.monotonic()]), file=runs)
st.html('<i class="pc-still"></i>')
"""


def test_runs_of_one_visit_follow_each_other(tmp_path):
    """With the project's own settings of Streamlit, whose default lets the older run go on beside the newer one."""
    shutil.copytree(ROOT / ".streamlit", tmp_path / ".streamlit")
    (tmp_path / "slow.py").write_text(SLOW)
    with serving(tmp_path, tmp_path / "slow.py") as slow:
        seen = together([changing(slow.port, "", "", 8, random.Random(1), pause=lambda: 0.15)])
    assert seen.errors == []
    assert len(seen.took) == 8
    runs = sorted(json.loads(line) for line in (tmp_path / "runs").read_text().splitlines())
    assert len(runs) >= 3  # the first, one at least that was overtaken, the last
    assert all(end <= begun for (_, end), (begun, _) in itertools.pairwise(runs))


def test_the_same_change_sent_again_at_once_is_not_taken_back(server):
    """The second request still says the address from before the first; the study must not follow it."""

    async def twice() -> tuple[AnswerHistogram, str, str, str]:
        async with Visitor(server.port) as visitor:
            await visitor.open("Estimate", "kind=zcdp&seed=5")
            wanted = visitor.values()[-5]
            assert wanted != visitor.value()
            before = visitor.query
            await visitor.press(wanted)
            await visitor.done()
            visitor.query = before  # as if the new address were still on the way
            await visitor.press(wanted)
            await visitor.done()
            return visitor.seen, visitor.value(), wanted, visitor.query

    seen, shown, wanted, query = run(twice())
    assert seen.errors == []
    assert shown == wanted
    assert parse_qs(query)["rho"] == [wanted]


def test_a_link_followed_right_after_a_change_is_not_taken_for_the_old_address(server):
    """Only the address from before the change is held back while the new one may still be on its way."""

    async def at_once() -> tuple[Visitor, str]:
        async with Visitor(server.port) as visitor:
            await visitor.open("Estimate", "kind=zcdp&seed=5")
            await visitor.press(visitor.values()[-5])
            await visitor.done()
            await visitor.open("Estimate", "kind=zcdp&seed=6")
            return visitor, visitor.value()

    visitor, shown = run(at_once())
    assert visitor.seen.errors == []
    assert parse_qs(visitor.query) == {"seed": ["6"], "kind": ["zcdp"]}
    assert shown == "0.1"  # as a visit begins


# Graph recovery is opened so by a browser, see tests/browser/test_journeys.py.
# The way is one: two pages show it, the others in `make deep`.
_REST = [pytest.param(page, marks=pytest.mark.deep) for page in ("Spectra", "Your_data", "Methods")]


@pytest.mark.parametrize("page", ["Estimate", "Trade_offs", *_REST])
def test_a_deep_link_works_on_a_server_nobody_has_visited(page, tmp_path):
    """What a page needs is loaded by it, whichever page comes first in the life of a server."""

    async def arrive(port: int) -> tuple[Visitor, str]:
        async with Visitor(port) as visitor:
            await visitor.open(page, "kind=approx&epsilon=0.5&data.n=2000")
            return visitor, visitor.value() if page in ("Estimate", "Trade_offs", "Spectra") else ""

    with serving(tmp_path) as cold:
        visitor, shown = run(arrive(cold.port))
    assert visitor.seen.errors == []
    assert visitor.seen.received > 10_000
    assert parse_qs(visitor.query) == {"kind": ["approx"], "epsilon": ["0.5"], "data.n": ["2000"]}
    assert shown in ("", "0.5")


HOLDS = """
import pathlib, weakref
import streamlit as st
from pages.common import visitor_files

if not pathlib.Path({held!r}).exists():
    pathlib.Path({held!r}).touch()
    weakref.finalize(visitor_files.new("1", "t.csv", b"a"), pathlib.Path({gone!r}).touch)
"""


def test_a_file_is_gone_in_the_course_of_later_visits_after_its_tab_was_closed(tmp_path):
    """Also that of the first visit, which sets up the process: nothing there may refer to it."""
    held, gone, app = tmp_path / "held", tmp_path / "gone", (ROOT / "app.py").read_text(encoding="utf-8")
    page = "study = frame.page(frame.HOME)\n"
    (tmp_path / "app.py").write_text(app.replace(page, page + HOLDS.format(held=str(held), gone=str(gone))))
    for name in ("pages", "privcov", ".streamlit"):
        (tmp_path / name).symlink_to(ROOT / name)

    async def visit(port: int) -> AnswerHistogram:
        async with Visitor(port) as visitor:
            await visitor.open("")
            assert held.exists()
            assert not gone.exists()
        return visitor.seen

    with serving(tmp_path, tmp_path / "app.py", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="1") as server:
        assert run(visit(server.port)).errors == []
        time.sleep(2)
        for seed in range(10):  # one to three are enough
            later = changing(server.port, "Estimate", f"seed={seed}", CHANGES, random.Random(seed), pause=lambda: 0.3)
            assert run(later).errors == []
            if gone.exists():
                break
        assert gone.exists()
