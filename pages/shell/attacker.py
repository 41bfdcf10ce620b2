"""The attacker meter in one line, for beside an epsilon that is being chosen."""

from __future__ import annotations

from collections.abc import Iterable

from pages.shell import cached, frame, show
from pages.shell.study import Study
from privcov.privacy import Guarantee


def line(guarantee: Guarantee, label: str = "Attacker") -> None:
    """What the guarantee alone leaves the best possible attacker; the noise of a method may leave less."""
    show.attacker_line(cached.attacker_success(guarantee), frame.palette(), label)


def lines(study: Study, levels: Iterable[float]) -> None:
    """One line per level of the study's epsilon or rho."""
    for level in sorted(levels):
        line(study.at(level).guarantee, f"{study.lever} = {level:.3g}")


def span(guarantees: Iterable[Guarantee]) -> None:
    """The strongest and the weakest of many guarantees, of those that are any."""
    given = sorted({g for g in guarantees if g.kind != "none"}, key=cached.attacker_success)
    for guarantee in dict.fromkeys((*given[:1], *given[-1:])):
        line(guarantee, str(guarantee))
