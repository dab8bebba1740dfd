"""The keys of the Foundations Review. This file stays in the course; students never get it."""

from mlsys_widgets.grading import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    Chain,
    Fusion,
    Roofline,
    chain,
    devices,
    forward_pass,
    fuse,
    memory_hierarchy,
    roofline,
    transfer,
)

US = 1e6
MB = 1e6
BITS = 8


def _activation(given: Given) -> Fusion:
    """The activation on the student's chip: one kernel that reads a tensor and writes one."""
    # The work of an element is the student's own; what is moved is that of any such kernel.
    return fuse(
        chain("relu"),
        given.p.activation_melem * 1e6,
        BYTES_PER_ELEMENT["fp32"],
        bandwidth=given.p.bandwidth_tbs * 1e12,
        launch_overhead=0,
        compute_time=0,
    )


def _intensity(given: Given) -> float:
    activation = _activation(given)
    return given.p.activation_flop * activation.elements / activation.unfused_traffic


def _roof(given: Given) -> Roofline:
    peak, bandwidth = given.p.peak_tflops * 1e12, given.p.bandwidth_tbs * 1e12
    return roofline(_intensity(given), peak, bandwidth)


def _chain(given: Given) -> Chain:
    return chain(*given.p.chain.split())


def _fusion(given: Given) -> Fusion:
    """The student's chain on an A100, trips through memory alone."""
    return fuse(
        _chain(given),
        given.p.chain_melem * 1e6,
        BYTES_PER_ELEMENT["fp16"],
        "a100-sxm",
        launch_overhead=0,
        compute_time=0,
    )


def act1_share(given: Given) -> ChoiceKey:
    return ChoiceKey("D")


def ridge_flop_per_byte(given: Given) -> NumberKey:
    roof = _roof(given)
    return NumberKey(
        roof.ridge,
        tolerance=0.02,
        beliefs=[
            Belief(
                "ratio inverted",
                1 / roof.ridge,
                credit=0.3,
                form=True,
                says="Those are bytes for each FLOP. The ridge says how many FLOP a byte must"
                " bring along.",
            ),
            Belief(
                "multiplied instead of divided",
                roof.peak * roof.bandwidth / 1e24,
                credit=0.1,
                says="You multiplied. Look at the units: FLOP per second over bytes per second"
                " leaves FLOP per byte.",
            ),
            Belief(
                "a prefix lost",
                roof.ridge / 1e3,
                credit=0.5,
                form=True,
                says="The ratio is right and a prefix got lost: tera over tera leaves none.",
            ),
            Belief(
                "the sparse peak",
                2 * roof.ridge,
                credit=0.4,
                says="That is the ridge of a peak twice as high, as sparsity would promise. The"
                " peak that you were given is dense already.",
            ),
            Belief(
                "bits for bytes",
                roof.ridge / BITS,
                credit=0.4,
                says="You divided by bits. Bandwidth was given in bytes already.",
            ),
        ],
        says="Peak over bandwidth: a kernel needs so many FLOP for each byte to keep the chip"
        " busy.",
    )


def activation_flop_per_byte(given: Given) -> NumberKey:
    right = _intensity(given)
    flop, width = given.p.activation_flop, BYTES_PER_ELEMENT["fp32"]
    return NumberKey(
        right,
        tolerance=0.02,
        beliefs=[
            Belief(
                "only the read counted",
                flop / width,
                credit=0.4,
                says="Each element is read, and its result is written as well.",
            ),
            Belief(
                "elements for bytes",
                right * width,
                credit=0.3,
                says="You counted elements moved. An fp32 element has more than one byte.",
            ),
            Belief(
                "ratio inverted",
                1 / right,
                credit=0.3,
                says="Those are bytes for each FLOP. Intensity has the work on top.",
            ),
            Belief(
                "bits for bytes",
                right / BITS,
                credit=0.3,
                says="You counted bits. Intensity is FLOP for each byte.",
            ),
        ],
        says="So little work for each byte that the chip cannot but wait.",
    )


def activation_regime(given: Given) -> ChoiceKey:
    return ChoiceKey(
        "memory" if _roof(given).memory_bound else "compute",
        beliefs=[
            Belief(
                "arithmetic sets the pace",
                "compute",
                credit=0.0,
                says="Compare the two numbers above: the intensity lies far left of the ridge.",
            ),
            Belief(
                "both limits alike",
                "both",
                credit=0.1,
                says="Both bind alike only at the ridge itself, and you are far from it.",
            ),
            Belief(
                "the size decides",
                "size",
                credit=0.2,
                says="Twice the elements mean twice the work and twice the bytes: their ratio does"
                " not notice the size.",
            ),
        ],
        says="Left of the ridge. Even against the fp32 peak without tensor cores, whose ridge is"
        " lower, it would be.",
    )


