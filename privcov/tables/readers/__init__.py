"""Read tables in files too large for memory: CSV (plain or gzip), Parquet, Arrow and Excel, one or many.

`describe` reads headers, `count_rows` the number of rows, `parts_of` cuts the table into independent pieces, and
`blocks_of` reads one piece in blocks of float64 columns. Nothing here depends on what the numbers mean or whether they
are private; for private rows no message says what a cell holds.

Every file becomes a table of Arrow (`csv_rows.tables`, `columnar.batches`), and a column of it numbers in one place:
`numbers.floats_of`, or `coding.coded_column` where it has a declared kind. The owner's check reads the same tables.
"""

from privcov.tables.readers.blocks import Block
from privcov.tables.readers.dialect import Dialect
from privcov.tables.readers.reading import as_csv, blocks_of, count_rows, describe, parts_of, says_how, tables_of
from privcov.tables.readers.table_files import FileFacts, Part, TableFileError, TableFiles

__all__ = [
    "Block",
    "Dialect",
    "FileFacts",
    "Part",
    "TableFileError",
    "TableFiles",
    "as_csv",
    "blocks_of",
    "count_rows",
    "describe",
    "parts_of",
    "says_how",
    "tables_of",
]
