"""The keys of lab_07_kernel_fusion. This file stays in the course; students never get it."""

import math
import random
from itertools import pairwise

from mlsys_widgets.judging import Belief, ChoiceKey, CodeKey, Given, NumberKey
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    Deployment,
    Device,
    Fusion,
    break_even,
    can_fuse,
    chain,
    deployment,
    devices,
    forward_pass,
    fuse,
    ops,
    run,
)
from mlsys_widgets.physics import format_quantity as q

from asks import (
    A100,
    CHAIN,
    FEWER,
    FUSED,
    KWS,
    LAUNCH,
    MORE,
    ORIN,
    RESNET,
    STREAMS,
    sequence,
    wake_us,
)
from asks import act1_utilization as asked_utilization
from asks import act2_break_even as asked_break_even
from asks import act2_fusion as asked_fusion
from asks import kernels_after_fusing as asked_kernels

MICRO = 1e-6
HOURS = 24


def _nearest(options: dict[str, float], actual: float) -> ChoiceKey:
    """The option whose number is nearest, as a ratio."""
    return ChoiceKey(min(options, key=lambda key: abs(math.log(options[key] / actual))))


# Act 1


def act1_utilization(given: Given) -> ChoiceKey:
    p = given.p
    bought = forward_pass(KWS.kernels, KWS.compute_per_kernel / p.faster, A100.launch())
    return _nearest(asked_utilization(p).values, float(bought.utilization))


def launch_budget_us(given: Given) -> NumberKey:
    p = given.p
    goal = p.goal_pct / 100
    right = p.kernel_us * (1 - goal) / goal
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "launch and kernel together",
                p.kernel_us / goal,
                credit=0.5,
                says=f"{p.kernel_us / goal:.3g} µs is launch and kernel together. The kernel takes"
                f" {p.kernel_us:g} µs of that; the launch may have only the rest.",
            ),
            Belief(
                "percentage of the kernel",
                p.kernel_us * (1 - goal),
                credit=0.3,
                says=f"You took {100 - p.goal_pct}% of the kernel. The promise is about the whole"
                " pass: the launch may take that part of launch and kernel together.",
            ),
            Belief(
                "the goal of the kernel",
                p.kernel_us * goal,
                credit=0.2,
                says=f"You took {p.goal_pct}% of the kernel. The kernel itself is to be"
                f" {p.goal_pct}% of launch and kernel together, so the launch gets what remains"
                " of these.",
            ),
            Belief(
                "the shares swapped",
                p.kernel_us * goal / (1 - goal),
                credit=0.3,
                says=f"With a launch that long the GPU would compute only {100 - p.goal_pct}% of"
                " the time. Put your number back into kernel over kernel plus launch.",
            ),
            Belief(
                "launches run ahead",
                p.kernel_us,
                credit=0.2,
                says="A launch as long as the kernel would be hidden if launches ran ahead. Here"
                " each waits for the kernel before it, and half the time would be lost.",
            ),
        ],
        says=f"If {p.kernel_us:g} µs are {p.goal_pct}%, launch and kernel take"
        f" {p.kernel_us / goal:.3g} µs together, which leaves {right:.3g} µs for the launch. Yours"
        f" cost {p.launch_us:g} µs, {p.launch_us / right:.2g} times that: no driver is that much"
        " better, so there must be fewer of them.",
    )


