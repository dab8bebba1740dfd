"""The small kernels of a transformer: norms, rotary embedding, gate, sums, tables and caches."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..recorder import Value
from .drawn_sizes import SEED, draw, odd
from .timing import Call, GpuBench

PATIENCE = 0.12
MOST = 1024
COLUMNS = (768, 1024, 4096, 14336)
VOCABULARY = 128256
WIDTH = 4096
# Tokens that a cache has room for, where fewer are written.
ROOM = 1024


@dataclass
class KernelInputs:
    """A call with its rotating operands, and what it counts."""

    call: Call
    sets: int
    flops: float
    bytes: float
    traffic: float | None = None
    hold: int = 0


def rotated(torch: Any, x: Any, cos: Any, sin: Any) -> Any:
    """Rotary embedding of ``[..., heads, head_width]`` in plain PyTorch: five kernels."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def gate(torch: Any, both: Any) -> Any:
    """``silu(gate) * up`` of the two halves of one tensor: two kernels."""
    half = both.shape[-1] // 2
    return torch.nn.functional.silu(both[..., :half]) * both[..., half:]


def write_cache(keys: Any, values: Any, k: Any, v: Any, positions: Any) -> None:
    """Copy ``[batch, tokens, kv_heads, head_width]`` into the caches: two kernels."""
    keys.index_copy_(2, positions, k.transpose(1, 2))
    values.index_copy_(2, positions, v.transpose(1, 2))


def _sets(bench: GpuBench, size: float) -> int:
    """Rotating sets, fewer than elsewhere: what is this small stays in the cache in a model too."""
    return min(MOST, bench.sets(size))


def _rows(bench: GpuBench, rows: int, columns: int, passes: float) -> tuple[list[Any], int]:
    size = 2 * rows * columns
    sets = _sets(bench, 2 * size)
    bench.fits(passes * size * sets)
    return bench.random(sets, (rows, columns), bench.torch.float16), sets


def _norm(bench: GpuBench, kind: str, rows: int, columns: int) -> KernelInputs:
    torch, n = bench.torch, rows * columns
    x, sets = _rows(bench, rows, columns, 3)
    w, b = bench.random(2, (columns,), torch.float16)
    functional = torch.nn.functional
    hold = sets
    if kind == "rmsnorm":

        def call(i: int) -> object:
            return functional.rms_norm(x[i % sets], (columns,), w, 1e-5)

    elif kind == "layernorm":

        def call(i: int) -> object:
            return functional.layer_norm(x[i % sets], (columns,), w, b)

    else:
        out, hold = bench.empty(sets, (rows, columns), torch.float16), 0

        def call(i: int) -> object:
            return torch.softmax(x[i % sets], -1, out=out[i % sets])

    return KernelInputs(call, sets, 5 * n, 6 * n, 4 * n, hold)


def _residual(bench: GpuBench, kind: str, rows: int, columns: int) -> KernelInputs:
    torch, n = bench.torch, rows * columns
    x, sets = _rows(bench, rows, columns, 4)
    y = bench.random(sets, (rows, columns), torch.float16)
    return KernelInputs(lambda i: x[i % sets] + y[i % sets], sets, n, 6 * n, hold=sets)


def _gated(bench: GpuBench, kind: str, rows: int, columns: int) -> KernelInputs:
    n = rows * columns
    both, sets = _rows(bench, rows, 2 * columns, 3)
    return KernelInputs(
        lambda i: gate(bench.torch, both[i % sets]), sets, 2 * n, 6 * n, 10 * n, hold=min(sets, 64)
    )


def _embedding(bench: GpuBench, kind: str, rows: int, columns: int) -> KernelInputs:
    torch, n = bench.torch, rows * columns
    vocabulary = 64 if bench.dry else VOCABULARY
    sets = _sets(bench, 4 * n)
    bench.fits(2 * vocabulary * columns + 2 * n * sets)
    table = bench.random(1, (vocabulary, columns), torch.float16)[0]
    ids = torch.randint(0, vocabulary, (sets, rows), dtype=torch.int64, device=bench.device)
    return KernelInputs(
        lambda i: torch.index_select(table, 0, ids[i % sets]), sets, 0, 4 * n + 8 * rows, hold=sets
    )


def _rotary(bench: GpuBench, tokens: int, heads: int, width: int) -> KernelInputs:
    torch, n = bench.torch, tokens * heads * width
    sets = _sets(bench, 4 * n)
    bench.fits(8 * n * sets)
    x = bench.random(sets, (tokens, heads, width), torch.float16)
    cos, sin = bench.random(2, (tokens, 1, width), torch.float16)
    # neg and cat see half and all of it, two products and a sum all of it.
    return KernelInputs(
        lambda i: rotated(torch, x[i % sets], cos, sin), sets, 3.5 * n,
        4 * n + 4 * tokens * width, 20 * n + 4 * tokens * width, hold=min(sets, 64),
    )  # fmt: skip


def _cache_write(bench: GpuBench, batch: int, tokens: int, heads: int, width: int) -> KernelInputs:
    torch, n = bench.torch, batch * tokens * heads * width
    room = max(tokens, 8 if bench.dry else ROOM)
    cache = batch * heads * room * width
    sets = 2 if 4 * cache > bench.cache else _sets(bench, 4 * cache)
    bench.fits(4 * (cache + n) * sets)
    k, v = (bench.random(sets, (batch, tokens, heads, width), torch.float16) for _ in range(2))
    keys, values = (bench.empty(sets, (batch, heads, room, width), torch.float16) for _ in range(2))
    start = (room - tokens) // 2
    positions = torch.arange(start, start + tokens, device=bench.device)

    def call(i: int) -> object:
        j = i % sets
        write_cache(keys[j], values[j], k[j], v[j], positions)
        return None

    call(0)
    if not torch.equal(keys[0][:, :, start : start + tokens], k[0].transpose(1, 2)):
        raise RuntimeError("the cache does not hold what was written to it")
    return KernelInputs(call, sets, 0, 8 * n)


