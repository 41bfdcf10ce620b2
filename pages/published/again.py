"""Compute some cells of a printed table again, here or from a shell, and open their setting on other pages."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from pages.shell import address, frame, take_home
from pages.shell.papers import place_in
from pages.shell.study import Study
from privcov import places
from privcov.figures.words import plain
from privcov.papers import reproduce
from privcov.papers.base import KEYS, LITERAL, Table, computed, printed
from privcov.papers.mdpi2023 import tables as mdpi
from privcov.papers.su2019 import tables as su
from privcov.papers.verdicts import cell_name
from privcov.privacy import ApproxDP, Guarantee, NoPrivacy, PureDP

if TYPE_CHECKING:
    from privcov.bundle.front import Front

RUNS, SEED = 3, 7  # another seed than the stored runs: an independent repetition


def section(table: Table) -> None:
    """Show a point and a version to compute, and the stored numbers beside the new ones."""
    with st.container(border=True):
        first, second, third, fourth = st.columns([3, 2, 1.2, 1.6], vertical_alignment="bottom")
        points = {point.name: point for point in table.points}
        name = address.bound(
            first.selectbox, "Cells", list(points), name="point", default=next(iter(points)),
            key=f"published.{table.key}.point", clears=("variant",),
        )  # fmt: skip
        point = points[name]
        variant = address.bound(
            second.segmented_control, "Version", point.variants, name="variant", default=point.variants[0],
            required=True, key=f"published.{table.key}.variant",
        )  # fmt: skip
        runs = address.bound(
            third.number_input, "Runs", 1, 20, name="runs", default=RUNS if table.key != "2-table-2" else 1,
            key=f"published.{table.key}.n",
        )  # fmt: skip
        asked = fourth.button("Compute", type="primary", width="stretch", key=f"published-run-{table.key}")
        if table.key == "2-table-2" and variant == LITERAL:
            st.caption("About ten seconds a run.")
    kept = f"published.{table.key}.made"
    if asked:
        with st.spinner("Computing ..."):
            step = reproduce.Step(table, point, variant, int(runs))
            st.session_state[kept] = (name, variant, reproduce.compute(step, SEED), step)
    if kept in st.session_state and st.session_state[kept][:2] == (name, variant):
        *_, rows, step = st.session_state[kept]
        both = _beside(table, rows, variant)
        _take_home(step, rows, both)
    st.markdown("In a shell, which can be stopped and goes on:")
    st.code(f"{places.command()} reproduce --preset full {table.key}", language="bash")
    _links(table)


def _beside(table: Table, rows: list[dict], variant: str) -> pd.DataFrame:
    """Show the new numbers beside the stored ones; return what is shown."""
    new = pd.DataFrame(rows)
    for column in ("value", "sd"):
        new[column] = pd.to_numeric(new[column], errors="coerce")
    old = computed(table)
    old = old[old["variant"] == variant]
    both = new.merge(old, on=[*KEYS, "metric"], how="left", suffixes=("", " stored"))
    shown = pd.DataFrame(
        {
            "Cell": [cell_name(row) for _, row in both.iterrows()],
            "Now": [_with_error(*row) for row in zip(both["value"], both["sd"], both["replicates"], strict=True)],
            "Stored": [
                _with_error(*row)
                for row in zip(both["value stored"], both["sd stored"], both["replicates stored"], strict=True)
            ],
            "Why no number": both["problem"],
        }
    )
    st.dataframe(shown, hide_index=True, width="stretch")
    st.caption(f"Seed {SEED} now, {reproduce.SEED} stored: independent. ± is a standard error.")
    return shown


def _take_home(step: reproduce.Step, rows: list[dict], shown: pd.DataFrame) -> None:
    """Show what the new numbers take home; ``shown`` is the table on the page."""
    from privcov.bundle.notebook import Shown

    there = [k for k, row in enumerate(rows) if str(row["value"])]
    claims = guarantees_of(rows)

    def front() -> Front:
        from privcov.bundle import front as fronts

        first = f"; {shown['Cell'][there[0]]} is {shown['Now'][there[0]]} now and was {shown['Stored'][there[0]]}"
        published = step.variant != "sound"
        return fronts.Front(
            f"{len(there)} of {len(rows)} cells gave a number{first if there else ''}.",
            "Compare with the paper only: the guarantee as published may not hold."
            if published
            else "Trust the sound numbers; differences within two standard errors are chance.",
            ("If the published guarantee holds. " if published else "") + fronts.odds(claims or [NoPrivacy()]),
            [
                ("Rows and columns", "n = " + _each(rows, "n") + ", d = " + _each(rows, "d")),
                ("Bounds", "those of the paper"),
                ("Guarantee", ", ".join(map(str, claims)) or "none"),
                ("Rows", "simulated" if not rows[0]["data"] else f"public: {rows[0]['data']}"),
                ("Seed", f"{SEED}; {step.replicates} runs"),
            ],
        )

    script = "\n".join(
        [
            "from privcov.papers import reproduce",
            "from privcov.papers.catalogue import TABLES",
            "",
            f"table = TABLES[{step.table.key!r}]",
            f"point = next(p for p in table.points if p.name == {step.point.name!r})",
            f"rows = reproduce.compute(reproduce.Step(table, point, {step.variant!r}, {step.replicates}), {SEED})",
            "for row in rows:",
            '    print(row["method"], row["metric"], row["value"])',
        ]
    )
    take_home.result(
        "published",
        f"{place_in(step.table.paper, step.table.where)}: {step.point.name}",
        "What comes out when the cells are computed again?",
        front,
        provenance="Simulated" if not rows[0]["data"] else "Public",
        subject=f"{step.variant}, {step.replicates} runs, seed {SEED}",
        behind=lambda: shown,
        script=script,
        shown=[
            Shown(f"{k + 1}: {shown['Cell'][k]}", f'float(rows[{k}]["value"])', float(rows[k]["value"])) for k in there
        ],
        notes=["± is a standard error. Now and stored have independent rows and noise."],
    )


def guarantees_of(rows: list[dict]) -> list[Guarantee]:
    """Return the guarantees of reproduced cells, each once."""
    found: list[Guarantee] = []
    for row in rows:
        if row["epsilon"]:
            words = str(row["delta"])
            delta = 1 / int(row["n"]) if words == "1/n" else float(Fraction(words or 0))
            found.append(ApproxDP(float(row["epsilon"]), delta) if delta else PureDP(float(row["epsilon"])))
    return list(dict.fromkeys(found))


def _each(rows: list[dict], name: str) -> str:
    """Return the different values of a column in words."""
    return ", ".join(dict.fromkeys(str(row[name]) for row in rows if row[name])) or "as in the paper"


def _with_error(value: float, sd: float, runs: float) -> str:
    """Return a value with its standard error, as text."""
    if pd.isna(value):
        return "no number"
    return plain(value) + ("" if pd.isna(sd) else f" ± {plain(sd / runs**0.5)}")


def _links(table: Table) -> None:
    """Show links to the pages where the setting of a cell can be changed by hand."""
    left, right = st.columns(2)
    with right:
        to_trade_offs(table, "Open the table in Trade-offs")
    cells_printed = printed(table)
    cells = {
        cell_name(row): study
        for _, row in cells_printed.drop_duplicates(["model", "n", "d", "epsilon", "delta", "method"]).iterrows()
        if (study := study_of(table, row)) is not None
    }
    if cells:
        with left:
            name = address.bound(
                st.selectbox, "A cell's setting", list(cells), name="cell", default=next(iter(cells)),
                key=f"published.{table.key}.cell",
            )  # fmt: skip
            frame.link("pages/1_Estimate.py", "Open it in Estimate", cells[name])


def study_of(table: Table, row) -> Study | None:
    """Return the setting of a printed cell as a study, with the published calibration.

    None where the workbench has no such setting.
    """
    n = int(row["n"]) if row["n"] else 0
    level: dict[str, Any] = {"kind": "approx", "epsilon": float(row["epsilon"])} if row["epsilon"] else {}
    if table.paper == 2:
        calibration = {"2-table-1": "as-published", "2-table-2": "as-published-2"}[table.key]
        method = {"2-table-1": "ridge-precision", "2-table-2": "glasso-gaussian"}[table.key]
        source, fixed = su.MODELS[row["model"]], ()
    elif table.paper == 4 and row["model"]:
        calibration, method = "as-published", mdpi.METHODS[row["method"]]
        source, more = mdpi.MODELS[row["model"]]
        fixed = (*more.items(), ("family", row["law"]))
    else:
        return None
    delta = 1 / n if row["delta"] == "1/n" else float(Fraction(row["delta"]))
    data = (("n", n), ("d", int(row["d"])), *fixed)
    return Study(source=source, data=data, method=method, calibration=calibration, delta=delta, **level)


def to_trade_offs(table: Table, label: str) -> None:
    """Show a button to the same table or figure as a preset, where there is one."""
    if not table.preset:
        return
    if st.button(label, key=f"published-trade-{table.key}", width="stretch"):
        query = frame.query_for("pages/2_Trade_offs.py", None, {"preset": table.preset})
        st.switch_page("pages/2_Trade_offs.py", query_params=query)
