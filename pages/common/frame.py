"""First call of every page: page settings, the grouped menu, the palette, and the one current study."""

from __future__ import annotations

import base64
import dataclasses
import importlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from pages.common import memory, owner_token
from pages.common.fair_queue import FairQueue
from pages.common.show import as_text
from pages.common.study import CSV, Study, from_query, means_study, opening, study_query
from pages.common.style import STYLE
from privcov.plots.palette import DARK, LIGHT, Palette

ROOT = Path(__file__).resolve().parents[2]
# Embedded: a file that Streamlit serves is missing for a moment whenever a page runs again.
ICON = "data:image/png;base64," + base64.b64encode((ROOT / "pages" / "common" / "icon.png").read_bytes()).decode()
LOAD_AHEAD_AFTER = 4.0  # seconds after the first page begins, so that the page itself comes first
ON_THE_WAY = 0.4  # seconds that a new address may take to the browser
LATER = ("pandas", "privcov.steward.expect")  # not needed for the first picture
HOME = "Home"  # makes no plotly figure: the browser need not load its script before the first picture
_HANDS = st.components.v2.component(
    "privcov_hands", html="", js=(ROOT / "pages" / "common" / "hands.js").read_text(), isolate_styles=False
)


class MenuEntry(NamedTuple):
    """A page in the menu: its file, its name, and its line in the list on Home."""

    file: str
    label: str
    about: str = ""


# A work of reference, below the menu.
WORDS = MenuEntry("pages/10_Words.py", "Words", "What each term means, and what it does not.")

# (group, pages): the menu, in order. A page that is not listed here cannot be reached.
MENU = [
    ("", [MenuEntry("app.py", HOME)]),
    (
        "Explore",
        [
            MenuEntry(
                "pages/1_Estimate.py",
                "Estimate",
                "One data set, method and guarantee: matrices, error, what was spent.",
            ),
            MenuEntry("pages/2_Trade_offs.py", "Trade-offs", "Error against epsilon, n or d; which epsilon is needed."),
            MenuEntry(
                "pages/3_Graph_recovery.py", "Graph recovery", "Which links survive the noise, and which come from it."
            ),
            MenuEntry("pages/4_Spectra.py", "Spectra", "What noise does to eigenvalues; free repairs."),
        ],
    ),
    (
        "Release",
        [MenuEntry("pages/5_Your_data.py", "Your data", "A confidential CSV: declare, plan, release once, take home.")],
    ),
    (
        "Learn",
        [
            MenuEntry(
                "pages/6_Lessons.py",
                "Lessons",
                "One control, one question a screen; then a game against the best attacker.",
            ),
            MenuEntry("pages/7_Methods.py", "Methods", "Every method on a card."),
            MenuEntry(
                "pages/8_Published_results.py", "Published results", "The papers' tables and figures beside ours."
            ),
            MenuEntry(
                "pages/9_Privacy_audit.py", "Privacy audit", "Every privacy claim checked; broken mechanisms fail live."
            ),
            WORDS,
        ],
    ),
]


# A value that exists once per process is a module variable: any visitor can empty a cache.
_QUEUE = FairQueue()
_first = threading.Lock()
_ready = threading.Event()


def _set_up_once() -> None:
    """Set up the process once; wait where another page is doing so."""
    with _first:
        if not _ready.is_set():
            _set_up()
            _ready.set()


def _set_up() -> None:
    """Set up the process: the threads of BLAS, and what is loaded after the first page."""
    from threadpoolctl import threadpool_limits

    # BLAS gets one thread, also where it is loaded later: at the sizes of a page a second one gains little, and on a
    # busy machine threads that wait for each other cost ten times the work.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # In a thread of its own: `threadpoolctl` keeps the thread for good, and a page's would keep its visitor's rows.
    limiting = threading.Thread(target=threadpool_limits, args=(1, "blas"))
    limiting.start()
    limiting.join()
    timer = threading.Timer(LOAD_AHEAD_AFTER, _load_ahead)
    timer.daemon = True
    timer.start()
    owner_token.announce()


def _load_ahead() -> None:
    """Load the libraries of other pages and the graphical lasso's compiler after the first page, so no click waits."""
    for library in LATER:
        importlib.import_module(library)
    from privcov.postprocess.glasso import warm_up

    warm_up()


def page(title: str, keeps: tuple[str, ...] = ()) -> Study:
    """Set up the page and return the current study; called first, with the settings it ``keeps`` in its address."""
    begun = time.monotonic()
    memory.CELL_BUDGET.leave()
    # Before anything is sent to the browser. A run that was overtaken while it waited ends where it reads the session.
    _QUEUE.take(st.session_state.setdefault("visit", uuid.uuid4().hex), lambda: "visit" in st.session_state)
    st.set_page_config(page_title=f"{title} - PrivCov", page_icon=ICON, layout="wide")
    _set_up_once()
    if title != HOME:  # plotly looks for a loaded pandas and would take one that another thread is still loading
        importlib.import_module("pandas")
    st.html(STYLE)
    _HANDS(key="hands")
    # A widget on another page is a new widget, even under the same key: its value has to be set again.
    before = st.session_state.get("page")
    st.session_state["fresh_page"] = before != title
    st.session_state["within"] = before is not None and before != title
    if before and st.session_state.get("study") == opening(before):
        st.session_state["study"] = opening(title)
    st.session_state["page"] = title
    st.session_state["page_keeps"] = keeps
    _follow_address(keeps, begun)
    with st.sidebar, st.container(key="menu"):
        _menu()
    notices = st.container(key="notices")
    for sentence in st.session_state["link_problems"]:
        notices.warning(as_text(sentence))
    st.session_state["problem_place"] = notices  # for sentences of widgets further down about the address
    return st.session_state["study"]


