"""One engine behind the page, the shell and the panel: what is named is the first of its table, and answers invert."""

import contextlib
import dataclasses
import io
import itertools
import math

import numpy as np
import pytest

from privcov.advice import ask, grid
from privcov.advice.advise import advise, answer_of, noise_factors
from privcov.advice.answer import Question
from privcov.advice.evidence import read, strength_of
from privcov.advice.grid import LEVELS, TARGETS
from privcov.advice.rank import AUTO, TIE
from privcov.advice.surface import surface
from privcov.cli.entry import main
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, PureDP, ZCDP, level_of, with_level

KINDS = ("zcdp", "approx", "pure")


def questions(many: int, seed: int = 11) -> list[Question]:
    """Questions between the cells, of every target, kind and structure."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(many):
        target = str(rng.choice(list(TARGETS)))
        structure = str(rng.choice(["unknown", *(s.key for s in TARGETS[target].structures)]))
        n, d = (round(float(np.exp(rng.uniform(*np.log(ends))))) for ends in ((300, 1e5), (5, max(TARGETS[target].ds))))
        low, high = np.log((0.001, 1.0) if (kind := str(rng.choice(KINDS))) == "zcdp" else (0.1, 10.0))
        level = float(f"{np.exp(rng.uniform(low, high)):.3g}")
        guarantee = {"zcdp": ZCDP, "pure": PureDP}.get(kind, lambda e: ApproxDP(e, 1e-6))(level)
        found.append(Question(n, d, guarantee, target, structure, mean_known=bool(rng.integers(2))))
    return found


def printed(question: Question) -> tuple[str, list[list[str]]]:
    """The first line of the shell's answer, and the rows of its table."""
    g = question.guarantee
    level = ["--rho", g.rho] if g.kind == "zcdp" else ["--epsilon", g.epsilon]
    words = ["advice", "--n", question.n, "--d", question.d, *level, "--target", question.target]
    words += ["--structure", question.structure, *(["--delta", g.delta] if g.kind == "approx" else [])]
    words += ["--mean-known"] if question.mean_known else []
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([str(w) for w in words]) in (None, 0)
    keys = {card.key for card in METHODS.all()}
    lines = out.getvalue().splitlines()
    return lines[0], [line.split() for line in lines[1:] if line.split()[:1] and line.split()[0] in keys]


def test_page_shell_and_table_name_one_method():
    """200 questions: the page's method, the shell's and the least of the table that both show; Auto where it is within
    five per cent of that."""
    seen = {"method": 0, "none": 0}
    for question in questions(200):
        reply = ask.how_far(question)  # the page
        first, rows = printed(question)  # the shell
        advice = answer_of(question)
        if advice.pick:
            assert advice.pick == reply.line.key == rows[0][0]
            assert first.startswith(METHODS.get(reply.line.key).label)
        else:
            assert first.startswith("None")
        fair = [row for row in rows if row[1] != "*"]  # marked: worse than the zero matrix somewhere
        numbers = [float(row[1]) for row in fair]
        assert numbers[0] <= numbers[1] or (rows[0][0] in AUTO and TIE * numbers[0] <= min(numbers) + 0.001)
        assert numbers[1:] == sorted(numbers[1:])
        methods = [line for line in advice.ranking if not line.trivial]
        assert reply.line is methods[0]
        assert [line.key for line in methods if line.key in {row[0] for row in rows}] == [
            row[0] for row in rows if row[0] not in ("zero", "diagonal")
        ]
        seen["method" if advice.pick else "none"] += 1
    assert min(seen.values()) > 20


def test_a_known_structure_names_the_smallest_error():
    for question in questions(60, seed=3):
        if question.structure == "unknown":
            continue
        reply = ask.how_far(question)
        errors = [line.error for line in reply.advice.ranking if not line.trivial]
        assert reply.error == min(errors)
        assert all(line.error >= reply.error for line in reply.runners_up)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_between_cells_an_error_is_between_theirs_and_falls_where_theirs_fall(target, kind):
    shape = surface(target, kind)
    rng = np.random.default_rng(5)
    strengths = np.geomspace(shape.strengths[0], shape.strengths[-1], 41)
    falling = 0
    for _ in range(25):
        n, d = (float(np.exp(rng.uniform(np.log(k[0]), np.log(k[-1])))) for k in (shape.ns, shape.ds))
        rows = np.full((len(shape.structures), 41), n)
        errors, _ = shape.errors(shape.structures, rows, d, np.broadcast_to(strengths, rows.shape))
        i, j = (int(np.clip(np.searchsorted(k, v) - 1, 0, len(k) - 2)) for k, v in ((shape.ns, n), (shape.ds, d)))
        around = shape.values[:, i : i + 2, j : j + 2]  # structure, n, d, strength, answer
        around = np.exp(around) if shape.logarithmic else around
        falls = (np.diff(around, axis=3) <= 1e-12).all(axis=(1, 2, 3))
        falling += int(falls.sum())
        assert (np.diff(errors, axis=2)[falls] <= 1e-9 * errors[..., 1:][falls]).all()
        known = np.isfinite(around).all(axis=(1, 2, 3))
        low, high = around.min(axis=(1, 2, 3)), around.max(axis=(1, 2, 3))
        inside = (errors >= low[..., None] * (1 - 1e-9) - 2e-4) & (errors <= high[..., None] * (1 + 1e-9))
        assert inside[known].all()
    assert falling > 50


