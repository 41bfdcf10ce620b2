"""Examples of every command, which its help ends with: together they use every option."""

from __future__ import annotations

import argparse

CODES = """\
Exit codes: 0 after success, also where the reader of the output stops early; 1 for a failure while running; 2 where
what was typed cannot be carried out; 130 after an interruption. A failure is one sentence on standard error, and
leaves no half file. What could not be written is refused before anything is computed or spent."""

# Command: lines without the name of the program, each with what it does.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "app": (
        ("app", "the workbench at http://127.0.0.1:8501"),
        ("app --port 8600", "at another port"),
        ("app --class", "for a class in the same network, with Your data shut"),
        ("app token", "what Your data asks for; the server that started last made it"),
        ("app site lessons", "the lessons as files, in the folder lessons"),
    ),
    "declare": (
        (
            "declare visits.csv --separator ';' --decimal , --out columns.tsv",
            "the columns of the header, to fill in with a spreadsheet: name, low, high, typical, kind, why",
        ),
        (
            "declare visits.csv --separator ';' --decimal , --columns columns.tsv --out visits.json",
            "the declaration with these columns; fill in what one row stands for, and the rest",
        ),
        ("declare visits.csv --encoding latin-1", "of a file that is not in UTF-8; the declaration is printed"),
    ),
    "check": (
        ("check table.json table.csv", "which cells a release could read; for the owner's eyes"),
        ("check table.json 'part-*.csv' --ledger a.sqlite --json", "many files, and the disk of that ledger"),
    ),
    "ledger": (
        ("ledger", "every table, with what was spent"),
        ("ledger show clinic --json", "every release of one table, for a program"),
        ("ledger limit clinic --rho 1", "the most that all releases of a table may spend together"),
        ("ledger limit clinic --epsilon 2 --delta 1e-6 --ledger a.sqlite", "the same in another unit and file"),
        ("ledger limit clinic --rho 2 --reason 'asked by the board'", "a limit that allows more needs a reason"),
        ("ledger bundle clinic 3 --out table.zip", "of release 3 of the ledger's table clinic; nothing is paid"),
        ("ledger bundle clinic 3 --out table.zip --declaration table.json --ledger a.sqlite", "with its declaration"),
        ("ledger begin-anew --yes", "everything that was spent is forgotten"),
    ),
    "release": (
        ("release table.csv --declaration table.json --rho 0.1 --out release.json", "the default method"),
        (
            "release 'part-*.parquet' --declaration table.json --method gaussian-cov --set repair=none "
            "--epsilon 1 --delta 1e-6 --bundle table.zip",
            "many files, a method and its parameter, and a bundle to take home",
        ),
        (
            "release table.csv --declaration table.json --rho 0.1 --expected-rows 4000",
            "a public guess of the number of rows where it is hidden",
        ),
        ("release table.csv --declaration table.json --rho 0.1 --draw 2 --ledger a.sqlite", "once more, paid again"),
        (
            "release table.csv --declaration table.json --rho 0.1 --accept-unreadable smokes",
            "a column with hardly a number",
        ),
        ("release table.csv --declaration table.json --rho 0.1 --public --seed 3", "rows that need no protection"),
    ),
    "verify": (
        ("verify table.zip", "everything in a bundle that can be checked without the data"),
        ("verify table.zip --json", "the same for a program; the exit code is 1 where something does not hold"),
        ("verify table.zip --show", "what somebody else's bundle says, unchecked"),
    ),
    "answers": (
        ("answers table.zip means", "estimates with intervals, after everything in the bundle was checked"),
        ("answers table.zip correlations --rate 0.1 --level 0.9 --out pairs.csv", "with which of them are not zero"),
        ("answers table.zip regress --y weight --on age,height --ridge 0.01 --json", "of one column on two others"),
        ("answers table.zip variances --kurtosis 6", "for heavy tails"),
        ("answers table.zip components --n-components 2", "the first principal axes"),
        ("answers table.zip contrast --a treated --b control", "the difference of two classes"),
        ("answers table.zip group-means --by sex=f", "means in the two groups that a column makes"),
        ("answers table.zip alpha --items q1,q2,-q3", "of a scale, one of whose items is reversed"),
        (
            "answers table.zip regress --y age --on mood --score mood=q1,q2,-q3",
            "a regression on the mean of the items of a scale",
        ),
        ("answers table.zip factors --n-factors 2 --columns q1,q2,q3,q4,q5", "loadings of a factor analysis"),
    ),
    "advice": (
        ("advice --n 5000 --d 40 --rho 0.1", "nothing is known about the structure"),
        (
            "advice --n 5000 --d 40 --epsilon 1 --delta 1e-6 --target precision --structure banded",
            "one that is supposed",
        ),
        ("advice --n 5000 --d 40 --rho 0.1 --error 0.2 --mean-known", "also the least rho for an error of 20 %"),
        ("advice --n 5000 --d 40 --rho 0.1 --private --add-remove --rows-per-person 3", "as for private rows"),
        ("advice --n 5000 --d 40 --rho 0.1 --length-ratio 2 --json", "rows half as long as the bound; for a program"),
        ("advice --recompute", "the evidence, measured again"),
    ),
    "study": (
        ("study methods", "every method, with its guarantees and its standing"),
        ("study methods --json", "the same with all parameters and their ranges, for a program"),
        ("study sources", "every data source, with its group"),
        ("study sources --json", "the same with all parameters and their ranges, for a program"),
        ("study run study.json --out table.csv --report report.html", "a saved study: its table, and figures"),
        (
            "study run study.json --fresh --workers 2 --out table.csv",
            "computed again, whatever is kept, by two processes",
        ),
        ("study generate ar1-covariance --set n=5000000 --set d=20 --seed 1 --out table.parquet", "five million rows"),
        ("study generate ar1-covariance --files 4 --out part.csv --declaration table.json", "four files, declared"),
    ),
}


def add_examples(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """End the help of every command with its examples."""
    for name, lines in EXAMPLES.items():
        parser = commands.choices[name]
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = "examples:\n" + "\n".join(f"  # {what}\n  privcov {line}" for line, what in lines)
