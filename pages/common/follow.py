"""The released matrix follows the level while it is dragged: releases at a few levels go to the browser beforehand."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import streamlit as st

from pages.common import fields, show, study_results
from pages.common.study import Study
from privcov.estimators.base import METHODS
from privcov.metrics.errors import error
from privcov.plots.matrices import colours_of
from privcov.plots.palette import Palette

LEVELS = 13
MAX_COLUMNS = {"covariance": 100, "precision": 40}  # more would take seconds
_FOLLOW = st.components.v2.component(
    "privcov_follow", html="", js=Path(__file__).with_suffix(".js").read_text(), isolate_styles=False
)


def draw(
    study: Study, limit: float, palette: Palette, key: str, *, method: str = "", against: str = "sample", how: str = ""
) -> None:
    """Let the matrix shown under ``key``, with colours from -limit to limit, follow the level of the study.

    The method itself makes a release at each of a few levels, from the same draw of noise; the browser draws between
    them. Call it last: what the page shows does not wait for it. Only of at most `MAX_COLUMNS` columns. Releases
    of a visitor's file are kept in the visit, for the last study only. ``how`` is that of `show.released_matrix`.
    """
    data, request = study_results.dataset(study), (study.at(1.0), method, limit, against, how)
    if data.d > MAX_COLUMNS[METHODS.get(study.method_key(method)).target]:
        return
    low, high = fields.LEVELS[study.level_name]
    grid = fields.log_grid(low, high)
    levels = [grid[round(k)] for k in np.linspace(0, len(grid) - 1, LEVELS)]

    def make() -> dict[str, Any]:
        made_at, frames, errors, success = [], [], [], []
        for level in levels:
            try:
                rel = study_results.release(study.at(level), method=method)
            except ValueError:  # a level that the method refuses
                continue
            frames.append(frame_of(show.released_matrix(rel, how), limit))
            made_at.append(level)
            errors.append(error(rel, data, relative=True, against=against))
            success.append(rel.attacker_success)
        return {"places": made_at, "frames": frames, "numbers": {"error": errors, "attacker": success}}

    if study_results.is_uploaded(study):
        own = st.session_state.setdefault("follow.own", {})
        if (
            request not in own or own[request][0] is not data.cache
        ):  # another table has another store of computed values
            own.clear()
            own[request] = (data.cache, make())
        animation = own[request][1]
    else:
        animation = study_results.SHARED.get(("follow", *request), make)
    if len(animation["places"]) > 1:
        picture = picture_of(f".st-key-{key} image@, .st-key-{key} img@", 0, animation["frames"], palette)
        send(key, animation["places"], [picture], animation["numbers"])


def blur(study: Study) -> None:
    """Blur what the page shows while the level is dragged, because it belongs to another level."""
    send("page", list(fields.LEVELS[study.level_name]), [], {})


class Frame(TypedDict):
    """The shade of every cell of a matrix, 0 to 255, as text, and its number of columns."""

    shades: str
    wide: int


def frame_of(matrix: np.ndarray, limit: float) -> Frame:
    """Return a matrix in shades from -limit to limit."""
    shades = np.rint((np.clip(matrix / limit, -1, 1) + 1) * 127.5).astype(np.uint8)
    return {"shades": base64.b64encode(shades.tobytes()).decode(), "wide": matrix.shape[1]}


def picture_of(images: str, at: int, frames: list[Frame], palette: Palette) -> dict[str, Any]:
    """Return the frames of one image of the page: image number ``at`` of those that the selector ``images`` finds."""
    colours = colours_of(np.arange(256) / 127.5 - 1, -1, 1, palette.diverging)
    return {"images": images, "at": at, "frames": frames, "colours": base64.b64encode(colours.tobytes()).decode()}


def send(key: str, places: list, pictures: list[dict[str, Any]], numbers: dict[str, list[float]]) -> None:
    """Send the browser the pictures and the numbers at some levels; it interpolates between two of them."""
    lever = ".st-key-strip-level input[type=range]"
    data = {"places": places, "pictures": pictures, "lever": lever, "numbers": numbers}
    # As bytes: of anything else Streamlit asks pandas whether it is a table, and Home loads no pandas.
    _FOLLOW(data=json.dumps(data).encode(), key=f"follow-{key}")
