"""Settings of the documentation site. `make docs` builds it into docs/_build/html.

The pages are Markdown that code hosts show as well. What these can show and Sphinx cannot (or the other way round) is
rewritten by `for_site` when a page is read: pictures in light and dark, the architecture diagram, and links to files.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_ext")]

from privcov.plots.palette import DARK, LIGHT  # noqa: E402

project = "PrivCov"
author = "PrivCov contributors"
language = "en"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
extensions += ["docstrings", "executed"]

# Files outside docs/ that are pages of the site, by inclusion.
INCLUDED = {
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "LICENSE": "project/license.md",
    "data/README.md": "reference/data.md",
}
exclude_patterns = ["_build"] + [page for name, page in INCLUDED.items() if not (ROOT / name).exists()]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # an included page may begin with a heading of another level

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_custom_sections = ["Guarantee", "Spends", "Reference"]
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "literal"
highlight_language = "none"  # an indented block of a docstring is a formula
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": "__weakref__",
    "ignore-module-all": True,  # what a package hands on is described where it is defined
}
autodoc_typehints_format = "short"
autosummary_generate = False  # the lists are written by hand; the modules have pages
add_module_names = False
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "PrivCov"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []} | {
    f"{theme}_css_variables": {"color-brand-primary": palette.good, "color-brand-content": palette.good}
    for theme, palette in (("light", LIGHT), ("dark", DARK))
}

PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="(?P<dark>[^"]+)">\s*'
    r'<img alt="(?P<alt>[^"]+)" src="(?P<light>[^"]+)">\s*</picture>'
)
DIAGRAM = re.compile(r"^[^\n]+(?:\n[^\n]+)*\n\n```mermaid\n.*?^```$", re.S | re.M)  # with the paragraph about it
LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)
FORMULA = re.compile(r"`(privcov/[\w/]+\.py)`((?:,? `\w+`)+)")


def for_site(text: str, source: str) -> str:
    """Return the text of a page as the site needs it.

    Parameters
    ----------
    text : str
        Markdown, as it is in the repository.
    source : str
        The file it comes from, relative to the repository.
    """
    page = DOCS / INCLUDED[source] if source in INCLUDED else ROOT / source

    def place(target: str) -> Path | None:
        """Return the page or picture in docs/ that a link means, or None where the site does not have it."""
        there = Path(os.path.normpath((ROOT / source).parent / target))
        name = there.relative_to(ROOT).as_posix() if there.is_relative_to(ROOT) else ""
        there = DOCS / INCLUDED[name] if name in INCLUDED else there
        return there if there.is_relative_to(DOCS) and there.is_file() else None

    def from_page(there: Path) -> str:
        return os.path.relpath(there, page.parent)

    def picture(found: re.Match) -> str:
        images = [(found["light"], "only-light"), (found["dark"], "only-dark")]
        return "\n\n".join(
            f"```{{image}} {from_page(place(name))}\n:alt: {found['alt']}\n:class: {kind}\n```" for name, kind in images
        )

    def link(found: re.Match) -> str:
        if re.match(r"[a-z]+:", found["target"]):
            return found[0]
        there = place(found["target"])
        return f"[{found['words']}]({from_page(there)}{found['anchor'] or ''})" if there else found["words"]

    def formula(found: re.Match) -> str:
        module = found[1].removesuffix(".py").replace("/", ".")
        return f"`{found[1]}`" + re.sub(r"`(\w+)`", rf"{{py:obj}}`\1 <{module}.\1>`", found[2])

    text = DIAGRAM.sub("", PICTURE.sub(picture, text))
    if source == "docs/formulas.md":
        text = FORMULA.sub(formula, text)
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def _read(app: object, docname: str, content: list[str]) -> None:
    """Rewrite a page of docs/."""
    if (DOCS / f"{docname}.md").is_file():
        content[0] = for_site(content[0], f"docs/{docname}.md")


def _included(app: object, path: Path, parent: str, content: list[str]) -> None:
    """Rewrite a file that a page includes."""
    name = Path(os.path.normpath(DOCS / path)).relative_to(ROOT).as_posix()
    content[0] = for_site(content[0], name)


def setup(app) -> None:
    """Connect the functions above."""
    app.connect("source-read", _read)
    app.connect("include-read", _included)
