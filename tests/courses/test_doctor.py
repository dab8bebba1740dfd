"""Each thing that the doctor looks at, broken, and what it says then."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from mlsys_widgets import __version__
from mlsys_widgets.cli import main
from mlsys_widgets.courses import Finding, Student, enter_students, examine
from mlsys_widgets.courses.doctor import exchange, folders, gradebook, labs, software
from mlsys_widgets.courses.registering import register_labs
from tests.courses.conftest import LAB, Disk
from tests.grading.test_postgres import Server

pytestmark = pytest.mark.timeout(300)

Check = Callable[[Path], Iterator[Finding]]


def the_one(check: Check, root: Path, about: str) -> Finding:
    """What was found of one thing."""
    (found,) = (each for each in check(root) if each.about == about)
    return found


def is_broken(check: Check, root: Path, about: str, said: str, mend: str) -> None:
    found = the_one(check, root, about)
    assert found.level == "problem", found
    assert re.search(said, found.said), found
    assert mend in found.mend, found


def is_doubtful(check: Check, root: Path, about: str, said: str, mend: str) -> None:
    found = the_one(check, root, about)
    assert found.level == "warning", found
    assert re.search(said, found.said), found
    assert mend in found.mend, found


def is_well(check: Check, root: Path, about: str) -> Finding:
    found = the_one(check, root, about)
    assert (found.level, found.mend) == ("ok", ""), found
    return found


def doctor_elsewhere(root: Path, *before: str, **environment: str) -> dict[str, dict[str, str]]:
    """Run the doctor in a process of its own; what it found, by what it is about."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "mlsys_widgets", "course", "doctor", root, "--json"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return {each["about"]: each for each in json.loads(done.stdout)}


def test_a_course_that_is_well(course: Path, capsys):
    assert main(["course", "doctor", str(course)]) == 0
    told = capsys.readouterr().out
    for about in (
        "Python", "packages", "lab extensions", "server extensions", "kernel", "sandbox", "disk",
        "settings", "labs", "students", "gradebook", "exchange", "privacy",
    ):  # fmt: skip
        assert re.search(rf"✓\s+{about}\s", told), (about, told)
    assert "✗" not in told
    assert "2 in the gradebook" in told


