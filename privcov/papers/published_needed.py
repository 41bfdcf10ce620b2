"""How many rows a sound calibration needs for the error that was reached as published: the sound error along n."""

from __future__ import annotations

from functools import partial

from privcov.papers.published import Point, Table
from privcov.papers.published_4 import METHODS, MODELS, NORMS
from privcov.privacy import ApproxDP
from privcov.sweeps.plan import Plan

D, FIRST = 100, 200
ROWS = tuple(FIRST * 4**k for k in range(5))


def _plan(model: str, law: str, replicates: int, seed: int) -> Plan:
    key, fixed = MODELS[model]
    return Plan(
        source=key,
        source_params={"d": D, "family": law, **fixed},
        methods=list(METHODS.values()),
        guarantees=[ApproxDP(0.5, 1 / 400)],
        vary={"n": list(ROWS)},
        metrics=[f"{norm}-to-truth" for norm in NORMS],
        replicates=replicates,
        seed=seed,
    )


def _read(model: str, law: str, row) -> tuple[dict, str]:
    method = next(name for name, key in METHODS.items() if key == row["method"])
    keys = {"model": model, "law": law, "d": str(D), "n": str(row["n"]), "epsilon": "0.5", "delta": "1/400"}
    return keys | {"method": method}, row["metric"].split("-")[0]


TABLES = (
    Table(
        "4-needed", 4, "Tables 1 and 2, more rows", f"Sound errors at p = {D}, n = {FIRST} to {ROWS[-1]:,}",
        "absolute error",
        tuple(
            Point(f"model {model}, {law}", {}, None, partial(_plan, model, law), partial(_read, model, law))
            for model in MODELS
            for law in ("normal", "t5")
        ),
        replicates=10, small=(0, 3),
    ),
)  # fmt: skip
