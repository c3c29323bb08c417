"""The list of jobs: a card each."""

from __future__ import annotations

import msgspec

from neuron_top.views.verdict import Verdict


class JobCard(msgspec.Struct, frozen=True, kw_only=True):
    """One job that can be shown."""

    id: str
    """What an address names it by: of a log's job `job:…`, of a recording its id."""
    name: str
    verdict: Verdict
    started: float | None = None
