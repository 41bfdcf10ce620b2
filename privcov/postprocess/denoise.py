"""The repair of `auto-cov`: eigenvalue shrinkage, the accurate trace, and a flat spectrum where all is noise."""

from __future__ import annotations

import numpy as np

from privcov.postprocess.spectrum import project_trace, shrink_spectrum


def denoise(matrix: np.ndarray, noise_std: float) -> np.ndarray:
    """Estimate the positive semi-definite matrix before the noise, for free-trace Gaussian noise.

    Three steps, all free: the shrinkage of `shrink_spectrum`; projection on trace <= that of the noisy matrix, which
    free-trace noise leaves accurate and which clipping at zero had raised; and where no eigenvalue leaves the band that
    the noise alone would fill, its eigenvectors are noise too, so the trace is spread evenly instead.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The noisy matrix, symmetric.
    noise_std : float
        Standard deviation of the noise on an off-diagonal entry, at least 0.

    Returns
    -------
    ndarray of shape (d, d)
        Symmetric, positive semi-definite, in the units of ``matrix``.

    Spends
    ------
    Nothing: it uses only a noisy matrix.
    """
    d = len(matrix)
    trace = max(float(np.trace(matrix)), 0.0)
    if noise_std > 0 and d > 1:
        # The largest eigenvalue of pure noise exceeds 2 sqrt(d) s (1 + d^(-2/3)) in about 2 % of draws (Tracy-Widom).
        edge = 2 * np.sqrt(d) * noise_std * (1 + d ** (-2 / 3))
        if np.linalg.eigvalsh(matrix)[-1] <= edge:
            return np.eye(d) * (trace / d)
    return project_trace(shrink_spectrum(matrix, noise_std), trace)
