"""A small file that several programs change: one at a time, also while it is deleted."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec

from neuron_top.store.state_file import StateFile

ROUNDS = 150


def number_file(path: Path) -> StateFile[int]:
    return StateFile(path, msgspec.json.Decoder(int), 0, "a number")


def test_a_deleted_file_leaves_nothing_and_is_empty(tmp_path: Path) -> None:
    file = number_file(tmp_path / "state" / "number.json")
    assert file.change(lambda number: number + 1) == 1
    file.delete()
    assert list((tmp_path / "state").iterdir()) == []
    assert file.read() == 0
    file.delete()
    assert file.change(lambda number: number + 1) == 1


def test_whoever_changes_a_file_that_others_delete_is_alone(tmp_path: Path) -> None:
    inside, together = list[int](), list[int]()

    def plus_one(number: int) -> int:
        inside.append(1)
        together.append(len(inside))
        time.sleep(0.0005)
        inside.pop()
        return number + 1

    def change() -> None:
        for _ in range(ROUNDS):
            number_file(tmp_path / "number.json").change(plus_one)

    def delete() -> None:
        for _ in range(ROUNDS):
            number_file(tmp_path / "number.json").delete()

    threads = [threading.Thread(target=work) for work in (change, change, change, delete)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert len(together) == 3 * ROUNDS
    assert max(together) == 1
