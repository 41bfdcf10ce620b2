"""How a public CSV is written: asked once, where its first line or its bytes are not those of a plain CSV."""

from __future__ import annotations

import csv
from itertools import islice

import streamlit as st

from pages.shell import show
from privcov.data_sources.csv_file import MAX_HEADER_BYTES, read_header
from privcov.table_files.dialect import ENCODINGS, SEPARATORS, Dialect, proposed_separator

_MARKS = {",": "1,5 (decimal comma)", ".": "1.5 (decimal point)"}
_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1", "cp1252": "Windows (cp1252)"}
_LINES = 6  # the first line and five rows


def plain(raw: bytes) -> bool:
    """Return whether a file needs no question: its first line is divided by commas, and it is UTF-8."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return proposed_separator(text[:MAX_HEADER_BYTES].partition("\n")[0]) == ","


def of_header(raw: bytes) -> Dialect:
    """Return a dialect for the names of the columns alone, by the separator that the first line suggests."""
    line = raw[:MAX_HEADER_BYTES].partition(b"\n")[0].decode("utf-8-sig", "replace")
    return Dialect(proposed_separator(line), ".")


def asked(raw: bytes, key: str) -> Dialect | None:
    """Show the questions with the first rows of a public file, and return the answer once it is given."""
    st.markdown("**How is the file written?** Nothing is taken from its rows: confirm it once.")
    left, middle, right = st.columns(3)
    encoding = right.selectbox(
        "Encoding", ENCODINGS, _likely(raw), format_func=_NAMES.__getitem__, key=f"{key}-encoding"
    )
    try:
        text = Dialect(encoding=encoding).to_utf8(raw, "The file").decode("utf-8-sig")
    except ValueError:  # also where UTF-8 is not it
        st.error(f"The file is not {_NAMES[encoding]} text: choose another encoding.")
        return None
    lines = text[:MAX_HEADER_BYTES].splitlines()[:_LINES]
    marks = list(SEPARATORS)
    separator = left.selectbox(
        "Between the cells",
        marks,
        marks.index(proposed_separator(lines[0] if lines else "")),
        format_func=SEPARATORS.__getitem__,
        key=f"{key}-separator",
    )
    decimal = middle.radio(
        "One and a half is written", _MARKS, None, format_func=_MARKS.__getitem__, key=f"{key}-decimal"
    )
    with st.expander("The first rows", expanded=True):
        cells = islice(csv.reader(lines, delimiter=separator), _LINES)
        st.text("\n".join("   |   ".join(cell.strip() for cell in row) for row in cells))
    open_mark = "Choose first how one and a half is written in the file." if decimal is None else None
    if not st.button("Read the table", type="primary", disabled=decimal is None, help=open_mark):
        return None
    try:
        dialect = Dialect(separator, decimal, encoding)
        read_header(raw, dialect)
    except ValueError as problem:
        st.error(show.as_text(str(problem)))
        return None
    return dialect


def _likely(raw: bytes) -> int:
    """Return the place of the encoding to begin with: by its byte order mark, else UTF-8 or, failing that, cp1252."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ENCODINGS.index("utf-16")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return ENCODINGS.index("cp1252")
    return ENCODINGS.index("utf-8")
