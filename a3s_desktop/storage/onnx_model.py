"""Describe images with an ONNX model, by the optional package onnxruntime."""

from __future__ import annotations

import hashlib
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, lite0, onnx_file, tables
from a3s_desktop.storage.embedding_options import IMAGENET_MEAN, IMAGENET_STD, LITE0, ModelOptions
from a3s_desktop.storage.onnx_file import Facts, OnnxFileError

MAX_BYTES = (1 << 31) - 1  # of the file itself; more needs weights in a second one
_DEFAULT_SIZE = 224
_TYPES = {"float32": np.float32, "float16": np.float16, "uint8": np.uint8}


class OnnxModel:
    """A model ready to run.

    Attributes
    ----------
    title : str
        For people.
    name : str
        Of what it computes: changes with the model and with how images are brought to it.
    size : int
        Side of the square images that `describe` takes.
    unsaid : tuple of str
        What neither the file nor the options say, so that the usual is taken: "size", "numbers" (mean and deviation).
    """

    def __init__(self, model: str, options: ModelOptions) -> None:
        data, self._facts, folder = _read(model)
        runtime = _runtime()
        self.title = self._facts.metadata.get("a3s.name") or (LITE0 if folder is None else Path(model).name)
        self._input, element, shape = _image_input(self.title, self._facts)
        self._type = _TYPES[element]
        self._first = _channels_first(self.title, shape, options)
        self.size = _size(self.title, shape, self._first, options)
        self._batch = shape[0] if shape[0] is not None else 0
        mean = _numbers(options.mean, self._facts, "a3s.mean", IMAGENET_MEAN)
        std = _numbers(options.std, self._facts, "a3s.std", IMAGENET_STD)
        self.unsaid = _unsaid(self._facts, shape, self._first, options)
        self._mean, self._std = np.array(mean, np.float32), np.array(std, np.float32)
        self._flip = options.channels == "bgr"
        settings = (self.size, self._first, mean, std, self._flip, options.output)
        digest = hashlib.sha256(hashlib.sha256(data).digest() + repr(settings).encode()).hexdigest()
        self.name = f"model{digest[:16]}"
        session_options = runtime.SessionOptions()
        session_options.intra_op_num_threads = max(1, (os.cpu_count() or 2) - 1)
        session_options.log_severity_level = 4
        try:
            # With weights beside it the runtime must know the folder; else nothing but these very bytes is opened.
            source = str(files.long_path(Path(model))) if self._facts.external else data
            self._session = runtime.InferenceSession(source, session_options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime has exceptions of its own for everything
            raise _unusable(self.title, error) from error
        names = [output[0] for output in self._facts.outputs]
        if options.output and options.output not in names:
            raise InputError(
                tr(
                    "The model {title} has no output {output} (but {value}).",
                    title=files.show(self.title),
                    output=repr(options.output),
                    value=", ".join(names)[:200],
                ),
                tr("Choose one of them."),
            )
        self._output = options.output or names[0]

    def describe(self, images: npt.NDArray[np.uint8]) -> FloatArray:
        """Features of images.

        Parameters
        ----------
        images : uint8, shape (B, size, size, 3)

        Returns
        -------
        float32, shape (B, D)
        """
        count = len(images)
        values = images[..., ::-1] if self._flip else images
        if self._type is np.uint8:
            batch: npt.NDArray[Any] = values
        else:
            scaled = values.astype(np.float32) / np.float32(255.0)
            batch = ((scaled - self._mean) / self._std).astype(self._type)
        if self._first:
            batch = batch.transpose(0, 3, 1, 2)
        if self._batch and count % self._batch:  # a model for batches of one size
            batch = np.concatenate([batch, np.repeat(batch[-1:], self._batch - count % self._batch, axis=0)])
        step = self._batch or count
        try:
            parts = [
                self._session.run([self._output], {self._input: np.ascontiguousarray(batch[at : at + step])})[0]
                for at in range(0, len(batch), step)
            ]
        except Exception as error:
            raise _unusable(self.title, error) from error
        return _rows(self.title, parts, step, self._first)[:count]


def check_model(model: str, options: ModelOptions) -> None:
    """Raise `InputError` where a model cannot be used: without loading its weights or running it."""
    _runtime()
    if model == LITE0:
        if lite0.weights_file() is None:
            lite0.build()  # says what is missing
        return
    _, facts, _ = _read(model)
    name = Path(model).name
    _, _, shape = _image_input(name, facts)
    _size(name, shape, _channels_first(name, shape, options), options)


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            tr("Models need the package onnxruntime."),
            tr("Install it with: pip install a3s-desktop[onnx], or choose the built-in description."),
        ) from None
    if hasattr(onnxruntime, "disable_telemetry_events"):
        onnxruntime.disable_telemetry_events()  # this program makes no network call
    return onnxruntime


def _read(model: str) -> tuple[bytes, Facts, Path | None]:
    """Bytes and facts of a model; weights outside of its folder are refused."""
    if model == LITE0:
        data = lite0.build()
        return data, onnx_file.read_facts(data), None
    path = Path(model)
    try:
        with open(files.long_path(path), "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                raise InputError(
                    tr("The model {path} is too large.", path=files.show(path)),
                    tr("Save its weights in a file beside it."),
                )
            data = file.read()
    except OSError as error:
        raise tables.unreadable(path, error) from error
    try:
        facts = onnx_file.read_facts(data)
    except OnnxFileError as error:
        raise InputError(
            tr("{path} is no ONNX model: {error}.", path=files.show(path), error=error),
            tr("Choose a file that was exported as .onnx."),
        ) from None
    folder = Path(os.path.realpath(path.parent))
    for place in facts.external:
        _check_place(path, folder, place)
    return data, facts, folder


