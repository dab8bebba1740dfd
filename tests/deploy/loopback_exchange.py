"""The real ngshare, listening on the loopback: its own main listens on every address.

``loopback_exchange.py PORT FOLDER ADMIN`` with the environment of deploy/kubernetes/exchange.yaml.
"""

import os
import sys
from collections import namedtuple
from pathlib import Path

from ngshare import dbutil
from ngshare.ngshare import MyApplication
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

port, folder, admin = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
database, storage = f"sqlite:///{folder / 'ngshare.db'}", str(folder / "files")
# As its main does before it starts.
options = namedtuple("options", ["x"])(["data=true", f"storage={storage}"])
dbutil.upgrade(database, cmd_opts=options)
prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
server = HTTPServer(MyApplication(prefix, database, storage, admin=[admin], autoreload=False))
server.listen(port, "127.0.0.1")
IOLoop.current().start()
