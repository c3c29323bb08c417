"""The diagnosis of a recording, while it is made and afterwards."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from neuron_top.ingest.recordings import LOCK_NAME, OUTPUT_NAME, run_folder
from neuron_top.services.diagnosis import recorded_diagnosis
from neuron_top.settings import Settings

RUN = "20260101-000000-abcd"


def test_last_words_are_a_reason_only_once_nobody_records_any_more(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path))
    folder = run_folder(settings, RUN)
    folder.mkdir(parents=True)
    (folder / OUTPUT_NAME).write_text("starting\nUnknown model 'tea'. Exiting.\n")
    lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        during = recorded_diagnosis(settings, RUN, None)
    finally:
        os.close(lock)
    after = recorded_diagnosis(settings, RUN, None)
    assert (during is not None, after is not None) == (True, True)
    assert (during and during.failed, after and after.failed) == (False, True)
