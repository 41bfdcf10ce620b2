"""An experiment as a value: which data, methods and guarantees, what varies, how often; to JSON and back."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from privcov.core import checks
from privcov.core.guarantees import Guarantee, ZCDP, from_dict, to_dict
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, SourceCard
from privcov.estimators.base import METHODS
from privcov.estimators.glasso import Glasso
from privcov.measurements.labels import CLASSES
from privcov.metrics import classification
from privcov.metrics.errors import NORMS, REFERENCES
from privcov.studies.cells import Cell, Entry, build_entry, cells, column_of
from privcov.studies.store import Store
from privcov.studies.tasks import AUC
from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import RELEASE_PRIVATE, PrivateDataset

METRICS = tuple(
    f"{prefix}{norm}-to-{against}" for prefix in ("relative-", "") for norm in NORMS for against in REFERENCES
)
CLASSIFICATION = classification.METRICS
MAX_REPLICATES, MAX_BOUND = 1_000_000, 1e100
OnCell = Callable[[int, int, Cell], None]  # progress: how many are done, of how many, and the last one
__all__ = ["CLASSIFICATION", "METRICS", "NORMS", "Plan", "column_of", "run"]


@checks.explain_arguments
@dataclass(frozen=True)
class Plan:
    """Frozen description of an experiment: data, methods, guarantees, what varies and how often.

    Every field is checked when the plan is made.

    Parameters
    ----------
    source : str
        Key of a registered source of simulated or public rows, see `privcov.sources`.
    source_params : dict, optional
        Parameters of the source, by name.
    methods : list of str or of (str, dict), optional
        Keys of methods, alone or with a dict of parameters and of the options calibration, centre, tuning and
        neighbours. Each entry may occur once. The default is "auto-cov" alone.
    guarantees : list of PureDP, ApproxDP, ZCDP or NoPrivacy
        At least one. A method that cannot give a guarantee is left out of those cells.
    vary : dict, optional
        Lists of values, by the name of a source parameter or "row_bound". All combinations are run. The table has them
        in the column `column_of(name)`: the name itself, or "source_" + name where the table has a column of that name
        for something else.
    metrics : list of str, optional
        Names such as "relative-frobenius-to-sample" (see METRICS); "auc-to-truth", the area under the ROC curve of the
        graphs along a lambda path, for graphical lassos; or "lda-error" and "majority-error" (see CLASSIFICATION): the
        fraction of test rows that linear discriminant analysis with the released class means and matrix classifies
        wrongly, and the fraction that is classified wrongly by always answering the commonest class.
        The two kinds of metric cannot be in one plan.
    replicates : int, optional
        From 1 to 1,000,000, each with fresh rows and fresh noise.
    seed : int, optional
        Whole number, at least 0.
    row_bound : float, optional
        R, from 1e-100 to 1e100. The default is computed from the public parameters of the source.
    training : int, optional
        Number of training rows, for classification metrics only: the sizes training, validation and best describe a
        public random split of labelled rows, drawn again for every replicate. The release is made from the training
        rows with centre "classes", the validation rows are not used, and the other rows are the test rows.
    validation : int, optional
        Number of validation rows, for classification metrics only.
    best : int, optional
        Number of columns that are kept, for classification metrics only: those with the largest t statistics on the
        raw training rows. With it no release has an end-to-end guarantee.

    Raises
    ------
    ValueError
        For a field that cannot be run, in one sentence that names it.
    TypeError
        For a private data set as the source, or an entry of ``guarantees`` that is no guarantee.

    Reference
    ---------
    Mathematics 2023: its QDA with a common covariance is the rule that is used here for "lda-error".

    Examples
    --------
    >>> import privcov
    >>> plan = privcov.Plan(
    ...     source="ar1-covariance",
    ...     source_params={"n": 500, "d": 4},
    ...     methods=["gaussian-cov", ("auto-cov", {"centre": "joint"})],
    ...     guarantees=[privcov.ZCDP(0.1), privcov.ZCDP(1.0)],
    ...     replicates=3,
    ... )
    >>> plan.steps
    12
    >>> privcov.Plan.from_json(plan.to_json()) == plan
    True
    """

    source: str
    source_params: dict = field(default_factory=dict)
    methods: list = field(default_factory=lambda: ["auto-cov"])
    guarantees: list = field(default_factory=list)
    vary: dict = field(default_factory=dict)
    metrics: list = field(default_factory=lambda: ["relative-frobenius-to-sample"])
    replicates: int = 20
    seed: int = 0
    row_bound: float | None = None
    training: int | None = None
    validation: int = 0
    best: int | None = None

    def __post_init__(self) -> None:
        for name in ("methods", "guarantees", "metrics"):
            object.__setattr__(self, name, _as_list(name, getattr(self, name)))
        for name in ("source_params", "vary"):
            if not isinstance(getattr(self, name), dict):
                raise ValueError(f"{name} must be a dict of names, got {checks.describe(getattr(self, name))}.")
        if isinstance(self.source, PrivateDataset):
            raise TypeError(
                f"source must be a key of privcov.sources(), got a PrivateDataset: a plan runs on simulated and public "
                f"tables. Private rows are for {RELEASE_PRIVATE} alone."
            )
        if isinstance(self.source, Dataset):
            raise TypeError(
                "source must be a key of privcov.sources(), got a Dataset: a plan draws its rows anew. Release these "
                "rows with privcov.release, as often as you like."
            )
        card = SOURCES.get(self.source)
        build(card.cls, f"Source {self.source!r}", self.source_params)
        object.__setattr__(self, "vary", {k: self._values(card, k) for k in self.vary})
        if self.row_bound is not None:
            object.__setattr__(self, "row_bound", _bound("row_bound", self.row_bound))
        replicates = checks.integer("replicates", self.replicates, 1, MAX_REPLICATES, "20 is a good start.")
        object.__setattr__(self, "replicates", replicates)
        object.__setattr__(self, "seed", checks.integer("seed", self.seed, 0))
        for name in self.metrics:
            checks.one_of("metric", name, (*METRICS, AUC, *CLASSIFICATION))
        methods = [_entry(m) for m in self.methods]
        labels = [build_entry(m)[0] for m in methods]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"methods names {label!r} more than once; its cells would be counted twice.")
        object.__setattr__(self, "methods", methods)
        self._check_split()
        for guarantee in self.guarantees:
            if not isinstance(guarantee, Guarantee):
                raise TypeError(f"guarantees must hold PureDP, ApproxDP or ZCDP, got {checks.describe(guarantee)}.")

    @property
    def sizes(self) -> classification.SplitSizes | None:
        """The split of a classification plan, or None."""
        return None if self.training is None else classification.SplitSizes(self.training, self.validation, self.best)

    def _check_split(self) -> None:
        """Check that the metrics, the methods and the sizes of the split belong together."""
        for entry in self.methods if AUC in self.metrics else ():
            label, method, _ = build_entry(entry)
            if not isinstance(method, Glasso):
                raise ValueError(f"{AUC} needs a lambda path, which {label} has not. Choose a graphical lasso.")
        classifies = [name in CLASSIFICATION for name in self.metrics]
        if any(classifies) and not all(classifies):
            raise ValueError("Classification errors and errors of a matrix need a plan each: one has a split of rows.")
        if any(classifies) and self.sizes is None:
            raise ValueError("A classification error needs training, the number of rows the release is made from.")
        if not any(classifies) and (self.training, self.validation, self.best) != (None, 0, None):
            raise ValueError("training, validation and best belong to classification errors; leave them out.")
        for entry in self.methods if any(classifies) else ():
            key, own = (entry, {}) if isinstance(entry, str) else entry
            if CLASSES not in METHODS.get(key).centres or own.get("centre", CLASSES) != CLASSES:
                raise ValueError(f"{key!r} must measure class means here. Choose a method that lists centre 'classes'.")

    def _values(self, card: SourceCard, name: str) -> list:
        specs = {s.name: s for s in card.parameters}
        if name not in (*specs, "row_bound"):
            raise ValueError(f"vary names {name!r}; {self.source!r} has {', '.join([*specs, 'row_bound'])}.")
        values = _as_list(f"vary[{name!r}]", self.vary[name])
        return [_bound(name, v) if name == "row_bound" else specs[name].check(v) for v in values]

    def points(self) -> Iterator[dict]:
        """Yield the combinations of ``vary``.

        Yields
        ------
        dict
            A value for every varied name.
        """
        for values in itertools.product(*self.vary.values()):
            yield dict(zip(self.vary, values, strict=True))

    @property
    def steps(self) -> int:
        """The number of method runs."""
        pairs = sum(
            not METHODS.get(m if isinstance(m, str) else m[0]).refuses(g.kind)
            for m in self.methods
            for g in self.guarantees
        )
        return pairs * self.replicates * len(list(self.points()))

    def to_json(self) -> str:
        """Return the plan as a JSON text that `from_json` reads.

        Returns
        -------
        str
            JSON with an indent of 2.
        """
        fields = dataclasses.asdict(self)
        fields["guarantees"] = [to_dict(g) for g in self.guarantees]
        return json.dumps(fields, indent=2)

    @classmethod
    @checks.explain_arguments
    def from_json(cls, text: str | bytes) -> Plan:
        """Return the plan that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            JSON of a plan.

        Returns
        -------
        Plan
            The checked plan.

        Raises
        ------
        ValueError
            For any other text, in one sentence.
        """
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as problem:
            why = problem if isinstance(problem, json.JSONDecodeError) else "a number or a list in it has no end"
            raise ValueError(f"A plan must be JSON, and this text is not: {why}.") from None
        names = [f.name for f in dataclasses.fields(cls)]
        if not isinstance(fields, dict):
            raise ValueError(f"A plan must be a JSON object with the fields {', '.join(names)}.")
        for name in fields:
            if name not in names:
                raise ValueError(f"A plan has no field {name!r}. It has {', '.join(names)}.")
        if "methods" in fields:
            fields["methods"] = [_entry(m) for m in _as_list("methods", fields["methods"])]
        if "source" not in fields:
            raise ValueError("A plan must name its source.")
        entries = _as_list("guarantees", fields.get("guarantees", []))
        try:
            fields["guarantees"] = [from_dict(dict(g.items())) for g in entries]
        except (TypeError, AttributeError) as problem:
            lacking = problem if isinstance(problem, TypeError) else "one of them is no such entry"
            raise ValueError(f"guarantees must hold entries such as {to_dict(ZCDP(0.1))}; {lacking}.") from None
        try:
            return cls(**fields)
        except (TypeError, KeyError, AttributeError, OverflowError):
            raise ValueError("A field of the plan holds a value of the wrong form.") from None


def _bound(name: str, value: object) -> float:
    """Check a row bound: its square and the inverse of that must be finite numbers too."""
    remedy = "Choose it from domain knowledge, not from the data."
    return checks.in_range(name, checks.positive(name, value, remedy), 1 / MAX_BOUND, MAX_BOUND, remedy)


def _as_list(name: str, values: Any) -> list:
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} must be a list, got {checks.describe(values)}.")
    items = list(values)
    if not items:
        raise ValueError(f"{name} must hold at least one value.")
    return items


def _entry(entry: Any) -> Entry:
    """Return an entry of ``methods``, a key or (key, dict), also where JSON made a list of it."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, (list, tuple)) and len(entry) == 2 and isinstance(entry[1], dict):
        return entry[0], entry[1]
    raise ValueError(f"methods must hold keys or (key, {{parameters}}), got {checks.describe(entry)}.")


