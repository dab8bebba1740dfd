"""Judges plain answers with the keys of a lab."""
