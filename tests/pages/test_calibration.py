"""Calibration and neighbours: in the study, in the address, in the controls, in the release, in the script."""

import dataclasses

import numpy as np
import pytest

import privcov
from pages.common import script, study_results
from pages.common.study import CSV, Study, from_query, to_query
from privcov.core import accounting
from privcov.core.guarantees import RELATIONS, ApproxDP
from privcov.estimators.base import METHODS
from tests.pages.test_pages import SMALL, open_page

PAPER = "as-published-9"
MEANING = "half the right sensitivity, as an invented paper prints it"


@pytest.fixture
def published(monkeypatch):
    """gaussian-cov with one published calibration more, so that these tests hang on no paper: the noise is halved, the
    event keeps the true sensitivity and the scale that was used."""
    card = METHODS.get("gaussian-cov")
    new = dataclasses.replace(card, calibrations={**card.calibrations, PAPER: MEANING})
    honest = card.cls.run

    def run(self, ask):
        if ask.calibration != PAPER:
            return honest(self, ask)
        outcome = honest(self, dataclasses.replace(ask, calibration="sound"))
        m = outcome.noisy_moment
        event = dataclasses.replace(m.event, scale=m.event.scale / 2)
        distribution = dataclasses.replace(m.distribution, scale=m.distribution.scale / 2)
        return dataclasses.replace(outcome, noisy_moment=dataclasses.replace(m, event=event, distribution=distribution))

    monkeypatch.setitem(METHODS._entries, "gaussian-cov", new)
    monkeypatch.setattr(card.cls, "card", new)
    monkeypatch.setattr(card.cls, "run", run)
    study_results.SHARED.clear()
    yield new
    study_results.SHARED.clear()


def boxes(at) -> dict:
    return {box.label: box for box in at.selectbox}


# --- the study and its address ------------------------------------------------------------------------------


def test_both_are_in_the_address_only_when_they_differ(published):
    study = Study(method="gaussian-cov", calibration=PAPER, neighbours="add-remove")
    assert to_query(study) == {
        "method": "gaussian-cov",
        "calibration": PAPER,
        "neighbours": "add-remove",
        "kind": "zcdp",
    }
    assert from_query(to_query(study)) == (study, [])


def test_another_method_keeps_what_it_offers_and_drops_the_rest(published):
    study = Study(method="gaussian-cov", calibration=PAPER, neighbours="add-remove")
    other = study.with_method("laplace-cov")
    assert (other.calibration, other.neighbours) == ("sound", "add-remove")
    assert PAPER not in METHODS.get("laplace-cov").calibrations
    none = dataclasses.replace(study, method="zero")  # not through with_method: the release falls back by itself
    assert none.settings(METHODS.get("zero")) == {"calibration": "sound", "neighbours": "replace-one"}
    assert study.without_method() == Study()


def test_a_method_without_a_sound_form_leaves_no_false_claim_behind(published, monkeypatch):
    """It is shown as published because there is nothing else; the next method must not inherit that unasked."""
    card = METHODS.get("diagonal")
    monkeypatch.setitem(METHODS._entries, "diagonal", dataclasses.replace(card, calibrations={PAPER: MEANING}))
    study = Study(method="gaussian-cov").with_method("diagonal")
    assert study.settings(METHODS.get("diagonal"))["calibration"] == PAPER
    assert study.with_method("gaussian-cov").settings(published)["calibration"] == "sound"
    assert to_query(study) == {"method": "diagonal", "kind": "zcdp"}


# --- the release and the script -----------------------------------------------------------------------------


def run_script(text: str):
    space = {}
    exec(compile(text.replace("print(", "str("), "twin", "exec"), space)
    return space["rel"]


@pytest.mark.parametrize("neighbours", list(RELATIONS))
@pytest.mark.parametrize("calibration", ["sound", PAPER])
@pytest.mark.parametrize("source", ["ar1-covariance", "wine"])
def test_the_script_is_the_page_bit_for_bit(published, neighbours, calibration, source):
    data = (("d", 4), ("n", 500)) if source == "ar1-covariance" else ()
    study = Study(
        source=source, data=data, method="gaussian-cov", options=(("repair", "none"),),
        calibration=calibration, neighbours=neighbours, bound=0.5, seed=3,
    )  # fmt: skip
    rel = study_results.release(study)
    assert rel.parameters["calibration"] == calibration
    assert rel.parameters["neighbours"] == neighbours
    text = script.script(study, study_results.dataset(study))
    assert ("calibration=" in text) == (calibration != "sound")
    assert ("neighbours=" in text) == (neighbours != "replace-one")
    again = run_script(text)
    assert again.matrix.tobytes() == rel.matrix.tobytes()
    assert again.to_json() == rel.to_json()


