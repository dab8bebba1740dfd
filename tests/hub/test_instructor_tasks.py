"""What is done with the instructor's rights; that labs are released is tested with a whole hub."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mlsys_widgets.grading.hand_in_facts import release_time
from mlsys_widgets.hub.instructor_tasks import note_release

LAB = "lab_02_demo"


def test_the_first_release_counts(tmp_path):
    assert release_time(tmp_path, LAB) is None
    before = datetime.now(UTC) - timedelta(seconds=2)
    note_release(tmp_path, LAB)
    first = release_time(tmp_path, LAB)
    assert first is not None
    assert before < first <= datetime.now(UTC)
    note_release(tmp_path, "lab_07")
    note_release(tmp_path, LAB)
    assert release_time(tmp_path, LAB) == first
    assert release_time(tmp_path, "lab_07") is not None


def test_a_file_that_is_not_understood_is_left_alone(tmp_path):
    path = tmp_path / ".mlsys" / "released.json"
    path.parent.mkdir()
    for words in ("", "[]", "{"):
        path.write_text(words)
        note_release(tmp_path, LAB)
        assert path.read_text() == words
