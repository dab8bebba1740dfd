"""What the servers of a role are told, as Jupyter and nbgrader read it."""

from __future__ import annotations

import json
import stat

import pytest

from mlsys_widgets.hub.running.settings import write_settings


@pytest.mark.parametrize("role", ["instructor", "student"])
def test_only_instructors_have_the_tools_of_instructors(tmp_path, role):
    folder, course = tmp_path / role, tmp_path / "course"
    write_settings(folder, role, course_id="demo", exchange=tmp_path, course=course, idle=3600)
    server = json.loads((folder / "jupyter_server_config.json").read_text("utf-8"))
    page = json.loads((folder / "labconfig" / "page_config.json").read_text("utf-8"))
    teaching = role == "instructor"
    formgrader = "nbgrader.server_extensions.formgrader"
    assert (formgrader in server["ServerApp"]["jpserver_extensions"]) is not teaching
    assert ("disabledExtensions" in page) is not teaching
    staff_page = "mlsys_widgets.courses.staff_page"
    assert (staff_page in server["ServerApp"]["jpserver_extensions"]) is teaching
    assert ("mlsysStaffPage" in page) is teaching
    nbgrader = (folder / "nbgrader_config.py").read_text("utf-8")
    assert ("CourseDirectory.root" in nbgrader) is teaching
    assert "c.CourseDirectory.course_id = 'demo'" in nbgrader
    assert server["MappingKernelManager"]["cull_idle_timeout"] == 3600


def test_settings_are_replaced_and_everybody_can_read_them(tmp_path):
    folder = tmp_path / "student"
    folder.mkdir(mode=0o700)
    (folder / "left_over.json").write_text("{}")
    write_settings(folder, "student", course_id="demo", exchange=tmp_path)
    assert not (folder / "left_over.json").exists()
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() else 0o644), path


@pytest.mark.parametrize("sockets", [True, False])
def test_others_cannot_listen_to_kernels(tmp_path, sockets):
    """Over sockets in a private folder, or encrypted over ports of the loopback."""
    write_settings(tmp_path / "x", "student", course_id="demo", exchange=tmp_path, sockets=sockets)
    server = json.loads((tmp_path / "x" / "jupyter_server_config.json").read_text("utf-8"))
    wanted = {"transport": "ipc"} if sockets else {"transport_encryption": "auto"}
    assert server["KernelManager"] == wanted
