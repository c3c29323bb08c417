"""A run arranged for eyes: frozen rows and cards. Pure: no I/O, no clock."""
