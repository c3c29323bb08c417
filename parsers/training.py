"""What training and serving programs print about their progress: facts of the run and steps.

Only what a line says is taken: a number that is not there stays unknown. During a trial run of the parallel compile
these numbers are meaningless; the run knows that, this parser does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from neuron_top.events import AnyEvent, CheckpointReported, StepReported, TrainingFactReported
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import PLAIN, Record, clip, common
from neuron_top.parsers.step_table import LINES_BETWEEN, StepTable
from neuron_top.units import number_text

NAME = "training"
_FLOAT = r"-?(?:\d{1,15}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?|nan|inf|NaN|Infinity)"
_DICT = late_pattern(r"\{'[\w/. -]{1,60}':[^{}]{1,6000}\}")
_ITEM = late_pattern(
    rf"'([\w/. -]{{1,60}})': (?:'|np\.float\d\d\(|tensor\()?({_FLOAT})(?:['\)]|, device='[\w:]{{1,20}}'\))?(?=[,}}\s])"
)
_NAMED_NUMBER = rb"'[\w/. -]{1,60}+': (?!-0[,}])-?\d{1,15}+(?:\.\d{1,20}+)?+(?:[eE][+-]?\d{1,3}+)?+"
"""A number that is JSON as well; `-0` is left out, as it would lose its sign there. Possessive, as there is only one
way to read it: then nothing is remembered to try again, which takes half of the time."""
_NUMBERS = late_pattern(rb"\{%b(?:, %b){0,60}\}" % (_NAMED_NUMBER, _NAMED_NUMBER))
_decode_numbers = msgspec.json.Decoder(dict[str, float]).decode
_BAR = late_pattern(
    r"(?P<percent>\d{1,3})%\|[^|]{0,400}\| {0,20}(?P<step>\d{1,12})/(?P<total>\d{1,12}) "
    r"\[[\d:]{1,20}<[\d:?]{1,20}, {0,4}(?P<rate>[\d.]{1,20}|\?)(?P<unit>it/s|s/it)(?P<postfix>[^\]]{0,1500})\]"
)
_ANY_BAR = late_pattern(r"\d{1,3}%\|[^|]{0,400}\|")
_TRAINING_BAR = late_pattern(r"(?:epoch|train|step|^\W*$)", re.IGNORECASE)
_POSTFIX = late_pattern(rf"([\w/ ]{{1,60}})=({_FLOAT})(?=[,\]\s]|$)")
_BERT = late_pattern(
    rf"LOG [^-]{{1,60}}- \((\d{{1,9}}), (\d{{1,12}})\)\s+step_loss : ({_FLOAT})"
    rf"(?:\s+learning_rate : ({_FLOAT}))?(?:\s+throughput : ({_FLOAT}))?"
)
_SERVING = late_pattern(
    r"Avg prompt throughput: [\d.]{1,20} tokens/s, Avg generation throughput: ([\d.]{1,20}) tokens/s"
)
_PARALLEL = late_pattern(
    r"initializing (\w+) model parallel with size (\d{1,9})|initializing (data) parallel with size (\d{1,9})"
)
_WORLD = late_pattern(r"initializing world size to (\d{1,9})")
_PHASE = late_pattern(
    r"((?:Done|Finished|Generated) [\w' -]{1,90}?|Compiling and tracing time)"
    r" ?(?:in|:) (\d{1,9}\.\d{1,20}) ?s(?:econds|ecs)?"
)
_KV_CACHE = late_pattern(r"KV cache size: ([\d,]{1,20}) tokens")
_AVERAGE = late_pattern(
    rf"(Train throughput|Average train throughput|Max train throughput|Final loss)\b[^\d-]{{1,30}}({_FLOAT})\s*$"
)
_FACT = late_pattern(r"\s+([A-Za-z][\w .,&()/-]{2,90}?)(?: = |: )([\d,]{1,30})\s*$")
_BANNER = "***** Running "
_FACT_LINES = 20
_FACT_DIGITS = 6
_THOUSANDS = r"\d{1,3}(?:,\d{3}){1,4}(?!\d|,\d)"
_AMOUNT = rf"(?:{_THOUSANDS}(?:\.\d{{0,20}})?|{_FLOAT})"
"""A number, perhaps with commas between its thousands."""
_COUNT = rf"({_THOUSANDS}|\d{{1,12}})(?!\d|[.,]\d)"
_LOSS = late_pattern(
    r"\b(?:reduced_train_|train_|step_|training |train |avg_?|average )?loss\b['\"]?\s{0,4}(?:[:=|]|is)?\s{0,6}"
    rf"(?:tensor\()?({_AMOUNT})",
    re.IGNORECASE,
)
_STEP = late_pattern(
    rf"(?<![/\w])(?:global_?)?(?:steps?|iteration|iter|batch)\b['\"]?\s{{0,4}}[:=#\[]?\s{{0,6}}{_COUNT}"
    rf"(?:\s?/\s{{0,8}}{_COUNT})?",
    re.IGNORECASE,
)
_EPOCH = late_pattern(r"\bepochs?\b['\"]?\s{0,4}[:=#\[]?\s{0,6}(\d{1,6}(?!\d)(?:\.\d{1,12})?)", re.IGNORECASE)
_RATE = late_pattern(rf"\b(?:learning[_ ]?rate|lr)\b['\"]?\s{{0,4}}[:=]?\s{{0,6}}({_FLOAT})", re.IGNORECASE)
_THROUGHPUT = late_pattern(
    rf"\bthroughput\b(?: \((?P<unit>[^)]{{1,20}})\))?['\"]?\s{{0,4}}[:=]?\s{{0,6}}(?P<value>{_FLOAT})"
    r"(?: {0,2}(?P<behind>[a-z]{1,12}/s(?:ec|econd)?)\b)?",
    re.IGNORECASE,
)
_PER_SECOND = late_pattern(
    rf"\b(?:(?P<tps>tps)|(?P<what>tok(?:en)?|sample|seq(?:uence)?|image)s?(?:/|_per_|\s?per\s)s(?:ec(?:ond)?s?)?\b"
    rf"(?P<each>/device)?)['\"]?\s{{0,4}}[:=]?\s{{0,6}}(?P<value>{_AMOUNT})",
    re.IGNORECASE,
)
"""TorchTitan's `tps: 3,456` (tokens per second and device), MaxText's `Tokens/s/device: 345.6`, `samples/sec: 12.5`."""
_STEP_SECONDS = late_pattern(
    r"\b(?:elapsed time per iteration|(?:step|iter(?:ation)?)[_ ]time|train_step_timing)\b"
    r"(?: \(?(?:in )?(?P<unit>m?s)\)?)?"
    rf"\s{{0,4}}[:=]\s{{0,6}}(?P<value>{_FLOAT})(?:\s?(?P<behind>m?s)\b)?",
    re.IGNORECASE,
)
_CHECKPOINT = late_pattern(r"checkpoint|ckpt", re.IGNORECASE)
_PREFIX = late_pattern(r"^(?:\s{0,9}\[[^\]]{0,200}\]){1,4}")
"""Timestamps and source locations in brackets, which may name a file `checkpoint.py`."""
_SAVE = late_pattern(r"\b(?:saving|saved|writing|wrote|written|storing|stored)\b", re.IGNORECASE)
_WRITTEN = late_pattern(r"\b(?:saved|wrote|written|stored|completed?|finished|done|successfully)\b", re.IGNORECASE)
_BEGUN = late_pattern(r"\b(?:began|begins?|start(?:s|ed|ing)?)\b", re.IGNORECASE)
_PATH = late_pattern(r"['\"]?\S{0,300}[/\\]\S{0,300}")
_ASIDE = late_pattern(r"\([^)]{0,200}\)")
_WHERE = late_pattern(
    r"\b(?:to|at|in|under|as|into)[: ]\s{0,4}['\"]?((?!\d+\.\d*\s)[^\s'\"]{0,200}[/\\.][^\s'\"]{1,300})", re.IGNORECASE
)
_STEP_OF_PATH = late_pattern(r"(?:checkpoint|ckpt|step)[-_=](\d{1,12})\b", re.IGNORECASE)
_NO_SAVE = late_pattern(
    r"\b(?:not|no|never|cannot|can't|won't|will|would|should|must|may|can|if|when|unless|before|every|each|"
    r"load(?:s|ed|ing)?|restor\w{1,5}|resum\w{1,5}|remov\w{1,5}|delet\w{1,5}|overw\w{1,8}|fail\w{0,4}|errors?|exception|"
    r"unable|skip\w{0,5}|disabl\w{1,4}|enabl\w{1,4}|deprecat\w{1,5}|instead|usage|option|frequency|interval|strategy|"
    r"(?:gradient|activation|grad)[ _]checkpoint\w{0,4})\b",
    re.IGNORECASE,
)
"""Words that show that a line is about a plan, a failure or anything else than a checkpoint that is being saved."""


class Training:
    """Reads these lines; remembers whether a banner's facts or rows of a table may follow, and which progress bar is
    the training's.

    An evaluation has a bar of its own, as unnamed as the training's. A loss shows that the bar before it is the
    training's; a shorter bar without a loss is then an evaluation's.
    """

    name = NAME

    def __init__(self) -> None:
        self._facts_left = 0
        self._table: StepTable | None = None
        self._lines_left = 0
        """How many lines may follow before the next row of `_table`."""
        self._last_bar: int | None = None
        """Total of the last bar."""
        self._training_bar: int | None = None
        """Total of the bar in which a loss was reported last."""

    @property
    def open(self) -> bool:
        """True in the lines after `***** Running training *****`, and while rows of a table may follow."""
        return self._facts_left > 0 or self._table is not None

    def ended_by(self, record: Record) -> list[AnyEvent]:
        """Facts are given one by one: nothing is kept."""
        return []

    def flush_idle(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []

    def flush(self) -> list[AnyEvent]:
        """Nothing is kept."""
        return []

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if record.shape is not PLAIN:
            return None
        text = record.text
        if _BANNER in text:
            self._facts_left = _FACT_LINES
            return []
        if self._facts_left:
            self._facts_left -= 1
            fact = _FACT.match(text)
            if fact:
                return [_fact(record, fact[1], fact[2].replace(",", ""))]
        row = self._row_of(self._table, record) if self._table is not None else None
        if row is not None:
            record.stands_alone = False
            return self._of_training([row])
        saved = _checkpoint(record)
        for read in _READERS:
            events = read(record)
            if events is not None:
                steps = self._of_training(events)
                record.stands_alone = len(steps) == len(events)  # another training's bar may be the same, word for word
                return [*steps, *saved]
        if self._begin_table(record):
            return []
        return saved or None

    def _row_of(self, table: StepTable, record: Record) -> StepReported | None:
        """The step in a row of the table that was begun; None for another line, many of which end the table."""
        row = table.row(record.text)
        if row is not None:
            self._lines_left = LINES_BETWEEN
            return StepReported(**common(record), **msgspec.structs.asdict(row))
        self._lines_left -= 1
        if not self._lines_left:
            self._table = None
        return None

    def _begin_table(self, record: Record) -> bool:
        """Read rows of a table from now on if the line is its heading; returns whether it is."""
        table = StepTable.of_heading(record.text) if _may_name_loss(record.text) else None
        if table is None:
            return False
        self._table, self._lines_left = table, LINES_BETWEEN
        record.stands_alone = False
        return True

    def _of_training(self, events: list[AnyEvent]) -> list[AnyEvent]:
        """The events without steps of an evaluation."""
        return [event for event in events if not (isinstance(event, StepReported) and self.evaluates(event))]

    def evaluates(self, step: StepReported) -> bool:
        """Note this step, the next of the log; whether it is an evaluation's, as far as the bars before it show."""
        self._last_bar = step.total_steps if step.total_steps is not None else self._last_bar
        if step.loss is not None:
            self._training_bar = self._last_bar
        if step.loss is not None or step.total_steps is None or self._training_bar is None:
            return False
        return step.total_steps < self._training_bar


