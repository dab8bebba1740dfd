"""The keys of Lab 01. This file stays in the course; students never get it."""

from math import floor, log10

from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    IronLawTime,
    counted,
    iron_law,
)
from mlsys_widgets.physics import format_quantity as q

from asks import BATCHES, GAP, H100, M7, MANY, ON_H100, PRUNED, promise_s, timed
from asks import act1_gap as asked_gap
from asks import act3_rate as asked_rate

DAY = 86_400.0
#: The size of int8 weights as a fraction of fp32 weights.
QUARTER = BYTES_PER_ELEMENT["int8"] / BYTES_PER_ELEMENT["fp32"]


def _cloud(given: Given, *, latency: bool = True, shrink: float = 1.0) -> IronLawTime:
    """One image of the student's vision model on an H100, with weights of a fraction the size."""
    p = given.p
    return iron_law(
        p.model_mb * 1e6 * shrink,
        p.model_gflop * 1e9,
        H100,
        latency=p.launch_us * 1e-6 if latency else 0.0,
    )


def _board(given: Given, *, core: float = 1, flash: float = 1, model: float = 1) -> IronLawTime:
    """One image on the student's board, weights streaming, with improvements by a factor."""
    p = given.p
    return iron_law(
        p.model_mb * 1e6 * model,
        p.model_gflop * 1e9 * model,
        bandwidth=p.mcu_mb_per_s * 1e6 * flash,
        rate=p.mcu_mflops * 1e6 * core,
        latency=M7.launch(),
    )


def _room_kb(given: Given) -> float:
    """What the runtime and activations leave of the board's SRAM."""
    return float(given.p.sram_kb - given.p.reserve_kb)


# Act I


def act1_gap(given: Given) -> ChoiceKey:
    gaps = asked_gap(given.p).values
    return ChoiceKey(min(gaps, key=lambda option: abs(log10(gaps[option] / GAP))))


def catch_up_days(given: Given) -> NumberKey:
    p = given.p
    board = p.mcu_mflops * 1e6

    def days(peak: float) -> float:
        return float(p.burst_s * peak / board / DAY)

    right = days(H100.peak("fp16"))
    return NumberKey(
        right,
        tolerance=0.015,
        beliefs=[
            Belief(
                "sparse peak for dense",
                days(H100.peak("fp16", sparse=True)),
                credit=0.5,
                idea="the sparse peak is the peak",
                says="That is the H100's peak with 2:4 sparsity, which skips half of the "
                "multiplications. The question names the dense peak, where all of them are done.",
            ),
            Belief(
                "fp32 of the H100",
                days(H100.peak("fp32")),
                credit=0.4,
                says="That is the H100's peak in fp32, on its vector units. The question names the "
                "tensor cores in fp16: each machine is taken at what it is built to run.",
            ),
            Belief(
                "hours for days",
                right * 24,
                credit=0.5,
                form=True,
                says="That is the number of hours. Divide by 24 once more: the board needs days, "
                "and the question asks how many.",
            ),
            Belief(
                "seconds for days",
                right * DAY,
                credit=0.4,
                form=True,
                says=f"That is the number of seconds. A day has {q(DAY)} of them, so divide once "
                "more before you show it to a manager.",
            ),
            Belief(
                "three orders too few",
                right / 1e3,
                credit=0.3,
                form=True,
                says="A prefix got lost, and with it a factor of a thousand. Write both peaks in "
                "FLOP/s, with all their zeros, and then divide.",
            ),
        ],
        says=f"A gap of {q(H100.peak('fp16') / board, '×')} turns {q(p.burst_s, 's')} into "
        f"{right:.0f} days. With nine orders of magnitude, as in the investors' draft, it would "
        f"be {right * 1e9 / (H100.peak('fp16') / board) / 365:.0f} years.",
    )


