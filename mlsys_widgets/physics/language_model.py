"""Serving a language model: what it keeps in memory, and how fast it reads and writes text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.devices import BYTES_PER_ELEMENT, Device, find_device
from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE, Numeric, greater
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.workloads import LanguageModel, workloads
from mlsys_widgets.wording.choices import one_of


@dataclass(frozen=True, repr=False)
class KVCache(Result):
    """Keys and values kept for every token read or written so far.

    ``kv_cache`` returns their size alone.

    Examples
    --------
    What does one token of Llama-3.1-8B leave in the cache, and a conversation of 8,192 of them?

    >>> from mlsys_widgets import physics as ph
    >>> token = ph.KVCache(
    ...     batch=1, sequence=1, kv_heads=8, head_width=128, layers=32, bytes_per_element=2
    ... )
    >>> ph.format_quantity(token.kv_cache, "B")
    '131.1 KB'
    >>> ph.format_quantity(token.varied(sequence=8192).kv_cache, "B")
    '1.07 GB'
    """

    batch: Numeric = given("batch", "", "sequences at once", AT_LEAST_ONE)
    sequence: Numeric = given("S", "", "tokens in a sequence", AT_LEAST_ONE)
    kv_heads: Numeric = given("H_kv", "", "heads that keep keys and values", AT_LEAST_ONE)
    head_width: Numeric = given("d", "", "width of a head", AT_LEAST_ONE)
    layers: Numeric = given("L", "", "layers", AT_LEAST_ONE)
    bytes_per_element: Numeric = given("b", "B", "bytes per element", POSITIVE)

    @derived("KV", "B")
    def kv_cache(self) -> Numeric:
        """Size of the KV cache."""
        return (
            2
            * self.batch
            * self.sequence
            * self.kv_heads
            * self.head_width
            * self.layers
            * self.bytes_per_element
        )


@dataclass(frozen=True, repr=False)
class Footprint(KVCache):
    """Everything a served model keeps in memory.

    ``footprint`` builds one.
    """

    parameters: Numeric = given("n", "", "parameters", POSITIVE)
    activation_share: Numeric = given("a", "%", "activations as fraction of weights", NON_NEGATIVE)
    memory: Numeric = given("C", "B", "memory of the device", POSITIVE)

    @derived("weights", "B")
    def weights(self) -> Numeric:
        """Size of the weights."""
        return self.parameters * self.bytes_per_element

    @derived("activations", "B")
    def activations(self) -> Numeric:
        """Size of the activations."""
        return self.activation_share * self.weights

    @derived("M", "B")
    def total(self) -> Numeric:
        """Memory needed."""
        return self.weights + self.kv_cache + self.activations

    @derived("headroom", "B")
    def headroom(self) -> Numeric:
        """Memory left over; negative if it does not fit."""
        return self.memory - self.total

    @derived("OOM", "")
    def out_of_memory(self) -> bool | NDArray[np.bool_]:
        """Out of memory if more is needed than the device has."""
        return self.total > self.memory

    @property
    def largest_batch(self) -> Numeric:
        """The largest whole batch that fits at this sequence length; 0 if none does."""
        return self._fitting(self.kv_cache / self.batch)

    @property
    def largest_sequence(self) -> Numeric:
        """The longest sequence that fits at this batch size; 0 if none does."""
        return self._fitting(self.kv_cache / self.sequence)

    def _fitting(self, each: Numeric) -> Numeric:
        room = greater(0.0, self.memory - self.weights - self.activations)
        whole = np.floor(room / each)
        return float(whole) if np.ndim(whole) == 0 else whole


@dataclass(frozen=True, repr=False)
class Generation(Result):
    """Base of decode and prefill: time to move bytes or time to compute, whichever is longer.

    ``decode`` and ``prefill`` build one.

    Examples
    --------
    Why is reading a prompt so much faster, token by token, than writing the answer?

    >>> from mlsys_widgets import physics as ph
    >>> for phase in (ph.decode, ph.prefill):
    ...     step = phase("llama31-8b", "h100-sxm", batch=8, sequence=2048)
    ...     print(
    ...         f"{phase.__name__}: {ph.format_quantity(step.memory_time, 's')} to move, "
    ...         f"{ph.format_quantity(step.compute_time, 's')} to compute, "
    ...         f"{step.tokens_per_second:,.0f} tokens/s"
    ...     )
    decode: 5.42 ms to move, 129.4 µs to compute, 1,477 tokens/s
    prefill: 5.42 ms to move, 265.1 ms to compute, 61,812 tokens/s
    """

    batch: Numeric = given("batch", "", "sequences at once", AT_LEAST_ONE)
    sequence: Numeric = given("S", "", "tokens in a sequence", AT_LEAST_ONE)
    parameters: Numeric = given("n", "", "parameters", POSITIVE)
    weights: Numeric = given("weights", "B", "size of the weights", POSITIVE)
    kv_cache: Numeric = given("KV", "B", "size of the KV cache", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "memory bandwidth", POSITIVE)
    peak: Numeric = given("P", "FLOP/s", "peak compute rate", POSITIVE)
    attention_flops: Numeric = given("W_attention", "FLOP", "attention", NON_NEGATIVE, 0.0)

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved: the weights once, and the cache."""
        return self.weights + self.kv_cache

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        raise NotImplementedError

    @derived("t_memory", "s")
    def memory_time(self) -> Numeric:
        """Time to move the data."""
        return self.bytes / self.bandwidth

    @derived("t_compute", "s")
    def compute_time(self) -> Numeric:
        """Time to compute."""
        return self.flops / self.peak

    @derived("t", "s")
    def time(self) -> Numeric:
        """Time of the step: the longer of the two."""
        return greater(self.memory_time, self.compute_time)

    @derived("tokens/s", "/s")
    def tokens_per_second(self) -> Numeric:
        """Tokens per second."""
        raise NotImplementedError

    @derived("memory-bound", "")
    def memory_bound(self) -> bool | NDArray[np.bool_]:
        """Memory-bound if moving takes longer than computing."""
        return self.memory_time > self.compute_time


