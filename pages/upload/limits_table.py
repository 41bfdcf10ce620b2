"""The table into which limits are typed, one line per column of a file.

Native fields, because Streamlit's grid opens an editor for each cell and loses the keys struck until it stands: a bound
that lacks a digit changes the answer. A run of the page leaves the fields as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

_HERE = Path(__file__)
_DRAW = st.components.v2.component(
    "privcov_limits",
    html='<div class="pc-limits"><table><caption></caption><thead></thead><tbody></tbody></table></div>',
    css=_HERE.with_suffix(".css").read_text(),
    js=_HERE.with_suffix(".js").read_text(),
    isolate_styles=False,  # so that what a test or a screen reader asks of the page is asked of these fields too
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I | re.A)


@dataclass(frozen=True)
class Field:
    """One column of the table: what the frame calls it, what stands above it, and what may be typed.

    kind: "tick", "number" and "text" are typed; "name" says which line it is; "count" and "fact" are told. most:
    characters of a text, 0 for any number.
    """

    name: str
    label: str
    kind: Literal["tick", "number", "text", "name", "count", "fact"]
    help: str = ""
    most: int = 0

    @property
    def typed(self) -> bool:
        """True where the visitor types."""
        return self.kind in ("tick", "number", "text")


def draw(typed: pd.DataFrame, fields: Sequence[Field], key: str, caption: str) -> pd.DataFrame:
    """The table on the page, and what stands in it now: `typed` with the visitor's changes.

    A number is a float, NaN where nothing was typed, and the text itself where that is no number: `unread` names it.
    Under another key the table starts anew.
    """
    lines = typed[[field.name for field in fields]].itertuples(index=False, name=None)
    rows = [[_shown(value, field.kind) for value, field in zip(line, fields, strict=True)] for line in lines]
    _DRAW(
        data={"columns": [asdict(field) for field in fields], "rows": rows, "caption": caption},
        key=key,
        on_cells_change=lambda: None,
    )
    return taken_in(typed, fields, key)


def taken_in(typed: pd.DataFrame, fields: Sequence[Field], key: str) -> pd.DataFrame:
    """`typed` with what stands in the table of that key, also in a run that does not draw it."""
    cells = (st.session_state.get(key) or {}).get("cells")
    if cells is None:
        return typed
    if len(cells) != len(typed) or any(len(line) != len(fields) for line in cells):
        raise ValueError(f"The table of limits came back with {len(cells)} lines, not {len(typed)}: reload the page.")
    found = typed.copy()
    for field, column in zip(fields, zip(*cells, strict=True), strict=True):
        if field.typed:
            kept = bool if field.kind == "tick" else object
            found[field.name] = pd.Series([_meant(value, field) for value in column], found.index, kept)
    return found


def unread(typed: pd.DataFrame, fields: Sequence[Field]) -> str:
    """One sentence on the first cell of a ticked line that holds no finite number, or nothing."""
    for line in typed[typed["use"]].itertuples():
        for field in fields:
            if field.kind == "number" and isinstance(text := getattr(line, field.name), str):
                return (
                    f"{field.label} of {line.column!r} is {text!r}, which is not a finite number: type digits, with a "
                    "point before the decimals."
                )
    return ""


def _shown(value: object, kind: str) -> str | bool:
    if kind == "tick":
        return bool(value)
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value)).removesuffix(".0")
    return str(value)


def _meant(value: object, field: Field) -> bool | float | str:
    if field.kind == "tick":
        return value is True
    text = str(value).strip()
    if field.kind == "text":
        return text[: field.most or None]
    plain = text.replace("\N{MINUS SIGN}", "-")
    if not plain:
        return math.nan
    return float(plain) if _NUMBER.fullmatch(plain) and math.isfinite(float(plain)) else text
