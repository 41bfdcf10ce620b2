"""`release_private`: one measurement, on the record, the same bytes again; and what private rows refuse."""

import dataclasses
import inspect
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import privcov
from privcov.ledger import Ledger, LedgerError
from privcov.measurements.exact import noise as exact_noise
from privcov.measurements.exact import private_moment as exact_moment
from privcov.releases import private as _private
from privcov.releases import private_request as _request
from privcov.tables.declaration.declaration import Column, Declaration, PrivateFileError, read_private
from privcov.tables.private_dataset import PrivateDataset
from tests.patience import patient

ROOT = Path(__file__).parents[1]
GUARANTEES = {"pure": privcov.PureDP(0.5), "approx": privcov.ApproxDP(0.5, 1e-6), "zcdp": privcov.ZCDP(0.02)}
OFFERED = [card.key for card in _request.private_methods()]


def rows(n: int = 800, d: int = 3) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.tanh(rng.normal(size=(n, d)) @ rng.normal(size=(d, d)))


def private(**more) -> PrivateDataset:
    return PrivateDataset.from_rows(rows(), **{"bounds": [(-1, 1)] * 3, "name": "t", **more})


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    book = Ledger(tmp_path / "ledger.sqlite")
    book.set_limit("t", privcov.ZCDP(100.0))
    return book


def test_what_is_offered():
    assert {"auto-cov", "gaussian-cov", "laplace-cov", "wishart-difference", "projection", "dp-thresholding"} <= {
        *OFFERED
    }
    assert {"modified-dp-thresholding", "glasso-gaussian"} <= {*OFFERED}
    for key, word in [
        ("separate-cov", "other steps"),
        ("adaptive-cov", "other steps"),
        ("em-cov", "other steps"),
        ("coinpress", "other steps"),
        ("diagonal", "other steps"),
        ("zero", "reads no rows"),
        ("sulq", "no sound form"),
        ("wishart-pure", "no sound form"),
        ("ldp-thresholding", "add the noise themselves"),
    ]:
        assert word in _request.reason_against(key)
        assert _request.reason_against(key).endswith(".")


@pytest.mark.parametrize("key", OFFERED)
def test_every_offered_method_keeps_its_guarantee_and_can_be_worked_out_again(key, ledger):
    """End to end, for every kind of guarantee; the view of the stored measurement is the release, bit for bit."""
    for guarantee in next(c for c in privcov.methods() if c.key == key).guarantees:
        asked = GUARANTEES[guarantee.kind]
        made = privcov.release_private(private(), asked, key, ledger=ledger)
        assert privcov.core.accounting.covers(asked, made.actual_guarantee)
        answer = ledger.stored(ledger.entries()[-1].token)
        again = _request.release_from_measurement(key, _private.read_measurement(answer), asked)
        assert again.to_json() == made.to_json()
        assert _private.read_release(answer).to_json() == made.to_json()
        assert json.loads(answer).keys() == {"request", "measurement"}


def test_the_same_request_is_the_same_release_everywhere(ledger):
    made = [privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger) for _ in range(3)]
    made.append(privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=Ledger(ledger.path)))
    assert len({m.to_json() for m in made}) == 1
    assert len(ledger.entries()) == 1
    other = privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger, draw=2)
    assert (other.covariance != made[0].covariance).any()
    assert [e.state for e in ledger.entries()] == ["stored"] * 2


def test_a_release_is_near_the_truth(ledger):
    """n = 800, rho = 50: the noise is below 0.004 per entry, so 0.03 is missed about never."""
    made = privcov.release_private(private(), privcov.ZCDP(50.0), "gaussian-cov", ledger=ledger)
    x = rows()
    np.testing.assert_allclose(made.covariance, np.cov(x.T, bias=True), atol=0.03)
    np.testing.assert_allclose(made.mean, x.mean(axis=0), atol=0.03)


def test_an_undeclared_number_of_rows_is_nowhere(ledger):
    made = privcov.release_private(private(n_public=False), GUARANTEES["approx"], "auto-cov", ledger=ledger)
    assert made.n is None
    assert made.count == pytest.approx(800, abs=600)
    assert "not public" in repr(private(n_public=False))
    entry = ledger.entries()[0]
    for text in (made.to_json(), json.dumps(entry.to_dict()), repr(private(n_public=False)), str(made.statement)):
        assert not re.search(r"(?<![\w.+-])800(?![\w.])", text)  # not the digits of a noisy number or of an id
    assert made.neighbours.key == "add-remove"