ROWWISE: dict[str, Callable[[GpuBench, str, int, int], KernelInputs]] = {
    "rmsnorm": _norm, "layernorm": _norm, "softmax": _norm, "residual": _residual,
    "gated": _gated, "embedding": _embedding,
}  # fmt: skip


def row_cases() -> list[tuple[str, int, int]]:
    """Kind, rows and columns: listed ones, then drawn ones."""
    chance = random.Random(SEED + 2)
    cases = [
        ("rmsnorm", 1, 4096), ("rmsnorm", 16, 4096), ("rmsnorm", 128, 4096),
        ("rmsnorm", 2048, 4096), ("rmsnorm", 16384, 4096),
        ("layernorm", 1, 768), ("layernorm", 64, 768), ("layernorm", 8192, 768),
        ("layernorm", 8192, 1024),
        ("softmax", 32, 128), ("softmax", 1024, 1024), ("softmax", 32768, 2048),
        ("residual", 1, 768), ("residual", 1, 4096), ("residual", 1, 14336), ("residual", 2, 4096),
         ("residual", 64, 4096), ("residual", 2048, 4096),
        ("residual", 16384, 4096),
        ("gated", 1, 1024), ("gated", 1, 4096), ("gated", 1, 14336), ("gated", 2, 4096),
         ("gated", 32, 14336), ("gated", 512, 14336), ("gated", 8192, 14336),
        ("embedding", 1, 4096), ("embedding", 128, 4096), ("embedding", 8192, 4096),
    ]  # fmt: skip
    for kind, count in {
        "rmsnorm": 36, "layernorm": 32, "softmax": 40, "residual": 14, "gated": 20, "embedding": 16,
    }.items():  # fmt: skip
        for number in range(count):
            columns = odd(chance, 500, 16384) if number % 2 else chance.choice(COLUMNS)
            if kind == "embedding":
                columns = WIDTH
            rows = draw(chance, 1, min(65536.0, 5e8 / columns))
            cases.append((kind, rows, columns))
    return list(dict.fromkeys(cases))


def rotary_cases() -> list[tuple[int, int, int]]:
    """Tokens, heads and their width: listed ones, then drawn ones."""
    chance = random.Random(SEED + 3)
    listed = [(1, 40, 128), (64, 40, 128), (2048, 40, 128), (16384, 40, 128)]
    drawn = [(draw(chance, 1, 16384), chance.choice((12, 16, 40, 64)), 128) for _ in range(14)]
    return list(dict.fromkeys([*listed, *drawn]))


def write_cases() -> list[tuple[int, int, int, int]]:
    """Batch, tokens, heads and their width: one new token for many, or whole prompts."""
    chance = random.Random(SEED + 4)
    listed = [(1, 1), (16, 1), (128, 1), (256, 1), (1, 2048), (8, 1024)]
    drawn = [(draw(chance, 1, 256), 1) for _ in range(8)]
    drawn += [(draw(chance, 1, 16), draw(chance, 100, 4000)) for _ in range(8)]
    return [(batch, tokens, 8, 128) for batch, tokens in dict.fromkeys([*listed, *drawn])]


def token_kernels(bench: GpuBench) -> None:
    """Measure every kind over its sizes, replayed as a graph."""
    counted: dict[str, int | None] = {}
    quick = [("rmsnorm", 2048, 4096), ("gated", 512, 14336), ("residual", 64, 4096)]
    dry = [(kind, 3, 34) for kind in ROWWISE]
    with bench.patient(PATIENCE):
        for kind, rows, columns in bench.pick(row_cases(), quick, dry):
            with bench.recorder.attempt(f"{kind} of {rows} x {columns}"):
                shape: dict[str, Value] = {"rows": rows, "columns": columns}
                if kind == "embedding":
                    shape["vocabulary"] = 64 if bench.dry else VOCABULARY
                _record(bench, kind, shape, ROWWISE[kind](bench, kind, rows, columns), counted)
            bench.release()
        for tokens, heads, width in bench.pick(rotary_cases(), [(2048, 40, 128)], [(3, 4, 8)]):
            with bench.recorder.attempt(f"rotary of {tokens} x {heads} x {width}"):
                shape = {"tokens": tokens, "heads": heads, "head_width": width}
                _record(bench, "rotary", shape, _rotary(bench, tokens, heads, width), counted)
            bench.release()
        for case in bench.pick(write_cases(), [(16, 1, 8, 128)], [(2, 1, 2, 8), (2, 3, 2, 8)]):
            with bench.recorder.attempt(f"cache write of {' x '.join(map(str, case))}"):
                names = ("batch", "tokens", "kv_heads", "head_width")
                shape = dict(zip(names, case, strict=True))
                _record(bench, "cache_write", shape, _cache_write(bench, *case), counted)
            bench.release()


def _record(
    bench: GpuBench,
    kind: str,
    shape: dict[str, Value],
    made: KernelInputs,
    counted: dict[str, int | None],
) -> None:
    seconds = bench.replay(made.call, made.sets, made.hold)
    if kind not in counted:
        counted[kind] = bench.kernels(made.call)
    moved = made.bytes if made.traffic is None else made.traffic
    bench.recorder.add(
        kind, "graph", "fp16", shape, seconds, flops=made.flops, bytes=made.bytes,
        traffic=made.traffic, kernels=counted[kind], throughput=moved / seconds.median,
    )  # fmt: skip
