"""The method's settings in the strip: usual ones and rare ones in a fold each, and what a link has set is named."""

import pytest

from pages.common.fields import is_shown
from pages.common.strip import CALIBRATION, NEIGHBOURS, RARE, USUAL
from pages.common.study import Study, from_query
from privcov.estimators.base import METHODS
from tests.pages.test_pages import SMALL, open_page

KINDS = ("selectbox", "toggle", "select_slider", "number_input", "slider")


def folds(at) -> dict[str, set[str]]:
    """Labels of the widgets in each fold of the strip."""
    return {
        fold.label: {widget.label for kind in KINDS for widget in fold.get(kind)}
        for fold in at.main.expander
        if fold.label in (USUAL, RARE)
    }


def changed(at) -> list[str]:
    return [c.value for c in at.main.caption if c.value.startswith("Not at the default")]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("gaussian-cov", {}),
        ("adaptive-cov", {}),
        ("dp-thresholding", {}),
        ("dp-thresholding", {"method.rule": "paper"}),
        ("wishart-approx", {}),
        ("auto-cov", {}),
        ("zero", {}),
    ],
)
def test_every_setting_is_in_its_fold_and_none_is_lost(method, options):
    card = METHODS.get(method)
    query = {"method": method, "kind": "approx", **options}
    study, problems = from_query(query)
    assert not problems
    wanted = {USUAL: set(), RARE: set()}
    for spec in card.parameters:
        if is_shown(spec, "options", study, owner=method):
            wanted[RARE if spec.advanced else USUAL].add(spec.label)
    if len(card.relations) > 1:
        wanted[USUAL].add(NEIGHBOURS)
    if len(card.calibrations) > 1:
        wanted[RARE].add(CALIBRATION)
    at = open_page("pages/1_Estimate.py", **SMALL, **query)
    assert folds(at) == {title: labels for title, labels in wanted.items() if labels}
    assert all(not fold.proto.expanded for fold in at.main.expander if fold.label in (USUAL, RARE))


def test_both_folds_are_used_somewhere():
    """Else the tests above could not tell the two apart."""
    split = [{spec.advanced for spec in card.parameters} for card in METHODS.all()]
    assert {True, False} in split
    assert {True} in split


def test_a_constant_of_the_printed_threshold_appears_with_the_rule_that_uses_it():
    gamma = next(spec for spec in METHODS.get("dp-thresholding").parameters if spec.name == "gamma")
    asked = {"method": "dp-thresholding", "kind": "approx"}
    at = open_page("pages/1_Estimate.py", **SMALL, **asked)
    assert gamma.label not in folds(at)[RARE]
    at.selectbox(key="w.options.dp-thresholding.rule").set_value("paper").run()
    assert gamma.label in folds(at)[RARE]
    assert changed(at) == ["Not at the default: Where to cut paper."]


def test_what_a_link_has_set_is_named_below_the_folds():
    asked = {"method": "gaussian-cov", "method.repair": "none", "neighbours": "add-remove"}
    at = open_page("pages/1_Estimate.py", **SMALL, **asked, calibration="sound")
    told = "Not at the default: Repair of the spectrum none; Neighbouring tables add-remove."
    assert changed(at) == [told]
    at = open_page("pages/1_Estimate.py", **SMALL, method="gaussian-cov", kind="approx", calibration="as-published-3")
    assert changed(at) == ["Not at the default: Noise calibration as-published-3."]


def test_nothing_is_named_at_the_defaults():
    assert changed(open_page("pages/1_Estimate.py", **SMALL, method="gaussian-cov")) == []
    assert changed(open_page("pages/1_Estimate.py", **SMALL, method="wishart-pure")) == [], "its only calibration"


def test_settings_in_a_link_that_names_no_method_are_those_of_the_one_it_runs():
    """Otherwise the form would show a setting that the release does not have."""
    spec = METHODS.get("auto-cov").parameters[0]
    other = next(choice for choice in spec.choices if choice != spec.default)
    study, problems = from_query({f"method.{spec.name}": other})
    assert not problems
    assert study == Study(method="auto-cov", options=((spec.name, other),), kind="approx")
    assert from_query({})[0].method == ""
