"""A request that the ledger knows in another version, or whose answer is not good, asks before anything is paid."""

import dataclasses
import json

import numpy as np
import pytest

import privcov
from privcov.bundle.opened import bundle_of, declared_facts, open_answer
from privcov.cli.entry import main
from privcov.data_sources.private_file import Column, Declaration
from privcov.estimators.base import METHODS
from privcov.ledger import Ledger, LedgerError, VersionChanged
from privcov.measurements import exact_moment
from privcov.measurements.exposed import FLOATING, REMEDY, WHY, exposed, exposed_answer
from privcov.private_dataset import PrivateDataset
from privcov.releasing import private as _private
from privcov.releasing.private import read_measurement, view
from privcov.releasing.release import Release

RHO, PURE = privcov.ZCDP(0.125), privcov.PureDP(0.5)
NEW = "rounded exactly"


def table(**more) -> PrivateDataset:
    """A hidden number of rows: pure noise has then the same shape whatever the number of columns."""
    cells = np.tanh(np.random.default_rng(7).normal(size=(400, 2)))
    return PrivateDataset.from_rows(cells, bounds=[(-1, 1)] * 2, name="t", n_public=False, **more)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    book = Ledger(tmp_path / "ledger.sqlite")
    book.limit("t", privcov.ZCDP(50.0))
    return book


@pytest.fixture
def nothing_read(monkeypatch):
    """From the call on, whoever looks at rows fails the test."""

    def begin() -> None:
        for name in ("fingerprint", "measure"):
            monkeypatch.setattr(_private, name, lambda *_, **__: pytest.fail("rows were read"))

    return begin


def version(monkeypatch, method: str, number: int) -> None:
    card = dataclasses.replace(METHODS.get(method), version=number)
    monkeypatch.setattr(card.cls, "card", card)
    monkeypatch.setitem(METHODS._entries, method, card)


def sampler(monkeypatch, distribution: str) -> None:
    """What the law of Wishart noise is said to be; only the words count here."""
    monkeypatch.setitem(exact_moment._LAWS, "wishart-difference", distribution)


def ask(ledger: Ledger, method: str = "gaussian-cov", guarantee=RHO, **more) -> Release:
    return privcov.release_private(method, table(), guarantee, ledger=ledger, **more)


# --- another version ----------------------------------------------------------------------------------------


def test_another_version_asks_and_reads_nothing(ledger, monkeypatch, nothing_read):
    first = ask(ledger)
    version(monkeypatch, "gaussian-cov", 71)
    nothing_read()
    with pytest.raises(VersionChanged) as asked:
        ask(ledger)
    words = str(asked.value)
    for part in ("Release 1 of 't'", "version 71", "again='stored'", "free", "again='pay'", str(RHO)):
        assert part in words
    assert isinstance(asked.value, LedgerError)
    assert asked.value.entry.number == 1
    assert ask(ledger, again="stored").to_json() == first.to_json()
    assert [e.state for e in ledger.entries()] == ["stored"]


def test_paying_again_is_another_release_and_paid_once(ledger, monkeypatch):
    first = ask(ledger)
    version(monkeypatch, "gaussian-cov", 71)
    second = ask(ledger, again="pay")
    assert (second.covariance != first.covariance).any()
    for again in ("ask", "pay", "stored"):
        assert ask(ledger, again=again).to_json() == second.to_json()
    assert [e.request["version"] for e in ledger.entries()][1:] == [71]
    version(monkeypatch, "gaussian-cov", 72)
    with pytest.raises(VersionChanged, match=r"Release 2 .* version 71 .* version 72"):
        ask(ledger)
    assert len(ledger.entries()) == 2


def test_the_same_version_is_free_whatever_again_says(ledger):
    first = ask(ledger)
    assert {ask(ledger, again=again).to_json() for again in ("ask", "stored", "pay")} == {first.to_json()}
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "other",
    [{"draw": 2}, {"guarantee": privcov.ZCDP(0.25)}, {"method": "auto-cov"}, {"repair": "none"}, {"centre": "none"}],
)
def test_another_request_is_no_other_version(other, ledger, monkeypatch):
    ask(ledger)
    version(monkeypatch, "gaussian-cov", 71)
    with pytest.raises(LedgerError, match="no stored answer"):
        ask(ledger, again="stored", **other)
    ask(ledger, **other)
    assert len(ledger.entries()) == 2


