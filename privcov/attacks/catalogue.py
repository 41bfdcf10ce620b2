"""The published claims: a frozen description each. Numbers are computed in claims.py.

**Preparing steps** of the papers' experiments read the raw rows. Each function below returns the Frobenius change
(unit-ball units) of the matrix to which noise is then added, computed from two explicit neighbouring tables of n rows:
a lower bound on the sensitivity, where sqrt(2)/n was assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP
from privcov.core.references import AUTHORS

TRUE, LOOSE, LUCKY, EMPTY = "true", "true, loose", "true, wrong proof", "true, worthless"
FALSE, NONE = "false", "no guarantee"
VERDICTS = (FALSE, NONE, EMPTY, LUCKY, LOOSE, TRUE)
_ONE_OVER_N = (
    "The sensitivity 1/n holds where a row is left out. Replacing a row changes sqrt(2)/n, whether the whole matrix or "
    "one triangle is released. The classical constant is loose enough to hide the difference up to some epsilon."
)
_LOCAL = "Two rows of one user differ by sqrt(2) in Frobenius norm; the printed noise is made for 1."
_SUPPORT = (
    "The answer less the exact matrix is always positive semi-definite, so some answers are possible with one table "
    "only: no epsilon is large enough."
)


@dataclass(frozen=True)
class Claim:
    """One printed guarantee.

    ``kind`` is "pure", "approx" or "zcdp" (rho is then the largest that implies the pair). ``proof_sensitivity`` is the
    sensitivity of the proof, times n, as a function of d, or None. Above ``most_d`` columns the method is run at
    most_d: its ratio of sensitivity and noise has settled. ``change``: for a preparing step, the change of the matrix
    by one row, as a function of n and d; the noise is then the sound one for sqrt(2)/n. ``grows``: the printed noise
    does not fall as 1/n, so all rows of the table are used. ``most_epsilon`` is the end of the printed range, or 10
    where no end is printed. ``why``: reason for a verdict other than "true".
    """

    key: str
    paper: str
    where: str
    mechanism: str
    kind: str
    method: str
    calibration: str
    proof_sensitivity: Callable[[int], float] | None
    why: str
    most_d: int = 10_000
    change: Callable[[int, int], float] | None = None
    grows: bool = False
    most_epsilon: float = 10.0

    def rows(self, n: int) -> int:
        """Return the number of rows of the small table on which the method is run."""
        return n if self.grows else 4

    def guarantee(self, epsilon: float, delta: float) -> Guarantee:
        """Return what is claimed at these levels; a claim in zCDP gets the largest rho that implies them."""
        if self.kind == "pure":
            return PureDP(epsilon)
        return ApproxDP(epsilon, delta) if self.kind == "approx" else ZCDP(accounting.approx_to_zcdp(epsilon, delta))


def _one(d: int) -> float:
    return 1.0


def _root2(d: int) -> float:
    return math.sqrt(2)


CLAIMS = (
    Claim("1-gauss", AUTHORS[1], "Theorem 1, Algorithm 1", "Gaussian noise, sensitivity 1/n", "approx",
          "gaussian-cov", "as-published-1", _one, _ONE_OVER_N, most_epsilon=1.0),
    Claim("2-ridge", AUTHORS[2], "Theorem 3.1, Algorithm 1", "Gaussian noise, 1/n missing", "approx",
          "ridge-precision", "as-printed", None,
          "The printed noise lacks 1/n and is n times what is needed: private, useless. The experiments had 1/n.", 10,
          grows=True),
    Claim("2-ridge-run", AUTHORS[2], "Algorithm 1 as it was run", "Gaussian noise, classical constant", "approx",
          "ridge-precision", "as-published", _root2,
          "The theorem wants epsilon < 1; the formula stays right well beyond, and wastes noise below.", 10),
    Claim("2-agl", AUTHORS[2], "Theorem 3.2, Algorithm 2", "Gaussian noise, classical constant", "approx",
          "glasso-gaussian", "as-published-2", _root2,
          "The theorem wants epsilon < 1; the formula stays right well beyond, and wastes noise below.", 30),
    Claim("3-gauss", AUTHORS[3], "Covariance perturbation, Gaussian", "Gaussian noise, sensitivity 1/n", "approx",
          "gaussian-cov", "as-published-3", _one, _ONE_OVER_N),
    Claim("3-laplace", AUTHORS[3], "Covariance perturbation, Laplace", "Laplace noise, scale 2d/(n epsilon)", "pure",
          "laplace-cov", "as-published-3", lambda d: 2.0 * d,
          "One triangle changes by at most sqrt(d^2/2 + d + 1) in the sum of absolute values; 2d is up to 2.8 times "
          "that."),
    Claim("3-wishart-pure", AUTHORS[3], "Covariance perturbation, Wishart, pure", "Wishart noise, m = d + 1", "pure",
          "wishart-pure", "as-published", None, _SUPPORT),
    Claim("3-wishart-approx", AUTHORS[3], "Covariance perturbation, Wishart",
          "Wishart noise, m = d + 14 ln(4/delta)/epsilon^2", "approx", "wishart-approx", "as-published", None,
          "Several times the degrees of freedom needed at small epsilon, too few at large ones; the column compares "
          "degrees of freedom."),
    Claim("3-output", AUTHORS[3], "Algorithm 1, output perturbation", "Wishart noise on the lasso's answer", "pure",
          "output-perturbation", "as-published", None, _SUPPORT + " The delta shown is a proved upper bound.", 2),
    Claim("4-central", AUTHORS[4], "Theorem 1, Algorithm 1", "Gaussian noise, classical constant", "approx",
          "gaussian-cov", "as-published-4", _root2,
          "The right sensitivity. The theorem wants epsilon < 1; the formula stays right well beyond.",
          most_epsilon=1.0),
    Claim("4-local", AUTHORS[4], "Theorem 2, Algorithm 2", "local Gaussian reports", "approx",
          "modified-ldp-thresholding", "as-published", _one, _LOCAL, 30, most_epsilon=1.0),
    Claim("4-local-1", AUTHORS[4], "its comparison, the local form of paper 1", "local Gaussian reports", "approx",
          "ldp-thresholding", "as-published", _one, _LOCAL, 30, most_epsilon=1.0),
    Claim("5-gauss", AUTHORS[5], "Section 3.1, GaussCov", "Gaussian noise, zCDP", "zcdp",
          "gaussian-cov", "as-published-5", _root2, "Right sensitivity, right noise."),
    Claim("5-separate", AUTHORS[5], "Algorithm 1, SeparateCov", "Gaussian eigenvalues and eigenvectors", "zcdp",
          "separate-cov", "as-published-5", _root2, "Right sensitivities; epsilon and delta split exactly.", 30),
    Claim("5-laplace", AUTHORS[5], "public code, LapCov", "Laplace noise, scale sqrt(2) d/(n epsilon)", "pure",
          "laplace-cov", "as-published-5", lambda d: math.sqrt(2) * d,
          "The l1 norm of the whole matrix; one triangle, which is what is released, needs half."),
    Claim("sulq", AUTHORS[3], "comparison, MOD-SULQ", "Gaussian noise that grows with d", "approx",
          "sulq", "as-published", None, "Proved entry by entry: about d times more noise than the matrix needs.", 100),
    Claim("max-norm", "Su et al. 2019 and Dong et al. 2022", "experiments", "rows divided by the longest row", "approx",
          "gaussian-cov", "sound", _root2,
          "One long row shrinks all the others. Shown: n - 1 rows of 0.01 e1 and one e2, or n rows of 0.01 e1.",
          change=lambda n, d: by_the_longest_row(n)),
    Claim("centring", "Dong et al. 2022", "in its text", "sample mean subtracted", "approx",
          "gaussian-cov", "sound", _root2,
          "One row moves the mean, and with it all the others: 4 (n - 1)/n^2. Shown: rows at -e1, one of them at e1.",
          change=lambda n, d: by_the_sample_mean(n)),
    Claim("ball-1", AUTHORS[1], "experiments", "rows outside the unit ball", "approx", "gaussian-cov", "sound", _root2,
          "Rows of its generator have a mean squared norm of d/4, the noise is made for 1. Shown: two rows of that "
          "length.", change=lambda n, d: rows_of_typical_length(d / 4, n)),
    Claim("ball-4", AUTHORS[4], "experiments", "rows outside the unit ball", "approx", "gaussian-cov", "sound", _root2,
          "Rows of N(0, Sigma) with unit variances have a mean squared norm of d, the noise is made for 1. Shown: two "
          "rows of that length.", change=lambda n, d: rows_of_typical_length(float(d), n)),
)  # fmt: skip


def definition_rows(n: int) -> list[dict]:
    """Return the claims that need no curve: delta = 1/n, and tuning on the raw rows."""
    no_curve: dict = dict.fromkeys(
        ("True delta at epsilon", "True epsilon at delta", "Sensitivity used", "True sensitivity", "Noise / needed"),
        math.nan,
    )
    tiny = {
        "Paper": "Wang, Xu & He 2019 and Su et al. 2019",
        "Mechanism": "delta = 1/n",
        "Claim": f"(0, {1 / n:.3g})-DP",
        "Verdict": EMPTY,
        "True delta at epsilon": 1 / n,
        "True epsilon at delta": 0.0,
        "Why": "Printing one row, picked at random, keeps this claim: every person comes out in clear with "
        f"probability 1/n = {1 / n:.3g}, and in every release somebody does. Mathematics 2023 takes about 1/(2n).",
    }
    raw = {
        "Paper": "Su et al. 2019 and Mathematics 2023",
        "Mechanism": "tuned on the raw rows",
        "Claim": "",
        "Verdict": NONE,
        "Why": "Cross-validation reads the rows without noise, and no bound is known on the change by one row. "
        'The demonstration "Tuning on raw rows" shows what it tells.',
    }
    return [no_curve | {"Where": "experiments", "Method": "", "Calibration": ""} | one for one in (tiny, raw)]


def moment(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (1/n) sum of x x' over rows that occur ``weights`` times."""
    return (rows * weights[:, None]).T @ rows / weights.sum()


