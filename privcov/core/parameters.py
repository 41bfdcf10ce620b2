"""A parameter of a method or a source: one dataclass field that also describes its own widget.

The form, the gallery, the command line and the checks all read unit, bounds, label and help in the field's metadata.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass
from typing import Any, ClassVar

from privcov.core import checks

# Other libraries' names for arguments of `release`.
_ELSEWHERE = dict.fromkeys(("seed", "rng", "generator"), " The noise of simulated and public rows has random_state=.")
_ELSEWHERE |= dict.fromkeys(
    ("epsilon", "delta", "rho"), " Give the guarantee whole, such as privcov.ApproxDP(1.0, 1e-6)."
)


@dataclass(frozen=True)
class ParameterSpec:
    """Name, check and display of one parameter.

    default: its type is the type of the parameter. low, high: smallest and largest value, inclusive; ``low`` is
    required for numbers, ``high`` for float numbers. choices: they take precedence over the bounds. reference: where a
    paper discusses it. advanced: True where the form keeps it in a fold. shown_if: show only at these values of other
    parameters. log: True for a logarithmic slider. ends: what a small and a large value does, for the ends of a slider.
    """

    name: str
    default: Any
    label: str
    help: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple = ()
    unit: str = ""
    reference: str = ""
    advanced: bool = False
    shown_if: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    log: bool = False
    ends: tuple[str, str] = ("", "")

    @property
    def slides(self) -> bool:
        """Whether the form shows it as a slider, whose two ends then need words."""
        return not self.choices and not isinstance(self.default, bool) and (self.log or isinstance(self.default, float))

    def check(self, value: Any) -> Any:
        """Return the value in the parameter's type."""
        if self.choices:
            return checks.one_of(self.name, value, self.choices)
        if value is None and self.default is None:
            return None
        if isinstance(self.default, bool):
            return checks.one_of(self.name, value, (True, False))
        assert self.low is not None, "a number is declared with its bounds"
        if isinstance(self.default, int):
            return checks.integer(self.name, value, self.low, self.high)
        assert self.high is not None, "a number is declared with its bounds"
        return checks.in_range(self.name, value, self.low, self.high)


def parameter(default: Any, label: str, **fields: Any) -> Any:
    """Return a dataclass field with a `ParameterSpec`."""
    return dataclasses.field(default=default, metadata={"spec": {"label": label, **fields}})


def specs(cls: type) -> tuple[ParameterSpec, ...]:
    """Return the parameters of a dataclass, in order."""
    return tuple(
        ParameterSpec(name=f.name, default=f.default, **f.metadata["spec"])
        for f in dataclasses.fields(cls)
        if "spec" in f.metadata
    )


def documented(cls: type) -> str:
    """Return the docstring of a class with a section Parameters that is written from its fields."""
    lines = ["Parameters", "----------"]
    types = {f.name: f.type for f in dataclasses.fields(cls)}
    for spec in specs(cls):
        kind = "{" + ", ".join(map(repr, spec.choices)) + "}" if spec.choices else types[spec.name]
        ends = "" if spec.high is None else f", from {spec.low:,} to {spec.high:,}"
        ends += f", in units of {spec.unit}" if spec.unit else ""
        lines += [f"{spec.name} : {kind}", f"    {spec.label}{ends}. {spec.help}".rstrip()]
    text = inspect.cleandoc(cls.__doc__ or "")
    if len(lines) == 2:
        return text
    at = re.search(r"\n\n\w+\n-+\n", text)
    before, after = (text, "") if at is None else (text[: at.start()], text[at.start() :])
    return before + "\n\n" + "\n".join(lines) + after


class Checked:
    """Mixin for frozen dataclasses: every field is checked against its ParameterSpec when the object is made."""

    __dataclass_fields__: ClassVar[dict[str, Field]]

    def __post_init__(self) -> None:
        for spec in specs(type(self)):
            object.__setattr__(self, spec.name, spec.check(getattr(self, spec.name)))


def build(cls: type, owner: str, values: Mapping[str, Any], other_names: tuple[str, ...] = ()) -> Any:
    """Return ``cls(**values)``, or explain which parameters there are."""
    names = [s.name for s in specs(cls)]
    for name in values:
        if name not in names:
            has = f"It takes {', '.join(names)}" if names else "It takes no parameters"
            hint = _ELSEWHERE.get(name) or checks.suggest(name, (*names, *other_names))
            raise ValueError(f"{owner} has no parameter {name!r}. {has}.{hint}")
    return cls(**values)
