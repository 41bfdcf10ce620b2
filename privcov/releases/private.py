"""`release_private`: the only way from private rows to a release, in five steps.

    step      reads rows                                where it fails
    plan      no                                        nothing was read, nothing is paid
    reserve   once: the fingerprint, and in files the   nothing is paid, or the message says that the cost may have
              exact sums                                been entered
    measure   those in memory; noise is drawn           the cost counts, and nothing was published
              (a row bound search: files again)
    store     no                                        the cost counts, and nobody received the measurement
    finish    no, only noisy numbers                    nothing more: the same request tries again for free, and
                                                        so does `release_from_measurement`

What is asked for is settled in `privcov.releases.private_request`, from public facts. The ledger keeps the request and
its measurement; the release follows from them, every time the same. A request that is stored is neither measured nor
paid again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from privcov.core import checks, extras
from privcov.core.guarantees import Event, Guarantee, from_dict, to_dict
from privcov.core.parallel import ParallelError
from privcov.estimators.base import METHODS
from privcov.ledger import Ledger
from privcov.ledger.fingerprint import fingerprint
from privcov.ledger.ledger import Payment
from privcov.measurements.exact.file_pass.table_pass import PassError
from privcov.measurements.exact.private_moment import PURE, NoisySum, anchor_of, measure_exactly, norm_of
from privcov.measurements.exact.reading import count_std, noise_of, read_sum
from privcov.measurements.noise import FREE_GROUPS
from privcov.releases.private_request import PrivateRequest, private_request
from privcov.releases.public import delta_warning
from privcov.releases.release import Release
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import MAX_FILE_ROWS, MAX_ROWS, PublicFacts
from privcov.tables.readers import TableFileError

MAX_DRAWS = 10**9
_FREE = (
    "privcov.releases.private_request.release_from_measurement makes another method's release of the same measurement "
    "and costs nothing; release_private with another method measures anew, and pays."
)

T = TypeVar("T")


class MeasurementError(RuntimeError):
    """Raised where a pass over private rows failed; the message says nothing about the rows."""


@checks.explain_arguments
def release_private(
    private: PrivateDataset,
    guarantee: Guarantee,
    method: str = "auto-cov",
    *,
    ledger: Ledger,
    centre: Literal["auto", "joint", "classes"] = "auto",
    draw: int = 1,
    token: str | None = None,
    expected_rows: int | None = None,
    **parameters: Any,
) -> Release:
    """Make one release from private rows, paid from the ledger.

    A person is all of their rows: those with one id, or up to the declared ``rows_per_person``. The calibration is
    always sound, and nothing is tuned on the rows.

    Parameters
    ----------
    private : PrivateDataset
        The table.
    guarantee : PureDP, ApproxDP or ZCDP
        Kept for all rows of a person together, and paid from the limit that the ledger has for ``private.name``.
    method : str
        A key whose `reason_against` is empty.
    ledger : Ledger
        Where the release is entered before anything is drawn.
    centre : {"auto", "joint", "classes"}
        "auto": "classes" where classes are declared and the method measures them, else "joint"; with missing="pairs"
        always "joint". See `release`.
    draw : int
        The same request on the same table, under the same token, is one release and costs once, however often it is
        made and by however many processes. draw=2 asks for another one, and pays again.
    token : str or None
        Your own name for the request. A new name makes a new release, which is paid.
    expected_rows : int or None
        A public guess of the number of rows where it is not public. It is used only to refuse, before anything is read
        or spent, noise that exceeds all that so many rows can add up to. None takes the noisy count of the newest
        release whose count is clearly above its noise; without such a release, the most rows that a table may have.
    **parameters : object
        The method's own parameters.

    Returns
    -------
    Release
        As it is stored in the ledger.

    Raises
    ------
    TypeError
        For arguments of another type, and for a seed, a generator or a neighbouring relation, which cannot be chosen.
    ValueError
        With the reason, where the request is refused or its release was lost; `LedgerError` is one.
    MeasurementError
        With an identifier and no detail, if the fingerprint or the measurement fails; it says what that costs.
    RuntimeError
        For a defect: a planned measurement that spends more than was asked for. Nothing is spent.
    TableFileError, ParallelError, PassError
        Where the files of a table cannot be read or their pass fails; nothing is spent.

    Guarantee
    ---------
    The release has the guarantee under the neighbouring relation of the declaration (replace-one where the number of
    rows is public, else add-remove), for all rows of a person together. The measurement is exact: whole numbers,
    discrete noise from the operating system's randomness, no seed.

    Spends
    ------
    The whole guarantee, once per request, from the limit of the table; a repeated request spends nothing. Nothing is
    refunded: what is reserved counts, also when the release fails.

    Reference
    ---------
    Canonne, Kamath and Steinke 2020 for discrete Gaussian noise. The sensitivities are proved in
    measurements/moment.py and measurements/exact/private_moment.py.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import privcov
    >>> rows = np.random.default_rng(0).uniform(size=(10_000, 2))
    >>> private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 1), (0, 1)], name="survey")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = privcov.Ledger(Path(folder) / "ledger.sqlite")
    ...     account = ledger.set_limit("survey", privcov.ZCDP(rho=1.0))
    ...     rel = privcov.release_private(private, privcov.ZCDP(rho=0.5), "gaussian-cov", ledger=ledger)
    ...     print(ledger.account("survey").sentence)
    1 release so far; of 1-zCDP there remains rho 0.5 in zCDP. Unit: one row; the number of rows is public.
    >>> print(rel.statement["Guarantee"])
    0.5-zCDP; asked for 0.5-zCDP
    """
    plan = _plan(method, private, guarantee, ledger, centre, draw, token, expected_rows, parameters)
    if doubt := delta_warning(private.facts.n, guarantee):
        warnings.warn(doubt, stacklevel=3)
    with plan.alone, _reserve(plan) as payment:
        if payment.stored is None:
            payment.store(_measure(plan))
    return _finish(payment)


# --- 1: plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """A release that can be made as far as public facts tell: the table, the ledger, and what is asked for.

    fields: the request as the ledger keeps it; equal ones on a table are one release. token: its name there.
    """

    private: PrivateDataset
    ledger: Ledger
    request: PrivateRequest
    fields: dict[str, Any]
    token: str

    @property
    def alone(self) -> contextlib.AbstractContextManager:
        """Held while the rows of a table in files are in use: two releases at once would share its one pass."""
        return contextlib.nullcontext() if self.private.files is None else self.private.files.alone


def _plan(
    method: str,
    private: PrivateDataset,
    guarantee: Guarantee,
    ledger: Ledger,
    centre: str,
    draw: int,
    token: str | None,
    expected_rows: int | None,
    parameters: dict[str, Any],
) -> _Plan:
    if not isinstance(private, PrivateDataset):
        remedy = "Make one with PrivateDataset.from_rows(table, ...), or use release for public rows."
        if isinstance(private, Guarantee):
            remedy = "The table comes first: release_private(table, guarantee, ledger=ledger)."
        raise TypeError(f"private must be a PrivateDataset, got {type(private).__name__}. {remedy}")
    if not isinstance(ledger, Ledger):
        raise TypeError(
            f"ledger must be a privcov.Ledger, got {type(ledger).__name__}: private rows are released on the record "
            "only. Open one with privcov.Ledger(path)."
        )
    if expected_rows is not None and private.facts.n is not None:
        raise ValueError("expected_rows is a guess for a hidden number of rows, and here it is public: leave it out.")
    token = None if token is None else checks.one_line("token", token, "text, or None")
    draw = checks.integer("draw", draw, 1, MAX_DRAWS, "Use 1 for the first draw; 2 is another one, and pays again.")
    request = private_request(method, private.facts, guarantee, centre, parameters)
    card = request.method.card
    fields = {
        "method": card.key,
        "version": card.version,
        "parameters": {s.name: getattr(request.method, s.name) for s in card.parameters},
        "guarantee": to_dict(guarantee),
        "facts": private.facts.to_dict(),
        "draw": draw,
        "centre": request.input.centre,
        "tuning": request.input.tuning,
    }
    plan = _Plan(private, ledger, request, fields, token or ledger.token_of(private.name, fields))
    if ledger.stored(plan.token) is None:
        extras.require("opendp", "Private releases")
        rows = _rows_of(private, ledger, expected_rows)
        if useless := _reason_useless(private.facts, request.event(), *rows):
            raise ValueError(useless)
        if private.files is not None:  # what the ledger refuses is refused before the files are read
            ledger.check(private.name, guarantee, fields, plan.token)
    return plan


def _reason_useless(facts: PublicFacts, event: Event, rows: float, source: str) -> str:
    """Return a sentence if the noise of this event would hide everything, else "".

    A release says nothing where the noise on an entry exceeds the number of rows. No entry can be larger, in units of
    R^2.
    """
    gaussian = FREE_GROUPS if event.norm == norm_of(FREE_GROUPS) else "isotropic"
    shape = event.mechanism if event.mechanism in PURE else gaussian
    distribution = noise_of(facts, shape, event.scale, facts.n_anchors, facts.n_anchors, 1)
    std = distribution.diagonal_std if facts.width == 1 else distribution.off_diagonal_std
    if std <= rows:
        return ""
    return (
        f"This release would say nothing: the noise on an entry has a standard deviation of {std:.3g} R^2, and "
        f"{rows:,.0f} rows ({source}) add up to {rows:,.0f} R^2 at most. Nothing was spent. Ask for a weaker guarantee"
        + (", or declare fewer rows per person." if facts.rows_per_person > 1 else ".")
    )


def _rows_of(private: PrivateDataset, ledger: Ledger, expected: int | None) -> tuple[float, str]:
    """Return the number of rows by which to judge the noise, from public or already released facts, and its source."""
    if private.facts.n is not None:
        return private.facts.n, "public"
    if expected is not None:
        return checks.integer("expected_rows", expected, 1, MAX_FILE_ROWS), "as expected"
    for entry in reversed(ledger.entries(private.name, last=20)):
        text = ledger.stored(entry.token)
        if not text or (noisy := read_measurement(text)).facts.n is not None:
            continue
        count = read_sum(noisy, "joint").n_rows
        if count > 3 * count_std(noisy):  # a smaller count may be noise, and would refuse useful releases
            return count, f"the noisy count of release {entry.number}"
    return (MAX_FILE_ROWS if private.files is not None else MAX_ROWS), "the most a table may have"


# --- 2: reserve ---------------------------------------------------------------------------------------------------


def _reserve(plan: _Plan) -> Payment:
    """Return the payment, which holds the stored answer where this very request was made before."""
    anchor = anchor_of(plan.private.facts, plan.request.measurement_request.anchor_for)
    mark = _apart(
        lambda: fingerprint(plan.private, plan.ledger.key, anchor),
        "The table could not be compared with those in the ledger (id {}). Nothing was drawn and nothing more spent.",
        (TableFileError, ParallelError, PassError),
    )
    guarantee = plan.request.input.guarantee
    return plan.ledger.reserve(plan.private.name, guarantee, plan.fields, fingerprint=mark, token=plan.token)


def _apart(act: Callable[[], T], failed: str, exceptions: tuple[type[Exception], ...] = ()) -> T:
    """Run a function on rows. Its error is replaced, because the traceback leads to frames with rows.

    Its message may depend on the rows, so an identifier takes its place; those of ``exceptions`` say nothing about
    them.
    """
    problem: BaseException
    try:
        return act()
    except exceptions as error:
        problem = type(error)(str(error))
    except KeyboardInterrupt:
        problem = KeyboardInterrupt()
    except Exception:
        problem = MeasurementError(failed.format(secrets.token_hex(4)))
    raise problem


# --- 3: measure ---------------------------------------------------------------------------------------------------


def _measure(plan: _Plan) -> str:
    """Return the answer to store, as text: the request, and the noisy whole numbers."""

    def measure() -> NoisySum:
        noisy = measure_exactly(plan.private, **vars(plan.request.measurement_request))
        plan.request.checked_events(noisy.events)
        return noisy

    failed = (
        "The private measurement failed (id {}). Nothing was published, and what it would have cost counts as spent."
    )
    return json.dumps({"request": plan.fields, "measurement": _apart(measure, failed).to_dict()}, allow_nan=False)


# --- 4: store, by `Payment.store` ---------------------------------------------------------------------------------
# --- 5: finish ----------------------------------------------------------------------------------------------------


def _finish(payment: Payment) -> Release:
    """Return the release that follows from what is stored, with its entry.

    A failure depends on noisy numbers and public facts only, so its message may be shown.
    """
    assert payment.stored is not None, "what was paid is stored"
    return Release(**vars(read_release(payment.stored)) | {"entry": payment.entry.to_dict()})


def read_release(text: str) -> Release:
    """Return the release that follows from what a ledger stores; the same text gives the same doubles."""
    noisy, request = read_measurement(text), json.loads(text)["request"]
    key, version = request["method"], METHODS.get(request["method"]).version
    if version != request["version"]:
        raise ValueError(
            f"This release was made by version {request['version']} of {key}, and this is version {version}, whose "
            f"numbers may be others. {_FREE}"
        )
    choices = {**request["parameters"], "tuning": request["tuning"]}
    original = private_request(key, noisy.original_facts, from_dict(request["guarantee"]), request["centre"], choices)
    if not original.matches(noisy):
        raise ValueError("The stored measurement belongs to another release, so nothing follows from it.")
    try:
        return Release(**vars(original.finish(noisy)) | {"measurement": noisy})
    except Exception as failure:
        why = (str(failure) or type(failure).__name__).rstrip(".")
        raise ValueError(f"The measurement is stored, but the method could not use it: {why}. {_FREE}") from failure


def read_measurement(answer: str) -> NoisySum:
    """Return the noisy whole numbers in a ledger's answer; everything else follows from them."""
    fields = json.loads(answer)
    if not isinstance(fields, dict) or not {"request", "measurement"} <= fields.keys():
        raise ValueError(
            "The stored text holds no measurement; give the answer of an entry of the ledger that is a private release."
        )
    return NoisySum.from_dict(fields["measurement"])
