# %% [markdown]
# # Foundations Review
#
# Fourteen days lie behind you. Reading them again would feel good and leave little. Trying to recall them, and
# finding out where you fail, leaves much more. So close your notes.
#
# You carry **four models** out of Phase I, and a habit. You use each of them here, on numbers that are yours.
#
# | model | the question it answers | where |
# |---|---|---|
# | memory hierarchy | where do the data live, and what does a trip cost? | Act 1 |
# | roofline | is it arithmetic or memory that sets the pace? | Act 1 |
# | compilation spectrum | how does Python become a graph, and what gets lost? | Act 2 |
# | fusion decision | which operations can share a kernel? | Act 2 |
# | *the habit: measure, fix, measure* | did it help? | everywhere |

# %% setup=true
from mlsys_widgets import (
    CompilationSpectrum,
    ConceptMap,
    FusionDecision,
    FusionExplorer,
    MemoryHierarchy,
    RooflineWidget,
)
from mlsys_widgets import physics as ph

# %% card="opening"

# %% [markdown]
# **Recommended reading**, after the lab rather than before it:
#
# - S. Williams, A. Waterman, D. Patterson: *Roofline: an insightful visual performance model for multicore
#   architectures*, Communications of the ACM, 2009.
# - *NVIDIA A100 Tensor Core GPU Architecture*, the white paper: the chapter on memory.
# - J. Ansel and others: *PyTorch 2: faster machine learning through dynamic Python bytecode transformation and graph
#   compilation*, ASPLOS 2024.
# - Labs 01, 07 and 11 of this course, where these models were first used.

# %% [markdown]
# ## The map
#
# Everything since Day 1 hangs together. Choose a concept to see what it rests on, or follow one of three paths:
# from hardware to software, from a measurement to a fix and back, and from Python down to kernels. What belongs to
# Phase II is on the map already.

# %% instrument="Concept map"
concepts = ConceptMap(lab.materials["concepts"])
concepts

# %% [markdown]
# ## Act 1: Hardware
#
# A chip computes so much in a second, and moves so much, and no more. Choose where your system runs. The roofline
# below and the fusion explorer of Act 2 follow; the memory hierarchy is always that of an A100.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud", "edge": "Edge"},
    about={"cloud": "An A100 in a data centre.", "edge": "A Jetson Orin NX beside a camera."},
)
context

# %% card="claim"

# %% card="act1_share"

# %% [markdown]
# ### Model 1: the roofline
#
# What a kernel can attain is the lesser of two roofs: the peak, and bandwidth times intensity. Layer norm and softmax
# are on the chart beside a matrix product. Where would ReLU be? Switch the context and look again.

# %% instrument="Roofline"
roof = RooflineWidget(workload="llm", lock=lab.card("act1_share"))
lab.follow(roof, device={"cloud": "a100-sxm", "edge": "orin-nx"})

# %% [markdown]
# ### Model 2: the memory hierarchy
#
# Near the arithmetic, memory is fast and small; far from it, slow and large. Every optimisation of Phase I keeps data
# nearer. Move the tensor's size and see where it has to live.

# %% instrument="Memory hierarchy"
hierarchy = MemoryHierarchy(
    size=lab.p.cached_mb * 1e6, lock=lab.card("act1_share"), hints=lab.card("act1_reflection")
)
hierarchy

# %% reveal="act1_share"
relu = ph.fuse(ph.chain("relu"), 1e6, 4, "a100-sxm").unfused_intensity
a100 = ph.devices["a100-sxm"]
lab.reveal("act1_share", model=lambda: ph.roofline(relu, a100.peak("fp16"), a100.bandwidth).mfu)

# %% [markdown]
# ### Your numbers
#
# “1 of ten” and so on are the ten questions of the review. The quiz after Act 2 has them all.

# %% answer="ridge_flop_per_byte"
peak, bandwidth = lab.p.peak_tflops * 1e12, lab.p.bandwidth_tbs * 1e12
ridge_flop_per_byte = peak / bandwidth

# %% answer="activation_flop_per_byte"
bytes_per_element = 4 + 4  # one fp32 number read, one written
activation_flop_per_byte = lab.p.activation_flop / bytes_per_element

# %% answer="activation_regime"
activation_regime = "memory"  # far left of the ridge

# %% answer="activation_peak_pct"
attainable = bandwidth * activation_flop_per_byte
activation_peak_pct = 100 * attainable / peak

# %% answer="activation_us"
moved = lab.p.activation_melem * 1e6 * bytes_per_element
activation_us = 1e6 * moved / bandwidth

# %% answer="spill_times"
l2, hbm = (ph.memory_hierarchy[level].bandwidth for level in ("l2", "hbm"))
spill_times = lab.p.growth * l2 / hbm  # more to move, and from a slower level