def by_the_longest_row(n: int) -> float:
    """Divide every row by the largest norm in the table: n - 1 rows 0.01 e_1 and one e_2, or n rows 0.01 e_1."""
    checks.integer("n", n, 2)
    few, many = np.array([[0.01, 0.0], [0.0, 1.0]]), np.array([[0.01, 0.0]])
    tables = [(few, np.array([n - 1.0, 1.0])), (many, np.array([float(n)]))]
    first, second = (moment(x / np.linalg.norm(x, axis=1).max(), w) for x, w in tables)
    return float(np.linalg.norm(first - second))


def by_the_sample_mean(n: int) -> float:
    """Subtract the mean of the table first: n - 1 rows -e_1 and one e_1, or n rows -e_1."""
    checks.integer("n", n, 2)
    tables = [
        (np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([n - 1.0, 1.0])),
        (np.array([[-1.0, 0.0]]), np.array([float(n)])),
    ]
    first, second = (moment(x - (x * w[:, None]).sum(axis=0) / w.sum(), w) for x, w in tables)
    return float(np.linalg.norm(first - second))


def rows_of_typical_length(squared: float, n: int) -> float:
    """Use rows without clipping: two orthogonal rows of this squared norm where the noise was made for norm 1."""
    x, y = math.sqrt(squared) * np.eye(2)
    return float(np.linalg.norm(np.outer(x, x) - np.outer(y, y))) / checks.integer("n", n, 1)
