"""The reference values of the course, each with the place it comes from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mlsys_widgets import physics as ph

A100, H100, H200 = (ph.devices[key] for key in ("a100-sxm", "h100-sxm", "h200-sxm"))
ORIN, M7 = ph.devices["orin-nx"], ph.devices["cortex-m7"]
RESNET = ph.workloads["resnet50"]
IMAGE = ph.workloads["resnet50-inference"]
SERVICE = ph.workloads["kws-service"]
DAY_14 = ph.chain(("mul", "w"), ("add", "b"), "relu", "sigmoid")
LAB_07 = ph.chain("layernorm", "dropout", "relu")


def gemm_roof(n: float, *, sparse: bool = False) -> ph.Roofline:
    intensity = ph.gemm(n, n, n, bytes_per_element=2).intensity
    return ph.roofline(intensity, H100.peak("fp16", sparse=sparse), H100.bandwidth)


def utilization(workload: str, mode: str = "eager") -> float:
    return ph.run(workload, "a100-sxm", mode=mode).utilization  # type: ignore[arg-type]


def fusion() -> ph.Fusion:
    """The textbook's case, with the 5 µs that it gives the arithmetic."""
    known = ph.workloads["layernorm-dropout-relu"]
    assert isinstance(known, ph.ElementwiseChain)
    return ph.fuse(LAB_07, known.elements, 2, "a100-sxm", compute_time=known.compute)


def resnet_deployment(gain: float) -> ph.Deployment:
    return ph.deployment(30, 1450, gain=gain, per_day=1e6, days=1)


def kws_service() -> ph.Deployment:
    eager = 1 / ph.run("kws", "a100-sxm").total
    return ph.deployment(
        SERVICE.compile_time, eager, gain=SERVICE.gain, per_day=SERVICE.per_day, days=7
    )


def image_on(device: str, batch: float = 1) -> ph.IronLawTime:
    return ph.iron_law(IMAGE.data, IMAGE.operations, device, batch=batch)


