"""The HTML document: Dash's scripts, and the frame drawn already, so that the first paint waits for no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from neuron_top import __version__
from neuron_top.dashboard.shell import Link


def index_page(prefix: str, links: Sequence[Link], parts: Mapping[str, str]) -> str:
    """The document. `parts` are Dash's: metas, css, config, scripts, renderer."""
    items = "".join(f'<li><a href="{escape(prefix + link.path)}">{escape(link.name)}</a></li>' for link in links)
    return f"""<!doctype html>
<html lang="en">
<head>{parts["metas"]}<title>neurontop</title>
<link rel="icon" href="{escape(prefix)}assets/icon.svg">
<link id="charts" rel="preload" as="script" href="{escape(prefix)}assets/plotly/plotly.min.js?v={__version__}">
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
    """Without the table component that Dash always brings along and we never use: a fifth of all bytes."""
    return "\n".join(line for line in scripts.splitlines() if "/dash/dash_table/" not in line)
