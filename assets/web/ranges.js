/* One range of time and one crosshair for all charts of a page. The range stands in the address (`from`, `to`); what is
   dragged in one chart holds for the others, and a double click shows all of the time again. */
(function () {
  "use strict";
  const LOOK_MS = 700;
  const seen = new WeakSet();
  const PARTS = 60;  // of the newest minutes: how late their range may follow what is measured
  let busy = false, held = null;
  let minutes = 0;  // of the newest part, which is followed; 0: the range stays as it is

  const asked = () => {
    const terms = new URLSearchParams(location.search), from = terms.get("from"), to = terms.get("to");
    return from && to && !isNaN(Date.parse(from)) && !isNaN(Date.parse(to)) ? [from, to] : null;
  };
  const isTime = (chart) => chart._fullLayout && chart._fullLayout.xaxis && chart._fullLayout.xaxis.type === "date";
  const charts = () => [...document.querySelectorAll("#page .js-plotly-plot")].filter(isTime);

  function hold(range) {
    held = range;
    const terms = new URLSearchParams(location.search);
    if (range) { terms.set("from", range[0]); terms.set("to", range[1]); } else { terms.delete("from"); terms.delete("to"); }
    const search = terms.size ? "?" + terms : "";
    if (search === location.search) { return; }
    history.replaceState(history.state, "", location.pathname + search);
    window.dash_clientside.set_props("url", {search: search, href: location.href});
  }

  const same = (chart, range) => {
    const axis = chart._fullLayout.xaxis;
    return range ? String(axis.range) === String(range) : axis.autorange;
  };

  async function apply(range, except) {
    busy = true;
    try {
      for (const chart of charts()) {
        if (chart !== except && !same(chart, range)) {
          await window.Plotly.relayout(chart, range ? {"xaxis.range": [...range]} : {"xaxis.autorange": true});
        }
      }
    } finally { busy = false; }
  }

  function moved(chart, change) {
    if (busy) { return; }
    const range = change["xaxis.range"] || (change["xaxis.range[0]"] ? [change["xaxis.range[0]"], change["xaxis.range[1]"]] : null);
    if (!range && !change["xaxis.autorange"]) { return; }
    const chosen = range ? range.map((one) => String(one).slice(0, 23)) : null;
    minutes = 0;
    name(chosen);
    hold(chosen);
    apply(chosen, chart);
  }

  function cross(chart, event) {
    const time = event && event.xvals ? event.xvals[0] : null;
    for (const other of charts()) {
      let line = other.querySelector(":scope > .crosshair");
      if (time === null || other === chart) { line?.remove(); continue; }
      if (!line) {
        line = document.createElement("div");
        line.className = "crosshair";
        other.append(line);
      }
      const axis = other._fullLayout.xaxis, place = axis.l2p(time), size = other._fullLayout._size;
      line.hidden = !(place >= 0 && place <= axis._length);
      line.style.cssText = `left:${axis._offset + place}px;top:${size.t}px;height:${size.h}px`;
    }
  }

  /* A click on what was measured leads to the log at that moment; what names a graph or a core opens that. */
  const MOMENT = /^\d{4}-\d\d-\d\d[T ]/;
  function jump(chart, event) {
    const point = event && event.points && event.points[0];
    if (!point || /\/fleet$/.test(location.pathname)) { return; }  // lines of a fleet's nodes stay with their agents
    const stamp = String(point.customdata || "");
    const moment = MOMENT.test(stamp) ? stamp : isTime(chart) && !stamp && MOMENT.test(String(point.x)) ? String(point.x) : "";
    if (!moment) { return; }
    const terms = new URLSearchParams({at: moment.replace(" ", "T").slice(0, 23)}), run = new URLSearchParams(location.search).get("run");
    if (run) { terms.set("run", run); }
    window.neurontopJobs.go(document.getElementById("to-logs").pathname, "?" + terms);
  }

  /* What the choice says of a range that was not chosen there. */
  function name(range) {
    const choice = document.getElementById("range");
    if (choice) { choice.value = range ? "chosen" : ""; }
  }

  /* An address that says another range, since somebody opened it, went back or chose another run: the charts show that,
     and the choice says so. */
  function follow() {
    const range = asked();
    if (String(range) === String(held)) { return; }
    held = range;
    minutes = 0;
    name(range);
    apply(range, null);
  }

  const jumps = new WeakSet();
  function look() {
    follow();
    moveOn();
    for (const chart of document.querySelectorAll("#page .js-plotly-plot")) {
      if (chart.on && !jumps.has(chart)) { jumps.add(chart); chart.on("plotly_click", (event) => jump(chart, event)); }
    }
    for (const chart of charts()) {
      if (seen.has(chart) || !chart.on) { continue; }
      seen.add(chart);
      chart.on("plotly_relayout", (change) => moved(chart, change));
      chart.on("plotly_hover", (event) => cross(chart, event));
      chart.on("plotly_unhover", () => cross(chart, null));
      const range = asked();
      if (range && !same(chart, range)) { apply(range, null); }
    }
  }

  /* When a trace ends; a bar of a timeline has a begin and a length in milliseconds, which is no year. */
  function endOf(trace) {
    const last = trace.x?.at?.(-1), begin = trace.base?.at?.(-1);
    if (MOMENT.test(String(last))) { return Date.parse(last + "Z"); }
    return MOMENT.test(String(begin)) ? Date.parse(begin + "Z") + Number(last) : NaN;
  }

  function span(event) {
    if (event.target.id !== "range") { return; }
    minutes = Number(event.target.value);
    if (minutes) { showNewest(); } else { hold(null); apply(null, null); }
  }

  /* What was measured last is the end of the newest part, not the clock, so that old logs have one too. */
  function newest() {
    const ends = charts().flatMap((chart) => (chart.data || []).map(endOf));
    return Math.max(...ends.filter((end) => !isNaN(end)));
  }

  function moveOn() {
    const late = minutes && held ? Math.abs(newest() - Date.parse(held[1] + "Z")) : 0;
    if (isFinite(late) && late > minutes * 60000 / PARTS) { showNewest(); }
  }

  function showNewest() {
    const last = newest();
    if (!isFinite(last)) { minutes = 0; name(held); return; }
    const range = [last - minutes * 60000, last].map((time) => new Date(time).toISOString().slice(0, 23));
    hold(range);
    apply(range, null);
  }

  document.addEventListener("change", span);
  setInterval(look, LOOK_MS);
})();
