"""Three tables as owners have them, from the files to a bundle that verifies, from Python and from the shell.

hospital   visits of patients with their ids, more rows for some than for others, with missing cells and missing ids
survey     answers from 1 to 5 with missing ones in some columns, the mean not of interest
bank       45 columns, mostly near their typical values: rows far shorter than the longest possible one, by a public
           share

Every new fact is then forged where it stands, with all that follows from it rewritten.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import privcov
from privcov.bundle import verify
from privcov.bundle.archive import read_place
from privcov.cli.entry import main
from privcov.ledger import Ledger
from privcov.tables.declaration.declaration import Column, Declaration
from tests.forging import problem, rewritten

RHO = 2.0
INPUTS = ("measurement.json", "ledger_entry.json", "declaration.json")


@dataclass(frozen=True)
class Table:
    """What is declared, and the rows with their ids."""

    declaration: Declaration
    rows: np.ndarray
    ids: np.ndarray | None = None


def hospital() -> Table:
    rng, patients = np.random.default_rng(5), 400
    whose = np.repeat(np.arange(patients), rng.integers(1, 8, patients))
    rows = rng.normal(size=(patients, 4))[whose] + rng.normal(size=(len(whose), 4))
    rows[rng.random(rows.shape) < 0.15] = np.nan
    whose[rng.random(len(whose)) < 0.03] = -1
    columns = tuple(Column(name, -4.0, 4.0, None, "the scale ends there") for name in ("hb", "crp", "na", "k"))
    said = {"person": "patient", "missing": "pairs"}
    return Table(Declaration("hospital", "one visit", columns, **said), rows, whose)


def survey() -> Table:
    rng, names = np.random.default_rng(6), tuple(f"q{j}" for j in range(6))
    rows = np.clip(np.rint(3 + rng.normal(size=(2_000, 1)) + rng.normal(size=(2_000, 6))), 1, 5)
    rows[:, :3][rng.random((2_000, 3)) < 0.2] = np.nan
    columns = tuple(Column(name, 1.0, 5.0, None, "the questionnaire") for name in names)
    said = {"missing": "pairs"}
    return Table(Declaration("survey", "one person", columns, **said), rows)


def bank(**told) -> Table:
    rng, d = np.random.default_rng(7), 45
    rows = np.where(rng.random((5_000, d)) < 0.02, 1.0, 0.0)
    rows[:, 25:] = np.minimum(np.exp(rng.normal(size=(5_000, 20))), 20.0)
    ends = [1.0] * 25 + [20.0] * 20
    columns = tuple(Column(f"c{j:02d}", 0.0, end, 0.0, "the product ends there") for j, end in enumerate(ends))
    return Table(Declaration("bank", "one customer", columns, **told), rows)


TABLES = {"hospital": hospital, "survey": survey, "bank, a public share": lambda: bank(row_bound_fraction=0.35)}

SAID = {  # what the owner's check and the statement say of the new facts
    "hospital": (
        "no id in ",
        "Rows with one id in 'patient' are one person, however many they are.",
        "Missing cells are measured in all columns.",
        "of weight 1 together",
    ),
    "survey": ("Missing cells are measured in all columns.",),
    "bank, a public share": ("0.35 of the longest possible row: longer ones are shortened",),
}


@dataclass(frozen=True)
class Made:
    """A table whose release is in a bundle: its folder, the files of the bundle, what the shell said."""

    table: Table
    folder: Path
    files: dict[str, bytes]
    said: str


def shell(*words: object) -> str:
    """What a command prints, on both streams; it must end well."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        assert main(list(map(str, words))) in (0, None), out.getvalue()
    return out.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Kind -> its release by the shell, made once."""
    known: dict[str, Made] = {}

    def get(kind: str) -> Made:
        if kind not in known:
            known[kind] = _released(TABLES[kind](), tmp_path_factory.mktemp("table"))
        return known[kind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVCOV_WORKERS", "1")
        yield get


def _released(table: Table, folder: Path) -> Made:
    declared = table.declaration
    cells = {c.name: table.rows[:, j] for j, c in enumerate(declared.columns)}
    ids = {} if table.ids is None else {declared.person: ["" if who < 0 else f"p{who}" for who in table.ids]}
    half = len(table.rows) // 2
    whole = pa.table({**cells, **ids})
    pq.write_table(whole.slice(0, half), folder / "a.parquet")
    csv.write_csv(whole.slice(half), folder / "b.csv")
    (folder / "d.json").write_text(declared.to_json(), encoding="utf-8")
    Ledger(folder / "ledger.sqlite").set_limit(declared.name, privcov.ZCDP(RHO))
    files = [folder / "a.parquet", folder / "b.csv"]
    said = shell("check", folder / "d.json", *files)
    words = ["release", *files, "--declaration", folder / "d.json", "--rho", RHO, "--ledger", folder / "ledger.sqlite"]
    words += ["--bundle", folder / "r.zip", "--out", folder / "r.json"]
    said += shell(*words) + shell("verify", folder / "r.zip")
    return Made(table, folder, read_place(folder / "r.zip"), said)


@pytest.mark.parametrize("kind", TABLES)
def test_the_shell_releases_it_and_python_opens_the_same_release(made, kind):
    """One request from either: the same token, so paid once, and the same bundle but for its pictures."""
    found = made(kind)
    assert "Consistent: everything that can be checked holds." in found.said
    for line in SAID.get(kind, ()):
        assert line in found.said
    private = found.table.declaration.dataset_from_files([found.folder / "a.parquet", found.folder / "b.csv"])
    ledger = Ledger(found.folder / "ledger.sqlite")
    rel = privcov.release_private(private, privcov.ZCDP(RHO), "auto-cov", ledger=ledger)
    assert len(ledger.entries()) == 1
    assert rel.to_json() == (found.folder / "r.json").read_text(encoding="utf-8").rstrip("\n")
    rel.save_bundle(found.folder / "p.zip", json.loads(found.table.declaration.to_json()))
    ours = read_place(found.folder / "p.zip")
    assert verify.check(ours)[1][-1] == "Consistent: everything that can be checked holds."
    assert {name: raw for name, raw in ours.items() if name in INPUTS} == {name: found.files[name] for name in INPUTS}


# --- forgeries ----------------------------------------------------------------------------------------------


def places(files: dict[str, bytes]) -> dict[str, dict]:
    """The three inputs that hold a fact."""
    return {name: json.loads(files[name]) for name in INPUTS}


def told(files: dict[str, bytes], read: dict[str, dict]) -> dict[str, bytes]:
    """These inputs in the place of those, and all that follows rewritten."""
    for name, value in read.items():
        if json.loads(files[name]) != value:
            files = rewritten(files, name, value)
    return files


def refused(files: dict[str, bytes], forged: dict[str, bytes], monkeypatch) -> str:
    """The sentence by which a forged bundle is refused; the true one is not."""
    assert forged != files
    assert problem(files, monkeypatch) == ""
    said = problem(forged, monkeypatch)
    assert said
    assert "\n" not in said
    assert "the check failed" not in said
    return said


def facts_in(read: dict[str, dict], name: str) -> dict:
    """Where the facts stand in an input."""
    if name == "measurement.json":
        return read[name]["facts"]
    return read[name]["request"]["facts"] if name == "ledger_entry.json" else read[name]


FACTS = {  # fact -> (the table that has it, another value, the same in a declaration)
    "person": ("hospital", "doctor", "doctor"),
    "person, none": ("hospital", ..., ...),
    "missing": ("survey", "typical", "typical"),
    "row_bound_fraction": ("bank, a public share", 0.5, 0.5),
    "row_bound_fraction, none": ("bank, a public share", ..., ...),
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_is_forged_in_one_place_is_refused(made, fact, name, monkeypatch):
    """A value that is left out (...) stands for the usual one."""
    kind, *values = FACTS[fact]
    key, value = fact.split(",")[0], values[name == "declaration.json"]
    files = made(kind).files
    read = places(files)
    facts = facts_in(read, name)
    assert key in facts
    if value is ...:
        del facts[key]
    else:
        assert facts[key] != value
        facts[key] = value
    if key == "row_bound_fraction" and "row_bound" in facts and name != "declaration.json":
        facts["row_bound"] = (1.0 if value is ... else value) * 45**0.5
    refused(files, told(files, read), monkeypatch)


def everywhere(read: dict[str, dict], **changed: object) -> None:
    """The same facts in all three inputs; ... for one that is left out."""
    for name in INPUTS:
        facts = facts_in(read, name)
        for key, value in changed.items():
            if value is ...:
                facts.pop(key, None)
            elif key != "flags" or name != "declaration.json":
                facts[key] = value


@pytest.mark.parametrize(
    ("kind", "changed", "complaint"),
    [
        ("hospital", {"person": ...}, "statistic of the event"),
        ("survey", {"missing": "typical"}, "groups of columns, got"),
        ("bank, a public share", {"row_bound_fraction": 2.0}, "row_bound_fraction"),
    ],
)
def test_a_fact_that_is_forged_everywhere_contradicts_the_noise_or_the_sum(made, kind, changed, complaint, monkeypatch):
    files = made(kind).files
    read = places(files)
    everywhere(read, **changed)
    assert complaint in refused(files, told(files, read), monkeypatch)


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("survey", lambda m, e: m.update(anchor=m["anchor"] // 2), "anchor must be"),
        ("survey", lambda m, e: m.pop("anchor"), ""),
        ("survey", lambda m, e: e["parameters"].update(anchor_for="mean"), "auto-cov has no parameter 'anchor_for'"),
        ("survey", lambda m, e: e.update(norm_budget=0.05), "the request must hold"),
        ("survey", lambda m, e: m.update(norms={}), "and nothing else"),
    ],
)
def test_a_forged_anchor_or_event_is_refused(made, kind, change, complaint, monkeypatch):
    files = made(kind).files
    read = places(files)
    change(read["measurement.json"], read["ledger_entry.json"]["request"])
    assert complaint in refused(files, told(files, read), monkeypatch)
