"""Every page runs alone, at the ends of its controls and with a bad link; what it shows is what privcov computes."""

import json
import re
import time
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree, Widget

import privcov
from pages.common import frame, show
from pages.common.frame import MENU
from pages.common.study import DEFAULT_METHOD, Study, means_study
from privcov.core.words import percent
from privcov.metrics.errors import error, waterfall
from tests.exhaustive import some_of
from tests.pages.test_upload import declared
from tests.patience import patient, until

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["app.py", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "pages").glob("[0-9]*_*.py"))]
SMALL = {"data.n": "2000", "data.d": "6"}


def open_page(file: str, **query: str) -> AppTest:
    at = first_run(file, **query)
    settle(at)
    return at


def first_run(file: str, **query: str) -> AppTest:
    """What a visitor sees first; a sweep may still be running. A link with a part of a study is of zCDP by default."""
    if means_study(query) and not {"kind", "epsilon", "rho"} & query.keys():
        query = {"kind": "zcdp"} | query
    at = AppTest.from_file(str(ROOT / file), default_timeout=patient(120))
    # AppTest takes the file it is given for the whole app; the menu needs the real one.
    if file != "app.py":
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=patient(120))
        at.switch_page(file)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def settle(at: AppTest) -> None:
    """Run the page until no job of it runs in the background."""
    while True:
        assert not at.exception, at.exception
        kept = [at.session_state[name] for name in ("audits", "expected") if name in at.session_state]
        found = [job for jobs in kept for job in jobs.values()]
        if not any(job.progress.alive for job in found):
            return
        until(lambda found=found: not any(job.progress.alive for job in found), 60, what="the jobs end")
        at.run()


def alts(at: AppTest) -> dict[str, str]:
    """Text alternatives of the charts on the page, by chart key."""
    return {c.proto.id.rsplit("-", 1)[-1] + str(i): c.proto.alt for i, c in enumerate(at.get("plotly_chart"))}


def chart(at: AppTest, start: str) -> tuple[dict, str]:
    """(specification, text alternative) of the chart whose alternative begins like this."""
    for found in at.get("plotly_chart"):
        if found.proto.alt.startswith(start):
            return json.loads(found.proto.spec), found.proto.alt
    raise AssertionError(f"no chart begins with {start!r}: {[c.proto.alt[:60] for c in at.get('plotly_chart')]}")


def metric(at: AppTest, label: str) -> str:
    return next(m.value for m in at.metric if m.label.startswith(label))


def answer(at: AppTest, name: str) -> str:
    """A number beside the level of the strip: "error" or "attacker"."""
    (shown,) = [e.proto.body for e in at.get("html") if "pc-answers" in e.proto.body and "<style" not in e.proto.body]
    return re.search(f'data-number="{name}">(.*?)<', shown)[1]


def test_every_page_file_is_in_the_menu_and_back():
    listed = [entry.file for _, entries in MENU for entry in entries]
    assert sorted(listed) == sorted(PAGES)


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.quick
def test_every_page_runs_alone_at_its_defaults(file):
    at = open_page(file)
    assert not at.error
    assert not at.warning
    assert at.title


@pytest.mark.parametrize("file", PAGES)
def test_a_link_with_nonsense_gets_a_sentence_and_a_working_page(file):
    at = first_run(file, rho="banana", source="<script>", junk="1")
    assert len(at.warning) == 2
    assert all("left out" in w.value for w in at.warning)
    settle(at)
    assert not at.error
    assert sum("left out" in w.value for w in at.warning) == 2, "also when the page has run again"


def test_what_is_wrong_with_a_link_is_said_until_something_changes():
    at = open_page("pages/1_Estimate.py", epsilon="banana", **{"data.n": "2000", "data.d": "6"})
    at.run()
    assert ["epsilon" in w.value for w in at.warning] == [True]
    at.select_slider(key="w.epsilon").set_value(0.5).run()
    assert not at.warning
    at = open_page("pages/1_Estimate.py", epsilon="banana")
    at.switch_page("pages/7_Methods.py").run()
    assert not at.warning


FILES = [p for p in PAGES if not re.match("pages/([5-9]|10)", p)]  # the others take no study
ENDS = [
    {"rho": "1e-05"}, {"rho": "10"}, {"kind": "approx", "epsilon": "0.01", "delta": "1e-12"},
    {"kind": "approx", "epsilon": "20", "delta": "0.1"}, {"bound": "0.0625"}, {"bound": "8"},
    {"data.d": "1"}, {"data.n": "1"}, {"data.n": "3", "data.d": "10"}, {"source": "wine"},
    {"source": "breast-cancer"}, {"source": "example"},
]  # fmt: skip
EVERY_END = [(file, query) for file in FILES for query in ENDS]
A_THIRD = [at for at in range(len(EVERY_END)) if sum(divmod(at, len(ENDS))) % 3 == 0]  # every end, on some page


