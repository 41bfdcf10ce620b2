"""Write text that leaves the app: names that a spreadsheet must not run and a browser must not read as markup."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable

import numpy as np

from privcov.releases.release import json_default

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Where a reader of another separator, or of lines, begins a cell inside the text.
_INNER = re.compile(r"""[;,\t\r\n][ \u00a0\u3000"]*(?=[=+\-@|%\uff1d\uff0b\uff0d\uff20])""")


def cell(text: object) -> str:
    """Return a text cell or header that no spreadsheet takes for a formula: an apostrophe in front where it would.

    Also behind every separator in the text, because whoever opens the file may choose another one.
    Numbers are not text: a column of them may begin with a minus sign.
    """
    words = "".join(c for c in str(text) if c in "\t\r\n" or unicodedata.category(c) not in ("Cc", "Cf"))
    risky = words.startswith(_FORMULA) or words.lstrip(" \u00a0\u3000").startswith(_FORMULA)
    words = _INNER.sub(r"\g<0>'", words)
    return "'" + words if risky else words


def cells(names: Iterable[object]) -> list[str]:
    """Return `cell` of every name; names that differ only in invisible letters get a number behind them."""
    distinct: list[str] = []
    for name in map(cell, names):
        number, fresh = 1, name
        while fresh in distinct:
            number += 1
            fresh = f"{name} ({number})"
        distinct.append(fresh)
    return distinct


def table(matrix: np.ndarray, columns: tuple[str, ...], rows: tuple[str, ...], corner: str = "") -> str:
    """Return CSV with names on top and in front; every number is written so that it reads back as the same double."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([corner, *cells(columns)])
    for name, line in zip(cells(rows), np.atleast_2d(matrix), strict=True):
        writer.writerow([name, *(repr(float(x)) for x in line)])
    return out.getvalue()


# JSON in one fixed form: sorted and ASCII, so that a changed byte never reads as the same file.
ENCODER = json.JSONEncoder(indent=1, sort_keys=True, ensure_ascii=True, default=json_default)


def json_bytes(value: object) -> bytes:
    """Return JSON in its one fixed form."""
    return (ENCODER.encode(value) + "\n").encode()
