"""Read a bundle: no ledger, no token and no row; every answer with its reason, and none where the check fails."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import privcov
from pages.common import hosted, owner_token
from pages.your_data import state
from pages.your_data.answers import entries
from privcov.bundle.derived import zipped
from privcov.core.guarantees import ZCDP
from privcov.core.words import percent
from privcov.ledger import Ledger
from tests import forging
from tests.pages.sent import plain
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
PAGE = "pages/5_Your_data.py"
NAMES = ["age", "height", "weight", "pulse", "glucose", "sleep"]


def rows(n: int = 3000) -> np.ndarray:
    """Six columns with one common factor, from 0 to 100."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=(n, 1))
    return np.clip(50 + 9 * common + 9 * rng.normal(size=(n, 6)), 0, 100)


def bundle(folder: Path, rho: float, names: list[str] = NAMES) -> bytes:
    private = privcov.PrivateDataset.from_rows(rows(), bounds=[(0, 100)] * 6, columns=names, name="ward")
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.set_limit("ward", ZCDP(rho))
    rel = privcov.release_private(private, ZCDP(rho), "auto-cov", ledger=ledger)
    rel.save_bundle(folder / "out.zip")
    return (folder / "out.zip").read_bytes()


@pytest.fixture(scope="module")
def clear(tmp_path_factory) -> bytes:
    """With hardly any noise: every regression is answered, whatever the noise drawn."""
    return bundle(tmp_path_factory.mktemp("clear"), 5.0)


@pytest.fixture(scope="module")
def noisy(tmp_path_factory) -> bytes:
    """With noise many times as large as the variances: no regression is answered."""
    return bundle(tmp_path_factory.mktemp("noisy"), 1e-7)


