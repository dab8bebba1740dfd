"""Judges a class again with other keys."""
