/* The grids' component is as large as a chart library: it is read for the pages that have a grid, not for the others.
   Until then this stands in its place, and Dash holds back what it has for a grid, as for its own late components. */
(function () {
  "use strict";
  const WITH_GRID = /\/(compile|cache|runs)\/?$/, AGAIN_MS = 1000;
  const LEAST = 120, REST = 20;  // pixels: the words of an empty grid; borders, and a bar to scroll
  const ROW = 30;  // pixels: of the rows that the height of a page's grid was chosen for
  const OPTIONAL = {"compile-grid": ["elapsed", "left", "wait", "bytes", "message"],
    "runs-grid": ["star", "tags", "note", "node"]};
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

  /* A column of which no row has anything gives its room to the others. */
  function hideEmpty(api, names) {
    const full = new Set();
    api.forEachNode(({data}) => names.forEach((name) => { if (![null, undefined, ""].includes(data?.[name])) { full.add(name); } }));
    for (const name of names) {
      if (api.getColumn(name)?.isVisible() !== full.has(name)) { api.setColumnsVisible([name], full.has(name)); }
    }
  }

  /* As high as its rows, up to as many as the page gives it room for. */
  async function fit(id, most) {
    const api = await window.dash_ag_grid.getApiAsync(id), place = document.getElementById(id);
    const follow = () => {
      hideEmpty(api, OPTIONAL[id] || []);
      if (!place?.isConnected || api.isAnyFilterPresent()) { return; }
      const {rowHeight, headerHeight} = api.getSizesForCurrentTheme();
      place.style.height = Math.min(most * rowHeight / ROW, Math.max(LEAST, headerHeight + api.getDisplayedRowCount() * rowHeight + REST)) + "px";
    };
    api.addEventListener("modelUpdated", follow);
    follow();
  }

  const Late = React.lazy(load);
  function Grid(props) {
    const {id, style, className} = props, room = React.createElement("div", {id: id, style: style, className: className});
    React.useEffect(() => { load().then(() => fit(id, parseInt(style.height, 10))); }, [id]);
    return React.createElement(React.Suspense, {fallback: room}, React.createElement(Late, props));
  }
  Grid.dashRenderType = true;
  Object.defineProperty(Grid, "_dashprivate_isLazyComponentReady",
    {get: () => ready || load().then(() => true)});

  window.dash_ag_grid = {AgGrid: Grid};
  if (WITH_GRID.test(location.pathname)) { load(); }
})();
