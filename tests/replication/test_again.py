"""Stops, resumption, forecasts and checks of ``reproduce``: on a small table of our own, and cells that are stored."""

from __future__ import annotations

import math
import os
import re

import numpy as np
import pandas as pd
import pytest

from replication import again, base, catalogue, provenance, reproduce
from replication.__main__ import main
from replication.base import LITERAL, Number, Point, Table
from replication.replicates import FOLDER, Made, Unfinished
from replication.sources.papers import MissingData

COUNT = 5


class Stopped(Exception):
    """Whatever ends a run."""


def table(calls=None, stop_at=(), shift=0.0, version=1, points=("p", "q")):
    """Two points of a value that depends on seed and replicate; it stops where ``stop_at`` says."""

    def literal(name, seed, replicate):
        if (name, replicate) in stop_at:
            raise Stopped
        if calls is not None:
            calls.append((name, replicate))
        value = float(np.random.default_rng([seed, replicate, ord(name)]).normal()) + shift
        return [Number({"n": name}, "m", value), Number({"n": name}, "k", math.nan, "no luck")]

    made = tuple(Point(p, lambda seed, k, p=p: literal(p, seed, k)) for p in points)
    return Table("t", 9, "Table", "title", "error", made, small=(COUNT, 0), version=version, replicates=COUNT)


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setenv("PRIVCOV_WORKERS", "1")  # the table lives in this process only

    def use(**told):
        monkeypatch.setattr(catalogue, "TABLES", {"t": table(**told)})

    return use


@pytest.mark.parametrize("stop", [("p", 0), ("p", 3), ("q", 1), ("q", 4)])
def test_a_stop_loses_one_replicate_and_the_bytes_are_those_of_a_run_without(tmp_path, known, stop):
    known()
    [whole] = reproduce.reproduce(folder=tmp_path / "whole")
    calls = []
    known(calls=calls, stop_at=(stop,))
    with pytest.raises(Stopped):
        reproduce.reproduce(folder=tmp_path / "cut")
    before = list(calls)
    calls.clear()
    known(calls=calls)
    [resumed] = reproduce.reproduce(folder=tmp_path / "cut")
    assert resumed.read_bytes() == whole.read_bytes()
    assert sorted(before + calls) == sorted((name, k) for name in "pq" for k in range(COUNT))  # none twice
    assert not (tmp_path / "cut" / FOLDER).exists()


def test_a_line_that_was_cut_short_is_computed_again(tmp_path):
    """At every byte of the last line; the line before it stays, and so do those that are added afterwards."""
    step, one = ["p", LITERAL, 5, 1, "table 1"], Made(0.5, (Number({"n": "5"}, "m", 0.1 + 0.2, ""),))
    two = Made(0.25, (Number({}, "m", math.nan, "no luck"),))
    kept = Unfinished(tmp_path, "t")
    kept.add(step, 0, one)
    first = kept.path.stat().st_size
    kept.add(step, 1, two)
    text = kept.path.read_bytes()
    for size in range(first, len(text) - 1):
        kept.path.write_bytes(text[:size])
        assert kept.of(step) == {0: one}
        kept.add(step, 1, one)
        assert kept.of(step) == {0: one, 1: one}
        assert kept.of([*step[:-1], "table 2"]) == {}
    kept.path.write_bytes(text)
    found = kept.of(step)[1].numbers[0]
    assert math.isnan(found.value)
    assert found.problem == "no luck"


def test_what_another_seed_or_version_left_is_not_used(tmp_path, known):
    known(stop_at=(("q", 2),))
    with pytest.raises(Stopped):
        reproduce.reproduce(folder=tmp_path, seed=1)
    for told in ({"seed": 2, "version": 1}, {"seed": 1, "version": 2}):
        calls = []
        known(calls=calls, version=told["version"])
        reproduce.reproduce(folder=tmp_path, seed=told["seed"])
        assert len(calls) == 2 * COUNT


def test_fresh_computes_everything_again(tmp_path, known):
    calls = []
    known(calls=calls)
    for times, fresh in enumerate((False, False, True, True)):
        reproduce.reproduce(folder=tmp_path, fresh=fresh)
        assert len(calls) == 2 * COUNT * max(times, 1)