def test_a_tuning_that_the_method_ignores_is_not_paid_for(ledger):
    first = ask(ledger)
    assert ask(ledger, tuning="fixed").to_json() == first.to_json()
    with pytest.raises(ValueError, match="tuning must be one of"):
        ask(ledger, tuning="no such")
    assert len(ledger.entries()) == 1


def test_a_tuning_that_the_method_offers_is_another_request(ledger, monkeypatch):
    ask(ledger, "auto-precision")
    version(monkeypatch, "auto-precision", 71)
    with pytest.raises(LedgerError, match="no stored answer"):
        ask(ledger, "auto-precision", tuning="fixed", again="stored")
    ask(ledger, "auto-precision", tuning="fixed")
    assert len(ledger.entries()) == 2


def test_the_default_of_before_is_the_same_request_of_another_version(ledger, monkeypatch):
    """ebic was the default of auto-precision up to version 2: who leaves the rule out is asked, who names it too."""
    with monkeypatch.context() as before:
        version(before, "auto-precision", 2)
        first = ask(ledger, "auto-precision", rule="ebic")
    for named in ({}, {"rule": "ebic"}):
        with pytest.raises(VersionChanged, match="version 2"):
            ask(ledger, "auto-precision", **named)
        assert ask(ledger, "auto-precision", again="stored", **named).to_json() == first.to_json()
    assert len(ledger.entries()) == 1
    assert (ask(ledger, "auto-precision", rule="fission").precision != first.precision).any()  # another request
    ask(ledger, "auto-precision", again="pay")
    ask(ledger, "auto-precision", rule="ebic", again="pay")
    assert len(ledger.entries()) == 4  # in one version the two rules are two requests


def test_the_draws_are_asked_about_one_by_one(ledger, monkeypatch):
    made = {draw: ask(ledger, draw=draw) for draw in (1, 2)}
    version(monkeypatch, "gaussian-cov", 71)
    for draw, release in made.items():
        with pytest.raises(VersionChanged, match=f"Release {draw} "):
            ask(ledger, draw=draw)
        assert ask(ledger, draw=draw, again="stored").to_json() == release.to_json()


def test_a_release_that_was_lost_is_not_paid_again_unasked(ledger, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(_private, "measure", lambda *_, **__: 1 / 0)
        with pytest.raises(_private.MeasurementError):
            ask(ledger)
    version(monkeypatch, "gaussian-cov", 71)
    with pytest.raises(VersionChanged, match="did not finish") as asked:
        ask(ledger)
    assert "again='stored'" not in str(asked.value)
    with pytest.raises(LedgerError, match="no stored answer"):
        ask(ledger, again="stored")
    ask(ledger, again="pay")
    assert [e.state for e in ledger.entries()] == ["failed", "stored"]


def test_a_request_written_in_another_form_is_the_same(ledger, monkeypatch, nothing_read):
    """An older form of the facts, and a parameter that the older version had not heard of."""
    first = _with_form(ledger, monkeypatch, lambda request: _without(request, "missing", "repair"))
    assert "missing" not in ledger.entries()[0].request["facts"]
    assert ask(ledger).to_json() == first.to_json()
    assert len(ledger.entries()) == 1
    version(monkeypatch, "gaussian-cov", 71)
    nothing_read()
    with pytest.raises(VersionChanged):
        ask(ledger)
    assert ask(ledger, again="stored").to_json() == first.to_json()


def test_a_parameter_that_is_not_its_default_is_another_request(ledger, monkeypatch):
    _with_form(ledger, monkeypatch, lambda request: _without(request, "", "repair"))
    ask(ledger, repair="none")
    assert len(ledger.entries()) == 2


def _without(request: dict, fact: str, parameter: str) -> dict:
    facts = {k: v for k, v in request["facts"].items() if k != fact}
    return {
        **request,
        "facts": facts,
        "parameters": {k: v for k, v in request["parameters"].items() if k != parameter},
    }


def _with_form(ledger: Ledger, monkeypatch, form) -> Release:
    """A release whose row has its request in another form."""
    real = Ledger.token_of, Ledger.transact
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "token_of", lambda self, name, request: real[0](self, name, form(request)))
        patched.setattr(
            Ledger,
            "transact",
            lambda self, name, guarantee, request, *rest, **more: real[1](
                self, name, guarantee, form(request), *rest, **more
            ),
        )
        return ask(ledger)


