"""Every figure that a test of this folder draws is what plotly makes of it when it checks every property."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from privcov.plots import look

FIGURE = go.Figure


def said(figure: go.Figure) -> dict:
    """What the browser gets, without what plotly leaves out (empty lists) or writes out (an empty template)."""
    found = json.loads(figure.to_json(validate=False))
    found["layout"] = {name: value for name, value in found["layout"].items() if value != [] and name != "template"}
    return found


@pytest.fixture(autouse=True)
def _every_figure_is_valid(monkeypatch):
    def figure(*args, **kwargs):
        found = FIGURE(*args, **kwargs)
        assert said(FIGURE(json.loads(found.to_json(validate=False)))) == said(found)
        return found

    monkeypatch.setattr(look.go, "Figure", figure)