def _checkpoint(record: Record) -> list[AnyEvent]:
    """The event of a line that says, with a verb, that a checkpoint is being saved or was saved; not of a plan or a
    failure."""
    if "ckp" not in record.text.lower() or not _CHECKPOINT.search(record.text):  # most lines need no pattern
        return []
    text = _PREFIX.sub("", record.text[:1000])
    verb, named = _SAVE.search(text), _CHECKPOINT.search(text)
    if verb is None or named is None or "%|" in text:
        return []
    words = _ASIDE.sub(" ", _PATH.sub(" ", text))
    if _NO_SAVE.search(words):
        return []
    where, step = _WHERE.search(text, verb.start()), _STEP.search(words) or _STEP_OF_PATH.search(text)
    return [
        CheckpointReported(
            **common(record),
            path=clip(where[1].rstrip(".,;")) if where else "",
            step=_whole(_number(step[1])) if step else None,
            finished=bool(_WRITTEN.search(words)) and not _BEGUN.search(words),
        )
    ]


def _dictionary(record: Record) -> list[AnyEvent] | None:
    """The Hugging Face trainer's dictionaries: a step if there is a loss, else the facts at the end."""
    begin = record.text.find("{'")
    found = _DICT.match(record.text, begin) if begin >= 0 else None
    if found is None or record.text[:begin].rstrip().endswith(("=", ":")):  # part of another object's text
        return None
    items = {key: float(text) for key, text in _ITEM.findall(found[0])}
    if "loss" in items:
        return [step_of(items, common(record))]
    if any(key.startswith(("train_", "eval_")) for key in items):
        return [_fact(record, key, _fact_text(value)) for key, value in items.items()]
    return None


