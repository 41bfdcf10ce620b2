"""First call of every page: page settings, the grouped menu, the palette, and the one current study."""

from __future__ import annotations

import dataclasses
import gc
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from pages.parts.show import as_text
from pages.parts.study import CSV, Study, from_query, to_query
from privcov.figures.look import DARK, LIGHT, Palette

ROOT = Path(__file__).resolve().parents[2]
ICON = ROOT / "pages" / "parts" / "icon.png"
PATIENCE = 1.0  # seconds after the first page begins: the page itself comes first

# (group, [(file, label)]): the menu, in order. A page that is not listed here has no way in.
MENU = [
    ("", [("app.py", "Home")]),
    (
        "Explore",
        [
            ("pages/1_Estimate.py", "Estimate"),
            ("pages/2_Trade_offs.py", "Trade-offs"),
            ("pages/3_Graph_recovery.py", "Graph recovery"),
            ("pages/4_Spectra.py", "Spectra"),
        ],
    ),
    ("Release", [("pages/5_Your_data.py", "Your data")]),
    (
        "Learn",
        [
            ("pages/7_Methods.py", "Methods"),
            ("pages/8_Published_results.py", "Published results"),
            ("pages/9_Privacy_audit.py", "Privacy audit"),
        ],
    ),
]

_STYLE = """
<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.2rem; padding-bottom: 3rem; max-width: 1680px;}
[data-testid="stSidebarHeader"] {height: 1.6rem; padding: 0;}
[data-testid="stSidebarUserContent"] {padding-top: .5rem;}
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] {gap: .55rem;}
[data-testid="stSidebarUserContent"] [data-testid="stPageLink"] a {padding-top: .1rem; padding-bottom: .1rem;}
[data-testid="stSidebarUserContent"] hr {margin: .6rem 0;}
/* A matrix is as high as it is wide, at every window width. */
.stElementContainer[class*="st-key-square-"] {aspect-ratio: 1; height: auto !important; flex: none; min-height: 0;}
[class*="st-key-square-"] :is([data-testid="stFullScreenFrame"], [data-testid="stPlotlyChart"]) {
  height: 100% !important; min-height: 0 !important;}
.pc-ends {display: flex; justify-content: space-between; font-size: .8rem; opacity: .75; margin-top: -.9rem;}
.pc-group {font-size: .72rem; letter-spacing: .09em; text-transform: uppercase; opacity: .7; margin: .5rem 0 0;}
.pc-tag {display: inline-block; font-size: .72rem; letter-spacing: .04em; padding: .05rem .45rem; border-radius: .6rem;
  border: 1px solid currentColor; opacity: .75; margin-right: .4rem;}
.pc-key {height: .7rem; border-radius: .2rem; border: 1px solid rgba(128,128,128,.35);}
.pc-keytext {display: flex; justify-content: space-between; font-size: .78rem; opacity: .8;}
.pc-meter {position: relative; height: .9rem; border-radius: .45rem; margin: .25rem 0 .1rem;}
.pc-meter > i {position: absolute; top: -.2rem; width: .28rem; height: 1.3rem; border-radius: .14rem;
  margin-left: -.14rem;}
[data-testid="stMetricLabel"] p {white-space: normal; line-height: 1.15;}
</style>
"""


@st.cache_resource(show_spinner=False)
def _freeze_imports() -> bool:
    """Once per process: load what every page needs, then put it out of the collector's sight.

    Streamlit collects all generations after every run; walking the imported libraries each time costs far more
    than the page itself. What is alive now is never scanned again; new garbage still is.

    BLAS gets one thread: at the sizes of a page a second one gains little, and on a busy machine threads that wait for
    each other cost ten times the work.
    """
    import pandas  # noqa: F401
    from threadpoolctl import threadpool_limits

    import privcov.metrics.errors
    import privcov.metrics.graphs

    privcov.methods()
    privcov.sources()
    threadpool_limits(1, user_api="blas")
    gc.collect()
    gc.freeze()
    return True


@st.cache_resource(show_spinner=False)
def freeze_after(module: str) -> bool:
    """Import a heavy library on its first use and freeze it too."""
    __import__(module)
    gc.collect()
    gc.freeze()
    return True


@st.cache_resource(show_spinner=False)
def _compile_ahead() -> bool:
    """Once per process, behind the first page: nobody's click waits for the compiler of the graphical lasso."""

    def compile_lasso() -> None:
        from privcov.postprocess.glasso import warm_up

        warm_up()

    timer = threading.Timer(PATIENCE, compile_lasso)
    timer.daemon = True
    timer.start()
    return True


def page(title: str, keeps: tuple[str, ...] = ()) -> Study:
    """Set up the page and return the current study. Call it first.

    keeps: names of settings of this page alone (which lesson, which axis) that belong in its address; see `own`.
    """
    st.set_page_config(page_title=f"{title} - PrivCov", page_icon=str(ICON), layout="wide")
    _freeze_imports()
    _compile_ahead()
    st.html(_STYLE)
    # A widget on another page is a new widget, even under the same key: it has to be told the study again.
    st.session_state["fresh_page"] = st.session_state.get("page") != title
    st.session_state["page"] = title
    _follow_address(title, keeps)
    with st.sidebar:
        _menu()
    for sentence in st.session_state.pop("link_problems", []):
        st.warning(as_text(sentence))
    return st.session_state["study"]


def palette() -> Palette:
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
    return st.session_state["page_own"][st.session_state["page"]].get(name) or default


def put(**settings: str) -> None:
    """Change settings of this page alone; for widget callbacks. An empty text takes the setting out of the address."""
    mine = st.session_state["page_own"][st.session_state["page"]]
    mine |= settings
    st.session_state["study_changed"] = True


def _follow_address(title: str, keeps: tuple[str, ...]) -> None:
    """Keep study and address the same. The address wins when it changed and no control did (link, back button)."""
    state = st.session_state
    mine = state.setdefault("page_own", {}).setdefault(title, {})
    query = {k: v for k, v in st.query_params.items() if isinstance(v, str)}
    touched = state.pop("study_changed", False)
    arrived = query != state.get("address") and not touched
    if "study" not in state or arrived:
        before = state.get("study")
        state["study"], problems = from_query(query)
        if "source" not in query and before is not None and before.source == CSV:
            # A link cannot name an upload, so one that names no source leaves the visitor's own table in place.
            state["study"] = dataclasses.replace(state["study"], source=CSV, data=(), bound=before.bound)
        if problems:
            state["link_problems"] = problems
        told = {name: query[name] for name in keeps if name in query}
        if told or not state["fresh_page"]:  # a link from the menu says nothing of it: the page stays as it was left
            mine.clear()
            mine |= told
    wanted = to_query(state["study"]) | {name: mine[name] for name in keeps if mine.get(name)}
    if query != wanted:
        st.query_params.from_dict(wanted)
    state["address"] = wanted


def _menu() -> None:
    st.markdown("### PrivCov")
    for group, entries in MENU:
        if group:
            st.html(f'<div class="pc-group">{group}</div>')
        for file, label in entries:
            link(file, label)
    st.divider()


def link(
    file: str, label: str, study: Study | None = None, own: Mapping[str, str] | None = None, **look: object
) -> None:
    """A link to a page that carries a study (the current one unless given) and, with ``own``, settings of that page."""
    query = to_query(study or st.session_state["study"]) | dict(own or {})
    st.page_link(file, label=label, query_params=query, **look)
