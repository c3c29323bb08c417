"""How the server asks Python to share its processor time among those who look and what is read."""

from __future__ import annotations

import gc
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from neuron_top.cli.main import main
from neuron_top.dashboard.access import Access
from neuron_top.dashboard.server import COLLECTED_AFTER, SWITCH_SECONDS, serve
from neuron_top.errors import UsageError
from neuron_top.settings import Settings
from tests.tui.feeds import StillFeed


def test_while_it_serves_threads_take_short_turns_and_cycles_are_looked_for_seldom(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before, seen = (sys.getswitchinterval(), gc.get_threshold()), list[Any]()
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda *_, **__: seen.extend((sys.getswitchinterval(), gc.get_threshold()))
    )
    try:
        serve(
            Settings(state_dir=str(tmp_path)),
            StillFeed([]),
            Access(),
            host="127.0.0.1",
            port=0,
            prefix="/",
            roots=(),
            shown="",
            opened=lambda _: None,
        )
    finally:
        sys.setswitchinterval(before[0])
        gc.set_threshold(*before[1])
    assert seen == [pytest.approx(SWITCH_SECONDS), COLLECTED_AFTER]
    assert COLLECTED_AFTER[0] > before[1][0]


def test_a_port_that_is_in_use_is_named_with_the_way_to_a_free_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="--port 0 takes a free one"):
        serve(
            Settings(state_dir=str(tmp_path)),
            StillFeed([]),
            Access(),
            host="127.0.0.1",
            port=taken.getsockname()[1],
            prefix="/",
            roots=(),
            shown="",
            opened=lambda _: None,
        )


def test_a_token_is_printed_only_once_the_port_is_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["serve", "--port", str(other.getsockname()[1]), str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "--port 0 takes a free one" in printed
    assert "token" not in printed
