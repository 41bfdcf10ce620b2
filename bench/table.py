"""What the project claims of its speed and accuracy, as one table of ratios: ``make bench``.

Every row is a ratio to a named peer that was measured in the same run, with a goal, and with the command that makes
that row alone. ``--store`` puts what was measured into data/bench/table.csv, section by section, and the summary of
that file into docs/benchmarks.md.

A section is a function that gives its rows (what, found, goal) one after the other. found: "0.61 x em-cov (...)", or a
function that measures it and says so; it is called for the rows that are asked for only. A section that cannot be
measured here says "not measured: why".
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import itertools
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "data" / "bench" / "table.csv"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
COLUMNS = ("section", "what", "found", "goal", "date", "machine")
RATIO = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) x (\S.*)", re.S)
GOAL = re.compile(r"(<=|>=) (\d+(?:\.\d+)?)")
UNMEASURED = "not measured: "


@dataclass(frozen=True)
class Section:
    """Where a section is, what it asks, and the rows that stand for it on the page (none named: all of them)."""

    module: str
    function: str
    asks: str
    heads: tuple[str, ...] = ()
    default: bool = True

    def rows(self) -> Iterable[tuple[str, str | Callable[[], str], str]]:
        return getattr(importlib.import_module(self.module), self.function)()


SECTIONS = {
    "accuracy": Section(
        "bench.accuracy",
        "accuracy",
        "Frobenius error of auto-cov over that of the best method of Dong et al. 2022, zCDP",
        ("geometric mean without 16 bins", "geometric mean over their sound forms"),
    ),
    "pure": Section("bench.accuracy", "pure", "The same under pure DP, epsilon 1", ("geometric mean",)),
    "tables": Section(
        "bench.tables", "tables", "Error of correlations of simulated tables with what is declared, over before"
    ),
    "ranges": Section(
        "bench.ranges", "ranges", "Error of correlations of five tables declared by where most people lie"
    ),
    "peers": Section(
        "bench.peers",
        "peers",
        "Frobenius error of auto-cov over that of diffprivlib, OpenDP, dpmm and trivial answers, epsilon 1",
        default=False,
    ),
    "real": Section(
        "bench.accuracy",
        "real",
        "Frobenius error of auto-cov on bundled tables with a mean, and the guard, zCDP and pure DP",
    ),
    "structure": Section(
        "bench.structure",
        "structure",
        "Frobenius error of auto-cov over that without patterns of the columns, fresh seeds, zCDP",
        default=False,
    ),
    "speed": Section(
        "bench.accuracy", "speed", "The methods of Dong et al. 2022 over the linear algebra they cannot avoid"
    ),
    "glasso": Section(
        "bench.glasso",
        "glasso",
        "Time of scikit-learn and gglasso over ours, graphical lasso at equal accuracy",
        (
            "ROC d=20, epsilon 1, 2, none: scikit-learn",
            "ROC d=20, epsilon 1, 2, none: gglasso",
            "ROC d=100, epsilon 1 and 2: scikit-learn",
            "ROC d=100, epsilon 1 and 2: gglasso",
            "one lambda d=500, density up to 35 %: scikit-learn",
        ),
    ),
    "ingest": Section("bench.ingest", "ingest", "One pass over a big table, over reading and multiplying alone"),
    "sweep": Section("bench.sweep", "sweep", "A table of Mathematics 2023 on two workers"),
    "scale": Section("bench.scale", "scale", "Time of a size over that of a smaller one"),
    "load": Section("bench.load", "load", "Twenty visits that change a control every second, over one"),
    "cpu": Section("bench.class", "cpu", "Processor time that one change of a page costs the server"),
    "class": Section("bench.class", "classroom", "Thirty visits that change something every four seconds"),
    "soak": Section("bench.load", "soak", "Visitors of many pages for twenty minutes", default=False),
    "latency": Section(
        "bench.latency", "latency", "From a key to the first and the last change, over a page that echoes"
    ),
    "coverage": Section("bench.answers", "coverage", "Intervals that contain the truth in the worst cell, over 95 %"),
    "answers": Section("bench.answers", "answers", "Processor time of an answer with intervals, over its limit"),
    "expected": Section(
        "bench.agreement", "real", "Released errors of real tables over `privcov.expect`", default=False
    ),
    "agreement": Section(
        "bench.agreement", "agreement", "`privcov.expect` beside private releases, and its time", default=False
    ),
    "graphs": Section(
        "bench.graphs", "graphs", "Edges by the edge test: MCC, AUC and false edges over their goals, data/graphs"
    ),
    "cold": Section("bench.cold", "cold", "From the start of the server to the first picture"),
}


@dataclass(frozen=True)
class Row:
    """One line of the table. found: a ratio with its peer, perhaps with what it is made of in brackets.

    goal: "<= 1.5", ">= 10", or "" where there is none. date: of the measurement, machine: where.
    Raises ValueError for a text that is no ratio to a peer, and for a goal that is none.
    """

    section: str
    what: str
    found: str
    goal: str
    date: str
    machine: str

    def __post_init__(self) -> None:
        if not (self.found.startswith(UNMEASURED) or RATIO.match(self.found)):
            raise ValueError(f"{self.section}, {self.what}: {self.found!r} is no ratio; write '1.23 x peer (details)'.")
        if self.goal and not GOAL.match(self.goal):
            raise ValueError(f"{self.section}, {self.what}: the goal {self.goal!r} is neither '<= 1.5' nor '>= 1.5'.")

    @property
    def ratio(self) -> float | None:
        """None where nothing could be measured."""
        told = RATIO.match(self.found)
        return float(told[1]) if told else None

    @property
    def met(self) -> str:
        """ "met", "not met", "not measured", or "" without a goal."""
        if self.ratio is None:
            return "not measured"
        if not self.goal:
            return ""
        side, limit = GOAL.match(self.goal).groups()
        return "met" if (self.ratio <= float(limit) if side == "<=" else self.ratio >= float(limit)) else "not met"

    @property
    def command(self) -> str:
        """What makes this row alone."""
        return f"make bench ARGS=\"{self.section} --row '{self.what}'\""


# --- measuring ----------------------------------------------------------------------------------------------


def machine() -> str:
    """Cores, memory, system, Python and BLAS of this machine; no names."""
    import numpy
    from threadpoolctl import threadpool_info

    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    blas = next((f"{i['internal_api']} {i['version']}" for i in threadpool_info() if i["user_api"] == "blas"), "BLAS")
    return (
        f"{os.cpu_count()} cores, {pages:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {numpy.__version__} with {blas}"
    )


def measured(names: Sequence[str], only: str = "") -> Iterator[Row]:
    """The rows of these sections, each as soon as it is known. only: text of the rows that are wanted, "" for all.

    Raises ImportError before anything is measured when a section is missing.
    """
    for name in names:
        importlib.import_module(SECTIONS[name].module)
    here, today = machine(), datetime.date.today().isoformat()
    for name in names:
        for what, found, goal in SECTIONS[name].rows():
            if only in what:
                yield Row(name, what, found() if callable(found) else found, goal, today, here)


# --- the stored copy ----------------------------------------------------------------------------------------


def stored(path: Path = STORED) -> list[Row]:
    """The stored rows, in the order of the sections. Raises ValueError for a table of another form."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path.name} has the columns {reader.fieldnames}, not {', '.join(COLUMNS)}.")
        return [Row(**line) for line in reader]


