"""Two nodes and one cache: who compiles, who waits, and what happens when a holder is gone or too late."""

from __future__ import annotations

import errno
import io
import os
import signal
import threading
import time
import uuid
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner
from neuron_top.compile.claims.choice import claims_for
from neuron_top.compile.claims.claim import Claimed, ClaimsUnreachable
from neuron_top.compile.claims.node_gate import NodeGate
from neuron_top.compile.claims.turns import ClaimedTurns
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.compile.wrapper.sharing import Sharing
from neuron_top.errors import UsageError
from neuron_top.events import Event, WaitBegan
from neuron_top.settings import Settings, load
from tests.compile.fakes import GRAPH, Copying, Gated

PLACE = "memory:"


class Memory:
    """A place of claims in this process: key → (node, when it runs out)."""

    place = PLACE

    def __init__(self, rows: dict[str, tuple[str, float]], node: str) -> None:
        self._rows, self._node, self._lock = rows, node, threading.Lock()
        self.answers = True

    def claim(self, key: str, lease: float) -> Claimed:
        if not self.answers:
            raise ClaimsUnreachable("memory: has gone")
        with self._lock:
            node, until = self._rows.get(key, ("", 0.0))
            left = until - time.monotonic()
            if node and node != self._node and left > 0:
                return Claimed(mine=False, node=node, seconds_left=left)
            self._rows[key] = (self._node, time.monotonic() + lease)
            return Claimed(mine=True, taken_from=node if node != self._node else "")

    def renew(self, key: str, lease: float) -> bool:
        if not self.answers:
            raise ClaimsUnreachable("memory: has gone")
        with self._lock:
            if self._rows.get(key, ("",))[0] != self._node:
                return False
            self._rows[key] = (self._node, time.monotonic() + lease)
            return True

    def release(self, key: str) -> None:
        with self._lock:
            if self._rows.get(key, ("",))[0] == self._node:
                del self._rows[key]

    def rest(self) -> None:
        """Nothing is open."""


class Node:
    """A process of one node, with its wrapper."""

    def __init__(
        self,
        root: Path,
        rows: dict[str, tuple[str, float]],
        name: str,
        compiler: Copying | None = None,
        **more: float,
    ) -> None:
        self.claims, self.said = Memory(rows, name), io.StringIO()
        self.compiler = compiler or Copying(delay=more.pop("delay", 0.0))
        log = WrapperLog(stream=self.said)
        limits = {"lease": 60.0, "longest_wait": 600.0, **more}
        turns = ClaimedTurns(self.claims, log, node=name, **limits)
        options = WrapperOptions(cache_url=str(root))
        self.reported: list[Event] = []
        self.wrapper = Wrapper(self.compiler, options, log=log, emit=self.reported.append, sharing=Sharing(turns=turns))
        self.entry = self.wrapper.entry(GRAPH.key)
        self.thread = threading.Thread(target=self.obtain)

    def obtain(self) -> bool:
        """Whether it was a hit."""
        self.found = self.wrapper.get_or_compile(GRAPH)
        assert self.found.entry.artifact.read_bytes() == b"the graphthe graph"
        return self.found.hit


@pytest.fixture
def rows() -> dict[str, tuple[str, float]]:
    """No claims."""
    return {}


def begun(node: Node) -> None:
    """Wait until its compiler has begun."""
    while not node.compiler.compiled:
        time.sleep(0.01)


def test_the_second_node_waits_with_the_holders_name_and_finds_the_artifact(tmp_path, rows):
    one, two = Node(tmp_path / "cache", rows, "n1", delay=0.5), Node(tmp_path / "cache", rows, "n2")
    one.thread.start()
    begun(one)
    assert two.obtain()
    one.thread.join()
    assert (one.compiler.compiled, two.compiler.compiled) == (1, 0)
    assert "node n1 compiles it" in two.said.getvalue()
    assert two.found.waited_seconds > 0
    assert [type(event) for event in two.reported] == [WaitBegan]
    assert rows == {}


def test_a_node_that_died_loses_its_claim_and_then_its_lock(tmp_path, rows):
    two = Node(tmp_path / "cache", rows, "n2")
    two.entry.make()
    gone = msgspec.structs.replace(lock_owner.current(PLACE), host="n1", boot_id="another")
    two.entry.lock.write_bytes(msgspec.json.encode(gone))
    rows[str(two.entry.path)] = ("n1", time.monotonic() + 0.3)
    assert not two.obtain()
    assert "node n1 compiles it" in two.said.getvalue()
    assert "the claim of node n1 ran out: taken over" in two.said.getvalue()
    assert not two.entry.lock.exists()


def test_a_lock_without_a_claim_is_not_broken(tmp_path, rows):
    two = Node(tmp_path / "cache", rows, "n2")
    two.entry.make()
    other = msgspec.structs.replace(lock_owner.current(), host="n1", boot_id="another")
    two.entry.lock.write_bytes(msgspec.json.encode(other))
    two.thread.start()
    time.sleep(0.3)
    assert two.entry.lock.exists()
    assert two.compiler.compiled == 0
    two.entry.lock.unlink()
    two.thread.join()
    assert two.compiler.compiled == 1


