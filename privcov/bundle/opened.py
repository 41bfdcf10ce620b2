"""A stored release, opened again: from the ledger's answer to the measurement, the matrices and the zip. Free."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privcov._private import read_measurement, read_release
from privcov._release import Release
from privcov.bundle.make import Contents, make_bundle
from privcov.bundle.paper import release_report
from privcov.estimators.base import METHODS
from privcov.figures.look import Picture, plain
from privcov.measurements.exact_moment import NoisySum
from privcov.measurements.exact_reading import read_sum
from privcov.measurements.exposed import REMEDY
from privcov.measurements.moment import Measured
from privcov.postprocess.answers import Answers, Noisy, derive, plain_correlation
from privcov.postprocess.intervals import privacy_noise
from privcov.privacy import to_dict


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
    total, release = read_measurement(answer), read_release(answer)
    measured = read_sum(total, "joint" if total.anchors else "none")
    facts, law = total.facts, measured.law
    noisy = Noisy(
        measured.matrix,
        bool(law.joint),
        facts.row_bound,
        np.asarray(facts.scale),
        np.asarray(facts.origin),
        measured.rows,
        law.off_diagonal_std,
        law.diagonal_std,
        law.off_diagonal_std,
    )
    return Opened(release, total, measured, noisy, derive(noisy))


def correlations(opened: Opened, rng: np.random.Generator, draws: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), d x d each: privacy-noise interval of every correlation."""
    return privacy_noise(
        opened.noisy, opened.measured.law.draw, plain_correlation, rng, draws=draws, within=(-1.0, 1.0)
    )


def strongest(correlation: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The pairs of largest absolute correlation."""
    i, j = np.triu_indices(len(correlation), 1)
    order = np.argsort(-np.abs(correlation[i, j]), kind="stable")[:count]
    return [(int(i[k]), int(j[k])) for k in order]


def bundle_of(
    opened: Opened, entry: dict, declaration: dict, pictures: Mapping[str, tuple[str, Picture]], name: str
) -> bytes:
    """The zip of a stored release. Raises ValueError for one whose guarantee is not established: none is handed on."""
    release, columns = opened.release, opened.columns
    if release.exposed:
        raise ValueError(f"No bundle is made of this release. Guarantee: {release.statement['Guarantee']}. {REMEDY}")
    low, high = correlations(opened, np.random.default_rng(0))
    pairs = [
        (columns[i], columns[j], *(plain(float(m[i, j])) for m in (opened.answers.correlation, low, high)))
        for i, j in strongest(opened.answers.correlation, 12)
    ]
    rows = f"{release.n:,} rows" if release.n is not None else f"about {release.count:,.0f} rows (a noisy count)"
    card = METHODS.get(release.method)
    facts = [
        f"{rows}, {len(columns)} columns: {', '.join(columns[:40])}{' ...' if len(columns) > 40 else ''}",
        f"Guarantee: {release.statement['Guarantee']}",
        f"Protected: {release.neighbours.sentence}",
    ]
    return make_bundle(
        Contents(
            columns=columns,
            measurement={**opened.total.to_dict(), "centre": "joint" if opened.noisy.joint else "none"},
            guarantee=to_dict(release.given),
            statement=release.statement.lines,
            card=tuple(
                (title, getattr(card, title))
                for title in ("label", "summary", "formula", "avoid", "reference", "differs")
            ),
            declaration=declaration,
            entry=entry,
            moment=opened.noisy.matrix,
            answers=opened.answers,
            pictures=pictures,
            report=release_report(name, release.statement.lines, facts, pairs),
        )
    )


def declared_facts(opened: Opened) -> dict:
    """What a release itself says about the declaration, for a release whose declaration file is not at hand."""
    facts = opened.total.facts.to_dict()
    return {"facts": facts, "neighbours": dataclasses.asdict(opened.release.neighbours)}
