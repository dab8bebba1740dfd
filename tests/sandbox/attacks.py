"""Hostile submissions. None of them has an answer that is right, so none deserves a point.

Where one gets through to what it wants, its cell prints LEAK; that it ran at all it shows with
TRIED, or by how it ended.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from tests.grading.classroom import Change, running
from tests.labs.rehearsal import answer_cell

#: What hidden tests, other submissions and the grader's environment contain, spelled so that the
#: code that looks for it does not contain it.
SECRETS = {
    "hidden test": "You counted elements; an element",
    "neighbor": "the essay of somebody else",
    "environment": "the token of the assistant",
}


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Parameters
    ----------
    about
        What it tries.
    change
        What it does to the release.
    ended
        What the grader's remarks say about its end; it runs to its end if empty.
    tried
        Whether its cell says that it ran.
    flagged
        A word of a flag that a TA must see.
    earns
        Points that only a person can take away.
    absent
        What must not be in the autograded notebook.
    graded
        Whether it is graded at all; otherwise a person is told that it was not, and why.
    """

    about: str
    change: Change
    ended: str = ""
    tried: bool = True
    flagged: str = ""
    earns: float = 0
    absent: tuple[str, ...] = ()
    graded: bool = True


def cell(code: str, **more: Any) -> Callable[[str], Attack]:
    return lambda about: Attack(about, running(code + "\nprint('TRIED')"), **more)


def beside(files: dict[str, str | bytes], code: str = "") -> Change:
    """Put files beside the notebook, and run something."""

    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        running(code + "\nprint('TRIED')")(book, folder)

    return change


def answering(expression: str, before: str = "", name: str = "intensity_flop_per_byte") -> Change:
    """Type an expression as the answer."""

    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        running(before + "\nprint('TRIED')")(book, folder)
        answer_cell(book, name).source = f"{name} = {expression}"

    return change


def edited(how: Callable[[nbformat.NotebookNode], None]) -> Change:
    """Edit the notebook itself."""

    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        running("print('TRIED')")(book, folder)
        how(book)

    return change


def essay(text: str, **more: Any) -> Callable[[str], Attack]:
    """Write something in place of an essay."""

    def write(book: nbformat.NotebookNode) -> None:
        next(c for c in book.cells if c.id == "answer_advice").source = text

    return lambda about: Attack(about, edited(write), **more)


def _tests(book: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [c for c in book.cells if c.id.startswith("check_")]


def _always_right(book: nbformat.NotebookNode) -> None:
    for each in _tests(book):
        each.source = f"{each.metadata.nbgrader.points}"


def _another_id(book: nbformat.NotebookNode) -> None:
    for each in _tests(book):
        each.metadata.nbgrader.grade_id = "setup"
        each.source = "40"


def _flags(**changes: Any) -> Callable[[nbformat.NotebookNode], None]:
    def edit(book: nbformat.NotebookNode) -> None:
        for each in _tests(book):
            each.metadata.nbgrader.update(changes)
            each.source = "40"

    return edit


def _twice(book: nbformat.NotebookNode) -> None:
    for number, each in enumerate(_tests(book)):
        copy = nbformat.from_dict({**each, "id": f"copy-{number}", "source": "40"})
        book.cells.append(copy)


def _essay_flags(book: nbformat.NotebookNode) -> None:
    (essay,) = (c for c in book.cells if c.id == "answer_advice")
    essay.metadata.nbgrader.update(solution=False, points=10**6, grade=True)


def _odd_metadata(book: nbformat.NotebookNode) -> None:
    for each, value in zip(_tests(book), ([], {"a": 1}, 7), strict=False):
        each.metadata.nbgrader["grade_id"] = value
    book.metadata["kernelspec"] = ["bash"]
    book.cells[0].metadata["tags"] = [1, {}, ","]


def _link(book: nbformat.NotebookNode, folder: Path) -> None:
    (folder / "key.py").symlink_to("../../../assignments/lab_02_demo/checks.py")
    (folder / "all").symlink_to("../../..")
    (folder / "passwd").symlink_to("/etc/shadow")
    look = (
        "from pathlib import Path\nfor name in ('key.py', 'all', 'passwd'):\n"
        "    if Path(name).exists(): print('LEAK', name)\nprint('TRIED')"
    )
    running(look)(book, folder)


def _special_files(book: nbformat.NotebookNode, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "ledger.jsonl")
    os.link(folder / "asks.py", folder / "hard.py")
    (folder / os.fsdecode(b"name-\xff\x1b[31m.txt")).write_text("odd")
    (folder / "a\nb [bold] [link=x").write_text("odd")
    deep = folder
    for _ in range(60):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "end").write_text("far down")
    running("print('TRIED')")(book, folder)


def _folder_for_file(book: nbformat.NotebookNode, folder: Path) -> None:
    (folder / "asks.py").unlink()
    (folder / "asks.py").mkdir()
    (folder / "asks.py" / "__init__.py").write_text("print('LEAK')")
    running("print('TRIED')")(book, folder)


def _borrowed(book: nbformat.NotebookNode, folder: Path) -> None:
    neighbor = folder.parents[1] / "aa-innocent" / folder.name / "ledger.jsonl"
    (folder / "ledger.jsonl").write_bytes(neighbor.read_bytes())
    running("print('TRIED')")(book, folder)


def _forged(book: nbformat.NotebookNode, folder: Path) -> None:
    lines = [
        json.dumps({"kind": kind, "name": name, "value": "memory", "student": folder.parent.name})
        for kind, name in (("prediction", "act1_bound"), ("reflection", "act1_why"))
    ]
    (folder / "ledger.jsonl").write_text("\n".join(lines))
    running("print('TRIED')")(book, folder)