def shortest_kernel_us(given: Given) -> NumberKey:
    p = given.p
    goal = p.goal_pct / 100
    right = p.launch_us * goal / (1 - goal)
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "launch and kernel together",
                p.launch_us / (1 - goal),
                credit=0.5,
                says=f"{p.launch_us / (1 - goal):.4g} µs is launch and kernel together. The launch"
                f" takes {p.launch_us:g} µs of that; the kernel must fill the rest.",
            ),
            Belief(
                "the goal of the launch",
                p.launch_us / goal,
                credit=0.3,
                says=f"In {p.launch_us / goal:.3g} µs the launch would take {p.goal_pct}%. It is"
                " the kernel that must take that part of launch and kernel together.",
            ),
            Belief(
                "percentage of the launch",
                p.launch_us * goal,
                credit=0.3,
                says=f"You took {p.goal_pct}% of the launch. The promise is about the whole pass:"
                " the kernel must be that part of launch and kernel together.",
            ),
            Belief(
                "the shares swapped",
                p.launch_us * (1 - goal) / goal,
                credit=0.3,
                says=f"With a kernel that short the GPU would compute only {100 - p.goal_pct}% of"
                " the time. Put your number back into kernel over kernel plus launch.",
            ),
            Belief(
                "launches run ahead",
                p.launch_us,
                credit=0.2,
                says="A kernel as long as its launch would hide it if launches ran ahead. Here each"
                " waits for the kernel before it, and half the time would be lost.",
            ),
        ],
        says=f"If a launch of {p.launch_us:g} µs is {100 - p.goal_pct}%, launch and kernel take"
        f" {p.launch_us / (1 - goal):.4g} µs together, which leaves {right:.4g} µs for the kernel."
        f" Yours last {p.kernel_us:g} µs, so {right / p.kernel_us:.2g} of them would have to become"
        " one: work comes in pieces that are far too small.",
    )


def faster_gpu_saves_pct(given: Given) -> NumberKey:
    p = given.p
    before = forward_pass(p.kernels, p.kernel_us * MICRO, p.launch_us * MICRO)
    after = forward_pass(p.kernels, p.kernel_us * MICRO / p.faster, p.launch_us * MICRO)
    right = 100 * float(1 - after.total / before.total)
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "the whole pass gets faster",
                100 * (1 - 1 / p.faster),
                credit=0.2,
                idea="a faster part makes the whole as much faster",
                says=f"That would be {p.faster:g}× for the whole pass. Only the kernels get"
                f" shorter; {p.launch_us:g} µs of launching before each stay.",
            ),
            Belief(
                "change of the utilization",
                100 * float(before.utilization - after.utilization),
                credit=0.3,
                says="That is how far the utilization falls, in percentage points. The question is"
                " about the time of the pass: compare the two totals.",
            ),
            Belief(
                "relative to the new time",
                100 * float(before.total / after.total - 1),
                credit=0.6,
                says="You divided the saving by the new time, which gives the gain in throughput."
                " A pass gets shorter by a percentage of the old time.",
            ),
        ],
        says=f"Finance pays for {p.faster:g}× and gets a pass that is {right:.3g}% shorter: the"
        " launches are the CPU's work, and no GPU shortens them.",
    )


def _stream(kernels: int) -> tuple[float, float]:
    """Wall time and busy time of a stream that was measured."""
    return STREAMS[kernels].seconds.median, STREAMS[kernels].gpu_busy or 0.0


def act1_real(given: Given) -> NumberKey:
    wall, busy = _stream(MORE)
    return NumberKey(busy / wall, tolerance=0.1)


def stream_wall_ms(given: Given) -> NumberKey:
    p = given.p
    n, all_kernels = p.stream_kernels, p.streams * p.stream_kernels
    (few, _), (many, busy) = _stream(FEWER), _stream(MORE)
    pace = (many - few) / (MORE - FEWER)
    each = busy / MORE
    right = 1e3 * p.streams * (few + pace * (n - FEWER))
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "launch and kernel one by one",
                1e3 * all_kernels * (LAUNCH + each),
                credit=0.2,
                says=f"You added launch and kernel, {q(LAUNCH + each, 's')} for each. The readings"
                f" say {q(pace, 's')} per kernel: launches ran ahead while kernels computed.",
            ),
            Belief(
                "kernels alone",
                1e3 * all_kernels * each,
                credit=0.2,
                says=f"Those are the kernels alone, {q(each, 's')} each. The stream took"
                f" {q(pace, 's')} per kernel, because the launches set its pace.",
            ),
            Belief(
                "launches alone",
                1e3 * all_kernels * LAUNCH,
                credit=0.5,
                says=f"Those are the launches alone, {q(LAUNCH, 's')} each. With kernels to run"
                f" the stream needs a little more: the readings make {q(pace, 's')} per kernel.",
            ),
            Belief(
                "one stream",
                right / p.streams,
                credit=0.5,
                says="That is what one stream takes, read correctly from the curve. There are"
                f" {p.streams} of them, and each begins when the one before it is done.",
            ),
        ],
        says=f"The slope between the readings is {q(pace, 's')} per kernel: shorter than launch and"
        f" kernel together ({q(LAUNCH + each, 's')}), longer than the kernel ({q(each, 's')}).",
    )


