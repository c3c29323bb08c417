"""Decides which logs belong to one job. Each is a job of its own, unless names, folders or contents show otherwise.

A log and its rotated files (`train.log`, `train.log.1`, `train.log.2.gz`) are one log, however long it took to fill
them. Evidence between logs, in this order: files of one folder that torchrun wrote (`--log-dir`), one Slurm job (its
number in names or contents), rank files of one launch (`rank0.log`, `rank1.log`; `rank0/train.log`, `rank1/train.log`),
both outputs of one command (`.out`, `.err`).
Files with similar names whose first lines are more than a day apart are not from one launch. A number alone is no
evidence: it may be a date.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from neuron_top.ingest.rotated import COMPRESSED, log_of
from neuron_top.parsers import timestamps
from neuron_top.plain_files import is_file

DAY_SECONDS = 86_400.0
HEAD_BYTES = 64 << 10
"""Bytes of a log that are searched for its first timestamp and the number of its batch job."""
_TORCHRUN = re.compile(r"(?P<run>.+?)/(?:attempt_)?\d+/\d+/std(?:out|err)\.log")
_STREAM = re.compile(r"(?:[._-]?(?:stdout|stderr)|\.(?:out|err))(?=\.|$)")
_RANK = re.compile(
    r"(?i)(?<![a-z])((?:local_?|global_?)?(?:rank|worker|proc|process|node|host|task|core))[-_.]?\d+(?!\d)"
)
_RANKS_FOLDER = re.compile(r"(?i)(?P<of>(?:local_?|global_?)?rank|node)[-_.]?\d{1,6}")
"""A folder of one rank's or node's logs. Those of tasks and workers may be of experiments with nothing in common."""
_SLURM = re.compile(
    r"(?P<name>(?:.*[._-])?(?:slurm|job)[._-]?)(?P<job>\d{3,10})(?P<place>(?:[._-](?:\d{1,5}|[nrt]\d{1,5}|rank\d+|node\d+))*)"
    r"|(?P<submitit>\d{3,10})(?:_\d{1,5}){1,2}_log"
)
_SUFFIX = re.compile(r"\.(?:log|txt|out|err|stdout|stderr)$")
_SAID = re.compile(rb"(?i)\bSLURM[_ ]JOB_?ID\b[\"']?\s{0,3}[=:]\s{0,3}[\"']?(\d{1,12})")


class LogJob(NamedTuple):
    """A job, as identified from its logs."""

    id: str
    """Short, and always the same for the same logs, for use in URLs."""
    name: str


class LogHead(NamedTuple):
    """What the first lines of a log report."""

    began: float | None = None
    slurm_job: str = ""


def head_of(data: bytes) -> LogHead:
    """The first timestamp and the batch job in the first lines of a log."""
    said = _SAID.search(data)
    stamps = (timestamps.generic(line[:60].decode("utf-8", "replace")) for line in data.split(b"\n")[:400])
    began = next((stamp for stamp in stamps if stamp is not None), None)
    return LogHead(began, said[1].decode() if said else "")


class JobGroups:
    """Assigns logs to jobs as they turn up. `head` reads the first lines of a log."""

    def __init__(self, head: Callable[[str], LogHead]) -> None:
        self._head = head
        self._logs: dict[str, str] = {}
        """By file, the log that it is, or was before it was rotated."""
        self._jobs: dict[str, LogJob] = {}
        """By log."""
        self._of_key: dict[str, tuple[LogJob, float | None]] = {}
        """By evidence: the job, and when its first log began."""

    def of(self, path: str) -> LogJob:
        """The job of a log, or of a file that it was before it was rotated or compressed."""
        log = self._logs.get(path)
        if log is None:
            log = self._logs[path] = _whole_log(path)
        job = self._jobs.get(log)
        if job is None:
            job = self._jobs[log] = self._placed(log, self._head(path))
        return job

    def _placed(self, path: str, head: LogHead) -> LogJob:
        key, name = evidence(path)
        if head.slurm_job:
            key = f"slurm {head.slurm_job}"
        known = self._of_key.get(key)
        if known is None:
            job = LogJob(_identity(key, name), name)
            self._of_key[key] = job, head.began
            return job
        job, began = known
        if began is not None and head.began is not None and abs(head.began - began) > DAY_SECONDS:
            return LogJob(_identity(path, PurePath(path).name), PurePath(path).name)
        return job


def distinct_names(first_logs: Mapping[LogJob, str]) -> dict[LogJob, str]:
    """A name for each job, from the path of its first log; if several have the same name, with folders before it.

    As many folders as are needed to distinguish them (`bert/train.log`, `llama/train.log`); none if that is impossible.
    """
    several = {name for name, count in Counter(job.name for job in first_logs).items() if count > 1}
    names = {job: job.name for job in first_logs}
    for name in several:
        folders = {job: PurePath(path).parent.parts for job, path in first_logs.items() if job.name == name}
        for depth in range(1, max(map(len, folders.values())) + 1):
            tails = {job: PurePath(*parts[-depth:]) for job, parts in folders.items()}
            if len({*tails.values()}) == len(tails):
                names |= {job: str(tail / name) for job, tail in tails.items()}
                break
    return names


def evidence(path: str) -> tuple[str, str]:
    """(what logs of the same job have in common, a name for the job), as far as a path shows it."""
    launched = _TORCHRUN.fullmatch(path)
    if launched is not None:
        return f"torchrun {launched['run']}", PurePath(launched["run"]).name
    where = PurePath(path)
    stem = _SUFFIX.sub("", where.name)
    slurm = _SLURM.fullmatch(_STREAM.sub("", stem))
    if slurm is not None and not _is_array_task(slurm):
        name = slurm["submitit"] or f"{slurm['name']}{slurm['job']}"
        return f"slurm {where.parent}/{name}", name
    plain = _STREAM.sub("", stem)
    ranks = _RANK.sub(lambda found: f"{found[1]}*", plain)
    if ranks != plain:
        return f"ranks {where.parent}/{ranks}", ranks
    if (folder := _RANKS_FOLDER.fullmatch(where.parent.name)) is not None:
        name = f"{folder['of']}*/{plain}"
        return f"ranks {where.parent.parent}/{name}", name
    if where.name.startswith(("stdout", "stderr")):
        return f"outputs {where.parent}", where.parent.name or where.name
    twin = _STREAM.sub("", where.name)
    return (f"outputs {where.parent}/{twin}", twin) if twin != where.name else (path, where.name)


def _whole_log(path: str) -> str:
    """The log that a rotated file belongs to, or the file itself.

    A number at the end of a name may be a rank: it counts only if the log is beside it, or a compressor's ending after.
    """
    log = log_of(path)
    return log if log and (PurePath(path).suffix in COMPRESSED or is_file(log)) else path


def _is_array_task(slurm: re.Match[str]) -> bool:
    """Whether it is Slurm's own name for a task of an array, `slurm-1234_5.out`: each of them is a job of its own."""
    return (slurm["name"] or "").endswith("slurm-") and bool(re.fullmatch(r"_\d+", slurm["place"]))


def _identity(key: str, name: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40]
    return f"job:{slug}-{zlib.crc32(key.encode('utf-8', 'surrogateescape')):08x}"