def _renamed_ledger(book: nbformat.NotebookNode, folder: Path) -> None:
    neighbor = folder.parents[1] / "aa-innocent" / folder.name / "ledger.jsonl"
    theirs = neighbor.read_text().replace("aa-innocent", folder.parent.name)
    (folder / "ledger.jsonl").write_text(theirs)
    running("print('TRIED')")(book, folder)


def _hostile_ledger(book: nbformat.NotebookNode, folder: Path) -> None:
    (folder / "ledger.jsonl").write_bytes(b"[" * 50_000 + b"\n" + b'{"a":' * 50_000 + b"\xff\n")
    running("print('TRIED')")(book, folder)


def _many_cells(book: nbformat.NotebookNode, folder: Path) -> None:
    running("print('TRIED')")(book, folder)
    book.cells += [nbformat.v4.new_markdown_cell("x", id=f"m{k}") for k in range(2_000)]


def _raw(edit: Callable[[dict[str, Any]], bytes]) -> Change:
    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        running("print('TRIED')")(book, folder)
        (folder / f"{folder.name}.ipynb").write_bytes(edit(json.loads(nbformat.writes(book))))

    return change


def _big_output(book: dict[str, Any]) -> bytes:
    book["cells"][1]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "x" * 30_000_000}
    ]
    return json.dumps(book).encode()


def _halves(book: dict[str, Any]) -> bytes:
    book["cells"][0]["source"] = "\ud800 half a character \udfff and \x00"
    book["metadata"]["title"] = "\udc00"
    return json.dumps(book).encode()


def _deep(book: dict[str, Any]) -> bytes:
    book["metadata"]["deep"] = "DEEP"
    return json.dumps(book).replace('"DEEP"', "[" * 900 + "]" * 900).encode()


def _nan(book: dict[str, Any]) -> bytes:
    book["metadata"]["nothing"] = float("nan")
    book["cells"][2]["metadata"]["collapsed"] = {"no": float("inf")}
    book["cells"].append("not a cell")
    book["cells"].append({"cell_type": "code", "source": ["a = 1\n", 7], "surplus": 1})
    return json.dumps(book).encode()


_FIND_SECRETS = f"""
import gc, re, sys
# Backwards, here and in memory, or it would find itself.
wanted = {{name: bytes(words) for name, words in
          {{{", ".join(f"{n!r}: {list(s.encode())[::-1]}" for n, s in SECRETS.items())}}}.items()}}
planted = bytes({list(b"found if anything is")})
wanted["control"] = planted[::-1]
found = set()
for line in open("/proc/self/maps"):
    part = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
    if not part or "[v" in line:
        continue
    start, end = (int(word, 16) for word in part.groups())
    with open("/proc/self/mem", "rb", 0) as memory:
        while start < end:
            size = min(end - start, 1 << 22)
            try:
                memory.seek(start)
                piece = memory.read(size)[::-1]
            except (OSError, ValueError, OverflowError):
                break
            found |= {{name for name, secret in wanted.items() if secret in piece}}
            start += size - 100 if size > 100 and start + size < end else size
if "control" not in found:
    print("LEAK nothing, but the search is blind")
for name in found - {{"control"}}:
    print("LEAK", name)
"""

_WALK_FRAMES = """
import gc, sys
frame, texts = sys._getframe(), []
while frame:
    texts += [repr(value) for value in frame.f_locals.values()]
    frame = frame.f_back
texts += [each for each in gc.get_objects() if isinstance(each, str)]
texts += [str(v) for each in gc.get_objects() if type(each) is dict for v in each.values()
          if type(v) in (str, bytes)]
if any("HIDDEN" + " TESTS" in text or "NumberKey(" + "\\n" in text for text in texts):
    print("LEAK hidden tests")
"""

_FORGE_LINES = """
import json, os
def tell(what):
    for fd in range(3, 64):
        try: os.write(fd, (what if isinstance(what, bytes) else json.dumps(what).encode()) + b"\\n")
        except OSError: pass
right = {"output_type": "execute_result", "data": {"text/plain": "40"}, "metadata": {},
         "execution_count": 1}
for n in range(40):
    tell({"cell": n, "outputs": [right], "count": 5})
tell({"answered": True})
for n in range(40):
    tell({"cell": n, "outputs": [right], "count": 5})
for odd in (b"", b"[", b"null", b"7", b'"x"', b"[[]]", b"[" * 20000, b"\\xff\\xfe", b"{}",
            {"cell": -1, "outputs": [], "count": 1}, {"cell": 1.5, "outputs": [], "count": 1},
            {"cell": True, "outputs": [], "count": 1}, {"cell": 10**30, "outputs": [], "count": 1},
            {"cell": 1, "outputs": [], "count": -1}, {"cell": 1, "outputs": [], "count": "1"},
            {"cell": 0, "outputs": [right], "count": 1}, {"cell": 1, "outputs": 3, "count": 1},
            {"cell": 1, "outputs": [{"output_type": "pyout"}], "count": 1},
            {"cell": 1, "outputs": [{**right, "data": {"text/plain": {"a": [float("nan")]}}}],
             "count": 1},
            {"cell": 1, "outputs": [{**right, "data": {"text/html": "\\ud800"}}], "count": 1},
            {"answer": 5, "value": ["int", "0x1"]}, {"answer": "limit", "value": {"a": 1}},
            {"answer": "limit", "value": ["str"] * 9}, {"answer": "advice", "value": ["x", "y"]},
            {"done": True}, {"failed": "\\x1b[31m[/bold]"}, {"ended": "finished"}):
    tell(odd)
"""

