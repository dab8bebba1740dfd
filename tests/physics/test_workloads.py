"""The workloads of the course agree with themselves and with each other."""

from __future__ import annotations

from mlsys_widgets import physics as ph

SERVICE = ph.workloads["kws-service"]


def test_edge_volume_is_per_hour() -> None:
    assert SERVICE.per_day == 100 * 24


def test_the_heads_of_a_language_model_make_its_width() -> None:
    models = [w for w in ph.workloads.values() if isinstance(w, ph.LanguageModel)]
    assert models
    for model in models:
        assert model.heads * model.head_width == model.width
        assert model.heads % model.kv_heads == 0
        # Attention and feed-forward layers make at least 4 squares of the width per layer.
        assert model.parameters > 4 * model.layers * model.width**2


def test_compilation_gains_where_both_rates_are_on_record() -> None:
    known = [w for w in ph.workloads.values() if isinstance(w, ph.ModelPass) and w.compile_time]
    assert [model.key for model in known] == ["resnet50"]
    for model in known:
        assert model.eager_rate is not None
        assert model.compiled_rate is not None
        assert model.compiled_rate > model.eager_rate


def test_every_forward_pass_runs_on_a_gpu() -> None:
    for key, load in ph.workloads.items():
        if isinstance(load, ph.ModelPass):
            assert 0 <= load.fused_share < 1
            assert ph.run(key, "a100-sxm").kernels == load.kernels


def test_the_chain_of_the_course_has_its_elements() -> None:
    chain = ph.workloads["layernorm-dropout-relu"]
    assert isinstance(chain, ph.ElementwiseChain)
    assert chain.elements == 1024 * 768
    # Its compute time is a figure of the text: the vector units of no GPU here take that long.
    ours = ph.chain("layernorm", "dropout", "relu")
    for device in ("a100-sxm", "h100-sxm", "h200-sxm"):
        assert ph.fuse(ours, chain.elements, device=device).compute_time < chain.compute / 10
