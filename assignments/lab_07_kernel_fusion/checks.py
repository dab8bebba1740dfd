"""The keys of lab_07_kernel_fusion. This file stays in the course; students never get it."""

import math

from mlsys_widgets import measured
from mlsys_widgets.grading import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.measured import findings
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    ForwardPass,
    Fusion,
    break_even,
    can_fuse,
    chain,
    deployment,
    devices,
    format_quantity,
    forward_pass,
    fuse,
    run,
    workloads,
)
from mlsys_widgets.physics.dispatch import Launch

MICRO = 1e-6
MEGA = 1e6
HOURS = 24
H200 = measured.load("h200-sxm")
LAUNCH = measured.ceilings(H200).launch or 0.0
#: Streams of kernels of about 5 µs on that GPU, by their number.
STREAMS = {
    case.kernels: case
    for case in measured.cases(H200, kind="dispatch", variant="eager", length="5us")
}


def _pass(
    given: Given, launch: Launch = "serial", faster: float = 1.0, sooner: float = 1.0
) -> ForwardPass:
    """The student's build; computing and launching that many times faster."""
    p = given.p
    return forward_pass(
        p.kernels, p.kernel_us * MICRO / faster, p.launch_us * MICRO / sooner, launch=launch
    )


def _idle(one: ForwardPass) -> float:
    return 100 * float(one.dispatch / one.total)


def _busy(one: ForwardPass) -> float:
    return 100 * float(one.utilization)


def _nearest(options: dict[str, float], actual: float) -> ChoiceKey:
    """The option whose number is nearest, as a ratio."""
    return ChoiceKey(min(options, key=lambda key: abs(math.log(options[key] / actual))))


# Act 1


def act1_utilization(given: Given) -> ChoiceKey:
    kws = workloads["kws"]
    asked = forward_pass(kws.kernels, kws.compute_per_kernel, devices["a100-sxm"].launch())
    return _nearest({"A": 0.9, "B": 0.5, "C": 0.33, "D": 0.05}, float(asked.utilization))


def kws_utilization_pct(given: Given) -> NumberKey:
    asked = _pass(given)
    once = forward_pass(1, asked.compute, asked.launch_overhead)
    return NumberKey(
        _busy(asked),
        tolerance=0.03,
        beliefs=[
            Belief(
                "waiting for computing",
                _idle(asked),
                credit=0.4,
                says="That is the share in which the GPU waits for launches; the question asks for"
                " the rest.",
            ),
            Belief(
                "compute over launch",
                100 * float(asked.compute_per_kernel / asked.launch_overhead),
                credit=0.3,
                says="You divided the kernel by its launch. The whole is both together: a share is"
                " a part over the whole.",
            ),
            Belief(
                "a fraction for a percentage",
                float(asked.utilization),
                credit=0.6,
                form=True,
                says="That is a fraction; the name of the answer asks for percent.",
            ),
            Belief(
                "one launch for all kernels",
                _busy(once),
                credit=0.1,
                says="You paid for one launch at most. Every kernel has its own.",
            ),
        ],
        says="The number of kernels drops out: what counts is a kernel beside its launch.",
    )


def faster_gpu_utilization_pct(given: Given) -> NumberKey:
    before, after = _pass(given), _pass(given, faster=given.p.faster)
    return NumberKey(
        _busy(after),
        tolerance=0.03,
        beliefs=[
            Belief(
                "a faster GPU is as busy",
                _busy(before),
                credit=0.1,
                says="That is the old GPU. Only the kernels got shorter; launches cost what they"
                " cost before.",
            ),
            Belief(
                "utilisation divided by the speed",
                _busy(before) / given.p.faster,
                credit=0.4,
                says="You divided the share itself. The kernel gets shorter, and so does the whole"
                " that it is a part of.",
            ),
            Belief(
                "launches get faster",
                _busy(_pass(given, sooner=given.p.faster)),
                credit=0.2,
                says="You made launches faster. They are the CPU's work; the new GPU shortens the"
                " kernels.",
            ),
            Belief(
                "waiting for computing",
                _idle(after),
                credit=0.4,
                says="That is the share in which the new GPU waits; the question asks for the"
                " rest.",
            ),
            Belief(
                "a fraction for a percentage",
                float(after.utilization),
                credit=0.6,
                form=True,
                says="That is a fraction; the name of the answer asks for percent.",
            ),
        ],
        says="A faster GPU ends sooner and waits as long as before, so it is less busy.",
    )