def test_what_is_wrong_is_told_with_what_to_do(course: Path, capsys):
    course.chmod(0o755)
    assert main(["course", "doctor", str(course)]) == 1
    told = capsys.readouterr().out
    assert re.search(r"✗\s+privacy\s+others on this machine can read assignments, source", told)
    assert f"✗ privacy: chmod o-rwx {course}" in told
    assert main(["course", "doctor", str(course), "--json"]) == 1
    found = {each["about"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["privacy"]["level"] == "problem"
    assert found["privacy"]["mend"] == f"chmod o-rwx {course}"
    assert found["labs"]["level"] == "ok"


def test_a_folder_without_a_course(tmp_path: Path, capsys):
    assert main(["course", "doctor", str(tmp_path)]) == 1
    assert "there is no course in" in capsys.readouterr().err


class TestSoftware:
    def packages_with(self, course: Path, *path: Path, options: tuple[str, ...] = ()) -> str:
        code = (
            "import sys; from pathlib import Path\nsys.modules['rfc3987_syntax'] = None\n"
            "from mlsys_widgets.courses.doctor.software import packages\n"
            "for each in packages(Path(sys.argv[1])): print(each)"
        )
        done = subprocess.run(
            [sys.executable, *options, "-c", code, course],
            env={**os.environ, "PYTHONPATH": ":".join(map(str, path))},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def test_a_package_that_is_too_old(self, course: Path, tmp_path: Path):
        old = tmp_path / "nbval-0.1.dist-info"
        old.mkdir()
        (old / "METADATA").write_text("Metadata-Version: 2.1\nName: nbval\nVersion: 0.1\n", "utf-8")
        told = self.packages_with(course, tmp_path)
        assert "level='problem', said='nbval 0.1 does not fit >=0.11'" in told
        assert "pip install --upgrade 'mlsys-widgets[ta]'" in told

    def test_a_package_that_is_missing(self, course: Path, tmp_path: Path, root: Path):
        """All that is installed here but one package that only TAs need."""
        import nbval

        installed = Path(nbval.__file__).parent.parent
        for each in installed.iterdir():
            if not each.name.startswith("nbval"):
                (tmp_path / each.name).symlink_to(each)
        told = self.packages_with(course, root, tmp_path, options=("-S",))
        assert "level='problem', said='nbval is missing'" in told

    def test_a_driver_that_is_missing_for_the_gradebook(
        self, course: Path, tmp_path: Path, root: Path
    ):
        import psycopg

        for each in Path(psycopg.__file__).parent.parent.iterdir():
            if not each.name.startswith("psycopg"):
                (tmp_path / each.name).symlink_to(each)
        assert "psycopg" not in self.packages_with(course, root, tmp_path, options=("-S",))
        name_gradebook(course, "postgresql+psycopg:///grades")
        told = self.packages_with(course, root, tmp_path, options=("-S",))
        assert "psycopg is missing" in told
        assert "pip install --upgrade 'mlsys-widgets[ta,postgres]'" in told

    def test_a_lab_extension_that_was_switched_off(self, course: Path, tmp_path, monkeypatch):
        monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
        program = Path(sys.executable).parent / "jupyter-labextension"
        words = ("disable", "--level=user", "mlsys-widgets-lab")
        subprocess.run([program, *words], check=True, capture_output=True)
        is_broken(
            software.extensions, course, "lab extensions", "switched off: mlsys-widgets-lab",
            "jupyter labextension enable mlsys-widgets-lab",
        )  # fmt: skip

    def test_a_server_extension_that_was_switched_off(
        self, course: Path, tmp_path: Path, monkeypatch
    ):
        off = {"ServerApp": {"jpserver_extensions": {"mlsys_widgets.server": False}}}
        (tmp_path / "jupyter_server_config.d").mkdir()
        (tmp_path / "jupyter_server_config.d" / "off.json").write_text(json.dumps(off), "utf-8")
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
        is_broken(
            software.extensions, course, "server extensions",
            "not enabled: mlsys_widgets.server",
            "jupyter server extension enable --sys-prefix mlsys_widgets.server",
        )  # fmt: skip
        is_well(software.extensions, course, "lab extensions")

    def test_an_environment_without_extensions(self, course: Path, tmp_path: Path):
        """Another environment that borrows our packages: Jupyter looks beside its Python."""
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True
        )
        (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
        import nbgrader

        ours = Path(nbgrader.__file__).parent.parent
        code = (
            "import sys; from pathlib import Path\nsys.modules['rfc3987_syntax'] = None\n"
            "from mlsys_widgets.courses.doctor.software import extensions\n"
            "for each in extensions(Path(sys.argv[1])): print(each.level, each.said)"
        )
        (site / "borrowed.pth").write_text(f"{ours}\n{Path(__file__).parents[2]}\n", "utf-8")
        done = subprocess.run(
            [tmp_path / "env/bin/python", "-c", code, course],
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        lab, server = done.stdout.splitlines()
        assert lab.startswith("problem JupyterLab does not find mlsys-widgets-lab (the Lab panel)")
        assert server.startswith("problem not enabled: mlsys_widgets.server")

    @pytest.fixture
    def kernelspec(self, tmp_path: Path, monkeypatch) -> Callable[..., None]:
        """Have python3 mean something else."""

        def write(*argv: str, **environment: str) -> None:
            folder = tmp_path / "share" / "kernels" / "python3"
            folder.mkdir(parents=True)
            said = {
                "argv": argv, "display_name": "x", "language": "python", "env": environment,
            }  # fmt: skip
            (folder / "kernel.json").write_text(json.dumps(said), "utf-8")
            monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))

        return write

    def test_a_kernel_whose_python_is_gone(self, course: Path, kernelspec):
        kernelspec("/nowhere/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}")
        is_broken(
            software.kernel, course, "kernel", "python3 does not start: .*No such file",
            "python -m ipykernel install --sys-prefix",
        )  # fmt: skip

    def test_a_kernel_that_dies(self, course: Path, kernelspec):
        kernelspec(sys.executable, "-c", "raise SystemExit(1)")
        is_broken(software.kernel, course, "kernel", "python3 does not start: .*died", "ipykernel")

    def test_a_kernel_with_another_version_of_the_package(
        self, course: Path, kernelspec, tmp_path: Path
    ):
        (tmp_path / "old" / "mlsys_widgets").mkdir(parents=True)
        (tmp_path / "old" / "mlsys_widgets" / "__init__.py").write_text("__version__ = '0.0.1'\n")
        launch = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
        kernelspec(sys.executable, *launch, PYTHONPATH=str(tmp_path / "old"))
        is_doubtful(
            software.kernel, course, "kernel",
            f"python3 has mlsys-widgets 0.0.1, and not {re.escape(__version__)}", "ipykernel",
        )  # fmt: skip

    def test_a_kernel_without_widgets(self, course: Path, kernelspec, tmp_path: Path):
        (tmp_path / "old").mkdir()
        (tmp_path / "old" / "bqplot.py").write_text("raise ImportError('bqplot is broken')\n")
        launch = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
        kernelspec(sys.executable, *launch, PYTHONPATH=str(tmp_path / "old"))
        said = "python3 cannot run a lab: bqplot is broken"
        is_broken(software.kernel, course, "kernel", said, "ipykernel")

    def test_a_machine_that_lets_nobody_shut_himself_in(self, course: Path):
        """In a namespace of users where there is nobody but one, a child cannot be nobody."""
        alone = ("unshare", "--user", "--map-root-user")
        if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
            pytest.skip("this machine gives no namespaces to begin with")
        found = doctor_elsewhere(course, *alone)["sandbox"]
        assert found["level"] == "problem"
        assert "the system refuses namespaces to this user" in found["said"]
        assert "--sandbox none" in found["mend"]
        is_well(software.sandbox, course, "sandbox")


class TestCourse:
    def test_settings_that_are_no_python_are_one_finding(self, course: Path):
        (course / "nbgrader_config.py").write_text("c = get_config(\n", "utf-8")
        wrong = [each for each in examine(course) if each.level == "problem"]
        assert [each.about for each in wrong] == ["settings"]
        assert "nbgrader_config.py cannot be read: SyntaxError" in wrong[0].said

    def test_what_two_checks_stumble_over_is_told_once_and_hides_nothing(self, course: Path):
        (course / "assignments" / "course.toml").write_text("variants = 3\n", "utf-8")
        course.chmod(0o755)
        wrong = {each.about: each for each in examine(course) if each.level == "problem"}
        assert sorted(wrong) == ["labs", "privacy"]
        assert "course.toml sets variants to 3; it must be true or false" in wrong["labs"].said

    def test_settings_that_are_gone(self, course: Path):
        (course / "nbgrader_config.py").unlink()
        is_broken(labs.settings, course, "settings", "there is no nbgrader_config.py", "init")

    @pytest.mark.parametrize(
        ("line", "said"),
        [("", "the course has no id"), ("c.CourseDirectory.course_id = 'a/b'", "'a/b'; it must")],
    )
    def test_a_course_without_a_name_that_works(self, course: Path, line: str, said: str):
        (course / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n", "utf-8")
        is_broken(labs.settings, course, "settings", said, "course_id")

    def test_a_lab_that_is_stale(self, course: Path):
        path = course / "assignments" / LAB / "lab.py"
        path.write_text(path.read_text("utf-8") + "\n# %% [markdown]\n# More.\n", "utf-8")
        is_broken(
            labs.freshness, course, "labs", f"{LAB}: source/{LAB} is not what its text gives",
            f"mlsys build {LAB}",
        )  # fmt: skip

    def test_a_page_to_start_at_that_is_stale(self, course: Path):
        (course / "release" / "START_HERE.md").unlink()
        is_doubtful(labs.freshness, course, "labs", "START_HERE.md does not fit", "mlsys build")

    def test_a_course_without_labs(self, course: Path):
        shutil.rmtree(course / "assignments" / LAB)
        is_broken(labs.freshness, course, "labs", "there are none", "mlsys new-lab NAME")

    def test_a_bundle_of_a_newer_package(self, course: Path):
        path = course / ".mlsys" / "bundle.json"
        said = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**said, "package": "99.0"}), "utf-8")
        is_doubtful(
            labs.freshness,
            course,
            "bundle",
            "made with mlsys-widgets 99.0",
            "pip install --upgrade",
        )