def test_rows_of_a_person_are_in_the_statement(ledger):
    made = privcov.release_private(private(rows_per_person=4), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    other = privcov.Ledger(ledger.path.with_name("other.sqlite"))
    other.set_limit("t", privcov.ZCDP(100.0))
    one = privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=other)
    assert "up to 4 rows" in made.statement["Neighbours"]
    assert made.events[0].scale == pytest.approx(4 * one.events[0].scale)


def test_class_means_come_with_the_release(ledger):
    labels = np.where(rows()[:, 0] > 0, "high", "low")
    made = privcov.release_private(
        private(labels=labels, classes=["low", "high"]), privcov.ZCDP(20.0), "auto-cov", ledger=ledger
    )
    assert made.parameters["centre"] == "classes"
    for i, name in enumerate(["low", "high"]):
        np.testing.assert_allclose(made.class_means[i], rows()[labels == name].mean(axis=0), atol=0.1)
    assert made.class_counts.sum() == pytest.approx(made.count) == pytest.approx(800, abs=5)
    assert made.n == 800


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"seed": 1}, "no seed"),
        ({"rng": 1}, "no generator"),
        ({"neighbours": "add-remove"}, "declaration"),
        ({"calibration": "as-published-5"}, "sound"),
        ({"nonsense": 1}, "no parameter"),
        ({"centre": "zero"}, "centre must be"),
        ({"centre": "none"}, "centre must be"),
    ],
)
def test_options_that_private_rows_do_not_have(more, word, ledger):
    with pytest.raises((TypeError, ValueError), match=word):
        privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger, **more)
    assert ledger.entries() == ()


def test_no_seed_in_the_signature_the_record_or_the_file(ledger):
    assert not {"seed", "rng"} & set(inspect.signature(privcov.release_private).parameters)
    made = privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    assert "seed" not in made.to_json() + json.dumps(ledger.entries()[0].to_dict())


def test_private_rows_do_not_go_where_public_rows_go(ledger):
    made = privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    with pytest.raises(TypeError):
        privcov.release(private(), GUARANTEES["zcdp"], "auto-cov", random_state=0)
    with pytest.raises((TypeError, AttributeError)):
        privcov.error(made, private())
    public = privcov.Dataset.from_rows(rows())
    with pytest.raises(TypeError, match="PrivateDataset"):
        privcov.release_private(public, GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    with pytest.raises(TypeError, match="on the record"):
        privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=None)


def test_for_a_release_only_the_measurement_and_the_fingerprint_name_the_rows():
    named = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "privcov").rglob("*.py")
        if re.search(r"\._rows\b|\._class_of\b", path.read_text(encoding="utf-8"))
    }
    # The owner's own view shows raw answers on purpose, and nothing of it is released. Rows that stand in for the
    # owner's on Plan are public or simulated.
    owner = {"privcov/steward/owner_view.py", "privcov/steward/check.py", "privcov/steward/example_rows.py"}
    assert named - owner == {"privcov/measurements/exact/integer_gram.py", "privcov/ledger/fingerprint.py"}


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({}, "exactly one of row_bound and bounds, got neither"),
        ({"row_bound": 1.0, "bounds": [(0, 1)] * 3}, "got both"),
        ({"bounds": [(0, 1), None, (0, 1)]}, "'x2' has no bounds"),
        ({"bounds": [(0, 1), (1, 0), (0, 1)]}, "low < high"),
        ({"bounds": [(0, 1)]}, "one entry per column, 3 in all, got 1"),
        ({"row_bound": 0.0}, "row_bound"),
        ({"row_bound": 1.0, "labels": ["a"] * 800}, "public list"),
        ({"row_bound": 1.0, "classes": ["a", "b"]}, "without labels"),
        ({"row_bound": 1.0, "missing": "drop-row"}, "declared public"),
        ({"row_bound": 1.0, "typical": [0, 0, 0]}, "needs bounds"),
        ({"row_bound": 1.0, "rows_per_person": 0}, "rows_per_person"),
        ({"row_bound": 1.0, "columns": ["a", "a", "b"]}, "different names"),
    ],
)
def test_a_missing_declaration_is_a_sentence(how, word):
    with pytest.raises(ValueError, match=word):
        PrivateDataset.from_rows(rows(), **how)


