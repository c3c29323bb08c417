"""Alerts, which say what a person should know now, and the rules that raise them."""
