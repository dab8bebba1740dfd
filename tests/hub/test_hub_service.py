"""A hub as a service: started by its unit's own line, watched, backed up, restarted, restored."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qsl, urlsplit

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from mlsys_widgets.hub.running.running_hub import command_process, hub_process
from tests.hub.conftest import WHY_NOT
from tests.hub.identity_provider import IdentityProvider, Key
from tests.hub.running import Hub, Person, bundle, proxy, running_hub
from tests.waiting import wait_for

# A hub of its own that is killed, restarted, upgraded and restored: ten minutes.
pytestmark = pytest.mark.slow

LAB = "lab_07_kernel_fusion"
CLIENT, SECRET = "mlsys-hub", "the secret of the client"


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    made = IdentityProvider(CLIENT, SECRET)
    yield made
    made.close()


@pytest.fixture(scope="module")
def service(
    tool: Callable[[str], ModuleType], provider: IdentityProvider
) -> Iterator[tuple[Hub, list[str]]]:
    """A hub that runs by the ExecStart line of its unit, told to systemd that it is ready."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    npm = tool("system_packages").TABLE["npm"]
    if not (npm.present() or shutil.which("configurable-http-proxy")):
        pytest.skip(npm.sentence)
    with running_hub(("ada", "ben"), start=False) as hub:
        above = hub.places.root.parent
        secret = above / "secret"
        secret.touch(mode=0o600)
        secret.write_text(SECRET)
        (above / "oidc.toml").write_text(
            f'issuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\n'
            f'client_secret_file = "{secret}"\nhub = "{hub.url}"\nname = "Example University"\n'
            f'[people]\n"Lovelace" = "{hub.names["ada"]}"\n'
        )
        (above / "lti.toml").write_text(
            f'issuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\nhub = "{hub.url}"\n'
            f'authorize_url = "{provider.issuer}/authorize"\njwks_url = "{provider.issuer}/keys"\n'
            'login_claim = "ext.user_username"\n'
        )
        start_as_service(hub, above)
        yield hub, service_line(hub, above)


def service_line(hub: Hub, above: Path) -> list[str]:
    """The command of the unit that ``mlsys hub … service show`` prints."""
    command = [
        sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(hub.places.root),
        "--from", str(bundle()), "--roster", str(above / "roster.csv"), "--port", str(hub.port),
        "--instructor", hub.names["teacher"], "--student", hub.names["trial"],
        "--python", str(hub.python), "--oidc", str(above / "oidc.toml"),
        "--lti", str(above / "lti.toml"),
        "service", "show",
    ]  # fmt: skip
    unit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (line,) = [each for each in unit.splitlines() if each.startswith("ExecStart=")]
    return shlex.split(line.removeprefix("ExecStart="))


def start_as_service(hub: Hub, above: Path) -> None:
    """Do what systemd does: run the line in /, and wait for READY=1."""
    path = above / "notify"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(path))
        listening.settimeout(1)
        here = str(Path(__file__).resolve().parents[2])
        environment = {
            "PATH": f"{proxy()}:{os.environ['PATH']}", "NOTIFY_SOCKET": str(path),
            "PYTHONPATH": here,
        }  # fmt: skip
        with hub.output.open("ab") as output:
            hub.process = subprocess.Popen(
                service_line(hub, above), cwd="/", env=environment, stdout=output,
                stderr=subprocess.STDOUT,
            )  # fmt: skip

        def is_ready() -> bool:
            assert hub.process.poll() is None, hub.output.read_text()
            with suppress(TimeoutError):
                return b"READY=1" in listening.recv(1000)
            return False

        wait_for(is_ready, hub.output.read_text)


def token(hub: Hub) -> dict[str, str]:
    return {"Authorization": f"Bearer {(hub.places.secrets / 'monitoring_token').read_text()}"}


def asked(hub: Hub, path: str, headers: dict[str, str] | None = None) -> requests.Response:
    return requests.get(
        f"{hub.url}/services/monitor/{path}", headers={k: v.strip() for k, v in
        (headers or {}).items()}, timeout=60, proxies={"http": ""},
    )  # fmt: skip


