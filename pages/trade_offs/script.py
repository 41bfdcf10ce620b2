"""The same in Python: ``table`` is the page's CSV, ``summary`` holds the numbers of the curves."""

from __future__ import annotations

from pages.shell import script as twin
from pages.shell.study import Study
from pages.trade_offs.sweep import Sweep
from privcov.sweeps.plan import Plan


def script(made: Sweep, study: Study) -> str:
    """The sweep as a script in Python."""
    if made.on_rows:
        return _on_rows(made, study)
    plans = ",\n".join(_plan(plan) for plan in made.plans)
    return "\n".join(
        [
            "import privcov",
            "from privcov.sweeps import studies",
            "",
            f"plans = [\n{plans},\n]",
            "table = studies.run(plans)  # every replicate",
            "summary = studies.summary(plans, table)  # mean over replicates, 10 % and 90 % quantiles",
            "print(summary.to_string())",
        ]
    )


def _plan(plan: Plan) -> str:
    guarantees = ", ".join(f"privcov.{g!r}" for g in plan.guarantees)
    split = [(name, getattr(plan, name)) for name in ("training", "validation", "best")]
    return "\n".join(
        [
            "    privcov.Plan(",
            f"        source={plan.source!r},",
            f"        source_params={plan.source_params!r},",
            f"        methods={plan.methods!r},",
            f"        guarantees=[{guarantees}],",
            f"        vary={plan.vary!r},",
            f"        metrics={plan.metrics!r},",
            f"        replicates={plan.replicates},",
            f"        seed={plan.seed},",
            f"        row_bound={plan.row_bound!r},",
            *([] if plan.noise_seed is None else [f"        noise_seed={plan.noise_seed},"]),
            *(f"        {name}={value!r}," for name, value in split if value),
            "    )",
        ]
    )


def _on_rows(made: Sweep, study: Study) -> str:
    given = made.on_rows
    rows = "\n".join(twin.rows(study, given["dataset"]))
    guarantees = ", ".join(f"privcov.{g!r}" for g in given["guarantees"])
    by = ["method", "guarantee", "epsilon", "delta", "rho", *(["row_bound"] if given["row_bounds"] else [])]
    return "\n".join(
        [
            rows,
            "",
            "from privcov.sweeps.plan import run_on, summarise",
            "",
            "table = run_on(",
            "    ds,",
            f"    {given['methods']!r},",
            f"    [{guarantees}],",
            f"    {given['metrics']!r},",
            f"    replicates={given['replicates']},",
            f"    seed={given['seed']},",
            f"    row_bounds={given['row_bounds']!r},",
            ")",
            f"summary = summarise(table, {by!r})  # mean over replicates, 10 % and 90 % quantiles",
            "print(summary.to_string())",
        ]
    )
