"""A JupyterHub for a course on one machine: ``mlsys hub``.

`start` prepares everything in one folder and serves it; `single` runs a course for one person, who
does not need root for it.
"""

__all__: list[str] = []
