"""The answer to "which epsilon do I need?", and the sentence that states it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import pandas as pd

from privcov.privacy import Guarantee

NORM_NAMES = {"frobenius": "Frobenius", "spectral": "spectral", "l1": "l1", "max": "max"}
REFERENCE_NAMES = {
    "truth": "to the truth",
    "sample": "to the sample",
    "nonprivate": "to the same method without noise",
}
_CLASSIFIED = {
    "lda-error": "Share of test rows classified wrongly (LDA)",
    "majority-error": "Share wrong by always answering the commonest class",
}
LARGE = {"epsilon": 10.0, "rho": 5.0}


@dataclass(frozen=True, eq=False)
class Answer:
    """Result of `privcov.sweeps.solve.smallest`; ``print(answer)`` prints it as a sentence.

    lever:    the quantity whose smallest value was searched for: "rho", "epsilon" or "n".
    level:    its smallest value, or None. interval: 95 % Monte-Carlo interval, None at an end that the searched range
              does not hold. below: the target is met at the lowest level that was searched.
    method:   the entry's label; title: the label of the method's card. norm, against: of the error.
    curve:    columns level, mean, low, high (pointwise 95 % t-band of the mean), one row per level that was run.
    parts:    mean relative errors without noise: sampling, clipped, unclipped, diagonal (see `solve`).
    n, d:     of the data; with lever "n", n is the largest that was tried.
    searched: lowest and highest level of the search.
    rises_again: a larger level whose mean error is above the target again, or None.
    problem:  why a run gave no matrix, or "".
    """

    lever: str
    level: float | None
    interval: tuple[float | None, float | None]
    below: bool
    target: float
    method: str
    title: str
    norm: str
    against: str
    guarantee: Guarantee
    n: int
    d: int
    searched: tuple[float, float]
    replicates: int
    fresh_rows: bool
    curve: pd.DataFrame
    parts: dict[str, float]
    rises_again: float | None = None
    problem: str = ""

    @property
    def status(self) -> str:
        """The outcome: "trivial" (the zero matrix meets the target), "found" or "not achievable"."""
        if self.target >= 1:
            return "trivial"
        return "not achievable" if self.level is None else "found"

    @property
    def reason(self) -> str:
        """What prevents a level: failed, sampling, clipping, method or noise; "" where one was found."""
        if self.status != "not achievable":
            return ""
        if self.problem:
            return "failed"
        if self.parts.get("sampling", 0.0) > self.target:
            return "sampling"
        if self.parts["clipped"] > self.target:
            return "clipping" if self.parts["unclipped"] <= self.target else "method"
        return "noise"

    @property
    def _aim(self) -> str:
        """The target in words."""
        what = f"a relative {NORM_NAMES[self.norm]} error of {_percent(self.target)} {REFERENCE_NAMES[self.against]}"
        return what + " on average"

    def __str__(self) -> str:
        if self.status == "trivial":
            return (
                f"No data are needed for {self._aim}: the zero matrix, which reads no rows, has an error of 100 % "
                "and already decides."
            )
        if self.status == "not achievable":
            return f"Not achievable at {self._place()}: {self._why()}."
        spread = f"95 % Monte-Carlo interval {self._ends()}, {self.replicates} replicates"
        if self.below:
            return (
                f"{self.title} meets {self._aim} at {self.lever} = {shown(self._found)} already, the smallest that "
                f"was tried ({self._setting()}; {self.replicates} replicates)."
            )
        return f"{self.title} needs {self.lever} = {self._level()} for {self._aim} ({self._setting()}; {spread})."

    def _setting(self) -> str:
        return f"{self.guarantee}, d = {self.d}" if self.lever == "n" else f"n = {self.n:,}, d = {self.d}"

    def _place(self) -> str:
        if self.lever == "n":
            return f"any n up to {self.searched[1]:,} and d = {self.d} under {self.guarantee}"
        return f"n = {self.n:,} and d = {self.d}"

    @property
    def _found(self) -> float:
        """The level, where there is one."""
        assert self.level is not None
        return self.level

    def _level(self) -> str:
        return shown(self._found, up=True, whole=self.lever == "n")

    def _ends(self) -> str:
        whole = self.lever == "n"
        low, high = self.interval
        if low is None:
            if high is None:
                return "not inside the searched range"
            return f"up to {shown(high, up=True, whole=whole)}"
        if high is None:
            return f"from {shown(low, whole=whole)} with no upper end in the searched range"
        return f"{shown(low, whole=whole)} to {shown(high, up=True, whole=whole)}"

    def _why(self) -> str:
        target, parts = _percent(self.target), self.parts
        if self.reason == "failed":
            return f"{self.title} gave no matrix ({self.problem.rstrip('.')})"
        if self.reason == "sampling":
            part = parts["sampling"]
            text = f"sampling error alone is {_percent(part)}, above the {target} asked for, whatever the guarantee"
            if self.lever != "n":
                # Sampling error falls like 1 / sqrt(n).
                rows = self.n * (part / self.target) ** 2
                text += f"; at least about {shown(rows, up=True, whole=True, digits=2)} rows are needed"
            return text
        if self.reason == "clipping":
            return (
                f"clipping bias alone decides. Without any noise the clipped rows are {_percent(parts['clipped'])} "
                f"off, above the {target} asked for; with no row shortened it would be {_percent(parts['unclipped'])}. "
                "Raise the row bound"
            )
        if self.reason == "method":
            return (
                f"{self.title} itself is {_percent(parts['unclipped'])} off even without noise and without clipping, "
                f"above the {target} asked for"
            )
        best = float(self.curve["mean"].min())
        return (
            f"up to {self.lever} = {shown(self.searched[1], whole=self.lever == 'n')} the smallest mean error is "
            f"{_percent(best)}, above the {target} asked for; without noise it would be {_percent(parts['clipped'])}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Further remarks on the result, a sentence each."""
        remarks = []
        if self.status == "not achievable" and self.interval[0] is not None:
            remarks.append(
                "This is within Monte-Carlo error: the 95 % interval of the mean error reaches the target. "
                "Take more replicates to be sure."
            )
        if self.status == "found":
            if self.parts.get("diagonal", 2.0) <= self.target:
                remarks.append(
                    f"The diagonal of the sample alone, which denies every relation between columns, is "
                    f"{_percent(self.parts['diagonal'])} off: this target asks for no covariances."
                )
            if self.rises_again is not None:
                remarks.append(
                    f"The mean error is above the target again at {self.lever} = {shown(self.rises_again)}: the curve "
                    "is not monotone here."
                )
            if self.lever in LARGE and self._found > LARGE[self.lever]:
                remarks.append(f"A {self.lever} of {self._level()} promises very little to a single person.")
        return tuple(remarks)


def metric_name(metric: str) -> str:
    """Return the name of a metric of a plan, such as "relative-frobenius-to-truth", in words."""
    if metric in _CLASSIFIED:
        return _CLASSIFIED[metric]
    name = metric.removeprefix("relative-")
    norm, reference = name.split("-to-")
    return f"{'Relative' if name != metric else 'Absolute'} {NORM_NAMES[norm]} error {REFERENCE_NAMES[reference]}"


def shown(value: float, *, up: bool = False, whole: bool = False, digits: int = 3) -> str:
    """Write a number with so many significant digits, rounded up (``up``) or down, never the other way."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    text = Context(prec=digits, rounding=rounding).create_decimal(Decimal(f"{value:.12g}"))
    return f"{int(text):,}" if whole else f"{float(text):.{digits}g}"


def _percent(fraction: float) -> str:
    return "0 %" if abs(fraction) < 1e-9 else f"{100 * fraction:.3g} %"
