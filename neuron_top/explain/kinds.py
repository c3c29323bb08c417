"""What can explain a miss: one name for each, in JSON, on screens and in comparisons."""

from __future__ import annotations

from enum import StrEnum


class FlagsChange(StrEnum):
    """How two lists of compiler flags differ."""

    SAME = "same"
    ORDER_ONLY = "order only"
    LOG_PATH_ONLY = "log path only"
    TARGET = "target"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class CauseKind(StrEnum):
    """One kind of cause."""

    FAILED = "failed"
    INVISIBLE = "invisible"
    NOT_USABLE = "not usable"
    EVICTED = "evicted"
    COMPILER_VERSION = "compiler version"
    TORCH_VERSION = "torch version"
    FLAGS = "flags"
    FLAGS_ORDER_ONLY = "flags: order only"
    FLAGS_LOG_PATH_ONLY = "flags: log path only"
    FLAGS_TARGET = "flags: target"
    FLAGS_ADDED = "flags: added"
    FLAGS_REMOVED = "flags: removed"
    FLAGS_CHANGED = "flags: changed"
    FLAGS_SAME = "flags: same"
    CLIENT_FORM = "client form"
    OTHER_ROOT = "other root"
    WORLD_SIZE = "world size"
    DTYPE = "dtype"
    BATCH_SIZE = "batch size"
    SEQUENCE_LENGTH = "sequence length"
    MODEL_SIZE = "model size"
    SHAPES = "shapes"
    LAYERS = "layers"
    GRAPH_SPLIT = "graph split"
    OPTIMIZER = "optimizer"
    OPERATORS = "operators"
    ORDER = "order"
    INPUTS = "inputs"
    OUTPUT = "output"
    CONSTANT = "constant"
    SAME_STRUCTURE = "same structure"
    EXTRA_GRAPH = "extra graph"
    NOTHING_NEAR = "nothing near"

    @classmethod
    def of_flags(cls, change: FlagsChange) -> CauseKind:
        """The cause that a change of flags is."""
        return cls(f"{cls.FLAGS}: {change}")
