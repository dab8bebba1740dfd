"""Verifying guessed tokens: several new tokens per sequence in one step, against one at a time.

In speculative decoding a small model guesses the next tokens and the large one reads all of them
in one step, which says how many were right. What such a step costs beside a plain one decides
whether guessing pays. Here only the large model's steps are timed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

from ..recorder import Value
from .llama_steps import PATIENCE, build, step_call
from .timing import Call, GpuBench, checked
from .token_kernels import write_cache
from .transformer import PlainLlama

SEQUENCE = 2048
TOKENS = (1, 2, 4, 8)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)

#: Attention of a few new tokens over a cache that already holds them: queries
#: ``[batch, heads, tokens, width]``, and a tensor that is minus infinity where they may not look.
Attend = Callable[[Any, Any, Any, Any, Any], Any]


def masked(torch: Any, q: Any, keys: Any, values: Any, mask: Any) -> Any:
    """Attend with a mask, the heads of a group folded into the query length."""
    batch, heads, tokens, width = q.shape
    groups = keys.shape[1]
    folded = q.reshape(batch, groups, heads // groups * tokens, width)
    y = torch.nn.functional.scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
    return y.reshape(batch, heads, tokens, width)


def lower_right(torch: Any, q: Any, keys: Any, values: Any, mask: Any) -> Any:
    """Attend as PyTorch does where the last query may see all keys, the one before all but one."""
    biases: Any = importlib.import_module("torch.nn.attention.bias")
    bias = biases.causal_lower_right(q.shape[2], keys.shape[2])
    return torch.nn.functional.scaled_dot_product_attention(
        q, keys, values, attn_mask=bias, enable_gqa=q.shape[1] != keys.shape[1]
    )


WAYS: dict[str, Attend] = {"masked": masked, "lower_right": lower_right}


def verifying(
    model: PlainLlama, batch: int, tokens: int, sequence: int, attend: Attend, ids: Any = None
) -> Call:
    """Return a step that reads the last tokens of sequences whose cache holds all others.

    Its result is the logits after each of them.
    """
    torch, bench, sizes = model.torch, model.bench, model.sizes
    positions = torch.arange(sequence - tokens, sequence, device=bench.device)
    caches = model.caches(batch, sequence)
    if ids is None:
        ids = torch.randint(0, sizes.vocabulary, (batch, tokens), device=bench.device)
    hidden = torch.full((tokens, sequence), -math.inf, dtype=model.dtype, device=bench.device)
    mask = torch.triu(hidden, sequence - tokens + 1)
    mask = torch.cat([mask] * (sizes.heads // sizes.kv_heads), 0)

    def memory(number: int, q: Any, k: Any, v: Any) -> Any:
        write_cache(*caches[number], k, v, positions)
        return attend(torch, q.transpose(1, 2), *caches[number], mask)

    return lambda i: model.logits_after(ids, model.turned(positions), memory, last=tokens)


def agreement(model: PlainLlama, tokens: int, attend: Attend) -> float:
    """Refuse a way whose logits are not those of reading whole prompts; return their error."""
    torch, batch, length = model.torch, 2, 24
    ids = torch.randint(0, model.sizes.vocabulary, (batch, length), device=model.bench.device)
    caches, places = model.caches(batch, length), model.places("prefill", length)
    memory = model.static(places, caches)
    whole = model.logits_after(ids, model.turned(places), memory, last=tokens).clone()
    for keys, values in caches:  # what the new tokens have to write
        keys[:, :, -tokens:].zero_()
        values[:, :, -tokens:].zero_()
    new = verifying(model, batch, tokens, length, attend, ids[:, -tokens:])(0)
    # 32 layers of rounding leave a few hundredths, as in PlainLlama.check
    return checked(torch, new, whole, 0.15, "verifying differs from reading the prompt")


def speculation(bench: GpuBench) -> None:
    """Measure steps of one and of several new tokens per sequence."""
    sequence = 16 if bench.dry else SEQUENCE
    batches = bench.pick(BATCHES, (1, 32), (2,))
    counts = bench.pick(TOKENS, (1, 8), (1, 2))
    with bench.torch.inference_mode(), bench.patient(PATIENCE):
        model = build(bench, [("decode", max(batches), sequence)], "fp16")
        ways = _agreeing(model, counts)
        for batch in batches:
            for tokens in counts:
                with bench.recorder.attempt(f"{tokens} tokens for each of {batch}"):
                    _record(bench, model, ways, batch, tokens, sequence)
                bench.release()
        del model
    bench.release()


def _agreeing(model: PlainLlama, counts: list[int]) -> dict[str, Attend]:
    """Return the ways to attend that work here and are right."""
    found = {}
    for name, attend in WAYS.items():
        with model.bench.recorder.attempt(f"verifying, {name}"):
            worst = max(agreement(model, tokens, attend) for tokens in counts if tokens > 1)
            model.bench.recorder.notes.append(
                f"Section speculation, {name}: several tokens decoded over the cache against the"
                f" same tokens read with their prompt, relative error of the logits {worst:.2g}."
            )
            found[name] = attend
    return found


def _record(
    bench: GpuBench,
    model: PlainLlama,
    ways: dict[str, Attend],
    batch: int,
    tokens: int,
    sequence: int,
) -> None:
    if tokens == 1:
        calls = {model.way.form: step_call(bench, model, "decode", batch, sequence)}
    else:
        calls = {
            name: verifying(model, batch, tokens, sequence, attend) for name, attend in ways.items()
        }
    timed = []
    for form, call in calls.items():
        again = bench.capture(call, 1, hold=1)
        wall, enqueue = bench.steps(lambda i, again=again: again())  # type: ignore[misc]
        timed.append((wall.median, form, wall, enqueue, again))
    _, form, wall, enqueue, again = min(timed, key=lambda each: each[0])
    seen = bench.profile(lambda i: again(), 1)
    shape: dict[str, Value] = {
        "model": "llama31-8b", "batch": batch, "sequence": sequence, "tokens": tokens, "form": form,
    }  # fmt: skip
    sizes, layers = model.sizes, len(model.layers)
    bench.recorder.add(
        "verification", "graph", "fp16", shape, wall, enqueue=enqueue, kernels=seen.kernels,
        gpu_busy=seen.busy, throughput=batch * tokens / wall.median,
        flops=sizes.verifying_flops(batch, tokens, sequence, layers),
        bytes=sizes.bytes(batch, tokens, sequence, layers, True),
    )  # fmt: skip
