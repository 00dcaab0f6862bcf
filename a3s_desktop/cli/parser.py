"""Arguments of the commands, and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from a3s_desktop import __version__
from a3s_desktop.cli import benchmark, clearing, commands, data, joining, keeping, later, preparing, transfer, windows
from a3s_desktop.core.types import (
    AGGREGATIONS,
    INITIAL_CLUSTERINGS,
    NORMALISATIONS,
    STRATEGIES,
    InitialOptions,
    StrategyOptions,
)

EPILOG = """\
exit codes: 0 done · 1 a problem, said in one sentence on stderr · 2 wrong usage · 130 cancelled (Ctrl+C)

examples:
  a3s-desktop                                   open the window
  a3s-desktop demo                              try it on made-up ladybirds
  a3s-desktop new whales --images photos --features embeddings.npy --order files.txt
  a3s-desktop new seals --images photos --no-embeddings --model lite0
  a3s-desktop open whales
  a3s-desktop export whales --format csv --out groups.csv
  a3s-desktop export whales --format folders --out groups --link hard
  a3s-desktop labels whales names.csv
  a3s-desktop merge whales whales-of-ann
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; each command leaves its function in ``run``."""
    parser = argparse.ArgumentParser(
        prog="a3s-desktop",
        description="Sort images by identity with few answers: active clustering with pairwise constraints, offline.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--verbose", action="store_true", help="write details of the work to stderr")
    parser.add_argument(
        "--self-test",
        nargs="?",
        const="",  # without a folder
        metavar="FOLDER",
        help="go through the whole program off the screen and say what works (about half a minute); pictures and a "
        "table go to FOLDER, if given",
    )
    parser.set_defaults(run=windows.gui, views_wanted=False)
    all_commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    _window_commands(all_commands)
    _project_commands(all_commands)
    _simulate_command(all_commands)
    one = _add(
        all_commands,
        "benchmark",
        benchmark.benchmark,
        "compare strategies on data sets, and write a report with curves",
        "The report is a folder with index.html, results.md, results.json and pictures. Ctrl+C ends it with a report\n"
        "about what is finished.",
    )
    benchmark.add_arguments(one)
    return parser


def _add(
    commands_of: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[..., int],
    text: str,
    more: str = "",
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands_of.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}. {more}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # The main option, also after the command; SUPPRESS keeps it from overwriting what stood before it.
    command.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="write details to stderr")
    command.set_defaults(run=run)
    return command


def _safe_mode(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--safe-mode", action="store_true", help="with the settings of a new user, which are not kept, and no map"
    )


def _window_commands(all_commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    one = _add(all_commands, "gui", windows.gui, "open the window on its start page (what happens without a command)")
    _safe_mode(one)
    one = _add(all_commands, "open", windows.open_project, "open a project in the window")
    _safe_mode(one)
    one.add_argument("project", type=Path, metavar="PROJECT", help="the project folder, or the .a3s file in it")
    one.add_argument("--read-only", action="store_true", help="look at it without changing it")
    one = _add(
        all_commands,
        "demo",
        windows.demo,
        "make a demo project and open it in the window",
        "Where there is no display it says so and runs by itself, as with --auto.",
    )
    one.add_argument(
        "--data",
        choices=("ladybirds", "digits"),
        default="ladybirds",
        help="ladybirds: made-up individuals that differ by their spots (default); digits: real handwritten digits",
    )
    one.add_argument(
        "--auto",
        type=Path,
        metavar="FOLDER",
        help="answer by itself with the true labels, through the real window but off the screen; pictures of every "
        "screen and a table of results go to FOLDER",
    )
    one.add_argument("--answers", type=_count, default=60, metavar="N", help="answers of --auto (default 60)")


def _project_commands(all_commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    one = _add(
        all_commands,
        "new",
        commands.new,
        "make a project from images and features, and initialize it",
        "Everything is checked before anything is written; how rows were matched to files is printed.",
    )
    one.add_argument("project", type=Path, metavar="PROJECT", help="the folder to be made; must not exist, or be empty")
    one.add_argument("--images", type=Path, required=True, metavar="DIR", help="the image folder, with its sub-folders")
    _features(one)
    one.add_argument(
        "--order",
        type=Path,
        metavar="FILE",
        help="lists the image files in the order of the feature rows; without it, names in the feature file decide, "
        "else the sorted order of the files",
    )
    one.add_argument("--labels", type=Path, metavar="L", help="true labels, kept for evaluation; never used to ask")
    one.add_argument("--name", default="", help="the project's name (default: that of its folder)")
    data.image_arguments(one)
    data.matching_arguments(one)
    data.model_arguments(one)
    _options(one)

    one = _add(
        all_commands,
        "prepare",
        preparing.prepare,
        "make a project from features too many for one computer, on a Dask cluster",
        "Needs the extra 'distributed', here and on the cluster. Whatever ends the work, Ctrl+C included: the same\n"
        "command goes on after the last step that was finished. The project opens on any computer, without Dask.",
    )
    preparing.prepare_arguments(one)
    _features(one)
    _options(one)

    one = _add(
        all_commands,
        "embed",
        data.embed,
        "describe images, and write the features to a file",
        "Where it is stopped it goes on the next time: what is finished waits in a folder beside the file.",
    )
    one.add_argument("--images", type=Path, required=True, metavar="DIR", help="the image folder, with its sub-folders")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help="the .npz to be written, with names")
    one.add_argument("--overwrite", action="store_true", help="replace FILE where it exists")
    data.image_arguments(one)
    data.model_arguments(one)

    one = _add(all_commands, "save-model", data.save_model, "write EfficientNet-Lite0 as an ONNX model")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to be written")
    one.add_argument("--overwrite", action="store_true", help="replace FILE where it exists")

    one = _add(
        all_commands,
        "add",
        later.add,
        "add images to a project; every answer, name and mark stays",
        "What the project was before is kept in its folder 'earlier'. Undo does not take the images out again.",
    )
    later.add_arguments(one)
    one = _add(
        all_commands,
        "replace-features",
        later.replace_features,
        "replace the features of a project by those of a better model",
        "The report says what would change; every answer stays in force.",
    )
    later.replace_arguments(one)
    one = _add(
        all_commands,
        "locate",
        later.locate,
        "tell a project where its images are now",
        "They are found by their path in the folder, else by what the files hold; none is dropped.",
    )
    later.locate_arguments(one)

    one = _add(all_commands, "info", commands.info, "show the state of a project")
    one.add_argument("project", type=Path, metavar="PROJECT", help="the project folder")
    one.add_argument(
        "--json",
        action="store_true",
        help="as JSON: items, answers, skipped, clusters (of two or more), singletons, can_undo, can_redo, "
        "question {left, right, reason} or null; left and right are item numbers from 0",
    )

    one = _add(all_commands, "export", transfer.export, "write the clusters of a project for other programs")
    transfer.export_arguments(one)
    one = _add(
        all_commands,
        "labels",
        transfer.labels,
        "take known names over into a project",
        "Images are found by their path, else by file name where only one fits. What is in conflict is listed first.",
    )
    transfer.labels_arguments(one)
    one = _add(
        all_commands,
        "regions",
        transfer.regions,
        "write the persons that photo programs marked in photos as a table of parts",
        "For 'new --parts TABLE', which makes each of them an item, and then 'labels PROJECT TABLE', which names them.",
    )
    one.add_argument("images", type=Path, metavar="IMAGES", help="the folder of photos")
    one.add_argument("--out", type=Path, required=True, metavar="TABLE", help="the table, .csv")
    one.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    one = _add(
        all_commands,
        "merge",
        joining.merge,
        "take over what another annotator did to a copy of a project",
        "What contradicts has no effect until it is decided on in the window. Undo takes the whole merge back.",
    )
    joining.merge_arguments(one)
    one = _add(
        all_commands,
        "check",
        keeping.check,
        "verify a project, and repair it on request",
        "One line per finding; the exit code is 1 where something is damaged.",
    )
    keeping.check_arguments(one)
    one = _add(
        all_commands,
        "backup",
        keeping.backup,
        "make a backup of a project, list them, or go back to one",
        "The program makes them by itself, too; the last ten are kept, the older ones further apart.",
    )
    keeping.backup_arguments(one)
    one = _add(
        all_commands,
        "clear",
        clearing.clear,
        "remove small copies of images, logs, the list of recent projects; answers, images and backups stay",
        "Without options: these three. Windows may be open meanwhile.",
    )
    clearing.clear_arguments(one)


def _simulate_command(all_commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    one = _add(
        all_commands,
        "simulate",
        commands.simulate,
        "answer all questions from true labels and measure",
        "The labels answer the questions and measure the result; the engine never sees them.",
    )
    _features(one)
    one.add_argument(
        "--labels",
        type=Path,
        required=True,
        metavar="L",
        help=".npy, or .csv with the columns file,label, in the order of the feature rows",
    )
    _options(one)
    one.add_argument("--budget", type=_count, metavar="N", help="most answers (default: until nothing is left to ask)")
    one.add_argument("--every", type=_positive, default=10, metavar="M", help="answers between two points (default 10)")
    one.add_argument(
        "--clusters", type=_positive, metavar="K", help="true number of clusters, for strategies that need it"
    )
    one.add_argument(
        "--oracle-error",
        type=_probability,
        default=0.0,
        metavar="E",
        help="each answer is wrong with this probability, by itself; which ones depends on --seed alone (default 0)",
    )
    one.add_argument(
        "--oracle-skip",
        type=_probability,
        default=0.0,
        metavar="S",
        help="each pair is skipped with this probability; a skip is not counted as an answer (default 0)",
    )
    one.add_argument("--json", type=Path, metavar="OUT", help="write the JSON to this file instead of stdout")


def _features(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(views_wanted=True)
    parser.add_argument(
        "--features",
        type=Path,
        action="append",
        default=[],
        metavar="F",
        help="feature file (.npy, .npz, .csv, .parquet), one row for each image; give it again for further views",
    )
    parser.add_argument(
        "--views",
        dest="features",
        type=Path,
        action="extend",
        nargs="+",
        default=argparse.SUPPRESS,
        metavar="F",
        help="several feature files at once; the same as --features for each of them",
    )


def _options(parser: argparse.ArgumentParser) -> None:
    initial, strategy = InitialOptions(), StrategyOptions()
    group = parser.add_argument_group("options of the method", "The defaults suit most data.")
    group.add_argument(
        "--strategy", choices=STRATEGIES, default=strategy.strategy, help="which pairs are asked (default %(default)s)"
    )
    group.add_argument(
        "--initial", choices=INITIAL_CLUSTERINGS, default=initial.initial, help="initial clusters (default %(default)s)"
    )
    group.add_argument(
        "--pseudo-labels", type=_positive, metavar="K0", help="K-means groups for the calibration (default 1.5 sqrt N)"
    )
    group.add_argument(
        "--refine",
        action=argparse.BooleanOptionalAction,
        default=initial.refine,
        help="judge a pair by the neighbours that both images share, not by their distance alone (default: a3s does, "
        "the published strategies do not)",
    )
    group.add_argument(
        "--ratio",
        type=_ratio,
        default=initial.ratio,
        metavar="R",
        help="clusters of kmeans, spectral and agglomerative for each one that fpc finds (default %(default)s)",
    )
    group.add_argument(
        "--neighbors", type=_positive, default=initial.neighbors, metavar="M", help="neighbours (default %(default)s)"
    )
    group.add_argument(
        "--normalisation", choices=NORMALISATIONS, default=initial.normalisation, help="of features (default auto)"
    )
    group.add_argument(
        "--aggregation",
        choices=AGGREGATIONS,
        default=strategy.aggregation,
        help="of the probability that two clusters are one (default %(default)s)",
    )
    group.add_argument(
        "--iterations", type=_positive, default=strategy.iterations, metavar="L2", help="rounds (default %(default)s)"
    )
    group.add_argument("--no-purity-test", action="store_true", help="leave the purity test and splits out")
    group.add_argument("--seed", type=_count, default=initial.seed, metavar="S", help="of all chance (default 0)")


def _count(text: str) -> int:
    value = _whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def _positive(text: str) -> int:
    value = _whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not at least 0 and below 1")
    return value


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
