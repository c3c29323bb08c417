"""The documentation: the site builds without a warning, and every command that it shows is one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.cli.command_tree import whole_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_COMMAND = re.compile(r"^(?:\$ (?:.*[|&] )?| {4})(neurontop(?: [^|#>\n]*)?)", re.MULTILINE)


def _commands(text: str) -> list[str]:
    """Commands in the blocks of a page, without comments, variables and what they are piped into."""
    return [match[1].split("  ")[0].strip() for match in _COMMAND.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    parser = whole_parser()
    for command in _commands(page.read_text(encoding="utf-8")):
        words = shlex.split(command)[1:]
        if words and not words[0].startswith("-"):
            parser.parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_to_a_page_that_the_site_makes_says_so_to_who_reads_the_checkout(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", line):
            is_there = (page.parent / link).exists()
            assert is_there or "`make docs`" in "".join(lines[number : number + 2]), f"{page}: {link}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_heading_that_a_link_names_is_there(page: Path) -> None:
    for link, heading in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        named = page.parent / link if link else page
        if named.exists():  # else the site makes it
            headings = re.findall(r"^#+ (.+)$", named.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings], link


def test_commands_are_found_in_pages() -> None:
    assert sum(len(_commands(page.read_text(encoding="utf-8"))) for page in PAGES) > 40


def test_every_test_that_the_page_of_findings_names_is_there_and_each_finding_has_one() -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    findings = re.split(r"^### (\d+)\. ", page, flags=re.MULTILINE)[1:]
    assert sorted(map(int, findings[::2])) == list(range(1, 26))
    for number, text in zip(findings[::2], findings[1::2], strict=True):
        named = re.findall(r"`(test_\w+)`", text)
        assert named, number
        assert [name for name in named if f"def {name}(" not in tests] == [], number


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for name in ("commands", "settings", "notebook", "events", "metrics", "api"):
        assert len((tmp_path / "site" / "reference" / name / "index.html").read_text()) > 20_000, name
    page = (tmp_path / "site" / "index.html").read_text()
    assert not re.findall(r'(?:src|href)="https?://(?!github\.com|squidfunk\.github\.io)[^"]*\.(?:js|css|woff2?)', page)
