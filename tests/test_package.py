"""The package: what the wheel holds, and that it works from another folder without the checkout."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov.core.extras import EXTRAS
from privcov.tables.declaration.declaration import Column, Declaration
from tests.installed import build, install
from tests.patience import patient
from tests.serving import free_port, healthy, running

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)
CLASSES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/classes.md").read_text(encoding="utf-8"), re.S)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return install(tmp_path_factory.mktemp("an installation"))


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def tracked(folder: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def test_the_wheel_holds_the_package_its_pages_and_its_data(here):
    there = names(here.wheel)
    for folder, place in (("privcov", "privcov"), ("pages", "privcov/_app/pages"), ("data", "privcov/_data")):
        for name in tracked(folder):
            assert place + name.removeprefix(folder) in there, name
    assert {"privcov/_app/app.py", "privcov/_app/.streamlit/config.toml", "privcov/py.typed"} <= there
    assert "privcov/bundle/templates/report.html" in there
    assert not [name for name in there if name.startswith(("tests/", "docs/"))]
    assert not [name for name in there if name.endswith((".pyc", ".png")) and not name.endswith("icon.png")]
    assert here.wheel.stat().st_size < 3e6


def test_the_source_archive_builds_the_same_wheel(here, tmp_path):
    with tarfile.open(here.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    assert not (source / "tests").exists()
    again = build(tmp_path / "again", "wheel", source)
    assert names(again) == names(here.wheel)


def test_what_a_missing_package_names_is_an_extra_that_brings_it():
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package) for line in PROJECT["optional-dependencies"][extra]), package


def test_the_command_works_in_another_folder(here):
    script = here.run(str(here.site / "bin" / "privcov"), "--version")
    assert script.stdout == f"privcov {privcov.__version__}\n"
    told = here.run("-m", "privcov", "advice", "--n", "5000", "--d", "10", "--epsilon", "1", "--delta", "1e-6")
    assert told.returncode == 0, told.stderr
    assert not list(here.elsewhere.glob("*.csv"))


def test_python_finds_the_installed_package_and_its_data(here):
    code = (
        "import json, privcov; from privcov.core import paths; "
        "print(json.dumps([privcov.__file__, str(paths.app_file()), privcov.source('example').n,"
        "len(list(paths.results('replication').glob('*.csv')))]))"
    )
    done = here.run("-c", code)
    assert done.returncode == 0, done.stderr
    file, app, rows, verdicts = json.loads(done.stdout)
    assert Path(file).is_relative_to(here.site)
    assert Path(app) == here.site / "privcov" / "_app" / "app.py"
    assert rows == privcov.source("example").n
    assert verdicts == 6


def test_results_are_added_to_a_copy_and_never_to_the_installation(here, tmp_path):
    """The small table of one paper is extended by nothing; the copy holds what was shipped."""
    name = "replication"
    code = f"from privcov.core import paths; print(paths.results('{name}')); print(paths.own_results('{name}'));"
    code += f"print(paths.results('{name}'))"
    done = here.run("-c", code, PRIVCOV_DATA_DIR=str(tmp_path / "data"))
    shipped, own, now = map(Path, done.stdout.splitlines())
    assert shipped == here.site / "privcov" / "_data" / name
    assert own == now == tmp_path / "data" / name
    assert {p.name: p.read_bytes() for p in own.glob("*.csv")} == {
        p.name: p.read_bytes() for p in shipped.glob("*.csv")
    }


HIDDEN = """
import importlib.abc, sys
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == {package!r} else found(name, *more)
sys.meta_path.insert(0, Hide())
from privcov.cli.entry import main
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A folder with a private table of simulated rows, its declaration, and a ledger that allows a release."""
    folder = tmp_path_factory.mktemp("table")
    name, rows = "rows", np.random.default_rng(0).uniform(-1, 1, (500, 3))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b,c", comments="")
    columns = tuple(Column(one, -1.0, 1.0, 0.0, "drawn so") for one in "abc")
    declared = Declaration(name, "a draw", columns, n_public=True)
    (folder / "d.json").write_text(declared.to_json(), encoding="utf-8")
    privcov.Ledger(folder / "ledger.sqlite").set_limit(name, privcov.ZCDP(1.0))
    return folder, name


RELEASE = 'main(["release", "rows.csv", "--declaration", "d.json", "--rho", "0.1", "--out", "r.json"])'


@pytest.mark.parametrize(
    ("package", "command"),
    [("opendp", RELEASE), ("pyarrow", RELEASE), ("streamlit", 'main(["app"])')],
    ids=["release", "read", "app"],
)
def test_a_missing_optional_package_is_one_sentence_and_nothing_is_paid(table, package, command):
    folder, name = table
    ledger = folder / "ledger.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN.format(package=package) + f"sys.exit({command})"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PRIVCOV_LEDGER": str(ledger)},
        capture_output=True,
        text=True,
        timeout=patient(60),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith("privcov: ")
    remedy = f'pip install ".[{EXTRAS[package]}]" (in the project folder)'
    assert line.endswith(f"need the package {package}. Install it with: {remedy}")
    assert not privcov.Ledger(ledger).entries(name)
    assert not (folder / "r.json").exists()


def interpreter(version: str) -> str:
    """A Python of that version on this machine; skips without one."""
    managed = sorted(map(str, (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")))
    for name in (f"python{version}", "python3", *managed):  # the first may be a pyenv shim, which only fails
        try:
            told = subprocess.run(
                [name, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True
            )
        except OSError:
            continue
        if told.stdout.decode().strip() == version:
            return name
    pytest.skip(f"no Python {version} here")


def lowest() -> str:
    """Constraints that hold every package which this one names itself at the lower end of its range."""
    from packaging.requirements import Requirement

    lines = [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]
    named = [asked for asked in map(Requirement, lines) if asked.name != "privcov"]
    ends = {asked.name: [one.version for one in asked.specifier if one.operator == ">="] for asked in named}
    assert all(len(versions) == 1 for versions in ends.values()), ends
    return "".join(f"{name}=={version}\n" for name, (version,) in ends.items())


CLAIMED = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PRIVCOV_DATA_DIR")}


@pytest.mark.deep
@pytest.mark.parametrize(
    ("version", "constraints"),
    [*((version, "") for version in CLAIMED), (CLAIMED[0], lowest())],
    ids=[*CLAIMED, f"{CLAIMED[0]}, lowest versions"],
)
def test_an_empty_environment(tmp_path, version, constraints):
    """The wheel alone, from the package index: the core is small, says what is missing, and the extras bring it.

    Also at the lower ends of all ranges; a version that does not exist or does not go with the others fails it.
    """
    python = interpreter(version)
    wheel = build(tmp_path / "wheel", "wheel")
    elsewhere, venv = tmp_path / "my folder", tmp_path / "an environment"
    elsewhere.mkdir()
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    python, script = venv / "bin" / "python", venv / "bin" / "privcov"
    clean = CLEAN | {"PRIVCOV_LEDGER": str(tmp_path / "ledger.sqlite"), "PRIVCOV_CACHE_DIR": str(tmp_path / "cache")}

    def run(*command: object, code: int = 0) -> str:
        done = subprocess.run(
            [*map(str, command)], cwd=elsewhere, env=clean, capture_output=True, text=True, timeout=patient(600)
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def megabytes() -> float:
        return sum(f.stat().st_size for f in venv.rglob("*") if f.is_file() and not f.is_symlink()) / 1e6

    limits = tmp_path / "constraints.txt"
    limits.write_text(constraints, encoding="utf-8")
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", limits)
    bare = megabytes()
    run(*pip, wheel)
    core = megabytes() - bare
    run(python, "-c", BLOCKS[0])
    run(python, "-c", CLASSES[0])  # scikit-learn's classifiers with a private covariance
    assert 'pip install ".[app]"' in run(script, "app", code=1)
    run(*pip, f"{wheel}[app]")
    print(f"Python {version}: core {core:.0f} MB, with the extra app {megabytes() - bare:.0f} MB")
    assert core < 600, "half of the 1.2 GB that the lock installs"
    for block in BLOCKS:
        run(python, "-c", block)
    port = free_port()
    with running([script, "app", f"--port={port}"], lambda: healthy(port), tmp_path / "log", cwd=elsewhere, env=clean):
        for path in ("app.py", *sorted(p.name for p in (ROOT / "pages").glob("[0-9]*_*.py"))):
            run(python, "-c", DRAWN.format(path=path))


DRAWN = """
from streamlit.testing.v1 import AppTest
from privcov.core import paths
import sys
app = paths.app_file()
sys.path.insert(0, str(app.parent))
at = AppTest.from_file(str(app), default_timeout=600)
if {path!r} != "app.py":
    at.switch_page("pages/" + {path!r})
at.run()
assert not at.exception, at.exception
assert at.title, "no title"
"""
