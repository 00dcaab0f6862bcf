"""What the commands say about data: which images, which features, and how images are described without any."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console
from a3s_desktop.errors import InputError

if TYPE_CHECKING:
    from a3s_desktop.storage.embedding_options import EmbeddingOptions
    from a3s_desktop.storage.matching import Unmatched


def image_arguments(parser: argparse.ArgumentParser) -> None:
    """Which images are taken."""
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only images that fit, such as '*.jpg' or 'left/*'; may be given again",
    )
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="no images that fit; may be given again"
    )
    parser.add_argument(
        "--parts",
        type=Path,
        metavar="FILE",
        help="a table of rectangles (file,x,y,width,height or file,xmin,ymin,xmax,ymax): these parts of the photos are "
        "the items",
    )


def matching_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do where features and images do not fit, and how much each view counts."""
    parser.add_argument("--parts-differ", action="store_true", help="two parts of one photo show two individuals")
    parser.add_argument(
        "--rows-without-image",
        choices=("stop", "leave-out"),
        default="stop",
        help="what to do with them (default stop)",
    )
    parser.add_argument(
        "--images-without-row",
        choices=("stop", "leave-out", "compute"),
        default="stop",
        help="what to do with them (default stop); compute: by the same --model, else estimated from images that look "
        "alike",
    )
    parser.add_argument(
        "--weights",
        type=_weights,
        default=(),
        metavar="A,B",
        help="how much each feature file counts, in their order (default 1 each)",
    )
    parser.add_argument(
        "--no-embeddings",
        action="store_true",
        help="there are no feature files: the images are described by the program, and by --model where one is given",
    )


def model_arguments(parser: argparse.ArgumentParser) -> None:
    """How images are described."""
    group = parser.add_argument_group("description of images", "For images without features.")
    group.add_argument(
        "--model",
        default="",
        metavar="FILE",
        help="an ONNX model, or lite0 for EfficientNet-Lite0; needs the extra 'onnx'",
    )
    group.add_argument("--model-only", action="store_true", help="without the built-in description")
    group.add_argument("--model-size", type=int, metavar="N", help="side of its images in pixels (default: as it says)")
    group.add_argument(
        "--model-mean", type=_three, metavar="R,G,B", help="taken off the channels (default: ImageNet's)"
    )
    group.add_argument("--model-std", type=_three, metavar="R,G,B", help="what they are divided by then")
    group.add_argument("--model-layout", choices=("auto", "nchw", "nhwc"), default="auto", help="default auto")
    group.add_argument("--model-channels", choices=("rgb", "bgr"), default="rgb", help="default rgb")
    group.add_argument("--model-output", default="", metavar="NAME", help="the output to use (default: the first)")
    group.add_argument("--dimensions", type=int, default=128, metavar="D", help="columns of the result (default 128)")


def embedding_options(arguments: argparse.Namespace) -> EmbeddingOptions:
    """How images are described, from the command line."""
    from a3s_desktop.storage.embedding_options import EmbeddingOptions, ModelOptions

    return EmbeddingOptions(
        descriptor=not arguments.model_only,
        model=arguments.model,
        model_options=ModelOptions(
            size=arguments.model_size,
            mean=arguments.model_mean,
            std=arguments.model_std,
            layout=arguments.model_layout,
            channels=arguments.model_channels,
            output=arguments.model_output,
        ),
        dimensions=arguments.dimensions,
    )


def unmatched(arguments: argparse.Namespace) -> Unmatched:
    """What to do with rows and images that are without the other, from the command line."""
    from a3s_desktop.storage.matching import Unmatched

    return Unmatched(
        rows=arguments.rows_without_image.replace("-", " "), images=arguments.images_without_row.replace("-", " ")
    )


def embed(arguments: argparse.Namespace, console: Console) -> int:
    """Describe images, and write the features to a file."""
    import numpy as np

    from a3s_desktop.storage import embedding, files
    from a3s_desktop.storage.spec import ProjectSpec, check_spec

    out: Path = arguments.out
    if out.suffix.lower() != ".npz":
        raise InputError(f"'{out}' must end in .npz.", "Such a file holds features and names together.")
    if out.exists() and not arguments.overwrite:
        raise InputError(f"'{out}' is there already.", "Choose another name, or replace it with --overwrite.")
    work = out.with_name(f"{out.stem}-unfinished")
    spec = ProjectSpec(
        folder=work,
        images=arguments.images,
        features=(),
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        parts=arguments.parts,
        embedding=embedding_options(arguments),
    )
    console.task.plan(3)
    console.task.stage("Checking the files")
    report = check_spec(spec, console.task)
    if report.errors:
        raise report.errors[0]
    for warning in report.warnings:
        console.note(warning)
    _, done = embedding.prepare(spec, report, console.task)
    features = np.array(done.views[0].values)
    names = np.array(done.paths)
    with files.atomic_file(out) as file:
        np.savez(file, features=features, names=names)
    files.remove_tree(work)
    for problem in done.problems:
        console.note(f"{files.show(problem.path)}: {problem.reason}")
    console.say(f"{features.shape[0]:,} rows of {features.shape[1]} columns were written to {out}")
    return 0


def save_model(arguments: argparse.Namespace, console: Console) -> int:
    """Write the preset's ONNX model to a file."""
    from a3s_desktop.storage import files, lite0

    if arguments.out.exists() and not arguments.overwrite:
        raise InputError(f"'{arguments.out}' is there already.", "Choose another name, or replace it with --overwrite.")
    data = lite0.build()
    files.atomic_write(arguments.out, data)
    console.say(f"EfficientNet-Lite0 ({len(data):,} bytes, Apache-2.0) was written to {arguments.out}")
    return 0


def _three(text: str) -> tuple[float, float, float]:
    try:
        a, b, c = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are not three numbers such as 0.5,0.5,0.5") from None
    return a, b, c


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are not numbers such as 1,0.5") from None
