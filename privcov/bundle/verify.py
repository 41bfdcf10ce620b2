"""Check this bundle without the data: python verify.py

1. Every file is the one that was written (SHA-256, manifest.json).
2. The guarantee: the sensitivity follows from the declared facts, and with the noise it gives what is stated.
3. Every matrix follows from the noisy whole numbers of the measurement, bit for bit.

Needs Python 3.9 or newer and numpy; nothing of the data, no network, no privcov (the few files of it that make the
matrices are in the folder "derivation"). Ends with code 0 when everything holds and 1 when anything does not.
It cannot show that the noise was drawn at random, nor that this file and the manifest were not exchanged together.
"""

import hashlib
import json
import math
import sys
from fractions import Fraction
from pathlib import Path

GRID, UNIT, ANCHOR = 2**40, 2**20, math.isqrt(2**39)
MATRICES = (
    "mean",
    "noisy",
    "noise_std",
    "covariance",
    "thresholded",
    "shrunken",
    "correlation",
    "eigenvalues",
    "loadings",
    "regular",
    "precision",
    "partial",
)


class Wrong(Exception):
    """What does not hold, in one sentence."""


def must(holds: bool, sentence: str) -> None:
    """Raises `Wrong` with the sentence where it does not hold."""
    if not holds:
        raise Wrong(sentence)


# --- 1. files -----------------------------------------------------------------------------------------------


def check_files(here: Path) -> int:
    """How many files of the bundle have the hash that its list gives; raises `Wrong` for any other."""
    raw = (here / "manifest.json").read_bytes()
    try:
        manifest = json.loads(raw)
        files = dict(manifest["files"])
    except (ValueError, KeyError, TypeError):
        raise Wrong("manifest.json cannot be read") from None
    must(raw == written(manifest), "manifest.json is not as it was written")
    must(set(manifest) == {"files", "format"} and manifest["format"] == 1, "manifest.json is of another format")
    must("verify.py" in files and "measurement.json" in files, "manifest.json does not list what every bundle has")
    for name, digest in files.items():
        path = here / name
        must(path.is_file(), f"{name} is missing")
        must(hashlib.sha256(path.read_bytes()).hexdigest() == digest, f"{name} was changed")
    return len(files)


