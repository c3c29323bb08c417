"""Finds the family of an event by its class. `isinstance` with a union would try every member, and double the cost of
an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from neuron_top.events import (
    AdviceFamily,
    AnyEvent,
    CacheFamily,
    CompileFamily,
    JobFamily,
    ParallelFamily,
    RuntimeFamily,
    TorchTraceFamily,
    TrainingFamily,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def _classes(family: Any) -> frozenset[type]:
    return frozenset(get_args(family))


_COMPILE, _PARALLEL, _TRAINING = _classes(CompileFamily), _classes(ParallelFamily), _classes(TrainingFamily)
_RUNTIME, _CACHE, _JOB = _classes(RuntimeFamily), _classes(CacheFamily), _classes(JobFamily)
_TORCH_TRACE, _ADVICE = _classes(TorchTraceFamily), _classes(AdviceFamily)


def is_compile(event: AnyEvent) -> TypeIs[CompileFamily]:
    """Of graphs and their compiles."""
    return type(event) in _COMPILE


def is_parallel(event: AnyEvent) -> TypeIs[ParallelFamily]:
    """Of a parallel pre-compile."""
    return type(event) in _PARALLEL


def is_training(event: AnyEvent) -> TypeIs[TrainingFamily]:
    """Of steps and what ends them."""
    return type(event) in _TRAINING


def is_runtime(event: AnyEvent) -> TypeIs[RuntimeFamily]:
    """Of cores, devices and the runtime."""
    return type(event) in _RUNTIME


def is_cache(event: AnyEvent) -> TypeIs[CacheFamily]:
    """Of entries of a cache."""
    return type(event) in _CACHE


def is_job(event: AnyEvent) -> TypeIs[JobFamily]:
    """Of the command, its processes and logs."""
    return type(event) in _JOB


def is_torch_trace(event: AnyEvent) -> TypeIs[TorchTraceFamily]:
    """Of torch.compile in a plain PyTorch process."""
    return type(event) in _TORCH_TRACE


def is_advice(event: AnyEvent) -> TypeIs[AdviceFamily]:
    """Of what a program advises."""
    return type(event) in _ADVICE
