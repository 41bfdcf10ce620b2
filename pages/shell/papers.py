"""The names of the papers on the pages: author and year."""

from __future__ import annotations

from privcov.papers.names import AUTHORS


def place_in(paper: int, where: str) -> str:
    """Return the name of a table or figure of a paper, as a heading."""
    return f"{AUTHORS[paper]}, {where}"
