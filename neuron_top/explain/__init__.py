"""Why a lookup missed: what differs between the graph that was wanted and those that are cached."""
