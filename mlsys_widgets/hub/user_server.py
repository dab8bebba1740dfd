"""The server of a user: JupyterHub's own, started in half the time.

The hub runs it as ``python -m mlsys_widgets.hub.user_server``. Jupyter's events check their schemas
with a parser of web addresses whose import takes a second and a half and 15 MB for every student.
Without it, only the addresses in those schemas go unchecked.
"""

import sys

if __name__ == "__main__":
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from jupyterhub.singleuser import main

    main()
