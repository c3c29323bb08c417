"use strict";
// Sort a table by a click on a column's head: numbers by their value, texts by their letters; unknown values last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (row) => {
      const cell = row.cells[column];
      if (cell.dataset.value === undefined) return cell.textContent || null;
      return cell.dataset.value === "" ? null : Number(cell.dataset.value);
    };
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const rising = typeof x === "number" ? x - y : x.localeCompare(y);
      return falling ? -rising : rising;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  }));
}
