"""What a hub needs before it can start, made where it is missing: course, keys, ports, releases."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mlsys_widgets.courses import Student, init_course, pack
from mlsys_widgets.courses.making import labs_that_differ
from mlsys_widgets.courses.roster import hub_remarks
from mlsys_widgets.hub.acting import run_as
from mlsys_widgets.hub.memory import Account, Memory, write_private
from mlsys_widgets.hub.places import PRIVATE, Places
from mlsys_widgets.hub.serving import free_port, is_free
from mlsys_widgets.hub.settings import TRIED
from mlsys_widgets.labs.course import Course

Say = Callable[[str], None]


def check_origin(target: Path, *, bundle: Path | None, origin: Path | None) -> None:
    """Refuse, before anything is made, a course that could not be made."""
    if target.is_dir():
        return
    if bundle is None:
        _origin(origin)
    elif not bundle.is_file():
        raise ValueError(f"there is no bundle {bundle}; mlsys build --bundle makes one")


def make_course(target: Path, *, bundle: Path | None, origin: Path | None, say: Say) -> str:
    """Make the course, from a bundle or from the folder of another course; returns its id.

    Parameters
    ----------
    target
        Where; a course that is there stays as it is.
    bundle, origin
        What it is made from. If neither is named, the current folder if it is a course.
    say
        Told what is being done.
    """
    if not target.is_dir():
        with TemporaryDirectory() as aside:
            if bundle is None:
                bundle = pack(_origin(origin), Path(aside) / "course.tar.gz")
            init_course(target, bundle, say=say)
        (target / TRIED).mkdir(exist_ok=True)
    elif bundle is not None:
        _mention_other_labs(target, bundle, say)
    return Course(target).course_id


def _mention_other_labs(course: Path, bundle: Path, say: Say) -> None:
    try:
        other = labs_that_differ(course, bundle)
    except ValueError:  # a bundle that is gone or broken, and that nobody needs any more
        return
    if other:
        say(
            f"{bundle} differs in {', '.join(other)}; the course keeps what students know. How to"
            " take a lab over: docs/hub.md, A newer bundle"
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
    """Give a folder that root has just made to a user, for that user alone."""
    folder.chmod(PRIVATE)
    for path in (*folder.rglob("*"), folder):  # the folder last: then all of it is theirs
        os.lchown(path, account.uid, account.gid)


def check_roster(students: Sequence[Student]) -> None:
    """Refuse students that cannot be users of this machine."""
    if remarks := hub_remarks(students):
        raise ValueError("the roster does not fit a hub:\n" + "\n".join(remarks))


def make_keys(places: Places) -> dict[str, str]:
    """Keys of the hub, made at the first start; returned as JupyterHub's environment wants them."""
    cookie = places.secrets / "cookie_secret"
    if not cookie.exists():
        write_private(cookie, secrets.token_hex(32))
    keys = {}
    for variable in ("CONFIGPROXY_AUTH_TOKEN", "JUPYTERHUB_CRYPT_KEY"):
        path = places.secrets / variable.lower()
        if not path.exists():
            write_private(path, secrets.token_hex(32))
        keys[variable] = path.read_text("utf-8").strip()
    return keys


def choose_ports(memory: Memory, public: int) -> None:
    """Choose the hub's inner ports at the first start, and keep them.

    They are drawn, so that several hubs on one machine stay out of each other's way. Another
    program may have taken one since. Then a new one is chosen; servers that are still running from
    before would not find the hub, and are started anew.
    """
    if not is_free(memory.hub_port) or memory.hub_port == public:
        memory.hub_port = free_port(_drawn(), but=[public, memory.api_port])
    if not is_free(memory.api_port) or memory.api_port in (public, memory.hub_port):
        memory.api_port = free_port(_drawn(), but=[public, memory.hub_port])


def _drawn() -> int:
    """A port below those that the system gives to whoever asks for any."""
    return 20_000 + secrets.randbelow(10_000)


def run_errands(
    places: Places,
    instructor: Account | None,
    home: Path,
    python: Path,
    students: Sequence[Student],
) -> dict[str, Any]:
    """Have students entered and labs released, with the instructor's rights."""
    done = run_as(
        instructor,
        [python, "-m", "mlsys_widgets.hub.errands", places.course],
        home=home,
        folder=places.course,
        environment={"JUPYTER_CONFIG_PATH": str(places.settings_of("instructor"))},
        said=json.dumps([asdict(each) for each in students]),
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise ValueError(f"the course could not be prepared: {said[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
