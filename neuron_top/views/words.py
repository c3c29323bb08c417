"""Definitions of the words that screens use: what is counted, and what a state means; shown where the word stands."""

from __future__ import annotations

from neuron_top.cache.model.states import State
from neuron_top.run.graph import GraphState
from neuron_top.views.entry_states import MEANINGS

TERMS = {
    "graph": "What the compiler is given. A graph counts once, however many ranks use it.",
    "artifact": "What the compiler made of a graph: a NEFF, or Inductor's code with its kernels.",
    "lookup": "A process asks the cache for a graph. Every rank counts, so one graph may have many lookups.",
    "hit": "A lookup that found an artifact. What was loaded after another rank of this run compiled it saved nothing.",
    "miss": "A lookup that found nothing: the compiler was called.",
    "cached failure": "A lookup that found a stored failure: it fails again without a compile.",
    "hit rate": "Share of graphs that came from the cache, so that nobody compiled them in this run. Each graph counts "
    "once; graphs that nobody has asked for yet do not count.",
    "compile time": "Duration of the newest compile that ended. “at most” where the log shows only when it was over. "
    "A run counts the start of the compiler's process too, the record in a cache the compiler alone.",
    "time left": "The longest that past compiles of this graph, or of ones of its size, suggest; empty without any.",
    "waited": "The longest that one process waited for another one's compile of this graph.",
    "compile share": "Share of the run's wall time in which at least one process compiled or waited for a compile.",
}
"""By the word as screens print it."""

_GRAPHS = {
    GraphState.KNOWN: "named in the log; nobody has looked it up yet",
    GraphState.EXTRACTED: "stored for a later compile",
    GraphState.WAITING: "a process waits until another one has compiled it",
    GraphState.COMPILING: "the compiler works on it now",
    GraphState.HIT: "came from the cache",
    GraphState.COMPILED: "compiled in this run",
    GraphState.FAILED: "its compile failed in this run",
    GraphState.CACHED_FAILURE: "the cache has a stored failure for it",
    GraphState.INTERRUPTED: "its compile was interrupted",
}


def graph_state_words(state: str) -> str:
    """What the state of a graph in a run means; "" for another word."""
    return _GRAPHS[GraphState(state)] if state in tuple(GraphState) else ""


def entry_state_words(state: str) -> str:
    """What the state of a cache entry means; "" for another word."""
    return MEANINGS[State(state)] if state in tuple(State) else ""
