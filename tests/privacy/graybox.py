"""Replay of methods in several steps: what each tells of two neighbouring tables, given all answers before it.

A method runs on the first table. Every measurement is recorded: its public arguments, its answer and its event. Then
the method runs on the neighbour, and every measurement gives the recorded answer again. So both runs have the same
history, and step by step the following must hold.

- **Nothing but answers.** Rows can be read inside a measurement only, the public arguments of every step are the same,
  and so is everything that comes out at the end.
- **The loss of each step** is at most what its event says. The statistic and the noise are taken from the code itself:
  the measurement is run with scripted noise, zero for the statistic and one unit at a time for what is added. For
  Gaussian noise that gives mu exactly, for Laplace noise the largest log ratio of densities, for the Wishart difference
  the bound of its proof at the change that took place. The probabilities of the sparse vector technique are integrated
  for every outcome, and the densities of the exponential mechanism for every direction.
- **All steps together** are within the guarantee, composed by the accountant from the losses that were found and from
  the events, and the statement lists every step.

What this proves: on the pairs and histories that were tried, no step costs more than its event says, and later steps
depend on rows through earlier answers only. It is no proof for other pairs; those are in privcov/measurements. Noise is
taken at its word: how it is drawn is looked at elsewhere.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import privcov.estimators
from privcov.core import accounting
from privcov.core.guarantees import Event
from privcov.estimators.base import MethodInput, Outcome
from privcov.measurements import eigenvalues, exponential_vectors, moment, norm_histogram, sparse_vector, whitened
from privcov.releases.public import build_method
from privcov.tables.dataset import Dataset, ValueCache
from tests.privacy import laws

ADDITIVE: dict[str, Callable] = {
    "measure_moment": moment.measure_moment,
    "measure_eigenvalues": eigenvalues.measure_eigenvalues,
    "measure_trace": eigenvalues.measure_trace,
    "measure_whitened": whitened.measure_whitened,
    "measure_norms": norm_histogram.measure_norms,
}
CHOSEN: dict[str, Callable] = {
    "measure_radius": sparse_vector.measure_radius,
    "measure_threshold": sparse_vector.measure_threshold,
}
DRAWN: dict[str, Callable] = {"measure_directions": exponential_vectors.measure_directions}
SLACK = 1e-9  # rounding of the losses that are computed here
MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(privcov.estimators.__path__, "privcov.estimators.")
] + [norm_histogram]


class Curtain:
    """Rows that can be read while a measurement runs, and at no other time."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows, self.shape, self.is_open = rows, rows.shape, False

    def __getitem__(self, block):
        assert self.is_open, "rows were read outside a measurement"
        return self._rows[block]

    def __array__(self, *_args, **_how):
        return self[:]

    def __len__(self) -> int:
        return len(self[:])


@contextlib.contextmanager
def opened(dataset: Dataset):
    """The rows are there; what was computed from them is gone afterwards."""
    assert not dataset.rows.is_open
    dataset.rows.is_open = True
    try:
        yield
    finally:
        dataset.rows.is_open = False
        dataset.cache.forget()


class Loud:
    """A noise stream whose deviates are ``factor`` times as large: histories that are rare, or free of noise."""

    def __init__(self, seed: int, factor: float) -> None:
        self.base, self.factor = np.random.default_rng(seed), factor

    def standard_normal(self, size=None):
        return self.factor * self.base.standard_normal(size)

    def laplace(self, size=None):
        return self.factor * self.base.laplace(size=size)


class Scripted:
    """Noise that is written down beforehand; beyond its end it is zero. ``kinds``: what was asked for."""

    def __init__(self, script: np.ndarray) -> None:
        self.script, self.kinds, self.shapes = script, [], []

    def _next(self, kind: str, size):
        count = 1 if size is None else int(np.prod(size))
        start = len(self.kinds)
        self.kinds += [kind] * count
        self.shapes.append(size)
        found = np.zeros(count)
        part = self.script[start : start + count]
        found[: len(part)] = part
        return found[0] if size is None else found.reshape(size)

    def standard_normal(self, size=None):
        return self._next("normal", size)

    def laplace(self, size=None):
        return self._next("laplace", size)


@dataclass
class Step:
    """One measurement on one table, and with ``loss`` set, what it tells of the two. loss: in the unit of its event's
    sensitivity over scale (mu or epsilon), one for each event."""

    name: str
    public: tuple
    answer: Any
    events: tuple[Event, ...]
    seen: Any = None
    losses: tuple[float, ...] = ()
    stream: Any = None


