"""Pages of the site that are made from the program itself, at each build: mkdocs calls the functions below."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "https://github.com/neuron-top/neuron-top/blob/main/"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the pictures that lie outside of this folder."""
    pages = {
        "commands": commands,
        "settings": settings,
        "notebook": notebook,
        "events": events,
        "metrics": metrics,
        "api": api,
    }
    for name, make in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=make()))
    for picture in (ROOT / "assets" / "screenshots").iterdir():
        files.append(File.generated(config, f"assets/screenshots/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links of a page that also stands in the checkout lead to the site's pictures, and to the source else."""
    markdown = markdown.replace("](../assets/screenshots/", "](assets/screenshots/")
    return re.sub(r"\]\(\.\./(?!tutorials|reference)([\w./-]+)\)", rf"]({SOURCE}\1)", markdown)


def commands() -> str:
    """The help of every command."""
    from neuron_top.cli.command_tree import whole_parser

    parts = ["# Commands", "What `neurontop COMMAND --help` says."]
    _describe(whole_parser(), "neurontop", parts)
    return "\n\n".join(parts) + "\n"


def _describe(parser: argparse.ArgumentParser, name: str, parts: list[str]) -> None:
    children = next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
    if name != "neurontop":
        depth = "##" if name.count(" ") == 1 else "###"
        parser.prog = name
        parts.append(f"{depth} {name}\n\n```text\n{parser.format_help().rstrip()}\n```")
    for word, child in children.choices.items() if children is not None else ():
        _describe(child, f"{name} {word}", parts)


def settings() -> str:
    """Every setting with its type, default and text."""
    from neuron_top import settings as module

    rows = ["# Settings", module.__doc__ or "", "| Setting | Type | Default | Meaning |\n| --- | --- | --- | --- |"]
    defaults = module.Settings()
    for name, kind, text in _fields(module.Settings):
        value = getattr(defaults, name)
        rows[-1] += f"\n| `{name}` | {kind} | `{value!r}` | {text} |"
    return "\n\n".join(rows) + "\n"


def notebook() -> str:
    """The public functions, tables and columns."""
    from neuron_top import notebook as module
    from neuron_top.views import tables

    parts = ["# Tables for notebooks", module.__doc__ or ""]
    functions = (module.open_run, module.open_cache, module.open_fleet)
    parts += [f"## neuron_top.{function.__name__}\n\n{inspect.getdoc(function)}" for function in functions]
    for kind in (module.RunTables, module.CacheTables, module.FleetTables):
        rows = [f"## {kind.__name__}"]
        for name, member in vars(kind).items():
            text = inspect.getdoc(getattr(member, "func", member))
            if not name.startswith("_") and text:
                rows.append(f"- `{name}`: {text}")
        parts.append("\n".join([rows[0], "", *rows[1:]]))
    rows_of = ("LookupCount", "CompileRow", "WaitRow", "SampleRow", "MemoryKindRow", "StepRow")
    parts += [f"### Columns of {row}\n\n" + _table(getattr(tables, row)) for row in rows_of]
    return "\n\n".join(parts) + "\n"


def events() -> str:
    """Every event with its fields, by name."""
    from neuron_top import events as module

    parts = ["# Events", "What recordings hold, one JSON object each; `type` names the event."]
    kinds = sorted(typing.get_args(module.AnyEvent), key=lambda kind: kind.__name__)
    parts += [f"## {kind.__name__}\n\n{inspect.getdoc(kind) or ''}\n\n" + _table(kind) for kind in kinds]
    return "\n\n".join(parts) + "\n"


def metrics() -> str:
    """The metrics that the demo's run has, and those of a core."""
    from neuron_top.dashboard.metrics import Views
    from neuron_top.services.demo import demo_settings
    from neuron_top.services.runs import LAST, RunService
    from neuron_top.settings import Settings
    from neuron_top.views.core_metrics import CORE_METRICS

    with demo_settings(Settings()) as shown:
        service = RunService(shown)
        feeds: Any = SimpleNamespace(cached_view=lambda run, view: service.read_end(LAST, view))
        found = {metric.name: metric.documentation for metric in Views(feeds).collect()}
    found |= {f"neurontop_core_{metric.prometheus}": metric.help for metric in CORE_METRICS}
    rows = [f"| `{name}` | {text} |" for name, text in sorted(found.items())]
    head = (
        "# Metrics\n\nAt `/metrics` of `neurontop serve`. An unknown value is a series that is absent, never zero.\n\n"
    )
    return head + "| Metric | Meaning |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def api() -> str:
    """Every endpoint."""
    from neuron_top.dashboard.api import endpoints

    nothing: Any = SimpleNamespace()
    table = endpoints(*[nothing] * len(inspect.signature(endpoints).parameters))
    rows = [f"| {row.method} | `/api/{row.path}` | {row.summary} |" for row in table]
    head = "# JSON API\n\nDescribed as OpenAPI 3.1 at `/api/openapi.json` of `neurontop serve`.\n\n"
    return head + "| Method | Path | Answer |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"


def _table(kind: type) -> str:
    rows = [f"| `{name}` | {type_} | {text} |" for name, type_, text in _fields(kind)]
    return "| Field | Type | Meaning |\n| --- | --- | --- |\n" + "\n".join(rows) if rows else ""


def _fields(kind: type) -> list[tuple[str, str, str]]:
    """Name, type and docstring of the fields that a class declares itself."""
    body = next(node for node in ast.walk(ast.parse(inspect.getsource(kind))) if isinstance(node, ast.ClassDef))
    found: list[tuple[str, str, str]] = []
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            told = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            kind_text = ast.unparse(node.annotation).replace("|", "or")
            found.append((node.target.id, kind_text, str(told).replace("\n", " ").replace("|", "\\|")))
    return found
