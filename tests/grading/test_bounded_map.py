"""Doing the same with many things: as many at a time as there are lanes, and none is lost."""

from __future__ import annotations

import threading
import time
from collections import deque

import pytest

from mlsys_widgets.grading.bounded_map import map_bounded


def test_no_more_are_under_way_than_there_are_lanes():
    now, most, lock = 0, 0, threading.Lock()

    def work(number: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return number * number

    assert dict(map_bounded(work, deque(range(20)), lambda: 3)) == {k: k * k for k in range(20)}
    assert most <= 3


def test_what_is_added_on_the_way_is_done_too():
    waiting, done = deque([3]), []
    for number, _ in map_bounded(str, waiting, lambda: 1):
        done.append(number)
        if number:
            waiting.append(number - 1)
    assert done == [3, 2, 1, 0]


def test_what_work_raises_is_raised_and_the_rest_is_left():
    begun = []

    def work(number: int) -> None:
        begun.append(number)
        if number == 2:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        list(map_bounded(work, deque(range(100)), lambda: 1))
    assert begun == [0, 1, 2]
