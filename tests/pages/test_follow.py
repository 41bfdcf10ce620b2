"""What the browser is given to draw between: releases of the method itself, the same for every level."""

import base64
import json

import numpy as np
import pytest

from pages.common import follow, study_results
from pages.common.study import CSV, Study, from_query
from privcov.metrics.errors import error, reference_matrix, to_working_units
from privcov.plots.matrices import colour_limit
from privcov.releases.display import matrix_of
from tests.pages import test_upload
from tests.pages.test_pages import open_page

ESTIMATE = "pages/1_Estimate.py"
TABLE = {"kind": "approx", "data.n": "3000", "data.d": "12"}


def given(file: str, **query: str) -> dict | None:
    """What the browser is given, None where the picture does not follow."""
    return sent(open_page(file, **query))


def sent(at) -> dict | None:
    assert not at.error
    found = [e.proto for e in at.get("bidi_component") if e.proto.component_name.endswith("privcov_follow")]
    return json.loads(found[0].bytes) if found else None


def cells(picture: dict, d: int) -> np.ndarray:
    """The shades of a picture, places x d x d."""
    return np.array([np.frombuffer(base64.b64decode(f["shades"]), np.uint8).reshape(d, d) for f in picture["frames"]])


@pytest.mark.parametrize(
    "query",
    [
        TABLE,
        TABLE | {"method": "gaussian-cov", "seed": "4"},
        TABLE | {"method": "auto-precision"},
        {"source": "wine", "kind": "zcdp"},
    ],
)
def test_each_frame_is_the_method_s_own_release_at_its_level(query):
    """Within half a shade of 255, with the error and the attacker of that release."""
    found = given(ESTIMATE, **query)
    study, _ = from_query(query)
    data = study_results.dataset(study)
    against = "sample" if data.truth is None else "truth"
    units = data.bounds is not None
    target = study_results.release(study).target
    limit = 1.0 if units else colour_limit(reference_matrix(data, target, against))
    frames = cells(found["pictures"][0], data.d)
    assert len(frames) == len(found["places"]) == follow.LEVELS
    for level, frame, wrong, chance in zip(found["places"], frames, *found["numbers"].values(), strict=True):
        rel = study_results.release(study.at(level))
        matrix = matrix_of(rel, "correlation") if units else to_working_units(rel.matrix, rel.scale, rel.target)
        drawn = np.clip(matrix, -limit, limit)
        assert abs((frame / 127.5 - 1) * limit - drawn).max() <= limit / 255 * 1.001
        assert wrong == error(rel, data, relative=True, against=against)
        assert chance == rel.attacker_success


def test_a_change_of_the_level_sends_nothing_new():
    first, second = (given(ESTIMATE, **TABLE, epsilon=level) for level in ("0.5", "2"))
    assert first == second
    assert first != given(ESTIMATE, **TABLE, seed="2")


@pytest.mark.parametrize(
    "query",
    [TABLE | {"method": "glasso-gaussian", "data.d": "50"}, TABLE | {"data.d": "120"}],
    ids=["a graph of many columns", "too many columns"],
)
def test_what_takes_long_does_not_follow(query):
    assert given(ESTIMATE, **query) is None


def test_a_level_that_the_method_refuses_is_left_out():
    query = TABLE | {"method": "wishart-approx", "calibration": "as-published"}
    every, left = given(ESTIMATE, **TABLE)["places"], given(ESTIMATE, **query)["places"]
    assert 1 < len(left) < len(every)
    for level in set(every) - set(left):
        with pytest.raises(ValueError, match="epsilon"):
            study_results.release(from_query(query)[0].at(level))


def test_a_table_of_one_s_own_follows_and_nothing_of_it_is_shared():
    """Kept in the visit, made once for all levels, anew for another table, and gone with the file."""
    at = test_upload.declared()
    first = sent(at)
    assert cells(first["pictures"][0], 2).shape == (follow.LEVELS, 2, 2)
    kept = next(iter(at.session_state["follow.own"].values()))[1]
    at.select_slider(key=f"w.{at.session_state['study'].level_name}").set_value(0.5).run()
    assert sent(at) == first
    assert next(iter(at.session_state["follow.own"].values()))[1] is kept
    assert CSV not in {part for key in study_results.SHARED._kept for part in key if isinstance(part, str)}
    assert not any(part.source == CSV for key in study_results.SHARED._kept for part in key if isinstance(part, Study))
    at.number_input(key="w.seed").set_value(9).run()
    assert next(iter(at.session_state["follow.own"].values()))[1] is not kept
    assert len(at.session_state["follow.own"]) == 1
    visitor = at.session_state["follow.own"]
    test_upload.press(at, "Forget this file")
    assert not visitor


def test_home_s_picture_follows_the_strip():
    assert cells(given("app.py")["pictures"][0], 20).shape == (follow.LEVELS, 20, 20)
