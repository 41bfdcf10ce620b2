"""Runs the Python of a page when the page is built, and puts what it prints and draws below each block.

A page asks for it with a line of its own, a comment that code hosts do not show:

    <!-- executed -->             the page is run, block after block, as one program
    <!-- executed: notebook -->   the same, and the site offers it as a notebook for Jupyter, with its output

The last expression of a block is shown as Jupyter shows it: a figure as a figure, a table as a table. Figures are drawn
by plotly's script, which the site holds; their text alternative is below them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
import types
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

MARK = re.compile(r"^<!-- executed(: notebook)? -->\n", re.M)
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.S | re.M)
FIGURE = "figure-data"


class Output(NamedTuple):
    """What one block printed, and its last value as HTML, as a figure or as text."""

    printed: str = ""
    html: str = ""
    text: str = ""
    figure: Any = None


class Part(NamedTuple):
    """One part of a page: prose, or a block of Python with its output."""

    text: str
    output: Output | None = None


def parts_of(text: str, name: str) -> list[Part]:
    """Return the parts of a page, every block of Python run after those before it.

    Parameters
    ----------
    text : str
        Markdown.
    name : str
        Name of the page, for tracebacks.
    """
    module = types.ModuleType(f"page_{re.sub(r'[^a-z]', '_', name)}")
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    found, start = [], 0
    try:
        for number, block in enumerate(BLOCK.finditer(text)):
            found += [Part(text[start : block.start()]), Part(block[1], run(block[1], module, f"{name}[{number}]"))]
            start = block.end()
    finally:
        del sys.modules[module.__name__]
    return [*found, Part(text[start:])]


def run(code: str, module: types.ModuleType, name: str) -> Output:
    """Run a block in a module and return what it prints and the value of its last expression."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec", dont_inherit=True), module.__dict__)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), module.__dict__)
    if hasattr(value, "to_plotly_json"):
        return Output(printed.getvalue(), figure=json.loads(value.to_json()))
    html = value._repr_html_() if hasattr(value, "_repr_html_") else ""
    return Output(printed.getvalue(), html, "" if value is None else repr(value))


def as_page(parts: list[Part]) -> str:
    """Return the page with the output below each block."""
    return "".join(part.text if part.output is None else _block(part.text, part.output) for part in parts)


def _block(code: str, output: Output) -> str:
    text = f"```python\n{code}```\n"
    if output.printed:
        text += f"\n```text\n{output.printed.rstrip()}\n```\n"
    if output.figure is not None:
        text += _raw(_figure(output.figure))
    elif output.html:
        text += _raw(f'<div class="output">{output.html}</div>')
    elif output.text:
        text += f"\n```text\n{output.text}\n```\n"
    return text


def _raw(html: str) -> str:
    lines = "\n".join(line for line in html.splitlines() if line.strip())
    return f"\n````{{raw}} html\n{lines}\n````\n"


def _figure(figure: dict) -> str:
    layout = figure["layout"]
    words = escape((layout.get("meta") or {}).get("alt", ""))
    data = json.dumps({"data": figure["data"], "layout": layout}).replace("</", "<\\/")
    height = int(layout.get("height") or 420)
    return (
        f'<figure class="drawn"><div style="height:{height}px" role="img" aria-label="{words}"></div>'
        f'<script type="application/json" class="{FIGURE}">{data}</script><figcaption>{words}</figcaption></figure>'
    )


def as_notebook(parts: list[Part]) -> str:
    """Return the page as a notebook of format 4.5, with its output."""
    cells = []
    for number, part in enumerate(part for part in parts if part.text.strip()):
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": part.text.strip()}
        if part.output is None:
            cells.append({"cell_type": "markdown", **cell, "source": _outside(part.text).strip()})
        else:
            count = sum(cell["cell_type"] == "code" for cell in cells) + 1
            cells.append(
                {"cell_type": "code", **cell, "execution_count": count, "outputs": _outputs(part.output, count)}
            )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _outside(text: str) -> str:
    """Return prose whose links to other pages are plain words: a notebook is read elsewhere."""
    return re.sub(r"(?<!!)\[([^\[\]]+)\]\((?!https:)[^()\s]+\)", r"\1", text)


def _outputs(output: Output, count: int) -> list[dict]:
    found: list[dict] = []
    if output.printed:
        found.append({"output_type": "stream", "name": "stdout", "text": output.printed})
    shown: dict[str, Any] = {}
    if output.figure is not None:
        alt = (output.figure["layout"].get("meta") or {}).get("alt", "A figure")
        shown = {"application/vnd.plotly.v1+json": output.figure, "text/plain": alt}
    elif output.text:
        shown = {"text/plain": output.text} | ({"text/html": output.html} if output.html else {})
    if shown:
        found.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": shown})
    return found


def _read(app, docname: str, content: list[str]) -> None:
    """Run a page that asks for it."""
    mark = MARK.search(content[0])
    if mark is None:
        return
    parts = parts_of(MARK.sub("", content[0], count=1), docname)
    page = as_page(parts)
    if mark[1]:
        name = docname.rpartition("/")[2]
        app.env.notebooks = getattr(app.env, "notebooks", {}) | {docname: as_notebook(parts)}
        link = f'<p><a href="{name}.ipynb" download>The same as a notebook for Jupyter</a></p>'
        head, rest = page.split("\n", 1)
        page = head + "\n" + _raw(link) + rest
    content[0] = page


def _scripts(app, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Load plotly's script on pages with figures alone."""
    if f'class="{FIGURE}"' in (context.get("body") or ""):
        app.add_js_file("plotly.min.js", loading_method="defer")
        app.add_js_file("figures.js", loading_method="defer")


def _files(app, problem: Exception | None) -> None:
    """Put plotly's script and the notebooks beside the pages."""
    if problem is not None or app.builder.format != "html":
        return
    from plotly.offline import get_plotlyjs

    (Path(app.outdir) / "_static" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    for docname, text in getattr(app.env, "notebooks", {}).items():
        (Path(app.outdir) / f"{docname}.ipynb").write_text(text, encoding="utf-8")


def _purge(app, env, docname: str) -> None:
    getattr(env, "notebooks", {}).pop(docname, None)


def setup(app) -> dict:
    """Connect the functions above, before links and pictures are rewritten."""
    app.connect("source-read", _read, priority=400)
    app.connect("html-page-context", _scripts)
    app.connect("build-finished", _files)
    app.connect("env-purge-doc", _purge)
    return {"parallel_read_safe": False}
