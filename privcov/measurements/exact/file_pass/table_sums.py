"""One pass over the files of a table: the exact integer sums from which every measurement of it is computed.

The rows of `integer_gram`, sum k k', the sum of the k of every class and the number of rows of each: whole numbers, so
sums of parts merge in any order, and the bits do not depend on blocks, parts, files, workers or the machine. With them
come, for public rows, how many rows the bound shortened and which cells are missing, and, for the ledger, the marks of
its fingerprint. A block of at most 8,192 rows is summed in float64, where every product and partial sum is a whole
number up to 2^53; blocks are added up in two 64-bit limbs, enough for 10^10 rows.

Where rows have the ids of persons, a row and its anchor have weights (`integer_gram.weigh_rows`). Anchors are then as
different as weights are, so their products are summed with the rest, behind the columns.

Nothing here is private: only the exact measurement and the ledger's fingerprint use the sums of private rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from privcov.measurements.exact.file_pass.marks import MarkAccumulator, together
from privcov.measurements.exact.integer_gram import (
    ANCHOR,
    UNIT,
    counts_of,
    flag_value,
    flagged_rows,
    keep_one_level,
    max_entries,
    to_working,
    weigh_rows,
)
from privcov.measurements.norm_histogram import BINS
from privcov.tables.declared_columns import Kinds
from privcov.tables.persons import id_hashes
from privcov.tables.persons_in_files import PartIds, Weighing
from privcov.tables.public_facts import FEWEST_COLUMNS, MAX_FILE_ROWS, label_text
from privcov.tables.readers import Block
from privcov.tables.units import InUnits, Units

BLOCK_ROWS = 2**53 // UNIT**2
_LIMB = 32
# Below it UNIT / row_bound is too large for the compiled loop, and `integer_rows` divides twice.
_SMALLEST_BOUND = 1e-90

assert MAX_FILE_ROWS * UNIT < 2**63, "the sum of a column over the largest table must fit into 64 bits"
assert MAX_FILE_ROWS * UNIT**2 < 2 ** (63 + _LIMB), "a sum of squares over the largest table must fit into two limbs"


@dataclass(frozen=True, eq=False, repr=False)  # a message may repeat the repr of what it is about
class SumSpec(InUnits):
    """What a worker needs: public facts, and for marks the four secret numbers of `marks.Mixer`.

    label, person: names of the columns of class labels and of ids of persons, or "". classes: public list of the class
    names, or (). drop: whether a row with a missing or infinite cell is left out (else the cell counts as the origin).
    flagged: positions of the columns whose missing cells are flagged (integer_gram.py), of private rows only. secrets:
    None for no marks. anchor: a of a row of weight one, used where rows have ids. ids: those of the
    part, which the pass sets for each. kinds: name and kind of every column, which give ``columns``; () for numbers.
    """

    columns: tuple[str, ...]
    label: str
    classes: tuple[str, ...]
    units: Units
    drop: bool
    flagged: tuple[int, ...] = ()
    secrets: tuple[int, ...] | None = None
    person: str = ""
    anchor: int = ANCHOR
    ids: PartIds | None = None
    kinds: Kinds = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns that are read."""
        return tuple(name for name, _ in self.kinds) or self.columns


