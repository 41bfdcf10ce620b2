"""The curves of Trade-offs: start, progress, picture, what they say, the downloads, and pinned curves."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import frame, show, take_home
from pages.common.glossary import term
from pages.common.jobs import Job, Jobs, Words, status
from pages.common.pins import Pins
from pages.common.study import Study
from pages.trade_offs import reports
from pages.trade_offs import store as tradeoffs_store
from pages.trade_offs.sweep import Sweep, script, tidy
from privcov.bundle.verdict import WORSE
from privcov.core.guarantees import NoPrivacy
from privcov.measurements.clipping import share_clipped
from privcov.metrics.errors import error, matrix_norm, reference_matrix
from privcov.plots.errors import curves
from privcov.plots.look import Picture
from privcov.plots.palette import Palette
from privcov.plots.words import plain
from privcov.releases.public import release
from privcov.studies import saved
from privcov.studies.estimates import LONG, in_words
from privcov.studies.plan import metric_name, summarise
from privcov.tables.dataset import Dataset

JOBS = Jobs("sweeps")
WORDS = Words(
    "runs",
    stop="stop",
    stopped="; the picture shows what is there.",
    again=("Go on", "go-on"),
    waiting="Waiting for sweeps of other visitors to end",
    pace=" at this pace",
    stored=True,
)
ZERO = "zero matrix"
_KEPT = 4  # finished sweeps of a visit whose reading is kept
FIRST = 1.5  # seconds to wait for a first picture


def section(sweep: Sweep, data: Dataset, study: Study) -> None:
    """Show everything below the form."""
    job = JOBS.find(sweep.key)
    if job is None or (job.progress.state in ("stopped", "failed") and not job.progress.rows):
        job = _offer(sweep, data)
    _others(job)
    if job is None:
        return
    JOBS.watch(sweep.key, lambda job: _paint(sweep, data, study, job), every=1.2)


def _offer(sweep: Sweep, data: Dataset) -> Job | None:
    """Show the estimate and the button; start at once what is stored already."""
    estimate = tradeoffs_store.estimate_of(sweep, data)
    todo = estimate.steps - estimate.known
    known = f"{estimate.known:,} already stored" if estimate.known else "none stored yet"
    words = f"{estimate.steps:,} runs, {known}; {in_words(estimate.seconds)}"
    words += f" for the other {todo:,}." if estimate.known else "."
    if not todo:
        words = f"All {estimate.steps:,} runs are stored already."
    long = estimate.seconds > LONG
    advice = " Fewer replicates, methods, n or d take less; finished runs are kept."
    slot = st.empty()
    with slot.container():
        left, right = st.columns([1, 4], vertical_alignment="center")
        label = "Start anyway" if long else "Draw the curves"
        pressed = left.button(label, type="secondary" if long else "primary", width="stretch")
        right.caption(show.as_text(words + (advice if long else "")))
    tradeoffs_store.show_problem()
    if not pressed and todo:
        return None
    slot.empty()
    return start(sweep)


def start(sweep: Sweep) -> Job:
    """Start these curves; what the store has is not run again."""
    store = tradeoffs_store.store()
    return JOBS.start(sweep.key, lambda stop: sweep.cells(store, stop), sweep.steps, size=sweep.size, wait=FIRST)


def _others(shown: Job | None) -> None:
    """Show other sweeps that are still running."""
    for other in JOBS.all().values():
        if other is not shown and other.progress.alive:
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.caption(f"Another sweep is still running: {other.progress.done:,} of {other.progress.total:,} runs.")
            right.button("Stop it", on_click=other.stop, key="stop-other", width="stretch")


def _paint(sweep: Sweep, data: Dataset, study: Study, job: Job) -> None:
    """Show the progress, then the curves."""
    status(job, WORDS, lambda: start(sweep))
    rows = job.progress.rows[:]
    if not rows:
        return
    with show.problems():
        _result(sweep, data, study, job, rows)


@dataclass(frozen=True)
class _Reading:
    """What curves say that does not depend on how they are shown: it is read once from a finished sweep.

    ``across`` are the replicates without a place on the axis.
    """

    table: pd.DataFrame
    across: pd.DataFrame
    summary: pd.DataFrame


def _read(sweep: Sweep, job: Job, rows: list[dict]) -> _Reading:
    """Return the reading, kept for the last few finished sweeps of the visit."""
    kept = st.session_state.setdefault("tradeoffs.read", {})
    key = sweep.key
    whole = not job.progress.alive and len(rows)
    if whole and key in kept and len(kept[key].table) == len(rows):
        return kept[key]
    table = tidy(sweep, rows)
    drawn = table[table["x"].notna()]
    reading = _Reading(
        table,
        table[table["x"].isna()],
        summarise(drawn.assign(metric=sweep.metric), ["series", "key", "x"]).drop(columns="metric"),
    )
    if whole:
        kept[key] = reading
        while len(kept) > _KEPT:
            kept.pop(next(iter(kept)))
    return reading


def _result(sweep: Sweep, data: Dataset, study: Study, job: Job, rows: list[dict]) -> None:
    """Show the curves, what they say, and the downloads."""
    read, metric = _read(sweep, job, rows), sweep.metric
    table, summary, target = read.table, read.summary, str(read.table["target"].iloc[0])
    quiet = [(name, float(part["value"].mean())) for name, part in read.across.groupby("series", sort=False)]
    lines = references(data, metric, target, sweep) + quiet + floor(data, metric, target, sweep, summary)
    lines = [(name, level) for name, level in lines if level > 0 and math.isfinite(level)]
    where = f"{data.n:,} rows, {data.d} columns, R = {data.row_bound:.3g}"
    provenance = data.provenance.capitalize()
    show.tag(provenance, f"{where}; {sweep.replicates} replicates")
    picture = _curves(sweep, summary, lines, frame.palette())
    show.picture(picture, "trade-offs")
    simulated = sweep.plan is not None and data.provenance == "simulated"
    st.caption(_band(simulated))
    for worse in worse_than_zero(summary, lines, sweep.x_label.split(" (")[0]):
        st.caption(show.as_text(worse))
    failed = int(table["value"].isna().sum())
    if failed:
        reason = table.loc[table["value"].isna(), "problem"].mode().iloc[0]
        st.warning(
            f'{failed} of {len(table)} runs gave no matrix and are in no mean; the column "problem" of the CSV says '
            f"why. Most often: {show.as_text(reason)}"
        )
    with st.expander("Table"):
        st.dataframe(summary.drop(columns="key").rename(columns={"x": sweep.x_label.split(" (")[0]}), hide_index=True)
    if job.progress.alive:
        return
    parts = st.columns([1, 1, 1, 2])
    frozen = tuple(rows)
    with parts[0]:
        show.download("CSV", lambda: pd.DataFrame(frozen).to_csv(index=False), "trade-offs.csv", "download-table")
    if sweep.plan:
        with parts[1]:
            text = saved.write([sweep.plan])
            show.download("Saved study", lambda: text, "plan.json", "download-plan", "application/json")
    parts[2].button(
        "Pin",
        key="pin",
        help="Keeps these curves in the tab Pinned.",
        on_click=_pin,
        args=(sweep.owner, f"{sweep.title}; {where}", metric_name(metric), summary, lines, sweep.x_label, sweep.log),
    )
    _confirm_pin()
    again = script(sweep, study)
    with st.expander("The same in Python"):
        st.code(again, language="python")
    reports.of_curves(
        sweep,
        summary,
        data,
        provenance=provenance,
        where=where,
        picture=functools.partial(_curves, sweep, summary, lines),
        caption=take_home.unlinked(_band(simulated)),
        script=again,
        finished=job.progress.state == "finished",
    )


def _curves(sweep: Sweep, summary: pd.DataFrame, lines: list, palette: Palette) -> Picture:
    return curves(
        summary.rename(columns={"series": "method"}),
        palette,
        x="x",
        x_label=sweep.x_label,
        y_label=metric_name(sweep.metric),
        order=list(dict.fromkeys(summary["series"])),
        labels={},
        references=lines,
        marked=sweep.marked,
        log=sweep.log,
    )


def _band(simulated: bool) -> str:
    what = (
        "fresh rows and noise: sampling and privacy noise together"
        if simulated
        else "fresh noise on the same rows: privacy noise only"
    )
    return (
        f"Lines: mean over replicates. Bands: {term('replicate-range')}, 10 % to 90 %, with {what}. Horizontal: "
        "answers without noise, to beat."
    )


def worse_than_zero(summary: pd.DataFrame, lines: list[tuple[str, float]], x_name: str) -> list[str]:
    """Return where the mean error of a curve exceeds that of the zero matrix, a sentence for each such curve."""
    zero = dict(lines).get(ZERO)
    if zero is None:
        return []
    above = summary[(summary["mean"] > zero) & summary["x"].notna()]
    return [
        f"{series}: {WORSE}, at {x_name} {', '.join(plain(x) for x in sorted(part['x'].unique()))}."
        for series, part in above.groupby("series", sort=False)
    ]


def references(data: Dataset, metric: str, target: str, sweep: Sweep) -> list[tuple[str, float]]:
    """Return (name, level) of the answers without noise in the curves' metric; none of fixed rows where n or d vary."""
    name = metric.removeprefix("relative-")
    norm, against = name.split("-to-")
    if against == "nonprivate":
        return []
    reference = reference_matrix(data, target, against)
    size = matrix_norm(reference, norm)
    unit = size if name != metric else 1.0
    fixed = sweep.x in ("rho", "epsilon", "delta", "level", "row_bound")
    lines = [(ZERO, size / unit if unit else 0.0)] if fixed or name != metric else []
    if fixed and unit:
        sample = reference_matrix(data, target, "sample")
        lines.append(
            ("diagonal of the sample (not private)", matrix_norm(np.diag(np.diag(sample)) - reference, norm) / unit)
        )
        if against == "truth":
            lines.append(("sample (not private)", matrix_norm(sample - reference, norm) / unit))
    return lines


