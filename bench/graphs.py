"""The edge test on simulated graphs and on Sachs: false edges, power, and the goals of the section "graphs".

    python -m bench.graphs            # measures the cells that data/graphs/table.csv does not have yet

Rows and noise of every replicate are drawn anew, from seeds that set nothing in edge_test.py. AR(2) and random graphs
are of the kinds that did, the others are not. On Sachs the rows are fixed, and the reference is a published network.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import privcov
from privcov.core import paths
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP
from privcov.estimators.auto_precision import AutoPrecision
from privcov.metrics.graphs import compare, edges, partial_correlations
from privcov.postprocess.edge_test import NO_EDGE, SLIGHT
from privcov.releases.public import method_input
from privcov.tables.dataset import Dataset

SEED, REPLICATES, WITH_EBIC, RATE = 40_000, 500, 100, 0.1
FILE = "table.csv"
COLUMNS = (
    "cell", "replicates", "false", "false_se", "power", "mcc", "mcc_ebic", "auc", "edges", "found", "drawn",
    "none_wrong", "none_share",
)  # fmt: skip
GUARANTEES: dict[str, Guarantee] = {
    "rho .01": ZCDP(0.01),
    "rho .1": ZCDP(0.1),
    "rho 1": ZCDP(1.0),
    "eps 1 pure": PureDP(1.0),
    "eps 3 pure": PureDP(3.0),
    "eps 1 approximate": ApproxDP(1.0, 1e-6),
}


@dataclass(frozen=True)
class Cell:
    """One setting. graph: a source, or one of `precision_of`; centre: what is measured beside the second moment."""

    graph: str
    d: int
    n: int
    guarantee: str
    centre: str = "auto"

    @property
    def name(self) -> str:
        where = "sachs" if self.graph == "sachs" else f"{self.graph}, d={self.d}, n={self.n}"
        return f"{where}, {self.guarantee}" + ("" if self.centre == "auto" else ", with the mean")


LEVELS = ("rho .01", "rho .1", "rho 1")
CELLS = (
    *(Cell("precision-ar2", 20, 2_000, level) for level in LEVELS),
    *(Cell("precision-random", 20, 2_000, level) for level in LEVELS),
    *(Cell("sachs", 11, 7_466, level) for level in LEVELS),
    Cell("precision-ar2", 20, 2_000, "eps 1 pure"),
    Cell("precision-random", 20, 20_000, "eps 1 approximate"),
    Cell("star", 12, 5_000, "rho .1"),
    Cell("star", 12, 5_000, "eps 3 pure"),
    Cell("cycle", 15, 3_000, "rho .1", "joint"),
    Cell("cycle", 15, 20_000, "eps 1 pure", "joint"),
    Cell("blocks", 18, 3_000, "rho .1"),
    Cell("blocks", 18, 400, "rho 1"),
    Cell("signs", 10, 10_000, "rho .01"),
    Cell("signs", 30, 10_000, "rho .1", "joint"),
    Cell("none", 15, 3_000, "rho .1"),
)


def precision_of(graph: str, d: int, seed: int) -> np.ndarray:
    """Return the precision matrix of a graph that set nothing: columns of unit variance.

    "signs": every pair with probability 3 / d, either sign; "none": no edge at all.
    """
    at, rng = np.arange(d), np.random.default_rng([SEED, seed])
    linked = np.zeros((d, d))
    if graph == "star":
        linked[0, 1:] = 0.9 / np.sqrt(d - 1)
    elif graph == "cycle":
        linked[at[:-1], at[1:]] = linked[0, -1] = 0.35
    elif graph == "blocks":
        linked = np.where(at[:, None] // 3 == at // 3, 0.3, 0.0)
    elif graph == "signs":
        linked = (rng.random((d, d)) < 3 / d) * rng.choice([-0.3, 0.3], (d, d))
    above = np.triu(linked, 1)
    theta = above + above.T
    theta += np.eye(d) * max(1.0, 0.1 - np.linalg.eigvalsh(theta)[0])
    root = np.sqrt(np.diag(np.linalg.inv(theta)))
    return theta * np.outer(root, root)


def rows_of(cell: Cell, replicate: int) -> tuple[Dataset, np.ndarray, np.ndarray | None]:
    """Return the rows of a replicate, the graph to compare with, and the partial correlations where they are known."""
    seed = SEED + replicate
    if cell.graph == "sachs":
        ds = privcov.source("sachs")
        return ds, next(iter(ds.graphs.values())), None
    if cell.graph.startswith("precision-"):
        ds = privcov.source(cell.graph, n=cell.n, d=cell.d, random_state=seed)
        theta = ds.truth.precision
    else:
        theta = precision_of(cell.graph, cell.d, replicate)
        root = np.linalg.cholesky(np.linalg.inv(theta))
        rows = np.random.default_rng([SEED, seed]).standard_normal((cell.n, cell.d)) @ root.T
        ds = Dataset.from_rows(rows, 1.3 * np.sqrt(cell.d), mean_is_zero=True)
    return ds, edges(theta), partial_correlations(theta)


def mcc(drawn: np.ndarray, true: np.ndarray) -> float:
    """Return Matthews' correlation of two graphs, 0 where one of them is empty or complete."""
    c = compare(drawn, true)
    size = np.sqrt(float((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)))
    return (c.tp * c.tn - c.fp * c.fn) / size if size else 0.0


