"""Read Parquet and Arrow files: their metadata, and their columns as Arrow has them.

Files are opened without memory mapping: a mapped file that another program cuts short would end the whole process.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from privcov.core import extras
from privcov.tables.readers.kinds import DATE, Kind
from privcov.tables.readers.numbers import no_numbers, short_name
from privcov.tables.readers.table_files import FileFacts, Part, TableFileError, quote

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def facts(path: str, kind: str, size: int, modified_ns: int) -> FileFacts:
    """Return the names of the columns and the number of rows, from the metadata."""
    with closing(_ColumnarFile(path, kind)) as reader:
        return FileFacts(path, kind, size, modified_ns, sum(reader.rows_of_groups), tuple(reader.schema.names))


def check_types(
    file: FileFacts, columns: Sequence[str], label: str, person: str = "", kinds: Sequence[Kind] = ()
) -> None:
    """Raise TableFileError when a column can hold something else than its kind, or the label than text or integers.

    Columns without kinds hold numbers. Ids of persons may be text or numbers.
    """
    import pyarrow.types as t

    with closing(_ColumnarFile(file.path, file.format)) as reader:
        for name, declared_kind in zip(columns, kinds, strict=True) if kinds else ():
            arrow_type = reader.schema.field(name).type
            if not _can_be(declared_kind, arrow_type.value_type if t.is_dictionary(arrow_type) else arrow_type):
                raise TableFileError(
                    f"Column {quote(name)} of {file.path} has the type {short_name(arrow_type)} and is declared as "
                    f"{declared_kind.kind}, which every cell of it would miss: declare another kind, or leave it out."
                )
        for name in () if kinds else columns:
            if kind := no_numbers(reader.schema.field(name).type):
                raise TableFileError(
                    f"Column {quote(name)} of {file.path} has the type {kind} and only numbers can be "
                    "measured: leave it out, or write it as float64."
                )
        for name, noun, plural in ((label, "label", "labels"), (person, "id", "ids")):
            if not name:
                continue
            kind = reader.schema.field(name).type
            kind = kind.value_type if t.is_dictionary(kind) else kind
            # Whole numbers with a missing one among them are often kept as floating-point numbers.
            if not (
                _is_text(kind) or t.is_null(kind) or t.is_integer(kind) or (name == person and t.is_floating(kind))
            ):
                raise TableFileError(
                    f"The {noun} column {quote(name)} of {file.path} has the type {short_name(kind)} and {plural} must "
                    "be text or whole numbers: write it as one of them."
                )


def parts(file: FileFacts, rows: int) -> Iterator[Part]:
    """Yield whole row groups or record batches, as many as make up ``rows`` rows."""
    with closing(_ColumnarFile(file.path, file.format)) as reader:
        first = total = 0
        for at, some in enumerate(reader.rows_of_groups):
            total += some
            if total >= rows:
                yield Part(file, total, first, at + 1)
                first, total = at + 1, 0
        if total:
            yield Part(file, total, first, len(reader.rows_of_groups))


def batches(part: Part, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the named columns of a part, at most ``rows`` rows of Parquet or a whole record batch of Arrow at a time.

    At most one record batch is held, or some pages of every wanted column of a row group.
    """
    with closing(_ColumnarFile(part.file.path, part.file.format, part.file)) as reader:
        yield from reader.batches(part.first, part.last, list(names), rows)


ENDING = ".parquet"
MAX_BYTES = 500_000_000  # of the text: repeated cells take hardly any room in the file
_CELLS = 1_000_000  # at once


def as_csv(raw: bytes, title: str) -> bytes:
    """Return a Parquet file in memory as CSV: commas, decimal points, UTF-8, every number with all its digits."""
    extras.require("pyarrow", "Parquet files")
    problem = ""
    try:
        return _to_csv(raw, title)
    except (TableFileError, MemoryError):
        raise
    except Exception:  # the words of a library might repeat a cell
        problem = f"{title} is damaged, or no Parquet file: write it again, or save the table as CSV."
    raise TableFileError(problem)


