"""A matrix as an image of one pixel per cell; the browser enlarges it without smoothing."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Still(NamedTuple):
    """A PNG file and its text alternative."""

    png: bytes
    alt: str


def colours_of(z: np.ndarray, low: float, high: float, scale: Sequence[tuple[float, str]]) -> np.ndarray:
    """h x w x 3 bytes. scale: (share of the range, #RRGGBB), rising; values beyond the range take its ends."""
    at = np.clip((z - low) / (high - low), 0, 1)
    stops = np.array([float(s) for s, _ in scale])
    colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for _, c in scale], dtype=np.float64)
    return np.stack([np.interp(at, stops, colours[:, k]) for k in range(3)], axis=-1).round().astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """h x w x 3 bytes as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
