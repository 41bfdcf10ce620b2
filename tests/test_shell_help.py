"""The shell as a stranger meets it: help, lists, answers as JSON, bundles from the ledger."""

from __future__ import annotations

import argparse
import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov import Ledger, PrivateDataset, ZCDP
from privcov.cli.entry import main, whole_parser
from privcov.cli.options import _plain
from privcov.tables.declaration.declaration import Column, Declaration

WHOLE = whole_parser()


[COMMANDS] = [a.choices for a in WHOLE._actions if isinstance(a, argparse._SubParsersAction)]


# --- answers for a program ---------------------------------------------------------------------------------------


def answer(capsys, *words: object, code: int = 0):
    """The answer of a command as JSON, strictly: no NaN, and nothing beside it."""
    assert main(list(map(str, words))) == code
    return json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize("more", [[], ["--error", 0.5]])
def test_advice(capsys, more):
    words = ["advice", "--n", 5000, "--d", 10, "--rho", 0.1, *more]
    told = answer(capsys, *words, "--json")
    assert told["guarantee"]["kind"] == "zcdp"
    assert main(list(map(str, words))) == 0
    assert f"error {told['error']:.1%}" in capsys.readouterr().out


def test_numbers_that_json_has_not_are_null():
    assert _plain({0.5: math.nan, "a": (math.inf, 1.5, True, None)}) == {"0.5": None, "a": [None, 1.5, True, None]}


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A table in a file, its declaration, and a ledger with two releases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    rows = np.random.default_rng(0).uniform(0, 1, (500, 2)).round(6)
    np.savetxt("t.csv", rows, delimiter=",", header="a,b", comments="", fmt="%.6f")
    columns = (Column("a", 0.0, 1.0, None, "a share"), Column("b", 0.0, 1.0, None, "a share"))
    Path("t.json").write_text(Declaration("clinic", "one patient", columns).to_json(), encoding="utf-8")
    Ledger().set_limit("clinic", ZCDP(1.0))
    table = PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 2, columns=["a", "b"], name="clinic")
    for draw in (1, 2):
        privcov.release_private(table, ZCDP(0.25), "gaussian-cov", ledger=Ledger(), draw=draw)
    return tmp_path


def test_the_ledger(place, capsys):
    [told] = answer(capsys, "ledger", "--json")
    assert told["name"] == "clinic"
    assert told["limit"] == {"kind": "zcdp", "rho": 1.0}
    assert [(r["number"], r["state"], r["amount"]) for r in told["releases"]] == [
        (1, "stored", 0.25),
        (2, "stored", 0.25),
    ]
    assert answer(capsys, "ledger", "show", "clinic", "--json") == [told]
    [limited] = answer(capsys, "ledger", "limit", "clinic", "--rho", 2, "--reason", "one more", "--json")
    assert limited["limit"]["rho"] == 2.0
    assert "raised from 1-zCDP to 2-zCDP" in limited["sentence"]


def test_the_check_of_the_owner(place, capsys):
    told = answer(capsys, "check", "t.json", "t.csv", "--json")
    assert "never hand it on" in told["view"]
    assert told["rows"] == 500
    assert [(c["name"], c["numbers"], c["wasted"]) for c in told["columns"]] == [("a", 500, False), ("b", 500, False)]


def test_a_bundle_of_a_stored_release_is_that_of_the_release_and_costs_nothing(place, capsys):
    """The same bytes as those of Release.save_bundle, with and without the declaration."""
    for declared in ([], ["--declaration", "t.json"]):
        assert main(["ledger", "bundle", "clinic", "1", "--out", "made.zip", *declared]) == 0
        rel = privcov.release_private(
            PrivateDataset.from_rows(
                np.loadtxt("t.csv", delimiter=",", skiprows=1), bounds=[(0, 1)] * 2, columns=["a", "b"], name="clinic"
            ),
            ZCDP(0.25),
            "gaussian-cov",
            ledger=Ledger(),
        )
        rel.save_bundle("saved.zip", json.loads(Path("t.json").read_text()) if declared else None)
        assert Path("made.zip").read_bytes() == Path("saved.zip").read_bytes()
    assert len(Ledger().entries("clinic")) == 2
    capsys.readouterr()
    Path("elsewhere").mkdir()
    held = answer(capsys, "verify", "made.zip", "--json")
    assert held["holds"]
    assert len(held["lines"]) > 3


def test_a_bundle_that_does_not_hold_or_cannot_be_made(place, capsys):
    assert main(["ledger", "bundle", "clinic", "1", "--out", "made.zip"]) == 0
    with zipfile.ZipFile("made.zip") as whole, zipfile.ZipFile("forged.zip", "w") as forged:
        for name in whole.namelist():
            more = b"\x1b[31mred\n" if name == "statement.txt" else b""
            forged.writestr(name, whole.read(name) + more)
    capsys.readouterr()
    assert not answer(capsys, "verify", "forged.zip", "--json", code=1)["holds"]
    for words, code, sentence in [
        (["ledger", "bundle", "clinic", "7", "--out", "b.zip"], 2, "no release 7 in the ledger. It has: 1, 2."),
        (["ledger", "bundle", "nobody", "1", "--out", "b.zip"], 2, "It has: none."),
        (
            ["ledger", "bundle", "clinic", "1", "--out", "no/such/b.zip"],
            2,
            "--out must name a file in a folder that exists",
        ),
        (["ledger", "bundle", "clinic", "1", "--out", "ledger.sqlite"], 2, "would replace a file"),
        (["ledger", "bundle", "clinic", "1", "--out", "t.json", "--declaration", "t.json"], 2, "would replace a file"),
        (["ledger", "bundle", "clinic"], 2, "needs the number of a release"),
        (["ledger", "show", "clinic", "--out", "b.zip"], 2, "ledger show takes no out."),
        (["ledger", "show", "clinic", "--rho", "3"], 2, "ledger show takes no rho."),
        (["verify", "none.zip"], 1, "There is no bundle"),
    ]:
        assert main(words) == code, words
        said = capsys.readouterr()
        assert sentence in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""
    assert not Path("b.zip").exists()
