"""Every number a method gives, as one JSON text: ``python -m tests.same_numbers`` prints it for the tree it runs in.

It names only what is public, or what both trees have under the same name, so that it also runs in an older tree.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import sys

import numpy as np

import privcov
from privcov import ApproxDP, Dataset, NoPrivacy, PureDP, ZCDP
from privcov.measurements.exact_moment import NoisySum, anchors_of, planned_event, settle_shape
from privcov.measurements.integer_gram import ANCHOR, UNIT
from privcov.measurements.laws.free_groups import groups_of
from privcov.private_dataset import PrivateDataset

GUARANTEES = (PureDP(2.0), ApproxDP(2.0, 1e-5), ZCDP(0.5), NoPrivacy())
N, D = 300, 4
GONE = ("matters",)  # parameters that the base had, whose default is the only way now
BOUNDS = [(0.0, 8.0), (-3.0, 1.0), (-2.0, 2.0), (10.0, 30.0)]


def rows() -> tuple[np.ndarray, list[str]]:
    """Rows inside and outside the bounds, with related columns, and a label each; no library's eigenvectors in them."""
    rng = np.random.default_rng(20_261_122)
    mixed = rng.standard_normal((N, D)) @ np.array([[1, 0.6, 0, 0], [0, 0.8, 0.3, 0], [0, 0, 1, 0], [0, 0, 0.5, 0.9]])
    middle, half = np.mean(BOUNDS, axis=1), np.ptp(BOUNDS, axis=1) / 4
    return middle + half * mixed, [("a", "b", "c")[k] for k in rng.integers(0, 3, N)]


def found(act, *args, **how) -> object:
    """What ``act`` returns, or what it says instead."""
    try:
        return act(*args, **how)
    except (ValueError, TypeError, ArithmeticError) as problem:
        return f"{type(problem).__name__}: {problem}"


def text_of(act, *args, **how) -> dict:
    """Everything of the release that ``act`` makes, statement included; not its notes, which are for readers."""
    fields = json.loads(act(*args, **how).to_json())
    fields["parameters"] = {name: value for name, value in fields["parameters"].items() if name not in GONE}
    law = (fields.get("raw") or {}).get("law") or {}
    if "joint" in law:  # the base wrote the number of anchors under this name
        law["n_anchors"] = law.pop("joint")
    return {name: value for name, value in fields.items() if name not in ("digest", "format", "notes")}


def released() -> dict:
    """Releases of simulated rows, for every method, calibration, guarantee, neighbouring relation and centre."""
    x, labels = rows()
    bounded = Dataset.from_rows(x, bounds=BOUNDS, labels=labels, name="bounded")
    around_zero = Dataset.from_rows(x - x.mean(axis=0), row_bound=6.0, mean_is_zero=True, name="zero mean")
    answers = {}
    for card in privcov.methods():
        for calibration, guarantee in itertools.product(card.calibrations, GUARANTEES):
            cases = [(bounded, "auto", "replace-one", "released"), (around_zero, "auto", "replace-one", "released")]
            cases += [(bounded, "none", "zero-out", "released"), (bounded, "joint", "add-remove", "released")]
            cases += [(bounded, "classes", "replace-one", "released"), (bounded, "classes", "add-remove", "fixed")]
            cases += [(bounded, "joint", "replace-one", "raw-cv")]
            for table, centre, relation, tuning in cases:
                name = f"{card.key} {calibration} {guarantee} {table.name} {centre} {relation} {tuning}"
                how = {"calibration": calibration, "centre": centre, "neighbours": relation, "tuning": tuning}
                answers[name] = found(text_of, privcov.release, card.key, table, guarantee, seed=3, **how)
        for spec in card.parameters:  # every choice of every setting, once
            for choice in () if spec.name in GONE else spec.choices or ():
                how = {spec.name: choice, "calibration": card.default_calibration}
                name = f"{card.key} {spec.name}={choice}"
                guarantee = next(g for g in GUARANTEES if isinstance(g, card.guarantees))
                answers[name] = found(text_of, privcov.release, card.key, bounded, guarantee, seed=4, **how)
    return answers


def private() -> dict:
    """What private rows are offered and asked for, and what every method makes of one measurement."""
    try:
        door = importlib.import_module("privcov.releasing.private_request")
    except ModuleNotFoundError:  # at the base both were one module
        door = importlib.import_module("privcov.releasing.private")
    x, labels = rows()
    tables = {
        "n public": PrivateDataset.from_rows(x, bounds=BOUNDS),
        "n hidden": PrivateDataset.from_rows(x, bounds=BOUNDS, n_public=False, rows_per_person=2),
        "classes": PrivateDataset.from_rows(x, bounds=BOUNDS, labels=labels, classes=["a", "b", "c"]),
        "one column": PrivateDataset.from_rows(x[:, :1], row_bound=9.0),
    }
    answers: dict = {}
    for card in privcov.methods():
        answers[f"{card.key} offered"] = door.reason_against(card.key)
        for (which, table), guarantee, centre in itertools.product(tables.items(), GUARANTEES[:3], ("auto", "none")):
            for shape in ("free-trace", "laplace", "wishart-difference"):
                noisy = found(_measured, table.facts, guarantee, shape, "joint" if centre == "auto" else centre)
                if isinstance(noisy, str):
                    continue
                name = f"{card.key} {which} {guarantee} {shape} {centre}"
                answers[name] = found(text_of, door.view, card.key, noisy, guarantee, centre=centre)
    return answers


def _measured(facts, guarantee, shape: str, centre: str) -> NoisySum:
    """Whole numbers as a measurement of this shape could have given them."""
    event, n_anchors = planned_event(facts, guarantee, centre=centre, shape=shape), anchors_of(facts, centre)
    rng, size = np.random.default_rng(7), facts.d + n_anchors
    half = rng.standard_normal((size, 2 * size)) * UNIT / 2
    total = (N * (half @ half.T) / size).astype(np.int64)
    total[facts.d :, facts.d :] = np.diag(np.diag(total)[facts.d :])
    drawn = settle_shape(facts, shape, n_anchors)
    groups = groups_of(facts) if drawn == "free-groups" else ()
    sums = tuple(int(np.trace(total[: facts.d, : facts.d])) + UNIT**2 for g in groups if len(g.columns) > 1)
    fields = {"facts": facts.to_dict(), "total": total.tolist(), "anchors": n_anchors, "shape": drawn, "sums": [*sums]}
    fields |= {
        "scale": event.scale,
        "event": dataclasses.asdict(event),
        "grid": UNIT**2,
        "anchor": ANCHOR,
        "version": 2,
    }
    return NoisySum.from_dict(fields)


def claims() -> list:
    """The numbers and verdicts of the table of published claims, without the words beside them."""
    from privcov.audit import claims

    table = claims.table(1.0, 1e-3, 200, 6).drop(columns=["Paper", "Where", "Why"])
    return json.loads(table.to_json(orient="records", double_precision=15))


def everything() -> dict:
    """What is compared."""
    return {"released": released(), "private": private(), "claims": claims()}


if __name__ == "__main__":
    json.dump(everything(), sys.stdout)
