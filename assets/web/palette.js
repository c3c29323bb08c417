/* The command palette (ctrl-K) over pages, jobs, recordings, graphs, cores, ranks, nodes of a fleet, entries and commands;
   the page of keys (?); the link to what is shown; how close rows stand. Names come from logs and caches: they become text nodes. */
(function () {
  "use strict";
  const SHOWN = 60, ENTRIES_FROM = 3;
  const prefix = document.currentScript.src.replace(/assets\/[^/]*$/, "").replace(/^https?:\/\/[^/]+/, "");
  const keys = () => [["ctrl K", "find a page, job, recording, graph, core, rank, node of a fleet or cache entry"], ["?", "this list"],
    ["1 … " + document.querySelectorAll(".top nav a").length, "the pages, in the order of the navigation"], ["/", "search or filter, where the page has it"],
    ["t", "dark or light"], ["c", "copy the link to what is shown"], ["d", "rows closer together, or apart"],
    ["esc", "close"], ["drag in a chart", "its range of time, for all charts of the page"],
    ["double click in a chart", "all of the time again"], ["click on a value in a chart", "the log at that moment"],
    ["ctrl K, then 12:05", "the log at that moment (UTC)"]];
  const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/, DAY = 86400000;
  let items = [], hits = [], at = 0, entries = null, last = null;

  const make = (tag, name, text) => {
    const one = document.createElement(tag);
    if (name) { one.className = name; }
    if (text !== undefined) { one.textContent = text; }
    return one;
  };
  const runOf = () => new URLSearchParams(location.search).get("run") || "";
  const terms = (values) => {
    const kept = Object.entries({run: runOf(), ...values}).filter(([, value]) => value);
    return kept.length ? "?" + new URLSearchParams(kept) : "";
  };
  const to = (page, values) => () => window.neurontopJobs.go(prefix + page, terms(values));

  async function read(address) {
    try {
      const answer = await fetch(prefix + "api/" + address, {cache: "no-store"});
      return answer.ok ? await answer.json() : null;
    } catch (error) { return null; }
  }

  function say(text) {
    const chip = document.getElementById("said");
    if (!chip) { return; }
    chip.textContent = text;
    setTimeout(() => { if (chip.textContent === text) { chip.textContent = ""; } }, 4000);
  }

  const copyLink = () => copyText(location.href, "link copied");

  async function copyText(text, words) {
    try {
      await navigator.clipboard.writeText(text);
      say(words);
    } catch (error) { say("not copied: the browser allows it on https and localhost only"); }
  }

  function density() {
    const root = document.documentElement, now = root.dataset.density === "compact" ? "" : "compact";
    root.dataset.density = now;
    localStorage.setItem("density", now);
  }

  function commands() {
    const pages = [...document.querySelectorAll(".top nav a")].map((link) =>
      ({kind: "page", name: link.textContent, act: () => link.click()}));
    return [...pages, {kind: "command", name: "Copy the link to what is shown", act: copyLink},
      {kind: "command", name: "Dark or light", act: () => document.getElementById("theme-switch").click()},
      {kind: "command", name: "Rows closer together, or apart", act: density},
      {kind: "command", name: "Keys", act: showKeys}];
  }

  /* Where a fetch fails, its names are not found and the others are. */
  async function gather() {
    items = commands();
    const run = runOf() ? "?run=" + encodeURIComponent(runOf()) : "";
    const isFleet = document.getElementById("to-fleet") !== null;
    const [runs, graphs, table, job, nodes] = await Promise.all([read("runs"), read("graphs" + run), read("cores" + run),
      read("overview" + run), isFleet ? read("fleet/nodes") : null]);
    last = job && job.header.last_event !== null ? 1000 * job.header.last_event : null;
    const cores = (table ? table.groups : []).flatMap((group) => group.rows);
    items = [...commands(),
      ...window.neurontopJobs.all().map((job) => ({kind: "job", name: job.name, more: job.state, act: () => window.neurontopJobs.choose(job.id)})),
      ...(runs || []).map((one) => ({kind: "recording", name: (one.name + " " + one.id).trim(), more: one.state_text, act: () => window.neurontopJobs.choose(one.id)})),
      ...(graphs ? graphs.rows : []).map((one) => ({kind: "graph", name: one.key, more: one.state, act: () => window.neurontopDrawer.open({graph: one.key})})),
      ...cores.map((one) => ({kind: "core", name: one.key, more: one.rank === null ? "" : "rank " + one.rank, act: to("", {core: one.key})})),
      ...ranks(cores, graphs),
      ...(nodes || []).map((one) => ({kind: "node", name: one.node, more: one.phase, act: to("fleet", {node: one.node})}))];
    find();
  }

  function ranks(cores, graphs) {
    const found = new Set();
    for (const one of cores) { if (one.rank !== null) { found.add(one.rank); } }
    for (const one of graphs ? graphs.rows : []) { for (const rank of one.ranks) { found.add(rank); } }
    return [...found].sort((a, b) => a - b).map((rank) =>
      ({kind: "rank", name: "rank " + rank, more: "its log lines", act: to("logs", {q: "rank:" + rank})}));
  }

  /* What a chart shows by a click, by keyboard: the newest moment of the job at which a clock showed this. */
  function moment(typed) {
    const clock = last === null ? null : typed.match(CLOCK);
    if (!clock) { return []; }
    const time = 1000 * (3600 * clock[1] + 60 * clock[2] + 1 * (clock[3] || 0)), today = last - last % DAY + time;
    const when = new Date(today > last ? today - DAY : today).toISOString();
    return [{kind: "moment", name: when.slice(11, 19) + " UTC", more: "the log at that moment", act: to("logs", {at: when.slice(0, 23)})}];
  }

  async function withEntries() {
    if (entries) { return; }
    entries = [];
    const table = await read("cache");
    entries = (table ? table.rows : []).map((one) => ({kind: "entry", name: one.key, more: one.state, act: () => window.neurontopDrawer.open({entry: one.key})}));
    find();
  }

  function find() {
    const field = document.getElementById("palette-field");
    if (!field) { return; }
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (field.value.trim().length >= ENTRIES_FROM) { withEntries(); }
    const fits = (one) => words.every((word) => (one.kind + " " + one.name + " " + (one.more || "")).toLowerCase().includes(word));
    const found = [...moment(field.value.trim()), ...[...items, ...(words.length ? entries || [] : [])].filter(fits)];
    hits = found.slice(0, SHOWN);
    at = Math.min(at, Math.max(0, hits.length - 1));
    draw(found.length);
  }

  function draw(count) {
    const list = document.getElementById("palette-list"), field = document.getElementById("palette-field");
    list.replaceChildren(...hits.map((one, index) => {
      const row = make("li", "");
      row.id = "palette-" + index;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", index === at);
      row.append(make("span", "palette-kind", one.kind), make("span", "palette-name", one.name), make("span", "quiet", one.more || ""));
      row.addEventListener("click", () => { at = index; act(); });
      return row;
    }));
    field.setAttribute("aria-activedescendant", hits.length ? "palette-" + at : "");
    document.getElementById("palette-count").textContent =
      !hits.length ? "Nothing has that name." : count > SHOWN ? SHOWN + " of " + count + "; type more of the name" : "";
    list.children[at]?.scrollIntoView({block: "nearest"});
  }

  function act() {
    const one = hits[at];
    close("palette");
    if (one) { one.act(); }
  }

  function close(id) { document.getElementById(id)?.close(); }

  function dialog(id, name) {
    let box = document.getElementById(id);
    if (box) { return [box, false]; }
    box = make("dialog", "palette");
    box.id = id;
    box.setAttribute("aria-label", name);
    box.addEventListener("click", (event) => { if (event.target === box) { box.close(); } });
    // A closed dialog keeps the focus until the next frame: a key pressed by then would go into its hidden field.
    box.addEventListener("beforetoggle", (event) => { if (event.newState === "closed") { document.activeElement.blur(); } });
    document.body.append(box);
    return [box, true];
  }

  function showPalette() {
    const [box, fresh] = dialog("palette", "Find anything");
    if (fresh) {
      const field = make("input", ""), list = make("ul", ""), count = make("p", "quiet");
      field.id = "palette-field"; field.type = "text"; field.autocomplete = "off";
      field.placeholder = "page, job, recording, graph, core, rank, node, entry, 12:05 …";
      for (const [name, value] of [["role", "combobox"], ["aria-label", "Find"], ["aria-expanded", "true"], ["aria-controls", "palette-list"], ["aria-autocomplete", "list"]]) { field.setAttribute(name, value); }
      list.id = "palette-list";
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "What was found");
      count.id = "palette-count";
      count.setAttribute("role", "status");
      field.addEventListener("input", () => { at = 0; find(); });
      box.addEventListener("keydown", (event) => {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (step) { event.preventDefault(); at = Math.max(0, Math.min(at + step, hits.length - 1)); draw(hits.length); }
        if (event.key === "Enter") { event.preventDefault(); act(); }
      });
      box.append(field, list, count);
    }
    at = 0; entries = null;
    const field = document.getElementById("palette-field");
    field.value = "";
    items = commands();
    box.showModal();
    field.focus();
    find();
    gather();
  }

  function showKeys() {
    const [box, fresh] = dialog("keys", "Keys");
    if (fresh) {
      const list = make("dl", "facts"), end = make("button", "plain", "Close");
      for (const [key, text] of keys()) { list.append(make("dt", "", key), make("dd", "", text)); }
      end.addEventListener("click", () => box.close());
      box.append(make("h2", "", "Keys"), list, end);
    }
    box.showModal();
  }

  document.documentElement.dataset.density = localStorage.getItem("density") || "";
  document.addEventListener("click", (event) => {
    if (event.target.closest("#palette-open")) { showPalette(); }
    if (event.target.closest("#copy-link")) { copyLink(); }
    if (event.target.closest("#density-switch")) { density(); }
    const copy = event.target.closest("button[data-copy]");
    if (copy) { copyText(copy.dataset.copy, "command copied"); }
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); showPalette(); return; }
    const asked = document.querySelector("dialog[open]");
    if (asked || event.target.closest("input, textarea, select, [contenteditable]") || event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.key === "?") { event.preventDefault(); showKeys(); }
    if (event.key === "c") { copyLink(); }
    if (event.key === "d") { density(); }
  });
})();
