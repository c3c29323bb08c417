"""Turns PyTorch's structured trace into events. Pure: the same bytes give the same events, in whatever portions.

One file per process (`dedicated_log_torch_trace_[rank_N_]<random>.log`), made of records:

    V0401 12:00:00.123000 4711 torch/_dynamo/utils.py:2350] {"<kind>": …, "frame_id": 0, …, "has_payload": "<md5>"}
    <tab>the payload, any number of lines, each behind a tab

Long texts are interned: `{"str": [text, number]}`. The format is not stable, and each version brings new kinds: unknown
ones are ignored, and a broken record gives one LineMalformed and affects no other. The timestamp in the header has
neither year nor zone; both come from phase records, which carry microseconds since the epoch. Records before the first
of them have no time.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.decoders import MALFORMED
from neuron_top.events import (
    AnyEvent,
    BackwardCompiled,
    CompilePhaseEnded,
    FrameCompileBegan,
    FrameCompiled,
    FrameRecompiled,
    GraphBroken,
    GraphCaptured,
    LineMalformed,
    TorchCacheLookedUp,
    TritonKernelsCompiled,
)
from neuron_top.events.torch_trace import TorchCache, TorchCacheOutcome
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.base import clip
from neuron_top.parsers.lines import LineSplitter
from neuron_top.parsers.timestamps import HALF_YEAR

FAMILY = "torch trace"
_FILE_RANK = late_pattern(r"rank_(\d{1,9})_")
LINE_BYTES = 4 << 20
"""Of a longer line only the beginning is read: PyTorch splits payloads into lines."""
PAYLOAD_BYTES = 8 << 20
"""How much of one payload is kept; the rest is not read."""
PHASES = frozenset((
    "dynamo", "entire_frame_compile", "entire_backward_compile", "bytecode_tracing", "backend_compile", "build_guards",
    "create_aot_dispatcher_function", "aot_collect_metadata", "aot_trace_joint_graph", "inductor_compile",
    "fx_codegen_and_compile", "GraphLowering.run", "code_gen", "compile_file", "async_compile.precompile",
    "async_compile.wait", "PyCodeCache.load_by_key_path", "CachingAutotuner.benchmark_all_configs",
    "CachingAutotuner.coordinate_descent_tuning", "AotCodeCompiler.compile", "cudagraphify",
))  # fmt: skip
"""Phases that are reported; PyTorch times hundreds, most of them single passes."""

_HEADER = late_pattern(
    rb"[VDIWEC](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,6})\s+(\d{1,10}) [^\]\n]{1,4096}:\d{1,9}\] (\{.*)"
)
_WANTED = late_pattern(
    rb'\{"(?:str|dynamo_start|compilation_metrics|bwd_compilation_metrics|dynamo_output_graph|chromium_event|artifact)"'
)
_PLACE = late_pattern(r"user code at (.{1,1000}?:\d{1,9})\s*$", re.MULTILINE)
_REASON = late_pattern(r"^(?:Graph Break )?Reason: (.{1,2000})$", re.MULTILINE | re.IGNORECASE)
_CACHE = late_pattern(r"(fx_graph|aotautograd)_cache_(hit|miss|bypass|disabled)")
_REMOTE = {
    "inductor_fx_remote_cache": TorchCache.FX_GRAPH_REMOTE,
    "aotautograd_remote_cache": TorchCache.AOT_AUTOGRAD_REMOTE,
}
_MOST_LOOKUPS = 1000
_CACHES = {"fx_graph": TorchCache.FX_GRAPH, "aotautograd": TorchCache.AOT_AUTOGRAD}
_KEY = late_pattern(r'"key": ?"(\w{1,100})"')
_MOST_TEXTS = 100_000
_MOST_OPEN = 1000
_MOST_PHASES = 10_000
"""Phases that are open at once, counted by thread and name."""
_ZONE = 900.0


def is_trace(data: bytes) -> bool:
    """Whether these first bytes of a file are of such a trace."""
    return _HEADER.match(data[: data.find(b"\n") if b"\n" in data else LINE_BYTES]) is not None


class _Record:
    """One record while its payload comes in."""

    __slots__ = ("at", "clock", "cut", "fields", "kind", "offset", "payload", "pid", "size")

    def __init__(self, kind: str, fields: dict[str, Any], clock: float, pid: int, offset: int) -> None:
        self.kind, self.fields, self.clock, self.pid, self.offset = kind, fields, clock, pid, offset
        """`clock`: the header's timestamp, read as UTC of 1972, a leap year."""
        self.at: float | None = None
        self.payload: list[bytes] = []
        self.size = 0
        self.cut = False

    def add(self, line: bytes) -> None:
        """One line of payload."""
        self.size += len(line)
        if self.size > PAYLOAD_BYTES:
            self.cut = True
        else:
            self.payload.append(line[1:])

    @property
    def text(self) -> str:
        """The payload."""
        return b"\n".join(self.payload).decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """The payload as an object. Raises msgspec.DecodeError."""
        value = msgspec.json.decode(b"\n".join(self.payload))
        if not isinstance(value, dict):
            raise msgspec.DecodeError("not an object")
        return value


