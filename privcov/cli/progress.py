"""The progress of a command: one line that is drawn again on a terminal, or lines for a log."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TextIO

_BAR = 24
_REDRAW_SECONDS = 0.1


@contextlib.contextmanager
def progress(show_rows: bool) -> Iterator[Bar]:
    """Yield what `from_files` calls while it reads; the line on a terminal is ended whatever happens."""
    bar = Bar(sys.stderr, show_rows)
    try:
        yield bar
    finally:
        bar.end()


class Bar:
    """Progress of a pass on a stream: one line that is drawn again on a terminal, else a line per tenth.

    ``show_rows`` is False where the number of rows is not public. Then only times are shown, and a log gets only the
    last one: the size of a block is known, so the share that is done after it would reveal the number of rows.
    ``label`` is printed first.
    """

    def __init__(self, stream: TextIO, show_rows: bool, label: str = "") -> None:
        self.stream, self.show_rows, self.label, self.terminal = stream, show_rows, label, stream.isatty()
        self.tenth, self.drawn, self.width = 0, 0.0, 0

    def __call__(self, rows: int, total: int, seconds: float) -> None:
        """Show that ``rows`` of ``total`` rows were read after so many seconds."""
        words = self.label + line(rows, total, seconds, self.show_rows)
        if self.terminal:
            if rows < total and time.monotonic() - self.drawn < _REDRAW_SECONDS:
                return
            done = round(_BAR * rows / total)
            text = f"[{'#' * done}{'.' * (_BAR - done)}] {words}" if self.show_rows else words
            print("\r" + text.ljust(self.width), end="", file=self.stream, flush=True)
            self.drawn, self.width = time.monotonic(), len(text)
        elif rows >= total if not self.show_rows else rows * 10 // total > self.tenth:
            self.tenth = rows * 10 // total
            print(words, file=self.stream, flush=True)

    def end(self) -> None:
        """End the line of the progress bar."""
        if self.width:
            print(file=self.stream, flush=True)


def line(rows: int, total: int, seconds: float, show_rows: bool) -> str:
    """Return share, rows, rows per second and time left, at the pace so far; without ``show_rows`` the time alone."""
    done = rows >= total
    if not show_rows:
        return "done in " + clock(seconds) if done else clock(seconds) + " so far"
    time_text = "done in " + clock(seconds) if done else clock(seconds * (total - rows) / rows) + " left"
    return f"{rows / total:4.0%}, {rows:,} of {total:,} rows, {rows / max(seconds, 1e-9):,.0f} rows/s, {time_text}"


def clock(seconds: float) -> str:
    """Return whole seconds, minutes and hours as people read them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def print_progress(done: int, total: int, rows: list[dict]) -> None:
    """Print how many cells are done, of all: one line on a terminal, else a line per tenth."""
    if sys.stderr.isatty():
        print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)
    elif done == total or done * 10 // total > (done - 1) * 10 // total:  # a log file gets a line per tenth
        print(f"{done}/{total}", file=sys.stderr)