def kernels_left(given: Given) -> NumberKey:
    p = given.p
    goal = p.goal_pct / 100
    work, paces = p.kernels * p.kernel_us, p.kernels * p.kernel_us / p.launch_us
    right = paces / goal
    return NumberKey(
        right,
        tolerance=0.01,
        absolute=0.5,
        beliefs=[
            Belief(
                "launches one by one",
                paces * (1 - goal) / goal,
                credit=0.4,
                says="That many launches would do if each waited for its kernel. Here kernels run"
                " during the launches, so all of the pass may be launching.",
            ),
            Belief(
                "a GPU that is always busy",
                paces,
                credit=0.5,
                says="With that few kernels each lasts as long as a launch and the GPU never"
                f" waits. {p.goal_pct}% leaves room for some more.",
            ),
            Belief(
                "the goal multiplied",
                paces * goal,
                credit=0.4,
                says="You multiplied by the goal. The pass may be longer than the computing, not"
                " shorter: divide the compute time by the goal first.",
            ),
        ],
        says=f"{q(work * MICRO, 's')} of computing in {p.goal_pct}% of the time allows"
        f" {q(work * MICRO / goal, 's')} for the pass, and each launch takes {p.launch_us:g} µs of"
        f" it, so there is room for {q(math.floor(right + 1e-9))} launches. Fusing has to bring the"
        f" {q(p.kernels)} kernels down to that number.",
    )


def best_offer(given: Given) -> ChoiceKey:
    p = given.p
    wake = wake_us(p)
    launch, kernel = p.launch_us * MICRO, wake * MICRO
    # Per kernel of today.
    times = {
        "gpu": kernel / p.faster + launch,
        "compile": kernel + launch * (1 - p.fused_pct / 100),
        "ahead": max(kernel, launch),
    }
    each = {name: q(time, "s") for name, time in times.items()}
    right = min(times, key=lambda name: times[name])
    wrong = {
        "gpu": (
            "the faster GPU",
            f"The GPU shortens {wake:g} µs of computing and leaves {p.launch_us:g} µs of"
            f" launching: {each['gpu']} per kernel.",
        ),
        "compile": (
            "fewer launches",
            f"Compiling removes {p.fused_pct}% of the launches and leaves all {wake:g} µs of"
            f" computing: {each['compile']} per kernel.",
        ),
        "ahead": (
            "launching ahead",
            f"Launching ahead leaves the longer of {p.launch_us:g} µs and {wake:g} µs:"
            f" {each['ahead']} per kernel.",
        ),
    }
    return ChoiceKey(
        right,
        beliefs=[
            Belief(
                f"{name} helps most",
                key,
                credit=0.0,
                says=f"{told} Another change gets it down to {each[right]}.",
            )
            for key, (name, told) in wrong.items()
            if key != right
        ],
        says=f"{wrong[right][1]} The other two end at"
        f" {' and '.join(each[key] for key in times if key != right)}. What helps depends on"
        " which of the two, launch or kernel, is longer, and by how much.",
    )


# Act 2, fusion


def act2_fusion(given: Given) -> ChoiceKey:
    return _nearest(asked_fusion(given.p).values, float(FUSED.speedup))


