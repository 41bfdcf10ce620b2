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
import pandas as pd
import pytest

import privcov
from privcov.bundle.derived import EXTRAS
from privcov.bundle.read import open_bundle
from privcov.cli.entry import main
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
    known, total = privcov.answers(opened)._known, opened.measurement
    public = total.facts.n is not None and not total.facts.classes
    assert (read["rows"][1] == 0) == public
    assert not public or read["rows"][0] == total.facts.n
    assert read["independent"][0] == privcov.answers(opened).rows
    assert 0 < read["n_eff"][0] < read["independent"][0]
    if known.available is not None or known.law.tie:
        return  # available cases have a law of their own
    with np.load(place / "matrices.npz") as stored:
        r, std = stored["correlation"], np.sqrt(np.diag(stored["regular"])) / known.scale
    own = noise = 0.0
    law = dataclasses.replace(known.law, count=0.0)
    for i, j in zip(*np.triu_indices(known.d, 1), strict=True):
        form = np.zeros((known.d, known.d))
        form[i, j] = form[j, i] = 0.5
        form[i, i], form[j, j] = -r[i, j] * std[j] / std[i] / 2, -r[i, j] * std[i] / std[j] / 2
        count = known.law.count * (known.centre @ form @ known.centre) ** 2  # <A, C> is zero at the correlation
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


# --- the same regression in Python, in the shell and in R ----------------------------------------------------

