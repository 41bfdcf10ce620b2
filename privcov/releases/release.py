"""A release: the matrices, what was measured, and a statement computed from it; `privcov.releases.public` makes one."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privcov.core import accounting, checks
from privcov.core.guarantees import Event, GaussianDP, Guarantee, Neighbours, NoPrivacy, from_dict, to_dict
from privcov.measurements.exact.integer_gram import UNIT, plain_flag_value
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.exact.reading import flags_of
from privcov.measurements.exact.stored_sum import event_of
from privcov.measurements.moment import NoisyMoment
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.noise_theory.anchor import ANCHOR_SQUARED
from privcov.measurements.norm_histogram import BINS, RowBoundSearch
from privcov.postprocess.fit import PathPoint
from privcov.tables.declared_columns import Kinds, kinds_from, kinds_in_words, measured_names, typed_units
from privcov.tables.public_facts import Flags

if TYPE_CHECKING:
    import pandas as pd

    from privcov.postprocess.terms import Term

FORMAT = 2  # of the text of a release
_NOT_IN_TEXT = ("measurement", "entry")


Matrix = Literal["covariance", "second_moment", "precision"]
MATRICES: tuple[Matrix, ...] = ("covariance", "second_moment", "precision")
Which = Literal["", "covariance", "second_moment", "precision", "correlation"]


@dataclass(frozen=True)
class Statement:
    """Six fixed lines about a release, computed from its events; ``str()`` joins them, ``statement[title]`` is one."""

    lines: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self.lines)

    def __getitem__(self, title: str) -> str:
        return dict(self.lines)[title]


class OptionalMatrix:
    """A matrix of a release; reading a matrix that the release lacks raises AttributeError (`Release.__getattr__`)."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, rel: Release | None, owner: type) -> np.ndarray:
        if rel is None:
            raise AttributeError(self._name)  # so that the field has no default
        if (matrix := rel.__dict__[self._name]) is None:
            raise AttributeError(self._name)  # which `Release.__getattr__` explains
        return matrix

    def __set__(self, rel: Release, matrix: np.ndarray | None) -> None:
        rel.__dict__[self._name] = matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """The answer of a method, in the data's units, with the events that it is based on.

    The constructor refuses a sound release that spent more than was asked for.

    Attributes
    ----------
    method : str
        Key of the method.
    parameters : dict
        The method's parameters, with calibration, centre, tuning, neighbours and version.
    guarantee : PureDP, ApproxDP, ZCDP or NoPrivacy
        The guarantee asked for; `actual_guarantee` is what the events actually give.
    neighbours : Neighbours
        The neighbouring relation.
    events : tuple of Event
        What was done to the rows.
    target : {"covariance", "second moment", "precision"}
        The matrix that the method estimates.
    n : int or None
        Number of rows; None where it is not public.
    columns : tuple of str
        Names of the columns.
    row_bound : float
        R, in working units.
    scale : ndarray of shape (d,)
        The public half-ranges: a working-unit matrix is matrix / outer(scale, scale).
    origin : ndarray of shape (d,)
        The public origin.
    covariance : ndarray of shape (d, d)
        About the measured or publicly zero mean; with centre "classes" the pooled one within classes. `matrices` says
        which of these three the release has; to read another one raises an AttributeError.
    precision : ndarray of shape (d, d)
        Of a method that estimates one.
    second_moment : ndarray of shape (d, d)
        About the public origin (zero without column bounds).
    mean : ndarray of shape (d,) or None
        None where it was not measured.
    noisy_moment : NoisyMoment or None
        The noisy matrix before post-processing, in unit-ball units, and its noise distribution; None where the method
        has no such matrix.
    path : tuple of PathPoint or None
        The fits of a graphical lasso, one per penalty: lam, precision, status and gap.
    notes : tuple of str
        Remarks of the method.
    count : float or None
        Noisy number of rows where n is not public, and of rows with a listed class where private rows have classes.
    class_means : ndarray of shape (k, d) or None
        With centre "classes", in the data's units.
    class_counts : ndarray of shape (k,) or None
        With centre "classes", at least 0, adding up to the number of rows.
    classes : tuple of str
        The k names of the classes with centre "classes", else ().
    measurement : NoisySum or None
        The measurement of private rows, in whole numbers; None for simulated and public rows.
    entry : dict or None
        The ledger's record of a private release.
    kinds : tuple of (str, Kind)
        Name and kind of every declared column, of a table with other columns than numbers within bounds; else ().

    Raises
    ------
    RuntimeError
        If a sound release spent more than was asked for, or has a measurement without its event.
    ValueError
        If the measurement belongs to another release.

    Guarantee
    ---------
    `statement` and `actual_guarantee` are computed from the events alone. For a sound calibration without tuning on raw
    rows, `actual_guarantee` is at least as strong as ``guarantee``.

    Notes
    -----
    ``measurement`` and ``entry`` are not in the text of `to_json`: the ledger and the bundle hold them, and a second
    copy could disagree.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.source("ar1-covariance", n=5000, d=2, random_state=0)
    >>> rel = privcov.release(ds, privcov.ZCDP(rho=0.1), "auto-cov", random_state=1)
    >>> rel.target, str(rel.actual_guarantee), f"{rel.attacker_success:.2f}"
    ('covariance', '0.1-zCDP', '0.59')
    >>> privcov.Release.from_json(rel.to_json()).to_json() == rel.to_json()
    True
    """

    method: str
    parameters: dict
    guarantee: Guarantee
    neighbours: Neighbours
    events: tuple[Event, ...]
    target: str
    n: int | None
    columns: tuple[str, ...]
    row_bound: float
    scale: np.ndarray
    origin: np.ndarray
    covariance: OptionalMatrix = OptionalMatrix()
    precision: OptionalMatrix = OptionalMatrix()
    second_moment: OptionalMatrix = OptionalMatrix()
    mean: np.ndarray | None
    noisy_moment: NoisyMoment | None
    path: tuple[PathPoint, ...] | None
    notes: tuple[str, ...]
    count: float | None = None
    class_means: np.ndarray | None = None
    class_counts: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    measurement: NoisySum | None = None
    entry: dict | None = None
    kinds: Kinds = ()

    def __post_init__(self) -> None:
        if self.is_sound and not accounting.covers(self.guarantee, self.actual_guarantee):
            raise RuntimeError(
                f"{self.method} spent {self.actual_guarantee}, more than the {self.guarantee} that was asked for: "
                "a defect of the method, and no release was made."
            )
        noisy = None if isinstance(self.guarantee, NoPrivacy) else self.noisy_moment
        if noisy is not None and (noisy.event is None or noisy.event not in self.events):
            raise RuntimeError(
                f"{self.method} measured the rows without an event that says so: a defect of the method, and no "
                "release was made."
            )
        measurement = self.measurement
        if measurement is not None and (
            measurement.event not in self.events
            or (measurement.facts.n, measurement.facts.columns) != (self.n, self.columns)
            or measurement.facts.row_bound != self.row_bound
        ):
            raise ValueError("The measurement belongs to another release. Read both from one answer of the ledger.")
        _lock(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickle, and make its arrays read-only."""
        vars(self).update(state)
        _lock(self)

    if not TYPE_CHECKING:  # a type checker would take any name

        def __getattr__(self, name: str) -> Any:
            """Say which matrices there are, or suggest a close name."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property that failed: its own error
            if name not in MATRICES or name not in vars(self):
                raise AttributeError(f"A release has no attribute {name!r}.{checks.suggest(name, dir(type(self)))}")
            use = " Use a method whose target is precision: auto-precision." if name == "precision" else ""
            raise AttributeError(
                f"This release of {self.method} has no {name.replace('_', ' ')} matrix. "
                f"It has {', '.join(map(repr, self.matrices))}.{use}"
            )

    @property
    def is_sound(self) -> bool:
        """True for a sound calibration, so that the guarantee asked for is met."""
        return self.parameters["calibration"] == "sound"

    @property
    def actual_guarantee(self) -> Guarantee | None:
        """The guarantee that the events give together; None where nothing was measured."""
        if self.is_sound:
            return accounting.compose(self.events, self.guarantee)
        return accounting.actual_guarantee(self.events, self.guarantee)

    @property
    def claim_is_false(self) -> bool:
        """True when the guarantee asked for is not given: a false published claim."""
        return not accounting.covers(self.guarantee, self.actual_guarantee)

    @property
    def trade_off(self) -> Guarantee | GaussianDP | None:
        """The tightest known guarantee of this release, from which an attacker's success follows; see `accounting`."""
        return accounting.trade_off_of(self.events, self.guarantee)

    @property
    def attacker_success(self) -> float:
        """Best possible probability of guessing which of two neighbours was released; 0.5 is no information."""
        return accounting.attacker_success(self.trade_off)

    @property
    def matrix(self) -> np.ndarray:
        """The target matrix in the data's units."""
        return getattr(self, self.target.replace(" ", "_"))

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Names of the matrices that the release has, of "covariance", "second_moment" and "precision"."""
        return tuple(name for name in MATRICES if self.__dict__[name] is not None)

    @property
    def correlation(self) -> np.ndarray:
        """The released covariance as correlations; an AttributeError where there is no covariance.

        Shrunk with it: a matrix for further computing. `privcov.answers` has unbiased correlations with intervals.
        """
        from privcov.releases import display

        matrix = display.matrix_of(self, "correlation") if "covariance" in self.matrices else self.covariance
        matrix.flags.writeable = False
        return matrix

    @property
    def statement(self) -> Statement:
        """What is guaranteed, computed from the events alone."""
        return write_statement(self)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The means in the owner's terms, such as shares of levels and dates: `privcov.postprocess.terms.mean_terms`.

        () where no mean was measured, and for a table without kinds, whose means are in the data's units already. A
        column that too few rows have is unknown.
        """
        from privcov.postprocess.available_cases import known_mean
        from privcov.postprocess.terms import mean_terms

        if not self.kinds or self.mean is None:
            return ()
        mean, raw = self.mean, self.noisy_moment
        if raw is not None and raw.flags is not None:
            mean = known_mean(mean, raw.matrix, raw.flags)
        return mean_terms(self.kinds, mean)

    # How a release is shown and exported is imported where it is used: those modules import this one.

    def __repr__(self) -> str:
        from privcov.releases import display

        return display.brief(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the matrix as a picture and a table, and the statement; no scripts."""
        return _figures().html(self)

    @checks.explain_arguments
    def to_frame(self, which: Which = "") -> pd.DataFrame:
        """Return one matrix as a DataFrame with the names of the columns.

        Parameters
        ----------
        which : {"", "covariance", "second_moment", "precision", "correlation"}
            "" is the matrix that the method estimates.

        Raises
        ------
        ValueError
            Where the release has no such matrix.
        """
        from privcov.releases import display

        return display.frame(self, which)

    @checks.explain_arguments
    def plot(self, which: Which = "", *, dark: bool = False) -> Any:
        """Return a heatmap of one matrix as a plotly figure, ``which`` as in `to_frame`; "" draws correlations."""
        return _figures().matrix_figure(self, which, dark=dark)

    def plot_spectrum(self, *, dark: bool = False) -> Any:
        """Return the eigenvalues before and after the repair, and the band of the noise, as a plotly figure."""
        return _figures().spectrum_figure(self, dark=dark)

    def plot_network(self, *, dark: bool = False) -> Any:
        """Return the graph of the precision matrix as a plotly figure.

        Raises
        ------
        ValueError
            Where the method releases no precision matrix.
        """
        return _figures().network_figure(self, dark=dark)

    def plot_errors(self, *, dark: bool = False) -> Any:
        """Return the largest correlations with intervals for privacy noise and sampling together, as a plotly figure.

        Raises
        ------
        ValueError
            Where the distribution of the noise on the correlations is not known.
        """
        return _figures().errors_figure(self, dark=dark)

    def save_bundle(self, path: Path | str, declaration: dict | None = None) -> None:
        """Write the bundle of a release of private rows: one zip, which ``python -m privcov verify`` checks.

        The bytes are those of the page Your data.

        Parameters
        ----------
        path : path
            A file that is already there is replaced.
        declaration : dict or None
            The owner's declaration, as JSON values (`json.loads(declared.to_json())`); None takes the release's public
            facts.

        Raises
        ------
        ValueError
            For a release without its measurement and its entry in the ledger. What `release_private` returns, new or
            stored, has both.
        """
        if self.measurement is None or self.entry is None:
            raise ValueError(
                "A bundle is of a release by release_private, with its measurement and its entry in the ledger, and "
                "this one has not both. One of public rows is kept by to_json; for one of private rows make "
                "the same request again, which pays nothing."
            )
        from privcov.bundle.read import save

        save(self, path, declaration)

    def to_json(self) -> str:
        """Return the release as JSON text, from which `from_json` makes the same numbers bit for bit.

        The text states its format and has a digest.
        """
        fields = {name: value for name, value in vars(self).items() if name not in _NOT_IN_TEXT}
        fields["kinds"] = [{"name": name, **kind.to_dict()} for name, kind in self.kinds]
        if not self.kinds:
            del fields["kinds"]
        fields["guarantee"] = to_dict(self.guarantee)
        fields["neighbours"] = dataclasses.asdict(self.neighbours)
        fields["events"] = [dataclasses.asdict(e) for e in self.events]
        if (noisy := self.noisy_moment) is not None:
            usual = noisy.anchor_squared == ANCHOR_SQUARED
            fields["noisy_moment"] = {
                "matrix": noisy.matrix,
                "law": noisy.distribution.to_dict(),
                "centre": noisy.centre,
                **({} if usual else {"anchor_squared": noisy.anchor_squared}),
                **({} if noisy.flags is None else {"flags": _stored_flags(noisy.flags)}),
                "event": None if noisy.event is None else self.events.index(noisy.event),
            }
            if (search := noisy.bound_search) is not None:
                fields["noisy_moment"]["search"] = vars(search) | {"event": self.events.index(search.event)}
        if self.path is not None:
            fields["path"] = [{**vars(fit), "gap": None if np.isnan(fit.gap) else fit.gap} for fit in self.path]
        fields["statement"] = [list(line) for line in self.statement.lines]
        plain = json.loads(json.dumps(fields, default=json_default, allow_nan=False))
        return json.dumps({"format": FORMAT, "digest": _digest(plain), **plain})

    @classmethod
    @checks.explain_arguments
    def from_json(cls, text: str) -> Release:
        """Return the release that `to_json` wrote, without ``measurement`` and ``entry``.

        Raises
        ------
        ValueError
            For a text that was altered or is broken, whose events do not give what it claims, or whose format is
            unknown.
        """
        try:
            fields = json.loads(text)
            json.dumps(fields, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            raise ValueError(
                "This is not the text of a release: it must be JSON with finite numbers. Take what to_json wrote."
            ) from None
        if not isinstance(fields, dict):
            raise ValueError("This is not the text of a release. Take what to_json wrote.")
        if repr(number := fields.pop("format", None)) != repr(FORMAT):
            raise ValueError(
                f"The release has format {number!r}, and this version of privcov reads format {FORMAT}. Read it "
                "with the privcov that made it."
            )
        if fields.pop("digest", None) != _digest(fields):
            raise ValueError("The text of the release was altered after it was written. Take the original.")
        try:
            rel = cls(**_read(fields))
            str(rel.statement)  # raises where a field that it needs is missing or out of range
            return rel
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError) as problem:
            reason = f"{type(problem).__name__}: {problem}" if isinstance(problem, LookupError) else str(problem)
            raise ValueError(f"The text of the release was altered or is broken, and it is refused: {reason}") from None


def _lock(rel: Release) -> None:
    for array in (*vars(rel).values(), None if rel.noisy_moment is None else rel.noisy_moment.matrix):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def _figures() -> Any:
    from privcov.core import extras

    extras.require("plotly", "Figures")
    from privcov.plots import notebook

    return notebook


def _digest(fields: dict) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _read(fields: dict) -> dict:
    release_fields = {f.name: f for f in dataclasses.fields(Release) if f.name not in _NOT_IN_TEXT}
    entries = {name: value for name, value in fields.items() if name != "statement"}
    if set(entries) | {"kinds"} != set(release_fields):  # which are there where columns have them
        raise ValueError("it lacks a field or has one too many.")
    read = dict(entries)
    read["guarantee"] = from_dict(entries["guarantee"])
    read["neighbours"] = Neighbours(**entries["neighbours"])
    read["events"] = tuple(event_of(e) for e in entries["events"])
    for name in ("columns", "notes", "classes"):
        read[name] = tuple(entries.get(name, ()))
        if isinstance(entries.get(name), str) or not all(isinstance(word, str) for word in read[name]):
            raise ValueError(f"{name} must be a list of texts.")
    read["kinds"] = kinds_from(entries.get("kinds", ()))
    if read["kinds"] and measured_names(read["kinds"]) != read["columns"]:
        raise ValueError("columns must follow from their kinds.")
    d, k = len(read["columns"]), len(read["classes"])
    square, shapes = (d, d), {"scale": (d,), "origin": (d,), "mean": (d,), "class_means": (k, d), "class_counts": (k,)}
    for name in (*MATRICES, *shapes):
        empty = name not in ("scale", "origin") and entries.get(name) is None
        read[name] = None if empty else _array(name, entries[name], shapes.get(name, square))
    for name in ("method", "target"):
        if not isinstance(entries[name], str):
            raise ValueError(f"{name} must be text.")
    checks.one_of("target", entries["target"], ("covariance", "second moment", "precision"))
    if read[entries["target"].replace(" ", "_")] is None:
        raise ValueError(f"the matrix that it names as its target, the {entries['target']}, must be there.")
    if not isinstance(entries["parameters"], dict):
        raise ValueError("parameters must be names with values.")
    if entries["n"] is not None:
        checks.integer("n", entries["n"], 1)
    if entries.get("count") is not None or entries["n"] is None:
        checks.positive("count", entries.get("count"))
    checks.positive("row_bound", entries["row_bound"])
    if not all(isinstance(word, str) for word in entries["neighbours"].values()):
        raise ValueError("neighbours must be texts.")
    if entries["noisy_moment"] is not None:
        read["noisy_moment"] = _noisy_moment(entries["noisy_moment"], read)
    if entries["path"] is not None:
        read["path"] = tuple(_fit(fit, square) for fit in entries["path"])
    return read


def _array(name: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(value, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must hold {' x '.join(map(str, shape))} finite numbers.")
    return array


def _stored_flags(flags: Flags) -> list:
    """Return the positions of flags, the deviation of the count, and their weight where it is not the usual one."""
    weight = round(flags.weight * UNIT)
    return [flags.columns, flags.count_std, *([] if weight == plain_flag_value(flags.d) else [weight])]


def _noisy_moment(stored: dict, read: dict) -> NoisyMoment:
    distribution = NoiseDistribution.from_dict(stored["law"])
    for field in dataclasses.fields(distribution):
        value = getattr(distribution, field.name)
        if field.type == "int":
            checks.integer(field.name, value, 0)
    checks.in_range("scale", distribution.scale, 0.0, math.inf)
    checks.number("freedom", distribution.freedom)
    event = None if stored["event"] is None else read["events"][checks.integer("event", stored["event"], 0)]
    if not isinstance(stored["centre"], str) or not isinstance(distribution.corner, bool):
        raise ValueError("centre must be text, and corner true or false.")
    matrix = _array("noisy_moment", stored["matrix"], (distribution.size, distribution.size))
    square = checks.in_range("anchor_squared", stored.get("anchor_squared", ANCHOR_SQUARED), 0.0, 1.0)
    n, bound, flags = read["n"], read["row_bound"], None
    if "flags" in stored:
        d, (places, count_std, *weights) = len(read["columns"]), stored["flags"]
        columns = tuple(checks.integer("A position of a flag", place, 0, d - 1) for place in places)
        if not columns or d + len(set(columns)) != distribution.dimension or len(weights) > 1:
            raise ValueError("flags must hold the position of each column that has one, once.")
        weight = checks.integer("The weight of a flag", weights[0], 1, UNIT) if weights else None
        flags = flags_of(d, columns, distribution, checks.in_range("count_std", count_std, 0.0, math.inf), weight)
    search = None
    if "search" in stored:
        search_fields = stored["search"]
        _array("counts", search_fields["counts"], (BINS,))
        halved = checks.integer("halvings", search_fields["halvings"], 0, BINS - 1)
        steps = checks.integer("steps", search_fields["steps"], 1)
        norms = read["events"][checks.integer("event", search_fields["event"], 0, len(read["events"]) - 1)]
        if norms.share != "norms" or set(search_fields) != {"counts", "halvings", "steps", "event"}:
            raise ValueError("search must hold counts, halvings, steps and the event of the norms.")
        search = RowBoundSearch(tuple(search_fields["counts"]), halved, norms, steps)
    return NoisyMoment(
        matrix, distribution, event, stored["centre"], n, bound, read.get("count"), square, flags, search
    )


def _fit(fit: dict, shape: tuple[int, ...]) -> PathPoint:
    precision = None if fit["precision"] is None else _array("precision of the path", fit["precision"], shape)
    gap = float("nan") if fit["gap"] is None else checks.number("gap", fit["gap"])
    checks.number("lam", fit["lam"])
    return PathPoint(**{**fit, "precision": precision, "gap": gap})


def json_default(value: object) -> object:
    """Return a numpy number or array as a Python number or list, for ``json.dumps(default=...)``."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


def write_statement(rel: Any) -> Statement:
    """Return the statement of a release."""
    size, neighbours = _size_words(rel), ("Neighbours", _neighbours_words(rel.neighbours))
    if not rel.events:
        return _statement_without_events(rel, size, neighbours)
    measured = _of_events(rel, lambda event: event.statistic) + (" of " if len(rel.events) == 1 else "; all of ") + size
    sensitivity = _of_events(
        rel, lambda event: f"{event.sensitivity:.9g} in the {event.norm}, {event.unit} (proof: {event.proof})"
    )
    return Statement(
        (
            ("Measured", measured),
            ("Sensitivity", sensitivity),
            ("Noise", _of_events(rel, _noise_words)),
            ("Events", f"{len(rel.events)}: " + _of_events(rel, _share_words)),
            neighbours,
            ("Guarantee", _verdict(rel)),
        )
    )


def _size_words(rel: Any) -> str:
    """Return the size of the table, and what was done to its rows before they were summed."""
    counted_by_rows = rel.neighbours.count_unit == "rows"
    noisy = "rows (a noisy count)" if counted_by_rows else "persons by weight (a noisy sum of weights)"
    rows = f"{rel.n} {rel.neighbours.count_unit}" if rel.n is not None else f"about {rel.count:.1f} {noisy}"
    columns = f"{len(rel.columns)} columns{kinds_in_words(rel.kinds)}"
    size = f"{rows} x {columns}, every row clipped to norm R = {rel.row_bound:.6g}"
    if (rel.scale == 1).all() and (rel.origin == 0).all():
        return size
    weighted = any(kind.weight != 1 for _, kind in rel.kinds)
    size += " in units of the public half-ranges" + (" over the weights" if weighted else "")
    longest = typed_units(rel.kinds).longest if rel.kinds else math.sqrt(len(rel.columns))
    share = rel.row_bound / longest
    return size + (f", {share:.4g} of the longest possible row: longer ones are shortened" if share < 1 - 1e-12 else "")


def _neighbours_words(neighbours: Neighbours) -> str:
    one = "one row stands for" if neighbours.count_unit == "rows" else "the unit is"
    return f"{neighbours.sentence}; {one} {neighbours.unit}"


def _statement_without_events(rel: Any, size: str, neighbours: tuple[str, str]) -> Statement:
    if isinstance(rel.guarantee, NoPrivacy):
        measured, guarantee = f"the exact moments of {size}", str(rel.guarantee)
    else:
        measured = "nothing: no row was used" if rel.noisy_moment is None else f"the exact moments of {size}"
        guarantee = f"perfect privacy, so also the {rel.guarantee} that was asked for"
    none = [(title, "none") for title in ("Sensitivity", "Noise", "Events")]
    return Statement((("Measured", measured), *none, neighbours, ("Guarantee", guarantee)))


def _of_events(rel: Any, text: Callable[[Event], str]) -> str:
    """Return the text of every event; equal texts in a row are written once, with their number."""
    runs = [(words, len(list(same))) for words, same in itertools.groupby(text(event) for event in rel.events)]
    return "; ".join(words if times == 1 else f"{times} times {words}" for words, times in runs)


def _noise_words(event: Event) -> str:
    distribution = f" ({event.law})" if event.law else ""
    freedom = f", freedom {event.freedom:.9g}" if event.freedom else ""
    return f"{event.mechanism}{distribution}, scale {event.scale:.9g}{freedom}, {event.unit}"


def _share_words(event: Event) -> str:
    name = "mu" if event.mechanism == "gaussian" else "epsilon" if event.pure else "ratio"
    return f"{event.share} with {name} = sensitivity/scale = {1 / event.multiplier:.9g}"


def _verdict(rel: Release) -> str:
    if rel.is_sound:
        return f"{rel.actual_guarantee}; asked for {rel.guarantee}"
    if accounting.covers(rel.guarantee, rel.actual_guarantee):
        return f"{rel.actual_guarantee} as published; the claim was {rel.guarantee}"
    return f"only {rel.actual_guarantee} as published; the claim of {rel.guarantee} is false"