@pytest.mark.parametrize(("file", "query"), some_of(EVERY_END, *A_THIRD))
def test_the_ends_of_the_controls_give_a_picture_or_a_sentence(file, query):
    base = {} if "source" in query else SMALL
    at = open_page(file, **{**base, **query})
    settle(at)
    at.run()  # an answer that is simulated may come after the first run
    stills = [block for block in at.get("html") if "<img class" in block.proto.body]
    assert len(at.get("plotly_chart")) + len(stills) > 0 or len(at.error) == 1


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_estimate_shows_what_privcov_computes(kind):
    query = {**SMALL, "kind": kind, "seed": "5", "rho": "0.01"}
    at = open_page("pages/1_Estimate.py", **query)
    ds = privcov.source("ar1-covariance", n=2000, d=6, random_state=0)
    guarantee = {"zcdp": privcov.ZCDP(0.01), "approx": privcov.ApproxDP(1.0, 1e-6), "pure": privcov.PureDP(1.0)}[kind]
    rel = privcov.release(ds, guarantee, DEFAULT_METHOD, random_state=5)
    wrong = error(rel, ds, relative=True, against="truth")
    assert answer(at, "error") == percent(wrong)
    spectral = error(rel, ds, "spectral", relative=True, against="truth")
    assert metric(at, "Spectral error") == percent(spectral)
    assert answer(at, "attacker") == show.chance(rel.attacker_success)
    # The waterfall ends at the card's error, in the numbers sent and in the words.
    spec, alt = chart(at, "Waterfall")
    steps = spec["data"][0]
    assert steps["measure"][-1] == "total"
    total = (
        float(np.frombuffer(__import__("base64").b64decode(steps["y"]["bdata"]))[-1])
        if isinstance(steps["y"], dict)
        else steps["y"][-1]
    )
    assert total == pytest.approx(100 * wrong)
    assert waterfall(rel, ds)[-1][1] == pytest.approx(wrong)
    assert alt.endswith(f"It ends at {percent(wrong)}.")


def test_the_statement_on_the_page_is_the_release_s_own():
    at = open_page("pages/1_Estimate.py", **SMALL)
    rel = privcov.release(
        privcov.source("ar1-covariance", n=2000, d=6, random_state=0), privcov.ZCDP(0.1), "auto-cov", random_state=1
    )
    (shown,) = [unescape(e.proto.body) for e in at.get("html") if "pc-lines" in e.proto.body and "<dl" in e.proto.body]
    assert re.findall("<dt><strong>(.*?)</strong></dt><dd>(.*?)</dd>", shown) == list(rel.statement.lines)


@pytest.mark.parametrize("query", [
    SMALL, {**SMALL, "kind": "pure"}, {"source": "wine", "bound": "0.5"}, {**SMALL, "method": "glasso-gaussian"},
    {**SMALL, "source": "zipf-norms", "method": "gaussian-cov", "method.shape": "isotropic", "rows": "3"},
])  # fmt: skip
def test_the_python_twin_gives_the_same_matrix_bit_for_bit(query, capsys):
    at = open_page("pages/1_Estimate.py", **query, more="the-same-in-python")
    scope: dict = {}
    exec(at.code[0].value, scope)
    assert not at.dataframe  # the table is drawn when its tab is opened, not before
    at.session_state["more"] = "Matrix"
    at.run()
    rows = at.dataframe[0].value.to_numpy(dtype=float)
    assert np.array_equal(rows, scope["rel"].matrix)
    assert str(scope["rel"].statement) in capsys.readouterr().out


def test_the_picture_melts_only_the_release_moves():
    """Same truth, same sample, same colour range, same unit noise: only the released panels change with rho."""
    one, two = (open_page("pages/1_Estimate.py", **SMALL, rho=rho) for rho in ("0.001", "0.1"))
    for name in ("Heatmap of truth", "Heatmap of sample"):
        assert chart(one, name)[0] == chart(two, name)[0]
    first, second = (chart(at, "Heatmap of released covariance")[0]["data"][0] for at in (one, two))
    assert (first["zmin"], first["zmax"]) == (second["zmin"], second["zmax"])
    assert first["zmin"] == -first["zmax"]
    assert first["z"] != second["z"]


def test_draw_again_changes_the_noise_and_the_address():
    at = open_page("pages/1_Estimate.py", **SMALL)
    before = chart(at, "Heatmap of released")[0]
    next(b for b in at.button if b.label == "Draw again").click().run()
    assert at.query_params["seed"] == "2"
    assert chart(at, "Heatmap of released")[0] != before


