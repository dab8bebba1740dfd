"""The keys of the Foundations Review. This file stays in the course; students never get it."""

import math
from collections.abc import Mapping
from functools import cache

from mlsys_widgets.instruments.compilation_stops import CONSTRUCTS, STOPS, WRONG, Outcome
from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.physics import (
    Chain,
    chain,
    elementwise,
    fuse,
    gemm,
    memory_hierarchy,
    nearest_level,
    roofline,
    transfer,
)
from mlsys_widgets.physics import format_quantity as q

from asks import A100, COURSE_CHAIN, FP16, FP32, MULTIPROCESSORS, step_of
from asks import act1_share as asked_share
from asks import act2_traffic as asked_traffic
from asks import capture_method as asked_method
from asks import working_set_home as asked_home

US = 1e6
TERA = 1e12
MILLION = 1e6
#: Trips of an elementwise kernel without a second operand: one read, one write.
IN_AND_OUT = chain("relu").fused_reads + chain("relu").fused_writes
#: Levels of memory inside a sentence.
NAMES = {"registers": "registers", "sram": "shared memory", "l2": "the L2 cache", "hbm": "HBM"}


def _closest(values: Mapping[str, float], actual: float) -> str:
    """The option whose number is closest, as a ratio."""
    return min(values, key=lambda key: abs(math.log(values[key] / actual)))


def _decided(right: str, says: Mapping[str, str], beliefs: Mapping[str, str]) -> ChoiceKey:
    """A choice whose right option depends on the student: every other one is a belief.

    No option but the right one earns anything, so that a neighbor's letter is worth little.
    """
    return ChoiceKey(
        right,
        beliefs=[
            Belief(beliefs[option], option, credit=0.0, says=words)
            for option, words in says.items()
            if option != right
        ],
        says=says[right],
    )


# Act 1


def act1_share(given: Given) -> ChoiceKey:
    norm = elementwise(1e6, FP16)
    mfu = roofline(norm.intensity, A100.peak("fp16"), A100.bandwidth).mfu
    return ChoiceKey(_closest(asked_share(given.p).values, float(mfu)))


def busy_flop_per_element(given: Given) -> NumberKey:
    peak, bandwidth = given.p.peak_tflops * TERA, given.p.bandwidth_tbs * TERA
    moved = IN_AND_OUT * FP32
    ridge = peak / bandwidth
    return NumberKey(
        ridge * moved,
        tolerance=0.015,
        beliefs=[
            Belief(
                "the ridge itself",
                ridge,
                credit=0.4,
                says=f"{q(ridge)} FLOP is what the chip needs per byte. How many bytes does one"
                " fp32 element move on its way in and out?",
            ),
            Belief(
                "only the read counted",
                ridge * FP32,
                credit=0.4,
                idea="only what is read is moved",
                says=f"You counted {FP32} bytes per element. Its result is written as well, so"
                " it needs twice the work.",
            ),
            Belief(
                "the sparse peak",
                2 * ridge * moved,
                credit=0.3,
                idea="the sparse peak is the peak",
                says="That is the answer for a peak twice as high, as 2:4 sparsity promises. An"
                " elementwise kernel has no sparse product.",
            ),
            Belief(
                "ratio inverted",
                moved / ridge,
                credit=0.2,
                form=True,
                says="You divided the bytes by the ridge. It is FLOP per byte, so multiply the"
                " bytes by it.",
            ),
        ],
        says=f"The ridge is {q(ridge)} FLOP per byte and an element moves {moved} bytes. A ReLU"
        " does one operation.",
    )


