"""Are memories found by questions in other words, languages and spellings, of days and by names?

    python -m benchmarks.questions [FILE]

FILE holds memories, each above the questions that ask for it (`tables/questions.txt` says how).
All memories lie in one index; a question is answered where its memory is among the first three
hits. The figures are shares of questions, by section; `--misses` prints what was not found.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from benchmarks.recall import index_of
from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.policies.reordering import Moment
from memrepo.store.embedder import Embedder, NoModelError, load
from memrepo.store.index import Filter, no_model

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
TABLE = Path(__file__).parent / "tables" / "questions.txt"
FIRST = 3
_MEMORY = re.compile(r"- (note )?(?:\[(.+?)\] )?(?:@(\S+) )?(.+)")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question, its section, and the path of the memory that answers it."""

    section: str
    text: str
    gold: str


def read(path: Path) -> tuple[dict[str, bytes], list[Asked]]:
    """Return the memories of a table as files by path, and its questions."""
    files: dict[str, bytes] = {}
    asked, section, last = [], "", ""
    for row in path.read_text(encoding="utf-8").splitlines():
        if row.startswith("## "):
            section = row[3:]
        elif row.startswith("? "):
            asked.append(Asked(section=section, text=row[2:], gold=last))
        elif found := _MEMORY.fullmatch(row):
            memory = _memory(len(files), *found.groups())
            last = memory.path
            files[last] = codec.encode(memory)
    return files, asked


def _memory(number: int, note: str | None, subject: str | None, day: str, text: str) -> Memory:
    source = Source(resource=f"sources/{number}.md", lines=(1, 1), captured=day or "")
    fields = {
        "id": f"mem-{number:016x}",
        "type": "note" if note else "fact",
        "sources": (source,),
        **({"subject": subject} if subject else {}),
    }
    kind = "notes" if note else "facts"
    return Memory(path=f"memories/{kind}/m-{number:04}.md", fields=fields, body=text)


def measure(
    path: Path, model: Callable[[], Embedder | None] = no_model
) -> tuple[dict[str, list[bool]], list[tuple[Asked, list[str]]]]:
    """Ask every question; return by section which were answered, and the hits of the others."""
    files, asked = read(path)
    answered: dict[str, list[bool]] = defaultdict(list)
    missed = []
    with tempfile.TemporaryDirectory(prefix="memrepo-questions-") as folder:
        index = replace(index_of(Path(folder), files), model=model)
        for one in asked:
            hits = index.search([one.text], Filter(limit=FIRST), moment=Moment(now=NOW))
            found = [hit.path for hit in hits]
            answered[one.section].append(one.gold in found)
            if one.gold not in found:
                missed.append(
                    (one, [files[p].decode().rsplit("\n---\n")[-1].strip() for p in found])
                )
    return answered, missed


def report(answered: Mapping[str, Sequence[bool]]) -> str:
    """Render the share of questions answered, by section and in all."""
    every = [one for section in answered.values() for one in section]
    rows = [*answered.items(), ("all", every)]
    return "\n".join(
        f"{name:14} {sum(found):4} of {len(found):4}  {sum(found) / len(found):.3f}"
        for name, found in rows
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures, without a model and with the packaged one where it is installed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions")
    parser.add_argument("table", type=Path, nargs="?", default=TABLE, metavar="FILE")
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    options = parser.parse_args(argv)
    answered, missed = measure(options.table)
    print(report(answered))
    if options.misses:
        for one, hits in missed:
            print(f"{one.section}: {one.text}\n  " + "\n  ".join(hits))
    try:
        embedder = load()
    except NoModelError:
        return 0
    print(f"with the model\n{report(measure(options.table, lambda: embedder)[0])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
