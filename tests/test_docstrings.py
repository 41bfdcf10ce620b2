"""Docstrings in numpydoc's form: complete in the reference modules, and every example in them true."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Protocol

import pytest
from numpydoc import validate
from numpydoc.docscrape import ClassDoc, FunctionDoc

import privcov
from privcov.core.guarantees import Event
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.inference.answers import ReleaseAnswers

ROOT = Path(privcov.__file__).resolve().parents[1]
# The reference modules: what a user of the package reads. ".*" stands for a package with everything in it.
REFERENCE = [
    "privcov",
    "privcov.core.accounting",
    "privcov.tables.dataset",
    "privcov.core.guarantees",
    "privcov.tables.private_dataset",
    "privcov.tables.public_facts",
    "privcov.core.randomness",
    "privcov.core.parameters",
    "privcov.core.registry",
    "privcov.tables.units",
    "privcov.releases.scikit_learn",
    "privcov.core.wishart_curve",
    "privcov.measurements.*",
    "privcov.releases.*",
    "privcov.ledger.*",
    "privcov.estimators.*",
    "privcov.postprocess.*",
    "privcov.metrics.*",
    "privcov.data_sources.*",
    "privcov.studies.plan",
    "privcov.steward.check",
    "privcov.steward.preview",
    "privcov.bundle.read",
    "privcov.bundle.verify",
    "privcov.plots.matrices",
    "privcov.plots.errors",
    "privcov.plots.graphs",
    "privcov.plots.spectra",
    "privcov.plots.graphs",
]

OWN = ("Guarantee", "Spends", "Reference")  # sections that numpydoc does not have
SECTIONS = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", *OWN, "Notes", "Examples"]
# One line may do for a method, where the signature says the rest; and a noun phrase for a property.
METHOD_CODES = {"GL03", "GL06", "GL07", "GL08", "GL10", "PR02", "SS01", "SS02", "SS03", "SS05", "SS06"}
PROPERTY_CODES = METHOD_CODES - {"SS05"}
CODES = METHOD_CODES | {"PR01", "PR03", "PR04", "PR07", "PR10", "RT01", "YD01"}
BUILT_IN = {"builtins", "typing", "enum", "abc"}  # their constructors are not ours to describe
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def module_names() -> dict[str, Path]:
    """Return every module of privcov by its dotted name, with its file."""
    files = sorted((ROOT / "privcov").rglob("*.py"))
    names = (".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for f in files)
    return {name: file for name, file in zip(names, files, strict=True) if not name.endswith("__main__")}


FILES = module_names()
REFERENCE_MODULES = [n for n in FILES if any(fnmatch(n, p) or n == p.removesuffix(".*") for p in REFERENCE)]
MEASUREMENTS = [n for n in FILES if n.startswith("privcov.measurements.")]
WITH_EXAMPLES = [n for n, file in FILES.items() if ">>> " in file.read_text(encoding="utf-8")]


# --- what is read -------------------------------------------------------------------------------------------


class FunctionText(FunctionDoc):
    """The docstring of a function, with our sections."""

    sections = FunctionDoc.sections | dict.fromkeys(OWN, "")


class ClassText(ClassDoc):
    """The docstring of a class, with our sections."""

    sections = ClassDoc.sections | dict.fromkeys(OWN, "")


def constructs(cls: type) -> bool:
    """Say whether a class has a constructor of its own, or one that is made for its fields."""
    bases = [base for base in cls.__mro__ if base.__module__ not in BUILT_IN]
    return not getattr(cls, "_is_protocol", False) and any({"__init__", "__new__"} & vars(b).keys() for b in bases)


class OurValidator(validate.Validator):
    """Take the Attributes of a dataclass or a NamedTuple for its parameters; ask for no private name."""

    def __init__(self, obj_name: FunctionDoc | ClassDoc) -> None:
        super().__init__(obj_name)

    @property
    def signature_parameters(self) -> tuple[str, ...]:
        if inspect.isclass(self.obj) and not constructs(self.obj):
            return ()
        names = super().signature_parameters  # without a first "cls", also where that is an argument like any other
        function = inspect.isfunction(self.obj) and "." not in self.obj.__qualname__
        if function and next(iter(inspect.signature(self.obj).parameters), "") == "cls":
            names = ("cls", *names)
        return tuple(name for name in names if not name.startswith("_"))

    @property
    def doc_all_parameters(self) -> dict:
        documented = super().doc_all_parameters
        if dataclasses.is_dataclass(self.obj) or hasattr(self.obj, "_fields"):
            attributes = self._doc_parameters(["Attributes"])
            # A property, or a name that every instance shares, may be listed too.
            documented |= {
                name: text
                for name, text in attributes.items()
                if name in self.signature_parameters or not hasattr(self.obj, name)
            }
        return documented


def public_things(module: ModuleType) -> Iterator[tuple[str, type | FunctionType]]:
    """Yield (name, thing) of every public class and function that the module defines, decorators taken off."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
            continue
        bare = inspect.unwrap(thing)
        if (inspect.isclass(bare) or inspect.isfunction(bare)) and bare.__name__ == name:
            yield name, bare


