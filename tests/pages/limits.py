"""The table of limits in tests without a browser: what it was told to draw, and what it sends back."""

from __future__ import annotations

import json

import pandas as pd
from streamlit.testing.v1 import AppTest


def drawn(at: AppTest) -> pd.DataFrame:
    """The one table on the page as the browser is told to draw it; numbers are texts."""
    (node,) = [e for e in at.get("bidi_component") if e.proto.component_name.endswith("privcov_limits")]
    told = json.loads(node.proto.json)
    return pd.DataFrame(told["rows"], columns=[column["name"] for column in told["columns"]])


def type_in(at: AppTest, cells: dict[int, dict]) -> None:
    """Into the lines of that number, {column: text}; None empties a field. The next run brings it."""
    (node,) = [e for e in at.get("bidi_component") if e.proto.component_name.endswith("privcov_limits")]
    told = json.loads(node.proto.json)
    places = [column["name"] for column in told["columns"]]
    edits = [
        (row, places.index(name), "" if value is None else value if isinstance(value, bool) else str(value))
        for row, values in cells.items()
        for name, value in values.items()
    ]
    first = told["heard"] + 1
    at.session_state[node.key] = {
        "cells": [[row, place, first + n, value] for n, (row, place, value) in enumerate(edits)]
    }
