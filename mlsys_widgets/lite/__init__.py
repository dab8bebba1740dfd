"""Labs with no server: a site of files that runs them in a browser.

`site_build` makes the site: JupyterLab as files, the Python that runs in a page (`runtime`), and
the labs for practice. Everything comes from the registries of npm and Python, checked by digest
(`fetching`); a page asks nobody but the site.
"""

__all__: list[str] = []
