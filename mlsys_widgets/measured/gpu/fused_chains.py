"""LayerNorm + Dropout + ReLU and LayerNorm + ReLU: eager, compiled, and as one Triton kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..recorder import Value
from .compiling import MODES, cold_cache, compile_timed, warm_compiler
from .timing import Call, GpuBench, relative_error

DROP = 0.1
SIZES = [(1024, 768), (4096, 1024), (8192, 4096), (65536, 1024)]

Chain = Callable[[Any, Any, Any], Any]


def chain(torch: Any, dropout: bool) -> Chain:
    """Return the operations as a student would write them."""
    functional = torch.nn.functional

    def with_dropout(x: Any, w: Any, b: Any) -> Any:
        y = functional.layer_norm(x, w.shape, w, b)
        return functional.relu(functional.dropout(y, DROP, training=True))

    def without(x: Any, w: Any, b: Any) -> Any:
        return functional.relu(functional.layer_norm(x, w.shape, w, b))

    return with_dropout if dropout else without


def check(torch: Any, result: Any, x: Any, w: Any, b: Any, dropout: bool) -> float:
    """Return the relative error against float64; raises if the result is not the chain's.

    With dropout, the fraction and the scale of the kept elements must be right, the rest zero.
    """
    raw = torch.nn.functional.layer_norm(x.double(), w.shape, w.double(), b.double())
    normal, got = raw.clamp_min(0), result.double()
    if not bool(torch.isfinite(got).all()):
        raise RuntimeError("the fused kernel left elements unwritten or infinite")
    if dropout:
        clear = normal > 0.05
        kept = clear & (got != 0)
        count = int(clear.sum())
        share = float(kept.sum()) / count
        if abs(share - (1 - DROP)) > 6 * (DROP * (1 - DROP) / count) ** 0.5:
            raise RuntimeError(f"dropout kept {share:.4f} of the elements, not {1 - DROP:.4f}")
        # Values this close to zero may round to either side of it.
        if bool(got[raw < -0.01].any()):
            raise RuntimeError("dropout or ReLU let a value through that must be zero")
        error = relative_error(torch, got[kept] * (1 - DROP), normal[kept])
    else:
        error = relative_error(torch, got, normal)
    if not error < 2e-3:
        raise RuntimeError(f"the chain is wrong: relative error {error:.3g}")
    return error


def fusions(bench: GpuBench) -> None:
    """Measure every chain at every size, fused in every way."""
    torch, recorder = bench.torch, bench.recorder
    with recorder.attempt("warming the compiler"), torch.no_grad():
        recorder.need(8)
        warm_compiler(bench)
    sizes = bench.pick(SIZES, SIZES[:1] + SIZES[-1:], [(32, 64)])
    for rows, columns in sizes:
        for dropout in (True, False):
            name = "layernorm_dropout_relu" if dropout else "layernorm_relu"
            with recorder.attempt(f"{name} of {rows} x {columns}"), torch.no_grad():
                _one(bench, name, dropout, rows, columns)
        bench.release()


def _one(bench: GpuBench, name: str, dropout: bool, rows: int, columns: int) -> None:
    torch, recorder = bench.torch, bench.recorder
    n = rows * columns
    sets = bench.sets(4 * n)
    bench.fits(6 * n * sets)
    x = bench.random(sets, (rows, columns), torch.float16)
    out = bench.empty(sets, (rows, columns), torch.float16)
    w, b = (bench.random(1, (columns,), torch.float16)[0] for _ in range(2))
    operations = 3 if dropout else 2
    shape: dict[str, Value] = {
        "chain": name, "rows": rows, "columns": columns, "operations": operations,
    }  # fmt: skip
    # Counted as in the physics core: every operation reads and writes the tensor once. Eager
    # dropout also writes its mask, one byte per element.
    counts: dict[str, Any] = {"flops": (10 if dropout else 6) * n, "bytes": 4 * n * operations}
    unfused, fused = counts["bytes"] + (n if dropout else 0), 4 * n
    plain = chain(torch, dropout)

    def record(variant: str, call: Call, traffic: float, **more: Any) -> None:
        bench.warm(call, 0.1)
        seconds = bench.wall(call)
        seen = bench.profile(call)
        recorder.add(
            "fusion", variant, "fp16", shape, seconds, latency=bench.latency(call),
            traffic=traffic, kernels=seen.kernels, gpu_busy=seen.busy, **counts, **more,
        )  # fmt: skip

    def replayed(variant: str, call: Call, traffic: float, kernels: int) -> None:
        seconds = bench.replay(call, sets, hold=2)
        recorder.add(
            "fusion", variant, "fp16", shape, seconds, traffic=traffic, kernels=kernels, **counts
        )

    def eager(i: int) -> object:
        return plain(x[i % sets], w, b)

    with recorder.attempt(f"{name} {rows} x {columns} eager"):
        error = check(torch, plain(x[0], w, b), x[0], w, b, dropout)
        record("eager", eager, unfused, error=error)
        replayed("graph", eager, unfused, operations)
    with recorder.attempt(f"{name} {rows} x {columns} triton"):
        from .triton_kernels import layernorm_relu

        drop = DROP if dropout else 0.0

        def by_hand(i: int) -> object:
            return layernorm_relu(x[i % sets], w, b, out[i % sets], drop=drop, seed=i)

        out[0].fill_(float("nan"))
        by_hand(0)
        error = check(torch, out[0], x[0], w, b, dropout)
        record("triton", by_hand, fused, error=error)
        replayed("triton_graph", by_hand, fused, 1)
    for variant in MODES:
        with recorder.attempt(f"{name} {rows} x {columns} {variant}"):
            recorder.need(8)
            with cold_cache(torch):
                function, spent = compile_timed(bench, plain, variant, lambda f: f(x[0], w, b))

                def compiled(i: int, function: Any = function) -> object:
                    return function(x[i % sets], w, b)

                error = check(torch, function(x[0], w, b), x[0], w, b, dropout)
                record(variant, compiled, fused, compile_seconds=spent, error=error)
                del function, compiled
