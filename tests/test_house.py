"""The arrows of the house point one way: each room imports only from rooms to its left."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = [
    "core",
    "tables",
    "data_sources",
    "measurements",
    "postprocess",
    "estimators",
    "ledger",
    "releases",
    "inference",
    "metrics",
    "studies",
    "steward",
    "attacks",
    "plots",
    "bundle",
    "pages",
]
COMMON = {"common": set()}  # folders of pages/ that others may import, and what these may import
DOORS = {"__init__", "__main__", "cli", "sklearn"}  # they open onto finished rooms; no room imports them
# A release is drawn and bundled by methods of its own, which only hand it on to the later rooms that know how.
RELEASE = "privcov.releases.release"
HANDED_ON = {"privcov.bundle.read.save", "privcov.plots.notebook"}
REGISTRIES = {"privcov/__init__.py", "privcov/core/registry.py", "pages/lessons/catalogue.py"}
# postprocess never sees rows and a measurement never repairs its answer: only a method knows both.
STRANGERS = {
    ("postprocess", "measurements"),
    ("measurements", "postprocess"),
    ("measurements", "data_sources"),
    ("postprocess", "data_sources"),
    ("estimators", "data_sources"),
}
LONG = {
    "privcov/inference/answers.py": "one class, a method for each answer, a third of it what docstrings promise",
    "privcov/releases/release.py": "a release, its statement and its JSON are one promise and change together",
}
STARTER = ROOT / "privcov" / "cli" / "app.py"  # it starts the server and draws nothing
FILES = sorted([*(ROOT / "privcov").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), *ROOT.glob("app.py")])


def room_of(path: Path) -> str:
    """The room or door a file belongs to."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "pages" if parts[0] in ("pages", "app") else parts[1]


def imports(source: str, types: bool = True) -> set[str]:
    """Every absolute module name in the import lines, also those inside functions.

    types: also those under ``if TYPE_CHECKING``, which no run executes.
    """
    found, tree = set(), ast.parse(source)
    for node in () if types else ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = []
    for node in ast.walk(tree):
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
        if top == "plotly" and where != "plots":
            wrong.append("plotly belongs in privcov/plots/")
        there = "pages" if top in ("pages", "app") else rest[0] if top == "privcov" and rest else ""
        if there in DOORS and where not in (*DOORS, "pages"):
            wrong.append(f"{name} is a door; import the room behind it")
        if where in ROOMS and there in ROOMS and ROOMS.index(there) > ROOMS.index(where) and name not in HANDED_ON:
            wrong.append(f"the arrow to {name} points back")
        if (where, there) in STRANGERS:
            wrong.append(f"{where} must not know {name}")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_left(path):
    assert room_of(path) in {*ROOMS, *DOORS}, "a new room: give it a place in ROOMS"
    found = complaints(room_of(path), path.read_text(encoding="utf-8"))
    assert found == [] or (path == STARTER and set(found) == {"streamlit belongs in app.py and pages/"})


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 600 or path.relative_to(ROOT).as_posix() in LONG, f"{lines} lines: which second room hides inside?"


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def needs(sources: dict[str, str]) -> dict[str, set[str]]:
    """Module -> the modules among ``sources`` that it imports when it runs, on loading or inside a function."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        found[module] = set()
        for name in imports(source, types=False):
            parts = name.split(".")
            inside = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
            found[module] |= {next((part for part in inside if part in sources), module)} - {module}
    return found


def circles(arrows: dict[str, set[str]]) -> set[frozenset[str]]:
    """The groups that import each other, straight or by way of others."""

    def beyond(start: str) -> set[str]:
        reached, waiting = set(), list(arrows[start])
        while waiting:
            here = waiting.pop()
            if here not in reached:
                reached.add(here)
                waiting += arrows[here]
        return reached

    after = {name: beyond(name) for name in arrows}
    return {frozenset(other for other in after[name] if name in after[other]) for name in arrows if name in after[name]}


def folder_of(module: str) -> str:
    """pages.common of pages.common.frame: the folder of a page's parts, else the module itself."""
    head, folder, *rest = [*module.split("."), ""]
    return f"{head}.{folder}" if head == "pages" and any(rest) else module


@cache
def circles_now() -> set[frozenset[str]]:
    """Of the modules, and of the folders of the pages."""
    arrows = needs({module_of(path): path.read_text(encoding="utf-8") for path in FILES})
    arrows[RELEASE] -= {"privcov.bundle.read", "privcov.plots.notebook"}
    folders: dict[str, set[str]] = {folder_of(module): set() for module in arrows}
    for module, there in arrows.items():
        folders[folder_of(module)] |= {folder_of(other) for other in there} - {folder_of(module)}
    return circles(arrows) | circles(folders)


def test_no_module_imports_one_that_imports_it():
    """Also not by way of others, and not inside a function, where Python would let it pass."""
    assert circles_now() == set()


def test_only_a_release_hands_itself_on_and_only_registries_import_by_name():
    """Nothing of ours is imported behind the back of the tests of arrows and circles."""
    by_name, handing = set(), {}
    for path in FILES:
        source, where = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        if re.search(r"import_module\((?!library|\"pandas\")|__import__", source):
            by_name.add(where)
        if room_of(path) == "releases" and (found := imports(source) & HANDED_ON):
            handing[module_of(path)] = found
    assert by_name == REGISTRIES
    assert handing == {RELEASE: HANDED_ON}


def test_a_circle_is_seen():
    """Three modules, one import inside a function; an import for types alone makes none."""
    inside = "def f():\n    from b import x"
    assert circles(needs({"a": inside, "b": "import c.y", "c": "from a import z", "d": "import a"})) == {
        frozenset("abc")
    }
    assert circles(needs({"a": "if TYPE_CHECKING:\n    from b import x", "b": "import a"})) == set()
    assert folder_of("pages.common.frame") == "pages.common"
    assert folder_of("pages.1_Estimate") == "pages.1_Estimate"


def page_complaints(folder: str, source: str) -> list[str]:
    """Imports of a folder of pages/ from folders that are not its own, nor for all."""
    there = {name.split(".")[1] for name in imports(source) if name.startswith("pages.")}
    return [f"{folder} imports pages.{name}" for name in sorted(there - {folder} - COMMON.get(folder, {*COMMON}))]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "pages").glob("*/**/*.py")), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_a_page_imports_no_other_page(path):
    assert page_complaints(path.relative_to(ROOT / "pages").parts[0], path.read_text(encoding="utf-8")) == []


def test_the_rule_sees_a_page_that_imports_another():
    line = "from pages.trade_offs import answer"
    assert page_complaints("common", line)
    assert page_complaints("published", f"def f():\n    {line}")
    assert page_complaints("common", "from pages.your_data import limits_table")
    assert not page_complaints("trade_offs", line)
    assert not page_complaints("estimate", "from pages.common import frame")


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
        ("postprocess", "from privcov.measurements.moment import NoisyMoment"),
        ("measurements", "import privcov.postprocess.moments"),
        ("estimators", "def f():\n    from privcov.releases.public import release"),
        ("metrics", "from privcov.studies.plan import Plan"),
        ("core", "from privcov.releases import release"),
        ("metrics", "import plotly.graph_objects as go"),
        ("plots", "import streamlit as st"),
        ("tables", "from privcov.releases import scikit_learn"),
    ],
)
def test_the_rule_sees_a_wrong_arrow(where, line):
    assert complaints(where, line)
