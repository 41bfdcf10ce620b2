"""A stored release, opened again: from the ledger's answer to the measurement, the matrices and the zip. Free."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privcov.bundle.derived import Inputs, as_stated, declared_facts, noisy_of, statement_of, strongest
from privcov.bundle.inputs import facts_of
from privcov.bundle.make import intervals_of, make_bundle, recorded
from privcov.bundle.place import Wrong
from privcov.measurements.exact_moment import NoisySum
from privcov.measurements.exposed import REMEDY
from privcov.measurements.moment import Measured
from privcov.postprocess.answers import Answers, Noisy, derive
from privcov.releasing.private import read_release
from privcov.releasing.release import Release

if TYPE_CHECKING:
    from privcov.figures.look import Picture

__all__ = ["Opened", "bundle_of", "correlations", "declared_facts", "open_answer", "save", "strongest"]


@dataclass(frozen=True, eq=False)
class Opened:
    """What a ledger's answer holds, and the matrices that follow from it.

    release: as the method made it, with its statement. total: the noisy whole numbers. measured: the noisy moment.
    """

    release: Release
    total: NoisySum
    measured: Measured
    noisy: Noisy
    answers: Answers

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, as declared."""
        return self.total.facts.columns


def open_answer(answer: str) -> Opened:
    """From the bytes in the ledger. The same bytes give the same doubles."""
    return _opened(read_release(answer))


def _opened(release: Release) -> Opened:
    total = release.measurement
    assert total is not None  # read from the ledger, or made by `release_private`
    measured, noisy = noisy_of(total)
    return Opened(release, total, measured, noisy, derive(noisy))


def correlations(opened: Opened, rng: np.random.Generator, draws: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), d x d each: privacy-noise interval of every correlation."""
    return intervals_of(opened.noisy, opened.measured.distribution, rng, draws)


def bundle_of(
    opened: Opened, entry: dict, declaration: dict | None, pictures: Mapping[str, tuple[str, Picture]]
) -> bytes:
    """The zip of a stored release. Raises ValueError for one whose guarantee is not established: none is handed on.

    entry: as `privcov.ledger.Entry.to_dict` gives it. declaration: the owner's, as JSON values; None where it is not at
    hand, and then, or where it is another one than that of the release, the release's own public facts stand for it.
    """
    release = opened.release
    if release.exposed:
        raise ValueError(f"No bundle is made of this release. Guarantee: {release.statement['Guarantee']}. {REMEDY}")
    if declaration is None or not _of_release(declaration, opened.total, entry["name"]):
        declaration = declared_facts(opened.total)
    given = release.given
    assert given is not None  # a stored sum was measured
    what = Inputs(opened.total, as_stated(given), recorded(entry), declaration)
    if statement_of(what, opened.measured).lines != release.statement.lines:
        raise RuntimeError("The bundle would state something else than the release: a defect, and no bundle was made.")
    return make_bundle(what, pictures)


def _of_release(declaration: dict, total: NoisySum, name: str) -> bool:
    try:
        found = facts_of(declaration, total.facts.n)
    except (ValueError, Wrong):
        return False
    return found.to_dict() == total.facts.to_dict() and declaration["name"].strip() == name


def save(release: Release, path: Path | str, declaration: dict | None = None) -> None:
    """Write the bundle of a release made by `release_private`; see `Release.save_bundle`."""
    place = Path(path)
    assert release.entry is not None  # `Release.save_bundle` asks for it
    raw = bundle_of(_opened(release), dict(release.entry), declaration, {})
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(raw)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)
