"""A widget whose value is kept in the page's address, in one line; and an address for whatever a page shows.

Its name is among the ``keeps`` of `frame.page`. Text in an address comes from outside: what is not a value of the
widget is left out, with a sentence where a link brought it. Nothing of a file ever becomes such a text: options are
those of the program, and numbers and search words are the visitor's own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.common import frame
from pages.common.fields import default_args
from pages.common.study import number_in

NONE = "none"  # an empty list, where the default has entries
_LONGEST = 1_000  # letters of a text box


@dataclass(frozen=True)
class Code:
    """The translation between a widget's value and its text in the address; ``read`` may raise ValueError."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]


def word(option: object) -> str:
    """Return an option as its text in an address: numbers in full, words without what would have to be quoted."""
    if isinstance(option, float):
        return repr(int(option)) if option == int(option) and abs(option) < 1e15 else repr(option)
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", str(option)).strip("-").lower()


def one_of(options: Sequence) -> Code:
    """Return the code of one option."""
    by_word: dict[str, object] = {}
    for place, option in enumerate(options):  # two options that differ only in what a word leaves out get numbers
        by_word[word(option) if word(option) not in by_word else f"{word(option)}.{place}"] = option

    def read(text: str) -> object:
        if text not in by_word:
            words = list(by_word) if len(by_word) <= 12 else [*list(by_word)[:12], "..."]
            raise ValueError(f"Here it is one of {', '.join(words)}.")
        return by_word[text]

    return Code(read, lambda value: next(text for text, option in by_word.items() if _same(option, value)))


def several_of(options: Sequence) -> Code:
    """Return the code of a list of options."""
    one = one_of(options)

    def read(text: str) -> list:
        return [] if text == NONE else list(map(one.read, text.split(",")))

    return Code(read, lambda values: ",".join(map(one.write, values)) or NONE)


def number(low: float, high: float, *, whole: bool) -> Code:
    """Return the code of a number in [low, high], or of a whole number."""
    return Code(lambda text: number_in(text, low, high, whole=whole), lambda value: word(float(value)))


def switch() -> Code:
    """Return the code of yes or no."""

    def read(text: str) -> bool:
        if text not in ("yes", "no"):
            raise ValueError("It is yes or no.")
        return text == "yes"

    return Code(read, lambda value: "yes" if value else "no")


def free_text() -> Code:
    """Return the code of free text."""

    def read(text: str) -> str:
        if len(text) > _LONGEST:
            raise ValueError(f"It has {len(text):,} letters; {_LONGEST:,} is the limit.")
        return text

    return Code(read, str)


def code_of(kind: str, args: tuple, default: object, more: dict) -> Code:
    """Return the code of a Streamlit widget, from its name, its arguments and the type of its default."""
    if kind in ("toggle", "checkbox"):
        return switch()
    if kind in ("number_input", "slider"):
        return number(*args[:2], whole=isinstance(default, int))
    if kind == "text_input":
        return free_text()
    if kind == "multiselect" or more.get("selection_mode") == "multi":
        return several_of(args[0])
    return one_of(args[0])


def bind_widget(
    make: Callable,
    label: str,
    *args: object,
    name: str,
    default: object,
    key: str = "",
    code: Code | None = None,
    clears: Sequence[str] = (),
    quiet: bool = False,
    **more: Any,
) -> Any:
    """Show ``make(label, *args, **more)`` at the value that the address has under ``name``; return its value.

    ``default`` is shown where the address has no value; then the address stays without one.
    ``clears`` names settings that lose their meaning when this one changes. ``quiet`` is for fragments: the page does
    not run again.
    """
    key = key or f"own.{name}"
    if "page_keeps" in st.session_state and name not in st.session_state["page_keeps"]:
        raise KeyError(f"{name} is not among the settings that this page keeps in its address.")
    code = code or code_of(make.__name__, args, default, more)
    current = settle(name, key, code, default)
    more |= default_args(make.__name__, args, current)

    def on_change() -> None:
        choice = st.session_state[key]
        # The browser may send the words of an option from before these changed: `settle` shows the present one again.
        with contextlib.suppress(StopIteration):
            text = "" if choice is None or _same(choice, default) else code.write(choice)
            (frame.note_query if quiet else frame.set_query)(**{name: text}, **dict.fromkeys(clears, ""))

    value = make(label, *args, key=key, on_change=on_change, **more)
    return current if value is None else value


def settle(name: str, key: str, code: Code, default: Any) -> Any:
    """Return what a widget shows in this run, also out of sight: what the address says, or what the program set."""
    state, text, value = st.session_state, frame.page_setting(name), default
    if text:
        try:
            value = code.read(text)
        except ValueError as problem:
            frame.leave_out(name, str(problem))
            text = ""
    state.get("unchecked", set()).discard(name)
    last_text, last_value = state.setdefault("own.seen", {}).get(key, (text, None))
    if key in state and last_text == text and not _same(state[key], last_value):
        try:
            written_text = code.write(state[key])
            value = code.read(written_text)
            text = "" if _same(value, default) else written_text
            frame.note_query(**{name: text})
        except (ValueError, TypeError, StopIteration):
            state[key] = value  # what it had is no value of this widget: an emptied choice, or other options
    elif state.get("fresh_page", True) or key not in state or not _same(state[key], value):
        state[key] = value
    state["own.seen"][key] = (text, value)
    return value


def _same(one: object, other: object) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return list(one) == list(other)
    return (type(one) is type(other) and one == other) or (_number(one) and _number(other) and one == other)


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def tabs(labels: Sequence[str], *, name: str, key: str) -> Sequence:
    """Return `st.tabs` whose open tab is kept in the address; the first is the default."""
    settle(name, key, one_of(labels), labels[0])

    def on_change() -> None:
        choice = st.session_state[key]
        frame.set_query(**{name: "" if choice in (None, labels[0]) else word(choice)})

    return st.tabs(list(labels), key=key, on_change=on_change)
