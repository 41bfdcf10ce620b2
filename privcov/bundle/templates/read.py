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
    print(about, *columns, *cov, f"n_eff {n_eff:.0f}", *table("extras/correlations.csv"), sep="\n")