def auc(p_value: np.ndarray, true: np.ndarray) -> float:
    """Return the probability that a random edge has a smaller p-value than a random pair without one."""
    upper = np.triu_indices(len(true), 1)
    p, linked = p_value[upper], true[upper]
    if linked.all() or not linked.any():
        return float("nan")
    apart = p[linked][:, None] - p[~linked]
    return float(((apart < 0) + (apart == 0) / 2).mean())


def measure(cell: Cell, replicates: int = REPLICATES) -> dict[str, str]:
    """Return one line of the table; ebic is tried on the first `WITH_EBIC` replicates, on the same noisy matrix."""
    method, by_ebic, lines, plain = AutoPrecision(rate=RATE), AutoPrecision(rule="ebic"), [], []
    for replicate in range(replicates):
        ds, true, partial = rows_of(cell, replicate)
        more = {} if cell.centre == "auto" else {"centre": cell.centre}
        ask = method_input(method, ds, GUARANTEES[cell.guarantee], seed=SEED, repeat=replicate, **more)
        measured = method.measure(ask)
        test = method.tested(ask, measured)
        assert test is not None
        drawn, none = test.graph(RATE), test.states(RATE) == NO_EDGE
        np.fill_diagonal(none, False)
        counts = compare(drawn, true)
        wrong = np.nan if partial is None else float((none & (np.abs(partial) >= SLIGHT)).sum() / max(none.sum(), 1))
        share = float(none.sum() / (len(none) * (len(none) - 1)))
        false = counts.fp / max(counts.tp + counts.fp, 1)
        found = (false, counts.tpr, mcc(drawn, true), auc(test.p_value, true))
        lines.append((*found, counts.tp + counts.fn, counts.tp, counts.tp + counts.fp, wrong, share))
        if replicate < WITH_EBIC:
            precision, _ = by_ebic.choose_precision(ask, measured, by_ebic.solve(ask, measured))
            plain.append(mcc(edges(precision), true))
    table = np.array(lines)
    means = [float(np.nanmean(c)) if np.isfinite(c).any() else float("nan") for c in table.T]
    spread = float(table[:, 0].std(ddof=1) / np.sqrt(len(table)))
    numbers = [means[0], spread, means[1], means[2], float(np.mean(plain)), *means[3:]]
    return {"cell": cell.name, "replicates": str(len(table))} | {
        name: "" if np.isnan(v) else f"{v:.4f}" for name, v in zip(COLUMNS[2:], numbers, strict=True)
    }


def stored() -> dict[str, dict[str, str]]:
    """Return the lines of the table by cell."""
    path = paths.shipped() / "graphs" / FILE
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {line["cell"]: line for line in csv.DictReader(file)}


def run() -> None:
    """Measure what is not stored, and store each cell when it is done."""
    path = paths.shipped() / "graphs" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    for cell in CELLS:
        known = stored()
        if cell.name in known:
            continue
        known[cell.name] = measure(cell)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(known[c.name] for c in CELLS if c.name in known)
        print(known[cell.name], flush=True)


def graphs() -> Iterator[tuple[str, str, str]]:
    """Yield the goals from the stored table: Matthews' correlation, areas under the curve, false edges."""
    lines = stored()
    kinds = {"AR(2)": "precision-ar2", "random": "precision-random", "Sachs": "sachs"}
    for name, graph in kinds.items():
        some = [lines[Cell(graph, 20, 2_000, level).name] for level in LEVELS]
        values = [float(line["mcc"]) for line in some]
        goal, before = {"AR(2)": 0.88, "random": 0.92, "Sachs": 0.25}[name], [float(line["mcc_ebic"]) for line in some]
        each = ", ".join(f"{v:.2f} at {level}" for v, level in zip(values, LEVELS, strict=True))
        told = f"{np.mean(values):.3f} x an MCC of 1 ({each}; ebic {np.mean(before):.2f})"
        yield f"MCC on {name}", told, f">= {goal}"
    area = [float(lines[Cell(g, 20, 2_000, level).name]["auc"]) for g in list(kinds.values())[:2] for level in LEVELS]
    yield "AUC on AR(2) and random", f"{np.mean(area):.3f} x an AUC of 1 (worst {min(area):.3f})", ">= 0.98"
    worst = max((line for name, line in lines.items() if not name.startswith("sachs")), key=lambda x: float(x["false"]))
    share = float(worst["false"])
    yield "false edges, worst setting", f"{share / RATE:.2f} x {RATE:.0%} ({share:.3f}: {worst['cell']})", "<= 1.05"


if __name__ == "__main__":
    run()
