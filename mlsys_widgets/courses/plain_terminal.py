"""Asking in a terminal before something is lost."""

from __future__ import annotations


def agreed(question: str) -> bool:
    """Ask, and take nothing but the word yes for it."""
    try:
        return input(question).strip().lower() == "yes"
    except EOFError:
        return False
