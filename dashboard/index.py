"""The HTML document: Dash's scripts, and the frame drawn already, so that the first paint waits for no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape, unescape

from dash import __version__ as dash_version

from neuron_top import __version__
from neuron_top.dashboard.layout import NavigationLink

_GRIDS = "/dash_ag_grid/dash_ag_grid."
_OLD_BROWSERS = ("/dash/deps/polyfill@",) if dash_version.startswith("4.4.") else ()
"""Left out only for this version, for which `generators.js` has what the scripts take from it."""
_SPARED = ("/dash/dash_table/", *_OLD_BROWSERS, _GRIDS)


def index_page(prefix: str, links: Sequence[NavigationLink], parts: Mapping[str, str]) -> str:
    """The document. `parts` are Dash's: metas, css, config, scripts, renderer."""
    items = "".join(f'<li><a href="{escape(prefix + link.path)}">{escape(link.name)}</a></li>' for link in links)
    early = "".join(
        f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{escape(prefix + one)}">'
        for one in ("_dash-layout", "_dash-dependencies")
    )  # while the scripts are read
    return f"""<!doctype html>
<html lang="en">
<head>{parts["metas"]}<title>neurontop</title>
<link rel="icon" href="{escape(prefix)}assets/icon.svg">
<link id="charts" rel="preload" as="script" href="{escape(prefix)}assets/plotly/plotly.min.js?v={__version__}">
<meta name="grids" content="{escape(_grids(parts["scripts"]))}">
{early}
{parts["css"]}</head>
<body><div id="react-entry-point"><div class="frame"><header class="top"><span class="brand">
<img src="{escape(prefix)}assets/icon.svg" alt="" width="22" height="22">neurontop</span>
<nav aria-label="Pages"><ul>{items}</ul></nav></header>
<main id="page"><p class="note quiet" role="status">Loading …</p></main></div></div>
<noscript><p class="note bad">The dashboard needs JavaScript. Without it: <code>neurontop status</code> prints the same
overview, and <a href="{escape(prefix)}api/overview">api/overview</a> gives it as JSON.</p></noscript>
<footer>{parts["config"]}{_used(parts["scripts"])}{parts["renderer"]}</footer></body></html>
"""


def _used(scripts: str) -> str:
    """The scripts without those that Dash always adds and we never use: its own table, and polyfills for browsers
    before 2018 (an eighth of the time until the page responds); and without the grids, which `grids.js` loads on pages
    that have one.
    """
    return "\n".join(line for line in scripts.splitlines() if not any(part in line for part in _SPARED))


def _grids(scripts: str) -> str:
    """The address of the script of the grids' component. Empty where it is not recognized among the scripts: then the
    page loads it like all others, and `grids.js` does nothing.
    """
    line = next((line for line in scripts.splitlines() if _GRIDS in line), "")
    return unescape(line.partition('src="')[2].partition('"')[0])
