#!/usr/bin/env python3
"""Check an unpacked bundle of PrivCov without the data and without PrivCov.

    python -I verify.py [FOLDER]     the folder of the bundle; this script's own folder when left out

It needs Python 3.10 or newer and numpy. It reads the bundle and runs nothing of it. It ends with code 0 when everything
that it checks holds, and with code 1 when anything does not. A script can be forged like any other file of a bundle:
run one that you trust.

Checked here:
  1. every file has the hash in manifest.json, none is unlisted, and the four inputs (measurement.json, guarantee.json,
     ledger_entry.json, declaration.json) are there;
  2. the noise in measurement.json (mechanism, norm, sensitivity, scale) gives the guarantee in guarantee.json, that
     guarantee is no weaker than the requested one, and ledger_entry.json says that it was paid for and released;
  3. matrices/noisy.csv and matrices/noise_std.csv have the names of the columns, and follow from the noisy whole
     numbers and the declared facts (bounds, row bound, number of rows) in measurement.json.

Not checked here, but by `privcov verify`, which derives every file again and compares all bytes:
  - that the sensitivity bounds what one row, or one person, can change. The proof is in the file of PrivCov that the
    event names as its proof; that name, and the law of the event, are not checked here either;
  - that declaration.json agrees with the facts in measurement.json, the method with the measurement, and of a search
    of the row bound that it took place, its counts, and how often they halve the squared row bound;
  - matrices.npz, all other matrices, intervals, tables and texts: whoever forges them, and the hashes, is not found;
  - for tables with measured missing cells, the numbers of check 3. The last line of the output says so.

Nobody can check without the data: that the noisy numbers were made from the declared table, and that the declaration
is true of it. The number of rows is compared with the noisy count, within the noise.
"""

import sys

# A file json.py beside this script, in the current folder or on PYTHONPATH would be imported in place of Python's own.
_zip = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
_own = [k for k, path in enumerate(sys.path) if path.endswith(_zip)]
if sys.version_info < (3, 10) or not _own:
    sys.exit("verify.py needs Python 3.10 or newer, with its own library on its path. Try python -I verify.py.")
sys.path[:] = [path for path in sys.path[_own[-1] :] if path]
sys.dont_write_bytecode = True

import csv
import hashlib
import io
import json
import math
import os
import re
from fractions import Fraction
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit(f"verify.py needs numpy, installed for {sys.executable}; PYTHONPATH is not used.")

MAX_BYTES = 2**27  # of all files together
UNIT = 2**20  # the row bound R in the whole numbers of a row; an entry of the sum is in steps of R^2 / 2^40
JUST = 1 + Fraction(1, 2**52)  # the ledger counts the double 0.1, which is a little more, as 1/10
CLOSE = 1e-9  # relative, for numbers that are computed in doubles
ROUNDED = 1e-5  # relative: a stated epsilon is rounded up to six digits
INPUTS = ("measurement.json", "guarantee.json", "ledger_entry.json", "declaration.json")
NOISE = {  # shape of the noise -> mechanism, and the norm in which its sensitivity is stated
    "isotropic": ("discrete-gaussian", "Frobenius norm"),
    "free-groups": ("discrete-gaussian", "Frobenius norm and sums of squares of groups of columns, jointly"),
    "laplace": ("laplace", "l1 norm of the upper triangle"),
    "wishart-difference": ("wishart-difference", "nuclear norm"),
    "coupled-wishart": ("coupled-wishart", "larger trace of the two parts"),
}


class Wrong(Exception):
    """What does not hold, in one sentence."""


def must(holds, sentence):
    """Raise `Wrong` with the sentence where it does not hold."""
    if not holds:
        raise Wrong(sentence)


# --- 1. files ------------------------------------------------------------------------------------------------------