_SURVIVE = """
import os, signal, subprocess, sys, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(3):
    if not os.fork():
        os.setsid()
        if os.fork(): os._exit(0)
        sys.argv[:] = ["x"]
        while True: time.sleep(1)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(987654)"],
                 start_new_session=True)
"""

_FORK_BOMB = """
import os, time
made = 0
while made < 100_000:
    try:
        if not os.fork():
            while True:
                try: os.fork()
                except OSError: time.sleep(0.01)
        made += 1
    except OSError:
        break
print("LEAK processes" if made > 64 else "TRIED")
time.sleep(0.5)
os._exit(3)
"""

_MEMORY_OF_MANY = """
import mmap, os, threading, time
def one():
    if not os.fork():
        held = mmap.mmap(-1, 150_000_000)   # shared, so that no one process owns it
        for at in range(0, len(held), 4096): held[at] = 1
        time.sleep(60)
        os._exit(0)
for _ in range(8):
    thread = threading.Thread(target=one); thread.start(); thread.join()
for _ in range(600):
    time.sleep(0.1)
    os.write(1, b".")
print("LEAK memory")
"""

_NETWORK = """
import socket, urllib.request
for family, address in ((socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_INET, ("192.0.2.1", 80)),
                        (socket.AF_INET6, ("::1", 22))):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(1); line.connect(address); print("LEAK", address)
    except OSError: pass
try: socket.getaddrinfo("example.org", 80); print("LEAK name")
except OSError: pass
try: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print("LEAK vsock")
except OSError: pass
listener = socket.socket(); listener.bind(("0.0.0.0", 0)); listener.listen()
if len(open("/proc/net/dev").readlines()) > 3: print("LEAK interfaces")
"""

_NAMESPACES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x10020000):
    if libc.unshare(flag) == 0: print("LEAK unshare", hex(flag))
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0: print("LEAK mount")
if libc.umount2(b"/submission", 2) == 0: print("LEAK umount")
if libc.chroot(b"/tmp") == 0: print("LEAK chroot")
if libc.setuid(0) == 0 or os.getuid() == 0: print("LEAK root")
if libc.ptrace(16, 1, 0, 0) == 0: print("LEAK ptrace")
for name in ("/proc/1/mem", "/proc/1/environ"):
    try:
        with open(name, "rb") as file: file.read(10); print("LEAK", name)
    except OSError: pass
from mlsys_widgets.sandbox.system_call_numbers import number
for name in ("memfd_create", "shmget", "msgget", "semget", "keyctl", "bpf"):
    if libc.syscall(number(name), 0, 4096, 0o1600, 0, 0) >= 0: print("LEAK", name)
for name in ("/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/self/oom_score_adj"):
    try:
        with open(name, "w") as file: file.write("-999")
        print("LEAK", name)
    except OSError: pass
"""

_READ_EVERYTHING = """
import os
from pathlib import Path
for name in ("/home", "/etc/shadow", "/etc/hostname",
             *(f"{home}/{file}" for home in ("/root", "@HOME") for file in (".ssh", ".bashrc")),
             "/var", "/srv", "/opt", "/mnt", "/sys", "/boot", "/run", "@COURSE",
             "@COURSE/gradebook.db", "@COURSE/source", "@COURSE/assignments",
             "@COURSE/submitted", "@COURSE/autograded",
             "@HOME", "../../../source", "../../../gradebook.db", "../../aa-innocent",
             "../../../submitted", "/dev/sda", "/dev/mem", "/dev/tty", "/dev/shm/.."):
    path = Path(name)
    try:
        seen = os.listdir(path) if path.is_dir() else path.read_bytes()[:9]
    except OSError:
        continue
    if name == "/dev/shm/..":
        if set(seen) - {"null", "zero", "full", "random", "urandom", "shm"}: print("LEAK", seen)
    elif seen: print("LEAK", name, seen)
if set(os.listdir("/submission")) != {Path.cwd().parent.name}: print("LEAK neighbors")
import mlsys_widgets
above = Path(mlsys_widgets.__file__).parents[1]
if above.name != "site-packages" and set(os.listdir(above)) - {"mlsys_widgets", ".venv"}:
    print("LEAK checkout", os.listdir(above))
if {name for name in os.listdir("/proc") if name.isdigit()} - {"1", "2"}: print("LEAK processes")
allowed = {"PATH", "HOME", "TMPDIR", "NBGRADER_EXECUTION", "LANG", "LC_ALL", "TZ"}
if set(os.environ) - allowed - {"JPY_PARENT_PID", "TERM", "CLICOLOR", "PAGER", "GIT_PAGER"}:
    print("LEAK environment", set(os.environ) - allowed)
for fd in os.listdir("/proc/self/fd"):
    try: to = os.readlink(f"/proc/self/fd/{fd}")
    except OSError: continue
    if not (to == "/dev/null" or to.startswith("socket:") or to.startswith("/proc/")):
        print("LEAK file", fd, to)
"""

_WRITE_EVERYWHERE = """
import os, sys, sysconfig
from pathlib import Path
import mlsys_widgets, numpy
places = ["/", "/usr", "/bin", "/etc", "/lib", "/dev", "/proc", "@COURSE", "@COURSE/source",
          "@COURSE/submitted/aa-innocent/lab_02_demo", "@HOME", "/root", "/var/tmp",
          str(Path(mlsys_widgets.__file__).parent), str(Path(numpy.__file__).parent), sys.prefix,
          sys.base_prefix, sysconfig.get_paths()["stdlib"]]
