"""The kind of a column: what its cells mean, declared by its owner, and which numbers are measured of it.

A table of text, dates and codes becomes one of numbers by its declaration alone, cell by cell (`coding.py`). A column
of numbers, whole numbers, ordered levels or dates, and one of yes or no, becomes one column of numbers within public
bounds. A category becomes one column of zeros and ones for each of its levels, of which at most one is 1.

**Length of a row** (in working units, before the row bound). A column alone lies within c of its typical value, c its
``weight``. The levels of a category are c or 0, at most one of them c, so the block of a category is at most c long as
well. A row is at most R long, R^2 = sum c^2 over the declared columns, however many levels they have.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from privcov.core import checks
from privcov.tables.persons import id_text
from privcov.tables.readers.numbers import number_of
from privcov.tables.readers.table_files import quote

KindName = Literal["number", "integer", "yes-no", "ordinal", "category", "date"]
Transform = Literal["log1p", "log", "sqrt"]
NUMBER: KindName
KINDS, TRANSFORMS = get_args(KindName), get_args(Transform)
NUMBER, INTEGER, YES_NO, ORDINAL, CATEGORY, DATE = KINDS
ISO = "%Y-%m-%d"
OTHER = "other"  # name of the level of all that is not listed
MAX_LEVELS = 200
LEAST_WEIGHT, MAX_WEIGHT = 0.01, 100.0
_LEVELLED = (YES_NO, ORDINAL, CATEGORY)
_LONGEST = 200  # letters of a level, a code or a format
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_DIRECTIVE = re.compile(r"%(.?)")
_BY_NAME = {  # "": free text, which has no kind
    kind: re.compile(rf"(?:^|[^a-z])(?:{words})(?:$|[^a-z])")
    for kind, words in (
        ("", "name|surname|street|address|email|mail|comments?|notes?|text|description"),
        (DATE, "date"),
        (YES_NO, "gender|sex|smok(?:er|es)|emergency|deceased|died|dead|alive|pregnant|diabetic|retired|insured"),
        (
            CATEGORY,
            "city|town|country|region|diagnosis|icd(?:10)?|ward|department|hospital|job|occupation|status|type|category|"
            "kind|group|class|code|colou?r|brand|language|nationality|race|ethnicity|religion",
        ),
    )
}


@checks.explain_arguments
@dataclass(frozen=True)
class Kind:
    """What the cells of a column are, declared without looking at them.

    Attributes
    ----------
    kind : {"number", "integer", "yes-no", "ordinal", "category", "date"}
        A whole number is the nearest one to its cell. The levels of an ordinal column are 1, 2, 3 and so on.
    low : float, str or None
        Lowest value of a number or whole number, or the first date; cells beyond the bounds are moved to them.
    high : float, str or None
        Highest value, or the last date. Dates are kept as text, such as "2024-01-31".
    values : tuple of str
        The levels, as they are written in the cells: of yes-no the no and the yes, of ordinal from the lowest to the
        highest, of a category in any order. A cell with another text is missing.
    other : bool
        Of a category: whether a text that is not listed is a level of its own, "other", and not missing.
    typical : float, str or None
        A usual value inside the bounds, a level, or a date; None for the middle. A category has none.
    transform : {"log1p", "log", "sqrt"} or None
        Of a number or whole number: what is measured is log(1 + x), log(x) or the root of x.
    format : str
        How dates are written, with %Y or %y, %m and %d, or %j for the day of the year, and %H, %M and %S for a time,
        which is left out. Default: "%Y-%m-%d".
    weight : float
        c, from 0.01 to 100: the distance of the farther bound from the typical value, in working units. A larger one
        gives this column less noise and all others more.
    missing_codes : tuple of str
        What is written for a missing cell, compared as text and as a number: "-9" is -9, "-9.0" and " -9 " too.

    Raises
    ------
    ValueError
        With one sentence, for what is missing, cannot be, or contradicts the rest.

    Examples
    --------
    >>> from privcov import Kind
    >>> Kind("category", values=("A", "B"), other=True).names("ward")
    ('ward=A', 'ward=B', 'ward=other')
    >>> Kind("number", 0, 1e6, transform="log1p").names("income")
    ('log1p(income)',)
    """

    kind: KindName = NUMBER
    low: float | str | None = None
    high: float | str | None = None
    values: tuple[str, ...] = ()
    other: bool = False
    typical: float | str | None = None
    transform: Transform | None = None
    format: str = ""
    weight: float = 1.0
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.one_of("kind", self.kind, KINDS)
        self._set("weight", checks.in_range("weight", self.weight, LEAST_WEIGHT, MAX_WEIGHT))
        self._set("other", bool(checks.one_of("other", self.other, (True, False))))
        if self.other and self.kind != CATEGORY:
            raise ValueError(f"other=True is for a category, got kind={self.kind!r}. Leave it out.")
        self._set("missing_codes", texts_of("missing_codes", self.missing_codes))
        if self.kind in _LEVELLED:
            self._check_levels()
        elif self.values:
            raise ValueError(f"values are the levels of a yes-no, ordinal or category column, got kind={self.kind!r}.")
        else:
            self._check_bounds()
        self._check_codes()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_levels(self) -> None:
        for name, usual in (("low", None), ("high", None), ("transform", None), ("format", "")):
            if getattr(self, name) != usual:
                raise ValueError(
                    f"{name} is not for kind={self.kind!r}, got {checks.describe(getattr(self, name))}. Leave it out."
                )
        levels = texts_of("values", self.values)
        hint = "the no and the yes" if self.kind == YES_NO else "its levels, as they are written in the cells"
        if not levels:
            raise ValueError(f"kind={self.kind!r} needs values, {hint}. Give the list.")
        fewest, most = (2, 2) if self.kind == YES_NO else (2 - self.other, MAX_LEVELS - self.other)
        if not fewest <= len(levels) <= most:
            limits = "2" if fewest == most else f"{fewest} to {most}"
            remedy = " List the usual ones, and take other=True for the rest." if self.kind == CATEGORY else ""
            raise ValueError(f"kind={self.kind!r} takes {limits} values, got {len(levels):,}.{remedy}")
        if self.other and OTHER in levels:
            raise ValueError(
                f"{OTHER!r} is a listed level, and other=True adds one of that name. Leave one of them out."
            )
        self._set("values", levels)
        if self.typical is not None:
            if self.kind == CATEGORY:
                raise ValueError(f"A category has no typical value, got typical={self.typical!r}. Leave it out.")
            typical = id_text(self.typical)
            checks.one_of("typical", typical, levels, "It must be one of the values.")
            self._set("typical", typical)

    def _check_bounds(self) -> None:
        of_date = self.kind == DATE
        if of_date:
            self._set("format", _date_format(self.format or ISO))
        elif self.format:
            raise ValueError(f"format is for dates, got kind={self.kind!r} and format={self.format!r}. Leave it out.")
        if self.transform is not None:
            checks.one_of("transform", self.transform, TRANSFORMS)
            if of_date:
                raise ValueError(
                    f"transform is for numbers, got kind='date', transform={self.transform!r}. Leave it out."
                )
        for name in ("low", "high", "typical"):
            value = getattr(self, name)
            empty = value is None or (isinstance(value, str) and not value)
            if empty and name != "typical":
                example = "the first and the last date" if of_date else "its lowest and highest value"
                raise ValueError(f"kind={self.kind!r} needs low and high, {example}. Take them from domain knowledge.")
            if value is not None:
                self._set(name, self._value(name, value))
        low, high = (self.number(value) for value in (self.low, self.high))
        if not low < high or not math.isfinite(high - low):
            raise ValueError(
                f"The bounds must satisfy low < high, got low={self.low} and high={self.high}. Swap or widen them."
            )
        if self.typical is not None and not low <= self.number(self.typical) <= high:
            raise ValueError(
                f"typical must be inside the bounds, got typical={self.typical}, low={self.low} and high={self.high}."
            )
        least = {"log": 0.0, "log1p": -1.0, "sqrt": 0.0}.get(self.transform or "", -math.inf)
        sign = ">" if self.transform in ("log", "log1p") else ">="
        if low < least or (sign == ">" and low == least):
            remedy = " Raise it, or use log1p." if self.transform == "log" else " Raise it."
            raise ValueError(f"transform={self.transform!r} needs low {sign} {least:g}, got low={self.low}.{remedy}")
        if self.transform and not self.limits[0][0] < self.limits[0][1]:
            raise ValueError(
                f"{self.transform} makes one number of low={self.low} and high={self.high}. Widen the bounds."
            )

    def _value(self, name: str, value: object) -> float | str:
        """Return a bound or a typical value as it is kept: a float, or the text of a date."""
        if self.kind == DATE:
            day = _day_of(name, value, self.format)
            return datetime.date.fromordinal(day + FIRST_DAY).isoformat()
        return (
            float(checks.integer(name, value, -(2**53), 2**53)) if self.kind == INTEGER else checks.number(name, value)
        )

    def _check_codes(self) -> None:
        for code in self.missing_codes:
            x = number_of(code)
            if self.kind in _LEVELLED:
                inside = code in self.values or any(x is not None and x == number_of(v) for v in self.values)
                where = "one of the values"
            elif self.kind == DATE:
                days = (day_of(code, self.format), day_of(code, ISO))
                inside = any(day is not None and self.number(self.low) <= day <= self.number(self.high) for day in days)
                where = f"inside the bounds, {self.low} to {self.high}"
            else:
                if x is None and number_of(code, ",") is not None:
                    raise ValueError(
                        f"The code {code!r} for a missing cell has a decimal comma, and codes are declared with a "
                        f"point, whatever the file has. Write {code.replace(',', '.')!r}."
                    )
                inside = x is not None and self.number(self.low) <= x <= self.number(self.high)
                where = f"inside the bounds, {self.low:g} to {self.high:g}"
            if inside:
                raise ValueError(
                    f"The code {code!r} for a missing cell is {where}, so a cell with it would be both. Correct one of "
                    "them, or leave the code out for this column."
                )

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, "other" among them where it is one; () for numbers and dates."""
        return (*self.values, OTHER) if self.other else self.values

    @property
    def width(self) -> int:
        """Number of measured columns: the levels of a category, else 1."""
        return len(self.levels) if self.kind == CATEGORY else 1

    @property
    def plain(self) -> bool:
        """Whether the column is a number with bounds and nothing else, which needs no kind."""
        return self == Kind(NUMBER, self.low, self.high, typical=self.typical) if self.kind == NUMBER else False

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper limit of each measured column."""
        if self.kind in (YES_NO, CATEGORY):
            return ((0.0, 1.0),) * self.width
        if self.kind == ORDINAL:
            return ((1.0, float(len(self.values))),)
        low, high = (float(self.transformed(np.array([self.number(value)]))[0]) for value in (self.low, self.high))
        return ((low, high),)

    @property
    def origins(self) -> tuple[float, ...]:
        """The typical value of each measured column: as declared, else the middle; 0 for a level of a category."""
        if self.kind == CATEGORY:
            return (0.0,) * self.width
        ((low, high),) = self.limits
        if self.typical is None:
            return (low / 2 + high / 2,)
        x = float(self.transformed(np.array([self.number(self.typical)]))[0])
        return (min(max(x, low), high),)

    def names(self, column: str) -> tuple[str, ...]:
        """Return the names of the measured columns.

        Parameters
        ----------
        column : str
            Name of the column.

        Returns
        -------
        tuple of str
            "ward=A" for a level of a category and for the yes of yes-no, "log1p(income)" for a transform, else the name
            itself.
        """
        if self.kind == CATEGORY:
            return tuple(f"{column}={level}" for level in self.levels)
        if self.kind == YES_NO:
            return (f"{column}={self.values[1]}",)
        return (f"{self.transform}({column})" if self.transform else column,)

    def number(self, value: float | str | None) -> float:
        """Return a declared value as the number that a cell with it has, before the transform.

        Parameters
        ----------
        value : float or str
            A bound, a level, or a date as it is kept.

        Returns
        -------
        float
            Dates are days since 1970-01-01.
        """
        if self.kind == DATE:
            return float(datetime.date.fromisoformat(str(value)).toordinal() - FIRST_DAY)
        if self.kind in (YES_NO, ORDINAL):
            return self.values.index(str(value)) + (self.kind == ORDINAL)
        assert isinstance(value, (int, float)), "numbers have bounds"
        return float(value)

    def transformed(self, x: np.ndarray) -> np.ndarray:
        """Return numbers after the transform.

        Parameters
        ----------
        x : ndarray
            float64, within the bounds.

        Returns
        -------
        ndarray
            float64.
        """
        if self.transform is None:
            return x
        return np.sqrt(x) if self.transform == "sqrt" else natural_log(x if self.transform == "log" else 1 + x)

    def to_dict(self) -> dict[str, Any]:
        """Return the declared fields as JSON values, without those that have their default."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        names = {f.name for f in dataclasses.fields(self) if fields[f.name] != f.default}
        names -= {"format"} if self.format == ISO else set()
        return {"kind": self.kind} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if name in names
        }

    @classmethod
    def from_dict(cls, fields: object) -> Kind:
        """Return the kind that `to_dict` wrote.

        Raises
        ------
        ValueError
            For what is no such dict, and for what `Kind` refuses.
        """
        names = [f.name for f in dataclasses.fields(cls)]
        if not isinstance(fields, Mapping) or "kind" not in fields:
            raise ValueError("The kind of a column must be names with values, kind among them.")
        if strange := [name for name in fields if name not in names]:
            raise ValueError(f"The kind of a column takes {', '.join(names)}, got {quote(str(strange[0]))}.")
        lists = {name: fields[name] for name in ("values", "missing_codes") if name in fields}
        if wrong := [name for name, value in lists.items() if not isinstance(value, (list, tuple))]:
            raise ValueError(f"{wrong[0]} must be a list of texts, got {type(lists[wrong[0]]).__name__}.")
        return cls(**{**fields, **{name: tuple(value) for name, value in lists.items()}})


