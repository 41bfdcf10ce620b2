"""Read a stored release again, from the ledger's answer to measurement, matrices and zip; this spends nothing.

A bundle is one zip with everything that was released, and a script that checks its noise without the data. Nothing in
it comes from the rows except the noisy measurement: no hash of the file, no number of rows that is not public, no seed
(there was none).
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privcov.bundle.archive import BundleError, read_place, read_zip
from privcov.bundle.codebook import HEADINGS, codebook
from privcov.bundle.derived import Inputs, declared_facts, noisy_of, round_guarantee_up, statement_of
from privcov.bundle.inputs import facts_of
from privcov.bundle.verify import check
from privcov.core import checks
from privcov.core.guarantees import Guarantee, from_dict
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.matrices import Matrices, MeasuredMoment, derive
from privcov.releases.private import read_release
from privcov.releases.private_request import release_from_measurement
from privcov.releases.release import Release

if TYPE_CHECKING:
    import pandas as pd
import zipfile

from privcov.bundle.derived import derived_files, manifest_of, zipped
from privcov.bundle.inputs import ENTRY, REQUEST
from privcov.bundle.safe import table
from privcov.releases.display import matrix_of


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """A stored release, and the matrices that follow from it, in the data's units.

    ``measurement`` holds the noisy whole numbers, the only thing that was made from the rows; ``noisy_moment`` is the
    noisy moment that they give, and ``noisy`` the same with its public facts, as post-processing takes it.
    """

    release: Release
    measurement: NoisySum
    noisy_moment: NoisyMoment
    noisy: MeasuredMoment
    matrices: Matrices

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as declared."""
        return self.measurement.facts.columns


@dataclass(frozen=True, eq=False, repr=False)
class OpenedBundle:
    """A bundle of which everything that can be checked holds.

    measurement: the noisy whole numbers, the only thing that was made from the rows; `privcov.answers` takes it from
    here. entry: the record of the spend, as the ledger had it. declaration: what the owner declared about the table.
    checked: what was checked, and what cannot be, in sentences. statement: the titles and sentences of the release's
    statement, worked out again.
    """

    measurement: NoisySum
    entry: dict
    declaration: dict
    checked: tuple[str, ...]
    statement: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as declared."""
        return self.measurement.facts.columns

    def __repr__(self) -> str:
        facts = self.measurement.facts
        rows = facts.n if facts.n is not None else noisy_of(self.measurement)[0].n_rows
        return (
            f"Bundle of {self.entry['name']!r}: {facts.d} columns, {'' if facts.n else 'about '}{rows:,.0f} "
            f"{facts.neighbours.count_unit}\n"
            f"  Guarantee: {dict(self.statement)['Guarantee']}\n"
            f"  Protected: {facts.neighbours.sentence}\n"
            "  It has codebook(), estimate(), checked and statement;\n"
            "  privcov.answers of it has correlations, regressions and the rest, with intervals."
        )

    def codebook(self) -> pd.DataFrame:
        """Return what every measured column is.

        Returns
        -------
        DataFrame
            A line for each: the declared column, its kind, limits, typical value, levels and missing codes, as text.
        """
        import pandas as pd

        return pd.DataFrame(codebook(self.measurement.facts), columns=list(HEADINGS))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that was asked for, and paid."""
        return from_dict(self.entry["request"]["guarantee"])

    def estimate(self, method: str = "auto-cov", **parameters: Any) -> Release:
        """Return what a method makes of the measurement of all rows together, of classes too.

        Parameters
        ----------
        method : str
            Key of a method that private rows are offered.
        **parameters : object
            The method's own parameters.

        Returns
        -------
        Release
            As if it had been asked for first, without an entry of a ledger.

        Raises
        ------
        ValueError
            Where the method cannot use the measurement.

        Guarantee
        ---------
        That of the release in the bundle.

        Spends
        ------
        Nothing: it is post-processing.
        """
        return release_from_measurement(method, self.measurement, self.guarantee, centre="joint", **parameters)


