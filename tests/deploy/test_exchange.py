"""From an LMS to feedback: the chart's JupyterHub, real servers, the real ngshare.

Students come by LTI 1.3, their servers are those of the student image, and labs travel through the
exchange as in the cluster. Only the spawner and the addresses are those of this machine.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa

from .cluster import Cluster, Programs, cluster
from .lms import LMS, learning_system

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

LAB = "lab_01_magnitude"
ANN, BOB = "ann.lee@example.edu", "bob"


@dataclass(frozen=True)
class Class:
    """A cluster, its LMS, and the servers of three people, by their names at the hub."""

    lms: LMS
    cluster: Cluster
    servers: dict[str, dict[str, str]]
    course: Path

    def teach(self, *words: str) -> str:
        """Run a command in a terminal of the instructor, in the folder of the course."""
        done = self.cluster.run(self.servers["instructor"], *words, cwd=self.course)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def study(self, name: str, *words: str) -> str:
        """Run a command in a terminal of a student."""
        done = self.cluster.run(self.servers[name], *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def home(self, name: str) -> Path:
        """Where a student works."""
        return Path(self.servers[name]["HOME"])


@pytest.fixture(scope="module")
def course(
    root: Path, programs: Programs, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Class]:
    """A class whose lab is released."""
    state = tmp_path_factory.mktemp("cluster")
    folder = state / "course"
    shutil.copytree(root / "release" / LAB, folder / "release" / LAB)
    with learning_system() as lms:
        here = {
            "issuer": lms.address, "authorize_url": lms.authorize, "jwks_endpoint": lms.jwks,
            "client_id": [lms.client], "uri_scheme": "http",
        }  # fmt: skip
        files = ["values.yaml", "lti13.yaml"]
        with cluster(programs, state / "run", files, {"LTI13Authenticator": here}) as running:
            servers = {}
            for login in ("instructor", "Ann.Lee@Example.edu", "bob"):
                browser, _ = lms.launch(running.url, login)
                servers[running.name(browser)] = running.server(browser)
            servers["instructor"]["MLSYS_COURSE"] = str(folder)
            made = Class(lms, running, servers, folder)
            listed = "student_id,first_name,last_name,email\n"
            listed += f"{ANN},Ann,Lee,{ANN}\n{BOB},Bob,Ray,bob@example.edu\n"
            (folder / "exchange.csv").write_text(listed)
            manage = "ngshare-course-management"
            made.teach(manage, "create_course", "mlsys", '["instructor"]')
            made.teach(manage, "add_students", "mlsys", "exchange.csv", "--no-gb")
            made.teach("nbgrader", "release_assignment", LAB)
            yield made


def test_the_name_of_the_lms_is_the_name_everywhere(course: Class) -> None:
    assert set(course.servers) == {"instructor", ANN, BOB}
    program = "from mlsys_widgets.labs import identity; print(identity.student().name)"
    assert course.study(ANN, "python", "-c", program).strip() == ANN


def test_a_lab_goes_out_and_comes_back_under_that_name(course: Class) -> None:
    for name in (ANN, BOB):
        assert LAB in course.study(name, "nbgrader", "list")
        course.study(name, "nbgrader", "fetch_assignment", LAB)
        work = course.home(name) / LAB
        assert (work / "asks.py").is_file()
        (work / "ledger.jsonl").write_text(f'{{"of": "{name}"}}\n')
        (work / "figures").mkdir()
        (work / "figures" / "mine.txt").write_text(name)
        course.study(name, "nbgrader", "submit", LAB)
    course.teach("nbgrader", "collect", LAB)
    for name in (ANN, BOB):
        collected = course.course / "submitted" / name / LAB
        assert json.loads((collected / "ledger.jsonl").read_text()) == {"of": name}
        assert (collected / "figures" / "mine.txt").read_text() == name
        assert (collected / f"{LAB}.ipynb").is_file()
        assert (collected / "timestamp.txt").is_file()


def test_feedback_reaches_whom_it_is_for(course: Class) -> None:
    for name in (ANN, BOB):
        folder = course.course / "feedback" / name / LAB
        folder.mkdir(parents=True)
        (folder / f"{LAB}.html").write_text(f"<p>for {name}")
        shutil.copy(course.course / "submitted" / name / LAB / "timestamp.txt", folder)
    course.teach("nbgrader", "release_feedback", LAB)
    course.study(ANN, "nbgrader", "fetch_feedback", LAB)
    (page,) = (course.home(ANN) / LAB / "feedback").rglob("*.html")
    assert page.read_text() == f"<p>for {ANN}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"submission/mlsys/{LAB}/{ANN}"),
        ("GET", f"submissions/mlsys/{LAB}"),
        ("GET", f"submissions/mlsys/{LAB}/{ANN}"),
        ("GET", "students/mlsys"),
        ("POST", f"assignment/mlsys/{LAB}"),
        ("DELETE", f"assignment/mlsys/{LAB}"),
        ("POST", "course/another"),
        ("POST", f"instructor/mlsys/{BOB}"),
        ("DELETE", f"student/mlsys/{ANN}"),
    ],
)
def test_a_student_is_refused_at_the_exchange(course: Class, method: str, path: str) -> None:
    answer = course.cluster.ask(course.servers[BOB], method, path, files="[]", instructors="[]")
    assert answer.status_code == 403, answer.text


def test_feedback_of_others_is_refused(course: Class) -> None:
    stamp = (course.course / "submitted" / ANN / LAB / "timestamp.txt").read_text().strip()
    where = f"{course.cluster.exchange}/feedback/mlsys/{LAB}/{ANN}"
    for name, code in ((BOB, 403), (ANN, 200)):
        token = {"Authorization": f"token {course.servers[name]['JUPYTERHUB_API_TOKEN']}"}
        asked = {"timestamp": stamp, "list_only": "true"}
        assert requests.get(where, headers=token, params=asked, timeout=30).status_code == code


@pytest.mark.parametrize("path", ["../escaped", "/tmp/escaped", "figures/../../escaped", "."])
def test_a_submission_cannot_leave_its_folder(course: Class, path: str) -> None:
    files = json.dumps([{"path": path, "content": "eA=="}])
    answer = course.cluster.ask(course.servers[BOB], "POST", f"submission/mlsys/{LAB}", files=files)
    assert (answer.status_code, answer.json()["message"]) == (400, "Illegal path")


def test_without_a_token_there_is_nothing(course: Class) -> None:
    for headers in ({}, {"Authorization": "token nonsense"}):
        answer = requests.get(
            f"{course.cluster.exchange}/courses", headers=headers, allow_redirects=False, timeout=30
        )
        assert answer.status_code in (302, 403)
        assert "mlsys" not in answer.text


def test_the_exchange_is_not_reachable_from_outside(course: Class) -> None:
    public = requests.get(f"{course.cluster.url}/services/ngshare/courses", timeout=30)
    assert public.status_code == 404


def test_a_student_cannot_open_the_server_of_another(course: Class) -> None:
    token = {"Authorization": f"token {course.servers[BOB]['JUPYTERHUB_API_TOKEN']}"}
    for name, code in ((ANN, 403), (BOB, 200)):
        where = f"{course.cluster.url}/user/{name}/api/contents"
        assert requests.get(where, headers=token, timeout=30).status_code == code


FORGED = {
    "another key": {"key": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
    "too late": {"exp": 1},
    "for another tool": {"aud": "somebody else"},
    "from another issuer": {"iss": "https://lms.example.org"},
    "an old answer": {"nonce": "used before"},
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_launch_that_the_lms_did_not_make_is_refused(course: Class, forgery: str) -> None:
    browser, answer = course.lms.launch(course.cluster.url, ANN, **FORGED[forgery])
    assert answer.status_code in (400, 401, 403), answer.text[-500:]
    assert browser.get(f"{course.cluster.url}/hub/api/user", timeout=30).status_code == 403


@pytest.mark.parametrize("login", ["../bob", "a/b", "a b", "Jürgen", ".", "x" * 200, "$(id)"])
def test_names_that_could_not_be_a_folder_are_refused(course: Class, login: str) -> None:
    browser, _ = course.lms.launch(course.cluster.url, login)
    assert browser.get(f"{course.cluster.url}/hub/api/user", timeout=30).status_code == 403
