"""Pinned estimates: released matrices frozen with their numbers beside the current one, kept for this visit."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.common import frame, show
from pages.common.pins import Pins
from pages.common.study import Study
from privcov.plots.matrices import heatmap

_MAX_PINS = 4
PINS = Pins("estimate.pins", most=_MAX_PINS)


def button(
    study: Study, title: str, matrix: np.ndarray, columns: tuple, limit: float, cards: list[tuple[str, str]]
) -> None:
    """Show the button that freezes what the page shows now. A fifth pin removes the first."""

    def pin() -> None:
        PINS.add(
            study, {"title": title, "matrix": matrix.copy(), "columns": columns, "limit": limit, "cards": list(cards)}
        )

    st.button("Pin this release", key="estimate-pin", on_click=pin, help="Keeps it below.")


def section() -> None:
    """Show the pins, each on its own colour range; nothing when there are none."""
    if not PINS.all():
        return
    st.header("Pinned")
    st.caption("Each on its own scale; gone with this visit.")
    places = st.columns(_MAX_PINS)
    for place, (key, pin) in zip(places, list(PINS.all().items()), strict=False):
        with place, st.container(border=True):
            st.markdown(f"**{show.as_text(pin['title'])}**")
            picture = heatmap(
                pin["matrix"], pin["columns"], pin["limit"], frame.palette(), what=f"pinned release {key[1]}"
            )
            show.picture(picture, f"square-pin-{key[1]}")
            st.text("\n".join(f"{name}: {value}" for name, value in pin["cards"]))
            st.button("Remove", key=f"estimate-unpin-{key[1]}", on_click=PINS.remove, args=(key,), width="stretch")