def natural_log(x: np.ndarray) -> np.ndarray:
    """Return the natural logarithm, by additions, products and quotients alone.

    Each of them is rounded as IEEE 754 has it, so a number has the same logarithm in every place of every array, on
    every machine; the sum of private rows relies on it. Libraries differ in the last digit.
    """
    part, power = np.frexp(x)
    small = part < math.sqrt(0.5)
    part, power = np.where(small, 2 * part, part), power - small
    s = (part - 1) / (part + 1)  # |s| <= 0.172: log(part) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
    square, series = s * s, np.zeros_like(s)
    for k in range(23, 1, -2):
        series = (series + 1 / k) * square
    return power * math.log(2) + 2 * (s + s * series)


def natural_exp(x: float) -> float:
    """Return e to the power of x, by operations that are rounded alike on every machine, as `natural_log`."""
    power = round(x / math.log(2))
    remainder = x - power * math.log(2)  # |remainder| <= 0.35
    term = series = 1.0
    for k in range(1, 17):
        term *= remainder / k
        series += term
    return math.ldexp(series, power)


def kind_by_name(name: str) -> str:
    """Return the kind that the name of a column sounds like: "" for free text, "number" where it says nothing."""
    words = name.lower().replace("_", " ")
    return next((kind for kind, pattern in _BY_NAME.items() if pattern.search(words)), NUMBER)