def test_nothing_of_the_rows_is_shown():
    x = rows()
    x[0, 0] = 0.123456789
    made = PrivateDataset.from_rows(x, bounds=[(-1, 1)] * 3, labels=["a"] * 800, classes=["a", "b"], n_public=False)
    assert "0.12345" not in repr(made) + str(made) + str(vars(made.facts))
    import pickle

    with pytest.raises(TypeError, match="never written out"):
        pickle.dumps(made)


def test_a_failing_measurement_tells_nothing_and_is_spent(ledger, monkeypatch):
    def broken(gram, *rest):
        raise ValueError(f"secret {gram[0, 0]}")

    monkeypatch.setattr(exact_moment, "_noisy", broken)
    with pytest.raises(_private.MeasurementError, match=r"\(id [0-9a-f]{8}\)") as caught:
        privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None, "a reporter of crashes follows it to the rows"
    assert ledger.entries()[0].state == "failed"


def test_a_failing_fingerprint_tells_nothing_and_spends_nothing(ledger, monkeypatch):
    def broken(private, *rest):
        raise ValueError(f"secret {private._rows[0, 0]}")

    monkeypatch.setattr(_private, "fingerprint", broken)
    with pytest.raises(_private.MeasurementError, match=r"nothing more spent") as caught:
        privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None, "a reporter of crashes follows it to the rows"
    assert ledger.entries() == ()


def test_what_was_drawn_must_be_within_what_was_asked_for(tmp_path, monkeypatch):
    """A measurement that says of itself that it spent more is never published; its cost counts."""
    real = _private.measure_exactly

    def louder(*table, **asked):
        noisy = real(*table, **asked)
        return dataclasses.replace(noisy, event=dataclasses.replace(noisy.event, scale=noisy.event.scale / 2))

    monkeypatch.setattr(_private, "measure_exactly", louder)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(1.0))
    table = PrivateDataset.from_rows(np.zeros((500, 2)), bounds=[(-1, 1)] * 2, name="t")
    with pytest.raises(_private.MeasurementError, match="The private measurement failed"):
        privcov.release_private(table, privcov.ZCDP(0.5), "gaussian-cov", ledger=ledger)
    (entry,) = ledger.entries()
    assert ledger.stored(entry.token) is None
    assert ledger.account("t").spent_rho == 0.5


@pytest.mark.parametrize("cell", [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e308, -1e308])
def test_no_cell_makes_the_way_to_a_release_fail(cell, ledger):
    """Warnings are errors here, so none of these takes another branch that could be seen."""
    x = rows(60)
    x[3, :2] = cell
    for k, more in enumerate(({"bounds": [(-1, 1)] * 3}, {"row_bound": 1.0}, {"row_bound": 1.0, "n_public": False})):
        own = privcov.Ledger(ledger.path.with_name(f"{k}.sqlite"))
        own.set_limit("u", privcov.ZCDP(1.0))
        made = PrivateDataset.from_rows(x, name="u", **more)
        assert np.isfinite(privcov.release_private(made, privcov.ZCDP(1.0), "auto-cov", ledger=own).covariance).all()


@pytest.mark.parametrize("failure", [ValueError("Nothing is left."), RuntimeError("a defect"), MemoryError()])
def test_a_method_that_cannot_use_the_measurement_does_not_waste_it(ledger, monkeypatch, failure):
    from privcov.estimators import projection

    def hopeless(*args):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(projection, "project_trace", hopeless)
        for _ in range(2):
            with pytest.raises(ValueError, match="measurement is stored"):
                privcov.release_private(private(), GUARANTEES["zcdp"], "projection", ledger=ledger)
    (entry,) = ledger.entries()
    noisy = _private.read_measurement(ledger.stored(entry.token))
    assert _request.release_from_measurement("auto-cov", noisy, GUARANTEES["zcdp"]).covariance.size
    assert privcov.release_private(private(), GUARANTEES["zcdp"], "projection", ledger=ledger).covariance.size
    assert len(ledger.entries()) == 1
    other = {**json.loads(ledger.stored(entry.token))}
    other["request"]["version"] += 1
    with pytest.raises(ValueError, match="whose numbers may be others"):
        _private.read_release(json.dumps(other))


def test_an_interrupt_after_the_measurement_loses_nothing(ledger, monkeypatch):
    def interrupted(self, noisy):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_request.PrivateRequest, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    (entry,) = ledger.entries()
    assert entry.state == "stored"
    made = privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    assert made.measurement.to_dict() == _private.read_measurement(ledger.stored(entry.token)).to_dict()
    assert len(ledger.entries()) == 1


