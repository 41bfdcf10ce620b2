"""What a live audit can see and what it cannot, in words."""

from __future__ import annotations

import math

import streamlit as st

from pages.shell import show
from privcov.audit.bounds import ERROR, reach
from privcov.audit.live import Asked
from privcov.audit.pairs import LONG
from privcov.privacy import ApproxDP, ZCDP

_ZCDP = """
- **Rho from one set.** Whether the answer lies in the set is a coin. A claim of rho limits the Renyi divergences of
  the two coins, either way round, to rho times their order; the largest of them over its order is what is proved. Of
  Gaussian noise a set half way between the two answers shows 2/pi = 64 % of a small rho. Sets further out show more,
  but few draws reach them: as a rule, noise less than 1.25 times too small passes."""
_EXACT = """
- **Of a private release** this sees the whole numbers of the measurement, to the last bit, and so everything that is
  made from them. It does not see the ledger (what is spent, the same request answered twice), the fingerprint, what an
  error says, a bad source of random numbers in the operating system, or several releases together. A fault that shows
  only with many rows, or with very few of all possible rows, is not found by drawing these two tables.
- **Not repeatable.** The noise comes from the operating system, so the next audit counts other draws."""
_BITS = """
- **Rounding.** Answers are rounded to 2^-30 first. Without that, floating-point noise is caught by its last bits
  (Mironov 2012): switch it on above. Releases of private tables add whole-number noise for that reason."""


def section(asked: Asked) -> None:
    """The whole explanation for what is asked."""
    reached(asked, asked.draws // 2)
    exact = asked.made.exact
    what = "the second moment jointly with the mean or the count" if exact else "the uncentred second moment"
    scale = "The noise of the exact sum does not depend on them" if exact else "Noise and sensitivity both fall as 1/n"
    count = "" if exact else ", the number of rows"
    size = "10 rows, or 9 without the person" if asked.made.hidden else f"{asked.made.rows} row(s)"
    st.markdown(
        f"""
- **How it works.** Half of the draws find the set that separates the two tables best, among several numbers computed
  from the answer; the other half count it. Bounds are exact (Clopper and Pearson 1934), for two sets and two tables,
  together at {1 - ERROR:.1%} confidence: a mechanism that keeps its claim is accused at most once in
  {1 / ERROR:,.0f} audits.{_ZCDP if isinstance(asked.claim, ZCDP) else ""}
- **Not caught is not proved.** A black box shows only what its draws show: not a rare event (a small delta), another
  pair of tables, more columns, a cleverer number than those tried. Proofs are in the code; an audit can only refute.
- **Several steps.** A black box proves at most a third of such a claim. So methods in several steps are also replayed:
  along the same answers on two neighbouring tables, every step must cost at most what its event says, and depend on
  rows through earlier answers only. That holds for the pairs that were searched; for all pairs there are the proofs.
- **Blind to** anything that is not in the matrix: a choice made on raw rows before, time, errors{count}.
- **Tables.** {size}, public bound R = 1, answers about {what}. {scale}, so more rows change nothing. A row {LONG:g}
  times too long is among the pairs: clipping must hide it.{_EXACT if exact else _BITS}
"""
    )


def reached(asked: Asked, draws: int) -> None:
    """What so many test draws can see."""
    can = reach(asked.claim, draws)
    name = "rho" if isinstance(asked.claim, ZCDP) else "epsilon"
    if math.isfinite(can.factor):
        st.markdown(
            show.as_text(
                f"Noise that is {can.factor:.2f} times too small, so that {name} is really {can.level:.3g}, is "
                f"caught nine times in ten, in the most favourable case. {draws:,} test draws can prove no {name} "
                f"above {can.ceiling:.2f}."
            )
        )
    else:
        more = ", or a larger delta" if isinstance(asked.claim, ApproxDP) else ""
        st.markdown(f"No lack of noise would be seen with so few draws at this claim: take more draws{more}.")
