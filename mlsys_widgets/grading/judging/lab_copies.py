"""Which version of a lab a submission is, and what that version is judged with.

The stamp in a notebook is the student's word. It decides among the versions that the course has
really released, as long as nothing speaks against it: neither the cells and files that were handed
in, nor what the hub handed out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from mlsys_widgets import __version__
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import exchange_folder, nbgrader_settings
from mlsys_widgets.course.kept_versions import KeptVersion, counted, kept_versions
from mlsys_widgets.course.lab_versions import files_beside, stamp_in, version_in
from mlsys_widgets.files import ASKS, CHECKS, LAB_TEXT
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.scoring import Judge
from mlsys_widgets.grading.judging.version_evidence import VersionEvidence
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Checks
from mlsys_widgets.labs import Lab, load
from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id, is_locked


@dataclass(frozen=True)
class Copies:
    """The versions of a lab that submissions may be copies of."""

    #: What the version in ``release/`` is called: by its content, and by its own stamp.
    present: frozenset[str] = frozenset()
    #: The other versions that were released, by what their copies are stamped with.
    others: Mapping[str, KeptVersion] = field(default_factory=dict)
    #: Versions that were built and never released.
    drafts: frozenset[str] = frozenset()
    #: Whether there is more than one version that counts.
    several: bool = False
    #: What the present version is called; empty if it is not built.
    name: str = ""
    #: What tells them apart, besides their stamps.
    evidence: VersionEvidence = field(default_factory=VersionEvidence)

    @classmethod
    def of(cls, course: Course, lab: str) -> Copies:
        """Return what a course knows of a lab's versions."""
        release = course.folder("release", lab)
        version = version_in(release, lab)
        names = {version, _stamp_of(release / f"{lab}.ipynb")}
        present = frozenset(name for name in names if name is not None)
        known = kept_versions(course.root, lab)
        that_count = counted(known)
        others = {each.version: each for each in that_count if each.version not in present}
        counting = {each.version for each in that_count}
        folders = {each.version: each.release for each in others.values()}
        if version and others:
            folders[version] = release
        return cls(
            present,
            others,
            frozenset(each.version for each in known) - counting - present,
            several=bool(others),
            name=version or "",
            evidence=VersionEvidence.of(course, lab, folders) if others else VersionEvidence(),
        )

    def of_submission(
        self, student: str, files: Mapping[str, bytes], notebook: str
    ) -> tuple[str | None, Flag | None]:
        """Return which version a submission is a copy of, as `choose` does."""
        stamp = stamp_of(files.get(notebook, b""))
        if not self.several or not self.present:
            return self.choose(stamp)
        evidence = self.evidence
        found = evidence.count(files, notebook)
        return self.choose(
            stamp, found, evidence.never_handed_out(student), evidence.unsupported(student, found)
        )

    def choose(
        self,
        stamp: str | None,
        marks: Mapping[str, int] | None = None,
        never_handed_out: Set[str] = frozenset(),
        unsupported: Set[str] = frozenset(),
    ) -> tuple[str | None, Flag | None]:
        """Return which version a submission is judged as, and what a TA should look at.

        What a submission says it is holds unless the evidence speaks for another version. Which
        version would earn most is not asked. ``marks`` counts how many cells and files of each
        version a submission has, of those that not all have; of ``unsupported`` versions nothing
        but a stamp can be there, and those ``never_handed_out`` the student cannot have from the
        hub. `None` stands for the present version.
        """
        if not self.present:
            return (stamp if stamp in self.others else None), None
        named = self.name if stamp in self.present else stamp if stamp in self.others else None
        doubts = [] if named is not None else self._doubts(stamp)
        found = marks or {}
        known = (self.name, *self.others)
        if named in unsupported and named != self.name and not any(found.values()):
            doubts.append(f"it says it is version {stamp} and has no cell or file of it")
            named = None
        likely = max(known, key=lambda each: (found.get(each, 0), each == named))
        if named is not None and likely != named:
            doubts.append(f"it says it is version {stamp}")
        if found.get(likely, 0) and likely != named:
            doubts.append(f"its cells and files are those of version {likely}")
        possible = [each for each in known if each not in never_handed_out] or list(known)
        if likely not in possible:
            doubts.append(
                f"the hub handed out version {' and '.join(possible)} to this student, and not"
                f" version {likely}"
            )
        chosen = max(possible, key=lambda e: (found.get(e, 0), e == named, e == self.name))
        name = "the present version" if chosen == self.name else f"version {chosen}"
        words = f"{'; '.join(doubts)}. It was judged as {name}"
        flag = Flag(FlagKind.OTHER_VERSION, detail=words) if doubts else None
        return (None if chosen == self.name else chosen), flag

    def _doubts(self, stamp: str | None) -> list[str]:
        """Say what is wrong with a stamp that stands for no version that counts."""
        if stamp is None:
            return ["it does not say which version of the lab it is"] if self.several else []
        if stamp in self.drafts:
            return [
                f"it says it is version {stamp}, which was built here and never released; if"
                f" students did get it: mlsys course release --version {stamp}"
            ]
        return [f"it says it is version {stamp}, which was never released here"]


def _stamp_of(notebook: Path) -> str | None:
    return stamp_in(notebook.read_bytes()) if notebook.is_file() else None


