"""Commands that need no window."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from a3s_desktop.cli import data
from a3s_desktop.cli.terminal import Console
from a3s_desktop.core.types import USE_CLUSTERS, InitialOptions, StrategyOptions

if TYPE_CHECKING:
    from a3s_desktop.session.session import Session
    from a3s_desktop.storage.workspace import SpecReport, Workspace

# The imports inside the functions keep `--help` and the window's start free of what only one command needs.


def new(arguments: argparse.Namespace, console: Console) -> int:
    """Make a project and initialize it."""
    from a3s_desktop.session.opening import create_project
    from a3s_desktop.storage.embedding import prepare
    from a3s_desktop.storage.files import show
    from a3s_desktop.storage.workspace import ProjectSpec, check_spec

    spec = ProjectSpec(
        folder=arguments.project,
        images=arguments.images,
        features=tuple(arguments.features),
        order=arguments.order,
        labels=arguments.labels,
        initial=initial_options(arguments),
        strategy=strategy_options(arguments, console),
        name=arguments.name,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        parts=arguments.parts,
        parts_differ=arguments.parts_differ,
        unmatched=data.unmatched(arguments),
        embedding=data.embedding_options(arguments) if _describes(arguments) else None,
    )
    console.task.stage("Checking the files")
    report = check_spec(spec, console.task)
    say_checked(report, console)
    if report.to_compute:
        found = len(report.problems)
        spec, report = prepare(spec, report, console.task)
        for problem in report.problems[found:]:
            console.note(f"{show(problem.path)} cannot be shown ({problem.reason}); a placeholder takes its place.")
    with create_project(spec, console.task, report) as workspace:
        say_started(workspace, console)
    say_ready(workspace, console)
    return 0


def say_checked(report: SpecReport, console: Console) -> None:
    """What the check of a project to be made found; raises the first error."""
    if report.errors:
        for further in report.errors[1:]:
            console.complain(str(further))
        raise report.errors[0]
    for line in matching_text(report):
        console.say(line)
    for warning in report.warnings:
        console.note(warning)


def say_ready(workspace: Workspace, console: Console) -> None:
    """The end of making a project, which is closed by now."""
    from a3s_desktop.session.opening import open_once

    open_once(workspace.folder, len(workspace.items))
    console.say(f"The project is ready: {workspace.folder}")


def say_started(workspace: Workspace, console: Console) -> None:
    """How a new project starts."""
    from a3s_desktop.session.opening import how_it_began

    initial = workspace.load_initial()
    if initial is not None:
        console.say(
            f"{len(workspace.items):,} images start in {initial.report['clusters']:,} clusters of two or more and "
            f"{initial.report['singletons']:,} single images."
        )
        for remark in how_it_began(initial):
            console.say(remark)


def _describes(arguments: argparse.Namespace) -> bool:
    return bool(arguments.no_embeddings or arguments.images_without_row == "compute")


def matching_text(report: SpecReport) -> list[str]:
    """How rows were matched to files, with the first and the last pairs to check it by."""
    how = {
        "order file": "by the order file",
        "names": "by the names in the feature file",
        "sorted": "by the sorted order of the files (check the pairs below)",
    }
    if report.how == "described":
        return [f"{len(report.paths):,} images will be described."]
    lines = [f"{len(report.paths):,} rows were matched to images {how.get(report.how, report.how)}:"]
    last = -1
    for row, path in report.pairs:
        if row > last + 1:
            lines.append("  …")
        lines.append(f"  row {row}: {path}")
        last = row
    return lines


def info(arguments: argparse.Namespace, console: Console) -> int:
    """The state of a project, for people or as JSON."""
    session = read_session(arguments.project, console)
    try:
        facts = project_facts(session)
        if arguments.json:
            console.say(json.dumps(facts))
        else:
            for line in facts_text(session, facts):
                console.say(line)
    finally:
        session.close()
    return 0


def project_facts(session: Session) -> dict[str, Any]:
    """The JSON of ``info --json``."""
    state = session.state
    question = state.question
    return {
        "items": state.items,
        "answers": state.answers,
        "skipped": state.skipped,
        "incomparable": state.incomparable,
        "junk": state.junk,
        "clusters": state.clusters,
        "singletons": state.singletons,
        "can_undo": state.can_undo,
        "can_redo": state.can_redo,
        "question": None
        if question is None
        else {"left": question.left, "right": question.right, "reason": question.reason.value},
    }


def facts_text(session: Session, facts: dict[str, Any]) -> list[str]:
    """The same for people."""
    workspace, question = session.workspace, session.state.question
    lines = [f"{workspace.name} ({workspace.folder})"] if workspace else []
    lines += [
        f"{facts['items']:,} images in {facts['clusters']:,} clusters of two or more and "
        f"{facts['singletons']:,} single images" + (f", {facts['junk']:,} junk" if facts["junk"] else ""),
        f"{facts['answers']:,} answers, {facts['skipped']:,} skipped"
        + (f", {facts['incomparable']:,} not comparable" if facts["incomparable"] else ""),
    ]
    if question is None:
        lines.append("Nothing is left to ask.")
    elif workspace is not None:
        left, right = (workspace.items.paths[item] for item in (question.left, question.right))
        lines.append(f"Next: {question.text} {left} | {right}")
    return lines


def simulate(arguments: argparse.Namespace, console: Console) -> int:
    """Answer from true labels, and measure."""
    from a3s_desktop.session.oracle import OracleOptions
    from a3s_desktop.session.simulation import simulate as run
    from a3s_desktop.storage.features import check_features, load_features
    from a3s_desktop.storage.files import atomic_write_text
    from a3s_desktop.storage.matching import load_labels

    files = [load_features(path, console.task) for path in arguments.features]
    for file in files:
        check_features(file, console.task)
    labels = load_labels(arguments.labels, len(files[0].values))
    result = run(
        [file.values for file in files],
        labels.codes,
        initial_options(arguments),
        strategy_options(arguments, console),
        budget=arguments.budget,
        every=arguments.every,
        oracle_options=OracleOptions(arguments.oracle_error, arguments.oracle_skip, arguments.seed),
        task=console.task,
    )
    text = json.dumps(result, allow_nan=False)
    if arguments.json is None:
        console.say(text)
        return 0
    atomic_write_text(Path(arguments.json), text + "\n")
    for line in result_text(result):
        console.say(line)
    return 0


def result_text(result: dict[str, Any]) -> list[str]:
    """A simulation's outcome in a few lines."""
    start, end, latency = result["curve"][0], result["end"], result["latency_ms"]
    lines = [
        f"{point['queries']:>6} answers: NMI {point['nmi']:.3f}, ARI {point['ari']:.3f}, purity {point['purity']:.3f}, "
        f"{point['clusters']:,} clusters + {point['singletons']:,} single"
        for point in (start, end)
    ]
    lines.append(f"{end['seconds']:.1f} s in all, {result['init']['seconds']:.1f} s of them before the first question")
    if latency["median"] is not None:
        lines.append(f"next question after {latency['median']:.1f} ms (median), {latency['p99']:.1f} ms (99 of 100)")
    if end["skipped"] or end["wrong"]:
        lines.append(f"{end['wrong']:,} answers were wrong, {end['skipped']:,} pairs were skipped")
    return lines


