"""Estimators for pipelines of scikit-learn."""
