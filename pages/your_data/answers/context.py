"""One release as its answers are shown: from the ledger or from a bundle, with what its visitor has chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

import privcov
from pages.common import show
from pages.your_data.state import widget_args_in
from privcov.bundle.codebook import HEADINGS, about_rows, codebook
from privcov.bundle.derived import noisy_of
from privcov.bundle.read import OpenedBundle, StoredRelease
from privcov.bundle.safe import cells
from privcov.core.guarantees import Guarantee, from_dict
from privcov.core.words import percent, to_powers
from privcov.inference.answers import FALSE_DISCOVERIES, ReleaseAnswers
from privcov.inference.matrix_error import matrix_error
from privcov.inference.unbiased import ONE_COLUMN, REASONS, TWO_VALUED
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.moment import NoisyMoment
from privcov.postprocess.matrices import Matrices, derive
from privcov.releases.private_request import private_request, release_from_measurement
from privcov.releases.release import Release
from privcov.tables.dataset import ValueCache

LEVELS = (0.8, 0.9, 0.95, 0.99)
RATES = (0.01, 0.05, 0.1, 0.2)
OF_ALL = ("partial", "precision")  # matrices conditional on all other columns
_TELLS = {"Useful": 0.1, "Rough": 0.3}  # largest half-width of an interval for each word
_ERRS = {"Useful": 0.2, "Rough": 0.6}  # largest error of a covariance for each word
_NUMBERS = ("estimate", "ci_low", "ci_high", "std_error", "p_value")


@dataclass(eq=False)
class ShownRelease:
    """A release, and what its visitor has chosen: the widgets' values by name, and how their keys begin."""

    key: str
    source: StoredRelease | OpenedBundle
    widget_values: dict = field(default_factory=dict)
    cache: ValueCache = field(default_factory=ValueCache, repr=False)

    @property
    def measurement(self) -> NoisySum:
        """The noisy whole numbers."""
        return self.source.measurement

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.source.columns

    @cached_property
    def spoken(self) -> dict[str, str]:
        """The names of the columns as they may stand in a table or a file."""
        return dict(zip(self.columns, cells(self.columns), strict=True))

    @cached_property
    def noisy_moment(self) -> NoisyMoment:
        """The noisy moment."""
        return noisy_of(self.measurement)[0]

    @cached_property
    def matrices(self) -> Matrices:
        """The repaired matrices, as the files of the bundle have them."""
        return self.source.matrices if isinstance(self.source, StoredRelease) else derive(noisy_of(self.measurement)[1])

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that was asked for."""
        guarantee = (
            self.source.release.actual_guarantee if isinstance(self.source, StoredRelease) else self.source.guarantee
        )
        assert guarantee is not None, "a private release has one"
        return guarantee

    def estimate(self, method: str) -> Release:
        """Return what a method makes of the measurement; it spends nothing."""
        make = partial(release_from_measurement, method, self.measurement, self.guarantee, centre="joint")
        return self.cache.once(("estimate", method), make)

    def error_of(self, method: str) -> float | None:
        """Return the largest likely error of a method's covariance, from the release alone; see `matrix_error`."""
        request = private_request(method, self.measurement.facts, self.guarantee)
        if request.method.card.family == "Threshold":  # not smooth
            return None
        make = partial(matrix_error, *noisy_of(self.measurement), request.covariance_of)
        return self.cache.once(("error", method), make)

    @property
    def level(self) -> float:
        """The nominal coverage that was chosen."""
        return self.widget_values.get("level", 0.95)

    @property
    def rate(self) -> float:
        """The rate of false discoveries that was chosen."""
        return self.widget_values.get("rate", FALSE_DISCOVERIES)

    @property
    def release(self) -> Release | OpenedBundle:
        """Input of `privcov.answers`."""
        return self.source.release if isinstance(self.source, StoredRelease) else self.source

    def answers(self) -> ReleaseAnswers:
        """Return the answers under what was chosen; raises ValueError where the guarantee is not established."""
        level, kurtosis = self.level, self.widget_values.get("kurtosis", 0.0)
        make = partial(privcov.answers, self.release, level=level, kurtosis=kurtosis)
        return self.cache.once(("answers", level, kurtosis), make)

    @cached_property
    def ranges(self) -> pd.Series:
        """From the lowest to the highest possible value of each column, by its name; 1 without bounds."""
        bounds = self.measurement.facts.bounds
        return pd.Series(1.0 if bounds is None else bounds[:, 1] - bounds[:, 0], index=self.columns)

    @property
    def range_unit(self) -> str:
        """Unit of a picture that shows several columns, in words."""
        bounds = self.measurement.facts.bounds
        return "in the columns' own units" if bounds is None else "columns scaled from 0 to 1"

    def keep(
        self,
        name: str,
        default: object,
        *,
        among: Sequence | None = None,
        argument: Literal["value", "default"] = "value",
    ) -> dict[str, Any]:
        """Return what `state.widget_args` returns, for a widget of this release."""
        return widget_args_in(self.widget_values, f"{self.key}-{name}", name, default, among=among, argument=argument)

    def segments(self, label: str, options: dict[str, str], name: str) -> str:
        """Show a bar of options, the first one chosen at first; return the key of the chosen one."""
        choice = st.segmented_control(
            label,
            list(options),
            required=True,
            format_func=options.__getitem__,
            label_visibility="collapsed",
            **self.keep(name, next(iter(options)), argument="default"),
        )
        assert choice is not None  # one is always chosen
        return choice

    def column(self, label: str, name: str, names: Sequence[str] | None = None, at: int = 0) -> str:
        """Show a list of columns, or of other names; return the chosen one."""
        options = tuple(self.columns if names is None else names)
        place = self.keep(name, min(at, len(options) - 1), among=range(len(options)))
        return options[st.selectbox(label, range(len(options)), format_func=options.__getitem__, **place)]

    def settings(self) -> None:
        """Show the level, the rate of false discoveries and what is assumed of the rows."""
        with st.expander("Level and assumptions"):
            st.select_slider("Level of every interval", LEVELS, format_func=percent, **self.keep("level", 0.95))
            st.select_slider(
                "Rate of false discoveries",
                RATES,
                format_func=percent,
                help="Of the pairs that are called real, so many have no relation at all, on average over releases.",
                **self.keep("rate", FALSE_DISCOVERIES),
            )
            st.number_input(
                "Excess kurtosis of the rows",
                0.0,
                300.0,
                step=1.0,
                format="%g",
                help="0 for Gaussian rows, 6 for Student's t with five degrees of freedom. It widens variances, "
                "covariances and correlations.",
                **self.keep("kurtosis", 0.0),
            )


