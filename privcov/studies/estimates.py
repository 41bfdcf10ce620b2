"""How long a plan will take, from one small run per method, and which plans are too large for a page."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from privcov.core.guarantees import Guarantee
from privcov.core.parameters import build
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.measurements.moment import clipped_moment
from privcov.metrics.errors import reference_matrix
from privcov.releases.public import run_method
from privcov.studies.cells import Entry, build_entry, count_known
from privcov.studies.plan import Plan
from privcov.studies.store import Store
from privcov.tables.dataset import Dataset

# The probe stays this small (multiplications of X'X, and columns); what is larger is extrapolated from there.
_PROBE_WORK, _PROBE_D, _PROBE_N = 2e7, 64, 4_000
_SLOW, _CUBIC = 0.05, 2.5
MAX_CELLS = 20_000_000  # rows x columns of one draw: 160 MB, and three times that while it is made
MAX_COLUMNS = 2_000
LONG = 60 * 60.0


@dataclass(frozen=True)
class RunTime:
    """Seconds of one method run at the probe's size, and how it grows: (n/n0)^by_n (d/d0)^by_d."""

    n: int
    d: int
    seconds: float
    by_n: float
    by_d: float

    def at(self, n: int, d: int) -> float:
        """Return the seconds of one run at these sizes, by the power law."""
        return self.seconds * (n / self.n) ** self.by_n * (d / self.d) ** self.by_d


@dataclass(frozen=True)
class PlanTime:
    """Estimated time of a plan. steps: method runs in all; known: those in the store; seconds: for the rest."""

    steps: int
    known: int
    seconds: float


def probe_method(entry: Entry, dataset: Dataset, guarantee: Guarantee) -> float:
    """Measure the seconds of one run, the best of three, with X'X computed beforehand as in a sweep."""
    _, method, options = build_entry(entry)

    def once() -> None:
        with contextlib.suppress(ValueError):  # a cell that cannot be filled costs time too
            run_method(method, dataset, guarantee, seed=0, **options)

    return _quickest(once)


