"""The keys of Lab 01. This file stays in the course; students never get it."""

from math import ceil, log10

from mlsys_widgets.grading import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    IronLawTime,
    devices,
    iron_law,
    workloads,
)

H100 = devices["h100-sxm"]
M7 = devices["cortex-m7"]
RESNET = workloads["resnet50-inference"]
#: How far the arithmetic of the text is off where it says ns and means µs.
SLIP = 1e3


def _cloud(given: Given, rate: float | None = None) -> IronLawTime:
    """The student's ResNet-50 on an H100, one image, without latency."""
    p = given.p
    return iron_law(p.model_mb * 1e6, p.model_gflop * 1e9, H100, rate=rate)


def _served(given: Given, batch: int, *, overlapped: bool = False) -> IronLawTime:
    """A batch of the student's service."""
    p = given.p
    return iron_law(
        p.model_mb * 1e6,
        p.model_gflop * 1e9,
        H100,
        efficiency=p.efficiency_pct / 100,
        latency=H100.launch(),
        batch=batch,
        overlapped=overlapped,
    )


def _board(given: Given) -> IronLawTime:
    """The student's ResNet-50 on the student's board, as if it had not to fit."""
    p = given.p
    return iron_law(
        p.model_mb * 1e6,
        p.model_gflop * 1e9,
        bandwidth=p.mcu_mb_per_s * 1e6,
        rate=p.mcu_mflops * 1e6,
        latency=M7.launch(),
    )


# Act I


def act1_gap(given: Given) -> ChoiceKey:
    ratio = H100.peak("fp16") / M7.peak("fp32")
    orders = {"A": 2, "B": 4, "C": 6, "D": 9}
    return ChoiceKey(min(orders, key=lambda option: abs(orders[option] - log10(ratio))))


def compute_gap_times(given: Given) -> NumberKey:
    board = given.p.mcu_mflops * 1e6
    right = H100.peak("fp16") / board
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "sparse peak for dense",
                H100.peak("fp16", sparse=True) / board,
                credit=0.5,
                says="That is the peak with 2:4 sparsity, which skips half of the work. The "
                "question names the dense one.",
            ),
            Belief(
                "fp32 of the H100",
                H100.peak("fp32") / board,
                credit=0.4,
                says="That is the H100's peak in fp32, on its vector units. The question names "
                "fp16 on one side: what each machine is built to run.",
            ),
            Belief(
                "three orders too many",
                right * SLIP,
                credit=0.2,
                form=True,
                says="That is about nine orders of magnitude, three too many. From MFLOP/s to "
                "TFLOP/s there are two steps of a thousand.",
            ),
            Belief(
                "three orders too few",
                right / SLIP,
                credit=0.2,
                says="A prefix is lost: from MFLOP/s to TFLOP/s there are two steps of a thousand.",
            ),
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                form=True,
                says="Upside down: that is the board's share of an H100.",
            ),
            Belief(
                "orders for times",
                log10(right),
                credit=0.4,
                says="Those are the orders of magnitude. The question asks for the factor itself.",
            ),
        ],
        says="Six orders of magnitude; the draft's nine are three too many. What takes an H100 a "
        "second would take the board more than a week.",
    )


def flop_per_joule_times(given: Given) -> NumberKey:
    compute = H100.peak("fp16") / (given.p.mcu_mflops * 1e6)
    power = H100.power / (given.p.mcu_mw * 1e-3)
    right = compute / power
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                form=True,
                says="Upside down: that says the board gets more out of a joule. It draws little "
                "power, which is not the same.",
            ),
            Belief(
                "gap in power alone",
                power,
                credit=0.1,
                says="That is how much more power the H100 draws. It also does far more with it.",
            ),
            Belief(
                "gap in compute alone",
                compute,
                credit=0.1,
                says="That is how much more the H100 does in a second. A second of an H100 also "
                "takes far more joules.",
            ),
            Belief(
                "gaps multiplied",
                compute * power,
                credit=0.2,
                says="You multiplied the two gaps. More power for the work makes a machine less "
                "efficient, so it divides.",
            ),
            Belief(
                "milliwatts for watts",
                right * SLIP,
                credit=0.4,
                says="The board's power went in as watts. It is in milliwatts.",
            ),
            Belief(
                "sparse peak for dense",
                right * H100.peak("fp16", sparse=True) / H100.peak("fp16"),
                credit=0.5,
                says="That is with the sparse peak. What is done must be counted, not what is "
                "skipped.",
            ),
        ],
        says="At its peak the H100 is the efficient one. The board is merely the frugal one.",
    )