def test_a_csv_study_passes_them_on_too(published, monkeypatch):
    rows = privcov.Dataset.from_rows(np.random.default_rng(0).standard_normal((50, 3)))
    monkeypatch.setattr(study_results.visitor_files, "table", lambda: rows)
    rel = study_results.release(Study(source=CSV, method="gaussian-cov", calibration=PAPER))
    assert (rel.parameters["calibration"], rel.parameters["neighbours"]) == (PAPER, "replace-one")


# --- the page -----------------------------------------------------------------------------------------------


def test_a_false_claim_is_a_warning_with_the_guarantee_line(published):
    at = open_page("pages/1_Estimate.py", **SMALL, method="gaussian-cov", kind="approx")
    assert not at.warning
    boxes(at)["Noise calibration"].select(PAPER).run()
    assert not at.exception
    assert any(MEANING in c.value for c in at.caption)
    rel = study_results.release(
        from_query(SMALL | {"method": "gaussian-cov", "kind": "approx", "calibration": PAPER})[0]
    )
    assert rel.claim_is_false
    line = rel.statement["Guarantee"]
    assert line.startswith("only (")
    assert "is false" in line
    (warning,) = at.warning
    shown = warning.value.replace("\\", "").replace("⁠", "")
    assert shown == f"Guarantee: {line}."
    boxes(at)["Noise calibration"].select("sound").run()
    assert not at.warning


PUBLISHED = [(c.key, k) for c in METHODS.all() for k in c.calibrations if k != "sound"]


@pytest.mark.parametrize(("key", "calibration"), PUBLISHED)
def test_every_published_calibration_gives_a_verdict_or_a_sentence(key, calibration):
    """The page warns exactly when the release says that the claim is false."""
    kind = METHODS.get(key).guarantees[0].kind
    query = SMALL | {"method": key, "calibration": calibration, "kind": kind}
    at = open_page("pages/1_Estimate.py", **query)
    study, problems = from_query(query)
    assert not problems
    try:
        rel = study_results.release(study)
    except ValueError:
        assert len(at.error) == 1
        return
    assert not at.error
    told = [w for w in at.warning if w.value.startswith("Guarantee")]
    assert len(told) == rel.claim_is_false == ("is false" in rel.statement["Guarantee"])


# --- what a release says of a published calibration ---------------------------------------------------------


def test_the_verdict_is_computed_from_the_events(published, monkeypatch):
    data = privcov.Dataset.from_rows(np.random.default_rng(0).standard_normal((50, 3)))
    asked = ApproxDP(1.0, 1e-6)
    rel = privcov.release(data, asked, "gaussian-cov", calibration=PAPER, random_state=0)
    given = accounting.compose(rel.events, asked)
    assert not accounting.covers(asked, given)
    assert rel.actual_guarantee == given
    assert rel.statement["Guarantee"] == f"only {given} as published; the claim of {asked} is false"
    assert rel.claim_is_false
    assert privcov.Release.from_json(rel.to_json()).statement["Guarantee"] == rel.statement["Guarantee"]

    half = published.cls.run

    def twice(self, ask):  # a published scale that is four times too large: the claim holds
        outcome = half(self, ask)
        m = outcome.noisy_moment
        return dataclasses.replace(
            outcome, noisy_moment=dataclasses.replace(m, event=dataclasses.replace(m.event, scale=4 * m.event.scale))
        )

    monkeypatch.setattr(published.cls, "run", twice)
    rel = privcov.release(data, asked, "gaussian-cov", calibration=PAPER, random_state=0)
    assert rel.statement["Guarantee"] == f"{rel.actual_guarantee} as published; the claim was {asked}"
    assert not rel.claim_is_false
    assert accounting.covers(asked, rel.actual_guarantee)
