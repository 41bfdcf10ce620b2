"""What Published results shows, decided from the stored numbers and stored with the digest of what they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from privcov.core import paths
from replication import claims, shown
from replication.base import PUBLISHED, REPRODUCED

ABOUT = "version.json"


def digest(folder: Path = REPRODUCED) -> str:
    """Return the SHA-256 of everything that the conclusions rest on: printed and computed numbers."""
    whole = hashlib.sha256()
    for path in (*sorted(PUBLISHED.glob("*.csv")), *sorted(folder.glob("*.csv"))):
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def publish(folder: Path = REPRODUCED) -> Path:
    """Decide everything again and store what the page shows; return the folder."""
    place = paths.own_results("replication")
    for name, content in shown.files(folder, claims.rows(folder)).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, encoding="utf-8")
    (place / ABOUT).write_text(json.dumps({"digest": digest(folder)}, indent=1) + "\n", encoding="utf-8")
    return place
