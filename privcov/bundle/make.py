"""Make the bundle: one zip that holds everything released, and a script that checks its noise without the data.

Nothing in it comes from the rows except the noisy measurement: no hash of the file, no number of rows that is not
public, no seed (there was none).
"""

from __future__ import annotations

import zipfile

from privcov.bundle.derived import Inputs, derived_files, manifest_of, zipped
from privcov.bundle.inputs import ENTRY, REQUEST
from privcov.bundle.safe import table
from privcov.releases.display import matrix_of
from privcov.releases.private_request import estimate


def make_bundle(what: Inputs) -> bytes:
    """Return the zip. The same inputs give the same bytes."""
    files = {**derived_files(what), **_estimated(what)}
    files["manifest.json"] = manifest_of(files)
    return zipped(dict(sorted(files.items())), zipfile.ZIP_DEFLATED)


def recorded(entry: dict) -> dict:
    """Return what a bundle says of a ledger's entry: the record of the spend, and nothing else that a ledger holds."""
    asked = entry["request"]
    return {**{k: entry[k] for k in ENTRY}, "request": {k: asked[k] for k in REQUEST}}


def _estimated(what: Inputs) -> dict[str, bytes]:
    """Return the covariance and the correlations of all rows, as the method of the release estimates them."""
    asked = what.entry["request"]
    try:
        rel = estimate(asked["method"], what.measurement, what.requested, tuning=asked["tuning"], **asked["parameters"])
    except ValueError:  # a method may have no answer for all rows; no check needs these two files
        return {}
    if "covariance" not in rel.matrices:
        return {}
    matrices = {name: matrix_of(rel, name) for name in ("correlation", "covariance")}
    files = {
        f"extras/estimated_{name}.csv": table(matrix, rel.columns, rel.columns, corner=name)
        for name, matrix in matrices.items()
    }
    return {name: text.encode() for name, text in files.items()}
