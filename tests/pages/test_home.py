"""Home: the demonstration, three doors with their two-minute paths, the list of all pages; and the practice table."""

import itertools
from types import SimpleNamespace
from urllib.parse import parse_qsl

import numpy as np
import pytest

import privcov
from pages.shell import frame, hosted, tour
from pages.shell.study import from_query, to_query
from pages.your_data import practice
from privcov.data_sources.example import written
from privcov.data_sources.private_file import read_private
from privcov.ledger import Ledger, LedgerError
from privcov.ledger.fingerprint import fingerprint, same_cells
from privcov.privacy import ZCDP
from privcov.releasing.private import release_private
from tests.pages.test_pages import open_page

STEPS = [(found, at) for found in tour.TOURS for at in range(len(found.steps))]
NAMES = [tour.word(*step) for step in STEPS]


def links(node) -> dict[str, dict[str, str]]:
    """Query of every page link by its label."""
    return {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in node.get("page_link")}


def bar(at) -> str:
    """What the bar says, or "" without one."""
    return next((m.value for m in at.main.markdown if ", step " in m.value), "")


@pytest.fixture(scope="module")
def home():
    return open_page("app.py")


def test_the_demonstration_comes_first_and_the_doors_below(home):
    shown = [block.proto.body for block in home.get("html") if "<img class" in block.proto.body]
    assert ["Heatmap of the sample" in shown[0], "Heatmap of the released" in shown[1], len(shown)] == [True, True, 2]
    headings = [h.value for h in home.header]
    assert headings == ["Where do you want to go?", "Every page"]
    for found in tour.TOURS:
        assert any(m.value.startswith(f"### {found.title}") for m in home.markdown)
    assert tour.ELSEWHERE not in {c.value for c in home.caption}, "on the owner's machine every path is open"


def test_every_page_has_its_line(home):
    listed = [entry for group, entries in frame.MENU if group for entry in entries]
    assert {entry.label for entry in listed} <= set(links(home.main))
    captions = [c.value for c in home.caption]
    assert all(entry.about and entry.about in captions for entry in listed)


def test_nobody_walks_a_path_unasked(home):
    assert bar(home) == ""
    started = [q for q in links(home.main).values() if tour.KEY in q]
    assert len(started) <= 1, "three doors share one label in this dictionary"
    assert all(tour.KEY not in query for query in links(home.sidebar).values())


def test_each_door_starts_its_path_on_a_page_that_is_set_up(home):
    queries = [dict(parse_qsl(link.proto.query_string)) for link in home.main.get("page_link")]
    first = {q[tour.KEY]: q for q in queries if tour.KEY in q}
    assert list(first) == ["teach-1", "explore-1", "release-1"]
    assert [p.steps[0].page for p in tour.TOURS] == ["Lessons", "Estimate", "Your data"]
    assert first["teach-1"]["lesson"] == "1"
    assert first["explore-1"]["data.n"] == "5000"


@pytest.mark.parametrize(("found", "at"), STEPS, ids=NAMES)
def test_every_step_leads_to_a_page_with_a_valid_set_up(found, at):
    step = found.steps[at]
    assert 4 <= len(found.steps) <= 6
    assert tour.parse(tour.word(found, at)) == (found, at)
    file = frame.file_of(step.page)
    if step.study is not None:
        assert from_query(to_query(step.study)) == (step.study, [])
    for name in step.own:
        assert f'"{name}"' in (frame.ROOT / file).read_text(encoding="utf-8")
    assert (at == len(found.steps) - 1) == step.check


@pytest.mark.parametrize("word", ["teach-1", "teach-4", "explore-2", "release-1"])
def test_the_bar_stands_on_the_page_of_its_step(word):
    found, at = tour.parse(word)
    step = found.steps[at]
    query = dict(to_query(step.study) if step.study else {}) | dict(step.own)
    page = open_page(frame.file_of(step.page), **query, path=word)
    assert not page.error
    assert bar(page) == f"**{found.title}, step {at + 1} of {len(found.steps)}.** {step.do}"
    assert links(page.main)["Next step"][tour.KEY] == tour.word(found, at + 1)
    assert ("Back" in links(page.main)) == (at > 0)
    # Wherever the visitor strays, the path comes along.
    assert all(query[tour.KEY] == word for query in links(page.sidebar).values())