def _check_place(path: Path, folder: Path, place: str) -> None:
    inside = bool(place) and not os.path.isabs(place) and not any(mark in place for mark in ":\\\0")
    target = Path(os.path.realpath(folder / place)) if inside else folder
    if folder not in target.parents:
        raise InputError(
            tr(
                "The model {path} wants to read weights outside of its own folder ({place}).",
                path=files.show(path),
                place=files.show(place),
            ),
            tr("Use a model whose weights are in one file, or beside it."),
        )
    if not target.is_file():
        raise InputError(
            tr("The model {path} lacks its file of weights {place}.", path=files.show(path), place=files.show(place)),
            tr("Put it beside the model."),
        )


def _image_input(name: str, facts: Facts) -> tuple[str, str, tuple[int | None, ...]]:
    found = [one for one in facts.inputs if len(one[2]) == 4]
    if len(facts.inputs) != 1 or len(found) != 1:
        listed = ", ".join(f"{one[0]} {list(one[2])}" for one in facts.inputs)[:200]
        raise InputError(
            tr(
                "The model {name} does not take one batch of images (its inputs: {value}).",
                name=files.show(name),
                value=listed or tr("none"),
            ),
            tr("Choose a model whose only input has four dimensions."),
        )
    if found[0][1] not in _TYPES:
        raise InputError(
            tr(
                "The model {name} takes numbers of the type {found}, not float32.",
                name=files.show(name),
                found=found[0][1],
            )
        )
    if not facts.outputs:
        raise InputError(tr("The model {name} has no output.", name=files.show(name)))
    return found[0]


def _channels_first(name: str, shape: tuple[int | None, ...], options: ModelOptions) -> bool:
    seems = shape[1] == 3 or shape[3] != 3
    first = seems if options.layout == "auto" else options.layout == "nchw"
    channels = shape[1] if first else shape[3]
    if channels not in (3, None):
        raise InputError(
            tr(
                "The model {name} takes images of {channels} channels, not 3.", name=files.show(name), channels=channels
            ),
            tr("Choose a model of colour images."),
        )
    return first


def _size(name: str, shape: tuple[int | None, ...], first: bool, options: ModelOptions) -> int:
    sides = {side for side in (shape[2:] if first else shape[1:3]) if side is not None}
    if len(sides) > 1:
        raise InputError(
            tr(
                "The model {name} takes images of {sorted} pixels, not squares.",
                name=files.show(name),
                sorted=sorted(sides),
            )
        )
    fixed = next(iter(sides), None)
    if fixed is not None and options.size not in (None, fixed):
        raise InputError(
            tr(
                "The model {name} takes images of {fixed} pixels, not {size}.",
                name=files.show(name),
                fixed=fixed,
                size=options.size,
            )
        )
    size = fixed or options.size or _DEFAULT_SIZE
    if not 8 <= size <= 2048:
        raise InputError(
            tr(
                "The model {name} takes images of {size} pixels; 8 to 2048 are possible.",
                name=files.show(name),
                size=size,
            )
        )
    return size


def _unsaid(facts: Facts, shape: tuple[int | None, ...], first: bool, options: ModelOptions) -> tuple[str, ...]:
    sides = shape[2:] if first else shape[1:3]
    size = options.size is None and all(side is None for side in sides)
    given = [
        value is not None or key in facts.metadata
        for key, value in (("a3s.mean", options.mean), ("a3s.std", options.std))
    ]
    return (*(("size",) if size else ()), *(() if all(given) else ("numbers",)))


def _numbers(
    chosen: tuple[float, float, float] | None, facts: Facts, key: str, default: tuple[float, float, float]
) -> tuple[float, ...]:
    if chosen is not None:
        return chosen
    try:
        found = tuple(float(text) for text in facts.metadata.get(key, "").split(","))
    except ValueError:
        return default
    good = len(found) == 3 and all(math.isfinite(value) for value in found) and (key != "a3s.std" or min(found) > 0)
    return found if good else default


def _rows(name: str, parts: list[Any], step: int, first: bool) -> FloatArray:
    values = np.concatenate([np.asarray(part) for part in parts])
    if values.ndim < 2 or len(values) % step or values.dtype.kind != "f":
        raise InputError(
            tr(
                "The model {name} does not give one row of numbers for each image (shape {shape}).",
                name=files.show(name),
                shape=values.shape,
            ),
            tr("Choose another output of it."),
        )
    if values.ndim == 3:  # tokens
        values = values.mean(axis=1)
    elif values.ndim == 4:  # maps
        values = values.mean(axis=(2, 3) if first else (1, 2))
    result = values.reshape(len(values), -1).astype(np.float32)
    if not np.isfinite(result).all():
        raise InputError(
            tr("The model {name} gave numbers that are infinite or none.", name=files.show(name)),
            tr("Check mean and std."),
        )
    return result


def _unusable(name: str, error: Exception) -> InputError:
    text = " ".join(str(error).split())
    return InputError(
        tr(
            "The model {name} cannot be run ({value}).", name=files.show(name), value=text[:160] or type(error).__name__
        ),
        tr("Export it again with a common set of operators, or choose another."),
    )
