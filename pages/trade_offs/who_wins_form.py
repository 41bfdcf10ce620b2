"""What the tab Who wins where asks for: methods, the two axes, error and replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.shell import address, glossary
from pages.shell.sliders import ends, log_grid
from pages.shell.study import Study
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.privacy import KINDS
from privcov.sweeps.answer import NORM_NAMES, REFERENCE_NAMES

_N, _D = (500, 100_000), (5, 80)
_LEVELS = {"rho": (1e-4, 1.0), "epsilon": (0.1, 10.0)}
_USUAL = 6  # methods that compete unless asked otherwise
_ASKED = ("methods", "over", "n", "d", "rho", "epsilon", "steps", "norm", "against", "replicates", "asked")
KEEPS = tuple(f"who.{name}" for name in _ASKED)


@dataclass(frozen=True)
class Map:
    """What the controls ask for. y: "d", "rho" or "epsilon"; ys: its values."""

    methods: tuple[str, ...]
    y: str
    ns: tuple[int, ...]
    ys: tuple[float, ...]
    norm: str
    against: str
    replicates: int


def form(study: Study, data: Dataset) -> Map:
    """The form of the map, and what it says: a `Map`."""
    cards = [c for c in METHODS.all() if c.target == "covariance" and c.standing != "reference"]
    fit = [c for c in cards if not c.refuses(study.kind)]
    proved = [c for c in fit if c.standing == "proved" and c.trust == "central"]
    # Near twins of one family share most cells, and a map of ties tells little: the first of each family starts.
    usual = [c.key for i, c in enumerate(proved) if c.family not in [b.family for b in proved[:i]]]
    labels = {c.key: c.label + (" (local)" if c.trust == "local" else "") for c in fit}
    references = [r for r in ("truth", "sample") if r != "truth" or data.truth is not None]
    with st.container(border=True):
        methods = address.bound(
            st.multiselect, "Methods", list(labels), name="who.methods", default=usual[:_USUAL], key="map-methods",
            format_func=labels.get, code=address.several_of(list(labels), [c.key for c in cards]),
        )  # fmt: skip
        if len(fit) < len(cards):
            away = [c.label for c in cards if c not in fit]
            st.caption(f"Cannot give {KINDS[study.kind].name}: {', '.join(away)}.")
        glossary.when_not(methods, "When not to use them")
        first, second, third, fourth = st.columns([2, 3, 3, 2])
        over = {"d": "n and d", study.lever: f"n and {study.lever}"}
        # Switching the kind of guarantee renames the second choice.
        y = address.bound(
            first.selectbox, "Map over", list(over), name="who.over", default="d", key=f"map-over-{study.lever}",
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
            help="More replicates, fewer cells without a clear winner.",
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
    """Values evenly spaced on a log scale, rounded to two digits; fewer where rounding makes them equal."""
    values = {float(f"{v:.2g}") for v in np.geomspace(low, high, steps)}
    return tuple(sorted({round(v) for v in values} if whole else values))
