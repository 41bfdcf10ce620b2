"""Papers are called by author and year; every number in a claim or a demonstration has its name."""

import pytest

from pages.shell.papers import by_author, place_in
from privcov.audit.catalogue import CLAIMS
from privcov.audit.demonstrations import DEMONSTRATIONS


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Paper 3", "Wang et al. 2018"),
        ("Papers 2 and 5, in their experiments.", "Su et al. 2019 and Dong et al. 2022, in their experiments."),
        ("Papers 1, 2 and 4.", "Wang, Xu & He 2019, Su et al. 2019 and Mathematics 2023."),
        ("Papers 1 to 5", "All five papers"),
        ("Papers 2 to 4", "Su et al. 2019, Wang et al. 2018 and Mathematics 2023"),
        ("Su et al. 2019", "Su et al. 2019"),
        ("Not in the papers: in notebooks", "Not in the papers: in notebooks"),
    ],
)
def test_numbers_become_names(text, named):
    assert by_author(text) == named


def test_no_claim_and_no_demonstration_shows_a_number():
    shown = [by_author(claim.paper) for claim in CLAIMS] + [by_author(d.occurs) for d in DEMONSTRATIONS]
    assert not [text for text in shown if text.startswith(("Paper ", "Papers "))]


def test_a_heading_names_paper_and_place():
    assert place_in(5, "Figure 4") == "Dong et al. 2022, Figure 4"
