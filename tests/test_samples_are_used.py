"""Every published sample of telemetry and of caches is read by a test, or stands here with the reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus import corpus

UNUSED = {
    "05-hub-registry.txt": "the hub's registry is counted as a whole and never read",
    "06-hub-root-2023-layout.txt": "folder names only; the layout is rebuilt by hand in tests/cache/test_scan.py",
    "12-aws-doc-entry-tree.txt": "four names of a hit, which every test of the catalogue builds",
    "17-libneuronxla-package-ls.txt": "the SDK's own package, not a cache",
    "18-cache-root-lock-tracebacks.txt": "tracebacks about the root's lock, which is counted and never touched",
    "19-neff-packager.txt": "the packager's print-out from which the header's fields are named; no bytes of a NEFF",
    "20-neff-payload-members.txt": "names of members; tests/parsers/test_neff.py builds archives with them",
    "21-vllm-neuron-entry.txt": "excerpts; tests/cache/test_vllm_neuron.py builds such entries",
    "22-jax-cache-dir.txt": "a neighbour, only sized",
    "neuron_ls_trn1.2xlarge_tools2.31_with_packages.txt": "the JSON inside is the sample of the same tools without it",
    "nm_config_all_groups.json": "a configuration, not a record; ours is checked against the program's own groups",
    "prom_inf1.xlarge_exporter_excerpt.prom.txt": "an exporter's format, which is no source of ours",
    "series_trn1.2xlarge_ctx8192_compile_failure_1hz_excerpt.csv": "a publisher's own table of decoded values",
    "series_trn1.2xlarge_effective_flops_5s.txt": "a publisher's own table of decoded values",
    "series_trn1.2xlarge_smoke_tinyllama_1hz.csv": "a publisher's own table of decoded values",
    "series_trn2.3xlarge_lnc2_tp2_memory_1hz.log": "a publisher's own records; read as a console log only",
    "sysfs_inf2.xlarge_driver2.26_tree.txt": "names of folders; tests/telemetry/trees.py builds such trees",
    "sysfs_inf2.xlarge_values.txt": "values that tests/telemetry/trees.py writes into its trees",
    "sysfs_tree_reference_driver_2.24.7.txt": "names of folders; tests/telemetry/trees.py builds such trees",
}


@pytest.mark.parametrize("folder", ["telemetry", "cache-listings"])
def test_no_sample_is_forgotten(folder: str) -> None:
    here = Path(__file__)
    tests = "".join(path.read_text() for path in here.parent.rglob("*.py") if path != here)
    names = {path.name for path in corpus(folder).iterdir() if path.name != "INDEX.md"}
    logs = {name for name in names if name.endswith(".log")}  # tests/parsers/test_corpus.py reads all of these
    forgotten = {name for name in names - logs - set(UNUSED) if name not in tests}
    assert forgotten == set()
    assert {name for name in UNUSED if name in tests and name not in logs} == set()
