"""Checks of paper 3's tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from privcov.papers.published_checks import Check, cells, check, literal, slope

BOTH = ("3-table-1", "3-table-2")


def _synthetic(table: str, method: str, folder: Path):
    found = cells(table, folder=folder)
    found = found[(found["data"] == "synthetic") & (found["method"] == method)].copy()
    for name in ("r", "epsilon"):
        found[name] = found[name].astype(float)
    return found


@check("3-laplace-scale", "3-table-1")
def laplace_scale(folder: Path) -> Check:
    """error * r * epsilon is constant when the error is proportional to noise of scale 2d/(n epsilon) and n = r d."""
    found = _synthetic("3-table-1", "Laplace", folder)
    product = found["value"] * found["r"] * found["epsilon"]
    numbers = {"smallest": float(product.min()), "largest": float(product.max())}
    holds = numbers["largest"] / numbers["smallest"] < 1.15
    verdict = (
        f"error x r x epsilon lies between {numbers['smallest']:.1f} and {numbers['largest']:.1f} in all nine cells"
        + (": the error is proportional to the noise and r to n." if holds else ".")
    )
    return Check(
        "3-laplace-scale", ("3-table-1",), "Are error x r and error x epsilon constant?", holds, verdict, numbers,
        "r is not explained; it behaves like the number of rows",
    )  # fmt: skip


@check("3-colon-genes", "3-table-1")
def colon_genes(folder: Path) -> Check:
    """Colon's Laplace errors times epsilon over those of the synthetic sets times r gives n/d, and n = 62 gives d."""
    synthetic = _synthetic("3-table-1", "Laplace", folder)
    constant = float(np.mean(synthetic["value"] * synthetic["r"] * synthetic["epsilon"]))
    colon = cells("3-table-1", folder=folder)
    colon = colon[(colon["data"] == "colon") & (colon["method"] == "Laplace")]
    product = colon["value"] * colon["epsilon"].astype(float)
    genes = 62 * float(product.mean()) / constant
    numbers = {"smallest product": float(product.min()), "largest product": float(product.max()), "genes": genes}
    holds = numbers["largest product"] / numbers["smallest product"] < 1.15 and genes < 1000
    verdict = (
        f"error x epsilon lies between {numbers['smallest product']:.1f} and {numbers['largest product']:.1f}, so the "
        f"errors follow the noise; if r is n/d as in the synthetic sets, they are those of {genes:.0f} genes of 2,000."
    )
    return Check(
        "3-colon-genes", ("3-table-1",), "Are Colon's errors those of far fewer than 2,000 genes?", holds, verdict,
        numbers, "the Colon errors are those of far fewer genes than the set has, and which is not said",
    )  # fmt: skip


@check("3-no-solution", *BOTH)
def no_solution(folder: Path) -> Check:
    """As described, Laplace noise leaves nothing to solve; a stopped loop gives errors of the printed shape."""
    question = "Is there a solution behind the printed Laplace errors?"
    rows = literal("3-table-1", folder)
    rows = rows[(rows["method"] == "Laplace") & (rows["data"] == "synthetic")]
    if rows.empty:
        return Check("3-no-solution", BOTH, question, None, "Not computed yet.", {})
    tried = int((rows["replicates"] + rows["failed"]).sum())
    numbers: dict[str, float] = {"runs": tried, "without a solution": int(rows["failed"].sum())}
    loop = literal("3-stopped", folder)
    loop = loop[loop["method"] == "Laplace"]
    told = ""
    if len(loop):
        product = loop["value"] * loop["r"].astype(float) * loop["epsilon"].astype(float)
        numbers |= {"loop, smallest product": float(product.min()), "loop, largest product": float(product.max())}
        told = (
            " The loop of paper 2, stopped after 2,000 iterations, gives numbers all the same, with error x r x "
            f"epsilon between {product.min():.1f} and {product.max():.1f}."
        )
    share = numbers["without a solution"] / tried
    verdict = (
        f"With our lambda {share:.0%} of {tried} runs have no solution, because the noisy matrix is indefinite.{told}"
    )
    return Check(
        "3-no-solution", BOTH, question, share > 0.5, verdict, numbers,
        "with this noise the lasso has no solution, and a number is where some loop stood",
    )  # fmt: skip


@check("3-wishart-zero", *BOTH)
def wishart_zero(folder: Path) -> Check:
    """A relative error near 1 is that of the zero matrix."""
    found = cells(*BOTH, folder=folder)
    found = found[(found["data"] == "synthetic") & (found["method"] == "Wishart")]
    numbers = {"smallest printed": float(found["value"].min()), "largest printed": float(found["value"].max())}
    ours = found.dropna(subset=["ours"])
    told = ""
    if len(ours):
        numbers |= {"smallest of ours": float(ours["ours"].min()), "largest of ours": float(ours["ours"].max())}
        told = f" Ours lie between {numbers['smallest of ours']:.3f} and {numbers['largest of ours']:.3f}."
    holds = numbers["smallest printed"] > 0.95 and numbers["largest printed"] < 1.05
    verdict = (
        f"All {len(found)} printed errors lie between {numbers['smallest printed']:.4f} and "
        f"{numbers['largest printed']:.4f}; the zero matrix has 1. The mean of the noise stays on the diagonal and "
        f"drives the answer to zero.{told}"
    )
    return Check(
        "3-wishart-zero", BOTH, "Does Wishart noise just return zero?", holds, verdict, numbers,
        "with Wishart noise the answer is nearly the zero matrix",
    )  # fmt: skip


@check("3-gaussian-flat", "3-table-2")
def gaussian_flat(folder: Path) -> Check:
    """Three times less noise, and an error that hardly moves, and grows with r."""
    found = _synthetic("3-table-2", "Gaussian", folder)
    numbers = {"slope in epsilon": _mean_slope(found, "epsilon", "r"), "slope in r": _mean_slope(found, "r", "epsilon")}
    ours = found.dropna(subset=["ours"])
    told = ""
    if len(ours) == len(found):
        numbers["slope in epsilon, ours"] = _mean_slope(found, "epsilon", "r", "ours")
        told = f" Ours has slope {numbers['slope in epsilon, ours']:.2f} in epsilon."
    holds = abs(numbers["slope in epsilon"]) < 0.2 and numbers["slope in r"] > 0.1
    verdict = (
        f"The printed error moves with epsilon to the power {numbers['slope in epsilon']:.2f} and with r to the power "
        f"{numbers['slope in r']:+.2f}; noise alone would give -1 and -1.{told}"
    )
    return Check(
        "3-gaussian-flat", ("3-table-2",), "Do the Gaussian errors follow the noise?", holds, verdict, numbers,
        "the Gaussian errors do not follow the noise and grow with r",
    )  # fmt: skip


def _mean_slope(found, along: str, by: str, value: str = "value") -> float:
    return float(np.mean([slope(group[along], group[value]) for _, group in found.groupby(by)]))
