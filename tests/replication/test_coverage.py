"""The measured coverage: one cell computed again, the exact test, a run that goes on, and what is stored."""

import csv
import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binom

from privcov.core import paths
from privcov.core.randomness import stream
from privcov.inference import coverage_record
from replication import coverage
from replication.coverage import Cell
from tests.exhaustive import some_of

SMALL = Cell("neighbours", 3, 3_000, "eps 1 pure", "laplace")
STORED = paths.shipped() / "coverage" / coverage.FILE


def lines() -> list[dict[str, str]]:
    with STORED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_cell_again():
    """150 replicates of a stored cell on its own seeds: every coverage within 4.5 of its standard deviations.

    An interval that contains the truth in 85 % in place of 95 % is seen.
    """
    stored = {line["answer"]: line for line in lines() if line["cell"] == SMALL.name}
    for line in coverage.measure(SMALL, 150):
        reported = int(line["reported"])
        expected = float(stored[line["answer"]]["covered"]) / float(stored[line["answer"]]["reported"])
        spread = math.sqrt(max(expected * (1 - expected), 0.01) / reported)
        assert abs(int(line["covered"]) / reported - expected) < 4.5 * spread, line


def test_the_stored_table_has_known_cells_and_enough_replicates():
    found = lines()
    stored = {line["cell"] for line in found}
    assert stored <= {cell.name for cell in coverage.FULL}
    assert len(stored) >= 10
    assert min(int(line["replicates"]) for line in found) >= 2_000
    assert tuple(found[0]) == coverage.COLUMNS


def test_the_intervals_that_are_shown_keep_what_they_say():
    """No line of the table refutes 94 %, and of all entries at most 6 % are shown and wrong; means of skewed columns
    say so themselves, and variances of heavy rows that a searched bound shortened, about rows of any length.
    """
    assert coverage.refuted(STORED) == []
    others = [line for line in lines() if not line["cell"].startswith("skewed")]
    longer = [line for line in others if (line["cell"][:20], line["answer"]) == ("searched bound heavy", "variances")]
    assert max(float(line["wrong"]) for line in others if line not in longer) <= 0.06
    assert max(float(line["wrong"]) for line in longer) <= 0.07
    assert max(float(line["false_discoveries"] or 0) for line in lines()) <= 0.05


