"""The shell's ``release``, ``ledger`` and ``verify``: a private table in files becomes a release on record."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import privcov
from privcov import _shell_edges

_BAR = 24
_REDRAW_SECONDS = 0.1
_LEVELS = {"rho": (1e-15, 1e9), "epsilon": (1e-9, 1e6), "delta": (1e-100, 1 - 1e-9)}


def add_commands(commands) -> None:
    """Enter ``release`` and ``ledger`` into the parser."""
    release = commands.add_parser("release", help="release once from a private table, on the record of the ledger")
    release.add_argument("data", nargs="+", help="CSV (plain or gz), Parquet or Arrow; files, folders or patterns")
    release.add_argument("--declaration", type=Path, required=True, help="declaration JSON: columns, bounds, persons")
    release.add_argument("--method", default="auto-cov")
    add_guarantee(release)
    release.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    release.add_argument("--draw", type=int, default=1, help="2, 3, ... for another draw, which is paid again")
    release.add_argument(
        "--different-from", action="append", default=[], metavar="NAME", help="a table of other people"
    )
    repeat = release.add_mutually_exclusive_group()
    repeat.add_argument(
        "--stored",
        dest="again",
        action="store_const",
        const="stored",
        help="where another version answered this request: that answer, free",
    )
    repeat.add_argument(
        "--pay-again", dest="again", action="store_const", const="pay", help="the same: release again, and pay again"
    )
    release.add_argument(
        "--accept-unreadable",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="release these columns although hardly a cell of them is a number: all others are missing ones",
    )
    release.add_argument(
        "--expected-rows",
        type=int,
        help="a public guess where the number of rows is not public: noise beyond all they can add up to is refused",
    )
    release.add_argument(
        "--public", action="store_true", help="rows that need no protection: simulated noise, no ledger, nothing spent"
    )
    release.add_argument("--seed", type=int, help="of the simulated noise; with --public only (default 0)")
    release.add_argument("--out", type=Path, help="JSON file; standard output when left out")
    release.add_argument("--bundle", type=Path, help="zip to take home: everything released, and what verifies it")
    release.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    release.set_defaults(act=_release, again="ask")
    ledger = commands.add_parser("ledger", help="what has been spent on private tables, and their limits")
    ledger.add_argument("what", nargs="?", choices=("list", "show", "limit", "begin-anew"), default="list")
    ledger.add_argument("name", nargs="?", help="the declared name of a table")
    add_guarantee(ledger)
    ledger.add_argument("--yes", action="store_true", help="with begin-anew: what was spent until now is forgotten")
    ledger.add_argument("--ledger", type=Path, help="ledger file; PRIVCOV_LEDGER or the user's own when left out")
    ledger.set_defaults(act=_ledger)
    verify = commands.add_parser("verify", help="check a bundle without the data; nothing of the bundle is run")
    verify.add_argument("bundle", type=Path, help="the zip, or the folder that it was unpacked to")
    verify.set_defaults(act=_verify)


def add_guarantee(parser) -> None:
    """Enter the options that name a guarantee."""
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float)
    parser.add_argument("--rho", type=float)


def guarantee_of(options) -> privcov.PureDP | privcov.ApproxDP | privcov.ZCDP:
    """The guarantee that the options name. Raises ValueError for none or several."""
    from privcov import checks

    given = (options.epsilon is not None, options.delta is not None, options.rho is not None)
    if given not in ((False, False, True), (True, True, False), (True, False, False)):
        raise ValueError("Give --rho, or --epsilon, or --epsilon and --delta.")
    for name, (low, high) in _LEVELS.items():  # beyond them the arithmetic of a cost overflows
        if (level := getattr(options, name)) is not None:
            checks.in_range(f"--{name}", level, low, high)
    if options.rho is not None:
        return privcov.ZCDP(options.rho)
    return (
        privcov.PureDP(options.epsilon) if options.delta is None else privcov.ApproxDP(options.epsilon, options.delta)
    )


def _release(options) -> None:
    from privcov import _shell_check
    from privcov.ledger import VersionChanged

    guarantee = guarantee_of(options)
    declaration = _shell_check.read_declaration(options.declaration)
    _shell_edges.check_place(options.out)
    _shell_edges.check_place(options.bundle, "--bundle")
    _shell_edges.check_apart({"--out": options.out, "--bundle": options.bundle}, _needed(options))
    if options.public:
        _simulate(options, declaration, guarantee)
        return
    if options.seed is not None:
        raise ValueError("--seed is for --public: the noise of a private release comes from the operating system.")
    if options.expected_rows is not None and declaration.n_public:
        raise ValueError("--expected-rows is for a hidden number of rows, and the declaration says that it is public.")
    ledger = privcov.Ledger(options.ledger)
    with (
        _progress(show_rows=declaration.n_public) as progress,
        _told_when_interrupted(ledger, declaration.name.strip()),
    ):
        if ledger.account(declaration.name.strip()).affords(guarantee):  # else nothing can be spent, and it is said
            _shell_check.stop_if_unreadable(declaration, options.data, options.accept_unreadable)
        try:
            made = privcov.release_private(
                options.method,
                declaration.on_files(options.data, progress),
                guarantee,
                ledger=ledger,
                draw=options.draw,
                different_from=tuple(options.different_from),
                again=options.again,
                expected_rows=options.expected_rows,
                **parameters_of(options),
            )
        except VersionChanged as asked:
            raise asked.instead("--stored", "--pay-again") from None
    _shell_edges.answer(
        made.to_json() + "\n",
        options.out,
        "The release is stored in the ledger: the same command with a place that can be written returns it, and "
        "nothing is paid again.",
    )
    if options.bundle:
        _save_bundle(made, options.bundle, declaration)
    print(made.statement, file=sys.stderr)
    print(ledger.account(declaration.name.strip()).sentence, file=sys.stderr)


def _needed(options) -> list[Path]:
    """Every file that a release reads or keeps its record in."""
    from privcov.ledger import default_path
    from privcov.ledger.access import NAMES
    from privcov.table_files.reading import listed

    ledger = options.ledger or default_path()
    record = [ledger.with_name(ledger.name + end) for end in NAMES]
    return [options.declaration, *map(Path, listed(options.data)), *record]


def _simulate(options, declaration, guarantee) -> None:
    """A seeded release from rows that need no protection: the same bits wherever the sums are made."""
    only_private = (
        options.different_from,
        options.ledger,
        options.bundle,
        options.accept_unreadable,
        options.expected_rows,
    )
    if any(only_private) or options.draw != 1 or options.again != "ask":
        raise ValueError(
            "--public keeps no record: leave --ledger, --draw, --bundle, --different-from, --stored, --pay-again, "
            "--accept-unreadable and --expected-rows out."
        )
    with _progress(show_rows=True) as progress:
        made = privcov.release(
            options.method,
            declaration.on_public_files(options.data, progress),
            guarantee,
            seed=options.seed or 0,
            centre="classes" if declaration.label else "auto",
            neighbours="replace-one" if declaration.n_public else "add-remove",
            **parameters_of(options),
        )
    _shell_edges.answer(
        made.to_json() + "\n", options.out, "Nothing was spent: choose another place and give the command again."
    )
    print(made.statement, file=sys.stderr)


@contextlib.contextmanager
def _told_when_interrupted(ledger: privcov.Ledger, name: str) -> Iterator[None]:
    before = len(ledger.entries(name))
    try:
        yield
    except KeyboardInterrupt:
        if len(ledger.entries(name)) == before:
            raise KeyboardInterrupt(
                "Interrupted; nothing was drawn and nothing spent. Begin again when you like."
            ) from None
        raise KeyboardInterrupt(
            "Interrupted during the release, and what it costs counts as spent. The same command returns it if it was "
            f"stored; see python -m privcov ledger show {name!r}."
        ) from None


def _save_bundle(made: privcov.Release, place: Path, declaration) -> None:
    try:
        made.save_bundle(place, json.loads(declaration.to_json()))
    except OSError as problem:
        raise ValueError(
            f"{place} could not be written ({problem.strerror}). The release is stored in the ledger: the same command "
            "with a place that can be written makes the bundle, and nothing is paid again."
        ) from None


def _verify(options) -> None:
    from privcov.bundle.verifier import library
    from privcov.bundle.verify import verify

    place, here = options.bundle.resolve(), Path.cwd()
    if place == here or place in here.parents:
        raise ValueError(
            "The current folder belongs to the bundle, and Python looks for modules there first. Change to another "
            f"folder, and give the command again with {place}."
        )
    if verify(options.bundle, library()):
        raise SystemExit(1)


_TAKEN = ("method", "private", "dataset", "guarantee", "ledger", "draw", "token", "different_from", "key", "out")
_TAKEN += ("files", "declaration", "progress", "again", "expected_rows")


def parameters_of(options) -> dict:
    """NAME=VALUE pairs; a value is a number where it reads as one."""
    found = {}
    for pair in options.set:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, got {pair!r}.")
        if name in _TAKEN:
            raise ValueError(f"--set takes a parameter of the method or source, and {name!r} is none. Leave it out.")
        for read in (int, float, str):
            try:
                found[name] = read(value)
                break
            except ValueError:
                continue
    return found


# --- progress -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _progress(show_rows: bool) -> Iterator:
    """What `from_files` calls while it reads; the line on a terminal is ended whatever happens."""
    shown = Bar(sys.stderr, show_rows)
    try:
        yield shown
    finally:
        shown.end()


class Bar:
    """Progress of a pass on a stream: one line that is drawn again on a terminal, else a line per tenth.

    show_rows: False where the number of rows is not public; then times alone are shown, and a log gets the last one:
    the share that is done after a block, whose size is known, would tell how many rows there are.
    what: said first.
    """

    def __init__(self, stream, show_rows: bool, what: str = "") -> None:
        self.stream, self.show_rows, self.what, self.terminal = stream, show_rows, what, stream.isatty()
        self.tenth, self.drawn, self.width = 0, 0.0, 0

    def __call__(self, rows: int, total: int, seconds: float) -> None:
        words = self.what + line(rows, total, seconds, self.show_rows)
        if self.terminal:
            if rows < total and time.monotonic() - self.drawn < _REDRAW_SECONDS:
                return
            done = round(_BAR * rows / total)
            text = f"[{'#' * done}{'.' * (_BAR - done)}] {words}" if self.show_rows else words
            print("\r" + text.ljust(self.width), end="", file=self.stream, flush=True)
            self.drawn, self.width = time.monotonic(), len(text)
        elif rows >= total if not self.show_rows else rows * 10 // total > self.tenth:
            self.tenth = rows * 10 // total
            print(words, file=self.stream, flush=True)

    def end(self) -> None:
        """Leave the line of the progress bar."""
        if self.width:
            print(file=self.stream, flush=True)


def line(rows: int, total: int, seconds: float, show_rows: bool) -> str:
    """Share, rows, rows per second and time left, at the pace so far; without ``show_rows`` the time alone."""
    done = rows >= total
    if not show_rows:
        return "done in " + clock(seconds) if done else clock(seconds) + " so far"
    left = "done in " + clock(seconds) if done else clock(seconds * (total - rows) / rows) + " left"
    return f"{rows / total:4.0%}, {rows:,} of {total:,} rows, {rows / max(seconds, 1e-9):,.0f} rows/s, {left}"


def clock(seconds: float) -> str:
    """Whole seconds, minutes and hours as people read them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _begin_anew(options) -> None:
    if not options.yes:
        raise ValueError(
            "ledger begin-anew forgets every limit and everything spent until now: releases made before no longer "
            "count, although they still reveal what they did. The old files are kept under another name. Give --yes if "
            "that is meant."
        )
    made = privcov.Ledger.begin_anew(options.ledger)
    print(f"A new ledger begins at {made.path}; the old files are beside it, with until- and the time in their names.")


