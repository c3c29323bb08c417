"""Files that start an agent: what they call exists, and the manifest has the shape that the API server asks for."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
import tomllib
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

import pytest

from neuron_top.cli import agent
from neuron_top.cli.output import Parser

DEPLOY = Path(str(files("neuron_top") / "assets" / "deploy"))


def parsed(words: list[str]) -> None:
    parser = Parser(prog="neurontop agent")
    agent.configure(parser)
    parser.parse_args(words)


def test_the_unit_calls_the_agent_with_options_that_exist() -> None:
    text = (DEPLOY / "neurontop-agent.service").read_text()
    (command,) = re.findall(r"^ExecStart=/usr/bin/env neurontop agent (.*)$", text, re.MULTILINE)
    parsed(shlex.split(command))
    if checker := shutil.which("systemd-analyze"):
        result = subprocess.run([checker, "verify", DEPLOY / "neurontop-agent.service"], capture_output=True, text=True)
        assert "neurontop-agent.service" not in result.stderr, result.stderr


def test_the_manifest_has_what_a_daemonset_must_have() -> None:
    yaml = pytest.importorskip("yaml", reason="no YAML reader is installed")
    manifest = yaml.safe_load((DEPLOY / "daemonset.yaml").read_text())
    assert (manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "DaemonSet")
    template = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    pod = template["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["args"][0] == "agent"
    parsed(container["args"][1:])
    assert all(set(variable) in ({"name", "value"}, {"name", "valueFrom"}) for variable in container["env"])
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("break_it", [False, True])
def test_the_manifest_is_what_the_published_schema_asks_for(*, break_it: bool) -> None:
    schema = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    yaml = pytest.importorskip("yaml", reason="no YAML reader is installed")
    manifest = yaml.safe_load((DEPLOY / "daemonset.yaml").read_text())
    if break_it:
        manifest["spec"]["template"]["spec"]["containers"][0]["imagePullPolicies"] = "Always"
        with pytest.raises(schema.ValidationError):
            schema.validate(manifest, schema.latest_version(), strict=True)
    else:
        schema.validate(manifest, schema.latest_version(), strict=True)


def instructions() -> list[list[str]]:
    """The lines of the Dockerfile, in words; continued ones joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_has_no_root() -> None:
    users = [words[1] for words in instructions() if words[0] == "USER"]
    uid, _, group = users[-1].partition(":")
    assert int(uid) > 0, "a number, so that Kubernetes can see that it is not root's"
    assert int(group) > 0
    (made,) = [words for words in instructions() if "useradd" in words]
    assert made[made.index("--uid") + 1] == uid
    (state,) = [words[1] for words in instructions() if words[0] == "ENV"]
    assert state == f"NEURONTOP_STATE_DIR={made[made.index('--home-dir') + 1]}"
    assert instructions()[-1] == ["CMD", '["agent"]']
    parsed([])


def test_the_image_is_built_from_all_that_the_wheel_needs_and_nothing_that_git_ignores() -> None:
    root = Path(__file__).parents[2]
    left_out = {line.strip("/") for line in (root / ".dockerignore").read_text().splitlines() if line[:1] not in "#"}
    assert ["COPY", ".", "."] in instructions()
    for line in (root / ".gitignore").read_text().splitlines():
        name = line.strip("/")
        assert any(fnmatch(name, pattern.removeprefix("**/")) for pattern in left_out), f".dockerignore lacks {name}"
    project = tomllib.loads((root / "pyproject.toml").read_text())
    needed = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    for name in needed.union(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]):
        assert (root / name).exists(), name
        assert not any(fnmatch(name, pattern.removeprefix("**/")) for pattern in left_out), f".dockerignore has {name}"


@pytest.mark.parametrize("context", ["prolog_slurmd", "epilog_slurmd"])
def test_the_prolog_starts_an_agent_and_the_epilog_ends_it(tmp_path: Path, context: str) -> None:
    """A stand-in for neurontop reports how it was called; a job never fails for the prolog."""
    program = tmp_path / "bin" / "neurontop"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$NEURONTOP_JOB $*" >"{tmp_path}/called"\nexec sleep 60\n')
    program.chmod(0o755)
    environ = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "NEURONTOP_STORE": "postgresql://db/x",
        "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
        "NEURONTOP_LOGS": "/logs",
        "SLURM_JOB_ID": "4711",
    }
    script = DEPLOY / "slurm-prolog.sh"
    for step in ("prolog_slurmd", context):
        assert subprocess.run(["sh", script], env={**environ, "SLURM_SCRIPT_CONTEXT": step}, timeout=60).returncode == 0
        if step == "prolog_slurmd":
            pid = int((tmp_path / "state" / "job-4711.pid").read_text())
            while not (tmp_path / "called").exists() or not (tmp_path / "called").read_text():
                pass
            assert (tmp_path / "called").read_text() == "4711 agent /logs\n"
            if context == step:
                os.kill(pid, 15)
                break
    if context == "epilog_slurmd":
        assert not (tmp_path / "state" / "job-4711.pid").exists()
        while is_alive(pid):
            pass


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_epilog_ends_no_process_that_has_the_number_of_an_agent_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with subprocess.Popen(["sleep", "60"]) as other:
        (tmp_path / "state" / "job-4711.pid").write_text(f"{other.pid}\n")
        environ = os.environ | {
            "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
            "SLURM_JOB_ID": "4711",
            "SLURM_SCRIPT_CONTEXT": "epilog_slurmd",
        }
        assert subprocess.run(["sh", DEPLOY / "slurm-prolog.sh"], env=environ, timeout=60).returncode == 0
        time.sleep(0.1)
        assert other.poll() is None
        other.kill()
