/* What a page's controls hold stands in the address, so that a link says it all; and they follow the address, when
   somebody goes back, say. No server is asked in between: what is typed meanwhile would be overwritten by its answer.
   Typing is waited for here as well: Dash's own way sets the caret back after each key, and fast keys change places. */
(function () {
  "use strict";
  const CONTROLS = {  // id → name in the address, the value that means nothing, what is forgotten with a change
    "logs-search": {name: "q", wait: 300}, "logs-level": {name: "level", none: "all"},
    "compile-search": {name: "q", wait: 300}, "compile-order": {name: "order", none: "active"},
    "cache-query": {name: "q", wait: 400}, "cache-group": {name: "group", none: "none", forgets: "open"},
    "fleet-find": {name: "q", wait: 300}, "fleet-metric": {name: "metric", none: "utilization"},
  };
  const waiting = {}, held = {};  // by id; held: what a control has put into the address, or taken from it, last
  const asked = (name) => new URLSearchParams(location.search).get(name) || "";
  const set = (id, props) => window.dash_clientside.set_props(id, props);

  /* One step back leads to what was there before the typing, not to its first letters. */
  function write(id, words) {
    const {name, wait, forgets} = CONTROLS[id], terms = new URLSearchParams(location.search);
    forget(id);
    if (!document.getElementById(id)) { return; }
    held[id] = words;
    if (asked(name) === words) { return; }
    if (words) { terms.set(name, words); } else { terms.delete(name); }
    if (forgets) { terms.delete(forgets); }
    const typedOn = wait && history.state && history.state.typed === id, search = terms.size ? "?" + terms : "";
    history[typedOn ? "replaceState" : "pushState"]({typed: wait ? id : null}, "", location.pathname + search);
    set("url", {search: search, href: location.href});
  }

  function forget(id) {
    clearTimeout(waiting[id]?.timer);
    delete waiting[id];
  }

  function hold(value, id) {
    const {name, none, wait} = CONTROLS[id], words = value && value !== none ? value : "";
    forget(id);
    if (!wait || words === asked(name)) { write(id, words); }
    else { waiting[id] = {words: words, timer: setTimeout(write, wait, id, words)}; }
  }

  /* Whoever presses Enter or goes on to a button is done with typing: what is done next goes by the new words. */
  function done(event) {
    const {id} = event.target;
    if (id in waiting && (event.type === "focusout" || event.key === "Enter")) { write(id, waiting[id].words); }
  }

  /* A control that has put its words there itself may have been typed on in since. */
  function follow() {
    for (const [id, {name, none}] of Object.entries(CONTROLS)) {
      const words = asked(name);
      if (!document.getElementById(id)) { delete held[id]; }
      else if (words !== held[id]) {
        forget(id);
        held[id] = words;
        set(id, {value: words || none || ""});
      }
    }
  }

  document.addEventListener("focusout", done);
  document.addEventListener("keydown", done);
  window.neurontopAddress = {hold: hold, follow: follow};
})();
