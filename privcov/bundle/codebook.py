"""What every measured column of a release is, in the owner's terms: from the declared facts alone."""

from __future__ import annotations

from privcov.bundle.safe import cell, cells
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers.kinds import CATEGORY, DATE, ORDINAL, YES_NO, Kind

HEADINGS = ("column", "declared as", "kind", "lowest", "highest", "typical", "levels", "missing codes")
_MIDDLE = "the middle"
RULES = {
    "typical": "A missing cell counts as the typical value of its column, in every number: means lean towards it.",
    "drop-row": "Rows with a missing cell are left out.",
    "pairs": "Missing cells are measured: every number is about the rows that have its columns.",
}


def codebook(facts: PublicFacts) -> list[tuple[str, ...]]:
    """Return a line for every measured column, under `HEADINGS`; numbers as short as they read back."""
    names = cells(facts.columns)
    if not facts.kinds:
        bounds = [("", "", "")] * facts.d
        if facts.bounds is not None:
            limits = zip(facts.bounds, facts.origin, strict=True)
            bounds = [(_short(low), _short(high), _short(origin)) for (low, high), origin in limits]
        return [(name, name, "number", *ends, "", "") for name, ends in zip(names, bounds, strict=True)]
    lines, at = [], 0
    for column, kind in facts.kinds:
        ends = _ends(kind)
        for k in range(kind.width):
            level = (kind.levels[k],) if kind.kind == CATEGORY else kind.levels
            if kind.kind in (YES_NO, ORDINAL):
                level = tuple(f"{number}: {name}" for number, name in enumerate(level, kind.kind == ORDINAL))
            suffix = ", in days since 1970-01-01" if kind.kind == DATE else f" {kind.transform or ''}".rstrip()
            words = [column, kind.kind + suffix, *ends, " | ".join(level)]
            lines.append((names[at], *map(cell, (*words, " | ".join(kind.missing_codes)))))
            at += 1
    return lines


def about_rows(facts: PublicFacts) -> list[str]:
    """Return the rules for every row: who is protected, missing cells, shortened rows."""
    share = facts.row_bound_fraction
    return [
        f"Protected: {facts.neighbours.sentence}.",
        RULES[facts.missing],
        *([f"Rows longer than {share:g} of the longest possible row are shortened to it."] if share < 1 else []),
    ]


def _ends(kind: Kind) -> tuple[str, str, str]:
    """Return the lowest, the highest and the typical value as they are declared."""
    if kind.kind == CATEGORY:
        return "", "", ""
    if kind.kind in (YES_NO, ORDINAL):
        return "", "", str(kind.typical or _MIDDLE)
    if kind.kind == DATE:
        return str(kind.low), str(kind.high), str(kind.typical or _MIDDLE)
    return _short(kind.low), _short(kind.high), _MIDDLE if kind.typical is None else _short(kind.typical)


def _short(value: object) -> str:
    return repr(float(str(value))).removesuffix(".0")
