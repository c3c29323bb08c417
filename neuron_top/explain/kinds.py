"""What can explain a miss: one name for each, in JSON, on screens and in comparisons.

A kind is what others compare; a code is finer and has a sentence of its own in `views.miss_sentences`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum, StrEnum, auto

import msgspec

from neuron_top.cache.model.failures import FailureClass
from neuron_top.cache.model.states import State
from neuron_top.explain.flag_changes import FlagsChange, FlagsDifference


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
    FLAGS_SPELLING_ONLY = "flags: spelling only"
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


class CauseCode(Enum):
    """What exactly was found. `CauseValues` says with which values."""

    NO_ENTRY = auto()
    """Nothing of that name is here, so there is no graph to compare."""
    NONE_ALIKE = auto()
    """`compared` graphs were read, and none is near."""
    NOTHING_BEFORE = auto()
    EXTRA_GRAPH = auto()
    FAILED = auto()
    """Its compile, and the cache serves the failure; nothing more is known of it."""
    FAILED_WITH_MESSAGE = auto()
    """`message`, `failure`: its class."""
    FAILED_WITHOUT_MESSAGE = auto()
    """`failure`."""
    INVISIBLE = auto()
    NOT_USABLE = auto()
    """`state`."""
    EVICTED = auto()
    """`user`, `host`, `at`, `verb`, `policy`, `plan`."""
    EVICTED_FOR_GOOD = auto()
    """The same, and the trash was emptied since."""
    OTHER_COMPILER = auto()
    """`cached`, `wanted`: compilers."""
    OTHER_COMPILER_TOO = auto()
    """The same, beside another cause."""
    OTHER_TORCH = auto()
    """`before`, `now`: versions."""
    OTHER_FLAGS = auto()
    """`flags`: the difference."""
    OTHER_FLAGS_TOO = auto()
    """The same, beside another cause."""
    OTHER_FLAGS_HERE = auto()
    """`flags`: those of the entry that is here; those that were wanted are not known."""
    OTHER_FLAGS_UNKNOWN = auto()
    FLAGS_FILE_FORM = auto()
    KEY_FORM = auto()
    OTHER_ROOT = auto()
    """`root`."""
    SAME_STRUCTURE = auto()
    WORLD_SIZE = auto()
    """`before`, `now`: groups of workers."""
    DTYPE_OF_MOST = auto()
    """`before`, `now`."""
    DTYPE_OF_INPUTS = auto()
    """`count`, `dtypes`."""
    ORDER = auto()
    SPLIT = auto()
    """`before`, `now`: operators."""
    MERGED = auto()
    """The same."""
    LAYERS = auto()
    """`before`, `now`: inputs; `products`: how many matrix products more."""
    LAYERS_UPDATED = auto()
    """`before`, `now`: inputs of a graph that updates weights."""
    OPTIMIZER = auto()
    """`operators`: more and fewer."""
    MORE_OPERATORS = auto()
    FEWER_OPERATORS = auto()
    OTHER_OPERATORS = auto()
    MORE_INPUTS = auto()
    """`count`, `arrays`."""
    FEWER_INPUTS = auto()
    INNER_SHAPES = auto()
    """`operator`, `before`, `now`."""
    CONSTANTS = auto()
    """`count`, `examples`."""
    MORE_RESULTS = auto()
    """`count`."""
    FEWER_RESULTS = auto()
    MORE_RESULTS_LIKE = auto()
    """`count`, `example`."""
    FEWER_RESULTS_LIKE = auto()
    RANK_OF_INPUTS = auto()
    """This and those below: `examples`."""
    SHAPES_OF_FEW_WEIGHTS = auto()
    SHAPES_OF_WEIGHTS = auto()
    BATCH = auto()
    LENGTH = auto()
    LENGTH_OR_IMAGE = auto()
    BATCH_AND_LENGTH = auto()


class Became(msgspec.Struct, frozen=True):
    """One value that is another now: a shape, a number; `name`: the operator it belongs to, "" where it is an input."""

    before: str
    now: str
    name: str = ""


CauseValue = str | int | datetime | State | FailureClass | FlagsDifference | tuple[Became, ...]
CauseValues = Mapping[str, CauseValue]
"""Values by name, as the codes say; an empty text where there was none."""
