"""The papers' own sets on a page: absent, downloaded, or brought by a visitor, whose copy no other visitor sees."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from streamlit.testing.v1 import AppTest

from pages.shell import cached
from tests.pages.test_pages import answer, draw_curves, settle
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
ABSENT = "The Ionosphere set (351 rows, 34 columns and a label) is not on this machine"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty data folder, and no network."""
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))

    def nothing(*_, **__):
        raise OSError("no network in tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", nothing)
    return tmp_path


def rows(seed: int = 0) -> list[list]:
    values = np.random.default_rng(seed).uniform(-1, 1, (351, 34)).round(4)
    values[:, 1] = 0
    return [[*row, label] for row, label in zip(values.tolist(), "g" * 225 + "b" * 126, strict=True)]


def text(table: list[list]) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in table).encode()


def open_page(file: str = "pages/1_Estimate.py", **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page(file)
    for name, value in {"source": "ionosphere", "method": "gaussian-cov", **query}.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def give(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    at.file_uploader[0].set_value([(name, raw, "text/plain") for name, raw in files]).run()
    assert not at.exception
    return at


def errors(at: AppTest) -> str:
    return "\n".join(e.value for e in at.error).replace("\\", "")


@pytest.mark.parametrize("file", ["1_Estimate.py", "2_Trade_offs.py", "3_Graph_recovery.py", "4_Spectra.py"])
def test_every_page_says_what_to_do_and_offers_it(file, folder):
    at = open_page(f"pages/{file}")
    assert ABSENT in errors(at)
    assert str(folder) in errors(at)
    assert any(b.label.startswith("Download") for b in at.button)
    assert "Bring the file" in [u.label for u in at.file_uploader]


def test_the_select_box_names_their_paper():
    at = open_page()
    options = at.selectbox(key="w.source").options
    listed = [o for o in options if re.search(r"\((Wang|Su|Dong|Math\.) 20\d\d\)$", o)]
    assert len(listed) == 7
    assert max(map(len, listed)) <= 28  # a longer label is cut on a phone
    assert options.index(listed[0]) > options.index("Breast cancer (Wisconsin)")


def test_no_download_where_there_is_none():
    at = open_page(source="sachs")
    assert not any(b.label.startswith("Download (") for b in at.button)
    assert "Bring the file" in [u.label for u in at.file_uploader]


def test_a_server_that_others_reach_takes_no_file_of_a_set(monkeypatch):
    """29 KB of gzip ended it."""
    monkeypatch.setenv("PRIVCOV_HOSTED", "1")
    at = open_page()
    assert ABSENT in errors(at)
    assert not at.file_uploader
    assert not any(b.label.startswith("Download (") for b in at.button)


def test_a_brought_file_is_used_stays_in_its_session_and_can_be_forgotten():
    at = give(open_page(), ("mine.data", text(rows())))
    assert not at.error
    assert any("mine.data, in this session only" in c.value.replace("\\", "") for c in at.caption)
    assert any("351 rows, 34 columns" in h.proto.body for h in at.get("html"))
    assert not at.file_uploader
    drawn = at.session_state["brought"]["ionosphere"].rows[()]
    np.testing.assert_array_equal(drawn.rows, [row[:-1] for row in rows()])

    assert ABSENT in errors(open_page())  # another visitor
    at.switch_page("pages/4_Spectra.py").run()
    assert not at.error
    assert at.session_state["brought"]["ionosphere"].rows[()] is drawn  # made once, not at every run

    at.session_state["pins"] = {(at.session_state["study"], 1): "a picture of the file", ("", 2): "another"}
    next(b for b in at.button if b.label == "Forget this file").click().run()
    assert ABSENT in errors(at)
    assert list(at.session_state["pins"]) == [("", 2)]


def test_a_brought_file_enters_no_shared_cache(monkeypatch):
    def never(*_, **__):
        raise AssertionError("a visitor's file in a shared cache")

    at = open_page()
    monkeypatch.setattr(cached, "_rows", never)
    monkeypatch.setattr(cached, "_release", never)
    at = give(at, ("mine.data", text(rows())))
    assert not at.error
    assert at.metric


def test_a_wrong_file_is_told_what_is_wrong_and_can_be_replaced():
    at = give(open_page(), ("half.data", text(rows()[:-1])))
    assert "half.data: this file has 350 rows of 35, and the Ionosphere set has 351 of 35." in errors(at)
    assert ABSENT in errors(at)
    at = give(at, ("whole.data", text(rows())))
    assert not at.error


def test_two_files_of_one_set_together():
    values = 10 ** np.random.default_rng(0).uniform(1, 4, (2000, 62))
    matrix = "\n".join(" ".join(f"{v:.2f}" for v in row) for row in values).encode()
    signs = " ".join([*("-1 1" for _ in range(22)), *["-5"] * 18]).encode()
    at = give(open_page(source="colon"), ("I2000.txt", matrix), ("tissues.txt", signs))
    assert not at.error
    raw = at.session_state["brought"]["colon"].raw
    assert raw.values.shape == (62, 2000)
    assert raw.labels.tolist().count("tumor") == 40


def test_a_failed_download_says_what_to_do_instead(folder):
    at = open_page()
    next(b for b in at.button if b.label.startswith("Download")).click().run()
    assert not at.exception
    assert "The download of the Ionosphere set failed: no network in tests." in errors(at)
    assert list(folder.iterdir()) == []


def test_a_download_is_kept_in_the_folder_for_everybody(folder, monkeypatch):
    table = rows(1)

    def fetched(*_, **__):
        return SimpleNamespace(data=pd.DataFrame([r[:-1] for r in table]), target=pd.Series([r[-1] for r in table]))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetched)
    at = open_page()
    next(b for b in at.button if b.label.startswith("Download")).click().run()
    assert not at.exception
    assert not at.error
    assert not at.file_uploader
    assert [p.name for p in folder.iterdir()] == ["ionosphere.csv"]
    assert not open_page().error  # another visitor


def test_a_file_that_changes_in_the_folder_changes_the_page(folder):
    def shown() -> str:
        at = open_page()
        assert not at.error
        return answer(at, "error")

    (folder / "ionosphere.data").write_bytes(text(rows(2)))
    first = shown()
    assert shown() == first
    table = [[v if j == 1 or j == 34 else v / 2 for j, v in enumerate(row)] for row in rows(2)]
    (folder / "ionosphere.data").write_bytes(text(table))
    assert shown() != first


def test_too_many_pictures_for_a_page_is_a_sentence(folder):
    at = open_page(**{"source": "mnist", "data.n": "60000"})
    assert "n x d is 47,040,000 cells, and a page draws at most 20,000,000" in errors(at)


def test_a_sweep_runs_on_the_visitors_own_copy_and_goes_with_it():
    at = give(open_page(), ("mine.data", text(rows())))
    at.switch_page("pages/2_Trade_offs.py").run()
    settle(at)
    assert not at.error
    draw_curves(at)
    ((owner, _),) = at.session_state["sweeps"]
    (job,) = at.session_state["sweeps"].values()
    assert owner.source == "ionosphere"
    assert job.progress.state == "finished"
    assert job.progress.reused == 0  # a store on disk has nothing of it, and gets nothing
    next(b for b in at.button if b.label == "Forget this file").click().run()
    assert not at.session_state["sweeps"]