def test_elsewhere_the_bar_says_where_its_step_is_and_leaving_ends_it():
    at = open_page("pages/7_Methods.py", path="release-2", rho="0.05", tab="convert")
    assert "This step is on **Your data**." in bar(at)
    assert links(at.main)["To Your data"] == {"path": "release-2", "rho": "0.05"}
    at.button(key="path-leave").click().run()
    assert bar(at) == ""
    assert "path" not in at.query_params
    assert at.session_state["study"].rho == 0.05
    assert all("path" not in query for query in links(at.sidebar).values())


def test_on_a_server_that_others_reach_the_private_path_says_where_it_is_walked(monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, "1")
    doors = {c.value for c in open_page("app.py").main.caption}
    assert tour.ELSEWHERE in doors
    steps = next(p for p in tour.TOURS if p.key == "release").steps
    at = open_page("pages/5_Your_data.py", path="release-1")
    assert bar(at) == f"**Release, step 1 of {len(steps)}.** {tour.ELSEWHERE} There: {steps[0].do}"
    assert tour.ELSEWHERE not in bar(open_page("app.py", path="release-5")), "the questions are asked everywhere"
    assert tour.ELSEWHERE not in bar(open_page("pages/1_Estimate.py", path="explore-1"))


@pytest.mark.parametrize("word", ["teach-0", "teach-99", "teach", "-1", "teach-1x", "<script>-1", "teach-²"])
def test_a_strange_path_is_none(word):
    assert tour.parse(word) is None
    at = open_page("pages/7_Methods.py", path=word, tab="convert")
    assert bar(at) == ""
    assert not at.error


def test_both_questions_are_checked_answer_by_answer():
    at = open_page("app.py", path="explore-5")
    boxes = [at.radio(key=f"path-question-{k}") for k in range(2)]
    assert all(box.value is None for box in boxes)
    for wrong in (1, 2):
        for k in range(2):
            at.radio(key=f"path-question-{k}").set_value(wrong)
        at.run()
        assert [w.value for w in at.warning] == [q.answers[wrong][1] for q in tour.QUESTIONS]
    for k in range(2):
        at.radio(key=f"path-question-{k}").set_value(0)
    at.run()
    assert [s.value for s in at.success] == [q.answers[0][1] for q in tour.QUESTIONS]
    assert not at.warning
    for question in tour.QUESTIONS:
        assert sorted(question.order) == list(range(len(question.answers)))
        assert question.order[0] != 0, "the right answer is not the first on the screen"


def test_what_the_steps_say_is_so():
    """Less epsilon: more error and a weaker attacker. Ten times the rows: a tenth of the noise, exactly."""
    import privcov
    from privcov.metrics.errors import error

    made = {}
    for at in range(3):
        study = tour.TOURS[1].steps[at].study
        data = privcov.source(study.source_key(), seed=study.rows, **dict(study.data))
        rel = privcov.release("auto-cov", data, study.guarantee, seed=study.seed)
        made[at] = (
            error(rel, data, relative=True, against="truth"),
            rel.attacker_success,
            rel.raw.distribution.off_diagonal_std,
        )
    assert made[1][0] > 2 * made[0][0]
    assert made[1][1] < made[0][1]
    assert made[1][1] < 0.53
    assert made[2][2] == pytest.approx(made[1][2] / 10, rel=1e-6)


# --- the practice table -------------------------------------------------------------------------------------


