"""One graph through cache and compiler: look-up, lock, compile, publish, as the Neuron SDK's wrapper does it."""
