"""The same in Python: a script that makes the very matrix on the page."""

from __future__ import annotations

from pages.parts.study import CSV, REPLACE_ONE, SOUND, Study
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS


def script(study: Study, dataset: Dataset) -> str:
    """Source text whose variable ``rel`` holds the page's release, bit for bit."""
    key = study.source_key()
    lines = ["import privcov", ""]
    if key == CSV:
        lines += [
            "# The table you declared public, cleaned as on the page: complete rows of the chosen columns.",
            "import pandas as pd",
            "",
            f"columns = {list(dataset.columns)!r}",
            'table = pd.read_csv("your.csv")[columns]',
            'table = table.replace([float("inf"), -float("inf")], float("nan")).dropna()',
        ]
        bounds = "None" if dataset.bounds is None else repr(dataset.bounds.tolist())
        typical = "None" if dataset.bounds is None else repr(dataset.origin.tolist())
        lines += [
            f"bounds = {bounds}",
            f"typical = {typical}",
            f"ds = privcov.Dataset.from_rows(table, row_bound={dataset.row_bound!r}, bounds=bounds, typical=typical,",
            f"                               columns=columns, name={dataset.name!r})",
        ]
    else:
        given = "".join(f", {name}={value!r}" for name, value in study.data)
        lines += [
            f"ds = privcov.source({key!r}, seed={study.rows}{given})",
            f"ds = ds.with_row_bound({dataset.row_bound!r})",
        ]
    chosen = dict(study.options) if study.method else {}
    usual = {"calibration": SOUND, "neighbours": REPLACE_ONE}
    settings = study.settings(METHODS.get(study.method_key()))
    chosen |= {name: value for name, value in settings.items() if value != usual[name]}
    options = "".join(f", {name}={value!r}" for name, value in chosen.items())
    lines += [
        f"guarantee = privcov.{study.guarantee!r}",
        f"rel = privcov.release({study.method_key()!r}, ds, guarantee, seed={study.seed}{options})",
        "",
        "print(rel.statement)",
        "print(rel.matrix)",
    ]
    return "\n".join(lines)
