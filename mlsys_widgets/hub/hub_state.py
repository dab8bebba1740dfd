"""The memory of a hub between two starts: its course, its accounts, its ports."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Literal, Self

from mlsys_widgets.files import write_whole
from mlsys_widgets.hub.places import Role

Kind = Literal["hub", "single"]
Standing = Literal["active", "locked", "dropped"]

FORMAT: Final = 1


@dataclass(frozen=True)
class Account:
    """A user of the machine that this hub created."""

    name: str
    uid: int
    gid: int
    role: Role
    #: Whether they can log in. The work of those who cannot is kept.
    standing: Standing = "active"
    #: Whose numbers a student has: the name before they were renamed, or empty for their own.
    numbers: str = ""


@dataclass
class HubState:
    """The contents of ``hub.json``."""

    #: A hub for many, or a course for one person.
    kind: Kind
    #: Marks the accounts of this hub, so that it never touches others.
    id: str
    #: The two accounts to try the hub with.
    instructor: str
    student: str
    #: What nbgrader's exchange calls the course; empty until the course exists.
    course_id: str = ""
    #: Where the hub and the proxy listen on the loopback. Servers that survive a killed hub look
    #: for it there.
    hub_port: int = 0
    api_port: int = 0
    #: The users that it created, by name.
    accounts: dict[str, Account] = field(default_factory=dict)
    #: The numbers of its two groups, by name.
    groups: dict[str, int] = field(default_factory=dict)

    @classmethod
    def new(cls, kind: Kind, instructor: str, student: str) -> Self:
        return cls(kind, secrets.token_hex(6), instructor, student)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the file; `None` if there is none."""
        try:
            content = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except ValueError:
            raise ValueError(f"{path} cannot be read; restore a copy of it (it is JSON)") from None
        if content.pop("format", None) != FORMAT:
            raise ValueError(
                f"{path} was written by another version of mlsys-widgets; use that version, or save"
                " what you need and start over with mlsys hub --reset"
            )
        accounts = {each["name"]: Account(**each) for each in content.pop("accounts")}
        return cls(**content, accounts=accounts)

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        content = {
            "format": FORMAT,
            **asdict(self),
            "accounts": [asdict(each) for each in self.accounts.values()],
        }
        write_private(path, json.dumps(content, indent=1) + "\n")

    @property
    def mark(self) -> str:
        """The comment field of accounts that this hub created."""
        return f"mlsys hub {self.id}"

    @property
    def staff_group(self) -> str:
        """The group of all who teach: they grade."""
        return f"mlsys-{self.id}-staff"

    @property
    def teaching_group(self) -> str:
        """The group of instructors: they change the course."""
        return f"mlsys-{self.id}-teach"

    @property
    def control_groups(self) -> str:
        """The folder of the kernel's control groups, one for each student."""
        return f"mlsys-{self.id}"

    def closed(self) -> set[str]:
        """Return the names of those who cannot log in."""
        return {name for name, each in self.accounts.items() if each.standing != "active"}

    def of_role(self, role: Role) -> list[Account]:
        return [self.accounts[name] for name in sorted(self.accounts)
                if self.accounts[name].role == role]  # fmt: skip


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    write_whole(path, text, mode=0o600)
