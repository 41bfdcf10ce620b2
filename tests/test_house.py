"""The arrows of the house point one way: each room imports only from rooms to its left (design/house.md)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = {"wishart_curve", "checks", "privacy", "accounting", "randomness", "parameters", "registry", "places"}
SHARED |= {"dataset", "private_dataset", "private_facts", "compiled", "table_files", "engine"}
ROOMS = [
    "data_sources",
    "measurements",
    "postprocess",
    "estimators",
    "ledger",
    "_release",
    "_running",
    "_private",
    "metrics",
    "sweeps",
    "papers",
    "advice",
    "owner",
    "lessons",
    "audit",
    "figures",
    "bundle",
    "pages",
]
DOORS = {
    "__init__",
    "experiments",
    "__main__",
    "_shell_release",
    "_generate",
    "_shell_check",
    "_shell_edges",
    "_shell_generate",
    "sklearn_api",
}  # they open onto finished rooms; no room imports them
# postprocess never sees rows and a measurement never repairs its answer: only a method knows both.
STRANGERS = {
    ("postprocess", "measurements"),
    ("measurements", "postprocess"),
    ("measurements", "data_sources"),
    ("postprocess", "data_sources"),
    ("estimators", "data_sources"),
}
LONG = {
    "privcov/accounting.py": "one table of arithmetic, read as a whole: calibrate, convert, compose, split",
    "privcov/_release.py": "a release, its statement and its JSON are one promise and change together",
}
FILES = sorted([*(ROOT / "privcov").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), *ROOT.glob("app.py")])


def room_of(path: Path) -> str:
    """The room, shared file or door a file belongs to."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "pages" if parts[0] in ("pages", "app") else parts[1]


def imports(source: str) -> set[str]:
    """Every absolute module name in the import lines, also those inside functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports from the top: from privcov.room import ..."
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def complaints(where: str, source: str) -> list[str]:
    """What is wrong with the imports of a file of room ``where``."""
    wrong = []
    for name in imports(source):
        top, *rest = name.split(".")
        if top == "streamlit" and where != "pages":
            wrong.append("streamlit belongs in app.py and pages/")
        if top == "plotly" and where != "figures":
            wrong.append("plotly belongs in privcov/figures/")
        there = "pages" if top in ("pages", "app") else rest[0] if top == "privcov" and rest else ""
        if where in SHARED and there and there not in SHARED:
            wrong.append(f"a shared file imports {name}")
        if there in DOORS and where not in (*DOORS, "pages"):
            wrong.append(f"{name} is a door; import the room behind it")
        if where in ROOMS and there in ROOMS and ROOMS.index(there) > ROOMS.index(where):
            wrong.append(f"the arrow to {name} points back")
        if (where, there) in STRANGERS:
            wrong.append(f"{where} must not know {name}")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_left(path):
    assert room_of(path) in {*SHARED, *ROOMS, *DOORS}, "a new room: give it a place in ROOMS"
    assert complaints(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 600 or path.relative_to(ROOT).as_posix() in LONG, f"{lines} lines: which second room hides inside?"


def test_no_folder_of_the_pages_is_a_heap():
    folders = [p for p in (ROOT / "pages").iterdir() if p.is_dir() and p.name != "__pycache__"]
    assert len(folders) > 8
    assert {p.name: n for p in folders if (n := len([f for f in p.iterdir() if f.is_file()])) > 25} == {}


def test_no_module_shares_its_name_with_a_public_name():
    """A lazy import of module privcov.x would rebind the public name privcov.x."""
    tree = ast.parse((ROOT / "privcov/__init__.py").read_text(encoding="utf-8"))
    words = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    words |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    modules = {p.stem for p in (ROOT / "privcov").iterdir() if p.suffix == ".py" or p.is_dir()} - {"__init__"}
    assert {"methods", "Release"} <= words
    assert modules & words == set()


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("postprocess", "from privcov.measurements.moment import Measured"),
        ("measurements", "import privcov.postprocess.joint"),
        ("estimators", "def f():\n    from privcov._release import release"),
        ("metrics", "from privcov.sweeps.plan import Plan"),
        ("checks", "from privcov import _release"),
        ("metrics", "import plotly.graph_objects as go"),
        ("figures", "import streamlit as st"),
        ("metrics", "from privcov import sklearn_api"),
    ],
)
def test_the_rule_sees_a_wrong_arrow(where, line):
    assert complaints(where, line)
