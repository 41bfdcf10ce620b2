"""verify.py as a stranger runs it: alone with numpy, deaf to code beside a bundle, and hard to deceive."""

import importlib.util
import io
import json
import math
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov import ApproxDP, PureDP, ZCDP
from privcov.bundle.derived import VERIFY, noisy_of
from privcov.bundle.safe import json_bytes, table
from privcov.bundle.verify import check
from privcov.postprocess.matrices import derive
from tests import forging
from tests.exhaustive import some_of
from tests.forging import KINDS, NAMES, TYPED, bundled, exchanged, files_of, problem, redone, rewritten
from tests.patience import patient
from tests.test_bundle_forged import unpacked

PLANTED = "import pathlib\npathlib.Path({mark!r}).write_text('it ran')\n"
HOLDS = "Everything that is checked here holds. `privcov verify` derives every other file again."


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    return bundled(tmp_path_factory.mktemp("made"), "approx, hidden n")


def run(*words, cwd: Path, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=patient(30),
        env={**os.environ, **environment},
    )


HEAVY = {
    name: privcov.Kind("number", 0, 100, weight=weight) for name, weight in zip(NAMES, (1, 100, 3, 0.5), strict=True)
}


# --- what it checks ------------------------------------------------------------------------------------------


MORE = {  # beside those of `tests.forging`: without measured missing cells, and with another anchor or weight
    "levels": ("gaussian-cov", ZCDP(0.5), {"bounds": None, "kinds": TYPED}),
    "heavy": ("auto-cov", ZCDP(0.5), {"bounds": None, "kinds": HEAVY}),
    "coupled": ("wishart-difference", PureDP(1.0), {}),
    "classes, coupled": ("wishart-difference", PureDP(1.0), KINDS["classes"][2]),
    "wishart for zcdp": ("wishart-difference", ZCDP(0.5), {"n_public": False}),
    "many digits": ("auto-cov", ApproxDP(math.log(3), 1e-6), {}),
    "tiny epsilon": ("auto-cov", ApproxDP(1e-9, 0.3), {}),
    "hardly shortened": ("gaussian-cov", ZCDP(0.5), {"row_bound_fraction": 0.9999999}),
}