# %% card="act1_reflection"

# %% card="act1_peek"

# %% [markdown]
# ## Act 2: Software
#
# Eager mode runs one line at a time and sees one line at a time. A compiler wants to see all of it. How it gets
# to see it, and what it may then join, is what the next two models are about.

# %% card="odd_results"

# %% card="act2_traffic"

# %% card="act2_trace"

# %% [markdown]
# ### Model 3: the compilation spectrum
#
# Five ways to run a model, from full Python to full optimisation. Tick what Lena's model has, and go through the
# stops.

# %% instrument="Compilation spectrum"
spectrum = CompilationSpectrum(
    stop="trace",
    model=("branch",),
    lock=lab.card("act2_trace"),
    hints=lab.card("act2_reflection"),
)
spectrum

# %% reveal="act2_trace"
lab.reveal("act2_trace")

# %% [markdown]
# ### Model 4: the fusion decision
#
# Can two operations share a kernel? The tree asks a few questions. Try a sum and what follows it, and a matrix
# product and what follows it. The explorer then counts what a whole chain moves; build your own chain in it, from the
# steps behind *More*.

# %% instrument="Fusion decision"
decision = FusionDecision(
    first="relu",
    second="sigmoid",
    lock=lab.card("act2_traffic"),
    hints=lab.card("act2_reflection"),
)
decision

# %% instrument="Fusion explorer"
explorer = lab.follow(
    FusionExplorer(
        chain="sigmoid-relu",
        lock=lab.card("act2_traffic"),
        hints=lab.card("act2_reflection"),
    ),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
)
explorer

# %% reveal="act2_traffic"
day14 = ph.chain("mul", "add", "relu", "sigmoid")
lab.reveal("act2_traffic", model=lambda: ph.fuse(day14, 1e6).traffic_reduction)

# %% [markdown]
# ### Your numbers
#
# One caution about the explorer: it lets every launch wait for the kernel before it, as textbooks do. Real launches are
# queued ahead. One of the questions makes use of that.

# %% answer="unfused_trips"
operations = lab.p.chain.split()
operands = sum(op in ("add", "mul") for op in operations)  # these read a second tensor
unfused_trips = len(operations) + operands + len(operations)  # first reads, second reads, writes

# %% answer="fused_trips"
fused_trips = 1 + operands + 1  # x, the other tensors, the result

# %% answer="fusion_saves_us"
trip = lab.p.chain_melem * 1e6 * 2 / ph.devices["a100-sxm"].bandwidth
# Every kernel runs longer than a launch takes, so launches are hidden and only trips count.
fusion_saves_us = 1e6 * trip * (unfused_trips - fused_trips)

# %% answer="normalize_mb"
tensor_mb = lab.p.chain_melem * 2
normalize_mb = 3 * tensor_mb  # read for the sum, read for the quotient, written once

# %% answer="capture_method"
capture_method = "compile"  # the others are wrong, refuse it, or optimise nothing

# %% card="act2_reflection"

# %% card="act2_peek"

# %% [markdown]
# ## Your plan for Lena
#
# Put the models together. Lena's service needs a place for what a fused kernel works on, and a way to capture the
# model. As it stands, **the plan fails twice**: the working set does not fit where it should live, and the graph is
# wrong without saying so. Mend both. Then save the plan.

# %% instrument="Where does the working set live?"
plan_memory = MemoryHierarchy(
    size=lab.p.chain_melem * 2e6,
    home="sram",
    lock=lab.card("act2_traffic"),
    hints=lab.card("ten_questions"),
)
plan_memory

# %% instrument="How is the model captured?"
plan_capture = CompilationSpectrum(
    model=tuple(lab.p.constructs.split()),
    stop="trace",
    lock=lab.card("act2_trace"),
    hints=lab.card("ten_questions"),
)
plan_capture


# %% design=true
def wrong_capture():
    if not (plan_capture.locked or plan_capture.result.outcome.right):
        return plan_capture.sentence(plan_capture.result)


lab.design(
    {
        "context": lambda: context.context,
        "working_set_mb": lambda: round(plan_memory.size / 1e6, 6),
        "memory_level": lambda: plan_memory.result.home.level.key,
        "working_set_fits": lambda: plan_memory.result.fits,
        "capture": lambda: plan_capture.stop,
        "results_right": lambda: plan_capture.result.outcome.right,
        "constraint_hit": lambda: (
            not (plan_memory.result.fits and plan_capture.result.outcome.right)
        ),
        "act1_prediction": lambda: lab.card("act1_share").value,
        "act2_prediction": lambda: lab.card("act2_traffic").value,
    },
    after=["act2_traffic", "act2_trace"],
    title="Your plan",
    keeps={"memory": plan_memory, "capture": plan_capture},
    headline=lambda: f"{plan_memory.result.home.level.name}, {plan_capture.result.stop.name}",
    promises={"working set": plan_memory, "capture": wrong_capture},
)

