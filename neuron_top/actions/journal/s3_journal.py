"""The journal of a cache in S3. It lies in the state folder of whoever acts."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path

from neuron_top import private_files
from neuron_top.actions.journal.journal import Journal
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.errors import RefusedForSafety


class BucketJournal(Journal):
    """The journal of one bucket or prefix. The bucket itself keeps what is deleted, if it keeps versions."""

    def __init__(self, url: str, state: Path) -> None:
        super().__init__(url, state / "s3-journal" / hashlib.sha256(url.encode()).hexdigest()[:16])

    def prepare(self) -> None:
        """See Journal."""
        try:
            for folder in (self.folder.parent.parent, self.folder.parent, self.folder):
                private_files.make_folder(folder)
        except OSError as problem:
            raise RefusedForSafety(f"the journal {self.folder} cannot be made: {problem.strerror}") from None

    def check_there(self) -> None:
        """See Journal: nothing to check, as the journal does not lie beside the cache."""

    def _lying(self, history: PlanHistory) -> frozenset[str] | None:
        """See Journal: what the last undo could not bring back. None before an undo: the journal says what went."""
        return frozenset(path for path, _ in history.restored.kept) if history.restored else None

    def _lost(self, known: Collection[str]) -> Iterable[PlanHistory]:
        """See Journal: none, as nothing that was taken lies here."""
        return ()

    def holds(self, history: PlanHistory) -> bool:
        """See Journal: the bucket is asked when it is undone."""
        return bool(history.moves)
