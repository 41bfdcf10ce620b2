"""CoinPress: whiten, clip and measure in a few steps, each on a data set that is rounder than the one before."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, ZCDP
from privcov.core.parameters import parameter
from privcov.estimators.base import METHODS, Method, MethodInput, Outcome
from privcov.measurements.eigenvalues import top
from privcov.measurements.whitened import measure_whitened
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import clip_psd

TAIL = 0.1  # expected number of Gaussian rows that the clip would shorten
LAST = 0.75  # fraction of the guarantee for the last step


@METHODS.add(
    key="coinpress",
    label="CoinPress",
    target="covariance",
    family="Spectral",
    guarantees=(ApproxDP, ZCDP),
    standing="proved",
    order=44,
    summary="Measures coarsely, whitens the rows by the answer, clips them to the length of Gaussian rows, and "
    "measures again.",
    formula=r"Z_i=\tfrac1n\sum_k\mathrm{clip}_\gamma(A_ix_k)\,\mathrm{clip}_\gamma(A_ix_k)^\top+N_i,\quad "
    r"\hat\Sigma=A_t^{-1}Z_tA_t^{-\top}",
    avoid="For Frobenius error on well-conditioned data, and for heavy tails: its clip assumes Gaussian rows.",
    reference="Biswas, Dong, Kamath and Ullman (2020), Algorithm 4; a comparison method of Dong et al. 2022, "
    "Section 6.",
    differs="The last congruence is A^-1 Z A^-T (the public code has A^-1 Z A^-1, wrong from the third step on), rows "
    "are clipped to R before the first step, and no step clips longer than the rows can be.",
)
@dataclass(frozen=True)
class CoinPress(Method):
    """Noisy second moments of rows that are whitened by the result of the step before.

    Guarantee
    ---------
    As asked, replace-one with public n; the proof is in measurements/whitened.py.

    Spends
    ------
    The whole guarantee: three quarters on the last step, the rest in equal parts on the others.

    Notes
    -----
    Step i: W = A X, clipped to gamma = sqrt(d + 2 sqrt(d ln(1/beta)) + 2 ln(1/beta)); Z is its noisy second moment,
    made positive semi-definite; U = Z + (eta + nu) I with eta = sqrt(d/n) + d/(2n) for sampling and nu the edge of the
    noise spectrum; A <- U^(-1/2) A. The first A is I / sqrt(u).
    """

    steps: int = parameter(2, "Steps", low=1, high=5, help="1 is the Gaussian mechanism with a Gaussian clip.")
    largest_eigenvalue: float = parameter(
        1.0,
        "Bound on the eigenvalues",
        low=1e-6,
        high=1.0,
        log=True,
        unit="R squared",
        help="Public bound on the largest eigenvalue, as a share of R squared. If wrong, the answer is too "
        "small, not less private.",
        ends=("less noise, if it holds", "assumes nothing"),
    )

    def run(self, inputs: MethodInput) -> Outcome:
        """Measure step by step, and undo the whitening of the last step."""
        joint = inputs.centre == "joint"
        size, n = inputs.dataset.d + joint, inputs.dataset.n
        weights = [1.0] if self.steps == 1 else [(1 - LAST) / (self.steps - 1)] * (self.steps - 1) + [LAST]
        shares = accounting.split(inputs.guarantee, **{f"step{i}": w for i, w in enumerate(weights, start=1)})
        tail = math.log(1 / TAIL)
        gamma = math.sqrt(size + 2 * math.sqrt(size * tail) + 2 * tail)
        eta = math.sqrt(size / n) + size / (2 * n)
        whiten = np.eye(size) / math.sqrt(self.largest_eigenvalue)
        colour = np.eye(size) * math.sqrt(self.largest_eigenvalue)  # the inverse of ``whiten``, updated with it
        events, radii = [], []
        for name, share in shares.items():
            radius = min(gamma, float(np.linalg.norm(whiten, 2)) * math.sqrt(top(joint)))
            z, distribution, event = measure_whitened(
                inputs.dataset, share, whiten, radius=radius, joint=joint, rng=inputs.rng, name=name
            )
            events.append(event)
            radii.append(radius)
            z = clip_psd(z)
            if len(radii) < self.steps:
                values, vectors = np.linalg.eigh(z)
                root = np.sqrt(values + eta + distribution.spectral_edge)
                whiten = (vectors / root) @ vectors.T @ whiten
                colour = colour @ (vectors * root) @ vectors.T
        matrix = colour @ z @ colour.T
        moments = unpack((matrix + matrix.T) / 2, centre=inputs.centre, row_bound=inputs.dataset.row_bound)
        radii_text = ", ".join(f"{r:.4g}" for r in radii)
        notes = (f"Clipping norms of the whitened rows, step by step: {radii_text}.",)
        return Outcome(None, moments, notes=notes, steps=tuple(e for e in events if e is not None))
