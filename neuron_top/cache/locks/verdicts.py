"""Decides whether the holder of a lock is alive: collects the evidence, and judges what it proves.

The SDK's lock is an empty file without an owner, and its age alone proves nothing. A verdict needs proof of life (a
compiler that names the key, a work folder that grows, a living process that has the file locked or open for writing) or
proof of death (the lock is older than the machine's last start; or nobody uses this cache any more; or there is no
process, no growth, and the lock is older than the longest compile known). Our own locks name their holder. On shared
file systems, one host cannot prove death. Without proof, the verdict is unknown.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from neuron_top.cache import filesystem, processes, work_dirs
from neuron_top.cache.locks import lock_holders, lock_owner, protocol
from neuron_top.cache.locks.lock_holders import Held
from neuron_top.cache.locks.lock_owner import LockOwner
from neuron_top.cache.locks.protocol import EntryFolder
from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import Entry, Lock
from neuron_top.cache.model.states import Holder
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.use import CacheUse
from neuron_top.cache.users import users_of
from neuron_top.plain_files import kind_text
from neuron_top.units import counted

QUIET_AGE = 15 * 60.0
"""Seconds. If nobody uses the cache, a lock older than this is dead."""
GROWTH_SECONDS = 5 * 60.0
"""A work folder that changed within this time counts as growing."""
LONGEST_COMPILE = 3 * 3600.0
"""Default for the longest compile known, in seconds."""
RECENT_CHANGE = 10 * 60.0


class LockEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence on all locks of a root, collected at one time."""

    now: float
    boot: float | None = None
    shared: bool = False
    why_shared: str | None = None
    processes: tuple[CacheProcess, ...] = ()
    use: CacheUse | None = None
    """Who uses the root; None: nobody was seen."""
    unseen: int = 0
    """Number of processes whose open files we may not see."""
    work_newest: dict[str, float] = {}
    """Module → when its work folder last changed, in seconds since the epoch."""
    work_open: dict[str, int] = {}
    """Module → pid of a process that has a file of the module's work folder open."""
    longest_compile: float = LONGEST_COMPILE


def lock_verdict(
    module: str, since: float, evidence: LockEvidence, owner: Lock | None = None, held: Held | None = None
) -> Lock:
    """The lock of `module`, which is there since `since`, with a verdict from the evidence.

    `owner`: the verdict from our own record of the owner, if there is one; `held`: what the kernel says of the file.
    Proof of life goes first. But a process that only has the file open does not count against a record whose process
    has ended.
    """
    if owner is not None and owner.verdict is Holder.ALIVE:
        return owner
    if held is not None and (held.locked or owner is None or owner.verdict is not Holder.DEAD):
        return Lock(since, Holder.ALIVE, held.proof, f"pid {held.pid}" if held.pid is not None else None)
    if owner is not None and owner.verdict is not Holder.UNKNOWN:
        return owner
    life = _life(module, evidence)
    if life is not None:
        proof, holder = life
        return Lock(since, Holder.ALIVE, proof, holder)
    death = _death(module, since, evidence, elsewhere=owner is not None)
    named = owner.owner if owner is not None else None
    if death is not None:
        return Lock(since, Holder.DEAD, death, named)
    return Lock(since, Holder.UNKNOWN, None, named)


def _life(module: str, evidence: LockEvidence) -> tuple[str, str | None] | None:
    """(proof that the holder is alive, the holder if known); None if nothing proves it."""
    for process in evidence.processes:
        if process.is_compiling(module):
            return f"process {process.pid} names the graph in its command", f"pid {process.pid}"
    changed = evidence.work_newest.get(module)
    if changed is not None and evidence.now - changed < GROWTH_SECONDS:
        return f"its work folder changed {max(0, round(evidence.now - changed))} s ago", None
    if module in evidence.work_open:
        pid = evidence.work_open[module]
        return f"process {pid} has a file of its work folder open", f"pid {pid}"
    return None


