"""What a compile cache consists of: entries and their states, keys, file names and records, for readers and writers."""
