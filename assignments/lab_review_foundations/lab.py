# %% [markdown]
# # Foundations Review
#
# Labs 01, 07 and 11 each gave you a picture of why machine learning is slow or fast. Recalling leaves more behind than
# reading again, so close your notes: the roofline (Act 1), fusion (Act 2), the memory hierarchy and graph capture (Act 3).

# %% setup=true
from IPython.display import Markdown

from mlsys_widgets import (
    CompilationSpectrum,
    ConceptMap,
    FusionDecision,
    FusionExplorer,
    MemoryHierarchy,
    Move,
    MovingPicture,
    RooflineWidget,
    Target,
)
from mlsys_widgets import physics as ph

cover = MovingPicture(
    "A chip with more bandwidth and less compute has another roof.",
    RooflineWidget,
    sweep={"bandwidth_share": (0.1, 1), "peak_share": (1, 0.2)},
    only=["zones", "roof", "ridge"],
)

# %% card="opening"

# %% [markdown]
# ## What you bring along
#
# If your earlier labs lie beside this one, it starts from what you decided there.

# %% show="From Labs 01, 07 and 11"
magnitude = lab.earlier("lab_01_magnitude", {})
fusion = lab.earlier("lab_07_kernel_fusion", {})
roofline_lab = lab.earlier("lab_11_roofline", {})
Markdown(lab.materials["what_you_bring"](magnitude, fusion, roofline_lab))

# %% [markdown]
# ## Act 1: Hardware
#
# A chip does at most so many operations and moves at most so many bytes per second. The roofline below follows this switch.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud", "edge": "Edge"},
    about={"cloud": "An A100 in a data center.", "edge": "A Jetson Orin NX beside a camera."},
)
context

# %% card="claim"

# %% card="act1_share"

# %% [markdown]
# ### Model 1: the roofline
#
# The attainable rate is the lesser of two roofs: the peak, and bandwidth times intensity. Your prediction is the dash-dotted
# line (on the A100 only). Which points move with the batch, and which do not?

# %% instrument="Roofline"
roof = RooflineWidget(
    workload="llm",
    leading=("Layer norm, MFU", "Projection, MFU"),
    lock=lab.card("act1_share"),
)
lab.follow(roof, device={"cloud": "a100-sxm", "edge": "orin-nx"})

# %% reveal="act1_share"
norm = ph.elementwise(1e6, 2).intensity
a100 = ph.devices["a100-sxm"]
orin = ph.devices["orin-nx"]
share = lab.reveal(
    "act1_share",
    model=lambda: ph.roofline(norm, a100.peak("fp16"), a100.bandwidth).mfu,
    worked={
        "Intensity of layer norm": (norm, "FLOP/B"),
        "Ridge of the A100": (a100.ridge("fp16"), "FLOP/B"),
    },
    contrast={
        "Layer norm on the Orin NX": (
            ph.roofline(norm, orin.peak("fp16"), orin.bandwidth).mfu,
            "%",
        )
    },
    moves=[
        Move("Switch the context to the edge", context, context="edge"),
        Move("Raise the batch to 64 or more", roof, lambda r: r.batch >= 64),
    ],
)
share

# %% [markdown]
# ### Your numbers
#
# “Your chip”, which the contractor profiled, is neither of the devices above; its numbers are in the questions.

# %% answer="busy_flop_per_element"
peak, bandwidth = lab.p.peak_tflops * 1e12, lab.p.bandwidth_tbs * 1e12
bytes_per_element = 4 + 4  # one fp32 number read, one written
busy_flop_per_element = {
    "busy_flop_per_element": peak / bandwidth * bytes_per_element,
    "busy_tb_per_s": peak / lab.p.element_flop * bytes_per_element / 1e12,
}[lab.p.busy_flop_per_element]

# %% answer="bandwidth_used_pct"
moved = lab.p.activation_melem * 1e6 * bytes_per_element
bandwidth_used_pct = 100 * moved / (lab.p.profile_us * 1e-6) / bandwidth