def most_from_compiling(given: Given) -> ChoiceKey:
    names = {"kws": "kws", "resnet50": "resnet50", "gpt2-layer": "gpt2"}
    gains = {
        name: float(run(key, "a100-sxm").total / run(key, "a100-sxm", "compiled").total)
        for key, name in names.items()
    }
    return ChoiceKey(
        max(gains, key=lambda name: gains[name]),
        beliefs=[
            Belief(
                "the middle gains most",
                "resnet50",
                credit=0.0,
                says="It has fewer launches, and each is short beside its kernel. See the table.",
            ),
            Belief(
                "the largest gains most",
                "gpt2",
                credit=0.0,
                says="Large kernels hardly notice their launches, so there is little to win.",
            ),
            Belief(
                "all gain alike",
                "alike",
                credit=0.0,
                says="Compiling removes launches, and their share differs from model to model.",
            ),
        ],
        says="Where launches take most of the time, there is most to win.",
    )


def _stream(kernels: int) -> tuple[float, float]:
    """Wall time and busy time of a stream that was measured."""
    return STREAMS[kernels].seconds.median, STREAMS[kernels].gpu_busy or 0.0


def act1_real(given: Given) -> NumberKey:
    wall, busy = _stream(1000)
    return NumberKey(busy / wall, tolerance=0.1)


def async_utilization_pct(given: Given) -> NumberKey:
    ahead, serial = _pass(given, "async"), _pass(given)
    return NumberKey(
        _busy(ahead),
        tolerance=0.03,
        beliefs=[
            Belief(
                "launches wait all the same",
                _busy(serial),
                credit=0.2,
                says="That is launching one by one. Here a kernel runs while the next is being"
                " launched.",
            ),
            Belief(
                "launches are hidden for good",
                100.0,
                credit=0.2,
                says="Launches would be hidden if kernels were longer. Yours are shorter, so the"
                " GPU still waits for each launch.",
            ),
            Belief(
                "inverted",
                100 * float(ahead.launch_overhead / ahead.compute_per_kernel),
                credit=0.3,
                form=True,
                says="A share of the time cannot exceed 100 percent: you divided the other way"
                " round.",
            ),
            Belief(
                "a fraction for a percentage",
                float(ahead.utilization),
                credit=0.6,
                form=True,
                says="That is a fraction; the name of the answer asks for percent.",
            ),
        ],
        says="One launch for each kernel sets the pace, and the kernel fits into it.",
    )


def serial_stream_ms(given: Given) -> NumberKey:
    kernels = given.p.stream_kernels
    wall, busy = _stream(kernels)
    serial = forward_pass(kernels, busy / kernels, LAUNCH)
    return NumberKey(
        1e3 * float(serial.total),
        tolerance=0.02,
        beliefs=[
            Belief(
                "kernels left out",
                1e3 * kernels * LAUNCH,
                credit=0.3,
                says="These are the launches alone. One by one, the kernels come on top.",
            ),
            Belief(
                "launches left out",
                1e3 * busy,
                credit=0.3,
                says="These are the kernels alone. One by one, a launch comes before each.",
            ),
            Belief(
                "µs for ms",
                1e6 * float(serial.total),
                credit=0.6,
                form=True,
                says="Those are microseconds; the name of the answer asks for milliseconds.",
            ),
            Belief(
                "s for ms",
                float(serial.total),
                credit=0.6,
                form=True,
                says="Those are seconds; the name of the answer asks for milliseconds.",
            ),
        ],
        says=f"That is {format_quantity(serial.total / wall, '×')} what was measured, so launches"
        " did not wait.",
    )


def launches_on_gpu(given: Given) -> ChoiceKey:
    p = given.p
    wall, busy = _stream(p.stream_kernels)
    each = busy / p.stream_kernels
    ways = {"serial": "serial", "async": "asynchronous", "graph": "graph"}
    off = {
        name: abs(float(forward_pass(p.stream_kernels, each, LAUNCH, launch=way).total) - wall)
        for way, name in ways.items()
    }
    return ChoiceKey(
        min(off, key=lambda name: off[name]),
        beliefs=[
            Belief(
                "launches wait for kernels",
                "serial",
                credit=0.0,
                says="Then the stream would have taken longer than it did, as you computed.",
            ),
            Belief(
                "one launch for all",
                "graph",
                credit=0.2,
                says="Then the stream would take little more than its kernels. It took as long as"
                " the slower of launches and kernels.",
            ),
        ],
        says="Wall time follows the slower of launches and kernels: launches run ahead.",
    )


# Act 2, fusion


def _fused(given: Given) -> Fusion:
    p = given.p
    return fuse(chain("layernorm", "dropout", "relu"), p.rows * p.columns, 2, "a100-sxm")


def act2_fusion(given: Given) -> ChoiceKey:
    size = workloads["layernorm-dropout-relu"].elements
    fused = fuse(chain("layernorm", "dropout", "relu"), size, 2, "a100-sxm")
    claim = findings.CLAIMED_FUSION_SPEEDUP
    return _nearest({"A": 1.2, "B": 2.5, "C": claim, "D": 15}, float(fused.speedup))


