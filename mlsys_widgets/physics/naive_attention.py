"""Attention as textbooks write it: every score goes through memory, between five kernels."""

from __future__ import annotations

from mlsys_widgets.physics.model_kernels import ACTIVATION_BYTES, KernelUse
from mlsys_widgets.physics.product_laws import product_family
from mlsys_widgets.physics.products import product
from mlsys_widgets.physics.row_laws import row_family
from mlsys_widgets.physics.small_kernels import small_kernel


def naive_attention_kernels(
    batch: float,
    heads: float,
    length: float,
    head_width: float,
    precision: str = "fp16",
    *,
    causal: bool = False,
) -> tuple[KernelUse, ...]:
    """The kernels of attention that writes its scores: two products with a softmax between them.

    Parameters
    ----------
    batch, heads : float
        Sequences at once, and heads of each.
    length : float
        Tokens of a sequence; each attends to all of them.
    head_width : float
        Width of a head.
    precision : str
        Of the two products.
    causal : bool
        Whether a mask hides later tokens, which takes a kernel and saves no work.

    Returns
    -------
    tuple of KernelUse
        In the order in which they run.

    Examples
    --------
    >>> kernels = naive_attention_kernels(1, 32, 2048, 128, causal=True)
    >>> [use.name for use in kernels]
    ['Scale', 'Scores', 'Mask', 'Softmax', 'Weighted sum']
    """
    rows = batch * heads * length

    scale = small_kernel("copy", rows, head_width, ACTIVATION_BYTES)
    # One mask for all heads is read again for each, as the rotary embedding reads its angles.
    mask = small_kernel("residual", rows, length, ACTIVATION_BYTES)

    def multiply(name: str, columns: float, depth: float) -> KernelUse:
        made = product(rows, columns, depth, precision)
        family = product_family(columns, depth, precision)
        return KernelUse(name, "attention", family, made, precision=precision)

    softmax = small_kernel("softmax", rows, length, ACTIVATION_BYTES)
    family = row_family("softmax", length, ACTIVATION_BYTES)
    return (
        KernelUse("Scale", "attention", "small kernels of elementwise", scale),
        multiply("Scores", length, head_width),
        *([KernelUse("Mask", "attention", "small kernels of rotary", mask)] if causal else []),
        KernelUse("Softmax", "attention", family, softmax),
        multiply("Weighted sum", head_width, length),
    )
