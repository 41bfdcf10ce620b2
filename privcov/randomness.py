"""Random streams keyed by name.

A stream depends on the seed and on names (what it is for, which data, which method), never on the order of
calls. So adding a method changes no existing number, every method in a comparison sees the same rows, and
while only epsilon moves the unit noise draw stays the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from privcov import checks


def stream(seed: int, *names: Any) -> np.random.Generator:
    """A numpy Generator for (seed, names...). seed: whole number >= 0. Simulation only, not for releases."""
    seed = checks.whole("seed", seed, 0)
    words = "\x1f".join(map(str, names)).encode()
    key = int.from_bytes(hashlib.blake2b(words, digest_size=16).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
