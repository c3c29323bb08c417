"""Samples the worker processes of a local job, each shown as the core it stands for.

A launcher names each worker's place in the environment (LOCAL_RANK of torchrun and its relatives), so that is how they
are found; a child that inherits the variables belongs to its worker and is not a worker itself. A job in which no
process was given a place has one worker: its largest process, unless that is a launcher whose workers are still to
come.

Memory is the unique set size. The kernel walks every page of a process for it, so large processes are read less often:
reading all workers takes at most one percent of one CPU, and in between the last reading counts. The peak is the
highest reading, a lower bound of the true one. Utilization is processor seconds per second, 1 when a whole CPU or more
is kept busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from neuron_top.events import AnyEvent, CoreKind, CoreSample, CoresSampled, ProcessExited, ProcessRole, ProcessSeen
from neuron_top.parsers.secrets import without_secrets
from neuron_top.process_stat import ProcessStat, stat_of
from neuron_top.processes import proc
from neuron_top.telemetry.worker_placement import LONE, WorkerPlacement, is_compiler, is_launcher, module_in, place_of

_SHARE_FOR_MEMORY = 0.01
_SHARE_FOR_TREE = 0.003
"""Shares of one CPU for reading memory, and for reading the tree of processes."""
_YOUNG_SECONDS = 10.0
"""Between fork and exec a process still shows its parent's environment and command: young processes are read again, and
apparent launchers always, since otherwise a worker that such a process is about to become would be missed."""
_SETTLED_SECONDS = 2.0
"""Age in seconds below which a process is not yet taken for the one that does the work."""


class _Member(msgspec.Struct):
    """The remembered facts about one process of the job."""

    stat: ProcessStat
    command: str = ""
    role: ProcessRole = ProcessRole.UNKNOWN
    place: WorkerPlacement | None = None
    memory: int | None = None
    peak: int | None = None
    memory_due: float = 0.0
    sampled_at: float = 0.0


class WorkerSampler:
    """Samples a job's processes; `look` is called once per period and returns changes and measurements."""

    def __init__(
        self,
        roots: Callable[[], Iterable[int]],
        *,
        period: float = 1.0,
        placed_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`roots`: the processes that make up the job together with all their descendants.

        `placed_only`: show only processes with a placement, if the roots may not be one job.
        """
        self._roots, self._period, self._placed_only, self._clock = roots, period, placed_only, clock
        self._members: dict[int, _Member] = {}
        self._tree_due = 0.0
        self._boot = proc.boot_time()

    def look(self) -> list[AnyEvent]:
        """Events for processes that came and went, and one sample of all workers, if there are any."""
        began = self._clock()
        events: list[AnyEvent] = []
        if began >= self._tree_due:
            busy = time.thread_time()
            events.extend(self._look_at_tree())
            self._tree_due = began + (time.thread_time() - busy) / _SHARE_FOR_TREE
        events.extend(self._drop_the_gone())
        sample = [self._sampled(member, member.place) for member in self._members.values() if member.place]
        if sample:
            sample.sort(key=lambda core: (core.core, core.pid or 0))
            events.append(CoresSampled(kind=CoreKind.LOCAL, cores=tuple(sample), period=self._period, source="workers"))
        return events

    def _look_at_tree(self) -> Iterator[AnyEvent]:
        top = [*self._roots(), *self._members]
        if not top:  # a machine without a job: there is no tree to read
            return
        stats = {stat.pid: stat for pid in proc.process_ids() if (stat := stat_of(pid))}
        for stat in _descendants(stats, top):
            known = self._members.get(stat.pid)
            if known is None or known.stat.started != stat.started:
                self._members[stat.pid] = known = _Member(stat, sampled_at=self._clock())
            young = not known.command or self._age(stat) < _YOUNG_SECONDS
            if known.role is ProcessRole.LAUNCHER or (not known.role and young):
                yield from self._classify(known)
        yield from self._choose_lone_worker(stats)

    def _age(self, stat: ProcessStat) -> float:
        return time.time() - (self._boot + stat.started)

    def _classify(self, member: _Member) -> Iterator[AnyEvent]:
        """Decide the role of a process; most have none (data loaders, shells, helpers)."""
        member.command = without_secrets(proc.command_of(member.stat.pid) or member.command)
        above = [other.role for other in self._ancestors(member)]
        if is_compiler(member.command):
            role = ProcessRole.UNKNOWN if ProcessRole.COMPILER in above else ProcessRole.COMPILER
        elif ProcessRole.WORKER in above or ProcessRole.COMPILER in above:
            role = ProcessRole.UNKNOWN
        else:
            member.place = place_of(proc.environment_of(member.stat.pid) or {})
            launcher = ProcessRole.LAUNCHER if is_launcher(member.command) else ProcessRole.UNKNOWN
            role = ProcessRole.WORKER if member.place else launcher
        before, member.role = member.role, role
        if role and role != before:
            yield self._seen(member)

    def _ancestors(self, member: _Member) -> Iterator[_Member]:
        """The members above one. The id of a parent that ended may have gone to a descendant: each is met once."""
        met = {member.stat.pid}
        parent = self._members.get(member.stat.parent)
        while parent is not None and parent.stat.pid not in met:
            yield parent
            met.add(parent.stat.pid)
            parent = self._members.get(parent.stat.parent)

    def _choose_lone_worker(self, stats: dict[int, ProcessStat]) -> Iterator[AnyEvent]:
        """If no process has a placement, let the largest one stand for core 0 from then on."""
        if self._placed_only or any(
            member.role in (ProcessRole.WORKER, ProcessRole.LAUNCHER) for member in self._members.values()
        ):
            return
        candidates = [member for member in self._members.values() if member.command and not member.role]
        if not candidates:
            return
        largest = max(candidates, key=lambda member: stats[member.stat.pid].resident if member.stat.pid in stats else 0)
        if len(candidates) == 1 or self._age(largest.stat) > _SETTLED_SECONDS:
            largest.role, largest.place = ProcessRole.WORKER, LONE
            yield self._seen(largest)

    def _seen(self, member: _Member) -> ProcessSeen:
        place = member.place
        return ProcessSeen(
            pid=member.stat.pid,
            role=member.role,
            rank=place.rank if place else None,
            local_rank=place.local_rank if place else None,
            world_size=place.world_size if place else None,
            command=member.command,
            started=self._boot + member.stat.started,
            module=module_in(member.command) if member.role is ProcessRole.COMPILER else None,
            source="workers",
        )

    def _drop_the_gone(self) -> Iterator[AnyEvent]:
        for pid, member in list(self._members.items()):
            stat = stat_of(pid)
            if stat is None or stat.state == "Z" or stat.started != member.stat.started:
                del self._members[pid]
                if member.role:
                    yield ProcessExited(pid=pid, source="workers")

    def _sampled(self, member: _Member, place: WorkerPlacement) -> CoreSample:
        pid, now = member.stat.pid, self._clock()
        stat = stat_of(pid)
        utilization = None
        if stat is not None and now > member.sampled_at:
            busy = (stat.cpu_seconds - member.stat.cpu_seconds) / (now - member.sampled_at)
            utilization = min(1.0, max(0.0, busy))
            member.stat, member.sampled_at = stat, now
        if now >= member.memory_due:
            busy = time.thread_time()
            member.memory = proc.unique_bytes(pid)
            workers = sum(other.place is not None for other in self._members.values())
            member.memory_due = now + (time.thread_time() - busy) * workers / _SHARE_FOR_MEMORY
            member.peak = max(filter(None, (member.peak, member.memory)), default=None)
        return CoreSample(
            core=place.core,
            utilization=utilization,
            memory=member.memory,
            peak=member.peak,
            pid=pid,
            rank=place.rank,
            process=member.command,
        )


def _descendants(stats: dict[int, ProcessStat], roots: Iterable[int]) -> list[ProcessStat]:
    """The roots that exist and everything below them, parents first."""
    children: dict[int, list[ProcessStat]] = {}
    for stat in stats.values():
        children.setdefault(stat.parent, []).append(stat)
    found: dict[int, ProcessStat] = {}
    waiting = [stats[pid] for pid in roots if pid in stats]
    while waiting:
        stat = waiting.pop(0)
        if stat.pid not in found:
            found[stat.pid] = stat
            waiting.extend(children.get(stat.pid, ()))
    return list(found.values())
