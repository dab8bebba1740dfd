"""Watchers look on whatever happens, and fill no log with the same sentence."""

from __future__ import annotations

import pytest

from mlsys_widgets.hub.services.polling import poll_forever


class Ended(Exception):
    """Stands for the signal that ends a watcher."""


def test_trouble_is_told_when_it_begins_changes_and_ends(capsys):
    looks = iter(
        [None, OSError("disk full"), OSError("disk full"), ValueError("no table"), None, None]
    )

    def look() -> None:
        try:
            trouble = next(looks)
        except StopIteration:
            raise Ended from None
        if trouble:
            raise trouble

    with pytest.raises(Ended):
        poll_forever(look, "nothing is noted", every=0)
    assert capsys.readouterr().err.splitlines() == [
        "nothing is noted: disk full",
        "nothing is noted: no table",
        "nothing is noted: no longer",
    ]