def head(panel: ShownRelease, entry: dict) -> None:
    """Show what was released: the table, how many rows, the guarantee, and how its limit was raised before."""
    facts = panel.measurement.facts
    unit, noisy = facts.neighbours.count_unit, f"about {panel.noisy_moment.n_rows:,.0f}"
    rows = f"{noisy} {unit} (a noisy count)" if facts.n is None else f"{facts.n:,} {unit}"
    guarantee = to_powers(str(from_dict(entry["request"]["guarantee"])))
    show.tag("Released", f"{entry['name']}: {rows}, {facts.d} columns, {guarantee}")
    for words in entry["raised"]:
        st.caption(show.as_text(f"{words}."))


def show_codebook(panel: ShownRelease) -> None:
    """Show what every column is."""
    with st.expander("Codebook"):
        st.markdown(show.as_text(" ".join(about_rows(panel.measurement.facts))))
        st.dataframe(pd.DataFrame(codebook(panel.measurement.facts), columns=list(HEADINGS)), hide_index=True)


def lines(panel: ShownRelease, table: pd.DataFrame, name: str, *, most: int = 320) -> None:
    """Show an answer as a table, with its download; what is not identified has no interval and a reason."""
    spoken = {name: name for name in table.get("column", ())} | panel.spoken  # a score has a name of ours
    safe = table.assign(**{c: table[c].map(spoken) for c in ("column", "first", "second") if c in table})
    view = safe if (table["reason"] != "").any() else safe.drop(columns=["reason", "identified"])
    view = pd.DataFrame(view.dropna(axis=1, how="all"), copy=True)
    view.attrs = {}  # they would be sent with it, and a number that is not identified is no JSON
    number = {c: st.column_config.NumberColumn(c.replace("_", " "), format="%.4g") for c in _NUMBERS if c in table}
    st.dataframe(view, hide_index=True, height=min(35 * (len(table) + 1) + 3, most), column_config=number)
    text = safe.to_csv(index=False)
    show.download("This answer as CSV", lambda: text, f"{name}.csv", f"own-csv-{name}")


