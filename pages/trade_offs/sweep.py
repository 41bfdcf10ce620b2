"""What Trade-offs draws: what varies, its plans, their cells as named series, and the same as a script.

A `Setting` holds the entries of the form. `build` makes a `Sweep` of it; `tidy` puts the rows of its cells into series.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import pandas as pd

from pages.common import cached, jobs
from pages.common import script as python_script
from pages.common.fields import is_shown
from pages.common.study import Study
from privcov.core import accounting
from privcov.core.guarantees import KINDS, ApproxDP, Guarantee, NoPrivacy, PureDP, ZCDP
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.plots.words import plain, powers
from privcov.studies.cells import Cell, build_entry, cells, cells_on
from privcov.studies.estimates import MAX_COLUMNS, most_cells, refusal
from privcov.studies.plan import Plan, column_of
from privcov.studies.store import Store
from privcov.tables.dataset import Dataset

LEVELS = {"rho": np.geomspace(1e-5, 10, 13), "epsilon": np.geomspace(0.02, 20, 13)}
_SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_COLUMNS = (2, 5, 10, 20, 50, 100)
_UNASKED = 5_000_000  # largest number of cells per draw among the suggested values


# --- what can vary -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """Something that can vary, with the values that are suggested."""

    name: str
    label: str
    values: tuple
    log: bool = True
    whole: bool = False


def axes(study: Study, data: Dataset) -> list[Axis]:
    """Return what can vary for this study: the guarantee, delta, the row bound and every number of its source."""
    levels = tuple(float(f"{v:.3g}") for v in LEVELS[study.level_name])
    offered = [Axis("privacy", study.level_name, levels)]
    if study.kind == "approx":
        offered.append(Axis("delta", "delta", (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)))
    bounds = tuple(float(f"{data.row_bound * 2.0 ** (k / 2):.4g}") for k in range(-8, 5))
    offered.append(Axis("row_bound", "row bound R", bounds))
    if cached.in_session(study):
        return offered
    card = SOURCES.get(study.source_key())
    now = {s.name: s.default for s in card.parameters} | dict(study.data)
    for spec in card.parameters:
        number = isinstance(spec.default, (int, float)) and not isinstance(spec.default, bool)
        if spec.choices or not number or not is_shown(spec, "data", study, owner=card.key):
            continue
        assert spec.low is not None, "a number is declared with its bounds"
        assert spec.high is not None
        whole = isinstance(spec.default, int)
        if spec.name == "n":
            values = [v for v in _SIZES if v * data.d <= _UNASKED]
        elif spec.name == "d":
            values = [v for v in _COLUMNS if v * data.n <= _UNASKED]
        elif whole:
            values = [v for v in (1, 2, 4, 8, 16, 32) if spec.low <= v <= spec.high]
        else:
            values = [float(f"{v:.3g}") for v in np.linspace(spec.low, spec.high, 9)]
            values = [v for v in values if spec.low <= v <= spec.high]
        offered.append(Axis(spec.name, spec.label, tuple(values or [now[spec.name]]), whole or spec.log, whole))
    return offered


def values_text(values: tuple) -> str:
    """Return numbers as one types them; `read_values` reads them back."""
    return ", ".join(f"{v:g}" if float(f"{v:g}") == v else repr(v) for v in values)


def read_values(text: str, axis: Axis) -> tuple:
    """Return the numbers of a comma-separated list. Raises ValueError with a sentence."""
    numbers = []
    for word in text.replace(";", ",").split(","):
        if not word.strip():
            continue
        try:
            value = float(word)
        except ValueError:
            raise ValueError(
                f"{word.strip()[:30]!r} is not a number. Write values of {axis.label} between commas."
            ) from None
        if not np.isfinite(value) or (axis.whole and value != int(value)):
            raise ValueError(
                f"{axis.label} must be {'a whole number' if axis.whole else 'finite'}, got {word.strip()}."
            )
        numbers.append(int(value) if axis.whole else value)
    if not numbers:
        raise ValueError(f"Write at least one value of {axis.label}.")
    if len(numbers) > 60:
        raise ValueError(f"{len(numbers)} values of {axis.label} are more than a curve needs; 60 is the limit.")
    return tuple(sorted(set(numbers)))


# --- from a setting to plans ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """The entries of the form; ``kinds`` is () or the kinds of guarantee to compare over epsilon at ``delta``."""

    methods: tuple[str, ...]
    axis: str = "privacy"
    values: tuple = ()
    norm: str = "frobenius"
    relative: bool = True
    against: str = "truth"
    replicates: int = 20
    kinds: tuple[str, ...] = ()
    delta: float = 1e-6
    without_noise: bool = False


@dataclass(frozen=True, eq=False)
class Sweep:
    """The plan of one figure; for a visitor's file ``on_rows``, the arguments of `cells_on`, which are not kept.

    ``owner`` is a study that names the file's source, whose results are removed with the file, else "". ``x`` is a
    column of the table, or "level" for epsilon on an axis of several kinds. ``by_kind`` says whether each kind of
    guarantee has a line of its own, beside the method.
    """

    title: str
    owner: Any
    plan: Plan | None
    on_rows: dict
    metric: str
    x: str
    x_label: str
    log: bool
    by_kind: bool
    levels: dict
    marked: float | None

    @property
    def key(self) -> tuple:
        """Key of the sweep's job."""
        text = repr((self.plan, self.x, self.by_kind, self.levels))
        if self.on_rows:
            data = self.on_rows["dataset"]
            text += repr((id(data.rows), data.row_bound, {k: v for k, v in self.on_rows.items() if k != "dataset"}))
        return self.owner, hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return self.plan.replicates if self.plan else self.on_rows["replicates"]

    @property
    def guarantees(self) -> list[Guarantee | NoPrivacy]:
        """What is run for every method that can give it."""
        return self.plan.guarantees if self.plan else self.on_rows["guarantees"]

    @property
    def steps(self) -> int:
        """Number of method runs."""
        if self.plan:
            return self.plan.steps
        pairs = sum(
            not build_entry(m)[1].card.refuses(g.kind) for m in self.on_rows["methods"] for g in self.guarantees
        )
        return pairs * self.replicates * max(1, len(self.on_rows["row_bounds"]))

    @property
    def size(self) -> int:
        """Rows x columns of the largest table."""
        return most_cells(self.plan) if self.plan else self.on_rows["dataset"].n * self.on_rows["dataset"].d

    def cells(self, store: Store | None, stop: Event | None = None) -> Iterator[Cell]:
        """Return the method runs; rows of a visitor's file stay in this process, others may go to worker processes."""
        if self.plan:
            return cells([self.plan], store, workers=jobs.workers(self.size), stop=stop)
        return cells_on(**self.on_rows)


