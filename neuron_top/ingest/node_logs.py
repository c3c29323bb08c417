"""The log of one node, read from its agent. What has not been fetched yet is fetched in a thread.

No key press waits long for the network: if an answer takes longer than a second, an empty page that is not the last one
is returned, and the next request finds the lines.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from neuron_top.errors import NeuronTopError
from neuron_top.events.log_sources import log_source, path_of
from neuron_top.ingest.agent_logs import MOST_LINES, LogDirection, LogRequest
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery

WAIT_SECONDS = 1.0
"""How long to wait for a page that has not been fetched."""
TAIL_SECONDS = 1.0
"""How old the newest lines may be while somebody follows them."""
TAIL_LINES = 200
RETRY_SECONDS = 3.0
_KEPT_SECONDS = 5.0
_PAGES_KEPT = 32
_MOST_AT_ONCE = 3

Ask = Callable[[LogRequest], LogPage]


class NodeLogs:
    """Pages of a node's log. Names of logs include the node, as in the events of its job."""

    def __init__(self, node: str, ask: Ask, changed: Callable[[], None] = lambda: None) -> None:
        """`ask` fetches a page, or raises NeuronTopError; `changed` is called from a thread when newer lines came."""
        self.node, self._ask, self._changed = node, ask, changed
        self._lock = threading.Condition()
        self._pages: OrderedDict[bytes, tuple[float, LogPage]] = OrderedDict()
        self._asked: set[bytes] = set()
        self._tail: tuple[LogLine, ...] = ()
        self._tail_at = self._failed_at = float("-inf")
        self._problem = ""

    @property
    def state(self) -> str:
        """Why there are no lines, or none yet; "" where nothing is wrong."""
        if self._problem:
            return self._problem
        return f"asking the agent of {self.node}…" if self._tail_at == float("-inf") else ""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest lines that were fetched; fetches newer ones if these are too old."""
        with self._lock:
            if time.monotonic() - self._tail_at > TAIL_SECONDS:
                self._begin(LogRequest(count=TAIL_LINES))
            return [line for line in self._tail if source in (None, line.source)][-count:]

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines before these offsets."""
        return self._page(LogDirection.OLDER, before, count, query)

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """Lines from these offsets on."""
        return self._page(LogDirection.NEWER, after, count, query)

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """Always empty: rotations on the node are not followed."""
        return []

    def log_chains(self) -> list[LogChain]:
        """Always empty: rotations on the node are not followed."""
        return []

    def log_state(self) -> str:
        """As `state`."""
        return self.state

    def _page(self, way: LogDirection, at: Mapping[str, int], count: int, query: LogQuery | None) -> LogPage:
        if count <= 0:
            return LogPage(lines=(), at=dict(at), ended=False)
        request = msgspec.convert(
            {
                "way": way,
                "at": {self._there(source): offset for source, offset in at.items()},
                "count": min(count, MOST_LINES),
                "query": query.text if query else "",
                "only": self._there(query.only) if query and query.only is not None else None,
            },
            LogRequest,
        )
        deadline = time.monotonic() + WAIT_SECONDS
        with self._lock:
            page = self._kept(request)
            if page is None and self._begin(request):
                while page is None and not self._problem and (left := deadline - time.monotonic()) > 0:
                    self._lock.wait(left)
                    page = self._kept(request)
            if page is not None:
                return page
            return LogPage(lines=(), at=dict(at), ended=bool(self._problem))

    def _kept(self, request: LogRequest) -> LogPage | None:
        came, page = self._pages.get(_key(request), (float("-inf"), None))
        return page if time.monotonic() - came < _KEPT_SECONDS else None

    def _begin(self, request: LogRequest) -> bool:
        """Begin to fetch, unless that is being done or failed a moment ago; whether it was begun."""
        busy = _key(request) in self._asked or len(self._asked) >= _MOST_AT_ONCE
        if busy or time.monotonic() - self._failed_at < RETRY_SECONDS:
            return False
        self._asked.add(_key(request))
        threading.Thread(target=self._fetch, args=(request,), name=f"logs of {self.node}", daemon=True).start()
        return True

    def _fetch(self, request: LogRequest) -> None:
        page, problem = None, ""
        try:
            page = self._here(self._ask(request))
        except NeuronTopError as failed:
            problem = str(failed)
        except Exception as failed:  # noqa: BLE001 (a screen says so; the thread is all that would end)
            problem = f"log lines of {self.node} cannot be read: {type(failed).__name__}: {failed}"
        with self._lock:
            self._asked.discard(_key(request))
            changed = problem != self._problem
            self._problem = problem
            if page is None:
                self._failed_at = time.monotonic()
            elif request.way is LogDirection.TAIL:
                changed |= page.lines != self._tail
                self._tail, self._tail_at = page.lines, time.monotonic()
            else:
                self._pages[_key(request)] = time.monotonic(), page
                while len(self._pages) > _PAGES_KEPT:
                    self._pages.popitem(last=False)
            self._lock.notify_all()
        if changed:
            self._changed()

    def _there(self, source: str) -> str:
        """The name of a log as its agent knows it."""
        return log_source(path_of(source, self.node))

    def _here(self, page: LogPage) -> LogPage:
        lines = tuple(msgspec.structs.replace(line, source=self._named(line.source)) for line in page.lines)
        return LogPage(
            lines=lines, at={self._named(source): offset for source, offset in page.at.items()}, ended=page.ended
        )

    def _named(self, source: str) -> str:
        return log_source(path_of(source), self.node)


def _key(request: LogRequest) -> bytes:
    return msgspec.json.encode(request)
