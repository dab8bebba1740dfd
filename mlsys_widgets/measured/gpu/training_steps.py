"""Training steps of GPT-2 in plain PyTorch, pure bf16, with their memory by kind."""

from __future__ import annotations

import gc
import random
from dataclasses import dataclass
from typing import Any

from ..recorder import Value
from .drawn_sizes import SEED, draw
from .models import gpt2_layer
from .timing import GpuBench

PATIENCE = 0.2


@dataclass(frozen=True)
class GptSizes:
    """The sizes of a GPT-2."""

    width: int
    layers: int
    heads: int
    vocabulary: int = 50257
    positions: int = 1024

    @property
    def linear(self) -> int:
        """Weights of the matrix products, logits included."""
        return 12 * self.width**2 * self.layers + self.width * self.vocabulary

    def flops(self, batch: int, sequence: int) -> float:
        """FLOP of a step: forward, and twice as many backward; causal attention by half.

        Examples
        --------
        >>> round(GPTS["gpt2"].flops(1, 1024) / 1e12, 3)
        0.817
        """
        tokens = batch * sequence
        attention = 2 * self.layers * tokens * sequence * self.width
        return 3.0 * (2 * self.linear * tokens + attention)


GPTS = {"gpt2": GptSizes(768, 12, 12), "gpt2-medium": GptSizes(1024, 24, 16)}
TOY = GptSizes(32, 2, 2, 97, 32)


def training_cases() -> list[tuple[str, int, int]]:
    """Model, batch and sequence: listed ones, then drawn ones."""
    chance = random.Random(SEED + 10)
    cases = [
        ("gpt2", 1, 128), ("gpt2", 1, 1024), ("gpt2", 4, 1024), ("gpt2", 8, 512),
        ("gpt2", 16, 1024), ("gpt2", 32, 1024), ("gpt2-medium", 1, 1024), ("gpt2-medium", 8, 1024),
    ]  # fmt: skip
    for name in ("gpt2", "gpt2", "gpt2", "gpt2-medium", "gpt2-medium"):
        cases.append((name, draw(chance, 1, 32), draw(chance, 128, 1024)))
    return list(dict.fromkeys(cases))


def gpt(torch: Any, sizes: GptSizes) -> Any:
    """Build a GPT-2 without dropout, its embedding tied to its logits; it returns the loss."""
    nn, functional = torch.nn, torch.nn.functional
    width = sizes.width

    class Gpt(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(sizes.vocabulary, width)
            self.positions = nn.Embedding(sizes.positions, width)
            self.blocks = nn.ModuleList(
                [gpt2_layer(torch, width, sizes.heads) for _ in range(sizes.layers)]
            )
            self.last = nn.LayerNorm(width)
            nn.init.normal_(self.tokens.weight, 0.0, 0.02)
            nn.init.normal_(self.positions.weight, 0.0, 0.02)

        def forward(self, ids: Any, targets: Any) -> Any:
            x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
            for block in self.blocks:
                x = block(x)
            logits = functional.linear(self.last(x), self.tokens.weight)
            return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return Gpt()


class Trainer:
    """A model, its optimizer and its data; each call is a step."""

    def __init__(self, bench: GpuBench, sizes: GptSizes, batch: int, sequence: int) -> None:
        torch = bench.torch
        self.bench = bench
        pairs = torch.randint(0, sizes.vocabulary, (2, batch, sequence + 1), device=bench.device)
        self.pairs = [(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()) for ids in pairs]
        del pairs
        self.before = torch.cuda.memory_allocated() if bench.cuda else 0
        torch.manual_seed(15)
        with torch.device(bench.device):
            self.model = gpt(torch, sizes).to(torch.bfloat16)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def __call__(self, i: int) -> Any:
        """Take a step: gradients to zero, forward, backward, optimizer."""
        self.optimizer.zero_grad(set_to_none=False)
        loss = self.model(*self.pairs[i % 2])
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def memory(self) -> dict[str, float] | None:
        """Count bytes by kind: weights, gradients and states, and the peak of one step."""
        if not self.bench.cuda:
            return None
        cuda = self.bench.torch.cuda
        weights, gradients, states = 0, 0, 0
        for weight in self.model.parameters():
            weights += _size(weight)
            gradients += _size(weight.grad)
            states += sum(
                _size(part)
                for part in self.optimizer.state[weight].values()
                if self.bench.torch.is_tensor(part)
            )
        self.bench.synchronize()
        cuda.reset_peak_memory_stats()
        self(0)
        self.bench.synchronize()
        peak = cuda.max_memory_allocated() - self.before
        return {
            "weights": weights, "gradients": gradients, "optimizer": states,
            "activations": peak - weights - gradients - states, "peak": peak,
        }  # fmt: skip


def _size(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())


def training(bench: GpuBench) -> None:
    """Measure the steps, largest models last."""
    with bench.recorder.attempt("warming up"):
        # A first step of a toy, whose libraries take their workspaces, which are no model's.
        trainer = Trainer(bench, GptSizes(64, 1, 1, 128, 32), 2, 32)
        for i in range(2):
            trainer(i)
        bench.synchronize()
        del trainer
    quick = [("gpt2", 8, 1024)]
    quietest: dict[tuple[str, int, int], dict[str, Any]] = {}
    with bench.patient(PATIENCE):
        # Steps wait for the host; rounds over all of them find a quiet moment for each.
        for _ in range(1 if bench.dry else 3):
            for case in bench.pick(training_cases(), quick, [("gpt2", 2, 16)]):
                name, batch, sequence = case
                with bench.recorder.attempt(f"{name}, batch {batch} of {sequence} tokens"):
                    taken = _train(bench, name, batch, sequence)
                    known = quietest.setdefault(case, taken)
                    if taken["seconds"].median < known["seconds"].median:
                        quietest[case] = taken
                bench.release()
    for taken in quietest.values():
        bench.recorder.add("training", "eager", "bf16", **taken)


def _train(bench: GpuBench, name: str, batch: int, sequence: int) -> dict[str, Any]:
    """Time one step: what the recorder adds for it."""
    sizes = TOY if bench.dry else GPTS[name]
    bench.fits(8.0 * sizes.linear + 8.0 * batch * sequence * sizes.vocabulary)
    gc.collect()  # nothing of the step before may be freed during this one
    trainer = Trainer(bench, sizes, batch, sequence)
    losses = [float(trainer(i)) for i in range(3)]
    if not all(0 < loss < 100 for loss in losses):
        raise RuntimeError(f"the loss is {losses[-1]:.3g}")
    memory = trainer.memory()
    seconds, enqueue = bench.quiet_steps(trainer, 4)
    seen = bench.profile(trainer, 1)
    shape: dict[str, Value] = {
        "model": name, "batch": batch, "sequence": sequence, "vocabulary": sizes.vocabulary,
        "optimizer": "adamw",
    }  # fmt: skip
    return {
        "shape": shape, "seconds": seconds, "enqueue": enqueue,
        "flops": sizes.flops(batch, sequence), "kernels": seen.kernels, "gpu_busy": seen.busy,
        "throughput": batch * sequence / seconds.median, "memory": memory,
    }  # fmt: skip
