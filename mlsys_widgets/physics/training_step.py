"""One training step of a GPT: forward, backward and optimizer, kernel by kernel, and its memory.

The step is the one that PyTorch runs in pure bf16 with a fused Adam and without dropout, the
embedding tied to the logits, gradients kept from step to step.

Examples
--------
How large are the models whose steps were measured?

>>> from mlsys_widgets import physics as ph
>>> for model in ph.trained_models.values():
...     print(model.name, f"{model.parameters / 1e6:.0f} million parameters")
GPT-2 124 million parameters
GPT-2 medium 355 million parameters
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.attention import attention
from mlsys_widgets.physics.device_calibration import DeviceCalibration, calibration_of
from mlsys_widgets.physics.devices import Device
from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE, Numeric, greater
from mlsys_widgets.physics.model_kernels import ACTIVATION_BYTES, KernelUse
from mlsys_widgets.physics.products import product
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.row_laws import row_family
from mlsys_widgets.physics.serving_time import TimedKernels, time_uses
from mlsys_widgets.physics.small_kernels import SmallKernelUse, small_kernel
from mlsys_widgets.wording.choices import Catalog

_GPT2: Final = Source("GPT-2, OpenAI: sizes of the released models", "2019-02", "datasheet")
PRECISION: Final = "bf16"
#: Arithmetic of attention's backward pass over its forward pass: five products instead of two.
BACKWARD_ATTENTION: Final = 2.5


@dataclass(frozen=True, kw_only=True)
class TrainedModel(CatalogEntry):
    """The sizes of a GPT whose embedding is tied to its logits.

    ``trained_models`` holds those whose training steps were measured.

    Examples
    --------
    What fraction of GPT-2's weights is its table of words?

    >>> from mlsys_widgets import physics as ph
    >>> gpt2 = ph.trained_models["gpt2"]
    >>> round(gpt2.vocabulary * gpt2.width / gpt2.parameters, 2)
    0.31
    """

    #: ``width``, ``layers``, ``heads``: model width, layers, and heads in each.
    width: float
    layers: float
    heads: float
    vocabulary: float  #: Tokens that it knows.
    positions: float  #: The longest sequence.

    @property
    def parameters(self) -> float:
        """Weights of products, norms, biases and both tables."""
        layer = 12 * self.width**2 + 13 * self.width
        tables = (self.vocabulary + self.positions) * self.width
        return self.layers * layer + tables + 2 * self.width


def _gpt(key: str, name: str, width: float, layers: float, heads: float) -> TrainedModel:
    return catalog_entry(
        TrainedModel,
        key,
        name,
        width=_GPT2.fact(width),
        layers=_GPT2.fact(layers),
        heads=_GPT2.fact(heads),
        vocabulary=_GPT2.fact(50257.0, "odd, which tensor cores do not like"),
        positions=_GPT2.fact(1024.0),
    )


#: Models whose training steps were measured.
trained_models: Final[Catalog[TrainedModel]] = Catalog(
    "trained model",
    _gpt("gpt2", "GPT-2", 768.0, 12.0, 12.0),
    _gpt("gpt2-medium", "GPT-2 medium", 1024.0, 24.0, 16.0),
)


@dataclass(frozen=True, repr=False)
class TrainingMemory(Result):
    """The memory of a training step, by kind.

    ``training_memory`` builds one.
    """

    tokens: Numeric = given("T", "", "tokens of the batch", AT_LEAST_ONE)
    parameters: Numeric = given("n", "", "parameters", POSITIVE)
    layers: Numeric = given("L", "", "layers", AT_LEAST_ONE)
    width: Numeric = given("D", "", "model width", AT_LEAST_ONE)
    vocabulary: Numeric = given("V", "", "vocabulary", AT_LEAST_ONE)
    bytes_per_element: Numeric = given("b", "B", "bytes per element", POSITIVE)

    @derived("weights", "B")
    def weights(self) -> Numeric:
        """Size of the weights."""
        return self.parameters * self.bytes_per_element

    @derived("gradients", "B")
    def gradients(self) -> Numeric:
        """Size of the gradients, one for every weight."""
        return self.parameters * self.bytes_per_element

    @derived("optimizer", "B")
    def optimizer(self) -> Numeric:
        """Size of Adam's two averages for every weight."""
        return 2 * self.parameters * self.bytes_per_element

    @derived("kept", "B")
    def kept(self) -> Numeric:
        """Kept for backward: 16 widths a layer, and logits, their softmax and its gradient."""
        return (
            self.tokens
            * (16 * self.layers * self.width + 3 * self.vocabulary + 4 * self.width)
            * self.bytes_per_element
        )

    @derived("table", "B")
    def table(self) -> Numeric:
        """Gradients of the tied table: one from each end, and their sum."""
        return 3 * self.vocabulary * self.width * self.bytes_per_element

    @derived("activations", "B")
    def activations(self) -> Numeric:
        """Size of the activations at the worst moment: after the loss, or at the very end."""
        return greater(self.kept, self.table)

    @derived("peak", "B")
    def peak(self) -> Numeric:
        """Memory needed at the worst moment."""
        return self.weights + self.gradients + self.optimizer + self.activations


