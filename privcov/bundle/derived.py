"""Derive the files of a bundle from its four inputs, with the same function for writing and for checking a bundle.

The inputs are measurement.json, guarantee.json, ledger_entry.json and declaration.json.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from privcov.bundle.analyst_files import LEVEL, TEMPLATES, extra_files
from privcov.bundle.codebook import RULES, about_rows, codebook
from privcov.bundle.html import release_report
from privcov.bundle.safe import cell, json_bytes, table
from privcov.core.guarantees import ApproxDP, Guarantee, format_up, from_dict, to_dict
from privcov.core.words import plain
from privcov.estimators.base import METHODS
from privcov.inference import entries
from privcov.inference.unbiased import ONE_COLUMN, Intervals, unbiased_moments_of_sum
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.binary_columns import find_binary_columns
from privcov.postprocess.matrices import Matrices, MeasuredMoment, derive
from privcov.postprocess.terms import mean_terms
from privcov.releases.release import Statement, write_statement

FORMAT = 9
MATRICES = (
    "mean",
    "noisy",
    "noise_std",
    "covariance",
    "correlation",
    "eigenvalues",
    "loadings",
    "regular",
    "precision",
    "partial",
    "shares",
    "shares_std",
)
# Further files: estimates, which need more libraries than a check.
EXTRAS = {
    "extras/estimated_correlation.csv": "the correlations of all rows, as the method of the release estimates them",
    "extras/estimated_covariance.csv": "the covariance of all rows, as the method of the release estimates it",
}
VERIFY = TEMPLATES / "verify.py"
_CARD = ("label", "summary", "formula", "avoid", "reference", "differs")
_STRONGEST = 12
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a bundle is made from; ``entry`` and ``declaration`` are plain values, as JSON has them."""

    measurement: NoisySum
    stated_guarantee: Guarantee
    entry: dict
    declaration: dict

    @property
    def requested(self) -> Guarantee:
        """The guarantee that was requested, and paid."""
        return from_dict(self.entry["request"]["guarantee"])


def noisy_of(total: NoisySum) -> tuple[NoisyMoment, MeasuredMoment]:
    """Return the moment as it was measured, and the same with its public facts. The same sum gives the same doubles.

    Spends nothing and keeps the guarantee of the measurement: it is post-processing of the stored sum.
    """
    noisy_moment = read_sum(total, "joint")
    facts, distribution = total.facts, noisy_moment.distribution
    return noisy_moment, MeasuredMoment(
        noisy_moment.matrix,
        row_bound=facts.row_bound,
        scale=np.asarray(facts.scale),
        origin=np.asarray(facts.origin),
        n_rows=noisy_moment.n_rows,
        entry_std=distribution.off_diagonal_std,
        diagonal_std=distribution.diagonal_std_or_stds if noisy_moment.flags is None else distribution.diagonal_std,
        flags=noisy_moment.flags,
        binary=find_binary_columns(facts.kinds, facts.units, facts.missing),
    )


