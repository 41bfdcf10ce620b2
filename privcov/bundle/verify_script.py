"""Generate verify.py from the library's own modules: the check on top, below it every module that the check uses.

There is no second copy of a formula: a bundle's script computes with the text of the files that made the bundle.
"""

from __future__ import annotations

import ast
import itertools
import json
from functools import cache
from pathlib import Path

from privcov.bundle.derived import Library, noise_key
from privcov.declared_columns import working_units
from privcov.estimators.base import MethodCard
from privcov.measurements.exact_wishart import LARGEST_COUPLED
from privcov.parameters import Spec
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP
from privcov.public_facts import declared
from privcov.releasing.private_request import favours, private_methods, private_request

_ROOT = Path(__file__).resolve().parents[1]
_COLUMNS = (1, 2, LARGEST_COUPLED + 1)  # numbers of columns on which the noise of a method may depend
_FIRST = "privcov.bundle.verify"
_CARD = ("label", "summary", "formula", "avoid", "reference", "differs")

_HEAD = '''#!/usr/bin/env python3
"""Check a bundle of PrivCov without the data:

    python verify.py [BUNDLE]      BUNDLE: a folder or a zip; this script's own folder when left out

Derives the files of the bundle again from its measurement, declaration and ledger entry, and compares. Ends with code
0 when everything that can be checked holds and 1 when anything does not. Nothing of the bundle is run or imported, only
its data are read. Needs Python 3.10 or newer and numpy; no privcov, no network.

How this file is made: the texts below are modules of privcov, unchanged; the first one is the check. They are imported
from this file and never from a disk. Where PYTHONPATH names a folder of somebody else, Python may run a
sitecustomize.py there before this line: `python -I verify.py` rules that out.
"""

import sys

# Before anything else is imported: in front of Python's own library, which begins with pythonXY.zip, stand this
# script's folder, the current folder and PYTHONPATH. A file there could call itself json.py.
_library = [k for k, p in enumerate(sys.path) if p.endswith("python%d%d.zip" % sys.version_info[:2])]
if sys.version_info < (3, 10) or not _library:
    sys.exit("verify.py needs Python 3.10 or newer, with its own library on its path. Try python -I verify.py.")
sys.path[:] = [p for p in sys.path[_library[-1] :] if p]
sys.dont_write_bytecode = True

'''

_TAIL = '''
import importlib.abc
import importlib.machinery
import os
from pathlib import Path


class FromThisFile(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports privcov from the texts above; a module that is not there is an error, wherever else it may be."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "privcov":
            return None
        folder = any(known.startswith(name + ".") for known in MODULES)
        if not folder and name not in MODULES:
            raise ModuleNotFoundError(name + " is not in verify.py", name=name)
        return importlib.machinery.ModuleSpec(name, self, origin="verify.py", is_package=folder)

    def exec_module(self, module):
        text = MODULES.get(module.__name__, "")
        exec(compile(text, "verify.py: " + module.__name__, "exec", dont_inherit=True), module.__dict__)


if __name__ == "__main__":
    _file = os.path.abspath(__file__)
    _near = {os.path.realpath(p) for p in (os.path.dirname(_file), os.getcwd())}
    sys.path[:] = [p for p in sys.path if os.path.realpath(p) not in _near]
    for _name in [n for n in sys.modules if n.split(".")[0] == "privcov"]:
        del sys.modules[_name]
    sys.meta_path.insert(0, FromThisFile())
    try:
        import numpy
    except ImportError:
        sys.exit("verify.py needs numpy, installed for " + sys.executable + "; PYTHONPATH is not used.")
    import json

    from privcov.bundle.derived import Library
    from privcov.bundle.verify import main
    from privcov.parameters import Spec

    _cards = {key: tuple(map(tuple, lines)) for key, lines in json.loads(CARDS).items()}
    _noise = {key: tuple(drawn) for key, drawn in json.loads(NOISE).items()}
    _parameters = {
        key: (favours, tuple(Spec(a, usual, "", "", low, high, tuple(k)) for a, usual, low, high, k in named))
        for key, (favours, named) in json.loads(PARAMETERS).items()
    }
    with open(_file, "rb") as _own:
        _text = _own.read()
    sys.exit(main(Library(_cards, _noise, _parameters, _text), Path(os.path.dirname(_file))))
'''


