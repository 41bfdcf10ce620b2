"""Missing cells that are measured, from the declaration to the bundle: Python, the shell, the owner and the page."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from privcov import Ledger, PrivateDataset, Release, ZCDP, release_private
from privcov.bundle.inputs import facts_of
from privcov.cli.entry import main
from privcov.steward.owner_view import compute_owner_view
from privcov.tables.declaration.declaration import Column, Declaration

ROOT = Path(__file__).parents[1]
COLUMNS = (Column("age", 0, 100), Column("bmi", 10, 60), Column("dose", 0, 5))
SOME = Declaration("trial", "one patient", COLUMNS, missing="pairs")


def holed(rows: int = 3000) -> np.ndarray:
    """Three columns, two with missing cells; the last two move together."""
    rng = np.random.default_rng(4)
    common = rng.normal(size=rows)
    x = np.column_stack([rng.uniform(0, 100, rows), 35 + 6 * common, 2.5 + 0.6 * common + 0.3 * rng.normal(size=rows)])
    x[rng.random(rows) < 0.2, 1] = np.nan
    x[rng.random(rows) < 0.4, 2] = np.nan
    return x


def csv(x: np.ndarray) -> str:
    lines = [",".join("" if v != v else repr(float(v)) for v in row) for row in x]
    return "\n".join(["age,bmi,dose", *lines]) + "\n"


def pairwise(x: np.ndarray, i: int, j: int) -> float:
    """The covariance of the rows that have both cells, over the deviations of all cells of either column."""
    both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
    one, other = x[both, i], x[both, j]
    return float(np.mean(one * other) - one.mean() * other.mean()) / float(np.nanstd(x[:, i]) * np.nanstd(x[:, j]))


def test_the_facts_of_a_bundle_follow_from_the_declaration():
    facts = facts_of(json.loads(SOME.to_json()), 5)
    assert facts.flagged == (0, 1, 2)
    assert facts.to_dict() == PrivateDataset.from_rows(np.zeros((5, 3)), **SOME._facts()).facts.to_dict()
    with pytest.raises(ValueError, match="format"):
        facts_of(json.loads(SOME.to_json()) | {"format": "privcov-declaration-1"}, 5)


def test_the_shell_releases_and_verifies_and_a_forged_fact_fails(tmp_path, capsys):
    x, ledger = holed(), str(tmp_path / "ledger.sqlite")
    (tmp_path / "t.csv").write_text(csv(x), encoding="utf-8")
    (tmp_path / "d.json").write_text(SOME.to_json(), encoding="utf-8")
    Ledger(ledger).set_limit("trial", ZCDP(1.0))
    command = ["release", str(tmp_path / "t.csv"), "--declaration", str(tmp_path / "d.json"), "--rho", "0.5"]
    bundle = tmp_path / "b.zip"
    assert not main([*command, "--ledger", ledger, "--out", str(tmp_path / "r.json"), "--bundle", str(bundle)])
    assert "with flags of missing cells" in capsys.readouterr().err
    assert not main(["verify", str(bundle)])
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    matrices = np.load(io.BytesIO(files["matrices.npz"]))
    there = np.isfinite(x).astype(float)
    assert matrices["shares"] == pytest.approx(there.T @ there / len(x), abs=6 * matrices["shares_std"].max())
    six = 0.27  # deviations of the noise, .043 each
    assert matrices["correlation"][1, 2] == pytest.approx(pairwise(x, 1, 2), abs=six)
    script = tmp_path / "verify.py"
    script.write_bytes(files["verify.py"])
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "unpacked")
    alone = subprocess.run(
        [sys.executable, "-I", script, tmp_path / "unpacked"], capture_output=True, text=True, cwd=tmp_path
    )
    assert alone.returncode == 0, alone.stdout + alone.stderr
    for name, old, new in (
        ("declaration.json", b'"pairs"', b'"typical"'),
        ("measurement.json", b'"missing": "pairs"', b'"missing": "typical"'),
        ("matrices/shares.csv", b"shares,age", b"shares,ago"),
    ):
        assert old in files[name], name
        with zipfile.ZipFile(tmp_path / "forged.zip", "w") as archive:
            for each, raw in files.items():
                archive.writestr(each, raw.replace(old, new) if each == name else raw)
        assert main(["verify", str(tmp_path / "forged.zip")]) == 1


def test_memory_and_a_file_are_one_table_to_the_ledger(tmp_path):
    x, ledger = holed(400), Ledger(tmp_path / "ledger.sqlite")
    (tmp_path / "t.csv").write_text(csv(x), encoding="utf-8")
    ledger.set_limit("trial", ZCDP(1.0))
    first = release_private(SOME.dataset_from_rows(x, None), ZCDP(0.5), "auto-cov", ledger=ledger)
    again = release_private(SOME.dataset_from_files(tmp_path / "t.csv"), ZCDP(0.5), "auto-cov", ledger=ledger)
    assert again.to_json() == first.to_json()  # paid once
    assert len(ledger.entries("trial")) == 1


def test_the_owner_sees_the_rows_that_have_both():
    x = holed()
    look = compute_owner_view(SOME.dataset_from_rows(x, None), ZCDP(1e6), np.random.default_rng(0))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert look.raw[i, j] == pytest.approx(pairwise(x, i, j), abs=1e-3)
        assert look.draw[i, j] == pytest.approx(look.clipped[i, j], abs=1e-3)
    assert look.missing == pytest.approx(np.isnan(x).mean(axis=0))


def test_a_release_is_plotted_with_the_noise_of_its_own_entries(tmp_path):
    """The strongest pair is where the rows have it; a text gives the same picture as the release."""
    x, ledger = holed(), Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("trial", ZCDP(2.0))
    made = release_private(SOME.dataset_from_rows(x, None), ZCDP(1.0), "auto-cov", ledger=ledger)
    for release in (made, Release.from_json(made.to_json())):
        shown = release.plot_errors().data
        assert max(shown[-1].x) == pytest.approx(pairwise(x, 1, 2), abs=0.1)
        assert release.noisy_moment.flags == made.noisy_moment.flags is not None
        noisy, _ = release.plot_spectrum().data
        assert len(noisy.y) == 3  # of the columns, without their flags
        assert "noise alone" not in release.plot_spectrum().layout.meta["alt"]
    assert Release.from_json(made.to_json()).to_json() == made.to_json()
