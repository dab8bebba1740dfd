"""A Dockerfile as a list of instructions, and its first stage carried out in a folder.

There is no container runtime where the tests run. What an image installs can be installed all the
same: the steps of the stage that builds are run one after the other, in other folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    """One of them: ``RUN``, and all that follows it on one line."""

    name: str
    words: str


def read(path: Path) -> list[Instruction]:
    """The instructions of a Dockerfile; comments and the ends of lines are gone."""
    lines = (line for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = (line.split(None, 1) for line in whole.splitlines() if line.strip())
    return [Instruction(name, words) for name, words in pairs]


def stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    """Instructions by stage, each from its FROM on."""
    found: list[list[Instruction]] = []
    for each in instructions:
        if each.name == "FROM":
            found.append([])
        if found:
            found[-1].append(each)
    return found


def carry_out(stage: list[Instruction], root: Path, places: Mapping[str, Path]) -> str:
    """Carry out the steps of a stage, and return what they said.

    Parameters
    ----------
    stage
        Its instructions.
    root
        What images are built from.
    places
        Folders of the image, and the folders that stand in for them.
    """
    environment, here, said = dict(os.environ), places["/build"], ""
    # The image's own python is the plain one, outside of any environment.
    programs = here / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    environment["PATH"] = f"{programs}:{environment['PATH']}"

    def moved(words: str) -> str:
        # In one pass: a place may have the name of another one in it.
        return re.sub("|".join(places), lambda found: str(places[found[0]]), words)

    for step in stage:
        match step.name:
            case "COPY":
                *sources, target = (Path(moved(word)) for word in step.words.split())
                for source in sources:
                    _copy(root / source, here / target, into=len(sources) > 1)
            case "RUN":
                done = subprocess.run(
                    ["sh", "-ec", moved(step.words)], cwd=here, env=environment, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=1500,
                )  # fmt: skip
                assert done.returncode == 0, f"RUN {step.words}\n{done.stdout[-3000:]}"
                said += done.stdout
            case "ENV":
                environment |= dict(pair.split("=", 1) for pair in step.words.split())
            case "FROM" | "WORKDIR":
                pass
            case other:
                raise AssertionError(f"{other} is not known here")
    return said


def _copy(source: Path, target: Path, *, into: bool) -> None:
    if source.is_dir():
        leave_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=leave_out)
    elif into or target.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target / source.name)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
