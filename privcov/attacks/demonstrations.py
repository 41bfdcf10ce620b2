"""Six habits that cost the guarantee, each with its repair: what is done, why it seems harmless, and one control.

`run` carries out the best attack on the habit and the same attack on the repair; `curve` gives both over the whole
range of the control. The computations are in demonstrations_cases.py. Nothing here is a method, and no private row is
involved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privcov.attacks import demonstrations_cases as cases
from privcov.attacks.demonstrations_attack import AttackResult
from privcov.core import checks

COUNT = 4_000  # simulated answers of either table


@dataclass(frozen=True)
class Setting:
    """The one value of a demonstration that can be changed: options, rising, their format, words at the two ends."""

    label: str
    options: tuple[float, ...]
    default: float
    unit: str
    left: str
    right: str

    def words(self, value: float) -> str:
        """Return the value with its unit."""
        return self.unit.format(value)


@dataclass(frozen=True)
class Demonstration:
    """One screen. habit, harmless, repair, occurs, tables (what the two neighbours are): a sentence each.

    certain: the habit keeps its claim, and the claim itself permits the attack.
    """

    key: str
    title: str
    habit: str
    harmless: str
    repair: str
    occurs: str
    tables: str
    control: Setting
    case: Any
    certain: bool = False


@dataclass(frozen=True, eq=False)
class DemonstrationResult:
    """Both attacks at one value of the control."""

    value: float
    done: AttackResult
    repaired: AttackResult


@dataclass(frozen=True, eq=False)
class Curve:
    """Probability that the best attacker is right, over the values of the control.

    permitted: by the claim (for delta = 1/n: about a person named beforehand). charged: permitted when every draw is
    paid for; None where nothing is drawn again.
    """

    values: np.ndarray
    done: np.ndarray
    repaired: np.ndarray
    permitted: np.ndarray
    charged: np.ndarray | None = None


DEMONSTRATIONS = (
    Demonstration(
        "longest-row",
        "Dividing by the longest row",
        "Every row is divided by the largest norm in the table, so that all lie in the ball the noise is made for.",
        "It is a mere change of units, the same for everybody.",
        "A row bound that is named before anybody looks at the rows; a longer row is shortened to it, on its own.",
        "Su et al. 2019 and Dong et al. 2022, in their experiments.",
        "First table: one row of the control's length among 99 of length 1. Second table: 100 rows of length 1.",
        Setting(
            "Length of the one row (others: 1)",
            (1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0),
            2.0,
            "{:g}×",
            "as long as the others",
            "a hundred times as long",
        ),
        cases.LongestRow(),
    ),
    Demonstration(
        "sample-mean",
        "Centring by the mean",
        "The sample mean is subtracted first; then the covariance gets the noise for a mean that is known.",
        "A mean over many rows hardly depends on one of them.",
        "Mean and second moment in one measurement, centre=\"joint\": the noise covers both.",
        "Dong et al. 2022, in its text.",
        "First table: 99 rows at one point, one at the far end of the ball. Second table: all 100 rows at that point.",
        Setting(
            "Distance of the other rows from the origin, in row bounds",
            (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
            1.0,
            "{:g}",
            "at the origin: the mean is small",
            "at the edge: the mean is large",
        ),
        cases.SampleMean(),
    ),
    Demonstration(
        "raw-tuning",
        "Tuning on raw rows",
        "The threshold is chosen by cross-validation on the rows; only the matrix gets noise.",
        "A tuning constant is one number about the whole table.",
        "A rule that reads the noisy matrix only: it spends nothing.",
        "Su et al. 2019 and Mathematics 2023, in their experiments; the simulated attack chooses the constant of "
        "dp-thresholding.",
        "First table: 25 rows, one with the control's value in column 2 as well. Second table: none has both.",
        Setting(
            "Second value of the one row (of R)",
            (1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7),
            0.1,
            "{:g}",
            "hardly any difference",
            "as much as in the first",
        ),
        cases.RawTuning(),
    ),
    Demonstration(
        "one-over-n",
        "Delta = 1/n",
        "Delta is set to 1/n, and a mechanism that prints one random row in the clear then keeps its claim.",
        "With many rows 1/n is a tiny number.",
        "Delta far below 1/n, so that n times delta, the rows that may be printed, is far below one.",
        "Wang, Xu & He 2019 and Su et al. 2019; Mathematics 2023 has about 1/(2n).",
        "Everybody's row is one of two, equally likely; the attacker picks the person after seeing the release.",
        Setting(
            "Number of rows n",
            (100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 100_000.0, 1_000_000.0, 10_000_000.0),
            1_000.0,
            "{:,.0f}",
            "a small study",
            "a whole country",
        ),
        cases.OneOverN(),
        certain=True,
    ),
    Demonstration(
        "re-runs",
        "Re-running",
        "The release is drawn again and again, each time with fresh noise, until the picture looks right.",
        "Every single draw keeps its guarantee, and only one is used in the end.",
        "One draw that is kept and shown again, or every draw charged to the ledger.",
        "Not in the papers: in notebooks, and wherever a click draws new noise.",
        "First table: 100 rows, one of them along the first axis. Second table: that row along the second axis.",
        Setting(
            "Draws that were seen",
            (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0),
            20.0,
            "{:g}",
            "one draw",
            "five hundred draws",
        ),
        cases.Reruns(),
    ),
    Demonstration(
        "outside",
        "Rows outside the ball",
        "The noise is made for rows of length 1, and nothing makes the rows that short.",
        "The theorem says \"assume that rows have norm at most 1\", and one row is only one of many.",
        "Clipping inside the measurement, which no caller can leave out.",
        "Wang, Xu & He 2019 and Mathematics 2023: with 100 columns their generators draw rows of length 5 and 10 on "
        "average.",
        "First table: one row of the control's length along the first axis. Second table: along the second axis.",
        Setting(
            "Length of the one row (of R)",
            (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0),
            3.0,
            "{:g}×",
            "just inside the ball",
            "ten times too long",
        ),
        cases.Outside(),
    ),
)  # fmt: skip


def find(key: str) -> Demonstration:
    """Return the demonstration of a key. Raises ValueError for an unknown key."""
    by_key = {d.key: d for d in DEMONSTRATIONS}
    return by_key[checks.one_of("demonstration", key, tuple(by_key))]


def run(key: str, value: float | None = None, *, seed: int = 1, count: int = COUNT) -> DemonstrationResult:
    """Carry out both attacks at one value of the control (None: its default).

    count: simulated answers of either table.
    """
    demonstration = find(key)
    value = demonstration.control.default if value is None else value
    if value not in demonstration.control.options:
        raise ValueError(
            f"{demonstration.control.label} must be one of "
            f"{', '.join(f'{v:g}' for v in demonstration.control.options)}."
        )
    checks.integer("count", count, 100, 1_000_000)
    return DemonstrationResult(value, *demonstration.case.run(value, count, seed))


def curve(key: str) -> Curve:
    """Compute both attacks, by their closed forms, at every value of the control."""
    demonstration = find(key)
    values = demonstration.control.options
    done, repaired = np.array([demonstration.case.exact(v) for v in values]).T
    permitted = np.array([demonstration.case.limit(v) for v in values])
    charged = getattr(demonstration.case, "charged", None)
    return Curve(
        np.array(values), done, repaired, permitted, None if charged is None else np.array([charged(v) for v in values])
    )
