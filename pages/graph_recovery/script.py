"""The same in Python: a script that draws the curves of the page, number for number."""

from __future__ import annotations

from privcov.sweeps.graph_study import GraphStudy


def script(made: GraphStudy) -> str:
    """Source text whose variable ``curves`` holds the curves of the page."""
    guarantees = "".join(f"        privcov.{g!r},\n" for g in made.guarantees)
    methods = "".join(f"        {entry!r},\n" for entry in made.methods)
    return (
        "import privcov\n"
        "from privcov.sweeps.graph_study import GraphStudy, run\n"
        "\n"
        "study = GraphStudy(\n"
        f"    {made.source!r},\n"
        f"    {dict(made.source_params)!r},\n"
        f"    methods=(\n{methods}    ),\n"
        f"    guarantees=(\n{guarantees}    ),\n"
        f"    replicates={made.replicates},\n"
        f"    seed={made.seed},\n"
        f"    rows_seed={made.rows_seed},\n"
        f"    row_bound={made.row_bound!r},\n"
        f"    graph={made.graph!r},\n"
        f"    rules={made.rules!r},\n"
        ")\n"
        "curves = run(study)\n"
        "common = min(curve.reach for curve in curves)\n"
        "for curve in curves:\n"
        '    print(f"{curve.name}: partial AUC to FPR {common:.2f} = {curve.area(common):.3f}")\n'
    )
