"""docs/architecture.md and docs/formulas.md are true.

The diagram is the import lines, the files and functions exist, and no method is missing.
"""

import ast
import re

import pytest

from privcov.estimators.base import METHODS
from tests import house_plan
from tests.test_house import DOORS, ROOMS, ROOT

TEXT = house_plan.PAGE.read_text(encoding="utf-8")
FORMULAS = (ROOT / "docs" / "formulas.md").read_text(encoding="utf-8")
TABLE = [line for line in FORMULAS.splitlines() if line.startswith("| ") and not line.startswith("| Where in")]
# Each file named in a table with the names behind it: `file` `name`, `name`; `file` ...
NAMED = [
    (file, name)
    for line in TABLE
    for file, names in re.findall(r"`(privcov/[\w/]+\.py)`((?:,? `\w+`)*)", line)
    for name in (re.findall(r"`(\w+)`", names) or [""])
]
SAYS_WHERE = re.compile(r"Theorem|Lemma|Algorithm \d|Appendix|Corollary|Proposition")
# They judge or repeat claims rather than compute a formula, or copy a place from the file that has it.
ABOUT_CLAIMS = re.compile(
    r"privcov/(audit/(catalogue|demonstrations\w*)|(sweeps|advice|owner)/[\w/]+|data_sources/\w+|figures/\w+)\.py"
)


def test_the_diagram_is_drawn_from_the_code():
    found = house_plan.BLOCK.search(TEXT)
    assert found, "the page has lost its diagram"
    remedy = "run: .venv/bin/python -m tests.house_plan"
    assert found[2] == house_plan.diagram(), remedy
    assert house_plan.DRAWING.read_text(encoding="utf-8") == house_plan.drawing(), remedy


def test_the_drawing_has_every_package_and_no_box_on_another():
    """Also every arrow begins and ends at its boxes: the lines of the paths say so."""
    svg = house_plan.drawing()
    order, kept = house_plan.plan()
    assert re.findall(r'font-weight="bold">(\w+)<', svg) == order
    assert svg.count("marker-end") == len(kept)
    boxes = [tuple(map(float, box)) for box in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', svg)]
    for x, y in boxes:
        near = [(a, b) for a, b in boxes if abs(a - x) < house_plan.WIDTH and abs(b - y) < house_plan.HEIGHT]
        assert near == [(x, y)]
    rows = house_plan.layers(order, kept)
    assert all(rows[a] < rows[b] for a, b in kept)


def test_a_new_import_changes_the_diagram():
    """The drawing sees an arrow that is there, and leaves out what a longer way implies."""
    small = [("estimators", "from privcov.measurements.moment import x"), ("metrics", "import privcov.estimators.base")]
    assert house_plan.arrows(small) == {("measurements", "estimators"), ("estimators", "metrics")}
    longer = [*small, ("metrics", "def f():\n    from privcov.measurements import moment")]
    assert ("measurements", "metrics") in house_plan.arrows(longer)
    assert house_plan.reduced(house_plan.arrows(longer)) == house_plan.arrows(small)
    assert ("parallel", "sweeps") in house_plan.arrows([("sweeps", "from privcov import parallel")])


def test_every_room_is_in_the_table_and_in_the_diagram():
    rooms = {name for line in re.findall(r"^\| (`[\w`, ]+) \|", TEXT, re.M) for name in re.findall(r"`(\w+)`", line)}
    assert rooms == {*ROOMS, *house_plan.WORKERS}
    assert set(house_plan.WORDS) == rooms


def test_every_shared_file_and_door_is_named():
    plan = TEXT.split("## How the guarantee")[0]
    for name in {*house_plan.shared(), *DOORS} - {*house_plan.WORKERS}:
        assert re.search(rf"`(privcov/)?{name}(\.py|/)`", plan), f"say that {name} is there"
    for name in re.findall(r"`(?:privcov/)?(\w+)\.py`", plan):
        assert (ROOT / "privcov" / f"{name}.py").is_file(), f"{name}.py is gone"


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_the_formula_is_where_the_table_says(file):
    """The file is there, and every function or class named behind it is one of its own, and public."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    named = {name for there, name in NAMED if there == file and name}
    assert named <= own, f"{file} has no {', '.join(sorted(named - own))}"


def test_every_method_is_in_the_table():
    """By the file of its class, so that a method from a paper cannot be entered without its place."""
    trivial = {"zero", "diagonal", "trace-ball"}  # answers to beat, and CONTRIBUTING's example: no formula of a paper
    homes = {card.key: card.cls.__module__.replace(".", "/") + ".py" for card in METHODS.all()}
    named = {(file, name) for file, name in NAMED}
    missing = {
        key for key, card in zip(homes, METHODS.all(), strict=True) if (homes[key], card.cls.__name__) not in named
    }
    assert missing <= trivial, missing


def test_every_file_that_cites_a_theorem_is_in_the_table():
    citing = set()
    for path in (ROOT / "privcov").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if SAYS_WHERE.search(path.read_text(encoding="utf-8")) and not ABOUT_CLAIMS.fullmatch(name):
            citing.add(name)
    assert len(citing) > 15
    assert citing <= {file for file, _ in NAMED}


def test_the_files_named_in_the_text_exist():
    for name in set(re.findall(r"`((?:privcov|pages|tests|data)/[\w/.]+)`", TEXT + FORMULAS)):
        assert (ROOT / name).exists(), name
