"""What the tests of pages share: the pictures that a page shows."""

import pytest

from pages.common import show


@pytest.fixture
def pictures(monkeypatch) -> dict:
    """The newest picture under each key that pages have shown."""
    kept, shown = {}, show.picture

    def picture(chart, key):
        kept[key] = chart
        shown(chart, key)

    monkeypatch.setattr(show, "picture", picture)
    return kept