def case_for_tiny(given: Given) -> ChoiceKey:
    return ChoiceKey(
        "budget",
        beliefs=[
            Belief(
                "little power means efficient",
                "efficiency",
                credit=0.0,
                says="Your own number says otherwise: per joule the H100 does more. Few watts are "
                "not few joules for each operation.",
            ),
            Belief(
                "near means fast",
                "speed",
                credit=0.1,
                says="It saves the way through the network, but computes slower by six orders.",
            ),
            Belief(
                "more bits are right",
                "precision",
                credit=0.0,
                says="Keyword models run well in int8. Precision is not what separates the two.",
            ),
        ],
        says="Not cheap for each operation, but cheap enough for the few that it does: always on, "
        "on a battery, with no network to wait for or to trust.",
    )


# Act II


def act2_term(given: Given) -> ChoiceKey:
    binding = iron_law(RESNET.data, RESNET.operations, H100).binding
    return ChoiceKey({"compute": "A", "memory": "B"}[str(binding)])


def act2_batch(given: Given) -> NumberKey:
    one = iron_law(RESNET.data, RESNET.operations, H100)
    # As close as the reveal calls close.
    return NumberKey(float(one.compute_bound_batch), tolerance=0.25)


def compute_term_us(given: Given) -> NumberKey:
    right = _cloud(given).compute_time * 1e6
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "a thousand times too short",
                right / SLIP,
                credit=0.3,
                form=True,
                says="A thousand times too short: that is the blog's “4 ns”, or your answer is in "
                "milliseconds. G over T is 10⁻³, so GFLOP over TFLOP/s gives milliseconds.",
            ),
            Belief(
                "a thousand times too long",
                right * SLIP,
                credit=0.3,
                form=True,
                says="A thousand times too long: that is the number of nanoseconds, or a prefix is "
                "lost.",
            ),
            Belief(
                "sparse peak for dense",
                _cloud(given, H100.peak("fp16", sparse=True)).compute_time * 1e6,
                credit=0.5,
                says="That is with the sparse peak. Nothing says that half of these weights are "
                "zero.",
            ),
            Belief(
                "fp32 peak",
                _cloud(given, H100.peak("fp32")).compute_time * 1e6,
                credit=0.4,
                says="That is the time on the vector units in fp32. The question names the fp16 "
                "peak.",
            ),
            Belief(
                "memory term",
                _cloud(given).memory_time * 1e6,
                credit=0.2,
                says="That is the memory term: the weights over the bandwidth.",
            ),
            Belief(
                "two FLOP for each FLOP",
                2 * right,
                credit=0.4,
                says="You counted a multiply-add as two. The question gives FLOP, where that is "
                "done already.",
            ),
        ],
        says="A few microseconds, not nanoseconds.",
    )


def memory_to_compute_times(given: Given) -> NumberKey:
    one = _cloud(given)
    right = one.memory_to_compute
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "nanoseconds for microseconds",
                right * SLIP,
                credit=0.3,
                form=True,
                says="That is the blog's ratio, a thousand times too large: its compute term is in "
                "the wrong unit.",
            ),
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                says="Upside down: that is compute over memory.",
            ),
            Belief(
                "total over compute",
                one.total / one.compute_time,
                credit=0.4,
                says="You divided the whole time by the compute term. Compare the two terms.",
            ),
            Belief(
                "sparse peak for dense",
                _cloud(given, H100.peak("fp16", sparse=True)).memory_to_compute,
                credit=0.5,
                says="With the sparse peak the compute term looks half as long as it is.",
            ),
            Belief(
                "share of the total",
                one.memory_time / one.total,
                credit=0.3,
                says="That is the share of the memory term in the whole. Compare the two terms.",
            ),
        ],
        says="Memory-bound, and by less than one order. The blog was three orders off.",
    )


