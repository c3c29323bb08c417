"""The doctor finds codes with values; sentences are for people: whatever they say, the same is found."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.roots import CacheKind
from neuron_top.cli.main import main
from neuron_top.services import doctor
from neuron_top.telemetry.devices import Listing
from neuron_top.telemetry.doctor_checks import examine
from neuron_top.telemetry.doctor_facts import DeviceNode, MachineFacts, ObserverFacts, RootKind, RunningJob
from neuron_top.telemetry.doctor_findings import CheckLevel, CodedFinding, FindingCode
from neuron_top.telemetry.doctor_variables import NAMES
from neuron_top.views import doctor_sentences, variable_effects
from neuron_top.views.doctor_sentences import worded
from tests.telemetry.test_doctor import ROOT, SOUND
from tests.views.sentences import OTHER_WORDS, change_sentences

OF_THE_DATABASE = {FindingCode.DATABASE, FindingCode.DATABASE_UNUSABLE}
"""Found by asking it, not by a check of facts."""


def machine(**changes: Any) -> MachineFacts:
    return msgspec.structs.replace(SOUND, **changes)


def root(**changes: Any) -> Any:
    return msgspec.structs.replace(ROOT, **changes)


LS, TOOLS = "/opt/neuron-ls", ("neuron-ls", "neuron-monitor", "neuronx-cc")
HERE = {"counted_devices": 1, "listing": Listing(reason="")}
NODE = DeviceNode(path="/dev/neuron0", mode=0o600, usable=False)
MACHINES = (
    SOUND,
    machine(tools={"neuron-ls": LS}, compilers={"g++": None}, packages={"torch": "2.13.0"}),
    machine(instance_type="trn1.2xlarge", packages={"torch": None}),
    machine(counted_devices=16, tools={"neuron-ls": LS}, driver=(2, 26, 5, 0), unreadable=("a", "b"), nodes=(NODE,)),
    machine(
        **HERE,
        nodes=(NODE,),
        tools={name: f"/opt/{name}" for name in TOOLS},
        on_path={"neuron-ls": True},
        system_packages={"aws-neuronx-tools": "2.31"},
        observer=ObserverFacts(url="http://x", by_person=False, reason="status 503"),
        open_files=1024,
        watches=100,
    ),
    machine(
        **HERE,
        driver=(2, 31),
        sysfs_layout="the usual layout",
        observer=ObserverFacts(url="http://x", by_person=False, found="12 samples"),
    ),
    machine(observer=ObserverFacts(url="http://x", by_person=True, reason="status 503")),
    machine(
        roots=(
            root(found=RootKind.FILE),
            root(found=RootKind.REMOTE),
            root(found=RootKind.MISSING),
            root(found=RootKind.MISSING, writable=False),
            root(writable=False, used_by=(7, 9), filesystem=None),
            root(cache=CacheKind.TRITON, found=RootKind.FILE),
            root(cache=CacheKind.TRITON, found=RootKind.MISSING),
            root(path=DEFAULT_ROOT, untrusted="it belongs to eve"),
            root(cache=CacheKind.INDUCTOR, untrusted="it belongs to eve"),
            root(filesystem="tmpfs", why_shared="others mount it", free=1, free_inodes=3),
        )
    ),
    machine(
        jobs=(
            RunningJob(pid=7, name="t.py", user="me", variables=None, root="/other", warnings=("odd",)),
            RunningJob(pid=8, name="t.py", user="", variables={}),
        ),
        variables={
            "NEURON_CC_FLAGS": "-O1",
            "NEURON_RT_VISIBLE_CORE": "0",
            "NEURON_XYZ": "0",
            "NEURON_RT_NUM_CORES": "1",
            "NEURON_RT_VISIBLE_CORES": "0",
            "VLLM_NEURON_CPU_COMPILE": "1",
            "VLLM_NEURON_DISABLE_WARMUP_COMPILE": "1",
            "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE": "1",
        },
        warnings=("NEURON_CC_CACHE is not read",),
    ),
    machine(state=root(writable=False), terminal=msgspec.structs.replace(SOUND.terminal, is_terminal=False)),
    machine(terminal=msgspec.structs.replace(SOUND.terminal, kind="", encoding="ascii")),
    machine(terminal=msgspec.structs.replace(SOUND.terminal, columns=60)),
)


def found() -> list[CodedFinding]:
    return [finding for facts in MACHINES for finding in examine(facts)]


def test_every_code_has_a_sentence_and_every_sentence_a_code() -> None:
    assert set(doctor_sentences.SENTENCES) == set(FindingCode)
    assert set(doctor_sentences.NEXT_STEPS) <= set(FindingCode)
    assert set(variable_effects.EFFECTS) == set(NAMES)
    tables = (doctor_sentences.SENTENCES, doctor_sentences.NEXT_STEPS, variable_effects.EFFECTS)
    assert all(text for table in tables for text in table.values())


def test_every_code_can_be_found_and_is_reported_and_every_problem_has_a_next_step() -> None:
    seen = found()
    assert {finding.code for finding in seen} == set(FindingCode) - OF_THE_DATABASE
    for finding in seen:
        said = worded(finding)
        assert said.text
        assert "{" not in said.text + said.next_step
        assert said.next_step or finding.level is not CheckLevel.PROBLEM, finding
        assert bool(said.next_step) == (finding.code in doctor_sentences.NEXT_STEPS)


def test_a_finding_of_the_database_is_reported() -> None:
    values = {"place": "postgresql://db", "offset": -2.345}
    said = worded(CodedFinding("database", CheckLevel.NOTE, FindingCode.DATABASE, values))
    assert said.text == "postgresql://db answers, with the schema of this version; this clock is -2.3 s off its"
    said = worded(CodedFinding("database", CheckLevel.PROBLEM, FindingCode.DATABASE_UNUSABLE, {"problem": "refused"}))
    assert (said.text, bool(said.next_step)) == ("refused", True)


def test_what_is_missing_is_named_and_what_does_not_hold_is_left_out() -> None:
    bare = machine(cpus=None, roots=(root(filesystem=None),), root_in_force="/other")
    texts = [worded(finding).text for finding in examine(bare)]
    assert texts[0] == "Linux 6 · unknown CPUs · 8.0 GiB · Python 3.11"
    assert "neuron: /cache (default): unknown file system, 50.0 GiB free" in texts
    used = machine(roots=(root(used_by=(7, 9)),))
    texts = [worded(finding).text for finding in examine(used)]
    assert "neuron: /cache (default) · in force here · used by 7, 9: ext4, 50.0 GiB free" in texts


def test_with_every_sentence_changed_the_same_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answers() -> list[tuple[int, Any]]:
        """What the command says of each machine, and how it ends."""
        answers = []
        for facts in MACHINES:
            monkeypatch.setattr(doctor, "gather", lambda *_, facts=facts, **__: facts)
            answers.append((main(["doctor", "--json"]), json.loads(capsys.readouterr().out)))
        return answers

    def decided(answers: list[tuple[int, Any]]) -> list[Any]:
        return [
            (code, said["problems"], said["facts"], [(each["check"], each["level"]) for each in said["findings"]])
            for code, said in answers
        ]

    monkeypatch.delenv("NEURONTOP_STORE", raising=False)
    before, own = found(), answers()
    sentences = change_sentences(monkeypatch, doctor_sentences, variable_effects)
    assert sentences >= len(FindingCode) + len(doctor_sentences.NEXT_STEPS) + len(NAMES)
    assert found() == before
    other = answers()
    assert decided(other) == decided(own)
    assert {code for code, _ in own} == {0, 1}
    texts = {each[part] for _, said in other for each in said["findings"] for part in ("text", "next_step")}
    assert texts == {OTHER_WORDS, ""}, "a sentence that views has not"
