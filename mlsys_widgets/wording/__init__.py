"""How numbers, counts, names and times are written and read; the ground floor of the house."""
