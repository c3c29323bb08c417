"""TorchNeuron's cache in a folder of this machine: an entry is one file, its locks lie in another tier."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.backends.local import LocalBackend
from neuron_top.cache import torch_neuron
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.processes import read_processes
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.catalog import Sums
from neuron_top.errors import UsageError
from neuron_top.escapes import visible

if TYPE_CHECKING:  # a listing needs nothing of what changes a cache
    from neuron_top.actions.plan import Outcome, Plan


class TorchNeuronBackend(LocalBackend):
    """See CacheBackend. It is scanned whole each time, as it has no graphs, flags or logs that take long to read."""

    keeps_graphs = False

    def snapshot(self, *, rescan: bool = False) -> Snapshot:
        """See CacheBackend."""
        return torch_neuron.scan(self.root, processes=read_processes())

    def sums(self, *, rescan: bool = False) -> tuple[Sums, Filesystem]:
        """See CacheBackend."""
        snapshot = self.snapshot()
        return catalog.sums_of(snapshot), snapshot.filesystem

    def execute(self, plan: Plan, options: ExecuteOptions) -> Outcome:
        """See CacheBackend: renames of single files into the trash."""
        from neuron_top.actions.execution import neff_files

        return neff_files.execute(plan, self.trash(), options)

    def copy_target(self) -> NoReturn:
        """See CacheBackend: there is none. TorchNeuron has a shared tier, and plain copies of its files work."""
        raise UsageError(
            f"{visible(self.root)} is TorchNeuron's cache, whose entries are plain files: copy them with rsync, or set "
            f"{torch_neuron.SHARED} to a folder that machines share"
        )
