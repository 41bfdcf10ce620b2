"""The table of ratios: what a row must say, what is stored, and that docs/benchmarks.md says the same."""

import shlex

import pytest

from bench import table as bench
from bench.table import SECTIONS, Row, Section

OWN = ("accuracy", "pure", "speed", "glasso", "latency", "cold")  # sections that name their rows before they measure


def row(found="0.50 x peer (1 / 2 s)", goal="<= 0.8", section="speed", what="one", date="2026-01-01", machine="here"):
    return Row(section, what, found, goal, date, machine)


@pytest.fixture
def made_up(monkeypatch):
    """Sections whose rows count how often they are measured; returns the counts."""
    asked = []

    def measured(name, found):
        return lambda: asked.append(name) or found

    def rows(section):
        yield "first", measured(f"{section} first", "2.00 x peer"), "<= 3"
        yield "second", measured(f"{section} second", "4.0 x peer (8 / 2 s)"), "<= 3"
        yield "third", "1e-3 x peer", ""

    monkeypatch.setattr(Section, "rows", lambda self: rows(self.function))
    return asked


@pytest.mark.parametrize("found", ["0.3", "3.1 s", "x peer", "fast", "0.3 x ", "first 0.3 x peer"])
def test_a_row_that_is_no_ratio_to_a_peer_is_refused(found):
    with pytest.raises(ValueError, match="is no ratio; write"):
        row(found)


@pytest.mark.parametrize("goal", ["fast", "< 3", "3", "<= x", "0"])
def test_a_goal_that_is_none_is_refused(goal):
    with pytest.raises(ValueError, match=r"neither '<= 1\.5' nor '>= 1\.5'"):
        row(goal=goal)


@pytest.mark.parametrize(
    ("found", "goal", "met"),
    [
        ("1.50 x peer", "<= 1.5", "met"),
        ("1.51 x peer", "<= 1.5", "not met"),
        ("1.50 x peer", ">= 1.5", "met"),
        ("1.49 x peer", ">= 1.5", "not met"),
        ("0.00000 x peer (0 of 9)", "<= 0", "met"),
        ("0.00001 x peer (1 of 9)", "<= 0", "not met"),
        ("2e-5 x peer", ">= 1", "not met"),
        ("1.5 x peer", "", ""),
        ("not measured: no Chromium", "<= 1.5", "not measured"),
    ],
)
def test_a_goal_is_met_up_to_and_with_its_limit(found, goal, met):
    assert row(found, goal).met == met


def test_only_the_rows_that_are_asked_for_are_measured(made_up):
    assert [r.what for r in bench.measured(["speed", "pure"], "second")] == ["second", "second"]
    assert made_up == ["speed second", "pure second"]


def test_a_missing_section_is_an_error_before_anything_is_measured(made_up, monkeypatch):
    monkeypatch.setitem(SECTIONS, "gone", Section("bench.that_is_not_there", "gone", "Nothing"))
    with pytest.raises(ModuleNotFoundError, match="that_is_not_there"):
        list(bench.measured(["speed", "gone"]))
    assert made_up == []


@pytest.mark.parametrize("name", OWN)
def test_the_command_of_a_row_makes_that_row_and_no_other(name):
    names = [what for what, _, _ in SECTIONS[name].rows()]
    assert set(SECTIONS[name].heads) <= set(names)
    for what in names:
        made = row(section=name, what=what).command
        make, target, setting = shlex.split(made)
        assert (make, target) == ("make", "bench")
        section, flag, text = shlex.split(setting.removeprefix("ARGS="))
        assert (section, flag) == (name, "--row")
        assert [other for other in names if text in other] == [what]