LAWS = {
    "free groups": ("auto-cov", ZCDP(2.0), {}),
    "free groups, hidden n, classes": ("auto-cov", ZCDP(4.0), {"n_public": False, "labels": True}),
    "laplace": ("laplace-cov", privcov.PureDP(20.0), {}),
    "wishart difference": ("wishart-difference", privcov.PureDP(20.0), {"n_public": False}),
    "coupled": ("wishart-difference", privcov.PureDP(20.0), {}),
    "noise that hides everything": ("auto-cov", ZCDP(1e-6), {}),
}
ASKED = [
    ("y", ["b"], 0.0),
    ("a", ["y", "e"], 0.02),
    ("y", ["a", "b", "c", "d", "e"], 0.0),
    ("y", ["a", "b", "c", "d"], 0.0),
]
IN_R = """
source("extras/read.R"); source("extras/answers.R")
say <- function(...) for (x in c(...)) cat(sprintf("%.17g", x), "\\n")
regressed <- function(...) { s <- suppressWarnings(regress(...)); say(s$estimate, s$std_error, s$ci_low, s$ci_high) }
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not here: Debian's r-base-core has it")
@pytest.mark.parametrize("law", list(LAWS))
def test_a_regression_is_the_same_in_python_in_the_shell_and_in_r(law, tmp_path, capsys):
    """Slopes, standard errors and ends of one column on four others, on one, with a ridge, and on all."""
    method, guarantee, more = LAWS[law]
    rng = np.random.default_rng(11)
    rows = rng.normal(50, 12, (5000, 6))
    rows[:, 5] += 0.6 * (rows[:, 0] - 50) - 0.3 * (rows[:, 1] - 50)
    declared = {name: value for name, value in more.items() if name == "n_public"}
    if "labels" in more:
        declared |= {"labels": np.where(rows[:, 0] > 50, "u", "v"), "classes": ["u", "v"]}
    names = ["a", "b", "c", "d", "e", "y"]
    private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 100)] * 6, columns=names, name="t", **declared)
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", guarantee)
    rel = privcov.release_private(private, guarantee, method, ledger=ledger)
    rel.save_bundle(tmp_path / "out.zip")
    place = unpacked(files_of((tmp_path / "out.zip").read_bytes()), tmp_path / "b")
    calls = [f"regressed({json.dumps(y)}, c({json.dumps(on)[1:-1]}), {ridge})" for y, on, ridge in ASKED]
    said = iter(run("Rscript", "--vanilla", "-e", IN_R + "\n".join(calls), cwd=place).split())
    found = privcov.answers(open_bundle(tmp_path / "out.zip"))
    for y, on, ridge in ASKED:
        here = found.regress(y, on, ridge)
        wanted = here[["estimate", "std_error", "ci_low", "ci_high"]].to_numpy()
        in_r = np.array([[float(next(said).replace("NA", "nan")) for _ in on] for _ in range(4)]).T
        np.testing.assert_allclose(in_r, wanted, rtol=1e-8, err_msg=f"{y} on {on}, ridge {ridge}")
        asked = ["answers", str(place), "regress", "--y", y, "--on", ",".join(on), "--ridge", str(ridge), "--json"]
        assert main(asked) == 0
        lines_of = json.loads(capsys.readouterr().out)["rows"]
        in_shell = [[line[name] for name in ("estimate", "std_error", "ci_low", "ci_high")] for line in lines_of]
        np.testing.assert_allclose(np.array(in_shell, dtype=float), wanted, rtol=1e-12, atol=1e-14)
    assert np.isnan(wanted).all() == (law == "noise that hides everything")


# --- groups, scales and factors in Python, in the shell and in R ----------------------------------------------

MORE_IN_R = """
source("extras/read.R"); source("extras/answers.R")
say <- function(...) for (x in c(...)) cat(sprintf("%.17g", x), "\\n")
of <- function(found) say(found$estimate, found$ci_low, found$ci_high)
of(group_means("ill")); of(group_means("ward")); of(group_means("ward=B")); of(regress("y", c("sick", "d")))
of(suppressWarnings(regress("y"))); of(suppressWarnings(regress("ward=B")))
of(alpha(c("a", "b", "c"), "c"))
scored <- with_score("mood", c("a", "b", "c"), reverse = "c")
of(regress("y", c("mood", "d"), from = scored)); of(group_means("ill", from = scored))
of(alpha(c("y", "mood"), from = scored))
say(tryCatch(suppressMessages(c(factors(2, c("a", "b", "c", "d", "e", "y")))), error = function(e) rep(NA, 12)))
"""

MANY_IN_R = """
source("extras/read.R"); source("extras/answers.R"); set.seed(1)
loads <- rbind(c(.8, .8, -.8, 0, 0, .2), c(0, .1, 0, .8, .7, .8))
at <- places(c("a", "b", "c", "d", "e", "y"), release)
for (i in 1:1000) {
  noise <- matrix(rnorm(36), 6) * .01; release$C[at, at] <- t(loads) %*% loads + .36 * diag(6) + (noise + t(noise)) / 2
  suppressMessages(factors(2, release$column[at]))
}
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not here: Debian's r-base-core has it")
@pytest.mark.parametrize("law", [law for law in LAWS if law != "free groups, hidden n, classes"])
def test_groups_scales_and_factors_are_the_same_in_python_in_the_shell_and_in_r(law, tmp_path, capsys):
    method, guarantee, more = LAWS[law]
    rng = np.random.default_rng(12)
    n, trait = 20_000, rng.standard_normal((20_000, 2))
    loads = np.array([[0.8, 0.8, -0.8, 0.0, 0.0, 0.2], [0.0, 0.1, 0.0, 0.8, 0.7, 0.8]])
    rows = pd.DataFrame(
        np.clip(50 + 12 * (trait @ loads + 0.6 * rng.standard_normal((n, 6))), 0, 100),
        columns=["a", "b", "c", "d", "e", "y"],
    ).assign(ill=(trait[:, 0] + rng.standard_normal(n) > 0.5).astype(int), ward=rng.choice(list("ABC"), n))
    rows["sick"] = np.where(rng.random(n) < 0.3 + 0.2 * (trait[:, 1] > 0), "yes", "no")
    kinds = {name: privcov.Kind("number", 0, 100) for name in rows.columns[:6]}
    kinds |= {"ill": privcov.Kind("integer", 0, 1), "ward": privcov.Kind("category", values=list("ABC"))}
    kinds["sick"] = privcov.Kind("yes-no", values=("no", "yes"))
    private = privcov.PrivateDataset.from_rows(rows, kinds=kinds, name="t", **more)
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", guarantee)
    privcov.release_private(private, guarantee, method, ledger=ledger).save_bundle(tmp_path / "out.zip")
    place = unpacked(files_of((tmp_path / "out.zip").read_bytes()), tmp_path / "b")
    found = privcov.answers(open_bundle(tmp_path / "out.zip"))
    scored = found.with_score("mood", ["a", "b", "c"], reverse=["c"])
    score = ["--score", "mood=a,b,-c"]
    asked = [
        (found.group_means("ill"), ["group-means", "--by", "ill"]),
        (found.group_means("ward"), ["group-means", "--by", "ward"]),
        (found.group_means("ward=B"), ["group-means", "--by", "ward=B"]),
        (found.regress("y", ["sick", "d"]), ["regress", "--y", "y", "--on", "sick=yes,d"]),
        (found.regress("y"), ["regress", "--y", "y"]),
        (found.regress("ward=B"), ["regress", "--y", "ward=B"]),
        (found.alpha(["a", "b", "c"], ["c"]), ["alpha", "--items", "a,b,-c"]),
        (scored.regress("y", ["mood", "d"]), ["regress", "--y", "y", "--on", "mood,d", *score]),
        (scored.group_means("ill"), ["group-means", "--by", "ill", *score]),
        (scored.alpha(["y", "mood"]), ["alpha", "--items", "y,mood", *score]),
    ]
    assert list(asked[4][0]["column"]) == ["a", "b", "c", "d", "e", "ill", "ward=A", "ward=B", "sick=yes"]
    assert list(asked[5][0]["column"]) == ["a", "b", "c", "d", "e", "y", "ill", "sick=yes"], "no other ward"
    said = iter(run("Rscript", "--vanilla", "-e", MORE_IN_R, cwd=place).split())

    def next_of(count: int) -> np.ndarray:
        return np.array([float(next(said).replace("NA", "nan")) for _ in range(count)])

    for here, command in asked:
        wanted = here[["estimate", "ci_low", "ci_high"]].to_numpy()
        in_r = next_of(wanted.size).reshape(3, -1).T
        np.testing.assert_allclose(in_r, wanted, rtol=1e-8, atol=1e-10, err_msg=" ".join(command))
        assert main(["answers", str(place), *command, "--json"]) == 0
        lines_of = json.loads(capsys.readouterr().out)["rows"]
        in_shell = [[line[name] for name in ("estimate", "ci_low", "ci_high")] for line in lines_of]
        np.testing.assert_allclose(np.array(in_shell, dtype=float), wanted, rtol=1e-12, atol=1e-14)
    if law == "wishart difference":  # below a factr of 1e4, one search of a hundred ends in an error
        run("Rscript", "--vanilla", "-e", MANY_IN_R, cwd=place)
    wanted = found.factors(2, ["a", "b", "c", "d", "e", "y"])["estimate"].to_numpy()
    np.testing.assert_allclose(next_of(12), wanted, atol=1e-3)
    assert np.isnan(wanted).all() == (law == "noise that hides everything")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not here: Debian's r-base-core has it")