def public_methods(cls: type) -> Iterator[tuple[str, FunctionType, set[str]]]:
    """Yield (name, function, codes) of every public method and property that the class itself defines."""
    for name, value in vars(cls).items():
        noun = isinstance(value, property | cached_property)
        inner = value.fget if isinstance(value, property) else getattr(value, "func", value)
        bare = inspect.unwrap(getattr(inner, "__func__", inner))
        if not name.startswith("_") and inspect.isfunction(bare) and bare.__module__ == cls.__module__:
            yield name, bare, PROPERTY_CODES if noun else METHOD_CODES


def complaints(where: str, thing: type | FunctionType, codes: set[str]) -> list[str]:
    """Return what numpydoc has against a docstring, each as one line."""
    try:
        text = ClassText(thing, config={"show_class_members": False}) if inspect.isclass(thing) else FunctionText(thing)
        errors = validate.validate(text, validator_cls=OurValidator)["errors"]
    except (UserWarning, ValueError) as problem:  # an underline that is too short, a section that comes twice
        return [f"{where}: {problem}"]
    return [f"{where}: {code} {words}" for code, words in errors if code in codes]


@pytest.fixture(autouse=True)
def _our_sections(monkeypatch):
    monkeypatch.setattr(validate, "ALLOWED_SECTIONS", SECTIONS)


# --- the reference modules ----------------------------------------------------------------------------------


def test_every_reference_module_exists():
    assert len(REFERENCE_MODULES) > 100
    assert [p for p in REFERENCE if not any(fnmatch(n, p) for n in FILES)] == []


@pytest.mark.parametrize("name", REFERENCE_MODULES)
def test_reference_docstrings_are_complete(name):
    """Every parameter, in order, with its type; what is returned; a summary on one line; sections in their order.

    Asked of what privcov exports, of what `privcov.answers` returns, and of the classes of methods and sources; a
    sentence may be enough elsewhere.
    """
    found = []
    exported = [inspect.unwrap(getattr(privcov, public)) for public in privcov.__all__]
    exported += [ReleaseAnswers, *(card.cls for card in (*METHODS.all(), *SOURCES.all()))]
    for thing_name, thing in public_things(importlib.import_module(name)):
        if not any(thing is one for one in exported):
            continue
        found += complaints(thing_name, thing, CODES)
        for method_name, method, codes in public_methods(thing) if inspect.isclass(thing) else ():
            found += complaints(f"{thing_name}.{method_name}", method, codes)
    assert found == [], "\n".join(["", *found])


