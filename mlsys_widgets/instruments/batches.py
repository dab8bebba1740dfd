"""The batches of a curve over batches, and those that are written at its axis."""

from __future__ import annotations

from typing import Final

import numpy as np

LARGEST_BATCH: Final = 1024
BATCHES: Final = np.geomspace(1, LARGEST_BATCH, 21)
TICKS: Final = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