def rescale(table: pd.DataFrame, unit: pd.Series | np.ndarray, start: pd.Series | float = 0.0) -> pd.DataFrame:
    """Return an answer in other units, for a picture of several columns."""
    return table.assign(**{end: (table[end] - np.asarray(start)) / np.asarray(unit) for end in _NUMBERS[:3]})


def about(table: pd.DataFrame) -> None:
    """Show what an answer is about, what it assumes, and the coverage that was measured for it."""
    attrs = table.attrs
    st.caption(
        show.as_text(
            f"About {attrs['population']}. Assumed: {attrs['assumes']}; level {percent(attrs['level'])}. "
            f"{attrs['coverage']}"
        )
    )


def verdict(correlations: pd.DataFrame) -> str:
    """Return in words whether a release tells its correlations: the typical half of their intervals, as markdown."""
    judged = correlations[under_test(correlations) & (correlations["reason"] != REASONS[TWO_VALUED])]
    if judged.empty:
        return "There are no two columns to compare."
    half = (judged["ci_high"] - judged["ci_low"]) / 2
    typical = float(half.where(judged["identified"], 1.0).median())
    word = next((word for word, most in _TELLS.items() if typical <= most), "Useless")
    remedy = "" if word == "Useful" else " More rows, fewer columns or a weaker guarantee would narrow them."
    interval = f"half of its {percent(correlations.attrs['level'])} interval: noise and sampling"
    return f"**{word} here.** A typical correlation is known to ± {typical:.2f} ({interval}).{remedy}"


def matrix_verdict(error: float | None) -> str:
    """Return in words how far a covariance errs at most, as markdown."""
    if error is None:
        why = "the noise is too strong, cells are missing, or the method cuts entries"
        return f"How far it errs cannot be told from the release: {why}."
    word = next((word for word, most in _ERRS.items() if error <= most), "Useless")
    return (
        f"**{word} here.** By noise and shrinkage the covariance errs by at most about {percent(error)} of its size, "
        f"in units of the declared ranges, "
        f"and zeros by {percent(1.0)}: told by the release itself, about the rows as clipped and shortened."
    )


def unknown(table: pd.DataFrame) -> None:
    """Show how many answers are not identified, and why."""
    missing = table.loc[~table["identified"], "reason"].value_counts()
    if not missing.sum():
        return
    why = "; ".join(f"{reason} ({count})" for reason, count in missing.items())
    st.warning(show.as_text(f"Not identified: {missing.sum()} of {len(table)}. {why[:1].upper()}{why[1:]}."))


def under_test(pairs: pd.DataFrame) -> pd.Series:
    """Return which pairs are under test: two levels of one column are not."""
    return pairs["reason"] != REASONS[ONE_COLUMN]


def square(table: pd.DataFrame, column: str, columns: tuple[str, ...], *, fill: float | bool) -> np.ndarray:
    """Return one column of an answer by pairs as a symmetric d x d array with this diagonal."""
    d = len(columns)
    matrix = np.full((d, d), fill, dtype=bool if isinstance(fill, bool) else np.float64)
    i, j = np.triu_indices(d, 1)
    matrix[i, j] = matrix[j, i] = table[column].to_numpy()
    return matrix


def doubtful(answers: ReleaseAnswers, target: str, rate: float, total: NoisySum) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs of a matrix may be noise alone, and which are hatched, both d x d.

    The hatched ones are not identified, or known: levels of one column exclude each other.
    """
    untested = target in OF_ALL and bool(total.facts.flagged)  # where missing cells are measured by pairs
    judged = answers.correlations(rate) if target not in OF_ALL or untested else answers.partial_correlations(rate)
    tested = under_test(judged)
    judged = judged.assign(pale=tested & ~(judged["reject"] & (not untested)), unknown=~judged["identified"])
    return square(judged, "pale", answers.columns, fill=False), square(judged, "unknown", answers.columns, fill=False)
