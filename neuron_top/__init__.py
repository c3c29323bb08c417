"""neuron-top: live observability and cache management for AWS Neuron compile and training runs."""

__version__ = "0.1.0"
