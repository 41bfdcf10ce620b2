"""Models of scikit-learn that are read from one release: `PrivatePCA`, `PrivateLinearRegression`.

One release gives both for one price: ``from_release`` takes it, or an opened bundle, and sees no rows; ``fit``
makes one of simulated or public rows first. Every number is one of `privcov.answers`, where its interval is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privcov.core import checks
from privcov.core.guarantees import Guarantee
from privcov.inference.answers import answers
from privcov.releases.release import Release
from privcov.sklearn.covariance import ReleaseModel, mapping_of
from privcov.tables import in_memory

if TYPE_CHECKING:
    import pandas as pd

    from privcov.inference.answers import ReleaseAnswers
    from privcov.inference.unbiased import Measurement
    from privcov.tables.dataset import Limits
    from privcov.tables.readers.kinds import Kind


class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ReleaseModel):
    """Principal components of one release, with every column in units of its public half-range.

    Parameters
    ----------
    n_components : int or None
        How many axes; None takes all.
    guarantee : PureDP, ApproxDP, ZCDP or None
        Of the release that ``fit`` makes; None means ZCDP(rho=0.1).
    row_bound : float or None
        R > 0, a public bound on the norm of a row, for ``fit``; as in `PrivateCovariance`. Half-ranges are then 1.
    method : str
        A method with one noisy matrix, for ``fit``.
    random_state : int, RandomState or None
        As in `PrivateCovariance`.
    bounds : array-like of shape (d, 2), mapping of column to (low, high), or None
        Public limits of every column, for ``fit``, as in `Dataset.from_rows`.
    kinds : mapping of column to Kind, or None
        In place of bounds, for ``fit`` on a pandas data frame with text, dates or yes-no columns, as in
        `Dataset.from_rows`; other columns are left out.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        Axes, largest variance first and orthonormal; each with the sign that makes its largest loading positive.
    identified_ : ndarray of bool, of shape (n_components,)
        Which of them the noise leaves; another axis may be any mixture of those that are not.
    explained_variance_ : ndarray of shape (n_components,)
        Variances along them, in squared half-ranges, as `privcov.answers` corrects them for noise and sampling: not to
        the last digit those of numpy, without noise either.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Each variance over the sum of all variances.
    mean_, scale_ : ndarray of shape (d,)
        An axis is one of (X - mean_) / scale_; where no mean was measured, mean_ holds the typical values.
    loadings_, eigenvalues_ : DataFrame
        The same numbers from `privcov.answers`, with intervals. An axis that is close to another is not identified: it
        may be any mixture of both.

    Notes
    -----
    **Guarantee.** That of the release. ``fit`` makes one with seeded noise, which confidential rows must not have.

    **Spends.** ``fit`` the whole guarantee; ``from_release`` nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> import privcov
    >>> data = privcov.source("ar1-covariance", n=20_000, d=4, random_state=0)
    >>> rel = privcov.release(data, privcov.ZCDP(rho=1.0), "auto-cov", random_state=1, centre="joint")
    >>> model = privcov.PrivatePCA.from_release(rel, n_components=2)
    >>> model.transform(pd.DataFrame(data.rows, columns=data.columns)).shape
    (20000, 2)
    >>> bool(model.loadings_["identified"].all())
    True
    """

    @checks.explained
    def __init__(
        self,
        n_components: int | None = None,
        guarantee: Guarantee | None = None,
        row_bound: float | None = None,
        method: str = "auto-cov",
        random_state: int | np.random.RandomState | None = None,
        bounds: Limits | None = None,
        kinds: Mapping[str, Kind] | None = None,
    ) -> None:
        self.n_components = n_components
        self.guarantee = guarantee
        self.row_bound = row_bound
        self.method = method
        self.random_state = random_state
        self.bounds = bounds
        self.kinds = kinds

    @classmethod
    @checks.explained
    def from_release(cls, x: Release | Measurement, n_components: int | None = None) -> PrivatePCA:
        """Return the model that a release gives.

        Parameters
        ----------
        x : Release or OpenedBundle
            As `privcov.answers` takes it.
        n_components : int or None, optional
            How many axes.

        Returns
        -------
        PrivatePCA
            Fitted.

        Raises
        ------
        TypeError, ValueError
            As `privcov.answers` does, and for a number of axes out of range.
        """
        release_answers = answers(x)
        model = cls(n_components)
        model._set_feature_names(release_answers.columns)
        return model._read(release_answers)

    def fit(self, X: ArrayLike, y: object = None) -> PrivatePCA:
        """Make one release from the rows, and read the model from it.

        Parameters
        ----------
        X : array-like of shape (n, d) or data frame
            Finite numbers, simulated or public.
        y : object
            Ignored.

        Returns
        -------
        PrivatePCA
            Itself.

        Raises
        ------
        ValueError
            For a parameter that is not allowed.
        """
        self.release_ = self._make_release(X, None)
        return self._read(answers(self.release_))

    def _read(self, release_answers: ReleaseAnswers) -> PrivatePCA:
        d = len(release_answers.columns)
        count = d if self.n_components is None else checks.whole("n_components", self.n_components, 1, d)
        self.loadings_, self.eigenvalues_ = release_answers.components(count), release_answers.eigenvalues()
        values = self.eigenvalues_["estimate"].to_numpy()
        self.components_ = np.array(self.loadings_.attrs["axes"])
        self.identified_ = self.loadings_["identified"].to_numpy().reshape(count, d).all(axis=1)
        if not self.identified_.all():
            open_axes = [str(k + 1) for k in np.flatnonzero(~self.identified_)]
            axes = ", ".join(open_axes[:8]) + (f" and {len(open_axes) - 8} others" if len(open_axes) > 8 else "")
            warnings.warn(
                f"The noise leaves the direction of axis {axes} open: together they span what is left of the rows, "
                "and each of them may be any mixture. identified_ tells them; use fewer axes or a weaker guarantee.",
                stacklevel=3,
            )
        self.explained_variance_ = values[:count]
        self.explained_variance_ratio_ = values[:count] / max(float(values.sum()), 1e-300)
        self.scale_, self.mean_, self._model_columns = (
            release_answers.scale,
            _means(release_answers),
            release_answers.columns,
        )
        return self

    @property
    def _n_features_out(self) -> int:
        """What scikit-learn names the axes by."""
        return len(self.components_)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the coordinates of rows on the axes, in half-ranges.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Any rows; nothing protects them.

        Returns
        -------
        ndarray of shape (n, n_components)
            Coordinates.
        """
        return (self._matrix_of(X) - self.mean_) / self.scale_ @ self.components_.T

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return the rows that coordinates stand for.

        Parameters
        ----------
        X : array-like of shape (n, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n, d)
            In the owner's units.
        """
        check_is_fitted(self)
        rows, axes = in_memory.numbers_of(X)[0], len(self.components_)
        if rows.shape[1] != axes:
            raise ValueError(f"X must have a column for each of {axes} axes, got {rows.shape[1]}.")
        return self.mean_ + self.scale_ * (rows @ self.components_)


class PrivateLinearRegression(RegressorMixin, ReleaseModel):
    """Linear regression of one column of a release on others.

    Parameters
    ----------
    ridge : float or "auto"
        Added to the variances of the regressors, in squared half-ranges; "auto" takes the smallest with which there are
        slopes, 0 where it can. See `ReleaseAnswers.regress`.
    guarantee : PureDP, ApproxDP, ZCDP or None
        Of the release that ``fit`` makes; None means ZCDP(rho=0.1).
    row_bound : float or None
        R > 0, a public bound on the norm of a row with its response, for ``fit``; as in `PrivateCovariance`.
    method : str
        A method with one noisy matrix, for ``fit``.
    random_state : int, RandomState or None
        As in `PrivateCovariance`.
    bounds : array-like of shape (d, 2), mapping of column to (low, high), or None
        Public limits of every column, for ``fit``, as in `Dataset.from_rows`; of the response under its
        own name, "y" where it has none, or in a last row.
    kinds : mapping of column to Kind, or None
        In place of bounds, for ``fit`` on a pandas data frame with text, dates or yes-no columns, as in
        `Dataset.from_rows`; other columns are left out. The response is the one that X lacks.

    Attributes
    ----------
    coef_ : ndarray of shape (k,)
        Slopes, the bias of noisy regressors removed.
    intercept_ : float
        At the released mean, or at the typical values where no mean was measured.
    ridge_ : float
        The ridge that was taken.
    intervals_ : DataFrame
        The slopes from `privcov.answers`, with standard errors and intervals for noise and sampling together, and R
        squared in ``attrs``. A slope whose interval has no end is not identified, and its number means little.

    Notes
    -----
    **Guarantee.** That of the release. ``fit`` makes one with seeded noise, which confidential rows must not have.

    **Spends.** ``fit`` the whole guarantee; ``from_release`` nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> import privcov
    >>> data = privcov.source("ar1-covariance", n=20_000, d=4, random_state=0)
    >>> rel = privcov.release(data, privcov.ZCDP(rho=1.0), "auto-cov", random_state=1, centre="joint")
    >>> model = privcov.PrivateLinearRegression.from_release(rel, "x1", on=["x2", "x3"])
    >>> model.predict(pd.DataFrame({"x2": [0.0, 1.0], "x3": [0.0, 0.0]})).shape
    (2,)
    >>> bool(model.intervals_["identified"].all())
    True
    """

    @checks.explained
    def __init__(
        self,
        ridge: float | Literal["auto"] = "auto",
        guarantee: Guarantee | None = None,
        row_bound: float | None = None,
        method: str = "auto-cov",
        random_state: int | np.random.RandomState | None = None,
        bounds: Limits | None = None,
        kinds: Mapping[str, Kind] | None = None,
    ) -> None:
        self.ridge = ridge
        self.guarantee = guarantee
        self.row_bound = row_bound
        self.method = method
        self.random_state = random_state
        self.bounds = bounds
        self.kinds = kinds

    @classmethod
    @checks.explained
    def from_release(
        cls,
        x: Release | Measurement,
        y: str,
        on: str | Sequence[str] | None = None,
        ridge: float | Literal["auto"] = "auto",
    ) -> PrivateLinearRegression:
        """Return the model that a release gives.

        Parameters
        ----------
        x : Release or OpenedBundle
            As `privcov.answers` takes it.
        y : str
            The response.
        on : str, sequence of str or None, optional
            The regressors, in the order in which ``predict`` takes them; None takes all other columns.
        ridge : float or "auto", optional
            As in the class.

        Returns
        -------
        PrivateLinearRegression
            Fitted.

        Raises
        ------
        TypeError, ValueError
            As `privcov.answers` and its ``regress`` do, and where the noise forbids any slope.
        """
        model = cls(ridge)._read(answers(x), y, on)
        model._set_feature_names(tuple(model.intervals_["column"]))
        return model

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrivateLinearRegression:
        """Make one release from the rows with their response, and read the model from it.

        Parameters
        ----------
        X : array-like of shape (n, k) or data frame
            Finite numbers, simulated or public.
        y : array-like of shape (n,)
            The response.

        Returns
        -------
        PrivateLinearRegression
            Itself.

        Raises
        ------
        ValueError
            For a parameter that is not allowed, and where the noise forbids any slope.
        """
        name = str(getattr(y, "name", None) or "y")
        if self.kinds is not None:
            lacking = [column for column in mapping_of(self.kinds) if column not in (in_memory.names_in(X) or ())]
            if len(lacking) != 1 or not hasattr(X, "assign"):
                raise ValueError(f"X must be a pandas data frame with all of kinds but the response, not {lacking}.")
            (name,) = lacking
            if self.kinds[name].width > 1:
                raise ValueError(f"The response {name!r} is a category: declare one level as a yes-no question.")
        elif any(isinstance(cell, str) for cell in np.ravel(np.asarray(y, dtype=object))):
            raise ValueError("y must be the numbers of the response, got text. Write a yes as 1, or give kinds.")
        self.release_ = self._make_release(X, (name, y))
        return self._read(answers(self.release_), self.release_.columns[-1], None)

    def _read(self, release_answers: ReleaseAnswers, y: str, on: str | Sequence[str] | None) -> PrivateLinearRegression:
        self.intervals_: pd.DataFrame = release_answers.regress(y, on, self.ridge)
        slopes, regressors = self.intervals_["estimate"].to_numpy(), list(self.intervals_["column"])
        if np.isnan(slopes).any():
            raise ValueError(
                f"No slope of {y!r} on {len(regressors)} columns can be given: {self.intervals_['reason'].iloc[0]}. "
                "Name "
                f'fewer regressors, a larger ridge than {self.ridge}, or ridge="auto".'
            )
        middle = dict(zip(release_answers.columns, _means(release_answers), strict=True))
        self.coef_, self._model_columns, self.ridge_ = slopes, regressors, self.intervals_.attrs["ridge"]
        self.intercept_ = float(
            middle[self.intervals_.attrs["response"]] - slopes @ np.array([middle[name] for name in regressors])
        )
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the response that the model expects of rows.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Any rows; nothing protects them.

        Returns
        -------
        ndarray of shape (n,)
            In the units of the response.
        """
        return self._matrix_of(X) @ self.coef_ + self.intercept_


def _means(release_answers: ReleaseAnswers) -> np.ndarray:
    """Return the released mean, or the typical values that a covariance without a mean is about."""
    means = release_answers.means()["estimate"].to_numpy()
    return release_answers.origin if np.isnan(means).all() else means
