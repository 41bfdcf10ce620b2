"""Two tables with other missing cells, other cells beyond the bounds and, where it is hidden, another number of rows:
with the same noisy numbers everything that leaves is the same, byte for byte. What an owner sees is exact, and stays.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from privcov import Ledger, PrivateDataset, Release, ZCDP, release_private
from privcov.bundle.read import bundle_of, open_stored
from privcov.cli.entry import main
from privcov.measurements.exact import private_moment as exact_moment
from privcov.measurements.exact.integer_gram import UNIT
from privcov.steward.owner_view import compute_owner_view
from privcov.tables.declaration.declaration import Column, Declaration

BOUNDS = [(0.0, 10.0), (0.0, 1.0), (-5.0, 5.0)]
NAMES = ["age", "share", "change"]


def cells(holes: float, rows: int, seed: int) -> np.ndarray:
    """Rows with about this share of missing cells in the first column, and some far beyond the bounds in the second."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (rows, 3)) * 9
    x[rng.random(rows) < holes, 0] = np.nan
    x[rng.random(rows) < holes, 1] = 1e12
    return x


@pytest.fixture
def same_noisy_numbers(monkeypatch):
    """The measurement answers with numbers that have nothing to do with the rows."""

    def constant(gram: np.ndarray, d: int, shape: str, scale: float, groups: tuple):
        total = (np.eye(len(gram)) * 40 + 3).astype(np.int64) * (UNIT**2 // 8)
        sums = tuple(int(np.trace(total[:d, :d])) for group in groups[0] if len(group.columns) > 1)
        return exact_moment._structured(total, d), sums

    monkeypatch.setattr(exact_moment, "_noisy", constant)


RULES = {
    "public n": ({"missing": "typical"}, 300),
    "hidden n": ({"missing": "typical", "n_public": False}, 700),
    "rows left out": ({"missing": "drop-row", "n_public": False}, 700),
}


@pytest.mark.parametrize("rule", RULES)
def test_release_ledger_entry_and_bundle_tell_nothing_exact(rule, tmp_path, same_noisy_numbers):
    options, rows = RULES[rule]
    left = []
    for place, x in (("a", cells(0.0, 300, 1)), ("b", cells(0.37, rows, 2))):
        private = PrivateDataset.from_rows(x, bounds=BOUNDS, columns=NAMES, name="t", **options)
        (tmp_path / place).mkdir()
        ledger = Ledger(tmp_path / place / "ledger.sqlite")
        ledger.set_limit("t", ZCDP(0.5))
        made = release_private(private, ZCDP(0.5), "auto-cov", ledger=ledger)
        (entry,) = ledger.entries("t")
        opened = open_stored(ledger.stored(entry.token))
        told = entry.to_dict() | {"reserved_at": "2026-01-01T00:00:00+00:00"}
        made = Release(**vars(made) | {"entry": told})
        bundle = bundle_of(opened, told, None)
        left.append((made.to_json(), str(made), repr(private), told, bundle))
    assert left[0] == left[1]


@pytest.mark.parametrize("n_public", [True, False])
def test_the_shell_tells_nothing_exact(n_public, tmp_path, same_noisy_numbers, capsys):
    columns = tuple(Column(name, *ends) for name, ends in zip(NAMES, BOUNDS, strict=True))
    declared = Declaration("t", "one patient", columns, n_public=n_public)
    left = []
    for place, x in (("a", cells(0.0, 30_000, 1)), ("b", cells(0.37, 30_000 if n_public else 90_000, 2))):
        folder = tmp_path / place
        folder.mkdir()
        write(folder / "rows.csv", x)
        (folder / "d.json").write_text(declared.to_json(), encoding="utf-8")
        Ledger(folder / "ledger.sqlite").set_limit("t", ZCDP(0.5))
        given = ["release", folder / "rows.csv", "--declaration", folder / "d.json", "--rho", "0.5"]
        assert main([*map(str, given), "--ledger", str(folder / "ledger.sqlite")]) in (0, None)
        told = capsys.readouterr()
        # How long it took is not covered, and says so in SECURITY.md.
        left.append((told.out, re.sub(r"[\d,]+ rows/s|\d+ (s|min)( \d\d s)?", "-", told.err)))
    assert left[0] == left[1]


def write(path: Path, x: np.ndarray) -> None:
    lines = (",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in x)
    path.write_text("\n".join([",".join(NAMES), *lines]) + "\n", encoding="utf-8")


def test_what_the_owner_sees_is_exact_and_its_repr_is_not():
    private = PrivateDataset.from_rows(cells(0.37, 400, 2), bounds=BOUNDS, columns=NAMES, name="t")
    look = compute_owner_view(private, ZCDP(0.5), np.random.default_rng(0))
    assert look.missing[0] == np.isnan(cells(0.37, 400, 2)[:, 0]).mean() > 0.3
    assert look.beyond[1] > 0.3
    assert not any(character.isdigit() for character in repr(look).split(" at 0x")[0])
