"""Attention of one new token per sequence, where every sequence has its own length.

Keys and values of all sequences lie in one memory, ``[tokens, kv_heads, width]``; a row of the
batch says at which token its sequence starts and how many it has so far. Both are tensors of the
device, so that one recorded graph serves every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..recorder import Skip

try:
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    triton = None


@dataclass(frozen=True)
class RaggedRows:
    """What the rows of a batch look at: first token and length of each, and the longest allowed."""

    starts: Any
    lengths: Any
    longest: int


#: Queries ``[batch, heads, width]``, keys, values, rows; returns ``[batch, heads, width]``.
RaggedAttention = Callable[[Any, Any, Any, Any, RaggedRows], Any]


def flash(torch: Any, q: Any, keys: Any, values: Any, rows: RaggedRows) -> Any:
    """Attend by PyTorch's kernel for sequences of different lengths, which starts where told."""
    batch = q.shape[0]
    queries = torch.arange(batch + 1, dtype=torch.int32, device=q.device)
    starts = torch.nn.functional.pad(rows.starts.to(torch.int32), (0, 1))
    return torch.ops.aten._flash_attention_forward(
        q, keys, values, queries, starts, 1, rows.longest, 0.0, False, False,
        seqused_k=rows.lengths.to(torch.int32),
    )[0]  # fmt: skip


def gathered(torch: Any, q: Any, keys: Any, values: Any, rows: RaggedRows) -> Any:
    """Attend over copies as long as the longest sequence may be: right everywhere, and slow."""
    batch, heads, width = q.shape
    groups = keys.shape[1]
    places = torch.arange(rows.longest, device=keys.device).unsqueeze(0)
    seen = places < rows.lengths.unsqueeze(1)
    index = torch.where(seen, rows.starts.unsqueeze(1) + places, rows.starts.unsqueeze(1))
    k, v = (each[index].transpose(1, 2).double() for each in (keys, values))
    folded = q.double().view((batch, groups, heads // groups, width))
    scores = folded @ k.transpose(-2, -1) * (1 / math.sqrt(width))
    hidden = torch.where(seen, 0.0, -math.inf).unsqueeze(1).unsqueeze(1)
    y = torch.softmax(scores + hidden, -1) @ v
    return y.view((batch, heads, width)).to(q.dtype)


if triton is not None:

    @triton.jit  # type: ignore[misc, untyped-decorator, unused-ignore]
    def _pieces(  # type: ignore[no-untyped-def]
        queries,
        keys,
        values,
        starts,
        lengths,
        sums,
        tops,
        results,
        scale,
        HEADS: tl.constexpr,
        GROUPS: tl.constexpr,
        WIDTH: tl.constexpr,
        SHARE: tl.constexpr,
        BLOCK: tl.constexpr,
        PIECES: tl.constexpr,
    ):
        # One program: the query heads of one group of one row, over one piece of its tokens.
        row, group, piece = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        length = tl.load(lengths + row).to(tl.int32)
        start = tl.load(starts + row).to(tl.int64)
        each = tl.cdiv(tl.cdiv(length, PIECES), BLOCK) * BLOCK
        low = piece * each
        high = tl.minimum(low + each, length)
        head = tl.arange(0, 16)
        lane = tl.arange(0, WIDTH)
        token = tl.arange(0, BLOCK)
        real = head < SHARE
        mine = group * SHARE + head
        q = tl.load(
            queries + (row * HEADS + mine[:, None]) * WIDTH + lane[None, :],
            mask=real[:, None],
            other=0.0,
        )
        top = tl.full([16], float("-inf"), tl.float32)
        total = tl.zeros([16], tl.float32)
        result = tl.zeros([16, WIDTH], tl.float32)
        for first in range(low, high, BLOCK):
            inside = first + token < high
            place = ((start + first + token) * GROUPS + group) * WIDTH
            k = tl.load(keys + place[:, None] + lane[None, :], mask=inside[:, None], other=0.0)
            scores = tl.dot(q, tl.trans(k)) * scale
            scores = tl.where(inside[None, :], scores, float("-inf"))
            higher = tl.maximum(top, tl.max(scores, 1))
            shrink = tl.exp(top - higher)
            weight = tl.exp(scores - higher[:, None])
            v = tl.load(values + place[:, None] + lane[None, :], mask=inside[:, None], other=0.0)
            result = result * shrink[:, None] + tl.dot(weight.to(v.dtype), v)
            total = total * shrink + tl.sum(weight, 1)
            top = higher
        place = (row * HEADS + mine) * PIECES + piece
        tl.store(sums + place, total, mask=real)
        tl.store(tops + place, top, mask=real)
        tl.store(results + place[:, None] * WIDTH + lane[None, :], result, mask=real[:, None])

    @triton.jit  # type: ignore[misc, untyped-decorator, unused-ignore]
    def _joined(  # type: ignore[no-untyped-def]
        sums,
        tops,
        results,
        target,
        WIDTH: tl.constexpr,
        PIECES: tl.constexpr,
    ):
        # One program: one query head of one row. A piece without tokens has a sum of nothing.
        head = tl.program_id(0)
        piece = tl.arange(0, PIECES)
        lane = tl.arange(0, WIDTH)
        top = tl.load(tops + head * PIECES + piece)
        total = tl.load(sums + head * PIECES + piece)
        weight = tl.where(total > 0, tl.exp(top - tl.max(top, 0)), 0.0)
        parts = tl.load(results + (head * PIECES + piece[:, None]) * WIDTH + lane[None, :])
        result = tl.sum(parts * weight[:, None], 0) / tl.sum(total * weight, 0)
        tl.store(target + head * WIDTH + lane, result.to(target.dtype.element_ty))


#: Pieces of a row's tokens that work side by side, and tokens read at a time.
PIECES, BLOCK = 8, 64


def pieces(torch: Any, q: Any, keys: Any, values: Any, rows: RaggedRows) -> Any:
    """Attend by a kernel of our own: pieces of each sequence side by side, then joined."""
    if triton is None:
        raise Skip("Triton is not installed")
    batch, heads, width = q.shape
    groups = keys.shape[1]
    q = q.contiguous()

    def room(*shape: int) -> Any:
        return torch.empty(shape, dtype=torch.float32, device=q.device)

    sums, tops = room(batch, heads, PIECES), room(batch, heads, PIECES)
    results, out = room(batch, heads, PIECES, width), torch.empty_like(q)
    _pieces[(batch, groups, PIECES)](
        q, keys, values, rows.starts, rows.lengths, sums, tops, results, width**-0.5,
        HEADS=heads, GROUPS=groups, WIDTH=width, SHARE=heads // groups, BLOCK=BLOCK, PIECES=PIECES,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    _joined[(batch * heads,)](sums, tops, results, out, WIDTH=width, PIECES=PIECES, num_warps=4)
    return out


#: Fast ways, in the order in which they are tried; what is right and fastest is taken.
WAYS: dict[str, RaggedAttention] = {"flash": flash, "pieces": pieces}