@checks.explain_arguments
def run(
    plan: Plan, progress: OnCell | None = None, store: Store | None = None, *, workers: int | None = None
) -> pd.DataFrame:
    """Run a plan and return its tidy table.

    The rows of the table depend on the plan only: the same plan gives the same table, bit for bit, wherever it was
    computed, and adding a method changes no other row.

    Parameters
    ----------
    plan : Plan
        What is run.
    progress : callable, optional
        Called as progress(done, total, cell) after each method run; ``cell.reused`` says whether it came from the
        store.
    store : privcov.studies.store.Store, optional
        Finished cells: those that it has are not computed again, new ones are kept in it.
    workers : int, optional
        Number of processes for what takes more than a moment, at least 1. The default is PRIVCOV_WORKERS or every core.

    Returns
    -------
    DataFrame
        One row per replicate, point, method, guarantee and metric. Where a method gave no matrix the value is NaN and
        the column "problem" holds the reason, which is "" elsewhere.

    Raises
    ------
    ValueError
        For a metric that compares with the truth of rows whose truth is not known.

    Examples
    --------
    >>> import privcov
    >>> plan = privcov.Plan(
    ...     source="ar1-covariance",
    ...     source_params={"n": 500, "d": 4},
    ...     methods=["gaussian-cov", "zero"],
    ...     guarantees=[privcov.ZCDP(1.0)],
    ...     replicates=2,
    ... )
    >>> table = privcov.run(plan, workers=1)
    >>> list(table["method"])
    ['gaussian-cov', 'zero', 'gaussian-cov', 'zero']
    >>> table.groupby("method")["value"].mean().round(2).to_dict()
    {'gaussian-cov': 0.07, 'zero': 1.0}
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"plan must be a privcov.Plan, got {type(plan).__name__}.")
    finished = []
    with contextlib.closing(cells(plan, store, workers=workers)) as arriving:
        for done, cell in enumerate(arriving, start=1):
            finished.append(cell)
            if progress is not None:
                progress(done, plan.steps, cell)
    finished.sort(key=lambda cell: cell.position)  # cells arrive as they are finished
    return pd.DataFrame([row for cell in finished for row in cell])
