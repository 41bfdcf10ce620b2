"""What is the same request, and so free, and what is another one."""

import dataclasses

import numpy as np
import pytest

import privcov
from privcov.estimators.base import METHODS
from privcov.ledger import Ledger
from privcov.releases import private as _private
from privcov.releases.release import Release
from privcov.tables.private_dataset import PrivateDataset

RHO = privcov.ZCDP(0.125)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    book = Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("t", privcov.ZCDP(50.0))
    return book


def ask(ledger: Ledger, method: str = "gaussian-cov", **more) -> Release:
    cells = np.tanh(np.random.default_rng(7).normal(size=(400, 2)))
    table = PrivateDataset.from_rows(cells, bounds=[(-1, 1)] * 2, name="t", n_public=False)
    return privcov.release_private(table, more.pop("guarantee", RHO), method, ledger=ledger, **more)


def test_the_same_request_is_free_and_draws_nothing(ledger, monkeypatch):
    first = ask(ledger)
    monkeypatch.setattr(_private, "measure_exactly", lambda *_, **__: pytest.fail("noise was drawn"))
    assert ask(ledger).to_json() == first.to_json()
    assert ask(ledger, token=None, draw=1, centre="auto").to_json() == first.to_json()
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "other", [{"draw": 2}, {"guarantee": privcov.ZCDP(0.25)}, {"method": "auto-cov"}, {"repair": "none"}]
)
def test_another_request_is_paid(other, ledger):
    ask(ledger)
    ask(ledger, **other)
    assert len(ledger.entries()) == 2


def test_another_version_of_a_method_is_another_request(ledger, monkeypatch):
    first = ask(ledger)
    card = dataclasses.replace(METHODS.get("gaussian-cov"), version=71)
    monkeypatch.setattr(card.cls, "card", card)
    monkeypatch.setitem(METHODS._entries, "gaussian-cov", card)
    assert (ask(ledger).covariance != first.covariance).any()
    assert [e.request["version"] for e in ledger.entries()][1:] == [71]


def test_a_tuning_that_the_method_ignores_is_not_paid_for(ledger):
    first = ask(ledger)
    assert ask(ledger, tuning="fixed").to_json() == first.to_json()
    with pytest.raises(ValueError, match="tuning must be one of"):
        ask(ledger, tuning="no such")
    assert len(ledger.entries()) == 1


def test_a_tuning_that_the_method_offers_is_another_request(ledger):
    ask(ledger, "auto-precision")
    ask(ledger, "auto-precision", tuning="fixed")
    assert len(ledger.entries()) == 2


def test_a_token_of_one_s_own(ledger):
    first = ask(ledger, token="mine")
    assert ask(ledger, token="mine").to_json() == first.to_json()
    assert ask(ledger).to_json() != first.to_json()
    assert len(ledger.entries()) == 2


def test_a_bound_of_minus_zero_is_zero(ledger):
    """Two ways to write one number are one request."""
    rows = np.random.default_rng(7).uniform(size=(400, 2))
    for low in (0.0, -0.0, 0):
        table = PrivateDataset.from_rows(rows, bounds=[(low, 1)] * 2, typical=[low] * 2, name="t")
        privcov.release_private(table, RHO, "gaussian-cov", ledger=ledger)
    assert len(ledger.entries()) == 1


def test_names_that_no_file_can_hold_and_levels_that_no_ledger_can_add_are_refused_free(ledger):
    rows = np.zeros((4, 1))
    with pytest.raises(ValueError, match="must be whole characters"):
        PrivateDataset.from_rows(rows, row_bound=1.0, columns=["\ud800"])
    with pytest.raises(ValueError, match="must be whole characters"):
        PrivateDataset.from_rows(rows, row_bound=1.0, labels=["a"] * 4, classes=["a", "\ud800"])
    for guarantee in (privcov.ZCDP(1.7e308), privcov.ApproxDP(1e-300, 1e-300), privcov.PureDP(1e300)):
        with pytest.raises(ValueError, match=r"(rho|epsilon) must lie in .*cost cannot be computed"):
            ask(ledger, guarantee=guarantee)
    assert ledger.entries() == ()
