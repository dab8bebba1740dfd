"""What is installed: packages, extensions, the kernel that labs run in, and isolation."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mlsys_widgets import __version__
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.doctor.finding import Finding, ok, problem, warning
from mlsys_widgets.grading.isolation_check import why_not_isolated

_PACKAGE: Final = "mlsys-widgets"
#: Extensions of JupyterLab, with what is missing without each.
_LAB_EXTENSIONS: Final = {
    "mlsys-widgets-lab": "the Lab panel, controls and cards",
    "@jupyter-widgets/jupyterlab-manager": "all widgets",
    "bqplot": "plots",
    "@jupyter/nbgrader": "fetching, validating and grading in the browser",
}
_SERVER_EXTENSIONS: Final = {
    "mlsys_widgets.server": "the Lab panel's ledger",
    "nbgrader.server_extensions.assignment_list": "fetching and submitting",
    "nbgrader.server_extensions.validate_assignment": "validating",
    "nbgrader.server_extensions.formgrader": "formgrader",
}
_KERNEL_SECONDS: Final = 60


def packages(course: Course) -> Iterator[Finding]:
    """Whether everything that the tools for TAs need is installed and new enough."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    wanted = metadata.metadata(_PACKAGE)["Requires-Python"]
    if not SpecifierSet(wanted).contains(python):
        yield problem("Python", f"{python}, and {wanted} is needed", "install a newer Python")
    else:
        yield ok("Python", python)
    extras = ["student", "ta"]
    with suppress(ValueError):  # settings that cannot be read are another finding
        if course.db_url.startswith("postgresql"):
            extras.append("postgres")
    wrong = sorted(set(_unmet(extras)))
    if wrong:
        named = ",".join(extras[1:])
        yield problem("packages", "; ".join(wrong), f"pip install --upgrade '{_PACKAGE}[{named}]'")
    else:
        yield ok("packages", f"{_PACKAGE} {__version__} and all it needs")


def _unmet(extras: list[str]) -> Iterator[str]:
    """Find which requirements of some extras are not met, each as a sentence."""
    for line in metadata.requires(_PACKAGE) or ():
        wanted = Requirement(line)
        if wanted.name == _PACKAGE:
            continue  # an extra that includes another, which is among those asked for
        asked = wanted.marker is None or any(
            wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        )
        if not asked:
            continue
        try:
            there = Version(metadata.version(wanted.name))
        except metadata.PackageNotFoundError:
            yield f"{wanted.name} is missing"
            continue
        if not wanted.specifier.contains(there, prereleases=True):
            yield f"{wanted.name} {there} does not satisfy {wanted.specifier}"


def extensions(course: Course) -> Iterator[Finding]:
    """Whether Jupyter finds its extensions, and nobody has disabled them."""
    from jupyter_core.paths import jupyter_config_path, jupyter_path
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab_server.config import get_federated_extensions, get_page_config

    places = jupyter_path("labextensions")
    there = get_federated_extensions(places)
    off = get_page_config(places).get("disabledExtensions", ())
    missing = [f"{name} ({_LAB_EXTENSIONS[name]})" for name in _LAB_EXTENSIONS if name not in there]
    disabled = [name for name in _LAB_EXTENSIONS if name in off]
    if missing:
        yield problem(
            "lab extensions",
            f"JupyterLab does not find {', '.join(missing)}",
            "run Jupyter from the environment that has the package, or reinstall it there: pip"
            f" install --force-reinstall --no-deps {_PACKAGE} nbgrader ipywidgets bqplot",
        )
    elif disabled:
        yield problem(
            "lab extensions",
            f"disabled: {', '.join(disabled)}",
            f"jupyter labextension enable {' '.join(disabled)}",
        )
    else:
        yield ok("lab extensions", "all found")
    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    enabled = manager.get_jpserver_extensions()
    missing = [f"{n} ({_SERVER_EXTENSIONS[n]})" for n in _SERVER_EXTENSIONS if not enabled.get(n)]
    if missing:
        names = " ".join(each.split()[0] for each in missing)
        yield problem(
            "server extensions",
            f"not enabled: {', '.join(missing)}",
            f"jupyter server extension enable --sys-prefix {names}",
        )
    else:
        yield ok("server extensions", "all enabled")


def kernel(course: Course) -> Iterator[Finding]:
    """Whether the kernel that labs name starts and has this package."""
    from jupyter_client.manager import start_new_kernel

    code = "import mlsys_widgets, ipywidgets, bqplot; print(mlsys_widgets.__version__)"
    fix = "jupyter kernelspec remove python3, then: python -m ipykernel install --sys-prefix"
    output: list[str] = []
    with tempfile.TemporaryDirectory() as aside:  # so that no module of the course is imported
        try:
            manager, client = start_new_kernel(
                _KERNEL_SECONDS, kernel_name="python3", cwd=aside, stderr=-3
            )
        except Exception as trouble:
            yield problem("kernel", f"python3 does not start: {trouble}", fix)
            return
        try:
            reply = client.execute_interactive(
                code,
                timeout=_KERNEL_SECONDS,
                output_hook=lambda message: output.append(message["content"].get("text", "")),
            )
        except Exception as trouble:
            yield problem("kernel", f"python3 does not answer: {trouble}", fix)
            return
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    version = "".join(output).strip()
    if reply["content"]["status"] != "ok":
        why = reply["content"].get("evalue", "")
        yield problem("kernel", f"python3 cannot run a lab: {why}", fix)
    elif version != __version__:
        yield warning("kernel", f"python3 has {_PACKAGE} {version} instead of {__version__}", fix)
    else:
        yield ok("kernel", f"python3 starts and has {_PACKAGE} {version}")


def sandbox(course: Course) -> Iterator[Finding]:
    """Whether a submission can be isolated on this machine."""
    reason = why_not_isolated()
    if reason is None:
        yield ok("sandbox", "submissions can be isolated")
    else:
        yield problem(
            "sandbox",
            reason,
            "allow it (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0; Debian:"
            " sysctl kernel.unprivileged_userns_clone=1), or grade as root or elsewhere; mlsys"
            " grade --sandbox none runs student code as you",
        )
