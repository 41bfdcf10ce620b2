"""The extras of a bundle: the numbers of `privcov.answers`, recomputed by the check, read without privcov."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov.bundle.derived import EXTRAS
from privcov.bundle.read import open_bundle
from privcov.core.guarantees import ZCDP
from privcov.measurements.noise_theory import tails
from tests.forging import KINDS, bundled, files_of, problem, redone
from tests.patience import patient
from tests.test_bundle_forged import unpacked

TABLES = ("means", "variances", "covariances", "correlations")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Kind -> (folder of the bundle, its files), each made once."""
    kept: dict[str, tuple[Path, dict[str, bytes]]] = {}

    def get(kind: str) -> tuple[Path, dict[str, bytes]]:
        if kind not in kept:
            folder = tmp_path_factory.mktemp("readers")
            files = bundled(folder, kind)
            kept[kind] = unpacked(files, folder / "b"), files
        return kept[kind]

    return get


def lines(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[f"extras/{name}.csv"].decode(), newline="")))


# --- the numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(KINDS))
def test_intervals_are_those_of_answers_to_the_last_bit(made, kind):
    """The bundle has no kurtosis and level 95 %, as `answers` has by default; what is not identified has a reason."""
    place, files = made(kind)
    found = privcov.answers(open_bundle(place))
    for name in TABLES:
        wanted, read = getattr(found, name)(), lines(files, name)
        for column in ("estimate", "ci_low", "ci_high"):
            got = np.array([float(line[column]) for line in read])
            assert np.array_equal(got, wanted[column].to_numpy(), equal_nan=True), (name, column)
        assert [line["reason"] for line in read] == wanted["reason"].tolist()


def test_stored_quantiles_are_the_computed_ones():
    """Gauss-Laguerre and Brent of scipy, which the script of a bundle does not have."""
    for level, kept in tails.STORED.items():
        np.testing.assert_allclose(kept, tails._solved(level), rtol=1e-12)
    x = np.array([0.0, 0.01, 0.1, 0.33, 3.4, 3.5, 9.0])
    np.testing.assert_allclose(tails.quantile(0.9, x), np.interp(x, tails.GRID, tails._solved(0.9)), rtol=1e-14)


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_number_of_rows_for_other_programs(made, kind):
    """Public or noisy as declared; n_eff literally, its noise as the variance of the linear form of a correlation."""
    place, files = made(kind)
    read = {line["what"]: (float(line["value"]), float(line["noise_std"])) for line in lines(files, "rows")}
    opened = open_bundle(place)
    known, total = privcov.answers(opened)._moments, opened.measurement
    public = total.facts.n is not None and not total.facts.classes
    assert (read["rows"][1] == 0) == public
    assert not public or read["rows"][0] == total.facts.n
    assert read["independent"][0] == privcov.answers(opened).rows
    assert 0 < read["n_eff"][0] < read["independent"][0]
    if known.available is not None or known.law.count_diagonal_covariance:
        return  # available cases have a law of their own
    with np.load(place / "matrices.npz") as stored:
        r, std = stored["correlation"], np.sqrt(np.diag(stored["regular"])) / known.scale
    own = noise = 0.0
    law = dataclasses.replace(known.law, count_variance=0.0)
    for i, j in zip(*np.triu_indices(known.d, 1), strict=True):
        form = np.zeros((known.d, known.d))
        form[i, j] = form[j, i] = 0.5
        form[i, i], form[j, j] = -r[i, j] * std[j] / std[i] / 2, -r[i, j] * std[i] / std[j] / 2
        count = (
            known.law.count_variance * (known.centre @ form @ known.centre) ** 2
        )  # <A, C> is zero at the correlation
        noise += (law.form_variance(form, known.centre, known.covariance) + count) / (std[i] * std[j]) ** 2
        own += (1 - r[i, j] ** 2) ** 2
    # The square of a noisy mean is corrected there, and not here.
    assert own / read["n_eff"][0] == pytest.approx(own / read["independent"][0] + noise, rel=0.02)


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """Hardly any noise: three classes, one of them too small for it, and cells that are missing."""
    folder, rng = tmp_path_factory.mktemp("exact"), np.random.default_rng(5)
    rows, labels = rng.uniform(0, 100, (3000, 3)), np.repeat(["a", "b", "c"], [1000, 1998, 2])
    rows[labels == "b"] *= 0.5
    gaps = rows.copy()
    gaps[::4, 1] = np.nan
    found = {}
    for name, table, more in (
        ("classes", rows, {"labels": labels, "classes": ["a", "b", "c"]}),
        ("gaps", gaps, {"missing": "pairs"}),
    ):
        private = privcov.PrivateDataset.from_rows(table, bounds=[(0, 100)] * 3, columns=list("xyz"), name=name, **more)
        ledger = privcov.Ledger(folder / f"{name}.sqlite")
        ledger.set_limit(name, ZCDP(2.0))
        privcov.release_private(private, ZCDP(2.0), "gaussian-cov", ledger=ledger).save_bundle(folder / "out.zip")
        found[name] = files_of((folder / "out.zip").read_bytes())
    return rows, labels, found


