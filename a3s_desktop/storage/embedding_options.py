"""How images are to be described where no features are given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr

LITE0 = "lite0"
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What an ONNX file does not say. None or "auto": as the file says, else 224 pixels and the numbers of ImageNet.

    Attributes
    ----------
    size : int or None
        Side of the square that images are brought to, in pixels.
    mean, std : three floats or None
        Taken off the channels, and what they are divided by then, for values from 0 to 1.
    layout : "auto", "nchw" or "nhwc"
        Channels before or after height and width.
    channels : "rgb" or "bgr"
    output : str
        Name of the output that holds the features; empty for the first.
    """

    size: int | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    channels: Literal["rgb", "bgr"] = "rgb"
    output: str = ""

    def __post_init__(self) -> None:
        for name in ("mean", "std"):  # JSON has lists
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else tuple(value))

    def check(self) -> None:
        """Raise `InputError` where an option is out of range."""
        if self.size is not None and not 8 <= self.size <= 2048:
            raise InputError(tr("The input size must be from 8 to 2048 pixels, not {size}.", size=self.size))
        for name, values in (("mean", self.mean), ("std", self.std)):
            if values is not None and (len(values) != 3 or not all(math.isfinite(value) for value in values)):
                raise InputError(tr("The option {name} must be three numbers, one for each channel.", name=name))
        if self.std is not None and min(self.std) <= 0:
            raise InputError(tr("The option std must be three numbers above 0."))
        if self.layout not in ("auto", "nchw", "nhwc") or self.channels not in ("rgb", "bgr"):
            raise InputError(tr("The layout must be auto, nchw or nhwc, the channels rgb or bgr."))


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """Which descriptions are computed, and how they are put together.

    Attributes
    ----------
    descriptor : bool
        The built-in description (`core.descriptor`).
    model : str
        Empty for none, ``lite0`` for EfficientNet-Lite0, else the path of an ONNX file.
    model_options : ModelOptions
    dimensions : int
        Columns of the result.
    descriptor_weight : float
        Length of the built-in description beside the model's, which is 1.
    """

    descriptor: bool = True
    model: str = ""
    model_options: ModelOptions = field(default_factory=ModelOptions)
    dimensions: int = 128
    descriptor_weight: float = 0.25

    def check(self) -> None:
        """Raise `InputError` where nothing can be computed by these options, before any image is read."""
        if not self.descriptor and not self.model:
            raise InputError(
                tr("Neither the built-in description nor a model is chosen."), tr("Choose one of them, or both.")
            )
        if not 2 <= self.dimensions <= 4096:
            raise InputError(
                tr("The number of dimensions must be from 2 to 4096, not {dimensions}.", dimensions=self.dimensions)
            )
        if not 0.0 < self.descriptor_weight <= 100.0:
            raise InputError(tr("The weight of the built-in description must be a number above 0."))
        self.model_options.check()
        if self.model:
            from a3s_desktop.storage.onnx_model import check_model

            check_model(self.model, self.model_options)

    @property
    def model_path(self) -> Path | None:
        """The ONNX file; None for the preset or no model."""
        return Path(self.model) if self.model and self.model != LITE0 else None

    def to_json(self) -> dict[str, Any]:
        """The options as JSON-able values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`; options of later versions are ignored."""
        known = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        inner = dict(known.pop("model_options", {}))
        names = {one.name for one in fields(ModelOptions)}
        return cls(model_options=ModelOptions(**{k: v for k, v in inner.items() if k in names}), **known)