def flop_per_joule_times(given: Given) -> NumberKey:
    compute = H100.peak("fp16") / (given.p.mcu_mflops * 1e6)
    power = H100.power / (given.p.mcu_mw * 1e-3)
    right = compute / power
    return NumberKey(
        right,
        tolerance=0.015,
        beliefs=[
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                says="Upside down: that says the board gets more out of a joule. It draws "
                f"{q(power, '×')} less power, but it also does {q(compute, '×')} less with it.",
            ),
            Belief(
                "gap in power alone",
                power,
                credit=0.1,
                says="That is how much more power the H100 draws. It also does "
                f"{q(compute, '×')} more with it; divide one gap by the other.",
            ),
            Belief(
                "gap in compute alone",
                compute,
                credit=0.1,
                says="That is how much more the H100 does in a second. Its second also takes "
                f"{q(power, '×')} more joules; divide one gap by the other.",
            ),
            Belief(
                "gaps multiplied",
                compute * power,
                credit=0.2,
                says="You multiplied the two gaps. More power for the same work makes a machine "
                "less efficient, so the gap in power divides.",
            ),
            Belief(
                "milliwatts for watts",
                right * 1e3,
                credit=0.4,
                says="The board's power went in as watts, a thousand times too much. It is in "
                "milliwatts.",
            ),
            Belief(
                "sparse peak for dense",
                right * H100.peak("fp16", sparse=True) / H100.peak("fp16"),
                credit=0.5,
                idea="the sparse peak is the peak",
                says="That is with the sparse peak, which also counts the multiplications that are "
                "skipped. Count what is done.",
            ),
        ],
        says=f"At its peak, the H100 gets {right:.0f} times as much out of a joule. The board is "
        "frugal rather than efficient: it wins where little has to be done, and nearby.",
    )


def listening_plan(given: Given) -> ChoiceKey:
    p = given.p
    duty = p.kws_mflop * p.kws_passes / p.mcu_mflops
    radio = p.audio_kbit * 1e3 * p.radio_nj * 1e-9
    watts = {
        "board": duty * p.mcu_mw * 1e-3,
        "stream": radio,
        "gate": p.gate_mw * 1e-3 + p.sound_pct / 100 * radio,
    }
    best = min(watts, key=lambda plan: watts[plan])
    shown = {plan: q(value, "W") for plan, value in watts.items()}
    better = {
        "board": "running the model on the board",
        "stream": "sending all the audio",
        "gate": "the sound detector with its radio",
    }[best]
    why = {
        "board": (
            "always closest is always cheapest",
            f"The board computes {q(duty, '%')} of the time, which averages {shown['board']}. "
            f"With your porch and your radio, {better} needs less: {shown[best]}.",
        ),
        "stream": (
            "somebody else computes, so it is free",
            "The cloud pays for the arithmetic, but your battery pays for every bit on the way: "
            f"{shown['stream']} all day, against {shown[best]} for {better}.",
        ),
        "gate": (
            "switching off always saves",
            f"The detector draws {q(p.gate_mw * 1e-3, 'W')} all day, and the radio still sends "
            f"{p.sound_pct}% of the time: {shown['gate']} in all, against {shown[best]} for "
            f"{better}.",
        ),
    }
    moral = {
        "board": "The H100 gets more out of a joule, but here moving the data costs more than "
        "computing nearby",
        "stream": "At so few joules per bit, moving the data costs less than computing nearby, and "
        "a detector saves less than it draws",
        "gate": "What is not sent costs nothing, and on a porch this quiet the detector saves more "
        "than it draws",
    }[best]
    return ChoiceKey(
        best,
        beliefs=[
            Belief(name, plan, credit=0.0, says=says)
            for plan, (name, says) in why.items()
            if plan != best
        ],
        says=f"The board draws {shown['board']}, sending everything {shown['stream']}, and the "
        f"sound detector with its radio {shown['gate']}. {moral}: the D of D·A·M.",
    )


# Act II


def act2_batch(given: Given) -> ChoiceKey:
    first = float(ON_H100.compute_bound_batch)
    return ChoiceKey(min(BATCHES, key=lambda option: abs(log10(BATCHES[option] / first))))


def balance_efficiency_percent(given: Given) -> NumberKey:
    p = given.p
    one = _cloud(given, latency=False)
    few = p.small_batch
    ratio = few * one.compute_time / one.memory_time
    return NumberKey(
        100 * ratio,
        tolerance=0.01,
        beliefs=[
            Belief(
                "batch left out",
                100 * ratio / few,
                credit=0.5,
                says="That is for a single image. The weights move once for the batch, but its "
                f"{few} images bring {few} times the operations.",
            ),
            Belief(
                "fraction for percent",
                ratio,
                credit=0.6,
                form=True,
                says="That is the fraction itself. The question asks for percent of the peak, a "
                "hundred times as much.",
            ),
            Belief(
                "ratio inverted",
                100 / ratio,
                credit=0.3,
                form=True,
                says="Upside down: that is memory over compute. No kernel can reach more than the "
                "whole peak.",
            ),
            Belief(
                "fraction of the total",
                100 * ratio / (1 + ratio),
                credit=0.3,
                says="That is what fraction of the two terms' sum is compute, at the full peak. "
                "Ask instead by how much the compute term may grow until it equals the other.",
            ),
        ],
        says=f"At the peak, {few} images need {q(few * one.compute_time, 's')} of arithmetic and "
        f"{q(one.memory_time, 's')} for the weights. Kernels may be {q(1 / ratio, '×')} slower "
        "before compute becomes the longer term; the terms add up, so the batch gets slower all "
        "the way.",
    )