def stamp_of(notebook: bytes) -> str | None:
    """Return what a notebook that was handed in says it is, whatever its encoding."""
    wide = notebook.replace(b"\0", b"") if b"\0" in notebook[:100] else b""
    return stamp_in(notebook) or stamp_in(wide)


def is_noted(course: Course, lab: str) -> bool:
    """Whether the present version is kept with its present keys, and noted if students have it."""
    present = version_in(course.folder("release", lab), lab)
    kept = next((e for e in kept_versions(course.root, lab) if e.version == present), None)
    home = course.folder("assignments", lab)
    if kept is None or not all(_same(home / name, kept.keys / name) for name in (ASKS, CHECKS)):
        return False
    place = exchange_folder(nbgrader_settings(course.home))
    there = _stamp_of(place / "outbound" / lab / f"{lab}.ipynb") if place else None
    return there is None or (there == present and bool(kept.released))


# What judges a version.


def keys_of(course: Course, lab: str, version: str | None = None) -> Path:
    """Return the folder that holds questions and keys of a version of a lab.

    Without a ``version`` it is the present one.
    """
    home = course.home / "assignments" / lab
    known = {each.version: each for each in kept_versions(course.root, lab)}
    present = version_in(course.folder("release", lab), lab)
    if version is None or version == present:
        kept = known.get(present or "")
        # Whoever is writing the next version has not released its questions yet.
        return home if kept is None or _same(home / ASKS, kept.keys / ASKS) else kept.keys
    if version not in known:
        raise ValueError(
            f"the course keeps no version {version} of {lab}; mlsys course versions {lab} lists"
            " those that there are"
        )
    return known[version].keys


def checks_of(course: Course, lab: str, version: str | None = None) -> Checks:
    """Return the checks that judge a version of a lab; as `keys_of`."""
    return load_checks(keys_of(course, lab, version))


def lab_of(course: Course, lab: str, version: str | None = None) -> Lab:
    """Return what a version of a lab asks; as `keys_of`."""
    return load(keys_of(course, lab, version))


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


@dataclass(frozen=True)
class EarlierVersion:
    """An earlier version of a lab, as the grader needs it."""

    version: str
    #: What it asks, and who decides.
    lab: Lab
    judge: Judge
    #: As for `mlsys_widgets.grading.judging.marking.Marking`.
    blueprint: Blueprint
    points: Mapping[str, float]
    answer_cells: frozenset[str]
    given: Mapping[str, bytes]
    #: A digest of all of it.
    judged_with: str


def earlier_versions(course: Course, lab: str, copies: Copies) -> list[EarlierVersion]:
    """Everything that judges the versions of a lab that were released before."""
    asked: dict[str | None, Lab] = {}
    found = []
    try:
        asked[None] = lab_of(course, lab)
        for version, kept in copies.others.items():
            asked[version] = load(kept.keys)
        for version, kept in copies.others.items():
            also = tuple(each for name, each in asked.items() if name != version)
            judge = Judge(
                asked[version], load_checks(kept.keys),
                variants=course.variants, edition=course.edition, also=also,
            )  # fmt: skip
            blueprint = blueprint_of(kept.source / f"{lab}.ipynb", lab)
            found.append(_earlier(kept, lab, asked[version], judge, blueprint))
    except Exception as problem:  # whatever an author's files may raise
        raise ValueError(
            f"an earlier version of {lab} cannot be read: {type(problem).__name__}: {problem}; it"
            f" is kept in {course.root / '.mlsys' / 'versions' / lab}"
        ) from problem
    return found


def _earlier(
    kept: KeptVersion, name: str, lab: Lab, judge: Judge, blueprint: Blueprint
) -> EarlierVersion:
    cells = blueprint.cells
    points = {n: float(cells[n].metadata["points"]) for n in blueprint.graded}
    answers = frozenset(n for n, cell in cells.items() if cell.solution or cell.task)
    given = files_beside(kept.source, name)
    digest = judged_with(kept.keys, blueprint)
    return EarlierVersion(kept.version, lab, judge, blueprint, points, answers, given, digest)


def blueprint_of(notebook: Path, lab: str) -> Blueprint:
    """Return the notebook of a version as the gradebook had it, from the file that is kept."""
    book = nbformat.read(notebook, 4)
    cells = {name: _source_cell(cell) for cell in book.cells if (name := grade_id(cell))}
    return Blueprint(lab, dict(book.metadata.get("kernelspec", {})) or None, cells)


def _source_cell(cell: Any) -> SourceCell:
    notes = cell_metadata(cell)
    graded = bool(notes.get("grade", False))
    return SourceCell(
        cell.cell_type,
        cell.source,
        notes.get("checksum", ""),
        is_locked(cell),
        graded=graded,
        solution=bool(notes.get("solution", False)),
        task=bool(notes.get("task", False)),
        metadata={"points": float(notes["points"])} if graded else {},
    )


def judged_with(keys: Path, blueprint: Blueprint) -> str:
    """Return a digest of all that judges a version: if it differs, so may what is earned."""
    digest = hashlib.sha256(f"{__version__}\0".encode())
    for name, cell in sorted(blueprint.cells.items()):
        points = cell.metadata.get("points")
        digest.update(f"{name}\0{cell.kind}\0{points}\0{cell.source}\0".encode())
    for path in sorted(keys.glob("*.py")):
        if path.name != LAB_TEXT:  # which is in the cells
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
