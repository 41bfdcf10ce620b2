"""The one current study: data, method, guarantee, row bound, seed and the rest. Its address is its query string.

The address never contains anything of an uploaded file.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import privcov
from privcov.core.guarantees import KINDS, Guarantee
from privcov.core.parameters import ParameterSpec
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS, MethodCard

CSV = "csv"
OWN_TABLE = ("table", "own")  # in an address: a table of the visitor's own, of which nothing else is there
DEFAULT_SOURCE = "ar1-covariance"
SOUND, REPLACE_ONE = "sound", "replace-one"
DEFAULT_METHOD = "auto-cov"
STUDY_KINDS = ("pure", "approx", "zcdp")  # of a guarantee that a study may have


@dataclass(frozen=True)
class Study:
    """A study of plain values only, so that it can be a cache key and a link.

    ``source`` and ``method`` are keys, or "" for the page's default; ``data`` and ``options`` pairs of parameter and
    value that differ from the default. ``bound`` is a multiple of the source's public row bound; ``seed`` is
    that of the noise, ``rows`` that of simulated rows. ``calibration`` and ``neighbours`` are as in
    `privcov.release`.
    """

    source: str = ""
    data: tuple[tuple[str, Any], ...] = ()
    method: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    kind: str = "zcdp"
    rho: float = 0.1
    epsilon: float = 1.0
    delta: float = 1e-6
    bound: float = 1.0
    seed: int = 1
    rows: int = 0
    calibration: str = SOUND
    neighbours: str = REPLACE_ONE

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""
        if self.kind == "zcdp":
            return privcov.ZCDP(self.rho)
        return privcov.PureDP(self.epsilon) if self.kind == "pure" else privcov.ApproxDP(self.epsilon, self.delta)

    @property
    def level_name(self) -> str:
        """Name of the number that the privacy slider moves."""
        return "rho" if self.kind == "zcdp" else "epsilon"

    def at(self, level: float) -> Study:
        """Return the same study with its epsilon or rho at this level."""
        if self.kind == "zcdp":
            return dataclasses.replace(self, rho=level)
        return dataclasses.replace(self, epsilon=level)

    def method_key(self, default: str = "") -> str:
        """Return the key of the method, or the default."""
        return self.method or default or DEFAULT_METHOD

    def source_key(self, default: str = DEFAULT_SOURCE) -> str:
        """Return the key of the source, or the default."""
        return self.source or default

    def sizes(self) -> dict[str, Any]:
        """Return n and d where the source leaves them free; a source with fixed choices has none."""
        specs = () if self.source in ("", CSV) else SOURCES.get(self.source).parameters
        return {s.name: dict(self.data).get(s.name, s.default) for s in specs if s.name in ("n", "d") and not s.choices}

    def with_source(self, key: str, before: Mapping[str, Any] | None = None) -> Study:
        """Return the study on another source: n and d where it takes them, else that source's defaults.

        ``before``: n and d of an earlier source, used where the current source has no n and d.
        """
        now = {**(before or {}), **(dict(self.data) if self.source != CSV else {}), **self.sizes()}
        data = () if key == CSV else _sizes(SOURCES.get(key).parameters, now)
        return dataclasses.replace(self, source=key, data=data, bound=1.0)

    def with_method(self, key: str) -> Study:
        """Return the study with another method at its defaults; calibration and neighbours stay where it has them."""
        card = METHODS.get(key or DEFAULT_METHOD)
        settings = {name: getattr(self, name) for name in _WORDS if getattr(self, name) in _offers(card)[name]}
        return dataclasses.replace(self.without_method(), method=key, **settings)

    def naming(self, page_study: Study, key: str) -> Study:
        """Return the study with its method named, and the options that the page shows for that method."""
        if self.method == key:
            return self
        new = self.with_method(key)
        return dataclasses.replace(new, options=page_study.options) if page_study.method == key else new

    @property
    def method_options(self) -> dict[str, Any]:
        """The parameters that the method gets."""
        return dict(self.options) if self.method else {}

    def without_method(self) -> Study:
        """Return the study without its method, for pictures that do not depend on it."""
        return dataclasses.replace(self, method="", options=(), calibration=SOUND, neighbours=REPLACE_ONE)

    def settings(self, card: MethodCard) -> dict[str, str]:
        """Return calibration and neighbours as far as the method offers them, else the default."""
        return {
            "calibration": self.calibration if self.calibration in card.calibrations else card.default_calibration,
            "neighbours": self.neighbours if self.neighbours in card.relations else card.relations[0],
        }


# The study of a visitor without a link: a table of a size where privacy costs something. It is not `Study()`, whose
# values stand for what an address leaves out, and never change.
OPENING = Study(source=DEFAULT_SOURCE, data=(("d", 40), ("n", 1_000)), kind="approx")
# By page, for the pages that show the study, or begin with its guarantee.
OPENINGS = {
    "Estimate": OPENING,
    "Trade-offs": OPENING,
    "Graph recovery": Study(kind="approx", method="auto-precision"),
    "Spectra": OPENING,
    "Methods": OPENING,
    "Privacy audit": OPENING,
}


def opening(page: str) -> Study:
    """Return the study that the page shows to a visitor who brings none."""
    return OPENINGS.get(page, OPENING)


_NUMBERS = {
    "rho": (1e-6, 1e3),
    "epsilon": (1e-4, 1e3),
    "delta": (1e-15, 0.5),
    "bound": (0.01, 100.0),
    "seed": (0, 2**31 - 1),
    "rows": (0, 2**31 - 1),
}
_QUOTED = 40  # letters of an address that a sentence repeats
_WORDS = {"calibration": "noise calibration", "neighbours": "neighbouring relation"}


def to_query(study: Study) -> dict[str, str]:
    """Return the kind of guarantee and what differs from the defaults as a query.

    It is never empty, as an address without any of it opens with `opening`. For a CSV it only says that there was one:
    after a reload the page says that the CSV is gone.
    """
    start = Study()
    query = {}
    if study.source == CSV:
        query[OWN_TABLE[0]] = OWN_TABLE[1]
    elif study.source:
        query["source"] = study.source
    if study.source != CSV:
        query |= {f"data.{name}": str(value) for name, value in study.data}
    if study.method:
        query["method"] = study.method
    query |= {f"method.{name}": str(value) for name, value in study.options}
    for name in _WORDS:
        if getattr(study, name) != getattr(start, name):
            query[name] = getattr(study, name)
    for name in _NUMBERS:
        if getattr(study, name) != getattr(start, name) and not (name == "bound" and study.source == CSV):
            query[name] = _digits(getattr(study, name))
    return query | {"kind": study.kind}


def means_study(query: Mapping[str, str]) -> bool:
    """Return whether an address names a part of a study."""
    names = {"source", OWN_TABLE[0], "method", "kind", *_NUMBERS, *_WORDS}
    return any(name in names or name.startswith(("data.", "method.")) for name in query)


def study_query(study: Study, page: str) -> dict[str, str]:
    """Return the study's part of an address of the page: nothing where the page opens with that study anyway."""
    return {} if study == opening(page) else to_query(study)


