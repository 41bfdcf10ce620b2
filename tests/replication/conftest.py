"""Files of the right shape and label counts, in every form in which the papers' sets are handed round. No real rows."""

import gzip
import io
import struct

import numpy as np
import pytest

from replication.sources.mnist import EACH
from replication.sources.parkinsons import Parkinsons


def rng():
    return np.random.default_rng(5)


def text(rows, mark=",") -> bytes:
    return ("\n".join(mark.join(map(str, row)) for row in rows) + "\n").encode()


def npz(**arrays) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def idx(array: np.ndarray, pack=True) -> bytes:
    raw = struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape) + array.astype(np.uint8).tobytes()
    return gzip.compress(raw, 1) if pack else raw


def ionosphere() -> list[list]:
    """351 rows of 34 numbers and g or b, as in the headerless original."""
    values = rng().uniform(-1, 1, (351, 34)).round(5)
    values[:, 1] = 0
    return [[*row, label] for row, label in zip(values.tolist(), "g" * 225 + "b" * 126, strict=True)]


def sachs() -> np.ndarray:
    return (10 ** rng().uniform(0, 3.9, (7466, 11))).round(2)


def colon() -> np.ndarray:
    return (10 ** rng().uniform(1, 4, (62, 2000))).round(3)


def tissues() -> list[int]:
    """Patients 1 to 22 gave both tissues, 23 to 40 the tumour only."""
    return [*(sign * k for k in range(1, 23) for sign in (-1, 1)), *(-k for k in range(23, 41))]


def parkinsons() -> tuple[np.ndarray, list[int]]:
    low, high = np.array([(c.low, c.high) for c in Parkinsons.table]).T
    values = low + rng().uniform(0.2, 0.8, (195, 22)) * (high - low)
    values[:, 7], values[:, 13] = 3 * values[:, 5], 3 * values[:, 10]
    return values, [1] * 147 + [0] * 48


def microbiome() -> tuple[np.ndarray, np.ndarray]:
    """Counts of which 30 genera are in every sample, the others in three of all."""
    counts = rng().integers(1, 500, (98, 87))
    counts[3:, 30:] = 0
    return counts, np.where(np.arange(98) < 63, 21.5, 25.0)


def genera() -> list[str]:
    return [f"Bacteria.Phylum.Class.Order.Family{k // 3}.Genus{k}" for k in range(87)]


def digits(each=(20,) * 10) -> tuple[np.ndarray, np.ndarray]:
    labels = np.repeat(np.arange(10), each)
    return rng().integers(0, 256, (len(labels), 28, 28), dtype=np.uint8), rng().permutation(labels)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("PRIVCOV_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def made():
    """The makers above, by name."""

    class Made:
        pass

    for make in (text, npz, idx, ionosphere, sachs, colon, tissues, parkinsons, microbiome, genera, digits):
        setattr(Made, make.__name__, staticmethod(make))
    Made.each = EACH
    return Made
