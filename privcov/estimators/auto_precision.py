"""The default precision method: the least noise for many columns, and a graph chosen with the known noise.

The graph is that of a test of every pair with a bounded rate of false discoveries (postprocess/edge_test.py), and the
matrix the one of largest likelihood on that graph. Where the law that the test needs is not derived, and under the
other rules, it is a graphical lasso at a lambda chosen with the known noise.

Shrinking the eigenvalues first, as auto-cov does, was measured and left out: it raised the smallest error of the
precision that any lambda reaches (AR(2), d = 20 and 100), though not the number of true edges under every rule.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from privcov.core.guarantees import RELATIONS, NoPrivacy
from privcov.core.parameters import parameter
from privcov.estimators.auto_cov import OFF, search_note
from privcov.estimators.base import ALL_KINDS, METHODS, MeasurementRequest, MethodInput
from privcov.estimators.glasso import FLOOR, TUNINGS, Glasso, SolvedPath
from privcov.estimators.mechanisms import LeastNoise
from privcov.measurements.labels import CLASSES
from privcov.measurements.moment import ALL_CENTRES, NoisyMoment
from privcov.measurements.noise_theory.noise_law import law_of, moments_of, relative_count_std
from privcov.measurements.norm_histogram import GRAPH
from privcov.postprocess.edge_test import EdgeTest, edge_test, on_graph
from privcov.postprocess.lambda_choice import RULES
from privcov.postprocess.repair import repair_for_lasso
from privcov.tables.public_facts import FEWEST_COLUMNS

TESTED, OTHERWISE = "edge-test", "ebic"
_UNTESTED = "The edge test is not derived for class sums: the rule ebic took its place."
_EMPTY = " The noise is too large for edges, and the matrix is diagonal."


@METHODS.add(
    key="auto-precision",
    label="Auto (graphical lasso)",
    target="precision",
    family="Graph",
    guarantees=ALL_KINDS,
    standing="proved",
    relations=tuple(RELATIONS),
    centres=ALL_CENTRES,
    order=58,
    tunings=TUNINGS,
    version=4,
    private_defaults={"row_bound_search": "off"},
    summary="The least noisy shape for many columns (Gaussian with an accurate trace; under pure DP the "
    "difference of two Wishart matrices), then edges by a test that knows the noise, or a graphical lasso.",
    formula=r"\hat\Theta=\arg\min_{\Theta\succ0}\;-\log|\Theta|+\mathrm{tr}(\tilde S_+\Theta)"
    r"+\hat\lambda\sum_{i\ne j}|\Theta_{ij}|,\quad \tfrac1{n_{\rm eff}}=\tfrac1n+\tfrac{s^2}{\overline{S_{ii}S_{jj}}}",
    avoid="When noise per entry exceeds the correlations you look for: the test then finds few edges, and the other "
    "rules draw noise.",
    reference="Own combination; edge test after Jankova and van de Geer (2015), extended BIC after Foygel and Drton "
    "(2010), fission after Oliveira, Lei and Tibshirani (2021).",
)
@dataclass(frozen=True)
class AutoPrecision(Glasso):
    """The least noise for the guarantee among the shapes here, for many columns, then a graphical lasso.

    Guarantee
    ---------
    As asked; the proofs are in measurements/moment.py and norm_histogram.py. Everything after them is post-processing.

    Spends
    ------
    The whole guarantee: in one measurement, or 5 % on counts of the row norms and the rest on the matrix.

    Notes
    -----
    The edge test assumes Gaussian rows in its sampling part, and is not derived for class sums: there the rule "ebic"
    takes its place, and a note says so. Rows that the search shortens to much the same length keep a graph for
    elliptical rows. The released matrices have the scale of the rows as they were, by the noisy counts.
    """

    row_bound_search: str = parameter(
        "auto",
        "Row bound search",
        choices=("auto", OFF),
        help="auto: with ten columns or more, spend 5 % of the guarantee on a search for the row bound that a graph "
        "needs, the shorter the noisier. Off for strongly skewed columns.",
    )

    rule: str = parameter(
        TESTED,
        "Rule for the edges",
        choices=(TESTED, *RULES),
        help="Free. edge-test bounds the rate of false edges of Gaussian rows. The others choose lambda: ebic aims at "
        "the likelihood, fission at estimation error (exact for Gaussian noise only).",
    )
    rate: float = parameter(
        0.1,
        "Rate of false edges",
        low=0.001,
        high=0.5,
        log=True,
        shown_if={"rule": TESTED},
        help="Expected share of false edges among those drawn, for Gaussian rows; heavy tails have more.",
        ends=("fewer edges", "more edges"),
    )

    mechanism = LeastNoise()

    def request(self, inputs: MethodInput) -> MeasurementRequest:
        """Return the measurement of the matrix, after a search of the row bound."""
        searched = self.row_bound_search != OFF and inputs.d >= FEWEST_COLUMNS
        search = GRAPH if searched and not isinstance(inputs.guarantee, NoPrivacy) else ""
        return dataclasses.replace(self.mechanism.request(inputs), search_for=search)

    def measure(self, inputs: MethodInput) -> NoisyMoment:
        """Measure what `request` states, on rows that are not private."""
        return self.request(inputs).measure(inputs)

    def tested(self, inputs: MethodInput, noisy_moment: NoisyMoment) -> EdgeTest | None:
        """Test every pair of columns for an edge.

        Parameters
        ----------
        inputs : MethodInput
            The input of the run.
        noisy_moment : NoisyMoment
            The noisy moment, without class sums.

        Returns
        -------
        EdgeTest or None
            None where there is no pair, or the noise leaves nothing to test.

        Spends
        ------
        Nothing: it uses only a noisy matrix.
        """
        law = law_of(noisy_moment, relative_count_std(noisy_moment))
        rows = noisy_moment.n_rows / inputs.facts.rows_per_person
        mean, covariance = moments_of(noisy_moment, law, rows)
        return edge_test(covariance, np.zeros(inputs.d) if mean is None else mean, rows, law)

    @property
    def lambda_rule(self) -> str:
        """The rule that chooses lambda: "ebic" where the edge test was asked for and is not derived."""
        return OTHERWISE if self.rule == TESTED else self.rule

    def choose_precision(
        self, inputs: MethodInput, noisy_moment: NoisyMoment, solution: SolvedPath
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the matrix of largest likelihood on the edges of the test, or that of a lambda rule."""
        by_test = self.rule == TESTED and inputs.tuning == "released"
        if not by_test or noisy_moment.centre == CLASSES:
            precision, notes = super().choose_precision(inputs, noisy_moment, solution)
            return precision, (*notes, _UNTESTED) if by_test else notes
        test = self.tested(inputs, noisy_moment)
        graph = np.zeros((inputs.d, inputs.d), dtype=bool) if test is None else test.graph(self.rate)
        definite = solution.s if self.repair != "none" else repair_for_lasso(solution.s, "psd", FLOOR).matrix
        count, pairs = int(graph.sum()) // 2, inputs.d * (inputs.d - 1) // 2
        notes = search_note(noisy_moment)
        note = f"{count} of {pairs} pairs pass the edge test at a rate of false discoveries of {self.rate:g}."
        note += " The matrix is the one of largest likelihood on these edges." if count else _EMPTY
        return on_graph(definite, graph), (*notes, note)
