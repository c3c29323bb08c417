"""What is remembered of a line gives what reading the line would give."""

from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import StepReported
from neuron_top.parsers.line_cache import LineCache
from neuron_top.parsers.reader import LogReader

HEADER = b"2026-03-04 10:00:0%d.000%03d:  %d  [INFO]: "
NOISE = b"tea\n" * 25
"""Lines that nobody knows, more than are kept as samples: as long as those are wanted, unknown lines are read anew."""
NAMES = st.lists(
    st.sampled_from(
        ["loss", "learning_rate", "grad_norm", "epoch", "step", "train/step_time", "eval_loss", "avg loss", "ckpt"]
    ),
    max_size=4,
)
NUMBERS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["007", "1.", "-0", "1e999", "1E5", "0.25e-3", "True", "'0.5'", "tensor(0.5)", "", "nan", "\t1"]),
)
DICTIONARIES = st.builds(
    lambda names, numbers, between: f"{{{between.join(map(': '.join, zip(map(repr, names), numbers, strict=False)))}}}",
    NAMES,
    st.lists(NUMBERS, min_size=4, max_size=4),
    st.sampled_from([", ", ", ", ", ", ",", ",  "]),
).map(str.encode)
LINES = st.one_of(
    DICTIONARIES,
    DICTIONARIES,
    st.sampled_from(
        [
            b"Compiler status PASS",
            b" 10%|## | 1/10 [00:01<00:09, 1.00it/s]",
            b" 10%|## | 1/90 [00:01<00:09, 1.00it/s]",
            b"***** Running training *****",
            b'{"loss": 0.5}',
            b"{'loss\": 0.5}",
            b"[rank1]: {'loss': 0.5}",
            b"{'loss': 0.5} and so on",
            b"Saving model checkpoint to out/checkpoint-5",
        ]
    ),
    st.builds(
        lambda second, pid: HEADER % (second, second, pid) + b"Compiler status PASS", st.integers(0, 9), st.just(7)
    ),
)


@given(st.lists(LINES, max_size=40), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_line_that_comes_again_gives_what_reading_it_gives(lines: list[bytes], sampled: bool) -> None:
    log = (NOISE if sampled else b"") + b"".join(line + b"\n" for line in lines)
    remembering, reading = LogReader("log:x"), LogReader("log:x")
    events = [*remembering.feed(log), *remembering.flush()]
    with mock.patch.object(LineCache, "repeat", return_value=None):
        assert repr(events) == repr([*reading.feed(log), *reading.flush()])  # nan is not equal to itself
    assert remembering.tally.as_json() == reading.tally.as_json()
    assert (remembering.tally.known, remembering.tally.unknown_samples) == (
        reading.tally.known,
        reading.tally.unknown_samples,
    )


def test_a_step_with_other_numbers_is_not_read_again() -> None:
    reader = LogReader("log:x")
    reader.feed(NOISE + b"{'loss': 2.5, 'epoch': 0.1}\n")
    with mock.patch.object(LogReader, "_learned", side_effect=AssertionError):
        events = reader.feed(b"{'loss': 1.5, 'epoch': 0.2}\n")
    assert [(event.loss, event.epoch, event.offset) for event in events if isinstance(event, StepReported)] == [
        (1.5, 0.2, 128)
    ]


def test_a_loss_that_is_remembered_still_shows_which_bar_is_the_trainings() -> None:
    loss = b"{'loss': %d.5, 'epoch': 0.1}\n"
    bar = b" 10%%|## | %d/%d [00:01<00:09, 1.00it/s]\n"
    log = NOISE + b"".join([loss % 3, bar % (5, 900), loss % 2, bar % (1, 80), bar % (6, 900)])
    reader = LogReader("log:x")
    events = [*reader.feed(log), *reader.flush()]
    assert [event.step for event in events if isinstance(event, StepReported)] == [None, 5, None, 6]


def test_a_step_that_is_told_in_other_names_is_read_each_time() -> None:
    reader = LogReader("log:x")
    events = reader.feed(NOISE + b"{'avg loss': 2.5, 'step': 3}\n{'avg loss': 1.5, 'step': 4}\n")
    assert [(event.loss, event.step) for event in events if isinstance(event, StepReported)] == [(2.5, 3), (1.5, 4)]
