"""The default covariance method: the least noise for many columns, then shrinkage fitted to the known noise.

The covariance block is shrunk (centred.py, denoise.py), not the joint matrix: the anchor's eigenvalue always leaves the
noise, so the joint matrix would never say that it holds no signal.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from privcov import accounting
from privcov.dataset import Dataset
from privcov.estimators.base import ALL_KINDS, METHODS, Method, MethodInput, OtherSteps, Outcome, Request
from privcov.estimators.centred import shrunk_moments
from privcov.estimators.mechanisms import LeastNoise
from privcov.measurements.laws.anchor import MATTERS
from privcov.measurements.moment import ALL_CENTRES, Measured
from privcov.measurements.norm_histogram import measure_norms, norm_noise
from privcov.parameters import parameter
from privcov.privacy import RELATIONS, BudgetShare, Event, NoPrivacy, PureDP

CLIP_SHARE = 0.02
ROUTES = {
    "free-trace": "Route: Gaussian noise with an accurate trace, then eigenvalue shrinkage.",
    "laplace": "Route: Laplace noise, because pure DP was asked for and there is one column.",
    "wishart-difference": "Route: the difference of two Wishart matrices, because pure DP was asked for, then "
    "eigenvalue shrinkage.",
}
SEARCH_OFF = "Clip search: off, so there is one measurement."


@METHODS.add(
    key="auto-cov",
    label="Auto (shrinkage)",
    target="covariance",
    family="Additive",
    guarantees=ALL_KINDS,
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=10,
    version=3,
    for_private={"clip_search": "off"},
    summary="The least noisy of the shapes here for many columns (Gaussian with accurate variances; under pure DP the "
    "difference of two Wishart matrices), then shrinkage that knows the noise: by eigenvalues where relations show, "
    "towards zero where nothing does.",
    formula=r"\hat\Sigma = J + w\,(F-J),\quad F=V\,\mathrm{diag}\big((\lambda_i-2v\,h_i)_+\big)V^\top,\quad "
    r"v=d\,\sigma^2/2",
    avoid="When you need an unbiased matrix for further inference: take the raw noisy matrix instead.",
    reference="Own combination; shrinkage after Bun, Allez, Bouchaud and Potters (2016) and James and Stein (1961).",
)
@dataclass(frozen=True)
class AutoCov(Method):
    """The least noise for the guarantee among the shapes here, for many columns, then shrinkage by the known noise.

    Parameters
    ----------
    clip_search : {"auto", "off"}
        "auto" spends CLIP_SHARE of the guarantee on a noisy histogram of row norms and may lower the row bound, which
        helps where the longest rows are much longer than most. It spends nothing where d is too small for it to pay.
        "off" makes one measurement only, as private rows need.
    matters : {"both", "covariance", "mean"}
        With a mean and a public number of rows: "covariance" measures with a smaller anchor, which makes the covariance
        more accurate and the mean less; "mean" does the opposite. See measurements/laws/anchor.py.

    Guarantee
    ---------
    As asked; the proofs are in measurements/moment.py, noise.py and norm_histogram.py.

    Spends
    ------
    The whole guarantee: in one measurement, or 2 % on the histogram of norms and the rest on the matrix.

    Reference
    ---------
    Own combination; shrinkage after Bun, Allez, Bouchaud and Potters (2016), and James and Stein (1961).
    """

    clip_search: str = parameter(
        "auto",
        "Clip search",
        choices=("auto", "off"),
        help="auto: with many columns, spend 2 % of the guarantee on looking for a smaller row bound.",
    )

    matters: str = parameter(
        "covariance",
        "What matters",
        choices=MATTERS,
        help="With a mean and a public number of rows: which of the two the noise favours.",
    )

    mechanism = LeastNoise()

    def request(self, ask: MethodInput) -> Request:
        """Return the one measurement without a clip search.

        Raises
        ------
        OtherSteps
            With a clip search, which looks at the norms of the rows first.
        """
        if self.clip_search != "off":
            raise OtherSteps("A clip search looks at the norms of the rows first.")
        return self._wanted(ask)

    def _wanted(self, ask: MethodInput) -> Request:
        """Return the measurement of the matrix, under the whole guarantee."""
        return dataclasses.replace(self.mechanism.request(ask), matters=self.matters)

    def run(self, ask: MethodInput) -> Outcome:
        """Look for a smaller row bound where that pays, then measure once and finish."""
        wanted, dataset, note, steps = self._wanted(ask), ask.dataset, SEARCH_OFF, ()
        if self.clip_search == "auto" and not isinstance(ask.guarantee, NoPrivacy):
            parts = accounting.split(ask.guarantee, norms=CLIP_SHARE, matrix=1 - CLIP_SHARE)
            noise = affordable_rows(parts["matrix"], ask.d)
            if noise > 2 * norm_noise(parts["norms"], ask.relation):
                wanted = dataclasses.replace(wanted, share=parts["matrix"])
                dataset, note, event = search_clip(ask, parts["norms"], noise)
                steps = (event,)
            else:
                note = f"Row bound not tuned: no gain at {ask.d} columns."
        outcome = self.finish(ask, wanted.carried_out(dataclasses.replace(ask, rows=dataset)))
        return dataclasses.replace(outcome, steps=steps, notes=(outcome.notes[0], note))

    def finish(self, ask: MethodInput, measured: Measured) -> Outcome:
        """Return the moments with the covariance shrunk."""
        notes = (ROUTES[self.mechanism.shape(ask)], SEARCH_OFF)
        return Outcome(measured, shrunk_moments(measured), count=measured.count, notes=notes)


def affordable_rows(share: BudgetShare, d: int) -> float:
    """Return how many rows may lose all of a squared norm before it costs more than a smaller bound saves.

    What is saved is noise of the matrix, halved by the shrinkage. n and the rows do not enter, so the number is public.

    Parameters
    ----------
    share : BudgetShare
        The share for the matrix.
    d : int
        Number of columns.

    Returns
    -------
    float
        A number of rows, above 0.
    """
    if isinstance(share, PureDP):  # the Frobenius norm of Wishart-difference noise is about sqrt(2) (d + 1) sqrt(d) C n
        return math.sqrt(2) * (d + 1) * math.sqrt(d) / share.epsilon / 2
    return accounting.gaussian_scale(share, math.sqrt(2)) * math.sqrt(d * (d + 1)) / 2 / 2


def search_clip(ask: MethodInput, share: BudgetShare, affordable: float) -> tuple[Dataset, str, Event]:
    """Choose a row bound from a noisy histogram of the row norms.

    Halving the bound from e to e/2 saves (e^2 - e^2/4) times the noise and costs at most (e^2 - e^2/4) / n for every
    row longer than e/2. So the bound is halved while the number of such rows, plus two standard deviations of its
    noise, stays below what is affordable.

    Parameters
    ----------
    ask : MethodInput
        The input of the run.
    share : BudgetShare
        The share for the histogram.
    affordable : float
        Number of rows from `affordable_rows`.

    Returns
    -------
    dataset : Dataset
        The data set under the chosen row bound.
    note : str
        What was done, for the notes of the release.
    event : Event
        The measurement of the norms.

    Guarantee
    ---------
    The share, under the neighbouring relation of ``ask``; the proof is in measurements/norm_histogram.py.

    Spends
    ------
    The whole share that is given.

    Reference
    ---------
    Own construction.
    """
    dataset = ask.dataset
    counts, std, event = measure_norms(dataset, share, rng=ask.rng, name="norms", relation=ask.relation)
    longer = np.cumsum(counts) + 2 * std * np.sqrt(np.arange(1, len(counts) + 1))
    too_many = np.flatnonzero(longer >= affordable)
    halvings = int(too_many[0]) if len(too_many) else len(counts)
    chosen = dataset.with_row_bound(dataset.row_bound * 2.0**-halvings)
    action = f"lowered the row bound from {dataset.row_bound:.4g} to" if halvings else "kept the row bound"
    return chosen, f"Clip search: {action} {chosen.row_bound:.4g}.", event
