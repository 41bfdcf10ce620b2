"""The workbench under load: many protocol-level visitors of one server, see tests/load.py.

load  twenty visits of Estimate, each changing its privacy slider every second for two minutes, beside one visit of the
      same server; memory before and after. Each visit has its own seed, so no result of one serves another. About
      six minutes.
soak  twenty minutes of visitors that come, wander over the pages and leave; a line on stderr every half minute.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.load import AnswerHistogram, Visitor, changing, together, wander
from tests.serving import Server, serving

VISITS, CHANGES = 20, 120
ALONE, WARM = 30, 30  # changes of the one visit, and of each of the twenty that warm the server up
REST = 60.0  # seconds after the last visit has ended, before memory is read
SOAK_MINUTES = 20.0
LOOK = 30.0  # seconds between two lines of the soak
# Page, and whether it has a privacy slider; the others are opened and looked at.
PAGES = {
    "": True,
    "Estimate": True,
    "Spectra": True,
    "Graph_recovery": True,
    "Trade_offs": True,
    "Lessons": False,
    "Methods": False,
    "Published_results": False,
    "Privacy_audit": False,
}


def tail(took: list[float]) -> float:
    """95th percentile."""
    return statistics.quantiles(took, n=20, method="inclusive")[-1]


def crowd(server: Server, visits: int, changes: int, first: int) -> AnswerHistogram:
    """first: seed of the first visit's noise; the others follow."""
    return together(
        changing(server.port, "Estimate", f"kind=zcdp&seed={first + k}", changes, random.Random(first + k))
        for k in range(visits)
    )


def load() -> Iterator[tuple[str, str, str]]:
    """One visit, then twenty; memory a minute after twenty of the same kind, and a minute after these."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        crowd(server, 1, 10, 1)
        alone = crowd(server, 1, ALONE, 1000)
        crowd(server, VISITS, WARM, 2000)
        time.sleep(REST)
        before = server.memory()
        many = crowd(server, VISITS, CHANGES, 3000)
        during = server.memory()
        time.sleep(REST)
        after = server.memory()
    unit, last = statistics.median(alone.took), tail(many.took)
    told = f"({1000 * last:.0f} ms, median {1000 * statistics.median(many.took):.0f}, of {1000 * unit:.0f} ms"
    told += f"; one visit's own 95th percentile {1000 * tail(alone.took):.0f} ms; {many.overtaken} changes overtaken)"
    yield "20 visits, 95th percentile per change", f"{last / unit:.1f} x one visit's median {told}", "<= 10"
    wrong = len(alone.errors) + len(many.errors) + VISITS * CHANGES - len(many.took)
    told = "; ".join(dict.fromkeys(many.errors))[:200] or "none"
    yield "errors and changes never drawn", f"{wrong} x one of {VISITS * CHANGES:,} changes (errors: {told})", "<= 0"
    told = f"(MB: {before:.0f} a minute after a warm-up by twenty visits, {during:.0f} at the end, {after:.0f} after)"
    yield "memory a minute after the last visit", f"{after / before:.2f} x before {told}", "<= 1.1"


# --- soak ---------------------------------------------------------------------------------------------------


async def coming_and_going(port: int, number: int, end: float, seen: AnswerHistogram) -> None:
    """Visits of one person after another until `end`; what they meet is added to `seen` page by page."""
    draw = random.Random(number)
    for visit in itertools.count():
        if time.monotonic() > end:
            return
        async with Visitor(port) as visitor:
            for page in draw.sample(list(PAGES), draw.randint(1, 5)):
                if time.monotonic() > end or visitor.closed:
                    break
                await visitor.open(page, f"kind=zcdp&seed={1000 * number + visit}")
                if PAGES[page]:
                    await wander(visitor, draw.randint(5, 30), draw, lambda: draw.uniform(0.7, 3.0))
                else:
                    await asyncio.sleep(draw.uniform(2, 10))
                seen.add(visitor.seen)
                visitor.seen = AnswerHistogram()
        await asyncio.sleep(draw.uniform(0, 5))


async def watch(server: Server, end: float, seen: AnswerHistogram, say: Callable[[str], None]) -> list[float]:
    """Memory, MB, every half minute."""
    memory, told, begun = [], 0, time.monotonic()
    while time.monotonic() < end:
        await asyncio.sleep(min(LOOK, max(0.0, end - time.monotonic())))
        memory.append(server.memory())
        took, told = seen.took[told:], len(seen.took)
        pace = f"median {statistics.median(took):.2f} s, 95 % {tail(took):.2f} s" if len(took) > 1 else ""
        minute = (time.monotonic() - begun) / 60
        say(f"{minute:5.1f} min  {memory[-1]:4.0f} MB  {len(took):4} changes  {len(seen.errors)} errors  {pace}")
    return memory


def soak(minutes: float = SOAK_MINUTES) -> Iterator[tuple[str, str, str]]:
    """Memory of the last quarter beside that of the second: the first one fills the caches."""
    seen = AnswerHistogram()

    async def all_of_it(server: Server) -> list[float]:
        end = time.monotonic() + 60 * minutes
        people = [coming_and_going(server.port, k, end, seen) for k in range(VISITS)]
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        memory, *_ = await asyncio.gather(watch(server, end, seen, say), *people)
        return memory

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        memory = asyncio.run(all_of_it(server))
        time.sleep(REST)
        rest = server.memory()
    quarter = len(memory) // 4
    early, late = (statistics.mean(part) for part in (memory[quarter : 2 * quarter], memory[-quarter:]))
    told = f"(MB: {early:.0f}, {late:.0f}; {rest:.0f} a minute after the end, most {max(memory):.0f})"
    yield "memory of the last quarter", f"{late / early:.2f} x that of the second {told}", "<= 1.1"
    told = f"({'; '.join(dict.fromkeys(seen.errors))[:300] or 'none'})"
    yield "errors", f"{len(seen.errors)} x one in {len(seen.took):,} changes {told}", "<= 0"
