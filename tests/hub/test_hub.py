"""A hub as people use it: who gets in, and what everybody has."""

from __future__ import annotations

import json
import pwd
import re

from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.ledger.hand_in_notes import notes_beside, read_notes
from tests.waiting import wait_for

LAB = "lab_07_kernel_fusion"


def plain(shown: str) -> str:
    """What a terminal showed, without colors."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", shown)


def test_a_wrong_password_opens_nothing(hub):
    from tests.hub.running import Person

    stranger = Person(hub, hub.names["trial"])
    assert stranger.login("wrong").status_code == 403
    assert stranger.ask_hub("GET", f"users/{stranger.name}").status_code == 403


def test_a_student_has_the_labs_our_panel_and_no_tools_of_instructors(ada):
    listed = ada.ask("GET", "assignments?course_id=mlsys").json()["value"]
    assert {each["assignment_id"]: each["status"] for each in listed}[LAB] == "released"
    page = ada.ask("GET", "lab").text
    config = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)[1])
    disabled = set(config["disabledExtensions"])
    assert {f"@jupyter/nbgrader:{name}" for name in
            ("formgrader", "create-assignment", "course-list",
             "validate-assignment")} <= disabled  # fmt: skip
    assert not {"@jupyter/nbgrader:assignment-list", "@jupyter/nbgrader:menu"} & disabled
    extensions = {each["name"] for each in config["federated_extensions"]}
    assert {"@jupyter/nbgrader", "mlsys-widgets-lab", "bqplot"} <= extensions
    assert ada.ask("GET", "mlsys/labs").status_code == 200
    for address in ("formgrader/", "formgrader/api/assignments", "course_list"):
        assert ada.ask("GET", address).status_code == 404


def test_news_are_off_and_pages_are_shown_as_pages(ada):
    settings = ada.ask("GET", "lab/api/settings/@jupyterlab/apputils-extension:notification").json()
    assert settings["schema"]["properties"]["fetchNews"]["default"] == "false"
    assert "Assignment List" in (ada.home / "START_HERE.md").read_text()


def test_a_student_is_known_by_the_login_and_leaves_nothing_open(ada):
    kernel = ada.kernel()
    printed = ada.run(
        kernel,
        "import os, getpass; from mlsys_widgets.labs import student\n"
        "open('mine.txt', 'w').close()\n"
        "print(student().name, getpass.getuser(), oct(os.stat('mine.txt').st_mode & 0o777))",
    )
    assert printed.split() == [ada.name, ada.name, "0o600"]
    ada.ask("DELETE", f"api/kernels/{kernel}")


def test_a_terminal_of_a_student_has_mlsys_and_limits(hub, ada):
    shown = plain(ada.terminal("mlsys --version; cat /proc/self/cgroup; ulimit -u -c"))
    group = f"{HubState.read(hub.places.state).control_groups}/{ada.name}"
    assert (group in shown) != ("No limits of memory" in hub.output.read_text())
    assert re.search(r"^mlsys \d", shown, re.M)
    assert re.search(r"processes.* 512\s", shown)
    assert re.search(r"core.* 0\s", shown)


def test_a_lab_is_fetched_validated_and_handed_in(hub, ada):
    ada.assignment("fetch", LAB)
    assert (ada.home / LAB / f"{LAB}.ipynb").owner() == ada.name
    answer = ada.ask("POST", "assignments/validate", data={"path": f"{LAB}/{LAB}.ipynb"}).json()
    assert answer["success"], answer
    ada.assignment("submit", LAB)
    (handed_in,) = hub.places.exchange.glob(f"mlsys/inbound/{ada.name}+{LAB}+*")
    assert handed_in.owner() == ada.name


def test_a_hand_in_is_noted_where_no_student_can_read_or_write(hub, ada, teacher):
    """Runs after ada has submitted; root's service has seen it, and the instructor may look."""
    notes = notes_beside(hub.places.course)
    noted = wait_for(lambda: [note for note in read_notes(notes) if note.student == ada.name])
    (handed_in,) = hub.places.exchange.glob(f"mlsys/inbound/{ada.name}+{LAB}+*")
    assert [(note.lab, note.folder, note.watched) for note in noted] == [
        (LAB, handed_in.name, True)
    ]
    assert noted[0].says == (handed_in / "timestamp.txt").read_text()
    tried = plain(ada.terminal(f"cat {notes}; echo x >> {notes}; ls {notes.parent}"))
    assert tried.count("Permission denied") == 3
    assert ada.name in plain(teacher.terminal(f"cat {notes}"))
    assert "Permission denied" in plain(teacher.terminal(f"echo x >> {notes}"))


def test_the_instructor_has_the_formgrader_in_a_frame_of_jupyterlab(teacher):
    page = teacher.ask("GET", "formgrader/")
    assert page.status_code == 200
    policy = page.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    listed = teacher.ask("GET", "formgrader/api/assignments").json()
    assert {each["name"]: each["status"] for each in listed}[LAB] == "released"
    students = {each["id"] for each in teacher.ask("GET", "formgrader/api/students").json()}
    assert {teacher.hub.names[name] for name in ("ada", "ben", "trial")} <= students


def test_the_instructor_collects_and_grades_without_root(hub, teacher):
    """Runs after ada has submitted; the instructor's own rights suffice to isolate a submission.

    She recorded nothing, so there is something to look at, which grading says with a 3.
    """
    shown = plain(
        teacher.terminal(
            f"nbgrader collect {LAB} && mlsys grade {LAB} --students '*ada'"
            "; echo $? done by $(id -u)"
        )
    )
    assert f"3 done by {pwd.getpwnam(teacher.name).pw_uid}" in shown, shown
    assert "Without isolation" not in shown
    graded = hub.places.course / "autograded" / hub.names["ada"] / LAB
    assert (graded / f"{LAB}.ipynb").owner() == teacher.name


def test_the_instructor_sees_who_is_there_and_cannot_look_into_their_servers(ada, teacher):
    names = {each["name"] for each in teacher.ask_hub("GET", "users").json()}
    assert ada.name in names
    assert ada.ask_hub("GET", "users").status_code == 403
    headers = {"Authorization": f"token {teacher.token}"}
    answer = teacher.session.get(f"{ada.base}api/contents", headers=headers, timeout=30)
    assert answer.status_code == 403