def test_a_section_is_replaced_as_a_whole_and_the_others_keep_their_dates(tmp_path):
    path = tmp_path / "bench" / "table.csv"
    bench.store([row(section="glasso", what="a, with a comma"), row(section="glasso", what="b")], path)
    bench.store([row(section="speed", date="2026-02-01")], path)
    bench.store([row("0.7 x peer", section="glasso", what="c", date="2026-03-01")], path)
    assert [(r.section, r.what, r.date) for r in bench.stored(path)] == [
        ("speed", "one", "2026-02-01"),
        ("glasso", "c", "2026-03-01"),
    ]
    before = path.read_bytes()
    with pytest.raises(ValueError, match="speed is not stored: two was not measured: no Chromium"):
        bench.store([row(), row("not measured: no Chromium", what="two")], path)
    assert path.read_bytes() == before
    path.write_text("section,what\n")
    with pytest.raises(ValueError, match="has the columns"):
        bench.stored(path)


def test_the_summary_says_what_was_missed_where_and_when():
    rows = [
        row("0.50 x a | b (1 / 2 s)"),
        row("0.90 x peer; more", what="two", date="2026-02-01"),
        row("3 x peer", goal="", what="three", machine="there"),
    ]
    text = bench.summary(rows)
    assert "| one | 0.50 x a \\| b | <= 0.8 | met | |" in text
    assert "| two | 0.90 x peer | <= 0.8 | not met | |" in text
    assert "| 1 of 2 | `make bench ARGS=speed` |" in text
    assert "1 of 2 goals are met. Missed: speed, two (0.90, goal <= 0.8)." in text
    assert "\nMeasured on here; 2026-01-01 to 2026-02-01.\nMeasured on there; 2026-01-01.\n" in text
    with pytest.raises(ValueError, match="The section pure has no row 'geometric mean'"):
        bench.summary([row(section="pure")])


def test_the_page_is_changed_between_its_marks_only():
    text = f"before\n{bench.BEGIN}\nold\n{bench.END}\nafter\n"
    found = bench.into_page(text, [row()])
    assert found == f"before\n{bench.BEGIN}\n{bench.summary([row()])}{bench.END}\nafter\n"
    assert bench.into_page(found, [row()]) == found
    with pytest.raises(ValueError, match="must hold the marks"):
        bench.into_page("no marks", [row()])


def test_a_run_prints_one_table_and_stores_section_by_section(made_up, monkeypatch, tmp_path, capsys):
    table, page = tmp_path / "table.csv", tmp_path / "benchmarks.md"
    page.write_text(f"{bench.BEGIN}\n{bench.END}\n")
    monkeypatch.setattr(bench, "PAGE", page)
    monkeypatch.setattr(bench, "stored", lambda path=table, real=bench.stored: real(path))
    monkeypatch.setattr(bench, "store", lambda rows, real=bench.store: real(rows, table))
    assert bench.main(["speed", "--store"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 3 + 1
    assert "make bench ARGS=\"speed --row 'second'\"" in lines[2]
    assert lines[-1] == "1 of 2 goals met."
    assert [r.met for r in bench.stored(table)] == ["met", "not met", ""]
    assert "Missed: speed, second (4.0, goal <= 3)." in page.read_text()
    for wrong in (["nothing"], ["speed", "--row", "fourth"], ["speed", "--row", "first", "--store"]):
        with pytest.raises(SystemExit):
            bench.main(wrong)


# --- the copy that is shipped -------------------------------------------------------------------------------


def test_what_make_bench_runs_is_stored_or_said_to_be_missing():
    rows = bench.stored()
    names = {r.section for r in rows}
    assert names <= set(SECTIONS)
    absent = [name for name, section in SECTIONS.items() if section.default and name not in names]
    told = [line for line in bench.summary(rows).splitlines() if line.startswith("Not in the stored copy yet: ")]
    assert told == ([f"Not in the stored copy yet: {', '.join(absent)}."] if absent else [])


def test_no_name_of_a_machine_or_folder_is_stored():
    import getpass
    import socket

    text = bench.STORED.read_text(encoding="utf-8")
    for private in (socket.gethostname(), str(bench.ROOT), f"/home/{getpass.getuser()}"):
        assert private not in text


def test_the_page_says_what_the_stored_table_says():
    text = bench.PAGE.read_text(encoding="utf-8")
    assert bench.into_page(text, bench.stored()) == text