def int8_weights_times(given: Given) -> NumberKey:
    before, after, fp16 = (_cloud(given, shrink=shrink) for shrink in (1.0, QUARTER, 0.5))
    bare, bare_after = (_cloud(given, latency=False, shrink=s) for s in (1.0, QUARTER))
    right = before.total / after.total
    return NumberKey(
        right,
        # Every student's answer lies between 1.3 and 2.6, so it is held to one percent.
        tolerance=0.01,
        beliefs=[
            Belief(
                "everything four times as fast",
                1 / QUARTER,
                credit=0.0,
                idea="a faster part makes the whole as much faster",
                says="Only the memory term shrinks to a quarter. The arithmetic and the latency, "
                f"{q(after.compute_time + after.latency, 's')} together, stay as they are.",
            ),
            Belief(
                "latency left out",
                bare.total / bare_after.total,
                credit=0.5,
                says=f"Two terms of three: the {q(before.latency, 's')} of latency are missing, "
                "before and after. They do not shrink, so they lower the gain.",
            ),
            Belief(
                "half the bytes",
                before.total / fp16.total,
                credit=0.4,
                says="That is with half the bytes, as in fp16. An int8 weight takes a quarter of "
                "an fp32 weight.",
            ),
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.5,
                form=True,
                says="Upside down: that is the time after over the time before. A speedup above 1 "
                "puts the longer time on top.",
            ),
            Belief(
                "percent saved",
                100 * (1 - 1 / right),
                credit=0.4,
                form=True,
                says="That is how many percent of the time you save. The question asks how many "
                "times as fast it gets.",
            ),
        ],
        says=f"{q(before.total, 's')} shrink to {q(after.total, 's')}: a quarter of the bytes is "
        "far from four times the speed, because two of the three terms did not change.",
    )


def bits_per_weight(given: Given) -> NumberKey:
    p = given.p
    weights = p.model_mb * 1e6 / BYTES_PER_ELEMENT["fp32"]
    room = _room_kb(given) * 1e3
    right = 8 * room / weights
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "nothing kept for the runtime",
                8 * p.sram_kb * 1e3 / weights,
                credit=0.5,
                says=f"Then nothing is left for the runtime and activations. Their "
                f"{q(p.reserve_kb * 1e3, 'B')} are taken before the first weight is loaded.",
            ),
            Belief(
                "one weight per byte",
                right / BYTES_PER_ELEMENT["fp32"],
                credit=0.4,
                says=f"You counted one weight per byte. In fp32 a weight takes "
                f"{BYTES_PER_ELEMENT['fp32']} bytes, so there are {q(weights / 1e6)} million.",
            ),
            Belief(
                "bytes for bits",
                right / 8,
                credit=0.5,
                says="That is the number of bytes per weight, and far less than one of them. A "
                "byte has eight bits, so multiply.",
            ),
            Belief(
                "a thousand too many",
                right * 1e3,
                credit=0.2,
                form=True,
                says="A thousand times too many: a prefix got lost between KB and MB. Write both "
                "sizes in bytes, then divide.",
            ),
            Belief(
                "a thousand too few",
                right / 1e3,
                credit=0.2,
                form=True,
                says="A thousand times too few: from KB to MB there is one step of a thousand, "
                "not two.",
            ),
        ],
        says=f"Less than one bit for each of {q(weights / 1e6)} million weights. No number format "
        "makes this model fit, so the board needs another model.",
    )


