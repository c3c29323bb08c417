"""Sources → parsers → run and store → subscribers. The only room with threads."""