def round_guarantee_up(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee as the statement prints it: an epsilon computed numerically is rounded up to six digits."""
    if isinstance(guarantee, ApproxDP):
        return ApproxDP(float(format_up(guarantee.epsilon, 6)), guarantee.delta)
    return guarantee


def statement_of(bundle_inputs: Inputs, noisy_moment: NoisyMoment) -> Statement:
    """Return the statement of the release, from its event and public facts."""
    facts = bundle_inputs.measurement.facts
    return write_statement(
        SimpleNamespace(
            events=bundle_inputs.measurement.events,
            guarantee=bundle_inputs.requested,
            actual_guarantee=bundle_inputs.stated_guarantee,
            is_sound=True,
            neighbours=facts.neighbours,
            n=facts.n,
            count=noisy_moment.count,
            columns=facts.columns,
            row_bound=facts.row_bound,
            scale=facts.scale,
            origin=facts.origin,
            kinds=facts.kinds,
        )
    )


def declared_facts(total: NoisySum) -> dict:
    """Return the part of a missing declaration that the release itself states."""
    return {"facts": total.original_facts.to_dict(), "neighbours": dataclasses.asdict(total.facts.neighbours)}


def derived_files(bundle_inputs: Inputs) -> dict[str, bytes]:
    """Return bytes by path in the bundle, of everything but the manifest."""
    noisy_moment, noisy = noisy_of(bundle_inputs.measurement)
    matrices, lines = derive(noisy), statement_of(bundle_inputs, noisy_moment).lines
    moments = unbiased_moments_of_sum(bundle_inputs.measurement)
    correlations = entries.correlations(moments, LEVEL, 0.0, tested=False)
    card = METHODS.get(bundle_inputs.entry["request"]["method"])
    inputs = {
        "measurement.json": json_bytes({**bundle_inputs.measurement.to_dict(), "centre": "joint"}),
        "guarantee.json": json_bytes(to_dict(bundle_inputs.stated_guarantee)),
        "ledger_entry.json": json_bytes(bundle_inputs.entry),
        "declaration.json": json_bytes(bundle_inputs.declaration),
    }
    return {
        **inputs,
        "README.txt": _readme(bundle_inputs.measurement).encode(),
        "statement.txt": _lines(lines),
        "method_card.txt": _lines(tuple((title, getattr(card, title)) for title in _CARD)),
        "report.html": _report(bundle_inputs, noisy_moment, matrices, lines, inputs, correlations).encode(),
        "verify.py": VERIFY.read_bytes(),
        **_matrices(noisy.matrix, matrices, bundle_inputs.measurement.facts.columns),
        **extra_files(bundle_inputs.measurement, matrices, moments, correlations),
    }


def _readme(total: NoisySum) -> str:
    own = (TEMPLATES / "shares.txt").read_text(encoding="utf-8") if total.facts.flagged else ""
    return (TEMPLATES / "README.txt").read_text(encoding="utf-8") + f"{RULES[total.facts.missing]}\n" + own


def manifest_of(files: Mapping[str, bytes]) -> bytes:
    """Return manifest.json for these files."""
    return json_bytes({"format": FORMAT, "files": {k: hashlib.sha256(v).hexdigest() for k, v in files.items()}})


def strongest(correlation: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return the ``count`` pairs of largest absolute correlation."""
    i, j = np.triu_indices(len(correlation), 1)
    order = np.argsort(-np.abs(correlation[i, j]), kind="stable")[:count]
    return [(int(i[k]), int(j[k])) for k in order]


def _report(
    bundle_inputs: Inputs,
    noisy_moment: NoisyMoment,
    matrices: Matrices,
    lines: Sequence[tuple[str, str]],
    inputs: Mapping[str, bytes],
    correlations: Intervals,
) -> str:
    """Return report.html; ``correlations`` are the correlations with their intervals."""
    facts = bundle_inputs.measurement.facts
    count_unit = facts.neighbours.count_unit
    rows = (
        f"{facts.n:,} {count_unit}"
        if facts.n is not None
        else f"about {noisy_moment.count:,.0f} {count_unit} (a noisy count)"
    )
    names = f"{', '.join(facts.columns[:40])}{' ...' if facts.d > 40 else ''}"
    upper = np.triu_indices(facts.d, 1)
    real = correlations.identified & ((correlations.low > 0) | (correlations.high < 0))
    compared = int((correlations.reason_code != ONE_COLUMN)[upper].sum())
    pairs = [
        (
            facts.columns[i],
            facts.columns[j],
            *(plain(float(part[i, j])) for part in (correlations.estimate, correlations.low, correlations.high)),
        )
        for i, j in strongest(np.where(real, correlations.estimate, 0.0), _STRONGEST)
        if real[i, j]
    ]
    terms = []
    if facts.kinds:
        mean = np.where(np.isnan(np.diag(matrices.noisy)), np.nan, matrices.mean)  # a column of too few rows has none
        terms = [(term.column, term.level, term.what, term.text) for term in mean_terms(facts.kinds, mean)]
    return release_report(
        bundle_inputs.entry["name"],
        lines,
        [
            f"{rows}, {facts.d} columns: {names}",
            f"Guarantee: {dict(lines)['Guarantee']}",
            *about_rows(facts),
            *bundle_inputs.entry["raised"],
        ],
        f"The intervals of {real[upper].sum()} of {compared} correlations leave out 0. Without any correlation, one "
        "interval in twenty leaves out 0."
        if compared
        else "There are no two columns to compare.",
        pairs,
        [(name, hashlib.sha256(raw).hexdigest()) for name, raw in sorted(inputs.items())],
        terms,
        codebook(facts),
    )


def _matrices(moment: np.ndarray, matrices: Matrices, columns: tuple[str, ...]) -> dict[str, bytes]:
    """Return matrices.npz, and one CSV per matrix for spreadsheets, with the same doubles."""
    arrays = {name: getattr(matrices, name) for name in MATRICES if getattr(matrices, name) is not None}
    files = {"matrices.npz": _npz({"moment": moment, **arrays})}
    axes = tuple(f"axis {k + 1}" for k in range(len(columns)))
    for name, matrix in arrays.items():
        across = axes if name in ("eigenvalues", "loadings") else columns
        rows = (name,) if matrix.ndim == 1 else columns
        files[f"matrices/{name}.csv"] = table(matrix, across, rows, corner=name).encode()
    return files


def _npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return a file for `numpy.load`, with the same bytes for every version of numpy and every machine."""
    files = {}
    for name, array in arrays.items():
        shape = ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "")
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}"
        header += " " * (-(10 + len(header) + 1) % 64) + "\n"
        start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
        files[f"{name}.npy"] = start + header.encode() + np.ascontiguousarray(array, dtype="<f8").tobytes()
    return zipped(files, zipfile.ZIP_STORED)


def zipped(files: Mapping[str, bytes], method: int) -> bytes:
    """Return a zip in which the same files have the same headers on every machine."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in files.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr, info.compress_type = 3, 0o600 << 16, method
            archive.writestr(info, raw)
    return out.getvalue()


def _lines(lines: tuple[tuple[str, str], ...]) -> bytes:
    return "".join(f"{cell(title)}: {cell(text)}\n" for title, text in lines).encode()
