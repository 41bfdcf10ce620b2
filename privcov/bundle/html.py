"""Write a page of HTML without scripts: the report of a release."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template
from typing import Any

from privcov.bundle.codebook import HEADINGS
from privcov.plots.palette import LIGHT, PAPER_CAPTION, PAPER_FIELD, PAPER_RULE, WHITE

STYLE = Template("""
@page {size: A4; margin: 13mm}
body {font: 10.5pt/1.35 Georgia, serif; color: $ink; max-width: 185mm; margin: 1rem auto; padding: 0 1rem}
h1 {font-size: 17pt; margin: 0 0 .2rem} h2 {font-size: 11.5pt; margin: .7rem 0 .2rem}
p, ul {margin: .2rem 0} ul {padding-left: 1.1rem}
table {border-collapse: collapse; width: 100%; font-size: 9.5pt} td, th {border-bottom: 1px solid $rule;
text-align: left; padding: .12rem .5rem .12rem 0; vertical-align: top} th {font-weight: 600}
html {color-scheme: light; background: $ground}
figure {margin: .5rem 0; break-inside: avoid} figcaption {font-size: 9pt; color: $caption} svg {max-width: 100%;
height: auto} .row {display: flex; gap: .6rem} .row figure {flex: 1; min-width: 0} h2 {break-after: avoid}
.tag {border: 1px solid $ink; border-radius: .6rem; padding: 0 .5rem; font-size: 9pt; margin-right: .4rem}
pre {font: 8.5pt/1.35 Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: $field;
padding: .5rem .7rem} tr {break-inside: avoid}
@media print {body {font-size: 9pt; margin: 0 auto; padding: 0} table {font-size: 8pt} h1 {font-size: 14pt}
h2 {font-size: 10pt; margin-top: .45rem}}
""").substitute(ink=LIGHT.ink, ground=WHITE, rule=PAPER_RULE, caption=PAPER_CAPTION, field=PAPER_FIELD)

NOT_COVERED = (
    "anything learnt from the declaration itself: columns, bounds, typical values, number of rows where it is public",
    "choosing columns, bounds or the guarantee after looking at these rows, as the owner's view allows",
    "conclusions that hold for everybody, whether or not a person is in the table",
    "other releases from the same people, by other means than this ledger",
    "how long the computation takes, and who can read this computer's memory",
)

INTERVALS = (
    "95 % intervals for privacy noise and sampling together. What could be noise alone is not listed: "
    "extras/correlations.csv has every pair."
)


def page(title: str, *parts: str) -> str:
    """Return a whole HTML page; the parts are HTML already, the title is escaped."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{text(title)}</h1>{''.join(parts)}</body></html>\n"
    )


def text(words: Any) -> str:
    """Return text without markup, in which a right-to-left name affects nothing but itself."""
    return f"<bdi>{escape(str(words))}</bdi>"


def section(title: str, body: str) -> str:
    """Return a heading and the HTML below it."""
    return f"<h2>{escape(title)}</h2>{body}"


def bullet_list(items: Sequence[str]) -> str:
    """Return a list of plain texts."""
    return "<ul>" + "".join(f"<li>{text(i)}</li>" for i in items) + "</ul>"


def grid(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """Return a table of plain texts."""
    head = "".join(f"<th>{escape(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(f"<td>{text(c)}</td>" for c in line) + "</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"


def release_report(
    name: str,
    statement: Sequence[Sequence[str]],
    facts: Sequence[str],
    verdict: str,
    pairs: Sequence[Sequence[Any]],
    inputs: Sequence[Sequence[str]],
    terms: Sequence[Sequence[str]],
    codebook: Sequence[Sequence[str]],
) -> str:
    """Return the report of a release.

    ``verdict`` says how many correlations are real, ``pairs`` holds (column, column, correlation, low, high),
    ``inputs`` (file, hash), and ``terms`` (column, level, what, mean) of a table with kinds.
    """
    means = section("Means, as the columns are declared", grid(("Column", "Level", "What", "Noisy"), terms))
    return page(
        f"Release: {name}",
        section("What was released", bullet_list(facts)),
        section("Statement", grid(("", ""), statement)),
        section(
            "The strongest correlations",
            f"<p>{text(verdict)}</p>"
            + (
                grid(("Column", "Column", "Correlation", "Low", "High"), pairs) + f"<p>{INTERVALS}</p>" if pairs else ""
            ),
        ),
        means if terms else "",
        section("Codebook", grid(HEADINGS, codebook)),
        section("Not covered by the guarantee", bullet_list(NOT_COVERED)),
        "<p>Everything in this bundle was made from one noisy measurement; more views of it spend nothing. "
        "README.txt says how to check it without the data. What this page was made from, by SHA-256:</p>",
        grid(("File", "SHA-256"), inputs),
    )
