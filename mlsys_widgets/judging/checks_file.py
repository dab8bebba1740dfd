"""The checks of a lab, from the instructor's course."""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.files import ASKS, CHECKS
from mlsys_widgets.judging.keys import Checks, pooled
from mlsys_widgets.labs.lab import load, module_at


def load_checks(folder: Path) -> Checks:
    """Return every check of the ``checks.py`` in a folder, by the name of its answer.

    An item with a pool of questions has one check here, which finds that of the drawn question.

    Raises
    ------
    ValueError
        When there is no such file, or a question of a pool has no check and others have.
    """
    path = folder.resolve() / CHECKS
    if not path.is_file():
        raise ValueError(f"there is no {CHECKS} in {folder}; it belongs to an instructor's course")
    module = module_at(path)
    checks = {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }
    pools = load(path.parent).pools if (path.parent / ASKS).is_file() else {}
    for item, questions in pools.items():
        known = [checks.pop(name) for name in questions if name in checks]
        if known and len(known) < len(questions):
            missing = set(questions).difference(each.__name__ for each in known)
            raise ValueError(
                f"{path} has no function {', '.join(sorted(missing))}, which {item} may ask"
            )
        if known:
            checks[item] = pooled(*known)
    return checks