def sections_of(thing: type | FunctionType) -> set[str]:
    """Return the titles of the sections that a docstring has, where they say something."""
    text = inspect.cleandoc(thing.__doc__ or "")
    found = re.findall(r"^(\w[\w ]*)\n(-+)\n(?=\S)", text, re.M)
    return {title for title, line in found if len(title) == len(line)}


def test_parameters_are_written_from_the_fields():
    """With the unit, the range, the choices and the help; before the section that follows."""
    text = METHODS.get("ridge-precision").cls.__doc__
    spec = next(spec for spec in METHODS.get("ridge-precision").parameters if spec.name == "penalty")
    assert f"penalty : float\n    {spec.label}, from 0.0001 to 10.0, in units of R squared / d. {spec.help}" in text
    assert text.index("Parameters\n---") < text.index("Guarantee\n---")
    assert "shape : {'upper-triangle', " in METHODS.get("gaussian-cov").cls.__doc__
    assert METHODS.get("zero").cls.__doc__.count("Parameters") == 0


@pytest.mark.parametrize("card", METHODS.all(), ids=lambda card: card.key)
def test_a_method_states_its_guarantee_and_its_spending_and_its_card_the_source(card):
    assert {"Guarantee", "Spends"} - sections_of(card.cls) == set()
    assert card.reference


@pytest.mark.parametrize("name", ["release", "release_private"])
def test_the_ways_to_a_release_state_guarantee_spending_and_source(name):
    assert set(OWN) - sections_of(getattr(privcov, name)) == set()


def every_class() -> dict[str, type]:
    """Return the public classes of the modules that measurements may name, by name."""
    modules = [importlib.import_module(n) for n in ("privcov.core.guarantees", *MEASUREMENTS)]
    return {name: thing for module in modules for name, thing in public_things(module) if inspect.isclass(thing)}


def holds_event(annotation: object, classes: dict[str, type], seen: frozenset = frozenset()) -> bool:
    """Say whether an annotation names `Event`, or a class that has one among its fields, however deep."""
    if annotation is None:
        return False
    words = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))
    named = [classes[word] for word in re.findall(r"\w+", words) if word in classes and word not in seen]
    return any(
        cls is Event
        or any(
            holds_event(part, classes, seen | {cls.__name__}) for part in vars(cls).get("__annotations__", {}).values()
        )
        for cls in named
    )


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_states_its_guarantee_its_spending_and_its_source(name):
    """Every public function that returns an event, or something that holds one."""
    classes = every_class()
    found = [
        f"{thing_name} does not say {', '.join(lacking)}"
        for thing_name, thing in public_things(importlib.import_module(name))
        if inspect.isfunction(thing) and holds_event(thing.__annotations__.get("return"), classes)
        if (
            lacking := [
                part
                for part in ("Guarantee: ", "Spends: ", "Source: ")
                if part not in inspect.getdoc(thing).replace("\n", " ")
            ]
        )
    ]
    assert found == [], "\n".join(["", *found])


def test_events_are_found_however_deep():
    classes = every_class()
    assert classes["Event"] is Event
    assert holds_event("Event", classes)
    assert holds_event("tuple[np.ndarray, NoisyMoment] | None", classes)
    assert holds_event("NoisySum", classes)
    assert not holds_event("tuple[float, PublicFacts]", classes)
    assert not holds_event(None, classes)


# --- examples -----------------------------------------------------------------------------------------------


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Let examples write where nothing else is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIVCOV_LEDGER", str(tmp_path / "ledger" / "ledger.sqlite"))


def run_examples(test: doctest.DocTest) -> str:
    """Run the examples of one docstring; return what went wrong, or ""."""
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=said.append)
    return "".join(said) if result.failed else ""


