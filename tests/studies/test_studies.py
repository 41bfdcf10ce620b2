"""Saved studies: written and read again, refused with one sentence, run in the shell with a report."""

import contextlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privcov
from privcov.bundle import report
from privcov.cli.entry import main
from privcov.plots.exports import svg
from privcov.plots.matrices import heatmap, png
from privcov.plots.palette import LIGHT
from privcov.plots.words import percent
from privcov.studies import saved

PLAN = privcov.Plan(
    source="ar1-covariance", source_params={"n": 30, "d": 2}, guarantees=[privcov.ZCDP(0.1), privcov.PureDP(1.0)],
    methods=["auto-cov", ("gaussian-cov", {"repair": "none"})], replicates=2, seed=3, noise_seed=4,
)  # fmt: skip
FILES = [((PLAN,), PLAN.to_json()), ((PLAN, PLAN), f"[{PLAN.to_json()}, {PLAN.to_json()}]")]


def test_one_plan_and_a_list_survive_a_file():
    for plans, text in FILES:
        assert saved.read(text) == plans
        assert saved.read(text.encode()) == plans


def test_the_noise_seed_is_that_of_the_noise_alone():
    rows = privcov.source("ar1-covariance", n=30, d=2, random_state=3)
    rel = privcov.release(rows, privcov.ZCDP(0.1), "auto-cov", random_state=4)
    table = privcov.run(PLAN)
    assert table["value"].iloc[0] == privcov.error(rel, rows, relative=True)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\xff\xfe\x00", "must be JSON"),
        ("{", "must be JSON"),
        ("[]", "at least one plan"),
        ("3", "JSON object"),
        ('{"source": "x", "guarantees": [{"kind": "zcdp", "rho": 1}]}', "source"),
        ('{"source": "wine"}', "guarantees"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": -1}]}', "rho"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": 1}], "methods": [["a", 1]]}', "methods"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp", "rho": 1}], "noise_seed": -1}', "noise_seed"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_what_is_wrong_is_named_in_one_sentence(content, word):
    with pytest.raises(ValueError, match=r".") as told:
        saved.read(content)
    assert word in str(told.value)
    assert len(str(told.value)) < 400
    assert "\n" not in str(told.value)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*json.loads(PLAN.to_json()), "other"]), anything)
def test_a_field_with_anything_in_it_is_a_plan_or_a_sentence(name, value):
    text = json.dumps(json.loads(PLAN.to_json()) | {name: value})
    with contextlib.suppress(ValueError):  # nothing else is raised
        assert saved.read(text)


def test_the_shell_takes_both_forms(tmp_path, capsys):
    for plans, text in FILES:
        path, table = tmp_path / "study.json", tmp_path / "table.csv"
        path.write_text(text)
        assert main(["study", "run", str(path), "--out", str(table)]) == 0
        pd.testing.assert_frame_equal(pd.read_csv(table)[["value"]], saved.run(plans)[["value"]])
    path.write_text("{}")
    assert main(["study", "run", str(path)]) == 2
    assert "must name its source" in capsys.readouterr().err


def test_a_report_fetches_nothing_runs_nothing_and_escapes_names():
    rows = privcov.source("wine").rows[:, :2] * np.pi  # digits that no coordinate of a figure has
    data = privcov.Dataset.from_rows(rows, 50.0, columns=["<img src=x>", "b"], name="<script>alert(1)</script>")
    rel = privcov.release(data, privcov.ZCDP(1.0), "gaussian-cov", random_state=1)
    html = report.of_release(rel, data, script="print('<b>')", address="/Estimate?a=1&b=2")
    lowered = html.lower()
    for word in ("<script", "<img", "http://", "https://", 'src="', "<link", "@import", "url("):
        assert word not in lowered.replace("http://www.w3.org/2000/svg", "").replace("url(#c", "")
    assert "declared public" in html
    assert ">Public<" in html
    for line in rows:
        assert not all(repr(float(x)) in html for x in line)


def test_a_report_says_what_its_numbers_are():
    """Simulated or public, over the truth where there is one, with the settings of the page as text."""
    rows = np.random.default_rng(0).normal(size=(300, report.MAX_LISTED + 1))
    public = privcov.Dataset.from_rows(rows, 5.0, provenance="public")
    simulated = privcov.source("ar1-covariance", n=400, d=4, random_state=0)
    made = {}
    for data in (public, simulated):
        rel = privcov.release(data, privcov.ZCDP(1.0), "gaussian-cov", random_state=1)
        made[data] = report.of_release(rel, data, script="a < b", address="/Estimate?a=<b>&c=1"), rel
    html, rel = made[public]
    assert (report.DECLARED in html, "Frobenius error to the sample" in html) == (True, True)
    assert "Released, in the units of the data" not in html  # too many columns to list
    assert "n is public" in html
    html, rel = made[simulated]
    assert (report.DECLARED in html, ">Simulated<" in html) == (False, True)
    for against in ("sample", "truth"):
        shown = percent(privcov.error(rel, simulated, relative=True, against=against))
        assert (f">{shown}<" in html) == (against == "truth")
    assert "Released, in the units of the data" in html
    assert percent(rel.attacker_success, "at most") in html
    assert "<code>/Estimate?a=&lt;b&gt;&amp;c=1</code>" in html
    assert "<pre>a &lt; b</pre>" in html
    hidden = privcov.release(simulated, privcov.ZCDP(1.0), "gaussian-cov", random_state=1, neighbours="add-remove")
    assert "n is not public" in report.of_release(hidden, simulated)


def test_a_static_heatmap_has_the_colours_of_its_numbers():
    import zlib

    matrix = np.array([[1.0, -1.0], [-1.0, 0.0]])
    text = svg(heatmap(matrix, ("a", "b"), 1.0, LIGHT, what="a test"))
    assert "data:image/png;base64," in text
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0, 0] = (8, 72, 70)
    body = png(pixels)
    start = body.index(b"IDAT") + 4
    raw = zlib.decompressobj().decompress(body[start:])
    assert raw[1:4] == bytes((8, 72, 70))


def test_a_kind_of_figure_that_cannot_be_printed_is_refused():
    import plotly.graph_objects as go

    from privcov.plots.look import Picture

    with pytest.raises(TypeError, match="Bar"):
        svg(Picture(go.Figure([go.Bar(y=[1])]), "x"))
