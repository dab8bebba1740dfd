"""A ledger to work with, a folder that can be closed, and the browser's side of a lab widget."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.ledger import Ledger

NOBODY = 65534


@pytest.fixture
def open_ledger(tmp_path: Path) -> Callable[[], Ledger]:
    """Open the ledger of this test, as each kernel does for itself."""
    path = tmp_path / "ledger.jsonl"
    return lambda: Ledger.open(path, lab="lab_07_kernel_fusion", student="student-01")


@pytest.fixture
def led(open_ledger: Callable[[], Ledger]) -> Ledger:
    return open_ledger()


@pytest.fixture
def read_only(tmp_path: Path) -> Callable[[], AbstractContextManager[None]]:
    """Close the folder of this test for a while; root works as somebody else meanwhile."""

    @contextmanager
    def closed() -> Iterator[None]:
        root = os.geteuid() == 0
        for folder in (tmp_path, *tmp_path.parents[:3]) if root else ():
            folder.chmod(folder.stat().st_mode | 0o011)
        tmp_path.chmod(0o555)
        for file in tmp_path.iterdir():
            file.chmod(0o444)
        if root:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)
            tmp_path.chmod(0o755)
            for file in tmp_path.iterdir():
                file.chmod(0o644)

    return closed


class Browser:
    """What a browser would see of a lab widget, and send to it."""

    def __init__(self, widget: Any) -> None:
        self.widget = widget

    def ask(self, action: str, **values: Any) -> None:
        """Press a button, with what stands in the inputs."""
        card = self.widget._card
        card._handle_custom_msg({"action": action, "values": values, "stamp": 1}, [])

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        return {part["key"]: part for part in self.widget._card.view["parts"]}

    @property
    def sent(self) -> str:
        """Everything that has left the kernel for the page."""
        return str(self.widget._card.view)

    @property
    def trouble(self) -> str | None:
        found = self.widget._card.view["trouble"]
        return found and found["words"]

    @property
    def can_retry(self) -> bool:
        found = self.widget._card.view["trouble"]
        return bool(found and found["retry"])

    @property
    def said(self) -> str:
        return str(self.widget._card.view["said"])

    @property
    def buttons(self) -> list[str]:
        rows = [part["buttons"] for part in self.parts.values() if part["kind"] == "buttons"]
        return [action for row in rows for action, _ in row]


@pytest.fixture
def browser_of() -> Callable[[Any], Browser]:
    return Browser
