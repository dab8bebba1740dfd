"""Accounts to try a course with: visible in formgrader, and in no export, report or statistic.

They are in ``.mlsys/trial.json``, which a hub keeps: its ``--student``, and whoever teaches and
tries labs. Somebody who is in a roster is a student, whatever was written there before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mlsys_widgets.files import OWN_FOLDER, write_whole

#: In the course's own folder.
TRIAL: Final = "trial.json"


def trial_accounts(course: Path) -> frozenset[str]:
    """Names under which a course was only tried."""
    return frozenset(_read(course)["trial"])


def note_trial_accounts(course: Path, names: Iterable[str], enrolled: Iterable[str] = ()) -> None:
    """Write down who only tries the course, and who is enrolled and never taken for that."""
    before, names = _read(course), set(names)
    real = {*before["enrolled"], *enrolled}
    trial = {*before["trial"], *names} - real
    # Only those whom somebody could take for a trial account are worth a line.
    doubtful = {*names, *before["trial"], *before["enrolled"]}
    accounts = {"trial": sorted(trial), "enrolled": sorted(real & doubtful)}
    if accounts != before:
        path = course / OWN_FOLDER / TRIAL
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps(accounts, indent=1) + "\n")


def _read(course: Path) -> dict[str, list[str]]:
    path = course / OWN_FOLDER / TRIAL
    if not path.is_file():
        return {"trial": [], "enrolled": []}
    try:
        accounts = json.loads(path.read_text("utf-8"))
        found = {name: list(map(str, accounts.get(name, []))) for name in ("trial", "enrolled")}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(
            f'{path} cannot be read; it must be like {{"trial": ["student"]}}'
        ) from None
    return found