def rows_until_traffic_counts(given: Given) -> NumberKey:
    p = given.p
    size = BYTES_PER_ELEMENT[p.precision]
    elements = p.launch_us * MICRO * A100.bandwidth / (2 * size)
    right = elements / p.columns
    return NumberKey(
        right,
        tolerance=0.01,
        absolute=1,
        beliefs=[
            Belief(
                "the write left out",
                2 * right,
                credit=0.5,
                idea="only what is read is moved",
                says="You moved each number once. The fused kernel reads the tensor and writes it,"
                f" {2 * size} bytes for each number.",
            ),
            Belief(
                "traffic of three kernels",
                right / 3,
                credit=0.4,
                says="That is the traffic of three separate kernels against one launch. Fused, the"
                " tensor is read once and written once.",
            ),
            Belief(
                "numbers for rows",
                elements,
                credit=0.5,
                says="That is how many numbers the tensor has at that point. A row holds"
                f" {p.columns:,} of them, so divide once more.",
            ),
            Belief(
                "three launches",
                3 * right,
                credit=0.4,
                says="You compared with three launches. The fused chain is one kernel with one"
                f" launch of {p.launch_us:g} µs.",
            ),
        ],
        says=f"{q(elements * 2 * size, 'B')} move in {p.launch_us:g} µs. Tensors with fewer than"
        f" {right:,.0f} rows gain mostly from the launches that fusing saves, larger ones from the"
        " traffic.",
    )


def _chains(given: Given) -> Fusion:
    """One chain of the student's model."""
    p = given.p
    return fuse(CHAIN, p.rows * p.columns, 2, A100, launch_overhead=p.launch_us * MICRO)


def fusion_saves_ms(given: Given) -> NumberKey:
    p, one = given.p, _chains(given)
    launches = float((one.unfused_launches - one.fused_launches) * one.launch_overhead)
    traffic = float((one.unfused_traffic - one.fused_traffic) / one.bandwidth)
    right = 1e3 * p.layers * float(one.unfused_time - one.fused_time)
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "launches alone",
                1e3 * p.layers * launches,
                credit=0.5,
                says=f"Those are the launches, {q(launches, 's')} in each layer. Four passes over"
                f" the tensor disappear too, another {q(traffic, 's')}.",
            ),
            Belief(
                "the write or the read left out",
                1e3 * p.layers * (launches + traffic / 2),
                credit=0.5,
                says="You counted each tensor between two operations once. One of them writes it"
                " and the next reads it, so four passes over it disappear in each layer,"
                f" {q(traffic, 's')}.",
            ),
            Belief(
                "one layer",
                right / p.layers,
                credit=0.5,
                says="That is what one chain saves. A pass goes through"
                f" {p.layers} layers, and each of them has such a chain.",
            ),
            Belief(
                "all of it saved",
                1.5e3 * p.layers * (launches + traffic),
                credit=0.3,
                says="You took off all launches and all traffic. The fused kernel still has one"
                " launch, one read and one write in each layer.",
            ),
        ],
        says=f"Each layer saves two launches ({q(launches, 's')}) and four passes over the tensor"
        f" ({q(traffic, 's')}). The arithmetic is the same before and after, so you never needed"
        " to know it.",
    )


def ridge_gap_times(given: Given) -> NumberKey:
    p = given.p
    size = BYTES_PER_ELEMENT[p.precision]
    fused = fuse(chain("layernorm", p.middle, p.activation), 1024, size, p.gpu)
    machine = devices[p.gpu]
    reached = p.reached_pct / 100
    bandwidth = reached * machine.bandwidth
    ridge, tensor_ridge = machine.elementwise_rate() / bandwidth, machine.ridge() / reached
    now, apart = float(fused.fused_intensity), float(fused.unfused_intensity)
    right = ridge / now
    moved = float(fused.fused_tensors)
    # A square product in fp32 does N / 6 FLOP per byte.
    product = math.ceil(ridge * 3 * BYTES_PER_ELEMENT["fp32"] / 2)
    return NumberKey(
        right,
        tolerance=0.015,
        beliefs=[
            Belief(
                "Tensor Cores do elementwise work",
                float(tensor_ridge) / now,
                credit=0.4,
                idea="a format brings its peak along",
                says=f"You took the ridge of the Tensor Cores, {q(tensor_ridge, 'FLOP/B')}. They"
                " multiply matrices and nothing else. This chain runs on the vector units, whose"
                f" ridge is at {q(ridge, 'FLOP/B')}.",
            ),
            Belief(
                "the bandwidth of the datasheet",
                right * reached,
                credit=0.6,
                says=f"You took the datasheet's {q(machine.bandwidth, 'B/s')}. Your GPU reached"
                f" {q(bandwidth, 'B/s')}, and slower memory moves the ridge up.",
            ),
            Belief(
                "three separate kernels",
                ridge / apart,
                credit=0.4,
                says=f"You used {q(apart, 'FLOP/B')}, the intensity of three separate kernels."
                f" Fused, the chain reads and writes less and has {q(now, 'FLOP/B')}.",
            ),
            Belief(
                "one tensor moved",
                right / moved,
                credit=0.4,
                says=f"You moved one tensor. The fused kernel moves {moved:.0f}: what it reads and"
                " what it writes.",
            ),
            Belief(
                "inverted",
                1 / right,
                credit=0.4,
                says="That is the intensity of the kernel as a fraction of the ridge. The question"
                " asks how many times more it would need.",
            ),
        ],
        says=f"Fusing raised {q(apart, 'FLOP/B')} to {q(now, 'FLOP/B')}, and at"
        f" {q(bandwidth, 'B/s')} the ridge of the vector units is at {q(ridge, 'FLOP/B')}. A square"
        f" matrix product in fp32 gets there with {product} rows, because it uses every number that"
        " often; Lab 11 goes on from there.",
    )


