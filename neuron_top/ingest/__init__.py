"""Sources → parsers → run and store → subscribers. Starts the threads of a live view."""
