// Draws every figure of a page with plotly's script; without scripts the words below it remain.
document.querySelectorAll("figure.drawn").forEach((figure) => {
  const drawn = JSON.parse(figure.querySelector("script").textContent);
  drawn.layout.autosize = true;
  delete drawn.layout.width;
  Plotly.newPlot(figure.querySelector("div"), drawn.data, drawn.layout, { responsive: true, displaylogo: false });
});
