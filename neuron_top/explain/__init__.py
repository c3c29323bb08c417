"""Why a look-up missed: what differs between the graph that was wanted and those that are cached."""
