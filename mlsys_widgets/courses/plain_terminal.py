"""What commands about a course say in a terminal, and asking before something is lost."""

from __future__ import annotations

from rich.console import Console


def print_plain(console: Console, words: str, *, style: str | None = None) -> None:
    """Print words as they are: nothing in them is markup, and no command is broken in two."""
    console.print(words, style=style, highlight=False, markup=False, soft_wrap=True)


def agreed(question: str) -> bool:
    """Ask, and take nothing but the word yes for it."""
    try:
        return input(question).strip().lower() == "yes"
    except EOFError:
        return False
