"""The rows of the actions on caches, for help and keys: nothing that plans or executes is loaded with them."""

from __future__ import annotations

from neuron_top.actions.registry import ACTIONS, FLEET_ACTIONS, ActionExecutor, CacheAction, action_of
from neuron_top.actions.verb import Verb

__all__ = ["ACTIONS", "FLEET_ACTIONS", "ActionExecutor", "CacheAction", "Verb", "action_of"]