def same_epsilon(kind: str, epsilon: float, delta: float) -> PureDP | ApproxDP | ZCDP:
    """Return the guarantee of a kind that implies (epsilon, delta)-DP."""
    if kind == "pure":
        return PureDP(epsilon)
    return ApproxDP(epsilon, delta) if kind == "approx" else ZCDP(accounting.approx_to_zcdp(epsilon, delta))


def conversion(kinds: tuple[str, ...], epsilon: float, delta: float) -> str:
    """Return the conversion of an axis of several kinds, in words."""
    parts = {
        "pure": "Pure DP runs at that epsilon with delta = 0, more than the axis says",
        "approx": "approximate DP runs at exactly (epsilon, delta)",
        "zcdp": "zCDP runs at the largest rho whose tight conversion (Canonne, Kamath and Steinke 2020) stays within "
        f"(epsilon, delta): epsilon = {plain(epsilon)} is rho = {plain(accounting.approx_to_zcdp(epsilon, delta))}",
    }
    sentence = "; ".join(parts[k] for k in ("pure", "approx", "zcdp") if k in kinds)
    return f"The axis is epsilon at delta = {powers(delta)}. {sentence[:1].upper()}{sentence[1:]}."


def build(study: Study, data: Dataset, setting: Setting) -> Sweep:
    """Return the sweep of a form. Raises ValueError with a sentence for what cannot be run."""
    if not setting.methods:
        raise ValueError("Choose at least one method to draw.")
    axis = next((a for a in axes(study, data) if a.name == setting.axis), None)
    if axis is None:
        raise ValueError(f"{setting.axis!r} cannot vary for this data set and guarantee. Choose another axis.")
    values = setting.values or axis.values
    guarantees, levels = _guarantees(study, setting, values)
    metric = f"{'relative-' if setting.relative else ''}{setting.norm}-to-{setting.against}"
    if setting.without_noise:
        guarantees = [*guarantees, NoPrivacy()]
    x = {"privacy": "level" if setting.kinds else study.level_name, "delta": "delta"}.get(
        axis.name, column_of(axis.name)
    )
    own = cached.in_session(study)
    if own:
        if data.d > MAX_COLUMNS:
            raise ValueError(f"d = {data.d:,} columns: a page draws at most {MAX_COLUMNS:,}. Choose fewer columns.")
        plan, on_rows = None, {
            "dataset": data,
            "methods": list(setting.methods),
            "guarantees": guarantees,
            "metrics": [metric],
            "replicates": _replicates(setting),
            "seed": study.seed,
            "row_bounds": tuple(values) if axis.name == "row_bound" else (),
        }  # fmt: skip
    else:
        varies = axis.name not in ("privacy", "delta")
        simulated = data.provenance == "simulated"
        plan = Plan(
            source=study.source_key(),
            source_params={k: v for k, v in study.data if k != axis.name},
            methods=list(setting.methods),
            guarantees=guarantees,
            vary={axis.name: list(values)} if varies else {},
            metrics=[metric],
            replicates=_replicates(setting),
            seed=study.rows if simulated else study.seed,
            # A bound of the visitor's own holds at every point; the source's default follows its parameters.
            row_bound=None if study.bound == 1.0 or axis.name == "row_bound" else data.row_bound,
        )
        on_rows = {}
    sweep = Sweep(
        title=f"{data.name}: {axis.label}",
        owner=Study(source=study.source_key()) if own else "",
        plan=plan,
        on_rows=on_rows,
        metric=metric,
        x=x,
        x_label=_x_label(axis, setting),
        log=axis.log,
        by_kind=bool(setting.kinds) or (setting.without_noise and axis.name not in ("privacy", "delta")),
        levels=levels,
        marked=_standing(study, data, setting, axis),
    )
    if plan and (problem := refusal(plan)):
        raise ValueError(problem)
    if not sweep.steps:
        raise ValueError("None of these methods can give this guarantee. Choose another method or another kind.")
    return sweep


