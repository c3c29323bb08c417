/* Dash makes all of a section anew when something in it changes. What a reader has there stays: the focus, how far a
   table is scrolled, which disclosures are open. A section is the nearest element with an id; in it, things are found
   again by their words, else by their place. */
(function () {
  "use strict";
  const STOPS = "a[href], button, input, select, summary, [tabindex]", KEPT = ".table-scroll, details:not(.menu)";
  const states = new Map();  // section and place → what a reader did there, to which element
  let focused = null;  // {element, section, place}

  const sectionOf = (one) => one.parentElement?.closest("#page [id]");
  const inside = (section, selector) => [...document.getElementById(section)?.querySelectorAll(selector) || []];
  const placeOf = (one, section, selector) => inside(section, selector).indexOf(one);

  /* What takes the focus as a section is made anew takes it from what was there before. */
  function remember({target}) {
    const section = sectionOf(target)?.id, isPending = focused && !focused.element.isConnected;
    if (isPending && section === focused.section) { return; }
    focused = section ? {element: target, section: section, place: placeOf(target, section, STOPS)} : null;
  }

  /* Whoever leaves an element by himself leaves one that is still there. */
  function forget(event) {
    const one = event.target;
    setTimeout(() => { if (focused?.element === one && one.isConnected) { focused = null; } }, 0);
  }

  function keep(event) {
    const one = event.target, section = one.matches?.(KEPT) && sectionOf(one)?.id;
    if (!section) { return; }
    const place = placeOf(one, section, KEPT);
    states.set(section + " " + place, {element: one, section: section, place: place, top: one.scrollTop, left: one.scrollLeft, open: one.open});
  }

  function restore() {
    for (const [key, state] of states) {
      if (state.element.isConnected) { continue; }
      const one = inside(state.section, KEPT)[state.place];
      if (!one) { states.delete(key); continue; }
      state.element = one;
      one.scrollTo?.(state.left, state.top);
      if ("open" in one) { one.open = state.open; }
    }
    if (!focused || focused.element.isConnected) { return; }
    const {element, section, place} = focused, stops = inside(section, STOPS), now = document.activeElement;
    if (!stops.length && document.getElementById(section)) { return; }  // what takes its place is still to come
    const words = (one) => one.tagName + one.getAttribute("href") + one.getAttribute("aria-label") + one.textContent;
    const same = stops.find((one) => words(one) === words(element)) || (stops[place]?.tagName === element.tagName && stops[place]);
    focused = null;
    if (same && (now === document.body || stops.includes(now))) { same.focus({preventScroll: true}); }
  }

  document.addEventListener("focusin", remember);
  document.addEventListener("focusout", forget);
  document.addEventListener("scroll", keep, true);
  document.addEventListener("toggle", keep, true);
  new MutationObserver(restore).observe(document.body, {childList: true, subtree: true});
})();
