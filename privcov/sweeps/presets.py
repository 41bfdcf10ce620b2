"""A published figure or table as plans for the page Trade-offs: models, sizes, guarantees, replicates as published.

A method that is not registered is left out and named in a sentence. Where a paper prints no value, the note says which
one is ours. The presets themselves are in `privcov.sweeps.published`.

Classification: every release is one measurement of class counts, class means and second moment on the training rows of
a public random split; linear discriminant analysis with it is then free. The papers perturb the covariance only and use
the class means and shares of the raw training rows, which no guarantee covers; that rule is not offered, so their
numbers are not reproduced. What is kept are the data, the sizes, the guarantee and the number of repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privcov import checks
from privcov.estimators.base import METHODS
from privcov.measurements.labels import CLASSES
from privcov.privacy import ApproxDP, NoPrivacy
from privcov.sweeps.cells import Entry
from privcov.sweeps.estimates import MOST_CELLS
from privcov.sweeps.plan import CLASSIFICATION, Plan

# The exponential mechanism eigendecomposes once per column; the method itself stops a little above this.
LARGEST_EM = 100
RAW_STEP = (
    "The columns are chosen by a two-sample t test on the raw training rows, as in the paper: no end-to-end guarantee, "
    "whatever the guarantee of the release."
)
MEANS = (
    "The paper adds noise to the covariance only and takes class means and shares from the raw rows, which its "
    "guarantee does not cover. Here they are measured with the covariance, so errors are larger than published."
)
OWN = 0  # no paper


@dataclass(frozen=True)
class Preset:
    """One published figure or table.

    varies:     the points as blocks {name: values}; the blocks together are the figure.
    guarantees: of every block; or, with ``one_over_n``, epsilons, each with delta = 1/n.
    x:          the table's column on the horizontal axis. lines: columns that make a line each, beside the method.
    """

    key: str
    paper: int
    where: str
    title: str
    source: str
    fixed: tuple[tuple[str, Any], ...]
    varies: tuple[dict, ...]
    guarantees: tuple
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    x: str
    replicates: int
    lines: tuple[str, ...] = ()
    note: str = ""
    one_over_n: bool = False

    @property
    def kind(self) -> str:
        """The kind of guarantee that is drawn: "pure", "approx" or "zcdp"."""
        return "approx" if self.one_over_n else self.guarantees[0].kind

    def available(self) -> list[str]:
        """Return the published methods that are registered."""
        known = {card.key for card in METHODS.all()}
        return [m for m in self.methods if m in known]

    def left_out(self, methods: list[str] | None = None) -> list[str]:
        """Return one sentence for each thing of the figure that `plans` leaves out."""
        missing = [m for m in self.methods if m not in self.available()]
        reasons = [f"Not there yet, so not drawn: {', '.join(missing)}."] if missing else []
        chosen = self.available() if methods is None else methods
        ds = [d for block in self.varies for d in block.get("d", [dict(self.fixed).get("d", 0)])]
        if "em-cov" in chosen and max(ds) > LARGEST_EM:
            reasons.append(
                f"em-cov is drawn for d up to {LARGEST_EM} only, because it eigendecomposes once per column."
            )
        sizes = [p for block in self.varies for p in self._points(block)]
        large = sorted({n * d for n, d in sizes if n * d > MOST_CELLS})
        if large:
            reasons.append(
                f"Points of more than {MOST_CELLS:,} numbers (n x d, up to {large[-1]:,}) are left out; the Python "
                "package has no such limit."
            )
        return reasons

    def plans(
        self, methods: list[str] | None = None, replicates: int | None = None, *, published: bool = False, seed: int = 0
    ) -> list[Plan]:
        """Return the plans that make the figure together.

        methods: keys, default the published ones that are registered. published: use each method's own published
        calibration (this paper's where papers differ) instead of the sound one. Raises ValueError when nothing is left
        to run.
        """
        chosen = self.available() if methods is None else methods
        if not chosen:
            raise ValueError(
                f"{self.where} of paper {self.paper} needs {' or '.join(self.methods)}; none is there yet."
            )
        replicates = checks.whole("replicates", self.replicates if replicates is None else replicates, 1)
        plans = []
        for block in self._blocks():
            n, d = self._points(block)[0]
            entries = [m for m in chosen if m != "em-cov" or d <= LARGEST_EM]
            if entries:
                plans.append(
                    Plan(
                        source=self.source,
                        source_params=dict(self.fixed),
                        methods=[self._entry(m, published) for m in entries],
                        guarantees=[ApproxDP(e, 1 / n) for e in self.guarantees]
                        if self.one_over_n
                        else list(self.guarantees),
                        vary=block,
                        metrics=list(self.metrics),
                        replicates=replicates,
                        seed=seed,
                    )
                )
        if not plans:
            raise ValueError(f"Nothing of {self.where} is left to run with these methods. Add another method.")
        return plans

    def _points(self, block: dict) -> list[tuple[int, int]]:
        fixed = dict(self.fixed)
        return [(n, d) for n in block.get("n", [fixed.get("n")]) for d in block.get("d", [fixed.get("d")])]

    def _blocks(self) -> list[dict]:
        """Return blocks small enough to draw, cut where delta = 1/n or em-cov's limit requires plans of their own."""
        blocks = []
        for block in self.varies:
            ns, ds = block.get("n", [dict(self.fixed).get("n")]), block.get("d", [dict(self.fixed).get("d")])
            for part in [[n] for n in ns] if self.one_over_n else [ns]:
                for columns in ([d for d in ds if d <= LARGEST_EM], [d for d in ds if d > LARGEST_EM]):
                    # The largest n decides for one d at a time, so that a cut never loses a point that fits.
                    for group in _fitting(part, columns):
                        blocks.append({**block, **{k: v for k, v in group.items() if k in block}})
        return blocks

    def _entry(self, key: str, published: bool) -> Entry:
        names = METHODS.get(key).calibrations
        own = next((c for c in (f"as-published-{self.paper}", "as-published") if c in names), "")
        return (key, {"calibration": own}) if published and own else key


def _fitting(ns: list[int], ds: list[int]) -> list[dict]:
    """Return the points of n x d that fit, as few full blocks."""
    blocks: list[dict] = []
    for d in ds:
        fits = [n for n in ns if n * d <= MOST_CELLS]
        if not fits:
            continue
        if blocks and blocks[-1]["n"] == fits:
            blocks[-1]["d"].append(d)
        else:
            blocks.append({"n": fits, "d": [d]})
    return blocks


@dataclass(frozen=True)
class ClassificationPreset(Preset):
    """A figure or table of classification errors. training, validation, best: as in `Plan`."""

    training: int = 0
    validation: int = 0
    best: int | None = None

    def able(self) -> list[str]:
        """Return the methods of any target that measure class means under this kind of guarantee."""
        return [c.key for c in METHODS.all() if CLASSES in c.centres and not c.refuses(self.kind)]

    def available(self) -> list[str]:
        """Return the methods of the preset that can be run."""
        return [m for m in self.methods if m in self.able()]

    def left_out(self, methods: list[str] | None = None) -> list[str]:
        """Return what of the figure is not drawn, and why, in sentences."""
        missing = [m for m in self.methods if m not in self.available()]
        reasons = [f"Not there yet, so not drawn: {', '.join(missing)}."] if missing else []
        return [*reasons, *([RAW_STEP] if self.best is not None else [])]

    def plans(
        self, methods: list[str] | None = None, replicates: int | None = None, *, published: bool = False, seed: int = 0
    ) -> list[Plan]:
        """Return one plan, in which every method also runs without noise, as the line to reach."""
        chosen = self.available() if methods is None else methods
        if not chosen:
            raise ValueError(f"{self.where} needs {' or '.join(self.methods)}. Choose at least one method.")
        return [
            Plan(
                source=self.source,
                source_params=dict(self.fixed),
                methods=[self._entry(m, published) for m in chosen],
                guarantees=[*self.guarantees, NoPrivacy()],
                metrics=list(self.metrics),
                replicates=checks.whole("replicates", self.replicates if replicates is None else replicates, 1),
                seed=seed,
                training=self.training,
                validation=self.validation,
                best=self.best,
            )
        ]


def classification(
    key: str,
    paper: int,
    where: str,
    title: str,
    source: str,
    methods: tuple[str, ...],
    epsilons: tuple[float, ...],
    delta: float,
    replicates: int,
    note: str,
    fixed: tuple[tuple[str, Any], ...] = (),
    *,
    training: int,
    validation: int = 0,
    best: int | None = None,
) -> ClassificationPreset:
    """Return a `ClassificationPreset` at (epsilon, delta) levels."""
    return ClassificationPreset(
        key, paper, where, title, source, fixed, ({},), tuple(ApproxDP(e, delta) for e in epsilons), methods,
        CLASSIFICATION, "epsilon", replicates, (), note, training=training, validation=validation, best=best,
    )  # fmt: skip