FLAT, ABOVE = 1.15, 1.2  # a curve has come to the floor within this factor; which is worth naming above this one


def floor(data: Dataset, metric: str, target: str, sweep: Sweep, summary: pd.DataFrame) -> list[tuple[str, float]]:
    """Return the error that clipping alone leaves, where curves flatten there above the error of the sample.

    No guarantee removes it, and a larger row bound does; not for axes on which the rows or the bound vary.
    """
    name = metric.removeprefix("relative-")
    norm, against = name.split("-to-")
    if against == "nonprivate" or target == "precision":
        return []
    if sweep.x not in ("rho", "epsilon", "delta", "level"):
        return []
    if not share_clipped(data):
        return []
    clipped = data.kept.once(
        ("clipped, no noise", data.row_bound), lambda: release(data, NoPrivacy(), "gaussian-cov", random_state=0)
    )
    size = matrix_norm(reference_matrix(data, target, against), norm)
    unit = size if name != metric else 1.0
    if not unit:
        return []
    least = error(clipped, data, norm, against=against) / unit
    sample = reference_matrix(data, target, "sample")
    alone = matrix_norm(sample - reference_matrix(data, target, against), norm) / unit
    reached = (summary["mean"] > 0) & (summary["mean"] < FLAT * least)
    if least <= max(ABOVE * alone, 1e-3 * size / unit) or not reached.any():
        return []
    return [("floor from clipping: raise the row bound", least)]


