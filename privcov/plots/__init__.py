"""Draw tables and matrices as plotly figures, by pure functions. No other package of privcov imports plotly.

Every function returns a `Picture`: the figure and a text alternative that contains the plotted finding.
"""