def _to_csv(raw: bytes, title: str) -> bytes:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    names = [field.name for field in pq.read_schema(pa.BufferReader(raw)) if _is_text(field.type)]
    parquet = pq.ParquetFile(
        pa.BufferReader(raw), read_dictionary=names, pre_buffer=False, coerce_int96_timestamp_unit="us"
    )
    types = {field.name: _cell_type(field.type) for field in parquet.schema_arrow}
    if len(types) < len(parquet.schema_arrow):
        raise TableFileError(f"{title} has two columns of one name: rename one of them.")
    out, schema = io.BytesIO(), pa.schema([(name, kind or pa.string()) for name, kind in types.items()])
    read = [name for name, kind in types.items() if kind is not None]
    with pa.csv.CSVWriter(out, schema) as writer:
        for batch in parquet.iter_batches(max(1, _CELLS // len(types)), columns=read, use_threads=False):
            _at_most(out.tell() + 2 * _letters(batch), title)  # a quotation mark is written twice
            cells = [
                batch.column(field.name).cast(kind)
                if (kind := types[field.name]) is not None
                else pa.array(
                    [f"<{short_name(field.type)}>"] * batch.num_rows, pa.string()
                )  # lists, bytes and the like
                for field in parquet.schema_arrow
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(cells, schema=schema))
            _at_most(out.tell(), title)
    return out.getvalue()


def _at_most(size: int, title: str) -> None:
    if size > MAX_BYTES:
        raise TableFileError(f"{title} has more than {MAX_BYTES / 1e6:,.0f} MB as text: keep fewer rows.")


def _is_text(arrow_type: pa.DataType) -> bool:
    import pyarrow.types as t

    return t.is_string(arrow_type) or t.is_large_string(arrow_type) or t.is_string_view(arrow_type)


def _cell_type(arrow_type: pa.DataType) -> pa.DataType | None:
    """Return the type as which a column is written, None for one that holds no cells of a table."""
    import pyarrow as pa
    import pyarrow.types as t

    kind = arrow_type.value_type if t.is_dictionary(arrow_type) else arrow_type
    if t.is_boolean(kind):
        return pa.int8()
    if t.is_floating(kind):
        return pa.float64()
    if t.is_date(kind) or t.is_timestamp(kind):
        return pa.date32()
    return kind if _is_text(kind) or t.is_integer(kind) or t.is_decimal(kind) or t.is_null(kind) else None


def _letters(batch: pa.RecordBatch) -> int:
    """Return the bytes of the texts of a batch before they are written out, one by one."""
    import pyarrow.compute as compute
    import pyarrow.types as t

    total = 0
    for column in batch.columns:
        if t.is_dictionary(column.type) and _is_text(column.type.value_type):
            sizes = compute.binary_length(column.dictionary)
            total += compute.sum(compute.cast(sizes.take(column.indices), "int64")).as_py() or 0
    return total


class _ColumnarFile:
    """One file with the same interface for both formats: a schema, the rows of its groups, and a group's columns."""

    def __init__(self, path: str, kind: str, file: FileFacts | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.kind, self._source = path, kind, pa.OSFile(path)
        try:
            if kind == "parquet":
                footer = _footer(file) if file else None
                self._parquet = pq.ParquetFile(self._source, metadata=footer, buffer_size=1 << 20, pre_buffer=False)
                self.schema = self._parquet.schema_arrow
            else:
                self._arrow = pa.ipc.open_file(self._source)
                self.schema = self._arrow.schema
        except BaseException:
            self._source.close()
            raise

    def close(self) -> None:
        self._source.close()

    @property
    def rows_of_groups(self) -> list[int]:
        if self.kind == "parquet":
            metadata = self._parquet.metadata
            return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        some = self._some_columns(self.schema.names[:1])
        return [some.get_batch(batch).num_rows for batch in range(some.num_record_batches)]

    def batches(self, first: int, last: int, names: list[str], rows: int) -> Iterator:
        """Yield the named columns of some groups, in order and without threads: the caller reads parts in parallel."""
        groups = range(first, last)
        if self.kind == "arrow":
            some = self._some_columns(names)
            yield from (some.get_batch(group) for group in groups)
        else:
            yield from self._parquet.iter_batches(rows, row_groups=groups, columns=names, use_threads=False)

    def _some_columns(self, names: list[str]) -> pa.RecordBatchFileReader:
        import pyarrow as pa

        if not names:  # an empty list would mean all
            return self._arrow
        places = [self.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
        return pa.ipc.open_file(self._source, options=options)


@functools.lru_cache(maxsize=2)
def _footer(file: FileFacts) -> pq.FileMetaData:
    """Return the metadata of a Parquet file, which can be long and is needed by each of its parts."""
    import pyarrow.parquet as pq

    return pq.read_metadata(file.path)


def _can_be(kind: Kind, arrow_type: pa.DataType) -> bool:
    import pyarrow.types as t

    if _is_text(arrow_type) or t.is_null(arrow_type):
        return True
    if kind.kind == DATE:
        return t.is_date(arrow_type) or t.is_timestamp(arrow_type) or t.is_integer(arrow_type)
    return t.is_integer(arrow_type) or t.is_floating(arrow_type) or t.is_boolean(arrow_type) or t.is_decimal(arrow_type)
