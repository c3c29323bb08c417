"""Which compiler a graph in a cache is for, by the name of its file."""

from __future__ import annotations

from neuron_top.compile.compiler import Compiler
from neuron_top.compile.compilers.inductor import Inductor
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC


def compiler_for(graph_name: str) -> Compiler:
    """A new compiler for graph files of this name; what is no FX graph is an HLO module. Starts nothing."""
    return Inductor() if graph_name == Inductor.graph_name else NeuronxCC(graph_name=graph_name)