@checks.explain_arguments
def open_bundle(path: Path | str | bytes) -> OpenedBundle:
    """Check a bundle and return its measurement. Nothing of the bundle is run, and no ledger is needed.

    Parameters
    ----------
    path : Path, str or bytes
        The zip, the folder that it was unpacked to, or the content of the zip.

    Returns
    -------
    OpenedBundle
        For `privcov.answers`.

    Raises
    ------
    ValueError
        With the first thing that does not hold; such a bundle gives no answer.

    Guarantee
    ---------
    That of the release in the bundle.

    Spends
    ------
    Nothing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import privcov
    >>> rows = np.random.default_rng(0).uniform(size=(10_000, 2))
    >>> private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 1), (0, 1)], name="survey")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = privcov.Ledger(Path(folder) / "ledger.sqlite")
    ...     account = ledger.set_limit("survey", privcov.ZCDP(rho=1.0))
    ...     rel = privcov.release_private(private, privcov.ZCDP(rho=1.0), "gaussian-cov", ledger=ledger)
    ...     rel.save_bundle(Path(folder) / "out.zip")
    ...     opened = privcov.open_bundle(Path(folder) / "out.zip")
    >>> privcov.answers(opened).means()["estimate"].round(1).tolist()
    [0.5, 0.5]
    """
    if isinstance(path, (Release, OpenedBundle)):
        raise TypeError(
            f"path must be a zip or a folder, got {type(path).__name__}: privcov.answers takes it as it is."
        )
    if not isinstance(path, bytes) and not Path(path).exists():
        raise ValueError(f"There is no bundle at {path}. Give the zip, or the folder that it was unpacked to.")
    try:
        files = read_zip(path) if isinstance(path, bytes) else read_place(Path(path))
        bundle_inputs, lines = check(files)
        stated = statement_of(bundle_inputs, noisy_of(bundle_inputs.measurement)[0])
    except Exception as problem:  # a hostile file that breaks the check gives no answer either
        why = problem if isinstance(problem, BundleError) else f"the check failed with {type(problem).__name__}"
        raise ValueError(
            f"No answer is given from this bundle, because it is not consistent: {why}. Ask whoever sent it "
            "for another copy."
        ) from None
    return OpenedBundle(
        bundle_inputs.measurement, bundle_inputs.entry, bundle_inputs.declaration, tuple(lines), tuple(stated.lines)
    )


def open_stored(answer: str) -> StoredRelease:
    """Return a stored release, read from the text in the ledger. The same text gives the same doubles."""
    return _open_release(read_release(answer))


def _open_release(release: Release) -> StoredRelease:
    total = release.measurement
    assert total is not None  # read from the ledger, or made by `release_private`
    noisy_moment, noisy = noisy_of(total)
    return StoredRelease(release, total, noisy_moment, noisy, derive(noisy))


def bundle_of(stored_release: StoredRelease, entry: dict, declaration: dict | None) -> bytes:
    """Return the zip of a stored release."""
    release = stored_release.release
    if declaration is None or not _of_release(declaration, stored_release.measurement, entry["name"]):
        declaration = declared_facts(stored_release.measurement)
    stated_guarantee = release.actual_guarantee
    assert stated_guarantee is not None  # a stored sum has a guarantee
    bundle_inputs = Inputs(
        stored_release.measurement, round_guarantee_up(stated_guarantee), recorded(entry), declaration
    )
    if statement_of(bundle_inputs, stored_release.noisy_moment).lines != release.statement.lines:
        raise RuntimeError("The bundle would state something else than the release: a defect, and no bundle was made.")
    return make_bundle(bundle_inputs)


def _of_release(declaration: dict, total: NoisySum, name: str) -> bool:
    try:
        implied = facts_of(declaration, total.original_facts.n)
    except (ValueError, BundleError):
        return False
    return implied.to_dict() == total.original_facts.to_dict() and declaration["name"].strip() == name


def save(release: Release, path: Path | str, declaration: dict | None = None) -> None:
    """Write the bundle of a release made by `release_private`, whole or not at all; see `Release.save_bundle`."""
    place = Path(path)
    assert release.entry is not None  # checked by `Release.save_bundle`
    raw = bundle_of(_open_release(release), dict(release.entry), declaration)
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(raw)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def make_bundle(bundle_inputs: Inputs) -> bytes:
    """Return the zip. The same inputs give the same bytes."""
    files = {**derived_files(bundle_inputs), **_estimated(bundle_inputs)}
    files["manifest.json"] = manifest_of(files)
    return zipped(dict(sorted(files.items())), zipfile.ZIP_DEFLATED)


def recorded(entry: dict) -> dict:
    """Return what a bundle says of a ledger's entry: the record of the spend, and nothing else that a ledger holds."""
    request = entry["request"]
    return {**{k: entry[k] for k in ENTRY}, "request": {k: request[k] for k in REQUEST}}


def _estimated(bundle_inputs: Inputs) -> dict[str, bytes]:
    """Return the covariance and the correlations of all rows, as the method of the release estimates them."""
    request = bundle_inputs.entry["request"]
    try:
        how = {"centre": "joint", "tuning": request["tuning"], **request["parameters"]}
        rel = release_from_measurement(request["method"], bundle_inputs.measurement, bundle_inputs.requested, **how)
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
