"""The audit page: what it says is what privcov computes, and the scripts on it make it again."""

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.audit import claims as audit_claims
from privcov.attacks import catalogue, claims, disclosure
from privcov.attacks.live_audit import AuditSettings, audit
from privcov.core.guarantees import PureDP
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
TABS = ("Live audit", "Claims", "What an attacker learns")


def open_page(tab: str = TABS[0], query: dict | None = None) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page("pages/9_Privacy_audit.py")
    at.session_state["audit.tab"] = tab
    for name, value in (query or {}).items():
        at.query_params[name] = value
    at.run()
    assert not at.exception, at.exception
    return at


def finished(at: AppTest) -> AppTest:
    """Wait for the job under way, then look again."""
    for job in at.session_state["audits"].values():
        assert job.wait(patient(60))
    at.run()
    assert not at.exception
    return at


def verdict(at: AppTest) -> str:
    """The sentence in the coloured box."""
    body = next(h.proto.body for h in at.get("html") if 'role="status"' in h.proto.body)
    return unescape(re.sub("<[^>]*>", "", body))


def texts(at: AppTest) -> str:
    return " ".join(e.value for e in (*at.markdown, *at.caption, *at.error, *at.success, *at.info)).replace("\\", "")


def test_a_first_visit_sees_the_wishart_claim_fail():
    at = finished(open_page())
    assert verdict(at).startswith("Caught")
    assert not at.error
    assert {m.label: m.value for m in at.metric}["Claimed: epsilon"] == "1"
    assert at.get("plotly_chart")[0].proto.alt.startswith("Histograms of the smallest eigenvalue")
    assert "no finite epsilon permits" in texts(at)
    space = {}
    exec(at.code[-1].value.replace("print(", "str("), space)
    assert space["found"].sentence == verdict(at)


def test_a_sound_method_passes_and_the_page_says_what_that_is_worth():
    at = finished(open_page())
    at.button_group(key="audit-group").set_value("Sound").run()
    at.selectbox(key="audit-mechanism-Sound").set_value("wishart-difference:sound:pure").run()
    at.selectbox(key="audit-pair-2-orthogonal").set_value("orthogonal").run()
    next(b for b in at.button if b.label == "Run the audit").click().run()
    at = finished(at)
    told = audit(AuditSettings("wishart-difference:sound:pure", pair="orthogonal")).sentence
    assert told == verdict(at)
    assert "passing is no proof" in told
    assert "nine times in ten" in texts(at)


@pytest.mark.parametrize("fault", ["", "no-clipping"])
def test_the_measurement_of_private_rows_is_run_and_what_it_hides_is_said(fault):
    """Noise from the operating system: a sound one is accused once in 1,000 at most, far less at this pair."""
    at = finished(open_page())
    at.button_group(key="audit-group").set_value("Private release (exact)").run()
    method, key = "wishart-difference:pure:n-public", "audit-mechanism-Private release (exact)"
    at.selectbox(key=key).set_value(f"exact-{fault}:{method}" if fault else f"exact:{method}").run()
    at.selectbox(key=f"audit-pair-2-{'long-zero' if fault else 'obtuse'}").set_value("long-zero").run()
    next(b for b in at.button if b.label == "Run the audit").click().run()
    at = finished(at)
    assert verdict(at).startswith("Caught" if fault else "Not caught")
    assert ("A broken copy" in texts(at)) == bool(fault)
    for said in ("without a ledger", "Not seen: the ledger", "noise from the operating system"):
        assert said in texts(at)
    assert not [t for t in at.toggle if t.key == "audit-bits"]


def test_a_zcdp_claim_is_audited_in_rho():
    at = finished(open_page(query={"live.group": "sound", "live.mechanism": "gaussian-cov-sound-zcdp", "live.d": "1"}))
    assert at.selectbox(key="audit-mechanism-Sound").value == "gaussian-cov:sound:zcdp"
    at.number_input(key="audit-rho").set_value(0.1).run()
    next(b for b in at.button if b.label == "Run the audit").click().run()
    at = finished(at)
    shown = {m.label: m.value for m in at.metric}
    assert shown["Claimed: rho"] == "0.1"
    assert 0 < float(shown["Measured: rho at least"]) < 0.1
    assert verdict(at).startswith("Not caught: rho is at least")
    assert "64 % of a small rho" in texts(at)


def test_claims_are_those_of_the_table_and_move_with_the_parameters():
    at = open_page(TABS[1])
    shown = at.dataframe[0].value
    expected = claims.table(1.0, 1e-5, 1000, 20)
    assert list(shown["Verdict"]) == list(expected["Verdict"])
    for name in ("True delta at epsilon", "True epsilon at delta", "Noise / needed"):
        assert list(shown[name]) == [audit_claims.number(x) for x in expected[name]]
    cells = [str(cell) for cell in shown.drop(columns=["Method", "Calibration"]).to_numpy().ravel()]
    assert not {"None", "nan", "inf", ""} & set(cells)
    at.select_slider(key="claims-delta").set_value(1e-3).run()
    assert (at.dataframe[0].value["Verdict"] == catalogue.LUCKY).any()
    assert not (shown["Verdict"] == catalogue.LUCKY).any()


@pytest.mark.parametrize("kind", ["pure", "approx", "zcdp", "gdp"])
def test_what_an_attacker_learns(kind):
    at = open_page(TABS[2])
    at.button_group(key="learn-kind").set_value(kind).run()
    assert not at.exception
    assert not at.error
    assert len(at.get("plotly_chart")) == 2
    assert "a coin toss does 50\u00a0%" in texts(at)
    if kind == "pure":
        value = at.number_input(key="learn-pure").value
        for line in disclosure.sentences(PureDP(value), 0.1, 0.001):
            assert line in texts(at)
