"""The small kernels of a language model on a CPU: norms, softmax, rotary, gate, sum, embedding.

numpy runs them in one thread, several operations each, so they are bound by memory and, if the
arrays are small, by the cost of a call.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np

from ..recorder import Value
from . import float64_references as plain
from . import numpy_kernels as nk
from .drawn_cases import DTYPE, SEED, log_uniform, operands, record
from .timing import Array, Call, CpuBench

#: Elements of one array, 32 MB.
MOST_ELEMENTS = 1 << 23
COLUMNS = (64, 257, 512, 768, 1000, 1408, 2048, 4096)
VOCABULARY = 32_000

Kernel = Callable[[Array, Array], Array]
Count = Callable[[int, int], nk.KernelWork]


def kernel_sizes(quick: bool) -> list[tuple[int, int]]:
    """Return the rows and columns of the small kernels."""
    if quick:
        return [(501, 512)]
    found = [(1, 512), (16, 512), (256, 512), (2048, 512), (1024, 4096)]
    chance = random.Random(SEED)
    while len(found) < 17:
        columns = chance.choice(COLUMNS) if len(found) % 2 else log_uniform(chance, 32, 4096)
        size = (log_uniform(chance, 1, min(65536, MOST_ELEMENTS // columns)), columns)
        if size not in found:
            found.append(size)
    return found


def kernels(bench: CpuBench) -> None:
    """Norms, softmax, rotary embedding, gated activation, residual addition and embedding."""
    bench.fill(DTYPE, -1.0, 1.0)
    for rows, columns in kernel_sizes(bench.quick):
        for kind, measure in _BY_ROWS.items():
            with bench.recorder.attempt(f"{kind} of {rows} x {columns}"):
                measure(bench, kind, rows, columns)
        # The same number of elements, as heads.
        width = max(2, min(128, columns // 8 * 2))
        heads = max(1, columns // width)
        with bench.recorder.attempt(f"rotary of {rows} tokens, {heads} heads of {width}"):
            _rotary(bench, rows, heads, width)


def _sample(rows: int) -> slice:
    """At most about 64 rows, the first among them: enough to check a kernel by."""
    return slice(None, None, max(1, rows // 64))


def _small(
    bench: CpuBench,
    kind: str,
    shape: Mapping[str, Value],
    call: Call,
    work: nk.KernelWork,
    error: float,
) -> None:
    """Record a kernel that numpy runs in one thread, with the bytes that it moves per second."""
    record(bench, kind, shape, call, work, threads=1, error=error, rate=work.traffic)


def _rowwise(bench: CpuBench, kind: str, rows: int, columns: int) -> None:
    """RMS norm, layer norm, softmax or gated activation, which reads two halves of a row."""
    wide = 2 * columns if kind == "gated" else columns
    ready = operands(bench, [(rows, wide)], [(rows, columns)])
    gain, bias = np.ones(columns, dtype=DTYPE), np.zeros(columns, dtype=DTYPE)
    choices: dict[str, tuple[Kernel, Callable[[Array], Array], Count]] = {
        "rmsnorm": (
            lambda x, out: nk.rms_norm(x, gain, out), plain.plain_rms_norm, nk.rms_norm_work,
        ),
        "layernorm": (
            lambda x, out: nk.layer_norm(x, gain, bias, out), plain.plain_layer_norm,
            nk.layer_norm_work,
        ),
        "softmax": (nk.softmax, plain.plain_softmax, nk.softmax_work),
        "gated": (nk.gated, plain.plain_gated, nk.gated_work),
    }  # fmt: skip
    kernel, reference, work = choices[kind]

    def call(i: int) -> Array:
        x, out = ready[i % len(ready)]
        return kernel(x, out)

    some = _sample(rows)
    error = plain.relative_difference(call(0)[some], reference(ready[0][0][some]))
    _small(bench, kind, {"rows": rows, "columns": columns}, call, work(rows, columns), error)


def _rotary(bench: CpuBench, tokens: int, heads: int, width: int) -> None:
    shape = (tokens, heads, width)
    ready = operands(bench, [shape], [shape])
    positions = np.arange(tokens)
    tables = nk.rotary_tables(positions, width)
    turned = np.empty((tokens, heads, width // 2), dtype=DTYPE)

    def call(i: int) -> Array:
        x, out = ready[i % len(ready)]
        return nk.rotary(x, *tables, turned, out)

    some = _sample(tokens)
    wanted = plain.plain_rotary(ready[0][0][some], positions[some])
    error = plain.relative_difference(call(0)[some], wanted)
    sizes: dict[str, Value] = {"tokens": tokens, "heads": heads, "head_width": width}
    _small(bench, "rotary", sizes, call, nk.rotary_work(*shape), error)


def _residual(bench: CpuBench, kind: str, rows: int, columns: int) -> None:
    ready = operands(bench, [(rows, columns)] * 2, [(rows, columns)])

    def call(i: int) -> Array:
        x, y, out = ready[i % len(ready)]
        return np.add(x, y, out=out)

    x, y, _ = ready[0]
    error = plain.relative_difference(call(0), x.astype(float) + y)
    sizes: dict[str, Value] = {"rows": rows, "columns": columns}
    _small(bench, kind, sizes, call, nk.residual_work(rows, columns), error)


def _embedding(bench: CpuBench, kind: str, rows: int, columns: int) -> None:
    vocabulary = min(VOCABULARY, 2 * MOST_ELEMENTS // columns)
    ready = operands(bench, [(vocabulary, columns)], [(rows, columns)])
    chance = np.random.default_rng(SEED)
    # Other words in each call, or the rows of a small arena would wait in a cache.
    words = [chance.integers(0, vocabulary, rows) for _ in range(16)]

    def call(i: int) -> Array:
        table, out = ready[i % len(ready)]
        return nk.embedding(table, words[i % len(words)], out)

    error = plain.relative_difference(call(0), ready[0][0][words[0]].astype(float))
    sizes: dict[str, Value] = {"rows": rows, "columns": columns, "vocabulary": vocabulary}
    _small(bench, kind, sizes, call, nk.embedding_work(rows, columns), error)


_BY_ROWS: dict[str, Callable[[CpuBench, str, int, int], None]] = {
    "rmsnorm": _rowwise,
    "layernorm": _rowwise,
    "softmax": _rowwise,
    "gated": _rowwise,
    "residual": _residual,
    "embedding": _embedding,
}