def test_who_lost_its_claim_while_compiling_publishes_nothing(tmp_path, rows):
    one, two = Node(tmp_path / "cache", rows, "n1", delay=1.0), Node(tmp_path / "cache", rows, "n2")
    one.thread.start()
    begun(one)
    rows.clear()  # its lease ran out unnoticed, as that of a process that was stopped
    assert not two.obtain()
    published = two.entry.stats()
    one.thread.join()
    assert one.found.hit
    assert one.entry.stats() == published
    assert "another node took over this graph" in one.said.getvalue()


def test_who_is_cut_off_while_compiling_publishes_beside_who_took_over(tmp_path, rows):
    gated = Gated()
    one, two = Node(tmp_path / "cache", rows, "n1", gated), Node(tmp_path / "cache", rows, "n2")
    one.thread.start()
    while not gated.began:
        time.sleep(0.01)
    one.claims.answers = False
    rows.clear()  # its lease ran out
    assert not two.obtain()
    published = two.entry.stats()
    gated.allowed.set()
    one.thread.join()
    assert not one.found.hit
    assert one.entry.stats() != published
    assert Node(tmp_path / "cache", rows, "n3").obtain()


def test_a_claim_is_renewed_while_its_holder_compiles(tmp_path, rows):
    one = Node(tmp_path / "cache", rows, "n1", delay=1.0, lease=0.3)
    two = Node(tmp_path / "cache", rows, "n2", lease=0.3)
    one.thread.start()
    begun(one)
    assert two.obtain()
    one.thread.join()
    assert two.compiler.compiled == 0


def test_nobody_waits_for_ever(tmp_path, rows):
    two = Node(tmp_path / "cache", rows, "n2", longest_wait=0.3)
    rows[str(two.entry.path)] = ("n1", time.monotonic() + 3600.0)
    assert not two.obtain()
    assert "for another node (claim_wait): compiling here" in two.said.getvalue()


def test_without_an_answer_the_lock_file_alone_protects(tmp_path, rows):
    one = Node(tmp_path / "cache", rows, "n1")
    one.claims.answers = False
    assert not one.obtain()
    assert "memory: has gone; lock files alone protect graphs" in one.said.getvalue()


def test_where_no_thread_can_be_started_the_lock_file_alone_protects(tmp_path, rows, monkeypatch):
    node = Node(tmp_path / "cache", rows, "n1")

    def no_more(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_more)
    assert not node.obtain()
    assert "no thread can be started to renew claims" in node.said.getvalue()
    assert rows == {}, "the claim was given back"


def test_a_child_that_was_forked_behind_the_gate_keeps_nobody_away():
    key = f"fork {uuid.uuid4()}"
    with NodeGate("n1", key) as gate:
        assert gate.passed()
        with NodeGate("n1", key) as other:
            assert not other.passed()
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        with NodeGate("n1", key) as other:
            assert other.passed()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_without_a_file_for_the_gate_everybody_passes(monkeypatch):
    def too_many(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "open", too_many)
    with NodeGate("n1", "key") as gate:
        assert gate.passed()


def test_ranks_of_one_node_ask_once(tmp_path, rows):
    asked = []

    class Counting(Memory):
        def claim(self, key: str, lease: float) -> Claimed:
            asked.append(key)
            return super().claim(key, lease)

    ranks = [Node(tmp_path / "cache", rows, "n1", delay=0.5) for _ in range(4)]
    for rank in ranks:
        rank.claims.__class__ = Counting
        rank.thread.start()
    for rank in ranks:
        rank.thread.join()
    assert sum(rank.compiler.compiled for rank in ranks) == 1
    assert len(asked) == 1


def test_a_database_is_asked_for_a_shared_cache_only(tmp_path):
    settings = Settings(store="postgresql://127.0.0.1/fleet")
    assert claims_for(settings, tmp_path) is None
    assert claims_for(settings, tmp_path, many_nodes=True) is not None
    assert claims_for(msgspec.structs.replace(settings, claims="off"), tmp_path, many_nodes=True) is None
    named = claims_for(Settings(claims="postgresql://127.0.0.1/fleet"), tmp_path)
    assert named is not None
    assert named.place == "postgresql://127.0.0.1/fleet"


def test_what_is_no_place_of_claims_is_reported(tmp_path):
    with pytest.raises(
        UsageError, match=r"environment NEURONTOP_CLAIMS: claims must be postgresql://.* is 'redis://x'"
    ):
        load(environ={"NEURONTOP_CLAIMS": "redis://x"}, path=tmp_path / "none.toml")
    assert load(environ={"NEURONTOP_CLAIMS": "s3://b/p"}, path=tmp_path / "none.toml")[0].claims == "s3://b/p"