@dataclass(frozen=True, repr=False)
class TrainingTime(TimedKernels):
    """One step: three passes over the model on the device, and a host that launches all of it.

    ``training_time`` builds one.
    """

    tokens: Numeric = given("T", "", "tokens of the batch", AT_LEAST_ONE)
    forward: Numeric = given("t_forward", "s", "forward", NON_NEGATIVE)
    backward: Numeric = given("t_backward", "s", "backward", NON_NEGATIVE)
    update: Numeric = given("t_update", "s", "gradients and optimizer", NON_NEGATIVE)

    @derived("t_device", "s")
    def device_time(self) -> Numeric:
        """Time on the device: all kernels, and the gaps between them."""
        return self.forward + self.backward + self.update + self.gaps

    @derived("T_step", "s")
    def time(self) -> Numeric:
        """Time of the step: the longer of computing and launching."""
        return greater(self.device_time, self.host_time)


def training_memory(model: TrainedModel | str, batch: Numeric, sequence: Numeric) -> TrainingMemory:
    """Count the memory of a training step.

    The ``model`` is an entry of ``trained_models``, or its key.

    Examples
    --------
    What takes the memory when GPT-2 learns from 8 sequences of 1,024 tokens?

    >>> from mlsys_widgets import physics as ph
    >>> step = ph.training_memory("gpt2", batch=8, sequence=1024)
    >>> for kind in ("weights", "gradients", "optimizer", "activations", "peak"):
    ...     print(kind, ph.format_quantity(getattr(step, kind), "B"))
    weights 248.9 MB
    gradients 248.9 MB
    optimizer 497.8 MB
    activations 4.94 GB
    peak 5.93 GB
    """
    chosen = trained_models[model] if isinstance(model, str) else model
    return TrainingMemory(
        tokens=AT_LEAST_ONE.check("batch", batch) * AT_LEAST_ONE.check("sequence", sequence),
        parameters=chosen.parameters,
        layers=chosen.layers,
        width=chosen.width,
        vocabulary=chosen.vocabulary,
        bytes_per_element=ACTIVATION_BYTES,
    )


def training_time(
    model: TrainedModel | str,
    device: Device | str,
    batch: float,
    sequence: float,
    *,
    calibration: DeviceCalibration | None = None,
) -> TrainingTime:
    """One training step in the calibrated form, launched kernel by kernel.

    Parameters
    ----------
    model : TrainedModel or str
        An entry of ``trained_models``, or its key.
    device : Device or str
        A device that was measured, or its key.
    batch, sequence : float
        Sequences at once, and tokens in each.
    calibration : DeviceCalibration, optional
        In place of the one on record for the device.

    Examples
    --------
    Does the H200 set the pace of GPT-2's training, or the host that launches its kernels?

    >>> from mlsys_widgets import physics as ph
    >>> for batch in (1, 8, 32):
    ...     step = ph.training_time("gpt2", "h200-sxm", batch=batch, sequence=1024)
    ...     print(batch, "device" if step.device_time > step.host_time else "host")
    1 host
    8 device
    32 device
    >>> step.dominant.use.part, step.update < step.forward < step.backward
    ('products', True)
    """
    chosen = trained_models[model] if isinstance(model, str) else model
    calibration = calibration_of(device) if calibration is None else calibration
    tokens = AT_LEAST_ONE.check("batch", batch) * AT_LEAST_ONE.check("sequence", sequence)
    parts = [time_uses(part, calibration) for part in _parts(chosen, batch, sequence)]
    forward, backward, update = (sum(float(use.total) for use in part) for part in parts)
    uses = tuple(use for part in parts for use in part)
    return TrainingTime(
        tokens=tokens,
        forward=forward,
        backward=backward,
        update=update,
        kernels=sum(each.use.launches * each.use.times for each in uses),
        launch_overhead=calibration.training_launch,
        uses=uses,
    )


def training_launches(model: TrainedModel | str) -> float:
    """Kernels that one training step launches.

    The ``model`` is an entry of ``trained_models``, or its key.

    Examples
    --------
    >>> round(training_launches("gpt2"))
    595
    """
    chosen = trained_models[model] if isinstance(model, str) else model
    parts = _parts(chosen, 1.0, 1.0)
    return sum(use.launches * use.times for part in parts for use in part)


