"""Tests keep their finished sweeps in a folder of their own, so that no run reuses another's, nor the user's.

Linear algebra gets one thread: tests that run side by side would wait for each other's. No token is asked for on the
data owner's page; tests/pages/test_owner_token.py and tests/browser/test_token.py are about that one.
"""

import os
import tempfile

os.environ["PRIVCOV_CACHE_DIR"] = tempfile.mkdtemp(prefix="privcov-tests-")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PRIVCOV_TOKEN"] = "off"