def _digits(value: float) -> str:
    """Return a number that reads back as itself, short where twelve digits suffice."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def from_query(query: Mapping[str, str]) -> tuple[Study, list[str]]:
    """Return the study of an address, and one sentence for each part of it that was left out."""
    problems: list[str] = []
    values: dict[str, Any] = {}

    def attempt(name: str, make) -> None:
        try:
            values[name] = make()
        except (ValueError, TypeError) as problem:
            problems.append(_left_out(name, query[name], problem))

    if "source" in query:
        attempt("source", lambda: SOURCES.get(query["source"]).key)
    elif query.get(OWN_TABLE[0]) == OWN_TABLE[1]:
        values["source"] = CSV
    if "method" in query:
        attempt("method", lambda: METHODS.get(query["method"]).key)
    if "kind" in query:
        attempt("kind", lambda: _kind(query["kind"]))
    for name, (low, high) in _NUMBERS.items():
        if name in query:
            whole = name in ("seed", "rows")
            attempt(name, lambda n=name, w=whole, lo=low, hi=high: number_in(query[n], lo, hi, whole=w))
    if "kind" not in values and "rho" not in query:
        values["kind"] = "approx"
    for name in _WORDS:
        if name in query:
            card = METHODS.get(values.get("method") or DEFAULT_METHOD)
            attempt(name, lambda n=name, c=card: _check_choice(n, query[n], c))
    study = Study(**values)
    specs = () if study.source == CSV else SOURCES.get(study.source_key()).parameters
    data = _pairs("data", query, specs, problems)
    options = _pairs("method", query, METHODS.get(study.method_key()).parameters, problems)
    method = study.method_key() if options else study.method  # settings belong to a method, so it has a name then
    return dataclasses.replace(study, data=data, method=method, options=options), problems


def _left_out(name: str, text: str, problem: Exception) -> str:
    """Return one sentence, however long the text in the address is."""
    return f"The link's {name}={text[:_QUOTED]!r} was left out. {str(problem).replace(text, text[:_QUOTED])}"


def _kind(text: str) -> str:
    """Return the kind of guarantee; raise ValueError for an unknown one."""
    if text not in STUDY_KINDS:
        raise ValueError(
            f"A guarantee is one of {', '.join(STUDY_KINDS)} ({', '.join(KINDS[k].name for k in STUDY_KINDS)})."
        )
    return text


def _offers(card: MethodCard) -> dict[str, tuple[str, ...]]:
    return {"calibration": tuple(card.calibrations), "neighbours": card.relations}


def _check_choice(name: str, text: str, card: MethodCard) -> str:
    """Return the setting; raise ValueError where the method does not offer it."""
    if text not in _offers(card)[name]:
        raise ValueError(f"As {_WORDS[name]} {card.label} offers {' or '.join(_offers(card)[name])}.")
    return text


def _sizes(specs: tuple[ParameterSpec, ...], now: Mapping[str, Any]) -> tuple:
    """Return n and d as a source with these parameters takes them."""
    sizes = []
    for spec in specs:
        if spec.name in ("n", "d") and now.get(spec.name, spec.default) != spec.default:
            with contextlib.suppress(ValueError):  # beyond what this source takes
                sizes.append((spec.name, spec.check(now[spec.name])))
    return tuple(sorted(sizes))


def number_in(text: str, low: float, high: float, *, whole: bool) -> float:
    """Return the number of a text; raise ValueError outside its range."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high or (whole and value != int(value)):
        raise ValueError(f"It must be a {'whole ' if whole else ''}number from {low:g} to {high:g}.")
    return int(value) if whole else value


def _pairs(prefix: str, query: Mapping[str, str], specs: tuple[ParameterSpec, ...], problems: list[str]) -> tuple:
    """Return the parameters of a source or a method that differ from the default."""
    pairs = []
    for spec in specs:
        text = query.get(f"{prefix}.{spec.name}")
        if text is None:
            continue
        try:
            value = spec.check(_parse_value(spec, text))
        except (ValueError, TypeError) as problem:
            problems.append(_left_out(f"{prefix}.{spec.name}", text, problem))
            continue
        if value != spec.default:
            pairs.append((spec.name, value))
    return tuple(sorted(pairs))


def _parse_value(spec: ParameterSpec, text: str) -> object:
    if spec.choices:
        return next((choice for choice in spec.choices if str(choice) == text), text)
    if isinstance(spec.default, str):
        return text
    if isinstance(spec.default, bool):
        return {"True": True, "False": False}.get(text, text)
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{spec.label} must be a number.") from None
    return int(value) if isinstance(spec.default, int) and value.is_integer() else value
