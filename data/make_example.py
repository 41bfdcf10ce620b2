"""Writes example.csv, byte for byte the same each time: `python data/make_example.py`.

A health survey of 20,000 invented people. The links between the columns are the lines below and nothing else.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

N, SEED = 20_000, 1
NAMES = "age,height,weight,systolic,diastolic,cholesterol,glucose,steps,sleep,stress"
DECIMALS = (0, 0, 1, 0, 0, 1, 1, 0, 1, 0)


def table() -> np.ndarray:
    """20,000 x 10, unrounded. Every z() is fresh standard normal noise."""
    rng = np.random.RandomState(SEED)  # the one generator of numpy whose stream is promised never to change

    def z() -> np.ndarray:
        return rng.standard_normal(N)

    tall = rng.random_sample(N) < 0.5  # hidden: makes height a mixture of two bells, and is not in the file
    age = 20 + 68 * rng.beta(1.6, 2.0, N)
    years = age - 50
    height = 163 + 13 * tall - 0.06 * years + 6.5 * z()
    bmi = 26 * np.exp(0.002 * years + 0.15 * z())  # hidden: weight over height squared
    weight = bmi * (height / 100) ** 2
    heavy = bmi - 26
    stress = 14 - 0.06 * years + 5 * z()
    sleep = 7 - 0.09 * (stress - 14) + 0.9 * z()
    steps = 6500 * np.exp(-0.01 * years - 0.03 * heavy + 0.4 * z())
    systolic = 124 + 0.4 * years + 0.9 * heavy + 0.3 * (stress - 14) + 11 * z()
    diastolic = 78 + 0.45 * (systolic - 124) - 0.1 * years + 5.5 * z()
    cholesterol = 5 * np.exp(0.003 * years + 0.006 * heavy + 0.17 * z())
    lazy = np.log(6500 / steps)
    glucose = 5.4 * np.exp(0.003 * years + 0.012 * heavy + 0.05 * lazy + 0.11 * z())
    return np.column_stack(
        (age, height, weight, systolic, diastolic, cholesterol, glucose, steps, sleep, np.clip(stress, 0, 40))
    )


def make() -> bytes:
    """The file."""
    formats = ",".join(f"%.{k}f" for k in DECIMALS)
    # adding 0.0 turns a rounded -0 into 0
    lines = [formats % tuple(np.round(row, 1) + 0.0) for row in table()]
    return "\n".join([NAMES, *lines, ""]).encode()


if __name__ == "__main__":
    (Path(__file__).parent / "example.csv").write_bytes(make())
