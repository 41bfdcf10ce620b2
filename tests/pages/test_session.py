"""Every key of the session is written by one room, a folder of `pages`, and no two rooms have a widget of one key."""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

import pytest

from pages.shell.visitor_files import WITH_FILES

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
PAGES = {"app": "home", "8_Published_results": "published", "9_Privacy_audit": "audit"}
WRITES = {"setdefault", "pop"}
MAKERS = {"Jobs", "Pins"}  # classes whose first argument is a key that they write
DRAWN = {"picture": 1, "still": 1, "download": 3}  # functions of `show`, and the place of the widget's key


def place(path: Path) -> str:
    """shell/frame, trade_offs/form; a page's own file counts as its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if path.parent.parent == ROOT / "pages":
        return "/".join(parts[1:])
    return PAGES.get(path.stem, re.sub(r"^\d+_", "", path.stem).lower())


def text_of(node: ast.expr | None, constants: dict[str, str]) -> str | None:
    """A literal key, with {} for what varies; None for a variable."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
        found = "".join(map(str, parts))
        return None if re.fullmatch(r"[{}]*", found) else found
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def constants_of(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            (target,) = node.targets
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found[name.id] = value.value
    return found


def is_state(node: ast.expr) -> bool:
    """`st.session_state`, or the name ``state`` that some functions give it."""
    return ast.unparse(node) in ("st.session_state", "state")


def uses(source: str) -> list[tuple[str, bool]]:
    """(key, whether it is written) for every literal key of the session."""
    tree = ast.parse(source)
    known = constants_of(tree)
    found: list[tuple[str | None, bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_state(node.value):
            found.append((text_of(node.slice, known), not isinstance(node.ctx, ast.Load)))
        elif isinstance(node, ast.Compare) and is_state(node.comparators[0]):
            found.append((text_of(node.left, known), False))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_state(node.func.value):
            if node.func.attr in (*WRITES, "get"):
                found.append((text_of(node.args[0], known), node.func.attr in WRITES))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
            found.append((text_of(node.args[0], known), True))
    return [(key, written) for key, written in found if key is not None]


def widgets(source: str) -> set[str]:
    """Literal keys of widgets and charts."""
    tree = ast.parse(source)
    known, found = constants_of(tree), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found |= {text_of(k.value, known) for k in node.keywords if k.arg == "key"}
            at = DRAWN.get(getattr(node.func, "attr", ""))
            if at is not None and ast.unparse(node.func).startswith("show.") and len(node.args) > at:
                found.add(text_of(node.args[at], known))
    return {key for key in found if key is not None}


@functools.cache
def everything() -> dict[str, list[tuple[str, bool]]]:
    return {place(path): uses(path.read_text(encoding="utf-8")) for path in FILES}


def test_every_key_is_written_by_one_room_and_read():
    written, read = defaultdict(set), set()
    for where, found in everything().items():
        for key, writes in found:
            (written[key] if writes else read).add(where.partition("/")[0] if writes else key)
    assert len(written) > 50
    assert {key: rooms for key, rooms in written.items() if len(rooms) > 1} == {}
    assert {key for key in read - written.keys() if "{}" not in key} - drawn() == set(), "nothing writes these"


def drawn() -> set[str]:
    """Keys that widgets write."""
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    kept = {text for source in texts for text in re.findall(r'"key": f?"([^"]+)"', source)}
    return {key for source in texts for key in widgets(source)} | kept


def test_no_two_pages_have_a_widget_of_the_same_key():
    pages = defaultdict(set)
    for path in FILES:
        for key in widgets(path.read_text(encoding="utf-8")):
            pages[key].add(place(path).partition("/")[0])
    assert {k: found for k, found in pages.items() if "{}" not in k and len(found - {"shell"}) > 1} == {}


def test_what_goes_with_a_file_is_kept_under_its_owner():
    written = {key for found in everything().values() for key, writes in found if writes}
    assert set(WITH_FILES) - written == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('st.session_state["a"] = 1', [("a", True)]),
        ('x = st.session_state["a"]', [("a", False)]),
        ('st.session_state.setdefault("a", {})', [("a", True)]),
        ('st.session_state.get(f"a.{kind}")', [("a.{}", False)]),
        ('del state["a"]', [("a", True)]),
        ('"a" not in st.session_state', [("a", False)]),
        ('KEY = "a"\nst.session_state.pop(KEY, None)', [("a", True)]),
        ('JOBS = Jobs("a")', [("a", True)]),
        ("st.session_state[key] = 1", []),
    ],
)
def test_the_rule_sees_a_key(line, found):
    assert uses(line) == found
