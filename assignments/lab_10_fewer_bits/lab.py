# %% [markdown]
# # Lab 10: Fewer Bits
#
# A weight in four bits has a quarter of the bytes of one in sixteen. Does that make a model four times as fast, and how
# wrong do its weights become? Predict both, look at products that were timed on an H200, and choose a precision for a
# service that keeps three promises.
#
# **Read first** the chapter on model optimizations of *Machine Learning Systems*, up to quantization.

# %% setup=true
from mlsys_widgets import Move, MovingPicture, QuantizationExplorer, Target
from mlsys_widgets.physics import (
    block_reach,
    counted,
    crossing_rows,
    float_error,
    format_quantity,
    product_speed,
    quantization_error,
)

cover = MovingPicture(
    "A few numbers stand for all weights of a layer.",
    QuantizationExplorer,
    sweep={"cut": (1, 0.5)},
    scales="tensor",
)

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H200", "edge": "Edge: Jetson Orin NX"},
    about={
        "cloud": "A GPU in a data center, whose products were measured in each precision.",
        "edge": "A small module beside a camera. Nobody has measured its products, so the"
        " instruments keep to the H200.",
    },
)
context

# %% [markdown]
# ## Act 1: How fast are four bits

# %% card="opening"

# %% show="from Lab 11"
start = lab.earlier("lab_11_roofline", {"bound_type": "memory"})
print(lab.materials["from_lab_11"](start.fields, start.found), *filter(None, [start.doubt]))

# %% card="act1_rows"

# %% [markdown]
# Below, you see a bell of weights under the numbers that int4 has for them, and the time of their product, which depends
# on its **rows**. Raise the rows to 256. Then change the **precision**, and look at what converting takes.

# %% instrument="Weights in fewer bits"
explorer = QuantizationExplorer(
    title="Weights in fewer bits",
    leading=("Time of the product", "Speed against fp16"),
    lock=lab.card("act1_rows"),
    outliers=lab.card("act2_outlier"),
)
explorer

# %% reveal="act1_rows"
one, many = (product_speed(rows, 4096, 14336, "int4") for rows in (1, 256))
lab.reveal(
    "act1_rows",
    model=crossing_rows(4096, 14336),
    measured=lab.materials["measured_crossing"](),
    digits=1,
    contrast={
        "int4 with one row, against fp16": (one.speedup, "×"),
        "int4 with 256 rows, against fp16": (many.speedup, "×"),
        "What the bytes promise": (explorer.result.by_bytes, "×"),
    },
    moves=[
        Move("Raise the rows to 256 or more", explorer, lambda w: w.rows >= 256),
        Move("Choose fp8", explorer, precision="fp8"),
    ],
)

# %% answer="even_rows"
# For one weight: 2 bytes / bandwidth = 2 FLOP × rows / rate.
even_rows = {
    "even_rows": lab.p.rate_tflops / lab.p.bandwidth_tbs,
    "rate_needed": lab.p.rows_wanted * lab.p.bandwidth_tbs,
}[lab.p.even_rows]

# %% answer="one_customer"
_, columns, depth = lab.materials["matrices"][lab.p.matrix]
total = {
    precision: float(product_speed(lab.p.prompt, columns, depth, precision).time)
    + lab.p.answer * float(product_speed(1, columns, depth, precision).time)
    for precision in ("fp16", "fp8", "int4")
}
one_customer = min(total, key=total.get)

# %% answer="whole_step_times"
share = lab.p.share_pct / 100
whole_step_times = 1 / (1 - share + share / lab.p.product_times)

# %% [markdown] deeper=true
# ### Deeper: where the time goes

# %% card="act1_why"

# %% card="act1_math"

# %% [markdown]
# ## Act 2: How bad are they

# %% card="quality_message"

# %% card="act2_outlier"

# %% [markdown]
# In the explorer below, a matrix has a single scale. Set **One outlier** and watch the numbers of the grid move apart.
# Then let fewer weights share a scale, or drag the dashed line, where the grid **ends**, toward the bell.

# %% instrument="One scale, one outlier"
grid = QuantizationExplorer(
    title="One scale, one outlier",
    precision="int8",
    scales="tensor",
    leading=("Error", "Step"),
    lock=lab.card("act2_outlier"),
)
grid

# %% reveal="act2_outlier"
matrix = 4096 * 14336
largest = 4 * float(block_reach(matrix))
lab.reveal(
    "act2_outlier",
    model=quantization_error(8, matrix, outlier=largest).error,
    worked=quantization_error(8, matrix, outlier=largest),
    contrast={
        "Without the outlier": (quantization_error(8, matrix).error, "%"),
        "With it, in groups of 128": (
            quantization_error(8, 128, weights=matrix, outlier=largest).error,
            "%",
        ),
        "With it, in fp8": (float_error(largest).error, "%"),
    },
    moves=[
        Move("Set an outlier of 20 standard deviations or more", grid, lambda w: w.outlier >= 20),
        Move(
            "Give groups of 128 a scale of their own, with that outlier",
            grid,
            lambda w: w.outlier >= 20 and w.scales == "128",
        ),
    ],
)