@pytest.mark.parametrize("name", privcov.__all__)
def test_an_exported_name_has_examples_that_run_as_they_stand(name, own_folder):
    """A reader copies them: they import what they use."""
    thing = inspect.unwrap(getattr(privcov, name))
    assert "Examples" in sections_of(thing)
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(thing.__doc__), {}, name, None, None)
    assert test.examples
    assert not (wrong := run_examples(test)), wrong


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name, own_folder):
    tests = [t for t in doctest.DocTestFinder().find(importlib.import_module(name), name) if t.examples]
    assert tests, "an example that is in no docstring of its own"
    wrong = "".join(map(run_examples, tests))
    assert not wrong, wrong


# --- the rules see what they should -------------------------------------------------------------------------


def full(x: float, *, low: float = 0.0) -> float:
    """Return the larger number.

    Parameters
    ----------
    x, low : float
        Two numbers.

    Returns
    -------
    float
        One of them.

    Guarantee
    ---------
    None.
    """
    return max(x, low)


def bare(x: float) -> float:
    """Return the number."""
    return x


def disordered(x: float) -> float:
    """Returns the number

    Spends
    ------
    Nothing.

    Guarantee
    ---------
    None.

    Parameters
    ----------
    y
    """
    return x


@dataclasses.dataclass
class Fields:
    """Two numbers.

    Attributes
    ----------
    low : float
        The smaller.
    width : float
        Their distance.
    """

    low: float
    high: float
    _hidden: float = 0.0

    @property
    def width(self) -> float:
        return self.high - self.low


class Shape(Protocol):
    """What has a size."""

    size: int


class Untitled(ValueError):
    """No file."""


def test_the_rules_see_what_they_should():
    def codes(thing):
        return {line.split()[1] for line in complaints("it", thing, CODES)}

    assert codes(full) == codes(Untitled) == set()
    assert codes(bare) == {"PR01", "RT01"}
    assert codes(disordered) == {"SS03", "SS05", "GL07", "PR01", "PR02", "PR04", "PR07", "RT01"}
    assert codes(Fields) == {"PR01"}
    assert codes(Shape) == set()
    assert [(codes(method), wanted) for _, method, wanted in public_methods(Fields)] == [({"GL08"}, PROPERTY_CODES)]
    assert sections_of(full) == {"Parameters", "Returns", "Guarantee"}
    assert codes(Event) <= CODES


# --- names ----------------------------------------------------------------------------------------------------


def test_a_name_in_a_docstring_exists():
    """A name in single backticks, and a file that ends in .py: a rename forgets both."""
    files = {path for part in ("privcov", "pages", "replication") for path in (ROOT / part).rglob("*.py")}
    trees = {path.relative_to(ROOT).with_suffix(""): ast.parse(path.read_text("utf-8")) for path in files}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    identifiers = {getattr(node, part, None) for node in nodes for part in ("name", "id", "arg", "attr")}
    identifiers |= {part for module in trees for part in module.parts} | {"scipy", "stats", "kurtosis"}
    places = {place for module in trees for place in (module, *module.parents)}
    file_names = {path.name for path in (*files, *ROOT.glob("tests/**/*.py"), *ROOT.glob("*.py"))}
    nothing = ast.parse("")
    rooms = {path.name for path in (ROOT / "privcov").iterdir() if path.is_dir()}

    def exists(name: str) -> bool:
        room, *rest = name.removeprefix("privcov.").split(".")
        if rest and room in rooms:  # a module, and perhaps something in it
            inside = {
                getattr(node, "name", "") for node in ast.walk(trees.get(Path("privcov", room, "__init__"), nothing))
            }
            return (Path("privcov", room, rest[0]) in places or rest[0] in inside) and set(rest) <= identifiers
        return name in file_names or set(name.split(".")) <= identifiers

    missing = []
    for module, tree in ((module, tree) for module, tree in trees.items() if module.parts[0] != "replication"):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
        texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
        names = [name for text in texts for name in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)", text)]
        missing += [(module, name) for name in names if not exists(name)]
        paths = [name for text in texts for name in re.findall(r"\b\w+\.py\b", text)]
        missing += [(module, name) for name in paths if name not in file_names]
    assert missing == []
