"""What other nodes have to do with a cache: whose turn a compile is, where artifacts come from, and where they go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from neuron_top.compile import side_channel
from neuron_top.compile.claims.choice import turns_for
from neuron_top.compile.claims.turns import Turns
from neuron_top.compile.fetch.fetcher import Fetcher, fetcher_for
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.compile.wrapper.persistent_cache import WritableEntry

Share = Callable[[WritableEntry, Callable[[], None]], None]
"""Stores an entry elsewhere; the function given to it is called before the mark and may raise to prevent it."""


class Sharing:
    """How one wrapper shares its cache. What is not given is chosen by the settings for the root, at its first use."""

    def __init__(
        self, *, turns: Turns | None = None, fetcher: Fetcher | None = None, share: Share | None = None
    ) -> None:
        """`turns`: who may compile an entry among all nodes; `fetcher`: fetches artifacts that the cache lacks.

        `share`: stores a compiled entry elsewhere, before others get their turn at it; with it, the fetcher is asked
        again when our turn comes.
        """
        self.share = share
        self._turns, self._fetcher, self._has_chosen_fetcher = turns, fetcher, fetcher is not None

    def turns(self, root: Path, log: WrapperLog) -> Turns:
        """The turns at the entries of a root."""
        if self._turns is None:
            self._turns = turns_for(root, log)
        return self._turns

    def fetcher(self, root: Path, log: WrapperLog, emit: side_channel.Emit) -> Fetcher | None:
        """The fetcher for a root; None where there is no artifact source."""
        if not self._has_chosen_fetcher:
            self._fetcher, self._has_chosen_fetcher = fetcher_for(root, log, emit), True
        return self._fetcher
