"""Where recordings are kept, and what is said of a place that this user may not look into."""

from __future__ import annotations

import tempfile
from pathlib import Path

from neuron_top.store.errors import StoreUnusable
from neuron_top.store.location import StoreLocation
from neuron_top.store.sqlite import FILE_NAME
from tests.cache.test_scan import as_nobody


def test_a_folder_that_this_user_may_not_enter_is_refused_with_its_name() -> None:
    # Not in tmp_path: its folders above belong to root alone, and nobody could not get there.
    with tempfile.TemporaryDirectory() as place:
        state = Path(place) / "state"
        state.mkdir()
        Path(place).chmod(0o755)
        state.chmod(0)

        def opened() -> str:
            location = StoreLocation(state / FILE_NAME)
            assert location.exists
            try:
                location.open()
            except StoreUnusable as problem:
                return str(problem)
            return "opened"

        try:
            assert f"{state}/{FILE_NAME}: Permission denied; set state_dir" in as_nobody(opened)
        finally:
            state.chmod(0o700)
