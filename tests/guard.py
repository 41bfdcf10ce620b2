"""Whether every method, source, kind of guarantee and relation gives the same bits as at another commit.

``python -m tests.guard COMMIT`` computes both here, on this machine, and prints what differs. It goes when the fourth
house stands.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def numbers() -> dict[str, str]:
    """A hash, or the refusal, of each source's rows and of each release of two small tables."""
    import privcov
    from privcov.data_sources.base import SOURCES, make_dataset
    from privcov.estimators.base import METHODS

    def digest(*arrays) -> str:
        return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:16]

    found = {}
    for card in SOURCES.all():
        if card.group == "Papers' own data":  # not on every machine
            continue
        found[f"source {card.key}"] = digest(make_dataset(card.cls(), seed=3).rows)
    tables = {
        "simulated": privcov.source("ar1-covariance", n=300, d=6, random_state=1),
        "precision": privcov.source("precision-ar2", n=400, d=5, random_state=1),
        "public": privcov.source("wine"),
    }
    levels = {
        "pure": privcov.PureDP(epsilon=2.0),
        "approx": privcov.ApproxDP(epsilon=2.0, delta=1e-6),
        "zcdp": privcov.ZCDP(rho=0.5),
    }
    for card in METHODS.all():
        for where, data in tables.items():
            for kind, level in levels.items():
                for relation in card.relations:
                    try:
                        rel = privcov.release(data, level, card.key, random_state=5, neighbours=relation)
                        seen = digest(rel.matrix)
                    except (ValueError, ArithmeticError) as problem:
                        seen = f"{type(problem).__name__}: {problem}"
                    found[f"{card.key} {where} {kind} {relation}"] = seen
    return found


def at(folder: Path) -> dict[str, str]:
    """The numbers of a checkout, in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n__file__ = {__file__!r}\nexec(open(__file__).read())"
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


if __name__ == "__main__" and len(sys.argv) == 2:
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", tree, sys.argv[1]], check=True)
        try:
            before, now = at(tree), at(ROOT)
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)
    for name in sorted(now):
        if before.get(name) != now[name]:
            print(name, before.get(name), now[name], sep=" | ")
    same = sum(before.get(name) == seen for name, seen in now.items())
    print(f"{same} of {len(now)} are the same, and {len(before.keys() - now.keys())} were cut")
elif __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(numbers()))