@dataclass(frozen=True, eq=False, repr=False)
class ExactSums:
    """Exact sums over rows: NOT private.

    n_rows: rows read. high, low: p x p int64, sum k k' = high 2^32 + low with 0 <= low < 2^32; p = w, the columns and
    their flags, or w + c where rows have the ids of persons: then the weighted anchors of the classes come last. lines:
    w x c int64, the sum of k in each class (c = 1 without classes). counts: the rows of each class. norms: what
    `norm_counts` returns. marks: see marks.py; where secrets were given.
    """

    n_rows: int
    high: np.ndarray
    low: np.ndarray
    lines: np.ndarray
    counts: np.ndarray
    norms: np.ndarray
    marks: tuple[int, ...] | None

    def plus(self, other: ExactSums) -> ExactSums:
        """Return the sums of both together; associative and commutative, bit for bit."""
        low, marks = self.low + other.low, self.marks
        if marks is not None:
            assert other.marks is not None, "the parts of a pass are all marked, or none is"
            marks = together(marks, other.marks)
        return ExactSums(
            self.n_rows + other.n_rows,
            self.high + other.high + (low >> _LIMB),
            low & (2**_LIMB - 1),
            self.lines + other.lines,
            self.counts + other.counts,
            self.norms + other.norms,
            marks,
        )

    def second(self) -> np.ndarray:
        """Return sum k k' as Python integers."""
        return self.high.astype(object) * 2**_LIMB + self.low.astype(object)

    def gram(self, n_anchors: int, anchor: int = ANCHOR) -> np.ndarray:
        """Return sum z z' as `integer_gram.noiseless_gram`: int64, or Python integers where 64 bits may not suffice.

        Sums of weighted rows hold the anchor that they were made with.
        """
        d = len(self.lines)
        whole = np.zeros((d + n_anchors, d + n_anchors), dtype=object)
        if len(self.low) > d:
            whole[:] = self.second()[: d + n_anchors, : d + n_anchors]
        else:
            whole[:d, :d] = self.second()
            whole[:d, d:] = self.lines.astype(object) * anchor
            whole[d:, :d] = whole[:d, d:].T
            whole[d:, d:] = np.diag(self.counts.astype(object) * anchor**2)
        return whole.astype(np.int64) if self.n_rows * (UNIT**2 + anchor**2) < 2**63 else whole


