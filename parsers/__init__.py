"""Pure text and bytes → values: no files, no clock, no threads."""
