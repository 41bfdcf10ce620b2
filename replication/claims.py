"""Every claim of the five papers with a verdict: what is printed, as published by us, sound, and how it is decided.

The claims, in our words, are in data/published/claims.csv, each with what decides it (see `_WAYS`). No verdict is
written by hand.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product, takewhile
from pathlib import Path

import pandas as pd

from privcov.attacks import catalogue as guarantees
from privcov.attacks import claims as curves
from privcov.core import checks
from privcov.estimators.base import METHODS
from replication.base import LITERAL, PUBLISHED, REPRODUCED, SOUND
from replication.catalogue import CHECKS, run_check
from replication.sentences import COUNTS, PRINTED
from replication.theorems.bounds import judge

HOLDS, WEAKER, FAILS = "holds", "weaker than claimed", "does not hold"
WHEN_SOUND, AS_PUBLISHED = "holds when sound only", "holds as published only"
CORRECTED = "holds after a correction"
WORTHLESS = "holds, and is worth nothing"
NOT_THEIRS, PROVED, OPEN, NOTHING = "not tested on their data", "proved", "not examined", "not computed yet"
VERDICTS = (
    HOLDS, PROVED, CORRECTED, WORTHLESS, WHEN_SOUND, AS_PUBLISHED, WEAKER, FAILS, NOT_THEIRS, OPEN, NOTHING,
)  # fmt: skip
GOOD = (HOLDS, PROVED, CORRECTED)
SLIGHTLY, MODESTLY = 1.1, 1.5  # factors of the error, per doubling
ENOUGH, SOME = 0.9, 0.6  # share of the comparisons with which a sentence holds, or is weaker than claimed
NO_SIDE = "-"
# Where a guarantee is judged: every epsilon of its own range, with every delta and every (n, d).
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DELTAS = (1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
SIZES = ((2, 2), (1000, 20), (1000, 200))
_TOLD = (1e-3, 1e-6)  # deltas at which a reader is told how far it holds


@dataclass(frozen=True)
class Claim:
    """One sentence, theorem or algorithm of a paper, in our words. ``how`` is a way to decide it and its argument."""

    key: str
    paper: int
    place: str
    kind: str
    short: str
    printed: str
    how: str
    note: str

    @property
    def command(self) -> str:
        """The command that decides it."""
        return f"python -m replication claim {self.key}"


@dataclass(frozen=True)
class Row:
    """A claim with its verdict, what the printed numbers, ours and the sound ones say, and what was found.

    ``where`` says where a guarantee holds that does not hold everywhere.
    """

    claim: Claim
    verdict: str
    printed: str = NO_SIDE
    ours: str = NO_SIDE
    sound: str = NO_SIDE
    evidence: str = ""
    where: str = ""


def claims() -> list[Claim]:
    """Return every claim, the main claim of Mathematics 2023 first."""
    texts = pd.read_csv(PUBLISHED / "claims.csv", dtype=str, keep_default_na=False)
    return [Claim(**(row | {"paper": int(row["paper"])})) for row in texts.to_dict("records")]


def rows(folder: Path = REPRODUCED) -> list[Row]:
    """Return the table of claims as the stored numbers decide it."""
    with _exchanged(folder) as other:
        return [_row(claim, folder, other) for claim in claims()]


def row(key: str, folder: Path = REPRODUCED) -> Row:
    """Return one row of the table."""
    known = {claim.key: claim for claim in claims()}
    claim = known[checks.one_of("claim", key, tuple(known))]
    with _exchanged(folder) as other:
        return _row(claim, folder, other)


def frame(table: list[Row]) -> pd.DataFrame:
    """Return the rows as the page and the archive have them."""
    return pd.DataFrame(
        [
            {
                "key": one.claim.key,
                "paper": one.claim.paper,
                "place": one.claim.place,
                "kind": one.claim.kind,
                "claim": one.claim.printed,
                "printed": one.printed,
                "as published": one.ours,
                "sound": one.sound,
                "verdict": one.verdict,
                "evidence": one.evidence,
                "note": one.claim.note,
                "command": one.claim.command,
            }
            for one in table
        ]
    )


def counted(verdicts: list[str]) -> str:
    """Return how often each verdict was given, in words."""
    counts = ((word, verdicts.count(word)) for word in VERDICTS)
    return "; ".join(f"{word} {count}" for word, count in counts if count)


# --- the ways to decide --------------------------------------------------------------------------------------


def state(held: int, of: int) -> str:
    """Return `HOLDS`, `WEAKER` or `FAILS` of a count, or "" of none."""
    if not of:
        return ""
    return HOLDS if held >= ENOUGH * of else WEAKER if held >= SOME * of else FAILS


def verdict_of(ours: str, sound: str) -> str:
    """Return the verdict of two states; either may be "". It is that as published, but where the sound one turns it."""
    if not ours:
        return sound or NOTHING
    if ours == HOLDS and sound == FAILS:
        return AS_PUBLISHED
    return WHEN_SOUND if ours == FAILS and sound == HOLDS else ours


def _row(claim: Claim, folder: Path, exchanged: Path) -> Row:
    way, _, argument = claim.how.partition(":")
    return _WAYS[way](claim, argument, folder, exchanged)


def _count(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by the share of comparisons that hold."""
    found = COUNTS[argument](folder=folder)
    sides = {side: found.counts.get(side, (0, 0)) for side in (PRINTED, LITERAL, SOUND)}
    states = {side: state(*counts) for side, counts in sides.items()}
    word = verdict_of(states[LITERAL], states[SOUND])
    if word == NOTHING:
        word = states[PRINTED] or NOTHING
    words = {side: f"{held} of {of}" if of else NO_SIDE for side, (held, of) in sides.items()}
    evidence = f"Comparisons that hold in {', '.join(found.tables)}."
    return Row(claim, word, words[PRINTED], words[LITERAL], words[SOUND], evidence)