def _replicates(setting: Setting) -> int:
    """Return the number of replicates; raise ValueError outside its range."""
    if not 1 <= setting.replicates <= 1_000:
        raise ValueError(f"Replicates must be from 1 to 1,000, got {setting.replicates}. 20 is a good start.")
    return int(setting.replicates)


def _guarantees(study: Study, setting: Setting, values: tuple) -> tuple[list[Guarantee], dict]:
    """Return the guarantees of a plan, and for several kinds on one axis the epsilon of each (kind, parameter)."""
    if setting.axis == "delta":
        return [ApproxDP(study.epsilon, v) for v in values], {}
    if not setting.kinds:
        levels = values if setting.axis == "privacy" else [getattr(study, study.level_name)]
        return [study.at(float(v)).guarantee for v in levels], {}
    epsilons = values if setting.axis == "privacy" else [study.epsilon]
    guarantees: list[Guarantee] = []
    known: dict[tuple[str, float], float] = {}
    for epsilon, kind in itertools.product(epsilons, setting.kinds):
        guarantee = same_epsilon(kind, float(epsilon), setting.delta)
        guarantees.append(guarantee)
        known[kind, guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon] = float(epsilon)
    return guarantees, known


def _x_label(axis: Axis, setting: Setting) -> str:
    if axis.name != "privacy":
        return axis.label
    name = f"epsilon at delta = {powers(setting.delta)}" if setting.kinds else axis.label
    return f"{name} (stronger privacy left)"


