"""First call of every page: page settings, the grouped menu, the palette, and the one current study."""

from __future__ import annotations

import base64
import dataclasses
import gc
import importlib
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from pages.shell import export, owner_token, tour
from pages.shell.show import as_text
from pages.shell.study import CSV, Study, from_query, to_query
from pages.shell.style import STYLE
from pages.shell.turns import Turns
from privcov.engine import cores
from privcov.figures.palette import DARK, LIGHT, Palette

ROOT = Path(__file__).resolve().parents[2]
# In full: a file that Streamlit hands out is gone for a moment whenever a page runs again.
ICON = "data:image/png;base64," + base64.b64encode((ROOT / "pages" / "shell" / "icon.png").read_bytes()).decode()
PATIENCE = 4.0  # seconds after the first page begins: the page itself comes first
SWITCH = 0.0005  # seconds
ON_THE_WAY = 0.25  # seconds that a new address may take to the browser
LATER = ("pandas", "scipy.optimize", "privcov.sweeps.plan")  # not needed for the first picture
HOME = "Home"  # makes no plotly figure: the browser need not load its script before the first picture
A_LIBRARY = 50  # modules


class Entry(NamedTuple):
    """A page in the menu: its file, its name, and its line in the list on Home."""

    file: str
    label: str
    about: str = ""


# (group, pages): the menu, in order. A page that is not listed here has no way in.
MENU = [
    ("", [Entry("app.py", HOME)]),
    (
        "Explore",
        [
            Entry(
                "pages/1_Estimate.py",
                "Estimate",
                "One data set, one method, one guarantee: the matrices, the error, and a statement of what was spent.",
            ),
            Entry(
                "pages/2_Trade_offs.py",
                "Trade-offs",
                "Error against epsilon, n or d for several methods; which epsilon is needed; who wins where.",
            ),
            Entry(
                "pages/3_Graph_recovery.py",
                "Graph recovery",
                "Which links between columns survive the noise, and which are drawn from it.",
            ),
            Entry(
                "pages/4_Spectra.py",
                "Spectra",
                "What noise does to eigenvalues, and what can be repaired for free.",
            ),
        ],
    ),
    (
        "Release",
        [
            Entry(
                "pages/5_Your_data.py",
                "Your data",
                "A confidential CSV: declare, plan, release once, take everything home.",
            ),
        ],
    ),
    (
        "Learn",
        [
            Entry(
                "pages/6_Lessons.py",
                "Lessons",
                "One lever and one question per screen; at the end the class plays against the best attacker.",
            ),
            Entry(
                "pages/7_Methods.py",
                "Methods",
                "Every method on a card, guarantees converted and composed, and what every word means.",
            ),
            Entry(
                "pages/8_Published_results.py",
                "Published results",
                "The papers' tables and figures beside ours, and why they agree or not.",
            ),
            Entry(
                "pages/9_Privacy_audit.py",
                "Privacy audit",
                "Every privacy claim checked; broken mechanisms fail before your eyes.",
            ),
        ],
    ),
]


@st.cache_resource(show_spinner=False)
def _turns() -> Turns:
    """One queue for the whole server."""
    return Turns()


@st.cache_resource(show_spinner=False)
def _set_up() -> bool:
    """Once per process: how its threads share the machine, and what is loaded behind the first page."""
    from threadpoolctl import threadpool_limits

    # BLAS gets one thread, also where it is loaded later: at the sizes of a page a second one gains little, and on a
    # busy machine threads that wait for each other cost ten times the work.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    threadpool_limits(1, user_api="blas")
    # A thread that computes hands the interpreter over after half a millisecond, not after five. The thread that talks
    # to the browsers lets go of it at every message, a hundred a run; five milliseconds until it has it back, each
    # time, are what makes a busy server slow.
    sys.setswitchinterval(SWITCH)
    if type(st.runtime.get_instance()) is st.runtime.Runtime:  # the stand-in of `AppTest` only passes for an instance
        cores.tie()
    timer = threading.Timer(PATIENCE, _load_ahead)
    timer.daemon = True
    timer.start()
    owner_token.announce()
    return True


