"""Why graphs missed, in words: a sentence for each code. Change any of them: nothing but screens and texts changes."""

from __future__ import annotations

from datetime import datetime

from neuron_top.cache.model.failures import FailureClass
from neuron_top.cache.model.states import State
from neuron_top.explain.flag_changes import FlagsDifference
from neuron_top.explain.kinds import CauseCode, CauseValue, CauseValues
from neuron_top.units import counted
from neuron_top.views.entry_states import MEANINGS
from neuron_top.views.failure_advice import ADVICE

_SAME_GRAPH_OTHER_FLAGS = "the same graph is cached under other flags"
_FAILED = "its compile failed before, and the failure is served from the cache"
_REMOVED = "it was removed by {user}@{host} on {at} ({verb}: {policy})"
_BRANCH = "a new branch, a tensor that is printed or logged, or a moved mark_step"
_MOVED = "a graph break or mark_step moved ({before} operators, now {now})"
_LAYERS = "another number of layers: {before} inputs became {now}"
_NO_NEW_SHAPE = "no new shape of weight"
_TIED = "weights tied or untied, or a value that is given instead of folded in"
_KEPT = "a tensor that is printed, logged or kept, or a moved mark_step"

SENTENCES = {
    CauseCode.NO_ENTRY: "this cache has no entry of that name, and its journal names none; without the graph itself "
    "nothing can be compared",
    CauseCode.NONE_ALIKE: "{compared:graph} of about its size and time compared, none resembles it: it is new here",
    CauseCode.NOTHING_BEFORE: "nothing that it can be compared with was in this cache before it: it is new here",
    CauseCode.EXTRA_GRAPH: "a new graph: it uses the inputs or outputs of another graph of the job, so something was "
    "put between them (clipping, a norm that is printed, a branch, a moved mark_step)",
    CauseCode.FAILED: _FAILED,
    CauseCode.FAILED_WITH_MESSAGE: f"{_FAILED}: {{message}}; {{failure}}",
    CauseCode.FAILED_WITHOUT_MESSAGE: f"{_FAILED}: no text; {{failure}}",
    CauseCode.INVISIBLE: "its entry is of an old client (no model.done): newer clients do not see it and compile again",
    CauseCode.NOT_USABLE: "its entry is {state}",
    CauseCode.EVICTED: f"{_REMOVED}; `neurontop cache restore {{plan}}`, run by {{user}}, restores it",
    CauseCode.EVICTED_FOR_GOOD: _REMOVED,
    CauseCode.OTHER_COMPILER: "another compiler: it is cached for {cached}, and was wanted for {wanted}",
    CauseCode.OTHER_COMPILER_TOO: "another compiler, too: {cached} became {wanted}",
    CauseCode.OTHER_TORCH: "another PyTorch: {before} became {now}",
    CauseCode.OTHER_FLAGS: "other flags: {flags}",
    CauseCode.OTHER_FLAGS_TOO: "other flags, too: {flags}",
    CauseCode.OTHER_FLAGS_HERE: f"{_SAME_GRAPH_OTHER_FLAGS} ({{flags}})",
    CauseCode.OTHER_FLAGS_UNKNOWN: f"{_SAME_GRAPH_OTHER_FLAGS} (not known)",
    CauseCode.FLAGS_FILE_FORM: "the same graph and flags under another key: one client writes compile_flags.json, the "
    "other .txt",
    CauseCode.KEY_FORM: "the same graph under another form of key (decimal or hexadecimal): another client wrote it",
    CauseCode.OTHER_ROOT: "another root than expected: it is cached in {root}",
    CauseCode.SAME_STRUCTURE: "the same operators, shapes and constants: what differs is finer than that (names, "
    "layout, metadata)",
    CauseCode.WORLD_SIZE: "the groups of workers that exchange tensors changed ({before} → {now})",
    CauseCode.DTYPE_OF_MOST: "most numbers were {before} and are {now} (autocast, model dtype, or --auto-cast)",
    CauseCode.DTYPE_OF_INPUTS: "{count:input} of another type: {dtypes}",
    CauseCode.ORDER: "the same operators in another order: code was moved, or traced in another order",
    CauseCode.SPLIT: f"a part of it became a graph of its own: {_MOVED}",
    CauseCode.MERGED: f"two graphs became one: {_MOVED}",
    CauseCode.LAYERS: f"{_LAYERS}, {{products:+d}} matrix products, {_NO_NEW_SHAPE}",
    CauseCode.LAYERS_UPDATED: f"{_LAYERS}, the same arithmetic for each, {_NO_NEW_SHAPE}",
    CauseCode.OPTIMIZER: "another optimizer or update rule: {operators}",
    CauseCode.MORE_OPERATORS: f"more operators: {{operators}} ({_BRANCH})",
    CauseCode.FEWER_OPERATORS: f"fewer operators: {{operators}} ({_BRANCH})",
    CauseCode.OTHER_OPERATORS: "other operators: {operators} (the model's code changed)",
    CauseCode.MORE_INPUTS: f"{{count:more input}} of the same operators: {{arrays}} ({_TIED})",
    CauseCode.FEWER_INPUTS: f"{{count:fewer input}} of the same operators: {{arrays}} ({_TIED})",
    CauseCode.INNER_SHAPES: "same inputs, other shapes inside: {operator} {before} became {now} (heads, a reshape, a "
    "slice)",
    CauseCode.CONSTANTS: "{count:number} folded into the graph changed (learning rate, epsilon, dropout, a step "
    "counter): {examples}",
    CauseCode.MORE_RESULTS: f"{{count:more result}}: {_KEPT}",
    CauseCode.FEWER_RESULTS: f"{{count:fewer result}}: {_KEPT}",
    CauseCode.MORE_RESULTS_LIKE: f"{{count:more result}}, {{example}} among them: {_KEPT}",
    CauseCode.FEWER_RESULTS_LIKE: f"{{count:fewer result}}, {{example}} among them: {_KEPT}",
    CauseCode.RANK_OF_INPUTS: "inputs of another rank: {examples}",
    CauseCode.SHAPES_OF_FEW_WEIGHTS: "a few weights have another shape (vocabulary, classes, or one layer's width): "
    "{examples}",
    CauseCode.SHAPES_OF_WEIGHTS: "weights have another shape (hidden size, heads, or how the model is sharded): "
    "{examples}",
    CauseCode.BATCH: "another batch size (or an incomplete last batch): {examples}",
    CauseCode.LENGTH: "another sequence length (inputs that are not padded to one length): {examples}",
    CauseCode.LENGTH_OR_IMAGE: "another length or image size: {examples}",
    CauseCode.BATCH_AND_LENGTH: "another batch size and another length: {examples}",
}
"""Filled with the values that `CauseCode` names; `{count:graph}` is a count with its noun."""


