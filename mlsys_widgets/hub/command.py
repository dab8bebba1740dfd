"""``mlsys hub``: what was asked for, and whether it may be done."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from typing import Final

from mlsys_widgets.hub.configuration import Address
from mlsys_widgets.hub.memory import Memory
from mlsys_widgets.hub.passwords import Passwords, hashes
from mlsys_widgets.hub.places import Places, default_folder
from mlsys_widgets.hub.resetting import run_reset
from mlsys_widgets.hub.starting import Wishes, run_hub

PORT: Final = 8000
#: As Jupyter's own.
PORT_OF_ONE: Final = 8888


def run(arguments: argparse.Namespace) -> int:
    """Do what ``mlsys hub`` was asked to do; its exit code."""
    places = Places((arguments.folder or default_folder()).resolve())
    if arguments.reset:
        return run_reset(places, yes=arguments.yes)
    if arguments.passwords:
        return _print_passwords(places)
    address = _address(arguments)
    if arguments.single:
        from mlsys_widgets.hub import single

        return single.run(places, address, bundle=arguments.bundle, origin=arguments.course)
    if os.geteuid() != 0:
        raise ValueError(
            "a hub makes users of this machine, so root must start it (sudo mlsys hub). Without"
            " root there is a course for yourself, with exchange and formgrader: mlsys hub --single"
        )
    if find_spec("jupyterhub") is None:
        raise ValueError("this needs jupyterhub: pip install 'mlsys-widgets[hub]'")
    wishes = Wishes(
        bundle=arguments.bundle, origin=arguments.course, roster=arguments.roster,
        instructor=arguments.instructor, student=arguments.student, python=arguments.python,
        idle=arguments.idle * 60,
    )  # fmt: skip
    return run_hub(places, address, wishes)


def _address(arguments: argparse.Namespace) -> Address:
    """Where to listen; refused if passwords would travel in the open."""
    cert, key = arguments.cert, arguments.key
    if (cert is None) != (key is None):
        raise ValueError("--cert and --key belong together; give both")
    for path in filter(None, (cert, key)):
        if not path.is_file():
            raise ValueError(f"{path} is not there; it must be a file in PEM format")
    port = arguments.port or (PORT_OF_ONE if arguments.single else PORT)
    address = Address(arguments.ip, port, cert and cert.resolve(), key and key.resolve())
    if not (address.loopback or address.protected or arguments.behind_proxy):
        raise ValueError(
            f"at {address.ip} passwords would travel unprotected; give --cert and --key, or say"
            " --behind-proxy if something in front of the hub speaks https"
        )
    return address


def _print_passwords(places: Places) -> int:
    """Print a sheet to hand out."""
    memory = Memory.read(places.memory)
    if memory is None:
        raise ValueError(f"there is no hub in {places.root}; name its folder with --folder")
    passwords, known = Passwords(places.secrets / "passwords.json"), hashes()
    for name in sorted(memory.accounts):
        print(f"{name}\t{passwords.shown(name, known)}")
    return 0
