"""The application: Dash on its FastAPI back end, the pages, the API and the metrics, all behind the guard.

Dash's own WebSocket callbacks are not used for the push: their worker needs SharedWorker (absent on Android) and gives
up for good after ten attempts to reconnect. `push.py` sends one small message per change instead, and the page asks.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dash import ClientsideFunction, Dash, Input, Output, State, no_update
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from neuron_top import __version__
from neuron_top.dashboard import api, detail_drawer, documents, dropping, metrics, pinned_log, push
from neuron_top.dashboard.access import Access
from neuron_top.dashboard.address import OF_ONE_RUN, search_with, state_of
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.components import note
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.guard import App, Guard, acting_offered, current_permission, page_url
from neuron_top.dashboard.index import index_page
from neuron_top.dashboard.layout import LIVE_OPTION, NavigationLink, OpenPage, app_layout, run_of, run_options
from neuron_top.dashboard.pages import cache, cores, live, logs, runs
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.dashboard.pages import fleet as fleet_page
from neuron_top.dashboard.permissions import callback_permissions

ASSETS = Path(__file__).parent.parent / "assets" / "web"
COMPRESSED_BYTES = 2000
"""Answers of at least this many bytes are compressed: updates of a fleet's page are repetitive."""
PAGES = (live, cores, compile_page, cache, logs, runs, fleet_page)
"""Pages in the order of the navigation, which is that of the terminal's screens."""


def create_app(
    feeds: FeedRegistry,
    caches: DashboardCaches,
    access: Access,
    *,
    prefix: str = "/",
    fleet: DashboardFleet | None = None,
) -> App:
    """The dashboard as one ASGI application. The caller starts and stops the feeds, and closes the fleet."""
    fleet = fleet or DashboardFleet(feeds.settings)
    os.environ.setdefault("DASH_HOT_RELOAD", "false")
    server = FastAPI(title="neurontop", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    server.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_BYTES, compresslevel=1)
    app = Dash(
        "neurontop",
        server=server,  # type: ignore[arg-type]  # Dash says bool, and takes any server of a back end it knows
        backend="fastapi",
        title="neurontop",
        update_title="",
        assets_folder=str(_assets()),
        assets_path_ignore=["plotly"],  # the page loads them once it has its numbers
        routes_pathname_prefix=prefix,
        requests_pathname_prefix=prefix,
        serve_locally=True,
        suppress_callback_exceptions=True,
        use_pages=False,
        add_log_handler=False,
        on_error=_reported,
        eager_loading=False,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    # The config names no socket to the renderer, which would open one that no page uses.
    app.backend.websocket_capability = False
    links = tuple(NavigationLink(page.PATH, page.NAME) for page in PAGES if page is not fleet_page or fleet.exists)
    app.layout = lambda: app_layout(
        prefix, links, current_permission.get(), _open_page(prefix, page_url.get()), can_act=acting_offered.get()
    )
    app.interpolate_index = lambda **parts: index_page(prefix, links, parts)  # type: ignore[method-assign]
    _register_layout(app, feeds, prefix)
    for page in PAGES:
        if page is cache:
            cache.register(app, feeds, caches)
        elif page is logs:
            logs.register(app, feeds, fleet)
        elif page is fleet_page:
            fleet_page.register(app, fleet)
        else:
            page.register(app, feeds)
    pinned_log.register(app, feeds)
    detail_drawer.register(app, feeds, caches)
    push.register(server, feeds, prefix)
    api.register(server, feeds, caches, fleet, prefix)
    documents.register(server, feeds, prefix)
    dropping.register(server, feeds, prefix)
    metrics.register(server, feeds, prefix)
    policy, pages = _policy(app), frozenset(page.PATH for page in PAGES)
    callbacks = callback_permissions(name for name, one in app.callback_map.items() if "callback" in one)
    return Guard(
        server,
        access,
        prefix=prefix,
        policy=policy,
        pages=pages,
        links=links,
        callbacks=callbacks,
        signed_out=feeds.dropped.close_all_of,
    )


def _reported(problem: Exception) -> None:
    """Log an exception of a callback; the page stays as it is."""
    logging.getLogger("neuron_top.dashboard").error("a page could not be updated", exc_info=problem)


def _assets() -> Path:
    """The folder of assets: beside the package when installed; in a checkout it is reached through a link."""
    return ASSETS.resolve()


def _policy(app: Dash) -> str:
    """Scripts: our own files; Dash's one line and that of reports by their hashes.

    Styles inline too: plotly sets them on elements.
    """
    app._setup_server()  # type: ignore[no-untyped-call]
    scripts = " ".join(("'self'", *app.csp_hashes(), *documents.script_hashes()))
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def _page(prefix: str, path: str, search: str) -> Any:
    """The layout of the page at an address; None where there is no such page."""
    name = path[len(prefix) :].strip("/")
    return next((page.layout(state_of(search)) for page in PAGES if name == page.PATH), None)


def _open_page(prefix: str, address: str) -> OpenPage | None:
    """The page that a browser has opened. Its layout is sent with the frame, which saves a second request."""
    try:
        _scheme, _host, path, query, _fragment = urlsplit(address)
    except ValueError:
        return None
    search = f"?{query}" if query else ""
    page = _page(prefix, path, search) if path.startswith(prefix) else None
    return OpenPage(path, search, page) if page is not None else None


def _register_layout(app: Dash, feeds: FeedRegistry, prefix: str) -> None:
    @app.callback(
        Output("page", "children"),
        Output("problem", "children"),  # clear the problem of the page before
        Output("page", "data-path"),  # the browser asks again while it shows another one than its address says
        Input("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def page(path: str, search: str) -> Any:
        found = _page(prefix, path or prefix, search)
        if found is None:
            found = note("There is no page at this address. Choose one in the navigation above.")
        return found, None, path

    @app.callback(
        Output("run", "options"), Output("run", "value"), Input("url", "search"), Input("run", "search_value")
    )
    async def offered(search: str, _typed: str) -> Any:
        recordings, jobs = await asyncio.to_thread(lambda: (feeds.recordings(), feeds.jobs()))
        options = run_options(recordings, jobs, feeds.dropped_here(), live=feeds.live_name)
        run = state_of(search).get("run") or LIVE_OPTION
        if all(option["value"] != run for option in options):
            options.append({"label": run, "value": run})  # an old one, or none: a value that is not offered is dropped
        return options, run

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("run", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose_run(chosen: str | None, search: str) -> Any:
        run = run_of(chosen)
        return no_update if run == state_of(search).get("run", LIVE) else search_with(search, run=run, **OF_ONE_RUN)

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("neurontop", "theme"),
        Output("theme", "data"),
        Input("theme-switch", "n_clicks"),
        State("theme", "data"),
    )
    app.clientside_callback(ClientsideFunction("neurontop", "follow"), Input("url", "search"))  # type: ignore[no-untyped-call]
    for page_module in PAGES:
        marks = f"{page_module.PATH or 'live'}-marks"
        answered = ClientsideFunction("neurontop", "answered")
        app.clientside_callback(answered, Input(marks, "data"))  # type: ignore[no-untyped-call]
