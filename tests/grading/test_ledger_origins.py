"""A friend's ledger under another name is nobody's own work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.ledger_origins import LedgerOrigins, ledger_origin
from mlsys_widgets.labs import load
from tests.grading import forged_ledgers
from tests.grading.forged_ledgers import BEGUN
from tests.labs.rehearsal import ROOT

LAB = load(ROOT / "assignments" / "lab_07_kernel_fusion")


@pytest.fixture
def origin(tmp_path):
    def of(content: bytes, student: str) -> str:
        (tmp_path / "ledger.jsonl").write_bytes(content)
        return ledger_origin(tmp_path, LAB, student)

    return of


@pytest.mark.parametrize(
    ("rename", "words"),
    [
        (forged_ledgers.friends, "Both have the id"),
        (forged_ledgers.friends_with_another_id, "decisions were made in the same millisecond"),
    ],
)
def test_a_renamed_ledger_is_found_beside_the_friends(origin, rename, words):
    content = forged_ledgers.plausible(LAB, "friend")
    origins = LedgerOrigins()
    assert origins.shared("friend", origin(content, "friend")) is None
    flag = origins.shared("ann", origin(rename(content, "ann"), "ann"))
    assert flag is not None
    assert (flag.kind, flag.about) == (FlagKind.SHARED_LEDGER, "friend")
    assert words in flag.detail
    # Whichever is graded first, and after the log was read again.
    again = LedgerOrigins.of_log({"ann": {"origin": origin(rename(content, "ann"), "ann")}})
    assert again.shared("friend", origin(content, "friend")).about == "ann"


def test_ledgers_of_their_own_share_nothing(origin):
    origins = LedgerOrigins()
    for k in range(30):
        begun = BEGUN + timedelta(minutes=k, milliseconds=37 * k)
        content = forged_ledgers.ledger(
            LAB, f"s{k}", forged_ledgers.entries(LAB), begun=begun, ledger_id=f"{k:032x}"
        )
        assert origins.shared(f"s{k}", origin(content, f"s{k}")) is None


def test_somebody_who_hands_in_again_shares_nothing_with_herself(origin):
    words = origin(forged_ledgers.plausible(LAB, "ann"), "ann")
    origins = LedgerOrigins({"ann": words})
    assert origins.shared("ann", words) is None
    other = forged_ledgers.ledger(LAB, "ann", forged_ledgers.entries(LAB), ledger_id="1" * 32,
                                  begun=BEGUN + timedelta(days=1, milliseconds=5))  # fmt: skip
    assert origins.shared("ann", origin(other, "ann")) is None
    # What she replaced is nobody's any more.
    assert origins.shared("bob", words) is None


def test_two_moments_in_common_may_be_an_accident():
    moments = [f"2026-02-03T09:30:00.00{k}Z" for k in range(4)]
    origins = LedgerOrigins({"ann": " ".join(["id1", *moments])})
    assert origins.shared("bob", " ".join(["id2", *moments[:2]])) is None
    assert origins.shared("cleo", " ".join(["id3", *moments[:3]])) is not None


def test_no_ledger_and_somebody_elses_have_no_origin(origin, tmp_path):
    assert ledger_origin(tmp_path / "nowhere", LAB, "ann") == ""
    assert origin(b"nonsense\n", "ann") == ""
    assert origin(forged_ledgers.plausible(LAB, "friend"), "ann") == ""
    assert origin(b"\n" * 200_000, "ann") == ""
    origins = LedgerOrigins({"ann": "", "bob": ""})
    assert origins.shared("cleo", "") is None


def test_however_long_a_ledger_is_its_origin_is_short(origin):
    content = forged_ledgers.one_answer(LAB, "ann", 3_000)
    assert len(origin(content, "ann")) < 3_000