def busy_tb_per_s(given: Given) -> NumberKey:
    peak, work = given.p.peak_tflops * TERA, given.p.element_flop
    moved = IN_AND_OUT * FP32
    elements = peak / work
    right = elements * moved / TERA
    return NumberKey(
        right,
        tolerance=0.015,
        beliefs=[
            Belief(
                "FLOP per element for FLOP per byte",
                elements / TERA,
                credit=0.4,
                says=f"{q(elements / TERA)} trillion elements per second is what the arithmetic can"
                " take. How many bytes does one fp32 element move on its way in and out?",
            ),
            Belief(
                "only the read counted",
                right / 2,
                credit=0.4,
                idea="only what is read is moved",
                says=f"You counted {FP32} bytes per element. Its result is written as well, so"
                " it needs twice the bandwidth.",
            ),
            Belief(
                "the sparse peak",
                2 * right,
                credit=0.3,
                idea="the sparse peak is the peak",
                says="That is the answer for a peak twice as high, as 2:4 sparsity promises. An"
                " elementwise kernel has no sparse product.",
            ),
            Belief(
                "gigabytes for terabytes",
                right * 1e3,
                credit=0.5,
                form=True,
                says="That is in GB/s, a thousand times as many as TB/s. The question asks for"
                " TB/s.",
            ),
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.2,
                form=True,
                says="Upside down: bytes per second are elements per second times the bytes of"
                " each of them.",
            ),
        ],
        says=f"The arithmetic could take {q(elements / TERA)} trillion elements per second, of"
        f" {moved} bytes each. The memory moves {q(given.p.bandwidth_tbs * TERA, 'B/s')}: even"
        f" {work} FLOP per element leave this chip waiting.",
    )


def bandwidth_used_pct(given: Given) -> NumberKey:
    elements, seconds = given.p.activation_melem * MILLION, given.p.profile_us / US
    peak, bandwidth = given.p.peak_tflops * TERA, given.p.bandwidth_tbs * TERA
    moved = IN_AND_OUT * FP32 * elements
    right = 100 * moved / seconds / bandwidth
    return NumberKey(
        right,
        tolerance=0.015,
        beliefs=[
            Belief(
                "the claim believed",
                100.0,
                credit=0.0,
                idea="waiting counts as working",
                says="That is the contractor's number, about arithmetic units that may be waiting."
                " How many bytes did the kernel move?",
            ),
            Belief(
                "only the read counted",
                right / 2,
                credit=0.4,
                idea="only what is read is moved",
                says=f"You counted {q(moved / 2, 'B')}, the data on its way in. The results go"
                " back to memory as well.",
            ),
            Belief(
                "elements for bytes",
                right / FP32,
                credit=0.3,
                says=f"You let every element move one byte in and one out. An fp32 element has"
                f" {FP32} bytes.",
            ),
            Belief(
                "fraction of the peak",
                100 * elements / seconds / peak,
                credit=0.2,
                form=True,
                says="That is the fraction of the peak, one FLOP per element. The question asks"
                " about the bandwidth, which is what a ReLU waits for.",
            ),
            Belief(
                "fraction instead of percent",
                right / 100,
                credit=0.6,
                form=True,
                says="That is the fraction, and the question asks for percent: multiply it by 100"
                " and enter it again.",
            ),
        ],
        says=f"{q(moved, 'B')} in {given.p.profile_us} µs. The rest of the bandwidth is what is"
        " left to gain.",
    )


def spill_times(given: Given) -> NumberKey:
    size = given.p.sample_kb * 1e3
    small, large = given.p.batch_before * size, given.p.batch_after * size
    before, after = nearest_level(small), nearest_level(large)
    assert before is not None
    assert after is not None
    grown = large / small
    slower = before.bandwidth / after.bandwidth
    registers = memory_hierarchy["registers"].bandwidth
    return NumberKey(
        transfer(large, after).time / transfer(small, before).time,
        tolerance=0.015,
        beliefs=[
            Belief(
                "the level forgotten",
                grown,
                credit=0.4,
                says=f"The data grew by that factor, to {q(large, 'B')}. Does it still fit where"
                f" the {q(small, 'B')} were?",
            ),
            Belief(
                "the size forgotten",
                slower,
                credit=0.4,
                says="That is how much slower the new level is. There is also more to move:"
                f" {q(large, 'B')} instead of {q(small, 'B')}.",
            ),
            Belief(
                "bandwidths inverted",
                grown / slower,
                credit=0.3,
                says=f"You divided by the ratio of the bandwidths. The new home, {after.name}, is"
                " the slower one, so a trip takes longer for two reasons.",
            ),
            Belief(
                "compared with registers",
                grown * registers / after.bandwidth,
                credit=0.3,
                says=f"You compared with registers, but {q(small, 'B')} never fit there. Find the"
                " fastest level that holds the smaller batch.",
            ),
        ],
        says=f"{q(grown, '×')} the data from a level that is {q(slower, '×')} slower: both factors"
        " multiply, for one trip.",
    )


