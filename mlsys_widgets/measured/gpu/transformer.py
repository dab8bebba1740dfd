"""A Llama in plain PyTorch, with random weights: what `layer` and `serving` measure.

It is written the way one writes it without a serving library: one kernel after the other, nothing
fused but attention, a static KV cache, positions in a device tensor so that a step can be captured
as a CUDA graph.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..recorder import Skip
from .attention_kernels import FORMS, CacheAttention
from .timing import GpuBench, relative_error
from .token_kernels import gate, rotated, write_cache


@dataclass(frozen=True)
class DecoderSizes:
    """The sizes of a decoder-only transformer with grouped queries and a gated MLP."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    hidden: int
    vocabulary: int

    @property
    def linear(self) -> int:
        """Weights of one layer's matrix products."""
        qkv = (self.heads + 2 * self.kv_heads) * self.head_width
        across = self.heads * self.head_width
        return self.width * (qkv + across + 3 * self.hidden)

    def weights(self, layers: int) -> int:
        """Weights of a model of so many layers, embedding and logits included."""
        return self.linear * layers + 2 * self.width * self.vocabulary

    def cached(self, layers: int) -> int:
        """Numbers that one token leaves in the cache."""
        return 2 * layers * self.kv_heads * self.head_width

    def flops(self, batch: int, tokens: int, keys: int, layers: int, logits: bool) -> float:
        """FLOP of a step: products, and attention, counted by half over a prompt.

        Examples
        --------
        >>> round(LLAMA31_8B.flops(1, 1, 2048, 32, True) / 1e9, 2)
        16.08
        """
        products = 2 * self.linear * layers * batch * tokens
        attention = 4 * layers * batch * self.heads * self.head_width * tokens * keys
        if tokens > 1:
            attention //= 2
        last = 2 * batch * self.width * self.vocabulary if logits else 0
        return float(products + attention + last)

    def verifying_flops(self, batch: int, tokens: int, keys: int, layers: int) -> float:
        """FLOP of a step of new tokens over a long cache, logits after each of them.

        Examples
        --------
        >>> one = LLAMA31_8B.flops(1, 1, 2048, 32, True)
        >>> round(LLAMA31_8B.verifying_flops(1, 8, 2048, 32) / one, 2)
        8.0
        """
        products = 2 * self.linear * layers + 2 * self.width * self.vocabulary
        # The last of them sees all keys, the one before all but one.
        seen = tokens * keys - tokens * (tokens - 1) // 2
        return float(
            products * batch * tokens + 4 * layers * batch * self.heads * self.head_width * seen
        )

    def bytes(self, batch: int, tokens: int, keys: int, layers: int, logits: bool) -> float:
        """Count the bytes of a step by the textbook: weights once, and the cache, in 16 bits."""
        weights = self.linear * layers + (self.width * self.vocabulary if logits else 0)
        return 2.0 * (weights + self.cached(layers) * batch * keys)


LLAMA31_8B = DecoderSizes(4096, 32, 32, 8, 128, 14336, 128256)
TOY = DecoderSizes(32, 2, 4, 2, 8, 48, 64)
THETA = 500000.0
#: Given a layer's number and its new queries, keys and values, ``[batch, tokens, heads, width]``,
#: keeps the keys and values and returns what the queries attend to, heads before tokens.
Memory = Callable[[int, Any, Any, Any], Any]


@dataclass
class DecoderWeights:
    """The weights of one layer, each ``[out, in]`` as `nn.Linear` stores it."""

    before: Any
    qkv: Any
    output: Any
    between: Any
    gate_up: Any
    down: Any


