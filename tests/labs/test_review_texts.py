"""The Review says nothing that is false for anybody, and no instrument answers for the student."""

from __future__ import annotations

from collections import Counter

from mlsys_widgets import CompilationSpectrum, MemoryHierarchy
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.physics import memory_hierarchy
from tests.labs.rehearsal import ROOT

HOME = ROOT / "assignments" / "lab_review_foundations"
LAB, CHECKS = load(HOME), load_checks(HOME)
DRAWN = [LAB.draw(f"student-{k}") for k in range(400)]


def key(name, p):
    return CHECKS[name](Given(p, HOME))


def test_a_step_has_a_part_of_more_than_half_or_none_that_is_close_to_it():
    for p in DRAWN:
        rows, melem, kernels = map(int, p.step.split())
        parts = {
            "arithmetic": 2 * rows**3 / (p.peak_tflops * 1e12),
            "memory": melem * 8e6 / (p.bandwidth_tbs * 1e12),
            "launches": kernels * p.launch_us * 1e-6,
        }
        # The product is at the flat part of its roof, as the solution takes it.
        assert rows / 3 > p.peak_tflops / p.bandwidth_tbs
        largest = max(parts, key=lambda part: parts[part])
        share = parts[largest] / sum(parts.values())
        assert not 0.45 < share < 0.55
        assert key("waits_for", p).value == (largest if share > 0.5 else "none")


def test_two_plans_are_right_for_many_students_each_and_none_by_a_hair():
    """A tenth more or less of data, of what others use, of the limit or of a bandwidth."""
    l2, hbm = (memory_hierarchy[level] for level in ("l2", "hbm"))
    right = Counter()
    for p in DRAWN:
        megabytes, taken, longest = map(float, p.plan.split())
        trips = {level.key: megabytes * 1e12 / level.bandwidth for level in (l2, hbm)}
        # Whoever forgets the others takes the cache, and whoever forgets the limit takes HBM.
        assert megabytes * 1e6 < 0.9 * l2.capacity
        assert trips["l2"] < 0.9 * longest
        if (megabytes + taken) * 1e6 <= 0.9 * l2.capacity:
            assert trips["hbm"] >= 1.1 * longest
            right["l2"] += 1
        else:
            assert (megabytes + taken) * 1e6 >= 1.1 * l2.capacity
            assert trips["hbm"] <= 0.9 * longest
            right["hbm"] += 1
    assert min(right["l2"], right["hbm"]) > 0.4 * len(DRAWN)


def test_the_memory_hierarchy_does_not_say_where_the_tiles_live():
    """Typing in the size of all tiles gives a wrong answer to half of the students at least."""
    misled = 0
    for p in DRAWN:
        size = p.tile_tensors * p.tile_rows * p.tile_columns * 2.0
        shown = MemoryHierarchy(size=size).result.nearest.level.key
        misled += shown != key("working_set_home", p).value
    assert misled > len(DRAWN) / 2


def test_the_hint_of_the_spectrum_does_not_say_how_to_run_the_model():
    for p in DRAWN[:50]:
        spectrum = CompilationSpectrum(model=tuple(p.constructs.split()))
        best = spectrum.result.best.name
        for stop in ("eager", "trace", "script", "fx", "compile"):
            spectrum.set(stop=stop)
            hint = spectrum.hint(spectrum.result)
            assert best not in hint.split(" What would help ")[0]