def kernels_after_fusing(given: Given) -> ChoiceKey:
    pairs = [(pair, can_fuse(*pair)) for pair in pairwise(sequence(given.p))]
    cuts = [each for each in pairs if not each[1].fusible]
    joins = [each for each in pairs if each[1].fusible]
    right = 1 + len(cuts)
    numbers = {int(shown): word for word, shown in asked_kernels(given.p).options.items()}
    beliefs = []
    for many, word in numbers.items():
        if many == right:
            continue
        # One pair that this answer gets wrong, a different one for each answer where there are.
        found = cuts if many < right else joins
        (first, second), verdict = found[(abs(many - right) - 1) % len(found)]
        both = f"{ops[first].name} and {ops[second].name}"
        wrong = "cannot share a kernel" if many < right else "can share a kernel"
        beliefs.append(
            Belief(
                f"{word} kernels",
                word,
                credit=0.0,
                says=f"With {word} kernels you fused too {'much' if many < right else 'little'}:"
                f" {both} {wrong}. {verdict.reason}",
            )
        )
    boundaries = "; ".join(f"{ops[a].name} | {ops[b].name}" for (a, b), _ in cuts)
    return ChoiceKey(
        numbers[right],
        beliefs=beliefs,
        says=f"The compiler has to cut at {boundaries}. {cuts[0][1].reason}",
    )


# Act 2, compiling


def act2_break_even(given: Given) -> ChoiceKey:
    images = break_even(RESNET.compile_time, RESNET.eager_rate, RESNET.compiled_rate)
    return _nearest(asked_break_even(given.p).values, float(images))


def _cloud(given: Given) -> Deployment:
    """A server of the image service from one deployment to the next."""
    p = given.p
    return deployment(
        p.compile_s,
        p.eager_rate,
        p.compiled_rate,
        per_day=p.server_images,
        days=1 / p.deploys,
    )


def _edge(given: Given, device: Device = ORIN) -> Deployment:
    """The keyword box from one model to the next, on its own device."""
    p = given.p
    return deployment(
        p.kws_compile_s,
        1 / float(run(KWS, device).total),
        gain=p.kws_gain,
        per_day=HOURS * p.per_hour,
        days=p.service_hours / HOURS,
    )


def deploys_per_day_limit(given: Given) -> NumberKey:
    p, cloud = given.p, _cloud(given)
    right = p.server_images / float(cloud.break_even)
    gain = p.compiled_rate / p.eager_rate - 1
    saved = p.server_images * float(cloud.saved_per_inference)
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "gain taken as time saved",
                p.server_images * gain / p.eager_rate / p.compile_s,
                credit=0.4,
                says=f"You took {q(gain, '%')} more throughput for {q(gain, '%')} less time. An"
                f" image gets shorter by {q(1 - p.eager_rate / p.compiled_rate, '%')}.",
            ),
            Belief(
                "all the work of a day",
                p.server_images / p.eager_rate / p.compile_s,
                credit=0.2,
                says="You divided all the eager time of a day by the compile time. Compiling saves"
                " only a part of that time.",
            ),
            Belief(
                "difference of the rates",
                p.server_images / (p.compile_s * (p.compiled_rate - p.eager_rate)),
                credit=0.2,
                says="You used the difference of the rates. What an image saves is the difference"
                f" of the times, {q(cloud.saved_per_inference, 's')}.",
            ),
            Belief(
                "inverted",
                1 / right,
                credit=0.4,
                says="That is how many days one deployment must last. The question asks how many"
                " fit into a day.",
            ),
        ],
        says=f"A day of images saves {q(saved, 's')}, and each deployment spends {p.compile_s} s"
        " of it again. Volume alone does not decide; volume between two deployments does.",
    )


