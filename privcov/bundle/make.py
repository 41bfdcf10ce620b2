"""The bundle: one zip that holds everything released, and a script that checks it without the data.

Nothing in it was read off the rows except the noisy measurement: no hash of the file, no number of rows that is not
public, no seed (there was none).
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from privcov.bundle import verify
from privcov.bundle.safe import cell, json_bytes, table
from privcov.figures.look import Picture
from privcov.figures.own import SCRIPT, script, standalone
from privcov.postprocess.answers import Answers

_PACKAGE = Path(__file__).resolve().parents[1]
# What verify.py needs to make the matrices again; numpy is all that these import.
_SOURCES = (
    "checks.py",
    *(f"postprocess/{n}.py" for n in ("__init__", "answers", "correlation", "joint", "plain_algebra", "spectrum")),
    "postprocess/threshold.py",
)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Contents:
    """What goes into the zip.

    measurement: the noisy whole numbers and public facts, as `NoisySum.to_dict` gives them, with "centre".
    guarantee:   as `privcov.privacy.to_dict` gives what the events compose to.
    statement:   (title, text) lines. card: (title, text) lines about the method. answers, moment: from the measurement.
    declaration, entry: plain values. pictures: file stem -> (title, figure). report: HTML of the one-page report.
    """

    columns: tuple[str, ...]
    measurement: dict
    guarantee: dict
    statement: tuple[tuple[str, str], ...]
    card: tuple[tuple[str, str], ...]
    declaration: dict
    entry: dict
    moment: np.ndarray
    answers: Answers
    pictures: Mapping[str, tuple[str, Picture]]
    report: str


def make_bundle(what: Contents) -> bytes:
    """The zip. The same contents give the same bytes."""
    files = {
        "README.txt": _README.encode(),
        "report.html": what.report.encode(),
        "statement.txt": _lines(what.statement),
        "method_card.txt": _lines(what.card),
        "guarantee.json": json_bytes(what.guarantee),
        "measurement.json": json_bytes(what.measurement),
        "declaration.json": json_bytes(what.declaration),
        "ledger_entry.json": json_bytes(what.entry),
        "verify.py": Path(verify.__file__).read_bytes(),
        "derivation/privcov/__init__.py": b'"""The files of privcov that make the matrices."""\n',
        **{f"derivation/privcov/{name}": (_PACKAGE / name).read_bytes() for name in _SOURCES},
        **_matrices(what),
    }
    for stem, (title, picture) in what.pictures.items():
        files[f"figures/{stem}.html"] = standalone(picture, title).encode()
    if what.pictures:
        files[f"figures/{SCRIPT}"] = script().encode()
    listed = {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()}
    files["manifest.json"] = json_bytes({"format": 1, "files": listed})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), files[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _matrices(what: Contents) -> dict[str, bytes]:
    """matrices.npz, and one CSV per matrix: what a spreadsheet opens, with the same doubles."""
    found = {name: getattr(what.answers, name) for name in verify.MATRICES}
    found = {name: matrix for name, matrix in found.items() if matrix is not None}
    packed = io.BytesIO()
    np.savez(packed, moment=what.moment, **found)
    files = {"matrices.npz": packed.getvalue()}
    axes = tuple(f"axis {k + 1}" for k in range(len(what.columns)))
    for name, matrix in found.items():
        columns = axes if name in ("eigenvalues", "loadings") else what.columns
        rows = (name,) if matrix.ndim == 1 else what.columns
        files[f"matrices/{name}.csv"] = table(matrix, columns, rows, corner=name).encode()
    return files


def _lines(lines: tuple[tuple[str, str], ...]) -> bytes:
    return "".join(f"{cell(title)}: {cell(text)}\n" for title, text in lines).encode()


_README = """What was released, and a way to check it without the data.

report.html          one page to read first
statement.txt        what was measured, with which noise, and what guarantee that gives
measurement.json     the noisy whole numbers: the only thing that was made from the rows
matrices.npz         everything derived from them, in double precision; matrices/*.csv hold the same numbers
declaration.json     what the owner declared about the table
ledger_entry.json    the record of the spend
method_card.txt      the method
figures/             pictures, for a browser; they need no network
verify.py            python verify.py checks every file, the guarantee and every matrix; it needs only numpy
derivation/          the few source files that verify.py makes the matrices with

noisy         covariance before any repair, unbiased; noise_std is the deviation of the privacy noise on its entries
covariance    positive semi-definite
thresholded   noisy, without the entries that pure noise could explain; shrunken: pulled towards its diagonal
correlation, partial (partial correlations), precision (inverse of regular, the regularised covariance)
eigenvalues, loadings   of the covariance with every column in units of its public half-range
"""
