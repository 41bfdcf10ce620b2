"""The repair of `auto-cov`: eigenvalue shrinkage, the accurate trace, and an honest answer when nothing stands out."""

from __future__ import annotations

import numpy as np

from privcov.postprocess.spectrum import project_trace, shrink_spectrum


def denoise(matrix: np.ndarray, noise_std: float) -> np.ndarray:
    """Positive semi-definite estimate of the matrix before the noise, for free-trace Gaussian noise.

    matrix: d x d; noise_std: noise deviation of an off-diagonal entry. Three steps, all free: the shrinkage of
    `shrink_spectrum`; projection on trace <= that of the noisy matrix, which free-trace noise leaves accurate and
    which clipping at zero had raised; and where no eigenvalue leaves the band that the noise alone would fill, its
    eigenvectors are noise too, so the trace is spread evenly instead.
    """
    d = len(matrix)
    trace = max(float(np.trace(matrix)), 0.0)
    if noise_std > 0 and d > 1:
        # The largest eigenvalue of pure noise exceeds 2 sqrt(d) s (1 + d^(-2/3)) in about 2 % of draws (Tracy-Widom).
        edge = 2 * np.sqrt(d) * noise_std * (1 + d ** (-2 / 3))
        if np.linalg.eigvalsh(matrix)[-1] <= edge:
            return np.eye(d) * (trace / d)
    return project_trace(shrink_spectrum(matrix, noise_std), trace)