class PlainLlama:
    """The model, its weights and the memory of its caches.

    The caches together have room for so many ``tokens``, whatever the batch.
    """

    def __init__(
        self,
        bench: GpuBench,
        sizes: DecoderSizes,
        dtype: Any,
        *,
        layers: int,
        tokens: int,
        longest: int,
        way: CacheAttention,
    ) -> None:
        torch = bench.torch
        self.bench, self.torch, self.sizes, self.dtype, self.way = bench, torch, sizes, dtype, way
        self.room = tokens
        bench.fits(2.0 * (sizes.weights(layers) + sizes.cached(layers) * tokens))
        torch.manual_seed(15)

        def normal(*shape: int) -> Any:
            made = torch.empty(shape, dtype=dtype, device=bench.device)
            return made.normal_(0.0, shape[-1] ** -0.5)

        def ones() -> Any:
            return torch.ones(sizes.width, dtype=dtype, device=bench.device)

        across = sizes.heads * sizes.head_width
        qkv = across + 2 * sizes.kv_heads * sizes.head_width
        self.layers = [
            DecoderWeights(
                before=ones(),
                qkv=normal(qkv, sizes.width),
                output=normal(sizes.width, across),
                between=ones(),
                gate_up=normal(2 * sizes.hidden, sizes.width),
                down=normal(sizes.width, sizes.hidden),
            )
            for _ in range(layers)
        ]
        self.embedding = normal(sizes.vocabulary, sizes.width)
        self.last = ones()
        self.logits = normal(sizes.vocabulary, sizes.width)
        each = sizes.kv_heads * sizes.head_width * tokens

        def cache() -> Any:
            return torch.empty(each, dtype=dtype, device=bench.device).normal_()

        self.memory = [(cache(), cache()) for _ in range(layers)]
        half = torch.arange(0, sizes.head_width, 2, device=bench.device).float()
        angles = torch.outer(
            torch.arange(longest, device=bench.device).float(), THETA ** (-half / sizes.head_width)
        )
        angles = torch.cat((angles, angles), -1)
        self.cos, self.sin = angles.cos().to(dtype), angles.sin().to(dtype)

    def caches(self, batch: int, length: int) -> list[tuple[Any, Any]]:
        """Cut contiguous caches for every layer: ``[batch, kv_heads, length, head_width]``."""
        if batch * length > self.room:
            raise Skip(f"{batch} x {length} tokens, and the cache has room for {self.room}")
        sizes = self.sizes
        shape = (batch, sizes.kv_heads, length, sizes.head_width)
        count = batch * length * sizes.kv_heads * sizes.head_width
        return [(k[:count].view(shape), v[:count].view(shape)) for k, v in self.memory]

    def turned(self, positions: Any) -> tuple[Any, Any]:
        """Cosines and sines of the positions, once per step."""
        select = self.torch.index_select
        return (
            select(self.cos, 0, positions).unsqueeze(1),
            select(self.sin, 0, positions).unsqueeze(1),
        )

    def layer(self, number: int, x: Any, turn: tuple[Any, Any], memory: Memory) -> Any:
        """Run one layer over ``[batch, tokens, width]``; its keys and values go to the memory."""
        sizes, weights = self.sizes, self.layers[number]
        functional = self.torch.nn.functional
        batch, tokens, _ = x.shape
        heads, groups, width = sizes.heads, sizes.kv_heads, sizes.head_width
        y = functional.rms_norm(x, (sizes.width,), weights.before, 1e-5)
        qkv = functional.linear(y, weights.qkv).view(batch, tokens, heads + 2 * groups, width)
        both = rotated(self.torch, qkv[:, :, : heads + groups], *turn)
        y = memory(number, both[:, :, :heads], both[:, :, heads:], qkv[:, :, heads + groups :])
        x = x + functional.linear(y.transpose(1, 2).reshape(batch, tokens, -1), weights.output)
        y = functional.rms_norm(x, (sizes.width,), weights.between, 1e-5)
        y = gate(self.torch, functional.linear(y, weights.gate_up))
        return x + functional.linear(y, weights.down)

    def static(self, positions: Any, caches: list[tuple[Any, Any]]) -> Memory:
        """Keep tokens in static caches; a prompt attends to itself, one new token to all of it."""
        torch = self.torch

        def memory(number: int, q: Any, k: Any, v: Any) -> Any:
            write_cache(*caches[number], k, v, positions)
            if q.shape[1] == 1:
                return FORMS[self.way.form](torch, q[:, 0].unsqueeze(2), *caches[number])
            return torch.nn.functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                is_causal=True, enable_gqa=q.shape[2] != k.shape[2],
            )  # fmt: skip

        return memory

    def step(self, ids: Any, positions: Any, caches: list[tuple[Any, Any]]) -> Any:
        """Logits of the token that follows ``[batch, tokens]`` ids, which go to static caches."""
        return self.logits_after(ids, self.turned(positions), self.static(positions, caches))

    def logits_after(self, ids: Any, turn: tuple[Any, Any], memory: Memory, last: int = 1) -> Any:
        """Logits after each of the last tokens of ``[batch, tokens]`` ids."""
        functional = self.torch.nn.functional
        x = functional.embedding(ids, self.embedding)
        for number in range(len(self.layers)):
            x = self.layer(number, x, turn, memory)
        x = x[:, -1] if last == 1 else x[:, -last:]
        x = functional.rms_norm(x, (self.sizes.width,), self.last, 1e-5)
        return functional.linear(x, self.logits)

    def places(self, phase: str, length: int) -> Any:
        """Return the positions of a step's tokens: all of a prompt, or the last of a cache."""
        start = 0 if phase == "prefill" else length - 1
        return self.torch.arange(start, length, device=self.bench.device)

    @contextlib.contextmanager
    def kernels(self, phase: str) -> Iterator[None]:
        """Let PyTorch choose among the attention kernels of a phase."""
        if phase == "prefill":
            yield
            return
        with self.way.chosen(self.bench):
            yield

    def check(self, batch: int = 2, length: int = 21) -> float:
        """Refuse a model whose new token is not what reading the whole prompt gives."""
        torch = self.torch
        ids = torch.randint(0, self.sizes.vocabulary, (batch, length), device=self.bench.device)
        caches = self.caches(batch, length)
        whole = self.step(ids, self.places("prefill", length), caches).clone()
        for keys, values in caches:  # what the new token has to write
            keys[:, :, -1].zero_()
            values[:, :, -1].zero_()
        with self.kernels("decode"):
            new = self.step(ids[:, -1:], self.places("decode", length), caches)
        error = relative_error(torch, new, whole)
        if not error < 0.15:  # 32 layers of bf16 rounding leave a few hundredths
            raise RuntimeError(f"decoding differs from reading the prompt: error {error:.3g}")
        return error