def compute_bound_batch_images(given: Given) -> NumberKey:
    one = _cloud(given)
    ratio, right = float(one.memory_to_compute), float(one.compute_bound_batch)
    sparse = _cloud(given, H100.peak("fp16", sparse=True))
    beliefs = [
        Belief(
            "rounded down",
            right - 1,
            credit=0.5,
            says="Close. With that many images memory still takes a little longer: the first "
            "compute-bound batch is the next one.",
        ),
        Belief(
            "compute-bound from the start",
            1.0,
            credit=0.0,
            says="One image is memory-bound: your last number said by how much.",
        ),
        Belief(
            "sparse peak for dense",
            float(sparse.compute_bound_batch),
            credit=0.5,
            says="That is with the sparse peak, with which there is more arithmetic to fill.",
        ),
        Belief(
            "nanoseconds for microseconds",
            float(ceil(ratio * SLIP)),
            credit=0.2,
            form=True,
            says="That follows from the blog's ratio, whose compute term is in the wrong unit.",
        ),
        Belief(
            "the ridge as a batch",
            float(H100.ridge("fp16")),
            credit=0.1,
            says="That is the ridge of the H100, in FLOP for each byte. One image brings some of "
            "these already.",
        ),
    ]
    # Where the ratio is next to a whole number, rounding it is no mistake of its own.
    if 0.15 < ratio % 1 < 0.85:
        beliefs.append(
            Belief(
                "not a whole batch",
                ratio,
                credit=0.6,
                form=True,
                says="There the two terms are equal. A batch has a whole number of images.",
            )
        )
    return NumberKey(
        right,
        tolerance=0.0,
        absolute=0.05,
        beliefs=beliefs,
        says="As many images as memory is slower, rounded up. With kernels that reach less than "
        "the peak it happens even earlier.",
    )


def too_large_times(given: Given) -> NumberKey:
    size, room = given.p.model_mb * 1e6, given.p.sram_kb * 1e3
    right = size / room
    return NumberKey(
        right,
        # A kilobyte of 1,024 bytes is right as well, and a few percent away.
        tolerance=0.03,
        beliefs=[
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                form=True,
                says="Upside down: that is the share of the model that would fit.",
            ),
            Belief(
                "kilobytes for megabytes",
                right / SLIP,
                credit=0.2,
                form=True,
                says="MB over KB: a factor of a thousand is lost between the prefixes.",
            ),
            Belief(
                "a thousand too many",
                right * SLIP,
                credit=0.2,
                form=True,
                says="A thousand too many: from KB to MB is one step, not two.",
            ),
            Belief(
                "in int8",
                right * BYTES_PER_ELEMENT["int8"] / BYTES_PER_ELEMENT["fp32"],
                credit=0.5,
                says="That is with the weights in int8. It is a good idea, it does not save the "
                "model, and it was not asked.",
            ),
            Belief(
                "bits for bytes",
                right * 8,
                credit=0.2,
                says="You counted bits on one side and bytes on the other.",
            ),
            Belief(
                "difference for ratio",
                (size - room) / 1e6,
                credit=0.2,
                says="That is how many megabytes are missing. The question asks for a ratio.",
            ),
        ],
        says="Two orders of magnitude. A quarter of it, in int8, is still far too large.",
    )


def board_seconds(given: Given) -> NumberKey:
    board, cloud = _board(given), _cloud(given)
    gap = H100.peak("fp16") / (given.p.mcu_mflops * 1e6)
    right = board.total
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "compute only",
                board.compute_time,
                credit=0.4,
                says="That is the arithmetic alone. The weights have to come from somewhere.",
            ),
            Belief(
                "memory only",
                board.memory_time,
                credit=0.4,
                says="That is the way of the weights alone. The arithmetic comes after it.",
            ),
            Belief(
                "the compute gap slows everything",
                cloud.total * gap,
                credit=0.2,
                says="You slowed the H100's time down by the compute gap. Its memory term shrinks "
                "by another ratio: that of the bandwidths.",
            ),
            Belief(
                "milliseconds",
                right * SLIP,
                credit=0.5,
                form=True,
                says="That is in milliseconds.",
            ),
            Belief(
                "time on the H100",
                cloud.total,
                credit=0.1,
                says="That is what the H100 would take. Use the rates of the board.",
            ),
        ],
        says="Seconds for an image: slow, but a door can wait. Speed is not what rules it out.",
    )


def board_binding_term(given: Given) -> ChoiceKey:
    return ChoiceKey(
        str(_board(given).binding),
        beliefs=[
            Belief(
                "one image is always memory-bound",
                "memory",
                credit=0.0,
                says="That holds on the H100. The board has lost more compute than bandwidth "
                "against it, so here the arithmetic takes longer.",
            ),
            Belief(
                "overhead binds on small devices",
                "latency",
                credit=0.0,
                says="Milliseconds beside seconds: the other two terms are a thousand times as "
                "long.",
            ),
        ],
        says="The same model and the same batch, and another term binds: it is the machine that "
        "decides. Texts that call batch 1 memory-bound everywhere have not divided.",
    )


# The design challenge


