"""Telemetry: devices, samples from every source, the worker processes that stand for cores, and `doctor`'s facts."""
