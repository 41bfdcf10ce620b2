"""Table or matrix to plotly figure: pure functions. The only room that imports plotly.

Every function returns a `Picture`: the figure and a text alternative that contains the plotted finding.
"""
