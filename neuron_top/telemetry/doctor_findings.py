"""The doctor's possible findings, as codes with values; `views/doctor_sentences.py` has their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import NamedTuple

import msgspec


class CheckLevel(StrEnum):
    """Whether a finding needs a person."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


class FindingCode(Enum):
    """What exactly was found. The docstrings name the values that come with it."""

    MACHINE = auto()
    """`system`, `cpus`, `memory`, `python`."""
    INSTANCE = auto()
    """The same with `instance`: the type of this machine."""
    NODE_NAME = auto()
    """`name`, `origin`."""
    JOB_NAME = auto()
    """The same."""
    # Devices, their driver and tools
    NO_DEVICE = auto()
    TOOL_WITHOUT_DEVICE = auto()
    """`reason`: why neuron-ls lists nothing."""
    DEVICES_MISSING = auto()
    """`instance`: a type that should have some."""
    ONE_DEVICE = auto()
    DEVICES = auto()
    """`count`."""
    LISTING_FAILED = auto()
    """`reason`."""
    DRIVER_UNSEEN = auto()
    DRIVER = auto()
    """`version`."""
    COUNTERS = auto()
    """`layout`: where they lie."""
    COUNTERS_MISSING = auto()
    COUNTERS_AT_THE_END = auto()
    """`version`, `since`: the version that counts while a process lives."""
    COUNTERS_OF_ROOT = auto()
    """`count` files, `before`: the version from which on everybody may read them."""
    NODES_CLOSED = auto()
    """`paths`, `first` among them."""
    TOOL_MISSING = auto()
    """`tool`."""
    TOOL_OFF_PATH = auto()
    """`path`."""
    TOOL = auto()
    """`path`."""
    SYSTEM_PACKAGE = auto()
    """`name`, `version`."""
    OBSERVER = auto()
    """`url`, `found`: what it reported."""
    OBSERVER_SILENT = auto()
    """`url`, `reason`; nobody has asked for it."""
    OBSERVER_ASKED_FOR = auto()
    """The same, where the settings name it."""
    # Compilers and packages
    NEURON_COMPILER = auto()
    """`path`, `compiler`: its version."""
    NO_TORCH = auto()
    NO_CXX_COMPILER = auto()
    INDUCTOR_COMPILER = auto()
    """`name`, `path`."""
    PACKAGES = auto()
    """`packages`, each with its version."""
    # Caches: `root` is its `RootTitle`, `path` its path
    CACHE = auto()
    """`root`, `filesystem`, `free`."""
    CACHE_REMOTE = auto()
    """`root`."""
    CACHE_IS_FILE = auto()
    """`root`."""
    CACHE_TO_COME = auto()
    """`root`, which the first compile makes."""
    CACHE_NOT_CREATABLE = auto()
    """`root`, `path`."""
    CACHE_CLOSED = auto()
    """`path`, `owner`."""
    OTHER_CACHE_IS_FILE = auto()
    """`root`; of a kind that we only look at."""
    OTHER_CACHE_MISSING = auto()
    """`root`; the same."""
    CACHE_REPLACED = auto()
    """`path`, `user_root` that is used in its place, `reason`, `variable` that names another."""
    CACHE_REFUSED = auto()
    """`path`, `reason`, `variable`."""
    CACHE_IN_MEMORY = auto()
    """`path`, `filesystem`."""
    CACHE_SHARED = auto()
    """`path`, `reason`."""
    DISK_FULL = auto()
    """`path`, `free`, `total`."""
    FEW_INODES = auto()
    """`path`, `count`."""
    CACHES_DIFFER = auto()
    """`others`: those of running jobs; `path`: that of this shell."""
    # Jobs and variables: `job` is a `JobName`
    JOB_UNREADABLE = auto()
    """`job`."""
    JOB = auto()
    """`job`, `variables`."""
    JOB_WARNING = auto()
    """`job`, `warning`."""
    VARIABLE = auto()
    """`variable`, `value`."""
    VARIABLE_WARNING = auto()
    """`warning`."""
    VARIABLE_UNKNOWN = auto()
    """`variable`."""
    VARIABLE_NEARLY = auto()
    """`variable`, `nearest`: the name that exists."""
    CORE_COUNT_UNUSED = auto()
    TARGET_MISSING = auto()
    WARM_CACHE_OFF = auto()
    # Recordings, terminal, limits, database
    RECORDINGS = auto()
    """`path`, `free`."""
    RECORDINGS_IMPOSSIBLE = auto()
    """`path`."""
    NO_TERMINAL = auto()
    TERMINAL = auto()
    """`kind`, `columns`, `lines`, `encoding`."""
    TERMINAL_ENCODING = auto()
    """`encoding`."""
    TERMINAL_UNNAMED = auto()
    TERMINAL_SMALL = auto()
    FEW_OPEN_FILES = auto()
    """`count`."""
    FEW_WATCHES = auto()
    """`count`."""
    DATABASE = auto()
    """`place`, `offset` of this clock in seconds."""
    DATABASE_UNUSABLE = auto()
    """`problem`."""


class RootTitle(msgspec.Struct, frozen=True):
    """The name by which a cache root is called."""

    cache: str | None
    path: str
    origin: str
    in_force: bool
    """A job started here would use it."""
    used_by: tuple[int, ...]


class JobName(msgspec.Struct, frozen=True):
    """The name by which a running process is called."""

    pid: int
    name: str
    user: str


class Version(msgspec.Struct, frozen=True):
    """A version by its numbers."""

    numbers: tuple[int, ...]


FindingValue = str | int | float | tuple[str, ...] | Mapping[str, str] | RootTitle | JobName | Version | None
FindingValues = Mapping[str, FindingValue]
"""Values by name, as the codes say; None or empty where there was none."""


class CodedFinding(NamedTuple):
    """What a check found."""

    check: str
    level: CheckLevel
    code: FindingCode
    values: FindingValues
