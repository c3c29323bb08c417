# ruff: noqa: E501 (lines of a page)
"""The page of one comparison and its table, out of the lines of results."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Lines = Sequence[Mapping[str, Any]]
WHAT = {
    "features": "PyTorch's features, programs of our own",
    "operators": "PyTorch's database of operators (`op_db`), float32 and int64, first samples, with backward where supported",
    "databases": "PyTorch's databases of modules, higher-order operators, custom operators, autograd functions, optimizers",
    "transformers": "Hugging Face architectures from their configurations, tiny, forward and backward",
    "vision": "torchvision's classification and segmentation models, tiny inputs, forward and backward",
}
_HEAD = """# Compatibility

What `torch.compile(backend="neurontop")` does with other people's programs, compared with `backend="inductor"`. This page
is written by `make compat` from what it measured; nothing in it is typed by hand.

Each program runs without a compiler, with Inductor and with our back end: cold on an empty cache, then in another
process with the cache that the first one filled and with an empty folder of Inductor. **Same** is the same result bit by
bit; **within** is no farther from Inductor's result than that is from the result without a compiler; **near** is farther from it,
but no farther from the result without a compiler than Inductor's is; **form** is a program whose content is arbitrary (uninitialized
memory: two runs of Inductor differ), of which shape and type are compared. Everything else that Inductor compiles is a **defect**. A graph
that cannot be cached is compiled in the job, and says why.
"""


def page(found: Mapping[str, Lines], names: Mapping[str, Sequence[str]]) -> str:
    """The whole page."""
    import torch

    from tests.compat import programs

    machine = f"PyTorch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}"
    gpu = "with CUDA" if torch.cuda.is_available() else "no GPU: programs for CUDA were not run"
    if programs.device() != "cpu":
        gpu = f"computed on {torch.cuda.get_device_name()}"
    parts = [_HEAD, f"Measured with {machine}, {gpu}.\n", table(found, names), *_compared(found, names)]
    parts += _details(found)
    return "\n".join(parts)


def table(found: Mapping[str, Lines], names: Mapping[str, Sequence[str]]) -> str:
    """A row per suite."""
    rows = [
        "| Suite | programs | not run yet | Inductor compiles | same | within | near | form | defects | warm: all from the cache "
        "| not cached, with a reason |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for suite, lines in found.items():
        warm = _by_name(lines, "warm")
        cold = _answered(lines)
        counted = [name for name in cold if _inductor_compiles(cold[name])]
        kinds = Counter(_kind(cold[name], warm.get(name, {})) for name in counted)
        hits = sum(_from_cache(warm.get(name, {})) for name in counted)
        apart = sum(bool(cold[name].get("not_cached")) for name in counted)
        missing = len(set(names.get(suite, ())) - set(cold))
        cells = [
            f"**{suite}**: {WHAT[suite]}",
            len(names.get(suite, ())),
            missing,
            len(counted),
            *(kinds[kind] for kind in ("same", "within", "near", "form", "defect")),
            hits,
            apart,
        ]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows) + "\n"


def _compared(found: Mapping[str, Lines], names: Mapping[str, Sequence[str]]) -> list[str]:
    """The programs of each suite that is not finished: a later session goes on with the others."""
    parts = []
    for suite, lines in found.items():
        answered = _answered(lines)
        compared = [f"`{name}`" for name in names.get(suite, ()) if name in answered]
        if 0 < len(compared) < len(names.get(suite, ())):
            parts.append(f"Run of **{suite}** so far: {', '.join(compared)}.\n")
    return parts


def _details(found: Mapping[str, Lines]) -> list[str]:
    parts = []
    if wrong := defects(found):
        rows = [f"- `{name}`: {_escaped(why)}" for name, why in sorted(wrong.items())]
        parts.append("## Defects\n\n" + "\n".join(rows) + "\n")
    reasons: Counter[str] = Counter()
    left: Counter[str] = Counter()
    theirs = []
    for lines in found.values():
        for name, line in _by_name(lines, "cold").items():
            reasons.update(set(line.get("not_cached", ())))
            if "left_out" in line:
                left[line["left_out"].partition(":")[0]] += 1
            if line.get("inductor_fails") and not line.get("we_fail"):
                theirs.append(f"- `{name}`: {_escaped(line['inductor_fails'])}")
    if reasons:
        rows = [f"| {count} | {_escaped(reason)} |" for reason, count in reasons.most_common(60)]
        parts.append(
            "## Why graphs were not cached\n\n| programs | reason |\n| ---: | --- |\n" + "\n".join(rows) + "\n"
        )
    if left:
        rows = [f"| {count} | {_escaped(reason)} |" for reason, count in left.most_common(30)]
        parts.append("## Left out\n\n| programs | reason |\n| ---: | --- |\n" + "\n".join(rows) + "\n")
    if theirs:
        parts.append("## Compiled by ours and not by Inductor\n\n" + "\n".join(theirs[:60]) + "\n")
    return parts


def defects(found: Mapping[str, Lines]) -> dict[str, str]:
    """Program → what is wrong with it."""
    wrong = {}
    for lines in found.values():
        warm = _by_name(lines, "warm")
        for name, line in _by_name(lines, "cold").items():
            second = warm.get(name, {})
            if _inductor_compiles(line) and _kind(line, second) == "defect":
                bad = next(one for one in (line, second) if _alone(one) == "defect")
                when = "cold" if bad is line else "from the cache"
                wrong[name] = f"{when}: {bad.get('we_fail') or bad.get('words') or 'a result of another form'}"
    return wrong


def words(cold: Mapping[str, Any], warm: Mapping[str, Any]) -> str:
    """One program, for the terminal."""
    if "left_out" in cold:
        return f"{cold['program']}: left out: {cold['left_out'][:200]}"
    if cold.get("inductor_fails"):
        ours = "ours fails too" if cold["we_fail"] else "ours compiles"
        return f"{cold['program']}: Inductor fails ({cold['inductor_fails'][:100]}), {ours}"
    kind = _kind(cold, warm)
    more = [part for line in (cold, warm) for part in (line.get("we_fail"), line.get("words")) if part]
    reasons = "; ".join(dict.fromkeys(cold.get("not_cached", ())))
    return (
        f"{cold['program']}: {kind.upper() if kind == 'defect' else kind} ({cold.get('compiled', 0)} compiled, "
        f"{warm.get('loaded', 0)} loaded, {warm.get('compiled', 0)} compiled warm, {cold.get('seconds', 0)} s, "
        f"{warm.get('seconds', 0)} s) {' '.join(more)[:400]} {'not cached: ' + reasons[:200] if reasons else ''}".rstrip()
    )


def _answered(lines: Lines) -> dict[str, Mapping[str, Any]]:
    """Program → its cold line, of those that are done: also from the cache, where there is a result."""
    warm = _by_name(lines, "warm")
    return {name: line for name, line in _by_name(lines, "cold").items() if name in warm or "result" not in line}


def _inductor_compiles(line: Mapping[str, Any]) -> bool:
    return "left_out" not in line and not line.get("inductor_fails")


def _from_cache(warm: Mapping[str, Any]) -> bool:
    return bool(warm.get("result")) and not warm.get("compiled") and not warm.get("not_cached")


def _kind(cold: Mapping[str, Any], warm: Mapping[str, Any]) -> str:
    """The worse of both."""
    kinds = [_alone(line) for line in (cold, warm) if line]
    return next((kind for kind in ("defect", "form", "near", "within") if kind in kinds), "same")


def _alone(line: Mapping[str, Any]) -> str:
    if line.get("we_fail"):
        return "defect"
    if line["mode"] == "warm" and "left_out" in line:
        return "same" if line["left_out"] == "not run" else "defect"
    return {"differs": "defect"}.get(line.get("result", "differs"), line.get("result", "defect"))


def _by_name(lines: Lines, mode: str) -> dict[str, Mapping[str, Any]]:
    return {line["program"]: line for line in lines if line["mode"] == mode}


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")[:300]
