"""Your data, where the ledger has this release in another version or with a guarantee that is not good: two choices."""

import dataclasses

import pytest

from privcov.estimators.base import METHODS
from privcov.ledger import Ledger
from privcov.measurements import exact_moment
from privcov.measurements.exposed import FLOATING, WHY
from privcov.privacy import PureDP
from tests.pages.sent import everything, plain
from tests.pages.test_own_data import calm, declared, go, ledger, limited, of_release, press, released, widget  # noqa: F401

STORED, PAY = "Open the stored answer, free", "Release again, costs "


def raise_version(monkeypatch, key: str) -> None:
    card = dataclasses.replace(METHODS.get(key), version=71)
    monkeypatch.setattr(card.cls, "card", card)
    monkeypatch.setitem(METHODS._entries, key, card)


def buttons(at) -> list[str]:
    return [b.label.replace("\\", "") for b in at.main.button]


def test_a_release_of_another_version_is_opened_or_paid_again_and_never_silently(ledger, monkeypatch):  # noqa: F811
    at = released()
    go(at, "release")
    assert "Release ..." in buttons(at)
    assert STORED not in buttons(at)
    raise_version(monkeypatch, "gaussian-cov")
    go(at, "answers")
    go(at, "release")
    assert "Release ..." not in buttons(at)
    assert any(b.startswith(PAY) for b in buttons(at))
    (said,) = [w.value for w in at.warning]
    assert "Release 1 of 'trial' answers this request by version" in plain(said)

    press(at, STORED)
    assert at.session_state["own-step"] == "answers"
    assert not at.error
    assert len(Ledger(ledger).entries()) == 1

    go(at, "release")
    at.button(key="own-pay-again").click().run()
    assert len(Ledger(ledger).entries()) == 1, "nothing is paid before it is confirmed"
    assert any(m.value.startswith("Spends ") for m in at.markdown)
    press(at, "Confirm and release")
    first, second = Ledger(ledger).entries()
    assert (first.state, second.state, second.request["version"]) == ("stored", "stored", 71)
    assert at.session_state["own"].released == second.token
    go(at, "release")
    assert "Release ..." in buttons(at)
    assert not at.warning
    press(at, "Release ...")
    press(at, "Confirm and release")
    assert len(Ledger(ledger).entries()) == 2
    assert at.session_state["own"].released == second.token


def test_another_draw_is_no_other_version(ledger, monkeypatch):  # noqa: F811
    at = released()
    raise_version(monkeypatch, "gaussian-cov")
    go(at, "release")
    widget(at, "number_input", "draw").set_value(2).run()
    assert "Release ..." in buttons(at)
    assert STORED not in buttons(at)


@pytest.mark.parametrize("raised", [False, True])
def test_an_answer_of_the_old_sampler_is_marked_and_not_taken_home(raised, ledger, monkeypatch):  # noqa: F811
    monkeypatch.setitem(exact_moment._LAWS, "wishart-difference", FLOATING)
    monkeypatch.setattr(exact_moment, "settle_shape", lambda facts, shape, *rest: shape)
    monkeypatch.setattr("pages.your_data.release.best_shape", lambda *_: "wishart-difference")
    at = limited(declared(n_public=False), 10.0)
    at.session_state["own"].chosen = PureDP(0.5)
    at.run()
    press(at, "Release ...")
    press(at, "Confirm and release")
    (warned,) = [plain(e.value) for e in at.error]
    assert f"not established: {PureDP(0.5)} was asked for, but {WHY}" in warned
    assert "Do not hand it on" in warned
    sent = plain(everything(at))
    assert "3 columns, guarantee not established" in sent
    assert not at.get("plotly_chart"), "no answer is drawn"
    assert next(b for b in at.get("download_button") if b.proto.label == "Download the bundle").proto.disabled

    monkeypatch.setitem(exact_moment._LAWS, "wishart-difference", "rounded exactly")
    if raised:
        raise_version(monkeypatch, "wishart-difference")
    go(at, "release")
    assert WHY in plain(at.warning[0].value)
    press(at, STORED)
    assert "Do not hand it on" in plain(at.error[0].value)
    assert len(Ledger(ledger).entries()) == 1
    go(at, "release")
    at.button(key="own-pay-again").click().run()
    press(at, "Confirm and release")
    assert not at.error
    assert len(Ledger(ledger).entries()) == 2
    of_release(at, "segmented_control", "answer").set_value("home").run()
    assert not next(b for b in at.get("download_button") if b.proto.label == "Download the bundle").proto.disabled