@cache
def verifier_source() -> str:
    """Return the text of verify.py, the same for the same library."""
    parts = [_HEAD, "MODULES = {}\n"]
    for name in _needed(_FIRST):
        text = _path(name).read_text(encoding="utf-8")
        assert "'''" not in text, f"{name} cannot stand between three quotation marks"
        assert not text.endswith("\\"), name
        parts.append(f"\n# {'=' * 110}\nMODULES[{name!r}] = r'''{text}'''\n")
    cards = json.dumps({key: list(map(list, lines)) for key, lines in _cards().items()}, indent=1)
    assert "'''" not in cards
    parts.append(f"\n# {'=' * 110}\n# What method_card.txt says of each method.\nCARDS = r'''{cards}'''\n")
    noise = json.dumps({key: list(drawn) for key, drawn in _noise().items()}, indent=1)
    parts.append(f"\n# What noise each method draws.\nNOISE = r'''{noise}'''\n")
    fields = {
        key: [favours, [(s.name, s.default, s.low, s.high, s.choices) for s in specs]]
        for key, (favours, specs) in _parameters().items()
    }
    parts.append(f"\n# Anchor and parameters of each method.\nPARAMETERS = r'''{json.dumps(fields)}'''\n")
    return "".join([*parts, _TAIL])


def library() -> Library:
    """Return what this version of privcov writes into every bundle."""
    return Library(_cards(), _noise(), _parameters(), verifier_source().encode())


@cache
def _cards() -> dict[str, tuple[tuple[str, str], ...]]:
    return {card.key: tuple((title, getattr(card, title)) for title in _CARD) for card in private_methods()}


@cache
def _parameters() -> dict[str, tuple[str, tuple[Spec, ...]]]:
    """Return what the anchor of each method favours, and its parameters, as private rows leave them open."""
    return {
        card.key: (
            favours(card),
            tuple(Spec(s.name, s.default, "", "", s.low, s.high, _choices(card, s)) for s in card.parameters),
        )
        for card in private_methods()
    }


def _choices(card: MethodCard, spec: Spec) -> tuple:
    return (card.for_private[spec.name],) if spec.name in card.for_private else spec.choices


@cache
def _noise() -> dict[str, tuple[str, ...]]:
    """Return the mechanisms that each method plans, for one, few and many columns, with n public and hidden."""
    examples: tuple[Guarantee, ...] = (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(1.0))
    mechanisms: dict[str, set[str]] = {}
    for card, guarantee, d, n_public in itertools.product(private_methods(), examples, _COLUMNS, (True, False)):
        names = tuple(f"x{j}" for j in range(d))
        facts = declared(names, working_units(names, 1.0, None, None), (), 1, n_public, 1, "typical")
        if type(guarantee) not in card.guarantees or facts.relation not in card.relations:
            continue
        event = private_request(card.key, facts, guarantee).event()
        mechanisms.setdefault(noise_key(card.key, guarantee.kind, d), set()).add(event.mechanism)
    return {key: tuple(sorted(drawn)) for key, drawn in mechanisms.items()}


def _needed(first: str) -> list[str]:
    """Return the module and all that it imports when it is loaded, in the order of a first reading."""
    modules, waiting = [], [first]
    while waiting:
        name = waiting.pop(0)
        if name not in modules:
            modules.append(name)
            waiting += _imports(_path(name).read_text(encoding="utf-8"))
    return modules


def _imports(source: str) -> list[str]:
    """Return privcov's modules in the import lines outside functions: a check needs no others."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
    return [name for name in names if name.startswith("privcov.") and _path(name).is_file()]


def _path(name: str) -> Path:
    return _ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
