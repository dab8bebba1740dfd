"""A JupyterHub for a course on one machine: ``mlsys hub``.

`start` prepares everything in one folder and serves it; `single` runs a course for one person, who
does not need root for it. Read `places` next, which knows where every file of a hub lies, then
`configuration`, which tells JupyterHub what to do, and `preparation`. The modules whose names end
in ``_watch`` follow what happens while the hub runs: labs that open, people who come and go, work
that is handed in. `backup` and `restore` move a hub to another machine, and `health` says whether
it is well.
"""

__all__: list[str] = []
