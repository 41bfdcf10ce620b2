"""The names of the papers on the pages: author and year.

Keys, file names and saved links call the papers by their numbers, and stay as they are.
"""

from __future__ import annotations

import re

from privcov.papers.names import AUTHORS

_NUMBERED = re.compile(r"^Papers? (\d(?:(?:, | and | to )\d)*)(?!\d)")


def place_in(paper: int, where: str) -> str:
    """Return the name of a table or figure of a paper, as a heading."""
    return f"{AUTHORS[paper]}, {where}"


def by_author(text: str) -> str:
    """Return the text with "Paper 2" or "Papers 1, 2 and 4" at its start replaced by authors and years."""
    match = _NUMBERED.match(text)
    if match is None:
        return text
    numbers = [int(number) for number in re.findall(r"\d", match[1])]
    if " to " in match[1]:
        numbers = list(range(numbers[0], numbers[-1] + 1))
    if numbers == list(AUTHORS):
        return "All five papers" + text[match.end() :]
    names = [AUTHORS[number] for number in numbers]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) + text[match.end() :]