def test_anybody_learns_one_word_and_root_learns_the_parts(service):
    hub, _ = service
    wait_for(lambda: asked(hub, "health").ok)
    assert asked(hub, "health").json() == {"status": "well"}
    report = asked(hub, "health", token(hub)).json()
    assert {"hub", "proxy", "exchange", "disk", "service course-service"} <= set(report["parts"])
    assert all(part["well"] for part in report["parts"].values()), report
    outbound = hub.places.exchange / "mlsys" / "outbound"
    assert report["last_release"] == max(each.stat().st_mtime for each in outbound.iterdir())
    assert not [name for name in hub.names.values() if name in json.dumps(report)]
    hub.places.exchange.chmod(0o755)
    try:
        wait_for(lambda: asked(hub, "health").status_code == 503)
        assert asked(hub, "health").json() == {"status": "failing"}
        done = subprocess.run(hub.command("health"), capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "exchange                 FAILS" in done.stdout
    finally:
        hub.places.exchange.chmod(0o1777)
    wait_for(lambda: asked(hub, "health").ok)


def test_numbers_for_prometheus_name_nobody(service):
    hub, _ = service
    assert asked(hub, "metrics").status_code == 403
    wrong = {"Authorization": "Bearer wrong"}
    assert asked(hub, "metrics", wrong).status_code == 403
    ben = Person(hub, hub.names["ben"]).arrive()
    ben.assignment("fetch", LAB)
    ben.assignment("submit", LAB)
    # A student chooses what a folder in the exchange is called.
    inbound = hub.places.exchange / "mlsys" / "inbound"
    (inbound / f"{ben.name}+{ben.name}+x+y").mkdir()
    wait_for(lambda: 'mlsys_hand_ins{lab="other"} 1' in asked(hub, "metrics", token(hub)).text)
    text = asked(hub, "metrics", token(hub)).text
    (inbound / f"{ben.name}+{ben.name}+x+y").rmdir()
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["mlsys_students",] == 3, "without the teacher"
    assert found["mlsys_students_working",] == 1
    assert found["mlsys_hand_ins", LAB] == 1
    assert found["mlsys_grading_queue", LAB] == 1
    assert found["mlsys_service_up", "course-service"] == 1
    assert found["mlsys_part_up", "exchange"] == 1
    assert found["mlsys_disk_free_bytes",] > 0
    assert found["jupyterhub_total_users",] >= 1
    assert not [name for name in hub.names.values() if name in text]


def test_the_log_is_bounded_while_the_hub_runs_whatever_a_student_does(service):
    hub, _ = service
    ben = Person(hub, hub.names["ben"]).arrive()
    (server,) = [pid for pid in processes() if _is_server(pid, ben)]
    # The student's own server has the log open: it can be written, cut, and made endless.
    with Path(f"/proc/{server}/fd/1").open("ab") as log:
        log.write(b"noise\n" * 9_000_000)
    wait_for(lambda: hub.places.log.with_name("hub.log.1").exists())
    wait_for(lambda: hub.places.log.stat().st_size < 50_000_000)
    with Path(f"/proc/{server}/fd/1").open("ab") as log:
        log.truncate(1 << 41)
    wait_for(lambda: hub.places.log.stat().st_size < 50_000_000)
    assert ben.ask("GET", "api/contents").ok
    kept = list(hub.places.logs.iterdir())
    assert sum(path.stat().st_blocks * 512 for path in kept) <= 150_000_000
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)
    # Writers continue in the file that was emptied.
    assert Person(hub, hub.names["ada"]).login("wrong").status_code == 403
    wait_for(lambda: hub.names["ada"] in hub.places.log.read_text())


def processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def _is_server(pid: int, person: Person) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        return b"jupyterhub.singleuser" in words and Path(f"/proc/{pid}").owner() == person.name
    except (OSError, KeyError):
        return False


def signed_in(hub: Hub) -> requests.Response:
    """Press the button, and go wherever one is sent."""
    session = requests.Session()
    session.trust_env = False
    page = session.get(f"{hub.url}/hub/login", timeout=30)
    assert "Sign in with Example University" in page.text
    assert 'name="password"' in page.text, "PAM is still there"
    answer = session.get(f"{hub.url}/hub/oidc/login?next=/hub/home", timeout=60)
    answer.session = session  # type: ignore[attr-defined]
    return answer


def test_people_of_the_roster_sign_in_with_the_provider(service, provider):
    hub, _ = service
    for person in ({"preferred_username": hub.names["ben"]}, {"preferred_username": "Lovelace"}):
        provider.person = person
        answer = signed_in(hub)
        assert answer.status_code == 200, answer.text
        assert answer.url == f"{hub.url}/hub/home"
    # The account is the one that a password opens as well.
    assert hub.names["ada"] in answer.text


