"""The sums of a private table in files, computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from privcov.measurements.exact.integer_gram import ANCHOR
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts

if TYPE_CHECKING:  # the readers of files are loaded where a file is read, not where a stored sum is
    from privcov.measurements.exact.file_pass.table_sums import ExactSums


class Pass(NamedTuple):
    """A pass over the files of a private table: its facts, the secrets of the ledger, the anchor, and the sums."""

    facts: PublicFacts
    secrets: tuple[int, ...] | None
    anchor: int
    sums: ExactSums


def sums_of(private: PrivateDataset, secrets: tuple[int, ...] | None = None, anchor: int | None = None) -> ExactSums:
    """Return the exact sums of a private table in files, computed by its one pass and kept: NOT private.

    The ledger's fingerprint asks for them before the exact measurement, so a release reads the files once.
    """
    from privcov.measurements.exact.file_pass.table_pass import add_up
    from privcov.measurements.exact.file_pass.table_sums import SumSpec

    files, facts = private.files, private.facts
    assert files is not None, "rows in memory are summed from themselves"
    last: Pass | None = files.private_pass
    if anchor is None or not facts.person:  # without weights the anchor is multiplied with sums of rows
        anchor = ANCHOR if last is None else last.anchor
    # Sums under other facts, such as another bound, would have another sensitivity.
    if last is not None and last.facts is facts and last.anchor == anchor and secrets in (None, last.secrets):
        return last.sums
    again = last is not None and secrets is None and last.facts is not facts  # under another row bound
    spec = SumSpec(
        facts.columns,
        files.table.label,
        facts.classes,
        facts.units,
        facts.missing == "drop-row",
        facts.flagged,
        last.secrets if again and last is not None else secrets,
        facts.person,
        anchor,
        kinds=facts.kinds,
    )
    sums = add_up(files, spec)
    if again and last is not None:
        if sums.marks == last.sums.marks:
            return sums
        from privcov.tables.readers import TableFileError

        raise TableFileError("The files changed since the pass before: their cells are others. Open them again.")
    if last is None or last.secrets is None or secrets is not None:  # one with secrets also serves who gives none
        files.private_pass = Pass(facts, secrets, anchor, sums)
    return sums