def left_beside_kb(given: Given) -> NumberKey:
    p = given.p
    weights = p.model_mb * 1e6 / BYTES_PER_ELEMENT["fp32"]
    kept_kb = weights / PRUNED * BYTES_PER_ELEMENT["int8"] / 1e3
    right = p.sram_kb - kept_kb
    return NumberKey(
        right,
        tolerance=0.005,
        beliefs=[
            Belief(
                "room of the weights",
                kept_kb,
                credit=0.4,
                says="That is what the weights take. The question asks what is left beside them "
                f"in {q(p.sram_kb * 1e3, 'B')}.",
            ),
            Belief(
                "four bytes per weight",
                p.sram_kb - BYTES_PER_ELEMENT["fp32"] * kept_kb,
                credit=0.4,
                says=f"You took one in {PRUNED} of the {q(p.model_mb * 1e6, 'B')}, as if what "
                "stays were still in fp32, at four bytes. In int8 a weight takes one.",
            ),
            Belief(
                "two bytes per weight",
                p.sram_kb - 2 * kept_kb,
                credit=0.4,
                says="That is with two bytes per weight, as in fp16. In int8 a weight takes one.",
            ),
            Belief(
                "megabytes",
                right / 1e3,
                credit=0.5,
                form=True,
                says="That is in MB, and the question asks for KB. Write both sizes in bytes "
                "first.",
            ),
            Belief(
                "bytes",
                right * 1e3,
                credit=0.5,
                form=True,
                says="That is in bytes, and the question asks for KB. Divide what you have by a "
                "thousand.",
            ),
        ],
        says=f"At four bytes each, {q(p.model_mb * 1e6, 'B')} are {q(weights / 1e6)} million "
        f"weights. One in {PRUNED} of them, at one byte, takes {q(kept_kb * 1e3, 'B')} of the "
        f"{q(p.sram_kb * 1e3, 'B')}. They fit, but pruned that hard, next to nothing of the model "
        "is left, so the board needs another one.",
    )


def needed_mb_per_s(given: Given) -> NumberKey:
    p = given.p
    board = _board(given)
    promise = promise_s(p)
    left = promise - board.compute_time - board.latency
    right = p.model_mb / left
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "all the time for the weights",
                p.model_mb / promise,
                credit=0.4,
                says=f"That leaves the whole {q(promise, 's')} to the weights. The arithmetic "
                f"takes {q(board.compute_time, 's')} of it, and the terms follow each other.",
            ),
            Belief(
                "megabits",
                right * 8,
                credit=0.4,
                says="That is in megabits per second, as networks count. The question asks for "
                "megabytes, as memories do.",
            ),
            Belief(
                "kilobytes",
                right * 1e3,
                credit=0.4,
                form=True,
                says="That is in KB/s, a thousand times as many as MB/s. The question asks for "
                "MB/s, the unit of your flash chip.",
            ),
        ],
        says=f"Arithmetic and latency leave {q(left, 's')} of {q(promise, 's')}. No flash chip, "
        f"however fast, could answer within {q(board.compute_time, 's')}: a term that you do not "
        "improve is a floor.",
    )


def board_upgrade(given: Given) -> ChoiceKey:
    p = given.p
    now = _board(given)
    laws = {
        "core": _board(given, core=p.core_times),
        "flash": _board(given, flash=p.flash_times),
        "prune": _board(given, model=0.5),
    }
    best = min(laws, key=lambda each: laws[each].total)
    times = {each: q(law.total, "s") for each, law in laws.items()}
    better = {
        "core": "the faster core",
        "flash": "the faster flash chip",
        "prune": "the pruned model",
    }[best]
    terms = (
        f"{q(now.memory_time, 's')} for the weights and {q(now.compute_time, 's')} for the "
        "arithmetic"
    )
    why = {
        "core": (
            "slow devices are limited by compute",
            f"Today an image takes {terms}. A faster core shrinks only the second: "
            f"{times['core']}, against {times[best]} with {better}.",
        ),
        "flash": (
            "one image is always memory-bound",
            f"Today an image takes {terms}. A faster flash chip shrinks only the first: "
            f"{times['flash']}, against {times[best]} with {better}.",
        ),
        "prune": (
            "both terms beat one",
            f"Halving both terms sounds best, and gives {times['prune']}. But today "
            f"an image takes {terms}, and {better} makes the longer of them so much shorter that "
            f"the total is lower: {times[best]}.",
        ),
    }
    moral = (
        f"Neither is long enough for its own remedy to win: {times['core']} with the faster core, "
        f"{times['flash']} with the faster flash chip."
        if best == "prune"
        else "The larger a term is, the more it pays to improve it."
    )
    return ChoiceKey(
        best,
        beliefs=[
            Belief(name, option, credit=0.0, says=says)
            for option, (name, says) in why.items()
            if option != best
        ],
        says=f"From {q(now.total, 's')} to {times[best]}. Today an image takes {terms}. {moral}",
    )


# Act III: the design challenge


