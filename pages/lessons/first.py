"""Lessons one to five: neighbours, sensitivity, and noise against n, d and the row bound."""

from __future__ import annotations

from pages.lessons.entry import AUDIT, ESTIMATE, Choice, Lesson, Lever, count, study
from pages.shell.study import Study
from privcov.figures.look import plain
from privcov.lessons import numbers as lessons

BOUNDS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
NS = (200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
DS = (5, 10, 20, 40, 80, 120)
MULTIPLES = tuple(round(2 ** (k / 4), 6) for k in range(-12, 6))

FIRST: tuple[Lesson, ...] = (
    Lesson(
        "What is a neighbour?",
        "Two tables are **neighbours** when they are alike but for one person's row. Privacy is a promise about such "
        "pairs: from what is released, nobody can tell well which of the two it was made from.",
        Lever(
            "How different the new row is",
            tuple(round(0.1 * k, 1) for k in range(11)),
            0.5,
            "the same person",
            "a row of full length, at right angles",
            lambda v: f"{v:.0%}",
            "Share of the way from the old row to a row as long as the row bound permits.",
        ),
        "Which two tables are neighbours here (one row replaced, the number of rows public)?",
        (
            Choice(
                "Every row differs, but only in the last digit",
                "The size of a change is not what counts. Here every row changed, so as many steps lie between the "
                "two tables as they have rows.",
            ),
            Choice(
                "One row differs, in every one of its cells",
                "One person, one row, whatever is in it. The row bound alone limits how far it may move.",
                True,
            ),
            Choice(
                "One of them has a row less",
                "That is another relation, add or remove, and it hides the number of rows as well. Here n is public "
                "and the same in both tables.",
            ),
        ),
        "A neighbour changes one whole row, by any amount that the row bound permits.",
        (AUDIT, "Privacy audit: attack pairs of neighbours", lambda v: Study()),
    ),
    Lesson(
        "Sensitivity of a covariance",
        "The noise has to hide the **largest** change that one row can make. Each dot is a pair of rows; a search that "
        "does not know the proof looks for the worst one.",
        Lever("Row bound R", BOUNDS, 1.0, "short rows only", "long rows count in full"),
        "R is doubled. What does the largest possible change do?",
        (
            Choice("It doubles", "That would be so for a mean. A second moment multiplies a row with itself."),
            Choice(
                "It becomes four times as large",
                "A row enters as x times x transposed, so lengths are squared: the bound is the square root of 2 times "
                "R squared over n.",
                True,
            ),
            Choice(
                "It stays: real rows did not get longer",
                "Sensitivity is about the rows that are permitted, not about those that happen to be there. Otherwise "
                "the noise itself would tell how long they are.",
            ),
        ),
        "Sensitivity is the square root of 2 times R squared over n: the proved maximum over pairs of permitted rows.",
        (
            ESTIMATE,
            "Estimate: move R on real noise",
            lambda v: study("ar1-covariance", {"d": 10, "n": 2_000}, 0.1, "gaussian-cov", bound=v),
        ),
    ),
    Lesson(
        "Noise against n",
        "The same guarantee for more and more people. Two things make an entry of the covariance wrong: the privacy "
        "noise, and that n rows are only a sample.",
        Lever("Rows n", NS, 1_000, "few people", "many people", count),
        "Ten times as many rows, the same guarantee. The privacy noise on one entry",
        (
            Choice(
                "falls by the square root of 10, like any error of an average",
                "That is the sampling error. The privacy noise hides one row, and one row weighs 1/n.",
            ),
            Choice(
                "falls to a tenth",
                "The sensitivity is proportional to 1/n, and the noise to the sensitivity. It falls faster than the "
                "sampling error, so with enough rows privacy is almost free.",
                True,
            ),
            Choice(
                "stays, because the guarantee stays",
                "The guarantee fixes the noise relative to what one row can do, and that shrinks as n grows.",
            ),
        ),
        "Privacy noise falls like 1/n, sampling error like one over the square root of n: beyond some n privacy costs "
        "next to nothing.",
        (
            ESTIMATE,
            "Estimate: this data set",
            lambda v: study(
                "ar1-covariance",
                lessons.N_DATA | {"n": v},
                lessons.N_RHO,
                "gaussian-cov",
                bound=lessons.WIDE,
            ),
        ),
    ),
    Lesson(
        "Why columns hurt and sparsity helps",
        "More columns, the same people and the same guarantee. In truth only columns at most two places apart are "
        "correlated. One release keeps every entry, the other sets the small ones to zero.",
        Lever("Columns d", DS, 40, "few columns", "many columns", count),
        "Why is the release without the small entries so much better at 20 columns and more?",
        (
            Choice(
                "Its noise is smaller",
                "Both start from the very same noisy matrix. No method gets less noise for the same guarantee by "
                "hoping for zeros.",
            ),
            Choice(
                "It knows which pairs are really zero and spends nothing on them",
                "It does not know. It sees the noisy matrix and the law of the noise, nothing else.",
            ),
            Choice(
                "Most entries are noise only, and it drops them; few entries are left to be wrong",
                "There are about d squared pairs and about 2 d real ones. At the right end the noise is so large that "
                "real entries are dropped too.",
                True,
            ),
        ),
        "Noise comes with every one of the d squared entries; sparsity helps because few of them matter.",
        (
            ESTIMATE,
            "Estimate: the thresholded release",
            lambda v: study(
                "banded-covariance",
                {"n": lessons.D_N, "d": v},
                lessons.D_RHO,
                lessons.SPARSE,
                bound=lessons.WIDE,
            ),
        ),
    ),
    Lesson(
        "Clipping: bias against noise",
        "A row longer than R is shortened to R. A small R means little noise and much bias, a large R the reverse. "
        "These rows are simulated and have heavy tails, so the errors may be looked at.",
        Lever(
            "Row bound R",
            MULTIPLES,
            1.0,
            "less noise, more bias",
            "less bias, more noise",
            lambda v: plain(v * lessons.public_bound()),
            "It begins at the bound that the source names from public facts.",
        ),
        "Ten times as many rows, the same guarantee. The best R",
        (
            Choice(
                "becomes larger",
                "The noise falls to a tenth and the bias stays what it was. So it pays to shorten fewer rows.",
                True,
            ),
            Choice(
                "becomes smaller, because there are more long rows to shorten",
                "Their share stays the same, and so does the bias. What falls is the noise.",
            ),
            Choice(
                "stays: it depends on the lengths of the rows only",
                "The bias does; the noise depends on n and on the guarantee too, and the best R balances both.",
            ),
        ),
        "R is chosen from public facts. Reading it off the rows, as this picture does, would break the promise.",
        (
            ESTIMATE,
            "Estimate: these rows under this R",
            lambda v: study("ar1-covariance", lessons.CLIP_DATA, lessons.CLIP_RHO, "gaussian-cov", bound=v),
        ),
    ),
)