def name_gradebook(course: Path, url: str) -> None:
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


class TestGradebook:
    def change(self, course: Path, query: str) -> None:
        with sqlite3.connect(course / "gradebook.db") as db:
            db.execute(query)
        db.close()

    def is_broken(self, course: Path, said: str, mend: str) -> None:
        is_broken(gradebook.gradebook, course, "gradebook", said, mend)

    def test_looking_changes_nothing(self, course: Path):
        before = (course / "gradebook.db").read_bytes()
        is_well(gradebook.gradebook, course, "gradebook")
        assert "2 in" in is_well(gradebook.gradebook, course, "students").said
        assert (course / "gradebook.db").read_bytes() == before

    def test_it_is_gone(self, course: Path):
        (course / "gradebook.db").unlink()
        self.is_broken(course, "there is no gradebook.db", "nbgrader generate_assignment LAB")
        assert not (course / "gradebook.db").exists()

    def test_it_is_no_database(self, course: Path):
        (course / "gradebook.db").write_text("something else " * 100, "utf-8")
        self.is_broken(course, "file is not a database", "put back a copy of the file")

    def test_it_is_empty(self, course: Path):
        (course / "gradebook.db").write_bytes(b"")
        self.is_broken(course, "gradebook.db is empty", "nbgrader generate_assignment LAB --force")

    def test_it_is_of_an_early_nbgrader(self, course: Path):
        self.change(course, "update alembic_version set version_num = '50a4d84c131a'")
        self.is_broken(course, "has schema 50a4d84c131a, and nbgrader wants", "nbgrader db upgrade")
        self.change(course, "drop table alembic_version")
        self.is_broken(course, "has schema of an early nbgrader", "nbgrader db upgrade")

    def test_it_can_only_be_read(self, course: Path, course_disk: Disk):
        place = course_disk.place / "course"
        shutil.copytree(course, place)
        is_well(gradebook.gradebook, place, "gradebook")
        course_disk.close_to_writers()
        self.is_broken(place, "attempt to write a readonly database", "chown or chmod")

    def test_somebody_else_holds_it(self, course: Path):
        holder = sqlite3.connect(course / "gradebook.db", isolation_level=None)
        holder.execute("begin exclusive")
        try:
            self.is_broken(course, "database is locked", "another program holds it")
        finally:
            holder.close()

    def test_nobody_is_in_it(self, course: Path):
        self.change(course, "delete from student")
        is_doubtful(gradebook.gradebook, course, "students", "none are", "mlsys course roster")

    def test_it_knows_another_lab_or_none(self, course: Path):
        self.change(course, "update source_cell set checksum = 'x' where name = 'limit'")
        is_doubtful(
            gradebook.gradebook, course, "gradebook", f"another {LAB} than source/ has",
            f"nbgrader generate_assignment {LAB} --force",
        )  # fmt: skip
        register_labs(course, [LAB])
        is_well(gradebook.gradebook, course, "gradebook")
        self.change(course, "delete from source_cell")
        is_doubtful(gradebook.gradebook, course, "gradebook", f"does not know {LAB}", "--force")

    def test_an_address_that_is_none(self, course: Path):
        name_gradebook(course, "somewhere")
        self.is_broken(course, "db_url is no address", "c.CourseDirectory.db_url")

    @pytest.mark.needs("postgresql")
    def test_on_a_server(self, course: Path):
        server = Server()
        try:
            url = server.create("grades")
            name_gradebook(course, url)
            self.is_broken(course, "/grades.* is empty", "nbgrader generate_assignment")
            register_labs(course, [LAB])
            enter_students(course, [Student("ann")])
            is_well(gradebook.gradebook, course, "gradebook")
            assert is_well(gradebook.gradebook, course, "students").said == "1 in the gradebook"
            engine = create_engine(url, isolation_level="AUTOCOMMIT")
            with engine.connect() as db:
                db.execute(text("create role reader login"))
                db.execute(text("grant select on all tables in schema public to reader"))
            engine.dispose()
            name_gradebook(course, url.replace("grader@", "reader:s3cr3t@"))
            found = the_one(gradebook.gradebook, course, "gradebook")
            assert "permission denied for table student" in found.said
            assert "a user who may write" in found.mend
            assert "s3cr3t" not in found.said + found.mend
            server.stop()
            self.is_broken(course, "cannot be used: connection", "see that the server runs")
        finally:
            server.close()


