"""The entry point that PyTorch imports when a script names `backend="neurontop"`; starts the compile server early.

PyTorch tells a back end nothing before the first graph is there, but imports its entry point when the name is looked
up. Until the script has built its model and its first graph is captured, the server has imported PyTorch.
"""

from __future__ import annotations

from neuron_top.compile.torch import backend

neurontop = backend.neurontop
backend.prepare()
