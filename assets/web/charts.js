/* When charts are drawn: their library is read behind the numbers, then one chart is drawn at a time, those in sight
   first, and one out of sight not again before it comes into sight; and none while the page waits for an answer. So no
   change waits for all of them. */
(function () {
  "use strict";
  const link = document.getElementById("charts"), BEGIN_MS = 10000, TICK_PX = 80, ANSWER_MS = 250, LOOK_MS = 10;
  let asked = 0;  // when the page asked what it still waits for
  let begun = false, read = null, broken = null, draw = null, busy = false;
  const waiting = [];  // first drawings and redrawings that wait for their turn
  const drawn = new WeakSet(), unseen = new WeakMap();  // unseen: chart out of sight → its newest figure

  /* Dash waits for what is promised here, and its charts then call what the library has put in its place. */
  window.Plotly = new Promise((resolve, reject) => { read = resolve; broken = reject; });

  function begin() {
    if (begun) { return; }
    begun = true;
    const library = document.createElement("script");
    library.onload = () => { takeTurns(window.Plotly); read(); };
    library.onerror = broken;
    library.src = link.href;
    document.body.append(library);
  }

  /* An axis of time gets five ticks at least from the library: on a phone their words collide. */
  const ticks = (chart) => Math.max(2, Math.floor(chart.clientWidth / TICK_PX));

  /* On a wall screen the words of a chart are as large as those around it, which the style sheet enlarges there. */
  const WALL = matchMedia("(min-width: 2200px)"), LARGER = 1.25;
  const enlarged = (one) => (one && one.font ? {...one, font: {...one.font, size: one.font.size * LARGER}} : one);

  function fitted(chart, figure) {
    const axis = (figure.layout || {}).xaxis;
    let layout = figure.layout;
    if (axis && axis.type === "date") { layout = {...layout, xaxis: {...axis, nticks: ticks(chart)}}; }
    if (layout && WALL.matches) { layout = {...enlarged(layout), legend: enlarged(layout.legend)}; }
    return {...figure, layout: layout};
  }

  /* Whether a chart has the size and the ticks of its room; the ticks are set for the drawing that follows. */
  function fits(chart) {
    const axis = chart.layout && chart.layout.xaxis, few = axis && axis.type === "date" && axis.nticks !== ticks(chart);
    if (few) { axis.nticks = ticks(chart); }
    const size = chart._fullLayout, fills = chart.layout && !chart.layout.height;
    return !few && size && Math.round(size.width) === chart.clientWidth
      && (!fills || Math.round(size.height) === chart.clientHeight);
  }

  function inSight(chart) {
    const place = chart.getBoundingClientRect(), margin = window.innerHeight / 4;
    return place.width > 0 && place.bottom > -margin && place.top < window.innerHeight + margin;
  }

  const sight = new IntersectionObserver((changes) => {
    for (const {target} of changes) {
      if (!target.isConnected) { sight.unobserve(target); }
      else if (unseen.has(target) && inSight(target)) { window.Plotly.react(target, unseen.get(target)); }
    }
  }, {rootMargin: "25%"});

  function takeTurns(Plotly) {
    const resize = Plotly.Plots.resize;
    draw = Plotly.react;
    Plotly.react = (chart, figure) => {
      if (drawn.has(chart) && !inSight(chart)) { unseen.set(chart, figure); return Promise.resolve(chart); }
      unseen.delete(chart);
      return new Promise((done, failed) => { waiting.push({chart, figure, done, failed}); next(); });
    };
    /* Dash asks for it after every first drawing; a chart that has its size already would be drawn twice. The library's
       own forgets the height that a figure gives: a chart that was hidden before would stay as low as it was then. */
    Plotly.Plots.resize = (chart) => {
      if (fits(chart) || !chart.clientWidth) { return Promise.resolve(chart); }
      return chart.layout && chart.layout.height ? Plotly.relayout(chart, {width: chart.clientWidth}) : resize(chart);
    };
  }

  /* A chart is drawn after the numbers of its answer: what stands below takes its place together with them. */
  function reserve() {
    for (const place of document.querySelectorAll("figure.chart")) {
      const height = window.dash_component_api.getLayout(place.dataset.chart)?.props.figure?.layout?.height;
      place.style.height = height ? height + "px" : "";
    }
  }

  async function next() {
    if (busy || !waiting.length) { return; }
    busy = true;
    while (Date.now() - asked < ANSWER_MS) { await new Promise((look) => { setTimeout(look, LOOK_MS); }); }
    const {chart, figure, done, failed} = waiting.splice(Math.max(0, waiting.findIndex((one) => inSight(one.chart))), 1)[0];
    try {
      if (chart.isConnected) { await draw(chart, fitted(chart, figure)); }
      if (!drawn.has(chart)) { drawn.add(chart); sight.observe(chart); }
      done(chart);
    } catch (problem) { failed(problem); }
    busy = false;
    setTimeout(next, 0);
  }

  window.neurontopCharts = {
    begin: begin,
    reserve: reserve,
    wall: WALL,
    waits: (waits) => { asked = waits ? Date.now() : 0; },  // whether an answer is waited for: numbers come first
  };
  setTimeout(begin, BEGIN_MS);
})();
