"""What a start costs: the processor time of everything from a bare Python to the last cell."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lite.conftest import ROOT, Browserless
from tests.lite.test_runtime import last_line
from tests.sampling import EXAMPLE

#: In units of a million steps of the same Python in the same process; 13 were seen.
MOST_EFFORT = 30
#: Starts the kernel as a page does and runs all cells of the lab beside it, then the unit.
START = """
import json, os, js

def spent():
    used = js.process.cpuUsage()
    return (used.user + used.system) / 1e6

began = spent()
import pyodide_kernel

shell = pyodide_kernel.ipython_shell
messages = []
shell.send_comm = lambda *message: messages.append(message)
shell.displayhook.publish_execution_result = lambda *_: None
shell.display_pub.display_data_callback = lambda *_: None
os.environ["MLSYS_STUDENT"] = "ann"
(name,) = (each for each in os.listdir() if each.endswith(".ipynb"))
with open(name) as file:
    cells = json.load(file)["cells"]
failed = []
for cell in cells:
    if cell["cell_type"] == "code":
        done = await shell.run_cell_async("".join(cell["source"]))
        failed += [repr(done.error_in_exec)] if done.error_in_exec else []
started = spent() - began

def unit():
    began, number = spent(), 0
    for k in range(1_000_000):
        number = (number * 31 + k) % 1_000_003
    return spent() - began

told = {"failed": failed, "messages": len(messages), "effort": started / min(unit() for _ in "123")}
js.console.log(json.dumps(told))
"""


def test_a_start_takes_no_more_work_than_it_may(in_node: Browserless, tmp_path: Path):
    lab = shutil.copytree(ROOT / "release" / EXAMPLE, tmp_path / EXAMPLE)
    told = last_line(in_node(START, lab))
    assert told["failed"] == []
    assert told["messages"] > 100
    assert told["effort"] <= MOST_EFFORT
