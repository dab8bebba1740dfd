"""A pool of processes: what is lost is replaced, and a job is tried twice at most."""

from __future__ import annotations

import threading

import pytest

from mlsys_widgets.sandbox.process_pool import PoolClosed, ProcessLost, ProcessPool


class Process:
    """A process that only says whether it is there."""

    def __init__(self) -> None:
        self.alive, self.pid = True, id(self)

    def close(self) -> None:
        self.alive = False


def lose(process: Process, _again: bool) -> None:
    process.close()
    raise ProcessLost


def test_a_job_whose_process_is_lost_is_done_again_with_another_one():
    pool, used = ProcessPool(Process, 1), []

    def job(process: Process, again: bool) -> str:
        used.append(process)
        return "done" if again else lose(process, again)

    assert pool.run(job) == "done"
    assert len(set(used)) == 2
    assert pool._all == {used[1]}


def test_a_job_is_started_at_most_twice_and_once_where_it_is_too_late():
    pool, times = ProcessPool(Process, 1), []

    def job(too_late: bool) -> None:
        times.append(too_late)
        raise ProcessLost(too_late=too_late)

    for too_late in (False, True):
        with pytest.raises(ProcessLost):
            pool.run(lambda _, __, too_late=too_late: job(too_late))
    assert times == [False, False, True]


def test_all_that_died_while_nobody_looked_are_replaced():
    pool = ProcessPool(Process, 3)
    for each in list(pool._free):
        each.close()
    assert pool.run(lambda process, again: process.alive and not again)


def test_no_more_jobs_run_at_a_time_than_there_are_processes():
    pool, now, most = ProcessPool(Process, 2), [], []
    both = threading.Barrier(2, timeout=60)

    def job(process: Process, _again: bool) -> None:
        now.append(process)
        both.wait()
        most.append(len(now))
        both.wait()
        now.remove(process)

    threads = [threading.Thread(target=pool.run, args=(job,)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert most == [2, 2, 2, 2]


def test_nothing_is_done_after_closing():
    pool = ProcessPool(Process, 1)
    process = pool._free[0]
    pool.close()
    assert not process.alive
    with pytest.raises(PoolClosed):
        pool.run(lambda *_: None)