def read_files(place):
    """Return the bytes of every file of a folder, by name."""
    must(os.path.isdir(place), f"{str(place)!a} is no folder; unpack the bundle, and give its folder")
    paths = [path for path in sorted(Path(place).rglob("*")) if path.is_symlink() or not path.is_dir()]
    for path in paths:
        must(path.is_file() and not path.is_symlink(), f"{str(path)!a} is a link, and no file")
    must(sum(path.stat().st_size for path in paths) <= MAX_BYTES, "it has more bytes than any bundle")
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}


def read_json(files, name):
    """Return the value of a JSON file in which no name is there twice."""

    def once(pairs):
        must(len(dict(pairs)) == len(pairs), f"{name} has a name twice")
        return dict(pairs)

    must(name in files, f"{name} is missing")
    return json.loads(files[name], object_pairs_hook=once)


def check_files(files):
    """Check 1: hashes, and nothing missing or unlisted."""
    listed = read_json(files, "manifest.json")["files"]
    for name in sorted({*files, *listed} - {"manifest.json"}):
        must(name in listed, f"{name!a} is not listed")
        must(name in files, f"{name!a} is missing")
        must(hashlib.sha256(files[name]).hexdigest() == listed[name], f"{name!a} was changed")
    must({*INPUTS} <= {*files}, f"of {', '.join(INPUTS)} one is missing")
    return f"Files: {len(files)}, each with the listed hash, none unlisted."


# --- 2. guarantee --------------------------------------------------------------------------------------------------


def check_guarantee(measurement, stated, entry):
    """Check 2: from the noise to the stated guarantee, and from the payment to the noise."""
    event, request, amount = measurement["event"], entry["request"]["guarantee"], entry["amount"]
    must(measurement["shape"] in NOISE, "the shape of the noise is none of PrivCov")
    must((event["mechanism"], event["norm"]) == NOISE[measurement["shape"]], "mechanism or norm is not of this shape")
    must(event["unit"] == "steps of R^2 / 2^40", "the noise is stated in another unit")
    must(event["scale"] == measurement["scale"], "the event and the measurement have different scales")
    events = [*([measurement["search"]["event"]] if "search" in measurement else []), event]
    must(all(positive(e[name]) for e in events for name in ("sensitivity", "scale")), "noise must be positive")
    must(entry["state"] == "stored", "the ledger does not record a release")
    must(entry["request"]["facts"] == measurement["facts"], "the request has other facts than the measurement")
    for guarantee in (stated, request):
        levels = {"pure": {"epsilon"}, "zcdp": {"rho"}, "approx": {"epsilon", "delta"}}.get(guarantee["kind"], set())
        must(set(guarantee) == {"kind", *levels}, "a guarantee has other fields than its kind")
        must(all(positive(guarantee[level]) for level in levels), "the levels of a guarantee must be positive")
    must(type(amount) is str and re.fullmatch(r"\d{1,400}(/\d{1,400})?", amount, re.ASCII), "the cost is no ratio")
    kind, paid = stated["kind"], Fraction(amount)
    must(kind == request["kind"], "another kind of guarantee is stated than was requested")
    must(entry["kind"] == ("pure" if kind == "pure" else "zcdp"), "the cost is of another kind than the guarantee")
    norms = ("laplace", "l1 norm") if kind == "pure" else ("discrete-gaussian", "l2 norm")
    must(all((e["mechanism"], e["norm"]) == norms for e in events[:-1]), "the search has another noise")
    ratios = [Fraction(e["sensitivity"]) / Fraction(e["scale"]) for e in events]  # costs of several steps add up
    if kind == "pure":  # every noise but the Gaussian one has epsilon = sensitivity / scale, in its norm
        must(event["mechanism"] != "discrete-gaussian", "Gaussian noise gives no pure differential privacy")
        cost, level = sum(ratios), "epsilon"
    else:  # Gaussian noise: Canonne, Kamath and Steinke 2020, Theorem 4; pure epsilon implies epsilon^2 / 2 zCDP
        cost, level = sum(ratio**2 for ratio in ratios) / 2, "rho"
    must(cost <= paid * JUST, "the noise is less than was paid for")
    if kind != "approx":
        given, asked = Fraction(stated[level]), Fraction(request[level])
        holds = cost <= given <= asked <= paid * JUST
        must(holds, f"the noise does not give the stated {level}, or it was not paid for")
        must(given <= cost * (1 + Fraction(CLOSE)), f"another {level} is stated than the noise gives")
        return f"Guarantee: the noise gives {level} = {float(cost):.6g}, and {stated[level]:.6g} is stated."
    delta, epsilon = stated["delta"], epsilon_of(float(cost), stated["delta"])
    must(delta == request["delta"], "another delta is stated than was requested")
    must(epsilon * (1 - CLOSE) <= stated["epsilon"], "the noise does not give the stated epsilon and delta")
    must(stated["epsilon"] <= epsilon * (1 + ROUNDED) + 1e-12, "another epsilon is stated than the noise gives")
    must(epsilon <= request["epsilon"] * (1 + CLOSE) + 1e-12, "a weaker guarantee is stated than was requested")
    return f"Guarantee: the noise gives epsilon = {epsilon:.6g} at delta = {delta:g}, as is stated."


