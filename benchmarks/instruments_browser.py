"""What a slider move costs on the wire and in the browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    here = Path(__file__).resolve().parents[1] / "tests" / "browser" / "bench_instruments.py"
    sys.exit(pytest.main(["-q", "--no-header", "--timeout=600", str(here)]))
