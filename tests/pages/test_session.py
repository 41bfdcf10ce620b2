"""Every key of the session has one owner: what `pages.shell.session` lists is what the source reads and writes."""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

import pytest

from pages.shell.session import KEYS, WITH_FILES

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
PAGES = {"app": "home", "8_Published_results": "published", "9_Privacy_audit": "audit"}
WRITES = {"setdefault", "pop"}
MAKERS = {"Jobs", "Pins"}  # classes whose first argument is a key that they write
DRAWN = {"picture": 1, "still": 1, "download": 3}  # functions of `show`, and the place of the widget's key
NAMES = [key.name for key in KEYS]


def place(path: Path) -> str:
    """shell/frame, trade_offs/form; a page's own file counts as its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if path.parent.parent == ROOT / "pages":
        return "/".join(parts[1:])
    return PAGES.get(path.stem, re.sub(r"^\d+_", "", path.stem).lower())


def owns(owner: str, where: str) -> bool:
    return where == owner or where.startswith(f"{owner}/") or (owner.startswith(f"{where}/") and "/" not in where)


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


def listed(key: str) -> str | None:
    """The name in the list: itself, or the first one with braces that fits."""
    if key in NAMES:
        return key
    return next((n for n in NAMES if "{}" in n and re.fullmatch(re.escape(n).replace(r"\{\}", ".+"), key)), None)


@pytest.mark.parametrize("path", FILES, ids=place)
def test_every_key_is_listed_and_written_by_its_owner_alone(path):
    owners = {key.name: key.owner for key in KEYS}
    for key, written in everything()[place(path)]:
        name = listed(key)
        assert name is not None, f"{key!r} has no owner: list it in pages/shell/session.py"
        assert not written or owns(owners[name], place(path)), f"{key!r} belongs to {owners[name]}"


def test_every_key_of_the_list_is_there_once_and_used():
    assert len(NAMES) == len(set(NAMES))
    assert all(key.owner and key.holds for key in KEYS)
    used = {listed(key) for found in everything().values() for key, _ in found}
    drawn = {key for path in FILES for key in widgets(path.read_text(encoding="utf-8"))}
    kept = {text for path in FILES for text in re.findall(r'"key": f?"([^"]+)"', path.read_text(encoding="utf-8"))}
    drawn |= {re.sub(r"\{[^}]*\}", "{}", text) for text in kept}
    source = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    for name in set(NAMES) - used - drawn:
        pattern = re.escape(name).replace(r"\{\}", r"\{[^{}]+\}")
        assert re.search(f'"{pattern}"', source), f"nothing uses {name!r} any more"


def test_every_owner_exists():
    for key in KEYS:
        here = ROOT / "pages" / key.owner
        assert here.is_dir() or here.with_suffix(".py").is_file() or key.owner in {place(p) for p in FILES}, key


def test_no_two_pages_have_a_widget_of_the_same_key():
    pages = defaultdict(set)
    for path in FILES:
        for key in widgets(path.read_text(encoding="utf-8")):
            pages[key].add(place(path).partition("/")[0])
    assert {k: found for k, found in pages.items() if "{}" not in k and len(found - {"shell"}) > 1} == {}


def test_what_goes_with_a_file_is_kept_under_its_owner():
    """`visitor_files.forget_results` looks at the first entry of each key."""
    assert set(WITH_FILES) == {"sweeps", "pins", "estimate.pins", "roc", "tradeoffs.read", "follow.own", "solved"}


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