class SumAccumulator:
    """Sums that are computed block by block, by numba where ``compiled`` and installed; the numbers are the same."""

    def __init__(self, spec: SumSpec, compiled: bool = True) -> None:
        d, c = len(spec.columns), max(1, len(spec.classes))
        self.spec, self.kernel = spec, kernel() if compiled and spec.row_bound >= _SMALLEST_BOUND else None
        self.limits = (np.zeros((d, 2)) if spec.bounds is None else spec.bounds).T.copy()
        self.most, self.flag = max_entries(spec.units)[:, None], flag_value(spec.units, spec.flagged)
        self.place = {name: i for i, name in enumerate(spec.classes)}
        self.n_rows = self.blocks = 0
        self.counts, self.norms = np.zeros(c, np.int64), np.zeros(BINS, np.int64)
        w = d + len(spec.flagged)
        p = w + c * bool(spec.person)
        self.high, self.low, self.lines = (np.zeros(shape, np.int64) for shape in ((p, p), (p, p), (w, c)))
        self.weighing = None if spec.ids is None else Weighing(spec.ids)
        self.marking = None if spec.secrets is None else MarkAccumulator(spec.secrets, spec.columns)

    def take(self, block: Block) -> None:
        """Add the rows of one block, at most `BLOCK_ROWS`."""
        cells = block.cells
        assert cells.shape[1] <= BLOCK_ROWS, "more rows of the largest length add up beyond 2^53"
        code = self._codes(block)
        if self.marking:
            person = None if block.ids is None or not self.spec.person else id_hashes(block.ids[0])[block.ids[1]]
            self.marking.take(cells, person, code if self.spec.classes else None)
        whole, hole = self._whole(cells)
        hole = hole.astype(bool) if self.spec.drop else np.zeros(len(hole), dtype=bool)
        out = hole | (code < 0)
        if out.any():
            whole[:, out] = 0.0
        self.n_rows += len(out)
        class_codes = np.where(out, len(self.counts), code)
        self.counts += np.bincount(class_codes, minlength=len(self.counts) + 1)[:-1]
        of_person = self.weighing.rows_of_persons(block) if self.weighing else None
        c = len(self.counts)
        lines = whole.sum(axis=1, keepdims=True) if c == 1 else whole @ np.eye(c + 1)[class_codes][:, :c]
        self.lines += lines.astype(np.int64)
        if len(cells) >= FEWEST_COLUMNS:
            self.norms += counts_of((whole[: len(cells)] ** 2).sum(axis=0), of_person, BINS)
        if of_person is not None:
            whole = self._weigh_rows(whole, class_codes, of_person)
        self.low += (whole @ whole.T).astype(np.int64)
        self.blocks += 1
        if self.blocks % 512 == 0:  # 512 blocks of at most 2^53 each
            self._carry()

    def _weigh_rows(self, whole: np.ndarray, class_codes: np.ndarray, rows_of_person: np.ndarray) -> np.ndarray:
        """Return the rows with their anchors, (d + c) x b, times the roots of their weights.

        class_codes: the class of each row, c for none. A row that is left out is zero already, and gets no anchor.
        """
        anchors = self.spec.anchor * np.eye(len(self.counts) + 1)[:-1, class_codes]
        return weigh_rows(np.vstack([whole, anchors]).T, rows_of_person).T

    def _whole(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (k as float64 with its flags, w x b; 1 where a row has a missing cell)."""
        spec, (d, b) = self.spec, cells.shape
        if self.kernel is None:
            whole, squares, hole = self._slowly(cells)
        else:
            whole, squares, hole = np.empty((d, b)), np.empty(b), np.empty(b, np.uint8)
            units = spec.bounds is not None, *self.limits, spec.origin, spec.scale
            self.kernel.whole_cells(cells, UNIT / spec.row_bound, *units, whole, squares, hole)
        flags = ~np.isfinite(cells[list(spec.flagged)])
        long = np.flatnonzero(squares > UNIT**2 - flags.sum(axis=0) * self.flag**2)
        if len(long):
            self._shorten(cells, whole, long)
        if (self.most < UNIT).any():
            np.clip(whole, -self.most, self.most, out=whole)
        keep_one_level(whole.T, spec.units)
        return (np.concatenate([whole, flags * float(self.flag)]) if spec.flagged else whole), hole

    def _shorten(self, cells: np.ndarray, whole: np.ndarray, long: np.ndarray) -> None:
        holes = ~np.isfinite(cells[list(self.spec.flagged)][:, long].T)
        working = to_working(self.spec.units, cells[:, long].T)
        rows = flagged_rows(working, self.spec.row_bound, holes, flag=self.flag)
        whole[:, long] = rows[:, : len(cells)].T

    def _slowly(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute what the kernel computes, by numpy."""
        steps = self._steps(cells)
        with np.errstate(over="ignore"):
            squares = (steps * steps).sum(axis=0)
        return steps, squares, ~np.isfinite(cells).all(axis=0)

    def _steps(self, cells: np.ndarray) -> np.ndarray:
        """Return the rows in steps of row_bound / UNIT, cut to whole numbers, d x b."""
        bound = self.spec.row_bound
        with np.errstate(over="ignore"):
            y = to_working(self.spec.units, cells.T).T
            y = y * (UNIT / bound) if bound >= _SMALLEST_BOUND else y / bound * UNIT
        return np.trunc(np.where(np.isfinite(cells), y, 0.0))

    def _codes(self, block: Block) -> np.ndarray:
        """Return the position of every row's class in the list, -1 for none; 0 without classes."""
        if not self.spec.classes:
            return np.zeros(block.cells.shape[1], np.int64)
        assert block.labels is not None, "classes come with a label, which is read with the cells"
        texts, codes = block.labels
        return np.array([self.place.get(label_text(t), -1) for t in texts], np.int64)[codes]

    def _carry(self) -> None:
        self.high += self.low >> _LIMB
        self.low &= 2**_LIMB - 1

    def sums(self) -> ExactSums:
        """Return the sums of all blocks of a part."""
        self._carry()
        if self.weighing:
            self.weighing.end()
        marks = self.marking.sums if self.marking else None
        return ExactSums(self.n_rows, self.high, self.low, self.lines, self.counts, self.norms, marks)


def kernel() -> ModuleType | None:
    """Return the compiled loop, or None without numba: then numpy computes the same bits, more slowly."""
    try:
        from privcov.measurements.exact.file_pass import sum_kernel
    except ImportError:
        return None
    return sum_kernel