class _Count(int):
    """A number that a sentence may ask for with its noun."""

    def __format__(self, form: str) -> str:
        return counted(self, form) if form[:1].isalpha() else super().__format__(form)


def cause_text(code: CauseCode, values: CauseValues) -> str:
    """What explains a miss, as a sentence without a capital."""
    return SENTENCES[code].format_map({name: _shown(value) for name, value in values.items()})


def flags_text(difference: FlagsDifference) -> str:
    """In words: `--optlevel 1 became 2; added --lnc=2`."""
    parts = [
        f"{name} {before or 'without a value'} became {now or 'without one'}"
        for name, before, now in difference.changed
    ]
    parts += [f"added {' '.join(difference.added)}"] if difference.added else []
    parts += [f"removed {' '.join(difference.removed)}"] if difference.removed else []
    if difference.reordered:
        same = "the same flags in another order"
    else:
        same = "the same flags, written in another way" if difference.respelled else "the same flags"
    return "; ".join(parts) or same


def _shown(value: CauseValue) -> str | int:
    match value:
        case int():
            return _Count(value)
        case FlagsDifference():
            return flags_text(value)
        case State():
            return f"{value}: {MEANINGS[value]}"
        case FailureClass():
            return ADVICE[value]
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S UTC")
        case tuple():
            pairs = (f"{one.before or 'none'} became {one.now or 'none'}" for one in value)
            return "; ".join(
                f"{one.name}: {pair}" if one.name else pair for one, pair in zip(value, pairs, strict=True)
            )
        case _:
            return value or "none"
