"""Reads what was handed in, and trusts none of it."""