class TestExchange:
    @pytest.fixture
    def place(self, course: Path) -> Path:
        """The exchange of the course."""
        found = re.search(r'Exchange.root = "(.*)"', (course / "nbgrader_config.py").read_text())
        assert found
        return Path(found[1])

    def is_broken(self, course: Path, said: str, mend: str) -> None:
        is_broken(exchange.exchange, course, "exchange", said, mend)

    def test_it_works(self, course: Path, place: Path):
        assert is_well(exchange.exchange, course, "exchange").said == str(place)
        assert list(place.iterdir()) == []

    def test_it_is_not_there(self, course: Path, place: Path):
        place.rmdir()
        made = f"mkdir -p {place} && chmod ugo+rwx {place}"
        self.is_broken(course, f"there is no folder {place}", made)
        subprocess.run(made, shell=True, check=True)
        is_well(exchange.exchange, course, "exchange")

    def test_students_cannot_write_there(self, course: Path, place: Path):
        place.chmod(0o755)
        self.is_broken(course, "has mode 755; nbgrader wants", f"chmod ugo+rwx {place}")
        with (course / "nbgrader_config.py").open("a") as config:
            config.write("\nc.CourseDirectory.groupshared = True\n")
        is_well(exchange.exchange, course, "exchange")

    def test_this_user_cannot_write_there(self, course: Path, course_disk: Disk):
        with (course / "nbgrader_config.py").open("a") as config:
            config.write(f'\nc.Exchange.root = "{course_disk.place}"\n')
        course_disk.close_to_writers()
        self.is_broken(course, "cannot be written by this user: Read-only", "chmod ugo+rwx")

    def test_students_cannot_reach_it(self, course: Path, place: Path):
        (place / "closed").mkdir(mode=0o700)
        inner = place / "closed" / "exchange"
        inner.mkdir()
        inner.chmod(0o777)
        with (course / "nbgrader_config.py").open("a") as config:
            config.write(f'\nc.Exchange.root = "{inner}"\n')
        closed = place / "closed"
        self.is_broken(course, f"{closed} is closed to others", f"chmod o+x {closed}")
        closed.chmod(0o701)
        is_well(exchange.exchange, course, "exchange")

    def test_the_settings_of_the_machine_count(
        self, made: Path, place: Path, tmp_path: Path, monkeypatch
    ):
        """A course that says nothing has the exchange that the machine's settings name."""
        monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
        (tmp_path / "nbgrader_config.py").write_text(
            f'c = get_config()\nc.Exchange.root = "{place}"\n', "utf-8"
        )
        assert is_well(exchange.exchange, made, "exchange").said == str(place)

    def test_another_kind_of_exchange_is_not_judged(self, course: Path):
        with (course / "nbgrader_config.py").open("a") as config:
            config.write("\nc.ExchangeFactory.exchange = 'ngshare_exchange.Exchange'\n")
        assert "not looked at here" in is_well(exchange.exchange, course, "exchange").said


class TestFolders:
    def test_a_course_that_others_can_read(self, course: Path):
        is_well(folders.privacy, course, "privacy")
        course.chmod(0o755)
        said = "others on this machine can read assignments, source, .mlsys, gradebook.db"
        is_broken(folders.privacy, course, "privacy", said, f"chmod o-rwx {course}")
        for name in ("assignments", "source", ".mlsys"):
            (course / name).chmod(0o700)
        (course / "gradebook.db").chmod(0o600)
        is_well(folders.privacy, course, "privacy")
        (course / "source").chmod(0o711)  # whoever knows a name reads it
        is_broken(folders.privacy, course, "privacy", "can read source$", "chmod o-rwx")

    def test_a_disk_that_is_full(self, course: Path, course_disk: Disk):
        is_well(folders.disk, course, "disk")
        place = course_disk.place / "course"
        shutil.copytree(course, place)
        course_disk.fill()
        is_broken(
            folders.disk, place, "disk", "^0 MB and .* files are left for the course",
            f"make room on the disk of {place}",
        )  # fmt: skip
