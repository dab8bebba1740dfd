"""The models that are measured whole: a keyword-spotting DS-CNN, ResNet-50 and one GPT-2 layer.

Weights are random; batch-norm statistics are taken from a forward pass, so that activations stay in
fp16's range as a trained model's do.
"""

from __future__ import annotations

from typing import Any


def ds_cnn(torch: Any, channels: int = 64, classes: int = 12) -> Any:
    """Build the DS-CNN of MLPerf Tiny's keyword spotting: 49 x 10 MFCCs in, 12 words out."""
    nn = torch.nn

    def block(convolution: Any) -> list[Any]:
        return [convolution, nn.BatchNorm2d(channels), nn.ReLU()]

    layers = block(nn.Conv2d(1, channels, (10, 4), stride=(2, 2), padding=(5, 1), bias=False))
    for _ in range(4):
        layers += block(nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False))
        layers += block(nn.Conv2d(channels, channels, 1, bias=False))
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)


def gpt2_layer(torch: Any, width: int = 768, heads: int = 12) -> Any:
    """Build a pre-norm layer of GPT-2: causal attention, then an MLP four times as wide."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before_attention = nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.project = nn.Linear(width, width)
            self.before_mlp = nn.LayerNorm(width)
            self.widen = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            qkv = self.qkv(self.before_attention(x)).view(batch, length, 3, heads, width // heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(y.transpose(1, 2).reshape(batch, length, width))
            y = functional.gelu(self.widen(self.before_mlp(x)), approximate="tanh")
            return x + self.narrow(y)

    return Layer()


def resnet50(torch: Any) -> Any:
    """ResNet-50 as torchvision builds it."""
    import importlib

    torchvision: Any = importlib.import_module("torchvision")
    return torchvision.models.resnet50(weights=None)


def settle(torch: Any, model: Any, example: Any) -> None:
    """Take the batch-norm statistics of a random model from one forward pass, in float32."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(example)
    model.eval()