def server_images_million(given: Given) -> NumberKey:
    p, cloud = given.p, _cloud(given)
    million = 1e6
    right = p.deploys * float(cloud.break_even) / million
    gain = p.compiled_rate / p.eager_rate - 1
    spent = p.deploys * p.compile_s
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "gain taken as time saved",
                spent * p.eager_rate / gain / million,
                credit=0.4,
                says=f"You took {q(gain, '%')} more throughput for {q(gain, '%')} less time. An"
                f" image gets shorter by {q(1 - p.eager_rate / p.compiled_rate, '%')}.",
            ),
            Belief(
                "all the time of an image",
                spent * p.eager_rate / million,
                credit=0.2,
                says="You let every image pay with all of its eager time. It pays with what"
                " compiling saves, which is only a part of that.",
            ),
            Belief(
                "difference of the rates",
                spent * (p.compiled_rate - p.eager_rate) / million,
                credit=0.2,
                says="You used the difference of the rates. What an image saves is the difference"
                f" of the times, {q(cloud.saved_per_inference, 's')}.",
            ),
            Belief(
                "one deployment",
                right / p.deploys,
                credit=0.5,
                says=f"That many images pay for one deployment. There are {p.deploys} of them per"
                " day, and each compiles again.",
            ),
            Belief(
                "images for millions",
                right * million,
                credit=0.6,
                form=True,
                says="That is the number of images. The question asks for millions of them, so"
                " leave out six zeros.",
            ),
        ],
        says=f"The deployments of a day spend {q(spent, 's')} on compiling, and an image saves"
        f" {q(cloud.saved_per_inference, 's')} of it. Volume alone does not decide; volume between"
        " two deployments does.",
    )


def edge_requests_per_hour(given: Given) -> NumberKey:
    p, edge = given.p, _edge(given)
    requests = float(edge.break_even)
    right = requests / p.service_hours
    cloud = float(_edge(given, A100).break_even)
    taken = 1 / float(edge.eager_rate)
    return NumberKey(
        right,
        tolerance=0.01,
        beliefs=[
            Belief(
                "the pass of the A100",
                cloud / p.service_hours,
                credit=0.3,
                says="That is the pass of an A100. On the Orin NX a launch costs five times as much"
                f" and a pass takes {q(taken, 's')}, so each request saves more.",
            ),
            Belief(
                "gain taken as time saved",
                p.kws_compile_s / (taken * p.kws_gain) / p.service_hours,
                credit=0.4,
                says=f"You took {q(p.kws_gain, '%')} more throughput for {q(p.kws_gain, '%')} less"
                f" time. A pass gets shorter by {q(p.kws_gain / (1 + p.kws_gain), '%')}.",
            ),
            Belief(
                "requests until break-even",
                requests,
                credit=0.5,
                says=f"That is how many requests pay for compiling. They have to arrive within"
                f" {p.service_hours} hours.",
            ),
        ],
        says=f"A request saves {q(edge.saved_per_inference, 's')} of {q(taken, 's')}, so"
        f" {p.kws_compile_s} s of compiling need {q(requests)} requests before the model is"
        " replaced.",
    )


def _calls(result: str) -> str:
    """Return the source of a rule for the script."""
    return (
        "from math import ceil\n"
        "def calls_to_break_even(compile_s, eager_ms, compiled_ms):\n"
        f"    return {result}"
    )


def _if_faster(result: str) -> str:
    return _calls(f"{result} if compiled_ms < eager_ms else None")


