"""What one visitor may not do to a hosted server: end it, fill its memory, or leave others without an answer."""

import asyncio
import shutil
import time

import pytest

from tests.load import Visitor, run
from tests.patience import patient
from tests.serving import Server, serving

ANSWERED = 10.0  # seconds within which another visitor sees a page, on a quiet machine
pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="memory and threads are read with ps")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("hosted"), PRIVCOV_HOSTED="1") as found:
        yield found


async def another_is_answered(server: Server) -> None:
    """Whether a second visitor sees Home in time."""
    begun = time.monotonic()
    async with Visitor(server.port) as other:
        await other.open("")
    assert other.seen.errors == []
    assert time.monotonic() - begun < patient(ANSWERED)


def test_caches_emptied_again_and_again_leave_no_thread_behind(server):
    async def empty() -> None:
        async with Visitor(server.port) as visitor:
            await visitor.open("")
            await asyncio.sleep(5)  # what is loaded after the first page
            before = server.threads()
            for _ in range(20):
                await visitor.clear_cache()
            assert visitor.seen.errors == []
            assert server.threads() < before + 10
            await another_is_answered(server)

    run(empty())
