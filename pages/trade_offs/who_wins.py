"""Tab of Trade-offs: which method is best where, on a map over n and d, or n and the guarantee."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import address, frame, glossary, show, take_home
from pages.shell.fields import ends, log_grid
from pages.shell.jobs import Job, Jobs, Words, status, workers
from pages.shell.study import Study
from pages.trade_offs import reports
from pages.trade_offs import store as tradeoffs_store
from pages.trade_offs.form import start as form_start
from pages.trade_offs.sentence import redraws
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.look import Picture
from privcov.figures.palette import Palette
from privcov.figures.winners import winner_map
from privcov.figures.words import raised
from privcov.privacy import KINDS, Guarantee
from privcov.sweeps import estimates
from privcov.sweeps.plan import NORM_NAMES, REFERENCE_NAMES, Plan
from privcov.sweeps.winners import TRIVIAL, dimension, in_words, labels_of, map_cells, map_plans, winners

JOBS = Jobs("maps")
WORDS = Words("runs", stop="stop-map", stopped=", which are kept; Draw the map goes on from there.")
_N, _D = (500, 100_000), (5, 80)
_LEVELS = {"rho": (1e-4, 1.0), "epsilon": (0.1, 10.0)}
_USUAL = 6  # methods that compete unless asked otherwise
_ASKED = ("methods", "over", "n", "d", "rho", "epsilon", "steps", "norm", "against", "replicates", "asked")
KEEPS = tuple(f"who.{name}" for name in _ASKED)
_UNASKED = 12.0  # seconds of work that a link may ask for
FIRST = 1.5  # seconds to wait for a first picture
_LONG = 15 * 60.0  # seconds; the visitor waits for a map
_ORACLE = (
    " Oracle: the least error of any matrix with the eigenvectors of the noisy matrix, computed with the truth. No "
    "rule that changes eigenvalues alone passes it; one that uses structure, as zeros or the order of columns, may."
)
_PROBE = (5_000, 80)  # the time of larger runs is estimated from runs of about this size


@dataclass(frozen=True)
class Map:
    """What the controls ask for; ``y`` is "d", "rho" or "epsilon", and ``ys`` are its values."""

    methods: tuple[str, ...]
    y: str
    ns: tuple[int, ...]
    ys: tuple[float, ...]
    norm: str
    against: str
    replicates: int


def section(study: Study, data: Dataset, answered: Sequence[str] = ()) -> None:
    """Show the tab; ``answered`` are the methods of the answer above it."""
    if not redraws(study, data):
        st.info("This table has one size, so there is no map: choose a simulated source.")
        return
    st.markdown(
        f"Each cell compares the methods that give {KINDS[study.kind].name} on the same rows, **zero matrix** and "
        "**private diagonal** included. Colour: the winner, deeper with its margin."
    )
    asked = form(study, data, answered)
    with show.problems():
        plans = _plans(study, asked)
        refusal = next(filter(None, map(estimates.refusal, plans)), "")
        seconds = 0.0 if refusal else _seconds(study, asked, plans)
        if seconds > _LONG:
            refusal = (
                f"This map would take {estimates.in_words(seconds)}: take fewer steps, replicates or methods, "
                "smaller n or d, or the script below."
            )
        key = (_same(study, asked), asked)
        left, right = st.columns([1, 4], vertical_alignment="center")
        started = left.button(
            "Draw the map", type="primary", disabled=bool(refusal), key="draw-map", on_click=frame.set_query,
            kwargs={"who.asked": "yes"},
        )  # fmt: skip
        # A link shows the map it was copied from, where that does not take long.
        started |= not refusal and not JOBS.all() and bool(frame.page_setting("who.asked")) and seconds <= _UNASKED
        runs = sum(plan.steps for plan in plans)
        if refusal:
            right.warning(show.as_text(refusal))
        elif JOBS.find(key) is None:
            right.caption(f"{runs:,} runs, {estimates.in_words(seconds)} here. Finished runs are kept.")
        if started:
            store = tradeoffs_store.store()
            size = max(map(estimates.most_cells, plans))
            JOBS.start(
                key, lambda stop: map_cells(plans, store, workers=workers(size), stop=stop), runs, size=size, wait=FIRST
            )
        if JOBS.find(key) is not None:
            JOBS.watch(key, lambda job: _paint(job, study, asked), every=1.2)
        with st.expander("The same in Python"):
            st.code(script(study, asked), language="python")


def form(study: Study, data: Dataset, answered: Sequence[str] = ()) -> Map:
    """Show the form of the map and return its entries."""
    cards = [c for c in METHODS.all() if c.target == "covariance" and c.standing != "reference"]
    fit = [c for c in cards if not c.refuses(study.kind)]
    proved = [c for c in fit if c.standing == "proved" and c.trust == "central"]
    # Similar methods of one family tie in most cells, and such a map shows little: the first of each family starts.
    usual = [c.key for i, c in enumerate(proved) if c.family not in [b.family for b in proved[:i]]]
    named = list(dict.fromkeys([m for m in answered if m in [c.key for c in fit]] + usual))[:_USUAL]
    start = form_start(KEEPS, "who.methods", named if answered else [], usual[:_USUAL])
    labels = {c.key: c.label + (" (local)" if c.trust == "local" else "") for c in fit}
    references = [r for r in ("truth", "sample") if r != "truth" or data.truth is not None]
    with st.container(border=True):
        methods = address.bound(
            st.multiselect, "Methods", list(labels), name="who.methods", default=start, key="map-methods",
            format_func=labels.get, code=address.several_of(list(labels), [c.key for c in cards]),
        )  # fmt: skip
        if len(fit) < len(cards):
            away = [c.label for c in cards if c not in fit]
            st.caption(f"Cannot give {KINDS[study.kind].name}: {', '.join(away)}.")
        glossary.when_not(methods, "When not to use them")
        first, second, third, fourth = st.columns([2, 3, 3, 2])
        over = {"d": "n and d", study.level_name: f"n and {study.level_name}"}
        # Switching the kind of guarantee renames the second choice.
        y = address.bound(
            first.selectbox, "Map over", list(over), name="who.over", default="d", key=f"map-over-{study.level_name}",
            format_func=over.get,
        )  # fmt: skip
        n_range = address.bound(
            second.select_slider, "Rows n, from and to", log_grid(10, 2_000_000, whole=True), name="who.n", default=_N,
            key="map-n", format_func=lambda v: f"{v:,}",
        )  # fmt: skip
        ends("more noise", "less noise", second)
        whole = y == "d"
        low, high = address.bound(
            third.select_slider,
            f"{'Columns d' if whole else y.capitalize()}, from and to",
            log_grid(1, 1000, whole=True) if whole else log_grid(1e-5, 100.0),
            name=f"who.{y}",
            default=_D if whole else _LEVELS[y],
            key=f"map-{y}",
            format_func=lambda v: f"{v:g}",
        )
        ends(*(("less to estimate", "more to estimate") if whole else ("stronger privacy", "more accuracy")), third)
        steps = address.bound(fourth.number_input, "Steps each way", 2, 9, name="who.steps", default=5, key="map-steps")
        first, second, third = st.columns([3, 3, 4])
        norm = address.bound(
            first.selectbox, "Norm", list(NORM_NAMES), name="who.norm", default="frobenius", key="map-norm",
            format_func=lambda k: NORM_NAMES[k].capitalize(),
        )  # fmt: skip
        against = address.bound(
            second.selectbox, "Error", references, name="who.against", default=references[0], key="map-against",
            format_func=REFERENCE_NAMES.get,
        )  # fmt: skip
        replicates = address.bound(
            third.number_input, "Replicates", 2, 100, name="who.replicates", default=8, key="map-replicates",
            help="More replicates, more clear winners.",
        )  # fmt: skip
    return Map(
        tuple(methods),
        y,
        _between(n_range[0], n_range[1], steps, whole=True),
        _between(low, high, steps, whole=whole),
        norm,
        against,
        int(replicates),
    )


def _between(low: float, high: float, steps: int, *, whole: bool) -> tuple:
    """Return values evenly spaced on a log scale, rounded to two digits; fewer where rounding makes them equal."""
    values = {float(f"{v:.2g}") for v in np.geomspace(low, high, steps)}
    return tuple(sorted({round(v) for v in values} if whole else values))


def _guarantees(study: Study, asked: Map) -> list[Guarantee]:
    """Return the guarantees of the map."""
    if asked.y == "d":
        return [study.guarantee]
    return [study.at(level).guarantee for level in asked.ys]


def _call(study: Study, asked: Map) -> tuple[tuple, dict]:
    """Return the arguments of `map_plans`; the script on the page is written from the same."""
    fixed = {k: v for k, v in study.data if k not in ("n", asked.y)}
    named = {
        "methods": list(asked.methods),
        "guarantees": _guarantees(study, asked),
        "ns": list(asked.ns),
        "ds": list(asked.ys) if asked.y == "d" else None,
        "metric": f"relative-{asked.norm}-to-{asked.against}",
        "replicates": asked.replicates,
        "seed": study.rows,
        "bound": study.bound,
    }
    return (study.source_key(), fixed), named


def _plans(study: Study, asked: Map) -> list[Plan]:
    """Return the plans of the map."""
    given, named = _call(study, asked)
    return map_plans(*given, **named)


def _same(study: Study, asked: Map) -> Study:
    """Return the study without its method, n and the value that the map varies: the map does not depend on them."""
    fixed = tuple(sorted(_call(study, asked)[0][1].items()))
    own = dataclasses.replace(study.without_method(), data=fixed, seed=0)
    return own if asked.y == "d" else dataclasses.replace(own, rho=1.0, epsilon=1.0)


def _seconds(study: Study, asked: Map, plans: list[Plan]) -> float:
    """Return the time of the map, estimated once for every set-up from small timed runs."""
    kept, costs = st.session_state.setdefault("reckoned", {}), st.session_state.setdefault("costs", {})
    whole = ("who", _same(study, asked), asked)

    def cost(entry: str, guarantee: Guarantee, n: int, d: int):
        n, d = min(n, _PROBE[0]), min(d, _PROBE[1])
        key = (entry, guarantee.kind, n, d)
        if key not in costs:
            costs[key] = estimates.cost_of(entry, guarantee, n, d)
        return costs[key]

    if whole not in kept:
        store = tradeoffs_store.store()
        kept[whole] = estimates.together([estimates.estimate(plan, store, cost) for plan in plans]).seconds
    return kept[whole]


def _paint(job: Job, study: Study, asked: Map) -> None:
    """Show progress and Stop while the map is drawn; then the map, or its finished parts."""
    status(job, WORDS)
    if job.progress.state == "failed":
        return
    table = _finished_rows(job.progress.rows[:], study, asked)
    if len(table):
        with show.problems():
            _show(table, study, asked)


def _finished_rows(rows: list[dict], study: Study, asked: Map) -> pd.DataFrame:
    """Return the rows of those parts of the map (one per d) that are complete."""
    table = pd.DataFrame(rows, columns=None if rows else ["d"])
    steps = {dimension(plan): plan.steps * len(plan.metrics) for plan in _plans(study, asked)}
    there = table["d"].value_counts()
    return table[table["d"].map(lambda d: there[d] >= steps[d])]


def _show(table: pd.DataFrame, study: Study, asked: Map) -> None:
    """Show the map."""
    cells = winners(table, x="n", y=asked.y)
    labels = labels_of()
    order = [c.key for c in METHODS.all() if c.target == "covariance" and c.standing != "reference"]
    story = in_words(cells, labels, x="n", y=asked.y)
    sets = ", ".join(f"{k} = {v}" for k, v in _call(study, asked)[0][1].items())
    under = raised(str(study.guarantee)) if asked.y == "d" else KINDS[study.kind].name
    rows = SOURCES.get(study.source_key()).label
    where = ", ".join(filter(None, [rows, sets, under, f"{asked.replicates} replicates"]))
    show.tag("Simulated", where)
    st.markdown(show.as_text(story))

    def picture(palette: Palette) -> Picture:
        return winner_map(
            cells,
            palette,
            x="n",
            y=asked.y,
            x_label="n (rows)",
            y_label="d (columns)" if asked.y == "d" else f"{asked.y} (more accuracy up)",
            order=order,
            labels=labels,
            trivial=TRIVIAL,
            story=story,
        )

    show.picture(picture(frame.palette()), "who-wins")
    about = _legend(asked)
    with st.expander("How to read"):
        st.markdown(about)
    absent = sorted({m for names in cells["absent"] for m in names})
    if absent:
        st.warning(f"No matrix in some cells, so left out there: {', '.join(labels[m] for m in absent)}.")
    listed = cells.assign(**{name: cells[name].map(", ".join) for name in ("rivals", "absent")})
    with st.expander("Table"):
        st.dataframe(listed, hide_index=True)
        show.download("CSV", lambda: table.to_csv(index=False), "who-wins.csv", "download-map")
    words = [story, *([f"No matrix in some cells: {', '.join(absent)}."] if absent else [])]
    plans = _plans(study, asked)
    whole = len(table) == sum(plan.steps * len(plan.metrics) for plan in plans)
    again = script(study, asked) if whole else ""  # the script draws it all
    reports.of_map(cells, labels, plans, words, where, listed, picture, take_home.unlinked(about), again)


def _legend(asked: Map) -> str:
    """Return what the cells of the map say, in words."""
    return (
        f"In a cell: the smallest mean relative {NORM_NAMES[asked.norm]} error {REFERENCE_NAMES[asked.against]}, "
        "and how many times larger the next is. Hatched: no clear winner, as the paired 95 % replicate interval of "
        "a difference contains zero, uncorrected for many cells. Usual settings; replace-one neighbours."
    ) + (_ORACLE if asked.norm == "frobenius" else "")


def script(study: Study, asked: Map) -> str:
    """Return source text whose variable ``found`` is the map on the page, one row per cell."""
    given, named = _call(study, asked)
    source, fixed = given
    listed = [f"    {k}={v!r}," for k, v in named.items() if k != "guarantees"]
    guarantees = ", ".join(f"privcov.{g!r}" for g in named["guarantees"])
    return "\n".join(
        [
            "import privcov",
            "from privcov.sweeps.winners import map_plans, run_map, winners",
            "",
            f"plans = map_plans({source!r}, {fixed!r},",
            f"    guarantees=[{guarantees}],",
            *listed,
            ")",
            "table = run_map(plans)  # every replicate",
            f'found = winners(table, x="n", y={asked.y!r})',
            "print(found)",
        ]
    )
