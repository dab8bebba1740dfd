"""A real hub on the loopback from our values: as in the cluster, but for the spawner and addresses.

JupyterHub reads it (``jupyterhub -f``). What differs is in $MLSYS_TEST_HUB, as JSON.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from chart import configured, merged

c = get_config()  # noqa: F821 (JupyterHub gives it)
here = json.loads(os.environ["MLSYS_TEST_HUB"])
state = Path(here["state"])

made = configured(merged(here["values"]))
spawner = made.pop("KubeSpawner")
c.merge(made)
for section, traits in here["instead"].items():
    c[section].update(traits)
for service in c.JupyterHub.services:
    service["api_token"] = here["tokens"][service["name"]]

c.JupyterHub.spawner_class = "simple"
c.Spawner.server_token_scopes = spawner.server_token_scopes
c.Spawner.environment = here["environment"]
# What a terminal in the server would have, for the test to run commands with.
keep = 'umask 077; env -0 > "$HOME/environment"; exec "$0" "$@"'
c.Spawner.cmd = ["sh", "-c", keep, *spawner.cmd]
c.Spawner.args = ["--allow-root"] if os.geteuid() == 0 else []
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.SimpleLocalProcessSpawner.home_dir_template = str(state / "home" / "{username}")

c.JupyterHub.bind_url = here["url"]
c.JupyterHub.hub_bind_url = here["hub"]
c.JupyterHub.db_url = f"sqlite:///{state / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(state / "cookie_secret")
c.ConfigurableHTTPProxy.api_url = here["proxy"]
c.ConfigurableHTTPProxy.command = here["proxy_command"]
c.ConfigurableHTTPProxy.pid_file = str(state / "proxy.pid")
