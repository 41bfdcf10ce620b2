"""What people have stored with an earlier commit opens, with the same numbers and statements; see stored/make.py.

The ledger and the cells are copied first: whoever opens a file may bring it into a newer form.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov.bundle.opened import open_answer
from privcov.data_sources.private_file import Declaration
from privcov.ledger import Ledger, LedgerError, VersionChanged
from privcov.measurements.exposed import WHY, exposed_answer
from privcov.private_dataset import PrivateDataset
from privcov.releasing.private import MeasurementError, read_measurement, read_release
from privcov.releasing.release import Release
from privcov.sweeps import studies
from privcov.sweeps.store import Store
from tests.pages import test_own_data, test_upload
from tests.pages.test_pages import open_page
from tests.pages.test_sharing import values

HERE = Path(__file__).parent / "stored"
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
ANSWERS: dict[str, dict] = EXPECTED["answers"]
RELEASES: dict[str, dict] = json.loads((HERE / "releases.json").read_text(encoding="utf-8"))
ADDRESSES: list[dict] = json.loads((HERE / "addresses.json").read_text(encoding="utf-8"))
GUARANTEES = {"rho": privcov.ZCDP(0.05), "pure": privcov.PureDP(0.5), "approx": privcov.ApproxDP(0.5, 1e-6)}
OLD_SAMPLER = [what for what in ANSWERS if what.startswith("wishart")]


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    """A copy of the ledger, for the owner alone."""
    for name in ("ledger.sqlite", "ledger.sqlite.key"):
        shutil.copyfile(HERE / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    return Ledger(tmp_path / "ledger.sqlite")


def table(what: str) -> PrivateDataset:
    """The rows that an answer was made from."""
    declared = Declaration.from_json(json.dumps(ANSWERS[what]["said"]))
    with np.load(HERE / "rows.npz") as kept:
        rows = kept[ANSWERS[what]["name"]]
    labels = np.where(rows[:, 0] > 50, "old", "young") if declared.label else None
    return declared.on_rows(rows[:, 2:] if len(declared.columns) == 1 else rows, labels)


def ask(ledger: Ledger, what: str, **more) -> Release:
    name = ANSWERS[what]["name"]
    others = tuple(n for n in GUARANTEES if n != name)
    asked = ANSWERS[what]["more"] | more
    return privcov.release_private(
        private=table(what), guarantee=GUARANTEES[name], ledger=ledger, different_from=others, **asked
    )


def same(found, kept) -> bool:
    """Equal as JSON, but that the newer may say more; whole numbers and text exactly, floats to the last digit."""
    if isinstance(kept, dict):
        return all(name in found and same(found[name], value) for name, value in kept.items())
    if isinstance(kept, list):
        return len(found) == len(kept) and all(map(same, found, kept))
    return found == kept


# --- the ledger ---------------------------------------------------------------------------------------------


def test_the_record_of_what_was_spent_is_the_same(ledger):
    assert [e.state for e in ledger.entries()] == EXPECTED["states"]
    assert {n: [ledger.account(n).sentence, ledger.account(n).left] for n in ledger.names()} == EXPECTED["accounts"]
    known = {e.token: e for e in ledger.entries()}
    for kept in ANSWERS.values():
        assert same(known[kept["token"]].to_dict(), kept["entry"])
    for state in ("failed", "reserved", "committed"):
        assert known[EXPECTED["tokens"][state]].state == state


@pytest.mark.parametrize("what", ANSWERS)
def test_a_stored_answer_opens_with_its_numbers_and_its_statement(what, ledger):
    kept, answer = ANSWERS[what], ledger.answer(ANSWERS[what]["token"])
    release, noisy = read_release(answer), read_measurement(answer)
    for name in ("covariance", "precision"):
        matrix = getattr(release, name)
        assert (None if matrix is None else matrix.tolist()) == kept[name]
    assert same(json.loads(json.dumps(noisy.to_dict())), kept["measurement"])
    stored = dict(kept["statement"])
    if what in OLD_SAMPLER:
        assert stored["Guarantee"] == "0.5-DP; asked for 0.5-DP"
        stored["Guarantee"] = f"not established: 0.5-DP was asked for, but {WHY}"
    assert dict(release.statement.lines) == stored
    opened = open_answer(answer)
    assert np.isfinite(opened.answers.correlation).all()
    if noisy.n_anchors > 1 and noisy.facts.n is not None:
        return  # its columns are divided by the noisy number of listed rows since; what was released stays as it was
    np.testing.assert_allclose(opened.measured.matrix, kept["moment"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(opened.answers.correlation, kept["correlation"], rtol=1e-9, atol=1e-12)


def test_the_answers_are_of_every_noise_that_there_was(ledger):
    assert {kept["shape"] for kept in ANSWERS.values()} == {"isotropic", "free-trace", "laplace", "wishart-difference"}
    assert {w for w, kept in ANSWERS.items() if exposed_answer(ledger.answer(kept["token"]))} == {*OLD_SAMPLER}
    assert len(OLD_SAMPLER) == 6


@pytest.mark.parametrize("what", ANSWERS)
def test_the_same_request_is_free_or_asks(what, ledger):
    """Nothing is paid for twice: the stored numbers, or one sentence that offers them."""
    before = ledger.entries()
    try:
        made, asked = ask(ledger, what), None
    except VersionChanged as question:
        made, asked = ask(ledger, what, again="stored"), question
    assert (asked is not None) or what not in OLD_SAMPLER
    if asked is not None:
        assert asked.entry.token == ANSWERS[what]["token"]
        assert str(asked).count("again=") == 2
    assert made.to_json() == read_release(ledger.answer(ANSWERS[what]["token"])).to_json()
    assert (made.exposed == WHY) == (what in OLD_SAMPLER)
    assert [(e.token, e.state) for e in ledger.entries()] == [(e.token, e.state) for e in before]


def test_paying_again_is_another_row_and_another_answer(ledger):
    before = ledger.account("pure").costs
    made = ask(ledger, "wishart, hidden n", again="pay")
    assert len(ledger.account("pure").costs) == len(before) + 1
    assert made.covariance.tolist() != ANSWERS["wishart, hidden n"]["covariance"]


def test_a_release_that_was_lost_stays_lost(ledger):
    for draw in (9, 12):
        with pytest.raises(ValueError, match=r"did not finish|could not use it|version"):
            ask(ledger, "free-trace", draw=draw)
    with pytest.raises(ValueError, match="could not use it"):
        read_release(ledger.answer(EXPECTED["tokens"]["unused"]))
    assert [e.state for e in ledger.entries()] == EXPECTED["states"]


def test_a_release_that_was_only_reserved_is_taken_up_without_paying_again(ledger):
    paid, asked = ledger.account("rho").costs, ""
    try:
        ask(ledger, "free-trace", draw=10)
    except VersionChanged as question:
        asked = question.entry.state
    assert asked in ("", "reserved")
    assert ledger.account("rho").costs == paid


def test_other_rows_under_an_old_request_are_refused(ledger):
    with np.load(HERE / "rows.npz") as kept:
        other = Declaration.from_json(json.dumps(ANSWERS["laplace"]["said"])).on_rows(kept["approx"], None)
    with pytest.raises((LedgerError, MeasurementError), match=r"made from other rows|looks like|version"):
        privcov.release_private("laplace-cov", other, GUARANTEES["pure"], ledger=ledger)


# --- files that were taken home -----------------------------------------------------------------------------


@pytest.mark.parametrize("what", RELEASES)
def test_a_release_as_json_opens_with_its_numbers_and_its_statement(what):
    kept = RELEASES[what]
    release = Release.from_json(json.dumps(kept))
    assert [list(line) for line in release.statement.lines] == kept["statement"]
    assert same(json.loads(release.to_json()), kept)


def test_a_declaration_opens_and_fills_the_page_s_form(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    text = (HERE / "declaration.json").read_text(encoding="utf-8")
    declared = Declaration.from_json(text)
    assert same(json.loads(declared.to_json()), json.loads(text))
    at = test_own_data.given(b"age,weight,dose,group\n1,60,2,old\n")
    test_own_data.press(test_own_data.fill(at, declared), "Declare")
    assert at.session_state["own"].declared == declared, [e.value for e in at.error]


def test_a_public_file_opens_in_a_session():
    raw = (HERE / "session.csv").read_bytes()
    at = test_upload.declared(raw, {0: {"low": 0, "high": 120}, 1: {"low": 30, "high": 200}, 2: {"low": 0, "high": 10}})
    lines = [line.split(",")[1:] for line in raw.decode().splitlines()]
    data = at.session_state["csv"]
    assert list(data.columns) == lines[0]
    assert data.rows.tolist() == [list(map(float, line)) for line in lines[1:]]
    assert data.bounds.tolist() == [[0, 120], [30, 200], [0, 10]]


@pytest.mark.parametrize("file", ["study", "studies"])
def test_a_saved_study_opens_and_runs(file):
    text, kept = (HERE / f"{file}.json").read_text(encoding="utf-8"), EXPECTED[file]
    plans = studies.read(text)
    assert same(json.loads(studies.write(plans)), json.loads(text))
    assert studies.expand(kept["address"]) == plans
    assert list(map(repr, plans)) == EXPECTED["studies"]["plans"][: len(plans)]
    found = studies.run(plans)["value"].to_numpy()
    assert len(found) == len(kept["values"])
    assert np.isfinite(found).all()
    if file == "study":  # Gaussian noise, whose scale is as small as can be
        np.testing.assert_allclose(found, kept["values"], rtol=1e-9)


def test_finished_cells_are_kept_and_never_taken_for_others(tmp_path):
    shutil.copyfile(HERE / "cells.sqlite", tmp_path / "cells.sqlite")
    store = Store(tmp_path / "cells.sqlite")
    for key, kept in EXPECTED["cells"]:
        assert list(map(list, store.get([bytes.fromhex(key)]))) == [kept]
    assert (len(store), store.problem) == (len(EXPECTED["cells"]), "")
    (plan,) = studies.read((HERE / "study.json").read_text(encoding="utf-8"))
    assert privcov.run(plan, store=store).equals(privcov.run(plan))


# --- scripts and addresses ----------------------------------------------------------------------------------

SCRIPTS = sorted(path.stem for path in (HERE / "scripts").glob("*.txt"))
QUICK = ("1_Estimate-01", "2_Trade_offs-03", "2_Trade_offs-07", "3_Graph_recovery-11", "3_Graph_recovery-12",
         "4_Spectra-15", "6_Lessons-17", "9_Privacy_audit-19")  # fmt: skip
DRAWN = (1, 3, 10, 17, 18, 20, 22, 25, 29)  # of every page but the slowest, Published results


def sampled(every, quick) -> list:
    """The quick ones in every run, the rest in the exhaustive one."""
    return [one if one in quick else pytest.param(one, marks=pytest.mark.deep) for one in every]


@pytest.mark.parametrize("name", sampled(SCRIPTS, QUICK))
def test_an_exported_script_runs(name, capsys):
    scope: dict = {}
    exec((HERE / "scripts" / f"{name}.txt").read_text(encoding="utf-8"), scope)
    assert {"rel", "summary", "answer", "found", "curves", "counts", "spectra"} & set(scope)
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("at", sampled(range(len(ADDRESSES)), DRAWN))
def test_an_address_draws_its_page_with_its_settings(at, tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    kept = ADDRESSES[at]
    page = open_page(kept["page"], **kept["query"])
    assert not page.exception
    assert not page.error
    assert not [w.value for w in page.warning if "left out" in w.value]
    # An address that left out the whole study, as it was the default, names its kind now.
    assert dict(page.query_params) in (kept["settled"], {"kind": "zcdp"} | kept["settled"])
    shown = {name: list(value) if isinstance(value, tuple) else value for name, value in values(page).items()}
    assert same(shown, kept["values"])


def test_the_addresses_are_of_every_page():
    pages = {kept["page"] for kept in ADDRESSES}
    assert len(ADDRESSES) >= 30
    assert len(pages) == 10
    assert pages - {ADDRESSES[at]["page"] for at in DRAWN} == {"pages/8_Published_results.py"}
