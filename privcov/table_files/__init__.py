"""Read tables in files too large for memory: CSV (plain or gzip), Parquet, Arrow and Excel, one or many.

`describe` reads headers, `count_rows` the number of rows, `parts_of` cuts the table into independent pieces, and
`blocks_of` reads one piece in blocks of float64 columns. Nothing here depends on what the numbers mean or whether they
are private; for private rows no message says what a cell holds.

Where a cell becomes a number: in a CSV `csv_rows._Reader`, by pyarrow, and by `numbers.number_of` where a cell is one
that pyarrow would read otherwise; in Parquet and Arrow `blocks.as_written`; a column with a declared kind in `coding`.
"""

from privcov.table_files.blocks import Block, RawCells, Words
from privcov.table_files.dialect import Dialect
from privcov.table_files.facts import FileFacts, Part, TableFileError, TableFiles
from privcov.table_files.reading import blocks_of, count_rows, describe, parts_of, raw_cells_of_part

__all__ = [
    "Block",
    "Dialect",
    "FileFacts",
    "Part",
    "RawCells",
    "TableFileError",
    "TableFiles",
    "Words",
    "blocks_of",
    "count_rows",
    "describe",
    "parts_of",
    "raw_cells_of_part",
]