def test_at_a_cell_the_answer_is_the_cell():
    for target, kind in itertools.product(TARGETS, KINDS):
        shape, evidence = surface(target, kind), read(target)
        for point in [p for p in evidence.points if p.kind == kind][::7]:
            for structure in shape.structures:
                cell, here = evidence.at(structure, point), shape.at(structure, point.n, point.d, point.strength)
                assert set(here) == set(cell)
                for key, answer in cell.items():
                    assert here[key].error == pytest.approx(answer.error, rel=1e-9, abs=1e-4)
                    assert here[key].se == pytest.approx(answer.se, rel=1e-9, abs=1e-4)


def test_beyond_the_cells_noise_over_signal_stays():
    """Also what is near: fewer people under a weaker guarantee stand for more under a stronger one."""
    shape = surface("covariance", "zcdp")
    rng = np.random.default_rng(2)
    n = np.exp(rng.uniform(np.log(30), np.log(1e7), 500))
    strength = np.exp(rng.uniform(np.log(1e-4), np.log(10), 500))
    here, _, level, far = shape.place(n, 40.0, strength)
    assert ((here >= shape.ns[0]) & (here <= shape.ns[-1])).all()
    assert ((level >= shape.strengths[0]) & (level <= shape.strengths[-1])).all()
    signal, most = n * strength, np.clip(n, *shape.ns[[0, -1]])
    reached = (signal > shape.ns[0] * shape.strengths[0]) & (signal < most * shape.strengths[-1])
    assert here[reached] * level[reached] == pytest.approx(signal[reached])
    assert far[reached & (n >= shape.ns[0])] == pytest.approx(1)
    assert reached.sum() > 100
    assert (far[~reached] > 1).all()
    inside = (
        (n >= shape.ns[0]) & (n <= shape.ns[-1]) & (strength >= shape.strengths[0]) & (strength <= shape.strengths[-1])
    )
    assert here[inside] == pytest.approx(n[inside])
    assert inside.sum() > 50


@pytest.mark.parametrize("target", TARGETS)
def test_columns_beyond_the_cells_are_those_of_the_nearest_and_as_far_as_their_ratio(target):
    shape = surface(target, "zcdp")
    least, most = shape.ds[0], shape.ds[-1]
    n, strength = shape.ns[1], shape.strengths[1]  # a cell, so that d alone is away
    for d, columns, away in ((least / 4, least, 4), (3 * most, most, 3), (least, least, 1), (most, most, 1),
                             (math.sqrt(least * most), math.sqrt(least * most), 1)):  # fmt: skip
        here, nearest, level, far = shape.place(n, d, strength)
        assert (here, level) == (n, strength)
        assert nearest == pytest.approx(columns)
        assert far == pytest.approx(away)
        assert shape.at(shape.structures[0], n, d, strength) == shape.at(shape.structures[0], n, nearest, strength)
    _, _, _, far = shape.place(shape.ns[0] / 2, 3 * most, strength * 2)  # also n is away, by less
    assert far == pytest.approx(3)


# --- which epsilon ------------------------------------------------------------------------------------------


def test_which_level_inverts_how_far():
    """The level found gives the error asked for, a little less privacy is not needed and a little more not enough."""
    rng, reached = np.random.default_rng(9), 0
    for question in questions(120, seed=21):
        wanted = float(rng.uniform(0.05, 0.9))
        reply = ask.which_level(question, wanted)
        given = reply.guarantee
        assert reply.level == (given.rho if given.kind == "zcdp" else given.epsilon)
        back = ask.how_far(Question(**{**vars(question), "guarantee": given}))
        assert back.error == reply.error
        assert (back.line.key, back.where) == (reply.line.key, reply.where)
        if not reply.reached:
            _, strengths = ask.levels_of(question)
            assert ask.largest(question, strengths).min() > wanted
            continue
        assert reply.error <= wanted * (1 + 1e-9)
        if reply.least:
            continue
        reached += 1
        less = strength_of(with_level(given, reply.level * 0.985))
        assert ask.largest(question, np.array([less]))[0] > wanted
        if question.structure != "unknown":  # one structure: the error is continuous in the level
            assert reply.error == pytest.approx(wanted, rel=0.03)
    assert reached > 40


