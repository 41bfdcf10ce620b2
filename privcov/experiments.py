"""Old import names of sweeps, papers, advice and previews, for scripts from before the package was split.

`MOVED` lists the old modules with their present names; importing the old name gives the same module, or, where
`ELSEWHERE` lists names that went to another module, one that has all of them. Only the numbers of the lessons, which no
page ever exported, are gone (`GONE`): they belong to the lessons in `pages/lessons`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

MOVED = {
    "advice": "advice.advise",
    "advice_evidence": "advice.evidence",
    "advice_grid": "advice.grid",
    "advice_rank": "advice.rank",
    "advice_words": "advice.answer",
    "cell_kinds": "owner.cell_kinds",
    "owner_check": "owner.check",
    "owner_needs": "owner.needs",
    "owner_view": "owner.view",
    "preview": "owner.preview",
}
_SWEEPS = ("answer", "cells", "crossings", "draws", "estimates", "graph_curves", "graph_study", "guessing", "plan")
MOVED |= {name: f"sweeps.{name}" for name in (*_SWEEPS, "solve", "store", "studies", "winners")}
MOVED |= {
    "presets": "papers.presets",
    "presets_classification": "papers.presets",
    "published": "papers.base",
    "published_2": "papers.su2019.tables",
    "published_3": "papers.wang2018",
    "published_4": "papers.mdpi2023.tables",
    "published_cells": "papers.su2019.figures",
    "published_checks": "papers.checks",
    "published_checks_2": "papers.su2019.checks",
    "published_checks_3": "papers.wang2018",
    "published_checks_4": "papers.mdpi2023.checks",
    "published_checks_figures": "papers.dong2022.checks",
    "published_checks_figures_2": "papers.su2019.checks",
    "published_checks_figures_5": "papers.dong2022.checks",
    "published_classes": "papers.mdpi2023.tables",
    "published_curves": "papers.curves",
    "published_figures": "papers.dong2022.figures",
    "published_figures_2": "papers.su2019.figures",
    "published_figures_5": "papers.dong2022.figures",
    "published_needed": "papers.mdpi2023.tables",
    "published_verdicts": "papers.verdicts",
    "reproduce": "papers.reproduce",
}
# Names that moved to another module than the rest of their old module, or have another name now.
ELSEWHERE = {
    "advice": {"FAR": "advice.answer.FAR"},
    "preview": {
        "planned_law": "owner.preview.planned_noise",
        "STRUCTURES": "owner.twin.STRUCTURES",
        "measured": "owner.twin.measured",
    },
    "presets": {
        "PRESETS": "papers.catalogue.PRESETS",
        "PURE_5": "papers.dong2022.figures.PURE_PRESETS",
        "THRESHOLDS_4": "papers.mdpi2023.tables.THRESHOLDING",
        "ZCDP_5": "papers.dong2022.figures.ZCDP_PRESETS",
    },
    "presets_classification": {"CLASSIFIERS": "papers.catalogue.CLASSIFIERS"},
    "published": {"TABLES": "papers.catalogue.TABLES", "tables": "papers.catalogue.tables"},
    "published_verdicts": {"rows_needed": "papers.needed.rows_needed"},
    "published_checks": {name: f"papers.catalogue.{name}" for name in ("CHECKS", "checks_of", "run_check")},
    "published_checks_figures": {
        "curves": "papers.checks.curve_cells",
        **{name: f"papers.wang2019.{name}" for name in ("SLIGHTLY", "denser", "dimension", "ends", "larger_epsilon")},
    },
    "published_curves": {
        "FIGURES": "papers.catalogue.FIGURES",
        "MADE": "papers.catalogue.DRAWN",
        "TITLES": "papers.catalogue.TITLES",
    },
    "published_figures": {
        **{name: f"papers.wang2019.{name}" for name in ("GAMMA", "PANELS", "ROWS", "SPECTRAL")},
        "METHODS_5": "papers.dong2022.figures.METHODS",
        "PANELS_5": "papers.dong2022.figures.SIMULATED",
        "figure_1": "papers.wang2019.figure",
        "figure_5": "papers.dong2022.figures.simulated",
        "own_5": "papers.dong2022.figures.published_calibration",
        "plan_5": "papers.dong2022.figures.simulated_plan",
        "read_5": "papers.dong2022.figures.read_simulated",
    },
}

GONE = ("lessons", "lessons_guess", "lessons_repair", "lessons_repeats")

__path__: list[str] = []  # a package without files: the finder below knows its modules


def _module(old: str) -> ModuleType:
    """Return the present module of ``old``, or one with the names of several where `ELSEWHERE` lists some."""
    module = importlib.import_module(f"privcov.{MOVED[old]}")
    if old not in ELSEWHERE:
        return module
    names = dict(vars(module))
    for name, where in ELSEWHERE[old].items():
        module_name, _, now = where.rpartition(".")
        names[name] = getattr(importlib.import_module(f"privcov.{module_name}"), now)
    joined = ModuleType(f"{__name__}.{old}", module.__doc__)
    vars(joined).update({name: value for name, value in names.items() if not name.startswith("__")})
    return joined


class _Moved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of the old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for an old name, None for any other."""
        package, _, name = fullname.rpartition(".")
        if package == __name__ and name in GONE:
            raise ModuleNotFoundError(
                f"{fullname} is no longer part of the package: each lesson has its numbers in its own file, in the "
                "folder pages/lessons of the source.",
                name=fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, self) if package == __name__ and name in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the present module, and keep its own spec."""
        module = _module(spec.name.rpartition(".")[2])
        spec.loader_state = module.__spec__ or spec
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; it ran long ago."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the module keeps its own name; it ran long ago


sys.meta_path.append(_Moved())
