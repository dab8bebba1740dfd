"""What root does for a course while its hub runs: the hub's own service.

It has six jobs, each in a thread of its own, so that a hand-in is noted at once however long
something else takes, and no job ends because another one failed. The monitor is a service apart:
it can be reached over the network and may change nothing, and says whether this one runs.

Run as ``python -m mlsys_widgets.hub.services.course_service FOLDER GIB``, with the size of a home
above which it warns.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import NoReturn

from mlsys_widgets.course.copy_notes import copies_beside
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.services.copy_watch import CopyWatch
from mlsys_widgets.hub.services.hand_in_watch import HandInWatch
from mlsys_widgets.hub.services.home_watch import HomeWatch
from mlsys_widgets.hub.services.hub_api import HubApi
from mlsys_widgets.hub.services.judge_keeper import JudgeKeeper
from mlsys_widgets.hub.services.lab_release_watch import LabReleaseWatch, as_instructor
from mlsys_widgets.hub.services.people_watch import PeopleWatch
from mlsys_widgets.ledger.hand_in_notes import notes_beside

#: Looks once, seconds until it looks again, and what does not happen when it fails.
Job = tuple[Callable[[], object], float, str]


def course_jobs(
    places: Places, state: HubState, hub: HubApi, python: Path, most: float
) -> list[Job]:
    """Return the jobs; `python` runs programs of users, and a home should have `most` GiB."""
    exchange, course = places.exchange / state.course_id, places.course
    hand_ins = HandInWatch(exchange / "inbound", notes_beside(course))
    releases = LabReleaseWatch(places, as_instructor(places, python))
    copies = CopyWatch(places.homes, exchange / "outbound", copies_beside(course))
    people = PeopleWatch(places, hub, python)
    return [
        (JudgeKeeper(places, python).look, 1.0, "hand-ins are not judged"),
        (hand_ins.look, 1.0, "hand-ins are not noted"),
        (releases.run, 1.0, "the calendar is not followed"),
        (copies.look, 10.0, "copies are not noted"),
        # A look waits for a request, so little time is between two.
        (people.look, 0.1, "people are not followed"),
        (HomeWatch(places, most).look, 900.0, "the disk may become full"),
    ]


def poll_forever(look: Callable[[], object], every: float, trouble: str) -> NoReturn:
    """Look again and again, whatever a look raises.

    Trouble, such as a full disk, is told once, and again when it changes or ends.
    """
    told = ""
    while True:
        problem = ""
        try:
            look()
        except (OSError, ValueError) as why:
            problem = f"{trouble}: {why}"
        except Exception:
            problem = f"{trouble}: {traceback.format_exc()}"
        if problem != told:
            told = problem
            with suppress(OSError):
                print(problem or f"{trouble}: no longer", file=sys.stderr, flush=True)
        time.sleep(every)


def run_jobs(jobs: Sequence[Job]) -> None:
    """Do all jobs at the same time, until the process ends."""
    threads = [Thread(target=poll_forever, args=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(folder: Path, most: float) -> None:
    """Do what root does for the course of a hub."""
    places = Places(folder)
    state = HubState.read(places.state)
    if state is None:
        raise ValueError(f"there is no hub in {folder}")
    run_jobs(course_jobs(places, state, HubApi.of_environment(), Path(sys.executable), most))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
