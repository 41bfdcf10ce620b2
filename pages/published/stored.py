"""What was decided about the papers, as `python -m replication publish` wrote it to data/replication."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from privcov.core import places

_NUMBERS = (
    "paper", "value", "se", "printed_se", "ours", "ours_se", "sound", "sound_se", "x", "cells", "ratio", "published",
    "trivial", "least", "times", "times_low", "times_high", "half", "half_low", "half_high", "within", "close", "met",
    "described",
)  # fmt: skip


@st.cache_data(show_spinner=False, max_entries=40)
def _read(name: str, stamp: float) -> pd.DataFrame:
    """Read a file, cached until it changes."""
    table = pd.read_csv(places.results("replication") / name, dtype=str, keep_default_na=False)
    for column in set(_NUMBERS) & set(table):
        table[column] = pd.to_numeric(table[column], errors="coerce").astype(float)
    return table


def stored(name: str, table: str = "") -> pd.DataFrame:
    """Return a file, or its lines about one table or figure."""
    found = _read(name, (places.results("replication") / name).stat().st_mtime)
    return found[found["table"] == table] if table else found
