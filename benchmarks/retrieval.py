"""Does what ranking was tuned to hold on talk that it was not tuned on?

    python -m benchmarks.retrieval FILE [FILE ...]

A FILE is LoCoMo's, or has its layout. Each turn of a conversation becomes a memory, and each
question is asked of its own conversation. For each conversation the constants of ranking are chosen
anew on all others: of each constant, the value that does best there while the rest stay as they
are. Then the conversation is asked with what was chosen. The figures are means over all questions
that have an answer.

Of several files each is a set, and it is a set that is left out: the constants are chosen on all
other sets, which count the same however many questions they have.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from pathlib import Path
from statistics import mean
from typing import Any

from msgspec.structs import replace

from benchmarks.recall import ADVERSARIAL, Question, evidence_of, index_of
from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.policies.rules import Weights
from memrepo.store.index import Filter, Index

GRID: Mapping[str, Sequence[float]] = {
    "k1": (0.7, 1.5),
    "b": (0.0, 0.4),
    "coverage": (0.0, 0.6),
    "kinds": (0.0, 0.6),
    "listed": (0.4, 1.0),
    "feedback": (0.0, 0.1, 0.25),
    "neighbour": (0.15, 0.4),
    "second_neighbour": (0.1, 0.3),
    "thread": (0.15, 0.45),
    "subject": (0.15, 0.45),
    "answers.reply": (0.25, 0.8),
    "answers.fits": (0.0, 0.15),
    "answers.asks": (0.0, 0.4),
    "answers.spread": (0.0, 0.02),
    "date": (0.1, 0.3),
    "other_subject": (0.9, 1.0),
}
"""Values that are tried beside those in force."""
MULTI_HOP = 1
KINDS: Mapping[str, Sequence[int]] = {
    "answerable": (1, 2, 3, 4),
    "multi-hop": (MULTI_HOP,),
    "temporal": (2,),
    "open": (3,),
    "single-hop": (4,),
    "adversarial": (ADVERSARIAL,),
}
"""Categories of questions by name."""
DEPTHS = (1, 10, 20)
_DAY = re.compile(r"(\d{1,2}) ([A-Z][a-z]+),? (\d{4})")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation: its turns by path as files, their dialogue ids, and its questions."""

    files: Mapping[str, bytes]
    turns: Mapping[str, str]
    questions: Sequence[Question]


Figures = list[dict[str, float]]
"""One row a question: recall at each depth, the reciprocal rank, the category."""


def read(path: Path) -> dict[str, Talk]:
    """Read the conversations of a LoCoMo file by name."""
    return {one["sample_id"]: _talk(one) for one in json.loads(path.read_bytes())}


def _talk(sample: Mapping[str, Any]) -> Talk:
    files, turns, talk = {}, {}, sample["conversation"]
    for number in sorted(int(m[1]) for key in talk if (m := _SESSION.fullmatch(key))):
        day = _day(talk.get(f"session_{number}_date_time", ""))
        for line, turn in enumerate(talk[f"session_{number}"] or (), start=1):
            text = "\n".join(filter(None, (turn["text"], turn.get("blip_caption"))))
            source = Source(resource=f"sources/{number}.md", lines=(line, line), captured=day)
            id_ = f"mem-{len(files):016x}"
            memory = Memory(
                path=f"memories/context/m-{len(files):05}.md",
                body=text,
                fields={
                    "id": id_,
                    "type": "fact",
                    "subject": turn["speaker"],
                    "sources": (source,),
                },
            )
            files[memory.path], turns[id_] = codec.encode(memory), turn["dia_id"]
    known = frozenset(turns.values())
    questions = [
        Question(text=q["question"], category=q["category"], gold=gold)
        for q in sample["qa"]
        if (gold := evidence_of(" ".join(map(str, q["evidence"]))) & known)
    ]
    return Talk(files=files, turns=turns, questions=questions)


def _day(text: str) -> str:
    found = _DAY.search(text)
    if not found:
        return ""
    return datetime.strptime(" ".join(found.groups()), "%d %B %Y").date().isoformat()  # noqa: DTZ007


def figures(index: Index, talk: Talk, weights: Weights) -> Figures:
    """Ask every question of a conversation."""
    rows = []
    for asked in talk.questions:
        found = index.search([asked.text], Filter(limit=max(DEPTHS)), weights)
        rows.append(scored(asked, [frozenset((talk.turns[hit.id],)) for hit in found]))
    return rows


