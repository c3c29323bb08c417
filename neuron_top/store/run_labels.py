"""What a person says of recordings: a name, tags, a star, a note; kept in a file of the state folder.

The file is replaced as a whole under a lock, so that terminal, web and command line may write at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.errors import FileMalformed, RefusedForSafety, UsageError

FILE_NAME = "run-labels.json"
LONGEST_NAME = 80
LONGEST_TAG = 40
LONGEST_NOTE = 2000
MOST_TAGS = 20


class RunLabels(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The labels of one recording."""

    name: str = ""
    """Empty: the name that it was recorded under."""
    tags: tuple[str, ...] = ()
    starred: bool = False
    note: str = ""


NO_LABELS = RunLabels()
_labels = msgspec.json.Decoder(dict[str, RunLabels])  # made once, in one thread: see `cache/scan/index.py`


class LabelFile:
    """The labels of one state folder, by id of the recording."""

    def __init__(self, state: Path) -> None:
        self.path = state / FILE_NAME

    def all(self) -> dict[str, RunLabels]:
        """Every label. Raises FileMalformed, RefusedForSafety: a file that cannot be read is not written over."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise RefusedForSafety(f"the labels in {self.path} cannot be read ({problem.strerror})") from None
        try:
            return _labels.decode(data)
        except (msgspec.MsgspecError, RecursionError) as problem:
            raise FileMalformed(self.path, f"labels of recordings ({problem})") from None

    def known(self) -> dict[str, RunLabels]:
        """As `all`; none where they cannot be read: a list of recordings is shown without them."""
        with contextlib.suppress(FileMalformed, RefusedForSafety):
            return self.all()
        return {}

    def change(self, run: str, change: Callable[[RunLabels], RunLabels]) -> RunLabels:
        """Give a recording other labels. Raises UsageError for a long one, RefusedForSafety, FileMalformed."""
        with self._alone():
            labels = self.all()
            before = labels.pop(run, NO_LABELS)
            new = _checked(change(before))
            if new != before:
                self._write(labels if new == NO_LABELS else {**labels, run: new})
        return new

    def forget(self, run: str) -> None:
        """Drop the labels of a recording that was deleted."""
        if run in self.known():
            self.change(run, lambda _labels: NO_LABELS)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with contextlib.ExitStack() as stack:
                private_files.make_folder(self.path.parent)
                handle = private_files.open_file(self.path.with_suffix(".lock"), os.O_RDWR)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield
        except OSError as problem:
            raise RefusedForSafety(f"not changed: {self.path} cannot be written ({problem.strerror})") from None

    def _write(self, labels: dict[str, RunLabels]) -> None:
        scratch = self.path.with_suffix(".tmp")  # one name: we are alone, and a killed writer's is written over
        with open(private_files.open_file(scratch, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(labels), indent=2) + b"\n")
        scratch.replace(self.path)


def _checked(labels: RunLabels) -> RunLabels:
    """One line for name and tags, no tag twice. Raises UsageError."""
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