for place in places:
    try:
        (Path(place) / "written-by-a-student").write_text("x"); print("LEAK", place)
    except OSError: pass
for name in ("/etc/passwd", mlsys_widgets.__file__, numpy.__file__, sys.executable):
    try:
        with open(name, "ab") as file: file.write(b"#"); print("LEAK", name)
    except OSError: pass
    try: os.chmod(name, 0o777); print("LEAK chmod", name)
    except OSError: pass
    try: os.unlink(name); print("LEAK unlink", name)
    except OSError: pass
Path("/tmp/mine").write_text("x"); Path("mine").write_text("x")
os.symlink("/etc/passwd", "out"); os.symlink("../../../gradebook.db", "book")
try: open("book", "wb").write(b"x"); print("LEAK through a link")
except OSError: pass
try: os.link("/usr/bin/env", "hard"); print("LEAK hard link")
except OSError: pass
"""

_CLEVER = """
import numpy as np
class Clever(float):
    def __eq__(self, other): return True
    def __float__(self): return 0.0
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __sub__
    def __abs__(self): return 0.0
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __repr__(self): return "40"
    @property
    def __class__(self): return float
class Word(str):
    def __eq__(self, other): return True
    def __hash__(self): return hash("memory")
    def strip(self, *_): return self
    def casefold(self): return "memory"
class Array(np.ndarray):
    def __eq__(self, other): return True
class Any:
    def __getattr__(self, name): return 1.0
    def __eq__(self, other): return True
    def __float__(self): return 1.0
    def __reduce__(self): return (print, ("LEAK pickled",))
"""

_PATCH_CORE = """
import builtins, sys
import mlsys_widgets.grading as grading, mlsys_widgets.grading.judging.award as award
import mlsys_widgets.judging.verdicts as judging
import mlsys_widgets.grading.judging.scoring as scoring
import mlsys_widgets.sandbox.shell as child, mlsys_widgets.labs as labs
import mlsys_widgets.physics as physics
full = judging.Verdict(1.0, "Right.")
for module in list(sys.modules.values()):
    if not getattr(module, "__name__", "").startswith("mlsys_widgets"): continue
    for name, to in (("judge", lambda *_: full), ("judge_record", lambda *_: (full, None)),
                     ("award", lambda *_, points, **__: points),
                     ("award_record", lambda *_, points: points),
                     ("student", lambda *_: type("S", (), {"name": "instructor"})())):
        if hasattr(module, name): setattr(module, name, to)
physics.gemm = lambda *_: type("G", (), {"intensity": 1.0})()
intensity_flop_per_byte, limit = 1.0, "compute"
"""

_PATCH_BUILTINS = """
import builtins, math
real = isinstance
class Most(float):
    def __new__(cls, *_): return float.__new__(cls, 40.0)
builtins.float = Most
builtins.round = lambda *_: 40.0
builtins.isinstance = lambda value, kind: True
builtins.print = lambda *words, **more: None
builtins.hash = lambda _: 0
math.isfinite = lambda _: True
"""

_PATCH_CHILD = """
import sys, json, os
frame = sys._getframe()
while frame:
    if frame.f_code.co_name == "run" and "watched" in frame.f_locals:
        line = frame.f_locals["to"]
        for name, value in (("limit", ["str", "compute"]), ("limit", ["nothing"]),
                            ("intensity_flop_per_byte", ["float", "0x1p+0"])):
            os.write(line, json.dumps({"answer": name, "value": value}).encode() + b"\\n")
    frame = frame.f_back
"""

_COMPUTE_FROM_TEST = """
import sys, threading, builtins
def thief(frame, event, argument):
    # Called for whatever is run: look for the functions of a hidden test and use its key.
    for value in list(frame.f_locals.values()):
        if callable(value) and value.__class__.__name__ == "function":
            globals().setdefault("stolen", {})[value.__name__] = value
    return None
sys.settrace(thief); threading.settrace(thief)
import builtins
real = builtins.compile
def spying(source, *more, **options):
    if "NumberKey" in str(source): globals().setdefault("seen", []).append(str(source))
    return real(source, *more, **options)
builtins.compile = spying
get_ipython().events.register("pre_run_cell", lambda info: globals().update(
    last=info.raw_cell, intensity_flop_per_byte=1.0 if "NumberKey" not in info.raw_cell else 2.0))
"""

_MODULES = {
    "mlsys_widgets.py": "print('LEAK shadowed')\ndef open_lab(*_): raise SystemExit",
    "mlsys_widgets/__init__.py": "print('LEAK shadowed')",
    "numpy.py": "print('LEAK numpy')",
    "ipykernel_launcher.py": "print('LEAK launcher')",
    "sitecustomize.py": "print('LEAK site')",
    "usercustomize.py": "print('LEAK user')",
    "IPython.py": "print('LEAK IPython')",
    "json.py": "print('LEAK json')",
    "asks.py": "print('LEAK asks')",
    "conftest.py": "print('LEAK')",
    ".ipython/profile_default/startup/00.py": "print('LEAK startup')",
}

_DISPLAY_SCRIPTS = """
from IPython.display import display, HTML, Javascript, SVG, Markdown
go = "fetch('/formgrader/api/grade')"
display(HTML(f"<script>{go}</script><img src=x onerror={go}><iframe srcdoc='{go}'></iframe>"))
display(Javascript(go))
display(SVG(f'<svg xmlns="http://www.w3.org/2000/svg" onload="{go}"><script>{go}</script></svg>'))
display(Markdown(f"[x](javascript:{go}) <script>{go}</script>"))
display({"text/html": f"<form action=/formgrader><button>{go}</button></form>"}, raw=True)
"""

_REMEMBER = """
import os
from pathlib import Path
places = ["/tmp", "/dev/shm", "/var/tmp", "/submission", os.getcwd(), os.environ["HOME"]]
if any((Path(place) / "was-here").exists() for place in places):
    print("LEAK the first start")
