"""Common steps of every graphical lasso on a noisy matrix: repair, path, and the lambda that a rule picks from it.

One measurement is made; the repair, the whole path and the rules read only that, so they are free. Everything is
solved in unit-ball units and turned into working units at the end.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from privcov.core.parameters import parameter
from privcov.estimators.base import MethodInput, Outcome, moments_of
from privcov.estimators.mechanisms import MechanismMethod
from privcov.estimators.precision import fission_halves, target
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.feasibility import Infeasible, diagnose
from privcov.postprocess.fit import PathPoint
from privcov.postprocess.glasso import has_descent, lambda_max, solve_path
from privcov.postprocess.lambda_choice import FISSION_SPLITS, RULES, choices, fission_scores, nearest, solved_positions
from privcov.postprocess.repair import REPAIRS, repair_for_lasso
from privcov.postprocess.spectrum import clip_psd

PATH_POINTS, PATH_DEPTH = 20, 0.01  # depth: the smallest lambda as a fraction of the largest
GAPS = {"screen": 1e-6, "print": 1e-7}
FLOOR = 0.01  # eigenvalue floor of the repair, as a fraction of the mean variance
ROUNDING = 1e-12  # a variance below this fraction of the second moment is rounding error
SMALLEST = 1e-100  # below this, in unit-ball units, products of two variances underflow
TUNINGS = ("released", "fixed")
NO_VARIANCE = (
    "The noisy matrix has no variance left, so there is no precision matrix. "
    "Use a larger epsilon, more rows, or fewer columns."
)


@dataclass(frozen=True, eq=False)
class SolvedPath:
    """The lambda path of one measurement, in unit-ball units, with at least one precision matrix.

    clipped: the noisy moment of the covariance and the mean. s: the repaired matrix that was solved for.
    """

    clipped: np.ndarray
    s: np.ndarray
    path: tuple[PathPoint, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Glasso(MechanismMethod):
    """Base of the graphical lassos, whose subclasses bring the mechanism and what their papers print.

    Tuning "released" chooses lambda by ``rule``; "fixed", and as published "released" too, takes ``penalty`` times the
    smallest lambda that empties the graph.
    """

    rule: str = parameter(
        "ebic",
        "Rule for lambda",
        choices=RULES,
        help="Free. ebic aims at the likelihood, fission at estimation error (exact for Gaussian noise only).",
    )
    penalty: float = parameter(
        0.2,
        "Penalty",
        low=0.001,
        high=1.0,
        log=True,
        help="Share of the lambda that empties the graph; for fixed or as-published tuning.",
        ends=("more edges", "fewer edges"),
    )
    repair: str = parameter(
        "psd",
        "Repair of the spectrum",
        choices=tuple(REPAIRS),
        advanced=True,
        help="Free. psd: raise low eigenvalues. ridge: add to the diagonal. none: "
        " small penalties may have no solution.",
    )

    accuracy: str = parameter(
        "screen",
        "Accuracy",
        choices=tuple(GAPS),
        advanced=True,
        help="Certified gap per variable: screen 1e-6 nats, print 1e-7.",
    )

    def finish(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> Outcome:
        """Repair the noisy matrix, solve the path and choose a matrix."""
        solution = self.solve(inputs, noisy_moment)
        precision, choice_notes = self.choose_precision(inputs, noisy_moment, solution)
        whole = with_lengths(noisy_moment)
        r2 = whole.row_bound**2
        path = tuple(
            dataclasses.replace(fit, lam=fit.lam * r2, precision=None if fit.precision is None else fit.precision / r2)
            for fit in solution.path
        )
        moments = moments_of(whole, solution.clipped)
        return Outcome(
            noisy_moment, moments, precision / r2, path, solution.notes + choice_notes, count=noisy_moment.count
        )

    @property
    def lambda_rule(self) -> str:
        """The rule that chooses lambda under tuning "released"."""
        return self.rule

    def solve(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> SolvedPath:
        """Repair the noisy matrix and solve the path, without choosing lambda; ValueError where none has an answer."""
        published = inputs.calibration != "sound"
        if published:
            clipped = self.as_printed(noisy_moment)
            s = target(clipped, inputs.centre, noisy_moment.distribution.n_anchors)
            path, notes = self.path_as_published(s, noisy_moment, inputs)
        else:
            clipped, s, notes = self._repaired(noisy_moment)
            path = solve_path(s, points=PATH_POINTS, depth=PATH_DEPTH, tol=GAPS[self.accuracy])
            if not has_descent():
                notes += ("Solved by ADMM: the faster solver needs numba, which cannot be loaded here.",)
        if not solved_positions(path):
            raise ValueError(f"The graphical lasso failed on the noisy matrix: {_cause(path, s, published)}")
        return SolvedPath(clipped, s, path, notes)

    def _position(self, inputs: MethodInput, noisy_moment: NoisyMoment, solution: SolvedPath) -> tuple[str, int]:
        """Return the rule, "chosen" without one, and the position of its lambda on the path."""
        published, path, s = inputs.calibration != "sound", solution.path, solution.s
        lambdas = [fit.lam for fit in path]

        def solve(matrix: np.ndarray) -> list[np.ndarray | None]:
            if np.trace(matrix) <= SMALLEST * len(matrix):
                return [None] * len(path)
            fits = solve_path(matrix, lambdas, penalise_diagonal=published, tol=GAPS[self.accuracy])
            return [fit.precision for fit in fits]

        if inputs.tuning == "fixed" or published:
            return "chosen", nearest(path, self.penalty * lambdas[0])
        scores = None
        if self.lambda_rule == "fission":
            halves = fission_halves(noisy_moment, inputs.rng)
            scores = fission_scores(halves, lambda t: solve(self._for_lasso(t)), FISSION_SPLITS)
        positions = choices(path, s, noisy_moment.distribution.off_diagonal_std, noisy_moment.n_rows, scores=scores)
        return self.lambda_rule, positions[self.lambda_rule]

    def _repaired(self, noisy_moment: NoisyMoment) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """Return the matrix for the moments, the matrix for the lasso, and what was done."""
        whole = noisy_moment.matrix
        clipped = whole if self.repair == "none" else clip_psd(whole)
        noisy = target(
            clipped if self.repair == "psd" else whole, noisy_moment.centre, noisy_moment.distribution.n_anchors
        )
        size = float(np.trace(clipped[: len(noisy), : len(noisy)]))
        if np.trace(noisy) <= max(ROUNDING * size, SMALLEST * len(noisy)):
            raise ValueError(NO_VARIANCE)
        repaired = repair_for_lasso(noisy, self.repair, FLOOR)
        return clipped, repaired.matrix, (repaired.sentence,)

    def _for_lasso(self, half: np.ndarray) -> np.ndarray:
        """Return one half of a fission, repaired like the matrix itself where it has a variance."""
        return repair_for_lasso(half, self.repair, FLOOR).matrix if np.trace(half) > 0 else half

    def as_printed(self, noisy_moment: NoisyMoment) -> np.ndarray:
        """Return the matrix that the paper's lasso gets."""
        return noisy_moment.matrix

    def path_as_published(
        self, s: np.ndarray, noisy_moment: NoisyMoment, inputs: MethodInput
    ) -> tuple[tuple[PathPoint, ...], tuple[str, ...]]:
        """Solve the path of the problem that Wang et al. 2018 prints, and return it with notes.

        Every entry is penalised. A matrix far from positive semi-definite has no solution below the penalty that
        empties the graph; the path then starts just above where solutions begin. ValueError where no variance is left.
        """
        notes = ("As published, every entry is penalised, the diagonal too, and nothing is repaired.",)
        size = float(np.abs(np.diag(s)).mean())
        if size <= SMALLEST:
            raise ValueError(NO_VARIANCE)
        diagnosis = diagnose(s, penalise_diagonal=True)
        top = max(lambda_max(s) or size, 1.1 * diagnosis.smallest)
        lambdas = np.geomspace(top, PATH_DEPTH * top, PATH_POINTS)
        path = solve_path(s, lambdas, penalise_diagonal=True, tol=GAPS[self.accuracy], diagnosis=diagnosis)
        n_infeasible = sum(fit.status == "infeasible" for fit in path)
        if n_infeasible:
            notes += (
                f"{n_infeasible} of {len(path)} penalties have no solution, because the noisy matrix is indefinite; "
                "the paper leaves open what to do then, and they are left out.",
            )
        return path, notes

    def choose_precision(
        self, inputs: MethodInput, noisy_moment: NoisyMoment, solution: SolvedPath
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the precision matrix of the release, unit-ball units, and notes."""
        rule, best = self._position(inputs, noisy_moment, solution)
        how = f"rule {rule}" if rule != "chosen" else f"the usable one nearest to {self.penalty:g} of the largest"
        fit = solution.path[best]
        lam = fit.lam * with_lengths(noisy_moment).row_bound ** 2
        note = f"Chosen lambda: {lam:.4g} (point {best + 1} of {len(solution.path)}), by {how}."
        if fit.status != "ok":
            note += f" The solver did not converge there (gap {fit.gap:.2g} nats per variable)."
        assert fit.precision is not None  # rules choose among those with a matrix
        return fit.precision, (note,)


def with_lengths(noisy_moment: NoisyMoment) -> NoisyMoment:
    """Return the measurement in units in which rows that a search shortened have the lengths they had, on average."""
    if noisy_moment.bound_search is None:
        return noisy_moment
    return dataclasses.replace(
        noisy_moment, row_bound=noisy_moment.row_bound / math.sqrt(noisy_moment.bound_search.kept_square)
    )


def _cause(path: tuple[PathPoint, ...], s: np.ndarray, published: bool) -> str:
    if any(fit.status == "infeasible" for fit in path):
        return str(Infeasible(max(fit.lam for fit in path), diagnose(s, penalise_diagonal=published)))
    return "no penalty of the path converged. Use a larger epsilon, more rows, or fewer columns."
