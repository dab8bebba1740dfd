"""Attention over a prompt, tiled and naive, and attention of one new token over a KV cache."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..recorder import Skip, Value
from .drawn_sizes import SEED, draw, prompts
from .timing import Call, GpuBench, checked

PATIENCE = 0.12
# What PyTorch calls the kernels among which it chooses.
BACKENDS = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn"}


@dataclass(frozen=True)
class Heads:
    """Query heads, heads of keys and values, and the width of each."""

    queries: int
    keys: int
    width: int


LLAMA = Heads(32, 8, 128)
GPT2 = Heads(12, 12, 64)
MEDIUM = Heads(16, 16, 64)
UNGROUPED = Heads(32, 32, 128)
SINGLE = Heads(32, 1, 128)


@dataclass(frozen=True)
class Prompt:
    """One case of attention over a prompt."""

    batch: int
    length: int
    causal: bool
    heads: Heads = LLAMA
    form: str = "tiled"
    precision: str = "fp16"


@dataclass(frozen=True)
class CachedToken:
    """One case of attention of a new token over its cache."""

    batch: int
    keys: int
    heads: Heads = LLAMA
    precision: str = "fp16"


def prompt_cases() -> list[Prompt]:
    """List what section `attention` measures: listed lengths, then drawn ones."""
    chance = random.Random(SEED)
    listed = [
        (1, 128), (1, 512), (1, 2048), (1, 8192), (1, 32768), (4, 1024), (8, 2048), (64, 128),
        (64, 1024), (16, 4096),
    ]  # fmt: skip
    cases = [Prompt(batch, length, True) for batch, length in listed]
    for batch, length in [(1, 1024), (1, 4096), (1, 16384), (8, 512), (32, 256)]:
        cases.append(Prompt(batch, length, False))
    limits = {"shortest": 128, "batches": 64, "tokens": 65536}
    for number, (batch, length) in enumerate(prompts(chance, 26, longest=32768, **limits)):
        cases.append(Prompt(batch, length, number % 3 != 2))
    for heads, known in ((GPT2, (8, 1024)), (MEDIUM, (16, 1024)), (UNGROUPED, (1, 2048))):
        cases.append(Prompt(*known, True, heads))
        for number, (batch, length) in enumerate(prompts(chance, 6, longest=8192, **limits)):
            cases.append(Prompt(batch, length, number % 2 == 0, heads))
    for batch, length in [(1, 4096), *prompts(chance, 5, longest=8192, **limits)]:
        cases.append(Prompt(batch, length, True, precision="bf16"))
    naive = [(1, 128), (8, 256), (1, 512), (1, 1024), (8, 1024), (1, 2048), (4, 2048), (1, 8192)]
    limits = {"shortest": 128, "batches": 16, "tokens": 8192}
    naive += prompts(chance, 12, longest=4096, **limits)
    for number, (batch, length) in enumerate(naive):
        heads = GPT2 if number in (4, 9) else LLAMA
        cases.append(Prompt(batch, length, number % 2 == 0, heads, "naive"))
    return list(dict.fromkeys(cases))


def cache_cases() -> list[CachedToken]:
    """List what section `decoding` measures: listed cache lengths, then drawn ones."""
    chance = random.Random(SEED + 1)
    listed = [
        (1, 128), (1, 1024), (1, 4096), (1, 32768), (4, 2048), (8, 512), (8, 8192), (16, 1024),
        (32, 2048), (32, 20000), (64, 512), (64, 4096), (128, 1000), (128, 8192), (256, 512),
        (256, 4096), (256, 32768),
    ]  # fmt: skip
    cases = [CachedToken(batch, keys) for batch, keys in listed]

    def drawn(count: int, tokens: float, heads: Heads, precision: str = "fp16") -> None:
        for _ in range(count):
            keys = draw(chance, 128, 32768)
            batch = draw(chance, 1, max(1.0, min(256.0, tokens / keys)))
            cases.append(CachedToken(batch, keys, heads, precision))

    drawn(21, 4e6, LLAMA)
    cases += [CachedToken(batch, keys, UNGROUPED) for batch, keys in [(1, 2048), (64, 4096)]]
    drawn(3, 1e6, UNGROUPED)
    cases += [CachedToken(batch, keys, SINGLE) for batch, keys in [(1, 8192), (64, 2048)]]
    drawn(3, 4e6, SINGLE)
    drawn(6, 1e6, LLAMA, "bf16")
    return list(dict.fromkeys(cases))


def grouped(torch: Any, q: Any, keys: Any, values: Any) -> Any:
    """Attend with one query per head, the heads of a group folded into the query length."""
    batch, heads, _, width = q.shape
    folded = q.view(batch, keys.shape[1], heads // keys.shape[1], width)
    y = torch.nn.functional.scaled_dot_product_attention(folded, keys, values)
    return y.reshape(batch, heads, 1, width)


def plainly(torch: Any, q: Any, keys: Any, values: Any) -> Any:
    """Attend as PyTorch groups heads by itself."""
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q, keys, values, enable_gqa=q.shape[1] != keys.shape[1])


FORMS = {"grouped": grouped, "plain": plainly}


@dataclass(frozen=True)
class CacheAttention:
    """The way a new token attends that was found to be the fastest, and the kernels it may use."""

    form: str
    cudnn: bool

    @contextlib.contextmanager
    def chosen(self, bench: GpuBench) -> Iterator[None]:
        """Let PyTorch choose among the kernels of this way."""
        with _cudnn(bench, self.cudnn):
            yield


@contextlib.contextmanager
def _cudnn(bench: GpuBench, allowed: bool) -> Iterator[None]:
    if not bench.cuda or allowed:
        yield
        return
    switches = bench.torch.backends.cuda
    before = switches.cudnn_sdp_enabled()
    switches.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        switches.enable_cudnn_sdp(before)


def cache_attention(bench: GpuBench) -> CacheAttention:
    """Return the fastest way to attend over a cache here, tried once in a few shapes."""
    known: CacheAttention | None = bench.cache_attention
    if known is not None:
        return known
    candidates = [CacheAttention(form, cudnn) for cudnn in (True, False) for form in FORMS]
    total = dict.fromkeys(candidates, 0.0)
    shapes = bench.pick([(1, 2048), (1, 16384), (16, 2048), (128, 1024)], [(16, 2048)], [(2, 16)])
    for batch, keys in shapes:
        call, sets = _token_call(bench, CachedToken(batch, keys), candidates)
        for candidate in candidates:
            try:
                with candidate.chosen(bench), bench.patient(0.03):
                    seconds = bench.replay(call[candidate], sets).median
            except Skip:
                raise
            except Exception as problem:  # a way that does not work here is not the fastest
                bench.recorder.notes.append(f"Attention over a cache, {candidate}: {problem!r}.")
                seconds = math.inf
            total[candidate] += math.log(seconds) if seconds < math.inf else math.inf
        del call
        bench.release()
    best = min(candidates, key=lambda candidate: total[candidate])
    means = ", ".join(
        f"{c.form}{'' if c.cudnn else ' without cuDNN'}"
        f" {math.exp(total[c] / len(shapes)) * 1e6:.3g} us"
        for c in candidates
        if total[c] < math.inf
    )
    bench.recorder.notes.append(
        f"Attention over a cache, geometric mean of {len(shapes)} shapes: {means}. Taken:"
        f" {best.form}{'' if best.cudnn else ' without cuDNN'}."
    )
    bench.cache_attention = best
    return best


def _token_call(
    bench: GpuBench, case: CachedToken, ways: list[CacheAttention]
) -> tuple[dict[CacheAttention, Call], int]:
    """Return one call per way over the same rotating caches, and the number of caches."""
    torch, heads = bench.torch, case.heads
    dtype = torch.float16 if case.precision == "fp16" else torch.bfloat16
    cache = (case.batch, heads.keys, case.keys, heads.width)
    size = 4 * math.prod(cache)
    # A cache that is larger than four times the L2 rotates by itself.
    sets = 1 if size > 4 * bench.cache and not bench.dry else min(1024, bench.sets(size))
    bench.fits(size * sets * 1.1)
    q = bench.random(max(2, sets), (case.batch, heads.queries, 1, heads.width), dtype)
    k, v = (bench.random(sets, cache, dtype) for _ in range(2))

    def attend(way: CacheAttention) -> Call:
        function = FORMS[way.form]
        return lambda i: function(torch, q[i % len(q)], k[i % sets], v[i % sets])

    return {way: attend(way) for way in ways}, sets


def decoding(bench: GpuBench) -> None:
    """Measure attention of one new token over caches of many lengths."""
    way = cache_attention(bench)
    quick = [CachedToken(1, 4096), CachedToken(32, 2048)]
    dry = [CachedToken(2, 24, Heads(4, 2, 16)), CachedToken(1, 33, Heads(4, 1, 16))]
    with bench.patient(PATIENCE), way.chosen(bench):
        for case in bench.pick(cache_cases(), quick, dry):
            with bench.recorder.attempt(f"decoding {case}"):
                _decode(bench, case, way)
            bench.release()


def _decode(bench: GpuBench, case: CachedToken, way: CacheAttention) -> None:
    heads = case.heads
    calls, sets = _token_call(bench, case, [way])
    call = calls[way]
    error = None
    cached = case.batch * heads.keys * case.keys * heads.width
    if cached <= 1 << 24:
        error = _token_error(bench, case, way)
    shape: dict[str, Value] = {
        "batch": case.batch, "heads": heads.queries, "kv_heads": heads.keys, "queries": 1,
        "keys": case.keys, "head_width": heads.width, "form": way.form,
    }  # fmt: skip
    seconds = bench.replay(call, max(2, sets))
    moved = 4 * (cached + case.batch * heads.queries * heads.width)
    bench.recorder.add(
        "decode_attention", "graph", case.precision, shape, seconds,
        flops=4 * case.batch * heads.queries * case.keys * heads.width, bytes=moved,
        kernels=bench.kernels(call), throughput=moved / seconds.median, error=error,
    )  # fmt: skip


def _token_error(bench: GpuBench, case: CachedToken, way: CacheAttention) -> float:
    """Return the relative error of one call against float64; a wrong result is refused."""
    torch, heads = bench.torch, case.heads
    dtype = torch.float16 if case.precision == "fp16" else torch.bfloat16
    q = bench.random(1, (case.batch, heads.queries, 1, heads.width), dtype)[0]
    k, v = (
        bench.random(1, (case.batch, heads.keys, case.keys, heads.width), dtype)[0]
        for _ in range(2)
    )
    folded = q.double().view((case.batch, heads.keys, heads.queries // heads.keys, heads.width))
    scores = (folded @ k.double().transpose(-2, -1)) * (1 / math.sqrt(heads.width))
    reference = torch.softmax(scores, -1) @ v.double()
    result = FORMS[way.form](torch, q, k, v)
    return _checked(torch, result.view(reference.shape), reference)


def _checked(torch: Any, result: Any, reference: Any) -> float:
    return checked(torch, result, reference, 0.02, "the attention is wrong")


def attention(bench: GpuBench) -> None:
    """Measure attention over prompts: tiled as PyTorch chooses it, and naive."""
    few = Heads(4, 2, 16)
    quick = [Prompt(1, 2048, True), Prompt(4, 1024, False), Prompt(1, 1024, True, form="naive")]
    dry = [
        Prompt(2, 24, True, few), Prompt(1, 33, False, few), Prompt(2, 24, True, few, "naive"),
        Prompt(1, 33, False, few, "naive"),
    ]  # fmt: skip
    with bench.patient(PATIENCE):
        for case in bench.pick(prompt_cases(), quick, dry):
            with bench.recorder.attempt(f"attention {case}"):
                _prompt(bench, case)
            bench.release()


def naive(torch: Any, q: Any, k: Any, v: Any, mask: Any | None) -> Any:
    """Attend, writing the scores: product, mask, softmax, product.

    The heads of a group are folded into the query length, so that keys and values are read as they
    lie; the scale is applied to the queries, which are the smaller tensor.
    """
    batch, heads, length, width = q.shape
    groups = k.shape[1]
    folded = (q * (1 / math.sqrt(width))).view((batch, groups, heads // groups * length, width))
    scores = folded @ k.transpose(-2, -1)
    if mask is not None:
        scores.view((batch, heads, length, length)).add_(mask)
    return (torch.softmax(scores, -1) @ v).view((batch, heads, length, width))


def _prompt(bench: GpuBench, case: Prompt) -> None:
    torch, heads, length = bench.torch, case.heads, case.length
    dtype = torch.float16 if case.precision == "fp16" else torch.bfloat16
    many, few = case.batch * heads.queries, case.batch * heads.keys
    least = 2 * (2 * many + 2 * few) * length * heads.width
    scores = 2 * many * length**2
    sets = min(1024, bench.sets(least))
    bench.fits(least * sets + (3 * scores if case.form == "naive" else 0))
    q = bench.random(sets, (case.batch, heads.queries, length, heads.width), dtype)
    k, v = (
        bench.random(sets, (case.batch, heads.keys, length, heads.width), dtype) for _ in range(2)
    )
    mask = None
    if case.causal and (case.form == "naive" or many * length**2 <= 1 << 26):
        below = torch.full((length, length), -math.inf, dtype=dtype, device=bench.device)
        mask = torch.triu(below, 1)
    attend = torch.nn.functional.scaled_dot_product_attention
    shared = heads.queries != heads.keys

    def tiled(i: int) -> object:
        j = i % sets
        return attend(q[j], k[j], v[j], is_causal=case.causal, enable_gqa=shared)

    def written(i: int) -> object:
        j = i % sets
        return naive(torch, q[j], k[j], v[j], mask)

    call = written if case.form == "naive" else tiled
    error = None
    if many * length**2 <= 1 << 26:
        exact = naive(torch, q[0].double(), k[0].double(), v[0].double(), mask)
        error = _checked(torch, call(0), exact)
        del exact
    shape: dict[str, Value] = {
        "batch": case.batch, "heads": heads.queries, "kv_heads": heads.keys, "queries": length,
        "keys": length, "head_width": heads.width, "causal": case.causal, "form": case.form,
    }  # fmt: skip
    counted, moved = least, least
    if case.form == "naive":
        # Written by the product, read and written by the softmax, read by the second product; a
        # mask is added in a pass of its own. Scaling reads and writes the queries.
        counted += 4 * scores
        moved += (6 if case.causal else 4) * scores + 4 * many * length * heads.width
    else:
        choice = int(torch._fused_sdp_choice(
            q[0], k[0], v[0], None, 0.0, case.causal, enable_gqa=shared
        ))  # fmt: skip
        shape["backend"] = BACKENDS.get(choice, str(choice))
    seconds = bench.replay(call, sets, hold=min(sets, 64))
    flops = 4 * many * length**2 * heads.width
    bench.recorder.add(
        "attention", "graph", case.precision, shape, seconds,
        flops=flops / 2 if case.causal else flops, bytes=counted, traffic=moved,
        kernels=bench.kernels(call), throughput=case.batch * length / seconds.median, error=error,
    )  # fmt: skip