def step_of(numbers: Mapping[str, float], where: dict[str, Any]) -> StepReported:
    """The step in a trainer's dictionary, which must hold `loss`; `where` are the fields of every log event."""
    return StepReported(
        **where,
        loss=numbers["loss"],
        learning_rate=numbers.get("learning_rate"),
        epoch=numbers.get("epoch"),
        step=_whole(numbers.get("step", numbers.get("global_step"))),
        throughput=numbers.get("train/tokens_per_sec"),
        throughput_unit="tokens/s" if "train/tokens_per_sec" in numbers else "",
        step_seconds=numbers.get("train/step_time"),
    )


def numbers_in(line: bytes) -> dict[str, float] | None:
    """The numbers of a line that is a dictionary of finite numbers as Python prints it, and nothing else; else None."""
    if _NUMBERS.fullmatch(line) is None:
        return None
    try:
        return _decode_numbers(line.replace(b"'", b'"'))
    except msgspec.MsgspecError:  # `007`, `1e999`
        return None


def _bar(record: Record) -> list[AnyEvent] | None:
    """tqdm's progress bars. Those of downloads and other chores have a name in front, and give no event."""
    if "%|" not in record.text:
        return None
    found = last = None
    for found in _BAR.finditer(record.text):
        last = found
    if last is None:
        return [] if _ANY_BAR.search(record.text) else None
    if not _TRAINING_BAR.search(record.text[: last.start()][-80:]):
        return []
    rate = _number(last["rate"])
    postfix = {
        key.strip(): number for key, text in _POSTFIX.findall(last["postfix"]) if (number := _number(text)) is not None
    }
    epoch = _EPOCH.search(record.text[: last.start()][-80:])
    per_second = last["unit"] == "it/s"
    return [
        StepReported(
            **common(record),
            step=int(last["step"]),
            total_steps=int(last["total"]),
            epoch=_number(epoch[1]) if epoch else None,
            loss=next((postfix[key] for key in ("reduced_train_loss", "loss", "train_loss") if key in postfix), None),
            learning_rate=postfix.get("lr"),
            throughput=rate if per_second else (1 / rate if rate else None),
            throughput_unit="it/s" if rate else "",
            step_seconds=rate if not per_second else (1 / rate if rate else None),
        )
    ]