def _standing(study: Study, data: Dataset, setting: Setting, axis: Axis) -> float | None:
    """Return the study's own value on the axis, when that is inside the drawn values."""
    values = setting.values or axis.values
    own: dict[str, Any] = {"row_bound": data.row_bound, "delta": study.delta, "n": data.n, "d": data.d}
    here = own.get(axis.name, dict(study.data).get(axis.name))
    if axis.name == "privacy":
        here = study.epsilon if setting.kinds else getattr(study, study.level_name)
    return here if here is not None and min(values) <= here <= max(values) else None


def tidy(sweep: Sweep, rows: list[dict]) -> pd.DataFrame:
    """Return the columns series, key, x (NaN without noise on an axis of privacy), replicate, value, target, problem.

    All series see the same rows in each replicate, so they can be compared pair by pair.
    """
    table = pd.DataFrame(rows)
    if sweep.x == "level":
        parameter = table["rho"].where(table["guarantee"] == "zcdp", table["epsilon"])
        table["x"] = [sweep.levels.get(pair, np.nan) for pair in zip(table["guarantee"], parameter, strict=True)]
    else:
        table["x"] = table[sweep.x]
    names = table["method"].map({label: method_name(label) for label in table["method"].unique()})
    # On an axis of privacy a run without noise has no position; it becomes a line across.
    quiet = table["guarantee"] == "none"
    if sweep.by_kind:
        names += ", " + table["guarantee"].map(lambda kind: "no noise" if kind == "none" else KINDS[kind].name)
    else:
        names = names.where(~quiet, names + ", no noise")
    table["series"] = names
    table["key"] = table["method"].str.partition(" ")[0]
    return table[["series", "key", "x", "replicate", "value", "target", "problem"]]


def method_name(label: str) -> str:
    """Return "key option=value ..." of a plan's table as a name for people."""
    key, _, options = label.partition(" ")
    name = METHODS.get(key).label
    if not options:
        return name
    return f"{name} (as published)" if options.startswith("calibration=as-published") else f"{name} ({options})"


# --- the same in Python --------------------------------------------------------------------------------------


def script(sweep: Sweep, study: Study) -> str:
    """Return source text whose variable ``table`` is the page's CSV and ``summary`` the numbers of the curves."""
    if sweep.plan is None:
        return _on_rows(sweep.on_rows, study)
    return "\n".join(
        [
            "import privcov",
            "from privcov.studies import saved",
            "",
            f"plans = [\n{_plan(sweep.plan)},\n]",
            "table = saved.run(plans)  # every replicate",
            "summary = saved.summary(plans, table)  # mean over replicates, 10 % and 90 % quantiles",
            "print(summary.to_string())",
        ]
    )


def _plan(plan: Plan) -> str:
    guarantees = ", ".join(f"privcov.{g!r}" for g in plan.guarantees)
    return "\n".join(
        [
            "    privcov.Plan(",
            f"        source={plan.source!r},",
            f"        source_params={plan.source_params!r},",
            f"        methods={plan.methods!r},",
            f"        guarantees=[{guarantees}],",
            f"        vary={plan.vary!r},",
            f"        metrics={plan.metrics!r},",
            f"        replicates={plan.replicates},",
            f"        seed={plan.seed},",
            f"        row_bound={plan.row_bound!r},",
            *([] if plan.noise_seed is None else [f"        noise_seed={plan.noise_seed},"]),
            "    )",
        ]
    )


def _on_rows(given: dict, study: Study) -> str:
    """Return the script for rows of a visitor's file."""
    rows = "\n".join(python_script.rows(study, given["dataset"]))
    guarantees = ", ".join(f"privcov.{g!r}" for g in given["guarantees"])
    by = ["method", "guarantee", "epsilon", "delta", "rho", *(["row_bound"] if given["row_bounds"] else [])]
    return "\n".join(
        [
            rows,
            "",
            "from privcov.studies.plan import run_on, summarise",
            "",
            "table = run_on(",
            "    ds,",
            f"    {given['methods']!r},",
            f"    [{guarantees}],",
            f"    {given['metrics']!r},",
            f"    replicates={given['replicates']},",
            f"    seed={given['seed']},",
            f"    row_bounds={given['row_bounds']!r},",
            ")",
            f"summary = summarise(table, {by!r})  # mean over replicates, 10 % and 90 % quantiles",
            "print(summary.to_string())",
        ]
    )