def _load_ahead() -> None:
    """Behind the first page: nobody's click waits for the libraries of the other pages or for the compiler of the
    graphical lasso."""
    for library in LATER:
        importlib.import_module(library)
    from privcov.postprocess.glasso import warm_up

    warm_up()


@st.cache_resource(show_spinner=False, max_entries=1)
def _freeze_imports(libraries: int) -> bool:
    """Put what is loaded out of the collector's sight, once more whenever libraries have come.

    Streamlit collects all generations after every run; walking the imported libraries each time costs far more
    than the page itself. What is alive now is never scanned again; new garbage still is. Nothing is collected first:
    Streamlit did that after the run before, and the first page has no time for it.
    """
    gc.freeze()
    return True


def page(title: str, keeps: tuple[str, ...] = ()) -> Study:
    """Set up the page and return the current study. Call it first.

    keeps: names of settings of this page alone (which lesson, which axis) that belong in its address; see `own`.
    """
    begun = time.monotonic()
    # Before the first word to the browser. A run that was overtaken while it waited ends where it looks at the session.
    _turns().take(st.session_state.setdefault("visit", uuid.uuid4().hex), lambda: "visit" in st.session_state)
    st.set_page_config(page_title=f"{title} - PrivCov", page_icon=ICON, layout="wide")
    _set_up()
    if title != HOME:  # plotly looks for a loaded pandas and would take one that another thread is still loading
        importlib.import_module("pandas")
    _freeze_imports(len(sys.modules) // A_LIBRARY)
    st.html(STYLE)
    # A widget on another page is a new widget, even under the same key: it has to be told the study again.
    st.session_state["fresh_page"] = st.session_state.get("page") != title
    st.session_state["page"] = title
    st.session_state["page_keeps"] = keeps
    _follow_address(keeps, begun)
    with st.sidebar:
        _menu()
        export.door(palette())
    tour.bar(st.session_state.get("path", ""), title, to_step, leave_path)
    notices = st.container(key="notices")
    for sentence in st.session_state.pop("link_problems", []):
        notices.warning(as_text(sentence))
    st.session_state["problem_place"] = notices  # for what a widget further down finds wrong in the address
    return st.session_state["study"]


def palette() -> Palette:
    """The colours of the visitor's theme."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def change(make: Callable[[Study], Study]) -> None:
    """Replace the current study; for widget callbacks, which run before the page does."""
    st.session_state["study"] = make(st.session_state["study"])
    st.session_state["study_changed"] = True


def changed() -> bool:
    """Whether the study changed since the page last ran as a whole: a fragment that runs alone has to ask."""
    return st.session_state.get("study_changed", False)


def own(name: str, default: str = "") -> str:
    """A setting of this page alone, as its address says it: text from outside, to be checked by the page."""
    return _mine().get(name) or default


def put(**settings: str) -> None:
    """Change settings of this page alone; for widget callbacks. An empty text takes the setting out of the address."""
    _mine().update(settings)
    st.session_state["study_changed"] = True


def note(**settings: str) -> None:
    """As `put`, but the address follows at once and nothing runs again: within a run, or in a fragment's callback."""
    _mine().update(settings)
    if "study" in st.session_state:
        _write_address()


def leave_out(name: str, why: str) -> None:
    """Forget a setting that makes no sense on this page; say so where it came in by a link."""
    text = own(name)
    note(**{name: ""})
    if name in st.session_state.get("unchecked", ()):
        st.session_state["unchecked"].discard(name)
        sentence = f"The link's {name}={text[:40]!r} was left out. {why}"
        st.session_state["problem_place"].warning(as_text(sentence))


def _mine() -> dict[str, str]:
    """Settings of this page alone, by name."""
    return st.session_state.setdefault("page_own", {}).setdefault(st.session_state.get("page", ""), {})


def _write_address(*, surely: bool = False) -> None:
    """surely: also where the server knows it already, because a link to the page it stands on leaves the browser's
    address behind."""
    mine = _mine()
    kept = {name: mine[name] for name in st.session_state["page_keeps"] if mine.get(name)}
    wanted = to_query(st.session_state["study"]) | kept | _walked()
    if surely or dict(st.query_params.items()) != wanted:
        st.query_params.from_dict(wanted)
        st.session_state["address_since"] = time.monotonic()
    st.session_state["address"] = wanted


def _unheard(query: dict[str, str], begun: float) -> bool:
    """Whether the browser says its last address again because ours is still on the way to it, as on a busy server:
    following that one would take the last change back. begun: when this run did, before it waited for its turn."""
    state = st.session_state
    before, state["told"] = state.get("told"), query
    return query == before and begun - state.get("address_since", -ON_THE_WAY) < ON_THE_WAY


def walk(word: str) -> None:
    """To a step of a two-minute path, for widget callbacks: the address follows, and does not win."""
    st.session_state["path"] = word
    st.session_state["study_changed"] = True


def leave_path() -> None:
    """End the two-minute path; for widget callbacks."""
    walk("")


def to_step(step: tour.Step, label: str, word: str) -> None:
    """A link to a step of the two-minute path. word: the path and the step, as the address has them."""
    link(file_of(step.page), label, step.study, {**step.own, tour.KEY: word})


def file_of(label: str) -> str:
    """The file of a page by its name in the menu."""
    return next(entry.file for _, entries in MENU for entry in entries if entry.label == label)


def _follow_address(keeps: tuple[str, ...], begun: float) -> None:
    """Keep study and address the same. The address wins when it changed and no control did (link, back button)."""
    state = st.session_state
    mine = _mine()
    query = {k: v for k, v in st.query_params.items() if isinstance(v, str)}
    touched = state.pop("study_changed", False)
    unheard = _unheard(query, begun)
    arrived = query != state.get("address") and not touched and not unheard
    if "study" not in state or arrived:
        before = state.get("study")
        state["study"], problems = from_query(query)
        if "source" not in query and before is not None and before.source == CSV:
            # A link cannot name an upload, so one that names no source leaves the visitor's own table in place.
            state["study"] = dataclasses.replace(state["study"], source=CSV, data=(), bound=before.bound)
        if problems:
            state["link_problems"] = problems
        state["path"] = query.get(tour.KEY, "") if tour.parse(query.get(tour.KEY, "")) else ""
        told = {name: query[name] for name in keeps if name in query}
        if told or not state["fresh_page"]:  # a link from the menu says nothing of it: the page stays as it was left
            mine.clear()
            mine |= told
            state["unchecked"] = set(told)
    _write_address(surely=arrived and not state["fresh_page"])


def _walked() -> dict[str, str]:
    """The two-minute path as part of an address; nothing where none is walked."""
    walked = st.session_state.get("path")
    return {tour.KEY: walked} if walked else {}


def _menu() -> None:
    st.markdown("### PrivCov")
    for group, entries in MENU:
        if group:
            st.html(f'<div class="pc-group">{group}</div>')
        for entry in entries:
            link(entry.file, entry.label)
    with st.container(key="menu-words"):
        link("pages/7_Methods.py", "Words", own={"word": "all"}, help="What every term here means, and what it is not")
    st.divider()


def link(file: str, label: str, study: Study | None = None, own: Mapping[str, str] | None = None, **look: Any) -> None:
    """A link to a page that carries a study (the current one unless given) and, with ``own``, settings of that page."""
    query = to_query(study or st.session_state["study"]) | _walked() | dict(own or {})
    st.page_link(file, label=label, query_params=query, **look)