def written(value) -> bytes:
    """The one way in which this bundle writes JSON."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()


# --- 2. the guarantee ---------------------------------------------------------------------------------------


def check_guarantee(measured: dict, stated: dict) -> str:
    """A sentence on the guarantee, computed again from sensitivity and noise; raises `Wrong` where it is weaker."""
    event, facts = measured["event"], measured["facts"]
    check_kind(measured)
    square = largest_change(facts, measured["shape"], measured["anchors"])
    sensitivity, scale = Fraction(event["sensitivity"]), Fraction(event["scale"])
    must(measured["scale"] == event["scale"], "the measurement and its event name different noise")
    must(sensitivity**2 >= square, "the sensitivity of the event is below what the declared facts require")
    ratio = sensitivity / scale
    pure = event["mechanism"] in ("laplace", "wishart-difference")
    rho = ratio**2 / 2
    kind = stated["kind"]
    if kind == "pure":
        must(pure and ratio <= Fraction(stated["epsilon"]), "the noise does not give the stated epsilon")
        return f"{float(ratio):.6g}-DP"
    if kind == "zcdp":
        must(rho <= Fraction(stated["rho"]), "the noise does not give the stated rho")
        return f"{float(rho):.6g}-zCDP"
    must(kind == "approx", f"unknown guarantee {kind!r}")
    if pure and ratio <= Fraction(stated["epsilon"]):
        return f"{float(ratio):.6g}-DP"
    epsilon = epsilon_of(float(rho), stated["delta"])
    must(epsilon <= stated["epsilon"] * (1 + 1e-6), "the noise does not give the stated epsilon and delta")
    return f"({epsilon:.6g}, {stated['delta']:.3g})-DP, from {float(rho):.6g}-zCDP"


def check_kind(measured: dict) -> None:
    """The numbers that are there are those of the noise that is named, and the noise is that of the event."""
    facts, shape, anchors = measured["facts"], measured["shape"], measured["anchors"]
    named = shape if shape in ("laplace", "wishart-difference") else "discrete-gaussian"
    must(measured["event"]["mechanism"] == named, f"{shape} noise is not what the event names")
    must(shape != "free-trace" or facts["n"] is not None, "free-trace noise needs a public number of rows")
    must((measured["trace"] is not None) == (shape == "free-trace"), "a second trace belongs to free-trace noise alone")
    must(anchors == len(facts["classes"]) or (anchors <= 1 and not facts["classes"]), "anchors without their classes")
    must(anchors > 0 or facts["n"] is not None, "where the number of rows is hidden, anchors carry the count")
    size = len(facts["columns"]) + anchors
    total = measured["total"]
    must(len(total) == size and all(len(line) == size for line in total), "the sum is not of the declared columns")


def largest_change(facts: dict, shape: str, anchors: int) -> int:
    """Square of the largest change of the sum of z z' between neighbours, in whole numbers, |z|^2 <= b = m^2 + a^2.

    Frobenius norm sqrt(2) b (replace one) or b (add or remove); l1 norm of the upper triangle and nuclear norm alike.
    """
    d, k, m2 = len(facts["columns"]), facts["rows_per_person"], UNIT**2
    a2 = ANCHOR**2 if anchors else 0
    b, edge, alone = m2 + a2, math.isqrt(4 * d * a2 * m2), d == 1 and not anchors
    if facts["n"] is None:
        square = ((d * m2 + edge + a2 + b) // 2) ** 2 if shape == "laplace" else b**2
    elif shape == "laplace":
        l1 = m2 if d == 1 else math.isqrt(d * d * m2 * m2 // 2) + m2
        square = (l1 + edge + (2 * a2 if anchors > 1 else 0)) ** 2
    elif shape == "wishart-difference":
        square = m2**2 if alone else 4 * b**2
    else:
        must(shape in ("isotropic", "free-trace"), f"unknown noise {shape!r}")
        square = m2**2 if alone else 2 * b**2
    return k * k * square


def epsilon_of(rho: float, delta: float) -> float:
    """Every order a > 1 gives a valid epsilon (Canonne, Kamath and Steinke 2020, Corollary 13); the best of many."""
    best = rho + 2 * math.sqrt(-rho * math.log(delta))
    centre = math.log(max(math.sqrt(-math.log(delta) / rho), 1e-12))
    for step in range(-60_000, 60_001):
        gap = math.exp(centre + step / 5000)
        best = min(best, (1 + gap) * rho + math.log(gap) - math.log(delta) / gap - (1 + gap) * math.log1p(gap) / gap)
    return max(best, 0.0)


# --- 3. the matrices ----------------------------------------------------------------------------------------


def moment(measured: dict):
    """The noisy moment in unit-ball units: each quotient of whole numbers is rounded once."""
    import numpy as np

    d, k, n = len(measured["facts"]["columns"]), measured["anchors"], measured["facts"]["n"]
    total = [[int(v) for v in line] for line in measured["total"]]
    rows = n
    if n is None:
        rows = max(math.fsum(total[j][j] / ANCHOR**2 for j in range(d, d + k)), 1.0)
    more = 0 if measured["trace"] is None else int(measured["trace"]) - sum(total[j][j] for j in range(d))

    def over(whole, divisor):
        return whole / (divisor * n) if n is not None else whole / divisor / rows

    block = [
        [over((d + 1) * total[i][j] + (more if i == j else 0), (d + 1) * UNIT**2) for j in range(d)] for i in range(d)
    ]
    if not k or measured["centre"] == "none":
        return np.array(block), rows
    matrix = np.zeros((d + 1, d + 1))
    matrix[:d, :d] = block
    anchor = math.sqrt(0.5) / math.sqrt(k)
    matrix[:d, d] = matrix[d, :d] = [anchor * over(sum(total[i][d:]), ANCHOR * UNIT) for i in range(d)]
    matrix[d, d] = 0.5 / k
    return matrix, rows


def deviations(measured: dict, joint: int, rows: float) -> tuple:
    """Noise deviation of an off-diagonal entry, a diagonal entry and an entry of the extra row, unit-ball units."""
    d, shape, scale = len(measured["facts"]["columns"]), measured["shape"], measured["scale"] / UNIT**2 / rows
    if shape == "wishart-difference":
        scale *= math.sqrt((d + measured["anchors"] + 1) / (d + joint + 1))
        edge = math.sqrt((d + joint + 1) * 2) / 2
        return scale * edge, math.sqrt(2) * (scale * edge), scale * edge
    edge = math.sqrt(2.0) if shape == "laplace" else math.sqrt(0.5)
    diagonal = {"laplace": math.sqrt(2.0), "free-trace": math.sqrt(1 - 1 / d + 1 / (d * (d + 1)))}.get(shape, 1.0)
    return scale * edge, scale * diagonal, scale * edge


def check_matrices(here: Path, measured: dict) -> int:
    """How many matrices follow from the noisy whole numbers bit for bit; raises `Wrong` for any other."""
    import numpy as np

    sys.path.insert(0, str(here / "derivation"))
    from privcov.postprocess.answers import Noisy, derive

    facts = measured["facts"]
    matrix, rows = moment(measured)
    noisy = Noisy(
        matrix,
        matrix.shape[0] > len(facts["columns"]),
        facts["row_bound"],
        np.array(facts["scale"], dtype=float),
        np.array(facts["origin"], dtype=float),
        rows,
        *deviations(measured, matrix.shape[0] - len(facts["columns"]), rows),
    )
    answers = derive(noisy)
    stored = np.load(here / "matrices.npz", allow_pickle=False)
    must(same(stored["moment"], matrix), "the noisy moment does not follow from the measurement")
    count = 1
    for name in MATRICES:
        derived = getattr(answers, name)
        if derived is None:
            continue  # and nothing of that name may be there: the last line
        must(same(stored[name], derived), f"{name} in matrices.npz does not follow from the measurement")
        text = (here / "matrices" / f"{name}.csv").read_text(encoding="utf-8")
        must(same(numbers(text), np.atleast_2d(derived)), f"matrices/{name}.csv does not follow from the measurement")
        count += 1
    must(set(stored.files) == {"moment", *(n for n in MATRICES if getattr(answers, n) is not None)}, "extra matrices")
    return count


def same(one, other) -> bool:
    """Whether two arrays are the same bit for bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def numbers(text: str):
    """The numbers of a CSV with a line of names on top and a name in front of each line."""
    import csv
    import io

    import numpy as np

    lines = list(csv.reader(io.StringIO(text, newline="")))[1:]
    return np.array([[float(cell) for cell in line[1:]] for line in lines])


def main(here: Path) -> int:
    """Check the bundle in this folder and say so; the exit code."""
    sys.dont_write_bytecode = True
    try:
        print(f"Files: {check_files(here)} as written.")
        measured = json.loads((here / "measurement.json").read_text(encoding="utf-8"))
        stated = json.loads((here / "guarantee.json").read_text(encoding="utf-8"))
        print(f"Guarantee: {check_guarantee(measured, stated)}, as stated.")
        print(f"Matrices: {check_matrices(here, measured)} derived again, equal bit for bit.")
    except Wrong as found:
        print(f"NOT AS WRITTEN: {found}.")
        return 1
    except Exception as found:
        print(f"NOT AS WRITTEN: {type(found).__name__}: {found}")
        return 1
    print("Everything holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