def test_where_the_error_rises_again_the_smallest_level_is_said():
    """Of columns that fade Auto errs less at epsilon 3 than at 10, where less noise hides the pattern."""
    question = Question(1000, 40, ApproxDP(1.0, 1e-6), structure="fading", mean_known=True)
    _, strengths = ask.levels_of(question)
    errors = ask.largest(question, strengths)
    assert errors.min() < 0.1 < errors[-1]
    reply = ask.which_level(question, 0.1)
    assert reply.reached
    assert 1 < reply.level < 3
    never = ask.which_level(question, 0.5 * float(errors.min()))
    assert never.error == pytest.approx(errors.min(), rel=0.01)


@pytest.mark.parametrize(("n", "guarantee"), [(1_000, ZCDP(0.1)), (5_000, ApproxDP(1.0, 1e-6))])
def test_where_the_recommended_method_changes_its_own_least_level_is_said(n, guarantee):
    """Of 50 %: the sentence names the level from which on that method alone is within it, by its rows of the table."""
    reply = ask.which_level(advise(n, 15, guarantee, "precision").question, 0.5)
    assert reply.error < 0.45
    (said,) = (text for text in ask.notes(reply) if text.startswith(reply.line.label))
    level = float(said.split(" = ")[1].split()[0])
    assert 0 < level < reply.level

    def worst(at: float) -> tuple[str, float]:
        advice = answer_of(Question(**{**vars(reply.advice.question), "guarantee": with_level(guarantee, at)}))
        (own,) = (line for line in advice.ranking if line.key == reply.line.key)
        return advice.ranking[0].key, max(answer.error for answer in own.answers.values())

    assert worst(level)[1] <= 0.5 < worst(0.985 * level)[1]
    assert worst(level)[0] != reply.line.key != worst(0.995 * reply.level)[0]


def test_where_the_error_is_met_no_other_level_is_said():
    for structure in ("unknown", "fading"):
        reply = ask.which_level(advise(5_000, 40, ApproxDP(1.0, 1e-6), structure=structure).question, 0.5)
        assert reply.error > 0.49
        assert not [text for text in ask.notes(reply) if text.startswith(reply.line.label)]


def test_the_level_of_the_question_does_not_matter_to_which_level():
    for question in questions(20, seed=4):
        other = Question(**{**vars(question), "guarantee": with_level(question.guarantee, 0.37)})
        assert ask.which_level(question, 0.4) is ask.which_level(other, 0.4)


def test_more_rows_need_no_more_privacy_and_rows_for_inverts_too():
    seen = 0
    for question in questions(60, seed=6):
        if question.structure == "unknown" or question.n > 40_000:
            continue
        here = ask.how_far(question)
        rows = ask.rows_for(question, here.error / 2) if here.error else None  # a perfect graph has no half
        if rows is None:
            continue
        there = ask.how_far(Question(**{**vars(question), "n": rows}))
        assert there.error <= here.error / 2 * 1.02
        assert rows > question.n
        seen += 1
    assert seen > 10


def test_a_graph_without_an_error_needs_nothing_more():
    """Five columns, 100,000 rows, weak noise: every edge was found in every measured release."""
    question = Question(100_000, 5, ZCDP(1.0), target="graph", structure="random", mean_known=True)
    reply = ask.how_far(question)
    assert reply.error == 0
    assert ask.changed(reply) == ("No error was left where this was measured.",)


def test_the_rows_are_the_fewest_from_which_on_the_error_is_small_enough():
    """The literal rule on the rows that are looked at; an error that is met exactly is met."""
    compared, turned, refused = 0, 0, 0
    for question in questions(60, seed=8):
        rows = np.geomspace(question.n, max(grid.NS), 3 * ask.STEPS)
        if question.n >= max(grid.NS):
            continue
        errors = ask.largest(question, np.full(len(rows), strength_of(question.guarantee)), rows)
        for at in (0, 7, 100, 101, len(rows) - 1):
            wanted = float(errors[at])
            fine = [i for i in range(len(rows)) if all(error <= wanted for error in errors[i:])]
            found = ask.rows_for(question, wanted)
            if not fine:
                assert found is None
                refused += 1
                continue
            exact = float(rows[fine[0]])
            unit = 10 ** (len(str(int(exact))) - 2)
            assert found == (question.n if fine[0] == 0 else math.ceil(exact / unit) * unit)
            compared += 1
            turned += bool((errors[: fine[0]] <= wanted).any())
            assert not errors.min() or ask.rows_for(question, math.nextafter(errors.min(), 0)) is None
    assert compared > 100
    assert min(turned, refused) > 0
    most = Question(max(grid.NS), 15, ZCDP(0.1))
    assert ask.rows_for(most, 1e9) is None


