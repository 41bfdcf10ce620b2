"""`PrivateCovariance`: a release with scikit-learn's manners."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from privcov._running import release
from privcov.dataset import Dataset
from privcov.privacy import Guarantee, ZCDP


class PrivateCovariance(BaseEstimator):
    """Covariance estimator with a privacy guarantee, for synthetic or public rows.

    method:       a key from `privcov.methods()`.
    guarantee:    PureDP, ApproxDP or ZCDP; None means ZCDP(rho=0.1).
    row_bound:    R > 0, a public bound on the norm of a row; longer rows are shortened.
    parameters:   dict of the method's own parameters, or None.
    random_state: int, RandomState or None, as in scikit-learn. An int gives every fit the same unit noise, so
                  two fits together reveal what one hides: for repeatable studies only.

    Attributes after fit: covariance_ (d x d), precision_ (its pseudo-inverse, or the method's own),
    location_ (d; private mean), release_, n_features_in_.
    Usable as ``covariance_estimator`` of LinearDiscriminantAnalysis and QuadraticDiscriminantAnalysis: those call it
    once per class on centred or class-wise rows and look at the rows themselves for means and priors, which the
    guarantee does not cover.
    """

    def __init__(
        self, method="auto-cov", guarantee: Guarantee | None = None, row_bound=1.0, parameters=None, random_state=None
    ):
        self.method = method
        self.guarantee = guarantee
        self.row_bound = row_bound
        self.parameters = parameters
        self.random_state = random_state

    def fit(self, X, y=None):
        """Measure once. X: n x d finite numbers; y is ignored."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
            seed = check_random_state(seed).randint(2**31 - 1)
        guarantee = ZCDP(0.1) if self.guarantee is None else self.guarantee
        rel = release(
            self.method,
            Dataset.from_rows(X, self.row_bound),
            guarantee,
            seed=int(seed),
            centre="joint",
            **(self.parameters or {}),
        )
        self.release_ = rel
        self.covariance_ = rel.covariance
        self.location_ = np.zeros(X.shape[1]) if rel.mean is None else rel.mean
        self.precision_ = np.linalg.pinv(rel.covariance, hermitian=True) if rel.precision is None else rel.precision
        return self

    def get_precision(self):
        """The precision matrix, d x d."""
        check_is_fitted(self)
        return self.precision_
