/* The drawer for a graph and for a cache entry: the address says what is open, here it is shown, focused and closed.
   Links to a graph open it on the page where one is; with ctrl, or without this script, they lead to the compile page. */
(function () {
  "use strict";
  const LOOK_MS = 2000, PLAN = ".drawer:not(#detail)";
  const STOPS = "a[href], button:not(:disabled), input:not(:disabled), summary";
  let open = "", before = null, count = 0, outside = null;
  const terms = () => new URLSearchParams(location.search);
  const named = () => terms().get("graph") || terms().get("entry") || "";

  function write(values) {
    const next = terms();
    for (const name of ["graph", "entry"]) { next.delete(name); }
    for (const [name, value] of Object.entries(values)) { next.set(name, value); }
    const search = next.size ? "?" + next : "";
    if (search === location.search) { return; }
    history.pushState({}, "", location.pathname + search);
    window.dash_clientside.set_props("url", {search: search, href: location.href});
    follow();
  }

  /* How far down a drawer begins: under the head of the page, which has more rows where the window is narrow; on a phone
     the head scrolls away, and a drawer has the whole window. */
  function measure() {
    const head = document.querySelector(".top"), root = document.documentElement;
    const stays = head && getComputedStyle(head).position === "sticky";
    root.style.setProperty("--head", stays ? head.offsetHeight + "px" : "0px");
  }

  function follow() {
    measure();
    const drawer = document.getElementById("detail"), name = named();
    if (!drawer) { return; }
    drawer.hidden = !name;
    if (name && name !== open) {
      if (!open) { before = document.activeElement; }
      drawer.scrollTop = 0;
      document.getElementById("drawer-title")?.focus({preventScroll: true});
    }
    if (!name && open && before?.isConnected) { before.focus({preventScroll: true}); }
    open = name;
  }

  const close = () => write({});

  function click(event) {
    if (event.target.closest("#drawer-close")) { close(); return; }
    const link = event.target.closest("a[data-graph]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) { return; }
    event.preventDefault();
    event.stopPropagation();
    write({graph: link.dataset.graph});
  }

  /* The drawer of a plan lies above: Escape leaves it first, also from the word that confirms, and changes
     nothing; one that is carried out stays. */
  function key(event) {
    if (event.key !== "Escape" || event.target.closest("dialog")) { return; }
    const plan = document.querySelector(PLAN), inside = event.target.closest(PLAN);
    if (event.target.closest("input, textarea, select") && !inside) { return; }
    if (plan) {
      if (!plan.querySelector("[id*='-stop\"']")) { plan.querySelector("[id*='-close\"']")?.click(); }
      event.preventDefault();
      return;
    }
    if (open) { event.preventDefault(); close(); }
  }

  /* The drawer of a plan is a question that comes first: the focus goes round in it, comes into it from elsewhere, and
     goes back to where it was when the drawer closes. */
  function hold(event) {
    const plan = document.querySelector(PLAN);
    if (event.key !== "Tab" || !plan || document.querySelector("dialog[open]")) { return; }
    const stops = [...plan.querySelectorAll(STOPS)].filter((one) => one.checkVisibility());
    const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
    if (first && (document.activeElement === last || !plan.contains(document.activeElement))) {
      event.preventDefault();
      first.focus();
    }
  }

  function remember(event) {
    if (!event.target.closest(PLAN)) { outside = event.target; }
  }

  function giveBack(event) {
    if (!event.target.closest(PLAN + " [id*='-close\"']")) { return; }
    const from = outside, began = Date.now();
    const wait = () => {
      if (document.querySelector(PLAN)) {
        if (Date.now() - began < LOOK_MS) { requestAnimationFrame(wait); }
      } else if (from?.isConnected && document.activeElement === document.body) { from.focus({preventScroll: true}); }
    };
    wait();
  }

  /* What goes on is followed while it is open. */
  function look() {
    follow();
    if (open && !document.hidden) { window.dash_clientside.set_props("drawer-pulse", {data: count += 1}); }
  }

  document.addEventListener("click", click, true);
  document.addEventListener("click", giveBack);
  document.addEventListener("focusin", remember);
  document.addEventListener("keydown", key);
  document.addEventListener("keydown", hold);
  addEventListener("resize", measure);
  setInterval(look, LOOK_MS);
  window.neurontopDrawer = {open: write, follow: follow};
})();
