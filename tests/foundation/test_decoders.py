"""Decoders that are made when they are first needed."""

from __future__ import annotations

import threading

import msgspec
import pytest

from neuron_top import decoders
from neuron_top.decoders import LateDecoder


class Leaf(msgspec.Struct, tag=True):
    green: int


class Stone(msgspec.Struct, tag=True):
    gray: int


def test_it_is_made_once_whoever_needs_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = msgspec.json.Decoder

    def making(kind: type) -> object:
        made.append(kind)
        return real(kind)

    monkeypatch.setattr(decoders.msgspec.json, "Decoder", making)
    late: LateDecoder[Leaf | Stone] = LateDecoder(Leaf | Stone)
    assert made == []
    gate, answers = threading.Barrier(8), []

    def ask() -> None:
        first = late.decode
        gate.wait()
        answers.append(first(b'{"type":"Stone","gray":3}'))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [Stone(gray=3)] * 8
    assert len(made) == 1


def test_what_does_not_fit_is_an_error_the_first_time_and_later() -> None:
    late: LateDecoder[Leaf | Stone] = LateDecoder(Leaf | Stone)
    for _ in range(2):
        with pytest.raises(msgspec.ValidationError):
            late.decode(b'{"type":"Star"}')
        with pytest.raises(msgspec.DecodeError):
            late.decode(b"{")
