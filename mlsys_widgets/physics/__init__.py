"""The physics core: the one source of every number that a student, a TA or CI ever sees.

Pure functions over numbers and numpy arrays, in SI units. Results are frozen, check their
inputs, and explain themselves with ``derivation()``.
"""

from mlsys_widgets.physics.compilation import BreakEven, Deployment, break_even, deployment
from mlsys_widgets.physics.derivation import Derivation, Quantity, Step
from mlsys_widgets.physics.devices import BYTES_PER_ELEMENT, Device, devices
from mlsys_widgets.physics.dispatch import (
    GRAPH_NODE_OVERHEAD,
    ForwardPass,
    GraphPass,
    forward_pass,
    run,
)
from mlsys_widgets.physics.domain import Numeric, UnknownName
from mlsys_widgets.physics.fusion import Chain, Fusion, chain, fuse
from mlsys_widgets.physics.fusion_rule import FusionVerdict, can_fuse, chainable
from mlsys_widgets.physics.iron_law import Capacity, IronLawTime, capacity, iron_law
from mlsys_widgets.physics.kernel_time import KernelTime, Waves, kernel_time, waves
from mlsys_widgets.physics.kernels import (
    Elementwise,
    Gemm,
    Kernel,
    Projection,
    elementwise,
    fusion_strategies,
    gemm,
    normalization,
    projection,
)
from mlsys_widgets.physics.language_model import (
    Footprint,
    Generation,
    KVCache,
    decode,
    footprint,
    kv_cache,
    prefill,
)
from mlsys_widgets.physics.memory_hierarchy import (
    MemoryLevel,
    Transfer,
    memory_hierarchy,
    nearest_level,
    transfer,
)
from mlsys_widgets.physics.operations import Op, ops
from mlsys_widgets.physics.provenance import CatalogEntry, Provenance
from mlsys_widgets.physics.result import Explained, Result
from mlsys_widgets.physics.roofline import Ridge, Roofline, roofline
from mlsys_widgets.physics.sensitivity import Sensitivity, sensitivity
from mlsys_widgets.physics.units import NEVER, counted, format_quantity, parse_quantity
from mlsys_widgets.physics.workloads import (
    ElementwiseChain,
    Inference,
    LanguageModel,
    ModelPass,
    Service,
    Workload,
    workloads,
)

__all__ = [
    "BYTES_PER_ELEMENT",
    "GRAPH_NODE_OVERHEAD",
    "NEVER",
    "BreakEven",
    "Capacity",
    "CatalogEntry",
    "Chain",
    "Deployment",
    "Derivation",
    "Device",
    "Elementwise",
    "ElementwiseChain",
    "Explained",
    "Footprint",
    "ForwardPass",
    "Fusion",
    "FusionVerdict",
    "Gemm",
    "Generation",
    "GraphPass",
    "Inference",
    "IronLawTime",
    "KVCache",
    "Kernel",
    "KernelTime",
    "LanguageModel",
    "MemoryLevel",
    "ModelPass",
    "Numeric",
    "Op",
    "Projection",
    "Provenance",
    "Quantity",
    "Result",
    "Ridge",
    "Roofline",
    "Sensitivity",
    "Service",
    "Step",
    "Transfer",
    "UnknownName",
    "Waves",
    "Workload",
    "break_even",
    "can_fuse",
    "capacity",
    "chain",
    "chainable",
    "counted",
    "decode",
    "deployment",
    "devices",
    "elementwise",
    "footprint",
    "format_quantity",
    "forward_pass",
    "fuse",
    "fusion_strategies",
    "gemm",
    "iron_law",
    "kernel_time",
    "kv_cache",
    "memory_hierarchy",
    "nearest_level",
    "normalization",
    "ops",
    "parse_quantity",
    "prefill",
    "projection",
    "roofline",
    "run",
    "sensitivity",
    "transfer",
    "waves",
    "workloads",
]
