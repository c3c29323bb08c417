"""Page state in the URL, so that a selection can be shared as a link."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from dash import ClientsideFunction, Dash, Input, State

LONGEST = 8192
"""Characters of a query string that are read; the rest is ignored."""


OF_ONE_RUN: dict[str, None] = {"core": None, "graph": None, "from": None, "to": None}
"""Parameters that are dropped when another run is chosen: a core, a graph, and the time span of charts."""


def state_of(search: str | None) -> dict[str, str]:
    """`?run=…&core=…` as a dictionary; the first of repeated names counts."""
    state: dict[str, str] = {}
    for name, value in parse_qsl((search or "")[:LONGEST].lstrip("?"))[:50]:
        state.setdefault(name, value)
    return state


def search_with(search: str | None, **changes: str | None) -> str:
    """The same address with some values changed; None and "" remove one."""
    state = state_of(search) | {name: value or "" for name, value in changes.items()}
    kept = {name: value for name, value in state.items() if value}
    return f"?{urlencode(kept)}" if kept else ""


def hold(app: Dash, *controls: str) -> None:
    """Keep the values of these controls in the address, and set them from it; `address.js` names the parameters."""
    for control in controls:
        app.clientside_callback(  # type: ignore[no-untyped-call]
            ClientsideFunction("neurontop", "hold"), Input(control, "value"), State(control, "id")
        )