def _cases_of_compiling(given: Given) -> list[tuple[float, float, float]]:
    """Calls that pay at some time, at a whole number, at once, and never."""
    p = given.p
    chance = random.Random(f"{p.compile_s} {p.server_images} {p.eager_rate}")
    usual: list[tuple[float, float, float]] = []
    while len(usual) < 6:
        compile_s, eager = chance.randint(10, 90), chance.randint(80, 500) / 10
        compiled = round(eager * chance.uniform(0.5, 0.95), 1)
        # Far from a whole number, which rounding in binary could miss.
        if 0.15 < 1000 * compile_s / (eager - compiled) % 1 < 0.85:
            usual.append((compile_s, eager, compiled))
    step, whole = chance.randint(2, 9), chance.randint(20, 40)
    exact = (step * chance.randint(5, 40) / 8, whole, whole - step)
    slower = (chance.randint(10, 90), whole, whole + step)
    return [*usual, exact, (0, whole, whole - step), slower, (slower[0], whole, whole)]


def when_to_compile(given: Given) -> CodeKey:
    saved = "(eager_ms - compiled_ms)"
    return CodeKey(
        _if_faster(f"ceil(1000 * compile_s / {saved})"),
        _cases_of_compiling(given),
        [
            Belief(
                "rounded down",
                _if_faster(f"int(1000 * compile_s / {saved})"),
                credit=0.4,
                says="Calls come whole, and one fewer has not paid for compiling yet: round up to"
                " the next call.",
            ),
            Belief(
                "not rounded",
                _if_faster(f"1000 * compile_s / {saved}"),
                credit=0.4,
                says="Nobody calls a model for a fraction of a call: round up to the next one.",
            ),
            Belief(
                "one call too many",
                _if_faster(f"int(1000 * compile_s / {saved}) + 1"),
                credit=0.8,
                says="Where the division comes out even, the last call has paid: add none to it.",
            ),
            Belief(
                "seconds by milliseconds",
                _if_faster(f"ceil(compile_s / {saved})"),
                credit=0.3,
                says="You divided seconds by milliseconds, so what you count is not calls yet:"
                " bring both times to one unit first.",
            ),
            Belief(
                "all the time of a call",
                _if_faster("ceil(1000 * compile_s / eager_ms)"),
                credit=0.3,
                says="You let every call pay with all of its eager time. It pays with what"
                " compiling saves, the difference of the two.",
            ),
            Belief(
                "never pays, and a number",
                _calls(f"ceil(1000 * compile_s / {saved})"),
                credit=0.8,
                says="Here a compiled call is not faster, so no number of calls pays for compiling."
                " Test that before you divide.",
            ),
        ],
        says="It counts whole calls, needs none if compiling costs nothing, and refuses where a"
        " compiled call is not faster. That last test would have spared the CI job.",
    )


def where_to_compile(given: Given) -> ChoiceKey:
    cloud, edge = _cloud(given), _edge(given)
    words = {
        "both": (True, True),
        "cloud": (True, False),
        "edge": (False, True),
        "neither": (False, False),
    }
    truth = bool(cloud.roi_positive), bool(edge.roi_positive)
    right = next(word for word, pays in words.items() if pays == truth)

    def told(of: Deployment, where: str, unit: str) -> str:
        kept = "more" if of.roi_positive else "fewer"
        return (
            f"{where} sees {q(of.inferences)} {unit} between two compilations, {kept} than the"
            f" {q(of.break_even)} that pay for one"
        )

    facts = (told(cloud, "A server", "images"), told(edge, "the box", "requests"))
    beliefs = []
    for word, pays in words.items():
        if word == right:
            continue
        # What this answer gets wrong, and not what it gets right.
        missed = [fact for fact, mine, so in zip(facts, pays, truth, strict=True) if mine != so]
        said = ", and ".join(missed)
        beliefs.append(
            Belief(
                f"compile: {word}",
                word,
                credit=0.3 if len(missed) == 1 else 0.0,
                says=f"{said[:1].upper()}{said[1:]}. Count what arrives between two"
                " compilations, not in a day.",
            )
        )
    return ChoiceKey(
        right,
        beliefs=beliefs,
        says=f"{facts[0]}, and {facts[1]}. The volume between two compilations decides.",
    )
