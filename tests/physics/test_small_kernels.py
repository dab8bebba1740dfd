"""Small kernels: their counts, and that moving data is all they do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import whole

kinds = st.sampled_from(sorted(ph.small_kernels))


@given(kinds, whole(10**6), whole(10**5), st.sampled_from([1, 2, 4]))
def test_every_element_counts_alike(kind: str, rows: int, columns: int, width: int) -> None:
    kernel, counts = ph.small_kernel(kind, rows, columns, width), ph.small_kernels[kind]
    assert math.isclose(kernel.flops, counts.flops_per_element * rows * columns)
    assert math.isclose(kernel.bytes, counts.passes * width * rows * columns)
    # The same elements in other rows are the same work.
    turned = ph.small_kernel(kind, columns, rows, width)
    assert (turned.flops, turned.bytes) == pytest.approx((kernel.flops, kernel.bytes))


@given(kinds)
def test_memory_binds_them_all_on_every_device(kind: str) -> None:
    kernel = ph.small_kernel(kind, 1024, 4096)
    for device in ("a100-sxm", "h100-sxm", "h200-sxm"):
        assert kernel.intensity < ph.devices[device].ridge("fp16") / 10


def test_every_count_has_a_reason() -> None:
    for kernel in ph.small_kernels.values():
        assert kernel.launches >= 1
        assert kernel.passes >= 2  # whatever is computed is read and written
        assert kernel.provenance["passes"].note
