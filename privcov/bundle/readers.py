"""What the folder extras of a bundle holds for whoever analyses it: tables with intervals, and readers without privcov.

Every file follows from the measurement, bit for bit on every machine, so the check derives it again: no function here
uses more than quotients, roots and sums in a fixed order. What needs more, such as a regression, is
`privcov.answers(privcov.open_bundle(path))`.

**Rows for programs without privacy noise.** They take the variance of a correlation r of n rows for (1 - r^2)^2 / n.
With the variance of the privacy noise on it as well, v, n_eff is the number of rows at which both sums over all pairs
agree:

    sum (1 - r^2)^2 / n_eff = sum [(1 - r^2)^2 / n + v].

With one column it is that of the variance c: 2 c^2 / n_eff = 2 c^2 / n + N, N the variance of the noise on c.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

import numpy as np

from privcov.answering import entries
from privcov.answering.contrasts import classes_of
from privcov.answering.unbiased import REASONS, Intervals, UnbiasedMoments
from privcov.bundle.codebook import HEADINGS, codebook
from privcov.bundle.safe import cells, table
from privcov.measurements.exact_moment import NoisySum
from privcov.measurements.exact_reading import count_std, read_sum
from privcov.measurements.laws import tails
from privcov.postprocess.answers import Answers

LEVEL = 0.95
_ENDS = ("estimate", "low", "high")


def extra_files(total: NoisySum, answers: Answers, known: UnbiasedMoments, correlations: Intervals) -> dict[str, bytes]:
    """Return the files of the folder extras that follow from a measurement."""
    facts = total.facts
    units, one = known.scale[:, None] * known.scale[None, :], known.scale * known.scale
    names, pairs = cells(known.columns), np.triu_indices(known.d, 1)
    alone = [[name] for name in names]
    both = [[names[i], names[j]] for i, j in zip(*pairs, strict=True)]
    means = _moved(entries.means(known, LEVEL), known.scale, known.origin)
    variances = _moved(entries.variances(known, LEVEL, 0.0), one)
    covariances = _moved(_above(entries.covariances(known, LEVEL, 0.0), pairs), units[pairs])
    files = {
        "extras/rows.csv": _lines(("what", "value", "noise_std"), _rows(total, known, answers)),
        "extras/means.csv": _interval_lines(("column",), alone, means),
        "extras/variances.csv": _interval_lines(("column",), alone, variances),
        "extras/covariances.csv": _interval_lines(("first", "second"), both, covariances),
        "extras/correlations.csv": _interval_lines(("first", "second"), both, _above(correlations, pairs)),
        "extras/codebook.csv": _lines(HEADINGS, codebook(facts)),
        "extras/about.csv": _lines(("about",), [[f"Every number is about {known.population}."]]),
        "extras/read.py": READ_PY.encode(),
        "extras/read.R": READ_R.encode(),
    }
    if known.available is None:  # else the joint law of all entries is not derived
        files |= _for_regression(known, names)
    if facts.classes and total.n_anchors > 1:
        files |= _of_classes(total, known)
    if answers.shares is not None and answers.shares_std is not None:
        missing, std = 1.0 - np.diag(answers.shares), np.diag(answers.shares_std)
        lines = ([name, *map(_number, pair)] for name, *pair in zip(names, missing, std, strict=True))
        files["extras/missing.csv"] = _lines(("column", "share", "noise_std"), lines)
    return files


def n_eff(known: UnbiasedMoments, answers: Answers) -> float:
    """Return the number of rows whose sampling alone makes correlations as uncertain as they are here.

    The derivation is our own, in the docstring of the module.
    """
    variances = np.diag(answers.regular)
    if known.d == 1:
        noise = answers.noise_std[0, 0] / variances[0]
        return float(1 / (1 / known.rows + noise * noise / 2))
    r, spread = answers.correlation, np.sqrt(variances) / known.scale
    noise, sampling = (v[np.triu_indices(known.d, 1)] for v in entries.correlation_variances(known, r, spread))
    own = (1 - r * r)[np.triu_indices(known.d, 1)]
    there = ~np.isnan(noise)
    total = math.fsum((noise + sampling)[there].tolist())
    return math.fsum((own * own)[there].tolist()) / total if there.any() else math.nan


def _rows(total: NoisySum, known: UnbiasedMoments, answers: Answers) -> Iterable[Sequence[object]]:
    """Return what is known of the number of rows."""
    measured = known.measured
    std = 0.0 if measured.count is None else count_std(total)
    share = known.rows / measured.rows
    yield "rows", _number(measured.rows), _number(std)
    yield "independent", _number(known.rows), _number(std * share)
    yield "n_eff", _number(n_eff(known, answers)), _number(0.0)


def _for_regression(known: UnbiasedMoments, names: Sequence[str]) -> dict[str, bytes]:
    """Return regress.R and what it takes: the law of the noise, and the units of the columns."""
    law = known.law
    fields = ("off", "common", "mean", "count", "tie", "laplace", "freedom")
    numbers = [(name, _number(getattr(law, name))) for name in fields] + [("rows", _number(known.rows))]
    two = (known.span > 0).astype(np.float64)
    units = zip(names, *(map(_number, x) for x in (known.scale, known.origin, law.extra, two)), strict=True)
    return {
        "extras/law.csv": _lines(("what", "value"), numbers),
        "extras/columns.csv": _lines(("column", "scale", "origin", "extra", "two_values"), units),
        "extras/regress.R": REGRESS_R.encode(),
    }


def _of_classes(total: NoisySum, known: UnbiasedMoments) -> dict[str, bytes]:
    """Return counts and means of the classes; a class with too few rows for its noise has no mean."""
    whole, names = read_sum(total, "classes"), cells(total.facts.classes)
    found = classes_of(whole, known.d)
    std = math.sqrt(found.of_count + max(found.shared, 0.0)) * whole.rows
    counts = (
        [name, _number(share * whole.rows), _number(std)] for name, share in zip(names, found.shares, strict=True)
    )
    files = {"extras/class_counts.csv": _lines(("class", "rows", "noise_std"), counts)}
    if whole.flags is None:
        means = np.where(found.small[:, None], np.nan, known.origin + known.scale * found.means.T)
        files["extras/class_means.csv"] = table(means, known.columns, total.facts.classes, corner="class").encode()
    return files


def _moved(found: Intervals, unit: np.ndarray, origin: np.ndarray | float = 0.0) -> Intervals:
    """Return estimates and intervals in the owner's units."""
    estimate, low, high = (origin + unit * getattr(found, end) for end in _ENDS)
    return Intervals(estimate, low, high, found.reason)


