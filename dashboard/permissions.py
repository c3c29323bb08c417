"""The table of permissions for every address and callback of the server, which the guard enforces.

What is not declared here is not served. The tests walk all routes and callbacks of the application and compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from starlette.routing import compile_path

from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.limits import UPLOAD_PATH
from neuron_top.services.caches import ACTIONS, Verb, action_of

GET, POST, SOCKET = "GET", "POST", "SOCKET"
CALLBACKS_PATH = "_dash-update-component"


def action_permission(verb: Verb) -> Permission:
    """The permission that the registry of cache actions asks for: to execute a plan of this verb, stop and undo it."""
    return Permission[action_of(verb).permission.name]


LEAST_TO_EXECUTE = min(action_permission(action.verb) for action in ACTIONS)
"""What every execution needs; the plan's own verb may need more, see `plan_registry`."""

MOVED: Mapping[str, str] = {"memory": "cores"}
"""Earlier paths of pages, in bookmarks and in links that were sent, and where they are now. The guard redirects."""

_READ_PATHS = (
    "", "compile", "cache", "cores", "runs", "logs", "fleet",
    "_dash-layout", "_dash-dependencies", "_dash-component-suites/{package_name}/{fingerprinted_path:path}", "alive",
    "report", "comparison", "metrics",
    "api", "api/", "api/openapi.json", "api/overview", "api/graphs", "api/graphs/{key}", "api/timeline", "api/answers",
    "api/lookups",
    "api/cores", "api/cores/{key:path}", "api/memory", "api/memory/{key:path}", "api/trends", "api/summary",
    "api/report", "api/comparison", "api/logs", "api/runs", "api/cache", "api/cache/plans/{identity}",
    "api/fleet/steps", "api/fleet/phases", "api/fleet/nodes/{node}", "api/fleet/nodes/{node}/logs",
    "api/fleet/nodes/{node}/cores/{core}",
    "api/fleet/jobs", "api/fleet/nodes", "api/fleet/top", "api/fleet/different", "api/fleet/blame", "api/targets",
    "api/fleet/changes", "api/fleet/changes/{batch}",
    *(f"api/{table}.{kind}" for table in ("graphs", "cores", "runs", "cache") for kind in ("csv", "parquet", "json")),
)  # fmt: skip

ROUTES: Mapping[tuple[str, str], Permission] = {
    # Needed by the sign-in page itself; no data is in these.
    (GET, "sign-in"): Permission.NONE,
    (POST, "sign-in"): Permission.NONE,
    (POST, "sign-out"): Permission.NONE,
    (GET, "assets/{path:path}"): Permission.NONE,
    (GET, "_favicon.ico"): Permission.NONE,
    **{(GET, path): Permission.NONE for path in MOVED},
    **{(GET, path): Permission.READ for path in _READ_PATHS},
    (SOCKET, "push"): Permission.READ,
    # A log that a reader drops is shown to that browser alone and changes nothing; see `dropping.py`.
    (POST, UPLOAD_PATH): Permission.READ,
    # A callback also needs its own permission; see CALLBACKS.
    (POST, CALLBACKS_PATH): Permission.READ,
    # A plan changes nothing and can be viewed; the number of plans per client is limited.
    (POST, "api/cache/plans"): Permission.READ,
    (POST, "api/cache/plans/{identity}/execute"): LEAST_TO_EXECUTE,
    (POST, "api/cache/plans/{identity}/stop"): LEAST_TO_EXECUTE,
    (POST, "api/cache/plans/{identity}/undo"): LEAST_TO_EXECUTE,
    # A request to nodes already writes to the fleet's database.
    (POST, "api/fleet/changes"): Permission.ACT,
    (POST, "api/fleet/changes/{batch}/confirm"): Permission.ACT,
    (POST, "api/fleet/changes/{batch}/cancel"): Permission.ACT,
    (POST, "api/fleet/changes/{batch}/undo"): Permission.ACT,
}
"""By method and path below the prefix. HEAD is GET."""

NOT_SERVED = frozenset({"_dash-ws-callback", "_reload-hash"})
"""Routes of Dash that no page uses."""

CALLBACKS: Mapping[str, Permission] = {
    "page.children": Permission.READ,
    "run.options": Permission.READ,
    "url.search": Permission.READ,
    "live-elapsed.children": Permission.READ,
    "live-handled.children": LEAST_TO_EXECUTE,
    "pinned-lines.children": Permission.READ,
    "live-node.options": Permission.READ,
    "compile-summary.children": Permission.READ,
    "drawer-title.children": Permission.READ,
    "drawer-depth.children": Permission.READ,
    "cache-summary.children": Permission.READ,
    "cache-grid.getRowsResponse": Permission.READ,
    "cache-query.value": Permission.READ,
    "cache-action.children": LEAST_TO_EXECUTE,
    "cache-undone.children": LEAST_TO_EXECUTE,
    "cores-summary.children": Permission.READ,
    "cores-with.options": Permission.READ,
    "runs-note.children": Permission.READ,
    "runs-documents.children": Permission.READ,
    "runs-labels-of.data": Permission.READ,
    "runs-labeled.children": LEAST_TO_EXECUTE,
    "fleet-summary.children": Permission.READ,
    "fleet-change.children": Permission.READ,
    "fleet-asked.children": Permission.ACT,
    "fleet-acted.children": Permission.ACT,
    "logs-new.data": Permission.READ,
    "logs-found.data": Permission.READ,
}
"""Permissions by the first output of a callback."""


class _Rule(NamedTuple):
    method: str
    pattern: Any
    permission: Permission


_RULES = tuple(_Rule(method, compile_path(f"/{path}")[0], permission) for (method, path), permission in ROUTES.items())


def permission_for(method: str, path: str) -> Permission | None:
    """The permission that a request needs; None where nothing is served. `path`: below the prefix, without a slash.

    Of a method that the path does not know, the highest permission of the path.
    """
    rules = [rule for rule in _RULES if rule.pattern.match(f"/{path}")]
    method = GET if method in ("HEAD", "OPTIONS") else method
    own = [rule.permission for rule in rules if rule.method == method]
    return max(own or [rule.permission for rule in rules], default=None)


def first_output(callback: str) -> str:
    """What a callback writes to first, by Dash's name for the callback, which lists all: `..a.children...b.data..`."""
    return callback.strip(".").partition("...")[0].partition("@")[0]


def callback_permissions(callbacks: Iterable[str]) -> dict[str, Permission]:
    """The permissions of callbacks by Dash's names; a callback without one is not served."""
    return {name: CALLBACKS[first] for name in callbacks if (first := first_output(name)) in CALLBACKS}
