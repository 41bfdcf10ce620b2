"""Sheets for a class, each one HTML file that prints as it is: run sheet, handout and key; and all figures as SVG."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from html import escape

from pages.lessons.catalogue import LESSONS
from pages.lessons.lesson import content
from pages.lessons.run_sheets import SHEETS, is_local, link, title
from privcov.bundle.derived import zipped
from privcov.bundle.html import page
from privcov.plots.exports import svg
from privcov.plots.look import Picture
from privcov.plots.palette import BLACK, LIGHT, PAPER_RULE, WHITE, Palette

_WIDTH, _HEIGHT = 640, 300  # pixels of a chart; matrices take the height that their cells need
_GRAPH, _PAIR = 340, 300  # pixels of either side of a graph and of a small chart, two of which share a row
_LINE = f'<div style="border-bottom: 1px solid {PAPER_RULE}; height: 1.5rem"></div>'
_BOX = "\u2610 "


def qr(address: str, side: int = 96) -> str:
    """Return the QR code of an address as one <svg> element, black on white, ``side`` pixels wide."""
    import segno  # for this alone

    # The lowest level of correction gives the largest squares, which a telephone reads from the back of a hall.
    code = segno.make(address, error="l", micro=False)
    markup = code.svg_inline(dark=BLACK, light=WHITE, border=4, omitsize=True)
    attributes = f'role="img" aria-label="QR code of {escape(address, quote=True)}" width="{side}" height="{side}"'
    return markup.replace("<svg", f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}', 1)


def run_sheet(minutes: int, base: str) -> str:
    """Return the run sheet of so many minutes, with whole addresses on the workbench at ``base``."""
    lines, begins = [], 0
    for step in SHEETS[minutes]:
        screen, right = step.end_screen(), next(choice for choice in step.lesson.choices if choice.right)
        to = link(base, step.number)
        lines.append(
            f"<tr><td>{begins}\u2013{begins + step.minutes}</td><td><b>{escape(title(step.number))}</b><br>"
            f'<a href="{escape(to)}">{escape(to)}</a></td><td>{words(step.do)}</td>'
            f"<td>{words(step.lesson.question)}</td>"
            f"<td>{words(screen.sentence)} Right answer: <b>{words(right.text)}</b>.</td></tr>"
        )
        begins += step.minutes
    start = link(base, SHEETS[minutes][0].number)
    columns = (("Minutes", 9), ("Lesson", 22), ("Do", 19), ("Ask", 21), ("Expect", 29))
    head = "".join(f'<th style="width: {share}%">{name}</th>' for name, share in columns)
    return page(
        f"Lessons on private covariance: {minutes} minutes",
        _warning(base),
        f'<div style="float: right">{qr(start)}</div><p>The class opens <a href="{escape(start)}">{escape(start)}</a>. '
        "All rows are simulated. Arrow keys change lesson and control; F is full screen, Esc leaves it.</p>",
        '<table style="clear: both; table-layout: fixed; overflow-wrap: anywhere">',
        f"<tr>{head}</tr>{''.join(lines)}</table>",
    )


def handout(base: str, numbers: Iterable[int] = tuple(LESSONS)) -> str:
    """Return the exercises, one printed page for each lesson, with its figures, its address and room for answers."""
    pages = _pages(_exercises(number, base) for number in numbers)
    return page("Lessons on private covariance", _warning(base), *pages)


def key(numbers: Iterable[int] = tuple(LESSONS)) -> str:
    """Return the answers to the handout."""
    return page("Lessons on private covariance: key", *(_answers(number) for number in numbers))


def figures() -> bytes:
    """Return the figures of all lessons, as they are when a lesson opens, as a zip of SVG files."""
    files = {}
    for number, lesson in LESSONS.items():
        for at, (name, _, picture) in enumerate(content(lesson, lesson.control.start).pictures, start=1):
            slug = re.sub(r"[^a-z0-9]+", "-", f"{lesson.title}-{name.split('-', 1)[1]}".lower()).strip("-")
            files[f"lesson-{number:02}-{at}-{slug}.svg"] = picture_svg(picture).encode()
    return zipped(files, zipfile.ZIP_DEFLATED)


def picture_svg(picture: Picture, width: int = _WIDTH, palette: Palette = LIGHT, height: int = _HEIGHT) -> str:
    """Return a picture of a lesson as one <svg> element; two matrices are no larger than each of three."""
    pair = [trace.type for trace in picture.figure.data] == ["heatmap", "heatmap"]
    width = min(2 * _WIDTH // 3, width) if pair else width
    return svg(picture, width=width, height=min(height, width), palette=palette)


def words(text: str) -> str:
    """Return the text of a lesson as HTML; its only markup is bold."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))


