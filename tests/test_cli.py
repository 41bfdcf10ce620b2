"""``python -m privcov`` from a shell: lists, runs, and fails with one sentence."""

import dataclasses
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import privcov
from privcov.steward.expect import least_level, least_rows
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


def test_advice_is_what_expect_says():
    done = shell("advice", "--n", 2000, "--d", 6, "--epsilon", 1, "--delta", 1e-6, "--spread", 0.3)
    found = privcov.expect(2_000, 6, privcov.ApproxDP(1.0, 1e-6), spread=0.3, random_state=0)
    assert done.stdout == f"{found!r}\n"
    for more, least in (
        (("--n", 2000), least_level(0.2, 2_000, 6, privcov.ZCDP(1.0), random_state=0)),
        (("--rows",), least_rows(0.2, 6, privcov.ZCDP(1.0), random_state=0)),
    ):
        assert shell("advice", "--d", 6, "--rho", 1, "--error", 0.2, *more).stdout == f"{least!r}\n"
    beyond = shell("advice", "--n", 30, "--d", 30, "--rho", 1, "--error", 0.01).stdout
    assert beyond.startswith("No level that is searched gives 1.0%. The last:\n")


def test_advice_names_the_option_that_it_needs():
    refused = shell("advice", "--n", 5000, "--epsilon", 1)
    assert refused.returncode == 2
    assert "--d" in refused.stderr
