"""What the tests of table files share: writing a table in every format, and reading it back whole."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcov.tables.readers import blocks_of, parts_of

FORMATS = ("csv", "csv.gz", "parquet", "arrow", "feather")


def csv_text(columns: dict) -> str:
    """Every float by repr, so that no bit is lost; missing cells are blank."""
    rows = zip(*columns.values(), strict=True)
    spelt = (",".join("" if cell is None or cell != cell else str(cell) for cell in row) for row in rows)
    return "\n".join([",".join(columns), *spelt, ""])


@pytest.fixture
def write(tmp_path):
    """write("rows.parquet", {"a": [...]}, group=rows per row group or record batch) -> path."""

    def write_(name: str, columns: dict, group: int = 1000):
        path = tmp_path / name
        lists = {
            key: [cell.item() if hasattr(cell, "item") else cell for cell in cells] for key, cells in columns.items()
        }
        if name.endswith(".csv"):
            path.write_text(csv_text(lists), encoding="utf-8")
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(csv_text(lists).encode()))
        elif name.endswith(".parquet"):
            pq.write_table(pa.table(lists), path, row_group_size=group)
        else:
            table = pa.table(lists)
            options = pa.ipc.IpcWriteOptions(compression="lz4" if name.endswith("feather") else None)
            with pa.ipc.new_file(path, table.schema, options=options) as out:
                out.write_table(table, max_chunksize=group)
        return path

    return write_


@pytest.fixture
def whole():
    """whole(table) -> (n x d cells, list of labels or None), from all parts in order."""

    def whole_(table, cells: int = 8_000_000, rows: int = 8192, private: bool = False):
        blocks = [
            block
            for part in parts_of(table, cells)
            for block in blocks_of(part, table.columns, table.label, rows, private=private)
        ]
        assert all(block.cells.shape[1] <= rows for block in blocks)
        assert all(block.cells.flags.c_contiguous and block.cells.dtype == np.float64 for block in blocks)
        labels = [block.labels[0][code] for block in blocks if table.label for code in block.labels[1]]
        return np.concatenate([block.cells for block in blocks], axis=1).T, labels if table.label else None

    return whole_
