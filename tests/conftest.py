"""Tests keep their finished sweeps in a folder of their own, so that no run reuses another's, nor the user's."""

import os
import tempfile

os.environ["PRIVCOV_CACHE_DIR"] = tempfile.mkdtemp(prefix="privcov-tests-")