def _quickest(work: Callable[[], None]) -> float:
    """Return the shortest of up to three timings; none follows once they took more than a second together."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        if sum(times) > 1.0:
            break
    return min(times)


def cost_on(entry: Entry, dataset: Dataset, guarantee: Guarantee) -> RunTime:
    """Measure the cost of a method once on given rows."""
    clipped_moment(dataset, n_anchors=0)
    return RunTime(dataset.n, dataset.d, probe_method(entry, dataset, guarantee), 0.0, 0.0)


def cost_of(entry: Entry, guarantee: Guarantee, n: int, d: int) -> RunTime:
    """Estimate the cost of a method near (n, d), measured on small AR(1) rows, half the columns and half the rows."""

    def timed(rows: int, columns: int) -> float:
        source = build(SOURCES.get("ar1-covariance").cls, "Source", {"n": rows, "d": columns})
        dataset = make_dataset(source, seed=0)
        clipped_moment(dataset, n_anchors=0)
        return probe_method(entry, dataset, guarantee)

    d0 = max(1, min(d, _PROBE_D))
    n0 = max(1, min(n, _PROBE_N, int(_PROBE_WORK / d0**2)))
    seconds = timed(n0, d0)
    if (n, d) == (n0, d0):
        return RunTime(n0, d0, seconds, 0.0, 0.0)
    # One eigendecomposition is nearly cubic; a method that already takes long may make one per column.
    by_d = _exponent(seconds, timed(n0, max(1, d0 // 2)), _CUBIC if seconds < _SLOW else 4.0) if d0 >= 8 else _CUBIC
    by_n = _exponent(seconds, timed(max(1, n0 // 2), d0), 1.0)
    return RunTime(n0, d0, seconds, by_n, by_d)


def _exponent(whole: float, half: float, most: float) -> float:
    """Return the exponent of growth between a size and half of it, from 0 to ``most``."""
    return min(most, max(0.0, math.log2(whole / half))) if half > 0 else most


def data_work(n: int, d: int) -> float:
    """Return the multiplications of drawing rows and of X'X for the clipped rows and the sample to compare with.

    A number that is drawn, clipped and copied counts as about 200 multiplications.
    """
    return 4.0 * n * d * d + 200.0 * n * d


def data_seconds_per_work() -> float:
    """Measure the seconds per unit of `data_work` now, at a small size."""

    def once() -> None:
        source = build(SOURCES.get("ar1-covariance").cls, "Source", {"n": 4_000, "d": 32})
        dataset = make_dataset(source, seed=0)
        clipped_moment(dataset, n_anchors=0)
        reference_matrix(dataset, "covariance", "sample")

    return _quickest(once) / data_work(4_000, 32)


def size(plan: Plan, point: dict) -> tuple[int, int]:
    """Return (n, d) of a point of a plan; (0, 0) for a source without them, whose rows cost next to nothing."""
    card = SOURCES.get(plan.source)
    own = {s.name for s in card.parameters}
    values = {k: v for k, v in (plan.source_params | point).items() if k in own}
    source = build(card.cls, f"Source {plan.source!r}", values)
    return getattr(source, "n", 0), getattr(source, "d", 0)


def most_cells(plan: Plan) -> int:
    """Return rows x columns of the largest table of a plan."""
    return max(n * d for n, d in (size(plan, point) for point in plan.points()))


def estimate(plan: Plan, store: Store | None = None, cost: Callable[..., RunTime] = cost_of) -> PlanTime:
    """Estimate the time for the cells that the store does not have; ``cost`` may remember its results."""
    known = count_known(plan, store) if store is not None else 0
    if known == plan.steps:
        return PlanTime(plan.steps, known, 0.0)
    sizes = [size(plan, point) for point in plan.points()]
    largest = max(n for n, _ in sizes), max(d for _, d in sizes)
    total = 0.0
    for entry in plan.methods:
        _, method, _ = build_entry(entry)
        levels = [g for g in plan.guarantees if not method.card.refuses(g.kind)]
        if levels:
            one = cost(entry, levels[len(levels) // 2], *(v or 500 for v in largest))
            twice = 2 if any(m.endswith("-to-nonprivate") for m in plan.metrics) else 1
            total += sum(one.at(n or 500, d or 30) * len(levels) * twice for n, d in sizes)
    total += data_seconds_per_work() * sum(data_work(n, d) for n, d in sizes)
    return PlanTime(plan.steps, known, total * plan.replicates * (1 - known / max(plan.steps, 1)))


def refusal(plan: Plan) -> str:
    """Return the reason why a page should not run this plan at all, or ""."""
    for n, d in {size(plan, point) for point in plan.points()}:
        if d > MAX_COLUMNS:
            return f"d = {d:,} columns: a page draws at most {MAX_COLUMNS:,}. Use fewer columns."
        if n * d > MAX_CELLS:
            return (
                f"n x d = {n:,} x {d:,} is {n * d:,} numbers, and a page draws at most {MAX_CELLS:,}. Use fewer rows "
                "or columns; the Python package has no such limit."
            )
    return ""


def in_words(seconds: float) -> str:
    """Write a time in seconds, minutes or hours."""
    if seconds < 1.5:
        return "about a second"
    for limit, unit, name in ((90, 1, "seconds"), (5400, 60, "minutes"), (math.inf, 3600, "hours")):
        if seconds < limit:
            return f"about {round(seconds / unit):,} {name}"
    return ""


def together(parts: list[PlanTime]) -> PlanTime:
    """Return the estimate of several plans that are run one after another."""
    fields = zip(*((e.steps, e.known, e.seconds) for e in parts), strict=True)
    return PlanTime(*itertools.starmap(lambda *v: sum(v), fields))
