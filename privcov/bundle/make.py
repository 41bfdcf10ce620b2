"""Make the bundle: one zip that holds everything released, and a script that checks it without the data.

Nothing in it comes from the rows except the noisy measurement: no hash of the file, no number of rows that is not
public, no seed (there was none).
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping

import numpy as np

from privcov.bundle.derived import EXTRAS, Inputs, derived_files, manifest_of, noisy_of, strongest, zipped
from privcov.bundle.inputs import ENTRY, LATER_REQUEST, REQUEST
from privcov.bundle.safe import cell
from privcov.bundle.verifier import library
from privcov.figures.look import Picture
from privcov.measurements.noise import NoiseDistribution
from privcov.postprocess.answers import Noisy, derive, plain_correlation
from privcov.postprocess.intervals import privacy_noise

_LISTED = 66  # pairs in intervals.csv: all of 12 columns


def make_bundle(what: Inputs, pictures: Mapping[str, tuple[str, Picture]]) -> bytes:
    """Return the zip. The same inputs give the same bytes.

    ``pictures`` holds (title, figure) by the stem of a file in `EXTRAS`.
    """
    files = {**derived_files(what, library()), **_extras(what, pictures)}
    files["manifest.json"] = manifest_of(files)
    return zipped(dict(sorted(files.items())), zipfile.ZIP_DEFLATED)


def recorded(entry: dict) -> dict:
    """Return what a bundle says of a ledger's entry: the record of the spend, and nothing else that a ledger holds."""
    asked = entry["request"]
    return {**{k: entry[k] for k in ENTRY}, "request": {k: asked[k] for k in (*REQUEST, *LATER_REQUEST) if k in asked}}


def intervals_of(
    noisy: Noisy, distribution: NoiseDistribution, rng: np.random.Generator, draws: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), d x d each: the privacy-noise interval of every correlation."""
    return privacy_noise(noisy, distribution.draw, plain_correlation, rng, draws=draws, within=(-1.0, 1.0))


def _extras(what: Inputs, pictures: Mapping[str, tuple[str, Picture]]) -> dict[str, bytes]:
    """Return what cannot be derived again to the last byte: intervals from random draws, and pictures."""
    files = {}
    measured, noisy = noisy_of(what.total)
    if noisy.d > 1:
        (low, high) = intervals_of(noisy, measured.distribution, np.random.default_rng(0))
        correlation = derive(noisy).correlation
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["column", "other column", "correlation", "from", "to"])
        for i, j in strongest(correlation, _LISTED):
            numbers = (float(m[i, j]) for m in (correlation, low, high))
            writer.writerow([*(cell(what.total.facts.columns[k]) for k in (i, j)), *map(repr, numbers)])
        files["extras/intervals.csv"] = out.getvalue().encode()
    if pictures:
        from privcov.figures.exports import SCRIPT, standalone

        files[f"extras/{SCRIPT.name}"] = SCRIPT.read_bytes()
        for stem, (title, picture) in pictures.items():
            files[f"extras/{stem}.html"] = standalone(picture, title).encode()
    assert set(files) <= set(EXTRAS), "verify.py refuses a file that it does not know"
    return files
