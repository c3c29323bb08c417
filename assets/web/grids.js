/* The grids' component is as large as a chart library: it is read for the pages that have a grid, not for the others.
   Until then this stands in its place, and Dash holds back what it has for a grid, as for its own late components. */
(function () {
  "use strict";
  const WITH_GRID = /\/(compile|cache|runs)\/?$/, AGAIN_MS = 1000;
  const LEAST = 120, REST = 20;  // pixels: the words of an empty grid; borders, and a bar to scroll
  const ROW = 30;  // pixels: of the rows that the height of a page's grid was chosen for
  const OPTIONAL = {"compile-grid": ["elapsed", "left", "wait", "bytes", "message"],
    "runs-grid": ["star", "tags", "reason", "note"]};
  /* Columns that are left out where there is no room for all, the first one first; what they say is in the drawer. */
  const LEAST_FIRST = {
    "compile-grid": ["lookups", "bytes", "hits", "failures", "misses", "wait", "message", "left", "who", "elapsed", "seconds"],
    "cache-grid": ["artifact", "compiler", "lock", "failure", "seconds", "age", "state"],
    "runs-grid": ["node", "tags", "graphs", "note", "bytes", "reason", "hit_rate", "compile_share", "seconds", "star", "started"]};
  window.neurontopGrids = {follow: followAddress};
  const address = document.querySelector("meta[name=grids]").content, React = window.React;
  if (!address) { return; }  // another version of the grids, under a name unknown here: the page has read it already
  let begun = null, ready = false;

  function load() {
    begun = begun || new Promise((resolve) => {
      const read = () => {
        const library = document.createElement("script");
        library.onload = () => {
          const component = window.dash_ag_grid.AgGrid;
          ready = true;
          window.dash_ag_grid = {...window.dash_ag_grid, AgGrid: Grid};  // one identity: nothing is ever mounted twice
          resolve({default: component});
        };
        library.onerror = () => { library.remove(); setTimeout(read, AGAIN_MS); };  // the server may come back
        library.src = address;
        document.body.append(library);
      };
      read();
    });
    return begun;
  }

  /* Columns of which no row has anything. */
  function emptyOf(api, names) {
    const empty = new Set(names);
    api.forEachNode(({data}) => names.forEach((name) => { if (![null, undefined, ""].includes(data?.[name])) { empty.delete(name); } }));
    return empty;
  }

  /* Columns in which all rows say the same: with one node, its name tells nothing apart. */
  const ALIKE = {"runs-grid": ["node"]};
  function alikeOf(api, names) {
    return names.filter((name) => {
      const values = new Set();
      api.forEachNode(({data}) => values.add(data?.[name]));
      return values.size < 2;
    });
  }

  /* A column of which no row has anything gives its room to the others; where they then have too little, the least
     important ones are left out: one that is cut reads as another number. */
  function chooseColumns(api, id, room) {
    const hidden = new Set([...emptyOf(api, OPTIONAL[id] || []), ...alikeOf(api, ALIKE[id] || [])]);
    const shown = api.getAllGridColumns().filter((one) => !one.getColDef().hide && !hidden.has(one.getColId()));
    let least = shown.reduce((sum, one) => sum + one.getMinWidth(), 0);
    for (const name of LEAST_FIRST[id] || []) {
      const one = shown.find((each) => each.getColId() === name);
      if (least > room && one) {
        hidden.add(name);
        least -= one.getMinWidth();
      }
    }
    for (const one of api.getAllGridColumns()) {
      const wanted = !one.getColDef().hide && !hidden.has(one.getColId());
      if (one.isVisible() !== wanted) { api.setColumnsVisible([one.getColId()], wanted); }
    }
  }

  /* At another address the selected recording is that of the address: a click on the one that was left chooses it again. */
  function followAddress() {
    let api = null;
    try { api = window.dash_ag_grid.getApi("runs-grid"); } catch (error) { return; }
    const row = api?.getRowNode(new URLSearchParams(location.search).get("run") || "");
    if (row) { row.setSelected(true, true); } else { api?.deselectAll(); }
  }

  /* The recording that a link has opened is selected in the first rows, by Dash: it undoes what it does not know of. */
  function selectOpened(api) {
    const row = api.getRowNode(new URLSearchParams(location.search).get("run") || "");
    if (!row) { return; }
    window.dash_clientside.set_props("runs-grid", {selectedRows: [row.data]});
    api.ensureNodeVisible(row, "middle");
  }

  /* As high as its rows, up to as many as the page gives it room for. */
  function heightOf(rows, most, rowHeight, headerHeight) {
    return Math.min(most * rowHeight / ROW, Math.max(LEAST, headerHeight + rows * rowHeight + REST)) + "px";
  }

  async function fit(id, most) {
    const api = await window.dash_ag_grid.getApiAsync(id), place = document.getElementById(id);
    let selects = id === "runs-grid";  // a link may have opened one of its rows
    const follow = () => {
      if (selects && api.getDisplayedRowCount()) { selects = false; selectOpened(api); }
      const room = place?.querySelector(".ag-header-viewport")?.clientWidth;
      if (room) { chooseColumns(api, id, room); }
      if (place && (api.getDisplayedRowCount() || api.getGridOption("rowData"))) { place.dataset.fitted = ""; }  // seen from now on: its columns would have moved
      if (!place?.isConnected || api.isAnyFilterPresent()) { return; }
      const {rowHeight, headerHeight} = api.getSizesForCurrentTheme();
      place.style.height = heightOf(api.getDisplayedRowCount(), most, rowHeight, headerHeight);
    };
    api.addEventListener("modelUpdated", follow);
    api.addEventListener("gridSizeChanged", follow);
    follow();
  }

  /* Rows are known before the library is there that draws them: they have their room from the start. */
  function firstHeight(rows, most) {
    const style = getComputedStyle(document.documentElement);
    const [rowHeight, headerHeight] = ["row", "header"].map((part) => parseInt(style.getPropertyValue(`--${part}-height`), 10));
    return heightOf(rows, most, rowHeight, headerHeight);
  }

  const Late = React.lazy(load);
  function Grid(props) {
    const {id, rowData} = props, most = parseInt(props.style.height, 10);
    React.useEffect(() => { load().then(() => fit(id, most)); }, [id]);
    const height = rowData ? firstHeight(rowData.length, most) : props.style.height;
    const grid = React.createElement(Late, {...props, style: {...props.style, height: height}});
    const waiting = React.createElement(React.Suspense, {fallback: null}, grid);
    return React.createElement("div", {className: "grid-place", style: {"--first": height}}, waiting);
  }
  Grid.dashRenderType = true;
  Object.defineProperty(Grid, "_dashprivate_isLazyComponentReady",
    {get: () => ready || load().then(() => true)});

  window.dash_ag_grid = {AgGrid: Grid};
  if (WITH_GRID.test(location.pathname)) { load(); }
})();