# %% [markdown]
# ## Ten questions
#
# Answer all ten, each with how sure you are; then send them together. Some come back to numbers that you computed,
# seen from another side. The plot afterwards is not about how much you know, but about
# whether you know what you know. Nothing here is graded for being right.

# %% card="ten_questions"

# %% [markdown]
# ## Five myths
#
# Each is half true, which is why they live so long. Commit yourself before you read on.

# %% card="five_myths"

# %% [markdown]
# ## What you can do
#
# Be honest. With fewer than eight ticks, go back to the days named before you go on.

# %% card="checklist"

# %% [markdown]
# ## In your own words
#
# Five prompts, two minutes each. Writing shows you what you have not understood yet. A person reads them.

# %% [markdown] essay="surprise"
# Any honest answer. For example: I believed that a GPU with twice the TFLOPS runs my model twice as fast. That seemed
# plausible because TFLOPS is the number that is advertised. In fact ReLU does
# {{ q(fuse(chain("relu"), 1e6, 4, "a100-sxm").unfused_intensity, "FLOP/B") }} against a ridge of
# {{ q(devices["a100-sxm"].ridge("fp16"), "FLOP/B") }}: it waits for memory, and more TFLOPS change nothing.

# %% [markdown] essay="data_flow"
# Python `x + bias` → dispatcher (device, type, autograd) → launch of the add kernel → reads x and bias, writes a
# temporary → Python `relu` → dispatcher → launch of the ReLU kernel → reads the temporary, writes y. Time goes into
# Python and dispatch twice, two launches ({{ q(devices["a100-sxm"].launch(), "s") }} each on an A100 in this course;
# hidden where kernels are long), and the trips. Fusing removes one dispatch and launch, the write of the
# temporary and the read of it: {{ chain("add", "relu").unfused_reads + chain("add", "relu").unfused_writes }} trips
# become {{ chain("add", "relu").fused_reads + chain("add", "relu").fused_writes }} if the bias is as large as x. The
# reads of the inputs, the write of y and the arithmetic stay.

# %% [markdown] essay="framework"
# Either is fine if its price is named. Eager first: people can debug line by line, and researchers come; given up is the
# view of the whole, so small models pay for dispatch until a capture such as `torch.compile` is added, with guards and
# graph breaks as its price. Graph first: everything can be optimised and deployed from the start; given up is ordinary
# Python, so users pay with a language inside the language, and eager can be added later only as a second way to run.

# %% [markdown] essay="shaky"
# For example: graph breaks. The quiz showed that I was sure and wrong. Question: if a model prints its loss in the middle
# of a layer, how many graphs does `torch.compile` make, and does the part after the print still fuse with the next
# layer? I read the log with `TORCH_LOGS=graph_breaks` and saw one break; the number of kernels in a profile would settle
# it.

# %% [markdown] essay="colleague"
# Your loop asks the GPU for thousands of small jobs, one after the other. For each the GPU fetches numbers from its
# memory, does very little with them, and puts them back; fetching takes nearly all of the time, and asking takes time,
# too. `torch.compile` watches the whole loop once and writes new jobs that do several steps while the numbers are at
# hand. The mathematics is the same, so your code need not change. It does not help if the time goes into large matrix
# products, if your code breaks the graph again and again, or if you run it so briefly that compiling takes longer than
# it saves.

# %% [markdown]
# ## What counts
#
# Points here are for having committed yourself, never for having guessed right.

# %% record="predictions_kept"

# %% record="reflections_kept"

# %% record="review_kept"

# %% card="takeaways"

# %% [markdown]
# ## The bridge to Phase II
#
# You know **why** things are slow. Next you learn **how** compilers mend it.
#
# | Phase I: what happens on the GPU | | Phase II: how compilers make code |
# |---|---|---|
# | how a GPU is built | → | the design of an intermediate representation |
# | memory hierarchy | → | optimisation passes |
# | profiling and measuring | → | lowering and code generation |
# | eager and graph mode | → | frontend and backend of a compiler |
# | fusion as an intuition | → | fusion as an algorithm |
#
# `torch.compile` is where most people begin, and rightly. Why it works at all you know from the hardware. Day 15 steps
# back to the classic pipeline (lexing, parsing, representation, passes, code generation) and shows where XLA, TVM and
# TorchInductor stand on it.

# %% show="Where you stand"
lab.hud(
    constraints={
        "Working set": plan_memory,
        "Capture": wrong_capture,
    },
    decisions={"Memory": "memory_level", "Capture": "capture"},
)
