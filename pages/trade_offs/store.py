"""The one store of finished cells, and estimates from small runs."""

from __future__ import annotations

import json

import streamlit as st

from pages.trade_offs import sweep
from privcov.dataset import Dataset
from privcov.places import cache_folder
from privcov.privacy import Guarantee, NoPrivacy, from_dict, to_dict
from privcov.sweeps import estimates
from privcov.sweeps.estimates import Cost, Estimate
from privcov.sweeps.store import Store


def store() -> Store:
    """The store of finished cells in the cache folder; one for all sessions."""
    return _store(str(cache_folder() / "cells.sqlite"))


@st.cache_resource(show_spinner=False)
def _store(path: str) -> Store:
    return Store(path)


def tell_problem() -> None:
    """Once per visit: a store that does not work."""
    problem = store().problem
    if problem and not st.session_state.get("tradeoffs.told"):
        st.session_state["tradeoffs.told"] = True
        st.info(problem)


def estimate_of(made: sweep.Sweep, data: Dataset | None) -> Estimate:
    """Time for what the store does not have. On rows at hand one run per method is timed and remembered with them."""
    with st.spinner("Timing one run of each method ...", show_time=False):
        if made.on_rows:
            assert data is not None  # a sweep over rows at hand comes with them
            seconds = sum(
                _cost_on(m, data, made.on_rows["guarantees"]).seconds * len(made.on_rows["guarantees"])
                for m in made.on_rows["methods"]
            )
            times = made.replicates * max(1, len(made.on_rows["row_bounds"]))
            return Estimate(made.steps, 0, seconds * times)
        return estimates.together([estimates.estimate(plan, store(), _remembered) for plan in made.plans])


def _cost_on(entry, data: Dataset, guarantees: list[Guarantee]) -> Cost:
    key = ("cost", json.dumps(entry), guarantees[0].kind)
    return data.kept.once(key, lambda: estimates.cost_on(entry, data, guarantees[len(guarantees) // 2]))


def _remembered(entry, guarantee: Guarantee, n: int, d: int) -> Cost:
    return _cost(json.dumps(entry), json.dumps(to_dict(guarantee)), n, d)


@st.cache_resource(show_spinner=False, max_entries=400)
def _cost(entry: str, guarantee: str, n: int, d: int) -> Cost:
    found = json.loads(entry)
    level = from_dict(json.loads(guarantee))
    return estimates.cost_of(found if isinstance(found, str) else tuple(found), level or NoPrivacy(), n, d)
