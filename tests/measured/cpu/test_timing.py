"""How the CPU is timed: operands that rotate, threads that share, and repeated loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mlsys_widgets.measured.cpu.timing import LINE, CpuBench
from mlsys_widgets.measured.recorder import OutOfTime, Recorder


@pytest.fixture
def bench() -> Iterator[CpuBench]:
    made = CpuBench(
        Recorder(device={}, software={}, method={}), cores=2, arena=1 << 20, patience=0.01,
        quick=True,
    )  # fmt: skip
    yield made
    made.close()


def test_operands_are_aligned_apart_and_of_the_asked_sizes(bench: CpuBench) -> None:
    bench.fill("float32")
    x, y, out = bench.cut("float32", [1000, 500], [1000])
    assert [each.size for each in (x, y, out)] == [1000, 500, 1000]
    assert all(each.ctypes.data % LINE == 0 for each in (x, y, out))
    assert not any(np.shares_memory(a, b) for a, b in ((x, y), (x, out), (y, out)))
    assert 0.5 <= float(x.min()) <= float(x.max()) <= 1.5


def test_the_next_call_gets_other_operands(bench: CpuBench) -> None:
    sets = bench.sets("float32", [1000], [1000])
    assert sets > 2
    first, second, again = (
        bench.cut("float32", [1000], [1000], number)[0] for number in (0, 1, sets)
    )
    assert not np.shares_memory(first, second)
    assert first.ctypes.data == again.ctypes.data
    assert bench.sets("float32", [1 << 20], []) == 0


def test_results_stay_apart_from_the_inputs_of_every_case(bench: CpuBench) -> None:
    cases = [([1000, 500], [1000]), ([50_000], [200]), ([9], [60_000]), ([17_000] * 3, [33, 7])]
    inputs, outputs = [], []
    for read, written in cases:
        sets = bench.cut_apart("float32", read, written, most=50)
        assert 1 <= len(sets) <= 50
        for arrays in sets:
            assert [each.size for each in arrays] == read + written
            inputs += arrays[: len(read)]
            outputs += arrays[len(read) :]
    last = max(each.ctypes.data + each.nbytes for each in inputs)
    assert last <= min(each.ctypes.data for each in outputs)
    assert not np.shares_memory(*(arrays[0] for arrays in bench.cut_apart("f4", [9], [9], 2)))
    assert bench.cut_apart("float32", [1 << 18], [1], most=3) == []
    assert bench.cut_apart("float32", [1], [1 << 17], most=3) == []


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_threads_share_everything_once(bench: CpuBench, size: int) -> None:
    hit = np.zeros(size, dtype=int)

    def work(part: int) -> None:
        lower, upper = bench.bounds(size, part)
        hit[lower:upper] += 1

    bench.together(work, bench.cores)
    assert hit.tolist() == [1] * size


def test_a_failure_in_a_thread_is_raised(bench: CpuBench) -> None:
    def work(part: int) -> None:
        raise RuntimeError(f"part {part}")

    with pytest.raises(RuntimeError, match="part 0"):
        bench.together(work, 2)


def test_a_call_is_timed_several_times_with_rising_numbers(bench: CpuBench) -> None:
    numbers: list[int] = []
    found = bench.time(numbers.append)
    assert found.repetitions >= 3
    assert 0 < found.q25 <= found.median <= found.q75
    assert numbers == list(range(len(numbers)))


def test_no_time_left_is_said_before_the_first_call(bench: CpuBench) -> None:
    bench.recorder.budget = 0.0
    with pytest.raises(OutOfTime):
        bench.time(lambda i: pytest.fail("called"))
