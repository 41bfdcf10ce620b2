"""AdaptiveCov: find a clipping norm for the rows privately, then release under the smaller bound."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from privcov.core import accounting
from privcov.core.guarantees import BudgetShare, Event, Guarantee, PureDP
from privcov.core.parameters import parameter
from privcov.estimators.base import ALL_KINDS, METHODS, Method, MethodInput, Outcome
from privcov.estimators.papers.separate_cov import (
    PUBLISHED,
    eigenvectors,
    matrix_shape,
    measure_both,
    published_guard,
    published_share,
    tidy,
)
from privcov.measurements import eigenvalues
from privcov.measurements.eigenvalues import measure_trace
from privcov.measurements.moment import ANCHOR_SQUARED, NoisyMoment, measure_moment, sensitivity
from privcov.measurements.noise_constants import closed_form, monte_carlo
from privcov.measurements.sparse_vector import measure_radius, measure_threshold
from privcov.postprocess.moments import unpack
from privcov.postprocess.spectrum import assemble, clip_box
from privcov.tables.dataset import Dataset

# Eighths of the guarantee: with a private radius as in Algorithm 2, without as in the authors' experiments.
WITH_RADIUS = {"radius": 1, "trace": 1, "threshold": 2, "matrix": 4}
WITHOUT_RADIUS = {"trace": 1, "threshold": 1, "matrix": 6}


def shares_of(guarantee: Guarantee, radius: str) -> dict[str, BudgetShare]:
    """Return the named shares of the whole guarantee.

    Reference: Dong et al. 2022, Algorithm 2 (private radius); the code of its experiments (public radius).
    """
    return accounting.split_mixed(guarantee, **(WITH_RADIUS if radius == "private" else WITHOUT_RADIUS))


@dataclass(frozen=True)
class ExpectedNoise:
    """Error that the noise will cause after clipping at tau, from public and released numbers.

    tau is a fraction of the radius. `gauss` is ``tau^2`` times the Frobenius norm of the noise matrix, `separate` is
    ``tau^2 (2 sqrt(trace/tau^2 ||E||) + norm of the eigenvalue noise)``.

    frobenius: Frobenius norm of the noise matrix under the whole share. spectral: spectral norm of the noise matrix E
    of half the share. vector: norm of the noise on the eigenvalues. trace: released bound on the trace of the second
    moment. discount: what the first term of `separate` is divided by. corner: ``s^2`` where the mean is measured too,
    because the trace then includes the anchor; else 0. capped: whether it is used, as the paper does not, that rows
    clipped at tau have trace at most ``tau^2``.
    """

    frobenius: float
    spectral: float
    vector: float
    trace: float
    discount: float
    corner: float
    capped: bool

    def gauss(self, tau: float | np.ndarray) -> np.ndarray:
        """Return the expected Frobenius error of the matrix with noise on every entry, after clipping at tau."""
        return np.square(tau) * self.frobenius

    def separate(self, tau: float | np.ndarray) -> np.ndarray:
        """Return the expected Frobenius error of separately measured eigenvalues and vectors, after clipping at tau."""
        fraction = self.trace / np.square(tau)
        fraction = (np.minimum(fraction, 1.0) if self.capped else fraction) + self.corner
        return np.square(tau) * (2 * np.sqrt(fraction * self.spectral) / self.discount + self.vector)

    def smaller(self, tau: float | np.ndarray) -> np.ndarray:
        """Return the smaller of the two errors, which AdaptiveCov compares with the bias of clipping."""
        return np.minimum(self.gauss(tau), self.separate(tau))


@METHODS.add(
    key="adaptive-cov",
    label="AdaptiveCov",
    target="covariance",
    family="Spectral",
    guarantees=ALL_KINDS,
    standing="proved",
    order=41,
    version=3,
    summary="Spends a part on a clipping norm, then releases with Gaussian noise or SeparateCov, whichever "
    "should err less.",
    formula=r"\hat\Sigma=\tau^2\,\mathcal M\big(\mathrm{Clip}(X,\tau)/\tau\big),\quad \tau:\ "
    r"\mathrm{Bias}(\tau)\approx\mathrm{Noise}(\tau)",
    avoid="When row norms are similar or the bound is tight: the search costs a quarter of the guarantee and "
    "gains nothing.",
    reference="Dong et al. 2022, Algorithm 2 and Theorem 3; private radius after Dong and Yi (2021).",
    differs="Simulated noise norms instead of loose bounds, less noisy shapes, spectrum clipped to [0, tau^2], a grid "
    "of 40 halvings, everything measured in units of the private radius, the trace capped at tau^2, and "
    "SeparateCov's bound divided by 6 in the choice, as in the authors' experiments.",
    calibrations={
        "sound": "right sensitivities, exact calibration, rounded to the safe side",
        PUBLISHED: "Algorithm 2 with the printed bounds, noise on the upper triangle, spectrum not clipped; zCDP and "
        "pure DP only",
    },
)
@dataclass(frozen=True)
class AdaptiveCov(Method):
    """Clipping at a privately chosen norm, then Gaussian noise or SeparateCov, whichever is expected to err less.

    Every clip happens inside a measurement. Radius and threshold are powers of two, so scaling by them is exact.

    Guarantee
    ---------
    As asked, replace-one with public n. The proofs are in measurements/sparse_vector.py,
    measurements/eigenvalues.py and measurements/moment.py.

    Spends
    ------
    The whole guarantee, in eighths. With a private radius: radius 1, trace 1, threshold 2, matrix 4. With a public
    radius: trace 1, threshold 1, matrix 6. SeparateCov halves the share of the matrix.
    """

    radius: str = parameter(
        "public",
        "Radius",
        choices=("public", "private"),
        help="public: use R. private: first find a smaller one, for an eighth.",
    )
    constants: str = parameter(
        "monte-carlo",
        "Noise norms",
        choices=("monte-carlo", "closed-form"),
        advanced=True,
        help="Free: simulated quantiles (no data), or the printed bounds, two to three times too large.",
    )
    discount: float = parameter(
        6.0,
        "Discount of SeparateCov's bound",
        low=1.0,
        high=20.0,
        advanced=True,
        help="Free: the bound on SeparateCov's error is about six times what is seen.",
        ends=("prefers plain noise", "prefers SeparateCov"),
    )
    beta: float = parameter(
        0.1,
        "Failure probability",
        low=0.001,
        high=0.5,
        advanced=True,
        help="Of the bounds that steer the search.",
        ends=("wide, safe bounds", "tight bounds"),
    )

    def run(self, inputs: MethodInput) -> Outcome:
        """Choose the clipping norm, then release the matrix under it."""
        published_guard(inputs, self.card)
        shares = shares_of(inputs.guarantee, self.radius)
        dataset, steps, radius = inputs.dataset, [], 1.0
        joint = inputs.centre == "joint"
        if self.radius == "private":
            radius, event = measure_radius(dataset, shares["radius"], miss=self.beta / 4, rng=inputs.rng)
            steps.append(event)
            dataset = dataset.with_row_bound(radius * dataset.row_bound)
        noisy_trace, scale, event = measure_trace(dataset, shares["trace"], rng=inputs.rng)
        steps.append(_in_units_of_r(event, radius))
        offset = np.log(4 / self.beta) if isinstance(shares["trace"], PureDP) else np.sqrt(2 * np.log(8 / self.beta))
        trace = float(np.clip(noisy_trace + scale * offset, 0.0, 1.0))
        noise = self._expect(inputs, dataset, shares["matrix"], trace)
        tau, event = measure_threshold(dataset, noise.smaller, shares["threshold"], rng=inputs.rng)
        steps.append(event)
        size = tau * radius
        clipped = dataset.with_row_bound(tau * dataset.row_bound)
        if noise.separate(tau) >= noise.gauss(tau):
            kind = "Gaussian noise" if not isinstance(inputs.guarantee, PureDP) else "Laplace noise"
            noisy_moment, matrix = self._whole(inputs, clipped, shares["matrix"])
        else:
            kind = "SeparateCov"
            halves = accounting.split(shares["matrix"], values=1, vectors=1)
            spectrum, noisy_moment = measure_both(
                clipped, halves, centre=inputs.centre, calibration=inputs.calibration, rng=inputs.rng
            )
            steps.append(_in_units_of_r(spectrum.event, size))
            values = spectrum.values
            values = values if inputs.calibration == PUBLISHED else tidy(values, eigenvalues.top(joint))
            matrix = assemble(values, eigenvectors(noisy_moment.matrix, "eigh"))
        moments = unpack(matrix, centre=inputs.centre, row_bound=clipped.row_bound)
        notes = (
            f"Rows were clipped at {size:.6g} R, chosen by the sparse vector technique; then {kind}.",
            f"Released bound on the trace of the second moment: {trace * radius**2:.4g} R^2.",
        )
        if radius < 1:
            notes += (f"The private radius is {radius:.6g} R.",)
        raw = _measured_in_units_of_r(noisy_moment, size, inputs.dataset)
        return Outcome(raw, moments, notes=notes, steps=tuple(e for e in steps if e is not None))

    def _whole(self, inputs: MethodInput, clipped: Dataset, share: BudgetShare) -> tuple[NoisyMoment, np.ndarray]:
        """Measure by ClipGaussCov (Laplace under pure DP) in the unit ball of the clipping norm."""
        published = inputs.calibration == PUBLISHED
        shape = matrix_shape(share, inputs.calibration)
        share = published_share(share, clipped.d, inputs.centre == "joint") if published else share
        shape = "free-trace" if shape == "isotropic" else shape
        noisy_moment = measure_moment(clipped, share, centre=inputs.centre, shape=shape, rng=inputs.rng)
        if published:
            return noisy_moment, noisy_moment.matrix
        return noisy_moment, clip_box(noisy_moment.matrix, eigenvalues.top(inputs.centre == "joint"))

    def _expect(self, inputs: MethodInput, dataset: Dataset, share: BudgetShare, trace: float) -> ExpectedNoise:
        published = inputs.calibration == PUBLISHED
        joint, d, n = inputs.centre == "joint", dataset.d, dataset.n
        size, shape = d + joint, matrix_shape(share, inputs.calibration)
        if published or self.constants == "closed-form":
            whole = closed_form(size, self.beta / 8, laplace=shape == "laplace")
            half = closed_form(size, self.beta / 16, laplace=shape == "laplace")
        else:
            whole = half = monte_carlo(shape, size, self.beta / 2)
        halves = accounting.split(share, values=1, vectors=1)

        def of(part: BudgetShare) -> float:
            return _matrix_scale(published_share(part, d, joint) if published else part, d, n, shape, joint)

        return ExpectedNoise(
            frobenius=of(share) * whole.frobenius,
            spectral=of(halves["vectors"]) * half.spectral,
            vector=eigenvalues.noise_scale(d, n, halves["values"], joint=joint) * half.vector,
            trace=trace,
            discount=1.0 if published else self.discount,
            corner=ANCHOR_SQUARED if joint else 0.0,
            capped=not published,
        )


def _matrix_scale(share: BudgetShare, d: int, n: int, shape: str, joint: bool) -> float:
    norm = {"laplace": "l1", "upper-triangle": "triangle"}.get(shape, "l2")
    calibrate = accounting.laplace_scale if shape == "laplace" else accounting.gaussian_scale
    return calibrate(share, sensitivity(d, n, norm=norm, n_anchors=joint))


def _in_units_of_r(event: Event | None, size: float) -> Event | None:
    """Return an event of rows clipped at ``size`` R in units of R; exact, because size is a power of two."""
    if event is None:
        return None
    return dataclasses.replace(event, sensitivity=event.sensitivity * size**2, scale=event.scale * size**2)


def _measured_in_units_of_r(noisy_moment: NoisyMoment, size: float, dataset: Dataset) -> NoisyMoment:
    """Return the measured matrix of (u, size s): second moment in units of R^2, anchor size s."""
    return dataclasses.replace(
        noisy_moment,
        matrix=noisy_moment.matrix * size**2,
        distribution=dataclasses.replace(noisy_moment.distribution, scale=noisy_moment.distribution.scale * size**2),
        event=_in_units_of_r(noisy_moment.event, size),
        row_bound=dataset.row_bound,
    )
