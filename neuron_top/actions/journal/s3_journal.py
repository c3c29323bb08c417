"""The journal of a cache in S3. It is like that in a folder's trash, but lies in the state folder of whoever acts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from neuron_top import private_files
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.trash import Trash
from neuron_top.errors import RefusedForSafety


class BucketJournal(Trash):
    """The journal of one bucket or prefix. The bucket itself keeps what is deleted, if it keeps versions."""

    def __init__(self, url: str, state: Path) -> None:
        super().__init__(state)
        self.folder = state / "s3-journal" / hashlib.sha256(url.encode()).hexdigest()[:16]
        self.journal = self.folder / "journal.jsonl"

    def prepare(self) -> None:
        """Make its folder. Raises RefusedForSafety."""
        try:
            for folder in (self.folder.parent.parent, self.folder.parent, self.folder):
                private_files.make_folder(folder)
        except OSError as problem:
            raise RefusedForSafety(f"the journal {self.folder} cannot be made: {problem.strerror}") from None

    def check_there(self) -> None:
        """See Trash: nothing to check, as the journal does not lie beside the cache."""

    def _make_room(self) -> None:
        """See Trash: does nothing. A bucket is never full, and the state folder has no reserve."""

    def _lying(self, history: PlanHistory) -> frozenset[str] | None:
        """See Trash: what the last undo could not bring back. None before an undo, when the journal says what went."""
        return frozenset(path for path, _ in history.restored.kept) if history.restored else None

    def holds(self, history: PlanHistory) -> bool:
        """See Trash: the bucket is asked when it is undone."""
        return bool(history.moves)
