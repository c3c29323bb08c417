"""Widgets that draw lines themselves where stock ones cost too much."""
