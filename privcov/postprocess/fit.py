"""One point of a lambda path, as every solver of the graphical lasso returns it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Fit:
    """The result at one penalty.

    Attributes
    ----------
    lam : float
        Penalty, in the units of the matrix that was solved for.
    precision : ndarray of shape (d, d) or None
        Symmetric positive definite with exact zeros, or None where there is no answer.
    status : {"ok", "not converged", "infeasible"}
        "ok": certified to the gap that was asked for. "infeasible": the problem has no solution.
    gap : float
        Certified duality gap per variable in nats, NaN where unknown.
    sweeps : int
        Passes over the columns, or iterations of the splitting method.
    solver : str
        Which solver answered.
    """

    lam: float
    precision: np.ndarray | None
    status: str
    gap: float = float("nan")
    sweeps: int = 0
    solver: str = ""