def test_r_names_what_is_reversed_and_refuses_what_python_refuses(tmp_path):
    """Of five columns that are nearly the same, four eigenvalues are noise, whichever noise is drawn."""
    rng = np.random.default_rng(3)
    own = rng.standard_normal((2000, 6)) * np.array([*[0.01] * 5, 1.0])
    rows = np.clip(50 + 12 * (rng.standard_normal((2000, 1)) + own), 0, 100)
    names = list("abcdey")
    private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 100)] * 6, columns=names, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(1.0))
    release = privcov.release_private(private, privcov.ZCDP(1.0), "auto-cov", ledger=ledger)
    release.save_bundle(tmp_path / "out.zip")
    place = unpacked(files_of((tmp_path / "out.zip").read_bytes()), tmp_path / "b")
    code = """source("extras/read.R"); source("extras/answers.R")
    try_it <- function(x) tryCatch(x, error = conditionMessage, message = conditionMessage)
    cat(alpha(c("a", "b", "c"), "c")$items, try_it(factors(5)), try_it(factors(50)),
        try_it(regress("y", "mood", ridge = 0.1, from = with_score("mood", c("a", "b")))), sep = "\\n")"""
    items, *refused, score = run("Rscript", "--vanilla", "-e", code, cwd=place).splitlines()
    assert items == "a, b, -c"
    assert refused == ["so many factors cannot be told apart with 6 columns"] * 2
    assert score == "ridge goes by bounds, and a score has none: leave it at 0"
    told = privcov.answers(open_bundle(tmp_path / "out.zip")).factors(1).attrs["warning"]
    in_r = run("Rscript", "--vanilla", "-e", code.partition("cat(")[0] + "cat(try_it(factors(1)))", cwd=place)
    assert in_r.split(" eigenvalues")[0] == told.split(" eigenvalues")[0], "as many below the noise"
    assert told[0].isdigit()
