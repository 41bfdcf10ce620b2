"""Pinned curves: frozen pictures side by side, kept in this visit."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shell import frame, show
from privcov.figures.errors import curves


def _remove(key: tuple) -> None:
    _pins().pop(key)


def _pins() -> dict[tuple, dict]:
    """By (owner, number); `session_file.forget_results` removes those of a file."""
    return st.session_state.setdefault("pins", {})


def add(
    owner: object, title: str, error: str, summary: pd.DataFrame, lines: list, x_label: str, log: bool, log_error: bool
) -> None:
    """Freeze a set of curves. owner: the study of a CSV, else ""."""
    number = st.session_state["pins.number"] = st.session_state.get("pins.number", 0) + 1
    _pins()[owner, number] = {
        "title": title,
        "error": error,
        "summary": summary.copy(),
        "lines": list(lines),
        "x_label": x_label,
        "log": log,
        "log_error": log_error,
    }
    st.session_state["pins.told"] = True


def tell() -> None:
    """Say so once, below the button: a callback of a fragment may not show anything itself."""
    if st.session_state.pop("pins.told", False):
        st.toast("Pinned. It stands in the tab Pinned.")


def section() -> None:
    """The pinned curves, two side by side."""
    pins = _pins()
    if not pins:
        st.info("Nothing is pinned yet. Draw curves and press Pin below them; two pins stand side by side here.")
        return
    st.caption("Frozen as they were when pinned, and gone with this visit.")
    kept = list(pins.items())
    for start in range(0, len(kept), 2):
        for place, (key, pin) in zip(st.columns(2), kept[start : start + 2], strict=False):
            with place, st.container(border=True):
                _one(key, pin)


def _one(key: tuple, pin: dict) -> None:
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.markdown(f"**{key[1]}. {show.as_text(pin['title'])}**")
    right.button("Remove", key=f"unpin-{key[1]}", on_click=_remove, args=(key,), width="stretch")
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
                log_error=pin["log_error"],
            ),
            f"pinned-{key[1]}",
        )
