"""The table into which limits are typed, one line per column of a file.

It has native fields, because Streamlit's grid loses keys that are pressed early: a lost digit changes the answer.
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

from privcov.tables.declaration.typical_ranges import ends_in

_HERE = Path(__file__)
_DRAW = st.components.v2.component(
    "privcov_limits",
    html='<div class="pc-limits"><table><caption></caption><thead></thead><tbody></tbody></table></div>',
    css=_HERE.with_suffix(".css").read_text(),
    js=_HERE.with_suffix(".js").read_text(),
    isolate_styles=False,  # so that tests and screen readers reach these fields as well
)
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.I | re.A)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3}|\.000)", re.A)  # or three decimals: nobody knows


@dataclass(frozen=True)
class Field:
    """One column of the table: its name in the frame, its label, and what may be typed.

    ``kind``: "tick", "number" and "text" are typed, "choice" is one of ``options``; "limit" is a number, or any text
    where the line's choice is not one of ``numeric``, or two numbers where it may be a ``range``; "name" names the
    line; "count" and "fact" are shown only.
    ``most`` is the largest number of characters of a text, 0 for any.
    """

    name: str
    label: str
    kind: Literal["tick", "number", "limit", "choice", "text", "name", "count", "fact"]
    help: str = ""
    most: int = 0
    options: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    range: bool = False

    @property
    def editable(self) -> bool:
        """Whether the visitor types into the column."""
        return self.kind in ("tick", "number", "limit", "choice", "text")


def draw(
    table: pd.DataFrame,
    fields: Sequence[Field],
    key: str,
    caption: str,
    keep: Callable[[], None],
    wrong: Callable[[pd.DataFrame], dict[tuple[int, str], str]] | None = None,
) -> pd.DataFrame:
    """Draw the table and return `table` with the visitor's changes.

    A number is a float, NaN where nothing was typed, and the text itself where it is no number: see `unread`.
    Under another key the table starts anew. ``keep`` gets what `taken_in` returns before a run that something new was
    typed for, as that run may end before it reaches the table. ``wrong`` has a sentence for each marked cell.
    """
    table = taken_in(table, fields, key)
    lines = table[[field.name for field in fields]].itertuples(index=False, name=None)
    rows = [[_display_value(value, field.kind) for value, field in zip(line, fields, strict=True)] for line in lines]
    place = {field.name: number for number, field in enumerate(fields)}
    problems = wrong(table) if wrong else {}
    _DRAW(
        data={
            "columns": [asdict(field) for field in fields],
            "rows": rows,
            "wrong": [[row, place[name], why] for (row, name), why in problems.items()],
            "caption": caption,
            "key": key,
            "heard": table.attrs.get(key, 0),
        },
        key=key,
        on_cells_change=keep,
    )
    return table


def taken_in(table: pd.DataFrame, fields: Sequence[Field], key: str) -> pd.DataFrame:
    """Return `table` with what was typed into the table of that key, also in a run that does not draw it.

    An edit is taken in once, by its number, so it does not undo what the page itself changed later. The number is kept
    in the frame's `attrs`, so that a run that is cut short loses both or neither.
    """
    heard = table.attrs.get(key, 0)
    edits = (st.session_state.get(key) or {}).get("cells") or []
    new = sorted((number, row, place, value) for row, place, number, value in edits if number > heard)
    if not new:
        return table
    changed = table.copy()
    for _, row, place, value in new:
        field = fields[place]
        if not (field.editable and row in changed.index):
            raise ValueError("The table of limits came back with other cells: reload the page.")
        changed.at[row, field.name] = parse_cell(value, field)
    changed.attrs[key] = new[-1][0]
    return changed


def unread(table: pd.DataFrame, fields: Sequence[Field]) -> str:
    """Return one sentence on the cells of ticked lines that hold no finite number, or nothing."""
    wrong = [
        f"{field.label} of {line.column!r} is {text!r}"
        for line in table[table["use"]].itertuples()
        for field in fields
        if field.kind in ("number", "limit") and isinstance(text := getattr(line, field.name), str)
        if not (field.range and range_of(text))
    ]
    if not wrong:
        return ""
    more = f" and {len(wrong) - 3} more" * (len(wrong) > 3)
    hint = "type digits, with a point before the decimals, or a comma where it cannot be thousands."
    if any(field.range for field in fields):
        hint = f"{hint[:-1]}; a range as 20 to 70."
    return f"{', '.join(wrong[:3])}{more}, which is not a finite number: {hint}"


def range_of(text: str) -> tuple[float, float] | None:
    """Return the two numbers of a range such as "20 to 70", or None."""
    low, high = (parse_cell(end, Field("", "", "number")) for end in ends_in(text) or ("", ""))
    return (low, high) if isinstance(low, float) and isinstance(high, float) and low == low else None


def _display_value(value: object, kind: str) -> str | bool:
    if kind == "tick":
        return bool(value)
    return shown_number(value)


def shown_number(value: object) -> str:
    """Return a number, "" for none, or another value as the table shows it."""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value)).removesuffix(".0")
    return str(value)


def parse_cell(value: object, field: Field) -> bool | float | str:
    """Return the value of what was typed."""
    if field.kind == "tick":
        return value is True
    text = str(value).strip()
    if field.kind == "choice" and text not in field.options:
        raise ValueError("The table of limits came back with another choice: reload the page.")
    if field.kind in ("text", "choice"):
        return text[: field.most or None]
    plain = text.replace("\N{MINUS SIGN}", "-")
    if not plain:
        return math.nan
    if not _NUMBER.fullmatch(plain) or _THOUSANDS.fullmatch(plain):
        return text
    number = float(plain.replace(",", "."))
    return number if math.isfinite(number) else text
