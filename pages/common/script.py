"""The same in Python: scripts that compute the matrices and numbers on the pages."""

from __future__ import annotations

from pages.common import own_range, visitor_files
from pages.common.study import CSV, DEFAULT_SOURCE, REPLACE_ONE, SOUND, Study
from privcov.estimators.base import METHODS
from privcov.tables.dataset import Dataset
from privcov.tables.readers import says_how


def script(study: Study, dataset: Dataset, default_source: str = DEFAULT_SOURCE) -> str:
    """Return source text whose variable ``rel`` holds the page's release, bit for bit."""
    return "\n".join([*release(study, dataset, default_source), "", *_print_lines(dataset)])


def _print_lines(dataset: Dataset) -> list[str]:
    """Return lines that print the statement, the first card of Estimate and the matrix."""
    against = "sample" if dataset.truth is None else "truth"
    return [
        "print(rel.statement)",
        f"relative_error = privcov.error(rel, ds, relative=True, against={against!r})",
        f'print(f"relative Frobenius error to the {against}: {{100 * relative_error:.1f}} %")',
        "print(rel.matrix)",
    ]


def spectrum(study: Study, dataset: Dataset) -> str:
    """Return source text whose variable ``spectra`` holds the eigenvalues on Spectra, by name."""
    return "\n".join(
        [
            *release(study, dataset, DEFAULT_SOURCE),
            "",
            "from privcov.metrics.errors import noise_edge, spectra",
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
        upload = visitor_files.upload()
        assert upload is not None  # the page shows its rows
        assert upload.declared is not None
        raw = f"Path({upload.file_name!r}).read_bytes()"
        packed = says_how(upload.file_name)
        return [
            "from pathlib import Path",
            "",
            "import privcov",
            "from privcov.tables.declaration.declaration import public_upload",
            *(["from privcov.tables.readers import as_csv"] if packed else []),
            "",
            "# The table you declared public, read as on the page.",
            *(["# Not private: ranges come from the file."] if own_range.sentence(dataset) else []),
            f"declaration = privcov.Declaration.from_json({upload.declared.to_json()!r})",
            f"raw = as_csv({raw}, {upload.file_name!r}, declaration.dialect)" if packed else f"raw = {raw}",
            "ds, *_ = public_upload(raw, declaration)",
            f"ds = ds.with_row_bound({dataset.row_bound!r})",
        ]
    parameters = "".join(f", {name}={value!r}" for name, value in study.data)
    return [
        "import privcov",
        "",
        f"ds = privcov.source({key!r}, random_state={study.rows}{parameters})",
        f"ds = ds.with_row_bound({dataset.row_bound!r})",
    ]


def release(study: Study, dataset: Dataset, default_source: str) -> list[str]:
    """Return lines after which ``rel`` is the page's release."""
    arguments = study.method_options
    usual = {"calibration": SOUND, "neighbours": REPLACE_ONE}
    settings = study.settings(METHODS.get(study.method_key()))
    arguments |= {name: value for name, value in settings.items() if value != usual[name]}
    options = "".join(f", {name}={value!r}" for name, value in arguments.items())
    return [
        *rows(study, dataset, default_source),
        f"guarantee = privcov.{study.guarantee!r}",
        f"rel = privcov.release(ds, guarantee, {study.method_key()!r}, random_state={study.seed}{options})",
    ]
