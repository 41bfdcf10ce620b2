"""The former room of sweeps, papers, advice and previews, for scripts written or exported before it was split.

`MOVED` has every module it had, and where that module is now; importing the old name gives the very same module.
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
    "advice_words": "advice.words",
    "cell_kinds": "owner.cell_kinds",
    "lessons": "lessons.numbers",
    "lessons_guess": "lessons.guess",
    "lessons_repair": "lessons.repair",
    "lessons_repeats": "lessons.repeats",
    "owner_check": "owner.check",
    "owner_needs": "owner.needs",
    "owner_view": "owner.view",
    "preview": "owner.preview",
}
for _room, _names in {
    "sweeps": "answer cells crossings draws estimates graph_curves graph_study guessing plan solve store studies "
    "winners",
    "papers": "presets presets_classification published published_2 published_3 published_4 published_cells "
    "published_checks published_checks_2 published_checks_3 published_checks_4 published_checks_figures "
    "published_checks_figures_2 published_checks_figures_5 published_classes published_curves published_figures "
    "published_figures_2 published_figures_5 published_needed published_verdicts reproduce",
}.items():
    MOVED |= {name: f"{_room}.{name}" for name in _names.split()}

__path__: list[str] = []  # a package without files: the finder below knows its modules


class _Moved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        room, _, name = fullname.rpartition(".")
        return importlib.machinery.ModuleSpec(fullname, self) if room == __name__ and name in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"privcov.{MOVED[spec.name.rpartition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the module keeps its own name; it ran long ago


sys.meta_path.append(_Moved())