@pytest.fixture(autouse=True)
def no_ledger(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("PRIVCOV_LEDGER", str(path))
    return path


def door() -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.query_params["door"] = "bundle"
    at.switch_page(PAGE).run()
    return calm(at)


def calm(at: AppTest) -> AppTest:
    assert not at.exception, at.exception
    return at


def packed(files: dict[str, bytes]) -> bytes:
    return zipped(files, zipfile.ZIP_DEFLATED)


def dropped(raw: bytes, name: str = "out.zip") -> AppTest:
    at = door()
    at.file_uploader[0].set_value((name, raw, "application/zip")).run()
    return calm(at)


def widget(at: AppTest, kind: str, name: str):
    return getattr(at, kind)(key=f"{at.session_state['read-bundle'].key}-{name}")


def view(at: AppTest, name: str) -> AppTest:
    widget(at, "segmented_control", "answer").set_value(name).run()
    return calm(at)


def offers(at: AppTest, name: str) -> bool:
    return entries.VIEWS[name] in widget(at, "segmented_control", "answer").options


def csv_of(at: AppTest, name: str) -> pd.DataFrame:
    """The table of an answer, as it is shown."""
    return next(d.value for d in at.dataframe if name in d.value.columns)


# --- the door -----------------------------------------------------------------------------------------------


def test_it_stays_open_on_a_hosted_server_without_ledger_or_token(clear, no_ledger, monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, "1")
    monkeypatch.setenv(owner_token.SETTING, "a secret of its own, never entered")

    def shut(*_):
        raise AssertionError("the ledger was opened")

    monkeypatch.setattr(state, "Ledger", shut)
    at = dropped(clear)
    assert any("is consistent" in s.value for s in at.success)
    for name in (*(v for v in entries.VIEWS if v != "classes"), "checked"):
        view(at, name)
        assert not at.error, (name, [e.value for e in at.error])
    assert not no_ledger.exists()


def test_the_address_opens_the_door_and_holds_nothing_else(clear):
    at = dropped(clear)
    assert at.query_params["door"] in ("bundle", ["bundle"])
    assert set(at.query_params) == {"door"}


def test_exact_answers_go_when_the_door_is_opened(clear, monkeypatch):
    """The owner's view and the check hold exact numbers; what was typed stays."""
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page(PAGE).run()
    next(b for b in at.button if b.label == "Use the practice table").click().run()
    mine = at.session_state["own"]
    mine.owner_view = mine.checked = "exact"
    at.segmented_control(key="door").set_value("bundle").run()
    assert (calm(at).session_state["own"].owner_view, at.session_state["own"].checked) == (None, None)
    assert at.session_state["own"].raw
    monkeypatch.setenv(hosted.HOSTED, "1")
    calm(at.run())
    assert "own" not in at.session_state


def test_bytes_are_let_go_and_a_forgotten_bundle_leaves_nothing(clear):
    at = dropped(clear)
    assert at.file_uploader[0].value is None
    next(b for b in at.button if b.label == "Forget this bundle").click().run()
    calm(at)
    assert [k for k in at.session_state if k.startswith("read-") and k != "read-turn" and "file" not in k] == []
    assert not at.success


# --- what is shown ------------------------------------------------------------------------------------------


def test_the_page_has_the_numbers_of_python(clear):
    at, found = view(dropped(clear), "regression"), privcov.answers(privcov.open_bundle(clear))
    widget(at, "selectbox", "target").select_index(2).run()
    widget(at, "multiselect", "on-2").set_value(["age", "pulse", "glucose", "sleep"]).run()
    asked = found.regress("weight", ["age", "pulse", "glucose", "sleep"])
    shown = csv_of(calm(at), "estimate")
    for name in ("column", "estimate", "ci_low", "ci_high"):
        assert shown[name].tolist() == asked[name].tolist(), name
    r = asked.attrs["r_squared"]
    assert any(
        f"R squared **{r['estimate']:.2f}**, from {r['ci_low']:.2f} to {r['ci_high']:.2f}" in m.value
        for m in at.markdown
    )
    assert asked.attrs["coverage"] in " ".join(plain(c.value) for c in at.caption)
    assert "regress('weight', ['age', 'pulse', 'glucose', 'sleep'])" in at.code[0].value

    view(at, "pairs")
    for which in entries.PAIRS:
        widget(at, "segmented_control", "of-pairs").set_value(which).run()
        shown = csv_of(calm(at), "first").set_index(["first", "second"])
        asked = getattr(found, which)().set_index(["first", "second"]).loc[shown.index]
        assert shown["estimate"].tolist() == asked["estimate"].tolist()
    view(at, "columns")
    assert csv_of(at, "column")["ci_low"].tolist() == found.means()["ci_low"].tolist()


def test_pictures_of_several_columns_go_from_the_lowest_to_the_highest_value(tmp_path, pictures):
    """Every mark is the number of the table, moved and scaled by bounds that differ and are not about zero."""
    low, wide = np.array([-50.0, 10.0, 0.0]), np.array([200.0, 120.0, 400.0])
    bounds = list(zip(low, low + wide, strict=True))
    private = privcov.PrivateDataset.from_rows(rows()[:, :3], bounds=bounds, columns=list("abc"), name="ward")
    ledger = Ledger(tmp_path / "own.sqlite")
    ledger.set_limit("ward", ZCDP(1000.0))
    rel = privcov.release_private(private, ZCDP(1000.0), "auto-cov", ledger=ledger)
    rel.save_bundle(tmp_path / "out.zip")
    at, found = dropped((tmp_path / "out.zip").read_bytes()), privcov.answers(rel)

    def marks(picture: str, key: str = "", part: str = "") -> np.ndarray:
        if part:
            widget(at, "segmented_control", key).set_value(part).run()
        (trace,) = (t for t in pictures[picture].figure.data if t.name == "Released")
        return np.array(trace.x, dtype=np.float64)

    view(at, "columns")
    assert marks("own-columns") == pytest.approx((found.means()["estimate"].to_numpy() - low) / wide)
    variances = found.variances()["estimate"].to_numpy()
    assert marks("own-columns", "of-columns", "variances") == pytest.approx(variances / wide**2)
    view(at, "regression")
    slopes = found.regress("a", ["b", "c"])
    assert slopes["identified"].all()
    assert marks("own-regression") == pytest.approx(slopes["estimate"].to_numpy() * wide[1:] / wide[0])
    view(at, "pairs")
    covariances = found.covariances()["estimate"].to_numpy() / (wide[[0, 0, 1]] * wide[[1, 2, 2]])
    assert sorted(marks("own-pairs", "of-pairs", "covariances")) == pytest.approx(sorted(covariances))
    view(at, "matrices")
    widget(at, "segmented_control", "matrix").set_value("covariance").run()
    (cells,) = pictures["square-own-covariance"].figure.data
    shown = csv_of(at, "a").to_numpy() / np.outer(wide, wide)
    assert np.array(cells.z, dtype=np.float64) == pytest.approx(shown, rel=1e-5)


def test_another_level_and_rate_are_those_of_python(clear):
    at = view(dropped(clear), "pairs")
    widget(at, "select_slider", "level").set_value(0.8).run()
    widget(at, "select_slider", "rate").set_value(0.01).run()
    asked = privcov.answers(privcov.open_bundle(clear), level=0.8).correlations(0.01)
    assert sorted(csv_of(calm(at), "first")["ci_low"]) == sorted(asked["ci_low"])
    assert f"**{asked['reject'].sum()}** of 15 pairs are **real**" in " ".join(m.value for m in at.markdown)
    said = f"at most {percent(0.01)} of the pairs called real have no relation"
    assert said in " ".join(m.value for m in at.markdown)
    assert any("Another level than 95" in plain(c.value) for c in at.caption)


def test_groups_on_the_page_have_the_numbers_of_python(tmp_path, clear):
    assert "Groups" not in widget(dropped(clear), "segmented_control", "answer").options
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": np.clip(50 + 9 * rng.normal(size=3000), 0, 100), "ward": rng.choice(list("ABC"), 3000)})
    kinds = {"x": privcov.Kind("number", 0, 100), "ward": privcov.Kind("category", values=["A", "B", "C"])}
    private = privcov.PrivateDataset.from_rows(table, kinds=kinds, name="ward")
    ledger = Ledger(tmp_path / "groups.sqlite")
    ledger.set_limit("ward", ZCDP(1.0))
    privcov.release_private(private, ZCDP(1.0), "auto-cov", ledger=ledger).save_bundle(tmp_path / "out.zip")
    raw = (tmp_path / "out.zip").read_bytes()
    at, found = view(dropped(raw), "groups"), privcov.answers(privcov.open_bundle(raw))
    assert found.groupings == ("ward", "ward=A", "ward=B", "ward=C")
    assert csv_of(at, "group")["ci_low"].tolist() == found.group_means("ward")["ci_low"].tolist()
    widget(at, "selectbox", "grouped").select_index(2).run()
    assert csv_of(calm(at), "group")["ci_high"].tolist() == found.group_means("ward=B")["ci_high"].tolist()
    assert "group_means('ward=B')" in at.code[0].value


def test_pure_noise_is_an_empty_cell_in_every_matrix(noisy, clear, pictures):
    for raw, pale in ((noisy, True), (clear, False)):
        at = dropped(raw)
        (cells,) = pictures["square-own-correlation"].figure.data
        z = np.asarray(cells.z)
        assert np.isnan(z[~np.eye(6, dtype=bool)]).all() == pale
        assert ("hatched" in " ".join(m.value for m in at.markdown)) == pale
        view(at, "pairs")
        assert bool(at.get("plotly_chart")) != pale, "a value that may be any number is not drawn"


@pytest.mark.parametrize("kind", ["classes, hidden n", "missing cells", "typed columns", "laplace"])
def test_every_kind_of_bundle_opens_with_hostile_names_as_text(kind, tmp_path):
    at = dropped(packed(forging.bundled(tmp_path, kind)))
    for name in (*(v for v in entries.VIEWS if offers(at, v)), "checked"):
        view(at, name)
        for said in at.error:
            assert "This answer is not given: missing cells" in plain(said.value), (kind, name, said.value)
            assert kind in ("missing cells", "typed columns")
        for node in (*at.markdown, *at.caption, *at.error, *at.warning, *at.info, *at.success):
            assert not getattr(node.proto, "allow_html", False)
            assert "<script>" not in node.value
        for node in at.get("html"):
            assert "<script>alert" not in node.proto.body
        for chart in at.get("plotly_chart"):
            assert "<script>" not in chart.proto.spec


# --- what is refused ----------------------------------------------------------------------------------------


def test_a_bundle_that_fails_shows_no_answer_and_takes_the_old_one_away(clear):
    files = forging.files_of(clear)
    other = json.loads(files["ledger_entry.json"])
    other["request"]["guarantee"]["rho"] = 0.001
    forged = packed(forging.redone({**files, "ledger_entry.json": json.dumps(other).encode()}))
    at = dropped(clear)
    assert at.success
    at.file_uploader[0].set_value(("other.zip", forged, "application/zip")).run()
    (said,) = [plain(e.value) for e in calm(at).error]
    assert said.startswith("other.zip: No answer is given from this bundle")
    assert not at.success
    assert not at.dataframe
    assert not at.get("plotly_chart")


@pytest.mark.parametrize("raw", [b"", b"PK\x05\x06" + b"\0" * 18, b"no zip at all" * 100])
def test_what_is_no_bundle_is_one_sentence(raw):
    with pytest.raises(ValueError, match="No answer is given from this bundle") as caught:
        privcov.open_bundle(raw)
    assert str(caught.value).count("\n") == 0


def test_a_file_that_breaks_the_check_gives_no_answer(clear, monkeypatch):
    def broken(*_):
        raise RecursionError("deep")

    monkeypatch.setattr("privcov.bundle.read.check", broken)
    with pytest.raises(ValueError, match="the check failed with RecursionError"):
        privcov.open_bundle(clear)


def test_bytes_and_a_path_open_alike(clear, tmp_path):
    (tmp_path / "a.zip").write_bytes(clear)
    here, there = privcov.open_bundle(clear), privcov.open_bundle(tmp_path / "a.zip")
    assert here.measurement.to_dict() == there.measurement.to_dict()
    assert (here.checked, here.statement) == (there.checked, there.statement)
    stated = forging.files_of(clear)["statement.txt"].decode()
    assert [f"{title}: {text}" for title, text in here.statement] == stated.splitlines()


@pytest.mark.parametrize("kind", ["classes, hidden n", "missing cells", "typed columns", "laplace"])
def test_every_kind_of_measurement_has_an_estimate(kind, tmp_path):
    at = dropped(packed(forging.bundled(tmp_path, kind)))
    by = next(s for s in at.selectbox if s.label == "Estimated by")
    assert ("Wishart difference" in by.options) == (kind == "classes, hidden n"), "only for noise of that shape"
    assert by.value == ("laplace-cov" if kind == "laplace" else "auto-cov")
    for method in by.options:
        by.select(method).run()
        assert not at.exception, (method, at.exception)
        assert not at.error, (method, [e.value for e in at.error])