# %% [markdown] deeper=true
# ### Deeper: the memory hierarchy, and real kernels

# %% [markdown]
# #### Model 2: the memory hierarchy
#
# A size always belongs to somebody: a thread owns its registers, a thread block its shared memory, and the whole GPU shares
# one L2 cache and one HBM. Move the tensor's size and see where it has to live. (This is an A100 in either context.)

# %% instrument="Memory hierarchy"
hierarchy = MemoryHierarchy(lock=lab.card("act1_share"), hints=lab.card("act1_reflection"))
hierarchy

# %% answer="spill_times"
l2, hbm = (ph.memory_hierarchy[level].bandwidth for level in ("l2", "hbm"))
# The smaller batch fits into the L2 cache, the larger one only into HBM.
spill_times = lab.p.batch_after / lab.p.batch_before * l2 / hbm

# %% answer="working_set_home"
working_set = lab.p.tile_tensors * lab.p.tile_rows * lab.p.tile_columns * 2
room = {key: ph.memory_hierarchy[key].capacity for key in ("registers", "sram", "l2", "hbm")}
room["sram"] /= lab.p.tile_blocks
room["l2"] /= 108 * lab.p.tile_blocks  # of all multiprocessors
room["hbm"] /= 108 * lab.p.tile_blocks
working_set_home = next(level for level, capacity in room.items() if working_set <= capacity)

# %% card="act1_reflection"

# %% card="act1_peek"

# %% [markdown]
# **How close do real kernels come?** The chart below shows measured matrix products of an H200. Write down how close you
# expect the fastest one to come to its roof. Then try *Attention over a prompt* and *Attention of a new token*, too.
#
# **How many bytes does a thread really have?** In the memory hierarchy, open *More* and shrink the registers of a
# thread to 128 B, as if eight times as many threads shared them. Which tensors have to move out?

# %% instrument="Deeper: real kernels under a real roof"
real = RooflineWidget(
    title="Deeper: real kernels under a real roof",
    device="h200-sxm",
    workload="gemm",
    measured=True,
    lock=lab.card("act1_share"),
)
real

# %% [markdown]
# ## Act 2: Software
#
# Eager mode sees one line at a time, a compiler all of them. What may it combine?

# %% card="capture_message"

# %% [markdown] deeper=true
# ### Deeper: what fusion saves, what can be fused, and when launches disappear

# %% card="act2_traffic"

# %% reveal="act2_traffic"
course_chain = ph.chain("mul", "add", "relu", "sigmoid")
lab.reveal(
    "act2_traffic",
    model=lambda: ph.fuse(course_chain, 1e6).traffic_reduction,
    worked={
        "Trips of four kernels": (course_chain.unfused_reads + course_chain.unfused_writes, ""),
        "Trips of one kernel": (course_chain.fused_reads + course_chain.fused_writes, ""),
    },
)

# %% [markdown]
# #### Model 3: the fusion decision
#
# Can two operations share a kernel? Try a sum and what follows it, then what comes before it; then a matrix product and
# what follows it.

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
        fused=bool(fusion.fields.get("fusion_enabled")),
        lock=lab.card("act2_traffic"),
        hints=lab.card("act2_reflection"),
    ),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
)
explorer

# %% [markdown]
# The explorer lets every launch wait for the kernel before it, as textbooks do. Real launches are queued ahead, as in the
# next question.

# %% answer="hidden_launch_melem"
# A kernel of n elements moves 2 + 2 bytes for each; it has to last as long as a launch.
hidden_launch_melem = lab.p.launch_us * 1e-6 * bandwidth / (2 + 2) / 1e6

# %% card="act2_reflection"

# %% card="act2_peek"