def test_a_control_writes_the_address_and_the_study_follows_to_other_pages():
    at = open_page("pages/1_Estimate.py", **SMALL)
    at.segmented_control[0].set_value("approx").run()
    assert at.query_params["kind"] == "approx"
    at.select_slider(key="w.epsilon").set_value(0.5).run()
    assert at.query_params["epsilon"] == "0.5"
    at.switch_page("pages/4_Spectra.py").run()
    assert not at.exception
    assert at.select_slider(key="w.epsilon").value == 0.5
    assert at.session_state["study"] == Study(kind="approx", epsilon=0.5, data=(("d", 6), ("n", 2000)))


def test_a_method_that_cannot_give_the_guarantee_says_so_and_the_page_stays():
    at = open_page("pages/1_Estimate.py", **SMALL, method="gaussian-cov", kind="pure")
    assert len(at.error) == 1
    assert "gives Approximate DP or zCDP, not Pure DP" in at.error[0].value
    assert at.title[0].value == "Estimate"


def test_delta_above_one_over_n_is_warned_about():
    at = open_page("pages/1_Estimate.py", **SMALL, kind="approx", delta="0.01")
    assert any("not below 1/n" in w.value for w in at.warning)
    assert not open_page("pages/1_Estimate.py", **SMALL, kind="approx", delta="1e-06").warning


def test_too_many_cells_get_a_sentence_before_anything_is_drawn():
    at = open_page("pages/1_Estimate.py", **{"data.n": "2000000", "data.d": "1000"})
    assert any("at most 20,000,000" in e.value for e in at.error)


def test_spectra_counts_what_lies_in_the_band():
    at = open_page("pages/4_Spectra.py", **SMALL, rho="1e-05")
    ds = privcov.source("ar1-covariance", n=2000, d=6, random_state=0)
    rel = privcov.release(ds, privcov.ZCDP(1e-5), "auto-cov", random_state=1)
    values = np.linalg.eigvalsh(rel.noisy_moment.matrix)
    inside = int((np.abs(values) <= rel.noisy_moment.distribution.spectral_edge).sum())
    assert metric(at, "Not separately recoverable") == f"{inside} of 6"
    _, alt = chart(at, "Eigenvalues")
    assert f"{inside} noisy eigenvalues lie inside it" in alt


# --- every kind of guarantee on every page ------------------------------------------------------------------

KINDS_WALKED = ("approx", "zcdp", "pure", "approx", "pure", "zcdp")
WITH_KINDS = [p for p in PAGES if re.match("pages/[1234]_", p)]  # the strip has the kind
TABLES = {"simulated": SMALL, "bundled": {"source": "wine", "method": "gaussian-cov"}, "own": {}}


@pytest.fixture
def browser(monkeypatch):
    """Widgets send what the browser holds: the words that it was told last, even where the options now have others."""
    held: dict[str, object] = {}
    send = ElementTree.get_widget_states

    def states(tree: ElementTree) -> WidgetStates:
        sent = send(tree)
        by_id = {node.proto.id: node for node in tree if isinstance(node, Widget) and hasattr(node.proto, "id")}
        for state in sent.widgets:
            node = by_id[state.id]
            moved = type(getattr(node, "_value", None)).__name__ not in ("InitialValue", "NoneType")
            if state.id in held and not moved and not getattr(node.proto, "set_value", True):
                state.CopyFrom(held[state.id])
            held[state.id] = type(state).FromString(state.SerializeToString())
        for gone in held.keys() - by_id.keys():
            del held[gone]
        return sent

    monkeypatch.setattr(ElementTree, "get_widget_states", states)


def has_no_failure(at: AppTest, where: str) -> None:
    assert not at.exception, f"{where}: {at.exception[0].message}"
    assert at.title, where


@pytest.mark.parametrize("file", WITH_KINDS)
@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_guarantee_forth_and_back_by_its_buttons_and_by_a_link(file, table, browser):
    at = declared() if table == "own" else first_run(file, kind="zcdp", **TABLES[table])
    if table == "own":
        at.switch_page(file).run()
    for kind in KINDS_WALKED:
        at.segmented_control(key="w.kind").set_value(kind).run()
        at.run()
        has_no_failure(at, f"{file}, {table}, {kind} by its button")
        assert at.session_state["study"].kind == kind
    time.sleep(frame.ON_THE_WAY)  # nobody presses a button and a link sooner
    for kind in KINDS_WALKED[:4]:
        at.query_params.clear()
        for name, value in {"kind": kind, **TABLES[table]}.items():
            at.query_params[name] = value
        at.run()
        at.run()
        has_no_failure(at, f"{file}, {table}, {kind} by a link")
        assert at.session_state["study"].kind == kind
