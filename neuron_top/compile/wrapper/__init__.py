"""One graph through cache and compiler: lookup, lock, compile, publish, as the Neuron SDK's wrapper does it."""
