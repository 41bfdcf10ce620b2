#!/usr/bin/env python3
"""Check a bundle of PrivCov without the data and without PrivCov.

    python -I verify.py [BUNDLE]     BUNDLE: a folder or a zip; this script's own folder when left out

It needs Python 3.10 or newer and numpy. It reads the bundle and runs nothing of it. It ends with code 0 when everything
that it checks holds, and with code 1 when anything does not. A script can be forged like any other file of a bundle:
run one that you trust.

Checked here:
  1. every file has the hash in manifest.json, and no file is missing or unlisted;
  2. the noise in measurement.json (mechanism, sensitivity, scale) gives the guarantee in guarantee.json, and that
     guarantee is no weaker than the one that was requested and paid for in ledger_entry.json;
  3. matrices/noisy.csv and matrices/noise_std.csv follow from the noisy whole numbers in measurement.json;
  4. matrices.npz has the numbers of matrices/*.csv.

Not checked here, but by `privcov verify`, which derives every file again and compares all bytes:
  - that the sensitivity bounds what one row, or one person, can change (its proof is in the PrivCov source that the
    event names);
  - all other matrices, intervals, tables and texts, which follow from the measurement as well;
  - for tables with measured missing cells, the numbers under 3.

Nobody can check without the data: that the noisy numbers were made from the declared table, and that the declaration
is true of it.
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
import zipfile
from fractions import Fraction
from pathlib import Path

_near = {os.path.realpath(path) for path in (os.path.dirname(os.path.abspath(__file__)), os.getcwd())}
_inside = tuple(os.path.realpath(path) + os.sep for path in sys.argv[1:])
sys.path[:] = [
    path for path in sys.path
    if os.path.realpath(path) not in _near and not (os.path.realpath(path) + os.sep).startswith(_inside)
]  # fmt: skip
try:
    import numpy as np
except ImportError:
    sys.exit(f"verify.py needs numpy, installed for {sys.executable}; PYTHONPATH is not used.")

MOST_BYTES = 2**27  # of all files together
UNIT = 2**20  # the row bound R in the whole numbers of a row; an entry of the sum is in steps of R^2 / 2^40
JUST = 1 + Fraction(1, 2**52)  # the ledger counts the double 0.1, which is a little more, as 1/10
CLOSE = 1e-6  # relative, for numbers that are computed numerically
INPUTS = ("measurement.json", "guarantee.json", "ledger_entry.json", "declaration.json")


class Wrong(Exception):
    """What does not hold, in one sentence."""


def must(holds, sentence):
    """Raise `Wrong` with the sentence where it does not hold."""
    if not holds:
        raise Wrong(sentence)


# --- 1. files ------------------------------------------------------------------------------------------------------


def read_files(place):
    """Return the bytes of every file of a folder or a zip, by name."""
    if os.path.isdir(place):
        paths = [path for path in sorted(Path(place).rglob("*")) if path.is_symlink() or not path.is_dir()]
        for path in paths:
            must(path.is_file() and not path.is_symlink(), f"{str(path)!a} is a link, and no file")
        must(sum(path.stat().st_size for path in paths) <= MOST_BYTES, "it has more bytes than any bundle")
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}
    with zipfile.ZipFile(place) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        names = [member.filename for member in members]
        must(len(set(names)) == len(names), "a file is in the zip twice")
        must(sum(member.file_size for member in members) <= MOST_BYTES, "it has more bytes than any bundle")
        inside = names[0].partition("/")[0] + "/" if names and "manifest.json" not in names else ""
        must(all(name.startswith(inside) for name in names), "the zip holds more than one folder")
        return {member.filename[len(inside) :]: archive.read(member) for member in members}


def check_files(files):
    """Check 1: hashes, and nothing missing or unlisted."""
    must("manifest.json" in files, "manifest.json is missing")
    listed = json.loads(files["manifest.json"])["files"]
    for name in sorted({*files, *listed} - {"manifest.json"}):
        must(name in listed, f"{name!a} is not listed")
        must(name in files, f"{name!a} is missing")
        must(hashlib.sha256(files[name]).hexdigest() == listed[name], f"{name!a} was changed")
    for name in INPUTS:
        must(name in files, f"{name} is missing")
    return f"Files: {len(files)}, each with the listed hash, none unlisted."


# --- 2. guarantee --------------------------------------------------------------------------------------------------


def check_guarantee(measurement, stated, entry):
    """Check 2: from the noise to the stated guarantee, and from the payment to the noise."""
    event, request = measurement["event"], entry["request"]["guarantee"]
    mechanisms = {
        "isotropic": "discrete-gaussian",
        "free-groups": "discrete-gaussian",
        "laplace": "laplace",
        "wishart-difference": "wishart-difference",
        "coupled-wishart": "coupled-wishart",
    }
    must(mechanisms.get(measurement["shape"]) == event["mechanism"], "the shape of the noise is not of its mechanism")
    must(event["scale"] == measurement["scale"], "the event and the measurement have different scales")
    must(event["sensitivity"] > 0 and event["scale"] > 0, "sensitivity and scale must be positive")
    must(entry["request"]["facts"] == measurement["facts"], "the request has other facts than the measurement")
    ratio = Fraction(event["sensitivity"]) / Fraction(event["scale"])
    paid, kind = Fraction(entry["amount"]), stated["kind"]
    must(kind == request["kind"], "another kind of guarantee is stated than was requested")
    if event["mechanism"] != "discrete-gaussian":
        # Laplace noise: sensitivity in the l1 norm. Wishart noise: in the nuclear norm, or the larger trace.
        must(kind == "pure" and entry["kind"] == "pure", "this noise gives pure differential privacy")
        given, asked = Fraction(stated["epsilon"]), Fraction(request["epsilon"])
        must(ratio <= given <= asked <= paid * JUST, "the noise does not give the stated epsilon, or was not paid for")
        must(given <= ratio * (1 + Fraction(CLOSE)), "another epsilon is stated than the noise gives")
        return f"Guarantee: sensitivity / scale = {float(ratio):.6g}, and epsilon = {stated['epsilon']:.6g} is stated."
    rho = ratio**2 / 2  # Canonne, Kamath and Steinke 2020, Theorem 4
    must(entry["kind"] == "zcdp" and rho <= paid, "the noise is less than was paid for")
    if kind == "zcdp":
        given, asked = Fraction(stated["rho"]), Fraction(request["rho"])
        must(rho <= given <= asked <= paid * JUST, "the noise does not give the stated rho, or was not paid for")
        must(given <= rho * (1 + Fraction(CLOSE)), "another rho is stated than the noise gives")
        return f"Guarantee: (sensitivity / scale)^2 / 2 = {float(rho):.6g}, and rho = {stated['rho']:.6g} is stated."
    must(kind == "approx", "Gaussian noise gives zCDP or (epsilon, delta)-DP")
    must(stated["delta"] == request["delta"], "another delta is stated than was requested")
    epsilon = epsilon_of(float(rho), stated["delta"])
    must(epsilon * (1 - 1e-9) <= stated["epsilon"], "the noise does not give the stated epsilon and delta")
    must(stated["epsilon"] <= request["epsilon"] * (1 + CLOSE), "a weaker guarantee is stated than was requested")
    must(stated["epsilon"] <= epsilon * (1 + 1e-5), "another epsilon is stated than the noise gives")
    return f"Guarantee: rho = {float(rho):.6g} gives epsilon = {epsilon:.6g} at delta = {stated['delta']:g}, as stated."


def epsilon_of(rho, delta):
    """Return the smallest epsilon of rho-zCDP at delta over all orders a: Canonne, Kamath and Steinke 2020, Cor. 13."""
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
    facts = measurement["facts"]
    if facts["missing"] == "pairs" and len(measurement["total"]) > len(facts["columns"]) + measurement["anchors"]:
        return "Not checked here: noisy and noise_std, because missing cells are measured. Use privcov verify."
    noisy, std = noisy_covariance(measurement)
    there = [numbers_of(files, f"matrices/{name}.csv") for name in ("noisy", "noise_std")]
    for name, want, found in zip(("noisy", "noise_std"), (noisy, std), there, strict=True):
        must(found.shape == want.shape, f"{name} has another shape than the measurement")
        must((np.abs(found - want) <= CLOSE * std).all(), f"{name} does not follow from the measurement")
    return f"Noisy covariance and its noise: {noisy.size} entries each, as they follow from the measurement."


def noisy_covariance(measurement):
    """Return the noisy covariance and the standard deviation of the privacy noise on its entries, in data units.

    A row x becomes u = (x - origin) / scale in whole numbers, R = UNIT steps, and (u, a) with an anchor a for the mean,
    or (u, a e_c) for its class c. ``total`` is the noisy sum of (u, a)(u, a)'.
    """
    facts, anchors, a = measurement["facts"], measurement["anchors"], measurement["anchor"]
    total = np.array(measurement["total"], dtype=object)  # whole numbers of any size
    must((total == total.T).all(), "the measured sum is not symmetric")
    must(all(type(value) is int for value in total.ravel()), "the measured sum must be whole numbers")
    d, bound = len(facts["columns"]), facts["row_bound"]
    public = facts["n"] is not None
    counted = sum(int(total[d + c, d + c]) for c in range(anchors)) / a**2
    rows = facts["n"] if public and not facts["classes"] else max(counted, 1.0)
    for columns, move in moves(measurement, public):
        for j in columns:
            total[j, j] += move
    second = (total[:d, :d] / UNIT**2 / rows).astype(float) * bound**2
    unit = measurement["scale"] / UNIT**2 / rows
    off, diagonal = noise_stds(measurement, public)
    off, diagonal = unit * off * bound**2, unit * diagonal * bound**2
    if not anchors:
        covariance, variance = second, np.full((d, d), off**2)
        np.fill_diagonal(variance, diagonal**2)
    else:
        mean = (total[:d, d:].sum(axis=1) / (a * UNIT) / rows).astype(float) * bound
        # The mean has the noise e, and the product of two noisy means m_i m_j has m_i e_j + m_j e_i + e_i e_j.
        e2 = (off / bound) ** 2 * anchors / (a / UNIT) ** 2
        squares = np.maximum(mean**2 - e2, 0.0)
        covariance = second - np.outer(mean, mean)
        variance = off**2 + (squares[:, None] + squares[None, :]) * e2 + e2**2
        np.fill_diagonal(variance, diagonal**2 + 4 * squares * e2 + 2 * e2**2)
    units = np.outer(facts["scale"], facts["scale"])
    return covariance * units, np.sqrt(variance) * units


def groups_of(facts):
    """Return groups of columns, each with a share of R^2 that bounds its sum of squares in every row.

    One column with bounds is a group, and so are the levels of one category; a weight is the length of its column. All
    columns together are one group without bounds, and where rows are shortened to a smaller R.
    """
    d = len(facts["columns"])
    sizes, lengths = [1] * d, [1.0] * d
    if facts.get("kinds"):
        lengths = [kind.get("weight", 1.0) for kind in facts["kinds"]]
        sizes = [len(kind["values"]) + kind.get("other", False) if kind["kind"] == "category" else 1
                 for kind in facts["kinds"]]  # fmt: skip
    whole = math.fsum(length**2 for length in lengths)
    if facts["bounds"] is None or facts["row_bound"] ** 2 < whole * (1 - CLOSE):
        return [(range(d), 1.0)]
    starts = np.cumsum([0, *sizes])
    return [(range(starts[k], starts[k + 1]), length**2 / whole) for k, length in enumerate(lengths)]


def weights_of(measurement):
    """Return for each group of "free-groups" noise its columns and kappa.

    The sum of squares of a group is measured once more, with the variance of the noise on the diagonal over kappa.
    """
    around = 1 + 2 * (measurement["anchor"] / UNIT) ** 2 if measurement["anchors"] else 1.0
    return [(columns, around / share) for columns, share in groups_of(measurement["facts"])]


def moves(measurement, public):
    """Return what the second measurement of a sum adds to the diagonal: columns, and a number for each of them."""
    d, total = len(measurement["facts"]["columns"]), measurement["total"]
    found = []
    if measurement["shape"] == "free-groups":
        again = iter(measurement["sums"])
        for columns, kappa in weights_of(measurement):
            if len(columns) > 1:
                more = next(again) - sum(total[j][j] for j in columns)
                found.append((columns, more * kappa / (1 + len(columns) * kappa)))
    if measurement["shape"] == "coupled-wishart" and measurement["anchors"] == 1 and public:
        # This noise is small on the trace of the whole; the corner, n a^2, is public.
        corner = measurement["facts"]["n"] * measurement["anchor"] ** 2
        found.append((range(d), (total[d][d] - corner) / d))
    return found


def noise_stds(measurement, public):
    """Return the standard deviation of the noise off the diagonal, and on it, at scale 1."""
    d, p, shape = len(measurement["facts"]["columns"]), len(measurement["total"]), measurement["shape"]
    if shape == "laplace":
        return math.sqrt(2), math.sqrt(2)
    if shape == "isotropic":
        return math.sqrt(0.5), 1.0
    if shape == "wishart-difference":  # of two Wishart matrices with p + 1 degrees of freedom
        return math.sqrt((p + 1) / 2), math.sqrt(p + 1)
    if shape == "free-groups":
        diagonal = np.ones(d)
        for columns, kappa in weights_of(measurement):
            diagonal[list(columns)] = math.sqrt(1 - kappa / (1 + len(columns) * kappa))
        return math.sqrt(0.5), diagonal
    # Coupled Wishart matrices of p columns: <N, H> has variance flat |H|^2 + trace (tr H)^2 for a symmetric H.
    size = p * (p + 1) / 2
    larger, ratio, square = 2 * size * (2 * size + 1), size / (size + 1), 1 + size / (size + 2)
    norm = larger * (square * 2 * (p + 1) / (p * p + p + 2) - 2 * ratio / p)
    whole = larger * (square - 2 * ratio)
    flat = norm if p == 1 else (norm - whole / p) / (size - 1)
    trace = (whole - flat * p) / p**2
    moved = 1 / d if measurement["anchors"] == 1 and public else 0.0
    return math.sqrt(flat / 2), math.sqrt(flat * (1 + moved**2) + trace * (1 + moved) ** 2)


def numbers_of(files, name):
    """Return the numbers of a CSV with names on top and in front."""
    must(name in files, f"{name} is missing")
    lines = list(csv.reader(io.StringIO(files[name].decode("utf-8"), newline="")))
    return np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])


# --- 4. the same numbers twice -------------------------------------------------------------------------------------


def check_arrays(files):
    """Check 4: matrices.npz has the doubles of the CSVs."""
    must("matrices.npz" in files, "matrices.npz is missing")
    arrays = np.load(io.BytesIO(files["matrices.npz"]), allow_pickle=False)
    names = [name for name in files if name.startswith("matrices/")]
    must(
        {f"matrices/{name}.csv" for name in arrays.files} - {"matrices/moment.csv"} == set(names), "a matrix is missing"
    )
    for name in names:
        stored = np.atleast_2d(arrays[name.removeprefix("matrices/").removesuffix(".csv")])
        must(np.array_equal(stored, numbers_of(files, name), equal_nan=True), f"{name} differs from matrices.npz")
    return f"Matrices: {len(names)}, the same in matrices.npz and as CSV."


def check(place):
    """Return a line for each of the checks; raise `Wrong` where one fails."""
    files = read_files(place)
    lines = [check_files(files)]
    measurement, stated, entry, _ = (json.loads(files[name]) for name in INPUTS)
    must(measurement["version"] == 2 and measurement["grid"] == UNIT**2, "the measurement is of another version")
    lines += [check_guarantee(measurement, stated, entry), check_noisy(measurement, files), check_arrays(files)]
    return lines


def main():
    """Check the bundle that the argument names."""
    if len(sys.argv) > 2:
        sys.exit("usage: python -I verify.py [BUNDLE]")
    place = sys.argv[1] if len(sys.argv) == 2 else os.path.dirname(os.path.abspath(__file__))
    try:
        print(*check(place), sep="\n")
    except Wrong as problem:
        sys.exit(f"NOT CONSISTENT: {problem}.")
    except Exception as problem:  # a file that breaks the check does not pass
        sys.exit(f"NOT CONSISTENT: the check failed with {type(problem).__name__}: {problem!a}.")
    print("Everything that is checked here holds. `privcov verify` derives every other file again.")


if __name__ == "__main__":
    main()
