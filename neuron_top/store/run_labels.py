"""A person's labels for recordings: name, tags, star, note; kept in a file of the state folder.

Terminal, web and command line may write at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from neuron_top.errors import UsageError
from neuron_top.store.state_file import StateFile

FILE_NAME = "run-labels.json"
LONGEST_NAME = 80
LONGEST_TAG = 40
LONGEST_NOTE = 2000
MOST_TAGS = 20


class RunLabels(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The labels of one recording."""

    name: str = ""
    """Empty: keep the name that it was recorded under."""
    tags: tuple[str, ...] = ()
    starred: bool = False
    note: str = ""


NO_LABELS = RunLabels()
_labels = msgspec.json.Decoder(dict[str, RunLabels])  # made once and in one thread, see `cache/scan/index.py`


class LabelFile:
    """The labels of one state folder, by the id of the recording."""

    def __init__(self, state: Path) -> None:
        self._file = StateFile(state / FILE_NAME, _labels, {}, "labels of recordings")

    def all(self) -> dict[str, RunLabels]:
        """All labels. Raises FileMalformed, RefusedForSafety, so that an unreadable file is not overwritten."""
        return self._file.read()

    def known(self) -> dict[str, RunLabels]:
        """As `all`, but empty if they cannot be read: lists of recordings are then shown without them."""
        return self._file.known()

    def change(self, run: str, change: Callable[[RunLabels], RunLabels]) -> RunLabels:
        """Change the labels of a recording. Raises UsageError for a long one, RefusedForSafety, FileMalformed."""

        def changed(labels: dict[str, RunLabels]) -> dict[str, RunLabels]:
            new = _checked(change(labels.get(run, NO_LABELS)))
            others = {name: one for name, one in labels.items() if name != run}
            return others if new == NO_LABELS else {**others, run: new}

        return self._file.change(changed).get(run, NO_LABELS)

    def forget(self, run: str) -> None:
        """Drop the labels of a recording that was deleted."""
        if run in self.known():
            self.change(run, lambda _labels: NO_LABELS)


def _checked(labels: RunLabels) -> RunLabels:
    """The labels with name and tags on one line each and no tag twice. Raises UsageError."""
    name = " ".join(labels.name.split())
    tags = tuple(dict.fromkeys(filter(None, ("-".join(tag.split()) for tag in labels.tags))))
    note = "".join(sign for sign in labels.note.strip() if sign.isprintable() or sign == "\n")
    for what, text, most in (
        ("a name", name, LONGEST_NAME),
        ("a note", note, LONGEST_NOTE),
        *(("a tag", tag, LONGEST_TAG) for tag in tags),
    ):
        if len(text) > most:
            raise UsageError(f"{what} has at most {most} characters, this one has {len(text)}")
    if len(tags) > MOST_TAGS:
        raise UsageError(f"a recording has at most {MOST_TAGS} tags")
    for text in (name, *tags):
        if not text.isprintable():
            raise UsageError("names and tags consist of printable characters")
    return RunLabels(name=name, tags=tags, starred=labels.starred, note=note)
