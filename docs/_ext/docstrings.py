"""Turns the prose of docstrings into reStructuredText.

Docstrings here are written to be read in the source: derivations have |x| and aligned lines, and a name in single
backticks is code. The sections of numpydoc are left to napoleon, which runs afterwards.
"""

from __future__ import annotations

import functools
import re
from itertools import groupby

SECTION = re.compile(r"-{3,}")
ITEM = re.compile(r"([-*]|\d+\.) ")
NAMED = re.compile(r"[\w., ]{1,40}: ")
SPAN = re.compile(r"(``.+?``|(?<!`)`[^`]+`(?!`)|\*\*[^*\s][^*]*\*\*)", re.S)
# Sphinx takes the first of two names for a type, and links it.
TOGETHER = re.compile(r"^:(ivar|vartype) (\w+(?:, \w+)+):(.*(?:\n[ \t]+.*)*)", re.M)
NAME = re.compile(r"`[A-Za-z_][\w.]*`")


def inline(text: str) -> str:
    """Return prose with code and bold kept and every other sign of reStructuredText escaped."""
    parts = SPAN.split(text)
    for place, part in enumerate(parts):
        if not place % 2:
            parts[place] = re.sub(r"[\\`*|]|(?<=\w)_(?!\w)", r"\\\g<0>", part)
            continue
        after = parts[place + 1][:1]
        before = parts[place - 1][-1:]
        parts[place] = (r"\ " if before.isalnum() else "") + marked(part) + (r"\ " if after.isalnum() else "")
    return "".join(parts)


def marked(span: str) -> str:
    """Return a span of code or bold text: a name becomes a link where the reference has it."""
    if NAME.fullmatch(span):
        return f":py:obj:{span}"
    return f"`{span}`" if span.startswith("`") and not span.startswith("``") else span


def indent_of(line: str) -> int:
    """Return the number of leading spaces."""
    return len(line) - len(line.lstrip())


def paragraph(lines: list[str]) -> list[str]:
    """Return one paragraph: prose, a list, or prose with its indented lines as a literal block."""
    margin = indent_of(lines[0])
    if ITEM.match(lines[0].lstrip()) or all(indent_of(line) == margin for line in lines):
        return inline("\n".join(lines)).split("\n")
    heads = [line for line in lines if indent_of(line) == margin]
    if all(NAMED.match(line.lstrip()) for line in heads):  # "name: text", with hanging lines
        out: list[str] = []
        for line in lines:
            if indent_of(line) == margin:
                out += [" " * margin + "- " + inline(line.lstrip())]
            else:
                out += [" " * margin + "  " + inline(line.lstrip())]
        return out
    out = []
    for deeper, group in groupby(lines, key=lambda line: indent_of(line) > margin):
        run = list(group)
        out += (
            ["", " " * margin + "::", "", *(" " * 3 + line for line in run), ""]
            if deeper
            else [*inline("\n".join(run)).split("\n")]
        )
    return out


def prose(lines: list[str]) -> list[str]:
    """Return the text before the first section."""
    out: list[str] = []
    literal = None  # the margin of the line that ends with "::"
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        if blank or block[0].lstrip().startswith(">>>") or (literal is not None and indent_of(block[0]) > literal):
            out += block
        elif indent_of(block[0]) and not ITEM.match(block[0].lstrip()):  # set off by its indentation: a formula
            out += ["::", "", *(f"   {line}" for line in block)]
        else:
            literal = indent_of(block[-1]) if block[-1].rstrip().endswith("::") else None
            out += paragraph(block)
    return out


def sections(lines: list[str]) -> list[str]:
    """Return the sections, with the prose in them escaped and the examples as they are."""
    out: list[str] = []
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        if blank or block[0].lstrip().startswith(">>>"):
            out += block
            continue
        for line in block:
            field = re.match(r"[*\w, ]+( : |$)", line)
            out.append(line if field or SECTION.fullmatch(line) else inline(line))
    return out


@functools.cache
def sources() -> dict[object, str]:
    """Return the source of every registered method and data source, which its card has."""
    from privcov.data_sources.base import SOURCES
    from privcov.estimators.base import METHODS

    return {card.cls: card.reference for card in (*METHODS.all(), *SOURCES.all())}


def process(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place."""
    if what == "class" and (source := sources().get(obj)):
        lines += ["", "Reference", "---------", source]
    start = next((i for i in range(len(lines) - 1) if lines[i] and SECTION.fullmatch(lines[i + 1].strip())), len(lines))
    first = [""] if what in ("attribute", "property", "data") else []  # else "Rows: all" would have the type "Rows"
    lines[:] = first + prose(lines[:start]) + sections(lines[start:])


def one_each(found: re.Match) -> str:
    """Return the field of attributes described together as one for each, as parameters have it."""
    return "\n".join(f":{found[1]} {name}:{found[3]}" for name in found[2].split(", "))


def plain_types(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep Sphinx from looking for links in types such as "ndarray of shape (d, d)"; the signature has the links."""
    lines[:] = TOGETHER.sub(one_each, "\n".join(lines)).split("\n")
    for place, line in enumerate(lines):
        if found := re.fullmatch(r"(:(?:type|vartype)(?: [^:]+)?:) ([^*`].*)", line.strip()):
            text = re.sub(r"(?<!\\)([*`|])", r"\\\1", found[2])
            lines[place] = f"{line[: indent_of(line)]}{found[1]} *{text}*"


def setup(app) -> dict:
    """Connect the functions above, before napoleon and after it."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-process-docstring", plain_types, priority=600)
    return {"parallel_read_safe": True}