else:
    for place in places:
        try: (Path(place) / "was-here").write_text("x")
        except OSError: pass
    for who in (os.getpid(), 0, -1):
        try: os.kill(who, 9)
        except OSError: pass
    os._exit(1)
"""

_RARE_CALLS = """
import ctypes, os
from mlsys_widgets.sandbox.system_call_numbers import NUMBERS, number
from mlsys_widgets.sandbox.system_call_filter import FORBIDDEN, UNKNOWN
libc = ctypes.CDLL(None, use_errno=True)
for name in (*FORBIDDEN, *UNKNOWN):
    if libc.syscall(number(name), 0, 0, 0, 0, 0, 0) >= 0: print("LEAK", name)
if os.uname().machine == "x86_64":
    for name in (*FORBIDDEN, *UNKNOWN):  # the same under the numbers for 32-bit pointers
        if libc.syscall(0x40000000 | number(name), 0, 0, 0, 0, 0, 0) >= 0: print("LEAK x32", name)
"""

_EVERY_CALL = """
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
for first in range(0, 470, 30):
    made = []
    for call in range(first, first + 30):
        child = os.fork()
        if not child:
            signal.setitimer(signal.ITIMER_REAL, 0.1)  # some wait for something
            libc.syscall(call, 0, 0, 0, 0, 0, 0)
            os._exit(0)
        made.append(child)
    time.sleep(0.15)
    for child in made:
        try:
            if not os.waitpid(child, os.WNOHANG)[0]:
                os.kill(child, 9); os.waitpid(child, 0)
        except OSError: pass
"""

_CALLS_OF_32_BITS = """
import ctypes, mmap, os
if os.uname().machine == "x86_64":
    child = os.fork()
    if not child:
        # mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; ret
        code = bytes.fromhex("53b836010000bb00000010cd805bc3")
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        at = ctypes.addressof(ctypes.c_char.from_buffer(page))
        os._exit(7 if ctypes.CFUNCTYPE(ctypes.c_int)(at)() == 0 else 0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7: print("LEAK int 0x80")
"""

_SOCKET_MEMORY = """
import socket
held, total = [], 0
try:
    while total < 1_000_000_000:
        pair = socket.socketpair()
        held.append(pair)
        for end in pair:
            end.setblocking(False)
            before = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            now = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            if now != before: print("LEAK", before, now)
            try:
                while True: total += end.send(bytes(1 << 16))
            except BlockingIOError: pass
    print("LEAK", total)
except OSError: pass
if total > 400_000_000: print("LEAK", total)
"""

_SOCKETS_IN_FLIGHT = """
import socket
held, total = [socket.socketpair()], 0
try:
    while total < 1_000_000_000:
        one, other = socket.socketpair()
        for end in (one, other):
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            try:
                while True: total += end.send(bytes(1 << 16))
            except BlockingIOError: pass
        # Sent and never received, they are open in no process.
        socket.send_fds(held[-1][0], [b"x"], [one.fileno(), other.fileno()])
        one.close(); other.close()
except OSError: pass
if total > 400_000_000: print("LEAK", total)
"""

_DEVICES = """
import os, stat
for kind, number in ((stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(8, 0))):
    for place in ("/tmp/node", "/dev/node", "node"):
        try:
            os.mknod(place, kind | 0o666, number)
            with open(place, "rb") as file: print("LEAK", place, file.read(1))
        except OSError: pass
for name in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/kmsg",
             "/proc/kcore", "/proc/self/mem/..", "/sys/kernel/debug", "/proc/1/environ",
             "/proc/1/cwd", "/proc/self/ns/../../1/fd/0", "/dev/kmsg", "/dev/fuse", "/dev/kvm"):
    try:
        with open(name, "r+b") as file: print("LEAK", name)
    except OSError: pass
"""

_SETUID = """
import os, shutil, subprocess
for source in ("/bin/sh", "/usr/bin/env"):
    for place in ("/tmp/shell", "shell"):
        try:
            shutil.copy(source, place); os.chmod(place, 0o6755)
            said = subprocess.run([os.path.abspath(place), "-c", "id -u"], capture_output=True,
                                  text=True).stdout.strip()
            if said == "0": print("LEAK root")
        except OSError: pass
for name in ("su", "sudo", "passwd", "mount", "newgrp", "pkexec", "crontab", "at"):
    if not shutil.which(name): continue
    try:
        said = subprocess.run([name], input="", capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired): continue
    if os.path.exists("/etc/written") or "uid=0" in said.stdout: print("LEAK", name)
"""

_HOST_SOCKETS = """
import glob, socket
for name in ("\\0/tmp/.X11-unix/X0", "\\0/org/freedesktop/systemd1/notify",
             "/run/dbus/system_bus_socket", "/var/run/docker.sock",
             "/run/containerd/containerd.sock", "/run/systemd/notify",
             *glob.glob("/run/mlsys-*/*"), *glob.glob("/tmp/.X11-unix/*")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_UNIX, kind) as line:
            line.settimeout(1)
            try: line.connect(name); print("LEAK", name)
            except (OSError, ValueError): pass
