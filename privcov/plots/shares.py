"""Draw the weights of the combined estimates, as one bar."""

from __future__ import annotations

from collections.abc import Mapping

from privcov.plots.look import Picture, draw
from privcov.plots.palette import Palette, readable
from privcov.plots.words import percent

_ROOM = 0.14  # of the bar, for a name inside


def shares_bar(shares: Mapping[str, float], palette: Palette, *, what: str, height: int = 110) -> Picture:
    """Return one bar whose pieces are the shares, largest first; a piece with too little room is named on hover."""
    ordered = sorted(shares.items(), key=lambda piece: -piece[1])
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [100 * share],
            "y": [""],
            "text": [f"{name} {percent(round(share, 2))}" if share >= _ROOM else ""],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textfont": {"color": readable(palette.lines[place % len(palette.lines)])},
            "marker": {
                "color": palette.lines[place % len(palette.lines)],
                "line": {"color": palette.ground, "width": 2},
            },
            "hovertemplate": f"{name}: %{{x:.0f}} %<extra></extra>",
        }
        for place, (name, share) in enumerate(ordered)
    ]
    figure = draw(
        traces, palette, height=height, barmode="stack", showlegend=False, x={"title": "share (%)", "range": [0, 100]}
    )
    story = ", ".join(f"{percent(round(share, 2))} {name}" for name, share in ordered if share >= 0.005)
    return Picture(figure, f"One bar of {what}: {story}.")
