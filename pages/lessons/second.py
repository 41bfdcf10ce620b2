"""Lessons six to ten: repairs that cost nothing, graphs from noise, re-runs, and the guess."""

from __future__ import annotations

from pages.lessons.entry import AUDIT, ESTIMATE, GRAPHS, METHODS, SPECTRA, Choice, Lesson, Lever, count, study
from pages.shell.study import Study
from privcov.lessons import numbers as lessons
from privcov.lessons import repair, repeats

_RHO = "The guarantee is rho-zCDP: the smaller rho, the smaller epsilon. Runs add up in rho, not in epsilon."
RUNS = (1, 2, 5, 10, 20, 50, 100, 200, 500)

SECOND: tuple[Lesson, ...] = (
    Lesson(
        "Thresholding",
        "The law of the noise is public. An entry smaller than a few of its standard deviations may well be nothing "
        "but noise, so it is set to zero. Too little cutting leaves noise, too much removes what is real.",
        Lever(
            "Cut below this many deviations of the noise",
            tuple(round(0.5 * k, 1) for k in range(13)),
            1.0,
            "keep everything",
            "keep the strongest only",
            lambda v: f"{v:g}",
        ),
        "Somebody tries twenty thresholds on one release and keeps the picture she likes best. What does it cost in "
        "privacy?",
        (
            Choice(
                "Twenty times epsilon: every try is a query",
                "A query is one that reads the rows. These twenty read a matrix that is already public.",
            ),
            Choice(
                "Nothing",
                "Whatever is computed from a release alone is post-processing and as private as the release. (It may "
                "still mislead: the prettiest picture is not the truest one.)",
                True,
            ),
            Choice(
                "About epsilon times the square root of twenty",
                "That is about how epsilon grows over twenty noisy answers from the rows. Here there was one.",
            ),
        ),
        "What is done to a release after it was made costs no privacy.",
        (
            ESTIMATE,
            "Estimate: let the noise law choose the threshold",
            lambda v: study("banded-covariance", repair.CUT_DATA, repair.CUT_RHO, lessons.SPARSE),
        ),
    ),
    Lesson(
        "Shrinkage of the spectrum",
        "Each entry of the noisy matrix is right on average. Its eigenvalues are not: noise pushes them apart. As "
        "the law of the noise is known, they can be pulled back for free.",
        Lever(
            "Rho",
            (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
            0.01,
            "stronger privacy",
            "more accuracy",
            help=_RHO,
        ),
        "The noise has mean zero in every entry. The largest eigenvalue of the noisy matrix is, on average,",
        (
            Choice(
                "right, because the errors cancel",
                "They cancel in the entries and in their sums, as in the trace. The largest eigenvalue is not a sum.",
            ),
            Choice("too small", "It is a maximum over directions, and a maximum profits from the noise."),
            Choice(
                "too large",
                "It is the maximum over all directions of a linear function of the matrix; such a maximum is convex, "
                "so noise raises it. The smallest falls in the same way, often below zero.",
                True,
            ),
        ),
        "Unbiased entries do not make unbiased eigenvalues; the known noise tells how far to pull them in.",
        (
            SPECTRA,
            "Spectra: the same release",
            lambda v: study("ar1-covariance", repair.SHRINK_DATA, v, "gaussian-cov", options=(("repair", "shrink"),)),
        ),
    ),
    Lesson(
        "Graphs from noise",
        "These columns are independent: the true graph has **no edge**. With a small penalty the "
        "graphical lasso draws edges all the same, with and without privacy noise.",
        Lever(
            "Penalty lambda, step along the path",
            tuple(range(11)),
            4,
            "large: few edges",
            "small: many edges",
            lambda v: f"{v + 1}",
        ),
        "You get a private graph with 40 edges. Which check tells how many of them noise may have drawn, at no cost in "
        "privacy?",
        (
            Choice(
                "Compare it with the graph of the raw rows",
                "That reads the rows without noise. Saying which edges agree would be a second release, without any "
                "protection.",
            ),
            Choice(
                "Release a second graph and keep the edges that both have",
                "It works, and it is paid for: two releases compose, and rho adds up.",
            ),
            Choice(
                "Run the same method on simulated independent columns with the same noise",
                "n, d, R and the law of the noise are public. If that draws 40 edges too, there is no "
                "reason to believe in yours.",
                True,
            ),
        ),
        "A method draws edges whether or not there are any; ask how many it draws from noise alone.",
        (
            GRAPHS,
            "Graph recovery: with a true graph to find",
            lambda v: study("precision-ar2", {}, repeats.GRAPH_RHO, repeats.GRAPH_METHOD),
        ),
    ),
    Lesson(
        "What a re-run costs",
        "The same release is made again and again from the same rows, each time with new noise, and the matrices are "
        "averaged. The noise averages out, and the protection with it.",
        Lever("Number of runs", RUNS, 1, "released once", "released again and again", count),
        "An analyst runs a private method nine times until the picture looks right, and publishes the last one only. "
        "What was spent?",
        (
            Choice(
                "One run: the other eight were never published",
                "Which run is published depends on all nine, and somebody has seen them. The promise must cover "
                "everything that looked at the rows.",
            ),
            Choice(
                "Nine runs: nine times rho",
                "Runs compose. In zCDP rho adds up; mu of the Gaussian noise grows threefold, the square root of 9.",
                True,
            ),
            Choice(
                "Nothing: fresh noise hides the rows each time",
                "Fresh noise is what makes it costly: the average of k runs has a k-th of the noise variance.",
            ),
        ),
        "The average of k runs has one over the square root of k of the error, and k times rho has been spent.",
        (
            METHODS,
            "Methods: compose guarantees",
            lambda v: Study(rho=repeats.RUN_RHO),
        ),
    ),
    Lesson(
        "Guess the neighbour",
        "You know tables A and B completely; they differ in one row. A coin picks one, and you see its release. "
        "**Which one was it?**",
        Lever(
            "Rho",
            (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
            0.5,
            "stronger privacy: nearly a coin toss",
            "weaker privacy: nearly certain",
            help=_RHO + " Another rho is another game with its own score.",
        ),
        "After 20 rounds a class has 17 right, and the limit is 69%. What does that show?",
        (
            Choice(
                "The guarantee is broken: 85% is more than 69%",
                "17 of 20 is one draw. The exact 95% binomial interval of the class's chance begins at 62 %, below "
                "the limit.",
            ),
            Choice(
                "Little yet: the interval around 17 of 20 still contains the limit",
                "The limit holds for the chance, not for a lucky run. Play on: in the long run no score exceeds it.",
                True,
            ),
            Choice(
                "People are better than the optimal attacker",
                "Nobody is: guessing by the likelihood ratio is right as often as anything can be (Neyman, "
                "Pearson). Over many rounds its score is the limit.",
            ),
        ),
        "The attacker meter is the share of right guesses that nobody can exceed, whatever they know of the others.",
        (AUDIT, "Privacy audit: what an attacker learns", lambda v: Study(rho=v)),
    ),
)
