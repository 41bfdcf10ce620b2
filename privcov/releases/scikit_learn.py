"""`PrivateCovariance`, a release as an estimator of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_is_fitted, validate_data

from privcov.core import checks
from privcov.core.guarantees import Guarantee, ZCDP
from privcov.postprocess.spectrum import clip_psd
from privcov.releases.public import release
from privcov.tables import in_memory
from privcov.tables.dataset import Dataset

if TYPE_CHECKING:
    from privcov.tables.dataset import Limits


class PrivateCovariance(EmpiricalCovariance):
    """Covariance estimator with a privacy guarantee, for simulated or public rows; one row is one person.

    It has the methods of EmpiricalCovariance as well: ``score``, ``mahalanobis`` and ``error_norm``.

    Parameters
    ----------
    method : str
        A key from `privcov.methods()`.
    guarantee : PureDP, ApproxDP, ZCDP or None
        None means ZCDP(rho=0.1).
    row_bound : float or None
        R > 0, a public bound on the norm of a row; longer rows are scaled down. None as in `Dataset.from_rows`.
    parameters : dict or None
        The method's own parameters.
    random_state : int, RandomState or None
        As in scikit-learn. An int gives every fit the same unit noise, so that two fits together reveal what one hides;
        use it for repeatable studies only.
    floor : float
        Fraction (0 to 1) of the mean released variance to which smaller eigenvalues of ``covariance_`` are raised; this
        spends nothing. 0 keeps the released matrix. Above 0 it has full rank, and a release without any positive
        variance, which noise that hides everything can give, is refused.
    bounds : array-like of shape (d, 2), mapping of column to (low, high), or None
        Public limits of every column, as in `Dataset.from_rows`.

    Attributes
    ----------
    covariance_ : ndarray of shape (d, d)
        The released covariance, after ``floor``.
    precision_ : ndarray of shape (d, d)
        The method's precision matrix, else the pseudo-inverse of ``covariance_``. The one of a zero covariance, in
        which noise hid everything, is zero as well, and says nothing about the rows.
    location_ : ndarray of shape (d,)
        The released mean; zeros where the method releases none.
    release_ : Release
        The release.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the data frame has them.

    Notes
    -----
    **Guarantee.** Each fit is one `privcov.release` with this guarantee. Its noise is seeded, which confidential rows
    must not have.

    **Spends.** The whole guarantee, once per fit: a grid search with k folds makes k releases per candidate and one
    more.

    ``score`` and ``mahalanobis`` compare the released matrix with the rows that they are given, which no guarantee
    covers: choose by a score only where those rows are public. A score is minus infinity where ``precision_`` is
    singular; set ``floor``.

    It can be the ``covariance_estimator`` of LinearDiscriminantAnalysis (solver "lsqr" or "eigen") and of
    QuadraticDiscriminantAnalysis (solver "eigen"). The classifier fits it once per class on the rows of that class
    ("eigen" of the linear one also on all rows). Each fit is a release of its own, which takes the number of rows of
    its class as public, and a row that changes its class changes two of them. Class means and priors are computed from
    the rows themselves, which no guarantee covers. For a classification that is private throughout, make one release
    with centre "classes" and use `privcov.metrics.classification`. The quadratic classifier needs a covariance of full
    rank, which a repaired noisy matrix may lack: set ``floor``.

    Examples
    --------
    >>> import numpy as np
    >>> import privcov
    >>> rows = np.random.default_rng(0).uniform(-0.5, 0.5, size=(10_000, 2))
    >>> model = privcov.PrivateCovariance("gaussian-cov", privcov.ZCDP(rho=1.0), random_state=0)
    >>> print(model.fit(rows).covariance_.diagonal().round(2))
    [0.08 0.08]
    """

    @checks.explain_arguments
    def __init__(
        self,
        method: str = "auto-cov",
        guarantee: Guarantee | None = None,
        row_bound: float | None = None,
        parameters: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        floor: float = 0.0,
        bounds: Limits | None = None,
    ) -> None:
        self.method = method
        self.guarantee = guarantee
        self.row_bound = row_bound
        self.parameters = parameters
        self.random_state = random_state
        self.floor = floor
        self.bounds = bounds

    def fit(self, X: ArrayLike, y: object = None) -> PrivateCovariance:
        """Make one release from the rows.

        Parameters
        ----------
        X : array-like of shape (n, d) or data frame
            Finite numbers.
        y : object
            Ignored.

        Returns
        -------
        PrivateCovariance
            Itself.

        Raises
        ------
        ValueError
            For a parameter that is not allowed, and with ``floor`` for a release without any positive variance.

        Warns
        -----
        RowsClippedWarning
            Without a bound, with the share of the rows that R = 1 scales down.
        """
        floor = checks.in_range("floor", self.floor, 0.0, 1.0)
        _numbers(self, X)
        # From the table itself, which has its names and its masks still.
        data = Dataset.from_rows(X, self.row_bound, self.bounds)
        guarantee = ZCDP(0.1) if self.guarantee is None else self.guarantee
        rel = release(
            data, guarantee, self.method, random_state=self.random_state, centre="joint", **(self.parameters or {})
        )
        self.release_ = rel
        mean_variance = float(np.trace(rel.covariance)) / data.d
        if floor and mean_variance <= 0:
            raise ValueError(
                f"floor={floor:g} is a fraction of the mean released variance, and the release has none above 0: the "
                "noise hides everything. Use more rows, a weaker guarantee or floor=0."
            )
        self.covariance_ = clip_psd(rel.covariance, floor * mean_variance) if floor else rel.covariance
        self.location_ = np.zeros(data.d) if rel.mean is None else rel.mean
        stated = "precision" in rel.matrices
        self.precision_ = rel.precision if stated else np.linalg.pinv(self.covariance_, hermitian=True)
        return self

    def get_precision(self) -> np.ndarray:
        """Return the precision matrix, d x d."""
        check_is_fitted(self)
        return self.precision_

    def score(self, X_test: ArrayLike, y: object = None) -> float:
        """Return the mean Gaussian log-likelihood of rows; minus infinity unless the matrix is positive definite."""
        check_is_fitted(self)
        likelihood = super().score(X_test, y)
        # The determinant of a singular matrix has no sign but that of its rounding errors.
        values = np.linalg.eigvalsh(self.covariance_)
        return likelihood if values[0] > values[-1] * len(values) * np.finfo(float).eps else -np.inf


def _numbers(model: PrivateCovariance, X: ArrayLike) -> None:
    """Check the rows as scikit-learn does, without the cells that its messages repeat."""
    if hasattr(X, "columns"):
        in_memory.numbers_of(X)  # scikit-learn would make numbers of dates and categories
    if (dimensions := getattr(X, "ndim", 2)) != 2:
        raise ValueError(
            f"X must have 2 dimensions, got {dimensions}. Reshape your data: X.reshape(-1, 1) is a column."
        )
    try:
        validate_data(model, X, dtype=np.float64, ensure_min_samples=2)
    except ValueError as problem:
        if "could not convert" not in str(problem):
            raise
    else:
        return
    raise ValueError("X must hold numbers, and a cell is text.")
