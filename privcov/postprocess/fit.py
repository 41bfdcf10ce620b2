"""One point of a lambda path, as every solver of the graphical lasso returns it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The result at one penalty.

    lam: penalty, in the units of the matrix that was solved for. precision: symmetric positive definite with exact
    zeros, or None. status: "ok" (certified), "not converged" or "infeasible". gap: certified duality gap per variable
    in nats, NaN where unknown. sweeps: passes over the columns, or iterations of the splitting method.
    """

    lam: float
    precision: np.ndarray | None
    status: str
    gap: float = float("nan")
    sweeps: int = 0
    solver: str = ""
