"""``mlsys whoami``: whose numbers labs use on this computer."""

from __future__ import annotations

import argparse

from mlsys_widgets.labs import identity


def run_whoami(arguments: argparse.Namespace) -> int:
    """Say whose labs these are; remember or forget a name first if asked to."""
    if arguments.forget:
        identity.forget()
    if arguments.name:
        kept = identity.remember(arguments.name)
        print(f"Saved in {kept}. If a lab is open, restart its kernel.")
    known = identity.student()
    print(f"Labs here are those of {known.name}, known from {known.known_from}.")
    return 0
