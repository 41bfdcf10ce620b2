"""Sections "agreement" and "expected" of the bench: `privcov.expect` beside private releases, and its time.

Random questions: n from 200 to 200,000, d from 2 to 200 (at most 2 million cells), every kind of guarantee, a spread
from .1 to .5 or none, every structure. The table is drawn anew for each question, with a seed of its own.

Real tables are declared by where nine in ten values lie, in two digits, at their own number of rows and at eight times
that. The default structure of `expect` was chosen on the first three; not on the others. Errors are relative, each
column divided by half of its range.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from sklearn import datasets

import privcov
from privcov.ledger import Ledger
from privcov.steward.example_rows import STRUCTURES, Invention
from privcov.tables.declaration.declaration import Column, Declaration, row_bound_fraction
from privcov.tables.declaration.typical_ranges import NINE_IN_TEN

QUESTIONS, RELEASES, SEED, CELLS = 200, 16, 98_000, 2_000_000
KINDS = (lambda x: privcov.ZCDP(x / 5), lambda x: privcov.ApproxDP(x, 1e-6), privcov.PureDP)


def questions() -> Iterator[tuple]:
    """Random arguments of `expect`."""
    rng = np.random.default_rng(SEED)
    for number in range(QUESTIONS):
        d = round(np.exp(rng.uniform(np.log(2), np.log(200))))
        n = round(np.exp(rng.uniform(np.log(200), np.log(min(200_000, CELLS / d)))))
        guarantee = KINDS[number % 3](float(np.exp(rng.uniform(np.log(0.1), np.log(5)))))
        spread = None if number % 2 else round(rng.uniform(0.1, 0.5), 2)
        yield n, d, guarantee, spread, list(STRUCTURES)[number % len(STRUCTURES)], number


def released(n: int, d: int, guarantee: privcov.ZCDP, spread: float | None, structure: str, seed: int) -> np.ndarray:
    """Relative errors of private releases of one table of normal rows, to its own covariance."""
    root = np.linalg.cholesky(Invention(n, structure).correlation(d))
    rows = np.random.default_rng(SEED + seed).standard_normal((n, d)) @ root.T * (spread or 1.0)
    limits = {"typical_range": (-NINE_IN_TEN, NINE_IN_TEN)} if spread is None else {"low": -1, "high": 1}
    columns = tuple(Column(f"x{j}", **limits) for j in range(d))
    table = Declaration("t", "one row", columns, row_bound_fraction=row_bound_fraction(columns)).dataset_from_rows(
        rows, None
    )
    true = rows if spread is None else np.clip(rows, -1, 1)
    return private_errors(table, true, guarantee, off=spread is None)


def private_errors(
    table: privcov.PrivateDataset, rows: np.ndarray, guarantee: privcov.ZCDP, releases: int = RELEASES, *, off: bool
) -> np.ndarray:
    """Relative errors of private releases to the covariance of the rows."""
    unit = np.outer(table.facts.scale, table.facts.scale)
    sample = np.cov(rows, rowvar=False, bias=True) / unit
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        ledger.set_limit("t", privcov.ZCDP(1e9) if isinstance(guarantee, privcov.ZCDP) else privcov.ApproxDP(1e6, 0.01))
        how = {"row_bound_search": "off" if off else "auto"}
        made = [privcov.release_private(table, guarantee, ledger=ledger, draw=k + 1, **how) for k in range(releases)]
    return np.array([np.linalg.norm(one.covariance / unit - sample) / np.linalg.norm(sample) for one in made])


def real_tables() -> Iterator[tuple[str, np.ndarray]]:
    """Names and rows."""
    yield "breast cancer", datasets.load_breast_cancer().data
    yield "wine", datasets.load_wine().data
    yield "diabetes", datasets.load_diabetes(scaled=False).data
    digits = datasets.load_digits().data
    yield "digits", digits[:, digits.std(axis=0) > 3]
    yield "sachs", privcov.source("sachs").rows


@cache
def on_real_tables() -> dict[str, np.ndarray]:
    """By table: rows (normal, skewed) of the released error over the expected one."""
    ratios = {}
    for name, cells in real_tables():
        d, found = cells.shape[1], []
        low, high = np.quantile(cells, (0.05, 0.95), axis=0)
        columns = tuple(
            Column(f"x{j}", typical_range=(_two(low[j]), max(_two(high[j]), _two(low[j]) + 0.01))) for j in range(d)
        )
        declared = Declaration("t", "one row", columns, row_bound_fraction=row_bound_fraction(columns))
        for times in (1, 8):
            rows = np.tile(cells, (max(1, 1000 // len(cells)) * times, 1))
            table = declared.dataset_from_rows(rows, None)
            for guarantee in (kind(level) for kind in KINDS for level in (0.5, 2.0)):
                error = private_errors(table, rows, guarantee, 4, off=True).mean()
                more = {"releases": 10, "random_state": 0}
                found.append([error / privcov.expect(len(rows), d, guarantee, skew=s, **more).error for s in (0, 1)])
        ratios[name] = np.array(found)
    return ratios


def _two(value: float) -> float:
    return float(f"{value:.2g}")


def real() -> Iterator[tuple]:
    """Rows (what, found, goal)."""

    def of(name: str) -> str:
        ratios = on_real_tables()[name]
        normal, skewed = np.median(ratios, axis=0)
        between = np.mean((ratios.min(axis=1) < 1.3) & (ratios.max(axis=1) > 1 / 1.3))
        return (
            f"{normal:.2f} x expect (skewed columns: {skewed:.2f}; within 1.3 of what lies between them: {between:.0%})"
        )

    for name, _ in real_tables():
        yield f"released on {name}", lambda name=name: of(name), ""


@cache
def found() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """By question: difference in standard errors, ratio of the errors, seconds, columns."""
    apart, ratios, seconds, columns = [], [], [], []
    for n, d, guarantee, spread, structure, seed in questions():
        privcov.expect(
            200, 2, guarantee, spread=spread, structure=structure, releases=5, random_state=0
        )  # what is loaded once
        begun = time.perf_counter()
        expected = privcov.expect(n, d, guarantee, spread=spread, structure=structure, random_state=0)
        seconds.append(time.perf_counter() - begun)
        errors, between = released(n, d, guarantee, spread, structure, seed), 5**0.5 * expected.error_se
        variance = errors.var(ddof=1) / RELEASES + between**2 + expected.error_se**2
        se = max(np.sqrt(variance), 1e-6)  # none where both are the zero matrix
        apart.append((errors.mean() - expected.error) / se)
        ratios.append(errors.mean() / expected.error)
        columns.append(d)
    return np.array(apart), np.array(ratios), np.array(seconds), np.array(columns)


def agreement() -> Iterator[tuple]:
    """Rows (what, found, goal)."""

    def far() -> str:
        apart, ratios, *_ = found()
        low, high = np.quantile(ratios, (0.05, 0.95))
        return (
            f"{np.mean(np.abs(apart) > 3):.3f} of {len(apart)} are farther than three standard errors (largest "
            f"{np.abs(apart).max():.1f}); releases over expected {np.median(ratios):.3f}, nine in ten {low:.2f} to "
            f"{high:.2f}"
        )

    def late(low: int, high: int, limit: float) -> str:
        _, _, seconds, columns = found()
        part = seconds[(columns > low) & (columns <= high)]
        return f"{np.quantile(part, 0.9) / limit:.2f} x {limit:g} s (nine in ten; longest {part.max():.2f} s)"

    yield "expected errors over private releases", far, "<= .02"
    yield "time of an answer, d <= 50", lambda: late(0, 50, 1.0), "<= 1"
    yield "time of an answer, d <= 200", lambda: late(50, 200, 3.0), "<= 1"
