"""Pinned estimates: released matrices frozen with their numbers beside the current one, kept for this visit."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from pages.common import frame, show
from pages.common.study import Study
from privcov.plots.matrices import heatmap

_MAX_PINS = 4


def _pins() -> dict[tuple[Study, int], dict[str, Any]]:
    """Return the pins, oldest first, by (study, number): those of a file go with `visitor_files.forget_results`."""
    return st.session_state.setdefault("estimate.pins", {})


def _remove(key: tuple[Study, int]) -> None:
    """Remove a pin."""
    _pins().pop(key)


def button(
    study: Study, title: str, matrix: np.ndarray, columns: tuple, limit: float, cards: list[tuple[str, str]]
) -> None:
    """Show the button that freezes what the page shows now. A fifth pin removes the first."""

    def pin() -> None:
        pins = _pins()
        number = st.session_state["pins.number"] = st.session_state.get("pins.number", 0) + 1
        pins[study, number] = {
            "title": title, "matrix": matrix.copy(), "columns": columns, "limit": limit, "cards": list(cards),
        }  # fmt: skip
        while len(pins) > _MAX_PINS:
            pins.pop(next(iter(pins)))

    st.button("Pin this release", key="estimate-pin", on_click=pin, help="Keeps it below.")


def section() -> None:
    """Show the pins, each on its own colour range; nothing when there are none."""
    if not _pins():
        return
    st.header("Pinned")
    st.caption("Each on its own scale; gone with this visit.")
    places = st.columns(_MAX_PINS)
    for place, (key, pin) in zip(places, list(_pins().items()), strict=False):
        with place, st.container(border=True):
            st.markdown(f"**{show.as_text(pin['title'])}**")
            picture = heatmap(
                pin["matrix"], pin["columns"], pin["limit"], frame.palette(), what=f"pinned release {key[1]}"
            )
            show.picture(picture, f"square-pin-{key[1]}")
            st.text("\n".join(f"{name}: {value}" for name, value in pin["cards"]))
            st.button("Remove", key=f"estimate-unpin-{key[1]}", on_click=_remove, args=(key,), width="stretch")
