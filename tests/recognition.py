"""How often the ledger recognises a survey under another name, and how often it takes other people for them.

`python -m tests.recognition` prints the table of SECURITY.md. People have three traits each; an item is a mixture of
them plus noise, cut into answers. Other people answer the same items. Every change is made to the same people's table.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd

from privcov.ledger.fingerprint import alike, fingerprint
from privcov.private_dataset import PrivateDataset

KEY = bytes(range(32))
OTHERS = "other people"
KINDS = ("yes or no", "1 to 5", "mixed with ages")


class Survey:
    """Items that any number of people answer. kind: one of KINDS."""

    def __init__(self, kind: str, columns: int, rng: np.random.Generator) -> None:
        self.kind, self.names = kind, tuple(f"q{j + 1}" for j in range(columns))
        self.traits, self.cuts = rng.normal(size=(3, columns)), np.sort(rng.normal(size=(4, columns)), axis=0)

    def answers(self, people: int, rng: np.random.Generator) -> np.ndarray:
        """One table, people x columns."""
        shown = rng.normal(size=(people, 3)) @ self.traits + 1.5 * rng.normal(size=(people, len(self.names)))
        shown /= np.sqrt((self.traits**2).sum(axis=0) + 2.25)
        five = 1.0 + (shown[:, None, :] > self.cuts).sum(axis=1)
        if self.kind == "1 to 5":
            return five
        yes = (shown > self.cuts[1]).astype(float)
        if self.kind == "yes or no":
            return yes
        ages = np.clip(np.round(45 + 15 * shown), 18, 90)
        return np.choose((np.arange(len(self.names)) % 3)[None, :], [yes, five, ages])


Table = tuple[np.ndarray, tuple[str, ...]]


def _edited(rows: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """Some people's rows replaced by those of others: three, or a share."""
    edited = rows.copy()
    at = rng.choice(len(rows), max(3, round(share * len(rows))), replace=False)
    edited[at] = rows[rng.integers(0, len(rows), len(at))]
    return edited


def _without(rows: np.ndarray, names: tuple[str, ...], rng: np.random.Generator) -> Table:
    gone = rng.integers(len(names))
    return np.delete(rows, gone, axis=1), names[:gone] + names[gone + 1 :]


def _with(rows: np.ndarray, names: tuple[str, ...], column: np.ndarray) -> Table:
    return np.column_stack([rows, column]), (*names, "new")


CHANGES: dict[str, Callable[[np.ndarray, tuple[str, ...], np.random.Generator], Table]] = {
    "rows shuffled, columns renamed": lambda x, names, rng: (rng.permutation(x), tuple(f"other {n}" for n in names)),
    "a column less": _without,
    "a column more": lambda x, names, rng: _with(x, names, rng.integers(0, 2, len(x))),
    "a constant column more": lambda x, names, rng: _with(x, names, np.ones(len(x))),
    "three rows edited": lambda x, names, rng: (_edited(x, rng, 0.0), names),
    "a column less, three rows edited": lambda x, names, rng: _without(_edited(x, rng, 0.0), names, rng),
    "a column less, 1 % of rows edited": lambda x, names, rng: _without(_edited(x, rng, 0.01), names, rng),
    "a tenth of the rows less": lambda x, names, rng: (x[rng.random(len(x)) > 0.1], names),
    "1e-9 added": lambda x, names, rng: (x + 1e-9, names),
    "a column less, 1e-9 added": lambda x, names, rng: _without(x + 1e-9, names, rng),
    "times 1 + 1e-7": lambda x, names, rng: (x * (1 + 1e-7), names),
}


def printed(rows: np.ndarray, names: tuple[str, ...], key: bytes = KEY) -> str:
    """The fingerprint of a table with these columns."""
    return fingerprint(PrivateDataset.from_rows(rows, columns=names, row_bound=100.0), key)


def measured(sizes: tuple[int, ...], columns: tuple[int, ...], repeats: int, seed: int = 0) -> pd.DataFrame:
    """One line per comparison: kind, people, columns, what was done to the table, whether it was recognised.

    "other people" is the same survey of other people, which should not be.
    """
    found = []
    for kind, n, d, repeat in itertools.product(KINDS, sizes, columns, range(repeats)):
        rng = np.random.default_rng([seed, KINDS.index(kind), n, d, repeat])
        key, survey = rng.bytes(32), Survey(kind, d, rng)
        rows = survey.answers(n, rng)
        known = printed(rows, survey.names, key)
        tables = [(what, change(rows, survey.names, rng)) for what, change in CHANGES.items()]
        tables += [(OTHERS, (survey.answers(n, rng), survey.names)) for _ in range(3)]
        found += [(kind, n, d, what, alike(known, printed(*table, key))) for what, table in tables]
    return pd.DataFrame(found, columns=["kind", "people", "columns", "what", "recognised"])


def main() -> None:
    """The table, in Markdown: all settings together, and the one with the most errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1_000, 5_000, 20_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 5, 10, 20, 40])
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    found = measured(tuple(options.sizes), tuple(options.columns), options.repeats)
    print(f"| Recognised | {' | '.join(KINDS)} | worst setting |\n|---|{'---|' * len(KINDS)}---|")
    for what in (*CHANGES, OTHERS):
        lines = found[found.what == what]
        shares = [lines[lines.kind == kind].recognised for kind in KINDS]
        told = [f"{s.sum():,} of {len(s):,}" for s in shares]
        settings = lines.groupby(["kind", "people", "columns"]).recognised.mean()
        place = settings.idxmax() if what == OTHERS else settings.idxmin()
        worst = f"{settings[place]:.0%}: {place[0]}, {place[1]:,} people, {place[2]} columns"
        print(f"| {what} | {' | '.join(told)} | {worst if 0 < settings.mean() < 1 else 'all alike'} |")


if __name__ == "__main__":
    main()
