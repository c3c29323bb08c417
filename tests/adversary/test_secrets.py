"""Tokens in command lines, variables and addresses: not in what is recorded, shown or exported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from neuron_top.events import encode
from neuron_top.ingest.recording import Recording
from neuron_top.parsers.secrets import command_without_secrets, without_secrets
from neuron_top.settings import Settings
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from neuron_top.telemetry.versions import environment_that_matters

SECRET = "hunter2hunter2"
TOKENS = (
    "AKIAIOSFODNN7EXAMPLE", "hf_" + "a" * 34, "ghp_" + "b" * 36, "github_pat_" + "c" * 40, "sk-proj-" + "d" * 40,
    "xoxb-1234567890-abcdef", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "glpat-" + "e" * 20,
)  # fmt: skip
LINES = (
    ["train.py", "--hf_token", SECRET],
    ["train.py", f"--token={SECRET}"],
    ["train.py", "--wandb-api-key", SECRET],
    ["train.py", f"--db.password={SECRET}"],
    ["train.py", f"s3://user:{SECRET}@bucket/x"],
    ["train.py", f"https://host/x?a=1&X-Amz-Signature={SECRET}&b=2"],
    ["env", f"AWS_SECRET_ACCESS_KEY={SECRET}", "python", "x.py"],
    ["bash", "-c", f"HF_TOKEN={SECRET} python train.py --password '{SECRET} {SECRET}' --lr 1"],
    ["curl", "-H", f"Authorization: Bearer {SECRET}"],
    *(["train.py", token] for token in TOKENS),
    *(["train.py", f"--x={token}"] for token in TOKENS),
)


@pytest.mark.parametrize("words", LINES, ids=range(len(LINES)))
def test_a_command_line_keeps_its_secret(words: list[str]) -> None:
    for reported in (" ".join(command_without_secrets(words)), without_secrets(" ".join(words))):
        assert SECRET not in reported
        assert not any(token in reported for token in TOKENS)
        assert reported.startswith(words[0])


@pytest.mark.parametrize(
    "words",
    [
        ["train.py", "--max_tokens=512", "--num_tokens", "1000", "--tokenizer", "bert", "--author", "me"],
        ["torchrun", "--nproc_per_node=4", "/home/me/secrets/train.py", "--lr", "1e-3", "--keyframes=3", "-x"],
        ["python", "-m", "pkg.auth_test", "s3://bucket/a@b", "--hidden_size", "2048"],
    ],
)
def test_what_is_no_secret_stays(words: list[str]) -> None:
    assert command_without_secrets(words) == tuple(words)
    assert without_secrets(" ".join(words)) == " ".join(words)


def test_variables_keep_their_secrets() -> None:
    environ = {
        "HF_TOKEN": SECRET,
        "HF_HUB_AUTH": SECRET,
        "HF_PAT": SECRET,
        "NEURONTOP_AUTH": SECRET,
        "TORCH_PASSPHRASE": SECRET,
        "NEURON_CC_FLAGS": f"--token={SECRET} --api-key {SECRET} --cache_dir=s3://u:{SECRET}@b/x",
        "TORCH_URL": f"https://h/x?X-Amz-Credential={SECRET}",
        "XLA_FLAGS": TOKENS[1],
        "NEURON_RT_X": TOKENS[0],
    }
    reported = str(environment_that_matters(environ))
    assert SECRET not in reported
    assert not any(token in reported for token in TOKENS)


def test_a_recording_holds_no_token_of_the_command_line(tmp_path: Path) -> None:
    recording = Recording(
        [sys.executable, "-c", "pass", "--hf_token", SECRET], Settings(state_dir=str(tmp_path / "state")), shown=False
    )
    recording.start()
    recording.finish()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    with SqliteStore(tmp_path / "state" / FILE_NAME) as store:
        reported = b"\n".join(map(encode, store.replay(recording.run)))
        assert store.runs()[0].command[-2:] == ("--hf_token", "…")
    assert b"RunStarted" in reported
    assert SECRET.encode() not in reported
