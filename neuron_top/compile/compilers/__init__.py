"""The compilers: Inductor and neuronx-cc, behind the interface `compiler.Compiler`."""
