"""What one visitor may not do to a hosted server: end it, fill its memory, or leave others without an answer."""

import asyncio
import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator

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


@contextlib.contextmanager
def highest(server: Server) -> Iterator[Callable[[], float]]:
    """The most memory, MB, that the server had meanwhile; it is ended beyond what a hosted server has."""
    seen, over = [server.memory()], threading.Event()

    def watch() -> None:
        while not over.wait(0.1) and server.process.poll() is None:
            seen.append(server.memory())
            if seen[-1] > 3_000:
                server.process.kill()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield lambda: max(seen)
    finally:
        over.set()
        watching.join()


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


@pytest.mark.deep
def test_large_tables_in_many_tabs_are_drawn_one_at_a_time(server):
    large = "source=ar1-covariance&data.n=20000&data.d=1000&method=gaussian-cov"

    async def tab(rows: int) -> None:
        async with Visitor(server.port) as visitor:
            await visitor.open("Estimate", f"{large}&rows={rows}")
            assert not visitor.closed

    async def together() -> None:
        opened = asyncio.gather(*(tab(rows) for rows in range(1, 13)))
        await asyncio.sleep(1)
        await another_is_answered(server)
        await opened

    with highest(server) as peak:
        run(together())
    assert peak() < 1_800  # 6,800 side by side
