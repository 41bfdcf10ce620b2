"""`release`: run a method on a data set, and convert its answer to the data's units."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Literal

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import LOCAL, RELATIONS, Guarantee
from privcov.core.parameters import build
from privcov.core.randomness import RandomState, seed_of, stream
from privcov.estimators.base import METHODS, Method, MethodCard, MethodInput, Outcome
from privcov.measurements.labels import CLASSES
from privcov.measurements.moment import ALL_CENTRES
from privcov.postprocess.available_cases import known_mean
from privcov.postprocess.binary_columns import find_binary_columns, with_identities, within_values
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import RELEASE_PRIVATE, PrivateDataset

TUNINGS = ("released", "fixed")
Centre = Literal["auto", "zero", "joint", "none", "classes"]
Tuning = Literal["released", "fixed"]
Neighbours = Literal["replace-one", "add-remove"]
# What `release` takes itself, beside a method's own parameters.
OPTIONS = ("seed", "calibration", "centre", "tuning", "neighbours")
GUARANTEE_FIRST = "The guarantee comes before the method, or both are given by name: guarantee=, method=."


@checks.explain_arguments
def release(
    dataset: Dataset,
    guarantee: Guarantee,
    method: str = "auto-cov",
    *,
    random_state: RandomState = None,
    calibration: str = "sound",
    centre: Centre = "auto",
    tuning: Tuning = "released",
    neighbours: Neighbours = "replace-one",
    **parameters: Any,
) -> Release:
    """Run a method on a simulated or public data set.

    One row counts as one person. The noise is seeded floating-point noise, which confidential rows must not have.

    Parameters
    ----------
    dataset : Dataset
        The rows; they are not secret here.
    guarantee : PureDP, ApproxDP, ZCDP or NoPrivacy
        The guarantee asked for; NoPrivacy adds no noise.
    method : str
        A key from `privcov.methods()`.
    random_state : int, RandomState, Generator or None
        None draws fresh noise. An int, at least 0, gives the same unit noise at every call and every epsilon.
    calibration : str
        "sound", or a published one of the method's card ("as-published", ...). With a published one the release states
        what it actually gives and what the paper claims. A historical method has no sound form and refuses "sound".
    centre : {"auto", "zero", "joint", "none", "classes"}
        "auto": "zero" where the mean is publicly zero, else "joint". "joint" measures mean and second moment together.
        "none" measures the uncentred second moment only (the covariance is None unless the mean is publicly zero).
        "zero" is refused unless the mean is publicly zero. "classes" measures class counts, class means and second
        moment together, for a data set with labels and a method whose card lists it; the covariance is then the pooled
        one within classes.
    tuning : {"released", "fixed"}
        "released": from the noisy matrix, which spends nothing. "fixed": by parameters. Methods without such a choice
        ignore both.
    neighbours : {"replace-one", "add-remove"}
        n is public under "replace-one"; under "add-remove" it is not, and a noisy count is measured.
    **parameters : object
        The method's own parameters.

    Returns
    -------
    Release
        The matrices in the data's units, and the statement.

    Raises
    ------
    TypeError
        For a data set or a guarantee of another type.
    ValueError
        For a choice that the method or the data set does not offer, with the reason.
    RuntimeError
        For a defect: a method that spent more than was asked for.

    Guarantee
    ---------
    With the calibration "sound" the noise gives the guarantee asked for under the
    neighbouring relation. `Release.actual_guarantee` is what any other release gives.

    Spends
    ------
    The whole guarantee, as listed by the events of the release. No ledger records it: the rows are public.

    Reference
    ---------
    Each method's card names its source and where it differs; each event names the file with the proof of its
    sensitivity.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.source("ar1-covariance", n=5000, d=2, random_state=0)
    >>> rel = privcov.release(ds, privcov.ZCDP(rho=0.1), "gaussian-cov", random_state=1)
    >>> rel.covariance.shape
    (2, 2)
    >>> print(rel.statement["Guarantee"])
    0.1-zCDP; asked for 0.1-zCDP
    """
    if isinstance(method, Dataset) or isinstance(guarantee, Dataset):
        raise TypeError('The order is release(dataset, guarantee, "auto-cov"): data set, guarantee, method.')
    if not isinstance(dataset, Dataset):
        advice = "Make one with Dataset.from_rows(table, bounds={column: (low, high)})."
        remedy = f"Use {RELEASE_PRIVATE}." if isinstance(dataset, PrivateDataset) else advice
        raise TypeError(f"dataset must be a privcov.Dataset, got {type(dataset).__name__}. {remedy}")
    if doubt := delta_warning(dataset.n, guarantee):
        warnings.warn(doubt, stacklevel=3)
    return run_method(
        build_method(method, parameters),
        dataset,
        guarantee,
        seed=seed_of(random_state),
        calibration=calibration,
        centre=centre,
        tuning=tuning,
        neighbours=neighbours,
    )


def remedy_of(guarantee: object) -> str:
    """Return what to write in place of something that is no guarantee."""
    key = isinstance(guarantee, str) and guarantee in {card.key for card in METHODS.all()}
    return GUARANTEE_FIRST if key else "Write, for example, privcov.ZCDP(rho=0.1)."


def build_method(key: str, parameters: dict) -> Method:
    """Return the method object of a key, with checked parameters."""
    if isinstance(key, Guarantee):
        raise TypeError(f"method must be a key such as 'auto-cov', got {key!r}. {GUARANTEE_FIRST}")
    card = METHODS.get(key)
    return build(card.cls, f"Method {key!r}", parameters, OPTIONS)


def run_method(method: Method, dataset: Dataset, guarantee: Guarantee, **options: Any) -> Release:
    """Run a method that is already built, with the options of `method_input`; otherwise as `release`."""
    inputs = method_input(method, dataset, guarantee, **options)
    return in_units_of_data(method, inputs, method.run(inputs))


def method_input(
    method: Method,
    dataset: Dataset,
    guarantee: Guarantee,
    *,
    seed: int,
    calibration: str | None = None,
    centre: Centre = "auto",
    tuning: Tuning = "released",
    neighbours: Neighbours = "replace-one",
    repeat: int = 0,
) -> MethodInput:
    """Return the input with which `run_method` runs a method."""
    card: MethodCard = method.card
    calibration = card.default_calibration if calibration is None else calibration
    check_choices(card, guarantee, calibration, tuning, neighbours)
    if centre == "auto":
        centre = "zero" if dataset.mean_is_zero else "joint"
    check_centre(card, centre, dataset.name, dataset.mean_is_zero)
    rng = stream(seed, "noise", repeat, dataset.name, card.key)
    return MethodInput.on(dataset, guarantee, centre, tuning, rng, calibration, neighbours)


def check_choices(card: MethodCard, guarantee: Guarantee, calibration: str, tuning: str, neighbours: str) -> None:
    """Raise, with the reason, for choices with which a method is not offered."""
    kind = getattr(guarantee, "kind", None)
    if kind is None or not isinstance(guarantee, Guarantee):
        raise TypeError(
            f"guarantee must be PureDP, ApproxDP or ZCDP, got {checks.describe(guarantee)}. {remedy_of(guarantee)}"
        )
    if card.refuses(kind):
        raise ValueError(card.refuses(kind))
    if calibration == "sound" and "sound" not in card.calibrations:
        raise ValueError(
            f"{card.label} has no sound form: it is kept to show what was published. "
            f"Ask for calibration={card.default_calibration!r}, and read in the statement what it actually gives."
        )
    checks.one_of("calibration", calibration, tuple(card.calibrations))
    checks.one_of("tuning", tuning, TUNINGS)
    checks.one_of("neighbours", neighbours, tuple(RELATIONS))
    if neighbours not in card.relations:
        raise ValueError(
            f"{card.label} is calibrated for {' or '.join(card.relations)}, not for {neighbours}. "
            "Choose another method or neighbouring relation."
        )


def check_centre(card: MethodCard, centre: str, name: str, mean_is_zero: bool) -> None:
    """Raise, with the reason, for a centre that the method does not measure or the data set does not allow."""
    checks.one_of("centre", centre, ("auto", *ALL_CENTRES))
    if centre not in card.centres:
        able = ", ".join(c.key for c in METHODS.all() if CLASSES in c.centres)
        raise ValueError(f"{card.label} does not measure class means. Use one of {able}, or centre='joint'.")
    if centre == "zero" and not mean_is_zero:
        raise ValueError(
            f"centre='zero' needs a mean that is publicly known to be zero, and that of {name!r} is not. "
            "Use centre='joint', or centre='none' for the uncentred second moment."
        )


def in_units_of_data(method: Method, inputs: MethodInput, outcome: Outcome) -> Release:
    """Return the answer of a method as a release, in the data's units."""
    card, facts, units = method.card, inputs.facts, inputs.facts.units
    moments, measurement = outcome.moments, outcome.noisy_moment
    if facts.kinds and moments.mean is not None and moments.covariance is not None and moments.class_means is None:
        bound = units.row_bound if measurement is None else measurement.row_bound
        two = find_binary_columns(facts.kinds, units.with_row_bound(bound), facts.missing)
        mean = known_means = within_values(moments.mean, two)
        if measurement is not None and measurement.flags is not None:
            known_means = known_mean(mean, measurement.matrix, measurement.flags)
        covariance = with_identities(moments.covariance, known_means, two)
        second = covariance + np.outer(mean, mean)
        moments = dataclasses.replace(moments, covariance=covariance, mean=mean, second_moment=second)
    covariance = moments.covariance
    if covariance is None and inputs.rows is not None and inputs.rows.mean_is_zero:
        covariance = moments.second_moment
    path = None
    if outcome.path is not None:
        path = tuple(dataclasses.replace(fit, precision=units.precision(fit.precision)) for fit in outcome.path)
    target = card.target
    if target == "covariance" and moments.covariance is None:
        target = "second moment"
    return Release(
        method=card.key,
        parameters={
            **{s.name: getattr(method, s.name) for s in card.parameters},
            "calibration": inputs.calibration,
            "centre": inputs.centre,
            "tuning": inputs.tuning,
            "neighbours": inputs.relation,
            "version": card.version,
        },
        guarantee=inputs.guarantee,
        neighbours=LOCAL if card.trust == "local" else RELATIONS[inputs.relation],
        events=outcome.events,
        target=target,
        n=None if inputs.relation == "add-remove" else facts.n,
        columns=facts.columns,
        row_bound=units.row_bound if measurement is None else measurement.row_bound,
        scale=units.scale,
        origin=units.origin,
        covariance=units.covariance(covariance),
        precision=units.precision(outcome.precision),
        second_moment=units.covariance(moments.second_moment),
        mean=units.mean(moments.mean),
        noisy_moment=measurement,
        path=path,
        notes=(*outcome.notes, *filter(None, [delta_warning(facts.n, inputs.guarantee)])),
        count=outcome.count,
        class_means=units.mean(moments.class_means),
        class_counts=None if measurement is None else measurement.class_counts,
        classes=facts.classes if inputs.centre == CLASSES else (),
        kinds=facts.kinds,
    )


def delta_warning(n: int | None, guarantee: Guarantee) -> str:
    """Return what has to be said of a guarantee that is known to promise little, or ""."""
    delta = getattr(guarantee, "delta", None)
    if n is None or delta is None or delta < 1 / n:
        return ""
    remedy = "publishing a random row would satisfy it. Choose it far below."
    return f"Delta {delta:g} is not below 1/n = {1 / n:.2g}: {remedy}"