def act3_rate(given: Given) -> ChoiceKey:
    rates = asked_rate(given.p).values
    measured = MANY / timed(MANY).seconds.median
    return ChoiceKey(min(rates, key=lambda option: abs(log10(rates[option] / measured))))


def keyword_precision(given: Given) -> ChoiceKey:
    p = given.p
    room = _room_kb(given)
    sizes = {name: p.kws_kparams * BYTES_PER_ELEMENT[name] for name in ("fp32", "fp16", "int8")}
    best = next((name for name, size in sizes.items() if size <= room), "none")

    def says(option: str) -> str:
        if option == "none":
            return (
                f"In {best} the weights are {q(sizes[best] * 1e3, 'B')}, and {q(room * 1e3, 'B')} "
                "are left beside the runtime and activations. They fit."
            )
        size = sizes[option]
        if size > p.sram_kb:
            return (
                f"In {option} every parameter takes {counted(BYTES_PER_ELEMENT[option], 'byte')}, "
                f"so the weights are {q(size * 1e3, 'B')}, more than the whole SRAM of "
                f"{q(p.sram_kb * 1e3, 'B')}. Multiply the parameters by the bytes of each format, "
                "and take the first one that fits."
            )
        if size > room:
            return (
                f"In {option} the weights are {q(size * 1e3, 'B')}. An empty SRAM would hold them, "
                f"but the runtime and activations leave only {q(room * 1e3, 'B')}."
            )
        return (
            f"In {option} the weights fit, but they also fit in {best}: "
            f"{q(sizes[best] * 1e3, 'B')} of {q(room * 1e3, 'B')}. You gave up precision for "
            "nothing."
        )

    names = {
        "fp32": "counts parameters as bytes",
        "fp16": "forgets the runtime, or halves to be safe",
        "int8": "tiny always means int8",
        "none": "tiny always means too small",
    }
    return ChoiceKey(
        best,
        beliefs=[
            Belief(name, option, credit=0.0, says=says(option))
            for option, name in names.items()
            if option != best
        ],
        says=f"{q(room * 1e3, 'B')} are left. The weights are "
        + ", ".join(f"{q(size * 1e3, 'B')} in {name}" for name, size in sizes.items())
        + ".",
    )


def mixed_kparams(given: Given) -> NumberKey:
    p = given.p
    room, part = _room_kb(given), p.fp16_pct / 100
    small, large = BYTES_PER_ELEMENT["int8"], BYTES_PER_ELEMENT["fp16"]
    mixed = part * large + (1 - part) * small
    right = room / mixed
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "nothing kept for the runtime",
                p.sram_kb / mixed,
                credit=0.4,
                says="That fills the whole SRAM with weights, and the runtime could not start. "
                f"Subtract the {q(p.reserve_kb * 1e3, 'B')} that it keeps first.",
            ),
            Belief(
                "all int8",
                room / small,
                credit=0.4,
                says=f"That many fit if every parameter is int8. {p.fp16_pct}% of them take twice "
                "the room.",
            ),
            Belief(
                "all fp16",
                room / large,
                credit=0.3,
                says=f"That many fit if every parameter is fp16. Only {p.fp16_pct}% of them must "
                "be; the rest can be stored in one byte each.",
            ),
            Belief(
                "parts swapped",
                room / (part * small + (1 - part) * large),
                credit=0.4,
                says=f"The parts are swapped: {p.fp16_pct}% of the parameters stay in fp16, and "
                "the others shrink to int8.",
            ),
            Belief(
                "parameters for thousands",
                right * 1e3,
                credit=0.5,
                form=True,
                says="That is the number of parameters. The question asks for thousands of them, "
                "so divide by a thousand.",
            ),
        ],
        says=f"A parameter takes {q(mixed)} bytes on average, and {q(room * 1e3, 'B')} are left. "
        "Capacity first, then bytes per parameter.",
    )


