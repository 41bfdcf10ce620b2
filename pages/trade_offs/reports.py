"""What the tabs of Trade-offs take home: the first side of each report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pages.shell import cached, own_range, take_home
from pages.shell import script as python_script
from pages.shell.study import Study
from pages.trade_offs.sweep import Sweep
from privcov.advice import ask
from privcov.advice.answer import UNKNOWN, Question, structure_label
from privcov.audit import disclosure
from privcov.audit.risk import trade_off_of_method
from privcov.dataset import Dataset
from privcov.figures.look import Picture
from privcov.figures.palette import LIGHT, Palette
from privcov.figures.words import percent, plain, raised
from privcov.privacy import Guarantee, NoPrivacy

if TYPE_CHECKING:
    from privcov.bundle.front import Front

Drawn = Callable[[Palette], Picture]
_STORED = "simulated for the stored evidence; no row of yours is read"


# --- the answer ---------------------------------------------------------------------------------------------


def of_answer(reply: ask.Reply, study: Study, data: Dataset, chart: Drawn, *, fresh: bool) -> None:
    """Show what the answer above the tabs takes home; ``chart`` draws its figure."""
    question = reply.advice.question
    own, range_words = cached.in_session(study), own_range.sentence(data)

    def front() -> Front:
        from privcov.bundle import front as fronts

        risk = disclosure.suspicion(trade_off_of_method(reply.line.key, reply.guarantee))
        facts = _facts(reply)
        if reply.releases:
            numbers = f"{reply.releases} releases; {f'{reply.draws} draws of the rows' if fresh else 'the same rows'}"
            facts = [
                *fronts.assumptions_of(data, reply.guarantee, take_home.seeds(study, data)), ("Error", numbers)
            ]  # fmt: skip
        first = fronts.Front(
            ask.sentence(reply), _advised(reply), risk, facts, chart(LIGHT),
            f"Stored simulations: mean error of the recommended method and of the next ones against "
            f"{ask.level_name(reply)}, where it is largest; the dot is the answer.",
        )  # fmt: skip
        return own_range.marked(first, range_words)

    def behind() -> pd.DataFrame:
        return pd.DataFrame(
            {
                "answer": line.label,
                "largest relative error": max(a.error for a in line.answers.values()),
                "at most so many times the best": line.worst,
            }
            for line in reply.advice.ranking
        )

    take_home.result(
        "answer", f"Which {ask.level_name(reply)}, and how far off", front,
        provenance=data.provenance.capitalize() if reply.releases else "Simulated",
        subject=f"{question.n:,} rows, {question.d} columns", behind=behind,
        script=script(reply, study, data, fresh=fresh), label="Take home this answer", words=ask.notes(reply),
        notes=[*reply.advice.verdict[1:], "The table is interpolated between stored runs on simulated rows."],
        declared=data.provenance == "public" and own, where="" if own else None,
    )  # fmt: skip


def _advised(reply: ask.Reply) -> str:
    """Return what to do."""
    name = ask.level_name(reply)
    if not reply.reached:
        return "Ask for a larger error, or get more rows: no guarantee that was measured is enough."
    if not reply.advice.pick:
        return f"Nothing is clearly better than a trivial answer here: do not spend {name} = {reply.level:g} on it."
    return f"Use {reply.line.label} at {name} = {reply.level:g}; try it on simulated rows before a release."


def _facts(reply: ask.Reply) -> list[tuple[str, str]]:
    """Return what the answer rests on."""
    question = reply.advice.question
    known = "nothing" if question.structure == UNKNOWN else structure_label(question.target, question.structure)
    return [
        ("Rows and columns", f"n = {question.n:,}, d = {question.d}"),
        ("Bounds", "the usual row bound of the evidence"),
        ("Guarantee", raised(str(reply.guarantee))),
        ("Known of the structure", known),
        ("Rows", _STORED),
        ("Seed", "that of the stored evidence"),
    ]


def script(reply: ask.Reply, study: Study, data: Dataset, *, fresh: bool) -> str:
    """Return source text whose variable ``reply`` is the answer."""
    question = reply.advice.question
    given = ", ".join(
        f"{f.name}=privcov.{value!r}" if f.name == "guarantee" else f"{f.name}={value!r}"
        for f in dataclasses.fields(Question)
        for value in [getattr(question, f.name)]
        if value != f.default
    )
    call = "how_far(question)" if reply.wanted is None else f"which_level(question, {reply.wanted!r})"
    lines = [
        "import privcov",
        "from privcov.advice import ask, live",
        "from privcov.advice.answer import Question",
        "",
        f"question = Question({given})",
        f"reply = ask.{call}",
    ]
    if reply.releases and fresh:
        lines += [
            "",
            "from privcov.data_sources.base import SOURCES, make_dataset",
            "",
            f"source = SOURCES.get({study.source_key()!r}).cls(**{dict(study.data)!r})",
            "",
            "",
            "def rows(replicate):",
            f"    return make_dataset(source, seed={study.rows}, repeat=replicate, row_bound={data.row_bound!r})",
            "",
            "",
        ]
    elif reply.releases:
        lines += ["", *python_script.rows(study, data), "", "", "def rows(replicate):", "    return ds", "", ""]
    if reply.releases:
        numbers = f"seed={study.rows}, releases={reply.releases}, draws={reply.draws}"
        lines.append(f"reply = live.measured(reply, rows, {numbers})")
    return "\n".join([*lines, "print(ask.sentence(reply))"])


# --- curves -------------------------------------------------------------------------------------------------


def _listed(guarantees: Sequence[Guarantee | NoPrivacy]) -> str:
    """Return guarantees in words; of many, the first and the last."""
    names = [raised(str(g)) for g in guarantees if not isinstance(g, NoPrivacy)]
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]}, {len(names)} in all"


def of_curves(
    sweep: Sweep, summary: pd.DataFrame, data: Dataset, *, provenance: str, where: str,
    picture: Drawn, caption: str, script: str, finished: bool,
) -> None:  # fmt: skip
    """Show what the curves take home, without the script where they were stopped before the end."""
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

    take_home.result(
        "", f"Trade-offs: {sweep.title}", front, provenance=provenance,
        subject=f"{where}; {sweep.replicates} replicates",
        behind=lambda: summary.drop(columns="key").rename(columns={"x": axis}), script=script if finished else "",
        declared=provenance == "Public" and own, where="" if own else None,
    )  # fmt: skip


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