def activation_peak_pct(given: Given) -> NumberKey:
    roof = _roof(given)
    right = 100 * roof.mfu
    return NumberKey(
        right,
        tolerance=0.03,
        beliefs=[
            Belief(
                "the claim believed",
                100.0,
                credit=0.0,
                says="That is what Jonas says. Which rate does the roof allow at this intensity?",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                form=True,
                says="That is the share as a fraction; percent were asked for.",
            ),
            Belief(
                "only the read counted",
                2 * right,
                credit=0.4,
                says="Twice too high: the result is written as well as the input read.",
            ),
            Belief(
                "the sparse peak",
                right / 2,
                credit=0.4,
                says="You divided by twice the peak. Yours is dense, and there is no sparsity in"
                " an activation.",
            ),
            Belief(
                "ratio inverted",
                100 * 100 / right,
                credit=0.2,
                form=True,
                says="You divided the peak by what is attainable. A share of a peak cannot exceed"
                " it.",
            ),
        ],
        says="Bandwidth times intensity over peak: a perfect kernel, and the dashboard would still"
        " call it idle.",
    )


def activation_us(given: Given) -> NumberKey:
    activation, roof = _activation(given), _roof(given)
    right = US * activation.unfused_time
    arithmetic = US * given.p.activation_flop * activation.elements / roof.peak
    return NumberKey(
        right,
        tolerance=0.03,
        beliefs=[
            Belief(
                "arithmetic only",
                arithmetic,
                credit=0.2,
                says="That is the time of the arithmetic at full peak. The data take far longer to"
                " arrive.",
            ),
            Belief(
                "only the read counted",
                right / 2,
                credit=0.4,
                says="Half of it: the results have to be written too.",
            ),
            Belief(
                "elements for bytes",
                right / BYTES_PER_ELEMENT["fp32"],
                credit=0.3,
                says="You moved one byte for each element. An fp32 element has more.",
            ),
            Belief(
                "bits for bytes",
                right * BITS,
                credit=0.3,
                says="You moved bits over a bandwidth in bytes.",
            ),
        ],
        says="Bytes over bandwidth; the arithmetic hides behind it.",
    )


def spill_times(given: Given) -> NumberKey:
    size = given.p.cached_mb * MB
    before = transfer(size, "l2").time
    after = transfer(given.p.growth * size, "hbm").time
    slower = transfer(size, "hbm").time / before
    return NumberKey(
        after / before,
        tolerance=0.03,
        beliefs=[
            Belief(
                "the level forgotten",
                given.p.growth,
                credit=0.4,
                says="The size grew, and so the tensor left the cache. Its new home is slower.",
            ),
            Belief(
                "the size forgotten",
                slower,
                credit=0.4,
                says="That is how much slower the new level is. There is more to move, too.",
            ),
            Belief(
                "bandwidths inverted",
                given.p.growth / slower,
                credit=0.3,
                says="You divided by the ratio of the bandwidths. The new level is the slower one.",
            ),
            Belief(
                "compared with registers",
                given.p.growth
                * memory_hierarchy["registers"].bandwidth
                / memory_hierarchy["hbm"].bandwidth,
                credit=0.3,
                says="You compared with registers. Before it grew, the tensor lived in the L2"
                " cache.",
            ),
        ],
        says="More data and a slower home multiply: a batch can cost more than it brings.",
    )


def act2_traffic(given: Given) -> ChoiceKey:
    return ChoiceKey("B")


def act2_trace(given: Given) -> ChoiceKey:
    return ChoiceKey("C")


def unfused_trips(given: Given) -> NumberKey:
    mine = _chain(given)
    return NumberKey(
        mine.unfused_reads + mine.unfused_writes,
        tolerance=0.0,
        absolute=0.01,
        beliefs=[
            Belief(
                "writes forgotten",
                mine.unfused_reads,
                credit=0.4,
                says="Those are the reads. Every kernel writes its result as well.",
            ),
            Belief(
                "second operands forgotten",
                2 * len(mine.links),
                credit=0.4,
                says="You let each kernel read one tensor. A sum or a product of tensors reads"
                " two.",
            ),
            Belief(
                "counted as if fused",
                mine.fused_reads + mine.fused_writes,
                credit=0.2,
                says="That is what one fused kernel moves. Unfused, whatever lies between is"
                " written and read back.",
            ),
        ],
        says="Each kernel reads its inputs and writes its result, and the next one reads that"
        " again.",
    )


