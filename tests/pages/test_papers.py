"""Papers are called by author and year."""

from pages.shell.papers import place_in


def test_a_heading_names_paper_and_place():
    assert place_in(5, "Figure 4") == "Dong et al. 2022, Figure 4"