def scored(asked: Question, found: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the figures of a question from what each hit holds, best first."""
    at = next((i for i, held in enumerate(found, start=1) if held & asked.gold), 0)
    row = {
        f"R@{d}": len(asked.gold & frozenset().union(*found[:d])) / len(asked.gold) for d in DEPTHS
    }
    return {**row, "MRR": 1 / at if at else 0.0, "category": asked.category}


def means(rows: Figures, *categories: int) -> dict[str, float]:
    """Return the mean of each measure over the questions of some categories, else of all."""
    kept = [row for row in rows if not categories or row["category"] in categories]
    names = [*(f"R@{d}" for d in DEPTHS), "MRR"]
    return {name: mean(row[name] for row in kept) if kept else 0.0 for name in names}


def goodness(rows: Figures) -> float:
    """Return the one number by which constants are chosen."""
    found = means(rows, *KINDS["answerable"])
    return found["R@10"] + found["R@20"] + found["MRR"]


class Trials:
    """The conversations with their indexes; no setting is measured twice on one of them."""

    def __init__(self, talks: Mapping[str, Talk], folder: Path) -> None:
        self.talks = talks
        self._indexes = {n: index_of(folder / n, talk.files) for n, talk in talks.items()}
        self._known: dict[tuple[str, Weights], Figures] = {}

    def on(self, name: str, weights: Weights) -> Figures:
        """Return the figures of one conversation with some weights."""
        if (name, weights) not in self._known:
            rows = figures(self._indexes[name], self.talks[name], weights)
            self._known[name, weights] = rows
        return self._known[name, weights]

    def on_all(self, names: Sequence[str], weights: Weights) -> Figures:
        """Return the figures of several conversations with some weights."""
        return [row for name in names for row in self.on(name, weights)]

    def chosen(self, *sets: Sequence[str]) -> Weights:
        """Return the weights that do best on some sets of conversations, constant by constant."""
        best = Weights()
        for name, values in GRID.items():
            tried = {value: changed(Weights(), name, value) for value in values}
            tried = {value_of(Weights(), name): Weights(), **tried}
            score = {
                v: mean(goodness(self.on_all(names, w)) for names in sets) for v, w in tried.items()
            }
            best = changed(best, name, max(score, key=lambda v: score[v]))
        return best


def value_of(weights: Weights, name: str) -> float:
    """Return a constant by its name; `answers.reply` is the reply of the answers."""
    return float(reduce(getattr, name.split("."), weights))


def changed(weights: Weights, name: str, value: float) -> Weights:
    """Return weights with another value of a constant."""
    outer, _, inner = name.partition(".")
    new: Any = replace(getattr(weights, outer), **{inner: value}) if inner else value
    return replace(weights, **{outer: new})


def left_out(trials: Trials) -> tuple[Figures, list[str]]:
    """Return figures by constants chosen on the other conversations, and what was chosen."""
    rows: Figures = []
    told = []
    for name in trials.talks:
        weights = trials.chosen([other for other in trials.talks if other != name])
        rows += trials.on(name, weights)
        told.append(f"{name}: {choice(weights)}")
    return rows, told


def left_out_sets(trials: Trials, sets: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a report for each set by the constants in force, and by those of the other sets."""
    told = []
    for name, talks in sets.items():
        weights = trials.chosen(*(sets[other] for other in sets if other != name))
        told += [
            report(trials.on_all(talks, Weights()), f"{name}: constants in force"),
            report(trials.on_all(talks, weights), f"{name}: chosen on the other sets"),
            f"  {choice(weights)}",
        ]
    return told


def choice(weights: Weights) -> str:
    """Tell which constants differ from those in force."""
    values = {constant: value_of(weights, constant) for constant in GRID}
    others = [f"{c} {v}" for c, v in values.items() if v != value_of(Weights(), c)]
    return ", ".join(others) or "as in force"


def report(rows: Figures, label: str) -> str:
    """Render the figures of each kind of question."""
    lines = [label]
    for name, categories in KINDS.items():
        told = "  ".join(f"{k} {v:.3f}" for k, v in means(rows, *categories).items())
        lines.append(f"  {name:12} {told}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of the constants in force, and of those chosen without what is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("data", type=Path, nargs="+", help="a file in the layout of LoCoMo")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="memrepo-retrieval-") as folder:
        if len(options.data) > 1:
            read_in = {f"{n}-{path.stem}": read(path) for n, path in enumerate(options.data, 1)}
            sets = {n: [f"{n}-{talk}" for talk in talks] for n, talks in read_in.items()}
            talks = {f"{n}-{t}": one for n, found in read_in.items() for t, one in found.items()}
            print("\n".join(left_out_sets(Trials(talks, Path(folder)), sets)))
            return 0
        trials = Trials(read(options.data[0]), Path(folder))
        force = [row for name in trials.talks for row in trials.on(name, Weights())]
        print(report(force, "constants in force"))
        for name in trials.talks:
            answerable = means(trials.on(name, Weights()), *KINDS["answerable"])
            print(f"  {name:12} {'  '.join(f'{k} {v:.3f}' for k, v in answerable.items())}")
        rows, told = left_out(trials)
        print(report(rows, "constants chosen on the other conversations"))
        print("\n".join(f"  {line}" for line in told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
