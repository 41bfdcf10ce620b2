"""The keys of methods and sources as a type, so that an editor completes them; tests compare them with the registries.

A parameter takes ``MethodKey | str``: a key from a loop or a file is a str to a type checker, and is checked when used.
"""

from __future__ import annotations

from typing import Literal

MethodKey = Literal[
    "auto-cov", "gaussian-cov", "wishart-difference", "laplace-cov", "wishart-approx", "dp-thresholding",
    "separate-cov", "adaptive-cov", "modified-dp-thresholding", "ldp-thresholding", "projection", "em-cov",
    "modified-ldp-thresholding", "coinpress", "auto-precision", "glasso-gaussian", "ridge-precision", "glasso-laplace",
    "glasso-wishart-approx", "wishart-pure", "zero", "diagonal", "sulq", "output-perturbation", "glasso-sulq",
    "glasso-wishart-pure",
]  # fmt: skip
SourceKey = Literal[
    "ar1-covariance", "banded-covariance", "block-covariance", "sparse-covariance", "precision-wishart",
    "precision-full", "precision-ar2", "precision-random", "sparse-inverse", "zipf-norms",
    "example", "breast-cancer", "wine", "diabetes", "digits", "sachs",
]  # fmt: skip