@dataclass(frozen=True, repr=False)
class Decode(Generation):
    """One more token for every sequence."""

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations: two per parameter and sequence, and attention."""
        return 2 * self.parameters * self.batch + self.attention_flops

    @derived("tokens/s", "/s")
    def tokens_per_second(self) -> Numeric:
        """Tokens written per second."""
        return self.batch / self.time


@dataclass(frozen=True, repr=False)
class Prefill(Generation):
    """All tokens of every prompt at once."""

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations: two per parameter and token, and attention."""
        return 2 * self.parameters * self.batch * self.sequence + self.attention_flops

    @derived("tokens/s", "/s")
    def tokens_per_second(self) -> Numeric:
        """Tokens read per second."""
        return self.batch * self.sequence / self.time


def language_model(model: LanguageModel | str) -> LanguageModel:
    """A language model of ``workloads`` by its key, or itself.

    `ValueError` if the workload is not a language model.

    Examples
    --------
    >>> llama = language_model("llama31-8b")
    >>> llama.name, llama.heads / llama.kv_heads
    ('Llama-3.1-8B', 4.0)
    >>> language_model("resnet50")
    Traceback (most recent call last):
    ...
    ValueError: model is 'resnet50'; language models on record: llama31-8b
    """
    chosen = workloads[model] if isinstance(model, str) else model
    if not isinstance(chosen, LanguageModel):
        known = ", ".join(k for k, entry in workloads.items() if isinstance(entry, LanguageModel))
        raise ValueError(f"model is {chosen.key!r}; language models on record: {known}")
    return chosen


def _cache(
    chosen: LanguageModel,
    batch: Numeric,
    sequence: Numeric,
    bytes_per_element: Numeric,
    kv_heads: Numeric | None,
) -> dict[str, Numeric]:
    return {
        "batch": batch,
        "sequence": sequence,
        "kv_heads": chosen.kv_heads if kv_heads is None else kv_heads,
        "head_width": chosen.head_width,
        "layers": chosen.layers,
        "bytes_per_element": bytes_per_element,
    }


def kv_cache(
    model: LanguageModel | str,
    batch: Numeric,
    sequence: Numeric,
    bytes_per_element: Numeric = 2,
    kv_heads: Numeric | None = None,
) -> Numeric:
    """Bytes of keys and values that a model keeps for its tokens.

    Parameters
    ----------
    model : LanguageModel or str
        A language model of ``workloads``, or its key.
    batch, sequence : float or array
        Sequences at once, and tokens in each.
    bytes_per_element : float or array, B
        2 for fp16.
    kv_heads : float or array, optional
        Heads that keep keys and values, in place of the model's own number.

    Examples
    --------
    >>> round(kv_cache("llama31-8b", batch=64, sequence=2048) / 1e9, 1)
    17.2
    >>> round(kv_cache("llama31-8b", batch=64, sequence=2048, kv_heads=32) / 1e9, 1)
    68.7
    """
    return KVCache(
        **_cache(language_model(model), batch, sequence, bytes_per_element, kv_heads)
    ).kv_cache


