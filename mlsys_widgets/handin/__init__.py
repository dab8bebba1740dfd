"""Handing in: what is missing, one file that holds a student's work, and reading such a file."""