def fused_trips(given: Given) -> NumberKey:
    mine = _chain(given)
    return NumberKey(
        mine.fused_reads + mine.fused_writes,
        tolerance=0.0,
        absolute=0.01,
        beliefs=[
            Belief(
                "only x in and the result out",
                2,
                credit=0.4,
                says="The chain reads more tensors than x. They enter once each.",
            ),
            Belief(
                "the result forgotten",
                mine.fused_reads,
                credit=0.5,
                says="Those are the inputs. The result has to leave the kernel too.",
            ),
            Belief(
                "nothing saved",
                mine.unfused_reads + mine.unfused_writes,
                credit=0.0,
                says="That is the count of separate kernels. Which of these tensors does nobody"
                " outside of the chain need?",
            ),
            Belief(
                "one kernel, one trip",
                1,
                credit=0.2,
                says="One kernel is one launch. It still reads every input and writes a result.",
            ),
        ],
        says="Every input once, the result once: what lies between stays in registers.",
    )


def fusion_saves_us(given: Given) -> NumberKey:
    fusion, launch = _fusion(given), devices["a100-sxm"].launch()
    kernels = len(_chain(given).links)
    trip = transfer(fusion.elements * fusion.bytes_per_element, "hbm").time

    def saved(how: str) -> float:
        # Without arithmetic, a kernel lasts as long as its trips.
        apart = forward_pass(kernels, fusion.unfused_time / kernels, launch, launch=how)
        fused = forward_pass(1, fusion.fused_time, launch, launch=how)
        return US * float(apart.total - fused.total)

    return NumberKey(
        saved("async"),
        tolerance=0.02,
        beliefs=[
            Belief(
                "launches added up",
                saved("serial"),
                credit=0.6,
                says="You let every launch wait for the kernel before it. They are queued ahead,"
                " and these kernels run longer than a launch takes.",
            ),
            Belief(
                "launches only",
                US * (kernels - 1) * launch,
                credit=0.2,
                says="Those are the launches that fall away. They hide behind kernels as long as"
                " these; what counts here is the data.",
            ),
            Belief(
                "only the writes spared",
                US * (kernels - 1) * trip,
                credit=0.4,
                says="Half of it: a tensor between two kernels is written and read back as well.",
            ),
            Belief(
                "the unfused time itself",
                US * fusion.unfused_time,
                credit=0.2,
                says="That is how long the separate kernels take. The fused one is not free.",
            ),
        ],
        says="Trips spared, times bytes, over bandwidth. Launches cost nothing here: the queue"
        " hides them behind long kernels.",
    )


def normalize_mb(given: Given) -> NumberKey:
    size = given.p.chain_melem * 1e6 * BYTES_PER_ELEMENT["fp16"] / MB
    # The quotient by one number reads a tensor and writes one; the sum has to read it before.
    quotient = chain("scale")
    passes = 1 + quotient.unfused_reads + quotient.unfused_writes
    return NumberKey(
        passes * size,
        tolerance=0.02,
        beliefs=[
            Belief(
                "one pass is enough",
                (passes - 1) * size,
                credit=0.4,
                says="One read and one write: so it would be if the sum were known from the start."
                " By which number is the first element divided?",
            ),
            Belief(
                "only one read",
                size,
                credit=0.2,
                says="That is the tensor once. Follow it through the sum, through the quotient and"
                " back to memory.",
            ),
            Belief(
                "the sum stored as a tensor",
                (passes + 1) * size,
                credit=0.5,
                says="One trip too many: the sum is a single number, not a tensor.",
            ),
            Belief(
                "elements for bytes",
                passes * given.p.chain_melem,
                credit=0.5,
                says="The trips are right. An fp16 element has two bytes, and you counted"
                " elements.",
            ),
        ],
        says="Read for the sum, read again for the quotient, written once: a reduction is a"
        " barrier.",
    )


def capture_method(given: Given) -> ChoiceKey:
    return ChoiceKey(
        "compile",
        beliefs=[
            Belief(
                "tracing is safe",
                "trace",
                credit=0.0,
                says="That is what Lena did. A trace keeps what happened on the example and drops"
                " the rest, without an error.",
            ),
            Belief(
                "scripting takes all Python",
                "script",
                credit=0.1,
                says="It keeps control flow, and it refuses Python beyond its subset. Part of this"
                " model lies beyond.",
            ),
            Belief(
                "symbols have values",
                "fx",
                credit=0.0,
                says="A symbol has no value and no side effects: tracing stops, or freezes what"
                " Python did meanwhile.",
            ),
            Belief(
                "give up on graphs",
                "eager",
                credit=0.3,
                says="Right results, and nothing is optimised. One way keeps them right and still"
                " compiles most of the model.",
            ),
        ],
        says="What it cannot capture it leaves to Python, and compiles the rest. Look for graph"
        " breaks next.",
    )