# --- pinned curves -------------------------------------------------------------------------------------------


PINS = Pins("pins")


def _pin(owner: object, title: str, error: str, summary: pd.DataFrame, lines: list, x_label: str, log: bool) -> None:
    """Freeze a set of curves, for the button; ``owner`` is the study of a CSV, else ""."""
    PINS.add(
        owner,
        {
            "title": title,
            "error": error,
            "summary": summary.copy(),
            "lines": list(lines),
            "x_label": x_label,
            "log": log,
        },
    )
    st.session_state["pins.told"] = True


def _confirm_pin() -> None:
    """Confirm a new pin once, below the button: a callback of a fragment may not show anything itself."""
    if st.session_state.pop("pins.told", False):
        st.toast("Pinned, in the tab Pinned.")


def pinned() -> None:
    """Show the pinned curves, two side by side."""
    pins = PINS.all()
    if not pins:
        st.info("Nothing is pinned yet: press Pin below curves.")
        return
    st.caption("As they were when pinned; gone with this visit.")
    kept = list(pins.items())
    for start in range(0, len(kept), 2):
        for place, (key, pin) in zip(st.columns(2), kept[start : start + 2], strict=False):
            with place, st.container(border=True):
                _one_pinned(key, pin)


def _one_pinned(key: tuple, pin: dict) -> None:
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.markdown(f"**{key[1]}. {show.as_text(pin['title'])}**")
    right.button("Remove", key=f"unpin-{key[1]}", on_click=PINS.remove, args=(key,), width="stretch")
    summary = pin["summary"]
    with show.problems():
        show.picture(
            curves(
                summary.rename(columns={"series": "method"}),
                frame.palette(),
                x="x",
                x_label=pin["x_label"],
                y_label=pin["error"],
                order=list(dict.fromkeys(summary["series"])),
                labels={},
                references=pin["lines"],
                height=400,
                log=pin["log"],
            ),
            f"pinned-{key[1]}",
        )
