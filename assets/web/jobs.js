/* The list of jobs, a card each; the chosen one stands in the address. A job that begins later is offered, never shown by
   itself. Names come from logs and commands: they become text nodes. */
(function () {
  "use strict";
  let known = null, shownJobs = "", latest = [];
  const chosen = () => new URLSearchParams(location.search).get("run") || "";
  const make = (tag, name, text) => {
    const one = document.createElement(tag);
    one.className = name;
    if (text !== undefined) { one.textContent = text; }
    return one;
  };

  function address(run) {
    const terms = new URLSearchParams(location.search);
    for (const gone of ["core", "node", "graph", "open"]) { terms.delete(gone); }
    terms.set("run", run);
    return "?" + terms;
  }

  function choose(run, how) {
    show(address(run), how);
    shownJobs = "";
  }

  /* The same page at another address. */
  function show(search, how) {
    history[how || "pushState"]({}, "", location.pathname + search);
    window.dash_clientside.set_props("url", {search: search, href: location.href});
  }

  function card(job) {
    const item = make("a", "job-card " + job.severity + " is-" + job.state.replaceAll(" ", "-"));
    item.href = location.pathname + address(job.id);
    if (job.id === chosen()) { item.setAttribute("aria-current", "true"); }
    const head = make("span", "job-head");
    head.append(make("strong", "job-name", job.name), make("span", "job-state", job.sign + " " + job.state.toUpperCase()));
    head.firstChild.title = job.name;
    item.append(head, make("span", "job-words", job.words), make("span", "quiet", job.fresh));
    item.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) { return; }
      event.preventDefault();
      choose(job.id);
    });
    return item;
  }

  function offer(job) {
    const place = document.getElementById("offer");
    const yes = make("button", "plain", "Show it"), no = make("button", "plain", "Not now");
    yes.addEventListener("click", () => { place.hidden = true; choose(job.id); });
    no.addEventListener("click", () => { place.hidden = true; });
    place.replaceChildren(make("span", "", "A new job runs here: "), make("strong", "", job.name), yes, no);
    place.hidden = false;
  }

  function receive(jobs, pin) {
    const list = document.getElementById("jobs");
    latest = jobs;
    if (!list) { return; }
    const fresh = known ? jobs.filter((job) => !known.has(job.id) && job.id !== chosen()) : [];
    known = new Set([...(known || []), ...jobs.map((job) => job.id)]);
    if (!chosen() && pin) { choose(pin, "replaceState"); }
    else if (fresh.length) { offer(fresh[0]); }
    const now = JSON.stringify([jobs, chosen(), location.pathname]);
    if (now === shownJobs) { return; }
    shownJobs = now;
    list.hidden = jobs.length < 2;
    const focused = document.activeElement && document.activeElement.closest("#jobs .job-card");
    const place = focused ? [...list.children].indexOf(focused) : -1;
    list.replaceChildren(...(jobs.length < 2 ? [] : jobs.map(card)));
    if (place >= 0 && list.children[place]) { list.children[place].focus(); }
  }

  /* Another page of the same job; a link that narrows a page changes only what it names in the address. */
  function keepJob(event) {
    const link = event.target.closest(".top nav a, .top .brand, main a.narrows"), run = chosen();
    const narrows = link?.matches(".narrows");
    if (!link || !(run || narrows) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) { return; }
    event.preventDefault();
    event.stopPropagation();
    if (!narrows) { go(link.pathname, "?" + new URLSearchParams({run: run})); return; }
    const terms = new URLSearchParams(location.search);
    new URLSearchParams(link.search).forEach((value, name) => { if (value) { terms.set(name, value); } else { terms.delete(name); } });
    show("?" + terms);
  }

  /* A page that is shown already is not made anew: an answer on its way would leave parts of the new one empty. */
  function go(path, search) {
    window.scrollTo(0, 0);
    if (path === location.pathname) { show(search); return; }
    history.pushState({}, "", path + search);
    window.dash_clientside.set_props("url", {pathname: path, search: search, href: location.href});
  }

  document.addEventListener("click", keepJob, true);
  window.neurontopJobs = {receive: receive, choose: choose, go: go, all: () => latest};
})();
