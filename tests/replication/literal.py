"""Random stored cells computed again with numpy alone: ``python -m tests.replication.literal [CELLS [SEED]]``.

Nothing of the package is imported: rows, noise, thresholds, ridge and eigenvectors are written out from the papers'
formulas, and the stored tables are read as CSV. Each cell is drawn `DRAWS` times with generators of its own, and agrees
where the two means differ by at most `REACH` standard errors of their difference. With ten stored replicates and a
spread of 10 % a difference of a fifth is seen.
"""

from __future__ import annotations

import csv
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

STORED = Path(__file__).parents[2] / "data" / "reproduced"
DRAWS, REACH = 12, 5.0
TABLES = ("1-figure-1", "2-table-1", *(f"4-table-{k}" for k in range(1, 7)), "5-figure-2", "5-figure-3")
METHODS = {
    "1-figure-1": ("dp",), "2-table-1": ("DP-RP",), "5-figure-2": ("gaussian-cov", "separate-cov", "zero"),
    "5-figure-3": ("gaussian-cov", "separate-cov", "zero"),
}  # fmt: skip
THRESHOLDS = ("dp", "ldp")  # of the tables of paper 4, whose constant is fixed
NORMS = {"spectral": 2, "frobenius": "fro", "l1": 1, "relative spectral": 2}


def classical(epsilon, delta, change):
    """Return the deviation of the classical Gaussian mechanism."""
    return change * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def noise(rng, d):
    """Return a symmetric matrix with standard normal entries on and above the diagonal."""
    upper = np.triu(rng.standard_normal((d, d)))
    return upper + np.triu(upper, 1).T


def cut(matrix, at):
    """Set entries of at most ``at`` to zero, and negative eigenvalues after that."""
    values, vectors = np.linalg.eigh(np.where(np.abs(matrix) > at, matrix, 0.0))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def normal_rows(rng, n, covariance):
    """Return n rows of N(0, covariance)."""
    return rng.standard_normal((n, len(covariance))) @ np.linalg.cholesky(covariance).T


def sparse(cell, rng):
    """Paper 1, Figure 1."""
    n, d, epsilon = int(cell["n"]), int(cell["d"]), float(cell["epsilon"])
    share = float(cell["data"].removeprefix("sparsity "))
    upper = np.triu(np.where(rng.random((d, d)) < share, rng.uniform(-1, 1, (d, d)), 0.0))
    truth = (upper + np.triu(upper, 1).T + 50 * np.eye(d)) / 200
    rows = normal_rows(rng, n, truth)
    scale = classical(epsilon, 1 / n, 1.0) / n
    at = 0.5 * math.sqrt(math.log(d) / n) + 4 * scale * math.sqrt(math.log(d))
    answer = cut(rows.T @ rows / n + scale * noise(rng, d), at)
    return np.linalg.norm(answer - truth, 2) / np.linalg.norm(truth, 2)


def ridge_of(s, lam):
    """Return the ridge estimate of a precision matrix."""
    values, vectors = np.linalg.eigh(s)
    return (vectors * (2 / (values + np.sqrt(values**2 + 8 * lam)))) @ vectors.T


def ridge(cell, rng):
    """Paper 2, Table 1: lambda by five-fold cross-validation on rows divided by the longest, 41 penalties."""
    n, d = int(cell["n"]), int(cell["d"])
    if cell["model"] == "1":
        factor = rng.standard_normal((d, 10_000))
        theta = factor @ factor.T / 10_000
    elif cell["model"] == "2":
        theta = np.full((d, d), 0.5) + 0.5 * np.eye(d)
    else:
        band = {0: 1.0, 1: 0.5, 2: 0.25}
        theta = sum(v * (np.eye(d, k=k) + (np.eye(d, k=-k) if k else 0.0)) for k, v in band.items())
    rows = normal_rows(rng, n, np.linalg.inv(theta))
    rows /= np.linalg.norm(rows, axis=1).max()
    lambdas = (np.geomspace(1e-4, 10.0, 41) / d) ** 2 / 8
    folds, scores = rng.permutation(np.arange(n) % 5), np.zeros(len(lambdas))
    for fold in range(5):
        kept, held = rows[folds != fold], rows[folds == fold]
        train, test = kept.T @ kept / len(kept), held.T @ held / len(held)
        for k, lam in enumerate(lambdas):
            estimate = ridge_of(train, lam)
            scores[k] += np.sum(estimate * test) - np.linalg.slogdet(estimate)[1]
    lam, s = lambdas[int(np.argmin(scores))], rows.T @ rows / n
    base = ridge_of(s, lam)
    scale = classical(float(cell["epsilon"]), 1 / n, math.sqrt(2)) / n
    apart = ridge_of(s + scale * noise(rng, d), lam) - base
    kind = NORMS[cell["metric"]]
    return np.linalg.norm(apart, kind) / np.linalg.norm(base, kind)