def _death(module: str, since: float, evidence: LockEvidence, *, elsewhere: bool) -> str | None:
    """The proof that the holder is dead; None if nothing proves it.

    `elsewhere`: the lock names a holder that cannot be judged from here, so it proves nothing that nobody was seen.
    """
    if evidence.shared:
        return None
    if evidence.boot is not None and since < evidence.boot:
        return "it is older than the last start of this machine"
    age = evidence.now - since
    others = counted(evidence.unseen, "process", "processes")
    unseen = f" (of {others}, only the command could be seen)" if evidence.unseen else ""
    if evidence.use is None and not elsewhere and age > QUIET_AGE:
        return f"nobody uses this cache and the lock is older than 15 minutes{unseen}"
    if age > evidence.longest_compile:
        return f"no process names the graph, no work folder grows, and no compile took so long yet{unseen}"
    return None


def evidence_on(
    root: str,
    modules: Iterable[str],
    *,
    proc: str = "/proc",
    tmp: str | None = None,
    environ: Mapping[str, str] = os.environ,
    changes: Iterable[float] = (),
    now: float | None = None,
) -> LockEvidence:
    """Collect the evidence on this machine about the locked `modules` of one root. Writes nothing; takes a few
    milliseconds per hundred processes.

    `changes`: mtimes seen below the root, without those of the locks themselves. Times far ahead do not count: they are
    from a clock that was wrong.
    """
    now = time.time() if now is None else now
    modules = list(modules)
    disk = filesystem.describe(root, proc)
    running, boot = processes.read_processes(proc), processes.boot_time(proc)
    users = users_of(root, modules, running, boot, proc)
    use = users.use
    if use is None and any(abs(now - change) < RECENT_CHANGE for change in changes):
        # Nobody is seen, but somebody may work in another container. All we know is that a file just changed.
        why = "somebody may use this cache, as a file below it changed in the last ten minutes"
        use = CacheUse(why=why, certain=False, since=now - RECENT_CHANGE)
    return LockEvidence(
        now=now,
        boot=boot,
        shared=disk.shared,
        why_shared=disk.why_shared,
        processes=tuple(running),
        use=use,
        unseen=users.unseen,
        work_newest=work_dirs.newest_by_module(modules, environ, tmp),
        work_open=users.work_open,
    )


def verdicts_of(root: str, locked: Sequence[Entry], changes: Iterable[float]) -> dict[str, Lock]:
    """Entry path → its lock with a verdict, from what runs on this machine now. For `changes`, see `evidence_on`."""
    evidence = evidence_on(root, {entry.module for entry in locked}, changes=changes)
    holders = _holders(root, locked)
    return {
        entry.path: lock_verdict(
            entry.module,
            entry.lock.since,
            evidence,
            owner_of(root, entry) or _unholdable(root, entry),
            holders.get(entry.path),
        )
        for entry in locked
        if entry.lock is not None
    }


def _holders(root: str, locked: Sequence[Entry]) -> dict[str, Held]:
    """Entry path → who holds its lock file."""
    found = lock_holders.find(root, (f"{entry.path}/{name}" for entry in locked for name in filenames.LOCK_NAMES))
    return {path.rpartition("/")[0]: held for path, held in found.items()}


def owner_of(root: str, entry: Entry) -> Lock | None:
    """The verdict from our own record in or beside the lock; None for a lock of the SDK's, which names nobody."""
    if entry.lock is None:
        return None
    folder = EntryFolder.at(f"{root}/{entry.path}")
    owners = (protocol.owner_of(folder, name) for name in filenames.LOCK_NAMES)
    return next((_owned(entry.lock.since, owner) for owner in owners if owner is not None), None)


def _unholdable(root: str, entry: Entry) -> Lock | None:
    """The verdict DEAD on a lock that is neither a file, as clients make it, nor a link, whose target may be held."""
    if entry.lock is None:
        return None
    for name in filenames.LOCK_NAMES:
        with contextlib.suppress(OSError):
            mode = os.lstat(f"{root}/{entry.path}/{name}").st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                return Lock(
                    entry.lock.since, Holder.DEAD, f"it is {kind_text(mode)}, which no client makes as its lock"
                )
    return None


def _owned(since: float, owner: LockOwner) -> Lock:
    named = f"pid {owner.pid} on {owner.host}"
    alive = lock_owner.is_alive(owner)
    if alive is None:
        return Lock(since, Holder.UNKNOWN, None, named)
    if alive:
        return Lock(since, Holder.ALIVE, f"its holder, process {owner.pid}, lives", named)
    return Lock(since, Holder.DEAD, f"its holder, process {owner.pid}, has ended", named)
