"""The diagram of docs/architecture.md, drawn from the import lines. ``python -m tests.house_plan`` writes it.

It is written twice: as Mermaid text into the page, for code hosts, and as docs/images/architecture.svg, for the site.
Nodes are rooms that exist; an arrow from A to B says that some file of B imports one of A, so data move along it. An
arrow that a longer way through other rooms implies is left out (the transitive reduction, which is unique because no
arrow points back). Shared files are imported by every room and have no arrows, but for the two that do heavy work.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path

from tests.test_house import FILES, HANDED_ON, ROOMS, ROOT, SHARED, imports, room_of

PAGE = ROOT / "docs" / "architecture.md"
DRAWING = ROOT / "docs" / "images" / "architecture.svg"
BLOCK = re.compile(r"(```mermaid\n)(.*?)(```)", re.S)
ROWS = ("data_sources", "measurements")  # where rows are made, and where they are touched
WORKERS = ("table_files", "parallel")
WORDS = {
    "data_sources": "rows: simulated,<br>public, declared",
    "measurements": "clip, sensitivity,<br>noise, event",
    "postprocess": "matrix to matrix,<br>spends nothing",
    "estimators": "one file<br>per method",
    "ledger": "what was spent",
    "releasing": "a release,<br>its statement",
    "answering": "estimates with<br>total intervals",
    "metrics": "release and reference<br>to a number",
    "sweeps": "plans, cells,<br>searches",
    "advice": "which method,<br>from evidence",
    "owner": "previews and checks<br>for the data owner",
    "audit": "privacy claims,<br>put to the test",
    "figures": "table or matrix<br>to picture",
    "bundle": "a release to keep<br>and to verify",
    "pages": "one question<br>per page",
    "table_files": "files to blocks<br>of cells",
    "parallel": "many cores",
}


def arrows(files: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """(from, to) for (room, source) pairs: to imports from. Only between rooms, and from the two workers."""
    nodes = {*ROOMS, *WORKERS}
    found = set()
    for where, source in files:
        for name in imports(source) - HANDED_ON:
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


@cache
def plan() -> tuple[list[str], list[tuple[str, str]]]:
    """The nodes and the arrows of both drawings, in a fixed order."""
    files = [(room_of(path), path.read_text(encoding="utf-8")) for path in FILES]
    there = {where for where, _ in files}
    order = [name for name in (*WORKERS, *ROOMS) if name in there]
    return order, sorted(reduced(arrows(files)), key=lambda arrow: (order.index(arrow[0]), order.index(arrow[1])))


def diagram() -> str:
    """Mermaid text, the same for the same imports."""
    order, kept = plan()
    lines = ["flowchart LR"]
    lines += [f'    {name}["<b>{name}</b><br>{WORDS[name]}"]' for name in order]
    lines += [f"    {a} --> {b}" for a, b in kept]
    lines += ["    classDef rows stroke-width:4px", f"    class {','.join(ROWS)} rows"]
    return "\n".join(lines) + "\n"


# --- the same as a picture ----------------------------------------------------------------------------------

WIDTH, HEIGHT, GAP, LANE, BETWEEN, EDGE = 168, 62, 14, 16, 34, 6  # of boxes and of the room between them, in pixels


def layers(order: list[str], kept: list[tuple[str, str]]) -> dict[str, int]:
    """Row of each node: below everything that it imports, and no higher than its arrows need."""
    row: dict[str, int] = {}

    def depth(name: str) -> int:
        return row.setdefault(name, 1 + max((depth(a) for a, b in kept if b == name), default=-1))

    for name in order:
        depth(name)
    for name in reversed(order):  # nodes without an arrow into them move down to where they are used
        if not any(b == name for _, b in kept):
            row[name] = min((row[b] for a, b in kept if a == name), default=1) - 1
    return row


def laid_out(order: list[str], kept: list[tuple[str, str]]) -> tuple[list[list[str]], dict[tuple[str, str], list[str]]]:
    """Rows of nodes and of passing arrows ("a>b@3"), and the stations of each arrow. Rows are ordered to cross less."""
    row = layers(order, kept)
    rows: list[list[str]] = [[name for name in order if row[name] == at] for at in range(max(row.values()) + 1)]
    ways = {}
    for a, b in kept:
        passing = [f"{a}>{b}@{at}" for at in range(row[a] + 1, row[b])]
        for name in passing:
            rows[int(name.split("@")[1])].append(name)
        ways[a, b] = [a, *passing, b]
    steps = [pair for way in ways.values() for pair in itertools.pairwise(way)]

    def crossings() -> int:
        at = {name: place for line in rows for place, name in enumerate(line)}
        home = {name: number for number, line in enumerate(rows) for name in line}
        pairs = [(home[a], at[a], at[b]) for a, b in steps]
        return sum(one[0] == two[0] and (one[1] - two[1]) * (one[2] - two[2]) < 0 for one in pairs for two in pairs)

    best, fewest = [list(line) for line in rows], crossings()
    for _ in range(12):
        for side, lines in ((0, rows[1:]), (1, rows[-2::-1])):
            for line in lines:
                at = {name: place / max(len(other) - 1, 1) for other in rows for place, name in enumerate(other)}
                near = {name: [at[step[side]] for step in steps if step[1 - side] == name] for name in line}
                middle = {name: sum(near[name]) / len(near[name]) if near[name] else at[name] for name in line}
                line.sort(key=lambda name, middle=middle: middle[name])
            if crossings() < fewest:
                best, fewest = [list(line) for line in rows], crossings()
    return best, ways


def drawing() -> str:
    """The diagram as SVG for the inside of a page, in the page's own colour of text; the same for the same imports."""
    order, kept = plan()
    rows, ways = laid_out(order, kept)

    def wide(name: str) -> int:
        return LANE if "@" in name else WIDTH

    whole = max(sum(map(wide, line)) + GAP * (len(line) - 1) for line in rows) + 2 * EDGE
    middle, top = {}, {}
    for number, line in enumerate(rows):
        x = (whole - sum(map(wide, line)) - GAP * (len(line) - 1)) / 2
        for name in line:
            middle[name], top[name] = x + wide(name) / 2, EDGE + number * (HEIGHT + BETWEEN)
            x += wide(name) + GAP
    tall = 2 * EDGE + len(rows) * (HEIGHT + BETWEEN) - BETWEEN
    told = "The packages and the arrows between them: " + ", ".join(f"{a} to {b}" for a, b in kept)
    out = [
        f'<svg class="architecture" role="img" aria-label="{told}" viewBox="0 0 {whole:g} {tall:g}" '
        'xmlns="http://www.w3.org/2000/svg">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>',
        '<g fill="none" stroke="currentColor" stroke-opacity="0.6" stroke-width="1.3">',
    ]
    for (a, b), way in ways.items():
        x, y = middle[a], top[a] + HEIGHT
        path = f"M{x:g} {y:g}"
        for name in way[1:]:
            bend = BETWEEN / 2
            path += f"C{x:g} {y + bend:g} {middle[name]:g} {top[name] - bend:g} {middle[name]:g} {top[name]:g}"
            x, y = middle[name], top[name]
            if name != b:
                y += HEIGHT
                path += f"V{y:g}"
        out.append(f'<path d="{path}" marker-end="url(#tip)"/>')
    out.append("</g>")
    for name in order:
        x, y = middle[name] - WIDTH / 2, top[name]
        thick = 3 if name in ROWS else 1
        out.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="none" stroke="currentColor" '
            f'stroke-width="{thick}"/>'
        )
        lines = [(f'<tspan font-weight="bold">{name}</tspan>'), *WORDS[name].split("<br>")]
        for number, line in enumerate(lines):
            at = y + HEIGHT / 2 + 5 + 17 * (number - (len(lines) - 1) / 2)
            out.append(
                f'<text x="{middle[name]:g}" y="{at:g}" text-anchor="middle" font-size="13" fill="currentColor">'
                f"{line}</text>"
            )
    return "\n".join([*out, "</svg>"]) + "\n"


def shared() -> list[str]:
    """The shared files and folders there are, by name."""
    return sorted({room_of(path) for path in FILES} & SHARED)


def main() -> None:
    """Put the diagram into the page and beside it."""
    text = Path(PAGE).read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + diagram() + found[3], text), encoding="utf-8")
    DRAWING.write_text(drawing(), encoding="utf-8")


if __name__ == "__main__":
    main()
