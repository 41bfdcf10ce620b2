"""The folder extras of a bundle, for analysts: tables with intervals, and readers without privcov.

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

from privcov.bundle.codebook import HEADINGS, codebook
from privcov.bundle.safe import cells, table
from privcov.inference import entries
from privcov.inference.contrasts import classes_of
from privcov.inference.factors import NO_FIT
from privcov.inference.unbiased import REASONS, Intervals, UnbiasedMoments
from privcov.measurements.exact.moment import NoisySum
from privcov.measurements.exact.reading import count_std, read_sum
from privcov.measurements.noise_theory import tails
from privcov.postprocess.matrices import Matrices

LEVEL = 0.95
_ENDS = ("estimate", "low", "high")
_COLUMNS = ("column", "declared", "scale", "origin", "extra", "low", "span", "whole")


def extra_files(
    total: NoisySum, matrices: Matrices, known: UnbiasedMoments, correlations: Intervals
) -> dict[str, bytes]:
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
        "extras/rows.csv": _lines(("what", "value", "noise_std"), _rows(total, known, matrices)),
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
    if matrices.shares is not None and matrices.shares_std is not None:
        missing, std = 1.0 - np.diag(matrices.shares), np.diag(matrices.shares_std)
        lines = ([name, *map(_number, pair)] for name, *pair in zip(names, missing, std, strict=True))
        files["extras/missing.csv"] = _lines(("column", "share", "noise_std"), lines)
    return files


def n_eff(known: UnbiasedMoments, matrices: Matrices) -> float:
    """Return the number of rows whose sampling alone makes correlations as uncertain as here, as derived above."""
    variances = np.diag(matrices.regular)
    if known.d == 1:
        noise = matrices.noise_std[0, 0] / variances[0]
        return float(1 / (1 / known.rows + noise * noise / 2))
    r, spread = matrices.correlation, np.sqrt(variances) / known.scale
    noise, sampling = (v[np.triu_indices(known.d, 1)] for v in entries.correlation_variances(known, r, spread))
    own = (1 - r * r)[np.triu_indices(known.d, 1)]
    there = ~np.isnan(noise)
    total = math.fsum((noise + sampling)[there].tolist())
    return math.fsum((own * own)[there].tolist()) / total if there.any() else math.nan


def _rows(total: NoisySum, known: UnbiasedMoments, matrices: Matrices) -> Iterable[Sequence[object]]:
    measured = known.measured
    std = 0.0 if measured.count is None else count_std(total)
    share = known.rows / measured.rows
    yield "rows", _number(measured.rows), _number(std)
    yield "independent", _number(known.rows), _number(std * share)
    yield "n_eff", _number(n_eff(known, matrices)), _number(0.0)


def _for_regression(known: UnbiasedMoments, names: Sequence[str]) -> dict[str, bytes]:
    """Return answers.R and what it takes: the law of the noise, and units and values of the columns."""
    law = known.law
    fields = ("off", "common", "mean", "count", "tie", "laplace", "freedom")
    numbers = [(name, _number(getattr(law, name))) for name in fields] + [("rows", _number(known.rows))]
    low, whole, declared = np.zeros(known.d), np.ones(known.d), [""] * known.d
    if (two := known.two) is not None:
        low, whole = two.low, whole * np.asarray(two.whole)
        for name, block in zip(cells(two.names), two.blocks, strict=True):
            declared[block[0] : block[-1] + 1] = [name] * len(block)
    ends = (known.scale, known.origin, law.extra, low, known.span, whole)
    units = zip(names, declared, *(map(_number, x) for x in ends), strict=True)
    return {
        "extras/law.csv": _lines(("what", "value"), numbers),
        "extras/columns.csv": _lines(_COLUMNS, units),
        "extras/answers.R": _answers_r().encode(),
    }


def _answers_r() -> str:
    """Return answers.R with its quantiles and its warning."""
    numbers = {"LEVEL": f"{LEVEL:.0%}", "NO_FIT": NO_FIT}
    numbers |= {"EXCESS": ", ".join(map(repr, tails.GRID.tolist())), "Z": ", ".join(map(repr, tails.STORED[LEVEL]))}
    text = ANSWERS_R
    for name, value in numbers.items():
        text = text.replace(f"@{name}@", value)
    return text


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
    estimate, low, high = (origin + unit * getattr(found, end) for end in _ENDS)
    return Intervals(estimate, low, high, found.reason)


def _above(found: Intervals, pairs: tuple[np.ndarray, ...]) -> Intervals:
    return Intervals(found.estimate[pairs], found.low[pairs], found.high[pairs], found.reason[pairs])


def _interval_lines(heads: tuple[str, ...], names: Iterable[list[str]], found: Intervals) -> bytes:
    """Return CSV of intervals; one that is not identified has no ends, and a reason."""
    ends = np.where(found.identified, [found.low, found.high], np.nan)
    numbers = zip(found.estimate, *ends, found.reason, strict=True)
    lines = ([*name, *map(_number, at), REASONS[why]] for name, (*at, why) in zip(names, numbers, strict=True))
    return _lines((*heads, "estimate", "ci_low", "ci_high", "reason"), lines)


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
# This bundle in base R: source("PLACE/extras/read.R"), PLACE its folder. verify.py checks the numbers; this does not.
# lavaan::cfa(model, sample.cov = cov, sample.nobs = n_eff)    psych::fa(cov2cor(cov), nfactors = 2, n.obs = n_eff)
# Only for the estimates: tests and indices of fit do not hold under privacy noise, and reject true models.
BUNDLE <- tryCatch(dirname(dirname(normalizePath(sys.frame(1)$ofile))), error = function(e) getwd())
lines_of <- function(name) {
  place <- file.path(BUNDLE, name)
  read.csv(place, check.names = FALSE, colClasses = "character", na.strings = character(0), encoding = "UTF-8")
}
matrix_of <- function(name) {
  lines <- lines_of(file.path("matrices", paste0(name, ".csv")))
  matrix(as.numeric(as.matrix(lines[-1])), nrow(lines), dimnames = list(lines[[1]], names(lines)[-1]))
}
cov <- matrix_of("regular")  # positive definite
n <- lines_of("extras/rows.csv")
n_eff <- as.numeric(n$value[n$what == "n_eff"])
correlations <- type.convert(lines_of("extras/correlations.csv"), na.strings = "nan", as.is = TRUE)
message(lines_of("extras/about.csv")$about)
"""

