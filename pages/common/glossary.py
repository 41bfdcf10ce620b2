"""The glossary: links to it from every page, and what the page Words shows. Its text is data/glossary.json."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field

import streamlit as st

from pages.common import frame
from privcov.core import paths
from privcov.estimators.base import METHODS

FILE = paths.shipped() / "glossary.json"
ADDRESS = "Words?word="  # relative, so it holds behind any prefix a server adds


@dataclass(frozen=True)
class Word:
    """One entry of the glossary: its meaning, what it is mistaken for, where to see it, and its other names."""

    key: str
    term: str
    group: str
    means: str
    is_not: str
    page: str
    also: tuple[str, ...] = ()
    own: dict[str, str] = field(default_factory=dict)

    def fits(self, text: str) -> bool:
        """Return whether a search matches the entry, by any of its names or by its text."""
        return text.lower() in " ".join((self.term, *self.also, self.means, self.is_not)).lower()


@functools.cache
def words() -> dict[str, Word]:
    """Return every entry by its key, in the order of the file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {e["key"]: Word(**{**e, "also": tuple(e["also"])}) for e in entries}


def term(key: str, text: str = "") -> str:
    """Return a term as a markdown link to its entry, opened beside the page; raise KeyError where there is none."""
    return f"[{text or words()[key].term.lower()}]({ADDRESS}{words()[key].key})"


def when_not(key: str) -> None:
    """Show when not to use a method, wherever one is chosen."""
    st.caption(f"**When not to use it.** {METHODS.get(key).avoid}")


def section(key: str) -> None:
    """Show the entry that was asked for, by unchecked text from the address, then all of them by group."""
    entry = words().get(key)
    if entry is not None:
        with st.container(border=True, key="word-asked"):
            _entry(entry, "##")
    search = st.text_input(
        "Find a word", key="words-find", placeholder="epsilon, lambda, ledger ...", label_visibility="collapsed"
    )
    entries = [w for w in words().values() if w.fits(search.strip())]
    if not entries:
        st.info("No entry holds this: try another word, or empty the box.")
    for group in dict.fromkeys(w.group for w in entries):
        inside = [w for w in entries if w.group == group]
        with st.expander(f"**{group}** ({len(inside)})", expanded=bool(search.strip())):
            for start in range(0, len(inside), 2):
                for place, word in zip(st.columns(2, gap="large"), inside[start : start + 2], strict=False):
                    with place:
                        _entry(word, "###")


def _entry(word: Word, heading: str) -> None:
    names = f" :gray[also: {', '.join(word.also)}]" if word.also else ""
    st.markdown(f"{heading} {word.term}\n\n{word.means}{names}\n\n**What it is not.** {word.is_not}")
    frame.link(frame.file_of(word.page), f"See it on {word.page}", own=word.own)