# %% answer="largest_weight"
numbers = 2 ** (lab.p.bits - 1) - 1
largest_weight = {
    "largest_weight": lab.p.error_pct / 100 * 12**0.5 * numbers,
    "lost_error_pct": 100 * lab.p.reach / numbers / 12**0.5,
}[lab.p.largest_weight]

# %% answer="group_weights"
room = lab.materials["room"](lab.p)
weights = lab.p.weights_billion * 1e9
group_weights = {
    "group_weights": 32 / (8 * room / weights - 4),
    "billion_weights": 8 * room / (4 + 32 / lab.p.members) / 1e9,
}[lab.p.group_weights]

# %% [markdown] deeper=true
# ### Deeper: what helps, and your advice

# %% card="act2_remedy"

# %% card="act2_math"

# %% [markdown] essay="advice"
# Noor: four bits pay while a product waits for its weights. On our H200, PyTorch's int4 is
# {{ q(float(product_speed(1, 4096, 14336, "int4").speedup), "×") }} as fast as fp16 for one chat, not four times, and from
# {{ q(crossing_rows(4096, 14336), "rows") }} on it is slower, because every weight is widened first. So use it for a customer
# who is alone, and fp8 for everybody else. Do not divide the bill by four: attention and small kernels stay as they are, so
# if products are {{ q(p.share_pct / 100, "%") }} of a step and become {{ q(p.product_times, "×") }} as fast, the step gains
# {{ q(1 / (1 - p.share_pct / 100 + p.share_pct / 100 / p.product_times), "×") }}. The fifth model has one weight that
# stretches the grid of all others: with one scale, the error of int8 goes from
# {{ q(quantization_error(8, 4096 * 14336).error, "%") }} to
# {{ q(quantization_error(8, 4096 * 14336, outlier=4 * float(block_reach(4096 * 14336))).error, "%") }}. Small groups
# bring it to {{ q(quantization_error(8, 128).error, "%") }}. Another kernel or another GPU moves the crossing, so before I promise
# anything I would time our own products with the rows that we really have, conversions included, and let the fifth model
# answer our own test questions.

# %% record="deeper_kept"

# %% [markdown]
# ## The design you pass on
#
# Decide for Noor, for the matrix *Gate and up* without an outlier: choose precision, scales and rows so that all three
# promises are kept. The service starts with int4 and one chat: see first which promises that breaks.

# %% instrument="The service"
service = QuantizationExplorer(
    title="The service",
    weights="gate_up",
    fixed=("weights", "outlier", "cut"),
    leading=("Error", "Time of the product"),
    lock=lab.card("act2_outlier"),
    targets=[
        Target("error", lab.p.limit_pct / 100, f"error at most {lab.p.limit_pct:g}%"),
        Target("time", lab.p.promise_us * 1e-6, f"product in {lab.p.promise_us:g} µs"),
        Target("rows", lab.p.users, f"{lab.p.users} chats at once", "at least"),
    ],
)
service

# %% design=true
lab.design(
    {
        "precision": lambda: service.precision,
        "scales": lambda: service.scales if service.result.bits else "none",
        "rows": lambda: float(service.rows),
        "error_percent": lambda: 100 * float(service.result.error),
        "speedup": lambda: float(service.result.speed.speedup),
        "bits_per_weight": lambda: float(service.result.stored.bits_per_weight),
        "constraint_hit": lambda: bool(service.misses),
        "act1_prediction": lambda: lab.card("act1_rows").words,
        "act1_correct": lambda: lab.card("act1_rows").value == lab.items["act1_rows"].answer,
        "act2_prediction": lambda: lab.card("act2_outlier").words,
        "act2_correct": lambda: lab.card("act2_outlier").value == lab.items["act2_outlier"].answer,
    },
    after=["act1_rows", "act2_outlier"],
    keeps={"service": service},
    headline=lambda: (
        f"{service.precision}, {counted(service.rows, 'row')}, error"
        f" {format_quantity(service.result.error, '%')}"
    ),
)

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"
lab.hud(
    constraints=service,
    decisions={"Precision": "precision", "Scales": "scales"},
    numbers={
        "Error": lambda: (service.result.error, "%"),
        "Speed against fp16": lambda: (float(service.result.speed.speedup), "×"),
    },
    after={"Error": "act2_outlier", "Speed against fp16": "act1_rows"},
)

# %% card="takeaways"
