"""The names of the five papers: author and year."""

from __future__ import annotations

AUTHORS = {
    1: "Wang, Xu & He 2019",
    2: "Su et al. 2019",
    3: "Wang et al. 2018",
    4: "Mathematics 2023",
    5: "Dong et al. 2022",
}


def place_in(paper: int, where: str) -> str:
    """Return the name of a table or figure of a paper, as a heading."""
    return f"{AUTHORS[paper]}, {where}"
