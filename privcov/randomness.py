"""Random streams keyed by name: by the seed, the purpose, the data and the method, never by the order of calls.

So adding a method changes no number, all methods see the same rows, and the unit noise stays while epsilon changes.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from privcov import checks


def stream(seed: int, *names: Any) -> np.random.Generator:
    """Return a numpy Generator for the seed and the names. For simulations, never for private releases."""
    seed = checks.whole("seed", seed, 0)
    words = "\x1f".join(map(str, names)).encode()
    key = int.from_bytes(hashlib.blake2b(words, digest_size=16).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
