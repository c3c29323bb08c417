"""What needs a person: alerts, and the rules that raise them."""
