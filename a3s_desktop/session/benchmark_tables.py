"""The tables of a benchmark's report, as text in cells; how they are written down is the report's matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from a3s_desktop.session.benchmark_plan import OURS
from a3s_desktop.session.benchmark_summary import LEVELS, METRICS, TOLERANCE

NONE = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: every row has as many cells as the header."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; the pictures of ``case`` belong to it."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    case: str | None = None


def sections(results: Mapping[str, Any], summary: Mapping[str, Any]) -> list[Section]:
    """The whole report in its order; parts without content are left out."""
    found = [_about(results)]
    if summary["failures"]:
        found.append(_failures(summary["failures"]))
    if summary["against_all"]:
        found.append(_against_all(summary["against_all"]))
    agreements = {entry["case"]: entry for entry in results["agreements"] if not entry["failed"]}
    found += [_case(case, summary, agreements.get(case["case"])) for case in results["cases"]]
    if summary["views"]:
        found.append(_views(summary["views"]))
    return found


def _about(results: Mapping[str, Any]) -> Section:
    machine, options = results["machine"], results["options"]
    libraries = ", ".join(f"{name} {version}" for name, version in results["libraries"].items())
    text = [
        f"{len(results['runs'])} simulations of {', '.join(options['strategies'])} with the seeds "
        f"{', '.join(map(str, options['seeds']))}, in {results['seconds'] / 60:.1f} minutes on {machine['processes']} "
        f"process{'es' if machine['processes'] != 1 else ''} with one thread of linear algebra each.",
        f"Made {results['when']} by version {results['program']}; Python {results['python']}, {libraries}; "
        f"{machine['system']}, {machine['processor']}.",
    ]
    if not results["finished"]:
        text.insert(0, "The benchmark was interrupted: this is about the runs that were finished.")
    rows = tuple(
        (
            case["case"],
            f"{case['samples']:,}",
            f"{case['classes']:,}",
            ", ".join(case["views"]),
            f"{case['budget']:,}",
            case["note"],
        )
        for case in results["cases"]
    )
    return Section("Data", tuple(text), (Table("Cases", ("case", "N", "K", "views", "budget", "note"), rows),))


def _failures(failures: Sequence[Mapping[str, Any]]) -> Section:
    rows = tuple(
        (entry["case"], entry["strategy"], entry["variant"], str(entry["seed"]), entry["reason"]) for entry in failures
    )
    return Section("Runs that failed", (), (Table("Failures", ("case", "strategy", "variant", "seed", "why"), rows),))


def _against_all(entries: Sequence[Mapping[str, Any]]) -> Section:
    holds = sum(entry["holds"] for entry in entries)
    rows = []
    for entry in entries:
        cells = [entry["case"], str(entry["queries"])]
        for metric in METRICS:
            name, margin = min(
                ((name, margin[metric]) for name, margin in entry["margins"].items()), key=lambda pair: pair[1]
            )
            cells += [_number(entry["ours"][metric]), f"{margin:+.3f} ({name})"]
        below = [
            f"{name} {metric.upper()} {margin[metric]:+.3f}"
            for name, margin in entry["margins"].items()
            for metric in METRICS
            if margin[metric] < -TOLERANCE
        ]
        rows.append((*cells, "yes" if entry["holds"] else "no: " + ", ".join(below)))
    header = ["case", "answers"]
    for metric in METRICS:
        header += [metric.upper(), "least lead over (whom)"]
    note = f"Means over seeds. It holds where no other strategy is ahead by more than {TOLERANCE:g}."
    return Section(
        "Against all",
        (f"{OURS} holds its own against every other strategy at {holds} of {len(entries)} points.",),
        (Table(f"{OURS} against the others", (*header, "holds"), tuple(rows), note),),
    )


def _case(case: Mapping[str, Any], summary: Mapping[str, Any], agreement: Mapping[str, Any] | None) -> Section:
    title = case["case"]
    main = summary["main"][title]
    tables: list[Table] = []
    if main:
        tables += [_points(main, "Quality after so many answers", "strategy"), _levels(main), _shape(main)]
    if agreement is not None:
        tables.append(_agreement(agreement))
    if summary["cobra_k"][title]:
        tables.append(_cobra_k(summary["cobra_k"][title]))
    for name, heading in (
        ("initial", "Ablation: initial clustering and its ratio r"),
        ("start", "Ablation: start from FPC's clustering or from average linkage"),
        ("tau", "Ablation: threshold of the density test"),
        ("oracle", "Ablation: wrong answers and skips"),
    ):
        rows = summary[name][title]
        if rows:
            tables += [_points(rows, heading, "variant"), _levels(rows, heading, "variant")]
    return Section(title, () if main else ("No run was finished.",), tuple(tables), title)


def _points(rows: Mapping[str, Any], title: str, first: str) -> Table:
    shown = sorted({int(queries) for row in rows.values() for queries in row["at"]})
    body = []
    for name, row in rows.items():
        cells = []
        for queries in shown:
            point = row["at"].get(str(queries))
            text = NONE if point is None else " / ".join(_number(point[metric][0]) for metric in METRICS)
            cells.append(f"({text})" if point is not None and point["ended"] == row["seeds"] else text)
        body.append((name, str(row["seeds"]), *cells))
    note = "NMI / ARI, mean over seeds. In brackets: every run had nothing left to ask before."
    return Table(title, (first, "seeds", *map(str, shown)), tuple(body), note)


def _levels(rows: Mapping[str, Any], title: str = "", first: str = "strategy") -> Table:
    header = [first]
    header += [f"{metric.upper()} {level:g}" for metric, levels in LEVELS.items() for level in levels]
    header += [f"area {metric.upper()}" for metric in METRICS]
    body = []
    for name, row in rows.items():
        cells = [name]
        for levels in row["reach"].values():
            for reach in levels.values():
                some = f"{reach['reached']} of {row['seeds']}" if reach["reached"] else NONE
                cells.append(some if reach["mean"] is None else f"{reach['mean']:.0f}")
        body.append((*cells, *(_number(row["area"][metric]) for metric in METRICS)))
    until = next(iter(rows.values()))["area_until"]
    note = (
        f"Mean answers until the level is first reached; “2 of 5”: only so many seeds reached it. "
        f"Area: mean height of the curve from 0 to {until:,} answers."
    )
    return Table(f"{title}: answers to reach a level" if title else "Answers to reach a level", tuple(header),
                 tuple(body), note)  # fmt: skip


def _shape(rows: Mapping[str, Any]) -> Table:
    body = []
    for name, row in rows.items():
        start, end, latency = row["start"], row["end"], row["latency_ms"]
        body.append(
            (
                name,
                *(
                    f"{_number(start[key])} → {_number(end[key])}"
                    for key in ("fission_rate", "entropy_ratio", "purity")
                ),
                f"{end['clusters']:,.0f} + {end['singletons']:,.0f}",
                f"{end['queries']:,.0f} ({', '.join(row['stopped_by'])})",
                f"{_number(end['nmi'])} / {_number(end['ari'])}",
                f"{row['seconds']:.2f} ({row['seconds_start']:.2f})",
                NONE if latency["median"] is None else f"{latency['median']:.1f} / {latency['p99']:.1f}",
            )
        )
    header = ("strategy", "fission rate", "entropy ratio", "purity", "clusters + single", "answers (ended by)",
              "NMI / ARI at the end", "seconds (of them start)", "latency ms, median / p99")  # fmt: skip
    note = "Start → end, mean over seeds. Fission rate: clusters of two or more over classes."
    return Table("Shape, time and latency", header, tuple(body), note)


def _agreement(entry: Mapping[str, Any]) -> Table:
    names = entry["names"]
    rows = tuple(
        (name, *(f"{value:.3f}" for value in values), f"{truth:.3f}")
        for name, values, truth in zip(names, entry["ari"], entry["classes"], strict=True)
    )
    note = f"Adjusted Rand index, seed {entry['seed']}; k is that of fpc."
    return Table("Initial clusterings against each other", ("", *names, "classes"), rows, note)


def _cobra_k(entries: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            f"{entry['k']:,}" + (" (from stage one)" if entry["default"] else ""),
            _number(entry["purity_ceiling"]),
            f"{entry['queries']:,} ({entry['stopped_by']})",
            _number(entry["nmi"]),
            _number(entry["ari"]),
            _number(entry["purity"]),
        )
        for entry in entries
    )
    header = ("k", "purity ceiling", "answers (ended by)", "NMI", "ARI", "purity")
    note = "One seed. Super-instances only ever join, so their purity at the start is the most that any answers give."
    return Table("COBRA by its number of super-instances", header, rows, note)


def _views(entries: Sequence[Mapping[str, Any]]) -> Section:
    rows = []
    for entry in entries:
        row = entry["row"]
        at = [row["at"].get(str(queries)) for queries in (0, 100, 250, 600)]
        points = [NONE if p is None else " / ".join(_number(p[metric][0]) for metric in METRICS) for p in at]
        shape = f"{_number(row['start']['purity'])} at {_number(row['start']['fission_rate'])}"
        rows.append((entry["strategy"], entry["case"], str(entry["views"]), shape, *points))
    rows.sort(key=lambda cells: (cells[0], int(cells[2])))
    header = ("strategy", "case", "views", "start: purity at fission", "0", "100", "250", "600")
    table = Table("Numbers of views", header, tuple(rows), "NMI / ARI after so many answers, mean over seeds.")
    return Section("Views", (), (table,))


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
