"""``python -m mlsys_widgets.measured``: take a measurement where nothing is installed."""

from .measurement import main

if __name__ == "__main__":
    raise SystemExit(main())
