"""Interactive, gradable machine-learning-systems labs for Jupyter.

Importing the package loads nothing else: every public name arrives on first use, so that the
physics core never pays for the widget libraries. The names are listed in ``__init__.pyi``.

Examples
--------
An instrument answers a question without a browser, too:

>>> from mlsys_widgets import RooflineWidget
>>> RooflineWidget(device="h100-sxm", precision="fp16", n=512).result.regime
'memory-bound'

A lab that needs a certain version can ask for it:

>>> from packaging.version import Version
>>> Version(__version__) >= Version("0.2.0.dev0")
True
"""

import lazy_loader

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
