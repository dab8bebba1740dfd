"""The server of a user: JupyterHub's own, started in half the time.

Run by the hub as ``python -m mlsys_widgets.hub.user_server``. Jupyter's events check their schemas
with a parser of web addresses that takes a second and a half and 15 MB to import, for every
student; without it, only addresses in those schemas go unchecked.
"""

import sys

if __name__ == "__main__":
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from jupyterhub.singleuser import main

    main()