def refused(hub: Hub) -> bool:
    answer = signed_in(hub)
    home = answer.session.get(f"{hub.url}/hub/home", timeout=30)
    assert "/hub/login" in home.url, "somebody is signed in"
    return answer.status_code in (400, 403)


@pytest.mark.parametrize(
    "twist",
    [
        lambda claims: claims.update(aud="another-client"),
        lambda claims: claims.update(aud=["mlsys-hub", "another"]),  # and no azp
        lambda claims: claims.update(nonce="another"),
        lambda claims: claims.pop("nonce"),
        lambda claims: claims.update(exp=int(time.time()) - 3600),
        lambda claims: claims.pop("exp"),
        lambda claims: claims.update(iss="https://evil.example"),
        lambda claims: claims.update(preferred_username="root"),
        lambda claims: claims.update(preferred_username="nobody-we-know"),
        lambda claims: claims.update(preferred_username=f"{claims['preferred_username']}@evil"),
    ],
)
def test_answers_that_cannot_be_trusted_and_strangers_are_refused(service, provider, twist):
    hub, _ = service
    provider.person = {"preferred_username": hub.names["ben"]}
    provider.twist = twist
    try:
        assert refused(hub)
    finally:
        provider.twist = lambda claims: None


def test_signatures_and_states_of_others_are_refused(service, provider):
    hub, _ = service
    provider.person = {"preferred_username": hub.names["ben"]}
    forger = Key("first")
    for answer in (
        forger.signed,
        lambda claims: forger.signed(claims, kid="unknown"),
        lambda claims: provider.key.signed(claims, alg="none").rpartition(".")[0] + ".",
        lambda claims: "no token",
    ):
        provider.answer = answer
        assert refused(hub)
    provider.answer = None
    provider.state_changed = True
    assert refused(hub)
    provider.state_changed = False
    subprocess.run(["usermod", "--lock", hub.names["ben"]], check=True)
    assert refused(hub), "a locked account stays locked"
    subprocess.run(["usermod", "--unlock", hub.names["ben"]], check=True)
    provider.key = Key("second")  # keys change, and the next one is fetched
    assert signed_in(hub).status_code == 200


LTI = "https://purl.imsglobal.org/spec/lti/claim/"


def launched(hub: Hub, provider: IdentityProvider, who: str, **changed: object) -> tuple[int, str]:
    """Click a link in a learning system: the answer, and where one is afterward."""
    browser = requests.Session()
    browser.trust_env = False
    first = browser.get(
        f"{hub.url}/hub/lti/login", allow_redirects=False, timeout=60,
        params={"iss": provider.issuer, "login_hint": "1", "client_id": CLIENT,
                "target_link_uri": f"{hub.url}/hub/home"},
    )  # fmt: skip
    where = urlsplit(first.headers["Location"])
    asked = dict(parse_qsl(where.query))
    assert f"{where.scheme}://{where.netloc}" == provider.issuer
    assert (asked["response_mode"], asked["client_id"]) == ("form_post", CLIENT)
    now = int(time.time())
    claims = {
        "iss": provider.issuer, "aud": CLIENT, "sub": "17", "iat": now, "exp": now + 300,
        "nonce": asked["nonce"], f"{LTI}version": "1.3.0", f"{LTI}deployment_id": "1",
        f"{LTI}message_type": "LtiResourceLinkRequest", f"{LTI}resource_link": {"id": "1"},
        f"{LTI}target_link_uri": f"{hub.url}/hub/home", f"{LTI}roles": [],
        f"{LTI}ext": {"user_username": who}, **changed,
    }  # fmt: skip
    key = provider.key if changed.get("key") is None else changed["key"]
    claims.pop("key", None)
    form = {"id_token": key.signed(claims), "state": asked["state"]}
    answer = browser.post(asked["redirect_uri"], data=form, timeout=60)
    return answer.status_code, browser.get(f"{hub.url}/hub/home", timeout=60).url


def test_people_of_the_roster_come_from_a_learning_system(service, provider):
    hub, _ = service
    home = f"{hub.url}/hub/home"
    assert launched(hub, provider, hub.names["ben"]) == (200, home)
    for who, changed in (
        ("root", {}),
        (hub.names["ben"], {"aud": "another-client"}),
        (hub.names["ben"], {"nonce": "another"}),
        (hub.names["ben"], {"iss": "https://evil.example"}),
        (hub.names["ben"], {"exp": int(time.time()) - 3600}),
        (hub.names["ben"], {"key": Key(provider.key.kid)}),
    ):
        code, url = launched(hub, provider, who, **changed)
        assert code in (400, 401, 403), (who, changed)
        assert "/hub/login" in url, "somebody is signed in"


