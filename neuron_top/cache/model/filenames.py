"""Names inside a compile cache: `<root>/<compiler>-<version>/MODULE_<graph>+<flags>/…`.

The SDK's names are from its published entries; ours for locally compiled graphs stand beside them, in the
same layout and with the same marks, so that one catalog reads both.
"""

from __future__ import annotations

DEFAULT_ROOT = "/var/tmp/neuron-compile-cache"  # noqa: S108 (the SDK's documented default)

SDK_COMPILERS = ("neuronxcc-", "USER_neuroncc-")
"""How the SDK's folders of a compiler version begin, in a cache of today and of 2022."""

HLO_NAMES = ("model.hlo_module.pb", "model.hlo.pb")
FX_GRAPH = "model.fxgraph"
"""A local graph: what a compile process needs, pickled. Never loaded by anything that only looks."""
PACKED_HLO_NAMES = tuple(name + ".gz" for name in HLO_NAMES)
"""Graphs that somebody compressed: they show that there is a graph, and no compiler takes them as they are."""
COMPILED_NAMES = (*HLO_NAMES, FX_GRAPH)
"""Graphs that a compiler reads."""
GRAPH_NAMES = (*COMPILED_NAMES, *PACKED_HLO_NAMES)
DESCRIPTION = "model.graph.json"
"""A local graph in words: nodes, operators, shapes, dtypes, torch version. Safe to read."""

NEFF = "model.neff"
INDUCTOR_ARTIFACT = "model.inductor"
"""What `CompiledArtifact.save` (binary format) wrote."""
INDUCTOR_KERNELS = "model.kernels"
"""The shared libraries that `model.inductor` runs, as an uncompressed zip: PyTorch's artifact names them by the hash
of their source and does not carry them, and building them again is nearly all of a compile's time."""
ARTIFACT_NAMES = (NEFF, INDUCTOR_ARTIFACT)

FLAGS_NAMES = ("compile_flags.json", "compile_flags.txt")
DONE = "model.done"
FAILURE_LOG = "model.log"
STATS = "model.stats.json"
"""`{"module", "compiler", "compile_seconds", "peak_rss_bytes", "started", "finished", "attempts", "files"}` of a local
compile; `files` maps each file of the artifact to its `{"sha256", "bytes"}`, checked before it is loaded. The seconds
are the compiler's alone: what its process needs to start, once per job, lies between `started` and `finished` too."""
WRAPPED_NEFF = "wrapped_neff.hlo"

LOCK_SUFFIX = ".lock"
OWNER_SUFFIX = ".lock.owner"
"""JSON beside our locks: `{"host", "boot_id", "pid", "started", "pid_namespace", "token", "claim",
"machine"}`; the SDK's locks have none.
Lock and sidecar are one file under two names (a hard link), so there is no instant at which a lock has no owner."""
LOCK_NAMES = tuple(name + LOCK_SUFFIX for name in GRAPH_NAMES)
OWNER_NAMES = tuple(name + OWNER_SUFFIX for name in GRAPH_NAMES)

TEMPORARY_SUFFIX = ".tmp"
"""`model.inductor.<token>.tmp`: being written, renamed when complete; leftovers of a killed process."""
QUARANTINE_SUFFIX = ".broken"
"""`model.inductor.<time>.broken`: a corrupt artifact kept aside for a person to look at."""


def is_artifact(path: str) -> bool:
    """Whether a path or a key is that of an entry's artifact."""
    return path.rpartition("/")[2] in ARTIFACT_NAMES


def owner_name(lock: str) -> str:
    """The name of the record that lies beside the lock `lock`."""
    return lock.removesuffix(LOCK_SUFFIX) + OWNER_SUFFIX
