// Nothing on the page needs this: numbers, tables and charts are there before it runs.
"use strict";
(() => {
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
  const enliven = async () => {
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      const spec = JSON.parse(figure.querySelector("script").textContent);
      const drawn = figure.querySelector(".plot");
      const live = document.createElement("div");
      live.className = "plot live";
      try {
        // `ast` lets Vega read its expressions without eval, which the page forbids.
        await vegaEmbed(live, spec, { mode: "vega-lite", actions: false, ast: true, renderer: "svg", defaultStyle: false });
      } catch {
        continue; // the drawn chart stays
      }
      drawn.replaceWith(live);
      figure.dataset.chart = "live";
    }
    document.documentElement.dataset.charts = "live";
  };
  enliven();
})();