# %% [markdown]
# **Six pairs.** Can one kernel do both, and which fusion is that (pointwise, vertical, epilogue, horizontal, or none)? Check with
# the tree. (1) GELU, then Dropout. (2) Matrix product, then GELU. (3) GELU, then matrix product. (4) Softmax, then Scale.
# (5) Max of the whole tensor, then Scale. (6) Two matrix products that read the same tensor.
#
# **From trace to Triton.** With PyTorch and a GPU, run this file with `TORCH_LOGS=output_code,graph_breaks` set. Find the kernel
# in the log, count its loads and stores, and compare them with the explorer. Then add a `print(y.sum())` in the middle and
# count the graphs.
#
# ```python
# import torch
#
# @torch.compile
# def f(x, w, b):
#     y = torch.relu(x * w + b)
#     return torch.sigmoid(y)
#
# device = "cuda" if torch.cuda.is_available() else "cpu"
# print(f(*(torch.randn(4096, 4096, device=device) for _ in range(3))).mean())
# ```
#
# **Two products, one kernel.** FlashAttention fuses two matrix products. Which end of the tree says that this should not work?

# %% [markdown]
# ### Lena's code

# %% answer="barrier_us"
operands = sum(op in ("add", "mul") for op in f"{lab.p.before} {lab.p.after}".split())
# Kernel 1 reads x and its operands and writes y; kernel 2 reads y and its operands and writes z.
trips = 1 + operands + 1 + 1 + 1
# One by one, every operation reads and writes, too; the sum reads y, and the quotient is one more.
operations = len(f"{lab.p.before} {lab.p.after}".split()) + 1
today = 2 * operations + operands + 1
trip_us = 1e6 * lab.p.chain_melem * 1e6 * 2 / bandwidth
barrier_us = {
    "barrier_us": trips * trip_us,
    "barrier_saved_us": (today - trips) * trip_us,
}[lab.p.barrier_us]

# %% [markdown]
# ## Act 3: Diagnosis
#
# A model tells you what could be slow; a profile, what is.

# %% card="profile_message"

# %% answer="waits_for"
rows, million_elements, small_kernels = map(int, lab.p.step.split())  # as Lena says
parts = {
    "arithmetic": 2 * rows**3 / peak,  # right of the ridge, so the peak counts
    "memory": million_elements * 1e6 * (4 + 4) / bandwidth,
    "launches": small_kernels * lab.p.launch_us * 1e-6,
}
largest = max(parts, key=parts.get)
step = sum(parts.values())
waits_for = largest if parts[largest] > step / 2 else "none"

# %% answer="step_fixed_us"
step_fixed_us = 1e6 * (step - parts[largest] / 2)

# %% [markdown]
# ### Your plan for Lena
#
# Lena needs a place for the data of a fused kernel, on an A100 whose L2 cache other kernels use, too, and a way to capture
# her model as a graph; only if no graph gives right results does she stay with eager mode. Her plan **fails twice**: the data
# does not fit where it should live, and capturing the model fails or changes what it does. Fix both within the limits of the
# lamps. Her model, her data and her GPU stay as they are.

# %% instrument="Where does the working set live?"
megabytes, taken, longest = map(float, lab.p.plan.split())
plan_memory = MemoryHierarchy(
    title="Where does the working set live?",
    size=megabytes * 1e6,
    home="sram",
    lock=lab.card("act1_share"),
    hints=lab.card("ten_questions"),
)
hers = plan_memory.inputs


def memory_targets():
    home = plan_memory.result.home
    others = taken * 1e6 if home.level.key == "l2" else 0
    yield Target(
        "size", home.capacity - others, f"working set ({taken:g} MB of the L2 cache are taken)"
    )
    yield Target("trip", longest * 1e-6, f"one trip in at most {longest:g} µs")


plan_memory.targets = memory_targets
plan_memory

# %% card="act2_trace"

