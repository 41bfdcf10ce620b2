"""MNIST: handwritten digits, 28 x 28 pixels, in the unit ball as Dong et al. 2022 scales them."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES
from replication.sources import tables
from replication.sources.archives import arrays
from replication.sources.papers import GROUP, OpenML, PaperData, Raw

if TYPE_CHECKING:
    import pandas as pd

SIDE, TRAINING = 28, 60_000
IMAGES, LABELS = 0x803, 0x801  # the first four bytes of the published files
EACH = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
DIGITS = ("all", *map(str, range(10)))


@SOURCES.add(
    key="mnist",
    label="MNIST digits (Dong 2022)",
    group=GROUP,
    listed=False,
    order=260,
    summary="Handwritten digits of 784 pixels, all or one of the ten; pixels divided by 255 x 28, so rows lie in the "
    "unit ball.",
    reference="Dong et al. 2022, Section 6.2, Figure 4 (n = 6,000, 20,000 and 60,000; single digits in its Appendix "
    "J). LeCun, Cortes and Burges (1998); CC BY-SA 3.0.",
)
@dataclass(frozen=True)
class MNIST(PaperData):
    """The first n pictures of the training set, labels 0 to 9; with a digit, those of the n that show it.

    A part of the set is accepted too, such as 6,000 pictures; a request for more pictures than there are is an error,
    and the name of the data set says how many there are.

    Notes
    -----
    Limits: a pixel is a grey level, 0 to 255 by definition, so a row divided by 255 x 28 (28 = sqrt(784)) is no longer
    than R = 1, and no row is scaled down; there are no other bounds. Pixels of the margin are 0 in every picture, so
    the sample covariance is singular. Columns are pixels, by line and place.
    """

    title: ClassVar = "MNIST"
    size: ClassVar = "60,000 training pictures of 28 x 28 pixels, or a part of them"
    files: ClassVar = (
        ("mnist.npz",),
        ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("mnist_6000.npz",),
    )
    openml: ClassVar = OpenML("mnist_784", 1, 15)
    d: ClassVar = SIDE * SIDE

    n: int = parameter(
        6_000,
        "Pictures n",
        low=100,
        high=TRAINING,
        log=True,
        help="The first n of the file.",
        ends=("more noise", "less noise"),
    )
    digit: str = parameter("all", "Digit", choices=DIGITS, help="One digit keeps about a tenth of the pictures.")

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the two published files (images and labels, gzip or not), or an npz file.

        The npz file has X and y, or x_train and y_train.
        """
        images = labels = None
        for part in parts:
            if part[:2] == b"PK":
                content = arrays(part, cls.title)
                images = content.get("X", content.get("x_train"))
                labels = content.get("y", content.get("y_train"))
                continue
            raw = tables.unpacked(part)
            magic = struct.unpack(">I", raw[:4])[0] if len(raw) >= 8 else 0
            if magic == IMAGES:
                images = _idx(raw, 3)
            elif magic == LABELS:
                labels = _idx(raw, 1)
            else:
                raise ValueError(
                    "this file is neither an npz file nor one of the published idx files (images, labels)."
                )
        if images is None or labels is None:
            what = "pictures" if images is None else "labels"
            raise ValueError(f"the {what} are missing: the set is a file of images and a file of labels, or one npz.")
        return cls._checked(images, labels)

    @classmethod
    def from_openml(cls, values: pd.DataFrame, labels: pd.Series) -> Raw:
        """Take the training pictures of OpenML's table, which are what the paper uses.

        The 10,000 test pictures follow them there.
        """
        tables.check_shape(values.shape, (70_000, 784), cls.title)
        digits = np.asarray(labels).astype(np.int64)[:TRAINING]
        return cls._checked(np.asarray(values)[:TRAINING], digits)

    @classmethod
    def pack(cls, raw: Raw) -> tuple[str, bytes]:
        """Return the pictures and labels as npz."""
        out = io.BytesIO()
        assert raw.labels is not None, "every picture has its digit"
        np.savez_compressed(out, X=raw.values, y=raw.labels)
        return "mnist.npz", out.getvalue()

    @classmethod
    def _checked(cls, images: np.ndarray, labels: np.ndarray) -> Raw:
        """Return the set where pictures and labels are those of the set, else raise ValueError."""
        if images.shape[1:] not in ((SIDE, SIDE), (cls.d,)) or labels.shape != images.shape[:1]:
            raise ValueError(
                f"pictures have shape {images.shape} and labels {labels.shape}; the set has n x 28 x 28 and n."
            )
        n = len(images)
        if n == 0 or labels.dtype.kind not in "ui" or labels.min() < 0 or labels.max() > 9:
            raise ValueError(f"{n:,} labels were found, and every one must be a whole number from 0 to 9.")
        if (
            images.dtype.kind not in "uif"
            or images.min() < 0
            or images.max() > 255
            or (images != np.round(images)).any()
        ):
            raise ValueError("pixels must be whole grey levels from 0 to 255: bring the pictures as published.")
        counts = np.bincount(labels.astype(np.int64), minlength=10)
        if n > TRAINING or not counts.all():
            raise ValueError(
                f"there are {n:,} pictures, and per digit {', '.join(map(str, counts))}; the set has at most "
                f"{TRAINING:,} and every digit from 0 to 9."
            )
        if n == TRAINING:
            tables.check_counts(labels.astype(np.int64), dict(enumerate(EACH)), cls.title)
        pixels = tuple(f"pixel {i},{j}" for i in range(SIDE) for j in range(SIDE))
        return Raw(images.reshape(n, cls.d).astype(np.uint8), labels.astype(np.int64), pixels)

    def default_row_bound(self, seed: int) -> float:
        """Return 1."""
        return 1.0

    def arrange(self, raw: Raw) -> dict:
        """Return the chosen pictures with labels."""
        have = len(raw.values)
        if self.n > have:
            raise ValueError(
                f"n={self.n:,} pictures were asked for, and this copy of MNIST has {have:,} of {TRAINING:,}. Choose n "
                f"at most {have:,}, or bring the whole set."
            )
        assert raw.labels is not None, "every picture has its digit"
        kept = np.ones(self.n, dtype=bool) if self.digit == "all" else raw.labels[: self.n] == int(self.digit)
        if not kept.any():
            raise ValueError(f"None of the first n={self.n:,} pictures shows a {self.digit}. Choose a larger n.")
        return {
            "X": raw.values[: self.n][kept] / (255.0 * SIDE),
            "labels": raw.labels[: self.n][kept],
            "columns": raw.columns,
            "name": "mnist" if have == TRAINING else f"mnist (a copy of {have:,} pictures)",
        }


def _idx(raw: bytes, axes: int) -> np.ndarray:
    """Return the array of an idx file: a magic number, the sizes, the bytes."""
    head = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", raw[4:head]) if len(raw) >= head else (0,)
    want = int(np.prod(shape, dtype=object))
    if len(raw) - head != want:
        raise ValueError(f"this idx file says {want:,} bytes and has {max(0, len(raw) - head):,}: copy it again.")
    return np.frombuffer(raw, dtype=np.uint8, offset=head).reshape(shape)
