"""Compilers behind one small interface."""
