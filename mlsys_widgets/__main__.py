"""``python -m mlsys_widgets`` is ``mlsys``."""

import sys

from mlsys_widgets.cli import main

sys.exit(main())
