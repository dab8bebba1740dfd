"""Several nbgrader commands in one process: importing nbgrader takes longer than most of them.

Standard input holds a list of commands, each a list of words as after ``nbgrader``; the words
``validated NOTEBOOK`` give what validation says as data. Standard output holds a list of results.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

from jupyter_core.application import NoStart
from nbgrader.apps import NbGraderApp
from nbgrader.validator import Validator


def do(words: list[str]) -> Any:
    if words[0] == "validated":
        return Validator().validate(words[1])
    app = NbGraderApp.instance()
    try:
        app.initialize(words)
        app.start()
    except NoStart:  # the command itself has run
        pass
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"nbgrader {' '.join(words)} fails") from None
    finally:
        for each in (app.subapp, app):
            if each is not None:
                each.clear_instance()
    return None


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        results = [do(words) for words in json.load(sys.stdin)]
    json.dump(results, sys.stdout)
