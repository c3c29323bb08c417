"""Names inside a compile cache: `<root>/<compiler>-<version>/MODULE_<graph>+<flags>/…`.

The SDK's names are from its published entries; ours for locally compiled graphs stand beside them, in the
same layout and with the same marks, so that one catalogue reads both.
"""

from __future__ import annotations

DEFAULT_ROOT = "/var/tmp/neuron-compile-cache"  # noqa: S108 (the SDK's documented default)

HLO_NAMES = ("model.hlo_module.pb", "model.hlo.pb")
FX_GRAPH = "model.fxgraph"
"""A local graph: what a compile process needs, pickled. Never loaded by anything that only looks."""
GRAPH_NAMES = (*HLO_NAMES, FX_GRAPH)
DESCRIPTION = "model.graph.json"
"""A local graph in words: nodes, operators, shapes, dtypes, torch version. Safe to read."""

NEFF = "model.neff"
INDUCTOR_ARTEFACT = "model.inductor"
"""What `CompiledArtifact.save` (binary format) wrote."""
ARTEFACT_NAMES = (NEFF, INDUCTOR_ARTEFACT)

FLAGS_NAMES = ("compile_flags.json", "compile_flags.txt")
DONE = "model.done"
FAILURE_LOG = "model.log"
STATS = "model.stats.json"
"""`{"compile_seconds", "peak_rss_bytes", "started", "finished", "attempts"}` of a local compile."""
WRAPPED_NEFF = "wrapped_neff.hlo"

LOCK_SUFFIX = ".lock"
OWNER_SUFFIX = ".lock.owner"
"""JSON beside our locks: `{"host", "boot_id", "pid", "started"}`; the SDK's locks have none."""
QUARANTINE_SUFFIX = ".broken"
"""`model.inductor.<time>.broken`: a corrupt artefact kept aside for a person to look at."""