def largest_batch_images(given: Given) -> NumberKey:
    p = given.p
    deadline, scaling = p.deadline_us * 1e-6, p.scale_us * 1e-6

    def arithmetic(rate: float, efficiency: float) -> float:
        """The compute time of one image."""
        return float(p.model_gflop * 1e9 / (rate * efficiency))

    one = _cloud(given)
    efficiency, peak = p.efficiency_pct / 100, H100.peak("fp16")
    computing = arithmetic(peak, efficiency)
    each = scaling + computing
    left = deadline - one.memory_time - one.latency
    right = floor(left / each)
    beliefs = [
        Belief(
            "scaling left out",
            float(floor(left / computing)),
            credit=0.4,
            says="That is the last batch that keeps the promise today. "
            f"Next spring, scaling comes on top, {q(scaling, 's')} for each image.",
        ),
        Belief(
            "only images count",
            float(floor(deadline / each)),
            credit=0.4,
            says=f"That fills the whole {q(deadline, 's')} with images. The weights and the "
            f"latency take {q(one.memory_time + one.latency, 's')} of it first.",
        ),
        Belief(
            "full peak",
            float(floor(left / (scaling + arithmetic(peak, 1.0)))),
            credit=0.4,
            says=f"That is at the full peak. Your kernels reach {p.efficiency_pct}% of it, so the "
            f"arithmetic of an image takes {q(computing, 's')}.",
        ),
        Belief(
            "weights moved for every image",
            float(floor((deadline - one.latency) / (one.memory_time + each))),
            credit=0.3,
            says="You moved the weights once per image. In a batch, they move once for all of "
            "them; that is what batching is for.",
        ),
        Belief(
            "sparse peak for dense",
            float(floor(left / (scaling + arithmetic(H100.peak("fp16", sparse=True), efficiency)))),
            credit=0.4,
            idea="the sparse peak is the peak",
            says="That is with the sparse peak. Nothing says that half of these weights are zero.",
        ),
    ]
    # Of few images, a mistake may cost none; then it is not to be seen in the answer.
    beliefs = [belief for belief in beliefs if belief.value != right]
    # Whoever rounds on the way may be off by one, where that is no other mistake's number.
    near = {
        "one image too many": (right + 1, "With one image more, the whole batch is late by a "
                               "moment. Round down: a promise has no tolerance."),
        "one image too few": (right - 1, "One image more would still be in time. Carry more digits "
                              "and round only the result."),
    }  # fmt: skip
    taken = {belief.value for belief in beliefs}
    beliefs += [
        Belief(name, float(value), credit=0.7, says=says)
        for name, (value, says) in near.items()
        if float(value) not in taken
    ]
    total = one.memory_time + right * each + one.latency
    return NumberKey(
        float(right),
        tolerance=0.0,
        absolute=0.05,
        beliefs=beliefs,
        says=f"A batch of {right} takes {q(total, 's')}, and one more image another "
        f"{q(each, 's')}. Throughput wants a larger batch, the promise a smaller one, "
        "and the promise wins.",
    )


def needed_efficiency_percent(given: Given) -> NumberKey:
    p = given.p
    deadline, batch = p.deadline_us * 1e-6, p.evening_batch
    one = _cloud(given)
    fixed, scaling = one.memory_time + one.latency, batch * p.scale_us * 1e-6
    arithmetic = batch * one.compute_time
    left = deadline - fixed - scaling
    right = 100 * arithmetic / left
    return NumberKey(
        right,
        # Weights and latency are at least a seventieth of a promise: whoever forgets them is told.
        tolerance=0.006,
        beliefs=[
            Belief(
                "scaling left out",
                100 * arithmetic / (deadline - fixed),
                credit=0.4,
                says="That is enough for the photos of today. Next spring, scaling "
                f"takes {q(scaling, 's')} of the time, too.",
            ),
            Belief(
                "only images count",
                100 * arithmetic / (deadline - scaling),
                credit=0.4,
                says=f"That gives the whole {q(deadline, 's')} to the images. The weights and "
                f"the latency take {q(fixed, 's')} of it first.",
            ),
            Belief(
                "batch left out",
                100 * one.compute_time / (deadline - fixed - p.scale_us * 1e-6),
                credit=0.4,
                says="That is enough for a single image. The weights move once for the batch, but "
                f"scaling and arithmetic are done for each of its {batch} images.",
            ),
            Belief(
                "sparse peak for dense",
                right * H100.peak("fp16") / H100.peak("fp16", sparse=True),
                credit=0.4,
                idea="the sparse peak is the peak",
                says="That is a percentage of the sparse peak. Nothing says that half of these "
                "weights are zero.",
            ),
            Belief(
                "ratio inverted",
                1e4 / right,
                credit=0.3,
                form=True,
                says="Upside down: that is the time that is left over the time that is needed. No "
                "kernel can reach more than the whole peak.",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                says="That is the fraction itself. The question asks for percent of the peak, a "
                "hundred times as much.",
            ),
        ],
        says=f"At the peak, {batch} images need {q(arithmetic, 's')}, and {q(left, 's')} are left "
        "for them. With kernels slower than that, such a batch comes late, and only a smaller one "
        "keeps the promise.",
    )
