"""Turn `pip freeze` on standard input into plain pins on standard output.

Only ``name==version`` passes. Editable installs, addresses and options say where something came
from on one machine, which means nothing on another.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+")

HEADER = """\
# What was tested together, nothing else. Made by `make constraints`; do not edit.
"""


def pins(frozen: Iterable[str]) -> list[str]:
    """Return the plain pins of a frozen environment, sorted by name.

    >>> pins(["numpy==2.4.6", "here @ file:///x", "-e .", "--option", "Babel==2.18.0"])
    ['Babel==2.18.0', 'numpy==2.4.6']
    """
    stripped = (line.strip() for line in frozen)
    found = [line for line in stripped if PIN.fullmatch(line)]
    return sorted(found, key=lambda pin: pin.partition("==")[0].lower())


if __name__ == "__main__":
    sys.stdout.write(HEADER + "".join(f"{pin}\n" for pin in pins(sys.stdin)))
