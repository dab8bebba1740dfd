"""Products in int8, fp8 and weight-only int4, and the conversion of activations to eight bits."""

from __future__ import annotations

import random
from typing import Any

from ..recorder import Skip, Value
from .drawn_sizes import SEED, draw, some
from .gemm import WRONG, product
from .linear_products import LLAMA, drawn_weights
from .timing import GpuBench, checked

PATIENCE = 0.12
GROUP = 128
INNER_TILES = 8
ROWS = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
FEW = [1, 2, 3, 4, 7, 8, 16, 17, 32, 64, 100, 128, 256]
# The largest value of each type, to which a row's largest magnitude is scaled.
LARGEST = {"int8": 127.0, "fp8": 448.0}

Shape = tuple[str, int, int, int]


def eight_bit_cases() -> list[Shape]:
    """Precision, m, n and k, all multiples of 16; int8 products need more than 16 rows."""
    chance = random.Random(SEED + 6)
    cases: list[Shape] = []
    for precision in ("int8", "fp8"):
        least = 32 if precision == "int8" else 16
        for n, k in LLAMA:
            cases += [(precision, max(least, m), n, k) for m in some(chance, ROWS, 2)]
            cases.append((precision, draw(chance, least, 8192, 16), n, k))
        for n, k in drawn_weights(chance, 16, 16):
            cases.append((precision, draw(chance, least, 8192, 16), n, k))
    return list(dict.fromkeys(cases))


def four_bit_cases() -> list[tuple[int, int, int]]:
    """m, n and k of weight-only products; k is a multiple of the group."""
    chance = random.Random(SEED + 8)
    cases = [(m, n, k) for n, k in LLAMA for m in some(chance, FEW, 3)]
    for n, k in drawn_weights(chance, 6, GROUP):
        cases.append((draw(chance, 1, 256), n, k))
    return list(dict.fromkeys(cases))


def conversion_cases() -> list[tuple[int, int, str]]:
    """Rows, columns and the type they are converted to."""
    chance = random.Random(SEED + 9)
    cases = [
        (rows, columns, to)
        for to in LARGEST
        for rows, columns in [
            (1, 768),
            (1, 4096),
            (1, 14336),
            (128, 4096),
            (2048, 4096),
            (4096, 14336),
        ]
    ]
    for to in LARGEST:
        cases += [(draw(chance, 1, 16384), draw(chance, 700, 15000), to) for _ in range(9)]
    return cases


def quantized_products(bench: GpuBench) -> None:
    """Measure them all, replayed as a graph."""
    eight = [("int8", 128, 4096, 4096), ("fp8", 128, 4096, 4096)]
    toys = [("int8", 32, 48, 64), ("fp8", 32, 48, 64)]
    with bench.patient(PATIENCE):
        for precision, m, n, k in bench.pick(eight_bit_cases(), eight, toys):
            with bench.recorder.attempt(f"product {precision} of {m} x {n} x {k}"):
                product(bench, precision, m, n, k, linear=True)
            bench.release()
        for m, n, k in bench.pick(four_bit_cases(), [(1, 4096, 4096)], [(3, 128, 256)]):
            with bench.recorder.attempt(f"product int4 of {m} x {n} x {k}"):
                if not bench.cuda:
                    raise Skip("PyTorch has this product on a GPU only")
                _four_bit(bench, m, n, k)
            bench.release()
        conversions = bench.pick(
            conversion_cases(), [(2048, 4096, "int8")], [(3, 40, "int8"), (3, 40, "fp8")]
        )
        for rows, columns, to in conversions:
            with bench.recorder.attempt(f"conversion of {rows} x {columns} to {to}"):
                _conversion(bench, rows, columns, to)
            bench.release()


def _four_bit(bench: GpuBench, m: int, n: int, k: int) -> None:
    """A bf16 product with a weight of four bits, one scale and one zero per 128 of a row."""
    torch = bench.torch
    if n % 8 or k % GROUP:
        raise Skip(f"the packed weight wants n in multiples of 8 and k of {GROUP}")
    bf16 = torch.bfloat16
    traffic = n * k / 2 + 4 * n * k / GROUP + 2 * (m * k + m * n)
    sets = bench.sets(traffic)
    bench.fits(traffic * sets + n * k)
    pack, multiply = torch.ops.aten._convert_weight_to_int4pack, torch.ops.aten._weight_int4pack_mm
    x = bench.random(sets, (m, k), bf16)
    bytes_of = [
        torch.randint(0, 256, (n, k // 2), dtype=torch.uint8, device=bench.device)
        for _ in range(sets)
    ]
    packed = [pack(raw, INNER_TILES) for raw in bytes_of]
    raw = bytes_of[0]
    del bytes_of
    scales = torch.rand((k // GROUP, n, 2), device=bench.device).to(bf16) * 0.02

    def call(i: int) -> Any:
        return multiply(x[i % sets], packed[i % sets], GROUP, scales)

    error = None
    if n * k <= 1 << 26:
        # The high half of a byte comes first. A weight is (number - 8) times its scale, plus zero.
        numbers = torch.stack((raw >> 4, raw & 15), -1).view(n, k).to(torch.float32) - 8
        scale = scales[..., 0].t().float().repeat_interleave(GROUP, 1)
        zero = scales[..., 1].t().float().repeat_interleave(GROUP, 1)
        weight = numbers * scale + zero
        error = checked(torch, call(0), x[0].double() @ weight.double().t(), 0.1, WRONG)
        del numbers, scale, zero, weight
    shape: dict[str, Value] = {
        "m": m, "n": n, "k": k, "result": "bfloat16", "transposed": True, "group": GROUP,
    }  # fmt: skip
    bench.recorder.add(
        "gemm", "graph", "int4", shape, bench.replay(call, sets, hold=sets), flops=2 * m * n * k,
        bytes=n * k / 2 + 2 * (m * k + m * n), traffic=traffic, error=error,
    )  # fmt: skip


def converted(torch: Any, x: Any, to: str) -> tuple[Any, Any]:
    """Activations in eight bits with one scale per row, in plain PyTorch."""
    scale = x.abs().amax(-1, keepdim=True) / LARGEST[to]
    if to == "int8":
        return (x / scale).round_().to(torch.int8), scale
    return (x / scale).to(torch.float8_e4m3fn), scale


def _conversion(bench: GpuBench, rows: int, columns: int, to: str) -> None:
    torch, n = bench.torch, rows * columns
    sets = min(1024, bench.sets(3 * n))
    bench.fits(8 * n * sets)
    x = bench.random(sets, (rows, columns), torch.float16)
    number, scale = converted(torch, x[0], to)
    error = checked(torch, number.float() * scale.float(), x[0], 0.1, WRONG)

    def call(i: int) -> object:
        return converted(torch, x[i % sets], to)

    # abs and division read and write, the maximum reads, rounding reads and writes in place, the
    # cast writes one byte.
    seconds = bench.replay(call, sets, hold=min(sets, 64))
    traffic = (17 if to == "int8" else 13) * n + 8 * rows
    bench.recorder.add(
        "conversion", "graph", "fp16", {"rows": rows, "columns": columns, "to": to}, seconds,
        flops=(5 if to == "int8" else 4) * n, bytes=3 * n + 2 * rows, traffic=traffic,
        kernels=bench.kernels(call), throughput=traffic / seconds.median, error=error,
    )  # fmt: skip
