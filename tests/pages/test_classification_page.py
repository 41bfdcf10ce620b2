"""Classification on Trade-offs: a preset is one click, guessing is a line, and missing data are asked for."""

from pages.shell import show
from privcov.sweeps.presets import RAW_STEP
from tests.pages.test_pages import chart, open_page, settle

PAGE = "pages/2_Trade_offs.py"


def choose(key: str, replicates: int):
    at = open_page(PAGE, **{"data.n": "50", "data.d": "3"})
    at.session_state[f"t.{key}.replicates"] = replicates
    next(b for b in at.button if b.key == f"preset-{key}").click().run()
    settle(at)
    return at


def test_a_labelled_table_is_one_click():
    at = choose("classify-breast-cancer", 3)
    assert not at.error
    figure, alt = chart(at, "Error curves against epsilon")
    assert "guessing the commonest class (not private) at" in alt
    assert "no noise at" in alt
    assert figure["layout"]["yaxis"]["type"] == "linear"
    words = " ".join(m.value for m in at.markdown)
    assert "better than guessing the commonest class" in words
    assert "fresh split" in " ".join(c.value for c in at.caption)
    scope: dict = {}
    exec(at.code[0].value, scope)  # the script on the page runs and gives as many rows
    assert set(scope["table"]["metric"]) == {"lda-error", "majority-error"}
    assert scope["plans"][0].training == 400


def test_data_that_are_not_there_are_asked_for_and_the_raw_step_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))
    at = choose("4-table-7-p25", 1)
    assert show.as_text(RAW_STEP) in " ".join(c.value for c in at.caption)
    assert any("microbiome" in e.value and "not on this machine" in e.value for e in at.error)
