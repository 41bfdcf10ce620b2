"""Writes example.csv, byte for byte the same each time: `PYTHONPATH=. python data/make_example.py`.

A health survey of 20,000 invented people. The links between the columns are in privcov/data_sources/example.py.
"""

from pathlib import Path

from privcov.data_sources.example import written

if __name__ == "__main__":
    (Path(__file__).parent / "example.csv").write_bytes(written())
