"""Memory-bound kernels: copy, triad, elementwise operations and chains, softmax and layer norm."""

from __future__ import annotations

from typing import Any

from ..recorder import Value
from .timing import Call, GpuBench


def _both(
    bench: GpuBench,
    call: Call,
    sets: int,
    kind: str,
    precision: str,
    shape: dict[str, Value],
    *,
    flops: float,
    bytes: float,
    traffic: float | None = None,
    kernels: int = 1,
    hold: int = 0,
) -> None:
    """Record a call as it is launched one by one, and as a graph replays it."""
    moved = bytes if traffic is None else traffic
    eager = bench.wall(call, hold)
    bench.recorder.add(
        kind, "eager", precision, shape, eager, flops=flops, bytes=bytes, traffic=traffic,
        kernels=kernels, throughput=moved / eager.median,
    )  # fmt: skip
    graph = bench.replay(call, sets, hold)
    bench.recorder.add(
        kind, "graph", precision, shape, graph, flops=flops, bytes=bytes, traffic=traffic,
        kernels=kernels, throughput=moved / graph.median,
    )  # fmt: skip


def copies(bench: GpuBench) -> None:
    """Copy and triad: the bandwidth of device memory."""
    torch = bench.torch
    sizes = bench.pick([1e6, 4e6, 16e6, 64e6, 256e6, 1e9, 4e9], [16e6, 256e6, 1e9], [1e5])
    for size in sizes:
        elements = int(size) // 4
        shape: dict[str, Value] = {"elements": elements, "array_bytes": elements * 4}
        with bench.recorder.attempt(f"copy of {size / 1e6:g} MB"):
            sets = bench.sets(2 * size)
            bench.fits(2 * size * sets)
            source = bench.random(sets, (elements,), torch.float32)
            target = bench.empty(sets, (elements,), torch.float32)

            def copy(i: int, source: Any = source, target: Any = target, n: int = sets) -> object:
                return target[i % n].copy_(source[i % n])

            _both(bench, copy, sets, "copy", "fp32", shape, flops=0, bytes=8 * elements)
            if not torch.equal(source[0], target[0]):
                raise RuntimeError("the copy differs from its source")
            del source, target, copy
        bench.release()
    for size in sizes[2:] or sizes:
        elements = int(size) // 4
        shape = {"elements": elements, "array_bytes": elements * 4}
        with bench.recorder.attempt(f"triad of {size / 1e6:g} MB"):
            sets = bench.sets(3 * size)
            bench.fits(3 * size * sets)
            first = bench.random(sets, (elements,), torch.float32)
            second = bench.random(sets, (elements,), torch.float32)
            result = bench.empty(sets, (elements,), torch.float32)

            def triad(
                i: int, a: Any = first, b: Any = second, c: Any = result, n: int = sets
            ) -> object:
                return torch.add(a[i % n], b[i % n], alpha=3.0, out=c[i % n])

            _both(
                bench, triad, sets, "triad", "fp32", shape,
                flops=2 * elements, bytes=12 * elements,
            )  # fmt: skip
            del first, second, result, triad
        bench.release()


def elementwise(bench: GpuBench) -> None:
    """ReLU, addition and the chain sigmoid(relu(x·w + b)) over growing sizes, fp16."""
    torch = bench.torch
    half = torch.float16
    sizes = bench.pick(
        [10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 10**9],
        [10**5, 10**7, 10**8],
        [1000],
    )
    for n in sizes:
        with bench.recorder.attempt(f"relu and add of {n:g} elements"):
            sets = bench.sets(4 * n)
            bench.fits(6 * n * sets)
            x = bench.random(sets, (n,), half)
            y = bench.random(sets, (n,), half)
            out = bench.empty(sets, (n,), half)

            def relu(i: int, x: Any = x, out: Any = out, k: int = sets) -> object:
                return torch.clamp_min(x[i % k], 0.0, out=out[i % k])

            def add(i: int, x: Any = x, y: Any = y, out: Any = out, k: int = sets) -> object:
                return torch.add(x[i % k], y[i % k], out=out[i % k])

            _both(
                bench, relu, sets, "elementwise", "fp16",
                {"operation": "relu", "elements": n, "operations": 1}, flops=n, bytes=4 * n,
            )  # fmt: skip
            _both(
                bench, add, sets, "elementwise", "fp16",
                {"operation": "add", "elements": n, "operations": 1}, flops=n, bytes=6 * n,
            )  # fmt: skip
            del x, y, out, relu, add
        bench.release()
    for n in bench.pick([10**5, 10**6, 10**7, 10**8, 10**9], [10**6], [1000]):
        with bench.recorder.attempt(f"chain of {n:g} elements"):
            _chain(bench, n)
        bench.release()


