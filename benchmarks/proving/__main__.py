"""`python -m benchmarks.proving [PART ...]`: measure what memrepo claims, and keep the tables.

    recall    [--sets DIR]                 each set a folder (see finding.py); one set is carried
    peers     [--sets DIR] --peers DIR     installed from their packages into DIR, and kept there
    distilled --labelled DIR               DIR holds workspaces/, units/ and labels/
    changes   [--cases FILE]               two nights each; fifty cases are carried
    model                                  tokens of nights, by a scripted judge
    broken    [--kills N]                  runs killed, writers at once
    noise                                  a baseline measured again and again

Without PART all are measured that need no path of yours. What is measured goes into kept.json, and
`make docs` shows it on docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

from benchmarks.__main__ import versions
from benchmarks.measure import Machine, answer_of
from benchmarks.proving import breaking, finding, modelled, nights, peers
from benchmarks.proving.tables import Cell, Table, keep

NO_NOISE = "not measured again; nothing here is random by design"
SAME = "none in a second look at the first corpus of each set"
COMMAND = "python -m benchmarks.proving"
ASKED = 60
"""So many questions of each set are put to peers."""
TURNS, FEW = 15, 5


def recall(options: argparse.Namespace) -> Mapping[str, Table]:
    """Ask every set of memrepo, of FTS5 and of grep."""
    rows: list[tuple[Cell, ...]] = []
    for name, corpora in sets(options.sets).items():
        found = {who: finding.figures(corpora, ask) for who, ask in finding.PLAIN.items()}
        own = found["memrepo"]
        if finding.figures(corpora[:1], finding.memrepo) != finding.figures(
            corpora[:1], finding.memrepo
        ):
            raise SystemExit(f"{name}: a second look found something else")
        count = sum(len(corpus.docs) for corpus in corpora)
        tens = [found[who].recall for who in ("FTS5", "grep")]
        rows.append((name, count, own.questions, own.recall, *tens, own.rank, found["FTS5"].rank))
    table = Table(
        head=(
            *("set", "texts", "questions", "memrepo: recall at 10", "FTS5", "grep"),
            *("memrepo: reciprocal rank", "FTS5: reciprocal rank"),
        ),
        rows=tuple(rows),
        command=f"{COMMAND} recall --sets DIR",
        noise=SAME,
        versions={**versions(), "sqlite": sqlite3.sqlite_version},
    )
    return {"recall": table}


def sets(folder: Path | None) -> dict[str, list[finding.Corpus]]:
    """Return the sets of questions by name: the carried one, and those of a folder."""
    places = sorted(path for path in folder.iterdir() if path.is_dir()) if folder else []
    return {"carried": finding.carried(), **{path.name: finding.read(path) for path in places}}


def beside(options: argparse.Namespace) -> Mapping[str, Table]:
    """Ask the first questions of each set of peers too; say which cannot be asked, and why."""
    if options.peers is None:
        raise SystemExit("peers: name the folder for their environments with --peers DIR")
    asked = {
        name: [finding.sliced(corpora, options.questions)]
        for name, corpora in sets(options.sets).items()
    }
    ways: dict[str, finding.Retriever] = dict(finding.PLAIN)
    told: dict[str, tuple[str, str]] = {}
    for name in peers.PEERS:
        try:
            ways[name] = (peer := peers.install(name, options.peers)).ask
            told[name] = peer.version, "asked, offline, without a model"
        except peers.Missing as missing:
            told[name] = "", f"not installed: {missing}"
    rows: list[tuple[Cell, ...]] = []
    for name, corpora in asked.items():
        cells: dict[str, float | None] = {}
        for who, ask in ways.items():
            try:
                if not told.get(who, ("", "asked"))[1].startswith("asked"):
                    continue
                cells[who] = finding.figures(corpora, ask).recall
            except peers.Missing as missing:
                told[who] = told[who][0], f"installs, cannot be asked: {missing}"
        count = len(corpora[0].questions)
        rows.append((name, len(corpora[0].docs), count, *(cells.get(who) for who in ways)))
        print(rows[-1], file=sys.stderr, flush=True)
    shown = [n for n, who in enumerate(ways) if who in finding.PLAIN or told[who][1][0] == "a"]
    head = [f"{who} {told[who][0]}" if who in told else who for who in ways]
    kept = Table(
        head=("of the set", "texts", "questions", *(head[n] for n in shown)),
        rows=tuple((*row[:3], *(row[3 + n] for n in shown)) for row in rows),
        command=f"{COMMAND} peers --sets DIR --peers DIR",
        noise=NO_NOISE,
        versions=versions(),
    )
    listed = Table(
        head=("peer", "package", "version", "here"),
        rows=tuple((n, peers.PEERS[n].package, v or "none", why) for n, (v, why) in told.items()),
        command=kept.command,
        noise="none",
    )
    return {"peers": kept, "peers listed": listed}


def distilled(options: argparse.Namespace) -> Mapping[str, Table]:
    """Hold what a run keeps of labelled workspaces against their labels."""
    where = options.labelled
    if where is None:
        raise SystemExit("distilled: name the labelled workspaces with --labelled DIR")
    found = nights.distilled(where / "workspaces", where / "units", where / "labels")
    total = sum(found.values(), Counter())
    every = Counter({**total, **{f"kept {k}": total[k] for k in ("durable", "dated", "noise")}})
    named = {"memrepo, rules alone": total, "every line kept": every}
    rows = [(name, *nights.kept_figures(count).values()) for name, count in named.items()]
    spread = [nights.kept_figures(count)["f1"] for count in found.values()]
    lines = sum(total[k] for k in ("durable", "dated", "noise"))
    table = Table(
        head=("kept as a memory", "precision", "recall", "F1", "noise kept", "type as labelled"),
        rows=(*rows[:1], (*rows[1][:5], None)),
        command=f"{COMMAND} distilled --labelled DIR",
        noise=f"{NO_NOISE}; over {len(found)} workspaces ({lines} lines) F1 lies between"
        f" {min(spread):.2f} and {max(spread):.2f}",
        versions=versions(),
    )
    return {"distilled": table}


def changes(options: argparse.Namespace) -> Mapping[str, Table]:
    """Play the cases of two nights, and a year in which claims stand or were rejected."""
    got, year = nights.changed(options.cases), nights.forgotten()
    marked = got["old out"] + got["old marked"]
    stays = got["both"] + got["keep"]
    rows: list[tuple[Cell, ...]] = [
        (
            "a newer statement replaces an older one: the newer is the first hit",
            got["new first"],
            got["replace"],
        ),
        ("the older one is out of recall, or marked as contested", marked, got["replace"]),
        ("the older one is out of recall", got["old out"], got["replace"]),
        ("both hold, or the older one stays: nothing was lost", stays - got["lost"], stays),
        (
            "a claim whose line stands is in recall after 400 days",
            year["standing"] - year["left recall"],
            year["standing"],
        ),
        (
            "a rejected claim whose line is read again and again stays away",
            year["rejected"] - year["came back"],
            year["rejected"],
        ),
    ]
    table = Table(
        head=("what should be", "is so", "of"),
        rows=tuple(rows),
        command=f"{COMMAND} changes",
        noise=NO_NOISE,
        versions=versions(),
    )
    return {"changes": table}


def model(options: argparse.Namespace) -> Mapping[str, Table]:
    """Count the tokens of nights with a judge that is asked everything."""
    del options
    os.environ.setdefault("ANTHROPIC_API_KEY", "none")  # an estimate asks nobody
    found = modelled.nights()
    columns: Mapping[str, list[float]] = {
        "questions to the judge": [night.calls for night in found],
        "tokens, characters / 4": [night.tokens for night in found],
        "tokens by `run --estimate` for Claude": [night.estimate for night in found],
        "US dollars by that estimate": [night.usd for night in found],
    }
    rows = [(name, *map(_short, (median(c), min(c), max(c)))) for name, c in columns.items()]
    table = Table(
        head=("a night of a dozen new lines", "median", "least", "most"),
        rows=tuple(rows),
        command=f"{COMMAND} model",
        noise=f"{NO_NOISE}; least and most are of {len(found)} nights",
        versions=versions(),
    )
    return {"model": table}


def _short(value: float) -> Cell:
    return int(value) if value >= 10 or value == int(value) else float(f"{value:.2g}")


def broken(options: argparse.Namespace) -> Mapping[str, Table]:
    """Kill runs, and let writers race."""
    dead = breaking.killed(options.kills)
    race = breaking.raced(writers=5, each=6)
    rows: list[tuple[Cell, ...]] = [
        *((f"run killed with SIGKILL: {name}", n, options.kills) for name, n in dead.items()),
        *(
            (f"five writers at once: {name}", race[name], race["writes"])
            for name in race
            if name != "writes"
        ),
    ]
    table = Table(
        head=("what was done", "times", "of"),
        rows=tuple(rows),
        command=f"{COMMAND} broken --kills {options.kills}",
        noise="where a kill falls is chance, so old and new state share differently each time",
        versions=versions(),
    )
    return {"broken": table}


def noise(options: argparse.Namespace) -> Mapping[str, Table]:
    """Measure baselines again and again: CPU and the clock, median and spread."""
    del options
    rows: list[tuple[Cell, ...]] = []
    with tempfile.TemporaryDirectory(prefix="memrepo-noise-") as folder:
        machine = Machine(Path(folder))
        answer_of("init", f"{folder}/repo", now=nights.FIRST)
        main = "import sys; from memrepo.faces.cli import main; sys.exit(main())"
        work = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "git status": ["git", "status", "--porcelain"],
            "memrepo status": [sys.executable, "-c", main, "status"],
        }
        for name, argv in work.items():
            taken = [_taken(machine, argv, Path(folder) / "repo") for _ in range(TURNS + 1)][1:]
            for label, column in zip(("CPU", "clock"), zip(*taken, strict=True), strict=True):
                low, *_, high = quantiles(column, n=10)
                middle = median(column)
                rows.append(
                    (
                        f"{name}, {label}",
                        1000 * middle,
                        f"{low / middle:.2f} to {high / middle:.2f}",
                    )
                )
    table = Table(
        head=("baseline", "median, milliseconds", "the middle 80 of 100, by the median"),
        rows=tuple(rows),
        command=f"{COMMAND} noise",
        noise=f"this is it, of {TURNS} turns of {FEW} starts each, on two cores that were shared",
        versions=versions(),
    )
    return {"noise": table}


def _taken(machine: Machine, argv: Sequence[str], where: Path) -> tuple[float, float]:
    """Return the seconds of CPU and of the clock that a process takes, as the mean of a few."""
    before, clock = _used(), time.perf_counter()
    for _ in range(FEW):
        subprocess.run(argv, cwd=where, env=machine.environment, check=True, capture_output=True)
    return (_used() - before) / FEW, (time.perf_counter() - clock) / FEW


def _used() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


PARTS: Mapping[str, Callable[[argparse.Namespace], Mapping[str, Table]]] = {
    "noise": noise,
    "recall": recall,
    "peers": beside,
    "distilled": distilled,
    "changes": changes,
    "model": model,
    "broken": broken,
}
NEED = {"peers": "peers", "distilled": "labelled"}
"""The option without which a part is left out where none is named."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the parts named, else all that can be, and keep their tables."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []])
    parser.add_argument("--sets", type=Path, metavar="DIR")
    parser.add_argument("--peers", type=Path, metavar="DIR")
    parser.add_argument("--labelled", type=Path, metavar="DIR")
    parser.add_argument("--cases", type=Path, metavar="FILE", default=nights.CHANGES)
    parser.add_argument("--questions", type=int, metavar="N", default=ASKED, help="put to peers")
    parser.add_argument("--kills", type=int, metavar="N", default=40)
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    options = parser.parse_args(argv)
    able = [n for n in PARTS if n not in NEED or getattr(options, NEED[n]) is not None]
    for name in options.parts or able:
        found = PARTS[name](options)
        for table in found.values():
            print(
                "\n".join("  ".join(map(str, row)) for row in (table.head, *table.rows)), flush=True
            )
        if not options.dry:
            keep(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
