"""The physics core: the one source of every number that a student, a TA or CI ever sees.

Pure functions over numbers and numpy arrays, in SI units. Results are frozen, check their
inputs, and explain themselves with ``derivation()``.

Examples
--------
How fast can one user read Llama-3.1-8B's answer on an H100, and why no faster?

>>> from mlsys_widgets import physics as ph
>>> step = ph.decode("llama31-8b", "h100-sxm", batch=1, sequence=2048)
>>> ph.format_quantity(step.tokens_per_second, "tokens/s")
'205.9 tokens/s'
>>> step.memory_bound
True
>>> print(step.derivation("memory_time"))
KV = 2 × batch × S × H_kv × d × L × b = 2 × 1 × 2,048 × 8 × 128 × 32 × 2 B = 268.4 MB   (size of \
the KV cache)
Q = weights + KV = 16 GB + 268.4 MB = 16.3 GB   (data moved: the weights once, and the cache)
t_memory = Q / B = 16.3 GB / 3.35 TB/s = 4.86 ms   (time to move the data)
"""

from mlsys_widgets.physics.attention import Attention, NaiveAttention, attention
from mlsys_widgets.physics.cache_sharing import (
    CacheShare,
    CacheUse,
    PagedShare,
    ReservedShare,
    Speculation,
    cache_use,
    paged_cache,
    reserved_cache,
    speculation,
)
from mlsys_widgets.physics.compilation import BreakEven, Deployment, break_even, deployment
from mlsys_widgets.physics.derivation import Derivation, Quantity, Step
from mlsys_widgets.physics.device_calibration import (
    LAWS,
    DeviceCalibration,
    calibrated_devices,
    calibration_of,
    read_calibration,
)
from mlsys_widgets.physics.devices import BYTES_PER_ELEMENT, Device, devices, make_device
from mlsys_widgets.physics.dispatch import (
    GRAPH_NODE_OVERHEAD,
    ForwardPass,
    GraphPass,
    forward_pass,
    run,
)
from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.energy import (
    DataCenter,
    EnergyBill,
    Grid,
    ServiceEnergy,
    StepEnergy,
    data_centers,
    energy_bill,
    grids,
    service_energy,
    step_energy,
)
from mlsys_widgets.physics.fusion import Chain, Fusion, chain, fuse
from mlsys_widgets.physics.fusion_rule import FusionVerdict, can_fuse, chainable
from mlsys_widgets.physics.iron_law import Capacity, IronLawTime, capacity, iron_law
from mlsys_widgets.physics.kernel_laws import Law, LawCeilings
from mlsys_widgets.physics.kernel_time import CalibratedTime, KernelTime, Waves, kernel_time, waves
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
    language_model,
    prefill,
)
from mlsys_widgets.physics.memory_hierarchy import (
    MemoryLevel,
    Transfer,
    memory_hierarchy,
    nearest_level,
    transfer,
)
from mlsys_widgets.physics.model_kernels import KernelUse, layer_kernels, model_kernels
from mlsys_widgets.physics.naive_attention import naive_attention_kernels
from mlsys_widgets.physics.operations import Op, ops
from mlsys_widgets.physics.power_law import PowerLaw
from mlsys_widgets.physics.product_laws import product_family
from mlsys_widgets.physics.products import Product, product, storages
from mlsys_widgets.physics.provenance import CatalogEntry, Provenance, Source, catalog_entry
from mlsys_widgets.physics.quantization import (
    INT8_TASK_LOSS,
    SCALE_BITS,
    ProductSpeed,
    QuantizationError,
    SharedReach,
    StoredWeights,
    UniformGrid,
    block_reach,
    crossing_rows,
    float_error,
    product_speed,
    quantization_error,
    stored_weights,
)
from mlsys_widgets.physics.queue_simulation import (
    ServedRequests,
    simulate_batches,
    simulate_closed_loop,
    simulate_queue,
)
from mlsys_widgets.physics.queueing import (
    BatchServer,
    ClosedLoop,
    FanOut,
    OneClient,
    Queue,
    SteadyQueue,
    batch_server,
    closed_loop,
    fan_out,
    highest_rate,
    one_client,
    queue,
    single_server,
)
from mlsys_widgets.physics.result import Explained, Result
from mlsys_widgets.physics.roofline import Ridge, Roofline, roofline
from mlsys_widgets.physics.row_laws import row_family
from mlsys_widgets.physics.sensitivity import Sensitivity, sensitivity
from mlsys_widgets.physics.serving_time import ServingTime, TimedUse, serving_time, time_uses
from mlsys_widgets.physics.small_kernels import SmallKernelUse, small_kernel, small_kernels
from mlsys_widgets.physics.training_step import (
    TrainedModel,
    TrainingMemory,
    TrainingTime,
    trained_models,
    training_launches,
    training_memory,
    training_time,
)
from mlsys_widgets.physics.workloads import (
    ElementwiseChain,
    Inference,
    LanguageModel,
    ModelPass,
    Service,
    Workload,
    workloads,
)
from mlsys_widgets.wording.choices import UnknownName
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import NEVER, format_quantity, parse_quantity