def test_a_token_of_one_s_own(ledger, monkeypatch):
    first = ask(ledger, token="mine")
    assert ask(ledger, token="mine").to_json() == first.to_json()
    version(monkeypatch, "gaussian-cov", 71)
    with pytest.raises(VersionChanged):
        ask(ledger, token="mine")
    second = ask(ledger, token="mine", again="pay")
    assert ask(ledger, token="mine").to_json() == second.to_json() != first.to_json()
    assert len(ledger.entries()) == 2


def test_again_is_one_of_three_words(ledger):
    with pytest.raises(ValueError, match="again must be one of 'ask', 'stored', 'pay', got again='yes'"):
        ask(ledger, again="yes")
    assert ledger.entries() == ()


# --- an answer that is not good -----------------------------------------------------------------------------


def test_the_law_of_the_event_decides():
    event = exact_moment.planned_event(table().facts, PURE, centre="none", shape="wishart-difference")
    assert exposed(dataclasses.replace(event, law=FLOATING)) == WHY
    assert exposed(dataclasses.replace(event, law=NEW)) == ""
    assert exposed(dataclasses.replace(event, law=FLOATING, mechanism="laplace")) == ""
    assert [exposed_answer(text) for text in (None, "", "no JSON", "[1]", '{"measurement": null}')] == [""] * 5


@pytest.mark.parametrize("raised", [False, True])
def test_a_repeat_of_an_old_sampler_asks_and_never_calls_the_old_answer_good(raised, ledger, monkeypatch, nothing_read):
    """Whether the method's version was raised since, or not."""
    sampler(monkeypatch, FLOATING)
    ask(ledger, "wishart-difference", PURE)
    sampler(monkeypatch, NEW)
    if raised:
        version(monkeypatch, "wishart-difference", 71)
    with monkeypatch.context() as unread:
        unread.setattr(_private, "fingerprint", lambda *_: pytest.fail("rows were read"))
        with pytest.raises(VersionChanged) as asked:
            ask(ledger, "wishart-difference", PURE)
        assert WHY in str(asked.value)
        old = ask(ledger, "wishart-difference", PURE, again="stored")
    _marked(old)
    new = ask(ledger, "wishart-difference", PURE, again="pay")
    assert new.exposed == ""
    assert new.statement["Guarantee"].startswith(str(new.given))
    for again in ("ask", "pay", "stored"):  # the good answer is the one that is given from now on, free
        assert ask(ledger, "wishart-difference", PURE, again=again).to_json() == new.to_json()
    assert len(ledger.entries()) == 2


def test_of_several_stored_answers_a_good_one_is_given_though_a_marked_one_is_newer(ledger, monkeypatch):
    sampler(monkeypatch, NEW)
    good = ask(ledger, "wishart-difference", PURE)
    version(monkeypatch, "wishart-difference", 71)
    sampler(monkeypatch, FLOATING)
    _marked(ask(ledger, "wishart-difference", PURE, again="pay"))
    version(monkeypatch, "wishart-difference", 72)
    assert ask(ledger, "wishart-difference", PURE, again="stored").to_json() == good.to_json()


def _marked(old: Release) -> None:
    """It says so in every form in which it can be had."""
    for release in (old, Release.from_json(old.to_json())):
        assert release.exposed == WHY
        assert release.statement["Guarantee"] == f"not established: {PURE} was asked for, but {WHY}"
        assert release.claim_is_false
        assert release.attacker_success == 1.0
    assert ["Guarantee", old.statement["Guarantee"]] in json.loads(old.to_json())["statement"]


