"""Prefill and decode as a film: the KV cache grows inside the memory of the device."""

from __future__ import annotations

from collections.abc import Callable

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film, Place

_show = ph.format_quantity
#: The fraction of every sequence that is prompt; the rest is written token by token.
PROMPT = 0.5
#: Steps in which the answer is shown.
STEPS = 6
#: Seconds: when prefill begins and how long it takes, and how long a step of decode is shown.
_PREFILL, _READING, _STEP, _JUMP, _REST = 1.0, 0.8, 0.5, 0.2, 0.6
#: Bottom and height of the two rows.
_NEEDED, _DEVICE = (0.5, 0.32), (0.12, 0.2)
#: How much of the stage the longer of need and memory fills.
_WIDE = 0.96

#: The time of a step of prefill or decode at a length of the sequence, in words.
At = Callable[[float], str]


def filling(kept: ph.Footprint, device: str, prefill: At, decode: At, form: str) -> Film:
    """Show how the cache fills, from loaded weights to the last token."""
    tokens = float(kept.sequence)
    prompt = max(1.0, float(int(PROMPT * tokens)))
    fixed, each = float(kept.weights + kept.activations), float(kept.kv_cache / kept.sequence)
    limit, total = float(kept.memory), float(kept.total)
    scale = _WIDE / max(limit, total)
    begin = _PREFILL + _READING
    # (time, tokens in the cache): the prompt grows at once, the answer in steps.
    growth = [(_PREFILL, 0.0), (begin, prompt)]
    for k in range(STEPS):
        start = begin + k * _STEP
        growth += [
            (start + _STEP - _JUMP, growth[-1][1]),
            (start + _STEP, prompt + (k + 1) * (tokens - prompt) / STEPS),
        ]
    end = round(growth[-1][0] + _REST, 3)

    def block(time: float, left: float, size: float) -> Place:
        return (time, left * scale, _NEEDED[0], size * scale, _NEEDED[1])

    weights, activations = float(kept.weights), float(kept.activations)
    actors = [
        Actor(device, "gray", ((0.0, 0.0, _DEVICE[0], limit * scale, _DEVICE[1]),)),
        Actor("Weights", "blue", (block(0.0, 0.0, weights),)),
        Actor("", "green", (block(0.0, weights, activations),)),
        Actor("KV cache", "orange", tuple(block(t, fixed, n * each) for t, n in growth)),
    ]
    moments = [
        (
            0.0,
            f"{_show(kept.weights, 'B')} of weights are loaded and {_show(kept.activations, 'B')} "
            f"are set aside for activations, of {_show(limit, 'B')} on the {device}.",
        ),
        (
            begin,
            f"Prefill: {ph.counted(kept.batch, 'prompt')} of {ph.counted(prompt, 'token')} "
            f"{'is' if kept.batch == 1 else 'are'} read at once, in "
            f"{prefill(prompt)} ({form}). The cache holds {_show(prompt * each, 'B')}.",
        ),
    ]
    for k in (STEPS // 2, STEPS):
        length = growth[1 + 2 * k][1]
        moments.append(
            (
                growth[1 + 2 * k][0],
                f"Decode: {ph.counted(round(length - prompt), 'token')} of each answer "
                f"{'is' if round(length - prompt) == 1 else 'are'} written, one at a time; the "
                f"last one took {decode(length)} ({form}). The cache holds "
                f"{_show(length * each, 'B')}.",
            )
        )
    if kept.out_of_memory:
        over = [(0.0, fixed - limit)]
        over += [(t, fixed + n * each - limit) for t, n in growth]
        first = next(k for k, (_, size) in enumerate(over) if size > 0)
        crossed = _crossing(over, first)
        path = [block(crossed, limit, max(0.0, fixed - limit))]
        path += [block(t, limit, size) for t, size in over[first:] if t > crossed]
        actors.append(Actor("Too much", "red", tuple(path)))
        moments = [(t, words) for t, words in moments if t < crossed or t == 0]
        if crossed > 0:
            fits = ph.counted(kept.largest_sequence, "token")
            words = f"Out of memory with {fits} in the cache of each sequence: "
            moments.append((crossed, f"{words}{_show(limit, 'B')} are full."))
        else:
            words = (
                f"Out of memory before the first token: {_show(weights, 'B')} of weights and "
                f"{_show(activations, 'B')} of activations do not fit into the "
                f"{_show(limit, 'B')} of the {device}."
            )
            moments = [(0.0, words)]
        last = (
            f"All {ph.counted(tokens, 'token')} of each sequence would need {_show(total, 'B')}, "
            f"{_show(total - limit, 'B')} more than there is."
        )
    else:
        last = (
            f"All {ph.counted(tokens, 'token')} of each sequence are in the cache: "
            f"{_show(total, 'B')} of {_show(limit, 'B')} are in use."
        )
    moments.append((end, last))
    rows = tuple(
        (bottom + height / 2, words)
        for (bottom, height), words in ((_NEEDED, "In use"), (_DEVICE, "Memory"))
    )
    return Film("The KV cache fills", end, tuple(actors), rows, tuple(moments), 130)


def _crossing(over: list[tuple[float, float]], first: int) -> float:
    """When the need crosses the limit: between the last place below it and the first above."""
    if first == 0:
        return 0.0
    (before, low), (after, high) = over[first - 1 : first + 1]
    return round(before + (after - before) * -low / (high - low), 4)
