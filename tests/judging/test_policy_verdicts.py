"""A policy earns what its decisions do in a replay, and nothing for what it could not know."""

from __future__ import annotations

from functools import partial

import pytest

from mlsys_widgets.judging import Belief, CodeKey
from mlsys_widgets.judging.code_keys import judge_code
from mlsys_widgets.labs import Game, Impossible, Played
from mlsys_widgets.labs.function_calls import call, call_apart

#: Parcels come one after the other; each is loaded or left, and what is loaded must fit.
DRIVER = """
def play(load, room, sizes):
    decisions = []
    for size in sizes:
        decisions.append(load(room, size))
        room -= size if decisions[-1] is True else 0
    return decisions
"""


def replay(decisions, room, sizes):
    if len(decisions) != len(sizes):
        raise Impossible(f"{len(sizes)} parcels came, and it decided about {len(decisions)}")
    seen, score = [], 0
    for size, loaded in zip(sizes, decisions, strict=True):
        if type(loaded) is not bool:
            raise Impossible(f"it returns {loaded!r}; return True or False")
        if loaded and size > room:
            raise Impossible(f"it loads {size} where {room} are free")
        seen.append([room, size])
        room -= loaded * size
        score += loaded
    return Played(score, f"{score} of {len(sizes)} are loaded.", seen, decisions)


VAN = Game(DRIVER, replay, enough=0.9, least=0.2, unit="parcels")
HEAD = "def load(room, size):\n    "
SMALL = HEAD + "return size <= min(room, 3)"
ALL = HEAD + "return size <= room"
NONE = HEAD + "return False"
#: They begin alike: whoever knows what follows the first parcel gains by it.
CASES = [
    [10, [9, 9, 9, 1]],
    [10, [9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    [6, [2, 5, 3, 1]],
]
GREEDY = Belief("greedy", ALL, credit=0.3, says="A large parcel takes the room of many small ones.")
key = partial(CodeKey, SMALL, CASES, [GREEDY], says="Small ones first.", game=VAN)


def judged(source):
    return judge_code(key(), [call(source, "load", case, DRIVER) for case in CASES])


def test_the_best_policy_earns_everything_whatever_it_is_called():
    assert judged(SMALL).right
    assert judged("def load(r, s):\n    small = s < 4\n    return small and s <= r").right
    assert judged(SMALL).says == "Small ones first."


def test_a_typical_wrong_policy_is_known_by_its_decisions():
    verdict = judged(HEAD + "if room >= size:\n        return True\n    return False")
    assert (verdict.credit, verdict.belief) == (0.3, "greedy")
    assert verdict.says.startswith("In hidden run 2 of 3: 2 of 11 are loaded. With the best policy")
    assert verdict.says.endswith("takes the room of many small ones.")


def test_any_other_earns_its_share_of_the_best():
    # All of the best in two runs, and 2 of 3 parcels in the third.
    verdict = judged(HEAD + "return size <= min(room, 2)")
    assert (verdict.credit, verdict.belief) == (round((8 / 9 - 0.2) / 0.7, 2), None)
    assert verdict.says.startswith("In hidden run 3 of 3: 2 of 4 are loaded. With the best policy")
    assert judged(HEAD + "return size == 2").credit == 0
    assert judged(NONE).credit == 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return True", "it loads 9 where 1 are free"),
        ("return 1", "it returns 1; return True or False"),
        ("return None", "it returns None; return True or False"),
        ("return size / 0", "line 2: ZeroDivisionError: division by zero"),
        ("while True: pass", "it was stopped after 500,000 steps, probably in a loop without end"),
    ],
)
def test_what_nobody_could_decide_is_a_sentence(body, why):
    verdict = judged(HEAD + body)
    assert verdict.credit == 0
    assert f"In hidden run 1 of 3 it fails: {why}." == verdict.says


FRAME = "import sys\n    frame = sys._getframe(1)\n    "


@pytest.mark.parametrize("calls", [call_apart, None], ids=["apart", "here"])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        # The driver is patched: what it returns is replayed all the same.
        (FRAME + "frame.f_locals['decisions'].extend([True] * 50); return True", "decided about"),
        ("class Many(list): pass\n    return Many([size])", "it returns a Many"),
        # Nothing but decisions is believed, whatever else is written.
        (FRAME + "frame.f_globals['score'] = 10**6; return 7", "it returns 7;"),
        # The count of steps is of the whole game.
        ("return any(k < 0 for k in range(90_000))", "it was stopped after 500,000 steps"),
    ],
)
def test_who_forges_has_what_a_replay_finds(calls, body, why):
    source = HEAD + body
    if calls:
        replies = calls(source, "load", CASES, DRIVER)
    else:
        replies = [call(source, "load", case, DRIVER) for case in CASES]
    verdict = judge_code(key(), replies)
    assert verdict.credit == 0
    assert why in verdict.says


@pytest.mark.parametrize(
    "reply",
    ["", "garbage", '{"value": 1000000}', '{"value": {"score": 9}}', '{"value": [[true]]}',
     '{"value": [1e308, true]}', '{"value": []}', '{"value": "True"}'],
)  # fmt: skip
def test_a_forged_log_earns_nothing(reply):
    assert judge_code(key(), [reply] * len(CASES)).credit == 0


PEEK = "import sys\n    sizes = sys._getframe(1).f_locals['sizes']\n    "
CLAIRVOYANT = "decided differently. A policy may depend on what it was shown in this run"


def test_who_looks_at_what_comes_later_earns_nothing():
    """It would beat the best policy: it knows in which run the large parcel is worth its room."""
    verdict = judged(HEAD + PEEK + "return size <= room and (size < 4 or len(sizes) < 5)")
    assert (verdict.credit, verdict.belief) == (0, None)
    assert CLAIRVOYANT in verdict.says


def test_what_was_shown_may_be_remembered():
    source = "seen = []\ndef load(room, size):\n    seen.append(size)\n"
    assert judged(source + "    return size <= min(room, 3) and len(seen) > 0").right
