"""News commentary: documents as hashed word counts, in the unit ball."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privcov.core.parameters import parameter
from privcov.data_sources.base import SOURCES
from privcov.tables.declaration.csv_file import decode
from replication.sources import tables
from replication.sources.archives import arrays
from replication.sources.papers import GROUP, PaperData, Raw

WIDTH = 512
EACH, LARGEST = "each row", "largest row (chosen on the data)"


@SOURCES.add(
    key="news",
    label="News words (Dong 2022)",
    group=GROUP,
    listed=False,
    order=270,
    summary="Documents as counts of their words, hashed into d columns; any texts, one document per line.",
    reference="Dong et al. 2022, Section 6.2, Figure 5 (n = 15,657 articles; d = 32, 128 and 512).",
)
@dataclass(frozen=True)
class News(PaperData):
    """Rows n x d; n is the number of documents that are brought (15,657 articles of news commentary in the paper).

    Notes
    -----
    Words are lower-cased and hashed into 512 columns with signs, by scikit-learn's HashingVectorizer(norm=None); d = 32
    and 128 fold these columns (j modulo d), which gives exactly what hashing into d columns gives.

    No row is longer than R = 1, and none is scaled down; there are no other bounds.

    email_hashed_512.npz is a substitute: hashed e-mails, not news; its labels are 1 for spam.
    """

    title: ClassVar = "news"
    size: ClassVar = "any number of documents"
    files: ClassVar = (("news.txt",), ("news.txt.gz",), ("news_hashed_512.npz",), ("email_hashed_512.npz",))

    d: int = parameter(128, "Columns d", choices=(32, 128, 512), help="Words are hashed into so many columns.")
    divide: str = parameter(
        EACH,
        "Divide by the norm of",
        choices=(EACH, LARGEST),
        help="The largest norm is read off the rows: a choice that no guarantee covers.",
    )

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read texts, one document per line, or an npz with X (n x 512 whole numbers) and optionally y."""
        part = tables.only(parts, cls.title)
        columns = tuple(f"hash {j}" for j in range(WIDTH))
        if part[:2] != b"PK":
            return Raw(_hashed(decode(tables.unpacked(part), "This file")), None, columns)
        content = arrays(part, cls.title)
        counts, labels = content.get("X"), content.get("y")
        if counts is None or counts.ndim != 2 or counts.shape[1] != WIDTH or len(counts) < 2:
            shape = None if counts is None else counts.shape
            raise ValueError(f"X has shape {shape}, and n x {WIDTH} hashed counts were expected.")
        if counts.dtype.kind not in "uif" or not (counts == np.round(counts)).all():  # false for NaN
            raise ValueError("X must hold whole numbers: hash with norm=None.")
        if labels is not None and labels.shape != counts.shape[:1]:
            raise ValueError(f"y has shape {labels.shape}, and X has {len(counts):,} rows.")
        return Raw(counts.astype(np.int32), labels, columns)

    def default_row_bound(self, seed: int) -> float:
        """Return 1."""
        return 1.0

    def arrange(self, raw: Raw) -> dict:
        """Return the folded and divided rows, with labels."""
        n = len(raw.values)
        counts = raw.values.reshape(n, WIDTH // self.d, self.d).sum(axis=1).astype(np.float64)
        norms = np.linalg.norm(counts, axis=1, keepdims=True)
        if self.divide == LARGEST:
            norms = norms.max(keepdims=True)
        # Slightly inside the ball, so that no rounding moves a row beyond R = 1.
        rows = np.divide(counts, norms * (1 + 1e-14), out=np.zeros_like(counts), where=norms > 0)
        name = f"news ({n:,} documents)"
        return {"X": rows, "labels": raw.labels, "columns": raw.columns[: self.d], "name": name}


def _hashed(text: str) -> np.ndarray:
    """Hash the words of the documents, one per line."""
    documents = [line for line in text.splitlines() if line.strip()]
    if len(documents) < 2:
        raise ValueError(f"this file has {len(documents)} line of text; write one document per line.")
    if len(documents) > 200_000:
        raise ValueError(f"this file has {len(documents):,} documents, and the limit is 200,000.")
    from sklearn.feature_extraction.text import HashingVectorizer

    hashed = HashingVectorizer(n_features=WIDTH, norm=None, alternate_sign=True).transform(documents)
    return hashed.toarray().astype(np.int32)
