"""The same in Python: scripts that compute the matrices and numbers on the pages."""

from __future__ import annotations

from pages.shell import own_range, visitor_files
from pages.shell.study import CSV, DEFAULT_SOURCE, REPLACE_ONE, SOUND, Study
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.table_files import says_how
from privcov.table_files.dialect import Dialect


def script(study: Study, dataset: Dataset, default_source: str = DEFAULT_SOURCE) -> str:
    """Return source text whose variable ``rel`` holds the page's release, bit for bit."""
    return "\n".join([*release(study, dataset, default_source), "", *_shown(dataset)])


def _shown(dataset: Dataset) -> list[str]:
    """Return lines that print the statement, the first card of Estimate and the matrix."""
    against = "sample" if dataset.truth is None else "truth"
    return [
        "print(rel.statement)",
        f"wrong = privcov.error(rel, ds, relative=True, against={against!r})",
        f'print(f"relative Frobenius error to the {against}: {{100 * wrong:.1f}} %")',
        "print(rel.matrix)",
    ]


def spectrum(study: Study, dataset: Dataset) -> str:
    """Return source text whose variable ``spectra`` holds the eigenvalues on Spectra, by name."""
    return "\n".join(
        [
            *release(study, dataset, DEFAULT_SOURCE),
            "",
            "from privcov.metrics.spectra import noise_edge, spectra",
            "",
            "spectra = dict(spectra(rel, ds))",
            "edge = noise_edge(rel)  # eigenvalues of the noise alone end here",
            "for name, values in spectra.items():",
            "    print(name, values)",
        ]
    )


def rows(study: Study, dataset: Dataset, default_source: str = DEFAULT_SOURCE) -> list[str]:
    """Return lines after which ``ds`` holds the page's rows under its row bound."""
    key = study.source_key(default_source)
    if key == CSV:
        bounds = "None" if dataset.bounds is None else repr(dataset.bounds.tolist())
        typical = "None" if dataset.bounds is None else repr(dataset.origin.tolist())
        return [
            "import privcov",
            "",
            "# The table you declared public, read and cleaned as on the page.",
            *(["# Not private: bounds come from the file."] if own_range.sentence(dataset) else []),
            *_read(),
            f"columns = {list(dataset.columns)!r}",
            "table = read_public(raw, dialect).frame[columns]",
            *_missing(dataset.columns),
            'table = table.replace([float("inf"), -float("inf")], float("nan")).dropna()',
            f"bounds = {bounds}",
            f"typical = {typical}",
            f"ds = privcov.Dataset.from_rows(table, row_bound={dataset.row_bound!r}, bounds=bounds, typical=typical,",
            f"                               columns=columns, name={dataset.name!r})",
        ]
    given = "".join(f", {name}={value!r}" for name, value in study.data)
    return [
        "import privcov",
        "",
        f"ds = privcov.source({key!r}, random_state={study.rows}{given})",
        f"ds = ds.with_row_bound({dataset.row_bound!r})",
    ]


def _missing(columns: tuple[str, ...]) -> list[str]:
    """Return lines that treat codes and missing cells as the page did."""
    upload = visitor_files.upload()
    if upload is None or upload.used is None:
        return []
    codes = {name: found for name, found in upload.codes.items() if upload.taken and name in columns}
    typed = upload.used[1].set_index("column")["typical"] if upload.used[0] == "bounds" else {}
    filled = {name: float(typed[name]) for name in columns if name in typed and typed[name] == typed[name]}
    lines = [f"for name, codes in {codes!r}.items():", "    table[name] = table[name].mask(table[name].isin(codes))"]
    return (lines if codes else []) + ([f"table = table.fillna({filled!r})"] if filled else [])


def _read() -> list[str]:
    """Return lines after which ``raw`` and ``dialect`` are those of the visitor's file."""
    upload = visitor_files.upload()
    name, dialect = ("your.csv", Dialect()) if upload is None else (upload.name, upload.dialect)
    raw = f"Path({name!r}).read_bytes()"
    return [
        "from pathlib import Path",
        "",
        "from privcov.data_sources.csv_file import read_public",
        *(["from privcov.table_files import as_csv"] if says_how(name) else []),
        "",
        f"dialect = privcov.{dialect!r}",
        f"raw = as_csv({raw}, {name!r})" if says_how(name) else f"raw = {raw}",
    ]


def release(study: Study, dataset: Dataset, default_source: str) -> list[str]:
    """Return lines after which ``rel`` is the page's release."""
    chosen = study.given
    usual = {"calibration": SOUND, "neighbours": REPLACE_ONE}
    settings = study.settings(METHODS.get(study.method_key()))
    chosen |= {name: value for name, value in settings.items() if value != usual[name]}
    options = "".join(f", {name}={value!r}" for name, value in chosen.items())
    return [
        *rows(study, dataset, default_source),
        f"guarantee = privcov.{study.guarantee!r}",
        f"rel = privcov.release({study.method_key()!r}, ds, guarantee, random_state={study.seed}{options})",
    ]
