"""The vote of the last lesson as a file: the browser tosses the coin, draws the noise and keeps the score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

import numpy as np

from pages.common import show
from pages.lessons.guess import NAMES, D, exact_moments, limit, play
from pages.lessons.simulated import SEED
from privcov.plots.palette import LIGHT

SCRIPT = """
const vote = document.querySelector(".vote");
if (vote) {
  const game = JSON.parse(vote.dataset.game), [first, second, next] = vote.querySelectorAll("button");
  const said = vote.querySelector("[role=status]"), [a, b] = game.tables, seen = [...vote.querySelectorAll("table")];
  const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  let sigma, truth, nats, votes, right, best;
  const paint = (table, numbers) => table.querySelectorAll("td").forEach((cell, k) => {
    const x = numbers[game.entry[k]], shade = Math.round(200 * Math.min(Math.abs(x) / game.most, 1));
    cell.textContent = x.toFixed(2);
    cell.style.background = (x < 0 ? game.below : game.above) + shade.toString(16).padStart(2, "0");
  });
  const voting = (now) => { first.disabled = second.disabled = !now; next.disabled = now; };
  const deal = () => {
    truth = Math.random() < 0.5 ? 0 : 1;
    const release = game.tables[truth].map((x) => x + sigma * normal());
    nats = release.reduce((sum, m, k) => sum + ((m - b[k]) ** 2 - (m - a[k]) ** 2) / (2 * sigma ** 2), 0);
    paint(seen[2], release);
    said.textContent = "Which table is the release closer to, in the mean squares of x1 and x2? Vote.";
    voting(true);
  };
  const begin = () => {
    sigma = game.sigmas[control.value];
    votes = right = best = 0;
    deal();
  };
  [first, second].forEach((button, table) => button.addEventListener("click", () => {
    votes += 1;
    right += table === truth;
    best += (nats < 0 ? 1 : 0) === truth;
    said.textContent = `It was ${game.names[truth]}, and you said ${game.names[table]}. You: ${right} of ${votes} ` +
      `right; the optimal attacker: ${best} of ${votes}; the limit in the long run: ${game.limits[control.value]}.`;
    voting(false);
  }));
  next.addEventListener("click", deal);
  control.addEventListener("input", begin);
  game.tables.forEach((table, k) => paint(seen[k], table));
  begin();
}
"""


def ballot(levels: Sequence[float]) -> str:
    """Return a release and the buttons for a vote, at each level of rho that the lesson's control has."""
    upper, pair = np.triu_indices(D), exact_moments()
    entry = np.zeros((D, D), dtype=int)
    entry[upper] = np.arange(len(upper[0]))
    entry = np.maximum(entry, entry.T)
    game = {
        "names": NAMES,
        "tables": [table[upper].tolist() for table in pair],
        "entry": entry.ravel().tolist(),
        "sigmas": [play(rho, SEED, 1).sigma for rho in levels],
        "limits": [show.chance(limit(rho)) for rho in levels],
        "most": float(abs(pair[0]).max()),
        "above": LIGHT.good,
        "below": LIGHT.bad,
    }
    rows = f"<tr>{'<td></td>' * D}</tr>" * D
    named = "".join(f"<table><caption>{name}</caption>{rows}</table>" for name in ("A, exact", "B, exact", "released"))
    asked = (*(f"It was {name}" for name in NAMES), "Next release")
    buttons = " ".join(f'<button type="button">{words}</button>' for words in asked)
    return (
        f'<section class="vote" data-game="{escape(json.dumps(game))}">'
        '<p class="tag">Simulated: this page tosses the coin and draws the noise, anew at every visit.</p>'
        f'<div class="row">{named}</div><p>{buttons}</p><p role="status"></p></section>'
    )