def _above(found: Intervals, pairs: tuple[np.ndarray, ...]) -> Intervals:
    """Return the entries above the diagonal."""
    return Intervals(found.estimate[pairs], found.low[pairs], found.high[pairs], found.reason[pairs])


def _interval_lines(heads: tuple[str, ...], names: Iterable[list[str]], found: Intervals) -> bytes:
    """Return CSV of intervals; one that is not identified has no ends, and a reason."""
    ends = np.where(found.identified, [found.low, found.high], np.nan)
    numbers = zip(found.estimate, *ends, found.reason, strict=True)
    lines = ([*name, *map(_number, at), REASONS[why]] for name, (*at, why) in zip(names, numbers, strict=True))
    return _lines((*heads, *_ENDS, "reason"), lines)


def _lines(head: Sequence[str], lines: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return out.getvalue().encode()


def _number(value: float) -> str:
    """Return text that reads back as the same double."""
    return repr(float(value))


READ_PY = """\
# This bundle without privcov: python extras/read.py, or import it. ../verify.py checks the numbers; this does not.
import csv
from pathlib import Path

BUNDLE = Path(__file__).resolve().parents[1]


def table(name):
    with open(BUNDLE / name, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def matrix(name):
    return [[float(x) for x in line[1:]] for line in table(f"matrices/{name}.csv")[1:]]


columns, cov = table("matrices/regular.csv")[0][1:], matrix("regular")  # positive definite
about = table("extras/about.csv")[1][0]
n_eff = {what: float(value) for what, value, _ in table("extras/rows.csv")[1:]}["n_eff"]
if __name__ == "__main__":
    print(about, *columns, *cov, f"n_eff {n_eff:.0f}", *table("extras/correlations.csv"), sep="\\n")
"""

READ_R = """\
# This bundle in base R: setwd() to its folder, source("extras/read.R"). verify.py checks the numbers; this does not.
# lavaan::cfa(model, sample.cov = cov, sample.nobs = n_eff)    psych::fa(cov2cor(cov), nfactors = 2, n.obs = n_eff)
lines_of <- function(name) {
  read.csv(name, check.names = FALSE, colClasses = "character", na.strings = character(0), encoding = "UTF-8")
}
matrix_of <- function(name) {
  lines <- lines_of(file.path("matrices", paste0(name, ".csv")))
  numbers <- matrix(as.numeric(as.matrix(lines[-1])), nrow(lines))
  dimnames(numbers) <- list(lines[[1]], names(lines)[-1])
  numbers
}
cov <- matrix_of("regular")  # positive definite
n <- lines_of("extras/rows.csv")
n_eff <- as.numeric(n$value[n$what == "n_eff"])
correlations <- type.convert(lines_of("extras/correlations.csv"), na.strings = "nan", as.is = TRUE)
message(lines_of("extras/about.csv")$about)
"""

REGRESS_R = f"""\
# Slopes of one column on others, with the 95 % intervals of privcov.answers for privacy noise and sampling together:
# source("extras/read.R"); source("extras/regress.R"); regress("weight", c("age", "height"))
# privcov/answering/schur.py and law.py have the derivation; ridge is in squared half-ranges, scale of columns.csv.
law <- with(lines_of("extras/law.csv"), setNames(as.numeric(value), what))
columns <- lines_of("extras/columns.csv")
quantiles <- list(excess = c({", ".join(map(repr, tails.GRID.tolist()))}),
                  z = c({", ".join(map(repr, tails.STORED[LEVEL]))}))
regress <- function(y, on = setdiff(columns$column, y), ridge = 0) {{
  at <- match(c(y, on), columns$column)
  if (anyNA(at)) stop("no such column: ", paste(c(y, on)[is.na(at)], collapse = ", "))
  if (anyDuplicated(at)) stop("a column is named twice")
  if (length(on) < 1 || length(on) > law["rows"] / 3) stop("name a regressor, and at most a third as many as rows")
  of <- function(name) as.numeric(columns[[name]])[at]
  t2 <- law["off"]; tm <- law["mean"]; n <- law["rows"]; k <- length(on); x <- of("extra"); scale <- of("scale")
  C <- unname(matrix_of("noisy"))[at, at] / outer(scale, scale)
  m <- numeric(k + 1)
  if (tm > 0) {{
    C <- (C + tm * diag(k + 1)) * n / max(n - 1, 1)
    m <- (c(matrix_of("mean"))[at] - of("origin")) / scale
  }}
  u2 <- t2 + tm^2 + tm * sum(m^2) / (k + 1)
  S <- C[-1, -1, drop = FALSE] + ridge * diag(k)
  values <- eigen(S, symmetric = TRUE)$values
  if (min(values) <= 0 || u2 * sum(values^-2) > 1) {{
    warning("not identified: the noise is too large to invert the covariance")
    return(data.frame(column = on, estimate = NA_real_, std_error = NA_real_, low = NA_real_, high = NA_real_))
  }}
  P <- matrix(0, k + 1, k + 1)
  P[-1, -1] <- solve(S)
  e <- c(1, -P[-1, -1] %*% C[-1, 1])
  form <- function(v, A, w) sum(v * (A %*% w))
  bias <- function(v, w, Q) {{
    vw <- sum(v * w); both <- form(v, Q, w); mv <- sum(m * v); mw <- sum(m * w); trace <- sum(diag(Q))
    qm <- form(m, Q, m)
    (t2 + tm^2) * (vw * trace + both) + law["common"] * both + sum(x * diag(Q) * v * w) + law["count"] * mv * mw * qm +
      tm * (vw * qm + mw * form(m, Q, v) + mv * form(m, Q, w) + trace * mv * mw)
  }}
  noise <- function(v, w) {{
    A <- (outer(v, w) + outer(w, v)) / 2; Am <- A %*% m; q <- sum(m * Am) - sum(A * C); on <- sum(diag(A))
    found <- 2 * t2 * sum(A^2) + sum(x * diag(A)^2) + law["common"] * on^2 + 4 * tm * sum(Am^2) + 2 * tm^2 * sum(A^2)
    found <- max(found + law["count"] * q^2 + 2 * law["tie"] * q * on, 0)
    max(found - 4 * tm^2 * sum(A^2), found / 4)
  }}
  excess <- function(v, w) {{
    vv <- sum(v^2); ww <- sum(w^2); square <- sum(v * w)^2 / (vv * ww)
    if (law["laplace"] > 0) return(3 * sum(v^4) * sum(w^4) / (vv * ww)^2)
    if (law["freedom"] > 0) 6 / law["freedom"] * (2 + 12 * square + 2 * square^2) / (2 + 2 * square)^2 else 0
  }}
  slope <- function(j) {{
    v <- P[, j] / P[j, j]; Q <- P - outer(P[, j], P[, j]) / P[j, j]; D <- 1 / P[j, j] + bias(v, v, Q)
    variance <- function(step) {{
      w <- e - step * v; a <- max(form(v, C, v) + bias(v, v, Q), 0); s <- max(form(w, C, w) + bias(w, w, Q), 0)
      across <- if (ridge > 0) form(v, C, w) else 0; vv <- sum(v^2); ww <- sum(w^2)
      noise(v, w) + (a * s + across^2) / n + u2^2 * (vv * ww + sum(v * w)^2) * sum(Q^2) +
        u2 * (vv * s + ww * a) * sum(diag(Q)) / n + (k - 1) * a * s / n^2
    }}
    if (D <= 0) return(c(-e[j], NA, NA, NA))
    centre <- bias(v, e, Q) / D; middle <- variance(centre); own <- max(sqrt(middle) / D, 1e-12)
    up <- variance(centre + own); down <- variance(centre - own); w <- e - centre * v
    z <- approx(quantiles$excess, quantiles$z, min(excess(v, w) * (noise(v, w) / middle)^2, max(quantiles$excess)))$y
    a <- D^2 - z^2 * (up + down - 2 * middle) / 2 / own^2; b <- z^2 * (up - down) / 2 / own
    if (a <= 0) return(c(centre - e[j], NA, NA, NA))
    ends <- (b + c(-1, 1) * sqrt(max(b^2 + 4 * a * z^2 * middle, 0))) / (2 * a)
    c(centre - e[j], own, centre - e[j] + ends)
  }}
  found <- t(vapply(seq_len(k) + 1, slope, numeric(4))) * scale[1] / scale[-1]
  if (any(of("two_values") > 0)) found[, 2:4] <- NA  # their sampling error is not known here
  data.frame(column = on, estimate = found[, 1], std_error = found[, 2], low = found[, 3], high = found[, 4])
}}
"""
