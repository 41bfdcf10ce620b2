"""What Published results shows, decided from the stored numbers and stored with the digest of what they are."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pandas as pd

from privcov import places
from replication import claims, shown
from replication.base import PUBLISHED, REPRODUCED
from replication.shown import CLAIMS

ABOUT = "version.json"


def digest(folder: Path = REPRODUCED) -> str:
    """Return the SHA-256 of everything that the conclusions rest on: printed and computed numbers."""
    whole = hashlib.sha256()
    for path in (*sorted(PUBLISHED.glob("*.csv")), *sorted(folder.glob("*.csv"))):
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def kept_claims(folder: Path = REPRODUCED) -> list[claims.Row] | None:
    """Return the stored table of claims; None where the numbers it was decided from have changed since."""
    place = places.results("replication")
    about = place / ABOUT
    if not about.is_file() or json.loads(about.read_text(encoding="utf-8"))["digest"] != digest(folder):
        return None
    return read_claims((place / CLAIMS).read_text(encoding="utf-8"))


def read_claims(text: str) -> list[claims.Row]:
    """Return the table of claims from the text of its file, which the same version wrote."""
    known = {claim.key: claim for claim in claims.claims()}
    return [
        claims.Row(
            known[line["key"]], line["verdict"], line["printed"], line["as published"], line["sound"], line["evidence"]
        )
        for line in pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False).to_dict("records")
    ]


def publish(folder: Path = REPRODUCED) -> Path:
    """Decide everything again and store what the page shows; return the folder."""
    place = places.own_results("replication")
    for name, content in shown.files(folder, claims.rows(folder)).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, encoding="utf-8")
    (place / ABOUT).write_text(json.dumps({"digest": digest(folder)}, indent=1) + "\n", encoding="utf-8")
    return place
