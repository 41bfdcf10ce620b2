"""Visitors without a browser: they speak Streamlit's websocket protocol to a server on this machine.

A browser costs more than the server it looks at, so twenty of them on one machine measure browsers. A `Visitor` sends
and receives what a browser would (messages seen lately are referred to, the address follows the page) and times every
change of the page's privacy slider: from sending it to the end of the run that drew it. A change that is overtaken
by the next one, because the server was still busy with it, is over when a picture that is newer ends. A part of a page
that repeats while something is computed is asked for again and again, as by a browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.patience import patient

PATIENCE = 60.0  # seconds, on a quiet machine, for a page to come, or for the last change to be drawn
REMEMBERED = 2  # runs for which a browser keeps a message it has seen: Streamlit's global.maxCachedMessageAge
LEVERS = ("Rho", "Epsilon")
PICTURE = 'class="pc-still"'  # Home draws plain images


@dataclass
class AnswerHistogram:
    """What a visitor met. took: seconds per change; pictures: changes whose run drew at least one."""

    took: list[float] = field(default_factory=list)
    at: list[float] = field(default_factory=list)  # time.monotonic() when each change was over
    errors: list[str] = field(default_factory=list)
    pictures: int = 0
    overtaken: int = 0
    received: int = 0  # bytes

    def add(self, other: AnswerHistogram) -> None:
        for name in ("took", "at", "errors"):
            getattr(self, name).extend(getattr(other, name))
        for name in ("pictures", "overtaken", "received"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Visitor:
    """One visit, from its connection to its end: ``async with Visitor(port) as visitor``."""

    def __init__(self, port: int) -> None:
        self.seen = AnswerHistogram()
        self.query = ""
        self.progress: float | None = None  # of a long job, 0 to 1, as last shown
        self._address = f"ws://127.0.0.1:{port}/_stcore/stream"
        self._origin = f"http://127.0.0.1:{port}"
        self._page = ""
        self._hash = ""
        self._cache: dict[str, tuple[int, ForwardMsg]] = {}  # by hash: the run it was last seen in, the message
        self._runs = 0
        self._running = False  # from a request until the run that answers it has ended
        self._buttons: dict[str, str] = {}  # label: id, of every button the page has shown
        self._lever = None  # the page's privacy slider as it was last sent
        self._shown = ""  # its value in the run under way
        self._drawn = 0  # pictures of the run under way
        self._pending: list[tuple[float, str]] = []
        self._ended = asyncio.Event()
        self._repeating: dict[str, tuple[float, asyncio.Task]] = {}  # by fragment: its interval, what asks for it

    async def __aenter__(self) -> Visitor:
        # No pings of its own: a browser sends none, and the server's are answered.
        told = {"origin": self._origin, "subprotocols": ["streamlit"], "proxy": None}
        limits = {"max_size": None, "open_timeout": patient(PATIENCE), "close_timeout": 5}
        self._socket = await connect(self._address, **told, **limits, ping_interval=None)
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_) -> None:
        self._reader.cancel()
        self._still()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._socket.close()

    async def open(self, page: str, query: str = "") -> None:
        """Go to a page by its name in the address ("" for Home) and wait until it is drawn."""
        self._page, self._hash, self.query = page, "", query
        self._lever, self._pending, self._buttons = None, [], {}
        self._still()
        await self._send()
        await self._wait(lambda: True)

    def values(self) -> list[str]:
        """Everything the page's privacy slider can be set to, in order."""
        if self._lever is None:
            raise LookupError(f"{self._page or 'Home'} has no slider named {' or '.join(LEVERS)}")
        return list(self._lever.options)

    def value(self) -> str:
        return self.values()[int(self._lever.default[0])]

    @property
    def closed(self) -> bool:
        """Whether the connection has ended."""
        return self._reader.done()

    async def press(self, value: str) -> None:
        """Set the slider, and do not wait."""
        self._pending.append((time.monotonic(), value))
        await self._send(value)

    async def click(self, label: str) -> None:
        """Press a button that the page has shown, and wait until the run that follows has ended."""
        await self._send(button=self._buttons[label])
        await self._wait(lambda: True)

    async def clear_cache(self) -> None:
        """Empty Streamlit's caches, as any visitor can, and begin the open page anew."""
        await self._socket.send(BackMsg(clear_cache=True).SerializeToString())
        await self._send()
        await self._wait(lambda: True)

    async def done(self) -> None:
        """Wait until the last change is drawn."""
        await self._wait(lambda: not self._pending)

    async def _wait(self, enough) -> None:
        longest = patient(PATIENCE)
        end = time.monotonic() + longest
        while self._runs == 0 or self._running or not enough():
            if self.closed:
                return
            self._ended.clear()
            try:
                await asyncio.wait_for(self._ended.wait(), max(0.0, end - time.monotonic()))
            except TimeoutError:
                self.seen.errors.append(f"{self._page or 'Home'}: nothing ended within {longest:.0f} s")
                return

    def _still(self) -> None:
        """No part of the page repeats any more."""
        for _, task in self._repeating.values():
            task.cancel()
        self._repeating = {}

    async def _repeat(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._send(fragment=fragment)

    async def _send(self, value: str | None = None, button: str = "", fragment: str = "") -> None:
        """``fragment`` is a part of the page that runs alone because it repeats."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self._hash
        state.page_name = "" if self._hash else self._page
        state.cached_message_hashes.extend(self._cache)
        state.context_info.url = f"{self._origin}/{self._page}"
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.color_scheme = "light"
        if value is not None:
            widget = state.widget_states.widgets.add()
            widget.id = self._lever.id
            widget.string_array_value.data.append(value)
        if button:
            state.widget_states.widgets.add(id=button, trigger_value=True)
        if fragment:
            state.fragment_id, state.is_auto_rerun = fragment, True
        else:
            self._running = True
        with contextlib.suppress(ConnectionClosed):  # whoever reads has noted it down
            await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                self.seen.received += len(data)
                self._take(ForwardMsg.FromString(data))
        except ConnectionClosed as closed:
            self.seen.errors.append(f"the server closed the connection: {closed}")
        finally:
            self._ended.set()

    def _take(self, message: ForwardMsg) -> None:
        if message.ref_hash:
            if message.ref_hash not in self._cache:
                self.seen.errors.append("the server refers to a message that this visitor no longer has")
                return
            message = self._cache[message.ref_hash][1]
        if message.metadata.cacheable:
            self._cache[message.hash] = (self._runs, message)
        kind = message.WhichOneof("type")
        if kind == "new_session" and message.metadata.run.fragment_ids:
            self._shown = ""  # it draws no slider
        elif kind == "new_session":
            self._hash = message.new_session.page_script_hash
            self._runs += 1
            self._shown, self._drawn = "", 0
            self._still()
        elif kind == "auto_rerun":
            self._repeats(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                if kept := self._repeating.pop(fragment, None):
                    kept[1].cancel()
        elif kind == "navigation":  # which of the pages that is; the run began under the front door's name
            self._hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            self.seen.errors.append(f"no page {self._page!r}")
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._look(message.delta.new_element)
        elif kind == "script_finished":
            self._finish(message.script_finished)

    def _repeats(self, fragment: str, interval: float) -> None:
        before, task = self._repeating.get(fragment, (None, None))
        if before == interval:
            return
        if task is not None:
            task.cancel()
        self._repeating[fragment] = interval, asyncio.create_task(self._repeat(fragment, interval))

    def _look(self, element) -> None:
        kind = element.WhichOneof("type")
        if kind == "slider" and element.slider.label in LEVERS:
            self._lever = element.slider
            self._shown = self.value()
        elif kind == "plotly_chart" or (kind == "html" and PICTURE in element.html.body):
            self._drawn += 1
        elif kind == "button":
            self._buttons[element.button.label] = element.button.id
        elif kind == "progress":
            self.progress = element.progress.value / 100
        elif kind == "exception" or (kind == "alert" and element.alert.format == Alert.ERROR):
            body = element.exception.message if kind == "exception" else element.alert.body
            self.seen.errors.append(f"{self._page or 'Home'}?{self.query}: {kind}: {body[:200]}")

    def _finish(self, status: int) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.seen.errors.append(f"{self._page or 'Home'} does not compile")
        if status in (ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY):
            return  # the run that overtook it follows; and a part that repeats answers no change
        now = time.monotonic()
        asked = [value for _, value in self._pending]
        if self._shown in asked:
            last = len(asked) - asked[::-1].index(self._shown)
            self.seen.took += [now - sent for sent, _ in self._pending[:last]]
            self.seen.at += [now] * last
            self.seen.overtaken += last - 1
            self.seen.pictures += self._drawn > 0
            del self._pending[:last]
        self._cache = {h: kept for h, kept in self._cache.items() if self._runs - kept[0] <= REMEMBERED}
        self._running = bool(self._pending)
        self._ended.set()


async def changing(
    port: int, page: str, query: str, changes: int, draw: random.Random, *, pause: Callable[[], float] = lambda: 1.0
) -> AnswerHistogram:
    """One visit that moves the page's privacy slider a little, again and again, whether or not the page keeps up."""
    async with Visitor(port) as visitor:
        await visitor.open(page, query)
        await wander(visitor, changes, draw, pause)
        return visitor.seen


async def wander(visitor: Visitor, changes: int, draw: random.Random, pause: Callable[[], float]) -> None:
    """Move the open page's slider to one of the nearest other values, and pause between."""
    try:
        values = visitor.values()
    except LookupError as missing:
        visitor.seen.errors.append(f"{missing}; the connection is {'closed' if visitor.closed else 'open'}")
        return
    at = values.index(visitor.value())
    await asyncio.sleep(draw.random() * pause())  # visitors are not in step
    due = time.monotonic()
    for _ in range(changes):
        near = [k for k in range(at - 2, at + 3) if 0 <= k < len(values) and k != at]
        at = draw.choice(near)
        await visitor.press(values[at])
        due += pause()
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if visitor.closed:
            return
    await visitor.done()


def run(visit: Coroutine):
    """What it returns; in a thread of its own, because a browser test leaves an event loop in this one."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, visit).result()


def together(visits: Iterable[Coroutine]) -> AnswerHistogram:
    """All visits at once; what they met, in one."""

    async def all_of_them() -> list[AnswerHistogram]:
        return await asyncio.gather(*visits)

    found = AnswerHistogram()
    for seen in run(all_of_them()):
        found.add(seen)
    return found
