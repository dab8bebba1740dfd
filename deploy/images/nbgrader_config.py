"""nbgrader in a cluster: assignments travel through ngshare, because servers share no disk."""

import os

from ngshare_exchange import configureExchange

from mlsys_widgets.server.submit import with_receipt

c = get_config()  # noqa: F821 (nbgrader provides it)

# By the name of its service, not through the hub's proxy, whose own address may require TLS.
configureExchange(
    c, ngshare_url=os.environ.get("MLSYS_EXCHANGE_URL", "http://ngshare:8080/services/ngshare")
)
# A receipt beside the ledger says where it ended; graders hold the ledger against it.
c.ExchangeFactory.submit = with_receipt(c.ExchangeFactory.submit)
c.CourseDirectory.course_id = os.environ.get("MLSYS_COURSE_ID", "mlsys")
# An instructor's server has the course on a volume; the formgrader looks for it here.
if "MLSYS_COURSE" in os.environ:
    c.CourseDirectory.root = os.environ["MLSYS_COURSE"]
# With its password, from a secret: see deploy/kubernetes/README.md.
if "MLSYS_GRADEBOOK" in os.environ:
    c.CourseDirectory.db_url = os.environ["MLSYS_GRADEBOOK"]
