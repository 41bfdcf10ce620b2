"""The pages are true: links and anchors lead somewhere, Python runs, commands exist, every module has its place.

The last test builds the site and looks at what it would fetch; it is one of `make deep`.
"""

import argparse
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from privcov.cli.entry import whole_parser
from privcov.metrics.classification import classification_error, majority_error
from tests.patience import patient

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


def test_pictures_come_in_light_and_dark_with_words_and_are_small():
    shown = set()
    for page in EVERY:
        pictures = re.findall(r'srcset="([^"]+)">\s*<img alt="([^"]+)" src="([^"]+)"', read(page))
        assert len(pictures) == read(page).count("<img"), page
        for dark, words, light in pictures:
            assert dark.replace("-dark", "-light") == light
            assert len(words) > 40
            for name in (dark, light):
                head = (page.parent / name).read_bytes()
                shown.add((page.parent / name).resolve())
                assert head[:8] == b"\x89PNG\r\n\x1a\n"
                assert int.from_bytes(head[16:20], "big") == 2560, "twice the width of the page, so that it is sharp"
                assert len(head) < 250_000
    assert shown == set((DOCS / "images").glob("*.png")), "a picture that no page shows"
    assert len(shown) >= 8


def test_every_page_is_in_the_contents():
    """By a toctree of another page, as Sphinx wants it."""
    listed = set()
    for page in PAGES:
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```$", read(page), re.S | re.M):
            for line in filter(None, body.splitlines()):
                if not line.startswith(":"):
                    listed |= set(page.parent.glob(f"{line}.md"))
    assert set(PAGES) == listed | {DOCS / "index.md"}


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


def test_there_is_python_in_the_readme_and_six_guides():
    assert {page.stem for page, _ in (block.values for block in BLOCKS)} == {
        "README",
        "private-tables",
        "graphs",
        "classes",
        "python",
        "guarantees",
        "coming-from",
    }


def test_what_the_examples_claim(capsys):
    """Classes beat guessing; the graph has most true edges."""
    scope: dict = {}
    code: dict[str, str] = {}
    for page, text in (block.values for block in BLOCKS):
        code[page.stem] = code.get(page.stem, "") + text
    exec(code["graphs"] + code["classes"], scope)
    assert classification_error(scope["rel"], scope["test"]) < majority_error(scope["train"], scope["test"]) / 2
    assert scope["fits"][0].status == "ok"
    assert "Recovery(tp=" in capsys.readouterr().out


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


def test_every_command_is_in_the_reference():
    listed = re.findall(r"^\| `privcov ([\w ]+)` \|", read(DOCS / "reference" / "commands.md"), re.M)
    below = {f"{name} {part}" for name in ("app", "study") for part in choices(KNOWN[name])}
    assert len(listed) == len(set(listed))
    assert set(listed) == {*KNOWN, *below} - {"study"}
    assert len(KNOWN) == 9


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_the_targets_of_make_exist(page):
    targets = {"check", *re.findall(r"^(\w+):", read(ROOT / "Makefile"), re.M)}
    assert {"".join(found) for found in re.findall(r"^make (\w+)|`make (\w+)", read(page), re.M)} <= targets


def test_every_variable_is_in_the_reference_and_in_the_code():
    listed = set(re.findall(r"^\| `(PRIVCOV_\w+)` \|", read(DOCS / "reference" / "commands.md"), re.M))
    code = "".join(read(path) for folder in ("privcov", "pages") for path in (ROOT / folder).rglob("*.py"))
    assert listed == set(re.findall(r"\"(PRIVCOV_[A-Z_]+)\"", code))
    for page in EVERY:
        assert set(re.findall(r"PRIVCOV_[A-Z_]*[A-Z]", read(page))) <= listed, page


# --- the reference of the package -------------------------------------------------------------------------------

# Commands have a page of their own; the others are entry points that repeat names of finished modules.
ELSEWHERE = re.compile(r"privcov(\.cli(\..*)?|\.__main__|\.bundle\.templates\.verify)?")


