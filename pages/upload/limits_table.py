"""The table into which limits are typed, one line per column of a file.

Native fields, because Streamlit's grid opens an editor for each cell and loses the keys struck until it stands: a bound
that lacks a digit changes the answer. A run of the page leaves the fields as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
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


def draw(
    typed: pd.DataFrame, fields: Sequence[Field], key: str, caption: str, keep: Callable[[], None]
) -> pd.DataFrame:
    """Draw the table; `typed` with the visitor's changes.

    keep: called before a run that something new was typed for. It keeps what `taken_in` gives, because that run may end
    before it comes to the table: the visitor has clicked on something else that is shown without it.

    A number is a float, NaN where nothing was typed, and the text itself where that is no number: `unread` names it.
    Under another key the table starts anew; under the same one it follows what the page changes in `typed`.
    """
    typed = taken_in(typed, fields, key)
    lines = typed[[field.name for field in fields]].itertuples(index=False, name=None)
    rows = [[_shown(value, field.kind) for value, field in zip(line, fields, strict=True)] for line in lines]
    _DRAW(
        data={
            "columns": [asdict(field) for field in fields],
            "rows": rows,
            "caption": caption,
            "key": key,
            "heard": typed.attrs.get(key, 0),
        },
        key=key,
        on_cells_change=keep,
    )
    return typed


def taken_in(typed: pd.DataFrame, fields: Sequence[Field], key: str) -> pd.DataFrame:
    """`typed` with what was typed into the table of that key, also in a run that does not draw it.

    An edit is taken in once, by its number: what the page itself changed later, it does not undo. The number goes with
    the frame, in `attrs`, so that a run that is cut short loses both or neither.
    """
    heard = typed.attrs.get(key, 0)
    edits = (st.session_state.get(key) or {}).get("cells") or []
    new = sorted((number, row, place, value) for row, place, number, value in edits if number > heard)
    if not new:
        return typed
    found = typed.copy()
    for _, row, place, value in new:
        field = fields[place]
        if not (field.typed and row in found.index):
            raise ValueError("The table of limits came back with other cells: reload the page.")
        found.at[row, field.name] = _meant(value, field)
    found.attrs[key] = new[-1][0]
    return found


def unread(typed: pd.DataFrame, fields: Sequence[Field]) -> str:
    """One sentence on the cells of ticked lines that hold no finite number, or nothing."""
    found = [
        f"{field.label} of {line.column!r} is {text!r}"
        for line in typed[typed["use"]].itertuples()
        for field in fields
        if field.kind == "number" and isinstance(text := getattr(line, field.name), str)
    ]
    if not found:
        return ""
    more = f" and {len(found) - 3} more" * (len(found) > 3)
    return f"{', '.join(found[:3])}{more}, which is not a finite number: type digits, with a point before the decimals."


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
