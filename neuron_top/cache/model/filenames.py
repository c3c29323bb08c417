"""Names inside a compile cache: `<root>/<compiler>-<version>/MODULE_<graph>+<flags>/…`.

The SDK's names are those of its published entries. Ours, for locally compiled graphs, follow the same layout and use
the same marks, so that one catalog reads both.
"""

from __future__ import annotations

DEFAULT_ROOT = "/var/tmp/neuron-compile-cache"  # noqa: S108 (the SDK's documented default)

SDK_COMPILERS = ("neuronxcc-", "USER_neuroncc-")
"""How the names of the SDK's compiler folders begin, today and in 2022."""
CACHE_FOLDER = "neuron-compile-cache"
"""The name of the default root; clients of 2022 made a folder of this name in the root that they were given."""

HLO_NAMES = ("model.hlo_module.pb", "model.hlo.pb")
FX_GRAPH = "model.fxgraph"
"""A local graph: what a compile process needs, pickled. Code that only reads caches never loads it."""
PACKED_HLO_NAMES = tuple(name + ".gz" for name in HLO_NAMES)
"""Graphs that somebody compressed: they count as a graph, but no compiler takes them as they are."""
COMPILED_NAMES = (*HLO_NAMES, FX_GRAPH)
"""Graphs that a compiler reads."""
GRAPH_NAMES = (*COMPILED_NAMES, *PACKED_HLO_NAMES)
DESCRIPTION = "model.graph.json"
"""A description of a local graph: nodes, operators, shapes, dtypes, torch version. Safe to read."""

NEFF = "model.neff"
INDUCTOR_ARTIFACT = "model.inductor"
"""What `CompiledArtifact.save` writes in its binary format."""
INDUCTOR_KERNELS = "model.kernels"
"""The shared libraries that `model.inductor` runs, as an uncompressed zip. PyTorch's artifact only names them, by the
hash of their source, and building them again takes nearly all of a compile's time."""
ARTIFACT_NAMES = (NEFF, INDUCTOR_ARTIFACT)

FLAGS_NAMES = ("compile_flags.json", "compile_flags.txt")
DONE = "model.done"
FAILURE_LOG = "model.log"
STATS = "model.stats.json"
"""`{"module", "compiler", "compile_seconds", "peak_rss_bytes", "started", "finished", "attempts", "files"}` of a local
compile; `files` maps each file of the artifact to its `{"sha256", "bytes"}`, which are checked before it is loaded.
`compile_seconds` are the compiler's alone; the time from `started` to `finished` also has the start of its process,
once per job."""
WRAPPED_NEFF = "wrapped_neff.hlo"

LOCK_SUFFIX = ".lock"
OWNER_SUFFIX = ".lock.owner"
"""JSON beside our locks: `{"host", "boot_id", "pid", "started", "pid_namespace", "token", "claim",
"machine"}`; the SDK's locks have none.
The lock and this file are one file under two names (a hard link), so a lock has an owner from the first instant."""
LOCK_NAMES = tuple(name + LOCK_SUFFIX for name in GRAPH_NAMES)
OWNER_NAMES = tuple(name + OWNER_SUFFIX for name in GRAPH_NAMES)

TEMPORARY_SUFFIX = ".tmp"
"""`model.inductor.<token>.tmp`: a file that is being written, and renamed when complete, or that a killed process
left."""
QUARANTINE_SUFFIX = ".broken"
"""`model.inductor.<time>.broken`: a corrupt artifact that was set aside for a person to look at."""


def is_artifact(path: str) -> bool:
    """Whether a path, or an object's key, is that of an entry's artifact."""
    return path.rpartition("/")[2] in ARTIFACT_NAMES


def owner_name(lock: str) -> str:
    """The name of the record that lies beside the lock `lock`."""
    return lock.removesuffix(LOCK_SUFFIX) + OWNER_SUFFIX
