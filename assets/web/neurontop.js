/* The browser's side of the push, the theme, and saving charts. No framework: Dash draws, this only says when. */
(function () {
  "use strict";
  const FLEET_MS = 1000;  // what a fleet reports is a second old anyway: who looks at it asks no more often
  let fleetRest = FLEET_MS;  // and not at the same moment as all others
  const LINES_KEPT = 2000, POLL_MS = 1000, STUCK_MS = 5000, LONGEST_WAIT_MS = 10000, SILENT_MS = 15000;
  const ROWS_MS = 2000;  // after a return: until rows of a grid are there that were asked for in time
  const LISTED_MS = 3000;  // after an end: until a list of the server's has it
  let socket = null, attempts = 0, lastMessage = 0, asking = 0, wanted = false, counter = 0, run = null, lost = false, rowsWish = "";
  let freshness = null;  // of the run, as last heard
  let shownPage = null, answeredPage = null;  // the second was shown when an answer came: it is never hidden again
  let early = null;  // what was heard before the frame was there that shows it
  let lastAnswer = 0, quietSince = Date.now(), polled = Date.now();  // since when a server that is there has answered nothing
  let astraySince = Date.now();  // since when another page is shown than the address says
  let returned = 0;  // when a server that was away was there again; 0: nothing is to be done about it any more
  let nodeShown = "";
  let heard = 0, seeking = false, lastHeard = Date.now();  // heard: when the socket was opened, or has last said something

  const prefix = document.currentScript.src.replace(/assets\/[^/]*$/, "").replace(/^https?:\/\/[^/]+/, "");
  const runOf = () => new URLSearchParams(location.search).get("run") || "";

  function show(kind, text) {
    const chip = document.getElementById("connection");
    if (chip && chip.textContent !== text) { chip.textContent = text; chip.className = "chip " + kind; }
  }

  /* The list of runs says of each whether it runs. */
  function listAgain() { window.dash_clientside.set_props("run", {search_value: ""}); }

  /* What the server says of the run: the pill and the title of the tab. */
  function receive(text, how) {
    lastHeard = Date.now();
    early = document.getElementById("connection") ? null : [text, how];
    if (!text) {  // the server is there, and has nothing of this run
      document.title = "neurontop";
      show("up", "no data");
      return;
    }
    const news = JSON.parse(text);
    document.title = news.title;
    show("up " + news.freshness, news.words + how);
    if (freshness !== null && freshness !== news.freshness) { setTimeout(listAgain, LISTED_MS); }
    freshness = news.freshness;
    window.neurontopJobs.receive(news.jobs, news.pin);
  }

  /* What the first answer always fills, a page each; the summary of a server without a fleet has all that there is. */
  const FILLED = ["#live-first", "#cores-rows", "#compile-summary", "#cache-summary", "#logs-count", "#runs-note, #runs-report",
    "#fleet-jobs, #fleet-summary:has(.no-fleet)"];
  const isFilled = (page, parts) => [...page.querySelectorAll(parts)].some((part) => part.hasChildNodes());

  /* Before each frame: what comes late would move what is below it. */
  const OWN = ".js-plotly-plot, .ag-root-wrapper";  // what libraries draw for themselves
  new MutationObserver((changes) => {
    const page = document.getElementById("page"), problem = document.getElementById("problem");
    if (!problem || changes.every(({target}) => target.closest(OWN))) { return; }
    if (shownPage !== page.firstElementChild) {  // Dash asks for what belongs on a new page
      shownPage = page.firstElementChild;
      asking = Date.now();
    }
    const parts = FILLED.find((one) => page.querySelector(one));
    page.toggleAttribute("data-waiting", parts !== undefined && !problem.hasChildNodes() && page.firstElementChild !== answeredPage && !isFilled(page, parts));
    window.neurontopCharts.reserve();
    if (early) { receive(...early); }
  }).observe(document.body, {childList: true, subtree: true});

  const ago = (since) => Math.max(0, Math.round((Date.now() - since) / 1000)) + " s";

  /* One question at a time: Dash drops the answer to a question that was asked again before it came. */
  function ask() {
    const dash = window.dash_clientside;
    if (document.hidden) { wanted = true; return; }
    if (asking && Date.now() - asking < STUCK_MS) { wanted = true; return; }
    if (/\/fleet$/.test(location.pathname) && Date.now() - lastAnswer < fleetRest) { return; }
    if (!dash || !dash.set_props || !document.getElementById("connection")) { return; }
    wanted = false;
    asking = Date.now();
    counter += 1;
    window.neurontopCharts.waits(true);
    dash.set_props("pulse", {data: counter});
  }

  function answered() {
    asking = 0;
    window.neurontopCharts.waits(false);
    quietSince = lastAnswer = Date.now();
    fleetRest = FLEET_MS * (1 + 0.3 * Math.random());
    sessionStorage.removeItem("loaded-anew");
    const page = document.getElementById("page");
    answeredPage = page.firstElementChild;
    page.removeAttribute("data-waiting");
    setTimeout(window.neurontopFolding.fold, 0);
    setTimeout(showNode, 0);
    setTimeout(window.neurontopCharts.begin, 0);
    if (wanted) { setTimeout(ask, 0); }
  }

  /* A node of the fleet opens far from the lists and pages that lead to it: it is brought into sight once it is drawn. */
  function showNode() {
    const panel = document.getElementById("fleet-node-panel");
    const node = panel ? new URLSearchParams(location.search).get("node") || "" : "";
    if (node === nodeShown || (node && panel.querySelector("h2")?.textContent !== "Node " + node)) { return; }
    nodeShown = node;
    if (!node) { return; }
    const {top} = panel.getBoundingClientRect();
    if (top < 0 || top > 0.7 * window.innerHeight) { panel.scrollIntoView({block: "nearest"}); }
    if (document.activeElement.matches("main a")) { panel.focus({preventScroll: true}); }
  }

  function connect() {
    run = runOf();
    const scheme = location.protocol === "https:" ? "wss://" : "ws://";
    const opened = new WebSocket(scheme + location.host + prefix + "push?run=" + encodeURIComponent(run));
    socket = opened;
    heard = Date.now();
    opened.onopen = () => {
      if (attempts) { returned = Date.now(); asking = 0; }  // what was asked before is not answered any more
      attempts = 0; comeBack();
    };
    opened.onmessage = (event) => { heard = lastMessage = Date.now(); receive(event.data, ""); ask(); };
    opened.onclose = () => {
      if (socket !== opened) { return; }
      socket = null;
      attempts += 1;
      setTimeout(connect, Math.min(LONGEST_WAIT_MS, 250 * 2 ** attempts) * (0.75 + Math.random() / 2));
    };
  }

  /* Back to this page afterwards. */
  function signIn() {
    location.assign(prefix + "sign-in?to=" + encodeURIComponent(location.pathname + location.search));
  }

  function comeBack() {
    if (lost) { quietSince = returned = Date.now(); }
    lost = false;
  }

  /* Whatever it is that keeps a page without answers from a server that is there (a later program, say, that does not
     know this page): it is loaded anew. Each time in vain it waits twice as long, so that a slow server has time. */
  function loadAnewIfQuiet() {
    const now = Date.now(), slept = now - polled > STUCK_MS, times = Number(sessionStorage.getItem("loaded-anew"));
    polled = now;
    if (lost || slept || document.hidden || !document.querySelector(".top nav a[aria-current]")) { quietSince = now; }
    if (now - quietSince < SILENT_MS * 2 ** Math.min(times, 6)) { return; }
    sessionStorage.setItem("loaded-anew", times + 1);
    location.reload();
  }

  /* The server did not answer when somebody went to another page: the page of the address is asked for again. */
  function keepToAddress() {
    const shown = document.getElementById("page")?.dataset.path, now = Date.now();
    if (lost || !shown || shown === location.pathname) { astraySince = now; return; }
    if (now - astraySince < STUCK_MS) { return; }
    astraySince = now;
    window.dash_clientside.set_props("url", {pathname: location.pathname});
  }

  /* What the grid of a cache asked for while the server was away was never answered, and it would wait for that for
     ever: where rows do not come by themselves after the return, they are asked for again. */
  function askForRows() {
    if (!returned || lost || Date.now() - returned < ROWS_MS) { return; }
    returned = 0;
    let grid = null;
    try { grid = window.dash_ag_grid.getApi("cache-grid"); } catch (error) { return; }
    const isWaiting = Object.values(grid?.getCacheBlockState() || {}).some((block) => block.pageStatus !== "loaded");
    const request = isWaiting && window.dash_component_api.getLayout("cache-grid")?.props.getRowsRequest;
    if (request) { window.dash_clientside.set_props("cache-grid", {getRowsRequest: {...request, again: Date.now()}}); }
  }

  /* Without the socket: ask every second, over plain HTTP, and say so. A line can be cut without a word (a server that
     dies with a connection half made, a laptop that slept): a socket that says nothing for long is made anew, and a
     question that nobody answers is given up, or a few of them would hold all the connections that a browser makes. */
  async function poll() {
    markPage();
    loadAnewIfQuiet();
    keepToAddress();
    askForRows();
    if (socket && (runOf() !== run || Date.now() - heard > SILENT_MS)) {
      const old = socket;
      socket = null;
      old.close();
      connect();
    }
    if (Date.now() - lastMessage < 3 * POLL_MS || seeking) { return; }
    seeking = true;
    try {
      const address = prefix + "alive?run=" + encodeURIComponent(runOf());
      const answer = await fetch(address, {cache: "no-store", signal: AbortSignal.timeout(STUCK_MS)});
      if (answer.status === 202) {  // what was asked waits for it: asked again, it would take all connections
        comeBack();
        lastHeard = quietSince = asking = Date.now();
        show("up", "reading …");
        seeking = false;
        return;
      }
      if (answer.ok) { comeBack(); receive(await answer.text(), ", by polling"); } else { lost = true; }
      if (answer.status === 401) { signIn(); }
    } catch (error) { lost = true; }
    seeking = false;
    if (lost) { show("lost", "disconnected for " + ago(lastHeard)); } else { ask(); }
  }

  /* Dash's own lists of choices have no name of their own. */
  const NAMES = {"live-measure": "What the heat map shows", "logs-follow": "Follow the log", "logs-alike": "Group equal lines",
                 "cache-exclusive": "Who else uses these caches", "cache-everything": "What the actions are for",
                 "cache-color": "What the areas are colored by", "live-axis": "What the training charts run along",
                 "live-smooth": "Smooth the training charts", "compile-fold": "Fold ranks that did the same",
                 "compile-order": "Which graphs come first", "runs-axis": "What the curves run along",
                 "runs-star": "Star of the chosen recording", "fleet-click": "What a click on a node does",
                 "fleet-ask-exclusive": "Who else uses the caches to change"};

  function markPage() {
    for (const [id, name] of Object.entries(NAMES)) {
      const list = document.getElementById(id);
      if (list) { list.setAttribute("aria-label", name); }
    }
    for (const row of document.querySelectorAll("#cache-grid .group-row")) {
      row.setAttribute("aria-expanded", row.textContent.includes("▾"));
    }
    for (const link of document.querySelectorAll(".top nav a")) {
      if (link.pathname === location.pathname) { link.setAttribute("aria-current", "page"); }
      else { link.removeAttribute("aria-current"); }
    }
  }

  /* Lines of logs become text nodes: whatever they hold, it is text. */
  function appendLines(news, follow) {
    const list = document.getElementById("logs-lines");
    if (!list || !news) { return window.dash_clientside.no_update; }
    if (news.reset) { list.replaceChildren(); }
    for (const line of news.lines) {
      const last = list.lastElementChild;
      if (last && last.dataset.key === line[2]) { drop(last); }
      addLine(list, line);
    }
    markDays(list);
    if (news.focus) {
      const at = [...list.children].find((one) => one.dataset.key === news.focus);
      at?.classList.add("at");
      (heads.get(at) || at)?.scrollIntoView({block: "center"});
    } else if (follow && follow.length && news.lines.length && !news.far) {
      while (list.childElementCount > LINES_KEPT) { list.firstElementChild.remove(); }
      list.scrollTop = list.scrollHeight;
    }
    return news.mark;
  }

  /* Equal lines: the first near above stands for them with their count, the others are there and hidden. The lines of
     a record join those of the record that its first line joined, while they are equal; any other line that begins no
     record joins the one right above only, so that tracebacks keep their order (as `grouped` in views/log_rows.py). */
  const NEAR = 32, heads = new WeakMap();
  let following = null;
  function addLine(list, line) {
    const item = lineItem(line), key = line[8];
    let head = !line[9] && following?.isConnected && following.dataset.alike === key ? following : null;
    let steps = line[9] ? NEAR : 1;
    for (let one = list.lastElementChild; key && !head && one && steps > 0; one = one.previousElementSibling) {
      if (one.dataset.alike === key && !heads.has(one)) { head = one; }
      if (!heads.has(one)) { steps -= 1; }
    }
    list.append(item);
    following = head && rowBelow(head);
    if (!head) { return; }
    heads.set(item, head);
    item.classList.add("dup");
    count(head, 1);
  }

  /* The column of times has no days: they stand above the lines with which they begin. */
  function markDays(list) {
    let known = "";
    for (const item of list.children) {
      const day = heads.has(item) ? "" : item.dataset.day;
      item.classList.toggle("day", Boolean(day) && day !== known);
      known = day || known;
    }
  }

  function rowBelow(item) {
    let one = item.nextElementSibling;
    while (one && heads.has(one)) { one = one.nextElementSibling; }
    return one;
  }

  function count(head, by) {
    const times = Number(head.dataset.times || 1) + by;
    let sign = head.querySelector(".times");
    head.dataset.times = times;
    if (!sign) { sign = document.createElement("b"); sign.className = "times"; head.append(sign); }
    sign.textContent = times > 1 ? " × " + times : "";
  }

  function drop(item) {
    if (heads.has(item)) { count(heads.get(item), -1); }
    item.remove();
  }

  function groupLines(value) {
    document.getElementById("logs-lines")?.classList.toggle("grouped", Boolean(value && value.length));
    return window.dash_clientside.no_update;
  }

  function lineItem([level, text, key, graph, time, who, component, message, alike, , day]) {
    const item = document.createElement("li");
    item.className = ["error", "warning", "event"].includes(level) ? level : "";
    item.dataset.key = key;
    item.dataset.alike = alike;
    item.dataset.day = day || "";
    if (!time && !who && !component) { item.classList.add("plain"); }
    for (const [name, value] of [["time", time], ["who", who], ["component", component]]) {
      const cell = document.createElement("span");
      cell.className = name;
      cell.textContent = value;
      item.append(cell);
    }
    const words = document.createElement("span");
    words.className = "message";
    words.textContent = message || text || " ";
    if (graph) { words.append(" ", graphLink(graph)); }
    item.append(words);
    if (message) { item.title = text; }
    return item;
  }

  /* The way from a line to the page of its graph, where stands why it missed. */
  function graphLink(graph) {
    const link = document.createElement("a"), terms = new URLSearchParams({graph: graph});
    const run = new URLSearchParams(location.search).get("run");
    if (run) { terms.set("run", run); }
    link.href = "compile?" + terms;
    link.dataset.graph = graph;
    link.textContent = "graph";
    link.setAttribute("aria-label", "the page of the graph " + graph);
    return link;
  }

  /* Older finds go above, and what is in sight stays in sight. */
  function prependLines(found, clicks) {
    const list = document.getElementById("logs-lines"), none = window.dash_clientside.no_update;
    if (!list || !found) { return none; }
    const height = list.scrollHeight;
    list.prepend(...found.lines.map(lineItem));  // found one by one: each is shown
    markDays(list);
    list.scrollTop += list.scrollHeight - height;
    if (found.again) { window.dash_clientside.set_props("logs-older", {n_clicks: clicks + 1}); }
    return none;
  }

  /* The rows of the cache's grid in sight are asked for again, and selection and scroll stay; under another filter the
     grid forgets its rows. One that is only being made will ask by itself. */
  function lookAgain(version) {
    const terms = new URLSearchParams(location.search), wish = terms.get("q") + "\t" + terms.get("group");
    let grid = null;
    try { grid = version ? window.dash_ag_grid.getApi("cache-grid") : null; } catch (error) { grid = null; }
    if (grid && wish !== rowsWish) { grid.purgeInfiniteCache(); } else if (grid) { grid.refreshInfiniteCache(); }
    rowsWish = wish;
  }

  /* The grid of graphs once it is there: its rows come first by what goes on, by duration or by size. */
  const ORDERS = {active: ["active", "asc"], slowest: ["seconds", "desc"], largest: ["bytes", "desc"]};
  async function withGraphs(act) {
    try { act(await window.dash_ag_grid.getApiAsync("compile-grid")); } catch (error) { /* another page by now */ }
    return window.dash_clientside.no_update;
  }
  const orderGraphs = (order) => withGraphs((grid) => grid.applyColumnState({
    state: [{colId: ORDERS[order][0], sort: ORDERS[order][1]}], defaultState: {sort: null}}));
  const searchGraphs = (words) => withGraphs((grid) => grid.setGridOption("quickFilterText", words || ""));

  /* What only a wall screen shows is only asked for there. */
  const WALL = window.neurontopCharts.wall;
  const ifWide = (pulse, search) => WALL.matches ? [pulse, search] : window.dash_clientside.no_update;
  WALL.addEventListener("change", () => {
    if (WALL.matches && document.getElementById("pinned-lines")) { window.dash_clientside.set_props("pinned-pulse", {data: Date.now()}); }
  });

  function setTheme(theme) { document.documentElement.dataset.theme = theme; return theme; }
  function preferred() { return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark"; }
  let stored = null;
  try { stored = JSON.parse(localStorage.getItem("theme")); } catch (error) { stored = null; }
  setTheme(stored === "light" || stored === "dark" ? stored : preferred());

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    neurontop: {
      answered: answered,
      appendLines: appendLines,
      prependLines: prependLines,
      groupLines: groupLines,
      ifWide: ifWide,
      hold: window.neurontopAddress.hold,
      follow: function (search) {
        for (const part of [window.neurontopAddress, window.neurontopDrawer, window.neurontopGrids]) { part.follow(); }
        lookAgain(search !== undefined);
      },
      lookAgain: lookAgain,
      orderGraphs: orderGraphs,
      searchGraphs: searchGraphs,
      theme: function (clicks, theme) {
        const now = theme || document.documentElement.dataset.theme;
        return setTheme(clicks ? (now === "dark" ? "light" : "dark") : now);
      },
    },
  });

  /* Rows of groups in the cache's grid open and close by a click. */
  function toggleGroup(event) {
    const row = event.target.closest("#cache-grid .group-row");
    if (!row || event.target.closest("input, .ag-selection-checkbox")) { return; }
    window.dash_clientside.set_props("cache-toggle", {data: {group: row.getAttribute("row-id"), at: Date.now()}});
  }

  /* A menu closes by Escape, by a choice, and by a click elsewhere; a focus inside goes back to what opened it. */
  function closeMenus(besides) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu === besides) { continue; }
      if (menu.contains(document.activeElement)) { menu.querySelector("summary").focus(); }
      menu.open = false;
    }
  }

  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest(".menu-items") ? null : event.target.closest("details.menu"));
    toggleGroup(event);
    if (event.target.closest("a.sign")) { event.preventDefault(); signIn(); }
    const exported = event.target.closest("a[data-export]");
    if (exported) { exported.href = prefix + exported.dataset.export + (run ? "?run=" + encodeURIComponent(run) : ""); }
    const button = event.target.closest("button[data-chart]");
    if (!button) { return; }
    const plot = document.querySelector("#" + CSS.escape(button.dataset.chart) + " .js-plotly-plot");
    const file = "neurontop " + button.dataset.name;
    if (plot) { window.Plotly.downloadImage(plot, {format: button.dataset.format, filename: file, scale: 2}); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".ag-cell")) { event.target.click(); }
    if (event.key === "Escape") { closeMenus(null); }
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    const asked = document.querySelector(".drawer:not(#detail), dialog[open]");  // a plan or a dialog waits for its answer
    if (typing || asked || event.ctrlKey || event.metaKey || event.altKey) { return; }
    const links = document.querySelectorAll(".top nav a");
    const number = Number(event.key);
    if (number >= 1 && number <= links.length) { links[number - 1].click(); }
    if (event.key === "t") { document.getElementById("theme-switch").click(); }
    if (event.key === "/") {
      const search = document.querySelector("main input[type=search]");
      if (search) { event.preventDefault(); search.focus(); }
    }
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { ask(); } });
  connect();
  setInterval(poll, POLL_MS);
})();