def _warning(base: str) -> str:
    return "<p><b>These addresses open on the lecturer's computer only.</b></p>" if is_local(base) else ""


def _pages(sections: Iterable[str]) -> list[str]:
    return [
        section if at == 0 else section.replace("<section", '<section style="break-before: page"', 1)
        for at, section in enumerate(sections)
    ]


def pictures_as_html(
    pictures: Sequence[tuple[str, str, Picture]], width: int = _WIDTH, palette: Palette = LIGHT
) -> str:
    """Return (key, title or "", picture) of a lesson as HTML, two graphs in a row and others one below the other."""
    rows: list[str] = []
    paired = False
    for name, heading, picture in pictures:
        is_pair = name.startswith(("graph-", "chart-"))
        side = _GRAPH if width == _WIDTH else 9 * width // 16  # on a telephone two share the width
        side = _PAIR if name.startswith("chart-") else side
        high = 2 * width // 5 if name.startswith("low-") else _HEIGHT
        image = (
            svg(picture, width=side, height=side, palette=palette)
            if is_pair
            else picture_svg(picture, width, palette, high)
        )
        figure = f"<figure>{f'<b>{escape(heading)}</b>' if heading else ''}{image}</figure>"
        if is_pair and paired:
            rows[-1] = rows[-1].removesuffix("</div>") + figure + "</div>"
        else:
            rows.append(f'<div class="row">{figure}</div>')
        paired = is_pair
    return "".join(rows)


def _exercises(number: int, base: str) -> str:
    lesson, to = LESSONS[number], link(base, number)
    control = lesson.control
    screen = content(lesson, control.start)
    first, last = (escape(control.to_text(control.options[at])) for at in (0, -1))
    label = escape(control.label)
    choices = "".join(f"<li style='list-style: none'>{_BOX}{words(choice.text)}</li>" for choice in lesson.choices)
    return (
        f'<section><div style="float: right">{qr(to)}</div><h2>{escape(title(number))}</h2><p>{words(lesson.aim)}</p>'
        f'<p><a href="{escape(to)}">{escape(to)}</a></p>'
        f'<div style="clear: both">{pictures_as_html(screen.pictures)}</div>'
        f"<p>{label}: {escape(control.to_text(control.start))}. {escape('; '.join(screen.tags))}.</p>"
        f"<ol><li>Open the lesson. Set \u201c{label}\u201d to {first} ({escape(control.left)}), then to {last} "
        f"({escape(control.right)}). Write down what the screen says at both ends, and why it changes."
        f"{_LINE * 3}</li><li>{words(lesson.question)}<ul>{choices}</ul></li>"
        f"<li>What is to be remembered, in one sentence?{_LINE * 2}</li></ol></section>"
    )


def _answers(number: int) -> str:
    lesson = LESSONS[number]
    control = lesson.control
    ends = ""
    for value in (control.options[0], control.options[-1]):
        screen = content(lesson, value)
        ends += f"<li>{escape(control.to_text(value))}: {words(screen.sentence)}</li>"
    choices = "".join(
        f"<li>{'<b>Right:</b>' if choice.right else 'Wrong:'} {words(choice.text)}. {words(choice.reason)}</li>"
        for choice in lesson.choices
    )
    return (
        f'<section style="break-inside: avoid"><h2>{escape(title(number))}</h2><ol><li>{escape(control.label)}'
        f"<ul>{ends}</ul></li><li>{words(lesson.question)}<ul>{choices}</ul></li>"
        f"<li>{words(lesson.remember)}</li></ol></section>"
    )
