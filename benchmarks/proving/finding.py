"""Recall over sets of questions: memrepo beside SQLite's full-text search and grep.

A set is a folder of files `CORPUS.json`: `docs`, each with `id`, `text` and perhaps `speaker`,
`date` and `group` (a session), and `questions`, each with `text` and the ids that answer it,
`gold`. Every question is asked of its own corpus.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean

import msgspec

from benchmarks import questions
from benchmarks.recall import index_of
from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.store.index import Filter

DEPTH = 10
TEXTS = 600
"""So many texts at most are put to peers, unless the first corpus alone has more."""
SMALL = frozenset(
    "a about an and any are as at be been but by can did do does for from had has have he her his"
    " how i in is it its me my not of on or our she so that the their them they this to was we were"
    " what when where which who whom why will with would you your".split()
)
"""Words that are left out of what FTS5 and grep are asked."""
_WORD = re.compile(r"\w+")


class Doc(msgspec.Struct, frozen=True, kw_only=True):
    """One text that may be found."""

    id: str
    text: str
    speaker: str = ""
    date: str = ""
    group: str = ""

    @property
    def line(self) -> str:
        """Return the text on one line, with who says it."""
        said = " ".join(self.text.split())
        return f"{self.speaker}: {said}" if self.speaker else said


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and the ids of the texts that answer it."""

    text: str
    gold: frozenset[str]


class Corpus(msgspec.Struct, frozen=True, kw_only=True):
    """Texts, and the questions that are asked of them."""

    docs: tuple[Doc, ...]
    questions: tuple[Question, ...]


Retriever = Callable[[Corpus], Sequence[Sequence[str]]]
"""Returns for each question of a corpus the ids that it finds, best first."""


def read(folder: Path) -> list[Corpus]:
    """Return the corpora of a set."""
    paths = sorted(folder.glob("*.json"))
    return [msgspec.json.decode(path.read_bytes(), type=Corpus) for path in paths]


def carried() -> list[Corpus]:
    """Return the one set that the project carries: invented, in more than twenty languages."""
    files, asked = questions.read(questions.TABLE)
    read_in = (codec.decode(path, data)[0] for path, data in files.items())
    memories = [memory for memory in read_in if memory is not None]
    docs = tuple(
        Doc(
            id=memory.path,
            text=memory.body,
            speaker=str(memory.fields.get("subject") or ""),
            date=memory.sources[0].captured,
            group=memory.id,
        )
        for memory in memories
    )
    found = tuple(Question(text=one.text, gold=frozenset((one.gold,))) for one in asked)
    return [Corpus(docs=docs, questions=found)]


def memrepo(corpus: Corpus) -> Sequence[Sequence[str]]:
    """Ask memrepo's index, without a model: a memory a text, a source a session."""
    lines: Counter[str] = Counter()
    files, names = {}, {}
    for number, doc in enumerate(corpus.docs):
        lines[doc.group] += 1
        at = (lines[doc.group], lines[doc.group])
        source = Source(resource=f"sources/{doc.group or 0}.md", lines=at, captured=doc.date)
        fields = {"id": f"mem-{number:016x}", "type": "fact", "sources": (source,)}
        if doc.speaker:
            fields["subject"] = doc.speaker
        memory = Memory(
            path=f"memories/context/m-{number:05}.md", body=doc.text or "-", fields=fields
        )
        files[memory.path], names[memory.path] = codec.encode(memory), doc.id
    with tempfile.TemporaryDirectory(prefix="memrepo-finding-") as folder:
        index = index_of(Path(folder), files)
        return [
            [names[hit.path] for hit in index.search([asked.text], Filter(limit=DEPTH))]
            for asked in corpus.questions
        ]


def fts5(corpus: Corpus) -> Sequence[Sequence[str]]:
    """Ask SQLite's full-text search with its porter stemmer: any word that is not small."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE texts USING fts5(line, tokenize='porter unicode61')")
        base.executemany("INSERT INTO texts VALUES (?)", [(doc.line,) for doc in corpus.docs])
        found = []
        for asked in corpus.questions:
            any_of = " OR ".join(f'"{word}"' for word in terms(asked.text))
            rows = base.execute(
                "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (any_of, DEPTH)
            )
            found.append([corpus.docs[row - 1].id for (row,) in rows])
        return found


def grep(corpus: Corpus) -> Sequence[Sequence[str]]:
    """Ask grep for the words, whatever their case: first the lines that hold most of them."""
    with tempfile.TemporaryDirectory(prefix="memrepo-grep-") as folder:
        path = Path(folder) / "texts"
        path.write_text("".join(f"{doc.line}\n" for doc in corpus.docs), encoding="utf-8")
        found = []
        for asked in corpus.questions:
            words = [option for word in terms(asked.text) for option in ("-e", word)]
            ran = subprocess.run(
                ["grep", "-noiF", *words, str(path)], capture_output=True, text=True, check=False
            )
            held = {tuple(row.lower().split(":", 1)) for row in ran.stdout.splitlines()}
            count = Counter(int(number) for number, _ in held)
            best = sorted(count, key=lambda at: (-count[at], at))[:DEPTH]
            found.append([corpus.docs[at - 1].id for at in best])
        return found


def terms(question: str) -> list[str]:
    """Return the words of a question that are not small, else all; each once."""
    words = list(dict.fromkeys(_WORD.findall(question.lower())))
    return [word for word in words if word not in SMALL] or words


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the questions of a set."""

    questions: int
    recall: float
    rank: float
    """The mean reciprocal rank of the first text that answers."""
    first: float
    """The share of questions whose first hit answers."""


def figures(corpora: Iterable[Corpus], retriever: Retriever) -> Figures:
    """Ask every question of a set."""
    rows = []
    for corpus in corpora:
        for asked, hits in zip(corpus.questions, retriever(corpus), strict=True):
            at = next((n for n, id_ in enumerate(hits, start=1) if id_ in asked.gold), 0)
            recall = len(asked.gold & set(hits[:DEPTH])) / len(asked.gold)
            rows.append((recall, 1 / at if at else 0.0, float(at == 1)))
    recall, rank, first = (mean(column) for column in zip(*rows, strict=True))
    return Figures(questions=len(rows), recall=recall, rank=rank, first=first)


def sliced(corpora: Sequence[Corpus], most: int) -> Corpus:
    """Return the first corpora of a set as one, and its first questions: for what slow peers take.

    Another corpus joins while there are fewer questions, and no more than a few hundred texts.
    """
    docs: list[Doc] = []
    asked: list[Question] = []
    for corpus in corpora:
        if docs and (len(asked) >= most or len(docs) + len(corpus.docs) > TEXTS):
            break
        docs += corpus.docs
        asked += corpus.questions
    return Corpus(docs=tuple(docs), questions=tuple(asked[:most]))


PLAIN: Mapping[str, Retriever] = {"memrepo": memrepo, "FTS5": fts5, "grep": grep}
