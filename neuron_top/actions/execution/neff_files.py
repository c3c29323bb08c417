"""Executes a plan in TorchNeuron's cache: each entry is one file, taken by one rename while its lock is held.

A client reads a NEFF whole from one open file, so a rename never leaves it with half of one: it gets a hit or a miss.
Locks are taken nevertheless, in every tier that has the key's lock file: whoever holds one compiles the key, and is
about to store it.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence

from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution.local import OWN, Execution
from neuron_top.actions.execution.preconditions import check_preconditions
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.open_entries import StaleEntryError
from neuron_top.actions.plan import Action, Outcome, Plan, Step
from neuron_top.actions.reasons import NotDoneCode
from neuron_top.cache import torch_neuron
from neuron_top.cache.locks import lock_holders
from neuron_top.cache.model.entry import key_of_neff
from neuron_top.cache.processes import read_processes
from neuron_top.plain_files import open_plain


def execute(plan: Plan, trash: Trash, options: ExecuteOptions) -> Outcome:
    """Execute `plan`, as `execution.local.execute` does. Raises RefusedForSafety."""
    check_preconditions(plan, os.path.realpath(plan.root), str(trash.root), OWN, read_only=options.read_only)
    with trash.exclusively(resuming=plan.identity), _NeffExecution(plan, trash, options) as execution:
        execution.run()
        return execution.outcome()


class _NeffExecution(Execution):
    @functools.cached_property
    def _lock_folders(self) -> Sequence[str]:
        return torch_neuron.lock_folders(str(self.trash.root), os.environ, read_processes())

    def _carry_out(self, step: Step, *, resumed: bool) -> bool:
        if step.action is not Action.EVICT:
            raise StaleEntryError(NotDoneCode.IMPOSSIBLE, step.action)
        if resumed and self._is_done(step):
            return False
        self.check_unpinned(step)
        with self.root.file(step.path) as neff:
            neff.check(step.fingerprint)
            self._check_quiet(step)
            with self._locked(key_of_neff(step.path)):
                neff.check_unused(self.since, step.last_used if self.has_access_times else None)
                neff.rename_into(self.trashed_files.above(step.path))
        return True

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """Hold the key's lock in every tier that has its file. Raises StaleEntryError if somebody else holds it."""
        with contextlib.ExitStack() as held:
            for folder in self._lock_folders:
                with contextlib.suppress(FileNotFoundError):
                    handle = open_plain(f"{folder}/{key}.lock", os.O_RDWR)
                    held.callback(os.close, handle)
                    if problem := lock_holders.of_open_file(handle):
                        raise StaleEntryError(NotDoneCode.HOLDER_ALIVE, problem)
            yield