def test_an_entry_that_cannot_be_read_says_that_the_release_is_stored(ledger, monkeypatch):
    def locked(self, name=None, **which):
        raise LedgerError("The ledger is busy.")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "entries", locked)
        with pytest.raises(LedgerError, match="is paid and stored"):
            privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger)
    assert privcov.release_private(private(), GUARANTEES["zcdp"], "auto-cov", ledger=ledger).entry["state"] == "stored"
    assert len(ledger.entries()) == 1


BOTH_ANCHORS = (("gaussian-cov", "slow"), ("auto-cov", "other"))


def frames_of(error: BaseException):
    """Every frame that an error leads to, also by what it came from."""
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            yield trace.tb_frame
            trace = trace.tb_next
        error = error.__cause__ or error.__context__


def test_an_error_in_a_later_file_leads_to_no_sums(tmp_path, ledger):
    """Those of the files before it are exact; a reporter of crashes sends the variables of every frame."""
    (tmp_path / "t").mkdir()
    for name, end in (("0.csv", b""), ("1.csv", b"0.25,0.5,\xe9\n")):
        (tmp_path / "t" / name).write_bytes(b"a,b,who\n" + b"0.25,0.5,x\n" * 3000 + end)
    table = PrivateDataset.from_files(
        tmp_path / "t", columns=["a", "b"], bounds=[(0, 1)] * 2, name="t", label="who", classes=["x", "y"]
    )
    with pytest.raises(privcov.tables.readers.TableFileError, match="not UTF-8") as caught:
        privcov.release_private(table, GUARANTEES["zcdp"], "gaussian-cov", ledger=ledger)
    held = [type(value).__name__ for frame in frames_of(caught.value) for value in frame.f_locals.values()]
    assert "PrivateDataset" in held
    assert not {"Sums", "ndarray", "Block"} & set(held)


def test_an_interrupted_draw_leads_to_no_sum_without_noise(ledger, monkeypatch):
    def interrupted(values, scale):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        privcov.release_private(private(), GUARANTEES["zcdp"], "gaussian-cov", ledger=ledger)
    files = {"/".join(Path(frame.f_code.co_filename).parts[-2:]) for frame in frames_of(caught.value)}
    assert "exact/noise.py" in files or "releases/private.py" in files
    assert "exact/private_moment.py" not in files
    assert ledger.entries()[0].state == "failed"


def test_two_releases_at_once_measure_the_sums_that_they_are_entered_with(tmp_path, ledger, monkeypatch):
    """Their anchors differ, so each needs a pass of its own; neither reads the files again after it has paid."""
    from privcov.measurements.exact.file_pass import table_pass

    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f"p{k // 2},{k % 7 / 7},{k % 5 / 5}\n" for k in range(4000)))
    table = PrivateDataset.from_files(path, bounds=[(0, 1)] * 2, columns=["a", "b"], person="id", name="t")
    states, real, paid = [], table_pass.add_up, threading.Event()

    def counted(files, spec):
        states.append([entry.state for entry in ledger.entries()])
        return real(files, spec)

    def slow(self, *args, **asked):
        payment = reserve(self, *args, **asked)
        if threading.current_thread().name == "slow":
            paid.set()
            time.sleep(1.0)
        return payment

    reserve = Ledger.reserve
    monkeypatch.setattr(table_pass, "add_up", counted)
    monkeypatch.setattr(Ledger, "reserve", slow)

    def ask(method: str) -> None:
        privcov.release_private(table, privcov.ZCDP(1.0), method, ledger=ledger)

    threads = [threading.Thread(target=ask, args=(key,), name=name) for key, name in BOTH_ANCHORS]
    threads[0].start()
    assert paid.wait(30)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert [entry.state for entry in ledger.entries()] == ["stored"] * 2
    assert len(states) == 2
    assert all("committed" not in at for at in states)


# --- declaration and shell ----------------------------------------------------------------------------------

DECLARED = Declaration(
    name="clinic",
    row_stands_for="one patient",
    columns=(Column("age", 18, 90, 50, "adults only"), Column("bmi", 10, 60, None, "clinical range")),
    label="ill",
    classes=("yes", "no"),
)