def _chain(bench: GpuBench, n: int) -> None:
    """The chain with full-size w and b: unfused 6 reads and 4 writes, fused 3 reads and 1 write."""
    torch = bench.torch
    sets = bench.sets(8 * n)
    bench.fits(12 * n * sets)
    x, w, b = (bench.random(sets, (n,), torch.float16) for _ in range(3))

    def chain(x: Any, w: Any, b: Any) -> Any:
        return torch.sigmoid(torch.relu(x * w + b))

    def eager(i: int) -> object:
        k = i % sets
        return chain(x[k], w[k], b[k])

    shape: dict[str, Value] = {"operation": "sigmoid(relu(x*w+b))", "elements": n, "operations": 4}
    _both(
        bench, eager, sets, "elementwise", "fp16", shape,
        flops=4 * n, bytes=20 * n, kernels=4, hold=2,
    )  # fmt: skip
    bench.recorder.need(10)
    torch._dynamo.reset()
    fused = torch.compile(chain, dynamic=False)

    def compiled(i: int) -> object:
        k = i % sets
        return fused(x[k], w[k], b[k])

    compiled(0)
    bench.synchronize()
    seconds = bench.wall(compiled, hold=2)
    profile = bench.profile(compiled)
    bench.recorder.add(
        "elementwise", "compiled", "fp16", shape, seconds, flops=4 * n, bytes=20 * n,
        traffic=8 * n, kernels=profile.kernels, gpu_busy=profile.busy,
        throughput=8 * n / seconds.median,
    )  # fmt: skip


def normalizations(bench: GpuBench) -> None:
    """Softmax and layer norm over rows, fp16: one kernel each."""
    torch = bench.torch
    half = torch.float16
    sizes = bench.pick(
        [(128, 768), (1024, 768), (4096, 1024), (8192, 4096), (16384, 8192), (65536, 1024),
         (2048, 32768)],
        [(1024, 768), (65536, 1024)],
        [(8, 64)],
    )  # fmt: skip
    for rows, columns in sizes:
        n = rows * columns
        shape: dict[str, Value] = {"rows": rows, "columns": columns}
        with bench.recorder.attempt(f"softmax and layer norm of {rows} x {columns}"):
            sets = bench.sets(4 * n)
            bench.fits(6 * n * sets)
            x = bench.random(sets, (rows, columns), half)
            out = bench.empty(sets, (rows, columns), half)
            weight = bench.random(1, (columns,), half)[0]
            bias = bench.random(1, (columns,), half)[0]

            def softmax(i: int, x: Any = x, out: Any = out, k: int = sets) -> object:
                return torch.softmax(x[i % k], -1, out=out[i % k])

            def layer_norm(
                i: int, x: Any = x, w: Any = weight, b: Any = bias, k: int = sets
            ) -> object:
                return torch.nn.functional.layer_norm(x[i % k], w.shape, w, b)

            counts: dict[str, Any] = {"flops": 5 * n, "bytes": 6 * n, "traffic": 4 * n}
            _both(bench, softmax, sets, "softmax", "fp16", shape, **counts)
            _both(bench, layer_norm, sets, "layernorm", "fp16", shape, hold=sets, **counts)
            del x, out, softmax, layer_norm
        bench.release()