__all__ = [
    "BYTES_PER_ELEMENT",
    "GRAPH_NODE_OVERHEAD",
    "INT8_TASK_LOSS",
    "LAWS",
    "NEVER",
    "SCALE_BITS",
    "Attention",
    "BatchServer",
    "BreakEven",
    "CacheShare",
    "CacheUse",
    "CalibratedTime",
    "Capacity",
    "CatalogEntry",
    "Chain",
    "ClosedLoop",
    "DataCenter",
    "Deployment",
    "Derivation",
    "Device",
    "DeviceCalibration",
    "Elementwise",
    "ElementwiseChain",
    "EnergyBill",
    "Explained",
    "FanOut",
    "Footprint",
    "ForwardPass",
    "Fusion",
    "FusionVerdict",
    "Gemm",
    "Generation",
    "GraphPass",
    "Grid",
    "Inference",
    "IronLawTime",
    "KVCache",
    "Kernel",
    "KernelTime",
    "KernelUse",
    "LanguageModel",
    "Law",
    "LawCeilings",
    "MemoryLevel",
    "ModelPass",
    "NaiveAttention",
    "Numeric",
    "OneClient",
    "Op",
    "PagedShare",
    "PowerLaw",
    "Product",
    "ProductSpeed",
    "Projection",
    "Provenance",
    "Quantity",
    "QuantizationError",
    "Queue",
    "ReservedShare",
    "Result",
    "Ridge",
    "Roofline",
    "Sensitivity",
    "ServedRequests",
    "Service",
    "ServiceEnergy",
    "ServingTime",
    "SharedReach",
    "SmallKernelUse",
    "Source",
    "Speculation",
    "SteadyQueue",
    "Step",
    "StepEnergy",
    "StoredWeights",
    "TimedUse",
    "TrainedModel",
    "TrainingMemory",
    "TrainingTime",
    "Transfer",
    "UniformGrid",
    "UnknownName",
    "Waves",
    "Workload",
    "attention",
    "batch_server",
    "block_reach",
    "break_even",
    "cache_use",
    "calibrated_devices",
    "calibration_of",
    "can_fuse",
    "capacity",
    "catalog_entry",
    "chain",
    "chainable",
    "closed_loop",
    "counted",
    "crossing_rows",
    "data_centers",
    "decode",
    "deployment",
    "devices",
    "elementwise",
    "energy_bill",
    "fan_out",
    "float_error",
    "footprint",
    "format_quantity",
    "forward_pass",
    "fuse",
    "fusion_strategies",
    "gemm",
    "grids",
    "highest_rate",
    "iron_law",
    "kernel_time",
    "kv_cache",
    "language_model",
    "layer_kernels",
    "make_device",
    "memory_hierarchy",
    "model_kernels",
    "naive_attention_kernels",
    "nearest_level",
    "normalization",
    "one_client",
    "ops",
    "paged_cache",
    "parse_quantity",
    "prefill",
    "product",
    "product_family",
    "product_speed",
    "projection",
    "quantization_error",
    "queue",
    "read_calibration",
    "reserved_cache",
    "roofline",
    "row_family",
    "run",
    "sensitivity",
    "service_energy",
    "serving_time",
    "simulate_batches",
    "simulate_closed_loop",
    "simulate_queue",
    "single_server",
    "small_kernel",
    "small_kernels",
    "speculation",
    "step_energy",
    "storages",
    "stored_weights",
    "time_uses",
    "trained_models",
    "training_launches",
    "training_memory",
    "training_time",
    "transfer",
    "waves",
    "workloads",
]
