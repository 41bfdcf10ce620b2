"""The diagram of ARCHITECTURE.md, drawn from the import lines. ``python -m tests.house_plan`` writes it into the page.

Nodes are rooms that exist; an arrow from A to B says that some file of B imports one of A, so data move along it. An
arrow that a longer way through other rooms implies is left out (the transitive reduction, which is unique because no
arrow points back). Shared files are imported by every room and have no arrows, but for the two that do heavy work.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_house import FILES, ROOMS, ROOT, SHARED, imports, room_of

PAGE = ROOT / "ARCHITECTURE.md"
BLOCK = re.compile(r"(```mermaid\n)(.*?)(```)", re.S)
ROWS = ("data_sources", "measurements")  # where rows are made, and where they are touched
WORKERS = ("table_files", "engine")
WORDS = {
    "data_sources": "rows: simulated,<br>public, declared",
    "measurements": "clip, sensitivity,<br>noise, event",
    "postprocess": "matrix to matrix,<br>spends nothing",
    "estimators": "one file<br>per method",
    "ledger": "what was spent",
    "releasing": "a release, its statement,<br>the private way to one",
    "metrics": "release and reference<br>to a number",
    "sweeps": "plans, cells,<br>searches",
    "papers": "published results,<br>computed again",
    "advice": "which method,<br>from evidence",
    "owner": "previews and checks<br>for the owner's screen",
    "audit": "every claim,<br>attacked",
    "figures": "table or matrix<br>to picture",
    "bundle": "what is<br>taken home",
    "pages": "one question<br>per page",
    "table_files": "files to blocks<br>of cells",
    "engine": "many cores,<br>a cluster",
}


def arrows(files: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """(from, to) for (room, source) pairs: to imports from. Only between rooms, and from the two workers."""
    nodes = {*ROOMS, *WORKERS}
    found = set()
    for where, source in files:
        for name in imports(source):
            top, *rest = name.split(".")
            there = "pages" if top in ("pages", "app") else rest[0] if top == "privcov" and rest else ""
            if {where, there} <= nodes and where != there:
                found.add((there, where))
    return found


def reduced(found: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without the arrows that a longer way implies."""
    after: dict[str, set[str]] = {}
    for start, end in found:
        after.setdefault(start, set()).add(end)

    def beyond(start: str) -> set[str]:
        reached, waiting = set(), list(after.get(start, ()))
        while waiting:
            here = waiting.pop()
            if here not in reached:
                reached.add(here)
                waiting += after.get(here, ())
        return reached

    return {(a, b) for a, b in found if not any(b in beyond(other) for other in after[a] - {b})}


def diagram() -> str:
    """Mermaid text, the same for the same imports."""
    files = [(room_of(path), path.read_text(encoding="utf-8")) for path in FILES]
    there = {where for where, _ in files}
    order = [name for name in (*WORKERS, *ROOMS) if name in there]
    lines = ["flowchart LR"]
    lines += [f'    {name}["<b>{name}</b><br>{WORDS[name]}"]' for name in order]
    kept = reduced(arrows(files))
    lines += [
        f"    {a} --> {b}" for a, b in sorted(kept, key=lambda arrow: (order.index(arrow[0]), order.index(arrow[1])))
    ]
    lines += ["    classDef rows stroke-width:4px", f"    class {','.join(ROWS)} rows"]
    return "\n".join(lines) + "\n"


def shared() -> list[str]:
    """The shared files and folders there are, by name."""
    return sorted({room_of(path) for path in FILES} & SHARED)


def main() -> None:
    """Put the diagram into the page."""
    text = Path(PAGE).read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + diagram() + found[3], text), encoding="utf-8")


if __name__ == "__main__":
    main()