def test_a_restart_for_a_new_version_lets_servers_run(service):
    hub, _ = service
    ben = Person(hub, hub.names["ben"]).arrive()
    kernel = ben.kernel()
    ben.run(kernel, "kept_in_memory = 42")
    refused = subprocess.run(hub.command("upgrade"), capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "mlsys hub backup" in refused.stderr
    before = hub_process(hub.places)
    command = command_process(hub.places)
    assert command == hub.process.pid
    subprocess.run(
        hub.command("backup", str(hub.places.root.parent / "first.tar.gz")), check=True,
        capture_output=True,
    )  # fmt: skip
    done = subprocess.run(hub.command("upgrade"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + hub.output.read_text()
    assert hub_process(hub.places) not in (None, before)
    assert command_process(hub.places) == command, "systemd's main process stays the same"
    assert ben.run(kernel, "print(kept_in_memory)").strip() == "42"
    assert ben.ask_hub("GET", f"users/{ben.name}").json()["servers"][""]["ready"]


def test_a_service_whose_command_was_killed_takes_over(service):
    """systemd starts it again; JupyterHub, left behind, is replaced and servers are found."""
    hub, _ = service
    ben = Person(hub, hub.names["ben"]).arrive()
    kernel = ben.kernel()
    ben.run(kernel, "kept_in_memory = 43")
    hub.process.send_signal(signal.SIGKILL)
    hub.process.wait()
    start_as_service(hub, hub.places.root.parent)
    assert ben.run(kernel, "print(kept_in_memory)").strip() == "43"


def test_a_backup_while_students_write_is_restored_with_all_that_was_acknowledged(service):
    hub, _ = service
    places, above = hub.places, hub.places.root.parent
    people = [hub.names["ada"], hub.names["ben"]]
    acknowledged = dict.fromkeys(people, 0)
    stop = threading.Event()

    def work(name: str) -> None:
        entry = pwd.getpwnam(name)
        code = (
            "import json, os\n"
            "os.makedirs('work', exist_ok=True)\n"
            "file = os.open('work/ledger.jsonl', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)\n"
            "n = 0\n"
            "while True:\n"
            "    n += 1\n"
            "    os.write(file, json.dumps({'seq': n, 'words': 'x' * 500}).encode() + b'\\n')\n"
            "    os.fsync(file)\n"
            "    print(n, flush=True)\n"
        )
        with subprocess.Popen(
            ["/usr/bin/python3", "-c", code], cwd=places.home(name), user=entry.pw_uid,
            group=entry.pw_gid, extra_groups=[], stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            for line in process.stdout:
                acknowledged[name] = int(line)
                if stop.is_set():
                    break
            process.kill()

    threads = [threading.Thread(target=work, args=(name,)) for name in people]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: all(acknowledged.values()))
        handed_in = {each.name for each in (places.exchange / "mlsys" / "inbound").iterdir()}
        notes = (places.notes / "notes.jsonl").read_bytes()
        begun = dict(acknowledged)
        target = above / "second.tar.gz"
        done = subprocess.run(
            hub.command("backup", str(target)), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    passwords = {name: hub.password(name) for name in people}
    ids = {name: pwd.getpwnam(name).pw_uid for name in people}
    assert hub.stop() == 0
    subprocess.run(hub.command("--reset", "--yes"), check=True, capture_output=True)
    assert not places.root.exists()
    with pytest.raises(KeyError):
        pwd.getpwnam(people[0])
    done = subprocess.run(
        hub.command("restore", str(target)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in people:
        lines = (places.home(name) / "work" / "ledger.jsonl").read_text().splitlines()
        assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert len(lines) >= begun[name] > 0
        assert pwd.getpwnam(name).pw_uid == ids[name]
    assert {each.name for each in (places.exchange / "mlsys" / "inbound").iterdir()} >= handed_in
    assert (places.notes / "notes.jsonl").read_bytes().startswith(notes)
    start_as_service(hub, above)
    for name in people:
        assert hub.password(name) == passwords[name]
        assert Person(hub, name).login().status_code == 302
    listed = Person(hub, hub.names["ben"]).arrive().ask("GET", "assignments?course_id=mlsys")
    assert LAB in {each["assignment_id"] for each in listed.json()["value"]}
