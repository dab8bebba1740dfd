"""The settings of a lab's instruments, kept beside the ledger.

An instrument lives in a kernel, and a kernel that is restarted takes its settings along. They lie
in a file like drafts: the student's own business, neither handed in nor graded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import SETTINGS, open_regular, write_whole

#: The largest file, in bytes; a lab with ten instruments has a few thousand.
LARGEST_FILE: Final = 1 << 18

#: The inputs of an instrument, by name.
Inputs = Mapping[str, Any]


class KeptSettings:
    """The settings beside a ledger, by the title of the instrument.

    Examples
    --------
    >>> kept = KeptSettings(folder / "ledger.jsonl")
    >>> kept.keep({"Roofline": {"n": 4096.0}}, ledger="a1")
    >>> kept.read(ledger="a1")
    {'Roofline': {'n': 4096.0}}

    A lab that was begun again has another ledger, and starts from the beginning:

    >>> kept.read(ledger="b2")
    {}
    """

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(SETTINGS)

    def read(self, ledger: str) -> dict[str, dict[str, Any]]:
        """Read what was kept with a ledger, or before there was one; what is odd is left out."""
        try:
            with open_regular(self.path) as stream:
                content = stream.read(LARGEST_FILE + 1)
            kept = json.loads(content) if len(content) <= LARGEST_FILE else {}
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict) or kept.get("ledger") not in ("", ledger):
            return {}
        found = kept.get("instruments")
        named = found.items() if isinstance(found, dict) else ()
        return {title: inputs for title, inputs in named if isinstance(inputs, dict)}

    def keep(self, changes: Mapping[str, Inputs | None], ledger: str) -> None:
        """Keep settings, or forget those that are `None`; `OSError` if that cannot be done."""
        found: dict[str, Any] = {**self.read(ledger), **changes}
        kept = {title: inputs for title, inputs in found.items() if inputs is not None}
        if kept or self.path.exists():
            self._write({"ledger": ledger, "instruments": kept})

    def clear(self) -> None:
        """Forget all settings. The file stays, as that of drafts does."""
        if self.path.exists():
            self._write({})

    def _write(self, content: Mapping[str, Any]) -> None:
        write_whole(self.path, json.dumps(content, allow_nan=False))