def largest_model_kparams(given: Given) -> NumberKey:
    p = given.p
    room = p.sram_kb - p.reserve_kb
    right = room / BYTES_PER_ELEMENT["int8"]
    return NumberKey(
        right,
        # Again, a kilobyte may have 1,024 bytes.
        tolerance=0.03,
        beliefs=[
            Belief(
                "nothing kept for activations",
                p.sram_kb / BYTES_PER_ELEMENT["int8"],
                credit=0.4,
                says="Then nothing is left for the runtime and the activations. Take what they "
                "keep away first.",
            ),
            Belief(
                "fp32",
                room / BYTES_PER_ELEMENT["fp32"],
                credit=0.4,
                says="That many fit in fp32. In int8 a parameter takes less.",
            ),
            Belief(
                "fp16",
                room / BYTES_PER_ELEMENT["fp16"],
                credit=0.4,
                says="That many fit in fp16. In int8 a parameter takes less.",
            ),
            Belief(
                "eight bytes for eight bits",
                room / 8,
                credit=0.3,
                says="int8 has eight bits, not eight bytes.",
            ),
            Belief(
                "bits for bytes",
                room * 8,
                credit=0.2,
                says="You counted one bit for a parameter, or read the memory as bits.",
            ),
            Belief(
                "parameters for thousands",
                right * 1e3,
                credit=0.5,
                form=True,
                says="That is the number of parameters. The answer is in thousands.",
            ),
        ],
        says="Room first, then bytes for each parameter.",
    )


def keyword_precision(given: Given) -> ChoiceKey:
    p = given.p
    room = p.sram_kb - p.reserve_kb
    best_first = sorted(("fp32", "fp16", "int8"), key=lambda name: -BYTES_PER_ELEMENT[name])
    fits = [name for name in best_first if p.kws_kparams * BYTES_PER_ELEMENT[name] <= room]
    return ChoiceKey(
        fits[0],
        beliefs=[
            Belief(
                "counts parameters as bytes",
                "fp32",
                credit=0.0,
                says="At four bytes each, the weights alone are larger than the whole SRAM.",
            ),
            Belief(
                "forgets runtime and activations",
                "fp16",
                credit=0.3,
                says="The weights might go into an empty SRAM like that. Beside runtime and "
                "activations they do not.",
            ),
            Belief(
                "thinks of the large model",
                "none",
                credit=0.0,
                says="ResNet-50 does not fit. This model has about a hundredth of its parameters.",
            ),
        ],
        says="Out of memory in fp32, tempting in fp16, comfortable in int8.",
    )


def served_images_per_s(given: Given) -> NumberKey:
    batch = given.p.batch
    asked, one = _served(given, batch), _served(given, 1)
    overlapped = _served(given, batch, overlapped=True)
    at_peak = asked.memory_time + asked.compute_time * asked.efficiency + asked.latency
    return NumberKey(
        batch / asked.total,
        # Tighter than elsewhere: without latency it would be a few percent more.
        tolerance=0.015,
        beliefs=[
            Belief(
                "latency left out",
                batch / (asked.memory_time + asked.compute_time),
                credit=0.6,
                says="Nearly: the latency is missing. A batch pays it once.",
            ),
            Belief(
                "full peak",
                batch / at_peak,
                credit=0.5,
                says="That is at the full peak. The kernels reach only a share of it.",
            ),
            Belief(
                "weights moved for every image",
                1 / one.total,
                credit=0.3,
                says="That is what single images give. In a batch the weights move once for all.",
            ),
            Belief(
                "operations done once for a batch",
                batch / one.total,
                credit=0.2,
                says="You let a batch compute as long as one image. Weights are shared; "
                "operations are not.",
            ),
            Belief(
                "terms overlapped",
                batch / overlapped.total,
                credit=0.5,
                says="That is with memory and compute at the same time. The question says one "
                "after the other.",
            ),
            Belief(
                "batches for images",
                1 / asked.total,
                credit=0.4,
                says="Those are batches in a second. Each has many images.",
            ),
        ],
        says="Several times what single images give: every image shares the trip of the weights.",
    )


def largest_batch_in_time(given: Given) -> ChoiceKey:
    deadline = given.p.deadline_us * 1e-6
    in_time = [batch for batch in (1, 8, 32, 128) if _served(given, batch).total <= deadline]
    return ChoiceKey(
        str(in_time[-1]),
        beliefs=[
            Belief(
                "batching always delays too much",
                "1",
                credit=0.0,
                says="That keeps the promise and wastes the GPU: far larger batches keep it too.",
            ),
            Belief(
                "stops where compute begins to bind",
                "8",
                credit=0.2,
                says="Being compute-bound is no failure. Ask how long the batch takes.",
            ),
            Belief(
                "batching costs no time",
                "128",
                credit=0.0,
                says="Past the crossover every image adds its own compute time. That batch is "
                "late.",
            ),
        ],
        says="Throughput wants a larger batch, the promise a smaller one. The promise sets it.",
    )
