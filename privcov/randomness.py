"""Random streams keyed by name.

A stream depends on the seed and on names (its purpose, the data, the method), never on the order of calls. So adding a
method changes no existing number, every method in a comparison sees the same rows, and while only epsilon changes the
unit noise draw stays the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from privcov import checks


def stream(seed: int, *names: Any) -> np.random.Generator:
    """Return a numpy Generator for the seed and the names. For simulations, never for private releases.

    Examples
    --------
    >>> stream(0, "noise").integers(100, size=3).tolist()
    [99, 11, 86]
    """
    seed = checks.whole("seed", seed, 0)
    words = "\x1f".join(map(str, names)).encode()
    key = int.from_bytes(hashlib.blake2b(words, digest_size=16).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
