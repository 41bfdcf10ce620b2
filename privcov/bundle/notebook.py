"""Write the script of a page as a notebook for Jupyter: the question, the code, and the page's numbers beside its own.

For example::

    from privcov.bundle import notebook

    text = notebook.of_script("Estimate", "How far off is it?", script, [Shown("relative error", "wrong", 0.12)])
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from privcov import __version__

CLOSE = 1e-6  # relative; another machine adds in another order
_CHECK = """\
import math

shown = {{  # on the page
{shown}
}}
found = {{  # here
{found}
}}
for name, value in found.items():
    print(f"{{name}}: {{value}}; on the page: {{shown[name]}}")
    close = isinstance(value, float) and math.isclose(value, shown[name], rel_tol={close})
    assert close or value == shown[name], name"""


@dataclass(frozen=True)
class Shown:
    """A number or a text of the page, and the expression that has it after the script has run.

    name: what it is. expression: Python over the variables of the script. value: what the page shows, before it is
    rounded.
    """

    name: str
    expression: str
    value: float | int | str | tuple | None


def of_script(title: str, question: str, script: str, shown: Sequence[Shown]) -> str:
    """Return a notebook of format 4.5 as JSON."""
    needs = f"It runs with `privcov` {__version__}; the last cell compares its numbers with those of the page."
    cells = [_cell("markdown", f"# {_plain(title)}\n\n{_plain(question)}\n\n{needs}", 0)]
    cells += [_cell("code", code, k) for k, code in enumerate([*_paragraphs(script), *_check(shown)], 1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=True) + "\n"


def _check(shown: Sequence[Shown]) -> list[str]:
    """Return the last cell, or none where there is nothing to compare."""
    if not shown:
        return []
    return [
        _CHECK.format(
            shown="\n".join(f"    {one.name!r}: {one.value!r}," for one in shown),
            found="\n".join(f"    {one.name!r}: {one.expression}," for one in shown),
            close=CLOSE,
        )
    ]


def _paragraphs(script: str) -> list[str]:
    """Return the paragraphs of a script; one that only continues an indented block stays with it."""
    found: list[str] = []
    for part in script.strip("\n").split("\n\n"):
        if found and part.startswith((" ", ")", "]", "}")):
            found[-1] += f"\n\n{part}"
        elif part.strip():
            found.append(part)
    return found


def _plain(words: str) -> str:
    """Return text that Markdown shows letter by letter; it may quote the name of a column."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+!|~$" else escape(c) for c in words.replace("\n", " "))


def _cell(kind: str, source: str, place: int) -> dict:
    cell = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []}