def footprint(
    model: LanguageModel | str,
    device: Device | str,
    batch: Numeric,
    sequence: Numeric,
    bytes_per_element: Numeric = 2,
    *,
    kv_heads: Numeric | None = None,
    activation_share: Numeric | None = None,
) -> Footprint:
    """Weights, KV cache and activations against the memory of a device.

    Parameters
    ----------
    model : LanguageModel or str
        A language model of ``workloads``, or its key.
    device : Device or str
        An entry of ``devices``, or its key.
    batch, sequence : float or array
        Sequences at once, and tokens in each.
    bytes_per_element : float or array, B
        2 for fp16.
    kv_heads : float or array, optional
        Heads that keep keys and values, in place of the model's own number.
    activation_share : float or array, optional
        Activations as a fraction of the weights, in place of the model's own.

    Examples
    --------
    With Llama-3.1-8B, how many conversations of 8,192 tokens fit on an H100, and on an H200?

    >>> from mlsys_widgets import physics as ph
    >>> for device in ("h100-sxm", "h200-sxm"):
    ...     kept = ph.footprint("llama31-8b", device, batch=64, sequence=8192)
    ...     print(kept.largest_batch, kept.out_of_memory, ph.format_quantity(kept.headroom, "B"))
    52.0 True −12.7 GB
    108.0 False 48.3 GB
    >>> ph.format_quantity(kept.weights, "B"), ph.format_quantity(kept.kv_cache, "B")
    ('16 GB', '68.7 GB')
    """
    chosen = language_model(model)
    share = chosen.activation_share if activation_share is None else activation_share
    return Footprint(
        **_cache(chosen, batch, sequence, bytes_per_element, kv_heads),
        parameters=chosen.parameters,
        activation_share=share,
        memory=find_device(device).memory,
    )


def _generation(
    kind: type[Generation],
    model: LanguageModel | str,
    device: Device | str,
    batch: Numeric,
    sequence: Numeric,
    precision: str,
    kv_heads: Numeric | None,
    attention: bool,
) -> Generation:
    chosen, machine = language_model(model), find_device(device)
    element = BYTES_PER_ELEMENT[one_of("precision", precision, BYTES_PER_ELEMENT)]
    cache = KVCache(**_cache(chosen, batch, sequence, element, kv_heads))
    # Scores and their weighted sum, each 2 FLOP: of one new token with all before it (decode),
    # or of every token with those before it (prefill, half of the square).
    queries = 1.0 if kind is Decode else cache.sequence / 2
    heads = chosen.heads * chosen.head_width * chosen.layers
    attended = 4 * cache.batch * cache.sequence * heads * queries
    return kind(
        batch=cache.batch,
        sequence=cache.sequence,
        parameters=chosen.parameters,
        weights=chosen.parameters * element,
        kv_cache=cache.kv_cache,
        bandwidth=machine.bandwidth,
        peak=machine.peak(precision),
        attention_flops=attended if attention else 0.0,
    )


def decode(
    model: LanguageModel | str,
    device: Device | str,
    batch: Numeric,
    sequence: Numeric,
    precision: str = "fp16",
    *,
    kv_heads: Numeric | None = None,
    attention: bool = False,
) -> Generation:
    """One decode step: a token for each of ``batch`` sequences of length ``sequence``.

    Parameters
    ----------
    model : LanguageModel or str
        A language model of ``workloads``, or its key.
    device : Device or str
        An entry of ``devices``, or its key.
    batch, sequence : float or array
        Sequences at once, and tokens that each has in the cache.
    precision : str
        Of weights and cache, and of the peak that counts.
    kv_heads : float or array, optional
        Heads that keep keys and values, in place of the model's own number.
    attention : bool
        Whether to count the operations of attention, which the textbook form leaves out.

    Examples
    --------
    >>> step = decode("llama31-8b", "h100-sxm", batch=1, sequence=2048)
    >>> step.memory_bound, round(step.tokens_per_second)
    (True, 206)
    """
    return _generation(Decode, model, device, batch, sequence, precision, kv_heads, attention)


def prefill(
    model: LanguageModel | str,
    device: Device | str,
    batch: Numeric,
    sequence: Numeric,
    precision: str = "fp16",
    *,
    kv_heads: Numeric | None = None,
    attention: bool = False,
) -> Generation:
    """Reading ``batch`` prompts of ``sequence`` tokens.

    Parameters
    ----------
    model, device, precision, kv_heads, attention
        As in ``decode``.
    batch, sequence : float or array
        Prompts at once, and tokens in each.

    Examples
    --------
    >>> step = prefill("llama31-8b", "h100-sxm", batch=1, sequence=2048)
    >>> step.memory_bound, round(step.tokens_per_second, -2)
    (False, 61800.0)
    """
    return _generation(Prefill, model, device, batch, sequence, precision, kv_heads, attention)