def working_set_home(given: Given) -> ChoiceKey:
    p = given.p
    size = p.tile_tensors * p.tile_rows * p.tile_columns * FP16
    whole = {key: memory_hierarchy[key].capacity for key in asked_home(p).options}
    # The blocks of a multiprocessor divide its shared memory, and all blocks what the GPU shares.
    everywhere = p.tile_blocks * MULTIPROCESSORS
    sharing = {"registers": 1, "sram": p.tile_blocks, "l2": everywhere, "hbm": everywhere}
    room = {key: whole[key] / sharing[key] for key in whole}
    home = next(key for key, capacity in room.items() if size <= capacity)

    def about(key: str) -> str:
        if key == home:
            inward = list(room)[: list(room).index(key)]
            return f"{q(size, 'B')} fits into {NAMES[key]} ({q(room[key], 'B')})." + (
                f" The next level inward holds only {q(room[inward[-1]], 'B')} per owner, so this"
                " is the fastest one that works."
                if inward
                else " Nothing is faster, so no tile has to leave the thread that uses it."
            )
        if room[key] < size <= whole[key]:
            return (
                f"A block alone could keep its {q(size, 'B')} there. But {sharing[key]:,} blocks"
                f" divide {q(whole[key], 'B')}, and each has {q(room[key], 'B')}."
            )
        if room[key] < size:
            return (
                f"All tiles together take {q(size, 'B')}, and one owner has {q(room[key], 'B')} of"
                f" {NAMES[key]}: too little."
            )
        return (
            f"{q(size, 'B')} does fit into {NAMES[key]} ({q(room[key], 'B')}), but a faster level"
            " holds it as well. Go inward one level at a time."
        )

    return _decided(
        home,
        {key: about(key) for key in room},
        {
            "registers": "registers hold any tile",
            "sram": "tiles belong in shared memory",
            "l2": "tiles belong in the cache",
            "hbm": "tensors live in HBM",
        },
    )


# Act 2


def act2_trace(given: Given) -> ChoiceKey:
    outcome, _ = CONSTRUCTS["branch"].at("trace")
    return ChoiceKey({"error": "A", "again": "B", "wrong": "C", "break": "D"}[outcome.key])


def act2_traffic(given: Given) -> ChoiceKey:
    course = fuse(COURSE_CHAIN, 1e6)
    return ChoiceKey(_closest(asked_traffic(given.p).values, float(course.traffic_reduction)))


@cache
def _outcomes(constructs: str) -> dict[str, Outcome]:
    """The worst that happens to a model at each stop."""
    return {
        stop: max(
            (CONSTRUCTS[key].at(stop)[0] for key in constructs.split()),
            key=lambda outcome: outcome.severity,
        )
        for stop in STOPS
    }


def capture_method(given: Given) -> ChoiceKey:
    # Reading the spectrum is itself the skill here, and a dozen models are all that differ, so in
    # a class somebody has the same one: this is worth a point and no more.
    constructs = given.p.constructs
    outcomes = _outcomes(constructs)
    offered = [STOPS[key] for key in asked_method(given.p).options]
    works = [stop for stop in offered if outcomes[stop.key].right]
    best = max(works, key=lambda stop: (stop.optimization, stop.flexibility))

    def about(key: str) -> str:
        stop, outcome = STOPS[key], outcomes[key]
        if stop is best:
            others = [each.name for each in works if each is not best]
            also = f" Right as well, but behind it: {', '.join(others)}." if others else ""
            return (
                f"With {stop.name} this model stays right ({outcome.words}), and no other way that"
                f" is right is optimized more.{also}"
            )
        if not outcome.right:
            cause = max(
                (CONSTRUCTS[each] for each in constructs.split()),
                key=lambda each: each.at(key)[0].severity,
            )
            fate = "is silently wrong" if outcome is WRONG else "raises an error"
            return (
                f"With {stop.name} this model {fate}, because of {cause.name}. {cause.at(key)[1]}"
            )
        return (
            f"With {stop.name} the results are right, with {stop.optimization} of 5 stars for"
            f" optimization and {stop.flexibility} for flexibility. Another of the four does"
            " better: compare them."
        )

    return _decided(
        best.key,
        {stop.key: about(stop.key) for stop in offered},
        {
            "eager": "give up on graphs",
            "trace": "tracing is safe",
            "script": "scripting takes all Python",
            "compile": "torch.compile takes everything",
        },
    )


