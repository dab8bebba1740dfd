"""Every public function of the core once, with inputs that make sense.

Tests that must hold for all of them (domains, broadcasting, derivations) run over this list; a
test fails when a public function is missing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlsys_widgets import physics as ph


@dataclass(frozen=True)
class Case:
    """A call: its numeric arguments (which may become arrays) and the others."""

    function: Callable[..., Any]
    numbers: dict[str, float]
    words: dict[str, Any] = field(default_factory=dict)

    def __call__(self, **changed: Any) -> Any:
        return self.function(**{**self.words, **self.numbers, **changed})

    @property
    def name(self) -> str:
        return self.function.__name__


_PASS = {"kernels": 1000, "compute_per_kernel": 5e-6, "launch_overhead": 1e-5, "memory_time": 5e-4}
_COMPILED = {"compile_time": 30, "eager_rate": 1450}
_LLM = {"batch": 64, "sequence": 2048, "kv_heads": 8}
_LLM_ON = {"model": "llama31-8b", "device": "h100-sxm"}
_ATTENTION = {
    "batch": 2,
    "heads": 32,
    "queries": 700,
    "keys": 700,
    "head_width": 128,
    "bytes_per_element": 2,
}
_SERVED = {"model": "llama31-8b", "device": "h200-sxm"}

CASES = [
    Case(ph.roofline, {"intensity": 170.7, "peak": 989e12, "bandwidth": 3.35e12}),
    Case(ph.gemm, {"m": 512, "n": 256, "k": 1024, "bytes_per_element": 2}),
    Case(ph.projection, {"batch": 4, "sequence": 512, "width": 4096, "bytes_per_element": 2}),
    Case(
        ph.elementwise,
        {
            "elements": 1e6,
            "bytes_per_element": 2,
            "flops_per_element": 5,
            "passes": 3,
            "traffic_share": 0.5,
        },
    ),
    Case(ph.forward_pass, _PASS, {"launch": "serial"}),
    Case(ph.forward_pass, _PASS, {"launch": "async"}),
    Case(ph.forward_pass, _PASS, {"launch": "graph"}),
    Case(
        ph.run,
        {"kernels": 1000, "speedup": 2, "launch_overhead": 1e-5},
        {"workload": "gpt2-layer", "device": "a100-sxm", "mode": "compiled", "launch": "async"},
    ),
    Case(
        ph.fuse,
        {
            "elements": 1024 * 768,
            "bytes_per_element": 2,
            "bandwidth": 2e12,
            "launch_overhead": 1e-5,
            "compute_time": 5e-6,
        },
        {"chain": ph.chain("layernorm", "dropout", "relu"), "device": "a100-sxm"},
    ),
    Case(ph.break_even, {**_COMPILED, "compiled_rate": 2150}),
    Case(ph.deployment, {**_COMPILED, "compiled_rate": 2150, "per_day": 1e6, "days": 30}),
    Case(ph.deployment, {**_COMPILED, "gain": 0.48, "per_day": 1e6, "days": 30}),
    Case(
        ph.iron_law,
        {"data": 1e8, "operations": 4e9, "efficiency": 0.5, "latency": 1e-6, "batch": 4},
        {"device": "h100-sxm"},
    ),
    Case(
        ph.iron_law,
        {"data": 1e8, "operations": 4e9, "bandwidth": 2e12, "rate": 3e14},
        {"overlapped": True},
    ),
    Case(ph.capacity, {"size": 1e8}, {"device": "cortex-m7"}),
    Case(ph.kv_cache, {**_LLM, "bytes_per_element": 2}, {"model": "llama31-8b"}),
    Case(ph.footprint, {**_LLM, "bytes_per_element": 2, "activation_share": 0.5}, _LLM_ON),
    Case(ph.decode, _LLM, {**_LLM_ON, "attention": True}),
    Case(ph.prefill, _LLM, {**_LLM_ON, "attention": True}),
    Case(
        ph.kernel_time,
        {
            "flops": 2e9,
            "bytes": 6e6,
            "peak": 989e12,
            "bandwidth": 4.8e12,
            "floor": 3e-6,
            "kernels": 2,
            "compute_efficiency": 0.65,
            "bandwidth_efficiency": 0.9,
        },
    ),
    Case(ph.waves, {"m": 2000, "n": 2000, "units": 132, "tile": 128}),
    Case(ph.transfer, {"size": 1e9}, {"level": "hbm"}),
    Case(ph.attention, {**_ATTENTION, "kv_heads": 8}, {"causal": True}),
    Case(ph.attention, {**_ATTENTION, "kv_heads": 32}, {"naive": True}),
    Case(ph.product, {"m": 48, "n": 4096, "k": 1024}, {"precision": "fp16"}),
    Case(ph.product, {"m": 48, "n": 4096, "k": 1024}, {"precision": "int4"}),
    Case(
        ph.small_kernel,
        {"rows": 48, "columns": 4096, "bytes_per_element": 2},
        {"kind": "rmsnorm"},
    ),
    *(
        Case(ph.serving_time, {"batch": 7, "sequence": 1000}, {**_SERVED, **words})
        for words in (
            {"phase": "decode", "launch": "graph"},
            {"phase": "decode", "launch": "async"},
            {"phase": "prefill", "launch": "graph"},
            {"phase": "prefill", "launch": "async", "precision": "int8"},
            {"phase": "decode", "precision": "int4", "layers": 1},
        )
    ),
    Case(
        ph.step_energy,
        {"batch": 7, "sequence": 1000},
        {**_SERVED, "phase": "decode", "launch": "async"},
    ),
    Case(ph.service_energy, {"power": 600, "rate": 4000, "busy": 0.2, "idle": 120}),
    Case(
        ph.energy_bill,
        {"tokens": 1e9, "energy_per_token": 0.05, "price": 5e-8},
        {"grid": "world", "data_center": "average"},
    ),
    Case(ph.queue, {"arrivals": 60, "service": 20e-3, "servers": 4, "later": 0.1}),
    Case(ph.queue, {"arrivals": 30, "service": 20e-3, "later": 0.01}),
    Case(ph.one_client, {"arrivals": 30, "service": 20e-3, "servers": 2, "later": 0.01}),
    Case(ph.single_server, {"arrivals": 30, "service": 20e-3, "variation": 2.0}),
    Case(ph.batch_server, {"arrivals": 3, "tokens": 40}, {"steps": [1e-3, 1.5e-3, 2e-3]}),
    Case(ph.closed_loop, {"clients": 4, "service": 20e-3, "think": 5e-3}),
    Case(ph.fan_out, {"slow": 0.01, "servers": 100}),
    Case(
        ph.reserved_cache,
        {"memory": 10e9, "token": 131072, "prompt": 300, "answer": 100, "room": 2048},
    ),
    Case(
        ph.paged_cache,
        {"memory": 10e9, "token": 131072, "prompt": 300, "answer": 100, "block": 16},
    ),
    Case(ph.cache_use, {"memory": 6.4e9, "token": 131072, "kept": 5000, "held": 40_000}),
    Case(ph.speculation, {"right": 0.75, "guesses": 4, "check": 1.1, "guess": 0.1}),
    Case(
        ph.quantization_error,
        {"block": 128, "weights": 1e6, "outlier": 9, "cut": 8},
        {"bits": 4},
    ),
    Case(ph.float_error, {"reach": 5.5}),
    Case(ph.stored_weights, {"weights": 8e9, "group": 128, "beside": 32}, {"bits": 4}),
    *(
        Case(
            ph.product_speed,
            {"rows": 7, "group": 64},
            {"columns": 4096, "depth": 1024, "precision": each},
        )
        for each in ("fp8", "int8", "int4")
    ),
    Case(ph.training_memory, {"batch": 8, "sequence": 1024}, {"model": "gpt2"}),
]

#: Public functions that are no formulas of numbers and have tests of their own.
OTHERS = {
    "block_reach",
    "crossing_rows",
    "calibrated_devices",
    "calibration_of",
    "can_fuse",
    "catalog_entry",
    "chain",
    "chainable",
    "counted",
    "format_quantity",
    "highest_rate",
    "language_model",
    "layer_kernels",
    "make_device",
    "model_kernels",
    "naive_attention_kernels",
    "nearest_level",
    "parse_quantity",
    "product_family",
    "read_calibration",
    "row_family",
    "sensitivity",
    "simulate_batches",
    "simulate_closed_loop",
    "simulate_queue",
    "time_uses",
    "training_launches",
    "training_time",
}


def identify(case: Case) -> str:
    words = [str(v) for v in case.words.values() if isinstance(v, str)]
    return "-".join([case.name, *words, "gain" if "gain" in case.numbers else ""]).strip("-")
