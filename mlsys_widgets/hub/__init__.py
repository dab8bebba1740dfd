"""A JupyterHub for a course on one machine: ``mlsys hub``.

`run_hub` prepares everything in one folder and serves; `single` is the course of one person, who
needs no root for it.
"""

__all__: list[str] = []
