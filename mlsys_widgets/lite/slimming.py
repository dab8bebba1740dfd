"""What of a wheel a page does not need: what takes long to load, to unpack or to import there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mlsys_widgets.lite.precompiled import Files

_DROPPED: Final = re.compile(
    # What only JupyterLab loads, tests, and headers.
    r"\.data/|/(lab|nb)extension/(?!__init__)|/tests?/|/testing/plugin/|third_party/|/include/"
    r"|\.(pxd|pyx|c|h|a)$"
    # What only installers read.
    r"|\.dist-info/(?!METADATA$)"
    # Terminals: there is none in a page.
    r"|^IPython/(sphinxext/|terminal/(?!__init__|pt_inputhooks/__init__))"
    # Languages that no lab shows; numpy's compilers, and what tests it.
    r"|^pygments/lexers/(?!__init__|_mapping|python|special)"
    r"|^numpy/(f2py|distutils)/|^numpy/_core/_(rational|operand|struct|umath)\w*_tests\."
    # Maps of the world.
    r"|^bqplot/map_data/"
)
#: ipywidgets looks at the stack for whom to warn, hundreds of times while it is imported; a page
#: shows no warnings.
_REPLACED: Final[Mapping[str, bytes]] = {
    "IPython/terminal/embed.py": b"embed = None\n",
    "bqplot/map_data/WorldMap.json": b"{}",
    "ipywidgets/widgets/utils.py": (
        b"import sys\n\n\ndef _get_frame(level):\n    return sys._getframe(level + 1)\n\n\n"
        b"def deprecation(*_, **__):\n    pass\n"
    ),
}
_NO_INSTALLS: Final = "Nothing can be installed here: this page asks nobody but its own site."
#: Packages that are asked for by name, with as much of them as is used. bqplot asks whether data
#: are frames, series or time stamps; ours never are. Completion does without jedi, which is slow
#: here. The kernel installs packages with piplite, and nothing can be installed from a site.
MADE: Final[Mapping[str, Files]] = {
    "jedi": {"jedi/__init__.py": b'raise ImportError("A page does without jedi.")\n'},
    "micropip": {},
    "pandas": {"pandas/__init__.py": b"class DataFrame: ...\nSeries = Timestamp = DataFrame\n"},
    "piplite": {
        "piplite/__init__.py": b"",
        "piplite/piplite.py": b"",
        "piplite/cli.py": (
            "async def get_transformed_code(argv):\n"
            f"    return {f'raise ImportError({_NO_INSTALLS!r})'!r}\n"
        ).encode(),
    },
    "sqlite3": {},
    "ssl": {},
}


def slim(files: Files) -> Files:
    """Return the files of a wheel that a page needs."""
    kept = {name: content for name, content in files.items() if not _DROPPED.search(name)}
    return kept | {name: content for name, content in _REPLACED.items() if name in files}
