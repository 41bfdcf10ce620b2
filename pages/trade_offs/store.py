"""The one store of finished cells, and estimates from small runs."""

from __future__ import annotations

import functools
import json

import streamlit as st

from pages.trade_offs.sweep import Sweep
from privcov.core.guarantees import Guarantee, NoPrivacy, from_dict, to_dict
from privcov.core.places import cache_folder
from privcov.studies import estimates
from privcov.studies.estimates import PlanTime, RunTime
from privcov.studies.store import Store
from privcov.tables.dataset import Dataset


def store() -> Store:
    """Return the store of finished cells in the cache folder; one for all sessions."""
    return _store(str(cache_folder() / "cells.sqlite"))


@functools.cache  # and none of Streamlit's: any visitor can empty those
def _store(path: str) -> Store:
    """Open the store of a file, once per server."""
    return Store(path)


def show_problem() -> None:
    """Show, once per visit, that the store does not work."""
    problem = store().problem
    if problem and not st.session_state.get("tradeoffs.told"):
        st.session_state["tradeoffs.told"] = True
        st.info(problem)


def estimate_of(sweep: Sweep, data: Dataset) -> PlanTime:
    """Return the time for what the store does not have; on rows at hand one run per method is timed and remembered."""
    with st.spinner("Timing one run of each method ...", show_time=False):
        if sweep.plan is None:
            seconds = sum(
                _cost_on(m, data, sweep.guarantees).seconds * len(sweep.guarantees) for m in sweep.on_rows["methods"]
            )
            times = sweep.replicates * max(1, len(sweep.on_rows["row_bounds"]))
            return PlanTime(sweep.steps, 0, seconds * times)
        return estimates.estimate(sweep.plan, store(), _remembered)


def _cost_on(entry, data: Dataset, guarantees: list[Guarantee]) -> RunTime:
    """Return the cost of a method on these rows, timed once."""
    key = ("cost", json.dumps(entry), guarantees[0].kind)
    return data.kept.once(key, lambda: estimates.cost_on(entry, data, guarantees[len(guarantees) // 2]))


def _remembered(entry, guarantee: Guarantee, n: int, d: int) -> RunTime:
    """Return the cost of a method at a size, cached."""
    return _cost(json.dumps(entry), json.dumps(to_dict(guarantee)), n, d)


@st.cache_resource(show_spinner=False, max_entries=400)
def _cost(entry: str, guarantee: str, n: int, d: int) -> RunTime:
    """Return the cost of a method at a size, from texts that can be cache keys."""
    method = json.loads(entry)
    level = from_dict(json.loads(guarantee))
    return estimates.cost_of(method if isinstance(method, str) else tuple(method), level or NoPrivacy(), n, d)