def traffic_saved_mb(given: Given) -> NumberKey:
    fused = _fused(given)
    saved = float(fused.unfused_traffic - fused.fused_traffic)
    return NumberKey(
        saved / MEGA,
        tolerance=0.02,
        beliefs=[
            Belief(
                "all traffic for the saving",
                float(fused.unfused_traffic) / MEGA,
                credit=0.4,
                says="That is all that three kernels move. The fused kernel still reads and"
                " writes.",
            ),
            Belief(
                "what remains for the saving",
                float(fused.fused_traffic) / MEGA,
                credit=0.4,
                says="That is what the fused kernel still moves, or your elements have one byte"
                " each. The saving is what no longer moves.",
            ),
            Belief(
                "four bytes for fp16",
                saved * BYTES_PER_ELEMENT["fp32"] / BYTES_PER_ELEMENT["fp16"] / MEGA,
                credit=0.5,
                says="You counted four bytes for an element. That is fp32; the tensor is in fp16.",
            ),
            Belief(
                "binary megabytes",
                saved / 2**20,
                credit=0.6,
                says="You divided by 1,048,576. That is a MiB; here a megabyte is a million bytes.",
            ),
        ],
        says="Six passes over the tensor become two.",
    )


def fusion_speedup_times(given: Given) -> NumberKey:
    fused = _fused(given)
    free = fuse(
        chain("layernorm", "dropout", "relu"),
        fused.elements,
        2,
        "a100-sxm",
        launch_overhead=0.0,
    )
    return NumberKey(
        float(fused.speedup),
        tolerance=0.02,
        beliefs=[
            Belief(
                "the ratio of the traffic",
                float(fused.traffic_reduction),
                credit=0.3,
                says="Traffic and launches fall by that much. The arithmetic stays, and it is a"
                " part of both times.",
            ),
            Belief(
                "the claim of the text",
                findings.CLAIMED_FUSION_SPEEDUP,
                credit=0.0,
                says="That is the claim. Add up both times from the numbers you are given.",
            ),
            Belief(
                "launches left out",
                float(free.speedup),
                credit=0.3,
                says="You left the launches out. There are three before fusing and one after.",
            ),
            Belief(
                "inverted",
                1 / float(fused.speedup),
                credit=0.5,
                says="That is the fused time over the unfused one; the question asks how many times"
                " faster.",
            ),
        ],
        says="Launches and traffic fall to a third, the arithmetic stays: less than three in all.",
    )


def fused_intensity_flop_per_byte(given: Given) -> NumberKey:
    p = given.p
    size = BYTES_PER_ELEMENT[p.precision]
    fused = fuse(chain("layernorm", "dropout", p.activation), p.rows * p.columns, size)
    right = float(fused.fused_intensity)
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "before fusing",
                float(fused.unfused_intensity),
                credit=0.3,
                says="That is the intensity of three kernels of their own, which read and write"
                " the tensor three times.",
            ),
            Belief(
                "the write left out",
                right * 2,
                credit=0.5,
                says="You counted one pass over the tensor. The fused kernel reads it and writes"
                " it.",
            ),
            Belief(
                "inverted",
                1 / right,
                credit=0.3,
                says="These are bytes per FLOP; the question asks for FLOP per byte.",
            ),
            Belief(
                "fusing reaches the ridge",
                float(devices["a100-sxm"].ridge()),
                credit=0.0,
                says="That is the ridge, where arithmetic would begin to limit. Fused elementwise"
                " operations stay far below it.",
            ),
        ],
        says="Three times as much as before, and still far below the ridge. Lab 11 goes on here.",
    )


def which_pair_fuses(given: Given) -> ChoiceKey:
    pairs = {
        "sum-multiply": ("sum", "mul"),
        "matmul-relu": ("matmul", "relu"),
        "gelu-matmul": ("gelu", "matmul"),
        "matmul-softmax": ("matmul", "softmax"),
    }
    verdicts = {name: can_fuse(*pair) for name, pair in pairs.items()}
    right = next(name for name, verdict in verdicts.items() if verdict.fusible)
    return ChoiceKey(
        right,
        beliefs=[
            Belief(f"{name} fuses", name, credit=0.0, says=verdict.reason)
            for name, verdict in verdicts.items()
            if name != right
        ],
        says=verdicts[right].reason,
    )


# Act 2, compiling


def act2_break_even(given: Given) -> ChoiceKey:
    resnet = workloads["resnet50"]
    images = break_even(resnet.compile_time, resnet.eager_rate, resnet.compiled_rate)
    return _nearest({"A": 1e3, "B": 1e4, "C": 1.3e5, "D": 1e7}, float(images))


