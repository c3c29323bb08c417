/* On a phone the first panel of the overview is open and the others are headings that open it: what matters most in this
   phase stands first. What a reader opened or closed stays so while the page is shown. */
(function () {
  "use strict";
  const PHONE = matchMedia("(max-width: 640px)");
  const place = (panel) => Number(getComputedStyle(panel).order);

  function fold() {
    const shown = [...document.querySelectorAll(".phases > .panel:not(.drop-place)")].filter((one) => one.offsetParent);
    const first = shown.reduce((best, one) => (best && place(best) <= place(one) ? best : one), null);
    for (const panel of shown) {
      const open = panel.dataset.wish ? panel.dataset.wish === "open" : panel === first;
      const button = panel.querySelector(":scope > .panel-head > .fold") || addButton(panel);
      button.setAttribute("aria-expanded", String(open));
      panel.toggleAttribute("data-folded", PHONE.matches && !open);
    }
  }

  function addButton(panel) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold plain";
    button.setAttribute("aria-label", "Show " + panel.querySelector("h2").textContent);
    panel.querySelector("h2").after(button);
    return button;
  }

  function click(event) {
    const head = event.target.closest(".phases > .panel > .panel-head");
    if (!head || !PHONE.matches || event.target.closest(".tools")) { return; }
    const panel = head.parentElement;
    panel.dataset.wish = panel.hasAttribute("data-folded") ? "open" : "closed";
    fold();
    window.dispatchEvent(new Event("resize"));  // a chart that was out of sight takes its width
  }

  document.addEventListener("click", click);
  PHONE.addEventListener("change", fold);
  window.neurontopFolding = {fold: fold};
})();