def _parts(model: TrainedModel, batch: float, sequence: float) -> tuple[list[KernelUse], ...]:
    """The kernels of forward, backward and update."""
    forward, backward = (make(model, batch, sequence) for make in (_forward, _backward))
    return forward, backward, _update(model)


def _multiply(
    name: str, m: float, n: float, k: float, times: float = 1.0, odd: bool = False
) -> KernelUse:
    """A product; ``odd`` where an operand lies in rows of an odd length."""
    family = "unaligned products" if odd else "products"
    made = product(m, n, k, PRECISION)
    return KernelUse(name, "products", family, made, 1.0, times, PRECISION)


def _simple(name: str, elements: float, passes: float, launches: float, times: float) -> KernelUse:
    made = SmallKernelUse(
        rows=2.0,
        columns=greater(1.0, elements / 2),
        flops_per_element=1.0,
        passes=passes,
        bytes_per_element=ACTIVATION_BYTES,
    )
    return KernelUse(name, "small kernels", "small kernels of elementwise", made, launches, times)


def _rows(name: str, kind: str, rows: float, columns: float, times: float) -> KernelUse:
    made = small_kernel(kind, rows, columns, ACTIVATION_BYTES)
    family = row_family(kind, columns, ACTIVATION_BYTES)
    return KernelUse(name, "normalization", family, made, 1.0, times)


def _attend(
    name: str, model: TrainedModel, batch: float, sequence: float, over: float
) -> KernelUse:
    made = attention(
        batch,
        model.heads,
        sequence,
        sequence,
        model.width / model.heads,
        ACTIVATION_BYTES,
        causal=True,
    )
    times = model.layers * over
    return KernelUse(name, "attention", "prompt attention", made, 1.0, times, PRECISION)


def _linears(model: TrainedModel) -> dict[str, tuple[float, float]]:
    """Outputs and inputs of the four products of a layer."""
    width = model.width
    return {
        "QKV": (3 * width, width),
        "Projection": (width, width),
        "Widening": (4 * width, width),
        "Narrowing": (width, 4 * width),
    }


def _forward(model: TrainedModel, batch: float, sequence: float) -> list[KernelUse]:
    tokens, width, layers = batch * sequence, model.width, model.layers
    return [
        _simple("Embeddings", tokens * width, 7, 3, 1.0),
        _rows("Layer norms", "layernorm", tokens, width, 2 * layers + 1),
        *(
            _multiply(name, tokens, outputs, inputs, layers)
            for name, (outputs, inputs) in _linears(model).items()
        ),
        _attend("Attention", model, batch, sequence, 1.0),
        _simple("Order of heads", tokens * width, 2, 1, layers),
        _simple("GELU", 4 * tokens * width, 2, 1, layers),
        _simple("Residuals", tokens * width, 3, 1, 2 * layers),
        _multiply("Logits", tokens, model.vocabulary, width, odd=model.vocabulary % 2 > 0),
        _rows("Softmax", "softmax", tokens, model.vocabulary, 1.0),
    ]


def _backward(model: TrainedModel, batch: float, sequence: float) -> list[KernelUse]:
    tokens, width, layers = batch * sequence, model.width, model.layers
    odd = model.vocabulary % 2 > 0
    products = [
        use
        for name, (outputs, inputs) in _linears(model).items()
        for use in (
            _multiply(f"{name}, inputs", tokens, inputs, outputs, layers),
            _multiply(f"{name}, weights", outputs, inputs, tokens, layers),
            _simple(f"{name}, bias", tokens * outputs, 1, 1, layers),
        )
    ]
    return [
        _simple("Softmax, gradient", tokens * model.vocabulary, 3, 2, 1.0),
        _multiply("Logits, inputs", tokens, width, model.vocabulary, odd=odd),
        _multiply("Logits, weights", width, model.vocabulary, tokens, odd=odd),
        *products,
        _attend("Attention, gradient", model, batch, sequence, BACKWARD_ATTENTION),
        *[_rows("Layer norms, gradient", "layernorm", tokens, width, 2 * layers + 1)] * 2,
        _simple("GELU, gradient", 4 * tokens * width, 3, 1, layers),
        _simple("Sums of gradients", tokens * width, 3, 1, 2 * layers),
        _simple("Order of heads, gradient", 4 * tokens * width, 2, 2, layers),
        _simple("Embeddings, gradient", model.vocabulary * width, 5, 6, 1.0),
    ]


def _update(model: TrainedModel) -> list[KernelUse]:
    tensors = 12 * model.layers + 4
    return [
        _simple("Zeroing", model.parameters, 1, tensors / 30, 1.0),
        _simple("Adding to gradients", model.parameters, 3, tensors, 1.0),
        _simple("Adam", model.parameters, 7, tensors / 15, 1.0),
    ]