def break_even_images(given: Given) -> NumberKey:
    p = given.p
    right = float(break_even(p.compile_s, p.eager_rate, p.compiled_rate))
    gain = p.compiled_rate / p.eager_rate - 1
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "eager images while compiling",
                p.compile_s * p.eager_rate,
                credit=0.2,
                says="So many images an eager model would have done while yours was compiled. Each"
                " compiled image wins back only a part of its time.",
            ),
            Belief(
                "difference of the rates",
                p.compile_s * (p.compiled_rate - p.eager_rate),
                credit=0.2,
                says="You used the difference of the rates. What an image saves is the difference"
                " of the times.",
            ),
            Belief(
                "gain taken as time saved",
                p.compile_s * p.eager_rate / gain,
                credit=0.4,
                says="You took the gain in throughput for the share of time that is saved. Half as"
                " much throughput again saves a third of the time, not a half.",
            ),
            Belief(
                "milliseconds for seconds",
                right / 1e3,
                credit=0.5,
                form=True,
                says="You mixed units: the time an image saves is in milliseconds, the compile time"
                " in seconds.",
            ),
        ],
        says="Compile time over the time that each image saves.",
    )


def ci_loss_s(given: Given) -> NumberKey:
    p = given.p
    job = deployment(p.compile_s, p.eager_rate, p.compiled_rate, per_day=p.ci_images, days=1)
    loss, saved = -float(job.net_saved), float(job.saved)
    return NumberKey(
        loss,
        tolerance=0.02,
        beliefs=[
            Belief(
                "nothing is won back",
                float(p.compile_s),
                credit=0.2,
                says="That is the compile time alone. The images do run faster afterwards.",
            ),
            Belief(
                "what is won back",
                saved,
                credit=0.4,
                says="That is what the images win back. The job still owes the rest.",
            ),
            Belief(
                "the saving added",
                p.compile_s + saved,
                credit=0.2,
                says="You added what is saved to what is spent. Saving makes the loss smaller.",
            ),
            Belief(
                "loss for gain",
                -loss,
                credit=0.4,
                says="The size is right. The sign says that the job ends sooner, and it ends"
                " later.",
            ),
        ],
        says="The job ends before the break-even, so compiling costs more than it saves.",
    )


def _box(given: Given) -> tuple[float, float]:
    """Eager requests a second, and the requests after which compiling has paid."""
    p = given.p
    eager = 1 / float(run("kws", "a100-sxm").total)
    return eager, float(break_even(p.kws_compile_s, eager, eager * (1 + p.kws_gain)))


def kws_break_even_hours(given: Given) -> NumberKey:
    p = given.p
    eager, requests = _box(given)
    right = requests / p.per_hour
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "per day for per hour",
                right * HOURS,
                credit=0.4,
                says="You took the requests of an hour for those of a day.",
            ),
            Belief(
                "requests for hours",
                requests,
                credit=0.5,
                says="That is the number of requests. How long does the box need to get them?",
            ),
            Belief(
                "days for hours",
                right / HOURS,
                credit=0.6,
                says="Those are days; the name of the answer asks for hours.",
            ),
            Belief(
                "gain taken as time saved",
                p.kws_compile_s * eager / p.kws_gain / p.per_hour,
                credit=0.4,
                says="You took the gain in throughput for the share of time that is saved. A pass"
                " gets shorter by less than that.",
            ),
            Belief(
                "a box that is always busy",
                requests / eager / 3600,
                credit=0.2,
                says="So long the box would compute without a break. It waits for requests most of"
                " the time.",
            ),
        ],
        says="Few requests, so it takes long to win back even a short compile time.",
    )


def where_to_compile(given: Given) -> ChoiceKey:
    p = given.p
    eager, requests = _box(given)
    hours = round(p.service_share * requests / p.per_hour)
    cloud = deployment(p.compile_s, p.eager_rate, p.compiled_rate, per_day=1e7, days=30)
    edge = deployment(
        p.kws_compile_s, eager, gain=p.kws_gain, per_day=HOURS * p.per_hour, days=hours / HOURS
    )
    words = {
        (True, True): "both",
        (True, False): "cloud",
        (False, True): "edge",
        (False, False): "neither",
    }
    return ChoiceKey(
        words[bool(cloud.roi_positive), bool(edge.roi_positive)],
        beliefs=[
            Belief(
                "compiling always pays",
                "both",
                credit=0.3,
                says="At the edge the model is replaced before compiling has paid: compare with"
                " your hours.",
            ),
            Belief(
                "small models always gain",
                "edge",
                credit=0.0,
                says="The spotter gains much in each pass, but the box sees too few of them. The"
                " cloud passes its break-even on the first day.",
            ),
            Belief(
                "compiling never pays",
                "neither",
                credit=0.0,
                says="Compare the images of one day in the cloud with your break-even.",
            ),
        ],
        says="Volume and time in service decide, not the model.",
    )