def _ledger(options) -> None:
    from privcov import checks
    from privcov.measurements.exposed import exposed_answer

    if options.what == "begin-anew":
        _begin_anew(options)
        return
    if options.what != "list" and not options.name:
        raise ValueError(f"ledger {options.what} needs the name of a table.")
    if options.name:
        checks.words("The name", options.name, "that of a table. Give it the declared one")
    ledger = privcov.Ledger(options.ledger)
    if options.what == "limit":
        print(f"{options.name}: {ledger.limit(options.name, guarantee_of(options)).sentence}")
        return
    for name in [options.name] if options.name else ledger.names():
        entries = ledger.entries(name)
        marks = {e.number: exposed_answer(ledger.answer(e.token)) for e in entries}
        print(f"{name}: {ledger.account(name).sentence}" + _marked(name, sum(map(bool, marks.values()))))
        if options.what == "show":
            for entry in entries:
                unit = "epsilon" if entry.cost.kind == "pure" else "rho"
                what = entry.request.get("method", "")
                print(
                    f"  {entry.number} {entry.reserved_at} {entry.state} {what} {unit} {float(entry.cost.amount):.9g}"
                )
                if marks[entry.number]:
                    print(f"    guarantee not established: {marks[entry.number]}")


def _marked(name: str, count: int) -> str:
    """What the list says of releases whose guarantee is not established."""
    if not count:
        return ""
    releases = "1 release has" if count == 1 else f"{count} releases have"
    return (
        f" {releases} no established guarantee: see python -m privcov ledger show {shlex.quote(name)}, and SECURITY.md."
    )
