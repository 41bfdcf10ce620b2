"""Three visitors without a browser, of a real server, for ten seconds: see tests/load.py."""

import random
import shutil
from urllib.parse import parse_qs

import pytest

from tests.load import Seen, Visitor, changing, run, together
from tests.serving import serving

CHANGES = 10
pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="memory is read with ps")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("load")) as found:
        yield found


def test_three_visits_change_something_every_second_and_see_every_change(server):
    seeds = (11, 12, 13)
    seen = together(changing(server.port, "Estimate", f"seed={s}", CHANGES, random.Random(s)) for s in seeds)
    assert seen.errors == []
    assert len(seen.took) == len(seeds) * CHANGES
    assert seen.pictures == len(seeds) * CHANGES - seen.overtaken
    assert all(0 < took < 60 for took in seen.took)
    assert 50 < server.memory() < 2000


def test_the_same_change_sent_again_at_once_is_not_taken_back(server):
    """The second request still says the address from before the first; the study must not follow it."""

    async def twice() -> tuple[Seen, str, str, str]:
        async with Visitor(server.port) as visitor:
            await visitor.open("Estimate", "seed=5")
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
            await visitor.open("Estimate", "seed=5")
            await visitor.press(visitor.values()[-5])
            await visitor.done()
            await visitor.open("Estimate", "seed=6")
            return visitor, visitor.value()

    visitor, shown = run(at_once())
    assert visitor.seen.errors == []
    assert parse_qs(visitor.query) == {"seed": ["6"]}
    assert shown == "0.1"  # as a visit begins


# Graph recovery is opened so by a browser, see tests/browser/test_journeys.py.
@pytest.mark.parametrize("page", ["Estimate", "Trade_offs", "Spectra", "Your_data", "Methods"])
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


def test_a_visitor_sees_what_goes_wrong(server):
    async def nowhere() -> Seen:
        async with Visitor(server.port) as visitor:
            await visitor.open("No_such_page")
            await visitor.open("Lessons")
            with pytest.raises(LookupError, match="no slider"):
                visitor.values()
            return visitor.seen

    assert run(nowhere()).errors == ["no page 'No_such_page'"]


def test_an_error_on_the_page_is_seen(server):
    """More rows than a page draws."""

    async def absent() -> Seen:
        async with Visitor(server.port) as visitor:
            await visitor.open("Estimate", "data.n=1000000&data.d=500")
            return visitor.seen

    (error,) = run(absent()).errors
    assert "n x d is" in error