def positive(number):
    """Return whether a value is a positive finite number."""
    return type(number) in (int, float) and 0 < number < math.inf


def epsilon_of(rho, delta):
    """Return the smallest epsilon of rho-zCDP at delta over all orders a: Canonne, Kamath and Steinke 2020, Cor. 13.

    The best a - 1 is near sqrt(log(1/delta) / rho); six grids, each between the neighbours of the best point before.
    """
    middle = math.log(math.sqrt(-math.log(delta) / rho))
    low, high = middle - 12, middle + 12  # of log(a - 1)
    for _ in range(6):
        grid = np.linspace(low, high, 61)
        gap = np.exp(grid)
        found = (1 + gap) * rho + grid - math.log(delta) / gap - (1 + gap) * np.log1p(gap) / gap
        best = int(found.argmin())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 60)]
    return float(found[best])


# --- 3. noisy numbers ----------------------------------------------------------------------------------------------


def check_noisy(measurement, files):
    """Check 3: the noisy covariance and its noise, from the whole numbers."""
    facts, total = measurement["facts"], measurement["total"]
    check_facts(measurement)
    must(all(type(value) is int for line in total for value in line), "the measured sum must be whole numbers")
    must(all(total[i][j] == total[j][i] for i in range(len(total)) for j in range(i)), "the sum is not symmetric")
    there = [numbers_of(files, f"matrices/{name}.csv", facts["columns"]) for name in ("noisy", "noise_std")]
    if facts["missing"] == "pairs":
        return f"NOT CHECKED HERE: {UNCHECKED}."
    wanted = noisy_covariance(measurement)
    rounding = 1e-14 * facts["row_bound"] ** 2 * np.outer(facts["scale"], facts["scale"])  # of squares that cancel
    for name, found, want in zip(("noisy", "noise_std"), there, wanted, strict=True):
        near = np.abs(found - want) <= CLOSE * (np.abs(want) + wanted[1]) + rounding
        must(np.isfinite(want).all() and near.all(), f"{name} does not follow from the measurement")
    return f"Noisy covariance and its noise: {want.size} entries each, as they follow from the measurement."


UNCHECKED = "noisy and noise_std, because missing cells are measured; use privcov verify"


