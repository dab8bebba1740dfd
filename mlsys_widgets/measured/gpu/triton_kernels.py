"""LayerNorm, Dropout and ReLU as one hand-written Triton kernel: one read, one write per element.

Importable everywhere; the kernel exists only where Triton is installed.
"""

from typing import Any

from ..recorder import Skip

try:
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    triton = None

if triton is not None:

    @triton.jit(do_not_specialize=["seed"])  # type: ignore[misc, untyped-decorator, unused-ignore]
    def _rows(  # type: ignore[no-untyped-def]
        source,
        weight,
        bias,
        target,
        seed,
        drop,
        epsilon,
        columns,
        PIECE: tl.constexpr,
        DROPOUT: tl.constexpr,
    ):
        # A row is held as four pieces, because one draw of the generator gives four numbers.
        row = tl.program_id(0).to(tl.int64)
        lane = tl.arange(0, PIECE)
        in0 = lane < columns
        in1 = lane + PIECE < columns
        in2 = lane + 2 * PIECE < columns
        in3 = lane + 3 * PIECE < columns
        start = source + row * columns + lane
        x0 = tl.load(start, mask=in0, other=0.0).to(tl.float32)
        x1 = tl.load(start + PIECE, mask=in1, other=0.0).to(tl.float32)
        x2 = tl.load(start + 2 * PIECE, mask=in2, other=0.0).to(tl.float32)
        x3 = tl.load(start + 3 * PIECE, mask=in3, other=0.0).to(tl.float32)
        mean = tl.sum(x0 + x1 + x2 + x3, axis=0) / columns
        x0 = tl.where(in0, x0 - mean, 0.0)
        x1 = tl.where(in1, x1 - mean, 0.0)
        x2 = tl.where(in2, x2 - mean, 0.0)
        x3 = tl.where(in3, x3 - mean, 0.0)
        variance = tl.sum(x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3, axis=0) / columns
        scale = 1.0 / tl.sqrt(variance + epsilon)
        w = weight + lane
        b = bias + lane
        w0 = tl.load(w, mask=in0, other=0.0).to(tl.float32)
        w1 = tl.load(w + PIECE, mask=in1, other=0.0).to(tl.float32)
        w2 = tl.load(w + 2 * PIECE, mask=in2, other=0.0).to(tl.float32)
        w3 = tl.load(w + 3 * PIECE, mask=in3, other=0.0).to(tl.float32)
        b0 = tl.load(b, mask=in0, other=0.0).to(tl.float32)
        b1 = tl.load(b + PIECE, mask=in1, other=0.0).to(tl.float32)
        b2 = tl.load(b + 2 * PIECE, mask=in2, other=0.0).to(tl.float32)
        b3 = tl.load(b + 3 * PIECE, mask=in3, other=0.0).to(tl.float32)
        y0 = tl.maximum(x0 * scale * w0 + b0, 0.0)
        y1 = tl.maximum(x1 * scale * w1 + b1, 0.0)
        y2 = tl.maximum(x2 * scale * w2 + b2, 0.0)
        y3 = tl.maximum(x3 * scale * w3 + b3, 0.0)
        if DROPOUT:
            r0, r1, r2, r3 = tl.rand4x(seed, (row * PIECE + lane).to(tl.int32))
            kept = 1.0 / (1.0 - drop)
            y0 = tl.where(r0 >= drop, y0 * kept, 0.0)
            y1 = tl.where(r1 >= drop, y1 * kept, 0.0)
            y2 = tl.where(r2 >= drop, y2 * kept, 0.0)
            y3 = tl.where(r3 >= drop, y3 * kept, 0.0)
        end = target + row * columns + lane
        tl.store(end, y0.to(target.dtype.element_ty), mask=in0)
        tl.store(end + PIECE, y1.to(target.dtype.element_ty), mask=in1)
        tl.store(end + 2 * PIECE, y2.to(target.dtype.element_ty), mask=in2)
        tl.store(end + 3 * PIECE, y3.to(target.dtype.element_ty), mask=in3)


def layernorm_relu(
    x: Any, weight: Any, bias: Any, out: Any, *, drop: float = 0.0, seed: int = 0
) -> Any:
    """ReLU(Dropout(LayerNorm(x))) over the rows of a matrix, written to `out`."""
    if triton is None:
        raise Skip("Triton is not installed")
    rows, columns = x.shape
    # Four pieces of a power of two; 768 columns are four times 192, held in four times 256.
    piece = max(16, triton.next_power_of_2(triton.cdiv(columns, 4)))
    warps = min(16, max(2, piece // 256))  # few enough threads for wide loads
    _rows[(rows,)](
        x, weight, bias, out, seed, drop, 1e-5, columns,
        PIECE=piece, DROPOUT=drop > 0, num_warps=warps,
    )  # fmt: skip
    return out