def csv(lines: int = 300) -> bytes:
    rng = np.random.default_rng(4)
    body = [
        f"{a:.1f},{i},{b:.2f},{'yes' if a > 50 else 'no'}"
        for i, (a, b) in enumerate(rng.normal((50, 25), (9, 4), (lines, 2)))
    ]
    return "\n".join(["age,id,bmi,ill", *body]).encode()


def test_a_declaration_is_saved_without_data():
    assert Declaration.from_json(DECLARED.to_json()) == DECLARED
    for text, word in [
        ("{", "must be JSON"),
        ("{}", "format"),
        (DECLARED.to_json().replace('"bmi"', '"ill"'), "label"),
        (DECLARED.to_json().replace('"low": 10', '"low": null'), "has no bounds"),
        (DECLARED.to_json().replace('"row_stands_for": "one patient",', ""), "lacks row_stands_for"),
        (DECLARED.to_json().replace('"reason"', '"raisin"'), "raisin"),
    ]:
        with pytest.raises(ValueError, match=word):
            Declaration.from_json(text)


def test_cells_that_are_no_numbers_are_missing_and_nothing_is_told():
    table = read_private(csv() + b"\nforty,x,25,maybe\n,y,,yes", DECLARED)
    assert (table.facts.columns, table.facts.n, table.name) == (("age", "bmi"), 302, "clinic")
    for broken in (
        csv() + b"\nsecret",
        csv() + b'\n"secret,1,2,yes',
        csv() + b"\nsecret,1,2,yes,3",
        csv() + b"\n\xff,1,2,3",
    ):
        with pytest.raises(PrivateFileError, match=r"\(id [0-9a-f]{8}\)") as caught:
            read_private(broken, DECLARED)
        said = re.sub(r"\(id [0-9a-f]{8}\)", "", str(caught.value))  # drawn, and may hold any digits
        assert "secret" not in said
        assert "30" not in said.replace("4,000,000", "")
    with pytest.raises(ValueError, match="no column 'bmi'"):
        read_private(csv().replace(b"bmi", b"BMI"), DECLARED)


def shell(*words, where) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "privcov", *map(str, words), "--ledger", str(where / "ledger.sqlite")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(60),
    )


