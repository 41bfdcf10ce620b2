"""verify.py as a stranger runs it: generated from the modules, alone with numpy, deaf to code beside a bundle."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from privcov.bundle import verify_script
from privcov.bundle.derived import zipped
from privcov.bundle.verify_script import library, verifier_source
from tests.forging import bundled, redone
from tests.patience import patient
from tests.test_bundle_forged import unpacked

ROOT = Path(__file__).parents[1]
PLANTED = "import pathlib\npathlib.Path({mark!r}).write_text('it ran')\n"
HOLDS = "Consistent: everything that can be checked holds."


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


# --- one text -----------------------------------------------------------------------------------------------


def test_the_script_is_the_modules_and_nothing_else(files):
    """Every module stands in it letter by letter, and between them there is no formula: no number, no operator."""
    text = files["verify.py"].decode()
    assert text == verifier_source()
    named = re.findall(r"^MODULES\['([\w.]+)'\] = r'''", text, re.M)
    assert named[0] == "privcov.bundle.verify"
    assert {"privcov.accounting", "privcov.measurements.exact_moment", "privcov.postprocess.matrices"} <= set(named)
    rest = text
    for name in named:
        module = (ROOT / name.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
        assert module in rest
        rest = rest.replace(module, "", 1)
    own = rest.split("CARDS = r'''")[0] + rest.split("'''", 2 * len(named) + 2)[-1]
    assert not re.search(r"sensitivity|epsilon|sqrt|\*\*", own)


def test_a_module_that_is_changed_changes_the_script(monkeypatch, tmp_path):
    before = verifier_source()
    (tmp_path / "privcov").mkdir()
    for path in (ROOT / "privcov").rglob("*.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    noise = tmp_path / "privcov/measurements/exact_moment.py"
    noise.write_text(noise.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    monkeypatch.setattr(verify_script, "_ROOT", tmp_path / "privcov")
    assert verifier_source.__wrapped__() != before


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


@pytest.mark.parametrize("how", ["inside", "trusted, inside", "trusted -I", "PYTHONPATH", "zip"])
def test_code_beside_or_inside_a_bundle_never_runs(files, tmp_path, how):
    """Planted under names that the check imports; each would leave a mark. The clean bundle beside it passes."""
    mark = str(tmp_path / "mark")
    planted = {name: PLANTED.format(mark=mark).encode() for name in BESIDE}
    here = unpacked({**files, **planted}, tmp_path / "b")
    trusted = tmp_path / "trusted"
    trusted.mkdir()
    (trusted / "verify.py").write_bytes(files["verify.py"])
    clean = unpacked(files, tmp_path / "clean")
    (tmp_path / "b.zip").write_bytes(zipped({**files, **planted}, 8))
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
        "zip": ((trusted / "verify.py", tmp_path / "b.zip"), here),
    }[how]
    found = run(*words, cwd=cwd, **environment)
    assert (found.returncode, "is not a file of a bundle" in found.stdout) == (1, True), found.stdout + found.stderr
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


def test_a_bundles_own_script_that_always_agrees_is_found_by_another(files, tmp_path):
    false = redone({**files, "verify.py": b"print('Consistent: everything that can be checked holds.')\n"})
    here = unpacked(false, tmp_path / "b")
    (tmp_path / "verify.py").write_bytes(files["verify.py"])
    found = run(tmp_path / "verify.py", here, cwd=tmp_path)
    assert found.returncode == 1
    assert "verify.py is not the one that checks here" in found.stdout


# --- the shell ----------------------------------------------------------------------------------------------


def test_the_shell_checks_with_the_installed_text(files, tmp_path, capsys, monkeypatch):
    from privcov.cli.entry import main

    here = unpacked(files, tmp_path / "b")
    assert main(["verify", str(here)]) in (0, None)
    assert capsys.readouterr().out.splitlines()[-1] == HOLDS
    (here / "verify.py").write_text("raise SystemExit(0)", encoding="utf-8")
    assert main(["verify", str(here)]) == 1
    assert "was changed" in capsys.readouterr().out
    monkeypatch.chdir(here / "matrices")
    assert main(["verify", str(here)]) != 0
    assert "Change to another folder" in capsys.readouterr().err


def test_a_bundle_of_another_format_is_refused_with_what_to_do(files, tmp_path):
    import json

    from privcov.bundle.derived import json_bytes
    from privcov.bundle.place import Wrong
    from privcov.bundle.verify import check

    listed = json.loads(files["manifest.json"])["files"]
    for number in (1, 2, 3.0, True, "3", None):
        with pytest.raises(Wrong, match="Check it with the privcov that made it"):
            check({**files, "manifest.json": json_bytes({"format": number, "files": listed})}, library())
