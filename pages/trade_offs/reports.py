"""The report of the curves of Trade-offs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pages.common import own_range, show, take_home
from pages.trade_offs.sweep import Sweep
from privcov.core.guarantees import Guarantee, NoPrivacy
from privcov.plots.look import Picture
from privcov.plots.palette import LIGHT, Palette
from privcov.plots.words import percent, plain, raised
from privcov.tables.dataset import Dataset

if TYPE_CHECKING:
    from privcov.bundle.front import Front

Drawn = Callable[[Palette], Picture]


def _listed(guarantees: Sequence[Guarantee | NoPrivacy]) -> str:
    """Return guarantees in words; of many, the first and the last."""
    names = [raised(str(g)) for g in guarantees if not isinstance(g, NoPrivacy)]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]}, {len(names)} in all"


def of_curves(
    sweep: Sweep, summary: pd.DataFrame, data: Dataset, *, provenance: str, where: str,
    picture: Drawn, caption: str, script: str, finished: bool,
) -> None:  # fmt: skip
    """Show the report of the curves, without the script where they were stopped before the end."""
    private = summary[~summary["series"].str.endswith("no noise")]
    own, range_words = sweep.plan is None, own_range.sentence(data)
    axis = sweep.x_label.split(" (")[0]

    def front() -> Front:
        from privcov.bundle import front as fronts

        guarantees = list(dict.fromkeys(sweep.guarantees))
        answer, advised = _smallest(private, sweep.metric, axis)
        seed = str(sweep.plan.seed if sweep.plan else sweep.on_rows["seed"])
        facts = fronts.assumptions_of(data, _listed(guarantees), seed)
        varies = f"{axis} from {plain(float(private['x'].min()))} to {plain(float(private['x'].max()))}"
        first = fronts.Front(
            answer, advised, fronts.odds(guarantees),
            [*facts, ("Varies", f"{varies}; {sweep.replicates} replicates")], picture(LIGHT), caption,
        )  # fmt: skip
        return own_range.marked(first, range_words)

    again = "" if own else take_home.address()

    def report_text() -> str:
        from privcov.bundle import report

        return report.of_curves(
            f"Trade-offs: {sweep.title}", provenance, f"{where}; {sweep.replicates} replicates",
            summary.drop(columns="key").rename(columns={"x": axis}), declared=provenance == "Public" and own,
            script=script if finished else "", address=again, front=front(),
        )  # fmt: skip

    show.download("Report as HTML", report_text, "report.html", "download-report", take_home.HTML)


def _smallest(private: pd.DataFrame, metric: str, axis: str) -> tuple[str, str]:
    """Return the point with the smallest mean error in a sentence, and what to do."""
    from privcov.bundle.front import HOPELESS

    if not private["mean"].notna().any():
        return "No private run gave a number.", "Read in the table why, and change the set-up."
    best = private.loc[private["mean"].idxmin()]
    relative = metric.startswith("relative-")
    amount = percent(best["mean"]) if relative else plain(best["mean"])
    answer = f"The smallest mean error is {amount}: {best['series']} at {axis} = {plain(best['x'])}."
    if relative and best["mean"] >= 1:
        return answer, HOPELESS
    first = private.loc[private.groupby("x")["mean"].idxmin().dropna(), "series"].value_counts()
    least = f"{first.index[0]} has the smallest mean error at {first.iloc[0]} of {first.sum()} values"
    return answer, f"{least}; where the bands of two methods overlap, choose by other reasons than the error."
