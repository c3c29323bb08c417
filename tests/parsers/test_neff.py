"""NEFF headers and archives in every variant, hostile ones included."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.parsers import neff_payload
from neuron_top.parsers.neff import HEAD_BYTES, head_problem, read_header
from neuron_top.parsers.neff_payload import Payload, read_payload
from tests.builders import DEFINITION, KELF, SMALL_PAYLOAD, archive, neff


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    """The payload in pieces."""
    body = data[HEAD_BYTES:]
    return (body[start : start + size] for start in range(0, len(body), size))


def payload_of(data: bytes, size: int = 65536) -> Payload:
    """Header and archive of a whole file."""
    header = read_header(data[:HEAD_BYTES], len(data))
    assert header is not None
    return read_payload(header, pieces(data, size))


def test_a_good_file_passes_and_reports_what_it_needs() -> None:
    data = neff(name=b"/tmp/work/model.MODULE_176283691422090868+f7f529f3.neff", features=0x402)
    assert head_problem(data[:HEAD_BYTES], len(data)) is None
    header = read_header(data[:HEAD_BYTES], len(data))
    assert header is not None
    assert header.module == "MODULE_176283691422090868+f7f529f3"
    assert header.features == ("collective offset", "virtual cores")
    assert (header.cores, header.version, header.warnings) == (1, "2.0", ())
    assert (header.uuid, header.cores_per_node) == (b"u".hex() * 16, (1,))


@pytest.mark.parametrize("length", [0, 5, 24, 500, 1023])
def test_a_file_shorter_than_its_header_is_not_valid(length: int) -> None:
    data = neff()[:length]
    assert head_problem(data, length) is not None
    assert read_header(data, length) is None


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_length_than_the_header_says_is_not_valid(change: int) -> None:
    data = neff()
    size = len(data) + change
    assert head_problem(data[:HEAD_BYTES], size) is not None


def test_a_data_size_that_counts_the_header_in_is_tolerated_with_a_warning() -> None:
    plain = neff()
    data = neff(data_size=len(plain))
    header = read_header(data[:HEAD_BYTES], len(data))
    assert header is not None
    assert header.warnings == ("the header's data size counts the header in",)
    assert payload_of(data).sound


def test_a_name_that_fills_its_field_ends_with_the_field() -> None:
    data = neff(name=b"x" * 256)
    header = read_header(data[:HEAD_BYTES], len(data))
    assert header is not None
    assert header.name == "x" * 256


@pytest.mark.parametrize("package", [1, 2])
@pytest.mark.parametrize("size", [1, 7, 512, 100_000])
def test_any_cut_of_the_bytes_gives_the_same_payload(package: int, size: int) -> None:
    payload = payload_of(neff(package=package), size)
    assert payload == payload_of(neff(package=package))
    assert (payload.digest_ok, payload.problems, payload.compressed) == (True, (), package == 2)
    assert (payload.target, payload.subgraphs, payload.macs, payload.code_bytes) == ("*", 1, 1234, 64)
    assert [(one.name, one.size) for one in (*payload.inputs, *payload.outputs)] == [("input0", 400), ("output0", 40)]
    assert payload.constants_bytes == 1000
    assert payload.scratch_bytes == 64 * 1024**2


def test_two_sub_graphs_add_up() -> None:
    kelf = KELF.replace(b"]", b',{"definition":"sg01/def.json","name":"sg01"}]')
    members = (("kelf-0.json", kelf), ("sg00/def.json", DEFINITION), ("sg01/def.json", DEFINITION))
    payload = payload_of(neff(members))
    assert (payload.subgraphs, payload.constants_bytes, payload.problems) == (2, 2000, ())


def test_a_wrong_digest_is_reported_and_an_unknown_package_version_is_not_judged() -> None:
    assert payload_of(neff(digest=b"\1" * 32)).digest_ok is False
    unknown = payload_of(neff(package=7))
    assert unknown.digest_ok is None
    assert unknown.sound


def test_a_cut_archive_is_reported() -> None:
    tar = archive(SMALL_PAYLOAD)
    cut = payload_of(neff(package=1, payload=tar[:1500]))
    assert any("ends inside" in problem for problem in cut.problems)
    stump = gzip.compress(tar, 1, mtime=0)[:-30]
    assert any("gzip" in problem for problem in payload_of(neff(payload=stump)).problems)


@pytest.mark.parametrize("size", [b"-0000000777\0", b"0000001_000\0", b"\x80" + b"\x7f" * 11])
def test_a_member_of_an_impossible_size_ends_the_archive_with_a_problem(size: bytes) -> None:
    tar = bytearray(archive((("sg00/pe.bin", b"12"),)))
    tar[124:136] = size
    tar[148:156] = b" " * 8
    tar[148:156] = b"%06o\0 " % sum(tar[:512])
    found = payload_of(neff(package=1, payload=bytes(tar)))
    assert (found.member_count, found.code_bytes, found.problems) == (0, 0, ("tar: a header does not add up",))


@pytest.mark.parametrize("number", ["-5", '"nan"', '"inf"', "1e400", "9" * 400])
def test_a_number_that_cannot_be_is_unknown(number: str) -> None:
    stats = f'{{"hlo_mac_count": {number}}}'.encode()
    assert payload_of(neff((("hlo_stats.json", stats),))).macs is None


@pytest.mark.parametrize("size", ["-5", "9" * 400])
def test_variables_of_an_impossible_size_add_nothing(size: str) -> None:
    variables = ", ".join(
        f'"{kind}": {{"type": "{kind}", "size": {size}, "backing_variable_off": {size}}}'
        for kind in ("file", "virtual", "tmp-buf", "input")
    )
    found = payload_of(neff((("sg00/def.json", f'{{"var": {{{variables}}}}}'.encode()),)))
    assert (found.constants_bytes, found.scratch_bytes) == (0, 0)
    assert [each.size for each in found.inputs] == [0]


def test_names_that_lead_out_and_links_are_reported() -> None:
    problems = payload_of(neff((("../x", b"1"), ("/etc/passwd", b"2")))).problems
    assert sum("leads out" in problem for problem in problems) == 2


def test_a_definition_that_is_not_there_is_reported() -> None:
    assert any("not in the archive" in problem for problem in payload_of(neff((("kelf-0.json", KELF),))).problems)


def test_a_long_member_name_is_read_whole() -> None:
    name = "sg00/" + "n" * 300 + ".bin"
    assert payload_of(neff(((name, b"12"),))).members[0].name == name


def test_a_bomb_is_left_unread_and_memory_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neff_payload, "INFLATED_LIMIT", 64 * 1024**2)
    bomb = neff(payload=gzip.compress(archive((("big.bin", b"\0" * 200 * 1024**2),)), 1, mtime=0))
    tracemalloc.start()
    payload = payload_of(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert any("not read further" in problem for problem in payload.problems)
    assert peak < 64 * 1024**2


def test_a_deeply_nested_document_is_a_problem_and_no_crash() -> None:
    nested = (("sg00/def.json", b'{"var":' * 5000), ("kelf-0.json", b"[" * 100_000))
    assert len(payload_of(neff(nested)).problems) >= 2


@settings(deadline=None)
@given(st.binary(max_size=4096), st.integers(1, 600))
def test_no_payload_makes_the_reader_raise(body: bytes, size: int) -> None:
    for package in (1, 2, 3):
        payload_of(neff(package=package, payload=body), size)
        payload_of(neff(package=package, payload=gzip.compress(body)), size)


@settings(deadline=None)
@given(st.data())
def test_no_damaged_archive_makes_the_reader_raise(data: st.DataObject) -> None:
    tar = bytearray(archive(SMALL_PAYLOAD))
    for _ in range(data.draw(st.integers(1, 8))):
        tar[data.draw(st.integers(0, len(tar) - 1))] = data.draw(st.integers(0, 255))
    payload_of(neff(package=1, payload=bytes(tar)))


@settings(deadline=None)
@given(st.binary(max_size=1100), st.integers(0, 2**63))
def test_no_header_makes_the_reader_raise(head: bytes, size: int) -> None:
    head_problem(head, size)
    read_header(head, size)


def test_names_from_an_archive_move_no_cursor() -> None:
    evil = "\x1b[2J\x07"
    definition = json.dumps({"var": {evil: {"type": "input", "size": 4}}}).encode()
    kelf = json.dumps({"graphs": [{"definition": f"{evil}/def.json"}], "target": evil}).encode()
    long = "d" * 120 + evil + ".bin"
    data = neff(
        name=evil.encode(), members=[("kelf-0.json", kelf), ("sg00/def.json", definition), (evil, b""), (long, b"x")]
    )
    header = read_header(data[:1024], len(data))
    assert header is not None
    payload = read_payload(header, [data[1024:]])
    shown = [header.name, *(member.name for member in payload.members), *payload.problems, payload.target or ""]
    assert all(text.isprintable() for text in (*shown, *(tensor.name for tensor in payload.inputs)))
    assert payload.inputs
