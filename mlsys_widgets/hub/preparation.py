"""Makes what a hub needs before it can start: course, keys, ports, released labs."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import RosterEntry, init_course, pack
from mlsys_widgets.courses.bundle_reader import labs_that_differ
from mlsys_widgets.courses.roster import hub_remarks
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import Account, HubState, write_private
from mlsys_widgets.hub.places import PRIVATE, Places
from mlsys_widgets.hub.running.server_process import free_port, is_free
from mlsys_widgets.hub.running.settings import TRIED
from mlsys_widgets.hub.services.instructor_tasks import TaskReport
from mlsys_widgets.hub.services.monitoring import TOKEN as MONITORING_TOKEN
from mlsys_widgets.wording.local_time import local_time

Say = Callable[[str], None]


def check_origin(target: Path, *, bundle: Path | None, origin: Path | None) -> None:
    """Refuse, before anything is created, a course that could not be made."""
    if target.is_dir():
        return
    if bundle is None:
        _origin(origin)
    elif not bundle.is_file():
        raise ValueError(f"there is no bundle {bundle}; mlsys build --bundle makes one")


def make_course(target: Path, *, bundle: Path | None, origin: Path | None, say: Say) -> str:
    """Make the course from a bundle or from another course's folder, and return its id.

    Without either, the current folder must be a course. One that exists stays as it is.
    """
    course = Course(target)
    if not target.is_dir():
        with TemporaryDirectory() as aside:
            if bundle is None:
                bundle = pack(Course.at(_origin(origin)), Path(aside) / "course.tar.gz")
            init_course(target, bundle, say=say)
        (target / TRIED).mkdir(exist_ok=True)
    elif bundle is not None:
        _mention_other_labs(course, bundle, say)
    return course.course_id


def _mention_other_labs(course: Course, bundle: Path, say: Say) -> None:
    try:
        other = labs_that_differ(course, bundle)
    except ValueError:  # a bundle that is gone or broken, and no longer needed
        return
    if other:
        say(
            f"{bundle} differs in {', '.join(other)}; the course keeps what students have. How to"
            " adopt a lab: docs/administrators/hub.md, A newer bundle"
        )


def _origin(named: Path | None) -> Path:
    origin = named or Path.cwd()
    if not (origin / "assignments").is_dir():
        raise ValueError(
            f"there is no course in {origin.resolve()}; name a bundle with --from (mlsys build"
            " --bundle makes one), or the folder of a course with --course"
        )
    return origin


def hand_over(folder: Path, account: Account) -> None:
    """Give a folder that root has just created to a user, and to nobody else."""
    folder.chmod(PRIVATE)
    for path in (*folder.rglob("*"), folder):  # the folder last: then everything in it is theirs
        os.lchown(path, account.uid, account.gid)


def check_roster(students: Sequence[RosterEntry]) -> None:
    """Refuse students who cannot be users of this machine."""
    if remarks := hub_remarks(students):
        raise ValueError("the roster does not work with a hub:\n" + "\n".join(remarks))


def make_keys(places: Places) -> dict[str, str]:
    """Create the hub's keys at its first start; return them as variables for JupyterHub."""
    variables = ("CONFIGPROXY_AUTH_TOKEN", "JUPYTERHUB_CRYPT_KEY")
    for name in ("cookie_secret", MONITORING_TOKEN, *map(str.lower, variables)):
        if not (places.secrets / name).exists():
            write_private(places.secrets / name, secrets.token_hex(32) + "\n")
    return {each: (places.secrets / each.lower()).read_text("utf-8").strip() for each in variables}


def choose_ports(state: HubState, public: int) -> None:
    """Choose the hub's inner ports at the first start, and keep them.

    They are random, so that several hubs on one machine stay out of each other's way. If another
    program has taken one since, a new one is chosen; servers that still run from before cannot find
    the hub then, and are started again.
    """
    if not is_free(state.hub_port) or state.hub_port == public:
        state.hub_port = free_port(_random_port(), but=[public, state.api_port])
    if not is_free(state.api_port) or state.api_port in (public, state.hub_port):
        state.api_port = free_port(_random_port(), but=[public, state.hub_port])


def _random_port() -> int:
    """Return a port below those that the system hands out itself."""
    return 20_000 + secrets.randbelow(10_000)


def run_instructor_tasks(
    places: Places,
    instructor: Account | None,
    home: Path,
    python: Path,
    students: Sequence[RosterEntry],
    say: Say,
    trial: Sequence[str] = (),
) -> None:
    """Enter students and release labs, with the instructor's rights; say what was done.

    Without an instructor, whoever runs this does it. `trial` accounts are there to try the course,
    and their grades are nobody's.
    """
    done = run_as(
        instructor,
        [python, "-m", "mlsys_widgets.hub.services.instructor_tasks", places.course, *trial],
        home=home,
        folder=places.course,
        environment={"JUPYTER_CONFIG_PATH": str(places.settings_of("instructor"))},
        stdin=json.dumps([asdict(each) for each in students]),
    )
    if done.returncode:
        reasons = done.stderr.strip().splitlines() or ["no reason given"]
        raise ValueError(f"the course could not be prepared: {reasons[-1]}")
    report = TaskReport(**json.loads(done.stdout.splitlines()[-1]))
    for lab in report.released:
        say(f"Released {lab}")
    for lab in report.changed:
        say(f"{lab} was changed since its release; to release it: mlsys course release {lab}")
    for lab in report.withdrawn:
        say(f"{lab} was withdrawn, and stays so; the formgrader releases it again")
    for lab, opens in report.waiting.items():
        say(f"{lab} opens by itself, {local_time(opens)}")
    if report.problem:
        say(f"No lab was released: {report.problem}")