def _trips(one: Chain) -> tuple[int, int]:
    """Trips of a chain as separate kernels, and as one."""
    return one.unfused_reads + one.unfused_writes, one.fused_reads + one.fused_writes


def _barrier(given: Given) -> tuple[float, float, int, int, int]:
    """Bytes of a tensor, µs of its trip, and trips: apart, fused, and without a barrier."""
    before, after = (chain(*given.p[name].split()) for name in ("before", "after"))
    moved = given.p.chain_melem * MILLION * FP16
    trip = US * moved / (given.p.bandwidth_tbs * TERA)
    # Up to the sum: every input once, and y once; the sum is added up on the way. After it: the
    # quotient is one more elementwise operation in front of the second chain, which reads y.
    quotient = chain("scale", *given.p["after"].split())
    apart = _trips(before)[0] + 1 + _trips(quotient)[0]
    fused = _trips(before)[1] + _trips(quotient)[1]
    assert after.fused_reads + after.fused_writes == _trips(quotient)[1]
    # One kernel would read the inputs of both chains and write z, but neither write nor read y.
    return moved, trip, apart, fused, fused - 2


def barrier_us(given: Given) -> NumberKey:
    moved, trip, apart, fused, without = _barrier(given)
    return NumberKey(
        fused * trip,
        tolerance=0.01,
        beliefs=[
            Belief(
                "the sum is no barrier",
                without * trip,
                credit=0.4,
                says=f"That is one kernel for everything, {without} trips of {q(moved, 'B')}. By"
                " what number would it divide the first element?",
            ),
            Belief(
                "the sum in a kernel of its own",
                (fused + 1) * trip,
                credit=0.6,
                says="You read `y` a second time just to add it up. The kernel that computes `y`"
                " can do that on the way.",
            ),
            Belief(
                "nothing fused",
                apart * trip,
                credit=0.2,
                says=f"Those are the {apart} trips of separate kernels. Which tensors are"
                " needed only inside a chain?",
            ),
            Belief(
                "elements for bytes",
                fused * trip / FP16,
                credit=0.5,
                says=f"The {fused} trips are right. An fp16 element has {FP16} bytes, and you"
                " counted elements.",
            ),
        ],
        says=f"{fused} trips of {q(moved, 'B')}: two kernels, because the sum has to be complete"
        f" before the first division. Separate kernels make {apart} trips.",
    )


def barrier_saved_us(given: Given) -> NumberKey:
    moved, trip, apart, fused, without = _barrier(given)
    saved = apart - fused
    beliefs = [
        Belief(
            "the sum is no barrier",
            (apart - without) * trip,
            credit=0.4,
            says=f"That is with one kernel for everything, {without} trips of {q(moved, 'B')}. By"
            " what number would it divide the first element?",
        ),
        Belief(
            "the sum in a kernel of its own",
            (saved - 1) * trip,
            credit=0.6,
            says="You let the compiler read `y` a second time just to add it up. The kernel that"
            " computes `y` can do that on the way.",
        ),
        Belief(
            "the time that is left",
            fused * trip,
            credit=0.4,
            says=f"Those are the {fused} trips that are left. The question asks how much less time"
            f" that is than the {apart} trips of today.",
        ),
        Belief(
            "the time of today",
            apart * trip,
            credit=0.2,
            says=f"Those are the {apart} trips of today, and {fused} of them stay. What disappears"
            " are the tensors that are needed only inside a chain.",
        ),
        Belief(
            "elements for bytes",
            saved * trip / FP16,
            credit=0.5,
            says=f"The {saved} trips are right. An fp16 element has {FP16} bytes, and you counted"
            " elements.",
        ),
    ]
    told: list[Belief] = []
    for belief in beliefs:
        # Counts of trips are small, so two mistakes, or one and the key, may be the same number.
        others = [saved * trip, *(float(each.value) for each in told)]
        if all(abs(float(belief.value) - other) > 0.03 * other for other in others):
            told.append(belief)
    return NumberKey(
        saved * trip,
        tolerance=0.01,
        beliefs=told,
        says=f"{apart} trips of {q(moved, 'B')} become {fused}: two kernels, because the sum has to"
        " be complete before the first division.",
    )