for family in (16, 17, 38, 40, 44):  # netlink, packets, crypto, virtual machines, XDP
    try: socket.socket(family, socket.SOCK_RAW); print("LEAK family", family)
    except OSError: pass
"""

_TAKE_FILES = """
import array, os, socket
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        line = socket.socket(fileno=os.dup(fd))
        line.setblocking(False)
        _, more, _, _ = line.recvmsg(1 << 16, socket.CMSG_SPACE(64 * 4))
        if more: print("LEAK files came along", more)
    except (OSError, ValueError): pass
"""

_RECORD_AT_RUN_TIME = """
from mlsys_widgets.ledger import Ledger
import os
try: os.unlink("ledger.jsonl")
except OSError: pass
for name in ("mine.jsonl", "ledger.jsonl"):
    ledger = Ledger.open(name, lab="lab_02_demo", student="ann")
    ledger.commit_prediction("act1_bound", "B", confidence=5)
    ledger.record_answer("limit", "compute")
"""

_CHANGES_LATER = """
import threading, itertools
def change():
    for guess in itertools.cycle((1.0, 2.0, 1e3, "memory", "compute")):
        get_ipython().user_ns.update(intensity_flop_per_byte=guess)
threading.Thread(target=change, daemon=True).start()
"""

_CLOSES_EVERYTHING = """
import os
print("TRIED", flush=True)
os.closerange(0, 4096)
"""

_OTHER_END = """
import os, socket
for fd in map(int, os.listdir("/proc/self/fd")):
    for how in (socket.SHUT_RD, socket.SHUT_WR):
        try: socket.socket(fileno=os.dup(fd)).shutdown(how)
        except OSError: pass
"""

_SLOW_TO_SAY = """
import sys
class Slow:
    def __repr__(self):
        import time
        while True: time.sleep(1)
    _repr_html_ = _repr_latex_ = _repr_svg_ = __str__ = __repr__
Slow()
"""


def _ledger_of(*lines: bytes) -> Change:
    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        (folder / "ledger.jsonl").write_bytes(b"".join(lines))
        running("print('TRIED')")(book, folder)

    return change


def _link_for_folder(book: nbformat.NotebookNode, folder: Path) -> None:
    """The whole submission is a link to the neighbor's."""
    neighbor = folder.parents[1] / "aa-innocent" / folder.name
    (folder / "theirs").symlink_to(neighbor)
    (folder / "ledger.jsonl").unlink(missing_ok=True)
    (folder / "ledger.jsonl").symlink_to(neighbor / "ledger.jsonl")
    (folder / "machine.json").symlink_to("/etc/passwd")
    running("print('TRIED')")(book, folder)


def _named_as_ours(book: nbformat.NotebookNode, folder: Path) -> None:
    """Files with the names of what the grader itself writes."""
    for name in (".mlsys", "gradebook.db", "timestamp.txt.lock", "checks.py", "nbgrader_config.py"):
        (folder / name).write_text("c.Autograde.force = True\nraise SystemExit('LEAK')")
    look = "import os\nif os.path.exists('checks.py') and 'NumberKey' in open('checks.py').read():"
    running(look + " print('LEAK')\nprint('TRIED')")(book, folder)


def _timestamp(content: bytes) -> Change:
    def change(book: nbformat.NotebookNode, folder: Path) -> None:
        (folder / "timestamp.txt").write_bytes(content)
        running("print('TRIED')")(book, folder)

    return change


_SCRIPT = "<script>fetch('/formgrader/api/grade')</script>"