@dataclass
class History:
    """All steps of one run; with ``given``, the run repeats the answers of another one."""

    given: list[Step] | None = None
    steps: list[Step] = field(default_factory=list)

    @contextlib.contextmanager
    def hooked(self, patch):
        """Every measurement of every method goes through this history."""
        real = {**ADDITIVE, **CHOSEN, **DRAWN}
        with patch.context() as inner:
            for module in MODULES:
                for name, measure in real.items():
                    if hasattr(module, name):
                        inner.setattr(module, name, self._around(name, measure, patch))
            yield

    def _around(self, name: str, measure: Callable, patch) -> Callable:
        def wrapped(dataset: Dataset, *args, rng, **how):
            public = (dataset.row_bound, dataset.d, args, how)
            given = None
            if self.given is not None:
                assert len(self.steps) < len(self.given), "one table is measured once more than the other"
                given = self.given[len(self.steps)]
                assert given.name == name, "the next step depends on the rows"
                assert same(given.public, public), f"what {name} is asked for depends on the rows"
            kind = _Chosen if name in CHOSEN else _Drawn if name in DRAWN else _Added
            with opened(dataset):
                answer, seen = kind.look(measure, dataset, args, how, rng, given, patch)
            if given is not None:  # what is drawn later, for post-processing, goes on as it did
                rng.base.bit_generator.state = given.stream
            state = rng.base.bit_generator.state
            found = Step(name, public, answer if given is None else given.answer, _events(answer), seen, stream=state)
            if given is not None:
                assert same(given.events, found.events), "an event depends on the rows"
                found.losses = kind.losses(given.seen, seen, found.events)
            self.steps.append(found)
            return found.answer

        return wrapped


def _events(answer) -> tuple[Event, ...]:
    """The events in an answer, wherever they are."""
    if isinstance(answer, Event):
        return (answer,)
    if isinstance(answer, tuple):
        return tuple(e for part in answer for e in _events(part))
    event = getattr(answer, "event", None)
    return () if event is None else (event,)