def _bert(record: Record) -> list[AnyEvent] | None:
    found = _BERT.search(record.text) if "step_loss" in record.text else None
    if found is None:
        return None
    return [
        StepReported(
            **common(record),
            epoch=_number(found[1]),
            step=int(found[2]),
            loss=_number(found[3]),
            learning_rate=_number(found[4]),
            throughput=_number(found[5]),
            throughput_unit="seq/s" if found[5] else "",
        )
    ]


def _serving(record: Record) -> list[AnyEvent] | None:
    found = _SERVING.search(record.text)
    if found is None:
        return None
    return [StepReported(**common(record), throughput=_number(found[1]), throughput_unit="tokens/s")]


def _facts(record: Record) -> list[AnyEvent] | None:
    """Parallel layout, phases of a model builder, closing averages."""
    text = record.text
    found = _PARALLEL.search(text)
    if found:
        return [_fact(record, f"{found[1] or found[3]}_parallel_size", found[2] or found[4])]
    found = _WORLD.search(text)
    if found:
        return [_fact(record, "world_size", found[1])]
    found = _PHASE.search(text)
    if found:
        return [_fact(record, found[1].strip(), f"{float(found[2]):.2f} s")]
    found = _KV_CACHE.search(text)
    if found:
        return [_fact(record, "KV cache size", f"{found[1].replace(',', '')} tokens")]
    found = _AVERAGE.search(text)
    return [_fact(record, found[1].lower(), _fact_text(float(found[2])))] if found else None


