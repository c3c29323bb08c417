"""What a compile cache consists of: entries and their states, keys, file names, records. One definition for all."""