def test_every_module_is_in_the_reference_once():
    listed = [name for page in PAGES for name in re.findall(r"automodule:: (\S+)", read(page))]
    assert len(listed) == len(set(listed))
    there = {p.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for p in (ROOT / "privcov").rglob("*.py")}
    empty = {
        f"privcov.{p.parent.relative_to(ROOT / 'privcov').as_posix().replace('/', '.')}"
        for p in (ROOT / "privcov").rglob("__init__.py")
        if "def " not in read(p)
    }
    examples = {"privcov.estimators.trace_ball", "privcov.data_sources.two_groups"}  # CONTRIBUTING's, saved by a reader
    wanted = {name.removesuffix(".__init__") for name in there - examples}
    assert {name for name in wanted - empty if not ELSEWHERE.fullmatch(name)} <= set(listed)
    assert set(listed) <= wanted


def test_every_exported_name_is_in_the_reference():
    import privcov

    listed = re.findall(r"^   ~[\w.]+\.(\w+)$", read(DOCS / "reference" / "api.md"), re.M)
    assert sorted(listed) == sorted(privcov.__all__)


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


def test_blocks_of_a_page_share_their_names_and_what_they_show_is_escaped():
    code = "```python\nclass Shown:\n    def __repr__(self): return '</script>'\nx = 2\n```\n"
    parts = executed.parts_of(f"# Page\n{code}\nMore.\n\n```python\nprint(x)\nShown()\n```\n", "page")
    assert executed.as_page(parts).endswith("```\n\n```text\n2\n```\n\n```text\n</script>\n```\n")
    figure = {"data": [], "layout": {"meta": {"alt": 'a "</script>" <b>'}}}
    raw = executed._figure(figure)
    assert raw.count("</script>") == 1
    assert "<b>" not in raw.replace('" <b>"', "")


def test_an_error_on_a_page_stops_the_build():
    with pytest.raises(ZeroDivisionError):
        executed.parts_of("```python\n1 / 0\n```\n", "page")


def test_a_notebook_leads_to_no_page_that_it_has_not():
    assert (
        executed._outside("[a](b.md#c), [d](https://e.org) and ![f](g.png)") == "a, [d](https://e.org) and ![f](g.png)"
    )


def test_links_lead_to_pages_of_the_site_or_become_plain_words():
    text = "See [this](docs/guides/app.md#lessons), [that](SECURITY.md), [data](data/README.md) and [code](privcov)."
    assert conf.for_site(text, "README.md") == (
        "See [this](guides/app.md#lessons), [that](project/security.md), [data](reference/data.md) and code."
    )
    assert conf.for_site("[up](../../SECURITY.md)", "docs/guides/app.md") == "[up](../project/security.md)"
    code = "```python\nrows[0](docs/guides/app.md)\n```"
    assert conf.for_site(code, "README.md") == code
    away = "[paper](https://example.org/a)"
    assert conf.for_site(away, "README.md") == away


def test_pictures_and_the_diagram_become_what_the_site_can_show():
    found = conf.for_site(read(ROOT / "README.md"), "README.md")
    assert "<picture>" not in found
    for kind in ("light", "dark"):
        assert re.search(rf"```\{{image\}} images/home-{kind}\.png\n:alt: Home: .*\n:class: only-{kind}\n```", found)
    plan = conf.for_site(read(DOCS / "architecture.md"), "docs/architecture.md")
    assert "mermaid" not in plan


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("The norm |x| of `rows` and `a b`.", r"The norm \|x\| of :py:obj:`rows` and ``a b``."),
        ("**Proof**: x_ * y, and ``code``.", r"**Proof**: x\_ \* y, and ``code``."),
        ("`Lemma`s and a lone `", r":py:obj:`Lemma`\ s and a lone \`"),
    ],
)
def test_prose_of_docstrings_keeps_code_and_bold_only(plain, marked):
    assert docstrings.inline(plain) == marked