def _may_name_loss(text: str) -> bool:
    """Whether it can name a loss; most lines cannot, and need no pattern."""
    return "oss" in text or "OSS" in text


def _loss(record: Record) -> list[AnyEvent] | None:
    """Any line that names a loss and a step or an epoch, the way samples and NxD scripts print them."""
    text = record.text if len(record.text) <= 1000 else record.text[:1000]
    loss = _LOSS.search(text) if _may_name_loss(text) else None
    step, epoch = (_STEP.search(text), _EPOCH.search(text)) if loss else (None, None)
    if loss is None or (step is None and epoch is None):
        return None
    rate, (throughput, unit) = _RATE.search(text), _throughput_of(text)
    return [
        StepReported(
            **common(record),
            loss=_number(loss[1]),
            step=_whole(_number(step[1])) if step else None,
            total_steps=_whole(_number(step[2])) if step and step[2] else None,
            epoch=_number(epoch[1]) if epoch else None,
            learning_rate=_number(rate[1]) if rate else None,
            throughput=throughput,
            throughput_unit=unit,
            step_seconds=_step_seconds_of(text),
        )
    ]


def _throughput_of(text: str) -> tuple[float | None, str]:
    """The throughput in a line, and its unit."""
    if (found := _THROUGHPUT.search(text)) is not None:
        return _number(found["value"]), clip(found["unit"] or found["behind"] or "")
    found = _PER_SECOND.search(text)
    if found is None:
        return None, ""
    counted = "tokens" if found["tps"] or found["what"].lower().startswith("tok") else f"{found['what'].lower()}s"
    return _number(found["value"]), f"{counted}/s" + ("/device" if found["tps"] or found["each"] else "")


def _step_seconds_of(text: str) -> float | None:
    """The duration of the step, where a line reports one with its unit."""
    found = _STEP_SECONDS.search(text) if "tim" in text else None
    value, unit = (_number(found["value"]), found["unit"] or found["behind"]) if found else (None, None)
    return None if value is None or unit is None else value / 1000 if unit.lower() == "ms" else value


_READERS: tuple[Callable[[Record], list[AnyEvent] | None], ...] = (_dictionary, _bar, _bert, _serving, _facts, _loss)


def _fact_text(value: float) -> str:
    """A number that a program printed with all its digits, as a fact."""
    return number_text(value, _FACT_DIGITS).replace(",", "")


def _fact(record: Record, name: str, value: str) -> TrainingFactReported:
    return TrainingFactReported(**common(record), name=clip(name), value=clip(value))


def _number(text: str | None) -> float | None:
    """A number; `nan` and `inf` are kept, since a loss that diverged must be seen."""
    if text is None or text == "?":
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and value == value and abs(value) < 1e15 else None