def test_the_shell_releases_once_and_shares_the_ledger(tmp_path):
    (tmp_path / "data.csv").write_bytes(csv())
    (tmp_path / "d.json").write_text(DECLARED.to_json(), encoding="utf-8")
    asked = ("release", tmp_path / "data.csv", "--declaration", tmp_path / "d.json", "--rho", 0.3)
    refused = shell(*asked, where=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("privcov: The ledger has no limit for 'clinic'")
    assert "0.5-zCDP there remains rho 0.5" in shell("ledger", "limit", "clinic", "--rho", 0.5, where=tmp_path).stdout
    first = shell(*asked, where=tmp_path)
    assert first.returncode == 0, first.stderr
    table = read_private(csv(), DECLARED)
    book = Ledger(tmp_path / "ledger.sqlite")
    same = privcov.release_private(table, privcov.ZCDP(0.3), "auto-cov", ledger=book)
    assert first.stdout == same.to_json() + "\n"
    with pytest.raises(LedgerError, match="more than is left"):
        privcov.release_private(table, privcov.ZCDP(0.3), "auto-cov", ledger=book, draw=2)
    shown = shell("ledger", "show", "clinic", where=tmp_path).stdout
    assert "stored auto-cov rho 0.3" in shown
    assert "remains rho 0.2 in zCDP" in shown


# --- what says nothing is refused before it costs anything ----------------------------------------------------


def many(k: int, *, n_public: bool = True, **more) -> PrivateDataset:
    return PrivateDataset.from_rows(rows(), row_bound=1.0, rows_per_person=k, n_public=n_public, name="t", **more)


@pytest.mark.parametrize(
    ("method", "guarantee", "k", "kwargs"),
    [
        ("wishart-difference", privcov.PureDP(0.5), 500, {}),
        ("laplace-cov", privcov.PureDP(0.5), 500, {}),
        ("auto-cov", privcov.ZCDP(1e-3), 50, {}),
        ("auto-cov", privcov.PureDP(0.5), 500, {"labels": ["a", "b"] * 400, "classes": ["a", "b"]}),
    ],
)
def test_noise_beyond_all_that_the_rows_add_up_to_is_refused_from_public_facts(method, guarantee, k, kwargs, ledger):
    """800 rows. The same request with one row per person goes through, so nothing else is refused."""
    ledger.set_limit("t", privcov.ApproxDP(100.0, 1e-6), "for this test")
    told = r"would say nothing: .* 800 rows \(public\) .*weaker guarantee, or"
    with pytest.raises(ValueError, match=told) as refused:
        privcov.release_private(many(k, **kwargs), guarantee, method, ledger=ledger)
    assert "Nothing was spent." in str(refused.value)
    assert not ledger.entries("t")
    assert privcov.release_private(many(1, **kwargs), guarantee, method, ledger=ledger).n == 800


def test_fewer_rows_per_person_are_no_advice_where_everybody_has_one(ledger):
    ledger.set_limit("t", privcov.ApproxDP(100.0, 1e-6), "for this test")
    with pytest.raises(ValueError, match=r"Nothing was spent. Ask for a weaker guarantee\.$"):
        privcov.release_private(many(1), privcov.ZCDP(1e-7), "auto-cov", ledger=ledger)
    assert not ledger.entries("t")


def test_a_scale_that_cannot_be_drawn_exactly_is_refused_before_it_is_paid(ledger):
    """The largest tables would let it pass as useful; OpenDP's 64 bits would not hold it."""
    with pytest.raises(ValueError, match=r"at most 2\^54 steps"):
        privcov.release_private(
            many(10**6, n_public=False), privcov.ZCDP(1e-6), "gaussian-cov", ledger=ledger, expected_rows=10**10
        )
    assert not ledger.entries("t")


def test_with_a_hidden_number_of_rows_the_noise_is_judged_by_public_counts_only(ledger):
    """The most a table may have; the owner's guess; or the noisy count of the last release, and it says which."""
    asked = ("auto-cov", privcov.ZCDP(1e-4))
    twin = many(20, n_public=False)
    with pytest.raises(ValueError, match=r"900 rows \(as expected\)"):
        privcov.release_private(twin, asked[1], asked[0], ledger=ledger, expected_rows=900)
    with pytest.raises(ValueError, match="expected_rows must be"):
        privcov.release_private(twin, asked[1], asked[0], ledger=ledger, expected_rows=0)
    with pytest.raises(ValueError, match="here it is public: leave it out"):
        privcov.release_private(many(20), asked[1], asked[0], ledger=ledger, expected_rows=900)
    assert not ledger.entries("t")
    first = privcov.release_private(twin, privcov.ZCDP(50.0), "auto-cov", ledger=ledger)
    with pytest.raises(ValueError, match=rf"{first.count:,.0f} rows \(the noisy count of release 1\)"):
        privcov.release_private(twin, asked[1], asked[0], ledger=ledger)
    with pytest.raises(ValueError, match=r"4,000,000 rows \(the most a table may have\)"):
        privcov.release_private(
            other := dataclasses.replace(many(10**6, n_public=False), name="u"),
            privcov.PureDP(0.1),
            "wishart-difference",
            ledger=ledger,
        )
    assert not ledger.entries(other.name)
    assert len(ledger.entries("t")) == 1


def test_a_noisy_count_that_may_be_noise_alone_refuses_nothing(ledger, monkeypatch):
    """800 rows, and a count that noise lowers by a quarter of its deviation: read as one row, it blocked the table."""
    hidden = many(1, n_public=False)
    with monkeypatch.context() as patch:
        patch.setattr(exact_noise, "add_discrete_gaussian", lambda values, scale: values - int(scale / 4))
        first = privcov.release_private(hidden, privcov.ZCDP(1e-7), "auto-cov", ledger=ledger)
    assert first.count == 1.0
    assert privcov.release_private(hidden, privcov.ZCDP(0.5), "auto-cov", ledger=ledger).count > 700


def test_an_answer_that_was_paid_for_is_returned_even_if_it_would_be_refused_today(ledger, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_private, "_reason_useless", lambda *a: "")
        made = privcov.release_private(many(200), privcov.ZCDP(0.01), "auto-cov", ledger=ledger)
    again = privcov.release_private(many(200), privcov.ZCDP(0.01), "auto-cov", ledger=ledger)
    assert again.to_json() == made.to_json()
    assert len(ledger.entries("t")) == 1


@pytest.mark.parametrize("text", ["{}", "[]", "3", '{"release": null}'])
def test_a_text_without_a_measurement_is_a_sentence(text):
    with pytest.raises(ValueError, match="The stored text holds no measurement; give the answer of an entry"):
        _private.read_measurement(text)
