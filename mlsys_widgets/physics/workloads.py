"""The workloads of the course: what each one asks of a machine, every number with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import Catalog
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number

_LAB_01: Final = Source("ML Systems course, lab 01", "2026-03", "course")
_LAB_07: Final = Source("ML Systems course, lab 07", "2026-03", "course")
_LAB_11: Final = Source("ML Systems course, lab 11", "2026-03", "course")
_REVISED: Final = Source("mlsys_widgets revision of lab 07", "2026-11", "course")
_COUNTED: Final = Source("kernel counts of torch.compile on ResNet-50", "2026-11", "measured")
_LLAMA: Final = Source("Llama 3 model card, Meta", "2024-04", "datasheet")


@dataclass(frozen=True, kw_only=True)
class Workload(CatalogEntry):
    """Base of all workloads."""


@dataclass(frozen=True, kw_only=True)
class ModelPass(Workload):
    """One forward pass as a sequence of kernels, eager and compiled.

    Compute times are as profiled, whatever the device; ``run(..., speedup=)`` scales them.
    """

    kernels: float
    compute_per_kernel: float = number("s")
    flops: float = number("FLOP")
    intensity: float = number("FLOP/B")
    #: Fraction of the kernels that compilation fuses away.
    fused_share: float = number("%")
    #: Fraction of the memory traffic that fusion saves.
    traffic_saved: float = number("%")
    #: Cost and gain of compiling, where the course gives them.
    compile_time: float | None = number("s", default=None)
    eager_rate: float | None = number("/s", default=None)
    compiled_rate: float | None = number("/s", default=None)


@dataclass(frozen=True, kw_only=True)
class Service(Workload):
    """A model in service: requests arrive at a rate, and compilation speeds each of them up."""

    compile_time: float = number("s")
    gain: float = number("%")
    per_day: float = number("/day")


@dataclass(frozen=True, kw_only=True)
class Inference(Workload):
    """One inference in the terms of the iron law: operations, and data that must move."""

    operations: float = number("FLOP")
    data: float = number("B")


@dataclass(frozen=True, kw_only=True)
class LanguageModel(Workload):
    """A transformer that generates text."""

    parameters: float
    width: float
    layers: float
    heads: float
    kv_heads: float
    head_width: float
    #: Width of the feed-forward layer, and size of the vocabulary.
    hidden: float
    vocabulary: float
    #: Working memory of inference as a fraction of the weights.
    activation_share: float = number("%")


@dataclass(frozen=True, kw_only=True)
class ElementwiseChain(Workload):
    """A chain of elementwise operations on one tensor."""

    rows: float
    columns: float
    bytes_per_element: float = number("B")
    compute: float = number("s")

    @property
    def elements(self) -> float:
        """Elements of the tensor."""
        return self.rows * self.columns


_KERNELS_NOTE = "as profiled; kernels of a few µs"

#: The workloads of the course, by key.
workloads: Final[Catalog[Workload]] = Catalog(
    "workload",
    {
        workload.key: workload
        for workload in (
            catalog_entry(
                ModelPass,
                "kws",
                "Keyword spotting",
                kernels=_LAB_07.fact(1000.0, _KERNELS_NOTE),
                compute_per_kernel=_LAB_07.fact(5e-6),
                flops=_REVISED.fact(1e8, "gives the 500 µs memory term of the course's prose"),
                intensity=_LAB_07.fact(0.1),
                fused_share=_LAB_07.fact(0.80, "upper end of 30 to 80%"),
                traffic_saved=_LAB_07.fact(0.0, "the course counts launches only"),
            ),
            catalog_entry(
                ModelPass,
                "resnet50",
                "ResNet-50",
                kernels=_LAB_07.fact(200.0),
                compute_per_kernel=_LAB_07.fact(50e-6),
                flops=_REVISED.fact(8.2e9, "4.1 billion multiply-adds for one image"),
                intensity=_LAB_07.fact(8.0),
                fused_share=_COUNTED.fact(0.64, "342 kernels eager, 122 compiled"),
                traffic_saved=_LAB_07.fact(0.0, "the course counts launches only"),
                compile_time=_LAB_07.fact(30.0),
                eager_rate=_LAB_07.fact(1450.0, "images per second"),
                compiled_rate=_LAB_07.fact(2150.0, "images per second"),
            ),
            catalog_entry(
                ModelPass,
                "gpt2-layer",
                "GPT-2 layer",
                kernels=_LAB_07.fact(20.0),
                compute_per_kernel=_LAB_07.fact(500e-6),
                flops=_REVISED.fact(1.46e11),
                intensity=_LAB_07.fact(80.0),
                fused_share=_LAB_07.fact(0.30, "lower end of 30 to 80%"),
                traffic_saved=_REVISED.fact(0.20, "elementwise tails fused into the products"),
            ),
            catalog_entry(
                Service,
                "kws-service",
                "Keyword-spotting service",
                compile_time=_LAB_07.fact(10.0),
                gain=_LAB_07.fact(0.40),
                per_day=_LAB_07.fact(2400.0, "100 requests per hour"),
            ),
            catalog_entry(
                Inference,
                "resnet50-inference",
                "ResNet-50 inference",
                operations=_LAB_01.fact(4e9, "one image"),
                data=_LAB_01.fact(100e6, "the weights; they move once for a whole batch"),
            ),
            catalog_entry(
                LanguageModel,
                "llama3-8b",
                "Llama-3-8B",
                parameters=_LLAMA.fact(8e9),
                width=_LLAMA.fact(4096.0),
                layers=_LLAMA.fact(32.0),
                heads=_LLAMA.fact(32.0),
                kv_heads=_LLAMA.fact(8.0, "grouped-query attention"),
                head_width=_LLAMA.fact(128.0),
                hidden=_LLAMA.fact(14336.0, "gated: two products in, one out"),
                vocabulary=_LLAMA.fact(128256.0),
                activation_share=_LAB_11.fact(0.5, "rule of thumb for inference"),
            ),
            catalog_entry(
                ElementwiseChain,
                "layernorm-dropout-relu",
                "LayerNorm, Dropout, ReLU",
                rows=_LAB_07.fact(1024.0, "tokens"),
                columns=_LAB_07.fact(768.0, "hidden units"),
                bytes_per_element=_LAB_07.fact(2.0, "fp16"),
                compute=_LAB_07.fact(5e-6, "all three operations together"),
            ),
        )
    },
)