ANSWERS_R = """\
# What privcov.answers says, in base R: estimates and @LEVEL@ intervals for privacy noise and sampling together.
# source("extras/read.R"); source("extras/answers.R")
# regress("weight", c("age", "height")); group_means("sex"); alpha(c("q1", "q2", "q3"), reverse = "q3")
# regress("age", "mood", from = with_score("mood", c("q1", "q2", "q3"))); factors(2, c("q1", "q2", "q3", "q4", "q5"))
# The files of these names in privcov/inference/ have the derivations; a ridge is added to the
# variances of columns that are scaled by their public bounds.
quantiles <- list(excess = c(@EXCESS@),
                  z = c(@Z@))
law <- with(lines_of("extras/law.csv"), setNames(as.numeric(value), what))
release <- local({
  columns <- lines_of("extras/columns.csv")
  found <- c(columns[1:2], lapply(columns[-(1:2)], as.numeric))
  n <- law["rows"]; k <- length(found$column)
  found$C <- unname(matrix_of("noisy")) / outer(found$scale, found$scale)
  found$C <- (found$C + law["mean"] * diag(k)) * n / max(n - 1, 1)
  found$m <- (c(matrix_of("mean")) - found$origin) / found$scale
  found
})
places <- function(names, from) {
  at <- match(names, from$column)
  alone <- from$span > 0 & !from$declared %in% from$declared[duplicated(from$declared)]
  at[is.na(at)] <- match(names[is.na(at)], ifelse(alone, from$declared, NA))
  if (anyNA(at)) stop("no such column: ", paste(names[is.na(at)], collapse = ", "))
  if (anyDuplicated(at)) stop("a column is named twice")
  at
}
signs_of <- function(items, reverse) {
  if (!all(reverse %in% items)) stop("reverse names a column that is not among the items")
  if (length(items) < 2) stop("name at least two items")
  ifelse(items %in% reverse, -1, 1)
}
varies <- function(A, C, m, x) {
  Am <- A %*% m; q <- sum(m * Am) - sum(A * C); on <- sum(diag(A)); t2 <- law["off"]; tm <- law["mean"]
  found <- 2 * t2 * sum(A^2) + sum(x * diag(A)^2) + law["common"] * on^2 + 4 * tm * sum(Am^2) + 2 * tm^2 * sum(A^2)
  found <- max(found + law["count"] * q^2 + 2 * law["tie"] * q * on, 0)
  max(found - 4 * tm^2 * sum(A^2), found / 4)
}
quantile_of <- function(excess, noise, sampling) {
  share <- noise / pmax(noise + sampling, 1e-300)
  approx(quantiles$excess, quantiles$z, pmin(excess * share^2, max(quantiles$excess)))$y
}
within <- function(first, slope, error, z) {  # all x with (first + slope x)^2 <= z^2 V(x), V given at -1, 0 and 1
  bent <- (error[[1]] + error[[3]]) / 2 - error[[2]]; leant <- (error[[3]] - error[[1]]) / 2
  a <- slope^2 - z^2 * bent; b <- first * slope - z^2 * leant / 2; a[!(a > 0)] <- NA
  root <- sqrt(pmax(b^2 - a * (first^2 - z^2 * error[[2]]), 0))
  data.frame(low = (-b - root) / a, high = (-b + root) / a)
}
others <- function(y, from) {  # the last level of a category follows from its others
  d <- from$declared; at <- places(y, from); levels <- d %in% setdiff(d[duplicated(d)], "")
  from$column[-c(at, which(levels & (!duplicated(d, fromLast = TRUE) | d == d[at])))]
}
regress <- function(y, on = others(y, from), ridge = 0, from = release) {
  at <- places(c(y, on), from)
  if (length(on) < 1 || length(on) > law["rows"] / 3) stop("name a regressor, and at most a third as many as rows")
  if (ridge > 0 && !identical(from, release)) stop("ridge goes by bounds, and a score has none: leave it at 0")
  t2 <- law["off"]; tm <- law["mean"]; n <- law["rows"]; k <- length(on); x <- from$extra[at]; scale <- from$scale[at]
  binary <- from$span[at[1]]^2 / 4  # the largest variance of a response of two values
  C <- from$C[at, at]; m <- from$m[at]
  u2 <- t2 + tm^2 + tm * sum(m^2) / (k + 1)
  S <- C[-1, -1, drop = FALSE] + ridge * diag(k)
  values <- eigen(S, symmetric = TRUE)$values
  if (min(values) <= 0 || u2 * sum(values^-2) > 1) {
    warning("not identified: the noise is too large to invert the covariance, or a column follows from others")
    return(data.frame(column = on, estimate = NA_real_, std_error = NA_real_, ci_low = NA_real_, ci_high = NA_real_))
  }
  P <- matrix(0, k + 1, k + 1)
  P[-1, -1] <- solve(S)
  e <- c(1, -P[-1, -1] %*% C[-1, 1])
  form <- function(v, A, w) sum(v * (A %*% w))
  bias <- function(v, w, Q) {
    vw <- sum(v * w); both <- form(v, Q, w); mv <- sum(m * v); mw <- sum(m * w); trace <- sum(diag(Q))
    qm <- form(m, Q, m)
    (t2 + tm^2) * (vw * trace + both) + law["common"] * both + sum(x * diag(Q) * v * w) + law["count"] * mv * mw * qm +
      tm * (vw * qm + mw * form(m, Q, v) + mv * form(m, Q, w) + trace * mv * mw)
  }
  noise <- function(v, w) varies((outer(v, w) + outer(w, v)) / 2, C, m, x)
  excess <- function(v, w) {
    vv <- sum(v^2); ww <- sum(w^2); square <- sum(v * w)^2 / (vv * ww)
    if (law["laplace"] > 0) return(3 * sum(v^4) * sum(w^4) / (vv * ww)^2)
    if (law["freedom"] > 0) 6 / law["freedom"] * (2 + 12 * square + 2 * square^2) / (2 + 2 * square)^2 else 0
  }
  slope <- function(j) {
    v <- P[, j] / P[j, j]; Q <- P - outer(P[, j], P[, j]) / P[j, j]; D <- 1 / P[j, j] + bias(v, v, Q)
    variance <- function(step) {
      w <- e - step * v; a <- max(form(v, C, v) + bias(v, v, Q), 0); s <- max(form(w, C, w) + bias(w, w, Q), 0)
      if (binary > 0) s <- binary
      across <- if (ridge > 0) form(v, C, w) else 0; vv <- sum(v^2); ww <- sum(w^2)
      noise(v, w) + (a * s + across^2) / n + u2^2 * (vv * ww + sum(v * w)^2) * sum(Q^2) +
        u2 * (vv * s + ww * a) * sum(diag(Q)) / n + (k - 1) * a * s / n^2
    }
    if (D <= 0) return(c(-e[j], NA, NA, NA))
    centre <- bias(v, e, Q) / D; middle <- variance(centre); own <- max(sqrt(middle) / D, 1e-12)
    up <- variance(centre + own); down <- variance(centre - own); w <- e - centre * v
    z <- quantile_of(excess(v, w), noise(v, w), middle - noise(v, w))
    a <- D^2 - z^2 * (up + down - 2 * middle) / 2 / own^2; b <- z^2 * (up - down) / 2 / own
    if (a <= 0) return(c(centre - e[j], NA, NA, NA))
    ends <- (b + c(-1, 1) * sqrt(max(b^2 + 4 * a * z^2 * middle, 0))) / (2 * a)
    c(centre - e[j], own, centre - e[j] + ends)
  }
  found <- base::t(vapply(seq_len(k) + 1, slope, numeric(4))) * scale[1] / scale[-1]
  if (ridge > 0 && any(from$span[at] > 0)) {
    message("No interval: with columns of two values it is not known here for a ridge.")
    found[, 2:4] <- NA
  }
  data.frame(column = on, estimate = found[, 1], std_error = found[, 2], ci_low = found[, 3], ci_high = found[, 4])
}
group_means <- function(by, from = release) {
  at <- which(from$declared == by & from$span > 0)
  if (length(at) < 1) at <- places(by, from)
  if (any(from$span[at] <= 0)) stop(by, " is not declared with two values")
  t2 <- law["off"]; tm <- law["mean"]; n <- law["rows"]; u <- law["count"]; m <- from$m
  others <- setdiff(seq_along(m), which(from$declared == from$declared[at[1]] & from$declared != ""))
  others <- setdiff(others, at)
  two <- from$span > 0; first <- from$low; last <- from$low + from$span; v <- pmax(diag(from$C), 0)
  one <- function(j) {
    a <- from$low[j]; h <- from$span[j]; mx <- m[j]; p <- (mx - a) / h; s <- from$C[, j] * (n - 1) / n
    q <- p * (1 - p) + tm / h^2; std <- sqrt(tm + u * mx^2) / h; few <- 3 * ifelse(two, from$span^2, v) / n^2
    step <- if (q > 0) s / (h * q) else 0 * v
    own <- pmax(v - max(q, 0) * step^2, 0)
    spread <- function(mean) ifelse(two, (mean - first) * (last - mean), own)
    solved <- function(top, below, noise, sampling, small) {
      estimate <- top / below
      z <- quantile_of(max(3 * law["laplace"], if (law["freedom"] > 0) 3 / law["freedom"] else 0),
                       noise(estimate), pmax(sampling(estimate), 0))
      ends <- within(top, -below, lapply(c(-1, 0, 1), function(x) noise(x + 0 * v) + sampling(x + 0 * v)), z)
      if (small || from$whole[j] <= 0) ends[] <- NA
      cbind(estimate = ifelse(is.na(ends$low), NA, estimate), ends)
    }
    group <- function(sign, c, share) {
      found <- solved(sign * s / h + m * share, share, function(t) (t2 + (c^2 + t^2) * tm + u * (t * c)^2) / h^2,
                      function(t) max(share, 0) * spread(t) / n + few, min(share, 1) < 3 * std)
      found[two, ] <- pmin(pmax(as.matrix(found[two, ]), first[two]), last[two])
      found
    }
    noise <- function(step) {
      turned <- m + step * (1 - 2 * p)
      found <- t2 + tm * (max(mx^2 - tm, 0) + pmax(turned^2 - tm, 0)) + tm^2 * (1 + 2 * step^2 / h^2)
      (found + u * (step * q * h - mx * turned)^2) / h^2
    }
    sampling <- function(step) {
      apart <- p * (1 - p)^2 * spread(m + (1 - p) * step) + (1 - p) * p^2 * spread(m - p * step)
      ifelse(two, apart, q * own) / n + few
    }
    list(group(-1, a + h, 1 - p), group(1, a, p), solved(s / h, q, noise, sampling, min(p, 1 - p) < 3 * std))
  }
  table <- function(name, found, start) {
    found <- found[others, ] * from$scale[others] + start[others]
    if (anyNA(found)) message("NA in ", name, ": few for the noise, or values between its two, as in shortened rows.")
    data.frame(group = name, column = from$column[others], setNames(found, c("estimate", "ci_low", "ci_high")))
  }
  if (length(at) > 1) {
    return(do.call(rbind, lapply(at, function(j) table(from$column[j], one(j)[[2]], from$origin))))
  }
  ends <- paste0(by, "=", signif(from$origin[at] + from$scale[at] * c(first[at], last[at]), 6))
  if (from$column[at] != from$declared[at]) ends <- paste0(c("not ", ""), from$column[at])
  found <- one(at)
  rbind(table(ends[1], found[[1]], from$origin), table(ends[2], found[[2]], from$origin),
        table(paste(ends[2], "less", ends[1]), found[[3]], 0 * from$origin))
}
alpha <- function(items, reverse = character(0), from = release) {
  at <- places(items, from); k <- length(at); C <- from$C[at, at]
  w <- signs_of(items, reverse) * from$scale[at] / sqrt(sum(from$scale[at]^2))
  form <- function(a) (1 - a * (k - 1) / k) * outer(w, w) - diag(w^2)
  noise <- function(a) varies(form(a), C, from$m[at], from$extra[at])
  sampling <- function(a) { turned <- form(a) %*% C; 2 * max(sum(turned * base::t(turned)), 0) / law["rows"] }
  seen <- k / (k - 1) * (1 - sum(w^2 * diag(C)) / sum(outer(w, w) * C))
  excess <- max(3 * law["laplace"], if (law["freedom"] > 0) 6 / law["freedom"] else 0)
  z <- quantile_of(excess, noise(seen), sampling(seen))
  start <- sum(form(0) * C)
  ends <- within(start, sum(form(1) * C) - start, lapply(c(-1, 0, 1), function(a) noise(a) + sampling(a)), z)
  if (sum(outer(w, w) * C) <= 0 || is.na(ends$low)) seen <- NA
  if (is.na(seen) || any(from$span[at] > 0)) {
    message("No interval: ", if (is.na(seen)) "the noise is too large." else "the items have two values.")
    ends[] <- NA
  }
  items <- paste0(ifelse(items %in% reverse, "-", ""), items)
  data.frame(items = paste(items, collapse = ", "), estimate = seen, ci_low = ends$low,
             ci_high = pmin(ends$high, 1))
}
with_score <- function(name, items, reverse = character(0), from = release) {
  at <- places(items, from); rest <- setdiff(seq_along(from$column), at)
  if (name %in% c("", from$column[rest], from$declared)) stop("there is a column ", name)
  if (any(from$column[at] != from$declared[at] & table(from$declared)[from$declared[at]] > 1 & from$span[at] > 0)) {
    stop("items names a level of a category")
  }
  if (any(from$span[at] > 0) && any(from$span[at] <= 0)) stop("items has columns of two values and others")
  w <- signs_of(items, reverse) * from$scale[at] / length(at); size <- sqrt(sum(w^2))
  turn <- rbind(diag(length(from$column))[rest, , drop = FALSE], replace(numeric(length(from$column)), at, w / size))
  ends <- rbind(w * from$low[at], w * (from$low[at] + from$span[at])) / size
  list(column = c(from$column[rest], name), declared = c(from$declared[rest], ""), scale = c(from$scale[rest], size),
       origin = c(from$origin[rest], sum(w * from$origin[at] / from$scale[at])), extra = c(turn^4 %*% from$extra),
       low = c(from$low[rest], sum(pmin(ends[1, ], ends[2, ]))), whole = c(from$whole[rest], 0),
       span = c(from$span[rest], sum(abs(ends[2, ] - ends[1, ]))),
       C = turn %*% from$C %*% base::t(turn), m = c(turn %*% from$m))
}
factors <- function(k, columns = from$column, from = release) {
  at <- places(columns, from); C <- from$C[at, at]; off <- sqrt(law["off"]); d <- length(at)
  if (k < 1 || d <= k || (d - k)^2 < d + k) stop("so many factors cannot be told apart with ", d, " columns")
  if (any(diag(C) <= off)) stop("the noise is as large as a variance")
  std <- sqrt(diag(C)); found <- eigen(C / outer(std, std), symmetric = TRUE)
  least <- min(max(median((off / outer(std, std))[upper.tri(C)]), 0.01), 1)
  r <- cov2cor(found$vectors %*% (pmax(found$values, least) * base::t(found$vectors)))
  dimnames(r) <- list(columns, columns)
  if (any(found$values < least)) message(sum(found$values < least), " of ", d, " eigenvalues are below the noise.")
  message("@NO_FIT@")
  factanal(covmat = r, factors = k, control = list(opt = list(factr = 1e6), rotate = list(eps = 1e-14)))$loadings
}
"""