def thresholded(cell, rng):
    """Paper 4, Tables 1 to 6: the two original estimators, gamma = 2, rows not clipped."""
    n, d = int(cell["n"]), int(cell["d"])
    lag = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    truth = 0.6**lag if cell["model"] == "1" else np.select([lag == 0, lag == 1, lag == 2], [1.0, 0.6, 0.3], 0.0)
    rows = normal_rows(rng, n, truth)
    if cell["law"] == "t5":
        rows, truth = rows / np.sqrt(rng.chisquare(5, size=(n, 1)) / 5), truth * 5 / 3
    scale = classical(float(cell["epsilon"]), float(Fraction(cell["delta"])), 1.0)
    added, std = (scale / n, scale / n) if cell["method"] == "dp" else (scale / math.sqrt(n), scale)
    at = 2.0 * math.sqrt(math.log(d) / n) + 4 * std * math.sqrt(math.log(d))
    return np.linalg.norm(cut(rows.T @ rows / n + added * noise(rng, d), at) - truth, NORMS[cell["metric"]])


def spectrum(cell, rng):
    """Paper 5, Figures 2 and 3: the zero matrix, noise on the matrix, noise on eigenvalues and on eigenvectors."""
    n, d = int(cell["n"]), int(cell["d"])
    bins, rho = (float(part.split(" = ")[1]) for part in cell["data"].split(", "))
    rows = rng.standard_normal((n, d)) @ rng.random((d, d))
    rows -= rows.mean(axis=0)
    share = np.arange(1, bins + 1) ** -3.0
    length = 2.0 ** (rng.choice(int(bins), size=n, p=share / share.sum()) + 1 - bins)
    rows *= (length / np.linalg.norm(rows, axis=1))[:, None]
    s = rows.T @ rows / n
    if cell["method"] == "zero":
        return np.linalg.norm(s)
    if cell["method"] == "gaussian-cov":
        return np.linalg.norm(cut(s + noise(rng, d) / (math.sqrt(rho) * n), -1.0) - s)
    scale = math.sqrt(2) / (math.sqrt(rho) * n)  # half of rho each
    values = np.linalg.eigvalsh(s) + scale * rng.standard_normal(d)
    vectors = np.linalg.eigh(s + scale * noise(rng, d))[1]
    return np.linalg.norm((vectors * values) @ vectors.T - s)


DRAW = {"1-figure-1": sparse, "2-table-1": ridge, "5-figure-2": spectrum, "5-figure-3": spectrum}


def pool(folder=STORED):
    """Return the stored cells that are written out here, as (table, row)."""
    found = []
    for table in TABLES:
        with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                ours = row["variant"] == "as published" and row["metric"] in NORMS and int(row["replicates"]) > 1
                if ours and row["method"] in METHODS.get(table, THRESHOLDS):
                    found.append((table, row))
    return found


def recompute(table, row, rng):
    """Return (mean, deviation of the mean) of `DRAWS` draws of a cell."""
    draw = DRAW.get(table, thresholded)
    values = np.array([draw(row, rng) for _ in range(DRAWS)])
    return values.mean(), values.std(ddof=1) / math.sqrt(DRAWS)


def compare(cells, seed, folder=STORED):
    """Yield (table, row, mean, standard errors apart) of random cells."""
    rng = np.random.default_rng(seed)
    known = pool(folder)
    for k in rng.choice(len(known), size=cells, replace=False):
        table, row = known[k]
        mean, error = recompute(table, row, rng)
        stored, spread = float(row["value"]), float(row["sd"] or 0) / math.sqrt(int(row["replicates"]))
        # Six digits are stored, and an answer that no row changes has no spread.
        apart = abs(mean - stored) / math.hypot(error, spread, 1e-5 * stored)
        yield table, row, mean, apart


def main(cells=12, seed=1):
    """Print the comparison; return whether every cell agrees."""
    same = True
    for table, row, mean, apart in compare(cells, seed):
        same &= apart <= REACH
        names = ", ".join(row[k] for k in ("model", "law", "data", "n", "d", "epsilon", "method", "metric") if row[k])
        print(f"{table}: {names}: stored {row['value']}, here {mean:.6g}, {apart:.1f} standard errors apart")
    return same


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
