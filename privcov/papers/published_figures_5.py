"""Paper 5's figures on real data (4 and 5), and what its text announces for Appendix J: pure DP and single digits.

Errors of the released matrix against rho (or epsilon, or n) on public rows. Pictures and documents are not shipped: see
data/README.md. News documents are replaced by e-mails where only those are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from privcov.data_sources.base import SOURCES
from privcov.data_sources.papers import MissingData
from privcov.papers.presets import PRESETS
from privcov.papers.published import Number, Point, Table
from privcov.papers.published_figures import FROBENIUS, METHODS_5, own_5
from privcov.privacy import Guarantee, ZCDP
from privcov.sweeps.plan import Plan, run

RHOS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
PICTURES = (6_000, 20_000, 60_000)
WIDTHS = (32, 128, 512)
DIGITS = ("0", "1")  # the heaviest and the lightest in ink
PURE_METHODS = ("laplace-cov", *METHODS_5[1:])
MOST_N = 50_000
_ZCDP = tuple(ZCDP(rho) for rho in RHOS)


@dataclass(frozen=True)
class Panel:
    """One panel: a source with its parameters, methods, guarantees, and n where it varies.

    The estimate is of the second moment, as in the paper: the mean of real rows is not zero, and is not measured.
    """

    source: str
    params: tuple[tuple[str, Any], ...]
    methods: tuple[str, ...] = METHODS_5
    guarantees: tuple[Guarantee, ...] = _ZCDP
    ns: tuple[int, ...] = ()

    def plan(self, published: bool, replicates: int, seed: int) -> Plan:
        """The panel as a `Plan`, as published or sound."""
        return Plan(
            source=self.source,
            source_params=dict(self.params),
            methods=[(key, {**own_5(key, published), "centre": "none"}) for key in self.methods],
            guarantees=list(self.guarantees),
            vary={"n": list(self.ns)} if self.ns else {},
            metrics=["frobenius-to-sample"],
            replicates=replicates,
            seed=seed,
        )


def _of_preset(key: str) -> Panel:
    """Appendix J as the page Trade-offs has it, without EMCov and up to `MOST_N` rows."""
    preset = PRESETS[key]
    (block,) = preset.varies
    ns = tuple(n for n in block["n"] if n <= MOST_N)
    params = {**dict(preset.fixed), "d": block["d"][0], "n": ns[0]}
    return Panel(preset.source, tuple(params.items()), PURE_METHODS, preset.guarantees, ns if len(ns) > 1 else ())


def _panels() -> dict[str, Panel]:
    from privcov.data_sources.news import EACH, LARGEST

    found = {f"4-{x}": Panel("mnist", (("n", n),)) for x, n in zip("abc", PICTURES, strict=True)}
    norms = [(divide, d) for divide in (EACH, LARGEST) for d in WIDTHS]
    for letter, (divide, d) in zip("abcdef", norms, strict=True):
        found[f"5-{letter}"] = Panel("news", (("d", d), ("divide", divide)))
    for digit in DIGITS:
        found[f"digit {digit}"] = Panel("mnist", (("n", PICTURES[0]), ("digit", digit)))
    return found | {"pure epsilon": _of_preset("5-pure-epsilon"), "pure n": _of_preset("5-pure-n")}


PANELS = _panels()


def ready(panel: str) -> None:
    """Raise MissingData where the rows of a panel are not there, or too few of them."""
    own = PANELS[panel]
    source = SOURCES.get(own.source).cls
    if own.source in ("mnist", "news"):
        have, n = len(source.read().values), dict(own.params).get("n", 0)
        if have < n:
            raise MissingData(f"This panel needs {n:,} pictures, and this copy of MNIST has {have:,}.")


def read(panel: str, row: Mapping) -> tuple[dict, str]:
    """(keys of the printed number, its quantity) for a row of the panel's table."""
    own = PANELS[panel]
    params = dict(own.params)
    pure = row["guarantee"] == "pure"
    keys = {"model": panel, "n": str(int(row.get("n", params.get("n", 0))) or "")}
    keys |= {"epsilon": f"{row['epsilon']:g}"} if pure else {"data": f"rho = {row['rho']:g}"}
    keys["d"] = str(params.get("d", 784))
    return keys | {"method": row["method"].split()[0]}, FROBENIUS


def figure(panel: str, seed: int, replicate: int) -> list[Number]:
    """One replicate with the published calibrations; of public rows the noise alone is drawn again."""
    return [
        Number(*read(panel, row), float(row["value"]), row["problem"])
        for row in run(PANELS[panel].plan(True, 1, seed + replicate)).to_dict("records")
    ]


def _plan(panel: str, replicates: int, seed: int) -> Plan:
    return PANELS[panel].plan(False, replicates, seed)


def _points(*panels: str) -> tuple[Point, ...]:
    return tuple(
        Point(p, {}, partial(figure, p), partial(_plan, p), partial(read, p), ready=partial(ready, p)) for p in panels
    )


_MNIST = (
    "Panels (b) and (c), 20,000 and 60,000 pictures, are computed where the whole training set is in the data folder "
    "(mnist.npz, see data/README.md), and are skipped elsewhere. The stored numbers come from a copy of 6,000 "
    "pictures, 600 of each digit, which are not the first 6,000 of the set."
)
_NO_EM = "Without EMCov, which takes one eigendecomposition per column."
_OTHER = "The target is the second moment of the rows as scaled; nothing is centred, as in the paper."
TABLES = (
    Table(
        "5-figure-4", 5, "Figure 4", "MNIST: error against rho", "Frobenius error",
        _points("4-a", "4-b", "4-c"),
        ("Pixels divided by 255 sqrt(d), so R = 1 without looking at the rows.", _OTHER, _NO_EM), (_MNIST,),
        replicates=50, small=(2, 2), needs="mnist",
    ),
    Table(
        "5-figure-5", 5, "Figure 5", "News words: error against rho", "Frobenius error",
        _points(*(f"5-{letter}" for letter in "abcdef")),
        (
            "Stand-in: the stored numbers are of 6,046 e-mails, hashed in the same way, because the 15,000 articles "
            "were not at hand; with news.txt in the data folder the articles are used.",
            "tr < 1 divides by the largest norm, which is read off the rows; no guarantee covers that.", _OTHER, _NO_EM,
        ),
        replicates=50, small=(3, 3), needs="news",
    ),
    Table(
        "5-digits", 5, "Appendix J, single digits", "One digit of MNIST: error against rho", "Frobenius error",
        _points(*(f"digit {digit}" for digit in DIGITS)),
        (
            "The appendix is not in the text that was read: which digits, n and rho are ours. The digits "
            f"{' and '.join(DIGITS)} among {PICTURES[0]:,} pictures, 600 of each, a tenth of what the whole set has.",
            _OTHER, _NO_EM,
        ),
        replicates=50, small=(2, 2), needs="mnist",
    ),
    Table(
        "5-pure", 5, "Appendix J, pure DP", "Pure DP on simulated rows: error against epsilon and n", "Frobenius error",
        _points("pure epsilon", "pure n"),
        (
            "The appendix is not in the text that was read: d = 200, n = 50,000, N = 4 as in Figure 3, these epsilons, "
            "and epsilon = 1 along n are ours. The additive method is Laplace noise with the printed scale.",
            f"Up to {MOST_N:,} rows. " + _NO_EM,
        ),
        replicates=50, small=(3, 3), preset="5-pure-epsilon",
    ),
)  # fmt: skip