def same(one, other) -> bool:
    """Equal to the last bit, whatever it is made of. Functions of public numbers are compared by what they give."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other, equal_nan=True)
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and same(
            [getattr(one, f.name) for f in dataclasses.fields(one)],
            [getattr(other, f.name) for f in dataclasses.fields(other)],
        )
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and same([*one.values()], [*other.values()])
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if callable(one):
        taus = 2.0 ** -np.arange(sparse_vector.HALVINGS + 1)
        return same(one(taus), other(taus))
    return bool(one == other) or (one != one and other != other)


# --- what a step shows ---------------------------------------------------------------------------------------


def numbers(name: str, answer) -> np.ndarray:
    """The noisy numbers of an additive measurement before they are divided by anything that is not public."""
    if name == "measure_moment":
        if answer.n is not None:
            return answer.matrix.ravel()
        full = answer.count * answer.matrix
        if not answer.distribution.n_anchors:  # the mean was measured and dropped; the count is there
            full = np.pad(full, ((0, 1), (0, 1)))
            full[-1, -1] = answer.count * moment.ANCHOR_SQUARED
        return full.ravel()
    return np.ravel(answer.values if name == "measure_eigenvalues" else answer[0])


class _Added:
    """Statistic plus noise."""

    @staticmethod
    def look(measure, dataset, args, how, rng, given, patch):
        answer = given.answer if given is not None else measure(dataset, *args, rng=rng, **how)

        def run(script):
            noise = Scripted(script)
            return numbers(measure.__name__, measure(dataset, *args, rng=noise, **how)), noise

        still, noise = run(np.zeros(0))
        if noise.kinds and noise.shapes[0] is not None and len(np.atleast_1d(noise.shapes[0])) == 3:
            return answer, ("wishart", still, laws.wishart_scale(run, still, noise.shapes))
        unit = np.eye(len(noise.kinds))
        added = np.array([run(line)[0] - still for line in unit]).reshape(len(unit), len(still)).T
        assert len(set(noise.kinds)) <= 1, "two laws in one measurement"
        return answer, ((*noise.kinds, "none")[0], still, added)

    @staticmethod
    def losses(first, second, events):
        (kind, one, noise), (other_kind, two, other_noise) = first, second
        assert kind == other_kind, "the law of the noise depends on rows"
        assert np.allclose(noise, other_noise, rtol=1e-6, atol=1e-9), "noise depends on rows"
        if kind == "wishart":
            return (laws.wishart_loss(two - one, noise),)
        return (laws.linear_loss(two - one, noise, kind),)


class _Chosen:
    """The index of the first noisy query above a noisy threshold."""

    @staticmethod
    def look(measure, dataset, args, how, rng, given, patch):
        seen = []
        real = sparse_vector.first_above

        def noted(queries, scale, stream):
            seen.append((np.array(queries, dtype=float), scale * laws.vector_noise(real, scale)))
            return real(queries, scale, stream)

        with patch.context() as inner:
            inner.setattr(sparse_vector, "first_above", noted)
            answer = measure(dataset, *args, rng=rng if given is None else Loud(0, 0.0), **how)
        assert len(seen) == 1, "the sparse vector technique is used once, and nothing else"
        return answer, seen[0]

    @staticmethod
    def losses(first, second, events):
        (one, noise), (two, other) = first, second
        assert np.array_equal(noise, other), "noise depends on rows"
        return (laws.vector_loss(one, two, *noise),)


class _Drawn:
    """Directions, each from the exponential mechanism on what the earlier ones leave."""

    @staticmethod
    def look(measure, dataset, args, how, rng, given, patch):
        bases, forms, drawn = [], [], []
        honest = {name: getattr(exponential_vectors, name) for name in ("clipped_moment", "deflate", "sample_bingham")}

        def clipped(*told, **more):
            exact = honest["clipped_moment"](*told, **more)
            bases.append(np.linalg.eigh(exact)[1])
            return exact

        def deflated(values, basis, v):
            found = honest["deflate"](values, basis, v)
            bases.append(found[1])
            return found

        def sample(a, stream):
            if given is None:
                v = honest["sample_bingham"](a, stream.base)
            else:
                v = bases[-1].T @ given.seen[len(drawn)][0]
                assert abs(v @ v - 1) < 1e-9, "the two tables leave different directions"
            drawn.append(bases[-1] @ v)
            forms.append((bases[-1] * a) @ bases[-1].T)
            return v

        with patch.context() as inner:
            inner.setattr(exponential_vectors, "clipped_moment", clipped)
            inner.setattr(exponential_vectors, "deflate", deflated)
            inner.setattr(exponential_vectors, "sample_bingham", sample)
            answer = measure(dataset, *args, rng=rng, **how)
        if given is not None:
            assert np.allclose(given.answer[0], answer[0], atol=1e-8), "the same draws give other directions"
        return answer, list(zip(drawn, forms, bases, strict=False))

    @staticmethod
    def losses(first, second, events):
        assert len(first) == len(second) == len(events)
        return tuple(laws.bingham_loss(one[1], two[1], one[2]) for one, two in zip(first, second, strict=True))


# --- the whole method -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """One pair, one history: (step, largest loss over claim) for every event, in order."""

    ratios: tuple[tuple[str, float], ...]

    @property
    def worst(self) -> float:
        return max(ratio for _, ratio in self.ratios)


def replay(
    key: str,
    options: dict,
    pair: tuple[Dataset, Dataset],
    guarantee,
    patch,
    *,
    centre: str = "joint",
    relation: str = "replace-one",
    seed: int = 0,
    factor: float = 1.0,
) -> Found:
    """Run a method on both tables along one history. AssertionError for whatever must not be."""
    method = build_method(key, options)

    def run(table: Dataset, history: History) -> Outcome | tuple:
        hidden = dataclasses.replace(table, rows=Curtain(table.rows), cache=ValueCache())
        tuning = method.card.tunings[0]
        with history.hooked(patch):
            try:
                return method.run(
                    MethodInput.on(hidden, guarantee, centre, tuning, Loud(seed, factor), relation=relation)
                )
            except ValueError as refusal:  # of noisy numbers that no matrix can be made of
                return refusal.args

    first = History()
    outcome = run(pair[0], first)
    second = History(given=first.steps)
    again = run(pair[1], second)
    assert len(second.steps) == len(first.steps), "one table is measured once more than the other"
    assert same(outcome, again), "what comes out depends on the rows beside the answers"
    events = tuple(e for step in second.steps for e in step.events)
    losses = [loss for step in second.steps for loss in step.losses]
    assert len(events) == len(losses)
    listed = outcome.events if isinstance(outcome, Outcome) else events
    assert len(events) == len(listed), "the statement leaves out a step"
    for told, done in zip(listed, events, strict=True):
        assert (told.mechanism, told.statistic) == (done.mechanism, done.statistic)
        assert math.isclose(told.multiplier, done.multiplier, rel_tol=1e-12), "the statement has another noise"
    ratios = [(e.statistic, loss * e.multiplier) for e, loss in zip(events, losses, strict=True)]
    for what, ratio in ratios:
        assert ratio <= 1 + SLACK, f"{what} costs {ratio:.6f} of what its event says"
    really = tuple(
        dataclasses.replace(e, sensitivity=max(loss * e.scale * (1 - SLACK), 1e-300))
        for e, loss in zip(events, losses, strict=True)
    )
    for composed in (events, really):
        assert accounting.covers(guarantee, accounting.compose(composed, guarantee)), "all steps together exceed it"
    return Found(tuple((e.share, ratio) for e, (_, ratio) in zip(events, ratios, strict=True)))