# %% instrument="How is the model captured?"
constructs = tuple(lab.p.constructs.split())
plan_capture = CompilationSpectrum(
    title="How is the model captured?",
    model=constructs,
    lock=lab.card("act2_trace"),
    hints=lab.card("ten_questions"),
)
fates = plan_capture.result.worst
plan_capture.set(stop=[way for way in fates if not fates[way][0].right][-1])
can_be_captured = any(fates[way][0].right for way in fates if way != "eager")


def capture_targets():
    yield Target("failures", 0, "constructs that go wrong or are refused", spare=False)
    # Eager mode is too slow for Lena, unless nothing else is right.
    if can_be_captured and plan_capture.result.outcome.right:
        yield Target("graphs", 1, "graphs", "at least", spare=False)


plan_capture.targets = capture_targets
plan_capture

# %% reveal="act2_trace"
lab.reveal(
    "act2_trace",
    moves=[
        Move(
            "Check “a branch on data” and choose jit.trace",
            plan_capture,
            lambda spectrum: "branch" in spectrum.model,
            stop="trace",
        )
    ],
)


# %% design=true
def another_model():
    names = plan_capture.controls["model"].options
    if set(plan_capture.model) != set(constructs):
        has = " and ".join(names[each] for each in constructs)
        return f"Lena's model has {has}, and nothing else; the instrument shows another model."
    given = ("size", "registers", "sram", "l2", "hbm")
    changed = [name for name in given if plan_memory.inputs[name] != hers[name]]
    if changed:
        return f"Lena's data and GPU stay as they are; set {' and '.join(changed)} back."
    return None


def does_not_fit():
    return next((lamp.sentence for lamp in plan_memory.lamps[:1] if not lamp.kept), None)


def too_slow():
    limits = (*plan_memory.lamps[1:], *plan_capture.lamps[1:])  # a trip, and a graph
    return " ".join(lamp.sentence for lamp in limits if not lamp.kept) or None


def misses():
    return [*plan_memory.misses, *plan_capture.misses, *filter(None, [another_model()])]


lab.design(
    {
        "working_set_mb": lambda: round(plan_memory.size / 1e6, 6),
        "memory_level": lambda: plan_memory.result.home.level.key,
        "working_set_fits": lambda: not does_not_fit(),
        "capture": lambda: plan_capture.stop,
        "results_right": lambda: plan_capture.result.outcome.right,
        "graphs": lambda: int(plan_capture.result.graphs),
        "constraint_hit": lambda: bool(misses()),
        "act1_prediction": lambda: lab.card("act1_share").words,
        "act1_correct": lambda: lab.card("act1_share").value == share.right,
        "act2_prediction": lambda: lab.card("act2_trace").words,
        "act2_correct": lambda: lab.card("act2_trace").value == lab.items["act2_trace"].answer,
    },
    after=["act2_trace"],
    title="Your plan",
    keeps={"memory": plan_memory, "capture": plan_capture},
    headline=lambda: f"{plan_memory.result.home.level.name}, {plan_capture.result.stop.name}",
    promises={"Lena's conditions": another_model},
)

# %% [markdown] deeper=true
# ### Deeper: how Python becomes a graph, and the map

# %% [markdown]
# #### Model 4: the compilation spectrum
#
# Check what Lena's model contains and go through the five ways: what does each of them keep, and what does it lose?
# (`torch.jit` is TorchScript. PyTorch calls it legacy and offers `torch.export` for new models that must run without Python.)

# %% instrument="Compilation spectrum"
spectrum = CompilationSpectrum(
    stop="trace",
    model=("branch",),
    lock=lab.card("act2_trace"),
    hints=lab.card("act2_reflection"),
)
spectrum

# %% answer="capture_method"
model = CompilationSpectrum(model=tuple(lab.p.constructs.split()))
capture_method = model.result.best.key  # right results first, then optimization, then flexibility