@pytest.fixture(scope="module", params=[*KINDS, *MORE])
def some(request, tmp_path_factory):
    """The name of a kind of bundle, and its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forging, "KINDS", KINDS | MORE)
        return request.param, bundled(tmp_path_factory.mktemp("some"), request.param)


def said(files, folder: Path) -> str:
    """What the script says against a bundle; "" where it passes."""
    found = run("-I", VERIFY, unpacked(files, folder), cwd=folder.parent)
    assert found.returncode in (0, 1)
    assert bool(found.stderr) == (found.returncode == 1)
    return found.stderr


def test_it_passes_every_kind_of_bundle_and_says_where_it_did_not_look(some, tmp_path):
    kind, files = some
    found = run("-I", VERIFY, unpacked(files, tmp_path / "b"), cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, ""), kind
    assert check(files)[1][-1].startswith("Consistent")
    assert ("NOT CHECKED HERE" in found.stdout) == (kind in ("missing cells", "typed columns"))


@pytest.mark.parametrize("matrix", some_of(["noisy", "noise_std"], 0))
def test_an_entry_that_is_off_by_a_millionth_of_its_noise_is_found(some, matrix, tmp_path):
    kind, files = some
    if kind in ("missing cells", "typed columns"):
        return
    arrays = dict(np.load(io.BytesIO(files["matrices.npz"])))
    d = len(arrays[matrix])
    for number, (i, j) in enumerate(((0, 0), (d - 1, d - 1), (0, d - 1))):
        moved = arrays[matrix].copy()
        moved[i, j] += 1e-6 * arrays["noise_std"][i, j]
        columns = tuple(json.loads(files["measurement.json"])["facts"]["columns"])
        forged = redone(files | {f"matrices/{matrix}.csv": table(moved, columns, columns, corner=matrix).encode()})
        assert f"{matrix} does not follow" in said(forged, tmp_path / f"b{number}"), (i, j)


@pytest.mark.parametrize("d", [1, 2, 5, 9, 10, 11, 30])
@pytest.mark.parametrize(("method", "asked"), [("auto-cov", ApproxDP(1.0, 1e-6)), ("auto-cov", PureDP(1.0))])
def test_any_number_of_columns_gives_the_numbers_of_the_library(d, method, asked, tmp_path):
    """Rows far from the middle, so that the noise on the mean counts."""
    script = runpy.run_path(str(VERIFY))
    x = np.random.default_rng(d).normal(90, 3, (1000, d)).clip(0, 100)
    private = privcov.PrivateDataset.from_rows(x, bounds=[(0, 100)] * d, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", asked)
    total = privcov.release_private(private, asked, method, ledger=ledger).measurement
    script["check_facts"](json.loads(json.dumps(total.to_dict())))
    noisy, std = script["noisy_covariance"](json.loads(json.dumps(total.to_dict())))
    wanted = derive(noisy_of(total)[1])
    assert np.abs(noisy - wanted.noisy).max() <= 1e-10 * std.min()
    np.testing.assert_allclose(std, wanted.noise_std, rtol=1e-10)


CHANGES = [
    ("guarantee.json", ("rho",), 0.4, "does not give the stated rho"),
    ("guarantee.json", ("rho",), 0.51, "does not give the stated rho"),
    ("guarantee.json", ("rho",), True, "must be positive"),
    ("guarantee.json", ("kind",), "pure", "other fields than its kind"),
    ("guarantee.json", ("epsilon",), 0.01, "other fields than its kind"),
    ("measurement.json", ("event", "scale"), 1e13, "different scales"),
    ("measurement.json", ("event", "sensitivity"), 5e12, "less than was paid for"),
    ("measurement.json", ("event", "sensitivity"), -1.0, "must be positive"),
    ("measurement.json", ("event", "mechanism"), "laplace", "mechanism or norm"),
    ("measurement.json", ("event", "norm"), "maximum norm of one entry", "mechanism or norm"),
    ("measurement.json", ("event", "unit"), "rows", "another unit"),
    ("measurement.json", ("shape",), "upper-triangle", "none of PrivCov"),
    ("measurement.json", ("total", 0, 1), 5, "not symmetric"),
    ("measurement.json", ("total", 0, 0), 0.5, "whole numbers"),
    ("measurement.json", ("total", 1, 1), 5, "noisy does not follow"),
    ("measurement.json", ("anchor",), 2**40, "anchor is none"),
    ("measurement.json", ("anchors",), 0, "number of anchors"),
    ("measurement.json", ("sums",), [5], "sums of groups"),
    ("measurement.json", ("version",), 3, "another version"),
    ("ledger_entry.json", ("state",), "failed", "does not record a release"),
    ("ledger_entry.json", ("amount",), "1/4", "less than was paid for"),
    ("ledger_entry.json", ("amount",), "1e999999999", "no ratio"),
    ("ledger_entry.json", ("request", "guarantee", "rho"), 0.4, "does not give the stated rho"),
]
FACTS = [
    (("n",), 1_000_000, "number of rows is not the noisy one"),
    (("n",), None, "noise_std does not follow"),
    (("scale",), [1e200] * 4, "scale of a column"),
    (("scale", 2), 25.0, "scale of a column"),
    (("row_bound",), 20.0, "row bound"),
    (("row_bound_fraction",), 0.5, "row bound"),
    (("bounds", 0), [100.0, 0.0], "outside its bounds"),
    (("missing",), "pairs", "another size"),
    (("classes",), ["a"], "noise_std does not follow"),
]


@pytest.mark.parametrize(("path", "new", "complaint"), FACTS)
def test_a_fact_that_is_forged_in_measurement_and_ledger_is_found(tmp_path, plain, path, new, complaint):
    read = {name: json.loads(plain[name]) for name in ("measurement.json", "ledger_entry.json")}
    facts = read["measurement.json"]["facts"]
    if isinstance(path[-1], int):
        facts = facts[path[0]]
    facts[path[-1]] = new
    read["ledger_entry.json"]["request"]["facts"] = read["measurement.json"]["facts"]
    forged = redone(plain | {name: json_bytes(value) for name, value in read.items()})
    found = said(forged, tmp_path / "b")
    assert complaint in found or (complaint == "noise_std does not follow" and "does not follow" in found), found


def test_rows_that_are_longer_than_their_bounds_are_found(tmp_path, plain):
    read = {name: json.loads(plain[name]) for name in ("measurement.json", "ledger_entry.json")}
    for facts in (read["measurement.json"]["facts"], read["ledger_entry.json"]["request"]["facts"]):
        facts |= {"row_bound_fraction": 7.0, "row_bound": 14.0}
    forged = redone(plain | {name: json_bytes(value) for name, value in read.items()})
    assert "the row bound does not follow" in said(forged, tmp_path / "b")


def test_columns_that_change_places_are_found(tmp_path, plain):
    changed = {}
    for name in ("matrices/noisy.csv", "matrices/noise_std.csv"):
        changed[name] = plain[name].replace(b"weight", b"@").replace(b"height", b"weight").replace(b"@", b"height")
    assert "other names than the columns" in said(redone(plain | changed), tmp_path / "b")
    longer = {name: plain[name].replace(b"weight", b"weight of the spouse") for name in changed}
    assert "other names than the columns" in said(redone(plain | longer), tmp_path / "d")
    digits = plain["matrices/noisy.csv"].decode().replace("7", "\u0667").encode()
    assert "no number" in said(redone({**plain, "matrices/noisy.csv": digits}), tmp_path / "c")


def test_less_noise_than_requested_is_found_and_small_noise_on_a_constant_is_not(tmp_path, files):
    """A hundred-thousandth less; and a column that hardly varies, whose variance is a difference of squares."""
    read = {name: json.loads(files[name]) for name in ("measurement.json", "ledger_entry.json")}
    for part in (read["measurement.json"], read["measurement.json"]["event"]):
        part["scale"] /= 1 + 8e-6
    read["ledger_entry.json"]["amount"] = "1"
    forged = redone(files | {name: json_bytes(value) for name, value in read.items()})
    assert "does not give the stated epsilon" in said(forged, tmp_path / "b")
    stated = json.loads(files["guarantee.json"]) | {"epsilon": 1.00001}
    forged = redone(forged | {"guarantee.json": json_bytes(stated)})
    assert "a weaker guarantee is stated" in said(forged, tmp_path / "d")
    private = privcov.PrivateDataset.from_rows(np.full((100_000, 2), 95.0), bounds=[(0, 100)] * 2, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", PureDP(1e4))
    privcov.release_private(private, PureDP(1e4), "laplace-cov", ledger=ledger).save_bundle(tmp_path / "b.zip")
    assert said(files_of((tmp_path / "b.zip").read_bytes()), tmp_path / "c") == ""


def test_a_name_that_is_there_twice_is_found(tmp_path, plain):
    twice = plain["guarantee.json"].replace(b"{", b'{"rho": 0.01, ', 1)
    assert "a name twice" in said(redone({**plain, "guarantee.json": twice}), tmp_path / "b")


@pytest.mark.parametrize(("name", "path", "new", "complaint"), CHANGES)
def test_a_forged_number_is_found(tmp_path, plain, name, path, new, complaint):
    value = exchanged(json.loads(plain[name]), path, new)
    forged = redone({**plain, name: json_bytes(value)})
    assert complaint in said(forged, tmp_path / "b")


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[str, bytes]:
    return bundled(tmp_path_factory.mktemp("plain"), "zcdp")


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_an_epsilon_a_thousandth_off_is_found(files, factor, tmp_path):
    stated = json.loads(files["guarantee.json"])
    forged = redone({**files, "guarantee.json": json_bytes(stated | {"epsilon": stated["epsilon"] * factor})})
    assert "stated" in said(forged, tmp_path / "b")
    other = redone({**files, "guarantee.json": json_bytes(stated | {"delta": stated["delta"] * 2})})
    assert "another delta" in said(other, tmp_path / "c")


def test_files_that_are_changed_missing_unlisted_or_different_are_found(files, tmp_path):
    assert "'statement.txt' was changed" in said({**files, "statement.txt": b"words"}, tmp_path / "a")
    assert "is missing" in said({k: v for k, v in files.items() if k != "statement.txt"}, tmp_path / "b")
    assert "is not listed" in said({**files, "notes.txt": b""}, tmp_path / "c")
    fewer = {k: v for k, v in files.items() if k != "declaration.json"}
    assert "one is missing" in said(redone(fewer), tmp_path / "d")
    (tmp_path / "z.zip").write_bytes(b"no folder")
    assert "is no folder" in run("-I", VERIFY, tmp_path / "z.zip", cwd=tmp_path).stderr
    (tmp_path / "e" / "c").parent.mkdir()
    (tmp_path / "e" / "c").symlink_to(tmp_path / "z.zip")
    assert "is a link" in run("-I", VERIFY, tmp_path / "e", cwd=tmp_path).stderr


def test_what_nobody_checks_in_it_privcov_verify_does(plain, monkeypatch):
    """A sensitivity that was halved together with the noise, and a matrix in both of its places."""

    def halve(value):
        for part in (value, value["event"]):
            part["scale"] /= 2
        value["event"]["sensitivity"] /= 2
        return value

    forged = rewritten(plain, "measurement.json", halve(json.loads(plain["measurement.json"])))
    assert "does not fit the requested guarantee" in problem(forged, monkeypatch)


def test_the_script_in_a_bundle_is_the_one_that_is_tested_here(files):
    assert files["verify.py"] == VERIFY.read_bytes()
    assert len(VERIFY.read_text(encoding="utf-8").splitlines()) <= 400


def test_a_bundle_of_three_columns_takes_at_most_a_hundred_kilobytes(tmp_path):
    x = np.random.default_rng(0).uniform(size=(500, 3))
    private = privcov.PrivateDataset.from_rows(x, bounds=[(0, 1)] * 3, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", ZCDP(0.5))
    privcov.release_private(private, ZCDP(0.5), "auto-cov", ledger=ledger).save_bundle(tmp_path / "b.zip")
    assert (tmp_path / "b.zip").stat().st_size <= 100_000


def test_it_needs_numpy_and_nothing_else(files, tmp_path):
    here = unpacked(files, tmp_path / "b")
    found = run("-X", "importtime", "-I", "verify.py", cwd=here)
    assert found.returncode == 0, found.stdout + found.stderr[-500:]
    loaded = {line.split("|")[-1].strip().split(".")[0] for line in found.stderr.splitlines() if "|" in line}
    other = {
        name
        for name in loaded - set(sys.stdlib_module_names) - {"numpy", "privcov"}
        if (spec := importlib.util.find_spec(name) if name.isidentifier() else None)
        and "site-packages" in str(spec.origin)
    }
    assert "numpy" in loaded
    assert not {"scipy", "opendp", "pandas", "sqlite3", "socket", "plotly"} & loaded
    assert not {name for name in other if not name.startswith(("_distutils", "distutils", "sitecustomize"))}


# --- strangers' code ----------------------------------------------------------------------------------------

BESIDE = ("hashlib.py", "json.py", "os.py", "argparse.py", "pathlib.py", "importlib/__init__.py", "numpy/__init__.py")
BESIDE += ("sitecustomize.py", "usercustomize.py", "privcov/__init__.py", "privcov/bundle/verify.py", "fractions.py")
BESIDE += ("zipfile.py", "typing.py", "csv.py", "__pycache__/json.cpython-311.pyc", "encodings/__init__.py")


@pytest.mark.parametrize("how", ["inside", "trusted, inside", "trusted -I", "PYTHONPATH"])
def test_code_beside_or_inside_a_bundle_never_runs(files, tmp_path, how):
    """Planted under names that the check imports; each would leave a mark. The clean bundle beside it passes."""
    mark = str(tmp_path / "mark")
    planted = {name: PLANTED.format(mark=mark).encode() for name in BESIDE}
    here = unpacked({**files, **planted}, tmp_path / "b")
    trusted = tmp_path / "trusted"
    trusted.mkdir()
    (trusted / "verify.py").write_bytes(files["verify.py"])
    clean = unpacked(files, tmp_path / "clean")
    environment = {}
    if how == "PYTHONPATH":  # a sitecustomize.py there is run by Python itself, before any script; the rest is not
        for name in ("sitecustomize.py", "usercustomize.py", "encodings/__init__.py", "importlib/__init__.py", "os.py"):
            (here / name).unlink()
        environment = {"PYTHONPATH": f"{here}{os.pathsep}.", "PYTHONNOUSERSITE": "1"}
    words, cwd = {
        "inside": (("verify.py",), here),
        "trusted, inside": ((trusted / "verify.py", "."), here),
        "trusted -I": (("-I", trusted / "verify.py", here), here),
        "PYTHONPATH": ((trusted / "verify.py", here), tmp_path),
    }[how]
    found = run(*words, cwd=cwd, **environment)
    assert (found.returncode, "is not listed" in found.stderr) == (1, True), found.stdout + found.stderr
    assert not Path(mark).exists()
    if how not in ("inside", "PYTHONPATH"):
        return
    passed = run(trusted / "verify.py", clean, cwd=cwd, **environment)
    assert (passed.returncode, passed.stdout.splitlines()[-1]) == (0, HOLDS), passed.stdout + passed.stderr
    assert not Path(mark).exists()


def test_the_planted_code_would_have_run(tmp_path):
    """Else the test above could not fail."""
    mark = tmp_path / "mark"
    (tmp_path / "hashlib.py").write_text(PLANTED.format(mark=str(mark)), encoding="utf-8")
    (tmp_path / "verify.py").write_text("import hashlib\n", encoding="utf-8")
    run("verify.py", cwd=tmp_path)
    assert mark.exists()


def test_a_bundles_own_script_that_always_agrees_is_found(files, monkeypatch):
    false = redone({**files, "verify.py": b"print('holds')\n"})
    assert "verify.py is not the one that checks here" in problem(false, monkeypatch)


# --- the shell ----------------------------------------------------------------------------------------------


def test_the_shell_checks_with_the_installed_text(files, tmp_path, capsys, monkeypatch):
    from privcov.cli.entry import main

    here = unpacked(files, tmp_path / "b")
    assert main(["verify", str(here)]) in (0, None)
    assert capsys.readouterr().out.splitlines()[-1] == "Consistent: everything that can be checked holds."
    (here / "verify.py").write_text("raise SystemExit(0)", encoding="utf-8")
    assert main(["verify", str(here)]) == 1
    assert "was changed" in capsys.readouterr().out
    monkeypatch.chdir(here / "matrices")
    assert main(["verify", str(here)]) != 0
    assert "Change to another folder" in capsys.readouterr().err


def test_a_bundle_of_another_format_is_refused_with_what_to_do(files, tmp_path):
    import json

    from privcov.bundle.archive import BundleError
    from privcov.bundle.derived import json_bytes

    listed = json.loads(files["manifest.json"])["files"]
    for number in (1, 2, 3.0, True, "3", None):
        with pytest.raises(BundleError, match="Check it with the privcov that made it"):
            check({**files, "manifest.json": json_bytes({"format": number, "files": listed})})