def test_other_methods_on_an_old_measurement_are_marked_and_no_bundle_is_made(ledger, monkeypatch):
    sampler(monkeypatch, FLOATING)
    ask(ledger, "wishart-difference", PURE)
    entry = ledger.entries()[0]
    answer = ledger.answer(entry.token)
    _marked(view("auto-cov", read_measurement(answer), PURE))
    opened = open_answer(answer)
    _marked(opened.release)
    with pytest.raises(ValueError, match="No bundle is made of this release") as refused:
        bundle_of(opened, entry.to_dict(), declared_facts(opened.total), {})
    assert REMEDY in str(refused.value)


def test_one_column_without_the_mean_is_marked_too(ledger, monkeypatch):
    """It is the sampler that counts, not the size."""
    sampler(monkeypatch, FLOATING)
    monkeypatch.setattr(exact_moment, "settle_shape", lambda facts, shape, *rest: shape)
    one = PrivateDataset.from_rows([[0.5]] * 30, bounds=[(-1, 1)], name="t")
    made = privcov.release_private("wishart-difference", one, PURE, ledger=ledger, centre="none")
    assert made.exposed == WHY


def test_no_other_noise_is_marked(ledger):
    for method, guarantee in (("gaussian-cov", RHO), ("laplace-cov", PURE), ("auto-cov", privcov.ApproxDP(0.5, 1e-6))):
        made = ask(ledger, method, guarantee)
        assert made.exposed == ""
        assert made.statement["Guarantee"].endswith(f"asked for {guarantee}")


# --- in a shell ---------------------------------------------------------------------------------------------


def test_the_shell_refuses_with_both_options(tmp_path, monkeypatch, capsys):
    columns = (Column("a", -1, 1), Column("b", -1, 1))
    declared = Declaration("my table", "one patient", columns, n_public=False)
    (tmp_path / "d.json").write_text(declared.to_json(), encoding="utf-8")
    cells = np.tanh(np.random.default_rng(7).normal(size=(400, 2)))
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in cells), encoding="utf-8")
    book = Ledger(tmp_path / "ledger.sqlite")
    book.limit("my table", privcov.PureDP(2.0))
    monkeypatch.setenv("PRIVCOV_LEDGER", str(book.path))

    def shell(*words) -> tuple[bool, str, str]:
        """(whether it succeeded, standard output, standard error)"""
        try:
            code = main(list(map(str, words)))
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code in (0, None), said.out, said.err

    words = ["release", tmp_path / "t.csv", "--declaration", tmp_path / "d.json", "--method", "wishart-difference"]
    words += ["--epsilon", 0.5]
    version(monkeypatch, "wishart-difference", 70)
    sampler(monkeypatch, FLOATING)
    good, first, _ = shell(*words)
    assert good
    version(monkeypatch, "wishart-difference", 71)
    sampler(monkeypatch, NEW)
    seen = "1 release has no established guarantee: see python -m privcov ledger show 'my table'"
    assert seen in shell("ledger", "list")[1]
    assert f"guarantee not established: {WHY}" in shell("ledger", "show", "my table")[1]

    good, said, told = shell(*words)
    assert (good, said) == (False, "")
    for part in (WHY, "--stored", "--pay-again", str(PURE)):
        assert part in told
    assert "again=" not in told

    good, said, told = shell(*words, "--stored")
    assert good
    assert f"Guarantee: not established: {PURE} was asked for" in told
    assert json.loads(said)["covariance"] == json.loads(first)["covariance"]
    assert len(book.entries()) == 1

    good, paid, told = shell(*words, "--pay-again")
    assert good
    assert "not established" not in told
    assert json.loads(paid)["covariance"] != json.loads(first)["covariance"]
    assert shell(*words)[:2] == (True, paid)
    assert len(book.entries()) == 2
    assert shell("ledger", "show", "my table")[1].count(WHY) == 1

    assert "not allowed with" in shell(*words, "--stored", "--pay-again")[2]
    assert "--public keeps no record" in shell(*words, "--public", "--stored")[2]