def store(rows: Sequence[Row], path: Path = STORED) -> None:
    """Put whole sections into the stored table, in place of what it had of them; the others keep their dates.

    Raises ValueError where a row was not measured: a table without it would say more than was done.
    """
    for row in rows:
        if row.ratio is None:
            raise ValueError(f"{row.section} is not stored: {row.what} was {row.found}")
    new = {row.section for row in rows}
    kept = [row for row in stored(path) if row.section not in new] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in sorted([*kept, *rows], key=lambda row: list(SECTIONS).index(row.section)):
            writer.writerow([getattr(row, name) for name in COLUMNS])


def summary(rows: Sequence[Row]) -> str:
    """The page's table, from the stored rows."""
    lines = ["| What | Found | Goal | Met | Command |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(row.section for row in rows):
        section, part = SECTIONS[name], [row for row in rows if row.section == name]
        heads = section.heads or tuple(row.what for row in part)
        missing = [what for what in heads if what not in {row.what for row in part}]
        if missing:
            raise ValueError(f"The section {name} has no row {missing[0]!r}. Measure it again: make bench ARGS=...")
        lines.append(f"| **{_plain(section.asks)}** | | | {_tally(part)} | `make bench ARGS={name}` |")
        lines += [
            f"| {_plain(row.what)} | {_plain(_short(row.found))} | {_plain(row.goal)} | {row.met} | |"
            for row in part
            if row.what in heads
        ]
    places = dict.fromkeys((row.machine, row.date) for row in rows)
    lines += ["", f"{_tally(rows)} goals are met." + "".join(f" Missed: {m}." for m in _missed(rows))]
    for place in dict.fromkeys(where for where, _ in places):
        days = sorted(day for where, day in places if where == place)
        span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        lines.append(f"Measured on {place}; {span}.")
    absent = [name for name, section in SECTIONS.items() if section.default and name not in {r.section for r in rows}]
    if absent:
        lines.append(f"Not in the stored copy yet: {', '.join(absent)}.")
    return "\n".join(lines) + "\n"


def _short(found: str) -> str:
    """Without what it is made of."""
    return re.split(r" \(|;", found, maxsplit=1)[0]


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _tally(rows: Sequence[Row]) -> str:
    told = [row.met for row in rows if row.goal]
    return f"{told.count('met')} of {len(told)}"


def _missed(rows: Sequence[Row]) -> list[str]:
    missed = [f"{row.section}, {row.what} ({row.found.split(' x ')[0]}, goal {row.goal})" for row in rows
              if row.met == "not met"]  # fmt: skip
    return ["; ".join(missed)] if missed else []


def into_page(text: str, rows: Sequence[Row]) -> str:
    """The page's text with the summary between its two marks. Raises ValueError without them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(
            f"docs/benchmarks.md must hold the marks {BEGIN} and {END} once, around the table of the bench."
        )
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{summary(rows)}{END}{rest.split(END)[1]}"


# --- the command --------------------------------------------------------------------------------------------

_WIDTHS = "{:<9} {:<52} {:<64} {:<8} {:<12} {}"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    apart = " and ".join(name for name, section in SECTIONS.items() if not section.default)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; default: all but {apart}")
    parser.add_argument("--row", default="", metavar="TEXT", help="only the rows whose name holds this text")
    parser.add_argument(
        "--store", action="store_true", help="keep what was measured, and write it into docs/benchmarks.md"
    )
    asked = parser.parse_args(given)
    unknown = [name for name in asked.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"There is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}.")
    if asked.store and asked.row:
        parser.error("--store keeps whole sections; leave --row out.")
    names = asked.sections or [name for name, section in SECTIONS.items() if section.default]
    print(_WIDTHS.format("section", "what", "found", "goal", "", "this row alone"), flush=True)
    rows = []
    for section, found in itertools.groupby(measured(names, asked.row), key=lambda row: row.section):
        for row in found:
            rows.append(row)
            print(_WIDTHS.format(section, row.what, row.found, row.goal, row.met, row.command), flush=True)
        if asked.store:  # at once: a later section that fails takes nothing with it
            store([row for row in rows if row.section == section])
    if not rows:
        parser.error(f"No row of {', '.join(names)} holds {asked.row!r}.")
    print(f"{_tally(rows)} goals met.")
    if asked.store:
        PAGE.write_text(into_page(PAGE.read_text(encoding="utf-8"), stored()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