_SAYS = {True: "yes", False: "no", None: NO_SIDE}


def _check(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by a check that asks whether the claim holds, and by the same check of the sound numbers."""
    ours, sound = run_check(argument, folder), run_check(argument, exchanged)
    words = {True: HOLDS, False: FAILS, None: ""}
    verdict = verdict_of(words[ours.holds], words[sound.holds])
    return Row(claim, verdict, NO_SIDE, _SAYS[ours.holds], _SAYS[sound.holds], ours.verdict)


def _doubt(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by a check of a suspicion: the claim fails where it is borne out."""
    found = run_check(argument, folder)
    doubted = None if found.holds is None else not found.holds
    word = {True: HOLDS, False: FAILS, None: NOTHING}[doubted]
    return Row(claim, word, _SAYS[doubted], evidence=f"{found.question} {found.verdict}")


def _stand_in(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Show a check that was made on other data than the paper's, without a verdict on the paper."""
    found = _check(claim, argument, folder, exchanged)
    word = NOTHING if found.verdict == NOTHING else NOT_THEIRS
    return Row(claim, word, found.printed, found.ours, found.sound, found.evidence)


def _slip(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by a check of a sentence that has its direction wrong by a slip: the opposite is what is meant."""
    found = _check(claim, argument, folder, exchanged)
    return replace(found, verdict=CORRECTED) if found.verdict == FAILS else found


def _doubling(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by the factor of the error per doubling of p, from a ratio between p = 50 and 500."""
    found = run_check(argument, folder)
    factors = [
        found.numbers.get(f"ratio of the ends, {variant}", math.nan) ** (1 / math.log2(10))
        for variant in (LITERAL, SOUND)
    ]
    states = ["" if math.isnan(x) else HOLDS if x <= SLIGHTLY else WEAKER if x <= MODESTLY else FAILS for x in factors]
    ours, sound = (NO_SIDE if math.isnan(x) else f"{x:.2f} times a doubling" for x in factors)
    return Row(claim, verdict_of(states[0], states[1]), NO_SIDE, ours, sound, found.verdict)


def _bound(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by simulation; a second key is that of the bound after a correction."""
    first, *mended = (judge(key, folder) for key in argument.split())
    if first.holds is None:
        return Row(claim, NOTHING)
    words = f"{first.words}{' It is loose.' if first.holds and first.loose else ''}"
    if first.holds or not mended:
        return Row(claim, HOLDS if first.holds else FAILS, NO_SIDE, _SAYS[first.holds], evidence=words)
    better = mended[0]
    word = CORRECTED if better.holds else FAILS
    return Row(claim, word, NO_SIDE, "no", evidence=f"{words} Corrected: {better.words}")


def _audit(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    """Decide by the exact curves at every point of the grid; a preparing step by the tables shown against it."""
    known = {one.key: one for one in guarantees.CLAIMS}
    if argument not in known:
        [found] = [line for line in guarantees.definition_rows(1000) if line["Mechanism"] == argument]
        return Row(claim, WORTHLESS, found["Claim"], found["Verdict"], evidence=found["Why"])
    asked = known[argument]
    card = METHODS.get(asked.method)
    has = card.standing if "sound" in card.calibrations else "no sound form"
    if asked.change is not None:
        found = curves.row(asked, 1.0, 1e-3, 1000, 20)
        ours = f"{found['Verdict']}: epsilon {found['True epsilon at delta']:.3g}"
        evidence = f"{asked.why} Asked for {found['Claim']}, n = 1,000, d = 20."
        return Row(claim, FAILS, found["Claim"], ours, has, evidence)
    epsilons = [epsilon for epsilon in EPSILONS if epsilon <= asked.most_epsilon]
    deltas = DELTAS[:1] if asked.kind == "pure" else DELTAS
    held = [curves.holds(asked, *at, n, d) for at in product(epsilons, deltas) for n, d in SIZES]
    where = "" if all(held) or not any(held) else f"up to {' and '.join(_reach(asked, delta) for delta in _TOLD)}"
    word = WEAKER if where else HOLDS if all(held) else FAILS
    grid = f"epsilon {epsilons[0]:g} to {epsilons[-1]:g}"
    if len(deltas) > 1:
        grid += f", delta {deltas[0]:g} to {deltas[-1]:g}"
    evidence = f"{asked.why} Counted: points of a grid, {grid}.{f' It holds {where}.' if where else ''}"
    return Row(claim, word, NO_SIDE, f"{sum(held)} of {len(held)}", has, evidence, where)


def _reach(asked: guarantees.Claim, delta: float) -> str:
    return f"epsilon {up_to(asked, delta):g} at delta {delta:g}"


def up_to(asked: guarantees.Claim, delta: float) -> float:
    """Return the largest epsilon, in hundredths, up to which a guarantee holds at delta; 0 where it fails at once."""
    steps = (k / 100 for k in range(5, round(100 * asked.most_epsilon) + 1))
    return max(takewhile(lambda epsilon: curves.holds(asked, epsilon, delta, 1000, 20), steps), default=0.0)


def _proof(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    return Row(claim, PROVED, evidence=f"See {argument}.")


def _none(claim: Claim, argument: str, folder: Path, exchanged: Path) -> Row:
    return Row(claim, OPEN)


_WAYS: Mapping[str, Callable[[Claim, str, Path, Path], Row]] = {
    "count": _count, "check": _check, "doubt": _doubt, "stand-in": _stand_in, "slip": _slip, "doubling": _doubling,
    "bound": _bound, "audit": _audit, "proof": _proof, "none": _none,
}  # fmt: skip


@contextmanager
def _exchanged(folder: Path) -> Iterator[Path]:
    """Give a copy of the computed tables in which the sound numbers stand in place of those as published.

    A check that judges the numbers as published then judges the sound ones, by the same rule.
    """
    names = {LITERAL: SOUND, SOUND: LITERAL}
    with tempfile.TemporaryDirectory(prefix="privcov-") as other:
        for key in {table for question in CHECKS.values() for table in question.tables}:
            path = folder / f"{key}.csv"
            if path.exists():
                cells = pd.read_csv(path, dtype=str, keep_default_na=False)
                cells.assign(variant=cells["variant"].map(names)).to_csv(Path(other) / path.name, index=False)
        yield Path(other)
