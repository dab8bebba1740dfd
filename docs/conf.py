"""How the pages are built. Builds work offline, so nothing links to other projects' indexes."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import mlsys_widgets

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

project = "mlsys_widgets"
author = "mlsys_widgets developers"
copyright = "2026, mlsys_widgets developers"
version = release = mlsys_widgets.__version__

extensions = [
    "myst_nb",
    "docstrings",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["**/.ipynb_checkpoints"]

# Every build runs every page: a cache would keep yesterday's numbers after physics changed.
nb_execution_mode = "force"
nb_execution_show_tb = True  # a failed cell is a warning, so an error, and says why
nb_execution_timeout = 120
# Pages have no kernel: an instrument shows its still picture, not an empty place for a widget.
nb_mime_priority_overrides = [("html", "image/svg+xml", 1)]
# CommonMark, the default, has no tables.
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# What docstrings put into single backticks is a name, and links to its description if there is one.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # a default as it is written, not as it prints
autodoc_typehints = "none"  # the NumPy sections say it already
napoleon_google_docstring = False
napoleon_use_rtype = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "mlsys_widgets"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["derivation.css"]
# A page without pages below it has nothing to put in a sidebar.
html_sidebars = {page: [] for page in ("install",)}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}


def setup(app: Sphinx) -> None:
    """Have instruments run in their pages where the app will lie beside them (make gallery)."""
    if app.tags.has("app"):
        app.add_js_file("run_here.js")