def day_of(text: str, form: str) -> int | None:
    """Return a date written in a form as days since 1970-01-01; None for any other text."""
    try:
        return datetime.datetime.strptime(text.strip(), form).toordinal() - FIRST_DAY
    except (ValueError, OverflowError):
        return None


def _day_of(name: str, value: object, form: str) -> int:
    if isinstance(value, datetime.date):
        return value.toordinal() - FIRST_DAY
    day = None
    if isinstance(value, str):
        day = day_of(value, ISO)
        day = day_of(value, form) if day is None else day
    if day is None:
        raise ValueError(
            f"{name} must be a date, such as '2024-01-31' or in the format {form!r}, got {name}={value!r}."
        )
    return day


def _date_format(form: object) -> str:
    """Return a format of dates that names a day and reads the same in every language, or raise ValueError."""
    text = checks.words("format", form, "how dates are written, such as '%d.%m.%Y'")
    directives = _DIRECTIVE.findall(text)
    if strange := [letter for letter in directives if letter not in tuple("YymdjHMS%")]:
        raise ValueError(f"format takes %Y, %y, %m, %d, %j, %H, %M and %S, got '%{strange[0]}' in {text!r}.")
    year, day = sum(map(directives.count, "Yy")), tuple(map(directives.count, "mdj"))
    once = all(directives.count(letter) < 2 for letter in "HMS")
    if year != 1 or day not in ((1, 1, 0), (0, 0, 1)) or not once or len(text) > _LONGEST:
        raise ValueError(
            f"format must name a year (%Y or %y), a month (%m) and a day (%d), or a year and its day (%j), each once, "
            f"got {text!r}."
        )
    return text


def texts_of(name: str, entries: object) -> tuple[str, ...]:
    """Return levels or codes as they are compared."""
    if isinstance(entries, (str, bytes)) or not hasattr(entries, "__iter__"):
        raise ValueError(f"{name} must be a list of texts, got {checks.describe(entries)}.")
    entries = tuple(entries)
    if any(map(checks.is_many, entries)):
        raise ValueError(f"{name} must be a list of texts, got a table.")
    texts = tuple(id_text(text) for text in entries)
    for raw, text in zip(entries, texts, strict=True):
        if not text:
            raise ValueError(f"{name} holds {raw!r}, which is a missing cell already. Leave it out.")
        checks.words(f"An entry of {name}", text, "text")
        if len(text) > _LONGEST:
            raise ValueError(
                f"{name} holds a text of {len(text):,} letters, and the most is {_LONGEST}: {quote(text)}."
            )
    if len(set(texts)) < len(texts):
        first, second = next((texts.index(text), at) for at, text in enumerate(texts) if texts.index(text) < at)
        raise ValueError(f"Entries {first + 1} and {second + 1} of {name} are the same. Leave one out.")
    return texts