def test_where_a_number_comes_from_is_stored(tmp_path, known, monkeypatch):
    known()
    reproduce.reproduce(folder=tmp_path)
    [made] = set(base.stored("t", tmp_path)["made_with"])
    assert re.match(
        r"privcov \S+, (commit [0-9a-f]{12}( with changes)?, )?numpy \S+, scipy \S+, scikit-learn \S+$", made
    )
    rows = "\n".join(",".join(["1"] * 34) + ",g" for _ in range(351))
    (tmp_path / "ionosphere.data").write_text(rows)
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))
    first = provenance.made_with("ionosphere")
    assert re.search(r", ionosphere [0-9a-f]{12}$", first)
    (tmp_path / "ionosphere.data").write_text(rows.replace("1", "0", 1))
    os.utime(tmp_path / "ionosphere.data", ns=(1, 1))
    assert provenance.made_with("ionosphere") != first
    assert provenance.made_with("sachs") == made  # not there


# --- the check ----------------------------------------------------------------------------------------------


def test_a_change_of_a_stored_cell_is_found(tmp_path, known, capsys):
    known()
    assert main(["reproduce", "--out", str(tmp_path)]) == 0
    command = ["reproduce", "--check", "--cells", "2", "--seed", "3", "--out", str(tmp_path)]
    assert main(command) == 0
    assert "2 the same." in capsys.readouterr().out
    path = tmp_path / "t.csv"
    text = path.read_text()
    cells = pd.read_csv(path)
    for factor, code in ((1 + 1e-5, 0), (1 + 3e-4, 1)):
        changed = cells.assign(value=[value * factor for value in cells["value"]])
        changed.to_csv(path, index=False)
        assert main([*command[:3], "8", *command[4:]]) == code
    assert "differs" in capsys.readouterr().out
    path.write_text(text)
    known(shift=0.1)
    assert main([*command[:3], "8", *command[4:]]) == 1
    known(version=2)
    assert main(command) == 1
    assert "2 stored by an older version." in capsys.readouterr().out
    assert path.read_text() == text


def test_cells_are_chosen_from_all_points_and_by_the_seed(tmp_path, known):
    known(points=tuple("abcdef"))
    reproduce.reproduce(folder=tmp_path)
    one, two = (again.check(cells=6, seed=4, folder=tmp_path) for _ in range(2))
    assert [cell.cell for cell in one] == [cell.cell for cell in two]
    assert len({cell.cell[2] for cell in one}) == 6
    assert {c.cell[2] for k in range(40) for c in again.check(cells=1, seed=k, folder=tmp_path)} == set("abcdef")


def test_sets_that_are_not_there_are_no_agreement(tmp_path, known, monkeypatch, capsys):
    known()
    reproduce.reproduce(folder=tmp_path)

    def absent():
        raise MissingData("not here")

    points = tuple(Point(p, lambda seed, k: [], ready=absent) for p in "pq")
    monkeypatch.setattr(catalogue, "TABLES", {"t": Table("t", 9, "Table", "", "", points, small=(COUNT, 0))})
    assert main(["reproduce", "--check", "--out", str(tmp_path), "--cells", "3"]) == 1
    assert "No cell could be compared" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--cells 3", "Give --check too"),
        ("--check --fresh", "--fresh cannot be given with it"),
        ("--check --preset full", "--preset cannot be given with it"),
        ("--check --cells 0", "cells must be in 1..10000"),
        ("--check --out nowhere", "Nothing is stored in nowhere"),
        ("--seed -1", "--seed must be in"),
        ("--out file", "is a file"),
    ],
)
def test_mistakes_are_a_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(["reproduce", *words.split()]) == 2
    assert sentence in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


# Gisette and the news groups are not among the data sets this project could have.
NEVER_STORED = {"5-figure-4": {"4-b", "4-c"}}


@pytest.mark.parametrize("key", list(catalogue.TABLES))
def test_what_is_stored_was_made_by_the_methods_as_they_are(key):
    """Of every step of the small preset, tables and figures alike; compute it again with ``privcov reproduce``."""
    path = base.REPRODUCED / f"{key}.csv"
    old = {s.point.name for s in reproduce.steps([key]) if not reproduce._stored(path, s, reproduce.SEED)}
    assert old == NEVER_STORED.get(key, set())


def test_stored_cells_of_the_papers_come_out_again():
    """One cell of each of two quick tables that are shipped, with the program as it is today."""
    found = again.check(["2-stopping", "4-no-noise"], 2, seed=5, workers=1)
    assert {cell.word for cell in found} == {again.SAME}