def test_the_practice_table_goes_through_every_step(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger.sqlite"))
    at = open_page("pages/5_Your_data.py", path="release-1")
    at.button(key="own-practice").click().run()
    mine = at.session_state["own"]
    at.button(key=f"own-declare-{mine.file_id}").click().run()
    assert not at.error
    at.button(key="own-to-plan").click().run()
    lines = [e.proto.body for e in at.main.get("html") if 'role="meter"' in e.proto.body]
    assert len(lines) == 3, "each of the three candidates has its attacker"
    at.button(key="own-to-release").click().run()
    turn = f"{mine.file_id}-{mine.turn}"
    at.number_input(key=f"own-limit-rho-{turn}").set_value(0.1).run()
    assert any('role="meter"' in e.proto.body for e in at.main.get("html"))
    at.button(key="own-limit").click().run()
    at.button(key="own-ask").click().run()
    assert any('role="meter"' in e.proto.body for e in at.get("html"))
    at.button(key="own-confirm").click().run()
    assert at.session_state["own-step"] == "answers"
    assert any("Released" in e.proto.body and "practice table" in e.proto.body for e in at.main.get("html"))


def test_each_practice_has_a_limit_of_its_own():
    names = set()
    for _ in range(2):
        at = open_page("pages/5_Your_data.py")
        at.button(key="own-practice").click().run()
        names.add(at.session_state["own"].kept["name"])
    assert len(names) == 2


def test_the_practice_may_be_walked_again_on_one_ledger(tmp_path, monkeypatch):
    """The page's own button twice; and the rows of the first practice under the second name are still refused."""
    taken = []
    monkeypatch.setattr(practice.state, "hold", lambda name, file, raw, **more: taken.append(raw))
    monkeypatch.setattr(practice.state, "own", lambda: SimpleNamespace(kept={}))
    declared = []
    for _ in range(2):
        practice._take(declared.append)
    book = Ledger(tmp_path / "ledger.sqlite")
    for made in declared:
        book.limit(made.name, ZCDP(0.1))

    def release(raw: bytes, made) -> None:
        release_private("gaussian-cov", read_private(raw, made), ZCDP(0.05), ledger=book)

    release(taken[0], declared[0])
    with pytest.raises(LedgerError, match="has these very rows as 'practice table"):
        release(taken[0], declared[1])
    release(taken[1], declared[1])
    assert [entry.name for entry in book.entries()] == [made.name for made in declared]


def test_no_two_practice_tables_are_the_same():
    """Eight seeds, all 28 pairs, as the ledger compares them; a table in another order is itself."""
    key, made = b"k" * 32, practice.declaration("x")

    def print_of(lines: list[bytes]) -> str:
        return fingerprint(read_private(b"\n".join(lines), made), key)

    tables = [written(seed).splitlines() for seed in range(2, 10)]
    prints = [print_of(lines) for lines in tables]
    assert not any(same_cells(one, other) for one, other in itertools.combinations(prints, 2))
    assert same_cells(prints[0], print_of(tables[0][:1] + tables[0][:0:-1]))


def test_the_step_about_the_diagonal_tells_numbers_that_come_out():
    """Six tables each: the diagonal at a large epsilon, and Auto near it at 0.1 and well below it at 0.2."""
    step = next(s for t in tour.TOURS if t.key == "explore" for s in t.steps if s.page == "Trade-offs")
    assert "0.72" in step.do
    assert "between epsilon 0.1 and 0.2" in step.do

    def mean_error(method: str, epsilon: float) -> float:
        errors = []
        for k in range(6):
            data = privcov.source(step.study.source, seed=k, **dict(step.study.data))
            rel = privcov.release(method, data, privcov.ApproxDP(epsilon, step.study.delta), seed=k)
            errors.append(privcov.error(rel, data, relative=True, against="truth"))
        return float(np.mean(errors))

    level = mean_error("diagonal", 8.0)
    assert round(level, 2) == 0.72
    assert mean_error("auto-cov", 0.2) < 0.9 * level < 0.95 * level < mean_error("auto-cov", 0.1)
