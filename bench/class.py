"""A class at the workbench: what one change costs the server, and thirty visits that change something.

cpu    one visit of each page of Explore moves its privacy slider. Processor time of the server and of what it starts,
       per change, until nothing moves any more. Every value is new to the visit, so no result of an earlier change
       serves a later one.
class  thirty visits, a quarter on each page, for a minute, each with a change every four seconds; first with a seed of
       their own, so that no result of one serves another, then all on the study that the pages open with. About four
       minutes.

Processor time is much the same on a busy machine; what a class waits is not, so those rows say what this process, which
plays the class, took of the two cores.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.load import tail
from tests.load import AnswerHistogram, Visitor, changing, run, together
from tests.serving import Server, serving

# Page, and the milliseconds of processor time that one change may cost.
LIMITS = {"Estimate": 60, "Spectra": 60, "Trade_offs": 200, "Graph_recovery": 150}
CHANGES = 12
STILL = 2.5  # seconds after a change until it costs nothing any more
LOADED = 8.0  # seconds after the first page until the libraries of the others are loaded
VISITS, EVERY, MINUTE = 30, 4.0, 15  # changes of each visit
MEDIAN, LONGEST = 0.3, 1.0  # seconds


def taken(server: Server) -> float:
    """Processor seconds of the server and of every process it started, alive or not."""
    import psutil

    process = psutil.Process(server.process.pid)
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def told(page: str) -> str:
    return page.replace("_", " ").replace("Trade offs", "Trade-offs")


async def _fresh(server: Server, page: str, changes: int) -> tuple[list[float], list[str]]:
    """Processor seconds of each change, and what went wrong; every value of the slider at most once."""
    costs = []
    async with Visitor(server.port) as visitor:
        await visitor.open(page, "kind=zcdp&seed=7")
        values, draw = visitor.values(), random.Random(7)
        at = values.index(visitor.value())
        near = [value for k, value in enumerate(values) if k != at and abs(k - at) <= changes]
        for k, value in enumerate(draw.sample(near, changes + 2)):
            before = taken(server)
            await visitor.press(value)
            await visitor.done()
            await asyncio.sleep(STILL)
            if k >= 2:  # the first two load what the page needs
                costs.append(taken(server) - before)
        return costs, visitor.seen.errors


def cpu() -> Iterator[tuple[str, Callable[[], str], str]]:
    """One change of each page, of a server that has drawn every page before."""
    with contextlib.ExitStack() as stack:
        found: list[Server] = []

        def server() -> Server:
            if not found:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                found.append(stack.enter_context(serving(Path(folder))))
                for page in LIMITS:
                    together([changing(found[0].port, page, "kind=zcdp&seed=3", 2, random.Random(3))])
                time.sleep(LOADED)
            return found[0]

        def measured(page: str, limit: int) -> str:
            costs, errors = run(_fresh(server(), page, CHANGES))
            if errors:
                raise RuntimeError(f"{told(page)}: {errors[0]}")
            cost = 1000 * statistics.mean(costs)
            most = 1000 * max(costs)
            return f"{cost / limit:.2f} x {limit} ms ({cost:.0f} ms of processor time on average; at most {most:.0f})"

        for page, limit in LIMITS.items():
            yield f"one change of {told(page)}", lambda p=page, k=limit: measured(p, k), "<= 1"


def _pupils(server: Server, seeds: Callable[[int], str], first: int) -> AnswerHistogram:
    """Thirty visits at once, a quarter on each page."""
    pages = list(LIMITS)
    return together(
        changing(server.port, pages[k % len(pages)], seeds(k), MINUTE, random.Random(first + k), pause=lambda: EVERY)
        for k in range(VISITS)
    )


def classroom() -> Iterator[tuple[str, str, str]]:
    """Thirty visits of a server that is warm: seeds of their own, then the study that the pages open with."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        for page in LIMITS:
            together([changing(server.port, page, "kind=zcdp&seed=3", 2, random.Random(3))])
        time.sleep(LOADED)
        for name, seeds, first in (
            ("30 visits", lambda k: f"kind=zcdp&seed={5000 + k}", 1),
            ("30 visits of one study", lambda k: "", 2),
        ):
            before, mine, begun = taken(server), time.process_time(), time.monotonic()
            seen = _pupils(server, seeds, first)
            passed = time.monotonic() - begun
            servers, mine = taken(server) - before, time.process_time() - mine
            load = f"machine's load {os.getloadavg()[0]:.1f}"
            median, last = statistics.median(seen.took), tail(seen.took)
            details = f"({1000 * median:.0f} ms; {load})"
            yield f"{name}: median of a change", f"{median / MEDIAN:.2f} x 300 ms {details}", "<= 1"
            yield f"{name}: 95th percentile", f"{last / LONGEST:.2f} x 1 s ({1000 * last:.0f} ms; {load})", "<= 1"
            lost = VISITS * MINUTE - len(seen.took)
            wrong = "; ".join(dict.fromkeys(seen.errors))[:200] or "none"
            yield (
                f"{name}: errors and changes never drawn",
                f"{lost + len(seen.errors)} x one of {VISITS * MINUTE} changes (errors: {wrong})",
                "<= 0",
            )
            yield (
                f"{name}: the server's processor time",
                f"{servers / passed:.2f} x one core ({1000 * servers / len(seen.took):.0f} ms a change)",
                "",
            )
            yield f"{name}: this process's own", f"{mine / passed:.2f} x one core", ""
