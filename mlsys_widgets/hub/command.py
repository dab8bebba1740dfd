"""``mlsys hub``: reads what was asked for, and refuses what must not be done."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from typing import Final

from mlsys_widgets.hub.accounts.passwords import Passwords, hashes
from mlsys_widgets.hub.accounts.sign_in_settings import LtiSettings, OidcSettings
from mlsys_widgets.hub.backup.restore import refuse_unfinished, run_restore
from mlsys_widgets.hub.backup.taking import run_backup
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places, default_folder
from mlsys_widgets.hub.preparation import check_origin
from mlsys_widgets.hub.reset import run_reset
from mlsys_widgets.hub.running.configuration import Address
from mlsys_widgets.hub.running.service_unit import hub_command, install, remove, unit_text
from mlsys_widgets.hub.running.slurm_settings import SlurmSettings
from mlsys_widgets.hub.running.student_limits import StudentLimits
from mlsys_widgets.hub.start import HubOptions, run_hub
from mlsys_widgets.hub.upgrade import run_health, run_upgrade

PORT: Final = 8000
#: The same as Jupyter's own.
SINGLE_PORT: Final = 8888


def run(arguments: argparse.Namespace) -> int:
    """Do what ``mlsys hub`` was asked to do, and return its exit code."""
    places = Places((arguments.folder or default_folder()).resolve())
    if arguments.reset:
        return run_reset(places, yes=arguments.yes)
    if arguments.passwords:
        return _print_passwords(places)
    match arguments.task:
        case "backup":
            return run_backup(places, arguments.file)
        case "restore":
            return run_restore(places, arguments.file)
        case "upgrade":
            return run_upgrade(places)
        case "health":
            return run_health(places)
        case "service" if arguments.action == "remove":
            remove(arguments.name)
            return 0
    address = _address(arguments)
    if arguments.single:
        from mlsys_widgets.hub import single

        return single.run(places, address, bundle=arguments.bundle, origin=arguments.course)
    if os.geteuid() != 0:
        raise ValueError(
            "a hub creates users of this machine, so root must start it (sudo mlsys hub). Without"
            " root you can run a course for yourself, formgrader included: mlsys hub --single"
        )
    if find_spec("jupyterhub") is None:
        raise ValueError("this needs jupyterhub: pip install 'mlsys-widgets[hub]'")
    oidc = OidcSettings.read(arguments.oidc) if arguments.oidc else None
    lti = LtiSettings.read(arguments.lti) if arguments.lti else None
    slurm = SlurmSettings.read(arguments.slurm) if arguments.slurm else None
    if arguments.task == "service":
        return _service(places, arguments)
    refuse_unfinished(places)
    options = HubOptions(
        bundle=arguments.bundle, origin=arguments.course, roster=arguments.roster,
        instructor=arguments.instructor, student=arguments.student, python=arguments.python,
        idle=arguments.idle * 60, oidc=oidc, lti=lti, slurm=slurm,
        limits=StudentLimits(arguments.memory, arguments.cores, arguments.disk),
    )  # fmt: skip
    return run_hub(places, address, options)


def _service(places: Places, arguments: argparse.Namespace) -> int:
    text = unit_text(places, hub_command(places, arguments))
    if arguments.action == "show":
        print(text, end="")
    else:
        check_origin(places.course, bundle=arguments.bundle, origin=arguments.course)
        install(arguments.name, text)
    return 0


def _address(arguments: argparse.Namespace) -> Address:
    """Return where to listen; refuse it if passwords would travel unencrypted."""
    cert, key = arguments.cert, arguments.key
    if (cert is None) != (key is None):
        raise ValueError("--cert and --key belong together; give both")
    for path in filter(None, (cert, key)):
        if not path.is_file():
            raise ValueError(f"{path} does not exist; it must be a file in PEM format")
    port = arguments.port or (SINGLE_PORT if arguments.single else PORT)
    address = Address(arguments.ip, port, cert and cert.resolve(), key and key.resolve())
    if not (address.loopback or address.protected or arguments.behind_proxy):
        raise ValueError(
            f"at {address.ip} passwords would travel unencrypted; give --cert and --key, or add"
            " --behind-proxy if something in front of the hub handles https"
        )
    return address


def _print_passwords(places: Places) -> int:
    state = HubState.read(places.state)
    if state is None:
        raise ValueError(f"there is no hub in {places.root}; name its folder with --folder")
    passwords, known = Passwords(places.passwords), hashes()
    for name in sorted(state.accounts):
        print(f"{name}\t{passwords.shown(name, known)}")
    return 0