def initial_options(arguments: argparse.Namespace) -> InitialOptions:
    """Options of stage one from the command line."""
    return InitialOptions(
        neighbors=arguments.neighbors,
        normalisation=arguments.normalisation,
        initial=arguments.initial,
        ratio=arguments.ratio,
        pseudo_labels=arguments.pseudo_labels,
        refine=arguments.refine,
        seed=arguments.seed,
        weights=getattr(arguments, "weights", ()),
    ).for_strategy(arguments.strategy)


def strategy_options(arguments: argparse.Namespace, console: Console) -> StrategyOptions:
    """Options of stage two from the command line."""
    clusters = getattr(arguments, "clusters", None)
    if clusters is not None and arguments.strategy not in USE_CLUSTERS:
        console.note(
            f"the strategy {arguments.strategy!r} finds the number of clusters by itself; --clusters is unused."
        )
        clusters = None
    return StrategyOptions(
        strategy=arguments.strategy,
        aggregation=arguments.aggregation,
        iterations=arguments.iterations,
        purity_test=not arguments.no_purity_test,
        clusters=clusters,
        seed=arguments.seed,
    )


def read_session(folder: Path, console: Console) -> Session:
    """A read-only session; what was remarkable goes to stderr."""
    from a3s_desktop.session.opening import open_session

    session, report = open_session(folder, read_only=True, task=console.task)
    for sentence in (report.recovered, *report.warnings):
        if sentence:
            console.note(sentence)
    return session
