"""The pages are true: links and anchors lead somewhere, Python runs, commands exist, every module has its place.

The last test builds the site and looks at what it would fetch; it is one of `make deep`.
"""

import argparse
import importlib.util
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import nbformat
import pytest

from privcov.cli.entry import whole_parser

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts]
GUIDES = [ROOT / "README.md", *sorted((DOCS / "guides").glob("*.md"))]
EXECUTED = [*sorted((DOCS / "notebooks").glob("*.md")), DOCS / "gallery.md"]
EVERY = [*sorted(ROOT.glob("*.md")), ROOT / "data" / "README.md", ROOT / "data" / "bench" / "README.md", *PAGES]
FENCE = re.compile(r"^```(\w*).*?\n(.*?)^```$", re.S | re.M)
PROGRAM = re.compile(r"(?:privcov|python -m privcov) (?P<words>[a-z].*)")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", read(path))


def anchors(path: Path) -> set[str]:
    """The anchors that code hosts and the site make of the headings."""
    text = prose(path)
    for included in re.findall(r"^```\{include\} (\S+)", read(path), re.M):
        text += prose(path.parent / included)
    heads = [re.sub(r"`|\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in re.findall(r"^#+ (.*)$", text, re.M)]
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def loaded(path: Path) -> ModuleType:
    """A module that belongs to no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    kept = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = kept
    return module


# --- links and pictures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_links_and_anchors_exist(page):
    for target in re.findall(r"\]\(([^()\s]+)\)", prose(page)):
        if urlsplit(target).scheme:
            assert target.startswith("https://"), target
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{target}: no such file"
        assert there.is_relative_to(ROOT), f"{target} leaves the project"
        assert not anchor or anchor in anchors(there), f"{target}: {named(there)} has no such heading"


# --- Python ---------------------------------------------------------------------------------------------------

BLOCKS = [
    pytest.param(page, code, id=f"{page.stem}-{number}")
    for page in GUIDES
    for number, (kind, code) in enumerate(FENCE.findall(read(page)))
    if kind == "python"
]


@pytest.mark.parametrize(("page", "code"), BLOCKS)
def test_python_runs_as_printed(page, code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, named(page), "exec", dont_inherit=True), {"__name__": "example"})
    assert len(capsys.readouterr().out.splitlines()) >= 2


# --- commands -------------------------------------------------------------------------------------------------


def commands(page: Path) -> list[list[str]]:
    """The words of each command line for privcov on a page, also of those in the text."""
    text = read(page)
    lines = [line for kind, code in FENCE.findall(text) if kind in ("", "sh") for line in code.splitlines()]
    lines += [code.replace("\n", " ") for code in re.findall(r"`([^`]+)`", FENCE.sub("", text))]
    found = []
    for line in lines:
        if told := PROGRAM.fullmatch(re.sub(r"^(\w+=\S+ )+|^\.venv/bin/", "", line.strip())):
            found.append(shlex.split(told["words"], comments=True))
    return found


def choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a parser."""
    return next((dict(a.choices) for a in parser._actions if isinstance(a, argparse._SubParsersAction)), {})


def words_of(parser: argparse.ArgumentParser) -> set[str]:
    """The options and commands of a parser and of the commands below it."""
    own = {word for action in parser._actions for word in (*action.option_strings, *(action.choices or ()))}
    return own.union(*({name} | words_of(below) for name, below in choices(parser).items()))


KNOWN = choices(whole_parser())


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_the_commands_of_the_shell_exist_with_their_options(page):
    for command, *more in commands(page):
        assert command in KNOWN, command
        part = [word for word in more[:1] if command in ("app", "study") and not word.startswith("-")]
        assert set(part) <= set(choices(KNOWN[command])), (command, *part)
        known = words_of(KNOWN[command])
        for word in [word for word in more if word.startswith("--")]:
            assert word.partition("=")[0] in known, f"{command} has no {word}"
        if command == "ledger" and more and more[0].isidentifier():
            assert more[0] in known


def test_every_variable_is_in_the_reference_and_in_the_code():
    listed = set(re.findall(r"^\| `(PRIVCOV_\w+)` \|", read(DOCS / "reference" / "commands.md"), re.M))
    code = "".join(read(path) for folder in ("privcov", "pages") for path in (ROOT / folder).rglob("*.py"))
    assert listed == set(re.findall(r"\"(PRIVCOV_[A-Z_]+)\"", code))
    for page in EVERY:
        assert set(re.findall(r"PRIVCOV_[A-Z_]*[A-Z]", read(page))) <= listed, page


# --- the reference of the package -------------------------------------------------------------------------------


# --- from the pages to the site -----------------------------------------------------------------------------------

conf = loaded(DOCS / "conf.py")
docstrings = loaded(DOCS / "_ext" / "docstrings.py")
executed = loaded(DOCS / "_ext" / "executed.py")


@pytest.mark.parametrize("page", EXECUTED, ids=named)
def test_a_notebook_runs_and_shows_what_each_block_answers(page):
    """Also as a notebook for Jupyter, whose code and output are those of the page."""
    text = read(page)
    parts = executed.parts_of(executed.MARK.sub("", text, count=1), named(page))
    blocks = [part for part in parts if part.output is not None]
    assert [part.text for part in blocks] == [code for kind, code in FENCE.findall(text) if kind == "python"]
    answered = [bool(b.output.printed or b.output.text or b.output.figure) for b in blocks]
    assert sum(answered) >= len(blocks) - 1, "at most one block only prepares"
    shown = executed.as_page(parts)
    assert shown.count('<figure class="drawn">') == sum(b.output.figure is not None for b in blocks) >= 1
    for block in blocks:
        assert block.output.printed.rstrip() in shown
        if block.output.figure:
            assert block.output.figure["layout"]["meta"]["alt"].endswith(".")
    whole = nbformat.reads(executed.as_notebook(parts), 4)
    nbformat.validate(whole)
    cells = [cell for cell in whole.cells if cell.cell_type == "code"]
    assert [cell.source + "\n" for cell in cells] == [block.text for block in blocks]
    assert [bool(cell.outputs) for cell in cells] == answered