def test_counts_and_means_of_classes_are_those_of_the_rows_but_for_the_noise(exact):
    """Six deviations of the stated noise; the class of two rows has a count and no mean."""
    rows, labels, found = exact
    counts = {
        line["class"]: (float(line["rows"]), float(line["noise_std"]))
        for line in lines(found["classes"], "class_counts")
    }
    means = {line["class"]: [float(line[c]) for c in "xyz"] for line in lines(found["classes"], "class_means")}
    for name in "abc":
        count, std = counts[name]
        assert 0 < std < 6
        assert abs(count - (labels == name).sum()) < 6 * std
    for name in "ab":
        np.testing.assert_allclose(means[name], rows[labels == name].mean(axis=0), atol=2.0)
    assert np.isnan(means["c"]).all() or counts["c"][0] >= 3 * counts["c"][1]


def test_shares_of_missing_cells_are_those_of_the_rows_but_for_the_noise(exact):
    *_, found = exact
    read = {
        line["column"]: (float(line["share"]), float(line["noise_std"])) for line in lines(found["gaps"], "missing")
    }
    for name, share in (("x", 0.0), ("y", 0.25), ("z", 0.0)):
        assert abs(read[name][0] - share) < 6 * read[name][1] + 1e-12
        assert read[name][1] < 0.02
    assert "extras/missing.csv" not in found["classes"]
    assert "extras/class_counts.csv" not in found["gaps"]


# --- the check ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "missing cells", "laplace"])
def test_a_forged_extra_is_refused(made, kind, monkeypatch):
    """A digit of every table, a line of every reader, one that is left out, and one of earlier versions."""
    _, files = made(kind)
    extras = [name for name in files if name.startswith("extras/") and name not in EXTRAS]
    assert {"extras/read.py", "extras/read.R", "extras/rows.csv", "extras/correlations.csv"} <= set(extras)
    for name in extras:
        text = files[name].decode()
        at = max(k for k, c in enumerate(text) if c.isalnum())
        forged = text[:at] + ("7" if text[at] != "7" else "1") + text[at + 1 :]
        assert f"{name} does not follow" in problem(redone({**files, name: forged.encode()}), monkeypatch)
        assert f"{name} is missing" in problem(redone({k: v for k, v in files.items() if k != name}), monkeypatch)
    for name in ("extras/intervals.csv", "extras/means2.csv"):
        assert "is not a file of this bundle" in problem(redone({**files, name: b"column\n"}), monkeypatch)


# --- readers without privcov --------------------------------------------------------------------------------


def run(*command: str | Path, cwd: Path) -> str:
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=patient(60), env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def matrix(place: Path, name: str) -> np.ndarray:
    with np.load(place / "matrices.npz") as stored:
        return stored[name]


@pytest.mark.parametrize("kind", ["zcdp", "missing cells", "typed columns"])
def test_python_reads_it_without_any_package(made, kind):
    place, files = made(kind)
    said = run(sys.executable, "-I", "-S", "extras/read.py", cwd=place)
    assert "n_eff" in said
    assert ("a missing cell as the typical value of its column" in said) is (kind == "zcdp"), "else measured by pairs"
    code = "import sys, json; sys.path.insert(0, 'extras')\nimport read as r\n"
    code += "print(json.dumps([r.columns, r.cov, r.n_eff]))"
    columns, cov, n_eff = json.loads(run(sys.executable, "-S", "-c", code, cwd=place))
    assert np.array_equal(cov, matrix(place, "regular"))
    assert n_eff == {line["what"]: float(line["value"]) for line in lines(files, "rows")}["n_eff"]
    assert len(columns) == len(cov)
    assert np.linalg.eigvalsh(cov)[0] > 0


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not here: Debian's r-base-core has it")
@pytest.mark.parametrize("kind", ["zcdp", "missing cells", "typed columns"])
def test_base_r_reads_the_same_numbers(made, kind):
    """17 digits of every number, names as they are, and what psych and lavaan need: symmetric, positive definite.

    R reads a decimal to within one unit of its last binary digit, and not always to the nearest double.
    """
    unit = np.finfo(float).eps
    place, files = made(kind)
    code = (
        f'source("{place.name}/extras/read.R"); stopifnot(isSymmetric(cov), min(eigen(cov)$values) > 0); '
        'cat(sprintf("%.17g", c(n_eff, cov, cov2cor(cov), correlations$ci_low)), sep = "\\n"); '
        'cat("names", rownames(cov), sep = "\\n")'
    )
    numbers, names = run("Rscript", "--vanilla", "-e", code, cwd=place.parent).split("names\n")
    read = np.array([float(word.replace("NA", "nan")) for word in numbers.split()])
    cov = matrix(place, "regular")
    d = len(cov)
    assert read[0] == {line["what"]: float(line["value"]) for line in lines(files, "rows")}["n_eff"]
    np.testing.assert_allclose(read[1 : 1 + d * d].reshape(d, d), cov, rtol=unit)
    std = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(read[1 + d * d : 1 + 2 * d * d].reshape(d, d), cov / np.outer(std, std), rtol=1e-12)
    wanted = [float(line["ci_low"]) for line in lines(files, "correlations")]
    np.testing.assert_allclose(read[1 + 2 * d * d :], wanted, rtol=unit)
    head = next(csv.reader(io.StringIO(files["matrices/regular.csv"].decode(), newline="")))
    assert names.splitlines() == head[1:]
