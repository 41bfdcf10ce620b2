"""``python -m privcov`` from a shell: lists, runs, and fails with one sentence."""

import dataclasses
import io
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import privcov
from privcov.advice import ask
from privcov.advice.advise import advise
from privcov.advice.answer import Question
from privcov.estimators.base import METHODS
from tests.patience import patient

ROOT = Path(__file__).parents[1]


def shell(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "privcov", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(60),
    )


def plan() -> privcov.Plan:
    return privcov.Plan(
        source="ar1-covariance",
        source_params={"n": 50, "d": 2},
        methods=["auto-cov", "zero"],
        guarantees=[privcov.ZCDP(0.1)],
        replicates=2,
    )


def test_methods_lists_every_key_with_its_kinds():
    done = shell("study", "methods")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    for card in privcov.methods():
        line = next(text for text in lines if text.split()[0] == card.key)
        assert card.standing in line
        for kind in card.guarantees:
            assert kind.name in line
        assert card.summary in done.stdout


def test_a_finished_study_is_extended_by_what_is_new(tmp_path):
    small = dataclasses.replace(plan(), seed=77)
    tables = []
    for methods, said in ((["auto-cov", "zero"], None), (["auto-cov", "diagonal", "zero"], "4 of these runs")):
        (tmp_path / "plan.json").write_text(dataclasses.replace(small, methods=methods).to_json(), encoding="utf-8")
        done = shell("study", "run", tmp_path / "plan.json", "--out", tmp_path / "table.csv")
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[-1].startswith(said or "4/4")
        tables.append(pd.read_csv(tmp_path / "table.csv"))
    old = tables[1][tables[1]["method"] != "diagonal"].reset_index(drop=True)
    pd.testing.assert_frame_equal(old, tables[0], check_exact=True)
    assert "computed before" not in shell("study", "run", tmp_path / "plan.json", "--fresh").stderr


@pytest.mark.parametrize("to_file", [True, False])
def test_run_writes_the_table(tmp_path, to_file):
    (tmp_path / "plan.json").write_text(plan().to_json(), encoding="utf-8")
    out = tmp_path / "table.csv"
    done = shell("study", "run", tmp_path / "plan.json", "--fresh", *(["--out", out] if to_file else []))
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(out if to_file else io.StringIO(done.stdout))
    assert table.pop("problem").isna().all()  # an empty cell
    pd.testing.assert_frame_equal(table, privcov.run(plan()).drop(columns="problem"), check_exact=False, rtol=1e-12)
    assert done.stderr.endswith("4/4\n")


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        (None, 1, "No such file"),
        ("not json", 2, "A plan must be JSON"),
        ('{"source": "nowhere", "guarantees": [{"kind": "zcdp", "rho": 1}]}', 2, "There is no source 'nowhere'"),
        ('{"source": "wine", "guarantees": [{"kind": "zcdp"}]}', 2, "guarantees must hold entries such as"),
        (
            '{"source": "zipf-norms", "source_params": {"n": 9, "d": 2}, "metrics": ["max-to-truth"], '
            '"guarantees": [{"kind": "zcdp", "rho": 1}]}',
            2,
            "has no known truth",
        ),
    ],
)
def test_a_bad_plan_is_one_sentence_and_a_code(tmp_path, text, code, sentence):
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    done = shell("study", "run", file)
    assert done.returncode == code
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.startswith("privcov: ")
    assert done.stderr.count("\n") == 1


def advised(text: str) -> dict[str, list[str]]:
    """The rows of the printed table, by method."""
    keys = {card.key for card in METHODS.all()}
    return {line.split()[0]: line.split() for line in text.splitlines() if line.split()[:1] and line.split()[0] in keys}


def test_advice_without_a_structure_says_which_error_to_expect():
    """The numbers of one row must not come from another structure than those of the next."""
    done = shell("advice", "--n", 5000, "--d", 40, "--epsilon", 1, "--delta", 1e-6, "--mean-known")
    rows = advised(done.stdout)
    first = METHODS.get(next(iter(rows))).label
    assert done.stdout.startswith(f"{first}. Safest choice if you know nothing: at most ")
    assert float(next(iter(rows.values()))[1]) == min(float(r[1]) for r in rows.values() if r[1] != "*")
    made = advise(5000, 40, privcov.ApproxDP(1.0, 1e-6), mean_known=True)
    line = next(line for line in made.ranking if line.key == "auto-cov")
    errors = [answer.error for answer in line.answers.values()]
    assert rows["auto-cov"][-3:] == [f"{min(errors):.3g}", "to", f"{max(errors):.3g}"]
    assert len(set(errors)) == len(errors) > 3  # one for each structure


def test_advice_for_an_error_says_what_the_page_says_and_one_ratio():
    """The sentence and the notes of the page; the table is at the level of the answer, whatever epsilon was typed."""
    words = ("advice", "--n", 5000, "--d", 40, "--delta", 1e-6, "--mean-known", "--error", 0.5)
    done = shell(*words, "--epsilon", 1)
    reply = ask.which_level(Question(5000, 40, privcov.ApproxDP(1.0, 1e-6), mean_known=True), 0.5)
    told = (ask.sentence(reply), *ask.notes(reply), *reply.advice.verdict[1:])
    assert done.stdout.splitlines()[: len(told)] == list(told)
    rows = advised(done.stdout)
    ratios = set(re.findall(r"at most ([\d.]+) times", done.stdout))
    assert ratios == {f"{reply.line.worst:.1f}"}
    assert rows[reply.line.key][1] == f"{reply.line.worst:.3g}"
    assert all(f"  {one}" in done.stdout for one in ask.by_structure(reply))
    assert shell(*words, "--epsilon", 3).stdout == done.stdout


def test_advice_names_a_method_its_numbers_and_what_would_change_it():
    done = shell("advice", "--n", 5000, "--d", 40, "--epsilon", 1, "--delta", 1e-6, "--structure", "banded",
                 "--mean-known")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = advised(done.stdout)
    assert done.stdout.startswith("Auto (shrinkage): error 0.0373")
    assert rows["auto-cov"][1] == "0.0373" == min((row[1] for row in rows.values()), key=float)
    assert "the nearest: n = 5,000, d = 40" in done.stdout
    assert "What would change it:" in done.stdout
    refused = shell("advice", "--n", 5000, "--epsilon", 1)
    assert refused.returncode == 2
    assert "--d" in refused.stderr