def test_the_exact_test_is_that_of_clopper_and_pearson(tmp_path):
    """Of two lines the one just inside the bound stays and the one just outside is refuted."""
    n, least = 2_000, 0.05 / 2
    edge = next(k for k in range(n) if binom.cdf(k, n, 0.94) >= least)
    path = tmp_path / coverage.FILE
    rows = [
        dict.fromkeys(coverage.COLUMNS, "0") | {"answer": str(k), "reported": n, "covered": k} for k in (edge, edge - 1)
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, coverage.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    assert [line["covered"] for line in coverage.refuted(path)] == [str(edge - 1)]


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    cells = (SMALL, Cell("neighbours", 3, 3_000, "rho .5"))
    monkeypatch.setattr(coverage, "FULL", cells)
    monkeypatch.setitem(coverage.PRESETS, "quick", (cells, 3))
    coverage.run("quick", tmp_path)
    first = (tmp_path / coverage.FILE).read_bytes()
    told = []
    coverage.run("quick", tmp_path, lambda *state: told.append(state))
    assert told == []
    assert (tmp_path / coverage.FILE).read_bytes() == first
    monkeypatch.setitem(coverage.PRESETS, "quick", (cells[1:], 4))
    coverage.run("quick", tmp_path, lambda *state: told.append(state))
    assert told == [(0, 1, cells[1].name)]
    with (tmp_path / coverage.FILE).open(newline="") as file:
        assert [line["replicates"] for line in csv.DictReader(file) if line["answer"] == "means"] == ["3", "4"]


@pytest.mark.parametrize("cell", coverage.QUICK[6:], ids=lambda cell: cell.name)
def test_the_truth_of_a_cell_is_what_many_rows_say(cell):
    """Without noise, the mean of 25 samples is within 6 of its own standard deviations of the population."""
    people = coverage.population_of(cell.population, cell.d, cell.more)
    found = []
    for number in range(25):
        rng = stream(coverage.SEED, "rows", number, cell.name, "truth of a test")
        known, measured = coverage.release(cell, rng)
        found.append(known.covariance)
    error = np.mean(found, axis=0) - people.covariance
    spread = np.std(found, axis=0, ddof=1) / 5
    assert (
        np.abs(error) < 6 * spread + 2e-3 * np.sqrt(np.outer(np.diag(people.covariance), np.diag(people.covariance)))
    ).all()
    assert known.d == cell.d
    assert measured.distribution.dimension == cell.d * (2 if cell.population == "pairs" else 1)  # and the flags


def test_the_sentence_beside_an_answer():
    assert coverage_record.sentence("means", 0.95).startswith("Measured at 95% on ")
    assert "Another level than 95% was not measured." in coverage_record.sentence("means", 0.9)
    assert "lognormal" in coverage_record.sentence("means", 0.95)
    assert "lognormal" not in coverage_record.sentence("variances", 0.95)
    for answer, like in (("nothing", "plain"), ("means", "")):
        assert coverage_record.sentence(answer, 0.95, like=like).endswith("has not been measured on rows like these.")
    assert len({coverage_record.sentence("variances", 0.95, like=like) for like in coverage_record.LIKE}) == len(
        coverage_record.LIKE
    )
    assert {cell.population for cell in coverage.FULL} == {
        name for names, _ in coverage_record.LIKE.values() for name in names
    }


NEW = [cell for cell in coverage.FULL if cell.population in ("levels", "heavy")]


def entries_covered(cell: Cell, replicates: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """How often each entry of each answer was shown, and with the truth; on seeds that no formula was fixed with."""
    true, k = coverage.truths(cell), coverage.population_of(cell.population, cell.d, cell.more).kurtosis
    sums: dict[str, list[np.ndarray]] = {}
    for number in range(replicates):
        drawn = coverage.release(cell, stream(5, "rows", number, cell.name, "c"))
        for name, found in coverage.answers_of(*drawn, true, k):
            shown = np.ravel(found.identified)
            inside = np.ravel((found.low <= true[name]) & (true[name] <= found.high)) & shown
            kept = sums.setdefault(name, [np.zeros(len(shown)), np.zeros(len(shown))])
            kept[0] += shown
            kept[1] += inside
    return {name: (shown, inside) for name, (shown, inside) in sums.items()}


@pytest.mark.parametrize(
    ("cell", "replicates"),
    [
        (NEW[2], 150),
        pytest.param(NEW[0], 150, marks=pytest.mark.deep),
        *(pytest.param(cell, 2_000, marks=pytest.mark.deep) for cell in NEW),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_entry_of_rare_levels_and_of_heavy_tails_is_covered(cell, replicates):
    """No entry refutes 92 % at 1 in a million; 150 releases see one of 75 %, 2,000 one of 89 %.

    Without the variance of two values and the kurtosis the variances are covered in .34 to .6 and .82.
    """
    for name, (shown, inside) in entries_covered(cell, replicates).items():
        assert (binom.cdf(inside, np.maximum(shown, 1), 0.92) > 1e-6)[shown > 0].all(), (name, inside / shown)


@pytest.mark.parametrize("ignored", some_of(["two values", "kurtosis"], 1))
def test_what_is_known_of_the_rows_is_needed(ignored, monkeypatch):
    """With rows taken as Gaussian, or two values as any two, variances of the same releases are refuted."""
    cell = NEW[0] if ignored == "two values" else NEW[2]
    people = coverage.population_of(cell.population, cell.d, cell.more)
    blind = dataclasses.replace(people, two=None, kurtosis=0.0)
    monkeypatch.setattr(coverage, "population_of", lambda *cell: blind)
    shown, inside = entries_covered(cell, 150)["variances"]
    assert binom.cdf(inside, shown, 0.92).min() < 1e-6