ATTACKS: dict[str, Attack] = {
    "shadowed-modules": Attack(
        "modules with the names of installed ones",
        beside(_MODULES, "import importlib, numpy, mlsys_widgets, json, asks"),
    ),
    "asks-at-run-time": cell(
        "open('asks.py', 'w').write('POINTS = 1e9')\n"
        "import os\nos.makedirs('mlsys_widgets', exist_ok=True)"
    )("asks.py replaced while running"),
    "patched-core": cell(_PATCH_CORE)("judge, award, physics and the identity"),
    "patched-builtins": Attack(
        "float, round, print and isinstance", running(_PATCH_BUILTINS), tried=False, ended="exit 1"
    ),
    "patched-child": cell(_PATCH_CHILD)("forged answers on the line that the runner uses"),
    "forged-lines": cell(_FORGE_LINES, tried=False)("lines on every open file, valid and broken"),
    "forged-outputs-early": cell(
        _FORGE_LINES.replace('tell({"answered": True})', "pass")
    )("outputs of tests told before they ran"),
    "reads-frames": cell(_WALK_FRAMES)("hidden tests in frames and objects"),
    "reads-memory": cell(_FIND_SECRETS)("secrets in its own memory, inherited from its parent"),
    "spies-on-tests": cell(_COMPUTE_FROM_TEST)("trace functions and hooks on every cell"),
    "float-subclass": Attack(
        "a float that equals everything", answering("Clever(3.0)", _CLEVER)
    ),
    "str-subclass": Attack(
        "a word that equals everything", answering('Word("compute")', _CLEVER, "limit")
    ),
    "numpy-subclass": Attack(
        "an array that equals everything", answering("np.ones(3).view(Array)", _CLEVER)
    ),
    "any-object": Attack("an object that is whatever is asked", answering("Any()", _CLEVER)),
    "huge-int": Attack("an int beyond every float", answering("10**5000")),
    "nan": Attack("not a number", answering("float('nan')")),
    "infinity": Attack("infinity", answering("float('-inf')")),
    "huge-text": Attack("a text of 15 kB", answering("'9' * 15_000")),
    "many-answers": Attack("a list of all answers", answering("[n / 10 for n in range(99)]")),
    "edited-tests": Attack("tests that give full points", edited(_always_right)),
    "deleted-tests": Attack(
        "no tests", edited(lambda book: [book.cells.remove(c) for c in _tests(book)]),
        flagged="missing",
    ),
    "doubled-tests": Attack("a second test that gives full points", edited(_twice)),
    "points-edited": Attack("a million points a cell", edited(_flags(points=10**6))),
    "points-odd": Attack("points that are no number", edited(_flags(points="many"))),
    "solution-flag": Attack("tests marked as solutions", edited(_flags(solution=True))),
    "no-grade-flag": Attack(
        "tests not marked as graded", edited(_flags(grade=False, locked=False))
    ),
    "task-flag": Attack("tests marked as tasks", edited(_flags(task=True, schema_version=99))),
    "ids-swapped": Attack("tests under another id", edited(_another_id), flagged="missing"),
    "essay-flags": Attack("an essay that is no answer and worth a million", edited(_essay_flags)),
    "odd-metadata": Attack(
        "metadata of impossible types", edited(_odd_metadata), flagged="recognized"
    ),
    "reads-everything": cell(_READ_EVERYTHING)("source, gradebook, home, neighbors, environment"),
    "writes-everywhere": cell(_WRITE_EVERYWHERE)("system, package, course, links made at run time"),
    "links": Attack("links out of the folder", _link),
    "special-files": Attack("pipes, hard links, odd names, deep folders", _special_files),
    "folder-for-file": Attack("a folder where a file was given", _folder_for_file),
    "network": cell(_NETWORK)("connections, names, a listening socket, the host of the machine"),
    "survivors": cell(_SURVIVE)("processes that detach and ignore signals"),
    "fork-bomb": Attack(
        # By its own exit, or for the memory of all its processes, whichever is seen first.
        "as many processes as it can", running(_FORK_BOMB), ended="did not run to its end",
        tried=False,
    ),
    "memory-of-one": cell(
        "try:\n    held = bytearray(3_000_000_000)\n    print('LEAK')\nexcept MemoryError: pass"
    )("three gigabytes at once"),
    "memory-of-many": Attack(
        "shared memory in many processes, and a busy line", running(_MEMORY_OF_MANY),
        ended="out of memory", tried=False,
    ),
    "disk": cell(
        "try:\n    with open('/tmp/big', 'wb') as file:\n"
        "        for _ in range(60): file.write(bytes(1_000_000))\n    print('LEAK')\n"
        "except OSError as problem: print(problem)"
    )("sixty megabytes where twenty are allowed"),
    "many-files": cell(
        "try:\n    for k in range(30_000): open(f'/tmp/{k}', 'w').close()\n    print('LEAK')\n"
        "except OSError as problem: print(problem)"
    )("thirty thousand files"),
    "bombs-beside": Attack(
        "a pickle that runs code, and a compressed file of a hundred megabytes of nothing",
        beside(
            {"answers.pkl": b"cbuiltins\nprint\n(VLEAK\ntR.",
             "bomb.gz": gzip.compress(bytes(100_000_000)),
             "machine.json": b"[" * 100_000}
        ),
    ),
    "borrowed-ledger": Attack("the ledger of a neighbor", _borrowed, flagged="ledger"),
    "renamed-ledger": Attack(
        "that ledger under its own name: flagged, for a person to decide", _renamed_ledger,
        flagged="ledger: The ledger is not intact from event 0", earns=20,
    ),
    "forged-ledger": Attack("a ledger made by hand", _forged, flagged="ledger"),
    "hostile-ledger": Attack("a ledger of nested brackets", _hostile_ledger, flagged="ledger"),
    "flood-stdout": cell("for _ in range(400): print('x' * 10_000)", tried=False)(
        "four megabytes printed"
    ),
    "flood-display": Attack(
        "pictures without end",
        running("from IPython.display import display, HTML\n"
                "for _ in range(2_000): display(HTML('x' * 9_999))"),
        ended="too much output", tried=False,
    ),
    "flood-line": cell("print('x' * 30_000_000)", tried=False)("one line of thirty megabytes"),
    "flood-error": cell("pass\nraise ValueError('x' * 1_000_000)", tried=False)("a huge error"),
    "flood-raw": Attack(
        "bytes without end on the line",
        running("import os\nwhile True:\n    for fd in range(3, 30):\n"
                "        try: os.write(fd, b'x' * 65536)\n        except OSError: pass"),
        ended="too much output", tried=False,
    ),
    "sys-exit": cell("import sys\nprint('TRIED')\nsys.exit(0)")("an exit that Python can catch"),
    "os-exit": Attack(
        "an exit that it cannot", running("import os\nos._exit(0)"), tried=False,
        ended="it ended itself",
    ),
    "abort": Attack("abort", running("import os\nos.abort()"), ended="SIGABRT", tried=False),
    "segfault": Attack(
        "reading address zero", running("import ctypes\nctypes.string_at(0)"), ended="SIGSEGV",
        tried=False,
    ),
    "kills-parents": cell(
        "import os, signal\nfor who in (-1, 0, 1, os.getppid(), os.getpgid(0)):\n"
        "    for number in (signal.SIGTERM, signal.SIGINT):\n"
        "        signal.signal(number, signal.SIG_IGN)\n"
        "        try: os.kill(who, number)\n        except OSError: pass"
    )("signals to everybody it can reach"),
    "kills-itself": cell(
        "import os\nfor who in (os.getpid(), 0, -1, -os.getpid()):\n    try: os.kill(who, 9)\n"
        "    except PermissionError: print('TRIED')"
    )("SIGKILL to itself, so that it is run again"),
    "namespaces": cell(_NAMESPACES)("mounts, namespaces, ptrace, uncounted memory"),
    "many-cells": Attack(
        "two thousand cells", _many_cells, flagged="all but the first 500 were left out"
    ),
    "big-output": Attack("thirty megabytes of output in the file", _raw(_big_output)),
    "half-characters": Attack("halves of characters", _raw(_halves)),
    "deep-json": Attack("metadata nested 900 deep", _raw(_deep), tried=False, flagged="too deep"),
    "essay-scripts": essay(
        f"{_SCRIPT}<img src=x onerror=go()>[x](javascript:go())<iframe srcdoc='x'></iframe>",
        absent=("<script", "<img src=x", "<iframe", "javascript:"),
    )("scripts in an essay, for the grader's browser"),
    "essay-entities": essay(
        "[a](&#106;avascript:go()) $\\href{javascript:go()}{x}$ \\require{html}",
        absent=("javascript:", "&#106;"),
    )("links spelled with entities, and in formulas"),
    "essay-environments": essay("\\begin{a}" * 30_000)("formulas that keep a page busy for hours"),
    "essay-brackets": essay("[" * 40_000 + "](" * 10_000)("links that never end"),
    "display-scripts": cell(
        _DISPLAY_SCRIPTS, absent=("<script", "onerror", "onload", "<iframe", "<form", "javascript:")
    )("scripts in HTML, SVG, Markdown and JavaScript that it displays"),
    "dies-and-remembers": Attack(
        "dies, and on a second start looks for what it left", running(_REMEMBER), tried=False,
        ended="did not run to its end",
    ),
    "rare-calls": cell(_RARE_CALLS)("every system call that the filter names, under both numbers"),
    "every-call": cell(_EVERY_CALL)("every system call there is, in processes of their own"),
    "calls-of-32-bits": cell(_CALLS_OF_32_BITS)("system calls by the door of 32-bit programs"),
    "memory-of-sockets": cell(_SOCKET_MEMORY)("a gigabyte in the buffers of sockets"),
    "sockets-in-flight": cell(_SOCKETS_IN_FLIGHT)("full sockets that are open in no process"),
    "devices": cell(_DEVICES)("devices made by itself, and the kernel's own files"),
    "setuid": cell(_SETUID)("programs that would run as root"),
    "sockets-of-the-host": cell(_HOST_SOCKETS)("sockets by name, and rare families"),
    "takes-files": cell(_TAKE_FILES)("open files that come along on its line"),
    "record-at-run-time": cell(_RECORD_AT_RUN_TIME)("a ledger that it writes while it is graded"),
    "changes-later": cell(_CHANGES_LATER)("answers that a thread changes all the time"),
    "closes-everything": Attack(
        "closes every file, also the line to the grader", running(_CLOSES_EVERYTHING), tried=False,
        ended="end",
    ),
    "shuts-the-line": Attack(
        "shuts the line to the grader down", running(_OTHER_END), tried=False, ended="end",
    ),
    "exits-the-shell": cell(
        "ip = get_ipython()\nfor act in ('ip.ask_exit()', 'ip.exit()', 'ip.atexit_operations()',\n"
        "            'ip.run_line_magic(\"reset\", \"-f\")', 'ip.run_cell(\"exit()\")'):\n"
        "    try: exec(act)\n    except BaseException: pass"
    )("ends the shell by its own commands"),
    "removes-its-folder": cell(
        "import os, shutil\nshutil.rmtree('.', ignore_errors=True)\nos.chdir('/')\n"
        "shutil.rmtree('/submission', ignore_errors=True)"
    )("removes its folder and goes elsewhere"),
    "links-to-a-neighbor": Attack(
        "ledger, machine and a folder as links to a neighbor's", _link_for_folder
    ),
    "named-as-ours": Attack("files named like the grader's own", _named_as_ours),
    "ledger-of-the-future": Attack(
        "an event whose number nobody should count up to",
        _ledger_of(b'{"seq": 1000000000000000, "time": "2026-10-01T10:00:00.000Z"}\n'),
        flagged="ledger",
    ),
    "ledger-of-newlines": Attack(
        "two million empty lines in place of a ledger", _ledger_of(b"\n" * 2_000_000),
    ),
    "timestamp-of-nothing": Attack("a time that nobody can read", _timestamp(b"\xff\x00soon")),
    "nan-json": Attack("numbers that JSON has not, cells that are none", _raw(_nan)),
}  # fmt: skip

#: These run until they are stopped, each for a good while.
ENDLESS: dict[str, Attack] = {
    "slow-to-say": Attack(
        "an object that never says what it is", running(_SLOW_TO_SAY), ended="out of time",
        tried=False,
    ),
    "endless-loop": Attack(
        "a loop that ignores its alarm",
        running("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"),
        ended="out of", tried=False,
    ),
    "sleeps": Attack(
        "sleep without alarm",
        running("import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0)\ntime.sleep(9999)"),
        ended="out of time", tried=False,
    ),
    "stops-itself": Attack(
        "SIGSTOP to itself and its group",
        running("import os, signal\nos.kill(0, signal.SIGSTOP)"), ended="out of time", tried=False,
    ),
    "processor-time-of-many": Attack(
        "processor time in many processes",
        running("import os\nfor _ in range(6):\n    if not os.fork():\n        while True: pass\n"
                "import time\ntime.sleep(9999)"),
        ended="out of", tried=False,
    ),
}  # fmt: skip
