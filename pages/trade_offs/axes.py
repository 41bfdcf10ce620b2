"""What can vary on the Trade-offs page, and the values a visitor types for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.shell import cached
from pages.shell.fields import stands
from pages.shell.study import Study
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset

LEVELS = {"rho": np.geomspace(1e-5, 10, 13), "epsilon": np.geomspace(0.02, 20, 13)}
_SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_COLUMNS = (2, 5, 10, 20, 50, 100)
_UNASKED = 5_000_000  # numbers per draw beyond which the suggested values stop


@dataclass(frozen=True)
class Axis:
    """Something that can vary. values: what is suggested."""

    name: str
    label: str
    values: tuple
    log: bool = True
    whole: bool = False


def axes(study: Study, data: Dataset) -> list[Axis]:
    """What can vary for this study: the guarantee, delta, the row bound and every number its source has."""
    levels = tuple(float(f"{v:.3g}") for v in LEVELS[study.lever])
    found = [Axis("privacy", study.lever, levels)]
    if study.kind == "approx":
        found.append(Axis("delta", "delta", (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)))
    bounds = tuple(float(f"{data.row_bound * 2.0 ** (k / 2):.4g}") for k in range(-8, 5))
    found.append(Axis("row_bound", "row bound R", bounds))
    if cached.in_session(study):
        return found
    card = SOURCES.get(study.source_key())
    now = {s.name: s.default for s in card.parameters} | dict(study.data)
    for spec in card.parameters:
        number = isinstance(spec.default, (int, float)) and not isinstance(spec.default, bool)
        if spec.choices or not number or not stands(spec, "data", study, owner=card.key):
            continue
        whole = isinstance(spec.default, int)
        if spec.name == "n":
            values = [v for v in _SIZES if v * data.d <= _UNASKED]
        elif spec.name == "d":
            values = [v for v in _COLUMNS if v * data.n <= _UNASKED]
        elif whole:
            values = [v for v in (1, 2, 4, 8, 16, 32) if spec.low <= v <= spec.high]
        else:
            values = [float(f"{v:.3g}") for v in np.linspace(spec.low, spec.high, 9)]
            values = [v for v in values if spec.low <= v <= spec.high]
        found.append(Axis(spec.name, spec.label, tuple(values or [now[spec.name]]), whole or spec.log, whole))
    return found


def values_text(values: tuple) -> str:
    """Numbers as one types them; `read_values` gives them back."""
    return ", ".join(f"{v:g}" if float(f"{v:g}") == v else repr(v) for v in values)


def read_values(text: str, axis: Axis) -> tuple:
    """Numbers of a comma-separated list. Raises ValueError with a sentence."""
    found = []
    for word in text.replace(";", ",").split(","):
        if not word.strip():
            continue
        try:
            value = float(word)
        except ValueError:
            raise ValueError(
                f"{word.strip()[:30]!r} is not a number. Write values of {axis.label} between commas."
            ) from None
        if not np.isfinite(value) or (axis.whole and value != int(value)):
            raise ValueError(
                f"{axis.label} must be {'a whole number' if axis.whole else 'finite'}, got {word.strip()}."
            )
        found.append(int(value) if axis.whole else value)
    if not found:
        raise ValueError(f"Write at least one value of {axis.label}.")
    if len(found) > 60:
        raise ValueError(f"{len(found)} values of {axis.label} are more than a curve needs; 60 is the limit.")
    return tuple(sorted(set(found)))
