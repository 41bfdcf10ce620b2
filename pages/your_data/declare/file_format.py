"""How a table is written: guessed from the first rows of a public file; of a confidential one asked, where not plain.

Of a confidential file the names of the columns alone are shown; the marks of its numbers are never guessed.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice

import streamlit as st

from pages.common import hosted, memory, show, visitor_files
from pages.common.visitor_files import TableForm
from privcov.tables.declaration.csv_file import MAX_HEADER_BYTES, read_header
from privcov.tables.readers import as_csv, columnar, excel, says_how
from privcov.tables.readers.dialect import (
    ENCODINGS,
    MAX_HEADER_ROW,
    SEPARATORS,
    Dialect,
    header_to_utf8,
    proposed_separator,
    to_utf8,
)
from privcov.tables.readers.table_files import HeaderError

_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1", "cp1252": "Windows (cp1252)"}
_DECIMALS = {",": "1,5 (decimal comma)", ".": "1.5 (decimal point)"}
_THOUSANDS = {"": "none", ",": "1,000", ".": "1.000", " ": "1 000", "'": "1'000"}
_NAMES_ALONE = (
    "The row of the column names is read, and its cells become public names: never choose a row about a person."
)
_LINES = 6  # the first line and five rows
_GUESSED_FROM = 100_000  # letters
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a]")  # in no text; UTF-16 has zeros
_GROUPED = re.compile(  # 1,234.5 and 1.234,5; blanks and apostrophes as well
    r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?|(?:[ '\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?)"
)
_LINE_END = re.compile(rb"[\r\n]")
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class UploadedTable:
    """An uploaded file: its text as CSV, how it is written where that is known, and the workbook that it is from.

    A workbook becomes text once the place of its table is known. problem: why the owner is asked.
    """

    raw: bytes
    dialect: Dialect | None = None
    workbook: bytes = b""
    sheets: tuple[str, ...] = ()
    problem: str = ""

    def header(self) -> tuple[str, ...]:
        """Return the column names, () where it has to be asked how the file is written."""
        if self.dialect is None:
            return ()
        try:
            return tuple(read_header(self.raw[: MAX_HEADER_BYTES + 1], self.dialect))
        except HeaderError as problem:
            if not self.raw.strip():
                raise
            self.dialect, self.problem = None, str(problem)  # a perhaps a title above them
            return ()


def read_upload(file) -> UploadedTable:
    """Return an uploaded file; raise ValueError for a workbook or Parquet file that is refused."""
    if file.size > (most := visitor_files.megabytes()) << 20:
        raise ValueError(f"The file has {file.size / 1e6:,.1f} MB and this server takes {most} MB.")
    if file.name.lower().endswith(columnar.ENDING) and hosted.is_reachable():
        raise ValueError("This server takes no Parquet: a small file can unpack to more than it has. Save it as CSV.")
    visitor_files.wait_for_room(memory.MAX_CELLS if says_how(file.name) else file.size)  # a workbook is packed
    raw = file.getvalue()
    if file.name.lower().endswith(excel.ENDING):
        sheets = tuple(excel.sheets_of(raw, file.name))
        if len(sheets) > 1:
            return UploadedTable(raw, None, raw, sheets)
        try:
            return UploadedTable(as_csv(raw, file.name), Dialect(), raw, sheets)
        except HeaderError as problem:
            return UploadedTable(raw, None, raw, sheets, str(problem))
    return UploadedTable(as_csv(raw, file.name), Dialect() if says_how(file.name) else None)


def guessed(raw: bytes) -> Dialect | None:
    """Return how a public file seems to be written, by its header and its first rows.

    None where a mark may stand between thousands, as in 4.595, and where another line has more cells than the first,
    which may be a title. Raises ValueError where it is no text.
    """
    encoding = ENCODINGS[_likely(raw)]
    text = to_utf8(Dialect(encoding=encoding), raw, "The file").decode("utf-8-sig", "replace")
    lines = text[:_GUESSED_FROM].splitlines()
    separator = proposed_separator(lines[0] if lines else "")
    n_columns = len(next(csv.reader(lines[:1], delimiter=separator), []))
    if n_columns and any(len(row) > n_columns for mark in SEPARATORS for row in csv.reader(lines[1:], delimiter=mark)):
        return None
    cells = [cell.strip() for row in csv.reader(lines[1:], delimiter=separator) for cell in row]
    commas, points = ([c for c in cells if re.fullmatch(rf"[+-]?\d*{mark}\d+", c)] for mark in (",", r"\."))
    grouped = [c for c in cells if _GROUPED.fullmatch(c)]
    if any(c not in points for c in grouped) or (separator != "," and points and set(points) <= set(grouped)):
        return None
    return Dialect(separator, "," if len(commas) > len(points) else ".", encoding)


def plain_header(raw: bytes) -> bool:
    """Return whether a confidential file needs no question: its first line is divided by commas, and it is UTF-8.

    A line that nothing divides may be a title.
    """
    line = _first_line(raw)
    divided = b"," in line or not line.strip() or len(line) == MAX_HEADER_BYTES
    commas = raw[:2] not in _MARKS_OF_UTF16 and proposed_separator(line.decode("utf-8-sig", "replace")) == ","
    return commas and divided and _is_utf8(line)


def ask(form: TableForm, key: str, *, rows: bool) -> bool:
    """Show the questions, with the first rows or with the names alone, and take the answer once it is given."""
    st.markdown(
        "**How is the file written?**" + ("" if rows else " Confirm it once: nothing is guessed from its rows.")
    )
    if form.problem:
        st.warning(show.as_text(f"{form.problem} Where a title stands above the names, choose their row here."))
    if not rows:
        st.caption(_NAMES_ALONE)
    dialect = _sheet(form, key) if form.workbook else _text(form.raw, key, rows)
    if dialect is None:
        return False
    try:
        rewrite(form, dialect)
    except ValueError as problem:
        st.error(show.as_text(str(problem)))
        return False
    return True


def rewrite(form: TableForm, dialect: Dialect) -> None:
    """Read the column names as a dialect says, of another sheet as well; raise ValueError where they are none."""
    raw = as_csv(form.workbook, form.file_name, dialect) if form.workbook else form.raw
    header = tuple(read_header(raw[: MAX_HEADER_BYTES + 1], dialect))
    if header != form.header:
        form.column_table = None
    form.raw, form.header, form.dialect, form.problem = raw, header, dialect, ""


def _sheet(form: TableForm, key: str) -> Dialect | None:
    left, right = st.columns(2)
    sheet = left.selectbox("Sheet", form.sheets, 0, format_func=show.as_text, key=f"{key}-sheet")
    row = _header_row(right, key)
    pressed = st.button("Read the column names", key=f"{key}-read", type="primary")
    return Dialect(sheet=sheet if len(form.sheets) > 1 else "", header_row=row) if pressed else None


def _header_row(place, key: str) -> int:
    return place.number_input("Row of the column names", 1, MAX_HEADER_ROW, 1, key=f"{key}-header-row")


def _text(raw: bytes, key: str, rows: bool) -> Dialect | None:
    left, right = st.columns(2)
    row = _header_row(left, key)
    thousands = right.selectbox(
        "Mark between thousands", list(_THOUSANDS), 0, format_func=_THOUSANDS.__getitem__, key=f"{key}-thousands"
    )
    encoding = right.selectbox(
        "Encoding",
        ENCODINGS,
        _likely(raw if rows else _first_line(raw)),
        format_func=_NAMES.__getitem__,
        key=f"{key}-encoding",
    )
    dialect = Dialect(encoding=encoding, header_row=row)
    try:
        if rows:
            text = to_utf8(dialect, raw, "The file").decode("utf-8-sig")
        else:
            above = header_to_utf8(dialect, raw[:MAX_HEADER_BYTES], "The first line").splitlines()[:row]
            text = b"\n".join(above).decode("utf-8-sig")
    except ValueError:  # also where UTF-8 is not it
        if _CONTROL.search(raw[:MAX_HEADER_BYTES]):
            st.error("The file is no text, as it has control characters: choose another file.")
        else:
            st.error(f"The file is not {_NAMES[encoding]} text: choose another encoding.")
        return None
    lines = text[:MAX_HEADER_BYTES].splitlines()[row - 1 :][:_LINES]
    marks = list(SEPARATORS)
    separator = left.selectbox(
        "Between the cells",
        marks,
        marks.index(proposed_separator(lines[0] if lines else "")),
        format_func=SEPARATORS.__getitem__,
        key=f"{key}-separator-{row}",  # another line, another proposal
    )
    cells = [[cell.strip() for cell in row] for row in islice(csv.reader(lines, delimiter=separator), _LINES)]
    if rows or row == 1:  # a later row may be a person
        with st.container(border=True):
            st.caption("The first rows" if rows else "The names of the columns")
            st.text("\n".join("   |   ".join(row) for row in cells))
    st.markdown("One and a half is written in the file as:")
    pressed = None
    with st.container(horizontal=True):
        for mark, label in _DECIMALS.items():
            if st.button(label, key=f"{key}-decimal-{'comma' if mark == ',' else 'point'}"):
                pressed = mark
    if pressed is None:
        return None
    try:
        return Dialect(separator, pressed, encoding, thousands or "", row)
    except ValueError as problem:
        st.error(show.as_text(str(problem)))
        return None


def _first_line(raw: bytes) -> bytes:
    return _LINE_END.split(raw[:MAX_HEADER_BYTES], 1)[0]


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True


def _likely(head: bytes) -> int:
    """Return the place of the encoding to begin with: by its byte order mark, else UTF-8 or, failing that, cp1252."""
    if head[:2] in _MARKS_OF_UTF16:
        return ENCODINGS.index("utf-16")
    return ENCODINGS.index("utf-8" if _is_utf8(head) else "cp1252")
