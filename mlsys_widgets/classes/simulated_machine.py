"""The measurement that a simulated student took: of a machine that is a little like another one."""

from __future__ import annotations

import json
import random


def other_machine(content: bytes, chance: random.Random) -> bytes:
    """Return a measurement as another run on another machine gives it: no timing is the same.

    What is no measurement is returned as it is.
    """
    try:
        document = json.loads(content)
        faster = chance.uniform(0.8, 1.25)
        for case in document["cases"]:
            times = faster * chance.uniform(0.99, 1.01)
            for name in ("median", "q25", "q75"):
                case["seconds"][name] *= times
            if case.get("throughput"):
                case["throughput"] /= times
    except (ValueError, LookupError, TypeError):
        return content
    return json.dumps(document).encode()