# (where it comes from, what, the computation, the value, how exactly the source gives it)
TABLE: list[tuple[str, str, Callable[[], float], float, float]] = [
    # PHYSICS.md, table "Devices"
    ("devices", "A100 fp16 dense", lambda: A100.peak("fp16"), 312e12, 0),
    ("devices", "A100 fp16 sparse", lambda: A100.peak("fp16", sparse=True), 624e12, 0),
    ("devices", "A100 tf32", lambda: A100.peak("tf32"), 156e12, 0),
    ("devices", "A100 fp32", lambda: A100.peak("fp32"), 19.5e12, 0),
    ("devices", "A100 int8 dense", lambda: A100.peak("int8"), 624e12, 0),
    ("devices", "A100 bandwidth", lambda: A100.bandwidth, 2.0e12, 0),
    ("devices", "H100 fp8 dense", lambda: H100.peak("fp8"), 1979e12, 0),
    ("devices", "H100 int8 sparse", lambda: H100.peak("int8", sparse=True), 3958e12, 0),
    ("devices", "H100 fp32", lambda: H100.peak("fp32"), 67e12, 0),
    ("devices", "H200 as H100", lambda: H200.peak("fp16") / H100.peak("fp16"), 1, 0),
    ("devices", "H200 bandwidth", lambda: H200.bandwidth, 4.8e12, 0),
    ("devices", "H200 memory", lambda: H200.memory, 141e9, 0),
    ("devices", "Orin NX int8 sparse", lambda: ORIN.peak("int8", sparse=True), 100e12, 0),
    ("devices", "Orin NX launch", ORIN.launch, 50e-6, 0),
    ("devices", "mobile NPU int8", lambda: ph.devices["mobile-npu"].peak("int8"), 35e12, 0),
    ("devices", "Cortex-M7 launch", M7.launch, 2e-3, 0),
    # PHYSICS.md, table "Reference values"
    ("reference", "A100 ridge", lambda: A100.ridge("fp16"), 156, 0.5),
    ("reference", "H100 ridge, dense", lambda: H100.ridge("fp16"), 295, 0.5),
    ("reference", "H100 ridge, sparse", lambda: H100.ridge("fp16", sparse=True), 591, 0.5),
    ("reference", "Orin NX ridge", lambda: ORIN.ridge("fp16"), 118, 0.5),
    ("reference", "GEMM 512 intensity", lambda: ph.gemm(512, 512, 512).intensity, 170.7, 0.05),
    ("reference", "GEMM 512 on H100", lambda: gemm_roof(512).attainable, 571.7e12, 0.05e12),
    ("reference", "GEMM 512 MFU, dense", lambda: gemm_roof(512).mfu, 0.578, 0.0005),
    ("reference", "GEMM 512 MFU, sparse", lambda: gemm_roof(512, sparse=True).mfu, 0.289, 0.0005),
    ("reference", "N = 279 on H100", lambda: gemm_roof(279).attainable, 312e12, 0.6e12),
    ("reference", "312 of the sparse peak", lambda: 312e12 / H100.peak(sparse=True), 0.158, 5e-4),
    ("reference", "312 of the dense peak", lambda: 312e12 / H100.peak(), 0.315, 5e-4),
    (
        "reference",
        "KWS eager, no memory term",
        lambda: ph.forward_pass(1000, 5e-6, 10e-6).utilization,
        0.333,
        5e-4,
    ),
    ("reference", "KWS eager", lambda: utilization("kws"), 0.323, 5e-4),
    ("reference", "ResNet-50 eager", lambda: utilization("resnet50"), 0.799, 5e-4),
    ("reference", "GPT-2 layer eager", lambda: utilization("gpt2-layer"), 0.900, 5e-4),
    ("reference", "KWS compiled", lambda: utilization("kws", "compiled"), 0.667, 5e-4),
    (
        "reference",
        "GPT-2 layer compiled",
        lambda: utilization("gpt2-layer", "compiled"),
        0.92,
        5e-3,
    ),
    (
        "reference",
        "KWS asynchronous, no memory term",
        lambda: ph.forward_pass(1000, 5e-6, 10e-6, launch="async").utilization,
        0.50,
        5e-3,
    ),
    ("reference", "fusion traffic", lambda: fusion().traffic_reduction, 3.0, 1e-9),
    ("reference", "intensity unfused", lambda: fusion().unfused_intensity, 0.83, 5e-3),
    ("reference", "intensity fused", lambda: fusion().fused_intensity, 2.5, 1e-9),
    ("reference", "time unfused", lambda: fusion().unfused_time, 39.7e-6, 0.05e-6),
    ("reference", "time fused", lambda: fusion().fused_time, 16.6e-6, 0.05e-6),
    ("reference", "fusion speed-up", lambda: fusion().speedup, 2.4, 0.05),
    ("reference", "ResNet-50 break-even", lambda: ph.break_even(30, 1450, 2150), 133_607, 0.5),
    ("reference", "the same at +48 %", lambda: resnet_deployment(0.48).break_even, 134_125, 0.5),
    ("reference", "KWS eager time", lambda: ph.run("kws", "a100-sxm").total, 15.5e-3, 1e-9),
    ("reference", "KWS service", lambda: kws_service().break_even, 2258, 0.5),
    ("reference", "the same in hours", lambda: kws_service().days_to_break_even * 24, 22.6, 0.05),
    ("reference", "ResNet-50 memory", lambda: image_on("h100-sxm").memory_time, 29.85e-6, 5e-9),
    ("reference", "ResNet-50 compute", lambda: image_on("h100-sxm").compute_time, 8.29e-6, 5e-9),
    ("reference", "their ratio", lambda: image_on("h100-sxm").memory_to_compute, 3.6, 0.05),
    ("workloads", "compute-bound at", lambda: image_on("h100-sxm").compute_bound_batch, 4, 0),
    ("reference", "ResNet-50 on M7", lambda: ph.capacity(IMAGE.data, M7).fill, 195, 0.5),
    ("reference", "compute gap", lambda: H100.peak("fp16") / M7.peak("fp32"), 989_000, 1e-6),
    ("reference", "bandwidth gap", lambda: H100.bandwidth / M7.bandwidth, 67_000, 1e-6),
    ("reference", "memory gap", lambda: H100.memory / M7.memory, 156_250, 1e-6),
    ("reference", "power gap", lambda: H100.power / M7.power, 7_000, 1e-6),
    ("reference", "KV, 8 heads", lambda: ph.kv_cache("llama31-8b", 64, 2048), 17.2e9, 0.05e9),
    (
        "reference",
        "KV, 32 heads",
        lambda: ph.kv_cache("llama31-8b", 64, 2048, kv_heads=32),
        68.7e9,
        0.05e9,
    ),
    ("reference", "ReLU fp32", lambda: ph.elementwise(1e6, 4, 1, 2).intensity, 0.125, 1e-12),
    ("reference", "Day 14 reads", lambda: DAY_14.unfused_reads, 6, 0),
    ("reference", "Day 14 writes", lambda: DAY_14.unfused_writes, 4, 0),
    ("reference", "Day 14 fused reads", lambda: DAY_14.fused_reads, 3, 0),
    ("reference", "Day 14 fused writes", lambda: DAY_14.fused_writes, 1, 0),
    # PHYSICS.md, table "Formulas" and "Workloads"
    ("formulas", "layer norm fp16", lambda: ph.elementwise(1e6, 2).intensity, 0.833, 5e-4),
    ("formulas", "square GEMM, 2N/3b", lambda: ph.gemm(900, 900, 900, 4).intensity, 150, 1e-9),
    (
        "workloads",
        "KWS memory term on A100",
        lambda: ph.run("kws", "a100-sxm").memory,
        500e-6,
        1e-12,
    ),
    ("workloads", "chain FLOP per element", lambda: LAB_07.flops_per_element, 10, 0),
    ("workloads", "ResNet-50 kernels left", lambda: 200 * (1 - RESNET.fused_share), 72, 1e-9),
]


@pytest.mark.parametrize(
    ("compute", "value", "within"),
    [row[2:] for row in TABLE],
    ids=[f"{row[0]}: {row[1]}" for row in TABLE],
)
def test_reference_value(compute: Callable[[], float], value: float, within: float) -> None:
    assert abs(compute() - value) <= within


# PHYSICS.md, table "Where the reference documents disagree, and what stands"


def test_lower_precision_doubles_intensity_and_ridge_so_the_regime_stays() -> None:
    for n in (64, 512, 4096):
        fp16, int8 = (ph.gemm(n, n, n, b).intensity for b in (2, 1))
        assert int8 == pytest.approx(2 * fp16)
        assert A100.ridge("int8") == pytest.approx(2 * A100.ridge("fp16"))
        assert (
            ph.roofline(fp16, A100.peak("fp16"), A100.bandwidth).regime
            == ph.roofline(int8, A100.peak("int8"), A100.bandwidth).regime
        )


def test_compiled_utilization_cannot_exceed_one() -> None:
    # The reference formula N·t / (N·r·(t + t_launch)) passes 1 here; only launches may shrink.
    done = ph.run("gpt2-layer", "a100-sxm", mode="compiled", launch_overhead=0.0)
    assert done.utilization < 1
    assert done.compute == pytest.approx(ph.run("gpt2-layer", "a100-sxm").compute)