def hidden_launch_melem(given: Given) -> NumberKey:
    launch, bandwidth = given.p.launch_us / US, given.p.bandwidth_tbs * TERA
    moved = launch * bandwidth / MILLION
    return NumberKey(
        moved / (IN_AND_OUT * FP16),
        tolerance=0.015,
        beliefs=[
            Belief(
                "only the read counted",
                moved / FP16,
                credit=0.4,
                idea="only what is read is moved",
                says="You counted the tensor on its way in. The result is written too, so fewer"
                " elements are enough.",
            ),
            Belief(
                "bytes for elements",
                moved,
                credit=0.4,
                says=f"{q(moved)} million bytes can move during a launch. How many bytes does one"
                " element move, in and out?",
            ),
            Belief(
                "fp32 elements",
                moved / (IN_AND_OUT * FP32),
                credit=0.4,
                says=f"You took {FP32} bytes per element. These tensors are fp16, so twice as many"
                " fit into a launch.",
            ),
            Belief(
                "arithmetic fills the launch",
                launch * given.p.peak_tflops * TERA / MILLION,
                credit=0.2,
                idea="arithmetic decides how long a kernel takes",
                says="That many operations could run during a launch. Moving the data of each takes"
                " far longer.",
            ),
        ],
        says=f"During one launch, {q(moved)} million bytes move, and every element takes"
        f" {IN_AND_OUT * FP16} of them. For smaller tensors the GPU runs dry between kernels.",
    )


# Act 3


def _parts(given: Given) -> dict[str, float]:
    """The three parts of Lena's step, in microseconds."""
    peak, bandwidth = given.p.peak_tflops * TERA, given.p.bandwidth_tbs * TERA
    n, melem, kernels = step_of(given.p)
    product = gemm(n, n, n, FP16)
    rate = roofline(product.intensity, peak, bandwidth).attainable
    moved = IN_AND_OUT * FP32 * melem * MILLION
    return {
        "arithmetic": US * float(product.flops / rate),
        "memory": US * moved / bandwidth,
        "launches": kernels * given.p.launch_us,
    }


def waits_for(given: Given) -> ChoiceKey:
    parts = _parts(given)
    whole = sum(parts.values())
    largest = max(parts, key=lambda part: parts[part])
    right = largest if parts[largest] > whole / 2 else "none"

    def about(part: str) -> str:
        if part == "none":
            return (
                f"The largest part, {q(parts[largest] / US, 's')}, is"
                f" {q(parts[largest] / whole, '%')} of {q(whole / US, 's')}."
                + (
                    " No single project halves this step. Let Lena's people start with the largest"
                    " part all the same."
                    if right == "none"
                    else " One part does dominate: find it before you spread the work."
                )
            )
        share = q(parts[part] / whole, "%")
        took = f"That part takes {q(parts[part] / US, 's')}, {share} of the step."
        if part == right:
            return f"{took} Its remedy comes first; the other two can wait."
        if right == "none" and part == largest:
            return (
                f"{took} It is the largest part, but it stays below half: the other two together"
                " take longer, so no single project is enough here."
            )
        return f"{took} Compute the other two the same way and compare."

    return _decided(
        right,
        {part: about(part) for part in (*parts, "none")},
        {
            "arithmetic": "large products take the time",
            "memory": "it is always memory",
            "launches": "many kernels mean many launches",
            "none": "everything counts equally",
        },
    )


def step_fixed_us(given: Given) -> NumberKey:
    parts = _parts(given)
    whole = sum(parts.values())
    large = max(parts.values())
    return NumberKey(
        whole - large / 2,
        tolerance=0.01,
        beliefs=[
            Belief(
                "the whole step halved",
                whole / 2,
                credit=0.3,
                idea="a faster part makes the whole as much faster",
                says=f"You halved all of {q(whole / US, 's')}. Only the largest part gets faster;"
                " the other two take as long as before.",
            ),
            Belief(
                "nothing gained",
                whole,
                credit=0.3,
                says="That is the step before the fix. Its largest part takes"
                f" {q(large / US, 's')}; subtract half of that.",
            ),
            Belief(
                "only the halved part",
                large / 2,
                credit=0.2,
                says="That is the part that was fixed, on its own. The other two still run, one"
                " after the other.",
            ),
        ],
        says=f"From {q(whole / US, 's')} to {q((whole - large / 2) / US, 's')}: halving one part"
        f" makes the step {q(whole / (whole - large / 2), '×')} as fast, never twice.",
    )
