"""Real submits through a real exchange, in this process."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from tests.labs.rehearsal import Workshop

#: As hubs and images configure it for students.
SUBMIT = "mlsys_widgets.server.submit.SubmitWithReceipt"


def submit(course: Workshop, student: str, home: Path, *, submit: str = SUBMIT) -> Path:
    """Submit the lab in a student's home, and collect it; the folder that graders see."""
    exchange = course.root.parent / "exchange"
    inbound = exchange / "mlsys" / "inbound"
    outbound = exchange / "mlsys" / "outbound" / course.lab
    if not inbound.is_dir():
        inbound.mkdir(parents=True)
        shutil.copytree(course.root / "release" / course.lab, outbound)
        for folder in (exchange, inbound):
            folder.chmod(0o777)
    before = set(inbound.iterdir())
    config = Config()
    config.ExchangeFactory.submit = submit
    config.Exchange.root = str(exchange)
    config.Exchange.cache = str(course.root.parent / "cache")
    config.Exchange.assignment_dir = str(home)
    config.CourseDirectory.course_id = "mlsys"
    config.CourseDirectory.assignment_id = course.lab
    config.CourseDirectory.student_id = student
    submitting = ExchangeFactory(config=config).Submit(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
    submitting.log = logging.getLogger("nbgrader")
    submitting.start()
    (fresh,) = set(inbound.iterdir()) - before
    shutil.rmtree(course.work(student), ignore_errors=True)
    shutil.copytree(fresh, course.work(student))
    return course.work(student)