# %% [markdown]
# **A profile of your own.** Run this on a machine with PyTorch, open `trace.json` in `chrome://tracing` or
# [Perfetto](https://ui.perfetto.dev), and find the gaps between kernels (a CPU launches none). Change one thing, profile again, and
# compare.
#
# ```python
# import torch
# from torch.profiler import profile
#
# device = "cuda" if torch.cuda.is_available() else "cpu"
# x, w = (torch.randn(4096, 4096, device=device) for _ in range(2))
# with profile(with_stack=True) as run:
#     for _ in range(20):
#         y = torch.relu(x @ w + 1)
# print(run.key_averages().table(sort_by="self_cpu_time_total", row_limit=8))
# run.export_chrome_trace("trace.json")
# ```
#
# **Half, and half again.** Lena's people halve the largest part of her step, five times in a row. How long does it take then,
# and how often was each part halved?

# %% [markdown]
# #### The map
#
# Choose a concept to see what it rests on, or follow one of three paths. The boxes marked *next* belong to the compilers
# that come after this review.

# %% instrument="Concept map"
concepts = ConceptMap(lab.materials["concepts"])
concepts

# %% [markdown] deeper=true
# ## Deeper: Act 4, Recall

# %% [markdown]
# ### Ten questions
#
# Answer all ten, each with how sure you are. The plot that follows is less about how much you know than about whether you
# know what you know.

# %% card="ten_questions"

# %% [markdown]
# ### Eight claims
#
# Take a stance on each before you read the facts. For two of them the answer depends on your own numbers.

# %% card="eight_claims"

# %% [markdown]
# ### What you can do

# %% card="checklist"

# %% [markdown]
# ### In your own words

# %% [markdown] essay="data_flow"
# Python `x + bias` → dispatcher → launch → the kernel reads x and bias and writes a temporary tensor → Python `relu` →
# dispatcher → launch → the kernel reads that and writes y. Time goes into Python and dispatch twice, into two launches
# ({{ q(devices["a100-sxm"].launch(), "s") }} each on an A100, hidden where kernels are long), and into the trips. Fusion removes one
# dispatch, one launch, one write and one read: {{ chain("add", "relu").unfused_reads + chain("add", "relu").unfused_writes }} trips become
# {{ chain("add", "relu").fused_reads + chain("add", "relu").fused_writes }} if the bias is as large as x. The arithmetic stays.

# %% [markdown] essay="colleague"
# Your loop asks the GPU for thousands of small jobs. For each it fetches numbers from its memory, does very little with them,
# and puts them back; fetching takes nearly all of the time, and asking takes time too. `torch.compile` writes jobs that do
# several steps while the numbers are at hand. It does not help with large matrix products, with breaks in the graph, or if
# you run it so briefly that compiling takes longer than it saves.

# %% [markdown] essay="shaky"
# Graph breaks, where I was sure and wrong. If a model prints its loss in the middle of a layer, does the part after the print
# still fuse with the next layer? I read the log and saw one break; the number of kernels in a profile would settle it.

# %% [markdown]
# For your notes: which number changed your mind?
#
# To read afterward: S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM, 2009; and J. Ansel and
# others, *PyTorch 2*, ASPLOS 2024.

# %% record="reflections_kept"

# %% record="review_kept"

# %% [markdown]
# ### The bridge to compilers
#
# You know **why** things are slow. Next, you learn **how** compilers fix it: the memory hierarchy leads to optimization passes,
# graph mode to frontend and backend, and fusion as an intuition to fusion as an algorithm.

# %% [markdown]
# ## What counts

# %% record="predictions_kept"

# %% record="plan_kept"

# %% card="takeaways"

# %% show="Where you stand"
lab.hud(
    constraints={
        "Working set": does_not_fit,
        "Capture": plan_capture,
        "Speed": too_slow,
        "Lena's conditions": lambda: None if plan_capture.locked else another_model(),
    },
    decisions={
        "Memory": "memory_level",
        "Capture": "capture",
        "From Lab 07": lambda: fusion.fields.get("execution_mode", "no design found"),
    },
)
