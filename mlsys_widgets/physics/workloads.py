"""The workloads of the course: what each one asks of a machine, every number with its source.

Examples
--------
Which workloads are there, and of which kind is each?

>>> from mlsys_widgets import physics as ph
>>> for key, workload in ph.workloads.items():
...     print(f"{key}: {workload.name} ({type(workload).__name__})")
kws: Keyword spotting (ModelPass)
resnet50: ResNet-50 (ModelPass)
gpt2-layer: GPT-2 layer (ModelPass)
kws-service: Keyword-spotting service (Service)
resnet50-inference: ResNet-50 inference (Inference)
llama31-8b: Llama-3.1-8B (LanguageModel)
layernorm-dropout-relu: LayerNorm, Dropout, ReLU (ElementwiseChain)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.wording.choices import Catalog

_LAB_01: Final = Source("ML Systems course, lab 01", "2026-03", "course")
_LAB_07: Final = Source("ML Systems course, lab 07", "2026-03", "course")
_LAB_11: Final = Source("ML Systems course, lab 11", "2026-03", "course")
_RESNET: Final = Source("operations of torchvision's ResNet-50, counted", "2026-11", "measured")
_REVISED: Final = Source("mlsys_widgets revision of lab 07", "2026-11", "course")
_COUNTED: Final = Source("kernel counts of torch.compile on ResNet-50", "2026-11", "measured")
# The shape of Llama 3, whose context ends at 8,192 tokens.
_LLAMA: Final = Source("Llama 3.1 model card, Meta", "2024-07", "datasheet")


@dataclass(frozen=True, kw_only=True)
class Workload(CatalogEntry):
    """Base of all workloads.

    ``workloads`` holds those of the course, each of a kind that says which questions it answers.

    Examples
    --------
    Which workloads can be served, and who says how large they are?

    >>> from mlsys_widgets import physics as ph
    >>> isinstance(ph.workloads["resnet50"], ph.Workload)
    True
    >>> [key for key, each in ph.workloads.items() if isinstance(each, ph.LanguageModel)]
    ['llama31-8b']
    >>> ph.workloads["llama31-8b"].provenance["parameters"].source
    'Llama 3.1 model card, Meta'
    """


@dataclass(frozen=True, kw_only=True)
class ModelPass(Workload):
    """One forward pass as a sequence of kernels, eager and compiled.

    Compute times are as profiled, whatever the device; ``run(..., speedup=)`` scales them.

    Examples
    --------
    How many kernels does a compiled ResNet-50 launch, and how much faster does it run?

    >>> from mlsys_widgets import physics as ph
    >>> net = ph.workloads["resnet50"]
    >>> net.kernels, round(net.kernels * (1 - net.fused_share))
    (200.0, 72)
    >>> round(net.compiled_rate / net.eager_rate, 2)
    1.48
    >>> ph.run(net, "a100-sxm", mode="compiled").kernels
    72.0
    """

    kernels: float  #: Kernels launched in eager mode.
    compute_per_kernel: float = number("s")  #: What each of them computes, on average (s).
    flops: float = number("FLOP")  #: Operations of the pass (FLOP).
    intensity: float = number("FLOP/B")  #: Operations per byte moved (FLOP/B).
    fused_share: float = number("%")  #: Fraction of the kernels that compilation fuses away.
    traffic_saved: float = number("%")  #: Fraction of the memory traffic that fusion saves.
    #: Cost of compiling, where the course gives it (s).
    compile_time: float | None = number("s", default=None)
    #: ``eager_rate``, ``compiled_rate``: inferences per second before and after compiling, where
    #: the course gives them (/s).
    eager_rate: float | None = number("/s", default=None)
    compiled_rate: float | None = number("/s", default=None)


@dataclass(frozen=True, kw_only=True)
class Service(Workload):
    """A model in service: requests arrive at a rate, and compilation speeds each of them up.

    Examples
    --------
    How much traffic does the keyword-spotting service get, and what would compiling it bring?

    >>> from mlsys_widgets import physics as ph
    >>> service = ph.workloads["kws-service"]
    >>> ph.format_quantity(service.gain, "%"), ph.format_quantity(service.per_day, "/day")
    ('40%', '2,400/day')
    >>> service.provenance["per_day"].note
    '100 requests per hour'
    """

    compile_time: float = number("s")  #: Cost of compiling (s).
    gain: float = number("%")  #: How much the throughput grows: 0.4 for +40%.
    per_day: float = number("/day")  #: Requests per day (/day).


@dataclass(frozen=True, kw_only=True)
class Inference(Workload):
    """One inference in the terms of the iron law: operations, and data that must move.

    Examples
    --------
    On which machines does a single image wait for memory rather than for arithmetic?

    >>> from mlsys_widgets import physics as ph
    >>> net = ph.workloads["resnet50-inference"]
    >>> passes = {key: ph.iron_law(net.data, net.operations, key) for key in ph.devices}
    >>> [key for key, one in passes.items() if one.binding == "memory"]
    ['a100-sxm', 'h100-sxm', 'h200-sxm', 'orin-nx', 'mobile-npu']
    """

    operations: float = number("FLOP")  #: Of one inference (FLOP).
    #: What must move, once for a whole batch: the weights. Activations are left out (B).
    data: float = number("B")


@dataclass(frozen=True, kw_only=True)
class LanguageModel(Workload):
    """A transformer that generates text.

    Examples
    --------
    How much smaller is Llama-3.1-8B's cache because its heads share keys and values?

    >>> from mlsys_widgets import physics as ph
    >>> llama = ph.workloads["llama31-8b"]
    >>> own = ph.kv_cache(llama, batch=1, sequence=8192)
    >>> ph.kv_cache(llama, batch=1, sequence=8192, kv_heads=llama.heads) / own
    4.0
    """

    parameters: float  #: Weights.
    #: ``width``, ``layers``, ``heads``, ``head_width``: model width, layers, heads in each, and the
    #: width of a head.
    width: float
    layers: float
    heads: float
    kv_heads: float  #: Heads that keep keys and values.
    head_width: float
    hidden: float  #: Width of the feed-forward layer.
    vocabulary: float  #: Tokens that it knows.
    context: float  #: The longest sequence that it was made for, in tokens.
    #: Working memory of inference as a fraction of the weights.
    activation_share: float = number("%")


@dataclass(frozen=True, kw_only=True)
class ElementwiseChain(Workload):
    """A chain of elementwise operations on one tensor.

    Examples
    --------
    What does the course's chain gain by fusion on an A100, with the arithmetic that its text
    gives it, and at the rate of the vector units?

    >>> from mlsys_widgets import physics as ph
    >>> known = ph.workloads["layernorm-dropout-relu"]
    >>> ours = ph.chain("layernorm", "dropout", "relu")
    >>> text = ph.fuse(ours, known.elements, known.bytes_per_element, compute_time=known.compute)
    >>> real = ph.fuse(ours, known.elements, known.bytes_per_element)
    >>> ph.format_quantity(text.speedup, "×"), ph.format_quantity(real.speedup, "×")
    ('2.4×', '2.93×')
    >>> round(known.compute / real.compute_time, 1)
    12.4
    """

    #: ``rows``, ``columns``: shape of the tensor.
    rows: float
    columns: float
    bytes_per_element: float = number("B")  #: 2 for fp16 (B)
    #: Arithmetic of all operations together, as the course's text has it (s).
    compute: float = number("s")

    @property
    def elements(self) -> float:
        """Elements of the tensor."""
        return self.rows * self.columns


_KERNELS_NOTE = "as profiled; kernels of a few µs"
_MULTIPLY_ADDS = "one image: 4.1 billion multiply-adds, two operations each, as peaks count them"

#: The workloads of the course, by key.
workloads: Final[Catalog[Workload]] = Catalog(
    "workload",
    catalog_entry(
        ModelPass,
        "kws",
        "Keyword spotting",
        kernels=_LAB_07.fact(1000.0, _KERNELS_NOTE),
        compute_per_kernel=_LAB_07.fact(5e-6),
        flops=_REVISED.fact(1e8, "gives the 500 µs memory term of the course's prose"),
        intensity=_LAB_07.fact(0.1, "1 MB in each kernel, as of 30 clips at once"),
        fused_share=_LAB_07.fact(0.80, "upper end of 30 to 80%"),
        traffic_saved=_LAB_07.fact(0.0, "the course counts launches only"),
    ),
    catalog_entry(
        ModelPass,
        "resnet50",
        "ResNet-50",
        kernels=_LAB_07.fact(200.0),
        compute_per_kernel=_LAB_07.fact(50e-6),
        flops=_RESNET.fact(8.2e9, _MULTIPLY_ADDS),
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
        operations=_RESNET.fact(8.2e9, _MULTIPLY_ADDS),
        data=_LAB_01.fact(
            100e6, "the weights in fp32, once for a whole batch; activations are left out"
        ),
    ),
    catalog_entry(
        LanguageModel,
        "llama31-8b",
        "Llama-3.1-8B",
        parameters=_LLAMA.fact(8e9),
        width=_LLAMA.fact(4096.0),
        layers=_LLAMA.fact(32.0),
        heads=_LLAMA.fact(32.0),
        kv_heads=_LLAMA.fact(8.0, "grouped-query attention"),
        head_width=_LLAMA.fact(128.0),
        hidden=_LLAMA.fact(14336.0, "gated: two products in, one out"),
        vocabulary=_LLAMA.fact(128256.0),
        context=_LLAMA.fact(131072.0, "128k"),
        activation_share=_LAB_11.fact(0.5, "rule of thumb for inference"),
    ),
    catalog_entry(
        ElementwiseChain,
        "layernorm-dropout-relu",
        "LayerNorm, Dropout, ReLU",
        rows=_LAB_07.fact(1024.0, "tokens"),
        columns=_LAB_07.fact(768.0, "hidden units"),
        bytes_per_element=_LAB_07.fact(2.0, "fp16"),
        compute=_LAB_07.fact(5e-6, "the text names no device; see vector_peak"),
    ),
)