def test_nonsense_is_refused():
    question = Question(5000, 15, ZCDP(0.1))
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="wanted"):
            ask.which_level(question, wrong)


# --- the spread ---------------------------------------------------------------------------------------------


def test_the_spread_is_the_deviation_of_the_replicates_of_a_cell():
    """The stored standard error holds the number of replicates already: one cell, run again, replicate by replicate."""
    target, at = TARGETS["covariance"], {"structures": ["fading"], "ns": (1000,), "ds": (15,)}
    rows = grid._rows(target, None, None, levels={"zcdp": (0.1,)}, **at)
    values = {}
    for *_, method, value in rows:
        values.setdefault(method, []).append(value)
    reply = ask.how_far(Question(1000, 15, ZCDP(0.1), structure="fading", mean_known=True))
    mine = np.array(values[reply.line.key])
    assert len(mine) == read("covariance").replicates
    assert reply.error == pytest.approx(mine.mean(), rel=0.01)
    assert reply.spread == pytest.approx(mine.std(ddof=1), rel=0.02)


# --- sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["unknown", "fading", "skewed"])
@pytest.mark.parametrize("guarantee", [ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0)], ids=str)
def test_the_sentence_has_method_level_and_error(structure, guarantee):
    question = Question(5000, 40, guarantee, structure=structure, mean_known=True)
    far = ask.how_far(question)
    name = "rho" if guarantee.kind == "zcdp" else "epsilon"
    most = "at most " if structure == "unknown" else ""
    near = "about " if far.line.se > ask.SURE * far.error else ""  # of few replicates
    gives = f"gives {most}{near}{100 * far.error:.3g} % error."
    assert ask.sentence(far) == f"{far.line.label}: {name} = {far.level:g} {gives}"
    for between in ({"n": 5001}, {"d": 41}, {"guarantee": with_level(guarantee, 0.2)}):
        assert f"gives {most}about " in ask.sentence(ask.how_far(dataclasses.replace(question, **between)))
    near = ask.which_level(question, 0.5)
    assert (f"gives {most}about 50 % error" in ask.sentence(near)) or near.error < 0.495
    never = ask.which_level(question, 1e-3)
    most = level_of(ask._at(never.advice.question, ask.levels_of(question)[1][-1]).guarantee)
    at = "" if never.level == most else f" at {name} = {never.level:g}"
    assert ask.sentence(never) == (
        f"No {name} up to {most:g}, the largest measured, gives 0.1 % error. "
        f"{never.line.label} comes nearest, with {100 * never.error:.3g} % error{at}."
    )
    # The rows of that structure are not clipped.
    assert ("mostly from clipping" in ask.changed(never)[0]) == (structure != "skewed")
    told = " ".join(ask.notes(far))
    assert ("Safest choice if you know nothing: at most" in told) == (structure == "unknown")
    assert len(ask.by_structure(far)) == (len(TARGETS["covariance"].structures) if structure == "unknown" else 0)


def test_a_graph_is_told_by_its_matthews_correlation():
    reply = ask.how_far(Question(100_000, 5, ZCDP(1.0), "graph", mean_known=True))
    assert f"a Matthews correlation of {1 - reply.error:.2f}" in ask.sentence(reply)


def test_the_curves_of_the_chart_pass_through_the_answer():
    for kind in KINDS:
        question = Question(5000, 40, {"zcdp": ZCDP(0.1), "pure": PureDP(1.0)}.get(kind, ApproxDP(1.0, 1e-6)),
                            structure="fading", mean_known=True)  # fmt: skip
        reply = ask.how_far(question)
        levels, errors = ask.curves(question, (reply.line.key,))
        at = np.exp(np.interp(math.log(reply.level), np.log(levels), np.log(errors[reply.line.key])))
        assert at == pytest.approx(reply.error, rel=0.01)
        assert max(LEVELS[kind]) == pytest.approx(levels[-1], rel=0.01)
        assert noise_factors(question) == (1.0,)
        whole = Question(**{**vars(question), "structure": "unknown"})
        safest = ask.how_far(whole)
        levels, ratios = ask.curves(whole, (safest.line.key,))
        at = np.exp(np.interp(math.log(safest.level), np.log(levels), np.log(ratios[safest.line.key])))
        assert at == pytest.approx(safest.line.worst, rel=0.05)  # a ratio to a best that changes along the levels
        assert (
            ask.without_noise(question)
            == read("covariance").at("fading", reply.advice.cells[0].point)["non-private"].error
            or question.n != reply.advice.cells[0].point.n
        )


def test_advise_is_the_answer_to_its_question():
    assert advise(5000, 40, ZCDP(0.1)) is answer_of(Question(5000, 40, ZCDP(0.1)))