def check_facts(measurement):
    """Check that the facts hang together, and fit the size of the sum and the noisy count of rows."""
    facts, anchors, a, total = (measurement[name] for name in ("facts", "anchors", "anchor", "total"))
    n, d, halvings = facts["n"], len(facts["columns"]), measurement.get("search", {"halvings": 0})["halvings"]
    must(type(halvings) is int and 0 <= halvings < 24, "the search halves the squared row bound up to 23 times")
    if halvings:  # from here on the facts have the row bound that the search found
        facts["row_bound_fraction"] = facts.get("row_bound_fraction", 1.0) * 2 ** (-halvings / 2)
        facts["row_bound"] *= 2 ** (-halvings / 2)
    kinds = facts.get("kinds", [{}] * d)
    weights = [kind.get("weight", 1.0) for kind in kinds for _ in range(width_of(kind))]
    if facts["bounds"] is None:
        must(facts["scale"] == [1.0] * d, "without bounds the scale of a column is 1")
    else:
        places = [(low, x, high) for (low, high), x in zip(facts["bounds"], facts["origin"], strict=True)]
        must(all(low <= x <= high for low, x, high in places), "a typical value is outside its bounds")
        halves = [max(high - x, x - low) for low, x, high in places]
        for half, weight, scale in zip(halves, weights, facts["scale"], strict=True):
            must(abs(half / weight / scale - 1) <= CLOSE, "the scale of a column does not follow from its bounds")
        longest = math.sqrt(math.fsum(kind.get("weight", 1.0) ** 2 for kind in kinds))
        shortened = facts.get("row_bound_fraction", 1.0)
        near = 0 < shortened <= 1 and abs(longest * shortened / facts["row_bound"] - 1) <= CLOSE
        must(near, "the row bound does not follow from the bounds")
    flags = sum(kind.get("kind") != "category" for kind in kinds) if facts["missing"] == "pairs" else 0
    must(flags or facts["missing"] != "pairs", "no missing cell is measured")
    must(anchors == (len(facts["classes"]) or 1), "the number of anchors is another: one per class, else one")
    must(n is None or (type(n) is int and n > 0), "the number of rows is none")
    must(positive(facts["row_bound"]), "the row bound must be positive")
    must([len(line) for line in total] == [d + flags + anchors] * (d + flags + anchors), "the sum has another size")
    other = math.isqrt(math.isqrt(UNIT**4 // (4 * (d + 1))))
    must(a == USUAL_ANCHOR or (a == other and anchors == 1 and n is not None), "the anchor is none of PrivCov")
    if n is not None:  # of classes, some rows may have a label that is not listed
        far = 12 * measurement["scale"] * math.sqrt(anchors) * noise_stds(measurement)[-1]
        apart = sum(total[-c][-c] for c in range(1, anchors + 1)) - n * a**2
        must(apart <= far and (facts["classes"] or apart >= -far), "the number of rows is not the noisy one")


USUAL_ANCHOR = math.isqrt(UNIT**2 // 2)


def width_of(kind):
    """Return how many measured columns a declared one has: a category has one for each level."""
    return len(kind["values"]) + kind.get("other", False) if kind.get("kind") == "category" else 1


def noisy_covariance(measurement):
    """Return the noisy covariance and the standard deviation of the privacy noise on its entries, in data units.

    A row x becomes u = (x - origin) / scale in whole numbers, R = UNIT steps, and (u, a) with an anchor a for the mean,
    or (u, a e_c) for its class c. ``total`` is the noisy sum of (u, a)(u, a)'. Classes add up to one anchor.
    """
    facts, anchors, a = measurement["facts"], measurement["anchors"], measurement["anchor"]
    total = np.array(measurement["total"], dtype=object)  # whole numbers of any size
    d, bound = len(facts["columns"]), facts["row_bound"]
    counted = sum(total[d + c, d + c] for c in range(anchors)) / a**2
    rows = facts["n"] if facts["n"] is not None and not facts["classes"] else max(counted, 1.0)
    for columns, move in moves(measurement):
        for j in columns:
            total[j, j] += move
    step = 1 / UNIT**2 / rows  # of an entry of the sum, as a part of the second moment
    second = (total[:d, :d] * Fraction(step)).astype(float) * bound**2
    off, diagonal, _ = noise_stds(measurement)
    off, diagonal = measurement["scale"] * step * off * bound**2, measurement["scale"] * step * diagonal * bound**2
    mean = (total[:d, d:].sum(axis=1) * Fraction(1 / (a * UNIT) / rows)).astype(float) * bound
    # The mean has the noise e, off the diagonal: its variance is that of an entry over R s, once for each class. The
    # product m_i m_j has the noise m_i e_j + m_j e_i + e_i e_j; the square of a mean is m^2 - Var e on average.
    square = 0.5 if a == USUAL_ANCHOR else 0.5 / math.sqrt(d + 1)  # s^2, of the anchor a = s UNIT, rounded down
    e2 = (off / bound) ** 2 * anchors / square
    squares = np.maximum(mean**2 - e2, 0.0)
    covariance = second - np.outer(mean, mean)
    variance = off**2 + (squares[:, None] + squares[None, :]) * e2 + e2**2
    np.fill_diagonal(variance, diagonal**2 + 4 * squares * e2 + 2 * e2**2)
    units = np.outer(facts["scale"], facts["scale"])
    return covariance * units, np.sqrt(variance) * units


def weights_of(measurement):
    """Return for each group of "free-groups" noise its columns and kappa.

    A group is a set of columns whose sum of squares in a row has a bound c^2: a column with bounds, the levels of a
    category, or all columns where there are no bounds, or where rows are shortened. That sum is measured once more,
    with the variance of the noise on the diagonal over kappa = (R^2 + 2 a^2) / c^2, at no cost: the proof is in
    privcov/measurements/noise_theory/free_groups.py.
    """
    facts, d = measurement["facts"], len(measurement["facts"]["columns"])
    if facts["bounds"] is None or facts.get("row_bound_fraction", 1.0) != 1:
        sizes, squares = [d], [UNIT**2]
    elif "kinds" in facts:
        lengths = [Fraction(kind.get("weight", 1.0)) ** 2 for kind in facts["kinds"]]
        sizes = [width_of(kind) for kind in facts["kinds"]]
        squares = [math.floor(UNIT**2 * length / sum(lengths)) for length in lengths]
    else:
        sizes, squares = [1] * d, [math.isqrt(UNIT**2 // d) ** 2] * d
    whole = sum(squares) + 2 * measurement["anchor"] ** 2
    starts = np.cumsum([0, *sizes]).tolist()
    return [(range(starts[k], starts[k + 1]), Fraction(whole, square)) for k, square in enumerate(squares)]


def moves(measurement):
    """Return what a second look adds to the diagonal: columns, and a number for each of them.

    The m entries of a group add up to a sum of variance m, and the second look has the variance 1 / kappa. Weighted by
    their accuracy, the better sum is kappa (again - sum) / (1 + m kappa) more on each entry.
    """
    total, sums, n, several = measurement["total"], measurement["sums"], measurement["facts"]["n"], []
    if measurement["shape"] == "free-groups":
        several = [(columns, kappa) for columns, kappa in weights_of(measurement) if len(columns) > 1]
    must([type(value) for value in sums] == [int] * len(several), "the sums of groups are not those of the columns")
    found = []
    for (columns, kappa), again in zip(several, sums, strict=True):
        more = again - sum(total[j][j] for j in columns)
        found.append((columns, more * kappa / (1 + len(columns) * kappa)))
    if measurement["shape"] == "coupled-wishart" and measurement["anchors"] == 1 and n is not None:
        # This noise is small on the trace of the whole, and the corner, n a^2, is public.
        d = len(total) - 1
        found.append((range(d), Fraction(total[d][d] - n * measurement["anchor"] ** 2, d)))
    return found


def noise_stds(measurement):
    """Return the standard deviation of the noise off the diagonal, on it, and on an anchor's corner, at scale 1."""
    d, p, shape = len(measurement["facts"]["columns"]), len(measurement["total"]), measurement["shape"]
    if shape == "laplace":
        return math.sqrt(2), math.sqrt(2), math.sqrt(2)
    if shape == "isotropic":
        return math.sqrt(0.5), 1.0, 1.0
    if shape == "wishart-difference":  # of two Wishart matrices with p + 1 degrees of freedom
        return math.sqrt((p + 1) / 2), math.sqrt(p + 1), math.sqrt(p + 1)
    if shape == "free-groups":
        diagonal = np.ones(d)
        for columns, kappa in weights_of(measurement):
            diagonal[[j for j in columns if j < d]] = math.sqrt(1 - kappa / (1 + len(columns) * kappa))
        return math.sqrt(0.5), diagonal, 1.0
    # Coupled Wishart matrices of p columns: <N, H> has variance flat |H|^2 + trace (tr H)^2 for a symmetric H; derived
    # in privcov/measurements/noise.py, coupled_moments.
    size = p * (p + 1) / 2
    larger, ratio, square = 2 * size * (2 * size + 1), size / (size + 1), 1 + size / (size + 2)
    norm = larger * (square * 2 * (p + 1) / (p * p + p + 2) - 2 * ratio / p)
    whole = larger * (square - 2 * ratio)
    flat = (norm - whole / p) / (size - 1)
    trace = (whole - flat * p) / p**2
    moved = 1 / d if measurement["anchors"] == 1 and measurement["facts"]["n"] is not None else 0.0
    diagonal = math.sqrt(flat * (1 + moved**2) + trace * (1 + moved) ** 2)
    return math.sqrt(flat / 2), diagonal, math.sqrt(flat + trace)


def numbers_of(files, name, columns):
    """Return the numbers of a CSV, with the names of the columns on top and in front."""
    must(name in files, f"{name} is missing")
    lines = list(csv.reader(io.StringIO(files[name].decode("utf-8"), newline="")))
    # A name has an apostrophe in front where a spreadsheet would take it for a formula, and no invisible letters.
    names = [seen(column) for column in columns]
    for given in (lines[0][1:], [line[0] for line in lines[1:]]):
        must(len(given) == len(names), f"{name} has other names than the columns")
        for cell, column in zip(map(seen, given), names, strict=True):  # (2) tells two names apart that look the same
            must(re.fullmatch(re.escape(column) + r"( \(\d+\))?", cell), f"{name} has other names than the columns")
    cells = [cell for line in lines[1:] for cell in line[1:]]
    must(all(cell.isascii() and "_" not in cell for cell in cells), f"{name} holds what is no number")
    return np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])


def seen(text):
    """Return the letters of a name that are seen, without apostrophes."""
    return "".join(letter for letter in text if letter.isprintable() and letter != "'")


# --- the command --------------------------------------------------------------------------------------------------


def check(place):
    """Return a line for each of the checks; raise `Wrong` where one fails."""
    files = read_files(place)
    lines = [check_files(files)]
    measurement, stated, entry, _ = (read_json(files, name) for name in INPUTS)
    must(measurement["version"] == 2 and measurement["grid"] == UNIT**2, "the measurement is of another version")
    return [*lines, check_guarantee(measurement, stated, entry), check_noisy(measurement, files)]


def main():
    """Check the bundle that the argument names."""
    if len(sys.argv) > 2:
        sys.exit("usage: python -I verify.py [FOLDER]")
    place = sys.argv[1] if len(sys.argv) == 2 else os.path.dirname(os.path.abspath(__file__))
    try:
        lines = check(place)
    except Wrong as problem:
        sys.exit(f"NOT CONSISTENT: {problem}.")
    except Exception as problem:  # a file that breaks the check does not pass
        sys.exit(f"NOT CONSISTENT: the check failed with {type(problem).__name__}: {str(problem)!a}.")
    print(*lines, sep="\n")
    if any(UNCHECKED in line for line in lines):
        print("What is checked here holds, but not everything was checked: see the line in capitals.")
    else:
        print("Everything that is checked here holds. `privcov verify` derives every other file again.")


if __name__ == "__main__":
    main()