class TorchTraceReader:
    """Reads one process's trace. `source` becomes that of its events; `rank` is for records that name none."""

    def __init__(self, source: str, rank: int | None = None) -> None:
        self.source, self.rank = source, rank
        self._lines = LineSplitter(LINE_BYTES)
        self._offset = 0
        self._continued = False
        self._open: _Record | None = None
        self._texts: dict[int, str] = {}
        self._phases: dict[tuple[int, str], list[float]] = {}
        self._zone: float | None = None
        """Seconds by which the header's clock is ahead of UTC."""
        self._newest = 0.0
        """The newest moment of a phase record: the year of a header is the one that comes nearest to it."""

    @classmethod
    def of_file(cls, path: str) -> TorchTraceReader:
        """A reader for the file at `path`, whose name may hold the rank."""
        rank = _FILE_RANK.search(path.rpartition("/")[2])
        return cls(f"torch-trace:{path}", int(rank[1]) if rank else None)

    def feed(self, data: bytes) -> list[AnyEvent]:
        """The events that these bytes complete. Never raises, whatever the bytes."""
        return [event for line, offset in self._split(self._lines.take(data)) for event in self._line(line, offset)]

    def flush(self) -> list[AnyEvent]:
        """Events at the end of the file: of the unfinished line and the last record."""
        events = [
            event for line, offset in self._split(self._lines.rest() + b"\n") for event in self._line(line, offset)
        ]
        return [*events, *self._close()]

    def _split(self, block: bytes) -> Iterator[tuple[bytes, int]]:
        """The lines of a block with their offsets; of one that is too long only the beginning."""
        position = 0
        while position < len(block):
            end = block.find(b"\n", position)
            whole = end >= 0
            end = end if whole else len(block)
            if not self._continued:
                yield block[position : min(end, position + LINE_BYTES)], self._offset + position
            self._continued = not whole
            position = end + 1
        self._offset += len(block)

    def _line(self, line: bytes, offset: int) -> list[AnyEvent]:
        if line[:1] == b"\t":
            if self._open is not None:
                self._open.add(line)
            return []
        events = self._close()
        if not line.strip():
            return events
        found = _HEADER.fullmatch(line.rstrip(b"\r"))
        if found is None:
            return [*events, self._malformed(line, offset, "not a record of the trace")]
        if _WANTED.match(found[8]) is None:
            return events
        try:
            record = self._record(found, offset)
        except (msgspec.MsgspecError, ValueError, TypeError) as problem:
            return [*events, self._malformed(line, offset, str(problem))]
        if record is None:
            return events
        if "has_payload" in record.fields:
            self._open = record
            return events
        return [*events, *self._read(record)]

    def _record(self, found: re.Match[bytes], offset: int) -> _Record | None:
        fields = msgspec.json.decode(found[8])
        kind = next(iter(fields))
        if kind == "str":
            self._intern(fields["str"])
            return None
        if not isinstance(fields[kind], dict):
            raise TypeError(f"{kind} is not an object")
        record = _Record(kind, fields, _clock(found), int(found[7]), offset)
        if self._zone is not None:
            record.at = _nearest(record.clock, self._newest) - self._zone
        return record

    def _intern(self, pair: object) -> None:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], int):
            if len(self._texts) < _MOST_TEXTS:
                self._texts[pair[1]] = clip(pair[0])
        else:
            raise TypeError("str is not a text and a number")

    def _close(self) -> list[AnyEvent]:
        """Events of the record whose payload has ended."""
        record, self._open = self._open, None
        return self._read(record) if record is not None else []

    def _read(self, record: _Record) -> list[AnyEvent]:
        try:
            return [msgspec.structs.replace(event, source=self.source) for event in self._events(record)]
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError, OverflowError) as problem:
            return [self._malformed(record.kind.encode(), record.offset, f"{type(problem).__name__}: {problem}")]

    def _events(self, record: _Record) -> list[AnyEvent]:
        about = record.fields[record.kind]
        match record.kind:
            case "chromium_event":
                return self._phase(record)
            case "dynamo_start":
                return [self._began(record, about)]
            case "compilation_metrics":
                common = self._common(record, about)
                return [_compiled(about, common), *_remote_lookups(about, common)]
            case "bwd_compilation_metrics":
                common, seconds = self._common(record, about), _backward_seconds(about)
                backward = BackwardCompiled(**common, began=_moment(about.get("start_time")), seconds=seconds)
                return [backward, *_remote_lookups(about, common)]
            case "dynamo_output_graph":
                return [GraphCaptured(**self._common(record))]
            case _:
                return self._artifact(record, str(about.get("name", "")))

    def _artifact(self, record: _Record, name: str) -> list[AnyEvent]:
        if name in ("dynamo_graph_break_reason", "graph_break_reason"):
            place, reason = _PLACE.search(record.text), _REASON.search(record.text)
            detail = _detail(record.text, reason.end()) if reason else record.text[:2000]
            return [GraphBroken(**self._common(record), place=clip(place[1]) if place else "", reason=clip(detail))]
        if name in ("recompile_reasons", "recompile_reason"):
            return [FrameRecompiled(**self._common(record), reasons=_reasons(record.text))]
        if name == "triton_kernel_info":
            return [TritonKernelsCompiled(**self._common(record), kernels=len(record.json()))]
        found = _CACHE.fullmatch(name)
        return [] if found is None else [self._lookup(record, _CACHES[found[1]], TorchCacheOutcome(found[2]))]

    def _lookup(self, record: _Record, cache: TorchCache, outcome: TorchCacheOutcome) -> TorchCacheLookedUp:
        """The event of a lookup. The key comes first in the payload, so one that was cut still has it."""
        about: dict[str, Any] = {}
        if not record.cut:
            about = record.json()
        key = about.get("key") or (found[1] if (found := _KEY.search(record.text[:4096])) else "")
        reason = about.get("cache_bypass_reason") or about.get("cache_bypass_exception") or ""
        saved = _number(about.get("time_saved_ms"))
        if saved is None and (nanoseconds := _number(about.get("time_saved_ns"))) is not None:
            saved = nanoseconds / 1e6
        return TorchCacheLookedUp(
            **self._common(record, about),
            cache=cache,
            outcome=outcome,
            key=clip(str(key)),
            reason=clip(str(reason)),
            saved_seconds=saved / 1000 if saved is not None else None,
        )

    def _began(self, record: _Record, about: dict[str, Any]) -> FrameCompileBegan:
        stack = about.get("stack")
        frame = stack[-1] if isinstance(stack, list) and stack and isinstance(stack[-1], dict) else {}
        number = frame.get("filename")
        file = self._texts.get(number, "") if isinstance(number, int) else clip(str(number or ""))
        name = clip(str(frame.get("name") or ""))
        return FrameCompileBegan(**self._common(record), function=name, file=file, line=_whole(frame.get("line")))

    def _phase(self, record: _Record) -> list[AnyEvent]:
        """Events of a phase that begins or ends. Its clock also shows the year and zone of the headers."""
        if record.cut:
            return []
        about = record.json()
        moment, name, kind = _number(about.get("ts")), str(about.get("name", "")), about.get("ph")
        if moment is None or not is_in_calendar(moment / 1e6):
            return []
        if self._zone is None:
            self._newest = moment / 1e6
            self._zone = round((_nearest(record.clock, self._newest) - self._newest) / _ZONE) * _ZONE
        elif self._newest < moment / 1e6 < self._newest + HALF_YEAR:  # else one broken record would set all years
            self._newest = moment / 1e6
        if name not in PHASES or kind not in ("B", "E"):
            return []
        phase = _whole(about.get("tid")) or 0, name
        begun = self._phases.get(phase)
        if kind == "B":
            if begun is None and len(self._phases) < _MOST_PHASES:
                begun = self._phases[phase] = []
            if begun is not None and len(begun) < _MOST_OPEN:
                begun.append(moment)
            return []
        if not begun:
            return []
        if len(begun) == 1:
            del self._phases[phase]
        arguments = about.get("args")
        common = self._common(record, arguments if isinstance(arguments, dict) else {})
        common["at"] = moment / 1e6
        return [CompilePhaseEnded(**common, phase=name, seconds=max(0.0, moment - begun.pop()) / 1e6)]

    def _common(self, record: _Record, about: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fields of every event. What a record says of itself takes precedence over the context it was written in."""
        fields = record.fields
        rank = _whole(fields.get("rank", self.rank))
        named = (about or {}).get("compile_id")
        is_named = isinstance(named, str) and 0 < len(named) <= 100
        return {
            "at": record.at,
            "offset": record.offset,
            "pid": record.pid,
            "rank": rank,
            "compile_id": clip(str(named)) if is_named else _compile_id(fields),
            "attempt": _whole(fields.get("attempt")),
        }

    def _malformed(self, line: bytes, offset: int, reason: str) -> LineMalformed:
        text = clip(line[:200].decode("utf-8", "replace"))
        return LineMalformed(family=FAMILY, text=text, reason=clip(reason), source=self.source, offset=offset)


def _compiled(about: dict[str, Any], common: dict[str, Any]) -> FrameCompiled:
    failure = about.get("fail_reason") or about.get("fail_type") or ""
    return FrameCompiled(
        **common,
        function=clip(str(about.get("co_name") or "")),
        file=clip(str(about.get("co_filename") or "")),
        line=_whole(about.get("co_firstlineno")),
        began=_moment(about.get("start_time")),
        seconds=_number(about.get("entire_frame_compile_time_s")),
        backend_seconds=_number(about.get("backend_compile_time_s")),
        inductor_seconds=_number(about.get("inductor_compile_time_s")),
        operators=_whole(about.get("graph_op_count")),
        guards=_whole(about.get("guard_count")),
        cache_size=_whole(about.get("cache_size")),
        failure=clip(str(failure)),
    )


def _backward_seconds(about: dict[str, Any]) -> float | None:
    """The whole compile of a backward graph. Old versions of PyTorch report the time in Inductor alone, which other
    back ends do not have."""
    whole = _number(about.get("backward_cumulative_compile_time_us"))
    return whole / 1e6 if whole is not None else _number(about.get("inductor_compile_time_s"))


def _remote_lookups(about: dict[str, Any], common: dict[str, Any]) -> Iterator[TorchCacheLookedUp]:
    """Lookups in the remote caches, which only the totals of a compile report, with the keys where they name them."""
    for prefix, cache in _REMOTE.items():
        for outcome in (TorchCacheOutcome.HIT, TorchCacheOutcome.MISS):
            listed = about.get(f"{prefix}_{outcome}_keys") or ""
            keys = [str(key) for key in listed] if isinstance(listed, list) else str(listed).split(",")
            for number in range(min(_whole(about.get(f"{prefix}_{outcome}_count")) or 0, _MOST_LOOKUPS)):
                key = clip(keys[number].strip()) if number < len(keys) else ""
                yield TorchCacheLookedUp(**common, cache=cache, outcome=outcome, key=key)


def _clock(found: re.Match[bytes]) -> float:
    """The header's timestamp, read as UTC of 1972, a leap year."""
    month, day, hour, minute, second = (int(found[index]) for index in range(1, 6))
    moment = datetime(1972, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    return moment + int(found[6].ljust(6, b"0")) / 1e6


def _nearest(clock: float, moment: float) -> float:
    """A header's timestamp in the year in which it comes nearest to this moment."""
    local = datetime.fromtimestamp(clock, UTC)
    now = datetime.fromtimestamp(moment, UTC).year
    leap_day = (local.month, local.day) == (2, 29)
    years = [year for year in (now - 1, now, now + 1) if not leap_day or calendar.isleap(year)]
    times = [local.replace(year=year).timestamp() for year in years]
    return min(times, key=lambda time: abs(time - moment), default=clock)


def _compile_id(fields: dict[str, object]) -> str:
    """`!<compiled autograd>/<frame>/<compile>` as PyTorch writes it; "" outside of any compile."""
    autograd, frame, count = (
        _whole(fields.get(name)) for name in ("compiled_autograd_id", "frame_id", "frame_compile_id")
    )
    inner = f"{frame}/{count}" if frame is not None and count is not None else ""
    return inner if autograd is None else f"!{autograd}" + (f"/{inner}" if inner else "")


def _detail(text: str, start: int) -> str:
    """The first line and its explanation: `Failed to trace builtin operator: Dynamo does not know how to …`."""
    rest = [line.strip() for line in text[start : start + 4000].strip().split("\n")]
    explanation = next((line.partition(":")[2].strip() for line in rest if line.startswith("Explanation:")), "")
    said = _REASON.search(text)
    first = rest[0] if rest and rest[0] and explanation else (said[1] if said else "")
    return f"{first}: {explanation}" if explanation else first


def _reasons(text: str) -> tuple[str, ...]:
    """The reasons in a payload: one per line, or a JSON list of texts; at most twenty."""
    try:
        listed = msgspec.json.decode(text.encode())
    except MALFORMED:
        listed = text.split("\n")
    items = listed if isinstance(listed, list) else [listed]
    return tuple(clip(str(item)) for item in items[:20] if str(item).strip())


def _number(value: object) -> float | None:
    """A finite number, not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if -1e300 < number < 1e300 else None


def _moment(value: object) -> float | None:
    """Seconds since the epoch that a calendar has."""
    number = _number(value)
    return number if number is not None and is_in_calendar(number) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else None