def palette() -> Palette:
    """Return the colours of the visitor's theme."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def change(make: Callable[[Study], Study]) -> None:
    """Replace the current study; for widget callbacks, which run before the page does."""
    st.session_state["study"] = make(st.session_state["study"])
    st.session_state["study_changed"] = True


def changed() -> bool:
    """Return whether the study changed since the page last ran as a whole; for fragments, which run alone."""
    return st.session_state.get("study_changed", False)


def page_setting(name: str, default: str = "") -> str:
    """Return a setting of this page alone as its address has it: text from outside, to be checked by the page."""
    return _page_settings().get(name) or default


def set_query(**settings: str) -> None:
    """Change settings of this page alone, for widget callbacks; an empty text removes one from the address."""
    _page_settings().update(settings)
    st.session_state["study_changed"] = True


def note_query(**settings: str) -> None:
    """Change settings as `set_query` does, in a run or a fragment. Write the address at once, and run nothing again."""
    _page_settings().update(settings)
    if "study" in st.session_state:
        _write_address()


def leave_out(name: str, why: str) -> None:
    """Forget a setting that makes no sense on this page, with a sentence where a link brought it."""
    text = page_setting(name)
    note_query(**{name: ""})
    if name in st.session_state.get("unchecked", ()):
        st.session_state["unchecked"].discard(name)
        sentence = f"The link's {name}={text[:40]!r} was left out. {why}"
        st.session_state["link_problems"].append(sentence)  # also for runs that nobody's hand begins
        st.session_state["problem_place"].warning(as_text(sentence))


def _page_settings() -> dict[str, str]:
    return st.session_state.setdefault("page_own", {}).setdefault(st.session_state.get("page", ""), {})


def _write_address() -> None:
    """Write the study and the settings of the page into the address.

    It writes even an address that the browser has, if another was written before. The browser may still receive that
    other one.
    """
    settings_now = _page_settings()
    page_settings = {name: settings_now[name] for name in st.session_state["page_keeps"] if settings_now.get(name)}
    state, now = st.session_state, time.monotonic()
    query = study_query(state["study"], state["page"]) | page_settings
    there = dict(st.query_params.items())
    former = query if state["fresh_page"] else state.get("address", query)
    replaced = {frozenset(old.items()): now for old in (there, state.get("address", there)) if old != query}
    state["replaced"] = {old: when for old, when in state.get("replaced", {}).items() if now - when < 5} | replaced
    state["address"] = query  # first, because a run can end where it sends something to the browser
    if there != query or former != query:
        st.query_params.from_dict(query)


def _is_stale(query: dict[str, str], begun: float) -> bool:
    """Return whether the browser has an address that was replaced a moment ago: the new one has not reached it yet.

    Following the old address would undo the last change. ``begun`` is when this run began, before it waited in the
    queue.
    """
    return begun - st.session_state.get("replaced", {}).get(frozenset(query.items()), -ON_THE_WAY) < ON_THE_WAY


def file_of(label: str) -> str:
    """Return the file of a page by its name in the menu."""
    return next(entry.file for _, entries in MENU for entry in entries if entry.label == label)


def _follow_address(keeps: tuple[str, ...], begun: float) -> None:
    """Keep study and address the same; the address wins when it changed and no control did (link, back button)."""
    state = st.session_state
    settings_now = _page_settings()
    query = {k: v for k, v in st.query_params.items() if isinstance(v, str)}
    touched = changed()
    arrived = query != state.get("address") and not touched and not _is_stale(query, begun)
    if touched or state["fresh_page"]:
        state["link_problems"] = []
    if "study" not in state or arrived:
        before = state.get("study")
        page = state["page"]
        state["study"], problems = from_query(query) if means_study(query) else (opening(page), [])
        if "source" not in query and before is not None and before.source == CSV:
            # A link cannot name an upload, so one that names no source leaves the visitor's own table in place.
            state["study"] = dataclasses.replace(state["study"], source=CSV, data=(), bound=before.bound)
        state["link_problems"] = problems
        settings = {name: query[name] for name in keeps if name in query}
        if settings or not state["fresh_page"]:  # a link from the menu has no settings: the page stays as it was left
            settings_now.clear()
            settings_now |= settings
            state["unchecked"] = set(settings)
    _write_address()
    if arrived:
        state["replaced"] = {}
    state["study_changed"] = False  # last, because the next run must do it where this one is overtaken


def _menu() -> None:
    st.html('<div class="pc-name">PrivCov</div>')  # no heading: that of the page is the first
    for group, entries in MENU:
        if group:
            st.html(f'<div class="pc-group">{group}</div>')
        for entry in entries:
            if entry is not WORDS:
                link(entry.file, entry.label)
    st.divider()
    link(WORDS.file, WORDS.label)


def link(file: str, label: str, study: Study | None = None, own: Mapping[str, str] | None = None, **look: Any) -> None:
    """Show a link to a page with a study, the current one unless given, and settings of that page alone."""
    st.page_link(file, label=label, query_params=query_for(file, study, own or {}), **look)


def query_for(file: str, study: Study | None, own: Mapping[str, str]) -> dict[str, str]:
    """Return the address of a page, by its file, with a study, None for the current one, and settings of that page.

    A visitor who has changed nothing yet meets each page with its own opening.
    """
    page = next(entry.label for _, entries in MENU for entry in entries if entry.file == file)
    state = st.session_state
    if study is None:
        study = opening(page) if state["study"] == opening(state["page"]) else state["study"]
    return study_query(study, page) | dict(own)
