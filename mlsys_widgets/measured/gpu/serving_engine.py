"""A small serving engine over the plain Llama: slots of a static cache, and recorded steps.

A slot has room for the longest sequence. A prompt is read alone, by a graph recorded for its
length; one new token for each of the sequences in some slots is written by a graph recorded for a
number of rows, the smallest that holds them. Rows that nobody needs write to a slot of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .ragged_attention import RaggedAttention, RaggedRows
from .timing import GpuBench, checked
from .transformer import PlainLlama


@dataclass
class _Recorded:
    """A step that can be repeated, the tensor that it reads its orders from, and its logits.

    A recorded graph reads the tensors that it was recorded with, and holds none of them: `call`
    does, so that nothing else comes to lie where they are.
    """

    again: Callable[[], None]
    orders: Any
    logits: list[Any]
    call: Callable[[int], None]


class SlotEngine:
    """Reads prompts into slots, and writes one token for each of several slots.

    The ``model`` has room for one slot more than there are ``slots``, each of ``room`` tokens at
    the most. Steps that are ``recorded`` are replayed as graphs, others launched kernel by kernel.
    """

    def __init__(
        self,
        bench: GpuBench,
        model: PlainLlama,
        slots: int,
        room: int,
        attend: RaggedAttention,
        *,
        recorded: bool = True,
    ) -> None:
        model.caches(slots + 1, room)  # refuses what does not fit
        sizes, torch = model.sizes, bench.torch
        self.bench, self.model, self.attend = bench, model, attend
        self.slots, self.room, self.recorded = slots, room, recorded
        whole = ((slots + 1) * room, sizes.kv_heads, sizes.head_width)
        count = whole[0] * whole[1] * whole[2]
        self.caches = [(k[:count].view(whole), v[:count].view(whole)) for k, v in model.memory]
        #: The last token of the sequence in each slot.
        self.tokens = torch.zeros(slots + 1, dtype=torch.int64, device=bench.device)
        self._reads: dict[int, _Recorded] = {}
        self._writes: dict[int, _Recorded] = {}

    def prepare(self, lengths: Sequence[int], rows: Sequence[int]) -> None:
        """Record the steps: prompts of these lengths, and these numbers of rows."""
        for length in set(lengths) - set(self._reads):
            self._reads[length] = self._recorded(self._reading(length), (length + 1,))
        for count in set(rows) - set(self._writes):
            self._writes[count] = self._recorded(self._writing, (2, count))

    def _recorded(self, call: Callable[[Any], Any], shape: tuple[int, ...]) -> _Recorded:
        torch, logits = self.bench.torch, [None]
        orders = torch.zeros(shape, dtype=torch.int64, device=self.bench.device)

        def once(i: int) -> None:
            logits[0] = call(orders)

        def launch() -> None:
            once(0)

        again = self.bench.capture(once, 1) if self.recorded else launch
        return _Recorded(again, orders, logits, once)

    def rows_for(self, sequences: int) -> int:
        """Return the number of rows of the step that serves so many sequences."""
        return min(rows for rows in self._writes if rows >= sequences)

    def read(self, slot: int, ids: Any) -> Any:
        """Read a prompt into a slot and write its first token; return when that is done."""
        step = self._reads[len(ids)]
        step.orders[0] = slot
        step.orders[1:] = ids
        return self._done(step)

    def write(self, slots: Sequence[int], positions: Sequence[int]) -> Any:
        """Write the next token of the sequences in these slots, at these places of each."""
        step = self._writes[self.rows_for(len(slots))]
        unused = step.orders.shape[1] - len(slots)
        orders = [[*slots, *[self.slots] * unused], [*positions, *[0] * unused]]
        step.orders.copy_(self.bench.torch.tensor(orders))
        return self._done(step)

    def _done(self, step: _Recorded) -> Any:
        step.again()
        self.bench.synchronize()
        return step.logits[0]

    def _reading(self, length: int) -> Callable[[Any], Any]:
        torch, model = self.bench.torch, self.model
        places = torch.arange(length, device=self.bench.device)

        def call(orders: Any) -> Any:
            slot = orders[:1]
            where = slot * self.room + places

            def memory(number: int, q: Any, k: Any, v: Any) -> Any:
                self._keep(number, where, k[0], v[0])
                return torch.nn.functional.scaled_dot_product_attention(
                    q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                    is_causal=True, enable_gqa=q.shape[2] != k.shape[2],
                )  # fmt: skip

            ids = orders[1:].unsqueeze(0)
            logits = model.logits_after(ids, model.turned(places), memory)
            self.tokens.index_copy_(0, slot, logits.argmax(-1))
            return logits

        return call

    def _writing(self, orders: Any) -> Any:
        torch, model = self.bench.torch, self.model
        slots, positions = orders[0], orders[1]
        starts = slots * self.room
        where, rows = starts + positions, RaggedRows(starts, positions + 1, self.room)

        def memory(number: int, q: Any, k: Any, v: Any) -> Any:
            self._keep(number, where, k[:, 0], v[:, 0])
            return self.attend(torch, q[:, 0], *self.caches[number], rows).unsqueeze(2)

        cos, sin = (each.unsqueeze(1) for each in model.turned(positions))
        ids = torch.index_select(self.tokens, 0, slots).unsqueeze(1)
        logits = model.logits_after(ids, (cos, sin), memory)
        self.tokens.index_copy_(0, slots, logits.argmax(-1))
        return logits

    def _keep(self, number: int, where: Any, k: Any, v: Any) -> None:
        for cache, new in zip(self.caches[number], (k, v), strict=True):
            cache.index_copy_(0, where, new)

    def check(self, lengths: tuple[int, int]) -> float:
        """Refuse an engine whose tokens are not those of reading each sequence whole.

        Two sequences of different lengths are read, and written in one step beside unused rows.
        """
        torch, model = self.bench.torch, self.model
        pair = (self.slots - 1, 0)
        prompts = [
            torch.randint(0, model.sizes.vocabulary, (length,), device=self.bench.device)
            for length in lengths
        ]
        # The caches of reading whole lie where the slots are, so the slots come after.
        whole = [self._whole(ids) for ids in prompts]
        worst = 0.0
        for slot, ids, right in zip(pair, prompts, whole, strict=True):
            read = self.read(slot, ids)[0].clone()
            worst = max(worst, self._agree(f"the prompt of slot {slot}", read, right))
        first = [self.tokens[slot : slot + 1].clone() for slot in pair]
        rows = self.write(pair, lengths).clone()
        for slot, ids, token, row in zip(pair, prompts, first, rows, strict=False):
            right = self._whole(torch.cat((ids, token), 0))
            worst = max(worst, self._agree(f"a token written in slot {slot}", row, right))
        return worst

    def _whole(self, ids: Any) -> Any:
        """Return the logits after a sequence that is read alone."""
        places, caches = self.model.places("prefill", len(ids)), self.model.caches(1, len(ids))
        return self.model.step(ids.unsqueeze(0), places, caches)[0].clone()

    def _agree(self, what: str, found: Any, right: Any) -> float:
        wrong = (
            f"{what} differs from reading it alone (token {int(found.argmax(-1))} and"
            f" {int(right.argmax(-1))})"
        )
        # 32 layers of fp16 rounding leave a few thousandths
        return checked(self.bench.torch, found, right, 0.02, wrong)
