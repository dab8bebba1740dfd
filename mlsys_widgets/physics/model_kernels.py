"""A transformer as the kernels it runs: one layer, or a whole model, reading or writing text.

The list is that of a model as PyTorch runs it: products with the weights, attention, and the small
kernels between them. It says what runs and how often; ``serving_time`` says how long that takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal, get_args

from mlsys_widgets.physics.attention import attention
from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.product_laws import product_family
from mlsys_widgets.physics.products import product, storages
from mlsys_widgets.physics.row_laws import row_family
from mlsys_widgets.physics.small_kernels import SmallKernelUse, small_kernel, small_kernels
from mlsys_widgets.physics.workloads import LanguageModel
from mlsys_widgets.wording.choices import one_of

Phase = Literal["prefill", "decode"]
#: What kernels of a model are for; times of a pass are reported by these.
Part = Literal["products", "attention", "normalization", "small kernels", "logits"]

#: Everything between the products is computed in 16 bits, whatever the weights are stored in.
ACTIVATION_BYTES: Final = 2.0

#: Small kernels that share the law of another.
SMALL_FAMILIES: Final = {
    "residual": "elementwise",
    "gelu": "elementwise",
    "copy": "elementwise",
    "conversion to int8": "conversion",
    "conversion to fp8": "conversion",
}


@dataclass(frozen=True)
class KernelUse:
    """A kernel of a model: what it is called and for, what it does, and how often it runs.

    ``layer_kernels``, ``model_kernels`` and ``naive_attention_kernels`` list them;
    ``time_uses`` says how long they take.

    Examples
    --------
    Which kernels of a layer move the most data when one token is written?

    >>> from mlsys_widgets import physics as ph
    >>> llama = ph.language_model("llama31-8b")
    >>> uses = ph.layer_kernels(llama, "decode", batch=1, sequence=2048)
    >>> for use in sorted(uses, key=lambda use: -use.kernel.bytes)[:3]:
    ...     print(use.name, ph.format_quantity(use.kernel.bytes, "B"), use.family)
    Gate and up product 234.9 MB products
    Down product 117.5 MB products
    QKV product 50.4 MB products
    """

    name: str  #: What people call it.
    #: What it is for: ``"products"``, ``"attention"``, ``"normalization"``, ``"small kernels"`` or
    #: ``"logits"``.
    part: Part
    family: str  #: The family of a calibration that it belongs to.
    kernel: Kernel  #: What one use of it does.
    launches: float = 1.0  #: Launches of one use.
    times: float = 1.0  #: Uses in one pass.
    precision: str = "fp16"  #: Of the arithmetic.


def layer_kernels(
    model: LanguageModel,
    phase: Phase,
    batch: Numeric,
    sequence: Numeric,
    precision: str = "fp16",
    times: float = 1.0,
) -> tuple[KernelUse, ...]:
    """The kernels of one layer.

    Parameters
    ----------
    model : LanguageModel
        An entry of ``workloads``; ``language_model`` finds it by its key.
    phase : {"prefill", "decode"}
        ``"prefill"`` reads ``batch`` prompts of ``sequence`` tokens; ``"decode"`` writes one token
        for each of ``batch`` sequences, of which ``sequence`` tokens are in the cache.
    batch, sequence : float or array
        Sequences at once, and tokens in each.
    precision : str
        Of the weights and their products.
    times : float
        How many such layers run.

    Returns
    -------
    tuple of KernelUse
        In the order in which they run.

    Examples
    --------
    >>> from mlsys_widgets.physics.workloads import workloads
    >>> kernels = layer_kernels(workloads["llama31-8b"], "decode", batch=1, sequence=2048)
    >>> round(sum(use.launches for use in kernels))
    18
    """
    one_of("phase", phase, get_args(Phase))
    one_of("precision", precision, storages)
    new = sequence if phase == "prefill" else 1.0
    tokens = batch * new
    asked = model.heads * model.head_width
    kept = model.kv_heads * model.head_width

    def weights(name: str, columns: float, depth: float) -> list[KernelUse]:
        made = product(tokens, columns, depth, precision)
        family = product_family(columns, depth, precision)
        uses = [KernelUse(name, "products", family, made, 1.0, times, precision)]
        if storages[precision].activation == 1:
            uses.insert(0, small(f"conversion to {precision}", f"Conversion: {name}", depth))
        return uses

    # One object for the two norms of a layer, and one for its two residuals: each is timed once.
    @cache
    def over_tokens(kind: str, columns: float) -> SmallKernelUse:
        return small_kernel(kind, tokens, columns, ACTIVATION_BYTES)

    def small(kind: str, name: str, columns: float) -> KernelUse:
        part: Part = "normalization" if kind == "rmsnorm" else "small kernels"
        made = over_tokens(kind, columns)
        family = f"small kernels of {SMALL_FAMILIES.get(kind, kind)}"
        if part == "normalization":
            family = row_family(kind, columns, ACTIVATION_BYTES)
        return KernelUse(name, part, family, made, small_kernels[kind].launches, times)

    attending = attention(
        batch,
        model.heads,
        new,
        sequence,
        model.head_width,
        ACTIVATION_BYTES,
        kv_heads=model.kv_heads,
        causal=phase == "prefill",
    )
    family = "prompt attention" if phase == "prefill" else "cache attention"
    return (
        small("rmsnorm", "RMS norm before attention", model.width),
        *weights("QKV product", asked + 2 * kept, model.width),
        small("rotary", "Rotary embedding", (asked + kept)),
        small("cache_write", "Cache write", 2 * kept),
        KernelUse("Attention", "attention", family, attending, 1.0, times),
        *weights("Output product", model.width, asked),
        small("residual", "Residual after attention", model.width),
        small("rmsnorm", "RMS norm before feed-forward", model.width),
        *weights("Gate and up product", 2 * model.hidden, model.width),
        small("gated", "Gated activation", model.hidden),
        *weights("Down product", model.width, model.hidden),
        small("residual", "Residual after feed-forward", model.width),
    )


def model_kernels(
    model: LanguageModel, phase: Phase, batch: Numeric, sequence: Numeric, precision: str = "fp16"
) -> tuple[KernelUse, ...]:
    """The kernels of one pass of a whole model: embedding, layers, and logits of the last tokens.

    The arguments are those of ``layer_kernels``. The kernels of a layer appear once, with ``times``
    as the number of layers.

    Examples
    --------
    >>> from mlsys_widgets.physics.workloads import workloads
    >>> kernels = model_kernels(workloads["llama31-8b"], "decode", batch=1, sequence=2048)
    >>> round(sum(use.launches * use.times for use in kernels))
    579
    """
    tokens = batch * sequence if phase == "prefill" else batch
    embedded = small_kernel("embedding", tokens, model.width, ACTIVATION_BYTES)
    layers = layer_kernels(model, phase, batch, sequence, precision, times=model.layers)
    norm = next(use for use in layers if use.part == "normalization")
    logits = product(batch, model.vocabulary, model.width, "fp16")
    return (
        KernelUse("Embedding", "small kernels", "small kernels of embedding", embedded),
        *layers,
        replace(norm, name="Last RMS norm", times=1.0),
        KernelUse("Logits", "logits", "products", logits),
    )
