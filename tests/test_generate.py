"""``python -m privcov study generate``: files of simulated rows, complete or not there at all."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import privcov
from privcov.cli import generate, simulated_files
from privcov.data_sources.base import SOURCES
from privcov.data_sources.private_file import Declaration
from privcov.table_files import blocks_of, count_rows, describe, parts_of
from tests.patience import patient

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(simulated_files, "BLOCK_ROWS", 100)


def rows_in(paths) -> np.ndarray:
    table = count_rows(describe(list(paths)))
    blocks = [b.cells for part in parts_of(table) for b in blocks_of(part, table.columns, private=False)]
    return np.concatenate(blocks, axis=1).T


def shell(*words) -> None:
    """The command as ``python -m privcov`` has it, in this process."""
    parser = argparse.ArgumentParser()
    generate.add_generate(parser.add_subparsers())
    options = parser.parse_args(["generate", *map(str, words)])
    options.act(options)


def nothing_in(folder: Path) -> bool:
    return os.listdir(folder) == []


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".parquet", ".arrow"])
def test_every_format_holds_the_same_bits(tmp_path, kind):
    told = []
    paths = simulated_files.generate(
        "ar1-covariance", tmp_path / f"rows{kind}", n=250, d=3, seed=7, progress=lambda *now: told.append(now[:2])
    )
    found = rows_in(paths)
    source = SOURCES.get("ar1-covariance").cls
    drawn = [
        simulated_files.make_dataset(source(n=rows, d=3), seed=7, repeat=repeat).rows
        for repeat, rows in enumerate((100, 100, 50))
    ]
    assert np.array_equal(found, np.concatenate(drawn))
    assert not np.array_equal(found[:50], found[100:150])
    assert told == [(100, 250), (200, 250), (250, 250)]
    assert os.listdir(tmp_path) == [f"rows{kind}"]


def test_the_rows_do_not_depend_on_the_number_of_files(tmp_path):
    one = simulated_files.generate("ar1-covariance", tmp_path / "rows.arrow", n=250, d=2)
    many = simulated_files.generate("ar1-covariance", tmp_path / "rows.parquet", n=250, d=2, files=4)
    assert [path.name for path in many] == [f"rows-{at}-of-4.parquet" for at in (1, 2, 3, 4)]
    assert [pq.read_metadata(path).num_rows for path in many] == [62, 63, 62, 63]
    assert np.array_equal(rows_in(one), rows_in(many))


def test_a_block_is_a_row_group(tmp_path, monkeypatch):
    (path,) = simulated_files.generate("ar1-covariance", tmp_path / "rows.parquet", n=250, d=2)
    found = pq.read_metadata(path)
    assert [found.row_group(at).num_rows for at in range(found.num_row_groups)] == [100, 100, 50]
    monkeypatch.setattr(simulated_files, "BLOCK_CELLS", 60)
    (path,) = simulated_files.generate("ar1-covariance", path, n=70, d=2)
    assert pq.read_metadata(path).row_group(0).num_rows == 30


def test_sources_without_a_fixed_truth_are_drawn_at_once(tmp_path):
    (path,) = simulated_files.generate("zipf-norms", tmp_path / "rows.parquet", n=250, d=3, seed=4)
    assert np.array_equal(rows_in([path]), privcov.source("zipf-norms", n=250, d=3, random_state=4).rows)
    (path,) = simulated_files.generate("sparse-inverse", path, r=2.5, d=20, seed=4)
    assert np.array_equal(rows_in([path]), privcov.source("sparse-inverse", r=2.5, d=20, random_state=4).rows)


@pytest.mark.parametrize("card", [c for c in privcov.sources() if c.group == "Simulated"], ids=lambda c: c.key)
def test_every_simulated_source_has_one_truth_for_all_blocks(card, tmp_path):
    """Where it has not, one draw holds all rows; `_Rows` tells the two apart."""
    parameters = {"n": 150, "d": 4} if "n" in [spec.name for spec in card.parameters] else {}
    made = simulated_files._Rows(card.cls, card.key, parameters, 3)
    blocks = list(made.blocks())
    assert sum(len(block) for block in blocks) == made.n
    assert len(blocks) == (2 if made.facts.truth is not None and parameters else 1)


def test_a_truth_that_changes_with_the_draw_is_noticed(tmp_path, monkeypatch):
    draw = simulated_files.make_dataset

    def other_truth(source, *, seed, repeat=0):
        return draw(source, seed=seed + repeat, repeat=repeat)

    monkeypatch.setattr(simulated_files, "make_dataset", other_truth)
    with pytest.raises(RuntimeError, match="differs between draws"):
        simulated_files.generate("sparse-covariance", tmp_path / "rows.parquet", n=250, d=5)
    assert nothing_in(tmp_path)


def test_more_rows_than_a_source_in_memory_may_have(tmp_path):
    made = simulated_files._Rows(SOURCES.get("ar1-covariance").cls, "ar1-covariance", {"n": 5_000_000, "d": 2}, 0)
    assert made.n == 5_000_000
    assert len(next(made.blocks())) == 100


@pytest.mark.parametrize(("key", "bounded"), [("ar1-covariance", False), ("example", True)])
def test_the_declaration_holds_the_public_facts(tmp_path, key, bounded):
    words = [] if bounded else ["--set", "n=120", "--set", "d=3"]
    shell(key, *words, "--out", tmp_path / "rows.parquet", "--declaration", tmp_path / "d.json", "--seed", 5)
    found = Declaration.from_json((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert "simulated" in found.name
    assert "simulated" in found.row_stands_for
    source = SOURCES.get(key).cls()
    if bounded:
        assert found.row_bound is None
        assert [(c.name, c.low, c.high, c.typical) for c in found.columns] == [c[:4] for c in source.table]
    else:
        assert found.row_bound == SOURCES.get(key).cls(d=3).default_row_bound(5)
        assert [c.name for c in found.columns] == ["x1", "x2", "x3"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["wine", "--out", "rows.csv"], "'wine' is public data"),
        (["nothing", "--out", "rows.csv"], "There is no source 'nothing'"),
        (["ar1-covariance", "--out", "rows.txt"], "--out must end in one of"),
        (["ar1-covariance", "--out", "rows.csv", "--set", "n=0"], "n must be"),
        (["ar1-covariance", "--out", "rows.csv", "--set", "m=3"], "has no parameter 'm'"),
        (["ar1-covariance", "--out", "rows.csv", "--set", "n=3", "--files", "4"], "files must"),
        (["ar1-covariance", "--out", "rows.csv", "--seed", "-1"], "seed must"),
        (["zipf-norms", "--out", "rows.csv", "--set", "n=3000000"], "n must be"),
        (["ar1-covariance", "--out", "none/rows.csv", "--set", "n=3"], "There is no folder"),
        (["ar1-covariance", "--out", "rows.csv", "--set", "n=3", "--declaration", "none/d.json"], "There is no folder"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        shell(*words)
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_nothing_is_left_when_it_is_stopped(tmp_path, stop):
    (tmp_path / "rows-1-of-2.csv").write_text("kept", encoding="utf-8")

    def progress(rows, total, seconds):
        if rows > 150:
            raise stop

    with pytest.raises(stop):
        simulated_files.generate("ar1-covariance", tmp_path / "rows.csv", n=300, d=2, files=2, progress=progress)
    assert os.listdir(tmp_path) == ["rows-1-of-2.csv"]
    assert (tmp_path / "rows-1-of-2.csv").read_text(encoding="utf-8") == "kept"


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_no_space_left(tmp_path):
    """A limit on the size of files is refused by the system in the same place as a full disk."""
    program = (
        "import resource, sys; from pathlib import Path; from privcov.cli.simulated_files import generate\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "for name in sys.argv[1:]:\n"
        "    try: generate('ar1-covariance', Path(name), n=20_000, d=5)\n"
        "    except ValueError as problem: print(problem)"
    )
    names = [f"rows{kind}" for kind in (".csv", ".csv.gz", ".parquet", ".arrow")]
    words = [sys.executable, "-c", program, *(tmp_path / name for name in names)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=patient(60))
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"{name} could not be written (File too large). Nothing is left of it: make room, or choose another place."
        for name in names
    ]
    assert nothing_in(tmp_path)


def test_from_a_shell(tmp_path, capsys):
    shell("ar1-covariance", "--set", "n=300", "--set", "d=2", "--out", tmp_path / "rows.csv", "--files", 2)
    out, progress = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / f"rows-{at}-of-2.csv") for at in (1, 2)]
    assert "300 of 300 rows" in progress


def test_a_file_and_its_declaration_fit_together(tmp_path):
    shell("ar1-covariance", "--set", "n=50", "--out", tmp_path / "rows.parquet", "--declaration", tmp_path / "d.json")
    columns = [column["name"] for column in json.loads((tmp_path / "d.json").read_text())["columns"]]
    assert describe(tmp_path / "rows.parquet", columns).n == 50