def test_aligned_lines_stay_aligned_and_sections_stay_sections():
    lines = ["Sums:", "", "  l2   sqrt(2) |x|", "  l1   d", "", "rho: above 0.", "    Also here.", ""]
    lines += ["Parameters", "----------", "x : float", "    Above |y|.", "", ">>> f(a_)", "|1|"]
    docstrings.process(None, "function", "f", None, None, lines)
    text = "\n".join(lines)
    assert "::\n\n     l2   sqrt(2) |x|\n     l1   d\n" in text
    assert "- rho: above 0.\n  Also here." in text
    assert "Parameters\n----------\nx : float\n    Above \\|y\\|." in text
    assert text.endswith(">>> f(a_)\n|1|")


def test_attributes_described_together_have_a_field_each():
    lines = [":ivar table, cell: The key", "    of both.", ":vartype table, cell: str", ":ivar now: A number."]
    docstrings.plain_types(None, "class", "C", None, None, lines)
    both = [f":ivar {name}: The key\n    of both." for name in ("table", "cell")]
    types = [f":vartype {name}: *str*" for name in ("table", "cell")]
    assert "\n".join(lines) == "\n".join([*both, *types, ":ivar now: A number."])


def test_types_are_plain_words_and_a_property_has_no_type_from_its_prose():
    lines = [":param x: Rows.", ":type x: ndarray of shape (d, d)"]
    docstrings.plain_types(None, "function", "f", None, None, lines)
    assert lines[1] == ":type x: *ndarray of shape (d, d)*"
    text = ["Rows: all of them."]
    docstrings.process(None, "property", "p", None, None, text)
    assert text == ["", "Rows: all of them."]


class Fetched(HTMLParser):
    """What a page of the site fetches, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.assets: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.add(found.get("id", ""))
        if tag == "a":
            self.links.append(found.get("href", ""))
        else:
            names = ("src", "href", "srcset", "data", "poster", "action", "xlink:href")
            self.assets += [found[name] for name in names if name in found]
        self.assets += re.findall(r"url\(([^)]*)\)", found.get("style", ""))


@pytest.mark.deep
def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path):
    """Every asset and every link is a file of the site; a plain link to a cited source is the one exception."""
    words = [
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-d",
        str(tmp_path / "doctrees"),
        str(DOCS),
        str(tmp_path / "site"),
    ]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=patient(900),
    )
    assert done.returncode == 0, done.stderr[-5000:]
    site = tmp_path / "site"
    cited = {target for page in EVERY for target in re.findall(r"https?://[^\s)>\"`]+", prose(page))}
    pages = {path: Fetched(read(path)) for path in site.rglob("*.html")}
    assert len(pages) >= len(PAGES)
    for path, page in pages.items():
        for target in page.assets:
            assert not urlsplit(target).netloc, f"{path.name} fetches {target}"
            assert target.startswith("data:") or (path.parent / unquote(urlsplit(target).path)).exists(), target
        for target in page.links:
            link = urlsplit(target)
            if link.scheme:
                assert target in cited, f"{path.name} leads to {target}"
                continue
            there = (path.parent / unquote(link.path)).resolve() if link.path else path
            assert there.exists(), f"{path.name}: {target}"
            if link.fragment and there in pages:
                assert unquote(link.fragment) in pages[there].ids, f"{path.name}: {target}"
    for path in site.rglob("*.css"):
        text = read(path)
        assert not re.search(r"@import|url\([\"']?(https?:)?//", text), path
    for path in site.rglob("*.js"):
        if path.name == "plotly.min.js":  # it opens a page where somebody clicks on a figure that needs WebGL
            continue
        assert not re.search(r"(fetch|import|open)\(\s*[\"'](https?:)?//|\.src\s*=\s*[\"'](https?:)?//", read(path)), (
            path
        )
