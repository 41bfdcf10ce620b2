"""The one current study: data, method, guarantee, row bound, seed and the rest. Its address is its query string.

Nothing of an uploaded file is ever part of it: a study on a CSV leaves data out of the address.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import privcov
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS, MethodCard
from privcov.parameters import Spec
from privcov.privacy import KINDS, Guarantee

CSV = "csv"
DEFAULT_SOURCE = "ar1-covariance"
SOUND, REPLACE_ONE = "sound", "replace-one"
DEFAULT_METHOD = {"pure": "auto-cov", "approx": "auto-cov", "zcdp": "auto-cov"}


@dataclass(frozen=True)
class Study:
    """Plain values only, so it is a cache key and a link.

    source, method: keys, or "" for the default of the page. data, options: pairs of parameter name and value that
    differ from the defaults. bound: row bound as a multiple of the source's public default. seed: noise stream;
    rows: seed of the simulated rows. calibration, neighbours: as in `privcov.release`; see `settings`.
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
        if self.kind == "zcdp":
            return privcov.ZCDP(self.rho)
        return privcov.PureDP(self.epsilon) if self.kind == "pure" else privcov.ApproxDP(self.epsilon, self.delta)

    @property
    def level_name(self) -> str:
        """Name of the number the privacy slider moves."""
        return "rho" if self.kind == "zcdp" else "epsilon"

    def at(self, level: float) -> Study:
        """The same study with its lever at this level."""
        if self.kind == "zcdp":
            return dataclasses.replace(self, rho=level)
        return dataclasses.replace(self, epsilon=level)

    def method_key(self, default: str = "") -> str:
        return self.method or default or DEFAULT_METHOD[self.kind]

    def source_key(self, default: str = DEFAULT_SOURCE) -> str:
        return self.source or default

    def with_source(self, key: str) -> Study:
        """Another source, with its own default parameters and row bound."""
        return dataclasses.replace(self, source=key, data=(), bound=1.0)

    def with_method(self, key: str) -> Study:
        """Another method, with its own default parameters; calibration and neighbours stay where it offers them."""
        card = METHODS.get(key or DEFAULT_METHOD[self.kind])
        kept = {name: getattr(self, name) for name in _WORDS if getattr(self, name) in _offers(card)[name]}
        return dataclasses.replace(self.without_method(), method=key, **kept)

    def without_method(self) -> Study:
        """What a picture depends on that does not draw the study's own method."""
        return dataclasses.replace(self, method="", options=(), calibration=SOUND, neighbours=REPLACE_ONE)

    def settings(self, card: MethodCard) -> dict[str, str]:
        """Calibration and neighbours as far as the method offers them, else the default."""
        return {
            "calibration": self.calibration if self.calibration in card.calibrations else card.default_calibration,
            "neighbours": self.neighbours if self.neighbours in card.relations else card.relations[0],
        }


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
    """Only what differs from the defaults. A CSV leaves no trace."""
    start = Study()
    query = {}
    if study.source not in ("", CSV):
        query["source"] = study.source
    if study.source != CSV:
        query |= {f"data.{name}": str(value) for name, value in study.data}
    if study.method:
        query["method"] = study.method
    query |= {f"method.{name}": str(value) for name, value in study.options}
    for name in ("kind", *_WORDS):
        if getattr(study, name) != getattr(start, name):
            query[name] = getattr(study, name)
    for name in _NUMBERS:
        if getattr(study, name) != getattr(start, name) and not (name == "bound" and study.source == CSV):
            query[name] = _digits(getattr(study, name))
    return query


def _digits(value: float) -> str:
    """A number that reads back as itself, short where twelve digits say it all."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def from_query(query: Mapping[str, str]) -> tuple[Study, list[str]]:
    """The study of an address, and one sentence for each part of it that made no sense and was left out."""
    problems: list[str] = []
    found: dict[str, Any] = {}

    def attempt(name: str, make) -> None:
        try:
            found[name] = make()
        except (ValueError, TypeError) as problem:
            problems.append(_left_out(name, query[name], problem))

    if "source" in query:
        attempt("source", lambda: SOURCES.get(query["source"]).key)
    if "method" in query:
        attempt("method", lambda: METHODS.get(query["method"]).key)
    if "kind" in query:
        attempt("kind", lambda: _kind(query["kind"]))
    for name, (low, high) in _NUMBERS.items():
        if name in query:
            whole = name in ("seed", "rows")
            attempt(name, lambda n=name, w=whole, lo=low, hi=high: _number(n, query[n], w, lo, hi))
    for name in _WORDS:
        if name in query:
            card = METHODS.get(found.get("method") or DEFAULT_METHOD[found.get("kind", Study.kind)])
            attempt(name, lambda n=name, c=card: _offered(n, query[n], c))
    study = Study(**found)
    data = _pairs("data", query, SOURCES.get(study.source_key()).parameters, problems)
    options = _pairs("method", query, METHODS.get(study.method_key()).parameters, problems)
    method = study.method_key() if options else study.method  # settings belong to a method, so it has a name then
    return dataclasses.replace(study, data=data, method=method, options=options), problems


def _left_out(name: str, text: str, problem: Exception) -> str:
    """One sentence, however long the text in the address is."""
    return f"The link's {name}={text[:_QUOTED]!r} was left out. {str(problem).replace(text, text[:_QUOTED])}"


def _kind(text: str) -> str:
    if text not in DEFAULT_METHOD:
        raise ValueError(
            f"A guarantee is one of {', '.join(DEFAULT_METHOD)} ({', '.join(KINDS[k].name for k in DEFAULT_METHOD)})."
        )
    return text


def _offers(card: MethodCard) -> dict[str, tuple[str, ...]]:
    return {"calibration": tuple(card.calibrations), "neighbours": card.relations}


def _offered(name: str, text: str, card: MethodCard) -> str:
    if text not in _offers(card)[name]:
        raise ValueError(f"As {_WORDS[name]} {card.label} offers {' or '.join(_offers(card)[name])}.")
    return text


def _number(name: str, text: str, whole: bool, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high or (whole and value != int(value)):
        raise ValueError(f"It must be a {'whole ' if whole else ''}number from {low:g} to {high:g}.")
    return int(value) if whole else value


def _pairs(prefix: str, query: Mapping[str, str], specs: tuple[Spec, ...], problems: list[str]) -> tuple:
    found = []
    for spec in specs:
        text = query.get(f"{prefix}.{spec.name}")
        if text is None:
            continue
        try:
            value = spec.check(_typed(spec, text))
        except (ValueError, TypeError) as problem:
            problems.append(_left_out(f"{prefix}.{spec.name}", text, problem))
            continue
        if value != spec.default:
            found.append((spec.name, value))
    return tuple(sorted(found))


def _typed(spec: Spec, text: str) -> object:
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
